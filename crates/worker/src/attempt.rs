//! One attempt of one task: the command is run, watched over, and told of.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use godel_api::{ClientError, CompleteTask, FailTask, GivenTask, ReleaseTask};
use godel_model::{Kind, Report as _};
use godel_store::fault;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep_until, timeout};
use uuid::Uuid;

use crate::book::Key;
use crate::group::{Group, Program};
use crate::heard::{Heard, Tail};
use crate::link::{Link, Told};
use crate::verdict::{Stop, Verdict, verdict};

/// How long output may come after a command has ended: who left its group may still hold the pipe.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How often at most it is told how far a command is.
const PROGRESS_SPACING: Duration = Duration::from_millis(500);
const READ_BYTES: usize = 16 * 1024;

/// How to stop an attempt: the first reason counts.
pub(crate) type Brake = Arc<watch::Sender<Option<Stop>>>;

/// Stops an attempt, unless it is being stopped already.
pub(crate) fn stop(brake: &Brake, why: Stop) {
    brake.send_if_modified(|reason| match reason {
        Some(_) => false,
        none => {
            *none = Some(why.clone());
            true
        }
    });
}

/// One attempt of one task.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) link: Link,
    pub(crate) program: Arc<Program>,
    pub(crate) worker: Uuid,
    pub(crate) task: GivenTask,
    /// When it has taken too long.
    pub(crate) ends: Option<Instant>,
    pub(crate) brake: Brake,
}

/// What became of an attempt.
#[derive(Debug)]
pub struct Ended {
    /// Which one it was.
    pub key: Key,
    /// How long it took.
    pub took: Duration,
    /// What came of it.
    pub outcome: Outcome,
}

/// What became of an attempt.
#[derive(Debug)]
pub enum Outcome {
    /// The server knows: what was told, where the task is now, and what went wrong.
    Told(&'static str, godel_api::TaskSaid, Option<String>),
    /// It is in other hands.
    Lost,
    /// The command could not be started, so the task went back.
    NotStarted(io::Error),
    /// The server does not want to hear of it.
    Refused(ClientError),
}

/// How a command ended.
struct How {
    status: Option<ExitStatus>,
    stopped: Option<Stop>,
}

impl Attempt {
    /// Returns which one it is.
    pub(crate) fn key(&self) -> Key {
        (self.task.id, self.task.attempt)
    }

    /// Runs the command, and tells the server what came of it.
    pub(crate) async fn run(self) -> Ended {
        let (key, started) = (self.key(), Instant::now());
        let outcome = match self.program.start(self.worker, &self.task) {
            Ok((child, group)) => {
                fault("worker-began");
                let verdict = self.watch_over(child, group).await;
                fault("worker-ended");
                let outcome = self.tell(verdict).await;
                fault("worker-told");
                outcome
            }
            Err(cause) => {
                self.link.give_back(self.worker, key).await;
                Outcome::NotStarted(cause)
            }
        };
        Ended { key, took: started.elapsed(), outcome }
    }

    /// Lets the command work until it ends or is stopped, and hears what it says.
    async fn watch_over(&self, mut child: Child, group: Group) -> Verdict {
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ((progress, far), over) = (watch::channel(None), Notify::new());
        let (mut stdout, mut stderr) = (Heard::default(), Tail::default());
        let payload = self.task.payload.get();
        let (out, err) = (&mut stdout, &mut stderr);
        let listen = async move {
            tokio::join!(
                feed(pipes.0, payload),
                hear(pipes.1, |bytes| {
                    if let Some(newest) = out.feed(bytes) {
                        // Who tells is gone only when all is over.
                        progress.send(Some(newest)).ok();
                    }
                }),
                hear(pipes.2, |bytes| err.push(bytes)),
            );
        };
        let ended = &over;
        let work = async move {
            let mut listen = std::pin::pin!(listen);
            let mut watch = std::pin::pin!(self.wait(&mut child, &group));
            let how = tokio::select! {
                how = &mut watch => {
                    group.sweep();
                    timeout(LAST_WORDS, listen).await.ok();
                    how
                }
                () = &mut listen => watch.await,
            };
            ended.notify_one();
            how
        };
        let (how, ()) = tokio::join!(work, self.tell_progress(far, &over));
        verdict(how.stopped, how.status, stdout, &stderr)
    }

