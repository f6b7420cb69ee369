//! Patterns that select events by type.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::event::is_segment;
use crate::{EventType, Invalid, code};

const PATTERN_MAX_CHARS: usize = 100;

/// Selects event types: `agent:start`, `agent:*`, `workflow:*:complete` or `*`.
///
/// A `*` stands for one word; as the last word it stands for one or more.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(String);

impl Pattern {
    /// Returns the pattern that selects every event.
    pub fn any() -> Self {
        Self("*".to_owned())
    }

    /// Tells whether an event type is selected.
    pub fn matches(&self, kind: &EventType) -> bool {
        let mut wanted = self.0.split(':').peekable();
        let mut found = kind.as_str().split(':');
        while let Some(want) = wanted.next() {
            let Some(have) = found.next() else {
                return false;
            };
            if want == "*" {
                if wanted.peek().is_none() {
                    return true;
                }
            } else if want != have {
                return false;
            }
        }
        found.next().is_none()
    }

    /// Returns the pattern as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Pattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let fits = text.len() <= PATTERN_MAX_CHARS
            && text.split(':').count() <= 5
            && text.split(':').all(|word| word == "*" || is_segment(word));
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new(
                code::INVALID_PATTERN,
                "a pattern must be 1 to 5 words or `*`, joined by colons",
            )
            .with_hint("for example `agent:*`, `workflow:step:*` or `*`"))
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(pattern: &str, kind: &str) -> bool {
        pattern.parse::<Pattern>().unwrap().matches(&kind.parse().unwrap())
    }

    #[test]
    fn a_star_stands_for_words() {
        assert!(check("*", "agent:start"));
        assert!(check("agent:*", "agent:start"));
        assert!(check("agent:*", "agent:tool:call"));
        assert!(check("workflow:step:*", "workflow:step:start"));
        assert!(check("workflow:*:start", "workflow:step:start"));
        assert!(check("*:start", "agent:start"));
        assert!(!check("agent:*", "agents:start"));
        assert!(!check("agent", "agent:start"));
        assert!(!check("workflow:step:*", "workflow:start"));
        assert!(!check("workflow:*:start", "workflow:start"));
        assert!(!check("agent:start", "agent:start:again"));
    }

    #[test]
    fn a_malformed_pattern_is_refused() {
        for bad in ["", "agent:", "**", "agent.*", "Agent:*", "a:b:c:d:e:f"] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_type_matches_itself_and_its_prefixes(words in proptest::collection::vec("[a-z]{1,6}", 2..=5)) {
            let kind = words.join(":");
            prop_assert!(check(&kind, &kind));
            for shown in 0..words.len() {
                let mut prefix = words[..shown].to_vec();
                prefix.push("*".to_owned());
                prop_assert!(check(&prefix.join(":"), &kind));
            }
        }
    }
}
