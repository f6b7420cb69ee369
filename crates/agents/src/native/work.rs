//! The loop of the built-in agent.

use std::sync::Arc;
use std::time::Duration;

use godel_llm::translate::talk::{Item, Reply, Stop, Talk};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::compact::{self, SUM_UP, plan};
use super::hands::{Hands, Job, called, job};
use super::line::{Line, Silence};
use super::tools::Bench;
use super::{Shared, Voice};
use crate::event::{Outcome, SessionEvent, TEXT_MAX_BYTES, clip};
use crate::mcp::Godel;

/// The most rounds of one turn: a loop that nobody stops must end.
const ROUNDS_MAX: usize = 500;
/// How often a model is asked again, and how long is waited at first.
const TRIES_MAX: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// How often a turn goes on after an answer that was cut off.
const CUT_OFF_MAX: usize = 3;
/// The most calls of one reply.
const CALLS_MAX: usize = 64;

const GO_ON: &str = "Your answer was cut off because it was too long. Go on, in smaller steps.";

/// What leads to and from the session.
pub(super) type Ends = (mpsc::Receiver<String>, mpsc::Sender<SessionEvent>, Arc<Shared>);

/// The work of one session.
#[derive(Debug)]
pub(super) struct Work {
    voice: Voice,
    line: Line,
    orders: mpsc::Receiver<String>,
    hands: Hands,
    /// What a request costs besides the conversation, in tokens.
    fixed: u64,
}

impl Work {
    pub(super) fn new(voice: Voice, line: Line, bench: Bench, ends: Ends) -> Self {
        let (orders, events, shared) = ends;
        let tools: usize =
            voice.tools.iter().map(|tool| tool.description.len() + tool.schema.len()).sum();
        let fixed = (voice.system.len() + tools) as u64 / 3;
        let godel = Godel::new(line.http.clone(), &line.base_url, line.token.clone());
        let hands = Hands { bench, godel, events, shared };
        Self { voice, line, orders, hands, fixed }
    }

    /// Takes one turn after the other until the session is dropped.
    pub(super) async fn run(mut self) {
        while let Some(text) = self.orders.recv().await {
            let cancel = self.hands.shared.cancel().clone();
            let outcome = match self.turn(text, &cancel).await {
                Ok(()) => Outcome::Completed,
                Err(outcome) => outcome,
            };
            self.hands.shared.questions().clear();
            // From here on a cancellation means the next turn, which may be waiting already.
            *self.hands.shared.cancel() = CancellationToken::new();
            *self.hands.shared.busy() = !self.orders.is_empty();
            self.hands.tell(SessionEvent::TurnEnded { outcome }).await;
        }
    }

    async fn turn(&mut self, text: String, cancel: &CancellationToken) -> Result<(), Outcome> {
        self.hands.say(Item::User { text })?;
        let mut cut_off = 0;
        for _ in 0..ROUNDS_MAX {
            let reply = self.ask(cancel).await?;
            let jobs: Vec<Job> = reply
                .items
                .iter()
                .filter_map(|item| job(item, &self.voice.tools))
                .take(CALLS_MAX)
                .collect();
            for item in reply.items {
                let call = called(&item);
                self.hands.say(item)?;
                if let Some(call) = call {
                    self.hands.tell(call).await;
                }
            }
            if let Some(usage) = reply.usage {
                self.hands.tell(SessionEvent::Usage { usage }).await;
            }
            let over = match reply.stop {
                Stop::Refused => return Err(Outcome::failed("the model refused to go on")),
                Stop::Length if jobs.is_empty() && cut_off < CUT_OFF_MAX => {
                    cut_off += 1;
                    self.hands.say(Item::User { text: GO_ON.to_owned() })?;
                    false
                }
                Stop::Paused if jobs.is_empty() => false,
                _ if jobs.is_empty() => true,
                _ => self.hands.perform(jobs, cancel).await?,
            };
            // What came in the meantime is told at this safe point.
            if !self.take_orders()? && over {
                return Ok(());
            }
        }
        Err(Outcome::failed(&format!("the turn took more than {ROUNDS_MAX} rounds")))
    }

