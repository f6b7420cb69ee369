//! Real git in temporary directories.
#![cfg(test)]

mod bundles;
mod crash;
mod furnish;
mod kinds;
mod land;
mod landings;
mod losses;
mod policies;
mod refusals;
mod spares;
mod stacks;
mod survey;
mod world;
