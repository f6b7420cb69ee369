//! `fanout`: how long an event takes from its commit to the frames of 100 subscribers.
//!
//! A commit cannot be seen from outside. It lies between the moment when the request was sent and
//! the moment when its answer came, so two latencies are told for each frame: from the answer
//! (what remains when the publisher knows that the event is durable; 0 if the frame was faster
//! than the answer) and from the request (which includes the request and the fsync). The truth
//! lies between them. The bars are for the first; the second is its upper bound.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::Bench;
use crate::error::{Error, Result, Told as _};
use crate::events::{KIND, NOTE};
use crate::http::{self, Http};
use crate::server::Server;
use crate::socket::{Socket, events_in};
use crate::stats::Samples;
use crate::table::{Bar, Row};

const SUBSCRIBERS: usize = 100;
const SECONDS: usize = 10;
/// How long subscribers wait for what is missing when all is published.
const PATIENCE: Duration = Duration::from_secs(10);

/// One load.
#[derive(Debug, Clone, Copy)]
struct Plan {
    per_second: usize,
    publishers: usize,
    p99_ms: f64,
}

const PLANS: [Plan; 2] = [
    Plan { per_second: 200, publishers: 4, p99_ms: 10.0 },
    Plan { per_second: 1_000, publishers: 16, p99_ms: 50.0 },
];

/// What subscribers and publishers share.
#[derive(Debug)]
struct Run {
    address: SocketAddr,
    key: String,
    start: Instant,
    plan: Plan,
    /// When the answer of each event came, in nanoseconds since the start.
    answered: Vec<AtomicU64>,
}

