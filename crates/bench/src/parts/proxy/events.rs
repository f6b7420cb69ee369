//! What an event of a stream costs when many come at once.
//!
//! Real providers send each event in a chunk of its own, so that is what the bar is for. A body of
//! known length that holds as many events is told beside it: there a proxy that does not look into
//! it has next to nothing to do.

use std::net::SocketAddr;

use memchr::memmem;
use tokio::task::JoinSet;

use super::stage::{Front, Stage};
use crate::error::{Error, Result, Told as _};
use crate::http::Http;
use crate::process::Process;
use crate::stats::median;
use crate::table::{Bar, Row};

/// The stream of the fast lane: one body with all events.
pub(super) const BURST: &str = "bench-stream-2000";
const EVENTS: usize = 2_000;
const CONNECTIONS: usize = 4;
/// How many streams each connection asks for in a round.
const ROUND_EACH: usize = 8;
const ROUNDS: usize = 9;
const RATIO_MAX: f64 = 1.2;

/// Finds the beginning of each event.
pub(super) fn count(bytes: &[u8]) -> usize {
    memmem::find_iter(bytes, b"data: ").count()
}

pub(super) async fn measure(stage: &Stage) -> Result<Vec<Row>> {
    let words = |front: &Front| front.words(EVENTS);
    let burst = |front: &Front| front.request(BURST, 1_024, true);
    let mut rows = compare(stage, &words, "a chunk each").await?;
    let ratio = rows.pop().map(|row| row.bar(Bar::AtMost(RATIO_MAX)));
    rows.extend(ratio);
    rows.extend(compare(stage, &burst, "one body").await?);
    Ok(rows)
}

/// Measures Godel, the bare proxy and nginx in turns; the ratio comes last.
async fn compare(
    stage: &Stage,
    request: &dyn Fn(&Front) -> Vec<u8>,
    kind: &str,
) -> Result<Vec<Row>> {
    let mut fronts = vec![stage.godel(), stage.bare()];
    fronts.extend(stage.nginx());
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        let mut costs = Vec::new();
        for (front, process) in &fronts {
            costs.push(round(front.address, process, &request(front)).await?);
        }
        rounds.push(costs);
    }
    // The first round warms up.
    let rounds = &rounds[1..];
    let cost = |at: usize| median(rounds.iter().map(|costs| costs[at]));
    let name = |what: &str| format!("CPU per event{what}, {kind}");
    let mut rows =
        vec![Row::told(name(""), cost(0), "us"), Row::told(name(", bare"), cost(1), "us")];
    if fronts.len() == 3 {
        rows.push(Row::told(name(", nginx"), cost(2), "us"));
    }
    let ratio = median(rounds.iter().map(|costs| costs[0] / costs[1]));
    rows.push(Row::told(name(", ratio to bare"), ratio, "x"));
    Ok(rows)
}

/// Returns what an event costs in microseconds.
async fn round(address: SocketAddr, process: &Process, request: &[u8]) -> Result<f64> {
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        open.push(Http::connect(address).await?);
    }
    let before = process.cpu()?;
    let mut tasks = JoinSet::new();
    for mut http in open {
        let request = request.to_vec();
        tasks.spawn(async move {
            let mut events = 0;
            for _ in 0..ROUND_EACH {
                http.listen(&request, |bytes| events += count(bytes)).await?;
            }
            Ok::<_, Error>(events)
        });
    }
    let mut events = 0;
    while let Some(done) = tasks.join_next().await {
        events += done.told("finish a listener")??;
    }
    let cpu = process.cpu()?.since(&before);
    // An event whose mark was cut in two is not counted; there are few of them.
    if events < EVENTS * CONNECTIONS * ROUND_EACH * 9 / 10 {
        return Err(Error::new(format!("only {events} events came")));
    }
    Ok(cpu.as_secs_f64() * 1e6 / events as f64)
}
