//! The shop window: the app that is worked on, running, at a port of its own.
//!
//! # Invariants
//! - What runs is behind the walls of the agent whose work it is, or of a sandbox made for it: whoever looks at
//!   it trusts no more than whoever lets the agent work.
//! - It listens on the loopback of this machine and nowhere else.
//! - It ends: when somebody says so, when its agent ends, after some hours, and with the server.

mod doc;
mod files;
mod guess;
mod news;
mod run;
mod scene;
mod tail;
mod window;

pub use doc::{Preview, State};
pub use files::serve as serve_files;
pub use godel_fleet::{Error, Result};
pub use window::{Previews, Wanted};
