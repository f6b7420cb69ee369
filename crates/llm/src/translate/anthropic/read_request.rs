//! Reads a request to Messages.

use super::super::input::text_of;
use super::super::ir::{
    Call, Choice, Effort, Fault, Format, Image, Item, Outcome, Part, Prompt, Thinking, Tool,
    ToolRef,
};
use super::super::json::Json;

/// How the block begins by which a client tells Anthropic whom to bill.
const BILLING: &str = "x-anthropic-billing-header:";

/// Reads a request.
pub(crate) fn read_request(body: &Json) -> Result<Prompt, Fault> {
    if !body.list("mcp_servers").is_empty() {
        return Err(Fault::feature("MCP servers that the provider calls"));
    }
    if body.get("container").is_some() {
        return Err(Fault::feature("a container of the provider"));
    }
    let Some(Json::List(messages)) = body.get("messages") else {
        return Err(Fault::shape("`messages` is not a list"));
    };
    let config = body.get("output_config");
    let tools = body.list("tools").iter().map(tool).collect::<Result<_, _>>()?;
    let tool_choice = body.get("tool_choice");
    let serial = tool_choice.and_then(|choice| choice.flag("disable_parallel_tool_use"));
    let metadata = body.get("metadata");
    let format = config.and_then(|config| config.get("format"));
    let mut prompt = Prompt {
        system: system(body.get("system"))?,
        tools,
        choice: tool_choice.map(choice).transpose()?,
        parallel: serial.map(|serial| !serial),
        max_output: body.count("max_tokens"),
        thinking: thinking(body.get("thinking"), config),
        format: format.or_else(|| body.get("output_format")).map(read_format).transpose()?,
        stop: body.get("stop_sequences").map(Json::texts).unwrap_or_default(),
        temperature: body.number("temperature"),
        top_p: body.number("top_p"),
        top_k: body.number("top_k"),
        user: metadata.and_then(|metadata| metadata.text("user_id")).map(Into::into),
        ..Prompt::default()
    };
    for message in messages {
        read_message(message, &mut prompt)?;
    }
    Ok(prompt)
}

fn system(system: Option<&Json>) -> Result<Vec<String>, Fault> {
    let told = match system {
        None => return Ok(Vec::new()),
        Some(Json::Text(text)) => vec![text.clone()],
        Some(Json::List(blocks)) => {
            blocks.iter().filter_map(|block| block.text("text")).map(Into::into).collect()
        }
        Some(_) => return Err(Fault::shape("`system` is neither text nor a list")),
    };
    let wanted = |text: &String| !text.is_empty() && !text.starts_with(BILLING);
    Ok(told.into_iter().filter(wanted).collect())
}

fn read_message(message: &Json, prompt: &mut Prompt) -> Result<(), Fault> {
    let single;
    let blocks = match message.get("content") {
        Some(Json::Text(text)) => {
            single = [super::super::json::object! { "type" => "text", "text" => text }];
            &single[..]
        }
        Some(Json::List(blocks)) => blocks,
        _ => return Err(Fault::shape("`content` is neither text nor a list")),
    };
    match message.text("role") {
        Some("user") => read_user(blocks, prompt),
        Some("assistant") => {
            for block in blocks {
                prompt.items.extend(read_said(block)?);
            }
            Ok(())
        }
        Some("system") => {
            for block in blocks {
                let text = block.text("text");
                let text = text.ok_or_else(|| Fault::feature("a system message without text"))?;
                prompt.items.push(Item::System(text.to_owned()));
            }
            Ok(())
        }
        _ => Err(Fault::shape("a message has no known `role`")),
    }
}

fn read_user(blocks: &[Json], prompt: &mut Prompt) -> Result<(), Fault> {
    let mut parts = Vec::new();
    for block in blocks {
        if block.text("type") != Some("tool_result") {
            parts.push(part(block)?);
            continue;
        }
        let content = match block.get("content") {
            None => Vec::new(),
            Some(Json::Text(text)) => vec![Part::Text(text.clone())],
            Some(list) => list.as_list().iter().map(part).collect::<Result<_, _>>()?,
        };
        prompt.items.push(Item::Result(Outcome {
            call: block.text("tool_use_id").unwrap_or_default().to_owned(),
            parts: content,
            failed: block.flag("is_error").unwrap_or(false),
        }));
    }
    if !parts.is_empty() {
        prompt.items.push(Item::User(parts));
    }
    Ok(())
}

