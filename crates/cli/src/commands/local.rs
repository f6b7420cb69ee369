//! Commands that work on a repository, without a server.

use super::{bead, convoy, memory};
use crate::args::local::Local;
use crate::desk::Desk;
use crate::error::Result;
use crate::exit::Exit;

/// Does what was asked for.
pub(crate) fn run(desk: Desk, asked: Local) -> Result<Exit> {
    match asked {
        Local::Bead(asked) => bead::run(&desk.under(asked.who), asked.what),
        Local::Convoy(asked) => convoy::run(&desk.under(asked.who), asked.what),
        Local::Remember { text, name, who } => memory::remember(&desk.under(who), &text, name),
        Local::Memories { words } => memory::list(&desk, &words),
        Local::Forget { name, who } => memory::forget(&desk.under(who), name),
        Local::Sync { .. } | Local::Import(_) | Local::Export(_) | Local::Prime { .. } => {
            Err(crate::error::Error::usage("this is not there yet", "wait"))
        }
    }
}
