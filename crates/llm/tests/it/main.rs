//! Wire formats from the outside.
#![cfg(test)]

mod translate;
