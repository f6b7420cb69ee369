//! Time as an argument: whoever needs the time takes a [`Clock`].

use std::sync::Mutex;
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};

/// Tells the time, in whole microseconds, the precision that is stored.
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        // A machine whose clock stands before 1970 has no time that anybody could use.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// A clock for tests, which moves only when told to.
#[derive(Debug)]
pub struct TestClock(Mutex<Timestamp>);

impl TestClock {
    /// Starts at the given moment.
    pub fn at(start: Timestamp) -> Self {
        Self(Mutex::new(start))
    }

    /// Moves forward (or back, by a negative duration).
    pub fn advance(&self, by: SignedDuration) {
        if let Ok(mut now) = self.0.lock() {
            *now = now.saturating_add(by).unwrap_or(*now);
        }
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.0.lock().map_or(Timestamp::UNIX_EPOCH, |now| *now)
    }
}

/// Returns the microseconds since the Unix epoch: how times are stored.
pub fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

/// Turns stored microseconds back into a time; what no calendar can hold becomes the epoch.
pub fn from_micros(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
}
