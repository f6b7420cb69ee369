//! `godel task show`: where a task is, how it came there, and what to do next.

use godel_api::{Client, Task, TaskAttempt, TaskDetail, Worker};
use godel_console::measure::{millis, since, span};
use godel_console::output::{STRONG, plain, styled};
use godel_console::{Context, Exit, Result, locate, lookup};
use godel_model::{Clock as _, SystemClock};
use jiff::Timestamp;

use super::{detail, find};
use crate::commands::queue::all_pools;
use crate::commands::worker::PATH as WORKERS;

/// How many of the tasks that it waits for are named.
const PARENTS_MAX: usize = 10;
/// How many workers are looked at to tell who could do it.
const WORKERS_MAX: usize = 1_000;

/// Shows a task.
pub(super) async fn run(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = find::id(&found.client, given).await?;
    let TaskDetail { task, attempts } = detail(&found.client, id).await?;
    if context.output.is_json() {
        context.output.value(&TaskDetail { task, attempts })?;
        return Ok(Exit::Done);
    }
    let look = Look { context, client: &found.client, now: SystemClock.now() };
    look.facts(&task)?;
    look.texts(&task)?;
    look.parents(&task).await?;
    look.attempts(&attempts).await?;
    if let Some(line) = look.next(&task).await? {
        context.output.line(format_args!("\n{line}"))?;
    }
    Ok(Exit::Done)
}

/// What is needed to tell of a task.
struct Look<'a> {
    context: &'a Context,
    client: &'a Client,
    now: Timestamp,
}

