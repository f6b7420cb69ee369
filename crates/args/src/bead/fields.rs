//! What a bead is described with, and found by.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use godel_beads::Sort;
use godel_model::{BeadKind, BeadStatus, LinkKind, Priority, Resolution};

use crate::units::{self, Cap};

macro_rules! choice {
    ($(#[$doc:meta] $name:ident: $type:ty;)+) => {
        $(
            #[$doc]
            pub(super) fn $name() -> impl TypedValueParser<Value = $type> {
                let words = <$type>::ALL.iter().map(|one| one.as_str());
                PossibleValuesParser::new(words).try_map(|word| word.parse::<$type>())
            }
        )+
    };
}

choice! {
    /// Reads a type.
    kind: BeadKind;
    /// Reads a priority.
    priority: Priority;
    /// Reads a status.
    status: BeadStatus;
    /// Reads a resolution.
    resolution: Resolution;
    /// Reads a type of link.
    link: LinkKind;
}

fn sort() -> impl TypedValueParser<Value = Sort> {
    PossibleValuesParser::new(["priority", "created", "updated"]).map(|word| match word.as_str() {
        "created" => Sort::Created,
        "updated" => Sort::Updated,
        _ => Sort::Priority,
    })
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}

/// A text, given here, in a file, or on stdin.
#[derive(Debug, Clone, Default, Args)]
pub struct Text {
    /// What is to be done, at length; - reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "file")]
    pub description: Option<String>,
    /// Read the description from this file; - is stdin
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
}

/// A bead that is to be made.
#[derive(Debug, Args)]
pub struct Create {
    /// What is to be done, in a line
    pub title: String,
    /// Read the description from stdin, as `--file -` does
    #[arg(value_name = "-", value_parser = ["-"], conflicts_with_all = ["description", "file"])]
    pub stdin: Option<String>,
    /// What kind of work it is [default: task]
    #[arg(long = "type", value_name = "TYPE", value_parser = kind())]
    pub kind: Option<BeadKind>,
    /// How urgent it is [default: medium]
    #[arg(long, value_name = "PRIORITY", value_parser = priority())]
    pub priority: Option<Priority>,
    #[command(flatten)]
    pub text: Text,
    /// How one sees that it is done
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub acceptance: Option<String>,
    /// A word to find it by; may be given several times
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// The bead that it is a part of
    #[arg(long, value_name = "BEAD")]
    pub parent: Option<String>,
    /// A bead that has to wait for this one; may be given several times
    #[arg(long, value_name = "BEAD")]
    pub blocks: Vec<String>,
    /// A bead that has to be closed first; may be given several times
    #[arg(long, value_name = "BEAD")]
    pub blocked_by: Vec<String>,
    /// How long it may take: 90m, 2h, 3d
    #[arg(long, value_name = "SPAN", value_parser = units::minutes)]
    pub estimate: Option<Cap<u64>>,
    /// What it may cost, in dollars: 5.00
    #[arg(long, value_name = "DOLLARS", value_parser = units::dollars)]
    pub budget: Option<Cap<u64>>,
    /// Something to keep with it; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub metadata: Vec<(String, String)>,
}

/// What is to be changed of a bead.
#[derive(Debug, Args)]
pub struct Update {
    /// The bead
    pub id: String,
    /// The new title
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// The new type
    #[arg(long = "type", value_name = "TYPE", value_parser = kind())]
    pub kind: Option<BeadKind>,
    /// The new priority
    #[arg(long, value_name = "PRIORITY", value_parser = priority())]
    pub priority: Option<Priority>,
    #[command(flatten)]
    pub text: Text,
    /// How one sees that it is done
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub acceptance: Option<String>,
    /// Its place in a manual order
    #[arg(long, value_name = "RANK")]
    pub rank: Option<String>,
    /// How long it may take: 90m, 2h, 3d, or none
    #[arg(long, value_name = "SPAN", value_parser = units::minutes)]
    pub estimate: Option<Cap<u64>>,
    /// What it may cost, in dollars: 5.00, or none
    #[arg(long, value_name = "DOLLARS", value_parser = units::dollars)]
    pub budget: Option<Cap<u64>>,
    /// The bead that it is a part of
    #[arg(long, value_name = "BEAD", conflicts_with = "no_parent")]
    pub parent: Option<String>,
    /// Make it a part of none
    #[arg(long)]
    pub no_parent: bool,
    /// Something to keep with it, or KEY= to remove it; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub metadata: Vec<(String, String)>,
}

/// Which beads are wanted.
#[derive(Debug, Default, Args)]
pub struct List {
    /// Only these: open, in-progress, review, done [default: all but done]
    #[arg(long, value_name = "STATUS", value_parser = status(), value_delimiter = ',', hide_possible_values = true)]
    pub status: Vec<BeadStatus>,
    /// Only these types
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub kind: Vec<String>,
    /// Only these: critical, high, medium, low
    #[arg(long, value_name = "PRIORITY", value_parser = priority(), value_delimiter = ',', hide_possible_values = true)]
    pub priority: Vec<Priority>,
    /// Only those with this label; may be given several times, then all are wanted
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// Only those that this agent works on
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Only parts of this bead
    #[arg(long, value_name = "BEAD")]
    pub parent: Option<String>,
    /// Only those of this convoy
    #[arg(long, value_name = "CONVOY")]
    pub convoy: Option<String>,
    /// Only those with words that begin so
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
    /// Only those that a query finds, as in the dashboard: status:open agent:none updated:<2d login
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// Those that are done, too
    #[arg(long, conflicts_with = "status")]
    pub all: bool,
    /// Those that are deleted, too
    #[arg(long)]
    pub deleted: bool,
    #[command(flatten)]
    pub part: Part,
}

/// Which part of a list is wanted, and in which order.
#[derive(Debug, Default, Args)]
pub struct Part {
    /// What comes first: the urgent, the new, or what was changed last [default: priority]
    #[arg(long, value_name = "ORDER", value_parser = sort())]
    pub sort: Option<Sort>,
    /// List at most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub limit: u32,
    /// Go on where an earlier list ended
    #[arg(long, value_name = "CURSOR")]
    pub cursor: Option<String>,
}
