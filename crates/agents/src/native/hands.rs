//! What the built-in agent does when the model wants it.

use std::sync::Arc;

use futures_util::future::join_all;
use godel_llm::translate::talk::{Item, Tool};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::tools::{Bench, RESULT_MAX_BYTES, Upshot, Wish};
use crate::event::{CHOICES_MAX, Choice, Outcome, SessionEvent, TEXT_MAX_BYTES, clip};
use crate::mcp::{Godel, verbs};
use crate::session::Answer;

const CHECKED: &str = "Noted. It is checked now.";

/// What does the work and tells of it.
#[derive(Debug)]
pub(super) struct Hands {
    pub(super) bench: Bench,
    /// Does what the permissions of the role give.
    pub(super) godel: Godel,
    pub(super) events: mpsc::Sender<SessionEvent>,
    pub(super) shared: Arc<Shared>,
}

/// A call, its wish or why there is none, and what came of it.
pub(super) struct Job {
    id: String,
    wish: Result<Wish, String>,
    upshot: Option<Upshot>,
}

impl Hands {
    /// Does what the model wants; tells whether it says that it is done.
    pub(super) async fn perform(
        &self,
        mut jobs: Vec<Job>,
        cancel: &CancellationToken,
    ) -> Result<bool, Outcome> {
        let mut done = None;
        let mut from = 0;
        while from < jobs.len() {
            let looks = |job: &Job| job.wish.as_ref().is_ok_and(Wish::only_looks);
            // Those that only look are done together, all others in their order.
            let together = jobs[from..].iter().take_while(|job| looks(job)).count().max(1);
            let batch = &mut jobs[from..from + together];
            let work = join_all(batch.iter().map(|job| self.one(job)));
            let upshots = tokio::select! {
                () = cancel.cancelled() => return Err(Outcome::Cancelled),
                upshots = work => upshots,
            };
            for (job, upshot) in batch.iter_mut().zip(upshots) {
                if let Ok(Wish::Done { summary }) = &job.wish {
                    done = Some(clip(summary, TEXT_MAX_BYTES));
                }
                job.upshot = Some(upshot);
                self.settle(job).await?;
            }
            from += together;
        }
        let Some(summary) = done else { return Ok(false) };
        self.tell(SessionEvent::SaysDone { summary }).await;
        Ok(true)
    }

    /// Records what came of a call, so that nothing is lost if the next one is stopped.
    async fn settle(&self, job: &Job) -> Result<(), Outcome> {
        let Some(Upshot { text, failed, file }) = job.upshot.clone() else { return Ok(()) };
        let call = job.id.clone();
        self.say(Item::Result { call: call.clone(), text: text.clone(), failed })?;
        self.tell(SessionEvent::ToolResult { call, text, failed }).await;
        if let Some((path, change)) = file {
            self.tell(SessionEvent::FileChange { path, change }).await;
        }
        Ok(())
    }

    async fn one(&self, job: &Job) -> Upshot {
        let wish = match &job.wish {
            Ok(wish) => wish,
            Err(error) => return Upshot::badly(error.as_str()),
        };
        // Letters, too: if the place cannot be made, it is all said again.
        self.bench.ready.wait().await;
        match wish {
            Wish::Ask { question, choices } => self.question(&job.id, question, choices).await,
            Wish::Todos(todos) => {
                self.tell(SessionEvent::Todos { todos: todos.clone() }).await;
                Upshot::well("ok")
            }
            Wish::Message { to, text } => {
                let (to, text) = (clip(to, 512), clip(text, TEXT_MAX_BYTES));
                self.tell(SessionEvent::Mail { to, text }).await;
                Upshot::well("sent")
            }
            Wish::Done { .. } => Upshot::well(CHECKED),
            Wish::Granted { tool, input } => {
                let told = verbs::granted(&self.godel, tool, input).await;
                Upshot { text: clip(&told.text, RESULT_MAX_BYTES), failed: told.failed, file: None }
            }
            wish => self.bench.run(wish).await,
        }
    }

    async fn question(&self, id: &str, question: &str, choices: &[String]) -> Upshot {
        let (answered, answer) = oneshot::channel();
        self.shared.questions().insert(id.to_owned(), answered);
        let choice = |label: &String| {
            let label = clip(label, 512);
            Choice { id: label.clone(), label }
        };
        self.tell(SessionEvent::Question {
            id: id.to_owned(),
            text: clip(question, TEXT_MAX_BYTES),
            choices: choices.iter().take(CHOICES_MAX).map(choice).collect(),
        })
        .await;
        match answer.await {
            Ok(Answer::Choice(text) | Answer::Text(text)) => Upshot::well(text),
            Ok(Answer::Declined) | Err(_) => {
                Upshot::badly("nobody answered; decide yourself, or say what is missing")
            }
        }
    }

    /// Puts something behind the conversation.
    pub(super) fn say(&self, item: Item) -> Result<(), Outcome> {
        let said = self.shared.tree().say(item);
        said.map(drop).map_err(|error| Outcome::failed(&error.to_string()))
    }

    /// Tells of something.
    pub(super) async fn tell(&self, event: SessionEvent) {
        // If nobody listens, the session is being dropped, and this task with it.
        let _ = self.events.send(event).await;
    }
}

/// Tells of a call, if it is one.
pub(super) fn called(item: &Item) -> Option<SessionEvent> {
    let Item::Call { id, name, input, .. } = item else { return None };
    let input = match serde_json::from_str(input) {
        Ok(read) if input.len() <= TEXT_MAX_BYTES => read,
        _ => serde_json::Value::String(clip(input, TEXT_MAX_BYTES)),
    };
    Some(SessionEvent::ToolCall { call: id.clone(), name: clip(name, 512), input })
}

/// Reads what a call wants, if it is one.
pub(super) fn job(item: &Item, tools: &[Tool]) -> Option<Job> {
    match item {
        Item::Call { id, name, input, .. } => {
            Some(Job { id: id.clone(), wish: Wish::read(name, input, tools), upshot: None })
        }
        _ => None,
    }
}
