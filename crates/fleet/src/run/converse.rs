//! The conversation with an agent: what it says is heard, what it claims is checked.

use std::collections::VecDeque;
use std::time::Duration;

use godel_agents::{Outcome, SessionEvent, Todo, watch};
use godel_app::Call;
use godel_decide::agent::{Ended, Limits, Seen, Watch};
use godel_model::{LifeMove, Report as _};
use godel_proxy::NoMoney;
use jiff::{SignedDuration, Timestamp};
use tokio::time::{Instant, MissedTickBehavior};
use uuid::Uuid;

use super::letters::Told;
use super::log::Log;
use super::session::Session;
use super::{Order, Run};
use crate::check::{self, Missing};
use crate::place::Place;
use crate::slips::NoticeKind;
use crate::{Result, inbox, mail};

/// How often what waits is looked at.
const TICK: Duration = Duration::from_millis(250);
/// How long a turn has to stop before it is cut off.
const STOP_PATIENCE: Duration = Duration::from_secs(3);
/// How often an agent may say that it is done when it is not.
const SENT_BACK_MAX: u32 = 8;
/// How long nothing may happen if the project says nothing.
const SILENCE: SignedDuration = SignedDuration::from_mins(10);
/// How often an agent may stop without a word about being done.
const IDLE_MAX: u32 = 3;

/// How a conversation ended.
pub(super) enum Talked {
    /// The work is done, and git agrees.
    Done,
    /// Somebody stopped it.
    Stopped,
    /// The server stops.
    Shutdown,
    /// Another server has the agent now.
    Lost,
    /// What may be spent is spent.
    Spent(NoMoney),
    /// Its time is up.
    Late,
    /// It did not work.
    Trouble {
        /// Why.
        why: String,
        /// How it ended.
        ended: Ended,
    },
}

/// Why a turn is being stopped.
#[derive(Clone, Copy)]
pub(super) enum Stopping {
    Asked,
    Shutdown,
}

/// What is known in the course of a conversation.
pub(super) struct Course<'a> {
    pub(super) call: &'a Call,
    pub(super) place: &'a Place,
    pub(super) log: Log,
    /// What the agent said about being done, in this turn.
    pub(super) done: Option<String>,
    /// How often it stopped without a word about it.
    pub(super) idle: u32,
    /// Why the turn is stopped, and until when it may take.
    pub(super) stopping: Option<(Stopping, Instant)>,
    /// What a person is asked: the agent's own id of each question that it does not wait for by itself,
    /// and the notice.
    pub(super) asked: Vec<(Option<String>, Uuid)>,
    /// When it was last looked whether another server heard an answer.
    pub(super) answers_at: Instant,
    /// Which conversation it is.
    pub(super) talk: Uuid,
    /// Letters that do not count as read yet.
    pub(super) told: Vec<Told>,
    /// When the agent's time is up.
    pub(super) deadline: Option<Timestamp>,
    /// Whether a note of the session before was told.
    pub(super) handed: bool,
    /// How many turns the agent has begun, and how many it may take.
    pub(super) turns: (watch::Turns, Option<u32>),
    /// Notices when nothing happens, or the same again and again.
    pub(super) watch: Watch,
    /// Orders that came while something took long.
    pub(super) later: VecDeque<Order>,
    /// Orders that wait for the place of the agent.
    pub(super) for_place: Vec<Order>,
    /// Whether it began before its place was there.
    pub(super) early: bool,
}

