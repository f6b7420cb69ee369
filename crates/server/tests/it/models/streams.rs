//! A stream that breaks off never looks like one that has ended.

use std::time::Duration;

use godel_llm::Dialect;

use super::world::{Asked, World, is_whole, says_error};

const QUICK: &str = "attempts = 1\nidle_seconds = 1\nfirst_byte_seconds = 1";

/// The providers through which a dialect is asked: one of its own and one of another.
fn ways(dialect: Dialect) -> [&'static str; 2] {
    ["m-1", if dialect == Dialect::Anthropic { "only-chat/m-1" } else { "only-anthropic/m-1" }]
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_breaks_off_ends_with_an_error_that_its_dialect_knows() {
    for dialect in Dialect::ALL {
        for model in ways(dialect) {
            // One that breaks off again and again is left alone, so each has a provider of its own.
            let world = World::one(QUICK).await;
            for fault in ["reset-after=2", "eof-after=2", "error-after=2", "hang-after=2"] {
                let prompt = format!("[[words 50]] [[fault {fault}]]");
                let asked = Asked::new(dialect, &prompt).of(model).streamed();
                // That there is a text at all means that the connection was not reset.
                let (status, text) = world.say(&asked).await;
                assert_eq!(status, 200, "{dialect} {model} {fault}: {text}");
                assert!(!is_whole(dialect, &text), "{dialect} {model} {fault}: {text}");
                assert!(says_error(dialect, &text), "{dialect} {model} {fault}: {text}");
            }
            for row in world.rows().await {
                assert_eq!(row["outcome"], "failed", "{row}");
                assert!(row["outputTokens"].as_u64().unwrap() < 30, "{row}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn however_a_stream_is_cut_up_it_arrives_whole() {
    let world = World::one("").await;
    for dialect in Dialect::ALL {
        for model in ways(dialect) {
            // Large ones take their time to be made, not to be passed on.
            let huge = if model == "m-1" && dialect != Dialect::Responses {
                10_000_000
            } else {
                2_000_000
            };
            let large = format!("huge-event={huge}");
            for fault in ["split=1", "crlf", "comments", &large] {
                let prompt = format!("[[words 30]] [[usage input=9 output=8]] [[fault {fault}]]");
                let asked = Asked::new(dialect, &prompt).of(model).streamed();
                let (status, text) = world.say(&asked).await;
                let start: String = text.chars().take(2_000).collect();
                assert_eq!(status, 200, "{dialect} {model} {fault}: {start}");
                assert!(
                    is_whole(dialect, &text.replace("\r\n", "\n")),
                    "{dialect} {model} {fault}: {start}"
                );
                if fault == "comments" && model != "m-1" {
                    assert!(!text.lines().any(|line| line.starts_with(':')), "{text}");
                }
                if fault.starts_with("huge") {
                    assert!(text.len() > huge, "{dialect} {model}: {}", text.len());
                }
            }
        }
    }
    for row in world.rows().await {
        let found = (&row["outcome"], &row["inputTokens"], &row["outputTokens"]);
        assert_eq!(found, (&"ok".into(), &9.into(), &8.into()), "{row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_ten_megabytes_arrives_in_responses_and_when_it_is_told_in_another_dialect() {
    const HUGE: usize = 10_000_000;
    let world = World::one("").await;
    let prompt = format!("[[usage input=9 output=8]] [[fault huge-event={HUGE}]]");
    for (dialect, model) in [
        (Dialect::Responses, "m-1"),
        (Dialect::Anthropic, "only-chat/m-1"),
        (Dialect::Chat, "only-anthropic/m-1"),
        (Dialect::Gemini, "only-responses/m-1"),
    ] {
        let (status, text) = world.say(&Asked::new(dialect, &prompt).of(model).streamed()).await;
        let start: String = text.chars().take(2_000).collect();
        assert_eq!(status, 200, "{dialect} {model}: {start}");
        assert!(is_whole(dialect, &text), "{dialect} {model}: {start}");
        assert!(text.len() > HUGE, "{dialect} {model}: {}", text.len());
    }
    for row in world.rows().await {
        let found = (&row["outcome"], &row["inputTokens"], &row["outputTokens"]);
        assert_eq!(found, (&"ok".into(), &9.into(), &8.into()), "{row}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_malformed_is_not_told_as_if_it_were_whole() {
    let world = World::one(QUICK).await;
    for dialect in Dialect::ALL {
        let asked = Asked::new(dialect, "[[words 30]] [[malformed]]").of(ways(dialect)[1]);
        let (_, text) = world.say(&asked.streamed()).await;
        assert!(!is_whole(dialect, &text) && says_error(dialect, &text), "{dialect}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_malformed_passes_as_it_is_where_nothing_is_told_anew() {
    let world = World::one(QUICK).await;
    for dialect in Dialect::ALL {
        let prompt = "[[words 30]] [[malformed]] [[usage input=9 output=8]]";
        let (status, text) = world.say(&Asked::new(dialect, prompt).streamed()).await;
        assert_eq!(status, 200, "{dialect}: {text}");
        let broken = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| {
            *data != "[DONE]" && serde_json::from_str::<serde_json::Value>(data).is_err()
        });
        assert_eq!(broken.count(), 1, "{dialect}: the client sees what the provider said: {text}");
        assert!(is_whole(dialect, &text), "{dialect}: {text}");
    }
    for row in world.rows().await {
        let found = (&row["outcome"], &row["inputTokens"], &row["outputTokens"]);
        assert_eq!(
            found,
            (&"ok".into(), &9.into(), &8.into()),
            "it is counted all the same: {row}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_reply_that_lies_or_is_empty_is_no_answer() {
    let world = World::one(QUICK).await;
    for dialect in Dialect::ALL {
        for model in ways(dialect) {
            let asked = Asked::new(dialect, "[[lie-length]]").of(model);
            let answer = world.ask(&asked).send().await.unwrap();
            let status = answer.status();
            assert!(answer.text().await.is_err() || status.is_server_error(), "{dialect} {model}");
            let (status, text) = world.say(&Asked::new(dialect, "[[empty]]").of(model)).await;
            assert!(status >= 500, "{dialect} {model}: {status} {text}");
            let (status, text) =
                world.say(&Asked::new(dialect, "[[empty]]").of(model).streamed()).await;
            assert!(status >= 500, "{dialect} {model}: {status} {text}");
        }
        // Five failures in a row would close the way for all.
        for model in ways(dialect) {
            assert_eq!(world.say(&Asked::new(dialect, "hi").of(model)).await.0, 200);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_hears_something_while_a_provider_is_silent() {
    let world = World::one("idle_seconds = 1").await;
    let prompt = "[[words 3]] [[pace 700]]";
    let told = Asked::new(Dialect::Anthropic, prompt).of("only-chat/m-1").streamed();
    let (_, text) = world.say(&told).await;
    assert!(text.contains("event: ping") && is_whole(Dialect::Anthropic, &text), "{text}");
    let told = Asked::new(Dialect::Gemini, prompt).of("only-chat/m-1").streamed();
    let (_, text) = world.say(&told).await;
    assert!(!text.contains("ping") && is_whole(Dialect::Gemini, &text), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_event_goes_on_at_once() {
    let world = World::one("").await;
    for dialect in Dialect::ALL {
        for model in ways(dialect) {
            let asked = Asked::new(dialect, "[[words 20]] [[pace 100]]").of(model).streamed();
            let start = std::time::Instant::now();
            let mut answer = world.ask(&asked).send().await.unwrap();
            answer.chunk().await.unwrap().unwrap();
            assert!(start.elapsed() < Duration::from_millis(900), "{dialect} {model}");
        }
    }
}
