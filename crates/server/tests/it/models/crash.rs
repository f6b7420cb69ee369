//! A server that is killed leaves no spend unrecorded, and one that cannot write asks nobody.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use godel_llm::Dialect;
use godel_store::DatabaseUrl;
use godel_testkit::{Database, postgres_url};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::world::{Asked, World, files, providers, read_until, stage, told};
use crate::emitted::{self, Ear};
use crate::harness::data;

const HOME: &str = "GODEL_TEST_CRASH_HOME";
const DATABASE: &str = "GODEL_TEST_CRASH_DATABASE";
const PATIENCE: Duration = Duration::from_secs(20);

/// No test: the server that the others start as a process of its own, to kill it.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_to_be_killed() {
    let Ok(home) = std::env::var(HOME) else { return };
    let home = std::path::PathBuf::from(home);
    let mut config = godel_server::Config::new(home.join("data"), "127.0.0.1:0".parse().unwrap());
    config.database = std::env::var(DATABASE).ok().map(|url| url.parse().unwrap());
    config.providers = Some(home.join("proxy.toml"));
    if emitted::directory().is_some() {
        emitted::Logs::capture();
    }
    let server = godel_server::Server::start(config).await.unwrap();
    std::fs::write(home.join("url"), server.url()).unwrap();
    server.run_until(std::future::pending::<()>()).await.unwrap();
}

struct Process {
    child: Child,
    ear: Ear,
    key: String,
}

