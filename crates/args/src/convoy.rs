//! `godel convoy`, as people type it.

use clap::{Args, Subcommand};

use super::local::Who;

/// Work with convoys.
#[derive(Debug, Args)]
pub struct Convoy {
    #[command(flatten)]
    pub who: Who,
    #[command(subcommand)]
    pub what: What,
}

/// What to do with convoys.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Make a convoy
    #[command(after_help = "Examples:
  godel convoy create \"Sprint 1\" godel-4k2hm godel-9xw3c
  godel convoy create \"Sprint 1\" 4k2hm 9xw3c --description \"Auth improvements\"")]
    Create {
        /// Its name
        name: String,
        /// The beads in it
        #[arg(value_name = "BEAD")]
        beads: Vec<String>,
        /// What it is about
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        description: Option<String>,
    },
    /// List convoys
    #[command(after_help = "Examples:
  godel convoy list
  godel convoy list --all --json")]
    List {
        /// Those that are archived, too
        #[arg(long)]
        all: bool,
    },
    /// Show how far a convoy is: its waves, and every bead
    #[command(after_help = "Examples:
  godel convoy status convoy-20261115-k3d
  godel convoy status 20261115-k3d --json

It says so if the convoy is stalled: nothing in it can be begun, and nobody works on it.")]
    Status {
        /// The convoy
        convoy: String,
    },
    /// Put beads into a convoy
    #[command(after_help = "Examples:
  godel convoy add convoy-20261115-k3d 4k2hm 9xw3c")]
    Add {
        /// The convoy
        convoy: String,
        /// The beads
        #[arg(value_name = "BEAD", required = true)]
        beads: Vec<String>,
    },
    /// Take beads out of a convoy; the beads stay
    #[command(after_help = "Examples:
  godel convoy remove convoy-20261115-k3d 4k2hm")]
    Remove {
        /// The convoy
        convoy: String,
        /// The beads
        #[arg(value_name = "BEAD", required = true)]
        beads: Vec<String>,
    },
    /// Rename a convoy or change what it is about
    #[command(after_help = "Examples:
  godel convoy update convoy-20261115-k3d --name \"Sprint 2\"")]
    #[command(arg_required_else_help = true)]
    Update {
        /// The convoy
        convoy: String,
        /// Its new name
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// What it is about; an empty text removes it
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        description: Option<String>,
    },
    /// Show what can be done at the same time, and what comes after
    #[command(after_help = "Examples:
  godel convoy waves convoy-20261115-k3d")]
    Waves {
        /// The convoy
        convoy: String,
    },
    /// Put a convoy away; its beads stay
    #[command(after_help = "Examples:
  godel convoy archive convoy-20261115-k3d
  godel convoy archive convoy-20261115-k3d --undo")]
    Archive {
        /// The convoy
        convoy: String,
        /// Take it out again
        #[arg(long)]
        undo: bool,
    },
    /// Delete a convoy; its beads stay
    #[command(after_help = "Examples:
  godel convoy delete convoy-20261115-k3d --yes")]
    Delete {
        /// The convoy
        convoy: String,
        /// Delete it without asking
        #[arg(long)]
        yes: bool,
    },
}
