//! Writes a request to generateContent.

use std::collections::HashMap;

use super::super::input::{custom_description, custom_schema};
use super::super::ir::{
    Choice, Effort, Fault, Format, Image, Item, Outcome, Part, Prompt, Thinking, Tool,
};
use super::super::json::{Json, lean, object};
use super::super::made_up::SKIP;
use super::super::names::{Ids, Names};
use super::super::{Ask, CONTINUE, Thinks};
use crate::Dialect;

/// Writes a request.
pub(crate) fn write_request(ask: &Ask<'_>, prompt: &Prompt, names: &Names) -> Result<Json, Fault> {
    let tools: Vec<Json> =
        prompt.offered().into_iter().map(|tool| write_tool(tool, names)).collect();
    let system: Vec<Json> = prompt.system.iter().filter_map(|told| text(told)).collect();
    let has_tools = !tools.is_empty();
    let declared = object! { "functionDeclarations" => tools };
    let config = config(ask, prompt);
    Ok(lean! {
        "systemInstruction" => (!system.is_empty()).then(|| object! { "parts" => system }),
        "contents" => Contents::new(ask, names).all(&prompt.items)?,
        "tools" => has_tools.then(|| vec![declared]),
        "toolConfig" => prompt.choice.as_ref().filter(|_| has_tools).map(|c| choice(c, names)),
        "generationConfig" => (!config.entries().is_empty()).then_some(config),
    })
}

fn config(ask: &Ask<'_>, prompt: &Prompt) -> Json {
    let schema = match &prompt.format {
        Some(Format::Schema { schema, .. }) => Some(schema),
        _ => None,
    };
    lean! {
        "maxOutputTokens" => prompt.max_output,
        "temperature" => prompt.temperature.clone(),
        "topP" => prompt.top_p.clone(),
        "topK" => prompt.top_k.clone(),
        "presencePenalty" => prompt.presence.clone(),
        "frequencyPenalty" => prompt.frequency.clone(),
        "seed" => prompt.seed.clone(),
        "stopSequences" => (!prompt.stop.is_empty()).then(|| prompt.stop.clone()),
        "responseMimeType" => prompt.format.is_some().then_some("application/json"),
        "responseJsonSchema" => schema,
        "thinkingConfig" => thinking(ask, prompt.thinking),
    }
}

fn thinking(ask: &Ask<'_>, thinking: Thinking) -> Option<Json> {
    if ask.thinks == Thinks::Never || thinking == Thinking::Unsaid {
        return None;
    }
    let shown = thinking.is_on().then_some(true);
    // The large models cannot be kept from thinking.
    let large = ask.model.contains("pro");
    if ask.thinks == Thinks::Budget {
        let budget = match thinking {
            Thinking::Off => Json::from(if large { 128_u64 } else { 0 }),
            Thinking::Auto | Thinking::Unsaid => Json::from(-1_i64),
            Thinking::Budget(tokens) => tokens.min(24_576).into(),
            Thinking::Effort(level) => level.budget().min(24_576).into(),
        };
        return Some(lean! { "includeThoughts" => shown, "thinkingBudget" => budget });
    }
    let level = match thinking {
        Thinking::Off => Some(Effort::Low),
        Thinking::Auto | Thinking::Unsaid => None,
        Thinking::Budget(tokens) => Some(Effort::of_budget(tokens)),
        Thinking::Effort(level) => Some(level),
    };
    let level = level.map(|level| match level {
        Effort::Minimal | Effort::Low => "LOW",
        // The first large model of this kind knows only two levels.
        Effort::Medium if !ask.model.contains("gemini-3-pro") => "MEDIUM",
        Effort::Medium | Effort::High | Effort::Highest => "HIGH",
    });
    Some(lean! { "includeThoughts" => shown, "thinkingLevel" => level })
}

fn write_tool(tool: &Tool, names: &Names) -> Json {
    let (description, schema) = if tool.tool.custom {
        let text = custom_description(tool.description.as_deref(), tool.grammar.as_ref());
        (text, Some(custom_schema()))
    } else {
        let schema = tool.schema.clone().filter(|schema| !schema.entries().is_empty());
        (tool.description.clone().unwrap_or_default(), schema)
    };
    lean! {
        "name" => names.upstream(&tool.tool),
        "description" => description,
        "parametersJsonSchema" => schema,
    }
}