impl Process {
    async fn start(home: &TempDir, database: &Database) -> Self {
        let name = home.path().join("url");
        drop(std::fs::remove_file(&name));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["models::crash::a_server_to_be_killed", "--exact", "--nocapture"]);
        command.env(HOME, home.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        if let DatabaseUrl::Postgres(url) = database.url() {
            command.env(DATABASE, url);
        }
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).for_each(drop));
        let start = Instant::now();
        let url = loop {
            match std::fs::read_to_string(&name) {
                Ok(url) if !url.is_empty() => break url,
                _ => assert!(start.elapsed() < PATIENCE, "the server does not start"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let key = std::fs::read_to_string(home.path().join("data/owner.key")).unwrap();
        let ear = Ear::before(&url, emitted::directory()).await.unwrap();
        Self { child, ear, key: key.trim().to_owned() }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> reqwest::Response {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let request =
            http.request(method, format!("{}{path}", self.ear.url)).bearer_auth(&self.key);
        match body {
            Some(body) => request.json(&body).send().await.unwrap(),
            None => request.send().await.unwrap(),
        }
    }

    async fn row(&self, outcome: &str) -> Value {
        let start = Instant::now();
        loop {
            let found = self.ask(Method::GET, "/proxy/v1/audit", None).await;
            let found = data(found, StatusCode::OK).await;
            let row = found["logs"][0].clone();
            if row["outcome"] == outcome {
                return row;
            }
            assert!(start.elapsed() < PATIENCE, "{found}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn budget(&self) -> Value {
        data(self.ask(Method::GET, "/api/v1/budgets", None).await, StatusCode::OK).await["items"][0]
            .clone()
    }
}

async fn killed(database: Database) {
    godel_tls::install();
    let (home, stage) = (files(), stage().await);
    providers(&home, &stage, "");
    let server = Process::start(&home, &database).await;
    let budget = json!({ "scope": "tenant", "period": "total", "capMicros": 10_000_000 });
    assert_eq!(server.ask(Method::PUT, "/api/v1/budgets", Some(budget)).await.status(), 200);
    let before = Asked::new(Dialect::Chat, "[[usage input=10 output=90]]").of("m-dear");
    assert_eq!(server.ask(Method::POST, &before.path(), Some(before.body())).await.status(), 200);
    // One is in the middle of its stream and one waits for its first byte.
    let streamed = Asked::new(Dialect::Chat, "[[words 300]] [[pace 20]]").of("m-dear").streamed();
    let mut answer = server.ask(Method::POST, &streamed.path(), Some(streamed.body())).await;
    read_until(&mut answer, "content").await;
    let held = server.budget().await;
    let (spent, worst) =
        (held["spentMicros"].as_i64().unwrap(), held["heldMicros"].as_i64().unwrap());
    assert!(spent == 90_010 && worst > 100_000, "{held}");
    server.row("open").await;
    server.kill();
    drop(answer);
    let server = Process::start(&home, &database).await;
    if matches!(database, Database::Postgres { .. }) {
        // Other servers may live, so this one is believed to for a while.
        assert_eq!(server.row("open").await["outcome"], "open");
        expire(&database);
    }
    let server = if matches!(database, Database::Postgres { .. }) {
        server.kill();
        Process::start(&home, &database).await
    } else {
        server
    };
    let row = server.row("lost").await;
    assert_eq!((&row["costMicros"], &row["estimated"]), (&json!(worst), &json!(true)), "{row}");
    let budget = server.budget().await;
    assert_eq!(budget["heldMicros"], 0, "{budget}");
    assert_eq!(budget["spentMicros"], spent + worst, "{budget}");
    let usage = data(server.ask(Method::GET, "/proxy/v1/usage", None).await, StatusCode::OK).await;
    assert_eq!(usage["total"]["costMicros"], spent + worst, "{usage}");
    server.kill();
}

/// Lets a minute pass for all servers that said that they were alive.
fn expire(database: &Database) {
    let DatabaseUrl::Postgres(url) = database.url() else { return };
    psql(&url, "UPDATE model_node SET alive_until = 1");
}

fn psql(url: &str, statement: &str) {
    let (url, statement) = (url.to_owned(), statement.to_owned());
    let run = move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute(&statement).unwrap();
    };
    std::thread::spawn(run).join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_no_spend_unrecorded_on_sqlite() {
    killed(Database::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_no_spend_unrecorded_on_postgres() {
    let Some(server) = postgres_url() else { return };
    killed(Database::postgres(server)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_that_cannot_be_written_asks_nobody_and_forgets_nothing() {
    for world in World::all("").await {
        let slow = Asked::new(Dialect::Chat, "[[slow-first-byte=300]] [[usage input=10 output=9]]");
        let under_way = tokio::spawn(world.ask(&slow).send());
        while world.stage.recorded().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        rename(&world, "model_ended", "elsewhere");
        rename(&world, "model_open", "nowhere");
        assert_eq!(under_way.await.unwrap().unwrap().status(), 200, "what is paid for is told");
        for (dialect, status) in [(Dialect::Chat, 503), (Dialect::Anthropic, 529)] {
            let (found, text) = world.say(&Asked::new(dialect, "hi")).await;
            assert_eq!(found, status, "{text}");
            assert!(told(dialect, &text).1.contains("cannot record what is spent"), "{text}");
            assert!(!text.contains("model_open"), "{text}");
        }
        assert_eq!(world.stage.recorded().len(), 1, "nobody was asked");
        rename(&world, "elsewhere", "model_ended");
        rename(&world, "nowhere", "model_open");
        assert_eq!(
            world.say(&Asked::new(Dialect::Chat, "[[usage input=1 output=1]]")).await.0,
            200
        );
        let rows = world.rows().await;
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert_eq!(rows[0]["costMicros"], 10 + 18, "it was written when the table was back");
        assert_eq!(world.usage().await["costMicros"], 28 + 3);
    }
}

fn rename(world: &World, from: &str, to: &str) {
    let statement = format!("ALTER TABLE {from} RENAME TO {to}");
    match world.server.app.store.url() {
        DatabaseUrl::Postgres(url) => psql(&url.clone(), &statement),
        DatabaseUrl::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.busy_timeout(PATIENCE).unwrap();
            connection.execute_batch(&statement).unwrap();
        }
    }
}
