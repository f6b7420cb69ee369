//! Policies, the cache, settings that change while the server runs, and keys that are replaced.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use godel_llm::Dialect;
use godel_scripted::Switch;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::world::{Asked, Logs, World, providers, told};
use crate::harness::data;

#[tokio::test(flavor = "multi_thread")]
async fn each_policy_does_its_own() {
    let logs = Logs::capture();
    let more = r#"
        limits.agent = { per_minute = 30 }
        [[policies]]
        name = "no moon"
        type = "block"
        contains = ["moonshot-secret"]
        [[policies]]
        name = "no keys"
        type = "transform"
        secrets = true
        [[policies]]
        name = "watch"
        type = "log"
        contains = ["watched-word"]
        [[policies]]
        name = "heavy"
        type = "rate-limit"
        contains = ["heavy-word"]
        weight = 20
    "#;
    let world = World::one(more).await;
    for dialect in Dialect::ALL {
        let (status, text) = world.say(&Asked::new(dialect, "the moonshot-secret")).await;
        assert_eq!(status, 403);
        assert!(told(dialect, &text).1.contains("no moon"), "{text}");
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let prompt = format!("use {key} now [[say ok]]");
        assert_eq!(world.say(&Asked::new(dialect, &prompt)).await.0, 200);
        let sent = world.stage.recorded().pop().unwrap();
        let sent = String::from_utf8_lossy(&sent.body).into_owned();
        assert!(sent.contains("use [removed] now") && !sent.contains(&key), "{sent}");
    }
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "watched-word")).await.0, 200);
    assert!(logs.text().contains("watch") && !logs.text().contains("watched-word"));
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "heavy-word")).await.0, 200);
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "heavy-word")).await.0, 429);
    assert_eq!(world.stage.recorded().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_given_again_only_to_who_asked_for_it() {
    let world = World::one("share_keys = true\ncache = { enabled = true }").await;
    let asked = Asked::new(Dialect::Chat, "what is new?");
    let cached = |token: &str| {
        let url = format!("{}{}", world.server.url, asked.path());
        let ask = world.server.http.post(url).bearer_auth(token).json(&asked.body());
        ask.header("x-godel-cache", "true").send()
    };
    let first = cached(&world.token).await.unwrap().text().await.unwrap();
    let again = cached(&world.token).await.unwrap();
    assert_eq!(again.headers()["x-godel-cache"], "hit");
    assert_eq!(again.text().await.unwrap(), first);
    assert_eq!(world.say(&asked).await.0, 200);
    assert_eq!(world.stage.recorded().len(), 2, "who does not ask for it gets a new answer");
    let other = world.server.other_tenant().await;
    let theirs = cached(&other).await.unwrap();
    assert!(!theirs.headers().contains_key("x-godel-cache"));
    assert_eq!(world.stage.recorded().len(), 3, "another tenant gets its own");
    let rows = world.rows().await;
    assert_eq!(rows.len(), 3, "what was given again is on record, too");
    let again = &rows[1];
    assert_eq!((&again["paidBy"], &again["costMicros"]), (&json!("cache"), &json!(0)), "{again}");
    assert_eq!((&again["outcome"], &again["outputTokens"]), (&json!("ok"), &json!(0)), "{again}");
    let usage = world.usage().await;
    assert_eq!((&usage["requests"], &usage["fromCache"]), (&json!(2), &json!(1)), "{usage}");
    // What was given again would have cost what it cost the first time.
    let saved = (&again["savedByCacheMicros"], &usage["savedByCacheMicros"]);
    assert_eq!(saved, (&rows[2]["costMicros"], &rows[2]["costMicros"]), "{usage}");
    assert!(rows[2]["costMicros"].as_i64().unwrap() > 0, "{rows:?}");
    let costs = rows.iter().map(|row| row["costMicros"].as_i64().unwrap());
    assert_eq!(usage["costMicros"], costs.sum::<i64>(), "{usage}");
    let audit = world.server.get("/proxy/v1/audit").await;
    assert_eq!(data(audit, StatusCode::OK).await["total"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_change_while_the_server_runs_and_nonsense_changes_nothing() {
    let logs = Logs::capture();
    let world = World::one("").await;
    let nick = Asked::new(Dialect::Chat, "hi").of("nick");
    assert_eq!(world.say(&nick).await.0, 404);
    providers(&world.files, &world.stage, "[aliases]\nnick = \"m-1\"");
    until(|| async { world.say(&nick).await.0 == 200 }).await;
    std::fs::write(world.files.path().join("proxy.toml"), "nonsense = [").unwrap();
    until(|| async { logs.text().contains("the providers stay as they are") }).await;
    assert_eq!(world.say(&nick).await.0, 200);
}

async fn until<F: Future<Output = bool>>(is: impl Fn() -> F) {
    let start = Instant::now();
    while !is().await {
        assert!(start.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn set(world: &World, value: &str) {
    let set = world.server.request(Method::PUT, "/api/v1/secrets/stage");
    let set = set.json(&json!({ "value": value })).send().await.unwrap();
    data(set, StatusCode::OK).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_replaced_under_load_and_no_request_fails() {
    let world = Arc::new(World::one("limits.agent = {}").await);
    world.stage.switch(Switch::keys(["sk-old-leakcanary-00", "sk-new-leakcanary-00"]));
    // The key of the file is none of these, so only the secret works.
    set(&world, "sk-old-leakcanary-00").await;
    let stop = Arc::new(AtomicBool::new(false));
    let load = |world: Arc<World>, stop: Arc<AtomicBool>| async move {
        let mut statuses = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            statuses.push(world.say(&Asked::new(Dialect::Chat, "[[say hi]]")).await.0);
        }
        statuses
    };
    let tasks: Vec<_> =
        (0..4).map(|_| tokio::spawn(load(Arc::clone(&world), Arc::clone(&stop)))).collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    set(&world, "sk-new-leakcanary-00").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    world.stage.switch(Switch::keys(["sk-new-leakcanary-00"]));
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        let statuses = task.await.unwrap();
        assert!(statuses.len() > 5 && statuses.iter().all(|status| *status == 200), "{statuses:?}");
    }
    let used: Vec<String> = world
        .stage
        .recorded()
        .iter()
        .map(|asked| asked.header("authorization").unwrap_or_default().to_owned())
        .collect();
    assert!(used[0].contains("sk-old") && used.last().unwrap().contains("sk-new"));
}
