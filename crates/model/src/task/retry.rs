//! How often and after what pause a task is tried again.

use serde::{Deserialize, Serialize};

use crate::{Invalid, code};

const ATTEMPTS_MAX: u32 = 100;
const DELAY_MAX_MS: u64 = 24 * 60 * 60 * 1_000;

/// How often and after what pause a task is tried again: the pause doubles up to a limit, and half
/// of it is left to chance so that those who failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// How often it is tried in all.
    pub max_attempts: u32,
    /// The pause after the first failure, in milliseconds.
    pub delay_ms: u64,
    /// The longest pause, in milliseconds.
    pub max_delay_ms: u64,
    /// Whether another worker tries it next, where one is able.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 3, delay_ms: 1_000, max_delay_ms: 30_000, elsewhere: false }
    }
}

impl RetryPolicy {
    /// Checks the numbers.
    ///
    /// # Errors
    /// If one of them makes no sense.
    pub fn check(&self) -> Result<(), Invalid> {
        let refuse = |why: String| Err(Invalid::new(code::INVALID_FIELD, why));
        if !(1..=ATTEMPTS_MAX).contains(&self.max_attempts) {
            return refuse(format!("a task is tried 1 to {ATTEMPTS_MAX} times"));
        }
        if self.delay_ms > DELAY_MAX_MS || self.max_delay_ms > DELAY_MAX_MS {
            return refuse("a pause between two attempts takes a day at most".to_owned());
        }
        Ok(())
    }

    /// Returns the pause after a failed attempt, in microseconds; `chance` is from 0 to 1.
    pub fn pause_micros(&self, failures: u32, chance: f64) -> i64 {
        let doublings = failures.saturating_sub(1).min(40);
        let pause = self.delay_ms.saturating_mul(1 << doublings).min(self.max_delay_ms);
        let half = i64::try_from(pause.saturating_mul(500)).unwrap_or(i64::MAX / 2);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "a pause is at most a day, which both hold exactly enough"
        )]
        let by_chance = (half as f64 * chance.clamp(0.0, 1.0)) as i64;
        half + by_chance
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_pause_doubles_up_to_its_limit() {
        let policy = RetryPolicy::default();
        let whole: Vec<_> = (1..=7).map(|n| policy.pause_micros(n, 1.0) / 1_000_000).collect();
        assert_eq!(whole, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(policy.pause_micros(3, 0.0), 2_000_000);
    }

    proptest! {
        #[test]
        fn a_pause_is_between_half_and_whole(failures in 0_u32..200, chance in 0.0..1.0_f64) {
            let policy = RetryPolicy::default();
            let whole = policy.pause_micros(failures, 1.0);
            let pause = policy.pause_micros(failures, chance);
            prop_assert!(pause >= whole / 2 && pause <= whole && whole <= 30_000_000);
        }
    }
}
