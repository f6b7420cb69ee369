//! The single steps that chores are made of.

pub(crate) mod cargo;
pub(crate) mod clients;
pub(crate) mod e2e;
pub(crate) mod fuzz;
pub(crate) mod secrets;
pub(crate) mod web;
