//! Writes a request to Responses.

use std::collections::HashSet;

use super::super::ir::{Choice, Fault, Format, Item, Outcome, Part, Prompt, Tool};
use super::super::json::{Json, lean, object};
use super::super::names::{Ids, Names};
use super::super::{Ask, Thinks, schema};
use crate::Dialect;

/// Writes a request.
pub(crate) fn write_request(ask: &Ask<'_>, prompt: &Prompt, names: &Names) -> Result<Json, Fault> {
    let mut input = Input { names, ids: Ids::new(Dialect::Responses), custom: HashSet::new() };
    let input: Vec<Json> = prompt.items.iter().map(|item| input.item(item)).collect();
    let tools: Vec<Json> =
        prompt.offered().into_iter().map(|tool| write_tool(tool, names)).collect();
    let has_tools = !tools.is_empty();
    let thinks = ask.thinks != Thinks::Never;
    let system = (!prompt.system.is_empty()).then(|| prompt.system.join("\n\n"));
    let format = prompt.format.as_ref().map(write_format);
    let text = lean! { "format" => format, "verbosity" => prompt.verbosity.as_ref() };
    Ok(lean! {
        "model" => ask.model,
        "instructions" => system,
        "input" => input,
        "tools" => has_tools.then_some(tools),
        "tool_choice" => has_tools.then(|| choice(prompt, names)),
        "parallel_tool_calls" => prompt.parallel.filter(|_| has_tools),
        "max_output_tokens" => prompt.max_output.map(|max| max.max(16)),
        "reasoning" => reasoning(prompt).filter(|_| thinks),
        "text" => (!text.entries().is_empty()).then_some(text),
        "temperature" => prompt.temperature.clone(),
        "top_p" => prompt.top_p.clone(),
        "safety_identifier" => prompt.short_user(),
        "prompt_cache_key" => prompt.cache_key.as_ref(),
        "store" => false,
        // Only a model that thinks knows of this.
        "include" => thinks.then(|| vec!["reasoning.encrypted_content"]),
        "stream" => ask.stream,
    })
}

fn reasoning(prompt: &Prompt) -> Option<Json> {
    let summary = prompt.thinking.is_on().then_some("auto");
    let reasoning = lean! { "effort" => prompt.thinking.effort(), "summary" => summary };
    (!reasoning.entries().is_empty()).then_some(reasoning)
}

/// The items of a conversation as they are told.
struct Input<'a> {
    names: &'a Names,
    ids: Ids,
    /// Calls of custom tools, whose results have a type of their own.
    custom: HashSet<&'a str>,
}

impl<'a> Input<'a> {
    fn item(&mut self, item: &'a Item) -> Json {
        match item {
            Item::System(text) => message("developer", vec![input_text(text)]),
            Item::User(parts) => message("user", parts.iter().map(part).collect()),
            Item::Model(text) => {
                object! { "type" => "message", "role" => "assistant", "content" => text }
            }
            Item::Thought(own) => own.clone(),
            Item::Call(call) => {
                let (id, name) = (self.ids.call(&call.id), self.names.upstream(&call.tool));
                if call.tool.custom {
                    self.custom.insert(&call.id);
                    return object! {
                        "type" => "custom_tool_call", "call_id" => id, "name" => name,
                        "input" => &call.input,
                    };
                }
                object! {
                    "type" => "function_call", "call_id" => id, "name" => name,
                    "arguments" => call.text(),
                }
            }
            Item::Result(result) => {
                let custom = self.custom.contains(result.call.as_str());
                let kind = if custom { "custom_tool_call_output" } else { "function_call_output" };
                let id = self.ids.result(&result.call);
                object! { "type" => kind, "call_id" => id, "output" => output(result) }
            }
        }
    }
}

fn output(result: &Outcome) -> Json {
    if result.images().next().is_none() {
        return result.plain_text().into();
    }
    Json::List(result.parts.iter().map(part).collect())
}

fn message(role: &str, content: Vec<Json>) -> Json {
    object! { "type" => "message", "role" => role, "content" => content }
}

fn input_text(text: &str) -> Json {
    object! { "type" => "input_text", "text" => text }
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => input_text(text),
        Part::Image(image) => object! {
            "type" => "input_image", "image_url" => image.to_url(), "detail" => "auto",
        },
    }
}

fn write_tool(tool: &Tool, names: &Names) -> Json {
    let (name, description) = (names.upstream(&tool.tool), tool.description.as_ref());
    if tool.tool.custom {
        let format = tool.grammar.as_ref().map(custom_format);
        return lean! {
            "type" => "custom", "name" => name, "description" => description, "format" => format,
        };
    }
    lean! {
        "type" => "function",
        "name" => name,
        "description" => description,
        "parameters" => schema::of_object(tool.schema.as_ref()),
        // Here it would be true if nothing were said.
        "strict" => tool.strict.unwrap_or(false),
    }
}

/// Chat nests the definition of a grammar one deeper.
fn custom_format(format: &Json) -> Json {
    let Some(inner) = format.get("grammar") else { return format.clone() };
    lean! {
        "type" => "grammar",
        "syntax" => inner.get("syntax"),
        "definition" => inner.get("definition"),
    }
}

fn choice(prompt: &Prompt, names: &Names) -> Json {
    let Some(choice) = &prompt.choice else { return Json::Null };
    match choice {
        Choice::Auto | Choice::Some { must: false, .. } => "auto".into(),
        Choice::None => "none".into(),
        Choice::Any | Choice::Some { must: true, .. } => "required".into(),
        Choice::Tool(name) => {
            let custom =
                prompt.tools.iter().any(|tool| tool.tool.custom && tool.tool.name == *name);
            let kind = if custom { "custom" } else { "function" };
            object! { "type" => kind, "name" => names.by_name(name) }
        }
    }
}

fn write_format(format: &Format) -> Json {
    match format {
        Format::Json => object! { "type" => "json_object" },
        Format::Schema { name, schema, strict } => lean! {
            "type" => "json_schema",
            "name" => name.as_deref().unwrap_or("answer"),
            "schema" => schema,
            "strict" => strict.unwrap_or_else(|| schema::is_strict(schema)),
        },
    }
}
