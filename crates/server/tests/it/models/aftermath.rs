//! What comes after a failure: who is left alone, who is asked instead, and what is paid all the same.

use std::time::Duration;

use godel_llm::Dialect;
use godel_scripted::{Fault, Scripted, Switch};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{Asked, World, is_whole, stage};
use crate::harness::data;

/// Names another provider in front of the stage, which has the same model and wants no key of ours.
fn before(first: &Scripted, speaks: &str) -> String {
    let (base, key) = (first.base_url(), first.key());
    let path = if speaks == "chat" || speaks == "responses" { "/v1" } else { "" };
    let keys = format!("authorization = \"Bearer {key}\", x-api-key = \"{key}\"");
    format!(
        "[providers.second]\n{speaks} = \"{base}{path}\"\nauth = \"none\"\nheaders = {{ {keys} }}\n"
    )
}

fn status(status: u16) -> Switch {
    Switch::fault(Fault { status: Some(status), ..Fault::default() })
}

async fn secret(world: &World, value: &str) {
    let set = world.server.request(Method::PUT, "/api/v1/secrets/stage");
    let set = set.json(&json!({ "value": value })).send().await.unwrap();
    data(set, StatusCode::OK).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_whose_streams_break_off_again_and_again_is_left_alone() {
    let world = World::one("attempts = 1").await;
    for dialect in Dialect::ALL {
        let model = if dialect == Dialect::Chat { "only-anthropic/m-1" } else { "m-1" };
        let asked = Asked::new(dialect, "[[words 20]] [[fault reset-after=3]]").of(model);
        let failed = world.say(&asked.streamed()).await;
        assert_eq!(failed.0, 200, "{dialect}: it had begun: {}", failed.1);
    }
    // Three of them were of this provider; streams break off in other ways, too.
    for fault in ["eof-after=3", "error-after=3"] {
        let prompt = format!("[[words 20]] [[fault {fault}]]");
        let asked = Asked::new(Dialect::Anthropic, &prompt).streamed();
        assert_eq!(world.say(&asked).await.0, 200, "{fault}");
    }
    let asked = world.stage.recorded().len();
    assert_eq!(world.say(&Asked::new(Dialect::Anthropic, "hi")).await.0, 529);
    assert_eq!(world.stage.recorded().len(), asked, "it was not asked");
    let down = world.events("provider:down").await;
    assert_eq!(down.len(), 1, "{down:?}");
    assert_eq!(down[0]["payload"]["provider"], "stage");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_come_to_their_end_forgive_those_that_do_not() {
    let world = World::one("attempts = 1").await;
    for _ in 0..4 {
        for prompt in ["[[words 20]] [[fault reset-after=3]]", "[[words 20]]"] {
            let asked = Asked::new(Dialect::Chat, prompt).streamed();
            assert_eq!(world.say(&asked).await.0, 200);
        }
        for _ in 0..2 {
            let asked = Asked::new(Dialect::Chat, "[[words 20]] [[fault reset-after=3]]");
            assert_eq!(world.say(&asked.streamed()).await.0, 200);
        }
    }
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi")).await.0, 200);
    assert!(world.events("provider:down").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_was_whole_is_whole_however_the_provider_hangs_up() {
    let world = World::one("attempts = 1").await;
    for client in Dialect::ALL {
        for (provider, dialect) in [
            ("only-chat", Dialect::Chat),
            ("only-responses", Dialect::Responses),
            ("only-anthropic", Dialect::Anthropic),
            ("only-gemini", Dialect::Gemini),
        ] {
            let model = format!("{provider}/m-1");
            let prompt = "[[say all of it]] [[usage input=10 output=5]] [[fault reset-after=9999]]";
            let (status, text) = world.say(&Asked::new(client, prompt).of(&model).streamed()).await;
            assert_eq!(status, 200, "{client} by {dialect}: {text}");
            assert!(is_whole(client, &text), "{client} by {dialect}: {text}");
        }
    }
    for row in world.rows().await {
        assert_eq!((&row["outcome"], &row["estimated"]), (&json!("ok"), &json!(false)), "{row}");
        assert_eq!((&row["inputTokens"], &row["outputTokens"]), (&json!(10), &json!(5)), "{row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_made_is_paid_for_although_it_cannot_be_told() {
    let first = stage().await;
    let world = World::one(&format!("attempts = 1\n{}", before(&first, "chat"))).await;
    world.budget("tenant", 10_000_000).await;
    // The reply ends before its length is reached: nobody knows what it says, but somebody made it.
    let cut = "[[words 200]] [[fault lie-length]]";
    let (status, text) = world.say(&Asked::new(Dialect::Anthropic, cut).of("second/m-1")).await;
    assert!(status >= 500, "{text}");
    let row = world.rows().await.pop().unwrap();
    assert_eq!((&row["outcome"], &row["estimated"]), (&json!("failed"), &json!(true)), "{row}");
    assert!(row["outputTokens"].as_i64().unwrap() > 100, "{row}");
    let cost = row["costMicros"].as_i64().unwrap();
    assert!(cost > 2_000, "200 words at 20 each: {row}");
    assert_eq!(world.budgets().await[0]["spentMicros"], cost);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_before_a_whole_reply_pays_for_about_what_is_made_of_it() {
    let world = World::one("attempts = 1").await;
    for (stream, likely) in [(false, 100), (true, 0)] {
        let prompt = "[[slow-first-byte=5000]]";
        let asked = Asked { stream, ..Asked::new(Dialect::Chat, prompt).of("m-dear") };
        let early = world.ask(&asked).timeout(Duration::from_millis(300));
        early.send().await.unwrap_err();
        let row = world.rows().await.pop().unwrap();
        assert_eq!((&row["outcome"], &row["estimated"]), (&json!("cancelled"), &json!(true)));
        assert_eq!(row["outputTokens"], likely, "a whole reply is made to its end: {row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_credit_or_not_the_model_is_passed_over_and_said_last() {
    for refusal in [402, 404] {
        let first = stage().await;
        first.switch(status(refusal));
        let world = World::one(&before(&first, "chat")).await;
        for _ in 0..2 {
            let (found, text) = world.say(&Asked::new(Dialect::Chat, "[[say hello]]")).await;
            assert_eq!(found, 200, "{refusal}: {text}");
        }
        let rows = world.rows().await;
        let providers: Vec<&str> =
            rows.iter().map(|row| row["provider"].as_str().unwrap()).collect();
        // Without credit nothing else can be asked of it for a while; another model may be there.
        let expected: &[&str] = match refusal {
            402 => &["second", "stage", "stage"],
            _ => &["second", "stage", "second", "stage"],
        };
        assert_eq!(providers, expected, "{refusal}");
        assert!(rows.iter().all(|row| row["status"] == 200 || row["costMicros"] == 0), "{rows:?}");
        // Nobody else is left: it is heard in its own words.
        world.stage.switch(status(500));
        let one = world.ask(&Asked::new(Dialect::Chat, "hi").of("second/m-1"));
        let answer = one.send().await.unwrap();
        let expected = if refusal == 402 { 503 } else { 404 };
        assert_eq!(answer.status(), expected, "{}", answer.text().await.unwrap());
    }
    let world = World::one("").await;
    world.stage.switch(status(402));
    let (found, text) = world.say(&Asked::new(Dialect::Chat, "hi")).await;
    assert_eq!(found, 402, "{text}");
    let down = world.events("provider:down").await;
    assert_eq!(down.len(), 1, "with its only key: {down:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn that_no_key_is_taken_any_more_is_told_once() {
    let world = World::one("").await;
    world.stage.switch(Switch::keys(["sk-other-leakcanary-02"]));
    for _ in 0..3 {
        assert!(world.say(&Asked::new(Dialect::Chat, "hi")).await.0 >= 500);
    }
    let down = world.events("provider:down").await;
    assert_eq!(down.len(), 1, "{down:?}");
    let why = down[0]["payload"]["why"].as_str().unwrap();
    assert!(why.starts_with("401") && !why.contains("sk-"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lies_with_one_account_is_not_asked_of_another() {
    let world = World::one("").await;
    secret(&world, "sk-dead-leakcanary-0123456789").await;
    let asked = Asked::new(Dialect::Responses, "[[say hello]]");
    let mut sealed = asked.body();
    let item = json!({ "type": "reasoning", "id": "r", "summary": [], "encrypted_content": "e" });
    sealed["input"].as_array_mut().unwrap().insert(0, item);
    let answer = world.ask(&asked).json(&sealed).send().await.unwrap();
    assert!(answer.status().is_server_error(), "{}", answer.status());
    assert_eq!(world.stage.recorded().len(), 1, "the other key is of another account");
    // What only the provider must understand may be asked with any of its keys.
    let mut signed = Asked::new(Dialect::Anthropic, "[[say hello]]").body();
    signed["metadata"] = json!({ "signature": "x" });
    let answer = world.ask(&Asked::new(Dialect::Anthropic, "hi")).json(&signed);
    assert_eq!(answer.send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_one_model_keeps_nobody_from_another() {
    let world = World::one("attempts = 1").await;
    let limited = Asked::new(Dialect::Chat, "[[fault 429 retry-after=30]]");
    assert_eq!(world.say(&limited).await.0, 429);
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi")).await.0, 429, "it is left alone");
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi").of("m-dear")).await.0, 200);
    let states = data(world.server.get("/proxy/v1/providers").await, StatusCode::OK).await;
    let own = states["items"].as_array().unwrap().iter().find(|one| one["provider"] == "stage");
    assert_eq!(own.map(|one| &one["state"]), Some(&Value::from("up")), "{states}");
}