    /// Asks the model until it answers, shortening the conversation where it must be.
    async fn ask(&mut self, cancel: &CancellationToken) -> Result<Reply, Outcome> {
        self.shorten(false, cancel).await?;
        let mut tries = 0;
        let mut shortened = false;
        loop {
            let items = self.hands.shared.tree().context();
            let seed = self.hands.shared.tree().nodes().count().to_string();
            let talk = self.voice.talk(&items);
            let asked = self.line.ask(&talk, &seed, &self.hands.events);
            let asked = tokio::select! {
                () = cancel.cancelled() => return Err(Outcome::Cancelled),
                asked = asked => asked,
            };
            let (message, after) = match asked {
                Ok(reply) => return Ok(reply),
                Err(Silence::Never { message }) => return Err(Outcome::failed(&message)),
                Err(Silence::TooLong { message }) if shortened => {
                    return Err(Outcome::failed(&message));
                }
                Err(Silence::TooLong { message }) => {
                    shortened = true;
                    self.hands.tell(SessionEvent::trouble(&message)).await;
                    self.shorten(true, cancel).await?;
                    continue;
                }
                Err(Silence::Again { message, after }) => (message, after),
            };
            tries += 1;
            if tries >= TRIES_MAX {
                return Err(Outcome::failed(&message));
            }
            self.hands.tell(SessionEvent::trouble(&message)).await;
            let wait = after.unwrap_or(FIRST_WAIT * 2_u32.pow(tries - 1));
            tokio::select! {
                () = cancel.cancelled() => return Err(Outcome::Cancelled),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Makes the conversation shorter if it has to be, by a summary of the model or by rule.
    async fn shorten(&mut self, now: bool, cancel: &CancellationToken) -> Result<(), Outcome> {
        let items = self.hands.shared.tree().context_numbered();
        let (window, answer) = (self.voice.window, self.voice.max_output);
        let Some(cut) = plan(&items, window, answer, self.fixed, now) else {
            return Ok(());
        };
        let old: Vec<Item> = items.into_iter().take(cut.left_out).map(|(_, item)| item).collect();
        let summary = match self.sum_up(&old, cancel).await? {
            Some(summary) => summary,
            None => compact::by_rule(&old),
        };
        // It must not take the room that it is to make: a quarter of the window, at three bytes a token.
        let most = usize::try_from(window / 4 * 3).unwrap_or(usize::MAX);
        let summary = clip(&summary, most);
        let compacted = self.hands.shared.tree().compact(&summary, cut.keep_from);
        compacted.map_err(|error| Outcome::failed(&error.to_string()))?;
        let summary = clip(&summary, TEXT_MAX_BYTES);
        self.hands.tell(SessionEvent::Compacted { summary }).await;
        Ok(())
    }

    async fn sum_up(
        &self,
        items: &[Item],
        cancel: &CancellationToken,
    ) -> Result<Option<String>, Outcome> {
        // Half of the window in bytes is well below half of it in tokens.
        let max = usize::try_from(self.voice.window).unwrap_or(usize::MAX / 4) * 3 / 2;
        let asked = [Item::User { text: compact::transcript(items, max) }];
        let talk = Talk { system: SUM_UP, tools: &[], think: false, ..self.voice.talk(&asked) };
        // What it says while it sums up is not said to anybody.
        let (quiet, mut heard) = mpsc::channel(64);
        let drain = async { while heard.recv().await.is_some() {} };
        let ask = async {
            let reply = self.line.ask(&talk, "summary", &quiet).await;
            drop(quiet);
            reply
        };
        let reply = tokio::select! {
            () = cancel.cancelled() => return Err(Outcome::Cancelled),
            (reply, ()) = async { tokio::join!(ask, drain) } => reply,
        };
        let Ok(reply) = reply else { return Ok(None) };
        if let Some(usage) = reply.usage {
            self.hands.tell(SessionEvent::Usage { usage }).await;
        }
        let text = reply.items.into_iter().filter_map(|item| match item {
            Item::Model { text } => Some(text),
            _ => None,
        });
        let text = text.collect::<Vec<_>>().join("\n");
        Ok((!text.trim().is_empty()).then_some(text))
    }

    /// Puts what came in the meantime behind the conversation; tells whether there was anything.
    fn take_orders(&mut self) -> Result<bool, Outcome> {
        let mut any = false;
        while let Ok(text) = self.orders.try_recv() {
            self.hands.say(Item::User { text })?;
            any = true;
        }
        Ok(any)
    }
}
