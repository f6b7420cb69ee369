//! Commands that work straight on a repository, without a server.
//!
//! # Invariants
//! - They read no settings, need no data directory, and start neither threads nor TLS: they are run many
//!   times an hour.
//! - What they change is a document of the branch `godel/state`, under the name of whoever acts.

mod bead;
mod convoy;
mod desk;
mod exchange;
mod memory;
mod onboard;
mod own_git;

use godel_args::local::{Export, Import, Local};
use godel_console::{Exit, Result};

pub use desk::Desk;

/// Does what was asked for.
pub fn run(desk: Desk, asked: Local) -> Result<Exit> {
    match asked {
        Local::Onboard { yes } => onboard::run(&desk, yes),
        Local::Bead(asked) => bead::run(&desk.under(asked.who), asked.what),
        Local::Convoy(asked) => convoy::run(&desk.under(asked.who), asked.what),
        Local::Remember { text, name, who } => memory::remember(&desk.under(who), &text, name),
        Local::Memories { words } => memory::list(&desk, &words),
        Local::Forget { name, who } => memory::forget(&desk.under(who), name),
        Local::Sync { remote } => exchange::sync(&desk, remote.as_deref()),
        Local::Import(Import::Beads { file, dry_run, who }) => {
            exchange::import(&desk.under(who), &file, dry_run)
        }
        Local::Export(Export::Beads { file }) => exchange::export(&desk, file.as_deref()),
        Local::Prime { bead, who } => exchange::prime(&desk.under(who), bead),
    }
}
