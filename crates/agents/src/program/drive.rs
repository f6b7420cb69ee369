//! What leads the processes of a session.

use secrecy::ExposeSecret;
use serde_json::json;
use tokio::sync::mpsc;

use super::process::{Place, Running};
use super::{Order, ProgramSettings, Reply};
use crate::error::{Error, Result};
use crate::event::{Outcome, SessionEvent};
use crate::harness::Harness;
use crate::launch::{Plan, Resume, TOKEN_VARIABLE};
use crate::parse::{AcpSettings, Exit, Parser, Permissions, Told};

/// The work of one session.
#[derive(Debug)]
pub(super) struct Drive {
    plan: Plan,
    place: Place,
    permissions: Permissions,
    resume: Option<Resume>,
    furnished: bool,
    events: mpsc::Sender<SessionEvent>,
    now: Option<Now>,
}

/// The process that runs, and who reads it.
#[derive(Debug)]
struct Now {
    running: Running,
    parser: Parser,
    cancelled: bool,
}

impl Drive {
    pub(super) fn new(settings: ProgramSettings, events: mpsc::Sender<SessionEvent>) -> Self {
        let ProgramSettings { plan, runtime, sandbox, token, resume, permissions } = settings;
        let place = Place { runtime, sandbox, token };
        Self { plan, place, permissions, resume, furnished: false, events, now: None }
    }

    /// Takes orders and tells what happens until the session is dropped.
    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<(Order, Reply)>) {
        loop {
            let heard = match &mut self.now {
                None => None,
                Some(now) => tokio::select! {
                    order = orders.recv() => {
                        let Some((order, reply)) = order else { return };
                        Some(Err((order, reply)))
                    }
                    bytes = now.running.hear() => Some(Ok(bytes.map(|bytes| now.parser.feed(bytes)))),
                },
            };
            match heard {
                Some(Ok(Some(told))) => self.tell(told).await,
                Some(Ok(None)) => self.over().await,
                Some(Err((order, reply))) => self.obey(order, reply).await,
                None => {
                    let Some((order, reply)) = orders.recv().await else { return };
                    self.obey(order, reply).await;
                }
            }
        }
    }

    async fn obey(&mut self, order: Order, reply: Reply) {
        // Who gave the order may be gone; it is obeyed all the same.
        match order {
            Order::Prompt(text) => {
                if self.now.as_ref().is_some_and(|now| now.parser.in_turn()) {
                    let _ = reply.send(self.interject(&text).await);
                    return;
                }
                let _ = reply.send(Ok(()));
                if let Err(message) = self.begin(&text).await {
                    self.now = None;
                    let outcome = Outcome::failed(&message);
                    self.say(SessionEvent::TurnEnded { outcome }).await;
                }
            }
            Order::Answer(question, answer) => {
                let answered = match &mut self.now {
                    Some(now) => now.parser.answer(&question, &answer),
                    None => Err(Error::NoQuestion(question)),
                };
                let _ = reply.send(match answered {
                    Ok(told) => {
                        self.tell(told).await;
                        Ok(())
                    }
                    Err(error) => Err(error),
                });
            }
            Order::Cancel => {
                self.cancel().await;
                let _ = reply.send(Ok(()));
            }
        }
    }

    /// Tells an agent something in the middle of a turn, if it takes it.
    async fn interject(&mut self, text: &str) -> Result<()> {
        let now = self.now.as_mut().filter(|_| self.plan.harness.is_long_lived());
        let told = now.ok_or(Error::Busy)?.parser.prompt(text)?;
        self.tell(told).await;
        Ok(())
    }

    /// Begins a turn: in the process that lives, or in a new one.
    async fn begin(&mut self, text: &str) -> std::result::Result<(), String> {
        if !self.plan.harness.is_long_lived() {
            // Its turn is over, so it is about to end.
            self.over().await;
        }
        if self.now.is_none() {
            self.start(text).await?;
        }
        let Some(now) = &mut self.now else { return Ok(()) };
        let told = now.parser.prompt(text).map_err(|error| error.to_string())?;
        self.tell(told).await;
        Ok(())
    }

    async fn start(&mut self, text: &str) -> std::result::Result<(), String> {
        let launch = self.plan.launch(text, self.resume.as_ref());
        let launch = launch.map_err(|error| error.to_string())?;
        if !self.furnished {
            self.place.furnish(&launch).await?;
            self.furnished = true;
        }
        self.place.mend(&launch).await?;
        let copied = self.resume.as_ref().is_some_and(|resume| resume.copied);
        if copied && !self.plan.harness.carries_copies() {
            let harness = self.plan.harness;
            let message =
                format!("{harness} cannot go on in another folder and begins a new session");
            self.say(SessionEvent::trouble(&message)).await;
        }
        let parser = self.parser().ok_or("this agent has no program")?;
        let running = self.place.start(&launch).await?;
        self.now = Some(Now { running, parser, cancelled: false });
        Ok(())
    }

    fn parser(&self) -> Option<Parser> {
        if self.plan.harness != Harness::Acp {
            return Parser::new(self.plan.harness);
        }
        let variable = |name: &str, value: &str| json!({ "name": name, "value": value });
        let server = |tools: &crate::launch::Tools| {
            json!({
                "name": tools.name, "command": tools.command, "args": tools.args,
                "env": [
                    variable(TOKEN_VARIABLE, self.place.token.expose_secret()),
                    variable("GODEL_BASE_URL", &self.plan.base_url),
                ],
            })
        };
        Some(Parser::acp(AcpSettings {
            folder: self.plan.folder.clone(),
            servers: self.plan.tools.iter().map(server).collect(),
            resume: self.resume.as_ref().filter(|resume| !resume.copied).map(|it| it.id.clone()),
            permissions: self.permissions.clone(),
        }))
    }

    async fn cancel(&mut self) {
        let Some(now) = self.now.as_mut().filter(|now| now.parser.in_turn()) else { return };
        match now.parser.cancel() {
            Some(told) => self.tell(told).await,
            None => {
                now.cancelled = true;
                now.running.stop().await;
            }
        }
    }

    /// Takes the end of a process.
    async fn over(&mut self) {
        let Some(mut now) = self.now.take() else { return };
        let exit: Exit = now.running.end(now.cancelled).await;
        let told = now.parser.finish(&exit);
        self.tell(told).await;
    }

    async fn tell(&mut self, told: Told) {
        for line in told.send {
            let sent = self.now.as_ref().is_some_and(|now| now.running.send((line + "\n").into()));
            if !sent {
                self.say(SessionEvent::trouble("the agent does not listen")).await;
            }
        }
        for event in told.events {
            if let SessionEvent::Started { id } = &event {
                self.resume = Some(Resume::same(id.as_str()));
            }
            self.say(event).await;
        }
    }

    async fn say(&mut self, mut event: SessionEvent) {
        event.hide(self.place.token.expose_secret());
        // If nobody listens, the session is being dropped, and this task with it.
        let _ = self.events.send(event).await;
    }
}
