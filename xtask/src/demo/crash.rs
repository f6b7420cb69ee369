//! Act: the server is killed in the middle of writes, and nothing that was answered is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Stage;
use crate::failure::{Failure, Result};
use crate::godel::Godel;

/// How many writers publish at the same time.
const WRITERS: usize = 4;
/// How long they write before the server is killed.
const WRITE_FOR: Duration = Duration::from_secs(2);
/// A slow machine gets more time, until this many events were answered.
const AT_LEAST: usize = 20;
const WRITE_AT_MOST: Duration = Duration::from_secs(30);

/// An event as far as this act cares.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    sequence: u64,
    id: String,
}

/// Kills the server under writes, starts it again, and compares.
pub(super) fn play(stage: &mut Stage) -> Result<()> {
    let server = stage.take_server()?;
    println!("  {WRITERS} writers publish events as fast as they can ...");
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS).map(|_| write(stage.godel.clone(), stop.clone())).collect();
    let answered = wait_for_writes(&stage.godel);
    println!("  $ kill -9 {}", server.pid());
    let killed = server.kill();
    stop.store(true, Ordering::Relaxed);
    let mut known: Vec<Seen> =
        writers.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect();
    answered?;
    killed?;
    known.sort_by_key(|seen| seen.sequence);
    println!("  {} were answered when it died. Now it starts again:", known.len());
    println!("  $ godel up");
    let started = Instant::now();
    stage.raise()?;
    println!("    ready after {} ms", started.elapsed().as_millis());
    let found = everything(&stage.godel)?;
    println!("  {}", verdict(&known, &found)?);
    Ok(())
}

/// Publishes until told to stop or until the server is gone; returns what was answered.
fn write(godel: Godel, stop: Arc<AtomicBool>) -> JoinHandle<Vec<Seen>> {
    thread::spawn(move || {
        let mut answered = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            match publish(&godel, "demo:write") {
                Ok(seen) => answered.push(seen),
                Err(_) => break,
            }
        }
        answered
    })
}

/// Waits until there is something worth losing.
fn wait_for_writes(godel: &Godel) -> Result<()> {
    let started = Instant::now();
    thread::sleep(WRITE_FOR);
    let first = publish(godel, "demo:progress")?.sequence;
    while started.elapsed() < WRITE_AT_MOST {
        if first >= AT_LEAST as u64 || publish(godel, "demo:progress")?.sequence >= AT_LEAST as u64
        {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(200));
    }
    Err(Failure::new(format!("the writers got fewer than {AT_LEAST} answers")))
}

fn publish(godel: &Godel, kind: &str) -> Result<Seen> {
    let event =
        godel.call_json(&["events", "publish", kind, "--payload", "{\"from\":\"demo\"}"])?;
    seen(&event)
}

/// Reads the whole log. A last event marks its end: its number says how many there must be.
fn everything(godel: &Godel) -> Result<Vec<Seen>> {
    let end = publish(godel, "demo:end")?;
    let limit = end.sequence.to_string();
    let events =
        godel.call_json_lines(&["events", "tail", "--after", "0", "--limit", &limit]).map_err(
            |failure| failure.hint("a log with a gap never reaches the number of its last event"),
        )?;
    events.iter().map(seen).collect()
}

fn seen(event: &Value) -> Result<Seen> {
    match (event["sequence"].as_u64(), event["id"].as_str()) {
        (Some(sequence), Some(id)) => Ok(Seen { sequence, id: id.to_owned() }),
        _ => Err(Failure::new(format!("this is no event: {event}"))),
    }
}

/// Compares what was answered with what is stored; both in order of their number.
fn verdict(answered: &[Seen], stored: &[Seen]) -> Result<String> {
    let gap = stored.windows(2).find(|pair| pair[1].sequence != pair[0].sequence + 1);
    if let Some(pair) = gap {
        let what = format!("after event {} comes {}", pair[0].sequence, pair[1].sequence);
        return Err(Failure::new(what));
    }
    let lost: Vec<&Seen> = answered.iter().filter(|seen| !stored.contains(seen)).collect();
    if let Some(first) = lost.first() {
        let what =
            format!("{} answered events are lost, first number {}", lost.len(), first.sequence);
        return Err(Failure::new(what));
    }
    let (Some(first), Some(last)) = (stored.first(), stored.last()) else {
        return Err(Failure::new("nothing is stored"));
    };
    Ok(format!(
        "Verdict: {} of {} answered events are there after kill -9; numbers {} to {} in order, no gap.",
        answered.len(),
        answered.len(),
        first.sequence,
        last.sequence
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(numbers: &[u64]) -> Vec<Seen> {
        numbers.iter().map(|&sequence| Seen { sequence, id: format!("id-{sequence}") }).collect()
    }

    #[test]
    fn a_log_with_all_that_was_answered_passes() {
        let line = verdict(&log(&[2, 4]), &log(&[1, 2, 3, 4, 5])).unwrap();
        assert!(line.contains("2 of 2 answered") && line.contains("1 to 5"), "{line}");
    }

    #[test]
    fn a_lost_event_a_changed_event_and_a_gap_fail() {
        assert!(verdict(&log(&[2, 6]), &log(&[1, 2, 3])).is_err());
        let mut changed = log(&[1, 2, 3]);
        changed[1].id = "another".to_owned();
        assert!(verdict(&log(&[2]), &changed).is_err());
        assert!(verdict(&log(&[1]), &log(&[1, 2, 4])).is_err());
        assert!(verdict(&[], &[]).is_err());
    }
}
