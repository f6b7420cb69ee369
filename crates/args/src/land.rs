//! `godel land`: the merge queue.

use clap::{Args, Subcommand};

/// A bead that is to land, or what else to do with the merge queue.
#[derive(Debug, Args)]
pub struct LandArgs {
    /// What to do
    #[command(subcommand)]
    pub what: Option<Land>,
    /// The bead; as `godel land add BEAD`
    #[command(flatten)]
    pub add: Option<AddLanding>,
}

/// What to do with the merge queue.
#[derive(Debug, Subcommand)]
pub enum Land {
    /// Show what is to land, in order, and what became of the last ones
    #[command(after_help = "Examples:
  godel land status
  godel land status --all
  godel land status --json")]
    Status {
        /// The project, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// Show what is over as well
        #[arg(long)]
        all: bool,
    },
    /// Put the work of a bead into the queue, and wait for it
    #[command(after_help = "Examples:
  godel land add 4k2hm
  godel land add 4k2hm --no-wait

Exit code 4 if the work cannot land; the answer says why.")]
    Add(AddLanding),
    /// Take a bead out of the queue
    #[command(after_help = "Examples:
  godel land remove 4k2hm")]
    Remove(OneLanding),
    /// Give a bead that waits another place in the queue
    #[command(after_help = "Examples:
  godel land move 4k2hm --first
  godel land move 4k2hm --before 9xw3c
  godel land move 4k2hm --last

What is judged at this moment keeps its place.")]
    Move(MoveLanding),
    /// Try a bead again that did not land
    #[command(after_help = "Examples:
  godel land retry 4k2hm")]
    Retry(AddLanding),
    /// Let nothing land in a project until `godel land resume`
    #[command(after_help = "Examples:
  godel land pause --reason \"release today\"")]
    Pause {
        /// Why, for those who come later
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// The project, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Let work land again
    #[command(after_help = "Examples:
  godel land resume")]
    Resume {
        /// The project, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Take back what a bead brought; the bead is open again
    #[command(after_help = "Examples:
  godel land revert 4k2hm

A commit undoes it. It is refused if others have built on it, or if a gate fails without it.")]
    Revert(OneLanding),
}

/// A bead that is to land.
#[derive(Debug, Args)]
pub struct AddLanding {
    /// The bead
    pub bead: String,
    /// Do not wait until it has landed
    #[arg(long)]
    pub no_wait: bool,
    /// Its project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}

/// A bead that gets another place.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("whither").required(true))]
pub struct MoveLanding {
    /// The bead
    pub bead: String,
    /// Before all others that wait
    #[arg(long, group = "whither")]
    pub first: bool,
    /// Behind all others that wait
    #[arg(long, group = "whither")]
    pub last: bool,
    /// Before this bead
    #[arg(long, value_name = "BEAD", group = "whither")]
    pub before: Option<String>,
    /// Its project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}

/// A bead of the merge queue.
#[derive(Debug, Args)]
pub struct OneLanding {
    /// The bead
    pub bead: String,
    /// Its project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}
