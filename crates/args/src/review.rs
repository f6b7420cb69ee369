//! Commands about reviews.

use std::str::FromStr;

use clap::{Args, Subcommand};

/// The bead whose work is meant.
#[derive(Debug, Args)]
pub struct Of {
    /// The bead
    pub bead: String,
    /// Its project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}

/// The parts of a change that are decided.
#[derive(Debug, Args)]
pub struct Parts {
    /// The bead, and what is meant
    #[command(flatten)]
    pub of: Of,
    /// A file, a hunk of it as PATH:2, or lines of the hunk as PATH:2:1-3
    #[arg(value_name = "PART", required_unless_present = "all", conflicts_with = "all")]
    pub parts: Vec<Place>,
    /// All of the change
    #[arg(long)]
    pub all: bool,
}

/// A place in a change: a file, a hunk or a line of it, or lines of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path of the file.
    pub path: String,
    /// The number of the hunk or of the line.
    pub hunk: Option<u32>,
    /// The first and the last line of the hunk.
    pub lines: Option<(u32, u32)>,
}

impl FromStr for Place {
    type Err = &'static str;

    /// Reads `PATH`, `PATH:2` or `PATH:2:1-3`; a path may have colons itself.
    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse::<u32>().ok();
        let lines = |text: &str| {
            let (from, to) = text.split_once('-').unwrap_or((text, text));
            Some((number(from)?, number(to)?))
        };
        let (rest, last) = given.rsplit_once(':').unwrap_or((given, ""));
        let inner = rest.rsplit_once(':').and_then(|(path, hunk)| Some((path, number(hunk)?)));
        let (path, hunk, lines) = match (inner, lines(last), number(last)) {
            (Some((path, hunk)), Some(lines), _) => (path, Some(hunk), Some(lines)),
            (None, _, Some(hunk)) => (rest, Some(hunk), None),
            _ => (given, None, None),
        };
        if path.is_empty() {
            return Err("it begins with the path of a file, such as src/main.rs:2");
        }
        Ok(Self { path: path.to_owned(), hunk, lines })
    }
}

/// What becomes of parts that are not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Rest {
    /// They count as accepted
    Keep,
    /// They count as rejected
    LeaveOut,
}

impl Rest {
    /// Returns the word that the server knows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::LeaveOut => "leave_out",
        }
    }
}

