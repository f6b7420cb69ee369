//! Tests of the shelf with real git.
#![cfg(test)]

mod bd;
mod claims;
mod clones;
mod life;
mod merges;
mod places;
mod support;
mod upkeep;
