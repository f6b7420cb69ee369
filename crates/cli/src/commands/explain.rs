//! `godel explain`: what an error code means.

use godel_console::{Context, Exit, Result};
use godel_model::{Code, Invalid, code};
use godel_settings::nearest;
use serde_json::json;

use crate::pages::{code_named, kind_name, page, title};

/// Prints the page of a code, or the list of all codes.
pub(crate) fn run(context: &Context, name: Option<&str>) -> Result<Exit> {
    match name {
        None => list(context),
        Some(name) => one(context, name),
    }
}

fn one(context: &Context, name: &str) -> Result<Exit> {
    let Some((code, text)) = code_named(name).and_then(|code| Some((code, page(code)?))) else {
        let near = nearest(name, code::ALL.iter().map(|code| code.name()));
        let hint = near.map_or_else(
            || "`godel explain` lists all codes".to_owned(),
            |near| format!("did you mean `godel explain {near}`?"),
        );
        let message = format!("there is no error code \"{name}\"");
        return Err(Invalid::new(code::CODE_NOT_FOUND, message).with_hint(hint).into());
    };
    if context.output.is_json() {
        let mut answer = summary(code, &text);
        answer["text"] = json!(text);
        context.output.value(&answer)?;
    } else {
        context.output.text(text)?;
    }
    Ok(Exit::Done)
}

fn list(context: &Context) -> Result<Exit> {
    let pages = code::ALL.iter().map(|code| (*code, page(*code).unwrap_or_default()));
    if context.output.is_json() {
        let all: Vec<_> = pages.map(|(code, text)| summary(code, &text)).collect();
        context.output.value(&all)?;
    } else {
        let row = |(code, text): (Code, String)| {
            let exit = (Exit::from(code.kind()) as u8).to_string();
            [code.to_string(), kind_name(code.kind()), exit, title(&text).to_owned()]
        };
        context.output.table(["CODE", "KIND", "EXIT", "WHAT"], pages.map(row).collect())?;
    }
    Ok(Exit::Done)
}

fn summary(code: Code, text: &str) -> serde_json::Value {
    json!({
        "code": code.name(),
        "kind": kind_name(code.kind()),
        "exit": Exit::from(code.kind()) as u8,
        "title": title(text),
    })
}
