//! Reads a request to generateContent.

use std::collections::{HashMap, VecDeque};

use super::super::input::text_of;
use super::super::ir::{
    Call, Choice, Effort, Fault, Format, Image, Item, Outcome, Part, Prompt, Thinking, Tool,
    ToolRef,
};
use super::super::json::Json;
use super::super::schema;
use super::{carried, field};

/// Reads a request.
pub(crate) fn read_request(body: &Json) -> Result<Prompt, Fault> {
    if field(body, "cachedContent").is_some() {
        return Err(Fault::feature("content that the provider has cached (cachedContent)"));
    }
    let Some(Json::List(contents)) = body.get("contents") else {
        return Err(Fault::shape("`contents` is not a list"));
    };
    let nothing = Json::Null;
    let config = field(body, "generationConfig").unwrap_or(&nothing);
    refuse(config)?;
    let mut prompt = Prompt {
        system: system(field(body, "systemInstruction")),
        tools: tools(body.list("tools"))?,
        choice: choice(field(body, "toolConfig"))?,
        max_output: count(config, "maxOutputTokens"),
        thinking: thinking(field(config, "thinkingConfig")),
        format: format(config),
        stop: field(config, "stopSequences").map(Json::texts).unwrap_or_default(),
        temperature: config.number("temperature"),
        top_p: number(config, "topP"),
        top_k: number(config, "topK"),
        presence: number(config, "presencePenalty"),
        frequency: number(config, "frequencyPenalty"),
        seed: config.number("seed"),
        ..Prompt::default()
    };
    let mut reader = Contents::default();
    for content in contents {
        reader.read(content)?;
    }
    prompt.items = reader.items;
    Ok(prompt)
}

fn refuse(config: &Json) -> Result<(), Fault> {
    if count(config, "candidateCount") > Some(1) {
        return Err(Fault::feature("more than one answer (candidateCount)"));
    }
    let logprobs = field(config, "responseLogprobs");
    if logprobs == Some(&Json::Bool(true)) {
        return Err(Fault::feature("logprobs"));
    }
    let modalities = field(config, "responseModalities").map(Json::texts).unwrap_or_default();
    match modalities.iter().find(|kind| !kind.eq_ignore_ascii_case("text")) {
        Some(kind) => Err(Fault::named("the output", &kind.to_ascii_lowercase())),
        None => Ok(()),
    }
}

fn count(json: &Json, name: &str) -> Option<u64> {
    number(json, name)?.as_u64()
}

fn number(json: &Json, name: &str) -> Option<serde_json::Number> {
    match field(json, name)? {
        Json::Number(number) => Some(number.clone()),
        _ => None,
    }
}

fn system(system: Option<&Json>) -> Vec<String> {
    let parts = match system {
        Some(Json::Text(text)) => return vec![text.clone()],
        Some(content) => content.list("parts"),
        None => &[],
    };
    let texts = parts.iter().filter_map(|part| part.text("text"));
    texts.filter(|text| !text.is_empty()).map(Into::into).collect()
}

/// Contents as they are read: calls and results find each other by id, or by name and order.
#[derive(Default)]
struct Contents {
    items: Vec<Item>,
    /// The ids of all calls, and which of them have a result.
    calls: Vec<(String, bool)>,
    /// Where the calls of each id and of each name are.
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
}

impl Contents {
    fn read(&mut self, content: &Json) -> Result<(), Fault> {
        let Some(Json::List(parts)) = content.get("parts") else {
            return Err(Fault::shape("the `parts` of a content are not a list"));
        };
        let model = content.text("role") == Some("model");
        let mut said = Vec::new();
        for part in parts {
            if let Some(call) = field(part, "functionCall") {
                self.call(call, part)?;
            } else if let Some(result) = field(part, "functionResponse") {
                self.result(result)?;
            } else if part.flag("thought") == Some(true) {
                // Another provider can make nothing of it.
            } else if model {
                let text = part.text("text");
                let text = text.map_or_else(|| Err(unknown(part)), |text| Ok(text.to_owned()))?;
                if !text.is_empty() {
                    self.items.push(Item::Model(text));
                }
            } else {
                said.push(read_part(part)?);
            }
        }
        if !said.is_empty() {
            self.items.push(Item::User(said));
        }
        Ok(())
    }

