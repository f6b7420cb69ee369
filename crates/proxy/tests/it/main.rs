//! The switchboard from the outside.
