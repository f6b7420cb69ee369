//! Beads: units of work that live in git, and the convoys that bundle them.

mod id;
mod kind;
mod stamp;

pub use id::{BeadId, ConvoyId};
pub use kind::{BeadKind, BeadStatus, LinkKind, Priority, Resolution};
pub use stamp::{NodeId, Stamp};
