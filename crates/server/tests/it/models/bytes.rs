//! Where client and provider speak the same dialect, bytes go on as they came.

use std::collections::BTreeSet;

use godel_llm::Dialect;
use godel_scripted::Scripted;
use reqwest::Method;
use serde_json::json;

use super::world::{Asked, KEY, Logs, World, stage};

/// A body with everything that a careful rewriting would lose: blanks, order, escapes, odd numbers,
/// fields that nobody knows.
fn odd(asked: &Asked<'_>, model: &str) -> String {
    let said = r#"{"role":"user", "content" : "\u00e9 \u20ac [[say ok]]  "}"#;
    let rest = r#""zeta":1.0,"alpha" :[ 1e2,-0.0,{"b":1,"a":2} ] , "unknown":{"x":null}"#;
    let stream = asked.stream;
    match asked.dialect {
        Dialect::Gemini => format!(
            r#"{{ {rest} , "contents":[{{"parts":[{{"text":"\u00e9 [[say ok]]"}}],"role":"user"}}] }}"#
        ),
        Dialect::Responses => {
            format!(r#"{{ {rest} ,"model" : "{model}","input":[ {said} ],"stream": {stream}}}"#)
        }
        Dialect::Chat | Dialect::Anthropic => format!(
            r#"{{ {rest} ,"model" : "{model}","messages":[ {said} ],"max_tokens":50,"stream": {stream}}}"#
        ),
    }
}

async fn direct(world: &World, twin: &Scripted, asked: &Asked<'_>, body: String) -> String {
    let path = asked.path();
    let url = format!("{}{}", twin.base_url(), path.trim_start_matches("/proxy"));
    let ask = world.server.http.post(url).header("content-type", "application/json").body(body);
    let ask = match asked.dialect {
        Dialect::Anthropic => {
            ask.header("x-api-key", KEY).header("anthropic-version", "2023-06-01")
        }
        Dialect::Gemini => ask.header("x-goog-api-key", KEY),
        Dialect::Chat | Dialect::Responses => ask.bearer_auth(KEY),
    };
    ask.send().await.unwrap().text().await.unwrap()
}

/// Takes out what differs from one answer to the next: ids and times.
fn without_ids(text: &str) -> String {
    let mut plain = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let varies = word.len() > 6 && word.chars().any(|c| c.is_ascii_digit());
        plain.push_str(if varies { "ID" } else { &word });
        word.clear();
        plain.push(c);
    }
    plain
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_and_its_reply_pass_byte_by_byte() {
    let logs = Logs::capture();
    let world = World::one("[aliases]\nnick = \"m-1\"").await;
    // One that hears the same in the same order answers the same.
    let twin = stage().await;
    let mut seen = String::new();
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let asked = Asked { stream, ..Asked::new(dialect, "") };
            let body = odd(&asked, "m-1");
            let request = world.ask(&asked).body(body.clone());
            let request = request.header("x-custom-thing", "kept").header("user-agent", "odd/1");
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 200, "{dialect}");
            seen.push_str(&format!("{:?}", answer.headers()));
            let reply = answer.text().await.unwrap();
            let sent = world.stage.recorded().pop().unwrap();
            let mut expected = body.clone();
            if dialect == Dialect::Chat && stream {
                let usage = r#""stream_options":{"include_usage":true},"#;
                expected = expected.replacen("\"zeta\"", &format!("{usage}\"zeta\""), 1);
            }
            assert_eq!(String::from_utf8_lossy(&sent.body), expected, "{dialect}");
            assert_eq!(sent.header("x-custom-thing"), Some("kept"));
            assert_eq!(sent.header("user-agent"), Some("odd/1"));
            let own = direct(&world, &twin, &asked, body).await;
            // A provider that is to tell its usage at the end says in each event that it does not yet.
            let reply = reply.replace("\"usage\":null,", "");
            assert_eq!(without_ids(&reply), without_ids(&own), "{dialect} {stream}");
            seen.push_str(&reply);
        }
    }
    // An alias changes the name of the model and nothing else.
    for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Anthropic] {
        let asked = Asked::new(dialect, "");
        let answer = world.ask(&asked).body(odd(&asked, "nick")).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let sent = world.stage.recorded().pop().unwrap();
        assert_eq!(String::from_utf8_lossy(&sent.body), odd(&asked, "m-1"), "{dialect}");
    }
    for sent in world.stage.recorded() {
        let all = format!("{:?} {}", sent.headers, sent.query);
        assert!(!all.contains(&world.token) && !all.contains("godel"), "{all}");
    }
    seen.push_str(&format!("{:?} {}", world.rows().await, logs.text()));
    assert!(!seen.contains(KEY), "the key of the provider was shown");
    assert!(!logs.text().contains(&world.token), "the token was logged");
}

