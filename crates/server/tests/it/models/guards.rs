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

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_models_and_a_file_with_a_key_count_when_they_change() {
    let logs = Logs::capture();
    let world = World::one("limits.agent = {}").await;
    let asked = Asked::new(Dialect::Chat, "[[usage input=100 output=50]]");
    let cost = async || {
        assert_eq!(world.say(&asked).await.0, 200);
        world.rows().await.pop().unwrap()["costMicros"].clone()
    };
    assert_eq!(cost().await, 200);
    let list = world.files.path().join("models.toml");
    let known = std::fs::read_to_string(&list).unwrap();
    let dearer = known.replacen("input = 1.0, output = 2.0", "input = 3.0, output = 4.0", 1);
    std::fs::write(&list, dearer).unwrap();
    until(|| async { cost().await == 500 }).await;
    // One that makes no sense changes nothing.
    std::fs::write(&list, "nonsense = [").unwrap();
    until(|| async { logs.text().contains("the providers stay as they are") }).await;
    assert_eq!(cost().await, 500);
    std::fs::write(&list, known).unwrap();
    until(|| async { cost().await == 200 }).await;
    // A key that is written anew is the one that is shown, without a word to the server.
    let new = "sk-new-leakcanary-77";
    std::fs::write(world.files.path().join("key"), new).unwrap();
    let shown =
        || world.stage.recorded().pop().unwrap().header("authorization").map(ToOwned::to_owned);
    world.stage.switch(Switch::keys([new, world.stage.key()]));
    until(|| async {
        assert_eq!(world.say(&asked).await.0, 200);
        shown() == Some(format!("Bearer {new}"))
    })
    .await;
    assert!(!logs.text().contains(new));
}

#[tokio::test(flavor = "multi_thread")]
async fn escapes_are_no_way_around_a_policy_and_personal_data_is_found() {
    let more = r#"
        [[policies]]
        name = "no codename"
        type = "block"
        contains = ["Nachtigall", "Zürich \"Süd\""]
        [[policies]]
        name = "nobody"
        type = "transform"
        find = ["mail", "card", "phone"]
        replacement = "[left out]"
    "#;
    let world = World::one(more).await;
    for dialect in Dialect::ALL {
        for prompt in ["Projekt Nachtigall", "in Zürich \"Süd\""] {
            let asked = Asked::new(dialect, prompt);
            // Every letter as an escape, which says the same.
            let escaped: String = asked
                .body()
                .to_string()
                .replace("Nachtigall", "\\u004eachti\\u0067all")
                .replace('ü', "\\u00fc");
            for body in [asked.body().to_string(), escaped] {
                let answer = world.ask(&asked).body(body.clone()).send().await.unwrap();
                assert_eq!(answer.status(), 403, "{body}");
                let why = told(dialect, &answer.text().await.unwrap()).1;
                assert!(why.contains("no codename"), "{why}");
            }
        }
        let prompt = "ask ann@mail.example, pay 4111 1111 1111 1111, call +49 (30) 1234-5678: \"now\"\n[[say ok]]";
        let asked = Asked::new(dialect, prompt);
        let body = asked.body().to_string().replace('@', "\\u0040");
        let answer = world.ask(&asked).body(body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let sent = world.stage.recorded().pop().unwrap();
        let all = String::from_utf8_lossy(&sent.body).into_owned();
        let expected = "ask [left out], pay [left out], call [left out]: \\\"now\\\"\\n[[say ok]]";
        assert!(all.contains(expected), "{all}");
        assert!(sent.json().is_object(), "{all}");
    }
    assert_eq!(world.stage.recorded().len(), 4, "what is blocked reaches nobody");
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
