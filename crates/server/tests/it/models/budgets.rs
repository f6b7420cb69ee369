//! Budgets hold, whoever asks at the same time and however a request ends.

use std::time::Duration;

use godel_app::vault::MasterKey;
use godel_llm::Dialect;
use godel_testkit::{Database, postgres_url};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{Asked, World, read_until, told};
use crate::harness::{Running, data, failure, server_with};

/// 10 tokens in and 90 out at a thousand micro-dollars each; 100 out at most.
const COST: i64 = 90_010;
const PROMPT: &str = "[[usage input=10 output=90]] [[slow-first-byte=50]]";

fn dear() -> Asked<'static> {
    Asked::new(Dialect::Chat, PROMPT).of("m-dear")
}

/// Sends requests to some servers at the same moment; returns how many were answered.
async fn storm(world: &World, urls: &[&str]) -> usize {
    let one = |number: usize| {
        let url = format!("{}{}", urls[number % urls.len()], dear().path());
        world.server.http.post(url).bearer_auth(&world.token).json(&dear().body()).send()
    };
    let all = futures_util::future::join_all((0..50).map(one)).await;
    let statuses: Vec<u16> =
        all.into_iter().map(|answer| answer.unwrap().status().as_u16()).collect();
    assert!(statuses.iter().all(|status| [200, 402, 429].contains(status)), "{statuses:?}");
    statuses.into_iter().filter(|status| *status == 200).count()
}