impl Run {
    pub(super) async fn converse(
        &mut self,
        call: &Call,
        place: &Place,
        session: &mut Session,
        first: String,
    ) -> Result<Talked> {
        let wanted = crate::wishes::read(&self.fleet, place.folder.clone()).await?;
        let agent = self.agent().await?;
        let silence = wanted.agents.stuck_after.try_into().unwrap_or(SILENCE);
        let mut course = Course {
            watch: Watch::new(Limits { silence, ..Limits::default() }),
            call,
            place,
            log: Log::new(),
            done: None,
            idle: 0,
            stopping: None,
            asked: Vec::new(),
            answers_at: Instant::now(),
            deadline: agent.deadline(),
            talk: agent.talk,
            told: Vec::new(),
            handed: false,
            turns: (watch::Turns::default(), session.max_turns()),
            later: VecDeque::new(),
            for_place: Vec::new(),
            early: !place.ready.initialized(),
        };
        // What was refused before does not count.
        self.fleet.app().switchboard.take_budget_refusal(&self.id.to_string());
        let mut first = first;
        if let Some(told) = self.letters(&course, session).await? {
            first = format!("{first}\n\n{}", told.words());
            course.told.push(told);
        }
        course.watch.saw(&Seen::TurnBegan, self.fleet.app().clock.now());
        session.prompt(&first).await?;
        let talked = self.listen(&mut course, session).await;
        if !matches!(talked, Ok(Talked::Lost)) {
            let agent = self.agent().await?;
            course.log.flush(&self.fleet, self.tenant, &agent).await?;
            self.keep(&mut course, session).await?;
        }
        talked
    }

