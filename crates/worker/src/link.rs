//! What a worker and its server say to each other.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use godel_api::{
    ClaimTasks, ClientError, GivenTask, GivenTasks, NewWorker, ProgressTask, ReleaseTask,
    TaskDetail, TaskSaid, Worker, WorkerBeat,
};
use godel_model::{Code, Report as _, code};
use reqwest::Method;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::book::Key;
use crate::patience::{Patience, may_pass};

/// Where workers are.
const PATH: &str = "/api/v1/workers";
/// Where tasks are.
const TASKS: &str = "/api/v1/tasks";
/// A call without a body.
const NOTHING: Option<&()> = None;
/// How often a worker says that it lives; it is gone after 30 seconds of silence.
const BEAT_EVERY: Duration = Duration::from_secs(5);
/// How soon it tries again if nobody heard it.
const BEAT_AGAIN: Duration = Duration::from_secs(1);
/// How long a word that is not repeated may take.
const WORD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server may wait for tasks before it answers.
const CLAIM_WAIT_MS: u64 = 30_000;
/// A claim that found nothing is not repeated sooner: a server that stops answers at once.
const CLAIM_SPACING: Duration = Duration::from_secs(1);

/// What the server made of a report.
#[derive(Debug)]
pub(crate) enum Told {
    /// It was noted.
    Noted(TaskSaid),
    /// The attempt is in other hands.
    Lost,
    /// It was refused, and will be if it is repeated.
    Refused(ClientError),
}

/// What comes from the server without being asked for.
#[derive(Debug)]
pub(crate) enum News {
    /// What this worker has by the book, asked for at this time.
    Held(Instant, WorkerBeat),
    /// The server does not know this worker any more.
    Gone(Uuid),
    /// The server does not want to hear of us.
    Refused(ClientError),
}

/// A worker's line to its server. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Link(pub(crate) Patience);

/// Tells whether a refusal has this reason.
pub(crate) fn is(error: &ClientError, code: Code) -> bool {
    error.code() == code
}

impl Link {
    /// Registers a worker, once.
    pub(crate) async fn register(&self, new: &NewWorker) -> Result<Worker, ClientError> {
        self.0.client.call(Method::POST, PATH, Some(new)).await
    }

    /// Registers a worker again, when the server is there.
    pub(crate) async fn register_again(&self, new: &NewWorker) -> Result<Worker, ClientError> {
        self.0.until_answered(|| self.register(new)).await
    }

    /// Waits for tasks; an empty list means that none came.
    pub(crate) async fn claim(
        &self,
        worker: Uuid,
        free: u32,
    ) -> Result<Vec<GivenTask>, ClientError> {
        let path = format!("{PATH}/{worker}/claim");
        let body = ClaimTasks { free: Some(free), wait_ms: Some(CLAIM_WAIT_MS) };
        let asked = Instant::now();
        let call = || self.0.client.call::<GivenTasks>(Method::POST, &path, Some(&body));
        let given = self.0.until_answered(call).await?.tasks;
        if given.is_empty() {
            sleep(CLAIM_SPACING.saturating_sub(asked.elapsed())).await;
        }
        Ok(given)
    }

    /// Says again and again that the worker lives, and passes on what it hears.
    pub(crate) async fn beat(self, worker: Uuid, news: mpsc::Sender<News>) {
        let path = format!("{PATH}/{worker}/heartbeat");
        loop {
            let asked = Instant::now();
            let call = self.0.client.call::<WorkerBeat>(Method::POST, &path, NOTHING);
            let (heard, pause) = match timeout(WORD_TIMEOUT, call).await {
                Ok(Ok(beat)) => {
                    self.0.note(None);
                    (Some(News::Held(asked, beat)), BEAT_EVERY)
                }
                Ok(Err(error)) if is(&error, code::WORKER_NOT_FOUND) => {
                    // Nobody listens any more if the worker has ended.
                    news.send(News::Gone(worker)).await.ok();
                    return;
                }
                Ok(Err(error)) if !may_pass(&error) => {
                    news.send(News::Refused(error)).await.ok();
                    return;
                }
                Ok(Err(error)) => {
                    self.0.note(Some(&error));
                    (None, BEAT_AGAIN)
                }
                Err(_) => (None, BEAT_AGAIN),
            };
            if let Some(heard) = heard
                && news.send(heard).await.is_err()
            {
                return;
            }
            sleep(pause).await;
        }
    }

    /// Reports how an attempt ended, until the server has taken it in or does not want it.
    pub(crate) async fn report(
        &self,
        (worker, (task, attempt)): (Uuid, Key),
        verb: &str,
        body: &(impl Serialize + Sync),
    ) -> Told {
        let path = format!("{TASKS}/{task}/{verb}");
        let tries = AtomicU32::new(0);
        let call = || {
            tries.fetch_add(1, Ordering::Relaxed);
            self.0.client.call::<TaskSaid>(Method::POST, &path, Some(body))
        };
        match self.0.until_answered(call).await {
            Ok(said) => Told::Noted(said),
            Err(error) if is(&error, code::TASK_LEASE_LOST) => {
                // The first word may have been taken in, and only its answer lost.
                let again = tries.load(Ordering::Relaxed) > 1;
                match again && self.was_done(worker, (task, attempt)).await {
                    true => Told::Noted(said("succeeded")),
                    false => Told::Lost,
                }
            }
            Err(error) if is(&error, code::WORKER_NOT_FOUND) => Told::Lost,
            Err(error) => Told::Refused(error),
        }
    }

    /// Tells whether this very attempt succeeded.
    async fn was_done(&self, worker: Uuid, (task, attempt): Key) -> bool {
        let path = format!("{TASKS}/{task}");
        let found = self.0.client.call::<TaskDetail>(Method::GET, &path, NOTHING).await;
        found.is_ok_and(|TaskDetail { task, .. }| {
            task.state == "succeeded" && task.attempt == attempt && task.worker_id == Some(worker)
        })
    }

    /// Gives an attempt back; tried once, because the next heartbeat finds it again.
    pub(crate) async fn give_back(&self, worker: Uuid, (task, attempt): Key) {
        let path = format!("{TASKS}/{task}/release");
        let body = ReleaseTask { worker_id: worker, attempt };
        let call = self.0.client.call::<TaskSaid>(Method::POST, &path, Some(&body));
        // What is refused is not ours.
        drop(timeout(WORD_TIMEOUT, call).await);
    }

    /// Tells how far an attempt is; what is not heard is not repeated, because more comes.
    pub(crate) async fn progress(
        &self,
        (worker, (task, attempt)): (Uuid, Key),
        progress: Box<RawValue>,
    ) -> Option<Told> {
        let path = format!("{TASKS}/{task}/progress");
        let body = ProgressTask { worker_id: worker, attempt, progress };
        let call = self.0.client.call::<TaskSaid>(Method::POST, &path, Some(&body));
        match timeout(WORD_TIMEOUT, call).await.ok()? {
            Ok(said) => Some(Told::Noted(said)),
            Err(error) if is(&error, code::TASK_LEASE_LOST) => Some(Told::Lost),
            Err(_) => None,
        }
    }

    /// Takes a worker off the list; what it has goes back.
    pub(crate) async fn leave(&self, worker: Uuid) -> Result<(), ClientError> {
        let path = format!("{PATH}/{worker}");
        self.0.until_answered(|| self.0.client.act(Method::DELETE, &path, NOTHING)).await
    }
}

fn said(state: &str) -> TaskSaid {
    TaskSaid { state: state.to_owned(), again_at: None, stop: None, tasks: Vec::new() }
}
