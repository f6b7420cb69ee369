//! How a bead changes hands and comes to its end.

use clap::Args;
use godel_model::{BeadStatus, Resolution};
use jiff::SignedDuration;

use super::fields;
use crate::units::{self, When};

/// A bead that is held, and what proves by whom.
#[derive(Debug, Args)]
pub struct Held {
    /// The bead
    pub id: String,
    /// The token of the claim [env: GODEL_LEASE_TOKEN]
    // One in sixty-four begins with a hyphen.
    #[arg(long, allow_hyphen_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
}

/// A status that is asked for, or wanted.
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    pub held: Held,
    /// The new status; without it, the present one is shown
    #[arg(value_name = "STATUS", value_parser = fields::status())]
    pub to: Option<BeadStatus>,
    /// Move it though it is not earned
    #[arg(long, requires = "reason", requires = "to")]
    pub force: bool,
    /// Why it should move all the same
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "force")]
    pub reason: Option<String>,
}

/// An agent for a bead.
#[derive(Debug, Args)]
pub struct Assign {
    /// The bead
    pub id: String,
    /// Who should do it
    #[arg(long, value_name = "AGENT")]
    pub agent: String,
    /// Its work begins now
    #[arg(long)]
    pub start: bool,
}

/// For whom, and how long.
#[derive(Debug, Args)]
pub struct Lease {
    /// Who claims it [env: GODEL_AGENT] [default: the name you act under]
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// How long it lasts if it is not extended, up to 7d
    #[arg(long, value_name = "SPAN", default_value = "30m", value_parser = units::lifetime)]
    pub lease: SignedDuration,
}

/// A claim.
#[derive(Debug, Args)]
pub struct Claim {
    /// The bead
    pub id: String,
    #[command(flatten)]
    pub lease: Lease,
}

/// What can be begun.
#[derive(Debug, Args)]
pub struct Ready {
    /// Claim the first one
    #[arg(long, conflicts_with_all = ["explain", "limit"])]
    pub claim: bool,
    #[command(flatten)]
    pub lease: Lease,
    /// Tell what keeps each of the others
    #[arg(long)]
    pub explain: bool,
    /// List at most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub limit: u32,
}

/// A bead that is given back.
#[derive(Debug, Args)]
pub struct Release {
    #[command(flatten)]
    pub held: Held,
    /// Take it from whoever holds it
    #[arg(long)]
    pub force: bool,
}

/// A bead that is closed.
#[derive(Debug, Args)]
pub struct Close {
    #[command(flatten)]
    pub held: Held,
    /// Why there is nothing left to do
    #[arg(long, value_name = "RESOLUTION", default_value = "done", value_parser = fields::resolution())]
    pub resolution: Resolution,
    /// A sentence that says so
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,
    /// Close it though its code has not landed, or another holds it
    #[arg(long, requires = "reason")]
    pub force: bool,
}

/// A bead that is put off.
#[derive(Debug, Args)]
pub struct Defer {
    /// The bead
    pub id: String,
    /// Until then: 3d from now, a date, or a time
    #[arg(long, value_name = "WHEN", value_parser = units::when, required_unless_present = "clear")]
    pub until: Option<When>,
    /// Do not put it off any more
    #[arg(long, conflicts_with = "until")]
    pub clear: bool,
}

/// What a gate said.
#[derive(Debug, Args)]
pub struct Verdict {
    /// The bead
    pub id: String,
    /// The gate, such as tests
    #[arg(long, value_name = "GATE")]
    pub gate: String,
    /// The commit passed
    #[arg(long, required_unless_present = "failed", conflicts_with = "failed")]
    pub passed: bool,
    /// The commit failed
    #[arg(long)]
    pub failed: bool,
    /// The commit [default: the last one of bead/<id>]
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    /// What it said
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub detail: Option<String>,
}

/// Where work has landed.
#[derive(Debug, Args)]
pub struct Landed {
    /// The bead
    pub id: String,
    /// The commit in that branch
    #[arg(long, value_name = "COMMIT")]
    pub commit: String,
    /// The branch [default: the main branch]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
}
