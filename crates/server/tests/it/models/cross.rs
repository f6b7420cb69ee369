//! A client of any dialect finishes its tool round with a provider of any other.

use godel_llm::Dialect;
use serde_json::{Value, json};

use super::world::{Asked, World, is_whole, told};

const PROMPT: &str =
    "[[call look {\"at\":\"a\"}]] [[call look {\"at\":\"b\"}]] [[then]] [[say both seen]]";

fn with_tool(dialect: Dialect, mut body: Value) -> Value {
    let schema = json!({ "type": "object", "properties": { "at": { "type": "string" } } });
    body["tools"] = match dialect {
        Dialect::Chat => {
            json!([{ "type": "function", "function": { "name": "look", "parameters": schema } }])
        }
        Dialect::Responses => json!([{ "type": "function", "name": "look", "parameters": schema }]),
        Dialect::Anthropic => json!([{ "name": "look", "input_schema": schema }]),
        Dialect::Gemini => {
            json!([{ "functionDeclarations": [{ "name": "look", "parameters": schema }] }])
        }
    };
    body
}

fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// Reads the calls out of a stream: ids, and inputs in their order.
fn calls(dialect: Dialect, text: &str) -> Vec<(String, Value)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for event in events(text) {
        match dialect {
            Dialect::Chat => {
                for call in
                    event["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten()
                {
                    if call["id"].is_string() {
                        found.push((text_of(&call["id"]), String::new()));
                    }
                    let at = call["index"].as_u64().unwrap() as usize;
                    found[at].1.push_str(&text_of(&call["function"]["arguments"]));
                }
            }
            Dialect::Responses if event["type"] == "response.output_item.done" => {
                let item = &event["item"];
                if item["type"] == "function_call" {
                    found.push((text_of(&item["call_id"]), text_of(&item["arguments"])));
                }
            }
            Dialect::Anthropic => {
                if event["content_block"]["type"] == "tool_use" {
                    found.push((text_of(&event["content_block"]["id"]), String::new()));
                }
                if event["delta"]["type"] == "input_json_delta" {
                    found.last_mut().unwrap().1.push_str(&text_of(&event["delta"]["partial_json"]));
                }
            }
            Dialect::Gemini => {
                let parts = event["candidates"][0]["content"]["parts"].as_array().cloned();
                for part in
                    parts.into_iter().flatten().filter(|part| part["functionCall"].is_object())
                {
                    // The whole part goes back, as its clients send it.
                    found.push((part.to_string(), part["functionCall"]["args"].to_string()));
                }
            }
            Dialect::Responses => {}
        }
    }
    found.into_iter().map(|(id, input)| (id, serde_json::from_str(&input).unwrap())).collect()
}

/// Puts the calls and their results behind the question.
fn answered(dialect: Dialect, body: &mut Value, calls: &[(String, Value)]) {
    let list = match dialect {
        Dialect::Responses => "input",
        Dialect::Gemini => "contents",
        Dialect::Chat | Dialect::Anthropic => "messages",
    };
    let list = body[list].as_array_mut().unwrap();
    let result = |input: &Value| format!("saw {}", input["at"].as_str().unwrap());
    match dialect {
        Dialect::Chat => {
            let made = calls.iter().map(|(id, input)| {
                let function = json!({ "name": "look", "arguments": input.to_string() });
                json!({ "id": id, "type": "function", "function": function })
            });
            list.push(json!({ "role": "assistant", "tool_calls": made.collect::<Vec<_>>() }));
            for (id, input) in calls {
                list.push(json!({ "role": "tool", "tool_call_id": id, "content": result(input) }));
            }
        }
        Dialect::Responses => {
            for (id, input) in calls {
                let arguments = input.to_string();
                list.push(json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": arguments }));
            }
            for (id, input) in calls {
                list.push(json!({ "type": "function_call_output", "call_id": id, "output": result(input) }));
            }
        }
        Dialect::Anthropic => {
            let made = calls.iter().map(
                |(id, input)| json!({ "type": "tool_use", "id": id, "name": "look", "input": input }),
            );
            list.push(json!({ "role": "assistant", "content": made.collect::<Vec<_>>() }));
            let seen = calls.iter().map(|(id, input)| {
                json!({ "type": "tool_result", "tool_use_id": id, "content": result(input) })
            });
            list.push(json!({ "role": "user", "content": seen.collect::<Vec<_>>() }));
        }
        Dialect::Gemini => {
            let parts: Vec<Value> =
                calls.iter().map(|(part, _)| serde_json::from_str(part).unwrap()).collect();
            list.push(json!({ "role": "model", "parts": parts }));
            let seen = calls.iter().map(|(_, input)| {
                json!({ "functionResponse": { "name": "look", "response": { "result": result(input) } } })
            });
            list.push(json!({ "role": "user", "parts": seen.collect::<Vec<_>>() }));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_round_with_two_calls_at_once_is_finished_in_every_pair_of_dialects() {
    let world = World::one("").await;
    for from in Dialect::ALL {
        for to in Dialect::ALL {
            let model = format!("only-{}/m-1", to.name());
            let asked = Asked::new(from, PROMPT).of(&model).streamed();
            let mut body = with_tool(from, asked.body());
            let first = world.ask(&asked).json(&body).send().await.unwrap().text().await.unwrap();
            assert!(is_whole(from, &first), "{from} to {to}: {first}");
            let made = calls(from, &first);
            let inputs: Vec<&Value> = made.iter().map(|(_, input)| &input["at"]).collect();
            assert_eq!(inputs, ["a", "b"], "{from} to {to}: {first}");
            assert!(made[0].0 != made[1].0 || from == Dialect::Gemini, "{from} to {to}");
            answered(from, &mut body, &made);
            let second = world.ask(&asked).json(&body).send().await.unwrap();
            let (status, text) = (second.status(), second.text().await.unwrap());
            assert_eq!(status, 200, "{from} to {to}: {text}");
            assert!(is_whole(from, &text), "{from} to {to}: {text}");
            let said: String = text.replace("\\n", " ");
            assert!(said.contains("both") && said.contains("seen"), "{from} to {to}: {text}");
        }
    }
    assert!(world.rows().await.iter().all(|row| row["outcome"] == "ok"));
    let stats = world.stage.stats();
    assert_eq!((stats.seals_broken, stats.strangers), (0, 0), "{stats:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_words_in_the_other_dialect_is_named() {
    let world = World::one("").await;
    let search = json!([{ "type": "web_search_20250305", "name": "web_search" }]);
    for (from, to, field, value, says) in [
        (Dialect::Anthropic, "only-chat", "tools", search, "web_search"),
        (
            Dialect::Responses,
            "only-anthropic",
            "previous_response_id",
            json!("resp_1"),
            "previous_response_id",
        ),
        (
            Dialect::Responses,
            "only-chat",
            "tools",
            json!([{ "type": "computer_use" }]),
            "computer_use",
        ),
    ] {
        let model = format!("{to}/m-1");
        for stream in [false, true] {
            let asked = Asked { stream, ..Asked::new(from, "hi").of(&model) };
            let mut body = asked.body();
            body[field] = value.clone();
            let answer = world.ask(&asked).json(&body).send().await.unwrap();
            assert_eq!(answer.status(), 400, "{from} to {to}");
            let (_, message) = told(from, &answer.text().await.unwrap());
            assert!(message.contains(says), "{message}");
        }
    }
    assert!(world.stage.recorded().is_empty() && world.rows().await.is_empty());
}
