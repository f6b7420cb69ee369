//! Two servers on one PostgreSQL: who waits at one hears of what comes to the other, and a session stays with
//! its worker wherever that waits.

use std::time::{Duration, Instant};

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::crash::postgres;
use super::process::{LOOK, Process};
use crate::harness::data;

/// Longer than any test: who looks by itself does so never.
const NEVER_SECS: &str = "3600";

/// A server and the way to it.
#[derive(Clone)]
struct Door {
    http: Client,
    url: String,
    key: String,
}

impl Door {
    fn to(server: &Process, key: &str) -> Self {
        godel_tls::install();
        let http = Client::builder().no_proxy().build().unwrap();
        Self { http, url: server.url.clone(), key: key.to_owned() }
    }

    async fn ask(&self, method: Method, path: &str, body: Value, status: StatusCode) -> Value {
        let request = self.http.request(method, format!("{}/api/v1{path}", self.url));
        let answer = request.bearer_auth(&self.key).json(&body).send().await.unwrap();
        data(answer, status).await
    }

    async fn worker(&self, name: &str) -> String {
        let new = json!({ "name": name, "capacity": 50 });
        let made = self.ask(Method::POST, "/workers", new, StatusCode::CREATED).await;
        made["id"].as_str().unwrap().to_owned()
    }

    async fn add(&self, task: Value) {
        self.ask(Method::POST, "/tasks", task, StatusCode::CREATED).await;
    }

    /// Lets a worker wait here; the titles of what it gets.
    fn claim(&self, worker: &str, wait: Duration) -> JoinHandle<Vec<String>> {
        let (door, path) = (self.clone(), format!("/workers/{worker}/claim"));
        let body = json!({ "free": 1, "waitMs": wait.as_millis() });
        tokio::spawn(async move {
            let given = door.ask(Method::POST, &path, body, StatusCode::OK).await;
            let title = |task: &Value| task["title"].as_str().unwrap().to_owned();
            given["tasks"].as_array().unwrap().iter().map(title).collect()
        })
    }
}

/// Two servers on one database.
async fn two(database: &godel_store::DatabaseUrl, env: &[(&str, &str)]) -> [(Process, Door); 2] {
    let one = Process::start_with(database, env).await;
    let other = Process::start_with(database, env).await;
    let key = one.key();
    [one, other].map(|server| {
        let door = Door::to(&server, &key);
        (server, door)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_at_one_server_is_woken_by_the_other_without_looking() {
    const PATIENCE: Duration = Duration::from_secs(10);
    let Some(database) = postgres().await else { return };
    let [(_one, here), (_other, there)] = two(&database.url(), &[(LOOK, NEVER_SECS)]).await;
    let worker = here.worker("somebody").await;
    for round in 0..5 {
        let waiting = here.claim(&worker, PATIENCE);
        // It takes a second until who waits for the first time is listened for.
        tokio::time::sleep(Duration::from_millis(if round == 0 { 2_500 } else { 100 })).await;
        let start = Instant::now();
        there.add(json!({ "title": format!("task {round}") })).await;
        let given = waiting.await.unwrap();
        let took = start.elapsed();
        assert_eq!(given, [format!("task {round}")], "nobody woke it");
        assert!(took < PATIENCE / 2, "round {round} took {took:?}");
    }
    drop(database);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_stays_with_its_worker_wherever_that_waits() {
    const WAIT: Duration = Duration::from_secs(3);
    let Some(database) = postgres().await else { return };
    let [(_one, here), (_other, there)] = two(&database.url(), &[]).await;
    let pool = json!({ "placement": "affinity" });
    here.ask(Method::PATCH, "/queue/pools/default", pool, StatusCode::OK).await;
    let (own, stranger) = (here.worker("own").await, there.worker("stranger").await);
    let of = |title: &str| json!({ "title": title, "session": "s" });
    here.add(of("first")).await;
    assert_eq!(here.claim(&own, WAIT).await.unwrap(), ["first"]);
    for round in 0..4 {
        // The stranger waits where the tasks come, and its worker now here and now there.
        let waits = if round % 2 == 0 { &here } else { &there };
        let (own_, stranger_) = (waits.claim(&own, WAIT), there.claim(&stranger, WAIT));
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        there.add(of("next")).await;
        let (own_, stranger_) = (own_.await.unwrap(), stranger_.await.unwrap());
        assert_eq!((own_, stranger_), (vec!["next".to_owned()], vec![]), "round {round}");
    }
    // Its worker does not wait anywhere: then it is for all.
    let start = Instant::now();
    let waiting = there.claim(&stranger, WAIT);
    tokio::time::sleep(Duration::from_millis(200)).await;
    there.add(of("last")).await;
    assert_eq!(waiting.await.unwrap(), ["last"], "it waits for ever");
    assert!(start.elapsed() < WAIT, "nobody took it for {:?}", start.elapsed());
    drop(database);
}
