//! What is recorded is what the provider said, to the token and to the micro-dollar.

use godel_llm::Dialect;
use serde_json::{Value, json};

use super::world::{Asked, Logs, World, is_whole};

const PROMPT: &str = "[[usage input=100 cache_read=40 cache_write=20 output=17 reasoning=3]]";

fn counted(row: &Value) -> [u64; 5] {
    ["inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens", "reasoningTokens"]
        .map(|name| row[name].as_u64().unwrap())
}

/// Gemini has no number for what was written to a cache.
const fn expected(upstream: Dialect) -> ([u64; 5], i64) {
    match upstream {
        Dialect::Gemini => ([100, 40, 0, 17, 3], 100 + 20 + 34),
        _ => ([100, 40, 20, 17, 3], 100 + 20 + 30 + 34),
    }
}

async fn sums_agree(world: &World) {
    let (rows, usage) = (world.rows().await, world.usage().await);
    for (name, sum) in [
        ("inputTokens", "inputTokens"),
        ("cacheReadTokens", "cacheReadTokens"),
        ("cacheWriteTokens", "cacheWriteTokens"),
        ("outputTokens", "outputTokens"),
        ("reasoningTokens", "reasoningTokens"),
        ("costMicros", "costMicros"),
    ] {
        let all: i64 = rows.iter().map(|row| row[name].as_i64().unwrap_or(0)).sum();
        assert_eq!(usage[sum], all, "{name}: {usage}");
    }
    let unpriced = rows.iter().filter(|row| row["costMicros"].is_null()).count();
    assert_eq!(usage["unpriced"], unpriced, "{usage}");
    assert_eq!(usage["requests"], rows.len(), "{usage}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_says_what_the_provider_said_in_every_dialect() {
    for world in World::all("").await {
        for dialect in Dialect::ALL {
            for stream in [false, true] {
                let asked = Asked { stream, ..Asked::new(dialect, PROMPT) };
                let (status, text) = world.say(&asked).await;
                assert_eq!(status, 200, "{text}");
                assert!(!stream || is_whole(dialect, &text), "{text}");
            }
        }
        let rows = world.rows().await;
        assert_eq!(rows.len(), 8);
        for (row, dialect) in rows.iter().zip(Dialect::ALL.into_iter().flat_map(|d| [d, d])) {
            let (tokens, cost) = expected(dialect);
            assert_eq!(row["dialect"], dialect.name());
            assert_eq!(counted(row), tokens, "{row}");
            assert_eq!((&row["costMicros"], &row["estimated"]), (&json!(cost), &json!(false)));
            assert_eq!(row["agentId"], "worker");
            assert!(row["firstByteMs"].as_f64().unwrap() <= row["latency"].as_f64().unwrap() + 1.0);
        }
        sums_agree(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_says_what_the_provider_said_when_it_is_told_in_another_dialect() {
    let world = World::one("").await;
    let mut asked = Vec::new();
    for from in Dialect::ALL {
        for to in Dialect::ALL.into_iter().filter(|to| *to != from) {
            for stream in [false, true] {
                let model = format!("only-{}/m-1", to.name());
                let ask = Asked { stream, ..Asked::new(from, PROMPT).of(&model) };
                let (status, text) = world.say(&ask).await;
                assert_eq!(status, 200, "{from} to {to}: {text}");
                assert!(!stream || is_whole(from, &text), "{from} to {to}: {text}");
                asked.push((from, to));
            }
        }
    }
    let rows = world.rows().await;
    assert_eq!(rows.len(), 24);
    for (row, (from, to)) in rows.iter().zip(asked) {
        assert_eq!(counted(row), expected(to).0, "{from} to {to}: {row}");
        assert!(row["costMicros"].is_null() && row["estimated"] == false, "{row}");
    }
    sums_agree(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_that_is_not_known_is_told_once_and_is_not_nothing() {
    let logs = Logs::capture();
    let world = World::one("").await;
    for _ in 0..3 {
        assert_eq!(world.say(&Asked::new(Dialect::Chat, PROMPT).of("m-new")).await.0, 200);
    }
    assert_eq!(world.say(&Asked::new(Dialect::Chat, PROMPT)).await.0, 200);
    let rows = world.rows().await;
    assert!(rows[..3].iter().all(|row| row["costMicros"].is_null()), "{rows:?}");
    assert_eq!(world.usage().await["unpriced"], 3);
    sums_agree(&world).await;
    let text = logs.text();
    assert_eq!(text.matches("the price of a model is not known").count(), 1, "{text}");
    assert!(text.contains("m-new"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_asks_for_no_usage_is_told_none_and_it_is_counted_all_the_same() {
    let world = World::one("").await;
    let asked = Asked::new(Dialect::Chat, PROMPT).streamed();
    let (_, quiet) = world.say(&asked).await;
    assert!(is_whole(Dialect::Chat, &quiet) && !quiet.contains("prompt_tokens"), "{quiet}");
    let mut body = asked.body();
    body["stream_options"] = json!({ "include_usage": true });
    let answer = world.ask(&asked).json(&body).send().await.unwrap();
    assert!(answer.text().await.unwrap().contains("\"prompt_tokens\":160"));
    assert!(world.rows().await.iter().all(|row| counted(row) == expected(Dialect::Chat).0));
}
