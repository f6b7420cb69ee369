//! `godel task create`.

use std::time::Duration;

use godel_api::{NewTask, TaskDetail, TaskMade, TaskRetry};
use godel_args::queue::{NewTask as Asked, TaskOptions};
use godel_console::lookup::NOTHING;
use godel_console::measure::millis;
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Capability, Clock as _, PoolName, SystemClock};
use godel_worker::Patience;
use reqwest::Method;

use super::{PATH, find, input};
use crate::commands::worker::notes;

/// How long to wait at first before asking whether a task is over.
const LOOK_FIRST: Duration = Duration::from_millis(50);
/// How long to wait at most.
const LOOK_LAST: Duration = Duration::from_secs(2);

/// Reads what tasks and those of schedules have in common.
pub(in crate::commands) fn asked(title: String, options: TaskOptions) -> Result<NewTask> {
    let TaskOptions { payload, pool, priority, require, .. } = options;
    let TaskOptions { max_attempts, retry_delay, retry_max_delay, .. } = options;
    let TaskOptions { elsewhere, timeout, session, .. } = options;
    let usual = TaskRetry::default();
    let millis = |seconds: u64| seconds.saturating_mul(1_000);
    let delay_ms = retry_delay.map_or(usual.delay_ms, millis);
    // A first pause that is longer than the usual longest one makes that longer, too.
    let max_delay_ms = retry_max_delay.map_or(usual.max_delay_ms.max(delay_ms), millis);
    let max_attempts = max_attempts.unwrap_or(usual.max_attempts);
    let retry = TaskRetry { max_attempts, delay_ms, max_delay_ms, elsewhere };
    pool.as_deref().map(str::parse::<PoolName>).transpose()?;
    require.iter().try_for_each(|word| word.parse::<Capability>().map(drop))?;
    Ok(NewTask {
        title,
        payload: payload.map(|given| input::object(&given, "payload")).transpose()?,
        pool,
        priority,
        requires: require,
        retry: (retry != usual).then_some(retry),
        timeout_seconds: timeout,
        session,
        ..NewTask::default()
    })
}

/// Makes a task.
pub(super) async fn run(context: &Context, new: Asked) -> Result<Exit> {
    let Asked { title, options, start_at, delay, deadline, after, key, wait } = new;
    let now = SystemClock.now();
    let delay = delay.and_then(|delay| now.checked_add(delay).ok());
    let mut task = NewTask {
        start_at: start_at.map(|at| at.ahead(now)).or(delay),
        deadline: deadline.map(|at| at.ahead(now)),
        key,
        ..asked(title, options)?
    };
    let found = locate::server(context).await?;
    for parent in &after {
        task.after.push(find::id(&found.client, parent).await?);
    }
    let made: TaskMade = found.client.call(Method::POST, PATH, Some(&task)).await?;
    if wait {
        return wait_for(context, Patience::new(found.client, notes(context.output)), &made).await;
    }
    present(context, &made)
}

/// Tells which task was made.
pub(super) fn present(context: &Context, made: &TaskMade) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(made)?;
        return Ok(Exit::Done);
    }
    context.output.line(made.id)?;
    match (&made.state, made.fresh) {
        (Some(state), true) => context.output.remark(format_args!("it is {state}")),
        _ => context.output.note("note: it was there before, with the same key"),
    }
    Ok(Exit::Done)
}

/// Waits until a task is over; a server that is gone for a while does not matter.
async fn wait_for(context: &Context, server: Patience, made: &TaskMade) -> Result<Exit> {
    let output = context.output;
    output.remark(format_args!("waiting for {}; Ctrl-C ends the waiting, not the task", made.id));
    let path = format!("{PATH}/{}", made.id);
    let mut pause = LOOK_FIRST;
    let detail: TaskDetail = loop {
        let look = || server.client.call::<TaskDetail>(Method::GET, &path, NOTHING);
        let detail = server.until_answered(look).await?;
        if detail.task.ended_at.is_some() {
            break detail;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_LAST);
    };
    let task = &detail.task;
    let exit = if task.state == "succeeded" { Exit::Done } else { Exit::Failure };
    if output.is_json() {
        output.value(&detail)?;
        return Ok(exit);
    }
    if exit == Exit::Done {
        let took = task.started_at.zip(task.ended_at);
        let took = took.map(|(from, to)| millis(to.duration_since(from).as_secs_f64() * 1_000.0));
        output.remark(format_args!("done after {}", took.unwrap_or_default()));
        let result = task.result.as_ref().map(ToString::to_string);
        output.line(result.unwrap_or_else(|| "{}".to_owned()))?;
    } else {
        let why = task.error.as_deref().unwrap_or("no reason was told");
        output.note(format_args!("task {} is {}: {}", task.id, task.state, plain(why)));
        output.note(format_args!("  hint: `godel task show {}` tells more", task.id));
    }
    Ok(exit)
}
