//! Writes a request to Chat Completions.

use super::super::input::{custom_description, custom_schema};
use super::super::ir::{Choice, Fault, Format, Image, Item, Outcome, Part, Prompt, Tool};
use super::super::json::{Json, lean, object};
use super::super::names::{Ids, Names};
use super::super::{Ask, Thinks, schema};

/// Writes a request.
pub(crate) fn write_request(ask: &Ask<'_>, prompt: &Prompt, names: &Names) -> Result<Json, Fault> {
    let tools: Vec<Json> =
        prompt.offered().into_iter().map(|tool| write_tool(tool, names)).collect();
    let has_tools = !tools.is_empty();
    let thinks = ask.thinks != Thinks::Never;
    Ok(lean! {
        "model" => ask.model,
        "messages" => Messages::new(names).all(prompt),
        "tools" => has_tools.then_some(tools),
        "tool_choice" => has_tools.then(|| choice(prompt.choice.as_ref(), names)),
        // Many a provider knows no such field, and `true` is what it does anyway.
        "parallel_tool_calls" => prompt.parallel.filter(|parallel| has_tools && !parallel),
        "max_completion_tokens" => prompt.max_output,
        "reasoning_effort" => prompt.thinking.effort().filter(|_| thinks),
        "response_format" => prompt.format.as_ref().map(format),
        "stop" => (!prompt.stop.is_empty()).then(|| prompt.stop.clone()),
        "temperature" => prompt.temperature.clone(),
        "top_p" => prompt.top_p.clone(),
        "presence_penalty" => prompt.presence.clone(),
        "frequency_penalty" => prompt.frequency.clone(),
        "seed" => prompt.seed.clone(),
        "user" => prompt.short_user(),
        "stream" => ask.stream,
        "stream_options" => ask.stream.then(|| object! { "include_usage" => true }),
    })
}

/// Messages as they are made of a conversation.
struct Messages<'a> {
    names: &'a Names,
    ids: Ids,
    done: Vec<Json>,
    /// What the model has said since the last message of another.
    texts: Vec<String>,
    calls: Vec<Json>,
    thought: Option<Json>,
    /// Pictures that tools gave; a message of a tool cannot hold them.
    images: Vec<Image>,
}

impl<'a> Messages<'a> {
    fn new(names: &'a Names) -> Self {
        let ids = Ids::new(crate::Dialect::Chat);
        let (done, texts, calls, images) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { names, ids, done, texts, calls, thought: None, images }
    }

    fn all(mut self, prompt: &Prompt) -> Vec<Json> {
        if !prompt.system.is_empty() {
            let text = prompt.system.join("\n\n");
            self.done.push(object! { "role" => "system", "content" => text });
        }
        for item in &prompt.items {
            if !item.is_models() {
                self.close_model();
            }
            if !matches!(item, Item::Result(_)) {
                self.close_results();
            }
            self.item(item);
        }
        self.close_model();
        self.close_results();
        self.done
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::System(text) => {
                self.done.push(object! { "role" => "system", "content" => text });
            }
            Item::User(parts) => {
                self.done.push(object! { "role" => "user", "content" => content(parts) });
            }
            Item::Model(text) => self.texts.push(text.clone()),
            Item::Thought(own) => self.thought = Some(own.clone()),
            Item::Call(call) => {
                let function = object! { "name" => self.names.upstream(&call.tool), "arguments" => call.text() };
                let mut written = object! {
                    "id" => self.ids.call(&call.id), "type" => "function", "function" => function,
                };
                let extra = call.own.as_ref().and_then(|own| own.get("extra_content"));
                written.put("extra_content", extra.cloned());
                self.calls.push(written);
            }
            Item::Result(result) => self.result(result),
        }
    }

    fn result(&mut self, result: &Outcome) {
        let images = self.images.len();
        self.images.extend(result.images().cloned());
        let mut text = result.plain_text();
        if text.is_empty() && self.images.len() > images {
            text = "The picture follows.".to_owned();
        }
        let id = self.ids.result(&result.call);
        self.done.push(object! { "role" => "tool", "tool_call_id" => id, "content" => text });
    }

    fn close_model(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        let calls = std::mem::take(&mut self.calls);
        let thought = self.thought.take();
        if texts.is_empty() && calls.is_empty() {
            return;
        }
        let content = (!texts.is_empty()).then(|| texts.join("\n\n"));
        let mut message = object! { "role" => "assistant", "content" => content };
        let reasoning = thought.as_ref().and_then(|own| own.entries().first());
        if let (Json::Map(entries), Some(reasoning)) = (&mut message, reasoning) {
            entries.push(reasoning.clone());
        }
        message.put("tool_calls", (!calls.is_empty()).then_some(calls));
        self.done.push(message);
    }

    fn close_results(&mut self) {
        if self.images.is_empty() {
            return;
        }
        let images = std::mem::take(&mut self.images);
        let parts = images.into_iter().map(Part::Image).collect::<Vec<_>>();
        self.done.push(object! { "role" => "user", "content" => content(&parts) });
    }
}

fn content(parts: &[Part]) -> Json {
    if let [Part::Text(text)] = parts {
        return text.into();
    }
    let part = |part: &Part| match part {
        Part::Text(text) => object! { "type" => "text", "text" => text },
        Part::Image(image) => {
            object! { "type" => "image_url", "image_url" => object! { "url" => image.to_url() } }
        }
    };
    Json::List(parts.iter().map(part).collect())
}

fn write_tool(tool: &Tool, names: &Names) -> Json {
    let name = names.upstream(&tool.tool);
    let (description, schema, strict) = if tool.tool.custom {
        let text = custom_description(tool.description.as_deref(), tool.grammar.as_ref());
        (Some(text), Some(custom_schema()), None)
    } else {
        (tool.description.clone(), tool.schema.clone(), tool.strict)
    };
    let function = lean! {
        "name" => name, "description" => description, "parameters" => schema, "strict" => strict,
    };
    object! { "type" => "function", "function" => function }
}

fn choice(choice: Option<&Choice>, names: &Names) -> Json {
    match choice {
        None => Json::Null,
        Some(Choice::Auto | Choice::Some { must: false, .. }) => "auto".into(),
        Some(Choice::None) => "none".into(),
        Some(Choice::Any | Choice::Some { must: true, .. }) => "required".into(),
        Some(Choice::Tool(name)) => {
            let function = object! { "name" => names.by_name(name) };
            object! { "type" => "function", "function" => function }
        }
    }
}

fn format(format: &Format) -> Json {
    match format {
        Format::Json => object! { "type" => "json_object" },
        Format::Schema { name, schema, strict } => {
            let inner = lean! {
                "name" => name.as_deref().unwrap_or("answer"),
                "schema" => schema,
                "strict" => strict.or_else(|| schema::is_strict(schema).then_some(true)),
            };
            object! { "type" => "json_schema", "json_schema" => inner }
        }
    }
}
