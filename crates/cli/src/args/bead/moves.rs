//! How a bead changes hands and comes to its end.

use clap::Args;
use godel_model::{BeadStatus, Resolution};
use jiff::SignedDuration;

use super::fields;
use crate::units::{self, When};

/// A bead that is held, and what proves by whom.
#[derive(Debug, Args)]
pub(crate) struct Held {
    /// The bead
    pub(crate) id: String,
    /// The token of the claim [env: GODEL_LEASE_TOKEN]
    // One in sixty-four begins with a hyphen.
    #[arg(long, allow_hyphen_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

/// A status that is asked for, or wanted.
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) held: Held,
    /// The new status; without it, the present one is shown
    #[arg(value_name = "STATUS", value_parser = fields::status())]
    pub(crate) to: Option<BeadStatus>,
    /// Move it though it is not earned
    #[arg(long, requires = "reason", requires = "to")]
    pub(crate) force: bool,
    /// Why it should move all the same
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "force")]
    pub(crate) reason: Option<String>,
}

/// An agent for a bead.
#[derive(Debug, Args)]
pub(crate) struct Assign {
    /// The bead
    pub(crate) id: String,
    /// Who should do it
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: String,
    /// Its work begins now
    #[arg(long)]
    pub(crate) start: bool,
}

/// For whom, and how long.
#[derive(Debug, Args)]
pub(crate) struct Lease {
    /// Who claims it [env: GODEL_AGENT] [default: the name you act under]
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// How long it lasts if it is not extended, up to 7d
    #[arg(long, value_name = "SPAN", default_value = "30m", value_parser = units::lifetime)]
    pub(crate) lease: SignedDuration,
}

/// A claim.
#[derive(Debug, Args)]
pub(crate) struct Claim {
    /// The bead
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) lease: Lease,
}

/// What can be begun.
#[derive(Debug, Args)]
pub(crate) struct Ready {
    /// Claim the first one
    #[arg(long, conflicts_with_all = ["explain", "limit"])]
    pub(crate) claim: bool,
    #[command(flatten)]
    pub(crate) lease: Lease,
    /// Tell what keeps each of the others
    #[arg(long)]
    pub(crate) explain: bool,
    /// List at most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: u32,
}

/// A bead that is given back.
#[derive(Debug, Args)]
pub(crate) struct Release {
    #[command(flatten)]
    pub(crate) held: Held,
    /// Take it from whoever holds it
    #[arg(long)]
    pub(crate) force: bool,
}

/// A bead that is closed.
#[derive(Debug, Args)]
pub(crate) struct Close {
    #[command(flatten)]
    pub(crate) held: Held,
    /// Why there is nothing left to do
    #[arg(long, value_name = "RESOLUTION", default_value = "done", value_parser = fields::resolution())]
    pub(crate) resolution: Resolution,
    /// A sentence that says so
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
    /// Close it though its code has not landed, or another holds it
    #[arg(long, requires = "reason")]
    pub(crate) force: bool,
}

/// A bead that is put off.
#[derive(Debug, Args)]
pub(crate) struct Defer {
    /// The bead
    pub(crate) id: String,
    /// Until then: 3d from now, a date, or a time
    #[arg(long, value_name = "WHEN", value_parser = units::when, required_unless_present = "clear")]
    pub(crate) until: Option<When>,
    /// Do not put it off any more
    #[arg(long, conflicts_with = "until")]
    pub(crate) clear: bool,
}

/// What a gate said.
#[derive(Debug, Args)]
pub(crate) struct Verdict {
    /// The bead
    pub(crate) id: String,
    /// The gate, such as tests
    #[arg(long, value_name = "GATE")]
    pub(crate) gate: String,
    /// The commit passed
    #[arg(long, required_unless_present = "failed", conflicts_with = "failed")]
    pub(crate) passed: bool,
    /// The commit failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// The commit [default: the last one of bead/<id>]
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: Option<String>,
    /// What it said
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) detail: Option<String>,
}

/// Where work has landed.
#[derive(Debug, Args)]
pub(crate) struct Landed {
    /// The bead
    pub(crate) id: String,
    /// The commit in that branch
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: String,
    /// The branch [default: the main branch]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
}
