//! Wire formats from the outside.
#![cfg(test)]

mod meter;
mod talk;
mod translate;
