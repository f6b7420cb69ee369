//! Names of beads and convoys: short enough to type, and safe as a file name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Invalid, Mint, code};

const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// How many characters a new bead's id has after `godel-`, while there are few beads.
const SHORTEST: usize = 5;

/// The longest id, in characters.
const LONGEST: usize = 64;

/// The name of a bead: `godel-` and five or more characters of a-z and 0-9.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BeadId(String);

/// The name of a convoy: `convoy-YYYYMMDD-` and three or more characters of a-z and 0-9.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ConvoyId(String);

impl BeadId {
    /// What every id begins with.
    pub const PREFIX: &'static str = "godel-";

    /// Makes a new id, long enough for a shelf that has `count` beads already.
    pub fn mint(mint: Mint, count: u64) -> Self {
        Self(format!("{}{}", Self::PREFIX, random(mint, Self::letters_for(count))))
    }

    /// Makes an id that always follows from the same bytes.
    pub fn derived(seed: &[u8; 16], letters: usize) -> Self {
        let mut rest = u128::from_be_bytes(*seed);
        let tail = (0..letters.clamp(SHORTEST, 24)).map(|_| {
            let letter = LETTERS[usize::try_from(rest % 36).unwrap_or_default()];
            rest /= 36;
            char::from(letter)
        });
        Self(format!("{}{}", Self::PREFIX, tail.collect::<String>()))
    }

    /// Returns how many characters a new id has on a shelf of `count` beads.
    ///
    /// At most one id in 2,000 is taken then, so that two clones seldom choose the same.
    pub fn letters_for(count: u64) -> usize {
        let (mut letters, mut room) = (SHORTEST, 36_u64.pow(5));
        while count.saturating_mul(2_000) > room && letters < 12 {
            letters += 1;
            room = room.saturating_mul(36);
        }
        letters
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ConvoyId {
    /// What every id begins with.
    pub const PREFIX: &'static str = "convoy-";

    /// Makes a new id for a convoy that is made on this day.
    pub fn mint(mint: Mint, day: jiff::civil::Date, letters: usize) -> Self {
        let day = day.strftime("%Y%m%d");
        Self(format!("{}{day}-{}", Self::PREFIX, random(mint, letters.clamp(3, 12))))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn random(mint: Mint, letters: usize) -> String {
    let mut text = String::with_capacity(letters);
    while text.len() < letters {
        // Bytes from 252 on would make the first letters more likely than the others.
        let fair = mint.bytes::<16>().into_iter().filter(|byte| *byte < 252);
        text.extend(fair.map(|byte| char::from(LETTERS[usize::from(byte) % 36])));
    }
    text.truncate(letters);
    text
}

fn is_tail(text: &str, at_least: usize) -> bool {
    text.len() >= at_least && text.bytes().all(|byte| LETTERS.contains(&byte))
}

impl FromStr for BeadId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.strip_prefix(Self::PREFIX) {
            Some(tail) if is_tail(tail, SHORTEST) && text.len() <= LONGEST => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(refuse("bead", text, "godel-abc12")),
        }
    }
}

impl FromStr for ConvoyId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let parts = text.strip_prefix(Self::PREFIX).and_then(|rest| rest.split_once('-'));
        match parts {
            Some((day, tail))
                if day.len() == 8
                    && day.bytes().all(|byte| byte.is_ascii_digit())
                    && is_tail(tail, 3)
                    && text.len() <= LONGEST =>
            {
                Ok(Self(text.to_owned()))
            }
            _ => Err(refuse("convoy", text, "convoy-20260206-abc")),
        }
    }
}

fn refuse(what: &str, text: &str, example: &str) -> Invalid {
    let shown: String = text.chars().take(LONGEST).collect();
    Invalid::new(
        code::INVALID_ID,
        format!("\"{}\" is not the id of a {what}", shown.escape_debug()),
    )
    .with_hint(format!("it looks like {example}; any beginning that only one {what} has will do"))
}

macro_rules! text_id {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id!(BeadId);
text_id!(ConvoyId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_id_is_one_that_is_accepted() {
        for count in [0, 10_000, 100_000, 10_000_000] {
            let id = BeadId::mint(Mint::system(), count);
            assert_eq!(id.as_str().parse::<BeadId>().unwrap(), id);
        }
        let id = ConvoyId::mint(Mint::system(), jiff::civil::date(2026, 2, 6), 3);
        assert!(id.as_str().starts_with("convoy-20260206-"));
        assert_eq!(id.as_str().parse::<ConvoyId>().unwrap(), id);
    }

    #[test]
    fn ids_grow_with_the_shelf() {
        assert_eq!([0, 30_000, 31_000, 2_000_000].map(BeadId::letters_for), [5, 5, 6, 7]);
    }

    #[test]
    fn the_same_seed_gives_the_same_id() {
        let seed = [7; 16];
        assert_eq!(BeadId::derived(&seed, 5), BeadId::derived(&seed, 5));
        let long = BeadId::derived(&seed, 9);
        assert!(long.as_str().starts_with(BeadId::derived(&seed, 5).as_str()));
    }

    #[test]
    fn hostile_ids_are_refused() {
        for bad in [
            "",
            "godel-",
            "godel-abc1",
            "godel-ABC12",
            "godel-../..",
            "godel-abc12/..",
            "../godel-abc12",
            "godel-abc 2",
            "godel-abc12\n",
            "godel-äbcde",
            "-godel-abc12",
            &format!("godel-{}", "a".repeat(80)),
        ] {
            assert!(bad.parse::<BeadId>().is_err(), "{bad:?}");
        }
        for bad in ["convoy-2026-abc", "convoy-20260206-ab", "convoy-20260206-../x", "convoy-abc"] {
            assert!(bad.parse::<ConvoyId>().is_err(), "{bad:?}");
        }
    }
}