    async fn listen(&mut self, course: &mut Course<'_>, session: &mut Session) -> Result<Talked> {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let shutdown = self.fleet.own.crew.stopping();
        loop {
            if let Some(order) = course.later.pop_front() {
                if let Some(ended) = self.hear_order(course, session, order).await? {
                    return Ok(ended);
                }
                continue;
            }
            let ended = tokio::select! {
                biased;
                () = self.lost.cancelled() => return Ok(Talked::Lost),
                () = shutdown.cancelled(), if course.stopping.is_none() => {
                    stop(course, session, Stopping::Shutdown).await;
                    None
                }
                Some(order) = self.orders.recv() => self.hear_order(course, session, order).await?,
                event = session.next() => self.hear(course, session, event?).await?,
                _ = tick.tick() => self.look(course, session).await?,
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
    }

    /// Checks the work, and hears meanwhile that it is to stop: gates may take long.
    pub(super) async fn verify(
        &mut self,
        course: &mut Course<'_>,
        said: (&crate::Agent, &str),
    ) -> Result<std::result::Result<Missing, Talked>> {
        let (fleet, call, place) = (self.fleet.clone(), course.call, course.place);
        let shutdown = self.fleet.own.crew.stopping();
        let verified = check::verify(&fleet, call, said, place);
        tokio::pin!(verified);
        loop {
            tokio::select! {
                biased;
                () = self.lost.cancelled() => return Ok(Err(Talked::Lost)),
                () = shutdown.cancelled() => return Ok(Err(Talked::Shutdown)),
                Some(order) = self.orders.recv() => match order {
                    Order::Stop => return Ok(Err(Talked::Stopped)),
                    other => course.later.push_back(other),
                },
                missing = &mut verified => return Ok(Ok(missing?)),
            }
        }
    }

    /// Looks at what waits for time to pass.
    async fn look(
        &mut self,
        course: &mut Course<'_>,
        session: &mut Session,
    ) -> Result<Option<Talked>> {
        if let Some((why, until)) = course.stopping
            && Instant::now() >= until
        {
            return Ok(Some(stopped(why)));
        }
        let now = self.fleet.app().clock.now();
        let ready = course.place.ready.initialized();
        if !ready {
            // What it wants done waits for its place, which is not its own fault.
            course.watch.saw(&Seen::Sign, now);
        } else if std::mem::take(&mut course.early) {
            course.deadline = self.agent().await?.deadline();
            course.later.extend(course.for_place.drain(..));
        }
        let late = ready && course.deadline.is_some_and(|deadline| now >= deadline);
        if late && course.stopping.is_none() {
            return Ok(Some(Talked::Late));
        }
        if course.stopping.is_none()
            && let Some(stuck) = course.watch.verdict(now)
        {
            return Ok(Some(Talked::Trouble { why: stuck.why(), ended: Ended::Stuck }));
        }
        self.look_for_answers(course, session).await?;
        if course.log.is_due() {
            let agent = self.agent().await?;
            course.log.flush(&self.fleet, self.tenant, &agent).await?;
            self.keep(course, session).await?;
        }
        Ok(None)
    }

    /// Takes in what the agent says or does.
    async fn hear(
        &mut self,
        course: &mut Course<'_>,
        session: &mut Session,
        event: SessionEvent,
    ) -> Result<Option<Talked>> {
        course.log.add(&event);
        watch::note(&mut course.watch, &event, self.fleet.app().clock.now());
        let (turns, most) = (course.turns.0.note(&event), course.turns.1);
        if let Some(most) = most.filter(|most| turns > *most && course.stopping.is_none()) {
            let why = format!("it was not done after {most} turns, which is all that its role has");
            return Ok(Some(Talked::Trouble { why, ended: Ended::Failed }));
        }
        match event {
            SessionEvent::Todos { todos } => self.note_todos(todos).await?,
            SessionEvent::Mail { to, text } => self.post(course, &to, text).await?,
            SessionEvent::Question { id, text, choices } => {
                let choices = choices.into_iter().map(|choice| choice.label).collect();
                let agent = self.agent().await?;
                // It may wait for long, and what was said must not wait with it.
                self.keep(course, session).await?;
                if agent.life == godel_model::Life::Executing {
                    self.step(LifeMove::AwaitInput, "asks a person").await?;
                }
                let told = (text, choices);
                let notice =
                    inbox::raise_now(&self.fleet, self.tenant, &agent, NoticeKind::Question, told);
                course.asked.push((Some(id), notice.await?.id));
            }
            SessionEvent::SaysDone { summary } => course.done = Some(summary),
            SessionEvent::TurnEnded { outcome } => {
                let agent = self.agent().await?;
                self.keep(course, session).await?;
                course.log.flush(&self.fleet, self.tenant, &agent).await?;
                let news = agent.handoff.is_some() || agent.stumbles > 0;
                if !std::mem::replace(&mut course.handed, true) && news {
                    self.change("agent:state", |agent| {
                        (agent.handoff, agent.stumbles) = (None, 0);
                        Ok(())
                    })
                    .await?;
                }
                return self.turn_ended(course, session, outcome).await;
            }
            SessionEvent::Ended { .. } => {
                let why = "its process ended in the middle".to_owned();
                return Ok(Some(Talked::Trouble { why, ended: Ended::Crashed }));
            }
            _ => {}
        }
        Ok(None)
    }

    async fn turn_ended(
        &mut self,
        course: &mut Course<'_>,
        session: &mut Session,
        outcome: Outcome,
    ) -> Result<Option<Talked>> {
        if let Some((why, _)) = course.stopping {
            return Ok(Some(stopped(why)));
        }
        let refused = self.fleet.app().switchboard.take_budget_refusal(&self.id.to_string());
        match (outcome, refused) {
            (Outcome::Failed { .. }, Some(why)) => return Ok(Some(Talked::Spent(why))),
            // Some programs end their turn as if nothing was wrong.
            (Outcome::Completed, Some(why)) if course.done.is_none() => {
                return Ok(Some(Talked::Spent(why)));
            }
            (Outcome::Completed, _) => {}
            (Outcome::Cancelled, _) => {
                let why = "its turn was stopped by itself".to_owned();
                return Ok(Some(Talked::Trouble { why, ended: Ended::Failed }));
            }
            (Outcome::Failed { message }, None) => {
                return Ok(Some(Talked::Trouble { why: message, ended: Ended::Failed }));
            }
        }
        // Whoever has mail is not done before it was read.
        if session.has_more() {
            return Ok(None);
        }
        if let Some(told) = self.letters(course, session).await? {
            course.watch.saw(&Seen::TurnBegan, self.fleet.app().clock.now());
            session.prompt(told.words()).await?;
            course.told.push(told);
            return Ok(None);
        }
        match course.done.take() {
            Some(summary) => self.judge(course, session, summary).await,
            None => {
                course.idle += 1;
                if course.idle > IDLE_MAX {
                    let why = "it stopped several times without saying that it is done".to_owned();
                    return Ok(Some(Talked::Trouble { why, ended: Ended::Failed }));
                }
                if course.place.ready.initialized() {
                    check::clear_locks(course.place).await;
                }
                course.watch.saw(&Seen::TurnBegan, self.fleet.app().clock.now());
                session.prompt(NOT_DONE).await?;
                Ok(None)
            }
        }
    }

    /// Checks what the agent says about being done.
    async fn judge(
        &mut self,
        course: &mut Course<'_>,
        session: &mut Session,
        summary: String,
    ) -> Result<Option<Talked>> {
        let agent = self.step(LifeMove::TaskComplete, "says that it is done").await?;
        if !self.is_mine(&agent) {
            return Ok(Some(Talked::Stopped));
        }
        let missing = match self.verify(course, (&agent, &summary)).await? {
            Ok(missing) => missing,
            Err(ended) => return Ok(Some(ended)),
        };
        if missing.is_empty() {
            let ended =
                check::complete(&self.fleet, course.call, (&agent, self.number), summary).await;
            return match ended {
                Ok(()) => Ok(Some(Talked::Done)),
                // To begin anew would come to the same end, and cost money each time.
                Err(error) if !error.code().kind().retryable() => {
                    let why = error.to_string();
                    Ok(Some(Talked::Trouble { why, ended: Ended::Failed }))
                }
                Err(error) => Err(error),
            };
        }
        let why = missing.why();
        let (told, note) = (why.clone(), why.clone());
        let now = self.fleet.app().clock.now();
        let agent = self
            .change("agent:state", move |agent| {
                agent.sent_back += 1;
                agent.step(LifeMove::SentBack, &format!("not done: {note}"), now)
            })
            .await?;
        if agent.sent_back > SENT_BACK_MAX {
            let why = format!("it says that it is done and is not: {told}");
            return Ok(Some(Talked::Trouble { why, ended: Ended::Failed }));
        }
        course.watch.saw(&Seen::TurnBegan, self.fleet.app().clock.now());
        session.prompt(&missing.words()).await?;
        Ok(None)
    }

    pub(super) async fn note_todos(&self, todos: Vec<Todo>) -> Result<()> {
        let fleet = self.fleet.clone();
        let number = self.number;
        let work = move |tx: &mut godel_store::Tx<'_>, agent: &mut crate::Agent| {
            if agent.run == number {
                agent.todos.clone_from(&todos);
                fleet.record(tx, agent, "agent:todos", &serde_json::json!({ "todos": todos }))?;
            }
            Ok(())
        };
        let id = self.id.uuid();
        crate::paper::change::<crate::Agent, ()>(self.fleet.app(), self.tenant, id, work).await?;
        Ok(())
    }

    async fn post(&self, course: &mut Course<'_>, to: &str, text: String) -> Result<()> {
        let agent = self.agent().await?;
        if let Err(error) = mail::send_for(&self.fleet, self.tenant, &agent, (to, text)).await {
            let message = format!("a letter was not sent: {error}");
            course.log.add(&SessionEvent::Trouble { message });
        }
        Ok(())
    }
}

const NOT_DONE: &str = "You stopped without saying that you are done. If something is left, go on with \
it. If all is done, commit it and call done with a summary (a tool of yours, or of godel; or run `godel \
self done SUMMARY`). If you need a person, ask.";

/// Begins to stop a turn.
pub(super) async fn stop(course: &mut Course<'_>, session: &mut Session, why: Stopping) {
    if course.stopping.is_none() {
        course.stopping = Some((why, Instant::now() + STOP_PATIENCE));
        // One that has no turn under way is stopped by its time.
        drop(session.cancel().await);
    }
}

const fn stopped(why: Stopping) -> Talked {
    match why {
        Stopping::Asked => Talked::Stopped,
        Stopping::Shutdown => Talked::Shutdown,
    }
}
