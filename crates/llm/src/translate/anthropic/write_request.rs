//! Writes a request to Messages.

use std::collections::BTreeSet;
use std::mem::take;

use super::super::input::{custom_description, custom_schema};
use super::super::ir::{Choice, Fault, Format, Image, Item, Part, Prompt, Thinking, Tool};
use super::super::json::{Json, lean, object};
use super::super::names::{Ids, Names};
use super::super::{Ask, CONTINUE, DEFAULT_MAX_OUTPUT, Thinks, schema};
use crate::Dialect;

/// The fewest tokens that the model may be told to think.
const BUDGET_MIN: u64 = 1024;

/// What stands for JSON output without a schema.
const JSON_ONLY: &str = "Answer with one JSON object and nothing else.";

/// Writes a request; tells also whether the model thinks.
pub(crate) fn write_request(
    ask: &Ask<'_>,
    prompt: &Prompt,
    names: &Names,
) -> Result<(Json, bool), Fault> {
    let max_tokens = prompt.max_output.unwrap_or(match ask.max_output {
        0 => DEFAULT_MAX_OUTPUT,
        limit => limit,
    });
    let thought = thought(ask, prompt, max_tokens);
    let thinks = thought.is_some();
    let mut system: Vec<String> =
        prompt.system.iter().filter(|told| !told.trim().is_empty()).cloned().collect();
    if prompt.format == Some(Format::Json) {
        system.push(JSON_ONLY.to_owned());
    }
    let mut messages = Messages::new(names, thinks).all(&prompt.items);
    if messages.is_empty() {
        // It wants at least one message of the user's.
        let told = if system.is_empty() { vec![CONTINUE.to_owned()] } else { take(&mut system) };
        messages.push(message("user", told.into_iter().map(text).collect()));
    }
    mark(messages.iter_mut().rev().find(|message| message.text("role") == Some("user")));
    let mut tools = tools(prompt, names);
    let mut system: Vec<Json> = system.into_iter().map(text).collect();
    mark_last(if system.is_empty() { &mut tools } else { &mut system });
    let choice = (!tools.is_empty()).then(|| choice(prompt, names));
    // While it thinks, it takes no such settings.
    let free = |number: &Option<serde_json::Number>| number.clone().filter(|_| !thinks);
    let body = lean! {
        "model" => ask.model,
        "max_tokens" => max_tokens,
        "system" => (!system.is_empty()).then_some(system),
        "messages" => messages,
        "tools" => (!tools.is_empty()).then_some(tools),
        "tool_choice" => choice,
        "thinking" => thought,
        "output_config" => config(ask, prompt, thinks),
        "stop_sequences" => (!prompt.stop.is_empty()).then(|| prompt.stop.clone()),
        "temperature" => free(&prompt.temperature).map(at_most_one),
        "top_p" => free(&prompt.top_p).filter(|_| prompt.temperature.is_none()),
        "top_k" => free(&prompt.top_k),
        "metadata" => user(prompt),
        "stream" => ask.stream,
    };
    Ok((body, thinks))
}

/// OpenAI and Gemini go up to two.
fn at_most_one(number: serde_json::Number) -> serde_json::Number {
    if number.as_f64().is_some_and(|value| value > 1.0) { 1.into() } else { number }
}

fn user(prompt: &Prompt) -> Option<Json> {
    let user = prompt.user.as_ref().filter(|user| user.len() <= 256)?;
    Some(object! { "user_id" => user })
}

/// Returns how it is told to think, if at all.
fn thought(ask: &Ask<'_>, prompt: &Prompt, max_tokens: u64) -> Option<Json> {
    let forced = matches!(
        prompt.choice,
        Some(Choice::Any | Choice::Tool(_) | Choice::Some { must: true, .. })
    );
    if forced || !prompt.thinking.is_on() {
        return None;
    }
    match ask.thinks {
        Thinks::Never => None,
        Thinks::Level => Some(object! { "type" => "adaptive" }),
        // It demands the thoughts of the turn that goes on.
        Thinks::Budget if prompt.lost => None,
        Thinks::Budget => {
            let wanted = match prompt.thinking {
                Thinking::Budget(tokens) => tokens.max(BUDGET_MIN),
                Thinking::Effort(level) => level.budget(),
                Thinking::Auto | Thinking::Off | Thinking::Unsaid => {
                    super::super::ir::Effort::Medium.budget()
                }
            };
            // Something must be left for the answer.
            let budget = wanted.min(max_tokens / 4 * 3);
            (budget >= BUDGET_MIN)
                .then(|| object! { "type" => "enabled", "budget_tokens" => budget })
        }
    }
}

fn config(ask: &Ask<'_>, prompt: &Prompt, thinks: bool) -> Option<Json> {
    let format = match &prompt.format {
        Some(Format::Schema { schema, .. }) => {
            Some(object! { "type" => "json_schema", "schema" => schema::closed(schema) })
        }
        _ => None,
    };
    let effort = (thinks && ask.thinks == Thinks::Level).then(|| prompt.thinking.effort());
    let config = lean! { "effort" => effort.flatten(), "format" => format };
    (!config.entries().is_empty()).then_some(config)
}