    fn call(&mut self, call: &Json, part: &Json) -> Result<(), Fault> {
        let name = call.text("name").ok_or_else(|| Fault::shape("a functionCall has no name"))?;
        let signature = field(part, "thoughtSignature").and_then(Json::as_text);
        let id = call.text("id").filter(|id| !id.is_empty()).map(Into::into);
        // Counted from the beginning, so that it is the same in every turn.
        let id = id
            .or_else(|| signature.and_then(carried))
            .unwrap_or_else(|| format!("call_{}", self.calls.len() + 1));
        self.by_id.entry(id.clone()).or_default().push_back(self.calls.len());
        self.by_name.entry(name.to_owned()).or_default().push_back(self.calls.len());
        self.calls.push((id.clone(), false));
        self.items.push(Item::Call(Call {
            id,
            tool: ToolRef { name: name.to_owned(), ..ToolRef::default() },
            input: call.get("args").map_or_else(|| "{}".to_owned(), text_of),
            own: None,
        }));
        Ok(())
    }

    fn result(&mut self, result: &Json) -> Result<(), Fault> {
        let (id, name) = (result.text("id"), result.text("name").unwrap_or_default());
        let places = [self.by_id.get_mut(id.unwrap_or_default()), self.by_name.get_mut(name)];
        let place = places.into_iter().flatten().find_map(|queue| next(queue, &self.calls));
        let call = match place.and_then(|place| self.calls.get_mut(place)) {
            Some((id, answered)) => {
                *answered = true;
                id.clone()
            }
            None => id.unwrap_or(name).to_owned(),
        };
        let (text, failed) = result.get("response").map(outcome).unwrap_or_default();
        let mut parts = vec![Part::Text(text)];
        for part in result.list("parts") {
            parts.push(read_part(part)?);
        }
        self.items.push(Item::Result(Outcome { call, parts, failed }));
        Ok(())
    }
}

/// Takes the first call of a queue that has no result yet.
fn next(queue: &mut VecDeque<usize>, calls: &[(String, bool)]) -> Option<usize> {
    while let Some(place) = queue.pop_front() {
        if calls.get(place).is_some_and(|(_, answered)| !answered) {
            return Some(place);
        }
    }
    None
}

/// Returns the text of a result, and whether it tells of a failure.
fn outcome(response: &Json) -> (String, bool) {
    let text = |value: &Json| value.as_text().map_or_else(|| value.to_string(), Into::into);
    let wanted: Vec<_> = response.entries().iter().filter(|(key, _)| key != "name").collect();
    match wanted[..] {
        [(key, value)] if matches!(key.as_ref(), "output" | "result" | "content") => {
            (text(value), false)
        }
        [(key, value)] if key == "error" => (text(value), true),
        _ => (text(response), false),
    }
}

fn read_part(part: &Json) -> Result<Part, Fault> {
    if let Some(text) = part.text("text") {
        return Ok(Part::Text(text.to_owned()));
    }
    let mime = |data: &Json| {
        field(data, "mimeType").and_then(Json::as_text).unwrap_or_default().to_owned()
    };
    if let Some(inline) = field(part, "inlineData") {
        let data = inline.text("data").unwrap_or_default();
        return Image::of_data(&mime(inline), data).map(Part::Image);
    }
    if let Some(file) = field(part, "fileData") {
        let uri = field(file, "fileUri").and_then(Json::as_text).unwrap_or_default();
        let public = uri.starts_with("https://") && !uri.contains("googleapis.com");
        return if public && mime(file).starts_with("image/") {
            Ok(Part::Image(Image::Url(uri.to_owned())))
        } else {
            Err(Fault::feature("a file that lies with the provider (fileData)"))
        };
    }
    Err(unknown(part))
}

