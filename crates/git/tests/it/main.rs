//! Real git in temporary directories.
#![cfg(test)]

mod crash;
mod furnish;
mod kinds;
mod losses;
mod policies;
mod refusals;
mod world;
