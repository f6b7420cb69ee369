//! `godel do` and `godel watch`, as people type them.

use clap::{Args, Subcommand};

use super::attempt::Ways;
use super::units;

/// Saying what is wanted, and watching it.
#[derive(Debug, Subcommand)]
pub enum Intents {
    /// Say what you want: see the plan and its price, and let it run
    #[command(
        name = "do",
        after_help = "Examples:
  godel do \"Add a landing page with a waitlist form\"
  godel do \"Fix the crash when the cart is empty\" --yes --watch
  godel do \"Rename Order to Purchase everywhere\" --plan-only --json
  godel do \"What is agent 3 doing?\"
  godel do \"Stop the auth work\"
  godel do --start 0199f2 --budget 5
  godel do \"Fix the typo in the README\" --attempts 3 --yes

Nothing runs before you say yes, or --yes. Without a terminal and without --yes the plan is kept, and
`godel do --start ID` starts it. Planning by a model costs a little itself; --rules asks none. With --attempts or
--models a plan of one bead is tried several ways, and you pick one: see `godel attempt`."
    )]
    Do(Box<Do>),
    /// Watch a convoy: every bead with its state and cost, and what needs you
    #[command(after_help = "Examples:
  godel watch convoy-20261115-k3d

Ctrl-C ends the watching; the work goes on. The exit code is 0 if all beads are done, else 1.")]
    Watch(Watch),
}

/// What is wanted.
#[derive(Debug, Args)]
pub struct Do {
    /// What you want, in words; with --answer, the answer
    #[arg(value_name = "INTENT")]
    pub text: Option<String>,
    /// Only show the plan
    #[arg(long, conflicts_with_all = ["yes", "watch"])]
    pub plan_only: bool,
    /// Start without asking
    #[arg(long)]
    pub yes: bool,
    /// Let planning and work together cost at most this much, in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = units::money)]
    pub budget: Option<i64>,
    /// Let this many agents work at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub agents: Option<u32>,
    /// Let this agent work: native, claude, codex, gemini, opencode, pi, acp or command
    #[arg(long, value_name = "NAME")]
    pub harness: Option<String>,
    /// Plan and work with this model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    #[command(flatten)]
    pub ways: Ways,
    /// Let all of it land as one: its beads land in the branch of one bead, and that is reviewed and lands
    #[arg(long)]
    pub together: bool,
    /// Plan by rules, without asking a model
    #[arg(long)]
    pub rules: bool,
    /// Watch it until it is over
    #[arg(long)]
    pub watch: bool,
    /// The project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Start a plan that was kept
    #[arg(long, value_name = "ID", conflicts_with_all = ["text", "answer", "show", "cancel", "list"])]
    pub start: Option<String>,
    /// Answer the question of an intent
    #[arg(long, value_name = "ID", requires = "text", conflicts_with_all = ["show", "cancel", "list"])]
    pub answer: Option<String>,
    /// Show an intent again
    #[arg(long, value_name = "ID", conflicts_with_all = ["text", "cancel", "list"])]
    pub show: Option<String>,
    /// Put a plan aside
    #[arg(long, value_name = "ID", conflicts_with_all = ["text", "list"])]
    pub cancel: Option<String>,
    /// List what was asked for lately
    #[arg(long, conflicts_with = "text")]
    pub list: bool,
}

/// What to watch.
#[derive(Debug, Args)]
pub struct Watch {
    /// The convoy
    pub convoy: String,
    /// Its project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}
