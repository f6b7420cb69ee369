//! Workflows, their runs, and teams.

pub(crate) mod definitions;
pub(crate) mod runs;
pub(crate) mod teams;
