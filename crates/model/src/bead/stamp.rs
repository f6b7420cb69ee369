//! Moments that order themselves across clones: a hybrid logical clock.
//!
//! A stamp is 18 characters that sort as text: nine for the milliseconds, three for a counter, six
//! for the clone that made it.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Invalid, Mint, code};

const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
const MILLIS: usize = 9;
const COUNTER: usize = 3;
const NODE: usize = 6;
const LEN: usize = MILLIS + COUNTER + NODE;
const COUNTER_MAX: u64 = 32_768 - 1;

/// One clone of a repository, as its stamps name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId([u8; NODE]);

/// A moment at one clone; a later one of the same document is always greater.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Stamp([u8; LEN]);

impl NodeId {
    /// Chooses a name for a clone.
    pub fn mint(mint: Mint) -> Self {
        Self(mint.bytes::<NODE>().map(|byte| DIGITS[usize::from(byte % 32)]))
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{}", char::from(*byte)))
    }
}

impl FromStr for NodeId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let bytes: Result<[u8; NODE], _> = text.as_bytes().try_into();
        bytes.ok().filter(|bytes| all_digits(bytes)).map(Self).ok_or_else(|| refuse(text))
    }
}

impl Stamp {
    /// Before every moment.
    pub const ZERO: Self = Self([b'0'; LEN]);

    /// Returns the moment `now` at a clone, or just after `last` if its clock is ahead.
    pub fn after(last: Self, now: Timestamp, node: NodeId) -> Self {
        let now = u64::try_from(now.as_millisecond()).unwrap_or_default();
        let (millis, counter) = (last.number(0, MILLIS), last.number(MILLIS, COUNTER));
        if now > millis {
            Self::new(now, 0, node)
        } else if counter < COUNTER_MAX {
            Self::new(millis, counter + 1, node)
        } else {
            Self::new(millis + 1, 0, node)
        }
    }

    /// Returns the time in it.
    pub fn time(self) -> Timestamp {
        let millis = i64::try_from(self.number(0, MILLIS)).unwrap_or_default();
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Returns the clone that made it.
    pub fn node(self) -> NodeId {
        let mut node = [b'0'; NODE];
        node.copy_from_slice(&self.0[MILLIS + COUNTER..]);
        NodeId(node)
    }

    fn new(millis: u64, counter: u64, node: NodeId) -> Self {
        let mut text = [b'0'; LEN];
        let mut put = |mut number: u64, at: usize, len: usize| {
            for place in text[at..at + len].iter_mut().rev() {
                *place = DIGITS[usize::try_from(number % 32).unwrap_or_default()];
                number /= 32;
            }
        };
        put(millis, 0, MILLIS);
        put(counter, MILLIS, COUNTER);
        text[MILLIS + COUNTER..].copy_from_slice(&node.0);
        Self(text)
    }

    fn number(self, at: usize, len: usize) -> u64 {
        self.0[at..at + len].iter().fold(0, |number, byte| {
            let digit = if byte.is_ascii_digit() { byte - b'0' } else { byte - b'a' + 10 };
            number * 32 + u64::from(digit)
        })
    }
}

fn all_digits(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| DIGITS.contains(byte))
}

fn refuse(text: &str) -> Invalid {
    let shown: String = text.chars().take(40).collect();
    Invalid::new(code::INVALID_FIELD, format!("\"{}\" is not a stamp", shown.escape_debug()))
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{}", char::from(*byte)))
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Stamp {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let bytes: Result<[u8; LEN], _> = text.as_bytes().try_into();
        bytes.ok().filter(|bytes| all_digits(bytes)).map(Self).ok_or_else(|| refuse(text))
    }
}

impl TryFrom<String> for Stamp {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Stamp> for String {
    fn from(stamp: Stamp) -> Self {
        stamp.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_next_stamp_is_greater_whatever_the_clocks_say(
            first in 0_i64..4_000_000_000_000, second in 0_i64..4_000_000_000_000,
            one in "[0-9a-v]{6}", other in "[0-9a-v]{6}",
        ) {
            let at = |millis| Timestamp::from_millisecond(millis).unwrap();
            let before = Stamp::after(Stamp::ZERO, at(first), one.parse().unwrap());
            let after = Stamp::after(before, at(second), other.parse().unwrap());
            prop_assert!(after > before);
            prop_assert!(after.to_string() > before.to_string());
            prop_assert_eq!(after.to_string().parse::<Stamp>().unwrap(), after);
            prop_assert!(after.time() >= at(second));
            prop_assert_eq!(after.node(), other.parse().unwrap());
        }
    }

    #[test]
    fn a_counter_that_is_full_moves_the_time() {
        let node = "000000".parse().unwrap();
        let full = Stamp::new(5, COUNTER_MAX, node);
        let next = Stamp::after(full, Timestamp::UNIX_EPOCH, node);
        assert!(next > full);
        assert_eq!(next.time().as_millisecond(), 6);
    }
}
