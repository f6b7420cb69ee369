//! Reads a request to Chat Completions.

use super::super::ir::{
    Call, Choice, Fault, Format, Image, Item, Outcome, Part, Prompt, Thinking, Tool, ToolRef,
};
use super::super::json::Json;

/// Reads a request.
pub(crate) fn read_request(body: &Json) -> Result<Prompt, Fault> {
    refuse(body)?;
    let Some(Json::List(messages)) = body.get("messages") else {
        return Err(Fault::shape("`messages` is not a list"));
    };
    let tools = body.list("tools").iter().map(tool).collect::<Result<_, _>>()?;
    let mut prompt = Prompt {
        tools,
        choice: choice(body.get("tool_choice"))?,
        parallel: body.flag("parallel_tool_calls"),
        max_output: body.count("max_completion_tokens").or_else(|| body.count("max_tokens")),
        thinking: Thinking::of_effort(body.text("reasoning_effort")),
        format: format(body.get("response_format"))?,
        stop: stop(body.get("stop")),
        temperature: body.number("temperature"),
        top_p: body.number("top_p"),
        presence: body.number("presence_penalty"),
        frequency: body.number("frequency_penalty"),
        seed: body.number("seed"),
        user: body.text("safety_identifier").or_else(|| body.text("user")).map(Into::into),
        cache_key: body.text("prompt_cache_key").map(Into::into),
        verbosity: body.text("verbosity").map(Into::into),
        include_usage: body
            .get("stream_options")
            .and_then(|options| options.flag("include_usage"))
            .unwrap_or(false),
        ..Prompt::default()
    };
    for message in messages {
        read_message(message, &mut prompt)?;
    }
    Ok(prompt)
}

fn refuse(body: &Json) -> Result<(), Fault> {
    let feature = if body.count("n").is_some_and(|n| n > 1) {
        "more than one answer (n)"
    } else if body.flag("logprobs") == Some(true) || body.count("top_logprobs") > Some(0) {
        "logprobs"
    } else if body.get("audio").is_some()
        || body.list("modalities").iter().any(|kind| kind.as_text() != Some("text"))
    {
        "audio output"
    } else if body.get("web_search_options").is_some() {
        "the server tool web_search"
    } else if body.get("logit_bias").is_some_and(|bias| !bias.entries().is_empty()) {
        "logit_bias"
    } else if body.get("functions").is_some() || body.get("function_call").is_some() {
        "the old field functions (use tools)"
    } else {
        return Ok(());
    };
    Err(Fault::feature(feature))
}

fn read_message(message: &Json, prompt: &mut Prompt) -> Result<(), Fault> {
    let content = message.get("content");
    match message.text("role") {
        Some("system" | "developer") => {
            for part in parts(content)? {
                let Part::Text(text) = part else {
                    return Err(Fault::feature("an image in a system message"));
                };
                prompt.tell(text);
            }
        }
        Some("user") => prompt.items.push(Item::User(parts(content)?)),
        Some("assistant") => {
            let said = parts(content)?.into_iter().filter_map(|part| match part {
                Part::Text(text) => Some(text),
                Part::Image(_) => None,
            });
            let refusal = message.text("refusal").map(Into::into);
            let texts = said.chain(refusal).filter(|text: &String| !text.is_empty());
            prompt.items.extend(texts.map(Item::Model));
            for call in message.list("tool_calls") {
                prompt.items.push(Item::Call(read_call(call)?));
            }
            if message.get("audio").is_some() {
                return Err(Fault::feature("audio"));
            }
        }
        Some("tool") => prompt.items.push(Item::Result(Outcome {
            call: message.text("tool_call_id").unwrap_or_default().to_owned(),
            parts: parts(content)?,
            failed: false,
        })),
        Some("function") => return Err(Fault::feature("the old role function (use tool)")),
        _ => return Err(Fault::shape("a message has no known `role`")),
    }
    Ok(())
}

