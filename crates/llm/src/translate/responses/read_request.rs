//! Reads a request to Responses.

use super::super::ir::{
    Call, Choice, Fault, Format, Image, Item, Outcome, Part, Prompt, Thinking, Tool, ToolRef,
};
use super::super::json::Json;

/// Reads a request.
pub(crate) fn read_request(body: &Json) -> Result<Prompt, Fault> {
    refuse(body)?;
    let (reasoning, text) = (body.get("reasoning"), body.get("text"));
    let mut tools = Vec::new();
    for tool in body.list("tools") {
        read_tool(tool, None, &mut tools)?;
    }
    let thinking = match reasoning.and_then(|reasoning| reasoning.text("effort")) {
        // Whoever wants a summary wants thoughts.
        None if reasoning.is_some_and(|reasoning| reasoning.get("summary").is_some()) => {
            Thinking::Auto
        }
        effort => Thinking::of_effort(effort),
    };
    let mut prompt = Prompt {
        tools,
        choice: body.get("tool_choice").map(choice).transpose()?.flatten(),
        parallel: body.flag("parallel_tool_calls"),
        max_output: body.count("max_output_tokens"),
        thinking,
        format: format(text.and_then(|text| text.get("format")))?,
        temperature: body.number("temperature"),
        top_p: body.number("top_p"),
        user: body.text("safety_identifier").or_else(|| body.text("user")).map(Into::into),
        cache_key: body.text("prompt_cache_key").map(Into::into),
        verbosity: text.and_then(|text| text.text("verbosity")).map(Into::into),
        ..Prompt::default()
    };
    if let Some(text) = body.text("instructions") {
        prompt.tell(text.to_owned());
    }
    match body.get("input") {
        Some(Json::Text(text)) => prompt.items.push(Item::User(vec![Part::Text(text.clone())])),
        Some(Json::List(items)) => {
            for item in items {
                read_item(item, &mut prompt)?;
            }
        }
        _ => return Err(Fault::shape("`input` is neither text nor a list")),
    }
    Ok(prompt)
}

fn refuse(body: &Json) -> Result<(), Fault> {
    for (key, feature) in [
        ("previous_response_id", "previous_response_id"),
        ("conversation", "a conversation that the provider stores"),
        ("prompt", "a prompt that the provider stores"),
    ] {
        if body.get(key).is_some() {
            return Err(Fault::feature(feature));
        }
    }
    if body.text("truncation").is_some_and(|how| how != "disabled") {
        return Err(Fault::feature("leaving out what is too long (truncation)"));
    }
    if body.flag("background") == Some(true) {
        return Err(Fault::feature("background replies"));
    }
    let asks = |what: &Json| what.as_text() == Some("message.output_text.logprobs");
    if body.count("top_logprobs") > Some(0) || body.list("include").iter().any(asks) {
        return Err(Fault::feature("logprobs"));
    }
    Ok(())
}

fn read_item(item: &Json, prompt: &mut Prompt) -> Result<(), Fault> {
    match item.text("type") {
        None | Some("message") => return read_message(item, prompt),
        Some(kind @ ("function_call" | "custom_tool_call")) => {
            prompt.items.push(Item::Call(read_call(item, kind == "custom_tool_call")?));
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            prompt.items.push(Item::Result(Outcome {
                call: item.text("call_id").unwrap_or_default().to_owned(),
                parts: match item.get("output") {
                    Some(output @ (Json::Text(_) | Json::List(_))) => parts(output)?,
                    Some(other) => vec![Part::Text(other.to_string())],
                    None => Vec::new(),
                },
                failed: false,
            }));
        }
        // Another provider can make nothing of it.
        Some("reasoning") => {}
        Some("additional_tools") => return Err(Fault::feature("additional_tools")),
        Some("item_reference") => {
            return Err(Fault::feature("an item that the provider stores (item_reference)"));
        }
        Some(kind) => {
            let tool = kind.trim_end_matches("_output").trim_end_matches("_call");
            let what = if tool == kind { "the item" } else { "the server tool" };
            return Err(Fault::named(what, tool));
        }
    }
    Ok(())
}

fn read_message(message: &Json, prompt: &mut Prompt) -> Result<(), Fault> {
    let content = message.get("content");
    let parts = content.map(parts).transpose()?.unwrap_or_default();
    let texts = |parts: Vec<Part>| -> Result<Vec<String>, Fault> {
        let text = |part| match part {
            Part::Text(text) => Ok(text),
            Part::Image(_) => Err(Fault::feature("an image that is not the user's")),
        };
        parts.into_iter().map(text).collect()
    };
    match message.text("role") {
        Some("user") => prompt.items.push(Item::User(parts)),
        Some("assistant") => {
            let said = texts(parts)?.into_iter().filter(|text| !text.is_empty());
            prompt.items.extend(said.map(Item::Model));
        }
        Some("system" | "developer") => {
            for text in texts(parts)? {
                prompt.tell(text);
            }
        }
        _ => return Err(Fault::shape("a message has no known `role`")),
    }
    Ok(())
}

