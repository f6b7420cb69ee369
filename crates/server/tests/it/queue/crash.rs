//! Servers are killed under load, again and again: nothing is lost, nothing is doubled, and nobody is
//! heard who came too late.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use godel_referee::{Begin, Recorder, Rule, check};
use godel_store::DatabaseUrl;
use godel_testkit::{Database, postgres_url};
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
const SKEW_US: i64 = 20_000_000;
const PATIENCE: Duration = Duration::from_secs(180);

/// How often something is killed; `cargo xtask torture queue` asks for more.
fn rounds() -> u64 {
    let rounds = std::env::var("GODEL_TORTURE_ROUNDS").ok().and_then(|text| text.parse().ok());
    rounds.unwrap_or(3)
}

/// Servers, clients and workers, and all that they say.
struct Scene {
    servers: Vec<Process>,
    shop: Shop,
    tables: Tables,
    clients: JoinSet<u64>,
    workers: JoinSet<u64>,
    chance: Chance,
}

impl Scene {
    async fn set(database: &DatabaseUrl, servers: usize) -> Self {
        let mut all = vec![Process::start(database).await];
        for _ in 1..servers {
            all.push(Process::start(database).await);
        }
        let tables = match database {
            DatabaseUrl::Sqlite(_) => Tables::Sqlite(all[0].file()),
            DatabaseUrl::Postgres(url) => Tables::Postgres(url.clone()),
        };
        let urls = all.iter().map(|server| server.url.clone()).collect();
        let recorder = Recorder::in_memory();
        recorder.begin(Begin { skew: SKEW_US, ..Begin::default() });
        let shop = Shop {
            way: Way::new(all[0].key(), urls),
            recorder,
            tenant: TENANT.to_owned(),
            drains: Arc::default(),
            closed: Arc::default(),
        };
        let (mut clients, mut workers) = (JoinSet::new(), JoinSet::new());
        for number in 0..CLIENTS {
            clients.spawn(load::add(shop.clone(), number));
        }
        for number in 0..WORKERS {
            workers.spawn(worker::work(shop.clone(), number));
        }
        let chance = Chance::of(u64::from(std::process::id()));
        Self { servers: all, shop, tables, clients, workers, chance }
    }

    async fn wait(&mut self, least: usize, most: usize) {
        let millis = least + self.chance.below(most - least);
        tokio::time::sleep(Duration::from_millis(millis.try_into().unwrap())).await;
    }

    /// Kills a server at a moment that nobody chose, and starts it again.
    async fn kill(&mut self, number: usize) {
        self.wait(200, 900).await;
        self.servers[number].kill();
        self.shop.recorder.cut();
        self.servers[number].again().await;
        let urls = self.servers.iter().map(|server| server.url.clone()).collect();
        self.shop.way.lead_to(urls);
    }

    /// Lets one worker have been silent for too long: what it has goes to others while it works on.
    fn silence(&mut self) {
        let name = format!("worker {}", self.chance.below(WORKERS));
        let sql = "UPDATE worker SET expires_at = 1 WHERE gone = 0 AND name = ";
        self.tables.change(&format!("{sql}'{name}'"));
    }

    /// Lets everything come to an end, and everybody go home.
    async fn end(mut self) -> (u64, u64) {
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

fn judge(tables: &Tables, recorder: &Recorder, depth: &Value) {
    dump::write(tables, recorder, depth);
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

/// One server that is killed and started again.
async fn killed(database: &DatabaseUrl) {
    let mut scene = Scene::set(database, 1).await;
    for _ in 0..rounds() {
        scene.kill(0).await;
        scene.silence();
    }
    scene.wait(300, 600).await;
    let (accepted, late) = scene.end().await;
    println!("{} kills, {accepted} tasks accepted, {late} answers came too late", rounds());
    assert!(accepted > 0 && late > 0);
}

async fn postgres() -> Option<Database> {
    let server = postgres_url()?;
    Some(tokio::task::spawn_blocking(|| Database::postgres(server)).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_loses_and_doubles_no_task_on_sqlite() {
    killed(&Database::sqlite().url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_loses_and_doubles_no_task_on_postgres() {
    let Some(database) = postgres().await else { return };
    killed(&database.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_a_queue_and_either_can_die() {
    let Some(database) = postgres().await else { return };
    let mut scene = Scene::set(&database.url(), 2).await;
    for round in 0..rounds() {
        scene.kill(usize::from(round % 2 == 0)).await;
        scene.silence();
    }
    // One of them never comes back.
    scene.wait(300, 600).await;
    scene.servers[0].kill();
    scene.shop.recorder.cut();
    let left = scene.servers[1].url.clone();
    scene.shop.way.lead_to(vec![left]);
    scene.wait(300, 600).await;
    let (accepted, late) = scene.end().await;
    println!("{} kills, {accepted} tasks accepted, {late} answers came too late", rounds() + 1);
    assert!(accepted > 0 && late > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_to_the_database_that_are_cut_lose_and_double_no_task() {
    let Some(database) = postgres().await else { return };
    let mut scene = Scene::set(&database.url(), 1).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for _ in 0..rounds() * 2 {
        scene.wait(100, 500).await;
        scene.tables.change(cut);
    }
    let (accepted, late) = scene.end().await;
    println!("{} cuts, {accepted} tasks accepted, {late} answers came too late", rounds() * 2);
    assert!(accepted > 0);
}
