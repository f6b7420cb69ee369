//! Reading a request in the Responses dialect.

use serde_json::{Value, json};

use super::super::{chat, image_at, text_of};
use crate::ask::{Answered, Ask, Called, Seal, Think, Tool, ToolKind, Turn};

/// Reads a request.
pub(in crate::dialect) fn read(mut ask: Ask, body: &Value) -> Result<Ask, String> {
    let input = &body["input"];
    if !input.is_string() && !input.is_array() {
        return Err("Missing required parameter: 'input'.".to_owned());
    }
    let items: &[Value] = input.as_array().map_or(&[], Vec::as_slice);
    let own = body["tools"].as_array().into_iter().flatten();
    let further = items.iter().filter(|item| item["type"] == "additional_tools");
    let further = further.flat_map(|item| item["tools"].as_array().into_iter().flatten());
    ask.tools = own.chain(further).flat_map(|tool| tools(tool, None)).collect();
    ask.choice = chat::choice(&body["tool_choice"]);
    ask.parallel = body["parallel_tool_calls"] != false;
    let format = &body["text"]["format"];
    ask.schema = match format["type"].as_str() {
        Some("json_schema") => Some(format["schema"].clone()),
        Some("json_object") => Some(json!({"properties": {"answer": {}}})),
        _ => None,
    };
    ask.max_tokens = body["max_output_tokens"].as_u64();
    let included = body["include"].as_array().into_iter().flatten();
    ask.sealed = included.into_iter().any(|name| name == "reasoning.encrypted_content");
    let reasons = body["reasoning"].is_object();
    ask.think = if reasons { Think::Shown } else { Think::Quiet };
    let turns = match input.as_str() {
        Some(said) => vec![Turn::User { text: said.to_owned(), images: Vec::new() }],
        None => items.iter().filter_map(turn).fold(Vec::new(), joined),
    };
    Ok(ask.settle(turns))
}

/// A tool, or the tools of a namespace.
fn tools(tool: &Value, namespace: Option<&str>) -> Vec<Tool> {
    let name = tool["name"].as_str();
    let kind = match tool["type"].as_str() {
        Some("function") => ToolKind::Function,
        Some("custom") => ToolKind::Custom,
        Some("local_shell") => ToolKind::LocalShell,
        Some("namespace") => {
            let inner = tool["tools"].as_array().into_iter().flatten();
            return inner.flat_map(|tool| tools(tool, name)).collect();
        }
        // Searching and drawing are done by the provider itself.
        _ => return Vec::new(),
    };
    vec![Tool {
        name: name.unwrap_or("local_shell").to_owned(),
        namespace: namespace.map(str::to_owned),
        kind,
        schema: tool["parameters"].clone(),
    }]
}

fn turn(item: &Value) -> Option<Turn> {
    let field = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let model = |calls, seals| Some(Turn::Model { calls, seals });
    match (item["type"].as_str(), item["role"].as_str()) {
        (None | Some("message"), Some("user")) => {
            let content = &item["content"];
            let parts = content.as_array().into_iter().flatten();
            let images = parts.filter_map(|part| part["image_url"].as_str()).map(image_at);
            Some(Turn::User { text: text_of(content), images: images.collect() })
        }
        (None | Some("message"), Some("assistant")) => model(Vec::new(), Vec::new()),
        (Some("reasoning"), _) => {
            let seal = item["encrypted_content"].as_str();
            let seals = seal.map(|seal| Seal { seal: seal.to_owned(), covers: String::new() });
            model(Vec::new(), seals.into_iter().collect())
        }
        (Some("function_call" | "custom_tool_call" | "local_shell_call"), _) => {
            let id = field("call_id");
            model(vec![Called { key: id.clone(), id }], Vec::new())
        }
        (
            Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output"),
            _,
        ) => {
            let text = text_of(&item["output"]);
            Some(Turn::Results(vec![Answered { id: field("call_id"), text }]))
        }
        _ => None,
    }
}

/// Joins neighbouring items of one turn: each is an item of its own here.
fn joined(mut turns: Vec<Turn>, next: Turn) -> Vec<Turn> {
    match (turns.last_mut(), next) {
        (Some(Turn::Model { calls, seals }), Turn::Model { calls: more, seals: further }) => {
            calls.extend(more);
            seals.extend(further);
            turns
        }
        (_, next) => chat::joined(turns, next),
    }
}
