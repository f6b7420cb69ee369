//! Servers under load, clients and workers that write down what they see, and the judgement at the end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use godel_referee::{Begin, Recorder, Rule, check};
use godel_store::DatabaseUrl;
use serde_json::Value;
use tokio::task::JoinSet;

use super::dump::{self, TENANT, Tables};
use super::http::{Heard, Way};
use super::load::{self, Chance, POISON};
use super::process::Process;
use super::worker::{self, Shop};

const CLIENTS: usize = 3;
const WORKERS: usize = 6;
/// By how much times of transactions may disagree with their order on a machine that is busy.
pub(super) const SKEW_US: i64 = 20_000_000;
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// How often something is killed; `cargo xtask torture queue` asks for more.
pub(super) fn rounds() -> u64 {
    let rounds = std::env::var("GODEL_TORTURE_ROUNDS").ok().and_then(|text| text.parse().ok());
    rounds.unwrap_or(3)
}

/// Servers, clients and workers, and all that they say.
pub(super) struct Scene {
    pub(super) servers: Vec<Process>,
    pub(super) shop: Shop,
    pub(super) tables: Tables,
    clients: JoinSet<u64>,
    workers: JoinSet<u64>,
    pub(super) chance: Chance,
}

impl Scene {
    pub(super) async fn set(database: &DatabaseUrl, servers: usize) -> Self {
        let mut all = vec![Process::start(database).await];
        for _ in 1..servers {
            all.push(Process::start(database).await);
        }
        let recorder = Recorder::in_memory();
        recorder.begin(Begin { skew: SKEW_US, ..Begin::default() });
        Self::with(all, recorder, database)
    }

    /// Lets clients and workers come to servers that are there, and write down what they see.
    pub(super) fn with(servers: Vec<Process>, recorder: Recorder, database: &DatabaseUrl) -> Self {
        let tables = match database {
            DatabaseUrl::Sqlite(_) => Tables::Sqlite(servers[0].file()),
            DatabaseUrl::Postgres(url) => Tables::Postgres(url.clone()),
        };
        let urls = servers.iter().map(|server| server.url.clone()).collect();
        let shop = Shop {
            way: Way::new(servers[0].key(), urls),
            recorder,
            tenant: TENANT.to_owned(),
            drains: Arc::default(),
            closed: Arc::default(),
            wait_ms: 200,
            pace: Duration::ZERO,
            served: Arc::default(),
        };
        let (mut clients, mut workers) = (JoinSet::new(), JoinSet::new());
        for number in 0..CLIENTS {
            clients.spawn(load::add(shop.clone(), number));
        }
        for number in 0..WORKERS {
            workers.spawn(worker::work(shop.clone(), number));
        }
        let chance = Chance::of(u64::from(std::process::id()));
        Self { servers, shop, tables, clients, workers, chance }
    }

    pub(super) async fn wait(&mut self, least: usize, most: usize) {
        let millis = least + self.chance.below(most - least);
        tokio::time::sleep(Duration::from_millis(millis.try_into().unwrap())).await;
    }

    /// Kills a server at a moment that nobody chose, and starts it again.
    pub(super) async fn kill(&mut self, number: usize) {
        self.wait(200, 900).await;
        self.servers[number].kill();
        self.shop.recorder.cut();
        self.servers[number].again().await;
        self.find_servers();
    }

    /// Tells everybody where the servers are now.
    pub(super) fn find_servers(&self) {
        let urls = self.servers.iter().map(|server| server.url.clone()).collect();
        self.shop.way.lead_to(urls);
    }

    /// Lets one worker have been silent for too long: what it has goes to others while it works on.
    pub(super) fn silence(&mut self) {
        let name = format!("worker {}", self.chance.below(WORKERS));
        let sql = "UPDATE worker SET expires_at = 1 WHERE gone = 0 AND name = ";
        self.tables.change(&format!("{sql}'{name}'"));
    }

    /// Lets everything come to an end, and everybody go home.
    pub(super) async fn end(mut self) -> (u64, u64) {
        self.shop.drains.store(true, Ordering::Relaxed);
        let accepted = self.clients.join_all().await.into_iter().sum();
        // Two servers hand out at the same moment, so that the order of answers says nothing.
        if self.servers.len() == 1 {
            self.shop.recorder.quiesced(None);
        }
        let start = Instant::now();
        let depth = loop {
            assert!(start.elapsed() < PATIENCE, "the queue does not run dry");
            tokio::time::sleep(Duration::from_millis(100)).await;
            let Heard::Yes(depth) = self.shop.way.get("/queue/depth").await else { continue };
            let count = |name: &str| depth[name].as_u64().unwrap();
            if count("ready") + count("delayed") + count("running") > 0 {
                continue;
            }
            // What waits for a dead letter waits for ever.
            for task in self.tables.blocked() {
                load::change_fate(&self.shop, "client", &task, true).await;
            }
            if count("blocked") == 0 {
                break depth;
            }
        };
        self.shop.closed.store(true, Ordering::Relaxed);
        let late = self.workers.join_all().await.into_iter().sum();
        self.shop.recorder.drained();
        for server in &mut self.servers {
            server.kill();
        }
        judge(&self.tables, &self.shop.recorder, &depth);
        (accepted, late)
    }
}

/// Judges all that was seen together with what is there now.
pub(super) fn judge(tables: &Tables, recorder: &Recorder, depth: &Value) {
    dump::write(tables, recorder, dump::reported(depth));
    let history = recorder.finish().unwrap();
    let verdict = check(&history[..]).unwrap();
    println!("{}", verdict.summary());
    if !verdict.is_clean() {
        let path = std::env::temp_dir().join(format!("godel-queue-{}.jsonl", std::process::id()));
        std::fs::write(&path, history).unwrap();
        let said: Vec<_> = verdict.violations.iter().take(20).map(ToString::to_string).collect();
        panic!("{}\nthe history is {}", said.join("\n"), path.display());
    }
    for rule in [Rule::I1, Rule::I2, Rule::I3, Rule::I4, Rule::I5, Rule::I8, Rule::I12] {
        assert!(verdict.checked(rule) > 0, "{rule} was not looked at");
    }
    // What nobody can do is a dead letter after as many attempts as it was given, or after more
    // if it was given back or tried again; never after fewer.
    for (key, attempts, most) in tables.dead() {
        assert!(attempts >= most || !key.starts_with(POISON), "{key}: {attempts} of {most}");
    }
}
