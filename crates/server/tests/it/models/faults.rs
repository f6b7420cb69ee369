//! What a provider does wrong is told as it is, made good by another, or told in our own words.

use godel_llm::Dialect;
use godel_scripted::{Fault, Scripted, Switch};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{Asked, Logs, World, stage, told};
use crate::harness::data;

/// Names another provider in front of the stage, which has the same model.
fn before(first: &Scripted) -> String {
    let (base, key) = (first.base_url(), first.key());
    let keys = format!(
        "authorization = \"Bearer {key}\", x-api-key = \"{key}\", x-goog-api-key = \"{key}\""
    );
    format!(
        "first_byte_seconds = 1\n[providers.second]\nchat = \"{base}/v1\"\n\
         responses = \"{base}/v1\"\nanthropic = \"{base}\"\ngemini = \"{base}\"\nauth = \"none\"\n\
         headers = {{ {keys} }}\n"
    )
}

async fn secret(world: &World, name: &str, value: &str) {
    let set = world.server.request(Method::PUT, &format!("/api/v1/secrets/{name}"));
    let set = set.json(&json!({ "value": value })).send().await.unwrap();
    data(set, StatusCode::OK).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_the_request_passes_as_it_is() {
    let world = World::one("").await;
    for dialect in Dialect::ALL {
        for (fault, status) in [("400", 400), ("404", 404), ("422", 422), ("400 overflow", 400)] {
            let prompt = format!("[[fault {fault}]]");
            let asked = Asked::new(dialect, &prompt);
            let path = asked.path();
            let direct = format!("{}{}", world.stage.base_url(), path.trim_start_matches("/proxy"));
            let direct = world.server.http.post(direct).json(&asked.body());
            let direct = match dialect {
                Dialect::Anthropic => direct.header("x-api-key", world.stage.key()),
                Dialect::Gemini => direct.header("x-goog-api-key", world.stage.key()),
                _ => direct.bearer_auth(world.stage.key()),
            };
            let direct: Value = direct.send().await.unwrap().json().await.unwrap();
            let (found, text) = world.say(&asked).await;
            assert_eq!(found, status, "{dialect}: {text}");
            let text: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(text["error"], direct["error"], "{dialect}");
        }
    }
    for row in world.rows().await {
        assert_eq!((&row["outcome"], &row["costMicros"]), (&json!("failed"), &json!(0)), "{row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_not_taken_is_our_trouble_and_the_next_key_is_used() {
    let logs = Logs::capture();
    let world = World::one("").await;
    secret(&world, "stage", "sk-dead-leakcanary-0123456789").await;
    for dialect in Dialect::ALL {
        let (status, text) = world.say(&Asked::new(dialect, "[[say hello]]")).await;
        assert_eq!(status, 200, "{dialect}: {text}");
    }
    let rows = world.rows().await;
    assert_eq!((&rows[0]["status"], &rows[0]["costMicros"]), (&json!(401), &json!(0)));
    assert_eq!(rows.len(), 5, "the dead key is not tried again for a while");
    assert_eq!((&rows[1]["requestId"], &rows[1]["attempt"]), (&rows[0]["requestId"], &json!(2)));
    world.stage.switch(Switch::keys(["sk-other-leakcanary-01"]));
    for dialect in Dialect::ALL {
        let (status, text) = world.say(&Asked::new(dialect, "hi")).await;
        assert!(matches!(status, 502 | 503 | 529), "{dialect}: {status} {text}");
        assert!(!text.contains("sk-"), "{text}");
    }
    let shown = format!("{:?} {}", world.rows().await, logs.text());
    assert!(!shown.contains("sk-dead") && !shown.contains(world.stage.key()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_limit_always_says_when_to_come_back() {
    for dialect in Dialect::ALL {
        for (fault, wait) in [("429", "5"), ("429 retry-after=7", "7")] {
            let world = World::one("").await;
            let prompt = format!("[[fault {fault}]]");
            let answer = world.ask(&Asked::new(dialect, &prompt)).send().await.unwrap();
            assert_eq!(answer.status(), 429);
            assert_eq!(answer.headers()["retry-after"], wait, "{dialect}");
            // While the provider rests, it is told so in our own words and not asked.
            let answer = world.ask(&Asked::new(dialect, "hi")).send().await.unwrap();
            assert_eq!(answer.status(), 429);
            let seconds: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
            assert!((1..=7).contains(&seconds), "{seconds}");
            let text = answer.text().await.unwrap();
            if dialect == Dialect::Gemini {
                assert!(text.contains(&format!("\"retryDelay\":\"{seconds}s\"")), "{text}");
            }
            told(dialect, &text);
            assert_eq!(world.stage.recorded().len(), 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_provider_answers_and_one_of_them_is_charged() {
    let first = stage().await;
    for fault in ["500", "529", "429", "slow-first-byte=3000", "empty", "reset-after=0"] {
        let world = World::one(&before(&first)).await;
        // The first one wants no key, so the fault is its own.
        let words = format!("[[fault {fault} times=1]]");
        first.switch(Switch::fault(fault_of(fault)));
        for (dialect, stream) in [(Dialect::Chat, false), (Dialect::Anthropic, true)] {
            let prompt = "[[usage input=10 output=5]]";
            let asked = Asked { stream, ..Asked::new(dialect, prompt) };
            let (status, text) = world.say(&asked).await;
            assert_eq!(status, 200, "{words} {dialect}: {text}");
        }
        let rows = world.rows().await;
        let (last, failed): (Vec<&Value>, Vec<&Value>) =
            rows.iter().partition(|row| row["outcome"] == "ok");
        assert_eq!(last.len(), 2, "{words}");
        assert!(!failed.is_empty(), "{words}");
        assert!(failed.iter().all(|row| row["provider"] == "second" && row["costMicros"] == 0));
        assert!(last.iter().all(|row| row["provider"] == "stage" && row["costMicros"] == 20));
        assert_eq!(world.usage().await["costMicros"], 40);
    }
}

fn fault_of(words: &str) -> Fault {
    let mut fault = Fault::default();
    match words.split_once('=') {
        Some(("slow-first-byte", ms)) => fault.slow_first_byte = ms.parse().ok(),
        Some(("reset-after", events)) => fault.reset_after = events.parse().ok(),
        _ if words == "empty" => fault.empty = true,
        _ => fault.status = words.parse().ok(),
    }
    fault
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_provider_keeps_to_itself_is_not_sent_to_another() {
    let first = stage().await;
    first.switch(Switch::fault(fault_of("500")));
    let world = World::one(&before(&first)).await;
    let thought = json!({ "type": "thinking", "thinking": "x", "signature": "only-theirs" });
    let sealed = json!({ "type": "reasoning", "id": "r", "summary": [], "encrypted_content": "e" });
    let signed = json!({ "text": "x", "thoughtSignature": "c2ln" });
    for (dialect, path, item) in [
        (Dialect::Anthropic, "/messages/1", json!({ "role": "assistant", "content": [thought] })),
        (Dialect::Responses, "/input/1", sealed),
        (Dialect::Gemini, "/contents/1", json!({ "role": "model", "parts": [signed] })),
    ] {
        let asked = Asked::new(dialect, "hi");
        let mut body = asked.body();
        let list = path.trim_end_matches("/1");
        body.pointer_mut(list).unwrap().as_array_mut().unwrap().push(item);
        let answer = world.ask(&asked).json(&body).send().await.unwrap();
        assert!(answer.status().is_server_error(), "{dialect}: {}", answer.status());
    }
    let mut body = Asked::new(Dialect::Responses, "hi").body();
    body["previous_response_id"] = json!("resp_1");
    let answer = world.ask(&Asked::new(Dialect::Responses, "hi")).json(&body).send().await.unwrap();
    assert!(answer.status().is_server_error());
    assert_eq!(world.stage.recorded().len(), 0, "nobody else saw it");
    // A session that the second one began goes on with it, though the first works again.
    let asked = Asked::new(Dialect::Anthropic, "hi");
    let session = |body: &Value| world.ask(&asked).header("session-id", "s-1").json(body).send();
    assert_eq!(session(&asked.body()).await.unwrap().status(), 200);
    first.switch(Switch::well());
    let mut body = asked.body();
    body["messages"][0]["content"] = json!("an old \"signature\": in the text {\"signature\":1}");
    body["metadata"] = json!({ "signature": "x" });
    assert_eq!(session(&body).await.unwrap().status(), 200);
    assert_eq!(world.stage.recorded().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_fails_again_and_again_is_left_alone() {
    let world = World::one("attempts = 1").await;
    world.stage.switch(Switch::fault(fault_of("500")));
    for _ in 0..5 {
        assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi")).await.0, 500);
    }
    for (dialect, status) in [
        (Dialect::Chat, 503),
        (Dialect::Responses, 503),
        (Dialect::Anthropic, 529),
        (Dialect::Gemini, 503),
    ] {
        let answer = world.ask(&Asked::new(dialect, "hi")).send().await.unwrap();
        assert_eq!(answer.status(), status);
        assert!(answer.headers().contains_key("retry-after"));
    }
    assert_eq!(world.stage.recorded().len(), 5);
    let down = world.events("provider:down").await;
    assert_eq!(down.len(), 1, "{down:?}");
    assert_eq!(down[0]["payload"]["provider"], "stage");
    let states = data(world.server.get("/proxy/v1/providers").await, StatusCode::OK).await;
    assert!(states.to_string().contains("\"down\""), "{states}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_want_another_model_gets_none() {
    let first = stage().await;
    first.switch(Switch::fault(fault_of("500")));
    let world = World::one(&before(&first)).await;
    let asked = Asked::new(Dialect::Chat, "hi");
    let answer = world.ask(&asked).header("x-godel-fallback", "false").send().await.unwrap();
    assert_eq!(answer.status(), 500);
    let mut body = asked.body();
    body["routing"] = json!({ "fallback_allowed": false });
    assert_eq!(world.ask(&asked).json(&body).send().await.unwrap().status(), 500);
    assert_eq!(world.stage.recorded().len(), 0);
}
