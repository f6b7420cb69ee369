//! Tests of the shelf with real git.
#![cfg(test)]

mod bd;
mod claims;
mod clones;
mod crashes;
mod full_disk;
mod life;
mod merges;
mod older;
mod places;
mod power_cut;
mod queries;
mod reviewed;
mod support;
mod upkeep;