fn read_call(item: &Json, custom: bool) -> Result<Call, Fault> {
    let name = item.text("name").ok_or_else(|| Fault::shape("a tool call has no name"))?;
    let input = if custom { "input" } else { "arguments" };
    Ok(Call {
        id: item.text("call_id").or_else(|| item.text("id")).unwrap_or_default().to_owned(),
        tool: ToolRef {
            space: item.text("namespace").filter(|space| !space.is_empty()).map(Into::into),
            name: name.to_owned(),
            custom,
        },
        input: item.text(input).unwrap_or_default().to_owned(),
        own: None,
    })
}

fn parts(content: &Json) -> Result<Vec<Part>, Fault> {
    match content {
        Json::Text(text) => Ok(vec![Part::Text(text.clone())]),
        Json::List(list) => list.iter().map(part).collect(),
        _ => Err(Fault::shape("`content` is neither text nor a list")),
    }
}

fn part(part: &Json) -> Result<Part, Fault> {
    match part.text("type") {
        Some("input_text" | "output_text" | "text" | "summary_text") => {
            Ok(Part::Text(part.text("text").unwrap_or_default().to_owned()))
        }
        Some("refusal") => Ok(Part::Text(part.text("refusal").unwrap_or_default().to_owned())),
        Some("input_image") => match part.text("image_url") {
            Some(url) => Image::of_url(url).map(Part::Image),
            None => Err(Fault::feature("an image that lies with the provider (file_id)")),
        },
        Some("input_file") => Err(Fault::feature("a document (input_file)")),
        Some("input_audio") => Err(Fault::feature("audio")),
        Some(other) => Err(Fault::named("the content part", other)),
        None => Err(Fault::shape("a part of a message has no `type`")),
    }
}

fn read_tool(tool: &Json, space: Option<&str>, tools: &mut Vec<Tool>) -> Result<(), Fault> {
    let name = || tool.text("name").ok_or_else(|| Fault::shape("a tool has no name"));
    match tool.text("type") {
        Some(kind @ ("function" | "custom")) => {
            let custom = kind == "custom";
            tools.push(Tool {
                tool: ToolRef { space: space.map(Into::into), name: name()?.to_owned(), custom },
                description: tool.text("description").map(Into::into),
                schema: tool.get("parameters").cloned(),
                strict: tool.flag("strict"),
                grammar: tool.get("format").cloned(),
            });
            Ok(())
        }
        Some("namespace") if space.is_none() => {
            let space = name()?;
            tool.list("tools").iter().try_for_each(|tool| read_tool(tool, Some(space), tools))
        }
        Some(other) => Err(Fault::named("the server tool", other)),
        None => Err(Fault::shape("a tool has no `type`")),
    }
}

fn choice(choice: &Json) -> Result<Option<Choice>, Fault> {
    if let Some(mode) = choice.as_text() {
        return Ok(Choice::of_mode(mode));
    }
    let name = |of: &Json| of.text("name").map(str::to_owned);
    match choice.text("type") {
        Some("allowed_tools") => {
            let names = choice.list("tools").iter().filter_map(name).collect();
            Ok(Some(Choice::Some { names, must: choice.text("mode") == Some("required") }))
        }
        Some("function" | "custom") => {
            let name = name(choice).ok_or_else(|| Fault::shape("`tool_choice` names no tool"))?;
            Ok(Some(Choice::Tool(name)))
        }
        Some(other) => Err(Fault::named("the server tool", other)),
        None => Err(Fault::shape("`tool_choice` has no `type`")),
    }
}

fn format(format: Option<&Json>) -> Result<Option<Format>, Fault> {
    let Some(format) = format else { return Ok(None) };
    match format.text("type") {
        Some("json_object") => Ok(Some(Format::Json)),
        Some("json_schema") => {
            let schema = format.get("schema").cloned();
            Ok(Some(Format::Schema {
                name: format.text("name").map(Into::into),
                schema: schema.ok_or_else(|| Fault::shape("`text.format` has no schema"))?,
                strict: format.flag("strict"),
            }))
        }
        Some("text") | None => Ok(None),
        Some(other) => Err(Fault::named("the text format", other)),
    }
}
