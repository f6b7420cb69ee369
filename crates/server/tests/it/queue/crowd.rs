//! Everybody comes back at once while a long line of tasks waits: workers and sockets by the hundred, and by the
//! thousand in `cargo xtask torture queue`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use godel_referee::{Answer, Ask, Begin, Op, Recorder, What};
use godel_store::DatabaseUrl;
use godel_testkit::Database;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::crash::postgres;
use super::dump::{TENANT, Tables};
use super::herd::{HERD, bound, connections};
use super::http::{Heard, Way};
use super::load::POOLS;
use super::process::Process;
use super::scene::{PATIENCE, SKEW_US, judge, rounds};
use super::worker::{self, Shop, made};

/// How many tasks are added with one request.
const AT_ONCE: usize = 1_000;
/// How long a worker is at what it got, on average.
const PACE: Duration = Duration::from_secs(10);
/// When everybody is to be served again as ever, after the server came back.
const SETTLED: Duration = Duration::from_secs(5);
/// For how long it is looked at how fast it answers.
const LOOK: Duration = Duration::from_secs(5);
/// How many look at it.
const LOOKERS: usize = 4;
/// How many things the sockets are to hear of before and after the server was gone.
const CALLS: u64 = 3;
/// Enough for a few small events; ten thousand sockets have it.
const READ_BYTES: usize = 4_096;
/// How long a socket that lost its server waits to be told where it is, before it looks where it was.
const AGAIN: Duration = Duration::from_secs(2);

/// How large the crowd is, and how soon nearly all answers come in the middle of it, where that is measured.
#[derive(Clone, Copy)]
struct Size {
    workers: usize,
    sockets: usize,
    tasks: usize,
    p99: Option<Duration>,
}

/// `cargo xtask torture queue` has the time for all of them, and the machine for itself. Servers and the crowd share it
/// there, and neither is optimised, so that the bound is far above what a server has to keep.
fn size() -> Size {
    if rounds() >= 20 {
        let p99 = Some(Duration::from_secs(2));
        Size { workers: HERD, sockets: 10_000, tasks: 100_000, p99 }
    } else {
        Size { workers: 150, sockets: 300, tasks: 2_000, p99: None }
    }
}

/// Allows this process, and the server that it starts, as many open files as it takes.
fn allow_files(wanted: usize) {
    let (limit, wanted) = (getrlimit(Resource::Nofile), wanted as u64);
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted), ..limit };
        setrlimit(Resource::Nofile, raised).expect("raise the hard limit of open files");
    }
}

fn ask(shop: &Shop, pool: &str, key: String) -> (Ask, Value) {
    let new = json!({ "title": key, "key": key, "pool": pool, "retry": { "maxAttempts": 5 } });
    let ask = Ask {
        key,
        tenant: shop.tenant.clone(),
        pool: pool.to_owned(),
        tier: 2,
        parents: Vec::new(),
        max_attempts: 5,
        delay: None,
        start_at: None,
        backoff: None,
    };
    (ask, new)
}

/// Adds a long line of tasks; returns the id of the last.
async fn line_up(shop: &Shop, tasks: usize) -> String {
    let mut last = String::new();
    for first in (0..tasks).step_by(AT_ONCE) {
        let numbers = first..tasks.min(first + AT_ONCE);
        let asks: Vec<(Ask, Value)> = numbers
            .map(|number| ask(shop, POOLS[number % POOLS.len()], format!("task {number}")))
            .collect();
        let all: Vec<&Value> = asks.iter().map(|(_, new)| new).collect();
        let body = json!({ "tasks": all });
        loop {
            let begin = |(ask, _): &(Ask, Value)| {
                shop.recorder.invoke("client", What::Enqueue(ask.clone()))
            };
            let ops: Vec<Op> = asks.iter().map(begin).collect();
            let Heard::Yes(answer) = shop.way.post("/tasks/batch", &body).await else {
                // Asking again with the same keys is safe.
                ops.into_iter().for_each(Op::unknown);
                continue;
            };
            let made = answer["items"].as_array().unwrap();
            assert_eq!(made.len(), ops.len());
            for (op, made) in ops.into_iter().zip(made) {
                last = made["id"].as_str().unwrap().to_owned();
                op.ok(Answer::task(last.clone()));
            }
            break;
        }
    }
    last
}

