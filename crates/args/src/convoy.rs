//! `godel convoy`, as people type it.

use clap::{Args, Subcommand};

use super::agent::{Kind, Walls};
use super::local::Who;
use super::units;

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
    #[command(flatten)]
    Driven(Driven),
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

/// What to do with a convoy that agents work on; it needs a server.
#[derive(Debug, Subcommand)]
pub enum Driven {
    /// Let agents work on a convoy: each ready bead gets one, and those that wait get theirs later
    #[command(after_help = "Examples:
  godel convoy start convoy-20261115-k3d --agents 6 --budget 5
  godel convoy start 20261115-k3d --harness claude --model claude-sonnet-5 --wait
  godel convoy start 20261115-k3d --together

It needs a server: `godel up`. Whether work lands by itself is a matter of the project's setting
`review`; by default a person agrees. With --wait the exit code is 0 if all beads are done, else 1.")]
    Start(Box<StartConvoy>),
    /// Let no new agent begin on a convoy; those at work go on
    #[command(after_help = "Examples:
  godel convoy stop convoy-20261115-k3d")]
    Stop {
        /// The convoy
        convoy: String,
        /// Its project, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Show how the agents of a convoy get on, until it is over
    #[command(after_help = "Examples:
  godel convoy watch convoy-20261115-k3d
  godel convoy watch convoy-20261115-k3d --once --json")]
    Watch {
        /// The convoy
        convoy: String,
        /// Only how it is now
        #[arg(long)]
        once: bool,
        /// Its project, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
}

/// How a convoy is run.
#[derive(Debug, Args)]
pub struct StartConvoy {
    /// The convoy
    pub convoy: String,
    /// Let this many agents work at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub agents: Option<u32>,
    /// Let all of them together spend at most this much, in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = units::money)]
    pub budget: Option<i64>,
    #[command(flatten)]
    pub kind: Kind,
    /// Where they work [default: what godel.toml says, else worktree]
    #[arg(long, value_name = "WHERE", value_parser = ["worktree", "gvisor"])]
    pub runtime: Option<String>,
    #[command(flatten)]
    pub walls: Walls,
    /// Let all of it land as one: its beads land in the branch of one bead, and that is reviewed and lands
    #[arg(long)]
    pub together: bool,
    /// The project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Wait until it is over
    #[arg(long)]
    pub wait: bool,
}
