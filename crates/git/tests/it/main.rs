//! Real git in temporary directories.
#![cfg(test)]

mod attempts;
mod branches;
mod bundles;
mod compare;
mod crash;
mod furnish;
mod kinds;
mod land;
mod landings;
mod losses;
mod policies;
mod refusals;
mod review;
mod review_more;
mod review_properties;
mod spares;
mod stacks;
mod survey;
mod upstream;
mod world;
