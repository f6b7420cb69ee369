//! `godel events`: follow, list and publish events.

use std::io::Read as _;

use godel_api::{Event, NewEvent, NewEventMetadata, Page, StreamItem};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{EventType, Invalid, Pattern, code};
use serde_json::json;
use serde_json::value::RawValue;

/// The largest page that a server gives.
const PAGE_MAX: u32 = 100;
/// What is read from stdin at most: more than any payload may have.
const STDIN_MAX_BYTES: u64 = 1024 * 1024;

/// An event as it was given on the command line.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) kind: String,
    pub(crate) payload: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) correlation: Option<String>,
}

/// Follows events until the limit is reached.
pub(crate) async fn tail(
    context: &Context,
    patterns: Vec<String>,
    after: Option<i64>,
    limit: Option<u64>,
) -> Result<Exit> {
    patterns.iter().try_for_each(|pattern| pattern.parse::<Pattern>().map(drop))?;
    if after.is_some_and(|after| after < 0) {
        return Err(Error::usage(
            "a position is not negative",
            "--after 0 is the beginning of the log",
        ));
    }
    let found = locate::server(context).await?;
    context.output.remark(format_args!("following {}; Ctrl-C ends it", found.client.url()));
    let mut stream = found.client.follow(patterns, after);
    let (mut seen, mut lost) = (0, false);
    while limit.is_none_or(|limit| seen < limit) {
        match stream.next().await? {
            StreamItem::Event(event) => {
                if std::mem::take(&mut lost) {
                    context.output.note("note: connected again");
                }
                print(context, &event)?;
                seen += 1;
            }
            StreamItem::Lagged(gap) => context.output.note(format_args!(
                "note: events {} to {} are gone: retention removed them",
                gap.from_sequence, gap.to_sequence
            )),
            StreamItem::Interrupted(error, _) => {
                if !std::mem::replace(&mut lost, true) {
                    context.output.note(format_args!("note: {error}; trying again until it does"));
                }
            }
        }
    }
    Ok(Exit::Done)
}

/// Records an event and prints it.
pub(crate) async fn publish(context: &Context, draft: Draft) -> Result<Exit> {
    draft.kind.parse::<EventType>()?;
    let payload = draft.payload.as_deref().map(payload).transpose()?;
    let metadata = draft
        .correlation
        .map(|id| NewEventMetadata { correlation_id: Some(id), ..NewEventMetadata::default() });
    let event = NewEvent { kind: draft.kind, payload, metadata, instance: None };
    let found = locate::server(context).await?;
    let recorded = found.client.publish(&event, draft.idempotency_key.as_deref()).await?;
    print(context, &recorded)?;
    Ok(Exit::Done)
}

/// Reads a payload from the command line or from stdin.
fn payload(given: &str) -> Result<Box<RawValue>> {
    let text = if given == "-" { stdin()? } else { given.to_owned() };
    serde_json::from_str(&text).map_err(|error| {
        Invalid::new(code::INVALID_JSON, format!("the payload is not JSON: {error}"))
            .with_hint("for example --payload '{\"version\": \"1.4\"}', in single quotes")
            .into()
    })
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(STDIN_MAX_BYTES).read_to_string(&mut text);
    let read = read.map_err(|cause| Error::file("stdin", "read", cause))?;
    if read as u64 == STDIN_MAX_BYTES {
        return Err(Invalid::new(code::INVALID_FIELD, "a payload must have at most 64 KiB").into());
    }
    Ok(text)
}

/// Lists the newest events, page by page up to the limit.
pub(crate) async fn list(
    context: &Context,
    limit: u32,
    kind: Option<String>,
    mut cursor: Option<String>,
) -> Result<Exit> {
    kind.as_deref().map(str::parse::<Pattern>).transpose()?;
    let found = locate::server(context).await?;
    let filter = kind.map(|kind| json!({ "type": kind }).to_string());
    let mut all: Vec<Event> = Vec::new();
    let last = loop {
        let missing = limit - u32::try_from(all.len()).unwrap_or(limit).min(limit);
        let mut query = vec![("limit", missing.min(PAGE_MAX).to_string())];
        query.push(("sort", "-sequence".to_owned()));
        query.extend(filter.clone().map(|filter| ("filter", filter)));
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let page: Page<Event> = found.client.events(&query).await?;
        all.extend(page.items);
        let full = all.len() >= limit as usize;
        if full || !page.pagination.has_more || page.pagination.cursor.is_none() {
            break page.pagination;
        }
        cursor = page.pagination.cursor;
    };
    if context.output.is_json() {
        context.output.value(&Page { items: all, pagination: last })?;
        return Ok(Exit::Done);
    }
    let rows = all.iter().map(|event| {
        let actor = event.metadata.actor.clone().unwrap_or_default();
        let at = format!("{:.3}", event.timestamp);
        [event.sequence.to_string(), at, event.kind.clone(), actor, event.payload.to_string()]
    });
    context.output.table(["SEQ", "TIME", "TYPE", "ACTOR", "PAYLOAD"], rows.collect())?;
    if let Some(cursor) = last.cursor.filter(|_| last.has_more) {
        context.output.remark(format_args!("there are older ones: --cursor {cursor}"));
    }
    Ok(Exit::Done)
}

/// Prints one event on one line.
fn print(context: &Context, event: &Event) -> Result<()> {
    if context.output.is_json() {
        return context.output.value(event);
    }
    let actor = event.metadata.actor.as_deref().unwrap_or("-");
    let Event { sequence, kind, timestamp, payload, .. } = event;
    context.output.line(format_args!("{sequence:>6}  {timestamp:.3}  {kind}  {actor}  {payload}"))
}
