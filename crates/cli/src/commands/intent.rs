//! `godel do`: a sentence becomes a plan with a price, and on a yes a convoy that runs.

mod board;
mod draw;
pub(crate) mod watch;

use std::io::IsTerminal as _;

use godel_api::{AnswerIntent, Client, Intent, NewIntent, Page, StartIntent};
use godel_args::intent::{Do, Intents};
use godel_model::{Invalid, code};
use reqwest::Method;
use serde_json::json;

use super::agent::text;
use godel_console::lookup::{NOTHING, segment};
use godel_console::output::{cut, plain};
use godel_console::{Context, Error, Exit, Result, here, locate};

const PATH: &str = "/api/v1/intents";
/// How many intents are listed.
const LISTED: u32 = 20;
/// How much of a text is listed.
const TEXT_WIDTH: usize = 60;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Intents) -> Result<Exit> {
    match asked {
        Intents::Do(asked) => said(context, *asked).await,
        Intents::Watch(asked) => watch::run(context, &asked.convoy, asked.project.as_deref()).await,
    }
}

async fn said(context: &Context, asked: Do) -> Result<Exit> {
    let found = locate::server(context).await?;
    let client = &found.client;
    if asked.list {
        return list(context, client).await;
    }
    if let Some(id) = &asked.show {
        let shown = client.call(Method::GET, &one(id, ""), NOTHING).await?;
        return draw::present(context.output, &shown);
    }
    if let Some(id) = &asked.cancel {
        let gone = client.call(Method::DELETE, &one(id, ""), NOTHING).await?;
        return draw::present(context.output, &gone);
    }
    if let Some(id) = &asked.start {
        return start(context, client, id, &asked).await;
    }
    let given = asked.text.as_deref().ok_or_else(|| {
        Error::usage("nothing is asked for", "say it: godel do \"Add a landing page\"")
    })?;
    let given = text(context, given)?;
    let intent: Intent = match &asked.answer {
        Some(id) => {
            let answer = AnswerIntent { answer: given };
            client.call(Method::POST, &one(id, "/answer"), Some(&answer)).await?
        }
        None => {
            let project = here::project_for_new(context, client, asked.project.as_deref()).await?;
            let new = NewIntent {
                text: given,
                project_id: Some(project),
                agents: asked.agents,
                budget_micros: asked.budget,
                harness: asked.harness.clone(),
                model: asked.model.clone(),
                rules: asked.rules,
            };
            client.call(Method::POST, PATH, Some(&new)).await?
        }
    };
    decide(context, client, intent, &asked).await
}

fn one(id: &str, verb: &str) -> String {
    format!("{PATH}/{}{verb}", segment(id))
}

/// Shows what was understood, and starts it on a yes.
async fn decide(
    context: &Context,
    client: &Client,
    mut intent: Intent,
    asked: &Do,
) -> Result<Exit> {
    let output = context.output;
    let person = std::io::stdin().is_terminal() && !output.is_json();
    let quiet = output.is_json() && asked.yes && intent.state == "planned";
    if !quiet {
        draw::present(output, &intent)?;
    }
    while intent.state == "asking" && person && !asked.plan_only {
        output.ask("answer: ");
        let line = read_line()?;
        let Some(question) = intent.question.as_ref().filter(|_| !line.is_empty()) else { break };
        // A choice can be named by its number.
        let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let choice =
            number.and_then(|at| question.choices.get(at)).map(|choice| choice.value.clone());
        let answer = AnswerIntent { answer: choice.unwrap_or(line) };
        let path = one(&intent.id.to_string(), "/answer");
        intent = client.call(Method::POST, &path, Some(&answer)).await?;
        draw::present(output, &intent)?;
    }
    let id = intent.id;
    match intent.state.as_str() {
        "asking" => {
            output.remark(format_args!("`godel do --answer {id} ANSWER` answers it"));
            Ok(Exit::Conflict)
        }
        "planned" if asked.plan_only => {
            output.remark(format_args!("`godel do --start {id}` starts it"));
            Ok(Exit::Done)
        }
        "planned" if asked.yes => start(context, client, &id.to_string(), asked).await,
        "planned" if person => {
            output.ask("Start it? [y/N] ");
            if matches!(read_line()?.to_lowercase().as_str(), "y" | "yes") {
                return start(context, client, &id.to_string(), asked).await;
            }
            output
                .remark(format_args!("nothing was started; `godel do --start {id}` does it later"));
            Ok(Exit::Done)
        }
        "planned" => {
            Err(Invalid::new(code::INTENT_STATE, "nobody said yes, so nothing was started")
                .with_hint(format!("the plan is kept: godel do --start {id}; or say --yes at once"))
                .into())
        }
        _ => Ok(Exit::Done),
    }
}

async fn start(context: &Context, client: &Client, id: &str, asked: &Do) -> Result<Exit> {
    // What was said with the intent is in its plan, narrowed by its words; only a later start says it anew.
    let (attempts, models) = (asked.ways.attempts, asked.ways.models.clone());
    let together = asked.together.then_some(true);
    let go = match asked.start.is_some() {
        true => StartIntent {
            agents: asked.agents,
            budget_micros: asked.budget,
            harness: asked.harness.clone(),
            model: asked.model.clone(),
            attempts,
            models,
            together,
        },
        false => StartIntent { attempts, models, together, ..StartIntent::default() },
    };
    let started: Intent = client.call(Method::POST, &one(id, "/start"), Some(&go)).await?;
    let output = context.output;
    if output.is_json() && !asked.watch {
        output.value(&started)?;
        return Ok(Exit::Done);
    }
    for line in &started.words {
        output.line(plain(line))?;
    }
    let Some(convoy) = &started.convoy else { return Ok(Exit::Done) };
    if asked.watch {
        return watch::run(context, convoy, asked.project.as_deref()).await;
    }
    output.remark(format_args!("`godel watch {convoy}` shows how it goes"));
    Ok(Exit::Done)
}

fn read_line() -> Result<String> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|cause| Error::file("stdin", "read", cause))?;
    Ok(line.trim().to_owned())
}

async fn list(context: &Context, client: &Client) -> Result<Exit> {
    let page: Page<Intent> =
        client.call(Method::GET, &format!("{PATH}?limit={LISTED}"), NOTHING).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&json!({ "items": page.items }))?;
        return Ok(Exit::Done);
    }
    if page.items.is_empty() {
        output.remark("nothing was asked for yet; `godel do \"Add a landing page\"` asks");
        return Ok(Exit::Done);
    }
    let row =
        |one: Intent| [one.id.to_string(), one.state, one.kind, cut(&plain(&one.text), TEXT_WIDTH)];
    output.listing(["ID", "STATE", "TYPE", "TEXT"], page.items.into_iter().map(row).collect())?;
    Ok(Exit::Done)
}