impl Run {
    fn nanos(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn events(&self) -> usize {
        self.answered.len()
    }
}

/// One event in one frame.
struct Arrival {
    number: usize,
    sent_at: u64,
    at: u64,
}

/// What one subscriber got.
#[derive(Default)]
struct Got {
    arrivals: Vec<Arrival>,
    frames: usize,
    /// How often the position was not the one that follows: lost, repeated or out of order.
    breaks: usize,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let server = bench.fresh("fanout").await?;
    let mut rows = Vec::new();
    for plan in PLANS {
        rows.extend(Box::pin(run(&server, plan)).await?);
    }
    Ok(rows)
}

async fn run(server: &Server, plan: Plan) -> Result<Vec<Row>> {
    let mut sockets = Vec::with_capacity(SUBSCRIBERS);
    for _ in 0..SUBSCRIBERS {
        sockets.push(Socket::open(server.address, &server.key, "*").await?);
    }
    let answered = (0..plan.per_second * SECONDS).map(|_| AtomicU64::new(0));
    let run = Arc::new(Run {
        address: server.address,
        key: server.key.clone(),
        start: Instant::now(),
        plan,
        answered: answered.collect(),
    });
    let mut subscribers = JoinSet::new();
    for socket in sockets {
        subscribers.spawn(follow(socket, Arc::clone(&run)));
    }
    let before = server.process.cpu()?;
    let publishing = Arc::clone(&run);
    let published = tokio::task::spawn_blocking(move || publish_all(publishing)).await;
    published.told("finish the publishers")??;
    let took = run.start.elapsed();
    let mut got = Vec::with_capacity(SUBSCRIBERS);
    while let Some(done) = subscribers.join_next().await {
        got.push(done.told("finish a subscriber")??);
    }
    let cpu = server.process.cpu()?.since(&before);
    Ok(tell(&run, &got, took, cpu))
}

/// Publishes all events on a runtime of its own: behind the frames of 100 subscribers, an answer
/// would be noticed too late, and the frames would seem to come sooner after it.
fn publish_all(run: Arc<Run>) -> Result<()> {
    let own = tokio::runtime::Builder::new_current_thread().enable_all().build();
    own.told("start a runtime")?.block_on(async move {
        let mut publishers = JoinSet::new();
        for first in 0..run.plan.publishers {
            publishers.spawn(publish(Arc::clone(&run), first));
        }
        while let Some(done) = publishers.join_next().await {
            done.told("finish a publisher")??;
        }
        Ok(())
    })
}

/// Publishes every so many-th event at its time, whether the ones before were slow or not.
async fn publish(run: Arc<Run>, first: usize) -> Result<()> {
    let mut http = Http::connect(run.address).await?;
    for number in (first..run.events()).step_by(run.plan.publishers) {
        let due = run.start + Duration::from_secs(1).mul_f64(number as f64 / run.rate());
        tokio::time::sleep_until(due.into()).await;
        let sent = run.nanos();
        let body = format!(
            r#"{{"type":"{KIND}","payload":{{"n":{number},"sentAt":{sent},"agent":"builder-7","ok":true,"note":"{NOTE}"}}}}"#
        );
        http.expect(&http::post("/api/v1/events", &run.key, &body), 201).await?;
        run.answered[number].store(run.nanos(), Ordering::Relaxed);
    }
    Ok(())
}

impl Run {
    fn rate(&self) -> f64 {
        self.plan.per_second as f64
    }
}

/// Reads frames until all events were seen, or nothing comes any more.
async fn follow(mut socket: Socket, run: Arc<Run>) -> Result<Got> {
    let mut got = Got::default();
    got.arrivals.reserve(run.events());
    let (mut position, mut seen) = (socket.head, 0);
    let end = run.start + Duration::from_secs(SECONDS as u64) + PATIENCE;
    while seen < run.events() {
        let Ok(frame) = tokio::time::timeout_at(end.into(), socket.next()).await else {
            break;
        };
        let (frame, at) = (frame?, run.nanos());
        got.frames += 1;
        for event in events_in(&frame) {
            seen += 1;
            got.breaks += usize::from(event.sequence != position + 1);
            position = event.sequence;
            let number = usize::try_from(event.number).unwrap_or(usize::MAX);
            let sent_at = event.sent_at.unsigned_abs();
            got.arrivals.push(Arrival { number, sent_at, at });
        }
    }
    if got.arrivals.iter().any(|arrival| arrival.number >= run.events()) {
        return Err(Error::new("a frame holds an event that nobody published"));
    }
    Ok(got)
}

fn tell(run: &Run, got: &[Got], took: Duration, cpu: Duration) -> Vec<Row> {
    let events = run.events();
    let all = || got.iter().flat_map(|got| &got.arrivals);
    let from_answer = all().map(|arrival| {
        let answered = run.answered[arrival.number].load(Ordering::Relaxed);
        arrival.at.saturating_sub(answered)
    });
    let from_answer = Samples::new(from_answer.collect());
    let from_request = all().map(|arrival| arrival.at.saturating_sub(arrival.sent_at));
    let from_request = Samples::new(from_request.collect());
    let first = got.first().into_iter().flat_map(|got| &got.arrivals);
    let posts = first.map(|arrival| {
        let answered = run.answered[arrival.number].load(Ordering::Relaxed);
        answered.saturating_sub(arrival.sent_at)
    });
    let posts = Samples::new(posts.collect());
    let missing: usize = got.iter().map(|got| events.abs_diff(got.arrivals.len())).sum();
    let breaks: usize = got.iter().map(|got| got.breaks).sum();
    let frames: usize = got.iter().map(|got| got.frames).sum();
    let name = |what: &str| format!("{what}, {} events/s", run.plan.per_second);
    let p99 =
        Row::told(name("commit to frame, p99"), from_answer.millis(99.0), "ms after the answer");
    vec![
        Row::told(name("events published"), events as f64 / took.as_secs_f64(), "/s"),
        p99.bar(Bar::Below(run.plan.p99_ms)),
        Row::told(name("commit to frame, p50"), from_answer.millis(50.0), "ms after the answer"),
        Row::told(name("request to frame, p50"), from_request.millis(50.0), "ms"),
        Row::told(name("request to frame, p99"), from_request.millis(99.0), "ms"),
        Row::told(name("request to answer, p50"), posts.millis(50.0), "ms"),
        Row::told(name("request to answer, p99"), posts.millis(99.0), "ms"),
        Row::told(name("lost or repeated"), missing as f64, "events").bar(Bar::AtMost(0.0)),
        Row::told(name("out of order"), breaks as f64, "events").bar(Bar::AtMost(0.0)),
        Row::told(name("frames"), frames as f64, "frames"),
        Row::told(
            name("server CPU"),
            100.0 * cpu.as_secs_f64() / took.as_secs_f64(),
            "% of a core",
        ),
    ]
}