impl Look<'_> {
    fn facts(&self, task: &Task) -> Result<()> {
        let output = self.context.output;
        let headline = format!("{} ({})", plain(&task.title), task.state);
        output.line(format_args!("{}\n", styled(STRONG, headline)))?;
        let of = task.last_attempt.unwrap_or(task.retry.max_attempts);
        let priority = match task.priority == task.asked_priority {
            true => task.priority.clone(),
            false => format!("{}, asked for was {}", task.priority, task.asked_priority),
        };
        let at = |at: Option<Timestamp>| at.map(|at| format!("{at:.0}"));
        let optional = [
            ("requires", (!task.requires.is_empty()).then(|| task.requires.join(", "))),
            ("timeout", task.timeout_seconds.map(|seconds| span(seconds as f64))),
            ("deadline", at(task.deadline)),
            ("session", task.session.clone()),
            ("key", task.key.clone()),
            ("belongs to", task.owner.clone()),
            ("ready", at(task.ready_at.filter(|_| task.ended_at.is_none()))),
            ("started", at(task.started_at)),
            ("until", at(task.ends_at)),
            ("ended", at(task.ended_at)),
        ];
        let mut rows = vec![
            ["id".to_owned(), task.id.to_string()],
            ["pool".to_owned(), task.pool.clone()],
            ["priority".to_owned(), priority],
            ["attempt".to_owned(), format!("{} of {of}", task.attempt)],
            ["made".to_owned(), format!("{:.0}", task.created_at)],
        ];
        let given = optional.into_iter().filter_map(|(name, value)| Some([name.into(), value?]));
        rows.extend(given);
        output.pairs(rows)
    }

    fn texts(&self, task: &Task) -> Result<()> {
        let output = self.context.output;
        let json = |value: &serde_json::Value| value.to_string();
        let payload = Some(json(&task.payload)).filter(|text| text != "{}");
        let texts = [
            ("payload", payload),
            ("progress", task.progress.as_ref().map(json)),
            ("result", task.result.as_ref().map(json)),
            ("is being stopped", task.stopping.clone()),
            ("error", task.error.clone()),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                output.line(format_args!("\n{name}"))?;
                output.quote(&text)?;
            }
        }
        Ok(())
    }

    /// Names what it waits for.
    async fn parents(&self, task: &Task) -> Result<()> {
        if task.waits_for == 0 || task.state != "blocked" {
            return Ok(());
        }
        let output = self.context.output;
        output.line(format_args!("\nwaits for {} of {}", task.waits_for, task.after.len()))?;
        let mut rows = Vec::new();
        for parent in &task.after {
            let parent = detail(self.client, *parent).await?.task;
            if parent.state != "succeeded" {
                rows.push([parent.id.to_string(), parent.state, parent.title]);
            }
            if rows.len() == PARENTS_MAX {
                break;
            }
        }
        output.listing(["ID", "STATE", "TITLE"], rows)
    }

    async fn attempts(&self, attempts: &[TaskAttempt]) -> Result<()> {
        if attempts.is_empty() {
            return Ok(());
        }
        let (workers, _) = lookup::first::<Worker>(self.client, WORKERS, None, WORKERS_MAX).await?;
        let name = |id: uuid::Uuid| {
            let known = workers.iter().find(|worker| worker.id == id);
            known.map_or_else(|| id.to_string(), |worker| worker.name.clone())
        };
        let rows = attempts.iter().map(|attempt| {
            let until = attempt.ended_at.unwrap_or(self.now);
            let took = until.duration_since(attempt.started_at).as_secs_f64() * 1_000.0;
            let error = attempt.error.as_deref().unwrap_or_default();
            [
                attempt.number.to_string(),
                attempt.ending.clone().unwrap_or_else(|| "running".to_owned()),
                name(attempt.worker_id),
                format!("{:.0}", attempt.started_at),
                millis(took.max(0.0)),
                error.lines().last().unwrap_or_default().to_owned(),
            ]
        });
        self.context.output.line("")?;
        let header = ["ATTEMPT", "ENDING", "WORKER", "STARTED", "TOOK", "ERROR"];
        self.context.output.listing(header, rows.collect())
    }

    /// Says what can be done next.
    async fn next(&self, task: &Task) -> Result<Option<String>> {
        let id = task.id;
        Ok(match (task.state.as_str(), task.because) {
            ("ready", _) => Some(self.waiting(task).await?),
            ("delayed", _) => {
                let when = task.ready_at.map_or_else(String::new, |at| format!(" at {at:.0}"));
                Some(format!("It comes{when}. `godel task retry {id}` lets it come now."))
            }
            ("running", _) if task.stopping.is_none() => {
                Some(format!("`godel task cancel {id}` stops it."))
            }
            ("dead", _) => Some(format!("`godel task retry {id}` puts it back into the queue.")),
            ("cancelled", Some(because)) => Some(format!(
                "Task {because} did not succeed, which it waited for: `godel task retry {because}` \
                 tries both again."
            )),
            ("cancelled", None) => Some(format!("`godel task retry {id}` puts it back.")),
            _ => None,
        })
    }

    /// Says for whom a task waits that is ready.
    async fn waiting(&self, task: &Task) -> Result<String> {
        let pool = &task.pool;
        let pools = all_pools(self.client).await?;
        if pools.iter().any(|one| one.name == *pool && one.paused) {
            return Ok(format!("Pool {pool} is paused: `godel queue resume {pool}` opens it."));
        }
        let (workers, _) = lookup::first::<Worker>(self.client, WORKERS, None, WORKERS_MAX).await?;
        let able = |worker: &&Worker| {
            worker.pool == *pool
                && task.requires.iter().all(|need| worker.capabilities.contains(need))
                && matches!(worker.status.as_str(), "idle" | "busy")
        };
        let count = workers.iter().filter(able).count();
        if count > 0 {
            let who = if count == 1 { "1 worker".to_owned() } else { format!("{count} workers") };
            let waited = task.ready_at.map_or_else(String::new, |at| {
                format!(" It has waited for {}.", since(at, self.now))
            });
            return Ok(format!("{who} could do it when there is room.{waited}"));
        }
        let needs = match task.requires.is_empty() {
            true => String::new(),
            false => format!(" --capability {}", task.requires.join(",")),
        };
        let start = format!("`godel worker run --pool {pool}{needs} -- COMMAND`");
        Ok(format!("No worker is there that could do it: {start} starts one."))
    }
}
