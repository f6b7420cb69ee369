//! One file a resource: translate in, call the use case, translate out.

pub(crate) mod admin;
pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod beads;
pub(crate) mod calls;
pub(crate) mod convoys;
pub(crate) mod device;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod intents;
pub(crate) mod keys;
pub(crate) mod list;
pub(crate) mod projects;
pub(crate) mod providers;
pub(crate) mod queue;
pub(crate) mod reviews;
pub(crate) mod secrets;
pub(crate) mod spend;
pub(crate) mod stream;
pub(crate) mod system;
pub(crate) mod tenants;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod views;
pub(crate) mod workflows;
