//! Commands that work on a repository, without a server.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::bead::Bead;
use super::convoy::{Convoy, What};

/// Who acts.
#[derive(Debug, Clone, Default, Args)]
pub struct Who {
    /// Act under this name [env: GODEL_AGENT] [default: git's user.name]
    #[arg(long, global = true, value_name = "NAME")]
    pub by: Option<String>,
}

/// What to do in a repository.
#[derive(Debug, Subcommand)]
pub enum Local {
    /// Get this repository ready for Godel, up to its first bead done
    #[command(after_help = "Examples:
  godel onboard
  godel onboard --yes
  godel -C ~/src/app onboard --yes --json

It looks for agent programs, keys and what walls are made of, finds the tests and tries them once in a
copy, and writes a short godel.toml with comments. That file is the first bead: it is committed by itself, under your
name, to the branch that is checked out. A godel.toml that is there stays as it is. Everything else works without
this, too. Killed half-way, the next run goes on.")]
    Onboard {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Plan, find, claim, follow and finish work that lives in git
    #[command(after_help = "Examples:
  godel bead create \"Fix authentication bug\" --type bug --priority high
  godel bead ready --explain
  godel bead ready --claim --agent ann
  godel bead show godel-4k2hm

Beads are kept on the branch godel/state of the repository; no server is needed, and your branches,
index and work tree are never touched. Wherever an id is wanted, any unique beginning of it will do,
with or without godel-.")]
    Bead(Bead),
    /// Bundle beads that belong together, and see how far they are
    #[command(after_help = "Examples:
  godel convoy create \"Sprint 1\" 4k2hm 9xw3c --description \"Auth improvements\"
  godel convoy status convoy-20261115-k3d
  godel convoy start convoy-20261115-k3d --agents 6 --budget 5

start, stop and watch need a server; all else works without.")]
    Convoy(Convoy),
    /// Exchange beads with another clone over a git remote
    #[command(after_help = "Examples:
  godel sync
  godel sync upstream

It fetches the branch godel/state, merges it field by field and pushes it. There are no conflicts to
solve: both sides end with the same beads.")]
    Sync {
        /// The remote, by name or URL [default: origin]
        remote: Option<String>,
    },
    /// Import work from another tool
    #[command(
        subcommand,
        after_help = "Examples:
  godel import beads issues.jsonl --dry-run
  godel import beads issues.jsonl"
    )]
    Import(Import),
    /// Export work for another tool
    #[command(
        subcommand,
        after_help = "Examples:
  godel export beads issues.jsonl"
    )]
    Export(Export),
    /// Print what a fresh agent needs to know
    #[command(after_help = "Examples:
  godel prime
  godel prime 4k2hm
  godel prime --json

It is short enough for a prompt: the bead, what it waits for, the last comments, what is ready, and
what is remembered.")]
    Prime {
        /// The bead to work on
        bead: Option<String>,
        #[command(flatten)]
        who: Who,
    },
    /// Remember something for whoever works here next
    #[command(after_help = "Examples:
  godel remember \"Tests need Redis on port 6380\"
  godel remember --name build-command \"make -j4 all\"
  godel remember --name notes - < notes.txt

Under a name that is known already, the new text takes the place of the old one.")]
    Remember {
        /// What to remember, or - to read it from stdin
        #[arg(value_name = "TEXT")]
        text: String,
        /// A name for it, made of a-z, 0-9 and -
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        who: Who,
    },
    /// List what is remembered
    #[command(after_help = "Examples:
  godel memories
  godel memories redis port")]
    Memories {
        /// Only those that have all these words
        words: Vec<String>,
    },
    /// Forget something that was remembered
    #[command(after_help = "Examples:
  godel forget build-command")]
    Forget {
        /// The name, as `godel memories` shows it
        name: String,
        #[command(flatten)]
        who: Who,
    },
}

impl Local {
    /// Tells whether it is about agents, which only a server can start.
    pub const fn needs_server(&self) -> bool {
        matches!(self, Self::Convoy(Convoy { what: What::Driven(_), .. }))
    }
}

/// What to import.
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Import beads from the JSONL of bd
    #[command(after_help = "Examples:
  godel import beads issues.jsonl --dry-run
  bd export | godel import beads -

Nothing is lost: fields, types and statuses that Godel does not know are kept and exported again. To
import the same file once more changes only what is different.")]
    Beads {
        /// The file, or - for stdin
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Say what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        who: Who,
    },
}

/// What to export.
#[derive(Debug, Subcommand)]
pub enum Export {
    /// Export beads as the JSONL of bd
    #[command(after_help = "Examples:
  godel export beads issues.jsonl
  godel export beads | jq -r .title")]
    Beads {
        /// The file; without it, stdout
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// What the show is to be like.
#[derive(Debug, Clone, Default, Args)]
pub struct Demo {
    /// Kill the server half-way, and show that nothing was lost
    #[arg(long)]
    pub crash: bool,
    /// Let a real model do the work, with the key of a provider in the environment
    #[arg(long)]
    pub live: bool,
    /// With --live: which model
    #[arg(long, value_name = "MODEL", requires = "live")]
    pub model: Option<String>,
    /// Leave the repository and the data for a look
    #[arg(long)]
    pub keep: bool,
}
