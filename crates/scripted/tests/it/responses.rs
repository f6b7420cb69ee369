//! OpenAI Responses.

use serde_json::{Value, json};

use crate::Stage;

const PATH: &str = "/v1/responses";

fn ask(prompt: &str) -> Value {
    json!({
        "model": "gpt-5", "store": false, "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low"},
        "input": [{"role": "user", "content": [{"type": "input_text", "text": prompt}]}],
        "tools": [{"type": "function", "name": "exec_command", "parameters": {
            "type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}}],
    })
}

fn back(mut body: Value, items: &[Value]) -> Value {
    let call = items.iter().find(|item| item["call_id"].is_string()).unwrap().clone();
    let kind = format!("{}_output", call["type"].as_str().unwrap());
    let input = body["input"].as_array_mut().unwrap();
    input.extend(items.iter().cloned());
    input.push(json!({"type": kind, "call_id": call["call_id"], "output": "done"}));
    body
}

#[tokio::test]
async fn encrypted_reasoning_must_come_back() {
    let stage = Stage::open().await;
    let body = ask("[[shell ls]]");
    let answer = stage.json(PATH, &body).await;
    let items = answer["output"].as_array().unwrap().clone();
    assert_eq!(items[0]["type"], "reasoning");
    assert_eq!(items[1]["arguments"], r#"{"cmd":"ls"}"#);
    let last = stage.json(PATH, &back(body.clone(), &items)).await;
    assert_eq!(last["output"][1]["content"][0]["text"], "The tool said: done");
    let (status, refusal) = stage.refused(PATH, &back(body.clone(), &items[1..])).await;
    assert_eq!(status, 400);
    assert!(refusal["error"]["message"].as_str().unwrap().contains("missing encrypted_content"));
    let mut changed = items.clone();
    changed[0]["encrypted_content"] = "AAAA".into();
    assert_eq!(stage.refused(PATH, &back(body, &changed)).await.0, 400);
}

#[tokio::test]
async fn every_event_is_numbered_and_the_last_one_has_all() {
    let stage = Stage::open().await;
    let mut body = ask("[[shell ls]] [[say now then]] [[usage input=10 output=4 reasoning=2]]");
    body["stream"] = true.into();
    let events = stage.events(PATH, &body).await;
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.json()["sequence_number"], at);
        assert_eq!(event.json()["type"], event.name.as_str());
    }
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    for name in [
        "response.created",
        "response.in_progress",
        "response.reasoning_summary_text.delta",
        "response.content_part.added",
        "response.output_text.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    let last = events.last().unwrap().json();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["usage"]["output_tokens_details"]["reasoning_tokens"], 2);
    assert_eq!(last["response"]["output"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn tools_in_namespaces_and_cells_of_code_are_called() {
    let stage = Stage::open().await;
    let mut body = ask("[[shell echo hi]]");
    let exec = json!({"type": "custom", "name": "exec", "format": {"type": "grammar"}});
    let tools = json!([{"type": "namespace", "name": "functions", "tools": [exec]}]);
    let item = json!({"type": "additional_tools", "role": "developer", "tools": tools});
    body["input"].as_array_mut().unwrap().insert(0, item);
    body.as_object_mut().unwrap().remove("tools");
    let answer = stage.json(PATH, &body).await;
    let items = answer["output"].as_array().unwrap().clone();
    assert_eq!(items[1]["type"], "custom_tool_call");
    assert_eq!(items[1]["namespace"], "functions");
    let last = stage.json(PATH, &back(body.clone(), &items)).await;
    assert_eq!(last["output"][1]["content"][0]["text"], "The tool said: done");

    body["tools"] = json!([{"type": "local_shell"}]);
    body["input"].as_array_mut().unwrap().remove(0);
    let answer = stage.json(PATH, &body).await;
    assert_eq!(answer["output"][1]["type"], "local_shell_call");
    assert_eq!(answer["output"][1]["action"]["command"][2], "echo hi");
}

#[tokio::test]
async fn a_socket_is_refused_so_that_clients_go_on() {
    let stage = Stage::open().await;
    let response = stage.client.get(stage.url(PATH)).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 426);
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_incomplete() {
    let mut body = ask("[[words 30]]");
    body["max_output_tokens"] = 3.into();
    let answer = Stage::open().await.json(PATH, &body).await;
    assert_eq!(answer["status"], "incomplete");
    assert_eq!(answer["incomplete_details"]["reason"], "max_output_tokens");
}