    /// Waits until the command ends, is to be stopped, or has taken too long.
    async fn wait(&self, child: &mut Child, group: &Group) -> How {
        let mut brake = self.brake.subscribe();
        let asked = async {
            match brake.wait_for(Option::is_some).await {
                Ok(reason) => reason.clone(),
                Err(_) => None,
            }
        };
        let late = async {
            match self.ends {
                Some(at) => sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        let why = tokio::select! {
            biased;
            status = child.wait() => return How { status: status.ok(), stopped: None },
            reason = asked => reason.unwrap_or(Stop::Ending),
            () = late => Stop::Late,
        };
        How { status: group.end(child).await, stopped: Some(why) }
    }

    /// Tells how far the command is, the newest only, until it has ended.
    async fn tell_progress(&self, mut far: watch::Receiver<Option<Box<RawValue>>>, over: &Notify) {
        let mut told: Option<Instant> = None;
        while far.changed().await.is_ok() {
            let since = told.map_or(PROGRESS_SPACING, |told| told.elapsed());
            // The end need not wait for this.
            timeout(PROGRESS_SPACING.saturating_sub(since), over.notified()).await.ok();
            let Some(newest) = far.borrow_and_update().clone() else { continue };
            match self.link.progress((self.worker, self.key()), newest).await {
                Some(Told::Noted(said)) => {
                    if let Some(why) = said.stop {
                        stop(&self.brake, Stop::Asked(why));
                    }
                }
                Some(Told::Lost) => stop(&self.brake, Stop::Lost),
                Some(Told::Refused(_)) | None => {}
            }
            told = Some(Instant::now());
        }
    }

    /// Tells the server what came of it, until it knows.
    async fn tell(&self, verdict: Verdict) -> Outcome {
        let (worker_id, attempt) = (self.worker, self.task.attempt);
        let about = (self.worker, self.key());
        let (word, told, error) = match verdict {
            Verdict::Nothing => return Outcome::Lost,
            Verdict::GiveBack => {
                let body = ReleaseTask { worker_id, attempt };
                ("released", self.link.report(about, "release", &body).await, None)
            }
            Verdict::Done(result) => {
                let body = CompleteTask { worker_id, attempt, result: Some(result), next: None };
                ("succeeded", self.link.report(about, "complete", &body).await, None)
            }
            Verdict::Failed { error, fatal } => self.fail(error, fatal).await,
        };
        match told {
            // The next attempt may have another result.
            Told::Refused(refusal) if word == "succeeded" && !is_denied(&refusal) => {
                let why = format!("the result was refused: {refusal}");
                let (word, told, error) = self.fail(why, false).await;
                outcome(word, told, error)
            }
            told => outcome(word, told, error),
        }
    }

    async fn fail(&self, error: String, fatal: bool) -> (&'static str, Told, Option<String>) {
        let (worker_id, attempt) = (self.worker, self.task.attempt);
        let body = FailTask { worker_id, attempt, error, fatal };
        let told = self.link.report((self.worker, self.key()), "fail", &body).await;
        let cancelled = matches!(&told, Told::Noted(said) if said.state == "cancelled");
        (if cancelled { "cancelled" } else { "failed" }, told, Some(body.error))
    }
}

fn outcome(word: &'static str, told: Told, error: Option<String>) -> Outcome {
    match told {
        Told::Noted(said) => Outcome::Told(word, said, error),
        Told::Lost => Outcome::Lost,
        Told::Refused(refusal) => Outcome::Refused(refusal),
    }
}

/// Tells whether the server knows us no more, or lets us do nothing.
pub(crate) fn is_denied(error: &ClientError) -> bool {
    matches!(error.kind(), Kind::Unauthorized | Kind::Forbidden)
}

/// Gives a command its payload; one that does not read it may do so.
async fn feed(stdin: Option<ChildStdin>, payload: &str) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(payload.as_bytes()).await.ok();
        stdin.shutdown().await.ok();
    }
}

/// Passes on what comes out of a pipe, until it ends.
async fn hear(pipe: Option<impl AsyncRead + Unpin>, mut each: impl FnMut(&[u8])) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        each(&buffer[..count]);
    }
}