fn part(block: &Json) -> Result<Part, Fault> {
    match block.text("type") {
        Some("text") => Ok(Part::Text(block.text("text").unwrap_or_default().to_owned())),
        Some("image") => image(block.get("source").unwrap_or(&Json::Null)).map(Part::Image),
        // All tools are told from the beginning, so a tool that was found needs no more than this.
        Some("tool_reference") => {
            let name = block.text("tool_name").unwrap_or_default();
            Ok(Part::Text(format!("The tool {name} can be called now.")))
        }
        Some("document") => Err(Fault::feature("a document")),
        Some("search_result") => Err(Fault::feature("search results with citations")),
        Some(other) => Err(Fault::named("the content block", other)),
        None => Err(Fault::shape("a content block has no `type`")),
    }
}

fn image(source: &Json) -> Result<Image, Fault> {
    match source.text("type") {
        Some("base64") => {
            let text = |key| source.text(key).unwrap_or_default();
            Image::of_data(text("media_type"), text("data"))
        }
        Some("url") => Image::of_url(source.text("url").unwrap_or_default()),
        Some("file") => Err(Fault::feature("an image that lies with the provider (file)")),
        _ => Err(Fault::shape("an image has no known `source`")),
    }
}

fn read_said(block: &Json) -> Result<Option<Item>, Fault> {
    Ok(match block.text("type") {
        Some("text") => {
            let text = block.text("text").unwrap_or_default();
            (!text.is_empty()).then(|| Item::Model(text.to_owned()))
        }
        // Another provider can make nothing of them.
        Some("thinking" | "redacted_thinking") => None,
        Some("tool_use") => {
            let name = block.text("name");
            let name = name.ok_or_else(|| Fault::shape("a tool call has no name"))?;
            Some(Item::Call(Call {
                id: block.text("id").unwrap_or_default().to_owned(),
                tool: ToolRef { name: name.to_owned(), ..ToolRef::default() },
                input: block.get("input").map_or_else(|| "{}".to_owned(), text_of),
                own: None,
            }))
        }
        Some("server_tool_use") => {
            let name = block.text("name").unwrap_or_default();
            return Err(Fault::named("the server tool", name));
        }
        Some(other) => {
            return Err(Fault::named("the content block", other));
        }
        None => return Err(Fault::shape("a content block has no `type`")),
    })
}

fn tool(tool: &Json) -> Result<Tool, Fault> {
    if let Some(kind) = tool.text("type").filter(|kind| *kind != "custom") {
        return Err(Fault::named("the server tool", kind));
    }
    let name = tool.text("name").ok_or_else(|| Fault::shape("a tool has no name"))?;
    Ok(Tool {
        tool: ToolRef { name: name.to_owned(), ..ToolRef::default() },
        description: tool.text("description").map(Into::into),
        schema: tool.get("input_schema").cloned(),
        strict: tool.flag("strict"),
        grammar: None,
    })
}

fn choice(choice: &Json) -> Result<Choice, Fault> {
    match (choice.text("type"), choice.text("name")) {
        (Some("auto"), _) => Ok(Choice::Auto),
        (Some("any"), _) => Ok(Choice::Any),
        (Some("none"), _) => Ok(Choice::None),
        (Some("tool"), Some(name)) => Ok(Choice::Tool(name.to_owned())),
        _ => Err(Fault::shape("`tool_choice` is unknown")),
    }
}

fn thinking(thinking: Option<&Json>, config: Option<&Json>) -> Thinking {
    let effort = config.and_then(|config| config.text("effort")).and_then(Effort::named);
    let effort = effort.map(Thinking::Effort);
    let kind = thinking.and_then(|thinking| thinking.text("type"));
    match kind {
        Some("disabled") => Thinking::Off,
        Some("enabled") => {
            let budget = thinking.and_then(|thinking| thinking.count("budget_tokens"));
            effort.or(budget.map(Thinking::Budget)).unwrap_or(Thinking::Auto)
        }
        Some(_) => effort.unwrap_or(Thinking::Auto),
        None => effort.unwrap_or_default(),
    }
}

fn read_format(format: &Json) -> Result<Format, Fault> {
    let schema = format.get("schema").cloned();
    match format.text("type") {
        Some("json_schema") => Ok(Format::Schema {
            name: None,
            schema: schema.ok_or_else(|| Fault::shape("`output_config.format` has no schema"))?,
            strict: None,
        }),
        other => Err(Fault::named("the output format", other.unwrap_or_default())),
    }
}