fn read_call(call: &Json) -> Result<Call, Fault> {
    let custom = call.text("type") == Some("custom");
    let (inner, input) = if custom { ("custom", "input") } else { ("function", "arguments") };
    let inner = call.get(inner).ok_or_else(|| Fault::shape("a tool call names no function"))?;
    let name = inner.text("name").ok_or_else(|| Fault::shape("a tool call has no name"))?;
    let input = match inner.get(input) {
        Some(Json::Text(text)) => text.clone(),
        // Some clients send the object itself.
        Some(other) => other.to_string(),
        None => String::new(),
    };
    Ok(Call {
        id: call.text("id").unwrap_or_default().to_owned(),
        tool: ToolRef { space: None, name: name.to_owned(), custom },
        input,
        own: None,
    })
}

fn parts(content: Option<&Json>) -> Result<Vec<Part>, Fault> {
    match content {
        None => Ok(Vec::new()),
        Some(Json::Text(text)) => Ok(vec![Part::Text(text.clone())]),
        Some(Json::List(list)) => list.iter().map(part).collect(),
        Some(_) => Err(Fault::shape("`content` is neither text nor a list")),
    }
}

fn part(part: &Json) -> Result<Part, Fault> {
    match part.text("type") {
        Some("text") => Ok(Part::Text(part.text("text").unwrap_or_default().to_owned())),
        Some("refusal") => Ok(Part::Text(part.text("refusal").unwrap_or_default().to_owned())),
        Some("image_url") => {
            let image = part.get("image_url");
            let url = image.and_then(|image| image.text("url").or_else(|| image.as_text()));
            let url = url.ok_or_else(|| Fault::shape("an image has no `url`"))?;
            Ok(Part::Image(Image::of_url(url)?))
        }
        Some("input_audio") => Err(Fault::feature("audio")),
        Some("file") => Err(Fault::feature("a document (file)")),
        Some(other) => Err(Fault::named("the content part", other)),
        None => Err(Fault::shape("a part of a message has no `type`")),
    }
}

fn tool(tool: &Json) -> Result<Tool, Fault> {
    let custom = tool.text("type") == Some("custom");
    let kind = match tool.text("type") {
        Some(kind @ ("function" | "custom")) => kind,
        None => "function",
        Some(other) => return Err(Fault::named("the server tool", other)),
    };
    let inner = tool.get(kind).ok_or_else(|| Fault::shape(format!("a tool has no `{kind}`")))?;
    let name = inner.text("name").ok_or_else(|| Fault::shape("a tool has no name"))?;
    Ok(Tool {
        tool: ToolRef { space: None, name: name.to_owned(), custom },
        description: inner.text("description").map(Into::into),
        schema: inner.get("parameters").cloned(),
        strict: inner.flag("strict"),
        grammar: inner.get("format").cloned(),
    })
}

fn choice(choice: Option<&Json>) -> Result<Option<Choice>, Fault> {
    let Some(choice) = choice else { return Ok(None) };
    if let Some(mode) = choice.as_text() {
        return Ok(Choice::of_mode(mode));
    }
    let name = |of: &Json| {
        let inner = of.get("function").or_else(|| of.get("custom"));
        inner.and_then(|inner| inner.text("name")).map(str::to_owned)
    };
    match choice.text("type") {
        Some("allowed_tools") => {
            let allowed = choice.get("allowed_tools").unwrap_or(choice);
            let names = allowed.list("tools").iter().filter_map(name).collect();
            let must = allowed.text("mode") == Some("required");
            Ok(Some(Choice::Some { names, must }))
        }
        _ => match name(choice) {
            Some(name) => Ok(Some(Choice::Tool(name))),
            None => Err(Fault::shape("`tool_choice` names no tool")),
        },
    }
}

fn format(format: Option<&Json>) -> Result<Option<Format>, Fault> {
    let Some(format) = format else { return Ok(None) };
    match format.text("type") {
        Some("json_object") => Ok(Some(Format::Json)),
        Some("json_schema") => {
            let inner = format.get("json_schema").unwrap_or(format);
            let schema = inner.get("schema").cloned();
            Ok(Some(Format::Schema {
                name: inner.text("name").map(Into::into),
                schema: schema.ok_or_else(|| Fault::shape("`response_format` has no schema"))?,
                strict: inner.flag("strict"),
            }))
        }
        Some("text") | None => Ok(None),
        Some(other) => Err(Fault::named("the response format", other)),
    }
}

fn stop(stop: Option<&Json>) -> Vec<String> {
    match stop {
        Some(Json::Text(text)) => vec![text.clone()],
        Some(other) => other.texts(),
        None => Vec::new(),
    }
}
