//! Agents, their conversations and their mail.

pub(crate) mod attach;
pub(crate) mod attempts;
pub(crate) mod carry;
pub(crate) mod convoys;
pub(crate) mod landings;
pub(crate) mod lead;
pub(crate) mod mail;
pub(crate) mod own;
pub(crate) mod places;
pub(crate) mod sessions;
pub(crate) mod shape;
pub(crate) mod worktrees;
