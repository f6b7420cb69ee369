//! `godel dead delete`: dead letters that nobody needs any more.

use godel_api::{Client, ClientError, Page, Task};
use godel_args::queue::DeadFilter;
use godel_console::lookup::{NOTHING, PAGE_MAX};
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Report as _, code};
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use super::{Deed, PATH, agreed, dead, may_all, meant};

const DELETE: Deed = ["remove", "Remove", "removed"];

/// Removes those that are named.
pub(super) async fn named(context: &Context, given: &[String], yes: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let mut tasks = Vec::with_capacity(given.len());
    for name in given {
        let hint = "`godel task cancel TASK` ends one that is not over";
        tasks.push(dead(&found.client, name, hint).await?.id);
    }
    if tasks.len() > 1 && !yes && !agreed(context, DELETE, &tasks.len().to_string()).await? {
        return Ok(Exit::Failure);
    }
    for task in &tasks {
        delete(&found.client, *task).await?;
    }
    tell(context, tasks.len() as u64, 0)
}

/// Removes all that a filter matches, page by page, so that there may be any number of them.
pub(super) async fn matching(
    context: &Context,
    (all, filter): (bool, DeadFilter),
    yes: bool,
) -> Result<Exit> {
    let query = meant(all, &filter)?;
    let found = locate::server(context).await?;
    if !yes && !may_all(context, (&found.client, query.clone()), DELETE).await? {
        return Ok(Exit::Failure);
    }
    let (filter, mut cursor) = (query.to_string(), None);
    let (mut deleted, mut kept) = (0, 0);
    loop {
        let mut query = vec![("limit", PAGE_MAX.to_string()), ("filter", filter.clone())];
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let page: Page<Task> = found.client.page(PATH, &query).await?;
        for task in &page.items {
            match delete(&found.client, task.id).await {
                Ok(()) => deleted += 1,
                // Somebody else was faster.
                Err(error) if error.code() == code::TASK_NOT_FOUND => {}
                Err(error) if error.code() == code::TASK_STATE => kept += 1,
                Err(error) => return Err(error.into()),
            }
        }
        cursor = page.pagination.cursor.filter(|_| page.pagination.has_more);
        if cursor.is_none() {
            return tell(context, deleted, kept);
        }
    }
}

async fn delete(client: &Client, task: Uuid) -> std::result::Result<(), ClientError> {
    client.act(Method::DELETE, &format!("{PATH}/{task}"), NOTHING).await
}

fn tell(context: &Context, deleted: u64, kept: u64) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(&json!({ "deleted": deleted, "kept": kept }))?;
        return Ok(Exit::Done);
    }
    context.output.line(match deleted {
        0 => "there was nothing to remove".to_owned(),
        1 => "1 dead letter is removed".to_owned(),
        many => format!("{many} dead letters are removed"),
    })?;
    if kept > 0 {
        context.output.note(format_args!("{kept} stay: their runs are not over"));
    }
    Ok(Exit::Done)
}
