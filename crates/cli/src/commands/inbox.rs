//! `godel inbox`: what needs a person.

use godel_api::{AnswerNotice, Client, Notice, NoticeCount};
use godel_args::agent::{Inbox, InboxWhat};
use godel_console::lookup::{self, Part};
use godel_console::measure::since;
use godel_console::output::{STRONG, WARN, plain, styled};
use godel_console::{Context, Exit, Result, locate};
use godel_decide::agent::chosen;
use godel_model::{Clock as _, SystemClock, code};
use reqwest::Method;
use serde_json::json;

use super::agent::text;

const PATH: &str = "/api/v1/inbox";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Inbox) -> Result<Exit> {
    match asked.what {
        None if asked.count => count(context).await,
        None => list(context, asked.all).await,
        Some(InboxWhat::Answer { id, text: given }) => {
            let said = text(context, &given)?;
            reply(context, &id, Some(said)).await
        }
        Some(InboxWhat::Decline { id }) => reply(context, &id, None).await,
    }
}

/// Returns what needs a person, the newest first; also what was answered, if that is wanted.
async fn notices(context: &Context, client: &Client, all: bool) -> Result<Vec<Notice>> {
    let filter = all.then(|| json!({ "state": "all" }));
    lookup::all(context, client, PATH, filter).await
}

async fn count(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let path = format!("{PATH}/count");
    let counted: NoticeCount = found.client.call(Method::GET, &path, lookup::NOTHING).await?;
    match context.output.is_json() {
        true => context.output.value(&counted)?,
        false => context.output.line(counted.open)?,
    }
    Ok(Exit::Done)
}

async fn list(context: &Context, all: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let items = notices(context, &found.client, all).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&json!({ "items": items }))?;
        return Ok(Exit::Done);
    }
    if items.is_empty() {
        output.line("Nothing needs you.")?;
        return Ok(Exit::Done);
    }
    let now = SystemClock.now();
    for (place, notice) in items.iter().enumerate() {
        if place > 0 {
            output.line("")?;
        }
        let who = whose(notice);
        let bead = notice.bead.as_ref().map_or_else(String::new, |bead| format!(" on {bead}"));
        let age = since(notice.created_at, now);
        let kind = if notice.state == "open" { WARN } else { STRONG };
        let headline = styled(kind, word(&notice.kind));
        output.line(format_args!("{headline}  {who}{bead}, {age} ago  {}", notice.id))?;
        output.quote(&notice.text)?;
        for (number, choice) in notice.choices.iter().enumerate() {
            output.line(format_args!("    {}. {}", number + 1, plain(choice)))?;
        }
        if let Some(answer) = &notice.answer {
            output.line(format_args!("  answered: {}", plain(answer)))?;
        }
    }
    output.remark("\n`godel inbox answer ID TEXT` answers; `godel inbox decline ID` does not");
    Ok(Exit::Done)
}

/// Names whose a notice is.
fn whose(notice: &Notice) -> String {
    let gate = notice.workflow.as_ref().zip(notice.step.as_ref());
    let gate = gate.map(|(workflow, step)| format!("{workflow}/{step}"));
    let pool = || notice.pool.as_ref().map(|pool| format!("pool {pool}"));
    let named = notice.agent.clone().or(gate).or_else(|| notice.scope.clone()).or_else(pool);
    plain(&named.unwrap_or_else(|| "the fleet".to_owned()))
}

/// Says what is wanted, in a word or two.
fn word(kind: &str) -> &str {
    match kind {
        "question" => "asks",
        "stuck" => "is stuck",
        "budget" => "has spent its budget, or nearly",
        "review" => "wants a review",
        "approval" => "needs a yes or a no",
        "dead_letters" => "has dead letters",
        other => other,
    }
}

async fn reply(context: &Context, given: &str, said: Option<String>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let open = notices(context, &found.client, false).await?;
    let missing = (code::NOTICE_NOT_FOUND, "`godel inbox` shows what is open");
    let part = Part { given, kind: "notice", missing };
    let shown = |notice: &Notice| {
        let first = notice.text.lines().next().unwrap_or_default();
        (notice.id, plain(first))
    };
    let notice = part.pick(open, shown, |_| false)?;
    let closed = answer(&found.client, &notice, said).await?;
    if context.output.is_json() {
        context.output.value(&closed)?;
        return Ok(Exit::Done);
    }
    let who = whose(&closed);
    context.output.line(match &closed.answer {
        Some(answer) if closed.agent.is_none() => format!("{who}: {}", plain(answer)),
        Some(answer) => format!("{who} is told: {}", plain(answer)),
        None if closed.agent.is_none() => format!("{who}: put aside"),
        None => format!("{who} decides by itself"),
    })?;
    Ok(Exit::Done)
}

/// Answers, or leaves it to the agent.
async fn answer(client: &Client, notice: &Notice, said: Option<String>) -> Result<Notice> {
    let answer = said.map(|said| chosen(&notice.choices, said));
    let path = format!("{PATH}/{}/answer", notice.id);
    Ok(client.call(Method::POST, &path, Some(&AnswerNotice { answer })).await?)
}
