//! Reads each dialect independently of the code under test, as a client or provider would.

use std::collections::HashMap;

use godel_llm::Dialect;
use serde_json::{Value, json};

/// Lists what a request says, one line for each thing, in order.
pub(super) fn request(dialect: Dialect, body: &Value) -> Vec<String> {
    match dialect {
        Dialect::Chat => chat_request(body),
        Dialect::Responses => responses_request(body),
        Dialect::Anthropic => anthropic_request(body),
        Dialect::Gemini => gemini_request(body),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn call(id: &Value, name: &Value, input: &Value) -> String {
    format!("call {} {} {input}", text(id), text(name))
}

fn parsed(arguments: &Value) -> Value {
    serde_json::from_str(text(arguments)).unwrap()
}

fn chat_request(body: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    for message in list(&body["messages"]) {
        let role = text(&message["role"]);
        match (role, &message["content"]) {
            ("tool", content) => {
                facts.push(format!("result {} {}", text(&message["tool_call_id"]), text(content)));
            }
            (role, Value::String(content)) => facts.push(format!("{role} {content}")),
            (role, parts) => {
                for part in list(parts) {
                    facts.push(match text(&part["type"]) {
                        "text" => format!("{role} {}", text(&part["text"])),
                        _ => format!("image {}", text(&part["image_url"]["url"])),
                    });
                }
            }
        }
        for each in list(&message["tool_calls"]) {
            let function = &each["function"];
            let input = parsed(&function["arguments"]);
            facts.push(call(&each["id"], &function["name"], &input));
        }
    }
    for tool in list(&body["tools"]) {
        let tool = &tool["function"];
        facts.push(format!("tool {} {}", text(&tool["name"]), tool["parameters"]));
    }
    facts.push(format!("schema {}", body["response_format"]["json_schema"]["schema"]));
    facts.push(format!("max {}", body["max_completion_tokens"]));
    facts
}

fn responses_request(body: &Value) -> Vec<String> {
    let mut facts = vec![format!("system {}", text(&body["instructions"]))];
    for item in list(&body["input"]) {
        match text(&item["type"]) {
            "message" if item["content"].is_string() => {
                facts.push(format!("{} {}", text(&item["role"]), text(&item["content"])));
            }
            "message" => {
                for part in list(&item["content"]) {
                    facts.push(match text(&part["type"]) {
                        "input_image" => format!("image {}", text(&part["image_url"])),
                        _ => format!("{} {}", text(&item["role"]), text(&part["text"])),
                    });
                }
            }
            "function_call" => {
                facts.push(call(&item["call_id"], &item["name"], &parsed(&item["arguments"])));
            }
            "function_call_output" => {
                let output = text(&item["output"]);
                facts.push(format!("result {} {output}", text(&item["call_id"])));
            }
            other => facts.push(other.to_owned()),
        }
    }
    for tool in list(&body["tools"]) {
        facts.push(format!("tool {} {}", text(&tool["name"]), tool["parameters"]));
    }
    facts.push(format!("schema {}", body["text"]["format"]["schema"]));
    facts.push(format!("max {}", body["max_output_tokens"]));
    facts
}

fn anthropic_request(body: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    for block in list(&body["system"]) {
        facts.push(format!("system {}", text(&block["text"])));
    }
    for message in list(&body["messages"]) {
        for block in list(&message["content"]) {
            facts.push(match text(&block["type"]) {
                "text" => format!("{} {}", text(&message["role"]), text(&block["text"])),
                "image" => {
                    let source = &block["source"];
                    let mime = text(&source["media_type"]);
                    format!("image data:{mime};base64,{}", text(&source["data"]))
                }
                "tool_use" => call(&block["id"], &block["name"], &block["input"]),
                "tool_result" => {
                    let content = text(&block["content"][0]["text"]);
                    format!("result {} {content}", text(&block["tool_use_id"]))
                }
                other => other.to_owned(),
            });
        }
    }
    for tool in list(&body["tools"]) {
        facts.push(format!("tool {} {}", text(&tool["name"]), tool["input_schema"]));
    }
    facts.push(format!("schema {}", body["output_config"]["format"]["schema"]));
    facts.push(format!("max {}", body["max_tokens"]));
    facts
}

fn gemini_request(body: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    for part in list(&body["systemInstruction"]["parts"]) {
        facts.push(format!("system {}", text(&part["text"])));
    }
    for content in list(&body["contents"]) {
        let role = text(&content["role"]).replace("model", "assistant");
        for part in list(&content["parts"]) {
            if let Some(said) = part["text"].as_str() {
                facts.push(format!("{role} {said}"));
            } else if let Some(data) = part["inlineData"].as_object() {
                let (mime, data) = (text(&data["mimeType"]), text(&data["data"]));
                facts.push(format!("image data:{mime};base64,{data}"));
            } else if part["functionCall"].is_object() {
                let function = &part["functionCall"];
                facts.push(call(&function["id"], &function["name"], &function["args"]));
            } else {
                let function = &part["functionResponse"];
                let output = text(&function["response"]["output"]);
                assert!(function["name"].is_string());
                facts.push(format!("result {} {output}", text(&function["id"])));
            }
        }
    }
    for tool in list(&body["tools"][0]["functionDeclarations"]) {
        facts.push(format!("tool {} {}", text(&tool["name"]), tool["parametersJsonSchema"]));
    }
    let config = &body["generationConfig"];
    assert_eq!(config["responseMimeType"], "application/json");
    facts.push(format!("schema {}", config["responseJsonSchema"]));
    facts.push(format!("max {}", config["maxOutputTokens"]));
    facts
}

/// Lists what a whole reply says.
pub(super) fn reply(dialect: Dialect, body: &Value) -> Vec<String> {
    match dialect {
        Dialect::Chat => {
            let choice = &body["choices"][0];
            let message = &choice["message"];
            let mut facts = vec![
                format!("thought {}", text(&message["reasoning_content"])),
                format!("text {}", text(&message["content"])),
            ];
            for each in list(&message["tool_calls"]) {
                let function = &each["function"];
                let input = parsed(&function["arguments"]);
                facts.push(call(&each["id"], &function["name"], &input));
            }
            facts.push(format!("stop {}", text(&choice["finish_reason"])));
            facts.push(usage(dialect, &body["usage"]));
            facts
        }
        Dialect::Responses => {
            let mut facts: Vec<String> = list(&body["output"]).iter().map(item).collect();
            facts.push(format!("stop {}", text(&body["status"])));
            facts.push(usage(dialect, &body["usage"]));
            facts
        }
        Dialect::Anthropic => {
            let block = |block: &Value| match text(&block["type"]) {
                "thinking" => {
                    assert!(!text(&block["signature"]).is_empty());
                    format!("thought {}", text(&block["thinking"]))
                }
                "text" => format!("text {}", text(&block["text"])),
                _ => call(&block["id"], &block["name"], &block["input"]),
            };
            let mut facts: Vec<String> = list(&body["content"]).iter().map(block).collect();
            facts.push(format!("stop {}", text(&body["stop_reason"])));
            facts.push(usage(dialect, &body["usage"]));
            facts
        }
        Dialect::Gemini => {
            let candidate = &body["candidates"][0];
            let parts = list(&candidate["content"]["parts"]);
            let mut facts: Vec<String> = parts.iter().map(part).collect();
            facts.push(format!("stop {}", text(&candidate["finishReason"])));
            facts.push(usage(dialect, &body["usageMetadata"]));
            facts
        }
    }
}

fn item(item: &Value) -> String {
    match text(&item["type"]) {
        "reasoning" => format!("thought {}", text(&item["summary"][0]["text"])),
        "message" => format!("text {}", text(&item["content"][0]["text"])),
        _ => call(&item["call_id"], &item["name"], &parsed(&item["arguments"])),
    }
}

fn part(part: &Value) -> String {
    if part["functionCall"].is_object() {
        let function = &part["functionCall"];
        return call(&function["id"], &function["name"], &function["args"]);
    }
    let kind = if part["thought"] == true { "thought" } else { "text" };
    format!("{kind} {}", text(&part["text"]))
}

/// The input, the part of it that was cached, the output, and the part of it that was thought.
fn usage(dialect: Dialect, usage: &Value) -> String {
    let count = |key: &str| usage.pointer(key).and_then(Value::as_u64).unwrap_or(0);
    let (input, cached, output, thought) = match dialect {
        Dialect::Chat => (
            count("/prompt_tokens"),
            count("/prompt_tokens_details/cached_tokens"),
            count("/completion_tokens"),
            count("/completion_tokens_details/reasoning_tokens"),
        ),
        Dialect::Responses => (
            count("/input_tokens"),
            count("/input_tokens_details/cached_tokens"),
            count("/output_tokens"),
            count("/output_tokens_details/reasoning_tokens"),
        ),
        Dialect::Anthropic => {
            let cached = count("/cache_read_input_tokens");
            let thought = count("/output_tokens_details/thinking_tokens");
            (count("/input_tokens") + cached, cached, count("/output_tokens"), thought)
        }
        Dialect::Gemini => {
            let thought = count("/thoughtsTokenCount");
            let output = count("/candidatesTokenCount") + thought;
            (count("/promptTokenCount"), count("/cachedContentTokenCount"), output, thought)
        }
    };
    format!("usage {input} {cached} {output} {thought}")
}

/// Splits a stream into its events; the name must be that of the data.
pub(super) fn events(dialect: Dialect, stream: &[u8]) -> Vec<Value> {
    let stream = std::str::from_utf8(stream).unwrap();
    let mut events = Vec::new();
    for frame in stream.split_terminator("\n\n") {
        let named = matches!(dialect, Dialect::Anthropic | Dialect::Responses);
        let (name, data) = match frame.split_once('\n') {
            Some((name, data)) if named => (name.strip_prefix("event: "), data),
            None if !named => (None, frame),
            _ => panic!("not a frame of {dialect}: {frame}"),
        };
        let data = data.strip_prefix("data: ").unwrap();
        if data == "[DONE]" {
            events.push(json!("done"));
            continue;
        }
        let data: Value = serde_json::from_str(data).unwrap();
        assert!(name.is_none_or(|name| data["type"] == name));
        events.push(data);
    }
    events
}

/// Lists what a stream says, and checks that its events come in the order that clients rely on.
pub(super) fn stream(dialect: Dialect, stream: &[u8]) -> Vec<String> {
    let events = events(dialect, stream);
    match dialect {
        Dialect::Chat => chat_stream(&events),
        Dialect::Responses => responses_stream(&events),
        Dialect::Anthropic => anthropic_stream(&events),
        Dialect::Gemini => gemini_stream(&events),
    }
}

fn chat_stream(events: &[Value]) -> Vec<String> {
    assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(events.last(), Some(&json!("done")));
    let (mut thought, mut said, mut calls) = (String::new(), String::new(), Vec::new());
    let (mut reason, mut used) = (Value::Null, Value::Null);
    for event in &events[..events.len() - 1] {
        assert_eq!(event["object"], "chat.completion.chunk");
        let choice = &event["choices"][0];
        if choice.is_null() {
            used = event["usage"].clone();
            continue;
        }
        assert!(reason.is_null(), "nothing but usage follows the reason");
        reason = choice["finish_reason"].clone();
        let delta = &choice["delta"];
        thought += delta["reasoning_content"].as_str().unwrap_or_default();
        said += delta["content"].as_str().unwrap_or_default();
        for piece in list(&delta["tool_calls"]) {
            let index = usize::try_from(piece["index"].as_u64().unwrap()).unwrap();
            let function = &piece["function"];
            if index == calls.len() {
                assert_eq!(piece["type"], "function");
                calls.push((piece["id"].clone(), function["name"].clone(), String::new()));
            }
            calls[index].2 += text(&function["arguments"]);
        }
    }
    let mut facts = vec![format!("thought {thought}"), format!("text {said}")];
    for (id, name, input) in calls {
        facts.push(call(&id, &name, &parsed(&json!(input))));
    }
    facts.push(format!("stop {}", text(&reason)));
    facts.push(usage(Dialect::Chat, &used));
    facts
}

fn responses_stream(events: &[Value]) -> Vec<String> {
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], json!(number));
    }
    assert_eq!(events[0]["type"], "response.created");
    assert_eq!(events[1]["type"], "response.in_progress");
    // Every item is added, told piece by piece, and done, before the next.
    let mut texts: HashMap<u64, String> = HashMap::new();
    let (mut open, mut done) = (None, Vec::new());
    for event in &events[2..events.len() - 1] {
        let index = event["output_index"].as_u64().unwrap();
        assert_eq!(index, done.len() as u64);
        match text(&event["type"]) {
            "response.output_item.added" => {
                assert_eq!(open, None);
                open = Some(index);
            }
            "response.output_item.done" => {
                assert_eq!(open.take(), Some(index));
                done.push(event["item"].clone());
            }
            name => {
                assert_eq!(open, Some(index));
                if name.ends_with(".delta") {
                    *texts.entry(index).or_default() += text(&event["delta"]);
                }
            }
        }
    }
    let end = &events.last().unwrap()["response"];
    assert_eq!(json!(done), end["output"]);
    for (index, item) in done.iter().enumerate() {
        let whole = [&item["summary"][0]["text"], &item["content"][0]["text"], &item["arguments"]];
        let whole = whole.into_iter().find_map(Value::as_str);
        assert_eq!(whole, texts.get(&(index as u64)).map(String::as_str));
    }
    reply(Dialect::Responses, end)
}

