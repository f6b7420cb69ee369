//! The front door, as clients see it.
