//! `godel attempt`: one bead, tried several ways.

use clap::{Args, Subcommand};

use crate::units;

/// What to do with attempts.
#[derive(Debug, Subcommand)]
pub enum Attempt {
    /// Let several agents try a bead, each by itself
    #[command(after_help = "Examples:
  godel attempt start 4k2hm
  godel attempt start 4k2hm --models claude-opus-4-8,gpt-5.2,gemini-3-pro
  godel attempt start 4k2hm --attempts 4 --models claude-opus-4-8,gpt-5.2 --budget 10

Models are taken in turn. Without --models all use that of the project.")]
    Start(StartAttempts),
    /// List beads that are tried several ways
    #[command(after_help = "Examples:
  godel attempt list
  godel attempt list --archived
  godel attempt list 4k2hm --json")]
    List {
        /// Only the last attempts at this bead
        bead: Option<String>,
        /// Those that are decided, with the references of git that keep them
        #[arg(long)]
        archived: bool,
        /// The project, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Show the attempts at a bead side by side: model, state, gates, changes, cost
    #[command(after_help = "Examples:
  godel attempt show 4k2hm
  godel attempt show 4k2hm --json")]
    Show(OneBead),
    /// Show what an attempt changed, or how two differ
    #[command(after_help = "Examples:
  godel attempt diff 4k2hm 1
  godel attempt diff 4k2hm 1 2")]
    Diff {
        /// The bead
        bead: String,
        /// The number of the attempt
        number: u32,
        /// The number of another one, to see how it differs from the first
        other: Option<u32>,
        /// Its project, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Pick an attempt: it becomes the work of the bead, and the others are archived
    #[command(after_help = "Examples:
  godel attempt pick 4k2hm 2
  godel attempt pick 4k2hm 3 --force

The bead goes to review as if that agent had worked alone. Agents that are still at work are stopped.")]
    Pick {
        /// The bead
        bead: String,
        /// The number of the attempt
        number: u32,
        /// Although its gates did not pass; the merge queue judges it before it lands
        #[arg(long)]
        force: bool,
        /// Its project, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Archive all attempts at a bead; the bead is open again
    #[command(after_help = "Examples:
  godel attempt drop 4k2hm")]
    Drop(OneBead),
}

/// How a bead is to be tried.
#[derive(Debug, Args)]
pub struct StartAttempts {
    /// The bead
    pub bead: String,
    #[command(flatten)]
    pub ways: Ways,
    /// Let this agent work: native, claude, codex, gemini, opencode or pi
    #[arg(long, value_name = "NAME")]
    pub harness: Option<String>,
    /// Let all attempts together cost at most this much, in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = units::money)]
    pub budget: Option<i64>,
    /// Its project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}

/// How many ways, and with which models.
#[derive(Debug, Clone, Default, Args)]
pub struct Ways {
    /// Try it this many ways: 2 to 8
    #[arg(long, value_name = "N")]
    pub attempts: Option<u32>,
    /// Try it with these models, in turn
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub models: Vec<String>,
}

/// A bead that is tried several ways.
#[derive(Debug, Args)]
pub struct OneBead {
    /// The bead
    pub bead: String,
    /// Its project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}