fn anthropic_stream(events: &[Value]) -> Vec<String> {
    assert_eq!(events[0]["type"], "message_start");
    let mut message = events[0]["message"].clone();
    let (mut index, mut open) = (0, false);
    let mut input = String::new();
    for event in &events[1..events.len() - 2] {
        assert_eq!(event["index"], index);
        let blocks = message["content"].as_array_mut().unwrap();
        match text(&event["type"]) {
            "content_block_start" => {
                assert!(!std::mem::replace(&mut open, true));
                blocks.push(event["content_block"].clone());
            }
            "content_block_stop" => {
                assert!(std::mem::take(&mut open));
                let block = blocks.last_mut().unwrap();
                if block["type"] == "tool_use" {
                    block["input"] = serde_json::from_str(&std::mem::take(&mut input)).unwrap();
                }
                index += 1;
            }
            _ => {
                assert!(open);
                let (delta, block) = (&event["delta"], blocks.last_mut().unwrap());
                for key in ["text", "thinking", "signature"] {
                    if let Some(more) = delta[key].as_str() {
                        block[key] = json!(format!("{}{more}", text(&block[key])));
                    }
                }
                input += delta["partial_json"].as_str().unwrap_or_default();
            }
        }
    }
    assert!(!open);
    let end = &events[events.len() - 2];
    assert_eq!(end["type"], "message_delta");
    assert_eq!(events[events.len() - 1]["type"], "message_stop");
    message["stop_reason"] = end["delta"]["stop_reason"].clone();
    message["usage"] = end["usage"].clone();
    reply(Dialect::Anthropic, &message)
}

fn gemini_stream(events: &[Value]) -> Vec<String> {
    let mut parts: Vec<Value> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let last = number + 1 == events.len();
        assert_eq!(event["candidates"][0]["finishReason"].is_string(), last);
        for part in list(&event["candidates"][0]["content"]["parts"]) {
            let same = |other: &Value| {
                other["text"].is_string()
                    && part["text"].is_string()
                    && other["thought"] == part["thought"]
            };
            match parts.last_mut() {
                Some(open) if same(open) => {
                    open["text"] = json!(format!("{}{}", text(&open["text"]), text(&part["text"])));
                }
                _ if part["text"] == "" => {}
                _ => parts.push(part.clone()),
            }
        }
    }
    let mut whole = events.last().unwrap().clone();
    whole["candidates"][0]["content"]["parts"] = json!(parts);
    reply(Dialect::Gemini, &whole)
}
