//! After a landing the branch is pushed, again and again until the other side has it.

use jiff::SignedDuration;

use super::entry::{Entry, Stage};
use super::settle;
use super::train::Ride;
use crate::Result;

/// The longest time between two tries.
const PAUSE_MAX_SECS: i64 = 300;

/// Pushes the branch if something landed that the other side lacks.
pub(super) async fn all(ride: &Ride, open: &[Entry]) -> Result<()> {
    let now = ride.now();
    let due = |one: &&Entry| one.stage == Stage::Pushing && one.is_due(now);
    let waiting: Vec<&Entry> = open.iter().filter(due).collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let failed = match ride.wanted.landing.push.clone() {
        Some(remote) => {
            let target = ride.target.clone();
            let push = move |bench: &godel_git::Workbench| bench.push(&remote, &target);
            ride.fleet.at_bench(ride.folder.clone(), push).await.err()
        }
        // Nobody wants it any more.
        None => None,
    };
    for entry in waiting {
        match &failed {
            None => {
                let end = |entry: &mut Entry| {
                    (entry.stage, entry.why, entry.not_before) = (Stage::Landed, None, None);
                };
                settle::ended(ride, entry, "landing:pushed", end).await?;
            }
            Some(error) => {
                let why = format!("it is in {}, and not pushed yet: {error}", ride.target);
                let pause = 5_i64.saturating_mul(1 << entry.tries.min(6)).min(PAUSE_MAX_SECS);
                let until = ride.now() + SignedDuration::from_secs(pause);
                let later = move |entry: &mut Entry| {
                    entry.tries += 1;
                    (entry.why, entry.not_before) = (Some(why.clone()), Some(until));
                };
                ride.change(entry, later).await?;
            }
        }
    }
    Ok(())
}