fn unknown(part: &Json) -> Fault {
    let kind = part.entries().iter().map(|(key, _)| key.as_ref());
    match kind.into_iter().find(|key| !matches!(*key, "thoughtSignature" | "thought")) {
        Some("executableCode" | "codeExecutionResult") => {
            Fault::feature("the server tool codeExecution")
        }
        Some(kind) => Fault::named("the part", kind),
        None => Fault::shape("a part is empty"),
    }
}

fn tools(groups: &[Json]) -> Result<Vec<Tool>, Fault> {
    let mut tools = Vec::new();
    for group in groups {
        for (key, value) in group.entries() {
            match (key.as_ref(), value) {
                ("functionDeclarations" | "function_declarations", list) => {
                    for declaration in list.as_list() {
                        tools.push(tool(declaration)?);
                    }
                }
                (_, Json::Null) => {}
                (other, _) => {
                    return Err(Fault::named("the server tool", other));
                }
            }
        }
    }
    Ok(tools)
}

fn tool(tool: &Json) -> Result<Tool, Fault> {
    let name = tool.text("name").ok_or_else(|| Fault::shape("a function has no name"))?;
    let schema = field(tool, "parametersJsonSchema").cloned();
    Ok(Tool {
        tool: ToolRef { name: name.to_owned(), ..ToolRef::default() },
        description: tool.text("description").map(Into::into),
        schema: schema.or_else(|| tool.get("parameters").map(schema::of_openapi)),
        strict: None,
        grammar: None,
    })
}

fn choice(config: Option<&Json>) -> Result<Option<Choice>, Fault> {
    let config = config.and_then(|config| field(config, "functionCallingConfig"));
    let Some(config) = config else { return Ok(None) };
    let names = field(config, "allowedFunctionNames").map(Json::texts).unwrap_or_default();
    let must = match config.text("mode").map(str::to_ascii_uppercase).as_deref() {
        Some("NONE") => return Ok(Some(Choice::None)),
        Some("ANY") => true,
        Some("AUTO" | "VALIDATED" | "MODE_UNSPECIFIED") | None => false,
        Some(_) => return Err(Fault::shape("the mode of `functionCallingConfig` is unknown")),
    };
    Ok(Some(match (names.as_slice(), must) {
        ([], true) => Choice::Any,
        ([], false) => Choice::Auto,
        ([name], true) => Choice::Tool(name.clone()),
        _ => Choice::Some { names, must },
    }))
}

fn thinking(config: Option<&Json>) -> Thinking {
    let Some(config) = config else { return Thinking::Unsaid };
    let level = field(config, "thinkingLevel").and_then(Json::as_text).and_then(Effort::named);
    if let Some(level) = level {
        return Thinking::Effort(level);
    }
    let shown = field(config, "includeThoughts") == Some(&Json::Bool(true));
    match number(config, "thinkingBudget") {
        Some(number) => match number.as_u64() {
            Some(0) => Thinking::Off,
            Some(tokens) => Thinking::Budget(tokens),
            None => Thinking::Auto,
        },
        None if shown => Thinking::Auto,
        None => Thinking::Unsaid,
    }
}

fn format(config: &Json) -> Option<Format> {
    let schema = field(config, "responseJsonSchema").cloned();
    let schema = schema.or_else(|| field(config, "responseSchema").map(schema::of_openapi));
    let json = field(config, "responseMimeType").and_then(Json::as_text);
    match (schema, json) {
        (Some(schema), _) => Some(Format::Schema { name: None, schema, strict: None }),
        (None, Some("application/json")) => Some(Format::Json),
        (None, _) => None,
    }
}