async fn held_to(world: &World, cap: i64, urls: &[&str]) {
    world.budget("agent:worker", cap).await;
    let mut answered = 0;
    // Those that were told to wait come again until all is spent.
    for _ in 0..4 {
        answered += storm(world, urls).await;
    }
    let budget = &world.budgets().await[0];
    let spent = budget["spentMicros"].as_i64().unwrap();
    assert_eq!(spent, COST * i64::try_from(answered).unwrap(), "{budget}");
    assert!(spent > cap - 101_000 && spent <= cap + COST, "{}: {budget}", world.server.engine);
    assert_eq!(budget["heldMicros"], 0, "{budget}");
    assert_eq!(world.usage().await["costMicros"], spent);
    assert_eq!(world.rows().await.len(), answered);
    assert_eq!(world.stage.recorded().len(), answered, "nobody else was asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_never_pass_a_budget_by_more_than_one_call() {
    for world in World::all("limits.agent = {}").await {
        held_to(&world, 350_000, &[&world.server.url]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_reads_elsewhere_is_held_back_as_if_it_were_as_much_as_it_can_take() {
    for world in World::all("limits.agent = {}").await {
        let cap = 40_000;
        world.budget("agent:worker", cap).await;
        // A picture that the request only names is nearly all that the model takes: 9,000 tokens.
        let asked = Asked::new(Dialect::Chat, "hi").of("m-eyes");
        let mut body = asked.body();
        let prompt = "[[usage input=9000 output=90]] [[slow-first-byte=50]]";
        body["messages"][0]["content"] = json!([
            { "type": "text", "text": prompt },
            { "type": "image_url", "image_url": { "url": "https://example.com/large.png" } },
        ]);
        let ask = || world.ask(&asked).json(&body).send();
        let all = futures_util::future::join_all((0..50).map(|_| ask())).await;
        let statuses: Vec<u16> =
            all.into_iter().map(|answer| answer.unwrap().status().as_u16()).collect();
        assert!(statuses.contains(&200), "{statuses:?}");
        let spent = world.budgets().await[0]["spentMicros"].as_i64().unwrap();
        assert!(spent > 0 && spent <= cap + 9_180, "{}: {spent}", world.server.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_ended_holds_nothing_back_from_the_next() {
    for world in World::all("limits.agent = {}").await {
        // There is room for the worst case of one call, not of two.
        world.budget("agent:worker", 150_000).await;
        let cheap = Asked::new(Dialect::Chat, "[[usage input=10 output=1]]").of("m-dear");
        for number in 1..=10 {
            let (status, text) = world.say(&cheap).await;
            assert_eq!(status, 200, "{}, call {number}: {text}", world.server.engine);
        }
        let budget = &world.budgets().await[0];
        assert_eq!((&budget["spentMicros"], &budget["heldMicros"]), (&json!(10_100), &json!(0)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_a_budget() {
    let Some(postgres) = postgres_url() else { return };
    let database = Database::postgres(postgres);
    let (shared, key) = (database.url(), MasterKey::new([6; 32]));
    let set_up = |config: &mut godel_server::Config| config.master_key = Some(key.clone());
    let world = World::on(database, "limits.agent = {}", set_up).await;
    let file = world.files.path().join("proxy.toml");
    let second: Running = server_with(|config| {
        config.database = Some(shared.clone());
        config.master_key = Some(key.clone());
        config.providers = Some(file.clone());
    })
    .await;
    held_to(&world, 350_000, &[&world.server.url, &second.url]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn however_a_request_ends_nothing_stays_held() {
    for world in World::all("attempts = 1").await {
        world.budget("tenant", 10_000_000).await;
        let chat = |prompt| Asked::new(Dialect::Chat, prompt).of("m-dear");
        assert_eq!(world.say(&chat("[[usage input=10 output=90]]")).await.0, 200);
        assert_eq!(world.say(&chat("[[fault 500]]")).await.0, 500);
        assert_eq!(world.say(&chat("[[fault 400]]")).await.0, 400);
        // The client goes away before it hears anything.
        let early = world.ask(&chat("[[slow-first-byte=5000]]"));
        early.timeout(Duration::from_millis(300)).send().await.unwrap_err();
        // And in the middle of a stream.
        let slow = chat("[[words 500]] [[pace 10]]").streamed();
        let mut answer = world.ask(&slow).send().await.unwrap();
        read_until(&mut answer, "content").await;
        drop(answer);
        let broken = chat("[[words 50]] [[fault reset-after=3]]").streamed();
        assert_eq!(world.say(&broken).await.0, 200);
        let budget = &world.budgets().await[0];
        assert_eq!(budget["heldMicros"], 0, "{}: {budget}", world.server.engine);
        let rows = world.rows().await;
        let ends: Vec<&str> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
        let expected = ["ok", "failed", "failed", "cancelled", "cancelled", "failed"];
        assert_eq!(ends, expected, "{}", world.server.engine);
        for (row, charged) in rows.iter().zip([true, false, false, true, true, true]) {
            assert_eq!(row["costMicros"].as_i64().unwrap() > 0, charged, "{row}");
        }
        assert!(rows[3..].iter().all(|row| row["estimated"] == true), "{rows:?}");
        let sum: i64 = rows.iter().map(|row| row["costMicros"].as_i64().unwrap()).sum();
        assert_eq!(budget["spentMicros"], sum);
        assert_eq!(world.usage().await["costMicros"], sum);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_attempt_is_settled_when_the_next_cannot_be_told() {
    // The first provider fails, and the second speaks a dialect that has no words for the request.
    let more = "[fallbacks]\nm-dear = [\"only-gemini/m-x\"]";
    let world = World::one(more).await;
    world.budget("tenant", 10_000_000).await;
    let mut body = dear().body();
    body["messages"][0]["content"] = json!("[[fault 500]]");
    body["tools"] = json!([{ "type": "web_search" }]);
    let answer = world.ask(&dear()).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 500, "{}", answer.text().await.unwrap());
    assert_eq!(world.budgets().await[0]["heldMicros"], 0);
    // Nobody else is there, so it was asked again.
    assert_eq!(world.rows().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_client_hears_in_its_own_words_that_a_budget_is_used_up() {
    for world in World::all("").await {
        world.budget("agent:worker", 100_200).await;
        assert_eq!(world.say(&dear()).await.0, 200);
        for (dialect, kind) in [
            (Dialect::Chat, "insufficient_quota"),
            (Dialect::Responses, "insufficient_quota"),
            (Dialect::Anthropic, "billing_error"),
            (Dialect::Gemini, "RESOURCE_EXHAUSTED"),
        ] {
            for stream in [false, true] {
                let asked = Asked { stream, ..Asked::new(dialect, "hi").of("m-dear") };
                let answer = world.ask(&asked).send().await.unwrap();
                assert_eq!(answer.status(), 402);
                assert_eq!(answer.headers()["x-should-retry"], "false");
                let (found, message) = told(dialect, &answer.text().await.unwrap());
                assert_eq!(found, kind);
                assert!(message.contains("is used up: $0.0900 of $0.1002 are spent"), "{message}");
            }
        }
        let codex = world.ask(&Asked::new(Dialect::Responses, "hi").of("m-dear"));
        let codex = codex.header("originator", "codex_exec").send().await.unwrap();
        assert_eq!(codex.status(), 429);
        assert_eq!(told(Dialect::Responses, &codex.text().await.unwrap()).0, "insufficient_quota");
        assert_eq!(world.events("budget:warning").await.len(), 1);
        let told = world.events("budget:exceeded").await;
        assert_eq!(told.len(), 1, "{}: {told:?}", world.server.engine);
        assert_eq!(told[0]["payload"]["scope"], "agent:worker");
        world.budget("agent:worker", 1_000_000).await;
        assert_eq!(world.say(&dear()).await.0, 200, "it was raised");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grace_and_alerts_decide_when_requests_are_refused() {
    for world in World::all("limits.agent = {}").await {
        let set = async |what: Value| {
            let mut body =
                json!({ "scope": "agent:worker", "period": "total", "capMicros": 100_200 });
            body.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
            let sent = world.server.request(Method::PUT, "/api/v1/budgets").json(&body);
            sent.send().await.unwrap()
        };
        let known = data(set(json!({ "gracePercent": 100 })).await, StatusCode::OK).await;
        assert_eq!((&known["hardStop"], &known["gracePercent"]), (&json!(true), &json!(100)));
        for _ in 0..2 {
            assert_eq!(world.say(&dear()).await.0, 200, "{}", world.server.engine);
        }
        let (status, text) = world.say(&dear()).await;
        assert_eq!(status, 402);
        assert!(text.contains("$0.1800 of $0.2004 are spent"), "{text}");
        // What is not named stays as it is.
        let known = data(set(json!({ "hardStop": false })).await, StatusCode::OK).await;
        assert_eq!((&known["hardStop"], &known["gracePercent"]), (&json!(false), &json!(100)));
        assert_eq!(world.say(&dear()).await.0, 200, "it only tells");
        let told = world.events("budget:exceeded").await;
        assert_eq!(told.len(), 1, "{}: at the limit itself, once: {told:?}", world.server.engine);
        for (wrong, field) in [
            (json!({ "gracePercent": 101 }), "gracePercent"),
            (json!({ "tell": [uuid::Uuid::max()] }), "tell"),
            (json!({ "tell": vec![uuid::Uuid::max(); 21] }), "tell"),
        ] {
            let refused = failure(set(wrong).await, 400, "invalid_field").await;
            assert_eq!(refused["error"]["field"], field);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_may_name_its_own_limit() {
    let world = World::one("").await;
    // 100 tokens of output at a thousand micro-dollars each are likely at most.
    for (limit, status) in [("0.05", 402), ("$0.2", 200), ("nan", 400), ("much", 400)] {
        let answer = world.ask(&dear()).header("x-godel-cost-limit", limit).send().await.unwrap();
        assert_eq!(answer.status(), status, "{limit}");
    }
    for (limit, status) in [(0.05, 402), (0.2, 200)] {
        let mut body = dear().body();
        body["routing"] = json!({ "cost_limit": limit });
        let answer = world.ask(&dear()).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{limit}");
    }
    let asked = world.stage.recorded();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|asked| asked.json().get("routing").is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_tried_on_what_was_spent_before_it_is_set() {
    for world in World::all("limits.agent = {}").await {
        for _ in 0..3 {
            assert_eq!(world.say(&dear()).await.0, 200);
        }
        // A request is in the sums soon after its answer.
        while world.usage().await["costMicros"] != 3 * COST {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let trial = async |scope: &str, cap: i64| {
            let body =
                json!({ "scope": scope, "period": "daily", "capMicros": cap, "pastDays": 2 });
            let answer = world.server.post("/api/v1/budgets/trial", body).await;
            data(answer, StatusCode::OK).await
        };
        // The second request passes the limit, so the third is the first that would be refused.
        let told = trial("agent:worker", COST + 1).await;
        assert_eq!(
            (&told["requests"], &told["spentMicros"]),
            (&json!(3), &json!(3 * COST)),
            "{told}"
        );
        let stop = &told["stops"][0];
        assert_eq!((&stop["requests"], &stop["costMicros"]), (&json!(1), &json!(COST)), "{told}");
        assert_eq!((&stop["agentCount"], &stop["agents"]), (&json!(1), &json!(["worker"])));
        assert_eq!(trial("tenant", 10 * COST).await["stops"], json!([]));
        assert_eq!(trial("agent:other", 1).await["requests"], 0);
        assert_eq!(world.budgets().await, Vec::<serde_json::Value>::new(), "nothing is set");
        let bad = json!({ "scope": "tenant", "period": "daily", "capMicros": 1, "pastDays": 32 });
        failure(world.server.post("/api/v1/budgets/trial", bad).await, 400, "invalid_field").await;
    }
}