async fn open(url: &str, key: &str) -> Result<WebSocketStream<TcpStream>, WsError> {
    let address = url.trim_start_matches("http://");
    let mut request = format!("ws://{address}/events").into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("sec-websocket-protocol", "godel-events-v1".parse().unwrap());
    headers.insert("authorization", format!("Bearer {key}").parse().unwrap());
    let stream = TcpStream::connect(address).await?;
    let small = WebSocketConfig::default().read_buffer_size(READ_BYTES);
    Ok(client_async_with_config(request, stream, Some(small)).await?.0)
}

/// Comes back at once when it is told where the server is, and goes on behind the last event that it got.
async fn listen(mut place: watch::Receiver<String>, key: String, heard: Arc<AtomicU64>) {
    let mut last = 0;
    loop {
        let url = place.borrow_and_update().clone();
        if let Ok(socket) = open(&url, &key).await {
            follow(socket, &mut last, &heard).await;
        }
        if let Ok(Err(_)) = tokio::time::timeout(AGAIN, place.changed()).await {
            return;
        }
    }
}

/// Takes in what comes until the socket breaks.
async fn follow(mut socket: WebSocketStream<TcpStream>, last: &mut u64, heard: &AtomicU64) {
    let wanted = json!({ "patterns": ["crowd:*"], "after": *last });
    let frame = json!({ "id": "s", "type": "subscribe", "payload": wanted });
    if socket.send(Message::text(frame.to_string())).await.is_err() {
        return;
    }
    while let Some(Ok(message)) = socket.next().await {
        if let Message::Text(text) = message {
            take(&serde_json::from_str(&text).unwrap(), last, heard);
        }
    }
}

/// Takes in what came: nothing twice, and nothing was missed.
fn take(frame: &Value, last: &mut u64, heard: &AtomicU64) {
    let events = match frame["type"].as_str().unwrap() {
        "event" => std::slice::from_ref(&frame["payload"]),
        "events" => frame["payload"]["events"].as_array().unwrap(),
        "response" => {
            assert_eq!(frame["payload"]["success"], true, "{frame}");
            return;
        }
        other => panic!("{other}: {frame}"),
    };
    for event in events {
        let [seq, number] =
            [&event["sequence"], &event["payload"]["number"]].map(|value| value.as_u64().unwrap());
        assert!(seq > *last, "event {seq} came after event {last}");
        let known = heard.load(Ordering::Relaxed);
        // Whoever called and got no answer calls again.
        assert!(number <= known, "call {number} came when {known} was the next");
        *last = seq;
        heard.store(known.max(number + 1), Ordering::Relaxed);
    }
}

/// Everybody, and what they saw.
struct Crowd {
    server: Process,
    shop: Shop,
    tables: Tables,
    workers: JoinSet<u64>,
    sockets: JoinSet<()>,
    heard: Vec<Arc<AtomicU64>>,
    place: watch::Sender<String>,
    /// How many connections to the database there were at once.
    most: usize,
    size: Size,
}

impl Crowd {
    async fn gather(database: &DatabaseUrl, size: Size) -> Self {
        let server = Process::start(database).await;
        let tables = match database {
            DatabaseUrl::Sqlite(_) => Tables::Sqlite(server.file()),
            DatabaseUrl::Postgres(url) => Tables::Postgres(url.clone()),
        };
        let recorder = Recorder::in_memory();
        recorder.begin(Begin { skew: SKEW_US, ..Begin::default() });
        let shop = Shop {
            way: Way::new(server.key(), vec![server.url.clone()]),
            recorder,
            tenant: TENANT.to_owned(),
            drains: Arc::new(true.into()),
            closed: Arc::default(),
            wait_ms: 5_000,
            pace: PACE,
            served: Arc::default(),
        };
        let (place, heard) = (watch::channel(server.url.clone()).0, Vec::new());
        let (workers, sockets) = (JoinSet::new(), JoinSet::new());
        Self { server, shop, tables, workers, sockets, heard, place, most: 0, size }
    }

    /// Lets everybody come.
    fn come(&mut self) {
        for _ in 0..self.size.sockets {
            let heard = Arc::new(AtomicU64::new(0));
            self.heard.push(Arc::clone(&heard));
            self.sockets.spawn(listen(self.place.subscribe(), self.server.key(), heard));
        }
        for number in 0..self.size.workers {
            self.workers.spawn(worker::work(self.shop.clone(), number));
        }
    }

    /// Tells all sockets of something.
    async fn call(&self, number: u64) {
        let event = json!({ "type": "crowd:call", "payload": { "number": number } });
        loop {
            match self.shop.way.post("/events", &event).await {
                Heard::Yes(_) => return,
                Heard::Nobody => {}
                Heard::No(status, code) => panic!("call {number} was refused: {status} {code}"),
            }
        }
    }