#[tokio::test(flavor = "multi_thread")]
async fn opaque_state_comes_back_as_it_was() {
    let world = World::one("").await;
    let asked =
        Asked::new(Dialect::Anthropic, "[[think]] [[call look {\"at\":1}]] [[then]] [[say done]]");
    let mut body = asked.body();
    body["max_tokens"] = json!(5_000);
    body["thinking"] = json!({ "type": "enabled", "budget_tokens": 2_000 });
    body["tools"] = json!([{ "name": "look", "input_schema": { "type": "object" } }]);
    let first = world.ask(&asked).json(&body).send().await.unwrap();
    let first: serde_json::Value = first.json().await.unwrap();
    let call = first["content"].as_array().unwrap().iter().find(|part| part["type"] == "tool_use");
    let result =
        json!({ "type": "tool_result", "tool_use_id": call.unwrap()["id"], "content": "1" });
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "assistant", "content": first["content"] }));
    messages.push(json!({ "role": "user", "content": [result] }));
    let second = world.ask(&asked).json(&body).send().await.unwrap();
    assert_eq!(second.status(), 200, "{}", second.text().await.unwrap());
    let stats = world.stage.stats();
    assert!(stats.seals_kept > 0 && stats.seals_broken == 0, "{stats:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_door_of_the_clients_is_there() {
    let world = World::one("[aliases]\nnick = \"m-1\"").await;
    let url = |path: &str| format!("{}{path}", world.server.url);
    let http = &world.server.http;
    // Nobody need be known for these two.
    assert_eq!(http.head(url("/proxy")).send().await.unwrap().status(), 200);
    let socket = http.get(url("/proxy/v1/responses")).header("upgrade", "websocket");
    let socket = socket.header("connection", "upgrade").send().await.unwrap();
    assert_eq!(socket.status(), 426);
    let listed = |method: Method, header: &'static str, path: &'static str| {
        let request = http.request(method, url(path)).header(header, &world.token);
        async move { request.send().await.unwrap().json::<serde_json::Value>().await.unwrap() }
    };
    let names = |list: &serde_json::Value, name: &str| -> BTreeSet<String> {
        let all = list.as_array().unwrap().iter();
        all.map(|model| model[name].as_str().unwrap().to_owned()).collect()
    };
    for method in [Method::GET, Method::POST] {
        let open_ai = listed(method.clone(), "x-api-key", "/proxy/v1/models").await;
        assert_eq!(open_ai["object"], "list");
        assert!(names(&open_ai["data"], "id").contains("m-1"));
        let google = listed(method, "x-goog-api-key", "/proxy/v1beta/models").await;
        assert!(names(&google["models"], "name").contains("models/m-1"));
    }
    let own = http.get(url("/proxy/v1/models")).header("x-api-key", &world.token);
    let own = own.header("anthropic-version", "2023-06-01").send().await.unwrap();
    let own: serde_json::Value = own.json().await.unwrap();
    assert_eq!(own["has_more"], false);
    assert!(names(&own["data"], "id").contains("nick"));
    let one = listed(Method::GET, "x-goog-api-key", "/proxy/v1beta/models/m-1").await;
    assert_eq!(one["name"], "models/m-1");
    // Tokens are counted by the provider, or by rule if it speaks another dialect.
    for (dialect, path, name) in [
        (Dialect::Anthropic, "/v1/messages/count_tokens", "input_tokens"),
        (Dialect::Gemini, "/v1beta/models/m-1:countTokens", "totalTokens"),
    ] {
        for provider in ["", "/only-chat", "/stage"] {
            let body = Asked::new(dialect, "how many tokens are these?").body();
            let ask = http.post(url(&format!("/proxy{provider}{path}"))).bearer_auth(&world.token);
            let answer = ask.json(&body).send().await.unwrap();
            assert_eq!(answer.status(), 200);
            let answer: serde_json::Value = answer.json().await.unwrap();
            assert!(answer[name].as_u64().unwrap() > 3, "{dialect} {provider}: {answer}");
        }
    }
    // A provider can be named, one that is not there cannot.
    let named = Asked::new(Dialect::Chat, "hi").of("only-chat/anything");
    assert_eq!(world.say(&named).await.0, 200);
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi").of("nowhere/m-1")).await.0, 404);
    // As google-genai for Python has it.
    let v1 = http.post(url("/proxy/v1/models/m-1:generateContent")).bearer_auth(&world.token);
    let v1 = v1.json(&Asked::new(Dialect::Gemini, "hi").body()).send().await.unwrap();
    assert_eq!(v1.status(), 200);
}
