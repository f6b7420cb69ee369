//! Wire formats from the outside.