/// What to do with reviews.
#[derive(Debug, Subcommand)]
pub enum Review {
    /// List what waits to be reviewed, the oldest first
    #[command(after_help = "Examples:
  godel review list
  godel review list --limit 200 --json")]
    List {
        /// Of this project only
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Show what was decided and said, and what keeps the work from being approved
    #[command(after_help = "Examples:
  godel review show 4k2hm")]
    Show(Of),
    /// Show what a bead changes, with the numbers of hunks and the comments
    #[command(after_help = "Examples:
  godel review diff 4k2hm
  godel review diff 4k2hm src/main.rs --json

The numbers are for `godel review accept`, `reject` and `edit`.")]
    Diff {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// This file only
        path: Option<String>,
    },
    /// Show lines of a file that a bead changes, also those that no hunk shows
    #[command(after_help = "Examples:
  godel review lines 4k2hm src/main.rs
  godel review lines 4k2hm src/main.rs --from 120 --to 160
  godel review lines 4k2hm src/main.rs --old --json")]
    Lines {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// The file, by its name before or now
        path: String,
        /// The first line
        #[arg(long, value_name = "LINE", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        from: u32,
        /// The last line; the end of the file unless said
        #[arg(long, value_name = "LINE", value_parser = clap::value_parser!(u32).range(1..))]
        to: Option<u32>,
        /// As it was before the change
        #[arg(long)]
        old: bool,
    },
    /// Comment on a line, or on all of the change
    #[command(after_help = "Examples:
  godel review comment 4k2hm \"Please add a test\"
  godel review comment 4k2hm \"This may be empty\" --on src/main.rs:12
  godel review comment 4k2hm \"Why is it gone?\" --on src/main.rs:8 --old

The agent is told all of it at once, by `godel review request-changes`.")]
    Comment {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// What to say; `-` reads it from stdin
        text: String,
        /// The file and the line
        #[arg(long, value_name = "PATH:LINE")]
        on: Option<Place>,
        /// The line is one of the file before the change
        #[arg(long, requires = "on")]
        old: bool,
        /// The id of the comment that it answers
        #[arg(long, value_name = "ID")]
        reply_to: Option<String>,
    },
    /// Accept hunks, lines, files or all
    #[command(after_help = "Examples:
  godel review accept 4k2hm src/main.rs:2
  godel review accept 4k2hm src/main.rs:2:1-3 README.md
  godel review accept 4k2hm --all")]
    Accept(Parts),
    /// Reject hunks, lines, files or all
    #[command(after_help = "Examples:
  godel review reject 4k2hm src/main.rs:2
  godel review reject 4k2hm Cargo.lock")]
    Reject(Parts),
    /// Take back what was decided last
    #[command(after_help = "Examples:
  godel review undo 4k2hm")]
    Undo(Of),
    /// Write something else into a hunk
    #[command(after_help = "Examples:
  godel review edit 4k2hm src/main.rs:2 - < better.txt

The text stands for all from the first line of the hunk that differs to the last. It becomes a commit of
yours by `godel review apply`.")]
    Edit {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// The hunk, as PATH:2
        part: Place,
        /// The new text; `-` reads it from stdin
        text: String,
    },
    /// Commit what was accepted on the branch of the bead, as yourself
    #[command(after_help = "Examples:
  godel review apply 4k2hm
  godel review apply 4k2hm --undecided keep

Rejected hunks are not in it, and edited ones are as you wrote them.")]
    Apply {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// What becomes of hunks that are not decided
        #[arg(long, value_name = "WHAT")]
        undecided: Option<Rest>,
    },
    /// Take back what was applied last, with a commit that has the files from before
    #[command(after_help = "Examples:
  godel review unapply 4k2hm
  godel review unapply 4k2hm --commit 3f9c2d1e5b7a

Nothing goes from the history. It is refused if the branch has another commit since.")]
    Unapply {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// Only if the branch is still at this commit: the one that was applied
        #[arg(long, value_name = "ID")]
        commit: Option<String>,
    },
    /// Show where the work conflicts with the branch that it is for, and what both sides say
    #[command(after_help = "Examples:
  godel review conflicts 4k2hm
  godel review conflicts 4k2hm --json

Exit code 4 if there are conflicts.")]
    Conflicts(Of),
    /// Say that the work may land as it is, and let it land
    #[command(after_help = "Examples:
  godel review approve 4k2hm
  godel review approve 4k2hm --commit 3f9c2d1e5b7a
  godel review approve 4k2hm --no-land --note \"Fine, but wait for Monday\"

Another commit needs another approval. Exit code 4 if it is approved and cannot land; the answer says why.")]
    Approve {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// Why, in a sentence
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        /// Only if the work is still at this commit: the one you looked at
        #[arg(long, value_name = "ID")]
        commit: Option<String>,
        /// Only say that it may
        #[arg(long)]
        no_land: bool,
    },
    /// Send all comments and rejected hunks to an agent as one message
    #[command(after_help = "Examples:
  godel review request-changes 4k2hm
  godel review request-changes 4k2hm \"Please use the new API throughout\"
  godel review request-changes 4k2hm --no-agent

The bead is open again, and an agent like the last one goes on with it.")]
    RequestChanges {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// What to say besides; `-` reads it from stdin
        text: Option<String>,
        /// Let no agent begin; the next one is told
        #[arg(long)]
        no_agent: bool,
    },
    /// Write what was accepted as a patch to stdout
    #[command(after_help = "Examples:
  godel review export 4k2hm > accepted.patch
  godel review export 4k2hm --undecided keep | git apply --index

`git apply --index` on the commit where the work began gives exactly the accepted files.")]
    Export {
        /// The bead
        #[command(flatten)]
        of: Of,
        /// What becomes of hunks that are not decided; left out, unless said
        #[arg(long, value_name = "WHAT")]
        undecided: Option<Rest>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_a_hunk_or_lines() {
        let read = |given: &str| {
            let Place { path, hunk, lines } = given.parse().unwrap();
            (path, hunk, lines)
        };
        assert_eq!(read("a.rs"), ("a.rs".to_owned(), None, None));
        assert_eq!(read("a.rs:2"), ("a.rs".to_owned(), Some(2), None));
        assert_eq!(read("a.rs:2:1-3"), ("a.rs".to_owned(), Some(2), Some((1, 3))));
        assert_eq!(read("a.rs:2:7"), ("a.rs".to_owned(), Some(2), Some((7, 7))));
        assert_eq!(read("odd:name"), ("odd:name".to_owned(), None, None));
        assert_eq!(read("odd:name:4"), ("odd:name".to_owned(), Some(4), None));
        assert!(":2".parse::<Place>().is_err());
    }
}
