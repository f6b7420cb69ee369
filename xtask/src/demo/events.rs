//! Act: events are published and read back.

use super::Stage;
use crate::failure::Result;

/// How many events are published.
const EVENTS: u32 = 3;

/// Publishes a few events and reads those of their type back from the beginning of the log.
pub(super) fn play(stage: &mut Stage) -> Result<()> {
    for n in 1..=EVENTS {
        stage.show(&["events", "publish", "demo:hello", "--payload", &format!("{{\"n\":{n}}}")])?;
    }
    println!("  Each has a number without gaps, so that a reader can drop and go on where it was:");
    stage.show(&["events", "tail", "demo:*", "--after", "0", "--limit", &EVENTS.to_string()])
}
