//! The server is killed under load, again and again: nothing that was answered is lost.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use godel_api::{Client, Event, NewEvent, StreamItem};
use godel_store::DatabaseUrl;
use godel_testkit::{Database, postgres_url};
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use crate::home::{Home, Server, lasting_address};

const WRITERS: usize = 16;
/// How many writes must be answered before the server is killed.
const ANSWERED_MIN: i64 = 50;
const PATIENCE: Duration = Duration::from_secs(60);

/// How often the server is killed; `cargo xtask torture` asks for more.
fn rounds() -> u64 {
    let rounds = std::env::var("GODEL_TORTURE_ROUNDS").ok().and_then(|text| text.parse().ok());
    rounds.unwrap_or(3)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_server_loses_nothing_on_sqlite() {
    let home = Home::new();
    Torture::begin(home).await.run().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_server_loses_nothing_on_postgres() {
    let Some(server) = postgres_url() else {
        eprintln!("skipped on PostgreSQL: no server (run `cargo xtask test`)");
        return;
    };
    let database = tokio::task::spawn_blocking(|| Database::postgres(server)).await.unwrap();
    let DatabaseUrl::Postgres(url) = database.url() else { panic!("another engine") };
    let home = Home::new().with("GODEL_DATABASE_URL", &url);
    Torture::begin(home).await.run().await;
    tokio::task::spawn_blocking(|| drop(database)).await.unwrap();
}

/// An event as its writer and its readers must agree on it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    sequence: i64,
    id: String,
    /// The idempotency key, for events of the writers.
    key: Option<String>,
}

impl From<&Event> for Seen {
    fn from(event: &Event) -> Self {
        let key = event.payload["key"].as_str().map(str::to_owned);
        Self { sequence: event.sequence, id: event.id.to_string(), key }
    }
}

/// What writers know after a crash.
#[derive(Debug, Default)]
struct Known {
    /// Keys whose write was answered, with the answer.
    answered: Vec<Seen>,
    /// Keys whose write broke off: it may be there or not.
    open: Vec<String>,
}

struct Torture {
    home: Home,
    listen: String,
    server: Option<Server>,
    client: Client,
    /// All events by position, as far as they were checked.
    log: BTreeMap<i64, Seen>,
    seen: Arc<Mutex<Vec<Seen>>>,
    followers: JoinSet<()>,
}

fn draft(key: &str) -> NewEvent {
    let payload = RawValue::from_string(format!("{{\"key\":\"{key}\"}}")).unwrap();
    NewEvent {
        kind: "torture:write".to_owned(),
        payload: Some(payload),
        metadata: None,
        instance: None,
    }
}

impl Torture {
    async fn begin(home: Home) -> Self {
        let home =
            home.with("GODEL_RATE_PER_MINUTE", "100000000").with("GODEL_RATE_BURST", "1000000");
        let listen = lasting_address();
        let server = home.up_with(&["--listen", &listen]);
        let key = std::fs::read_to_string(home.data().join("owner.key")).unwrap();
        let client = Client::new(server.url(), Some(key.trim().parse().unwrap())).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut followers = JoinSet::new();
        followers.spawn(follow(client.clone(), Arc::clone(&seen)));
        Self { home, listen, server: Some(server), client, log: BTreeMap::new(), seen, followers }
    }

    async fn run(mut self) {
        for round in 0..rounds() {
            let known = self.crash(round).await;
            self.server = Some(self.home.up_with(&["--listen", &self.listen]));
            self.read_log().await;
            self.check_answered(&known);
            let saved = known.open.iter().filter(|key| self.find(key).is_some()).count();
            println!(
                "round {round}: {} answered, {saved} of {} broken off were saved, {} in the log",
                known.answered.len(),
                known.open.len(),
                self.log.len()
            );
            self.repeat(&known).await;
        }
        self.check_follower().await;
        self.check_once();
        assert_eq!(self.server.take().unwrap().stop().code(), Some(0));
        self.home.run(&["db", "check"]).expect(0);
    }

    /// Lets writers write, and kills the server in the middle of it.
    async fn crash(&mut self, round: u64) -> Known {
        let count = Arc::new(AtomicI64::new(0));
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(
                self.client.clone(),
                format!("{round}-{writer}"),
                Arc::clone(&count),
            ));
        }
        let started = Instant::now();
        while count.load(Ordering::Relaxed) < ANSWERED_MIN {
            assert!(started.elapsed() < PATIENCE, "only {count:?} writes were answered");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Never at the same moment.
        tokio::time::sleep(Duration::from_millis(round * 137 % 500)).await;
        let server = self.server.take().unwrap();
        tokio::task::spawn_blocking(|| server.kill()).await.unwrap();
        let mut known = Known::default();
        for one in writers.join_all().await {
            known.answered.extend(one.answered);
            known.open.extend(one.open);
        }
        known
    }

    /// Reads what is new in the log, newest first, down to what was read before.
    async fn read_log(&mut self) {
        let before = self.log.keys().next_back().copied().unwrap_or(0);
        let mut cursor: Option<String> = None;
        loop {
            let mut query = vec![("limit", "100".to_owned()), ("sort", "-sequence".to_owned())];
            query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
            let page = self.client.events(&query).await.unwrap();
            let oldest = page.items.last().map_or(0, |event| event.sequence);
            for event in &page.items {
                let seen = Seen::from(event);
                let earlier = self.log.insert(seen.sequence, seen.clone());
                assert!(
                    earlier.is_none_or(|earlier| earlier == seen),
                    "event {seen:?} has changed"
                );
            }
            cursor = page.pagination.cursor;
            if oldest <= before + 1 || cursor.is_none() {
                break;
            }
        }
        let sequences: Vec<i64> = self.log.keys().copied().collect();
        let expected: Vec<i64> = (1..=sequences.len() as i64).collect();
        assert_eq!(sequences, expected, "the sequence has a gap");
    }

    fn check_answered(&self, known: &Known) {
        for answered in &known.answered {
            assert_eq!(
                self.log.get(&answered.sequence),
                Some(answered),
                "an answered write is lost"
            );
        }
    }

    fn find(&self, key: &str) -> Option<&Seen> {
        self.log.values().find(|seen| seen.key.as_deref() == Some(key))
    }

    /// Repeats writes: one that is there is returned, one that is not is made, once.
    async fn repeat(&mut self, known: &Known) {
        for answered in known.answered.iter().rev().take(20) {
            let key = answered.key.as_deref().unwrap();
            let again = self.client.publish(&draft(key), Some(key)).await.unwrap();
            assert_eq!(Seen::from(&again), *answered, "a repeated write is another event");
        }
        for key in &known.open {
            let there = self.find(key).cloned();
            let first = Seen::from(&self.client.publish(&draft(key), Some(key)).await.unwrap());
            assert!(there.is_none_or(|there| there == first), "{key} was made twice");
            let second = Seen::from(&self.client.publish(&draft(key), Some(key)).await.unwrap());
            assert_eq!(first, second);
        }
        self.read_log().await;
    }

    /// Checks that a subscriber saw all of it, once and in order, across all crashes.
    async fn check_follower(&mut self) {
        let head = self.log.len();
        let started = Instant::now();
        while self.seen.lock().unwrap().len() < head {
            assert!(started.elapsed() < PATIENCE, "the subscriber misses events");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.followers.abort_all();
        let seen = self.seen.lock().unwrap();
        let log: Vec<&Seen> = self.log.values().collect();
        assert_eq!(seen.iter().collect::<Vec<_>>(), log, "the subscriber saw something else");
    }

    fn check_once(&self) {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for key in self.log.values().filter_map(|seen| seen.key.as_deref()) {
            *count.entry(key).or_default() += 1;
        }
        assert!(count.values().all(|times| *times == 1), "a write was made twice");
        let least = usize::try_from(ANSWERED_MIN).unwrap() * usize::try_from(rounds()).unwrap();
        assert!(count.len() >= least, "only {} writes", count.len());
    }
}

/// Writes until the server is gone.
async fn write(client: Client, name: String, count: Arc<AtomicI64>) -> Known {
    let mut known = Known::default();
    for number in 0.. {
        let key = format!("{name}-{number}");
        match client.publish(&draft(&key), Some(&key)).await {
            Ok(event) => {
                assert_eq!(event.payload["key"], key.as_str());
                known.answered.push(Seen::from(&event));
                count.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => {
                known.open.push(key);
                break;
            }
        }
    }
    known
}

/// Follows the whole log for as long as it is let.
async fn follow(client: Client, seen: Arc<Mutex<Vec<Seen>>>) {
    let mut stream = client.follow(Vec::new(), Some(0));
    loop {
        match stream.next().await.unwrap() {
            StreamItem::Event(event) => seen.lock().unwrap().push(Seen::from(event.as_ref())),
            StreamItem::Lagged(gap) => panic!("nothing is ever removed: {gap:?}"),
            StreamItem::Interrupted(..) => {}
        }
    }
}
