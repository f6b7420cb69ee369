//! All that a step of a run has done: each time that it was begun, with its attempts or the run it started.

use godel_app::workflows::runs::{self, STEPS_MAX, StepView};
use godel_app::{App, Call};
use godel_model::{Attempt, Reach, RunId, code};
use godel_store::{Found, RunRecord, Tx};
use tracing::instrument;

use crate::{Error, Result};

/// How many times of being begun are told of, the last first.
pub const ROUNDS_MAX: usize = 10;

/// One time that a step was begun.
#[derive(Debug)]
pub struct Round {
    /// Counts from 0.
    pub number: u32,
    /// Its task, with the attempts that are over.
    pub task: Option<(Found, Vec<Attempt>)>,
    /// The run that it started.
    pub run: Option<RunRecord>,
}

/// A step with its rounds.
#[derive(Debug)]
pub struct History {
    /// How it stands.
    pub step: StepView,
    /// The last round first.
    pub rounds: Vec<Round>,
    /// Whether there are earlier rounds.
    pub cut: bool,
}

/// Tells all that a step of a run has done.
///
/// # Errors
/// If the caller may not, or there is no such run or step.
#[instrument(level = "debug", name = "board.steps.history", skip_all, fields(tenant = %call.actor.tenant, run = %id))]
pub async fn history(app: &App, call: &Call, id: RunId, name: &str) -> Result<History> {
    call.may("workflow", "read", Reach::Team)?;
    call.may("task", "read", Reach::Team)?;
    let step = find(app, call, id, name).await?;
    let numbers: Vec<u32> = (0..=step.row.round).rev().take(ROUNDS_MAX).collect();
    let cut = numbers.last().is_some_and(|first| *first > 0);
    let name = step.id.clone();
    let read = app.store.read_long(call.scope(), move |tx: &mut Tx<'_>| {
        let mut rounds = Vec::with_capacity(numbers.len());
        for number in &numbers {
            // A task and a run are begun once under the name of their round.
            let key = format!("{id}/{name}/{number}");
            let task = match tx.tasks().by_key(&key)? {
                Some(task) => tx.tasks().find(task)?.map(|found| (task, found)),
                None => None,
            };
            let task = match task {
                Some((task, found)) => Some((found, tx.tasks().attempts(task)?)),
                None => None,
            };
            rounds.push(Round { number: *number, task, run: tx.runs().by_key(&key)? });
        }
        Ok::<_, Error>(rounds)
    });
    // A run that was taken over by a later round has that one's name now.
    let mut rounds = read.await?;
    rounds.retain(|round| {
        round.number == step.row.round || round.task.is_some() || round.run.is_some()
    });
    Ok(History { step, rounds, cut })
}

async fn find(app: &App, call: &Call, id: RunId, name: &str) -> Result<StepView> {
    let mut from = 0;
    loop {
        let page = runs::steps(app, call, id, from).await?;
        let count = page.len();
        if let Some(step) = page.into_iter().find(|step| step.id == name) {
            return Ok(step);
        }
        if count < STEPS_MAX {
            return Err(Error::refused(
                code::RUN_NOT_FOUND,
                format!("run {id} has no step {name:?}"),
                format!("`godel workflow status {id}` lists its steps"),
            ));
        }
        from = from.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }
}
