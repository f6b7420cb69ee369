//! What is added to the time of a request, and to that of the first byte of a stream.
//!
//! Requests are sent when their time has come, whether or not earlier ones are answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::stage::{Front, REPLY_1K, Stage};
use crate::error::{Error, Result, Told as _};
use crate::http::Http;
use crate::stats::{Samples, median};
use crate::table::{Bar, Row};

/// The stream of which the first byte is waited for.
pub(super) const STREAM: &str = "bench-stream-20";
const ROUNDS: usize = 5;
const SECONDS: usize = 2;
const P50_MAX_MS: f64 = 0.4;
const P99_MAX_MS: f64 = 2.0;
const FIRST_BYTE_MAX_MS: f64 = 0.5;

/// How requests are sent.
#[derive(Debug, Clone, Copy)]
struct Pace {
    per_second: usize,
    /// As many as send in turns, each on a connection of its own.
    connections: usize,
    /// Whether the first bytes of the body end the wait.
    first_byte: bool,
}

const WHOLE: Pace = Pace { per_second: 1_000, connections: 50, first_byte: false };
const FIRST: Pace = Pace { per_second: 200, connections: 20, first_byte: true };

pub(super) async fn measure(stage: &Stage) -> Result<Vec<Row>> {
    let fronts = [stage.direct(), stage.bare().0, stage.godel().0];
    let mut rows = whole(&fronts).await?;
    let first = rounds(&fronts, FIRST).await?;
    let told = |at: usize| median(first.iter().map(|samples| samples[at].millis(50.0)));
    rows.extend([
        Row::told("first byte, direct, p50", told(0), "ms"),
        Row::told("first byte, added by bare, p50", added(&first, 1, 50.0), "ms"),
        Row::told("first byte, added, p50", added(&first, 2, 50.0), "ms")
            .bar(Bar::Below(FIRST_BYTE_MAX_MS)),
        Row::told("first byte, added, p99", added(&first, 2, 99.0), "ms"),
    ]);
    Ok(rows)
}

/// Measures whole requests: direct, over the bare proxy, over Godel.
pub(super) async fn whole(fronts: &[Front; 3]) -> Result<Vec<Row>> {
    let whole = rounds(fronts, WHOLE).await?;
    let direct = |percent| median(whole.iter().map(|samples| samples[0].millis(percent)));
    let name = |what: &str| format!("latency, 1,000 requests/s, {what}");
    Ok(vec![
        Row::told(name("direct, p50"), direct(50.0), "ms"),
        Row::told(name("direct, p99"), direct(99.0), "ms"),
        Row::told(name("added by bare, p50"), added(&whole, 1, 50.0), "ms"),
        Row::told(name("added by bare, p99"), added(&whole, 1, 99.0), "ms"),
        Row::told(name("added, p50"), added(&whole, 2, 50.0), "ms").bar(Bar::Below(P50_MAX_MS)),
        Row::told(name("added, p99"), added(&whole, 2, 99.0), "ms").bar(Bar::Below(P99_MAX_MS)),
    ])
}

/// Returns by how much a percentile is above that of the direct way.
fn added(rounds: &[Vec<Samples>], at: usize, percent: f64) -> f64 {
    median(rounds.iter().map(|samples| samples[at].millis(percent) - samples[0].millis(percent)))
}

async fn rounds(fronts: &[Front; 3], pace: Pace) -> Result<Vec<Vec<Samples>>> {
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        let mut samples = Vec::new();
        for front in fronts {
            let model = if pace.first_byte { STREAM } else { REPLY_1K };
            let request = front.request(model, 1_024, pace.first_byte);
            samples.push(run(front.address, request, pace).await?);
        }
        rounds.push(samples);
    }
    // The first round warms up.
    Ok(rounds.split_off(1))
}

async fn run(address: SocketAddr, request: Vec<u8>, pace: Pace) -> Result<Samples> {
    let mut open = Vec::new();
    for _ in 0..pace.connections {
        open.push(Http::connect(address).await?);
    }
    let request: Arc<[u8]> = request.into();
    let between = Duration::from_secs(1) / u32::try_from(pace.per_second).unwrap_or(1);
    let start = Instant::now() + Duration::from_millis(5);
    let mut tasks = JoinSet::new();
    for (place, http) in (0_u32..).zip(open) {
        let first = start + between * place;
        tasks.spawn(send(http, Arc::clone(&request), first, pace));
    }
    let mut took = Vec::new();
    while let Some(done) = tasks.join_next().await {
        took.extend(done.told("finish a sender")??);
    }
    Ok(Samples::new(took))
}

/// Sends the requests of one connection, each in its time.
async fn send(mut http: Http, request: Arc<[u8]>, first: Instant, pace: Pace) -> Result<Vec<u64>> {
    let step = Duration::from_secs(1) * u32::try_from(pace.connections).unwrap_or(1)
        / u32::try_from(pace.per_second).unwrap_or(1);
    let count = pace.per_second * SECONDS / pace.connections;
    let mut took = Vec::with_capacity(count);
    let mut due = first;
    for _ in 0..count {
        // Who is late because of the answer before has waited since its time had come.
        let mut start = due;
        if Instant::now() < due {
            tokio::time::sleep_until(due.into()).await;
            start = Instant::now();
        }
        let mut heard = None;
        if pace.first_byte {
            http.listen(&request, |_| {
                heard.get_or_insert_with(|| start.elapsed());
            })
            .await?;
        } else {
            http.expect(&request, 200).await?;
        }
        let after = heard.unwrap_or_else(|| start.elapsed());
        took.push(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX));
        due += step;
    }
    Ok::<_, Error>(took)
}
