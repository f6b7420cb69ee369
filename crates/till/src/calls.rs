//! `godel calls`: requests to models, one by one.

use godel_api::{ModelCall, ModelCallBody, ModelCalls};
use godel_args::models::Narrow;
use godel_args::units::When;
use godel_console::measure::{millis, money, number};
use godel_console::output::{STRONG, styled};
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::names::{self, Names};

/// The largest page that a server gives.
const PAGE_MAX: u32 = 1_000;
/// The columns of comma-separated values; those of users and projects are names.
const COLUMNS: [&str; 29] = [
    "timestamp",
    "id",
    "requestId",
    "attempt",
    "user",
    "project",
    "agentId",
    "beadId",
    "convoyId",
    "provider",
    "model",
    "asked",
    "dialect",
    "streamed",
    "outcome",
    "status",
    "inputTokens",
    "cacheReadTokens",
    "cacheWriteTokens",
    "outputTokens",
    "reasoningTokens",
    "costMicros",
    "estimated",
    "latency",
    "error",
    "paidBy",
    "price",
    "savedByCacheMicros",
    "savedByRoutingMicros",
];

/// Which attempts are listed, beside what they are about.
#[derive(Debug)]
pub(crate) struct Which {
    pub(crate) since: Option<When>,
    pub(crate) until: Option<When>,
    pub(crate) outcome: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) limit: u32,
}

/// Prints attempts, the newest first.
pub(crate) async fn run(
    context: &Context,
    narrow: &Narrow,
    which: Which,
    csv: bool,
) -> Result<Exit> {
    let found = locate::server(context).await?;
    let Which { since, until, outcome, session, limit } = which;
    let mut query = names::query(&found.client, narrow).await?;
    let time = |when: When| when.time(SystemClock.now()).to_string();
    query.extend(since.map(|since| ("from", time(since))));
    query.extend(until.map(|until| ("to", time(until))));
    query.extend(outcome.map(|outcome| ("outcome", outcome)));
    query.extend(session.map(|session| ("session", session)));
    let mut all: Vec<ModelCall> = Vec::new();
    let mut next = None;
    let more = loop {
        let missing = limit.saturating_sub(u32::try_from(all.len()).unwrap_or(limit));
        let mut query = query.clone();
        query.push(("limit", missing.clamp(1, PAGE_MAX).to_string()));
        query.extend(next.take().map(|next| ("before", next)));
        let page: ModelCalls = found.client.get("/proxy/v1/audit", &query).await?;
        all.extend(page.logs);
        next = page.next;
        if next.is_none() || all.len() >= limit as usize {
            break next.is_some();
        }
    };
    if context.output.is_json() {
        context.output.value(&json!({ "items": all, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    let projects = csv && all.iter().any(|call| call.project_id.is_some());
    let names = Names::load(context, &found.client, projects, csv && !all.is_empty()).await?;
    if csv {
        context.output.csv(&lines(&all, &names))?;
    } else {
        print(context, all)?;
    }
    if more {
        context.output.remark("there are older ones: raise --limit");
    }
    Ok(Exit::Done)
}

/// Prints one attempt, and what was said in it if that is wanted and was kept.
pub(crate) async fn show(context: &Context, id: &str, body: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let path = format!("/proxy/v1/audit/{id}");
    let call: ModelCall = found.client.get(&path, &[]).await?;
    let said: Option<ModelCallBody> = match body {
        true => Some(found.client.get(&format!("{path}/body"), &[]).await?),
        false => None,
    };
    if context.output.is_json() {
        match said {
            Some(said) => context.output.value(&json!({ "call": call, "body": said }))?,
            None => context.output.value(&call)?,
        }
        return Ok(Exit::Done);
    }
    let fields = json!(call);
    let rows = fields.as_object().into_iter().flatten().filter_map(|(name, value)| {
        let text = match value {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some([name.clone(), text])
    });
    context.output.pairs(rows.collect())?;
    if let Some(said) = said {
        for (what, text, bytes) in [
            ("Asked", said.request, said.request_bytes),
            ("Answered", said.reply, said.reply_bytes),
        ] {
            context.output.line("")?;
            let title = format!("{what} ({} bytes)", number(bytes));
            context.output.line(styled(STRONG, title))?;
            context.output.quote(&text)?;
        }
    }
    Ok(Exit::Done)
}

fn lines(calls: &[ModelCall], names: &Names) -> Vec<Vec<String>> {
    let mut lines = vec![COLUMNS.map(ToOwned::to_owned).to_vec()];
    for call in calls {
        let fields = json!(call);
        let field = |name: &&str| match *name {
            "user" => names.of(&call.user_id.to_string()),
            "project" => names.maybe(call.project_id).unwrap_or_default(),
            name => match &fields[name] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
        };
        lines.push(COLUMNS.iter().map(field).collect());
    }
    lines
}

fn print(context: &Context, calls: Vec<ModelCall>) -> Result<()> {
    let rows = calls.into_iter().map(|call| {
        let input = call.input_tokens + call.cache_read_tokens + call.cache_write_tokens;
        let about = if call.estimated { "~" } else { "" };
        let cost = match (call.cost_micros, call.outcome.as_str()) {
            _ if call.paid_by == "login" => "subscription".to_owned(),
            _ if call.paid_by == "cache" => "from cache".to_owned(),
            (Some(cost), _) => format!("{about}{}", money(cost)),
            (None, "open") => "-".to_owned(),
            (None, _) => "unknown".to_owned(),
        };
        [
            format!("{:.0}", call.timestamp),
            call.agent_id.unwrap_or_else(|| "-".to_owned()),
            format!("{}/{}", call.provider, call.model),
            call.outcome,
            format!("{about}{}", number(input)),
            format!("{about}{}", number(call.output_tokens)),
            cost,
            call.latency.map_or("-".to_owned(), millis),
            call.error.unwrap_or_default(),
        ]
    });
    let header = ["TIME", "AGENT", "MODEL", "OUTCOME", "INPUT", "OUTPUT", "COST", "TOOK", "ERROR"];
    context.output.listing(header, rows.collect())
}
