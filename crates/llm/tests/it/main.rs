//! Wire formats from the outside.

mod meter;
mod translate;
