//! A thousand streams at the same time, each at the pace of a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::events::count;
use super::stage::{Front, Stage};
use crate::error::{Error, Result, Told as _};
use crate::http::Http;
use crate::process::Process;
use crate::stats::Samples;
use crate::table::{Bar, Row};

/// 60 events, one every 100 ms.
pub(super) const PACED: &str = "bench-paced-60-100";
const EVENTS: usize = 60;
const PAUSE: Duration = Duration::from_millis(100);
const STREAMS: usize = 1_000;
/// How long all streams are looked at when the last one has begun.
const WINDOW: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(10);
const MEMORY_MAX_MB: f64 = 100.0;

/// What was seen of a thousand streams.
struct Seen {
    /// Processor time of an event in microseconds.
    cpu_us: f64,
    memory_mb: f64,
    /// What it had before the first stream.
    before_mb: f64,
    /// By how much each event came later after the one before than it was sent.
    late: Samples,
}

pub(super) async fn measure(stage: &Stage) -> Result<Vec<Row>> {
    let direct = run(&stage.direct(), None).await?;
    let (front, process) = stage.bare();
    let bare = run(&front, Some(process)).await?;
    let (front, process) = stage.godel();
    let godel = run(&front, Some(process)).await?;
    let mut rows = vec![
        Row::told("server memory, 1,000 streams", godel.memory_mb, "MB")
            .bar(Bar::Below(MEMORY_MAX_MB)),
        Row::told("server memory, none yet", godel.before_mb, "MB"),
        Row::told("server memory, 1,000 streams, bare", bare.memory_mb, "MB"),
        Row::told("server memory, none yet, bare", bare.before_mb, "MB"),
        Row::told("CPU per event, 10,000 events/s", godel.cpu_us, "us"),
        Row::told("CPU per event, 10,000 events/s, bare", bare.cpu_us, "us"),
        Row::told("CPU per paced event, ratio to bare", godel.cpu_us / bare.cpu_us, "x"),
    ];
    for (name, seen) in [("direct", &direct), ("bare", &bare), ("Godel", &godel)] {
        for (which, percent) in [("p99", 99.0), ("most", 100.0)] {
            let what = format!("event later than its pace, {name}, {which}");
            rows.push(Row::told(what, seen.late.millis(percent), "ms"));
        }
    }
    Ok(rows)
}

async fn run(front: &Front, process: Option<&Process>) -> Result<Seen> {
    let memory = |process: Option<&Process>| {
        let bytes = process.map(Process::resident_bytes).transpose()?;
        Ok::<_, Error>(bytes.unwrap_or_default() as f64 / 1e6)
    };
    let before_mb = memory(process)?;
    let request: Arc<[u8]> = front.request(PACED, 1_024, true).into();
    let (begun, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut streams = JoinSet::new();
    for place in 0..STREAMS {
        let http = Http::connect(front.address).await?;
        let counters = (Arc::clone(&begun), Arc::clone(&heard));
        // They begin one after the other over some pauses, as agents would.
        let wait = PAUSE * 5 * u32::try_from(place).unwrap_or(0) / STREAMS as u32;
        streams.spawn(follow(http, Arc::clone(&request), wait, counters));
    }
    let start = Instant::now();
    while begun.load(Ordering::Relaxed) < STREAMS {
        if start.elapsed() > PATIENCE {
            return Err(Error::new("not all streams began in time"));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let cpu = process.map(Process::cpu).transpose()?;
    let before = heard.load(Ordering::Relaxed);
    tokio::time::sleep(WINDOW).await;
    let events = (heard.load(Ordering::Relaxed) - before) as f64;
    let (mut cpu_us, memory_mb) = (0.0, memory(process)?);
    if let (Some(process), Some(before)) = (process, cpu) {
        cpu_us = process.cpu()?.since(&before).as_secs_f64() * 1e6 / events;
    }
    let mut late = Vec::with_capacity(STREAMS * EVENTS);
    while let Some(done) = streams.join_next().await {
        late.extend(done.told("finish a stream")??);
    }
    Ok(Seen { cpu_us, memory_mb, before_mb, late: Samples::new(late) })
}

/// Follows one stream; returns by how many nanoseconds each event was late.
async fn follow(
    mut http: Http,
    request: Arc<[u8]>,
    wait: Duration,
    (begun, heard): (Arc<AtomicUsize>, Arc<AtomicUsize>),
) -> Result<Vec<u64>> {
    tokio::time::sleep(wait).await;
    let (mut last, mut late, mut seen) = (None::<Instant>, Vec::with_capacity(EVENTS), 0);
    http.listen(&request, |bytes| {
        let events = count(bytes);
        if events == 0 {
            return;
        }
        let now = Instant::now();
        match last {
            None => {
                begun.fetch_add(1, Ordering::Relaxed);
            }
            Some(last) => {
                let after = (now - last).saturating_sub(PAUSE);
                late.push(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX));
            }
        }
        last = Some(now);
        seen += events;
        heard.fetch_add(events, Ordering::Relaxed);
    })
    .await?;
    if seen < EVENTS - 2 {
        return Err(Error::new(format!("a stream had only {seen} events")));
    }
    Ok(late)
}
