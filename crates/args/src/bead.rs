//! `godel bead`, as people type it.

mod fields;
mod moves;

use clap::{Args, Subcommand};
use godel_model::LinkKind;

pub use self::fields::{Create, List, Part, Text, Update};
pub use self::moves::{Assign, Claim, Close, Defer, Held, Landed, Ready, Release, Status, Verdict};
use super::local::Who;

/// Work with beads.
#[derive(Debug, Args)]
pub struct Bead {
    #[command(flatten)]
    pub who: Who,
    #[command(subcommand)]
    pub what: What,
}

/// What to do with beads.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Make a bead
    #[command(after_help = "Examples:
  godel bead create \"Fix authentication bug\" --type bug --priority high
  godel bead create \"Write the guide\" --blocked-by 4k2hm --estimate 2h --label docs
  godel bead create \"Big plan\" --type epic --file plan.md
  git log -1 --format=%b | godel bead create \"Follow up\" -")]
    Create(Box<Create>),
    /// List beads
    #[command(after_help = "Examples:
  godel bead list
  godel bead list --status open,review --type bug --priority critical,high
  godel bead list --label auth --sort updated --limit 10
  godel bead list --query \"agent:none blocked:no updated:<2d -label:later login\"
  godel bead list --all --json

At the end it says on stderr if there is more, and how to go on.")]
    List(Box<List>),
    /// Show a bead: what it says, its links, comments and commits
    #[command(after_help = "Examples:
  godel bead show godel-4k2hm
  godel bead show 4k --json
  godel bead show 4k2hm --at 2d
  godel bead show 4k2hm --at 2026-06-01T08:30:00Z

Each commit is looked up in git: whether it is there, and whether it has landed.")]
    Show {
        /// The bead
        id: String,
        /// As it was then: a span ago, a time, or a commit of godel/state
        #[arg(long, value_name = "WHEN")]
        at: Option<String>,
    },
    /// Show the status of a bead, or move it to another
    #[command(after_help = "Examples:
  godel bead status 4k2hm
  godel bead status 4k2hm review
  godel bead status 4k2hm done --force --reason \"landed in another repository\"

A status is earned: review needs commits on bead/<id> and a clean work tree, done needs the work in
the main branch. What is missing is said; --force with a reason overrides, and the reason is kept.")]
    Status(Status),
    /// Change what a bead says; what is not given stays
    #[command(after_help = "Examples:
  godel bead update 4k2hm --priority critical
  godel bead update 4k2hm --title \"Fix login\" --estimate none --metadata ticket=417
  godel bead update 4k2hm --file plan.md")]
    Update(Box<Update>),
    /// Give a bead to an agent
    #[command(after_help = "Examples:
  godel bead assign 4k2hm --agent ann
  godel bead assign 4k2hm --agent ann --start")]
    Assign(Assign),
    /// Claim a bead for a while: nobody else gets it
    #[command(after_help = "Examples:
  godel bead claim 4k2hm --agent ann
  godel bead claim 4k2hm --agent ann --lease 2h --json

It prints a token, once. Who has it may extend the claim, finish the bead or give it back. When the
lease ends, the bead is offered again.")]
    Claim(Claim),
    /// Extend a claim
    #[command(after_help = "Examples:
  godel bead heartbeat 4k2hm --token TOKEN
  GODEL_LEASE_TOKEN=TOKEN godel bead heartbeat 4k2hm --lease 1h")]
    Heartbeat {
        #[command(flatten)]
        held: Held,
        /// From now on it lasts so long
        #[arg(long, value_name = "SPAN", default_value = "30m", value_parser = crate::units::lifetime)]
        lease: jiff::SignedDuration,
    },
    /// Give a bead back: it is open again, and nobody's
    #[command(after_help = "Examples:
  godel bead release 4k2hm --token TOKEN
  godel bead release 4k2hm --force")]
    Release(Release),
    /// List what can be begun now, or claim the first of it
    #[command(after_help = "Examples:
  godel bead ready
  godel bead ready --explain
  godel bead ready --claim --agent ann --lease 1h

Ready is what is open, not held, not deferred and not blocked: the most urgent first, then the oldest.
With --claim, nothing ready is exit code 4.")]
    Ready(Ready),
    /// Link beads: what depends on what
    #[command(
        subcommand,
        after_help = "Examples:
  godel bead dep add 9xw3c 4k2hm
  godel bead dep tree 9xw3c"
    )]
    Dep(Dep),
    /// Say something about a bead
    #[command(after_help = "Examples:
  godel bead comment 4k2hm \"The session cookie is never renewed\"
  godel bead comment 4k2hm - < report.txt")]
    Comment {
        /// The bead
        id: String,
        /// What to say, or - to read it from stdin
        text: String,
    },
    /// Add and remove labels
    #[command(
        subcommand,
        after_help = "Examples:
  godel bead label add 4k2hm auth urgent
  godel bead label remove 4k2hm urgent"
    )]
    Label(Label),
    /// Close a bead
    #[command(after_help = "Examples:
  godel bead close 4k2hm
  godel bead close 4k2hm --reason \"the answer is in docs/auth.md\"
  godel bead close 4k2hm --resolution wont-do --reason \"nobody needs it any more\"

