//! What a provider does wrong is told as it is, made good by another, or told in our own words.

use std::time::{Duration, Instant};

use godel_llm::Dialect;
use godel_scripted::{End, Fault, Scripted, Switch};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{Asked, Logs, World, read_until, stage, told};
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
async fn what_google_says_in_a_header_only_its_clients_find_in_the_body() {
    for stream in [false, true] {
        let world = World::one("").await;
        // Its header goes with every answer, and its body says nothing.
        world.stage.switch(Switch::headers([("retry-after", "7")]));
        let asked = Asked { stream, ..Asked::new(Dialect::Gemini, "[[fault 429]]") };
        let answer = world.ask(&asked).send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["retry-after"]),
            (429, &"7".parse().unwrap())
        );
        let text: Value = answer.json().await.unwrap();
        let details = &text["error"]["details"][0];
        assert_eq!(details["@type"], "type.googleapis.com/google.rpc.RetryInfo", "{text}");
        assert_eq!(details["retryDelay"], "7s", "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_to_come_back_at_is_understood() {
    let world = World::one("attempts = 1").await;
    let at = world.server.app.clock.now().checked_add(jiff::SignedDuration::from_secs(30)).unwrap();
    let date = at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    world.stage.switch(Switch::headers([("retry-after", date.as_str())]));
    let answer = world.ask(&Asked::new(Dialect::Chat, "[[fault 429]]")).send().await.unwrap();
    assert_eq!(answer.status(), 429);
    let seconds: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((20..=30).contains(&seconds), "{seconds} for {date}");
    world.stage.switch(Switch::headers([]));
    assert_eq!(
        world.say(&Asked::new(Dialect::Chat, "hi")).await.0,
        429,
        "it is left alone until then"
    );
    assert_eq!(world.stage.recorded().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_was_not_heard_in_time_may_be_paid_all_the_same() {
    let world = World::one("attempts = 1\nfirst_byte_seconds = 1").await;
    world.budget("tenant", 10_000_000).await;
    for (prompt, unheard) in [("[[slow-first-byte=4000]]", true), ("[[fault 503]]", false)] {
        let (status, text) = world.say(&Asked::new(Dialect::Chat, prompt).of("m-dear")).await;
        assert!(status >= 500, "{text}");
        let row = world.rows().await.pop().unwrap();
        assert_eq!(
            (&row["outcome"], &row["estimated"]),
            (&json!("failed"), &json!(unheard)),
            "{row}"
        );
        let input = row["inputTokens"].as_i64().unwrap();
        assert_eq!((input > 10, &row["costMicros"]), (unheard, &json!(input)), "{row}");
        assert_eq!(row["outputTokens"], 0);
    }
    let (rows, budget) = (world.rows().await, &world.budgets().await[0]);
    assert_eq!(
        (&budget["spentMicros"], &budget["heldMicros"]),
        (&rows[0]["costMicros"], &json!(0))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_lets_the_provider_go() {
    let world = World::one("").await;
    let slow = "[[words 500]] [[pace 20]]";
    for dialect in Dialect::ALL {
        let other = if dialect == Dialect::Chat { "only-anthropic/m-1" } else { "only-chat/m-1" };
        for model in ["m-1", other] {
            let asked = Asked::new(dialect, slow).of(model).streamed();
            let mut answer = world.ask(&asked).send().await.unwrap();
            read_until(&mut answer, "word3").await;
            let number = world.stage.recorded().len();
            drop(answer);
            let start = Instant::now();
            while world.stage.recorded()[number - 1].end != End::Dropped {
                // The whole would take ten seconds.
                assert!(start.elapsed() < Duration::from_secs(4), "{dialect} {model}: it goes on");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    // Nor is anybody asked for who left before the first byte.
    let early = world.ask(&Asked::new(Dialect::Chat, "[[slow-first-byte=8000]]"));
    early.timeout(Duration::from_millis(300)).send().await.unwrap_err();
    world.settled().await;
    for row in world.rows().await {
        assert_eq!(
            (&row["outcome"], &row["estimated"]),
            (&json!("cancelled"), &json!(true)),
            "{row}"
        );
    }
    let start = Instant::now();
    while world.stage.recorded().last().unwrap().end != End::Dropped {
        assert!(start.elapsed() < Duration::from_secs(4), "it is still waited for");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_breaks_off_on_its_way_asks_nobody() {
    let world = World::one("").await;
    let address = world.server.url.trim_start_matches("http://").to_owned();
    for dialect in Dialect::ALL {
        let asked = Asked::new(dialect, "hi");
        let (body, path) = (asked.body().to_string(), asked.path());
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\n",
            world.token
        );
        let half = &body[..body.len() / 2];
        let chunk = format!("{:x}\r\n{half}\r\n", half.len());
        for sent in [
            format!("{head}content-length: {}\r\n\r\n{half}", body.len()),
            format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}"),
        ] {
            let mut wire = tokio::net::TcpStream::connect(&address).await.unwrap();
            wire.write_all(sent.as_bytes()).await.unwrap();
            wire.shutdown().await.unwrap();
            let mut answer = Vec::new();
            let read = wire.read_to_end(&mut answer);
            drop(tokio::time::timeout(Duration::from_secs(5), read).await.expect("it hangs up"));
            let answer = String::from_utf8_lossy(&answer);
            assert!(!answer.starts_with("HTTP/1.1 2"), "{dialect}: {answer}");
        }
    }
    assert!(world.stage.recorded().is_empty() && world.rows().await.is_empty());
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi")).await.0, 200, "the server goes on");
}

/// Answers to one connection with these bytes, and cuts it.
async fn cutting(bytes: String) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut wire, _)) = listener.accept().await {
            let mut asked = vec![0; 64 * 1024];
            drop(wire.read(&mut asked).await);
            wire.write_all(bytes.as_bytes()).await.unwrap();
        }
    });
    base
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_is_cut_on_the_wire_is_not_taken_for_a_whole_one() {
    let half = r#"{"id":"1","choices":[{"message":{"content":"half of what"#;
    for (head, way) in [
        (format!("content-length: {}\r\n\r\n{half}", 900), "a length that is not reached"),
        (
            format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n{half}\r\n", half.len()),
            "no last chunk",
        ),
        (format!("transfer-encoding: chunked\r\n\r\nfff\r\n{half}"), "half a chunk"),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{head}");
        let base = cutting(head).await;
        let more =
            format!("attempts = 1\n[providers.cut]\nchat = \"{base}/v1\"\nauth = \"none\"\n");
        let world = World::one(&more).await;
        let asked = Asked::new(Dialect::Chat, "hi").of("cut/m-1");
        // Its head may have gone on by then, and else there is no answer at all.
        let whole = match world.ask(&asked).send().await {
            Ok(answer) => answer.bytes().await.is_ok(),
            Err(_) => false,
        };
        assert!(!whole, "{way}: it was told as a whole");
        // Told in another dialect it is read first, and then there is none.
        let told_ = Asked::new(Dialect::Anthropic, "hi").of("cut/m-1");
        let (status, text) = world.say(&told_).await;
        assert!(status >= 500, "{way}: {status} {text}");
        for row in world.rows().await {
            assert_eq!(row["outcome"], "failed", "{way}: {row}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_with_a_query_and_a_key_as_azure_has_them_is_asked_in_its_way() {
    let azure = stage().await;
    let base = azure.base_url();
    let more = format!(
        "[providers.azure]\nchat = \"{base}/v1?api-version=2024-10-21\"\nauth = \"api-key\"\n\
         models = {{ m-work = \"deployment-7\" }}\n"
    );
    let world = World::one(&more).await;
    secret(&world, "azure", azure.key()).await;
    for dialect in [Dialect::Chat, Dialect::Anthropic] {
        for stream in [false, true] {
            let asked = Asked { stream, ..Asked::new(dialect, "[[say hello]]").of("m-work") };
            let (status, text) = world.say(&asked).await;
            assert_eq!(status, 200, "{dialect}: {text}");
        }
    }
    let recorded = azure.recorded();
    assert_eq!(recorded.len(), 4);
    for asked in recorded {
        assert_eq!(
            (asked.path.as_str(), asked.query.as_str()),
            ("/v1/chat/completions", "api-version=2024-10-21")
        );
        assert_eq!(asked.header("api-key"), Some(azure.key()));
        assert_eq!((asked.header("authorization"), asked.header("x-api-key")), (None, None));
        assert_eq!(asked.json()["model"], "deployment-7");
    }
    let tested =
        world.server.post("/proxy/v1/providers/test", json!({ "provider": "azure" })).await;
    let tested = data(tested, StatusCode::OK).await;
    assert_eq!(tested["items"][0]["works"], true, "{tested}");
    let asked = azure.recorded().pop().unwrap();
    assert_eq!(
        (asked.path.as_str(), asked.query.as_str()),
        ("/v1/models", "api-version=2024-10-21")
    );
    let rows = world.rows().await;
    assert!(!format!("{rows:?} {tested}").contains(azure.key()));
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
        // One that was asked and not heard in time may be paid for what it read.
        let unheard = fault.starts_with("slow");
        for row in &failed {
            assert_eq!((&row["provider"], &row["estimated"]), (&json!("second"), &json!(unheard)));
            assert_eq!(row["costMicros"].as_i64().unwrap() > 0, unheard, "{row}");
        }
        assert!(last.iter().all(|row| row["provider"] == "stage" && row["costMicros"] == 20));
        let sum: i64 = rows.iter().map(|row| row["costMicros"].as_i64().unwrap()).sum();
        assert_eq!((&world.usage().await["costMicros"], sum > 40), (&json!(sum), unheard));
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