fn tools(prompt: &Prompt, names: &Names) -> Vec<Json> {
    let tools: Vec<Json> =
        prompt.offered().into_iter().map(|tool| write_tool(tool, names)).collect();
    if !tools.is_empty() {
        return tools;
    }
    // A history with calls needs tools, though none may be called now.
    let called = prompt.items.iter().filter_map(|item| match item {
        Item::Call(call) => Some(names.upstream(&call.tool)),
        _ => None,
    });
    let known: BTreeSet<String> = called.collect();
    let bare = |name: String| object! { "name" => name, "input_schema" => schema::of_object(None) };
    known.into_iter().map(bare).collect()
}

fn write_tool(tool: &Tool, names: &Names) -> Json {
    let name = names.upstream(&tool.tool);
    let (description, schema) = if tool.tool.custom {
        let text = custom_description(tool.description.as_deref(), tool.grammar.as_ref());
        (Some(text), custom_schema())
    } else {
        (tool.description.clone(), schema::of_object(tool.schema.as_ref()))
    };
    lean! { "name" => name, "description" => description, "input_schema" => schema }
}

fn choice(prompt: &Prompt, names: &Names) -> Json {
    if prompt.offered().is_empty() {
        return object! { "type" => "none" };
    }
    let serial = (prompt.parallel == Some(false)).then_some(true);
    let mut choice = match &prompt.choice {
        None if serial.is_none() => return Json::Null,
        Some(Choice::None) => return object! { "type" => "none" },
        None | Some(Choice::Auto | Choice::Some { must: false, .. }) => {
            object! { "type" => "auto" }
        }
        Some(Choice::Any | Choice::Some { must: true, .. }) => object! { "type" => "any" },
        Some(Choice::Tool(name)) => object! { "type" => "tool", "name" => names.by_name(name) },
    };
    choice.put("disable_parallel_tool_use", serial);
    choice
}

/// Messages as they are made of a conversation: the two sides take turns.
struct Messages<'a> {
    names: &'a Names,
    thinks: bool,
    ids: Ids,
    done: Vec<Json>,
    model: Vec<Json>,
    results: Vec<Json>,
    user: Vec<Json>,
}

impl<'a> Messages<'a> {
    fn new(names: &'a Names, thinks: bool) -> Self {
        let ids = Ids::new(Dialect::Anthropic);
        let (done, model, results, user) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { names, thinks, ids, done, model, results, user }
    }

    fn all(mut self, items: &[Item]) -> Vec<Json> {
        for item in items {
            if item.is_models() {
                self.close_user();
            } else {
                self.close_model();
            }
            self.item(item);
        }
        if let Some(Item::Model(said)) = items.last() {
            // It refuses white space at the end of words that it is to continue.
            self.model.pop();
            self.model.extend(visible(said.trim_end()));
        }
        self.close_model();
        self.close_user();
        let from_model = |message: &Json| message.text("role") == Some("assistant");
        if self.done.first().is_some_and(from_model) {
            self.done.insert(0, message("user", vec![text(CONTINUE.to_owned())]));
        }
        self.done
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::System(told) => self.user.extend(visible(told)),
            Item::User(parts) => self.user.extend(parts.iter().filter_map(part)),
            Item::Model(said) => self.model.extend(visible(said)),
            Item::Thought(own) if self.thinks => self.model.push(own.clone()),
            Item::Thought(_) => {}
            Item::Call(call) => self.model.push(object! {
                "type" => "tool_use",
                "id" => self.ids.call(&call.id),
                "name" => self.names.upstream(&call.tool),
                "input" => call.object(),
            }),
            Item::Result(result) => {
                let parts: Vec<Json> = result.parts.iter().filter_map(part).collect();
                self.results.push(lean! {
                    "type" => "tool_result",
                    "tool_use_id" => self.ids.result(&result.call),
                    "content" => (!parts.is_empty()).then_some(parts),
                    "is_error" => result.failed.then_some(true),
                });
            }
        }
    }

    fn close_model(&mut self) {
        if !self.model.is_empty() {
            self.done.push(message("assistant", take(&mut self.model)));
        }
    }

    fn close_user(&mut self) {
        // Results must come before all else.
        let mut blocks = take(&mut self.results);
        blocks.append(&mut self.user);
        if !blocks.is_empty() {
            self.done.push(message("user", blocks));
        }
    }
}

fn message(role: &str, content: Vec<Json>) -> Json {
    object! { "role" => role, "content" => content }
}

fn text(text: String) -> Json {
    object! { "type" => "text", "text" => text }
}

/// It refuses texts without anything to see.
fn visible(said: &str) -> Option<Json> {
    (!said.trim().is_empty()).then(|| text(said.to_owned()))
}

fn part(part: &Part) -> Option<Json> {
    match part {
        Part::Text(said) => visible(said),
        Part::Image(image) => {
            let source = match image {
                Image::Data { mime, data } => {
                    object! { "type" => "base64", "media_type" => mime, "data" => data }
                }
                Image::Url(url) => object! { "type" => "url", "url" => url },
            };
            Some(object! { "type" => "image", "source" => source })
        }
    }
}

/// Marks the last block of a message as the end of what is worth caching.
fn mark(message: Option<&mut Json>) {
    if let Some(Json::List(blocks)) = message.and_then(|message| message.get_mut("content")) {
        mark_last(blocks);
    }
}

fn mark_last(blocks: &mut [Json]) {
    if let Some(block) = blocks.last_mut() {
        block.put("cache_control", object! { "type" => "ephemeral" });
    }
}