A bead with code is done when the code is in the main branch; others need a sentence.")]
    Close(Close),
    /// Open a bead again that was done
    #[command(after_help = "Examples:
  godel bead reopen 4k2hm --reason \"it came back in 1.4\"")]
    Reopen {
        /// The bead
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: String,
    },
    /// Put a bead off until a time
    #[command(after_help = "Examples:
  godel bead defer 4k2hm --until 3d
  godel bead defer 4k2hm --until 2026-06-01
  godel bead defer 4k2hm --clear")]
    Defer(Defer),
    /// Delete a bead
    #[command(after_help = "Examples:
  godel bead delete 4k2hm --yes

It stays in the history, and `godel bead list --deleted` shows it.")]
    Delete {
        /// The bead
        id: String,
        /// Delete it without asking
        #[arg(long)]
        yes: bool,
        /// Delete it though somebody holds it
        #[arg(long)]
        force: bool,
    },
    /// Record what a gate said about a commit
    #[command(after_help = "Examples:
  godel bead verdict 4k2hm --gate tests --passed
  godel bead verdict 4k2hm --gate lint --failed --commit 3f2a91c --detail \"2 warnings\"")]
    Verdict(Verdict),
    /// Record how a bead's work got into a branch, after a squash or rebase
    #[command(after_help = "Examples:
  godel bead landed 4k2hm --commit 3f2a91c
  godel bead landed 4k2hm --commit HEAD --branch release")]
    Landed(Landed),
    /// Find beads by words in their texts
    #[command(after_help = "Examples:
  godel bead search login cookie
  godel bead search auth --json")]
    Search {
        /// Words, or beginnings of words; all must be there
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        part: Part,
    },
    /// Tell what was done, to one bead or to all
    #[command(after_help = "Examples:
  godel bead log
  godel bead log 4k2hm
  godel bead log --limit 500 --json")]
    Log {
        /// The bead
        id: Option<String>,
        /// At most so many acts, the newest first
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Tell what is done, as it happens
    #[command(after_help = "Examples:
  godel bead watch
  godel bead watch --json

Whoever did it: a command, an agent, a server or a sync. Ctrl-C ends it. With --json each act is one
line.")]
    Watch,
    /// Check all documents, and repair what can be repaired
    #[command(after_help = "Examples:
  godel bead fsck
  godel bead fsck --repair

A damaged document is taken from the last version in the history that can be read.")]
    Fsck {
        /// Repair what can be repaired
        #[arg(long)]
        repair: bool,
    },
    /// Pack what commands have written
    #[command(
        hide = true,
        after_help = "Examples:
  godel bead maintain"
    )]
    Maintain,
}

/// What to do with links.
#[derive(Debug, Subcommand)]
pub enum Dep {
    /// Make a bead depend on another, or link them otherwise
    #[command(after_help = "Examples:
  godel bead dep add 9xw3c 4k2hm
  godel bead dep add 9xw3c 4k2hm --type discovered-from

With blocks, parent-child, conditional-blocks and waits-for the first bead has to wait; a circle of
these is refused.")]
    Add {
        /// The bead
        bead: String,
        /// The one it depends on
        #[arg(value_name = "DEPENDS-ON")]
        other: String,
        /// How they are linked
        #[arg(long = "type", value_name = "TYPE", default_value = "blocks", value_parser = fields::link())]
        kind: LinkKind,
    },
    /// Remove links between two beads
    #[command(after_help = "Examples:
  godel bead dep remove 9xw3c 4k2hm
  godel bead dep remove 9xw3c 4k2hm --type related")]
    Remove {
        /// The bead
        bead: String,
        /// The one it depends on
        #[arg(value_name = "DEPENDS-ON")]
        other: String,
        /// Only links of this type [default: all]
        #[arg(long = "type", value_name = "TYPE", value_parser = fields::link(), hide_possible_values = true)]
        kind: Option<LinkKind>,
    },
    /// Show what a bead depends on, and what that depends on
    #[command(after_help = "Examples:
  godel bead dep tree 9xw3c
  godel bead dep tree 9xw3c --up")]
    Tree {
        /// The bead
        bead: String,
        /// Show what depends on it instead
        #[arg(long)]
        up: bool,
    },
}

/// What to do with labels.
#[derive(Debug, Subcommand)]
pub enum Label {
    /// Add labels to a bead
    #[command(after_help = "Examples:
  godel bead label add 4k2hm auth urgent")]
    Add {
        /// The bead
        id: String,
        /// The labels
        #[arg(value_name = "LABEL", required = true)]
        labels: Vec<String>,
    },
    /// Remove labels from a bead
    #[command(after_help = "Examples:
  godel bead label remove 4k2hm urgent")]
    Remove {
        /// The bead
        id: String,
        /// The labels
        #[arg(value_name = "LABEL", required = true)]
        labels: Vec<String>,
    },
}
