//! The words a bead is described with.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Invalid, code};

macro_rules! words {
    (
        $(#[$doc:meta])+ $name:ident, $what:literal;
        $($(#[$variant_doc:meta])+ $variant:ident = $word:literal,)+
    ) => {
        $(#[$doc])+
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        pub enum $name {
            $($(#[$variant_doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Self::ALL.iter().copied().find(|one| one.as_str() == text).ok_or_else(|| {
                    let shown: String = text.chars().take(40).collect();
                    let why = format!("\"{}\" is not {}", shown.escape_debug(), $what);
                    let words: Vec<&str> = Self::ALL.iter().map(|one| one.as_str()).collect();
                    Invalid::new(code::INVALID_FIELD, why)
                        .with_hint(format!("choose one of {}", words.join(", ")))
                })
            }
        }
    };
}

words! {
    /// How far a bead has come. The order is that of the lifecycle.
    BeadStatus, "a status of a bead";
    /// Nobody works on it.
    Open = "open",
    /// Somebody holds it.
    InProgress = "in-progress",
    /// The work is committed and waits to be judged.
    Review = "review",
    /// It is finished.
    Done = "done",
}

words! {
    /// How urgent a bead is, the most urgent first.
    Priority, "a priority";
    /// Before everything else.
    Critical = "critical",
    /// Soon.
    High = "high",
    /// In its turn.
    Medium = "medium",
    /// When there is nothing else.
    Low = "low",
}

words! {
    /// What kind of work a bead is.
    BeadKind, "a type of bead";
    /// Something to do.
    Task = "task",
    /// Something that is wrong.
    Bug = "bug",
    /// Something new for the user.
    Feature = "feature",
    /// Better code, the same behaviour.
    Refactor = "refactor",
    /// Upkeep.
    Chore = "chore",
    /// Something to find out.
    Research = "research",
    /// Something to decide.
    Decision = "decision",
    /// A large piece that others are part of.
    Epic = "epic",
}

words! {
    /// Why a bead is closed.
    Resolution, "a resolution";
    /// The work was done.
    Done = "done",
    /// It will not be done.
    WontDo = "wont-do",
    /// Another bead asks for the same.
    Duplicate = "duplicate",
}

words! {
    /// How a bead depends on another, or is related to it.
    LinkKind, "a type of link";
    /// The other must be closed first.
    Blocks = "blocks",
    /// This is a part of the other, and is held up with it.
    ParentChild = "parent-child",
    /// This is only wanted if the other is closed without being done.
    ConditionalBlocks = "conditional-blocks",
    /// The other and all its parts must be closed first.
    WaitsFor = "waits-for",
    /// They have to do with each other.
    Related = "related",
    /// This was noticed while working on the other.
    DiscoveredFrom = "discovered-from",
    /// This asks for the same as the other.
    Duplicates = "duplicates",
    /// This takes the place of the other.
    Supersedes = "supersedes",
    /// This is an answer to the other.
    RepliesTo = "replies-to",
    /// This keeps an eye on the other.
    Tracks = "tracks",
    /// The other is the reason for this.
    CausedBy = "caused-by",
    /// This proves the other.
    Validates = "validates",
    /// The work of this lands in the branch of the other, and with it as one.
    LandsIn = "lands-in",
}

impl LinkKind {
    /// Tells whether a link of this type can keep a bead from being ready.
    pub const fn blocks(self) -> bool {
        matches!(self, Self::Blocks | Self::ParentChild | Self::ConditionalBlocks | Self::WaitsFor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_as_it_is_written() {
        for status in BeadStatus::ALL {
            assert_eq!(status.as_str().parse::<BeadStatus>().unwrap(), *status);
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
        for kind in LinkKind::ALL {
            assert_eq!(kind.as_str().parse::<LinkKind>().unwrap(), *kind);
        }
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let refused = "story".parse::<BeadKind>().unwrap_err();
        assert_eq!(refused.to_string(), "\"story\" is not a type of bead");
        assert!(crate::Report::hint(&refused).unwrap().contains("task, bug, feature"));
    }
}
