//! Wire formats from the outside.

mod meter;