fn choice(choice: &Choice, names: &Names) -> Json {
    let (mode, allowed) = match choice {
        Choice::Auto | Choice::Some { must: false, .. } => ("AUTO", None),
        Choice::None => ("NONE", None),
        Choice::Any | Choice::Some { must: true, .. } => ("ANY", None),
        Choice::Tool(name) => ("ANY", Some(vec![names.by_name(name)])),
    };
    let config = lean! { "mode" => mode, "allowedFunctionNames" => allowed };
    object! { "functionCallingConfig" => config }
}

/// Contents as they are made of a conversation: the two sides take turns.
struct Contents<'a> {
    names: &'a Names,
    thinks: bool,
    ids: Ids,
    /// How the tool of each call is called.
    called: HashMap<&'a str, String>,
    done: Vec<Json>,
    model: Vec<Json>,
    /// Whether the model has called anything in the open content.
    calling: bool,
    results: Vec<Json>,
    user: Vec<Json>,
}

impl<'a> Contents<'a> {
    fn new(ask: &Ask<'_>, names: &'a Names) -> Self {
        Self {
            names,
            thinks: ask.thinks != Thinks::Never,
            ids: Ids::new(Dialect::Gemini),
            called: HashMap::new(),
            done: Vec::new(),
            model: Vec::new(),
            calling: false,
            results: Vec::new(),
            user: Vec::new(),
        }
    }

    fn all(mut self, items: &'a [Item]) -> Result<Vec<Json>, Fault> {
        for item in items {
            if item.is_models() {
                self.close_user();
            } else {
                self.close_model();
            }
            self.item(item)?;
        }
        self.close_model();
        self.close_user();
        let from_user = |content: &Json| content.text("role") == Some("user");
        if !self.done.first().is_some_and(from_user) {
            self.done.insert(0, content("user", text(CONTINUE).into_iter().collect()));
        }
        Ok(self.done)
    }

    fn item(&mut self, item: &'a Item) -> Result<(), Fault> {
        match item {
            Item::System(told) => self.user.extend(text(told)),
            Item::User(parts) => {
                for each in parts {
                    self.user.extend(part(each)?);
                }
            }
            Item::Model(said) => self.model.extend(text(said)),
            Item::Thought(_) => {}
            Item::Call(call) => {
                let (id, name) = (self.ids.call(&call.id), self.names.upstream(&call.tool));
                self.called.insert(&call.id, name.clone());
                let first = !std::mem::replace(&mut self.calling, true);
                let kept = call.own.as_ref();
                let signature = match kept.map(|kept| kept.text("thoughtSignature")) {
                    Some(signature) => signature,
                    None => (first && self.thinks).then_some(SKIP),
                };
                let function = object! { "id" => id, "name" => name, "args" => call.object() };
                let part = lean! { "functionCall" => function, "thoughtSignature" => signature };
                self.model.push(part);
            }
            Item::Result(result) => self.result(result)?,
        }
        Ok(())
    }

    fn result(&mut self, result: &Outcome) -> Result<(), Fault> {
        let name = self.called.get(result.call.as_str()).cloned().unwrap_or_default();
        let text = result.text();
        let response = if result.failed {
            object! { "error" => text }
        } else {
            object! { "output" => text }
        };
        let id = self.ids.result(&result.call);
        let function = object! { "id" => id, "name" => name, "response" => response };
        self.results.push(object! { "functionResponse" => function });
        for image in result.images() {
            self.user.push(picture(image)?);
        }
        Ok(())
    }

    fn close_model(&mut self) {
        self.calling = false;
        if !self.model.is_empty() {
            self.done.push(content("model", std::mem::take(&mut self.model)));
        }
    }

    fn close_user(&mut self) {
        let mut parts = std::mem::take(&mut self.results);
        parts.append(&mut self.user);
        if !parts.is_empty() {
            self.done.push(content("user", parts));
        }
    }
}

fn content(role: &str, parts: Vec<Json>) -> Json {
    object! { "role" => role, "parts" => parts }
}

fn text(text: &str) -> Option<Json> {
    (!text.is_empty()).then(|| object! { "text" => text })
}

fn part(part: &Part) -> Result<Option<Json>, Fault> {
    match part {
        Part::Text(said) => Ok(text(said)),
        Part::Image(image) => picture(image).map(Some),
    }
}

fn picture(image: &Image) -> Result<Json, Fault> {
    match image {
        Image::Data { mime, data } => {
            Ok(object! { "inlineData" => object! { "mimeType" => mime, "data" => data } })
        }
        Image::Url(_) => Err(Fault::feature("an image that is given by its URL")),
    }
}