    /// Waits until each worker was answered and each socket heard of all calls.
    async fn wait(&mut self, calls: u64) {
        let start = Instant::now();
        loop {
            self.most = self.most.max(connections(&self.tables, &self.server));
            // None of them ends by itself, unless something is wrong.
            if let Some(ended) = self.sockets.try_join_next() {
                ended.unwrap();
            }
            let served = self.shop.served.lock().unwrap().len();
            let deaf = self.heard.iter().filter(|one| one.load(Ordering::Relaxed) < calls).count();
            if served == self.size.workers && deaf == 0 {
                return;
            }
            let late = start.elapsed() > PATIENCE;
            assert!(!late, "{served} workers were answered, {deaf} sockets did not hear all");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Everybody loses the server, and finds it again at the same moment.
    async fn lose_and_find(&mut self) {
        self.server.kill();
        self.shop.recorder.cut();
        self.shop.served.lock().unwrap().clear();
        self.server.again().await;
        self.shop.way.lead_to(vec![self.server.url.clone()]);
        self.place.send_replace(self.server.url.clone());
    }

    /// Looks how soon answers come; returns how many came, and in what time all but one of a hundred.
    async fn answers(&self, task: &str) -> (usize, Duration) {
        let until = Instant::now() + LOOK;
        let mut lookers = JoinSet::new();
        for number in 0..LOOKERS {
            lookers.spawn(look(self.shop.clone(), number, task.to_owned(), until));
        }
        let mut took = lookers.join_all().await.concat();
        took.sort();
        (took.len(), took[took.len() * 99 / 100])
    }
}

/// Reads a task and adds one, turn and turn about; tells how long each answer took.
async fn look(shop: Shop, number: usize, task: String, until: Instant) -> Vec<Duration> {
    let mut took = Vec::new();
    while Instant::now() < until {
        let (ask, new) = ask(&shop, "nobody", format!("look {number} {}", took.len()));
        let start = Instant::now();
        if took.len() % 2 == 0 {
            assert!(matches!(shop.way.get(&format!("/tasks/{task}")).await, Heard::Yes(_)));
        } else {
            let op = shop.recorder.invoke("looker", What::Enqueue(ask));
            assert!(made(op, shop.way.post("/tasks", &new).await).is_some());
        }
        took.push(start.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    took
}

async fn comes_back(database: &DatabaseUrl) {
    let size = size();
    allow_files(size.sockets + 3 * size.workers);
    let mut crowd = Crowd::gather(database, size).await;
    let last = line_up(&crowd.shop, size.tasks).await;
    crowd.come();
    for number in 0..CALLS {
        crowd.call(number).await;
    }
    crowd.wait(CALLS).await;
    crowd.lose_and_find().await;
    let back = Instant::now();
    // While they come back, and when most of them are there.
    crowd.call(CALLS).await;
    tokio::time::sleep(SETTLED.saturating_sub(back.elapsed())).await;
    let (answers, slowest) = crowd.answers(&last).await;
    for number in CALLS + 1..2 * CALLS {
        crowd.call(number).await;
    }
    crowd.wait(2 * CALLS).await;
    let Crowd { mut server, shop, tables, workers, most, .. } = crowd;
    shop.closed.store(true, Ordering::Relaxed);
    assert_eq!(workers.join_all().await.len(), size.workers);
    let depth = loop {
        if let Heard::Yes(depth) = shop.way.get("/queue/depth").await {
            break depth;
        }
    };
    server.kill();
    judge(&tables, &shop.recorder, &depth);
    let Size { workers, sockets, tasks, p99 } = size;
    println!(
        "{workers} workers, {sockets} sockets, {tasks} tasks, {} left, at most {most} connections, \
         {answers} answers looked at, 99 of 100 within {slowest:?}",
        depth["ready"]
    );
    assert!(depth["ready"].as_u64().unwrap() > 0, "the line was too short");
    assert!(most <= bound(database), "{most} connections");
    let late = p99.is_some_and(|p99| slowest > p99);
    assert!(!late, "{slowest:?} for 99 of {answers} answers");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_that_comes_back_to_a_long_line_is_served_on_sqlite() {
    comes_back(&Database::sqlite().url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_that_comes_back_to_a_long_line_is_served_on_postgres() {
    let Some(database) = postgres().await else { return };
    comes_back(&database.url()).await;
}
