//! The workshop: places where agents work, and the walls around them.
//!
//! A [`RuntimeProvider`] gives a [`Sandbox`] for a [`SpawnSpec`] and runs a [`Command`] in it. What a
//! provider can do is said by its [`Capabilities`]; what cannot be given is refused, never weakened.
//!
//! # Invariants
//! - A sandbox has the isolation that was asked for, or it is not there.
//! - Nothing that an agent wrote is believed: paths cannot leave the workspace, and commits are
//!   checked before a branch moves.
//! - No secret is an argument of a process; the environment of an agent is an allow list.

mod egress;
mod error;
mod event;
mod inlet;
mod local;
pub mod parcel;
mod path;
mod process;
mod provider;
mod sandbox;
mod seatbelt;
mod snapshot;
mod spec;
mod terminal;

pub use error::{Error, Result};
pub use event::{Event, Happening, Listener};
pub use inlet::Inlet;
pub use local::{
    Gvisor, Helper, NO_WALL, NOT_STARTED, Settings, Stop, Worktrees, can_guest, can_wall, enter,
};
pub use path::SandboxPath;
pub use process::{Command, Control, Exit, Limit, Process, ProcessId, Reader, Writer};
pub use provider::RuntimeProvider;
pub use sandbox::{
    Capabilities, Collected, Fork, Isolation, NetworkPolicy, Pause, Phase, Sandbox, SandboxId,
    SandboxStatus, SnapshotId, SnapshotLevel,
};
pub use seatbelt::Seatbelt;
pub use snapshot::{
    Content, Held, LIST_MAX_BYTES, Listing, Pieces, Sink, Stored, look_at, read_at,
};
pub use spec::{Egress, Identity, Limits, Profile, Source, SpawnSpec};
pub use terminal::{Attachment, Output, TERMINAL_KEPT_BYTES, Terminal, TerminalSize};
