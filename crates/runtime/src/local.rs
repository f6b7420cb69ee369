//! Agents on this machine: processes behind bubblewrap, a filter of calls and a fence around files.

mod bwrap;
mod cgroup;
mod collect;
mod ends;
mod enter;
mod family;
mod fence;
mod files;
mod git;
mod guest;
mod gvisor;
mod input;
mod launcher;
mod machine;
mod measure;
mod oci;
mod outlet;
mod owner;
mod plan;
mod prepare;
mod pty;
mod record;
mod relay;
mod repository;
mod room;
mod running;
mod seccomp;
mod start;
mod take;
mod warden;
mod worktree;

pub(crate) use owner::remove_all;

pub use enter::{NO_WALL, NOT_STARTED, Stop, enter};
pub use guest::can_guest;
pub use gvisor::Gvisor;
pub use machine::can_wall;
pub use worktree::{Helper, Settings, Worktrees};
