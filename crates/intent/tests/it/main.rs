//! Golden plans on real repositories, and properties of all plans.
#![cfg(test)]

mod golden;
mod properties;
mod repos;
