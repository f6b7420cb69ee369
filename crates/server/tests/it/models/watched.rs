//! What is to be seen of requests to models: metrics, and the health of providers.

use std::time::{Duration, Instant};

use godel_llm::Dialect;
use godel_scripted::{Fault, Switch};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::world::{Asked, World, stage};
use crate::harness::data;

/// Returns the value of a metric with these labels.
fn value(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let fits = |line: &&str| {
        line.starts_with(&format!("{name}{{"))
            && labels.iter().all(|(label, value)| line.contains(&format!("{label}=\"{value}\"")))
    };
    let line = text.lines().find(fits)?;
    line.rsplit(' ').next()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_by_provider_and_model() {
    // Metrics are of the whole process, so that this provider must be nobody else's.
    let metered = stage().await;
    let base = metered.base_url();
    let key = metered.key();
    let more = format!(
        "attempts = 1\n[providers.metered]\nanthropic = \"{base}\"\nauth = \"none\"\n\
         headers = {{ x-api-key = \"{key}\" }}\n"
    );
    let world = World::one(&more).await;
    let prompt = "[[usage input=100 cache_read=40 cache_write=20 output=17]]";
    let asked = |prompt| Asked::new(Dialect::Anthropic, prompt);
    for stream in [false, true] {
        let asked = Asked { stream, ..asked(prompt).of("metered/m-1") };
        assert_eq!(world.say(&asked).await.0, 200);
    }
    assert_eq!(world.say(&asked("[[fault 400]]").of("metered/m-1")).await.0, 400);
    assert_eq!(world.say(&asked("hi").of("metered/m-nobody-lists")).await.0, 200);
    assert_eq!(world.say(&asked("hi").of("no-such-model")).await.0, 404);
    world.settled().await;
    let text = world.server.get("/metrics").await.text().await.unwrap();
    let of = |name: &str, more: &[(&str, &str)]| {
        let labels = [&[("provider", "metered"), ("model", "m-1")], more].concat();
        value(&text, name, &labels)
    };
    let requests = |outcome| of("godel_llm_requests_total", &[("outcome", outcome)]);
    assert_eq!((requests("ok"), requests("failed")), (Some(2.0), Some(1.0)), "{text}");
    let tokens = |kind| of("godel_llm_tokens_total", &[("kind", kind)]);
    for (kind, expected) in
        [("input", 200.0), ("cache_read", 80.0), ("cache_write", 40.0), ("output", 34.0)]
    {
        assert_eq!(tokens(kind), Some(expected), "{kind}");
    }
    // 160 tokens of input at one millionth of a dollar each and 17 of output at two, twice.
    assert_eq!(of("godel_llm_cost_micro_dollars_total", &[]), Some(2.0 * (160.0 + 34.0)));
    let listed = [("provider", "metered"), ("model", "m-1")];
    let times =
        [("godel_llm_request_duration_seconds", 3.0), ("godel_llm_first_byte_seconds", 2.0)];
    for (name, expected) in times {
        let count = value(&text, &format!("{name}_count"), &listed).unwrap();
        assert!((count - expected).abs() < 0.1, "{name}: {count}");
        assert!(value(&text, &format!("{name}_sum"), &listed).unwrap() > 0.0, "{name}");
    }
    // A model that nobody lists is one of many, so that there is an end to the labels.
    let other = [("provider", "metered"), ("model", "other"), ("outcome", "ok")];
    assert_eq!(value(&text, "godel_llm_requests_total", &other), Some(1.0));
    assert!(!text.contains("m-nobody-lists"), "{text}");
    let refused = value(&text, "godel_llm_refused_total", &[("reason", "no_model")]).unwrap();
    assert!(refused >= 1.0, "{refused}");
}

async fn health(world: &World) -> Value {
    let answer = world.server.http.get(format!("{}/health", world.server.url)).send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200, "what providers do does not stop the server");
    answer.json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn health_names_a_provider_that_fails_until_it_works_again() {
    let world = World::one("attempts = 1").await;
    assert_eq!(health(&world).await["checks"].get("models"), None, "nobody was asked yet");
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi")).await.0, 200);
    let told = health(&world).await;
    assert_eq!(told["checks"]["models"]["status"], "healthy", "{told}");
    world.stage.switch(Switch::fault(Fault { status: Some(500), ..Fault::default() }));
    for _ in 0..5 {
        assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi")).await.0, 500);
    }
    let told = health(&world).await;
    assert_eq!(told["status"], "degraded", "{told}");
    assert_eq!(told["checks"]["models"]["status"], "degraded", "{told}");
    assert_eq!(told["checks"]["models"]["message"], "these providers fail: stage");
    let providers = data(world.server.get("/proxy/v1/providers").await, StatusCode::OK).await;
    let providers = providers["items"].as_array().unwrap();
    let stage = providers.iter().find(|one| one["provider"] == "stage").unwrap();
    assert_eq!(stage["state"], "down", "{stage}");
    world.stage.switch(Switch::well());
    let start = std::time::Instant::now();
    while world.say(&Asked::new(Dialect::Chat, "hi")).await.0 != 200 {
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "it is never tried again");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let told = health(&world).await;
    assert_eq!(
        (&told["checks"]["models"]["status"], &told["checks"]["models"]["message"]),
        (&json!("healthy"), &Value::Null)
    );
}

/// What all events of a kind say of a number, together.
fn told_together(events: &[Value], field: &str) -> i64 {
    events.iter().map(|event| event["payload"][field].as_i64().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_watches_costs_is_told_what_was_spent_and_nothing_of_it_twice() {
    for world in World::all("").await {
        assert_eq!(world.events("usage:recorded").await.len(), 0, "nobody spent anything");
        for prompt in ["[[usage input=100 output=17]]", "[[usage input=5 output=1]]"] {
            assert_eq!(world.say(&Asked::new(Dialect::Chat, prompt)).await.0, 200);
        }
        let total = world.usage().await;
        let start = Instant::now();
        let told = loop {
            let told = world.events("usage:recorded").await;
            if told_together(&told, "requests") == 2 {
                break told;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{}: {told:?}", world.server.engine);
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        for field in ["requests", "inputTokens", "outputTokens", "costMicros"] {
            let sum = total[field].as_i64().unwrap();
            assert_eq!(told_together(&told, field), sum, "{field}: {told:?}");
        }
        world.server.app.switchboard.ledger().tell_spent();
        assert_eq!(world.events("usage:recorded").await.len(), told.len(), "there is nothing new");
    }
}
