//! `godel audit`: the record of who did what.

use std::time::Duration;

use godel_api::{AuditEntry, AuditVerdict, Client, ClientError, Page, Pagination};
use godel_args::access::{Acts, Audit as Asked};
use godel_console::lookup::{self, NOTHING, PAGE_MAX};
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Clock as _, Invalid, Report as _, SystemClock, code};
use reqwest::Method;
use serde_json::{Map, json};

/// How long an export waits when the server asks it to go slower, and how often.
const SLOW_DOWN: Duration = Duration::from_secs(2);
const SLOW_DOWN_MAX: u32 = 60;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Query { acts, limit } => query(context, &acts, limit).await,
        Asked::Verify => verify(context).await,
        Asked::Export { acts } => export(context, &acts).await,
    }
}

/// Writes which acts are meant as the server reads it.
async fn filter(client: &Client, acts: &Acts) -> Result<String> {
    let now = SystemClock.now();
    let mut fields = Map::new();
    let mut field = |name: &str, value: Option<String>| {
        fields.extend(value.map(|value| (name.to_owned(), value.into())));
    };
    field("action", acts.action.clone());
    field("result", acts.result.clone());
    field("since", acts.since.map(|when| when.time(now).to_string()));
    field("until", acts.until.map(|when| when.time(now).to_string()));
    if let Some(user) = &acts.user {
        field("userId", Some(lookup::user(client, user).await?.id.to_string()));
    }
    Ok(json!(fields).to_string())
}

async fn page(
    client: &Client,
    filter: &str,
    limit: u32,
    cursor: Option<String>,
) -> Result<Page<AuditEntry>, ClientError> {
    let mut query = vec![("limit", limit.to_string()), ("filter", filter.to_owned())];
    query.extend(cursor.map(|cursor| ("cursor", cursor)));
    client.page("/api/v1/audit", &query).await
}

/// Returns how to go on, if there is more.
fn next(pagination: &Pagination) -> Option<String> {
    pagination.cursor.clone().filter(|_| pagination.has_more)
}

async fn query(context: &Context, acts: &Acts, limit: u32) -> Result<Exit> {
    let found = locate::server(context).await?;
    let filter = filter(&found.client, acts).await?;
    let mut all: Vec<AuditEntry> = Vec::new();
    let mut cursor = None;
    loop {
        let missing = limit.saturating_sub(u32::try_from(all.len()).unwrap_or(limit));
        let some = page(&found.client, &filter, missing.clamp(1, PAGE_MAX), cursor).await?;
        all.extend(some.items);
        cursor = next(&some.pagination);
        if cursor.is_none() || all.len() >= limit as usize {
            break;
        }
    }
    if context.output.is_json() {
        context.output.value(&json!({ "items": all, "hasMore": cursor.is_some() }))?;
        return Ok(Exit::Done);
    }
    let rows = all.into_iter().map(|act| {
        let nobody = || act.user_id.map_or("-".to_owned(), |id| id.to_string());
        let actor = act.actor.clone().unwrap_or_else(nobody);
        let address = act.address.unwrap_or_else(|| "-".to_owned());
        let at = format!("{:.3}", act.at);
        [act.seq.to_string(), at, actor, address, act.action, act.resource, act.result]
    });
    let header = ["SEQ", "TIME", "ACTOR", "ADDRESS", "ACTION", "RESOURCE", "RESULT"];
    context.output.table(header, rows.collect())?;
    if cursor.is_some() {
        context.output.remark("there are older ones: raise --limit, or narrow with --until");
    }
    Ok(Exit::Done)
}

async fn verify(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let verdict: AuditVerdict =
        found.client.call(Method::GET, "/api/v1/audit/verify", NOTHING).await?;
    if !verdict.whole {
        let row = verdict.broken_at.map_or("an unknown row".to_owned(), |seq| format!("row {seq}"));
        let why = verdict.why.unwrap_or_else(|| "it does not fit".to_owned());
        let message = format!("the record of acts was altered at {row}: {why}");
        return Err(Invalid::new(code::AUDIT_BROKEN, message)
            .with_hint("keep a copy of the database as it is, and compare that row with a backup")
            .into());
    }
    if context.output.is_json() {
        context.output.value(&verdict)?;
    } else {
        context.output.line(format_args!(
            "the record is whole: {} acts, rows {} to {}",
            verdict.rows, verdict.from, verdict.upto
        ))?;
    }
    Ok(Exit::Done)
}

async fn export(context: &Context, acts: &Acts) -> Result<Exit> {
    let found = locate::server(context).await?;
    let filter = filter(&found.client, acts).await?;
    let (mut cursor, mut waits) = (None, 0);
    loop {
        let some = match page(&found.client, &filter, PAGE_MAX, cursor.clone()).await {
            Err(error) if error.code() == code::RATE_LIMITED && waits < SLOW_DOWN_MAX => {
                waits += 1;
                tokio::time::sleep(SLOW_DOWN).await;
                continue;
            }
            other => other?,
        };
        waits = 0;
        some.items.iter().try_for_each(|act| context.output.value(act))?;
        cursor = next(&some.pagination);
        if cursor.is_none() {
            return Ok(Exit::Done);
        }
    }
}
