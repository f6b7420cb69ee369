//! One run of an agent: from the queue to a checked commit, or to a person.

mod converse;
mod debugging;
mod letters;
mod log;
mod money;
mod orders;
mod session;

use godel_agents::Harness;
use godel_agents::tree::NodeNumber;
use godel_app::queue::Say;
use godel_app::{Call, Spot};
use godel_decide::agent::{Attempt, Ladder, Next};
use godel_model::{AgentId, Life, LifeMove, Payload, Project, TenantId};
use godel_runtime::{Profile, SnapshotId};
use godel_store::Tx;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::check::{self, Missing};
use crate::doc::Agent;
use crate::place::{self, Place, Site};
use crate::slips::{Notice, NoticeKind};
use crate::{Error, Fleet, Result, inbox, paper};
use converse::Talked;
use session::Session;
pub(crate) use session::proxy;

/// How often a run is begun again for a reason that is not the agent's.
const STUMBLES_MAX: u32 = 4;

/// How often a snapshot is taken anew because the agent said something meanwhile.
const SNAPSHOTS_TRIED: usize = 4;

/// What a run can be told.
#[derive(Debug)]
pub(crate) enum Order {
    /// There is mail.
    Mail,
    /// A person answered.
    Answered(Notice),
    /// It is to stop; the agent's own document says why.
    Stop,
    /// The agent has written its list of things to do.
    Todos(Vec<godel_agents::Todo>),
    /// The agent asks a person by Godel's tools, which wait for the answer.
    Asked(Uuid),
    /// Its files and its conversation are to be kept as they are now.
    Snapshot(oneshot::Sender<Result<Moment>>),
    /// The agent says that it is done, and waits for what is missing.
    Done(String, oneshot::Sender<Missing>),
}

/// What an agent is at one moment.
#[derive(Debug)]
pub(crate) struct Moment {
    /// Its files.
    pub(crate) files: SnapshotId,
    /// The last node of its conversation.
    pub(crate) node: Option<NodeNumber>,
}

/// How a run ended.
enum End {
    /// The work is done.
    Completed,
    /// Somebody stopped it.
    Stopped,
    /// The server stops.
    Shutdown,
    /// Another one runs it now.
    Lost,
    /// A person is needed.
    GaveUp(String),
}

/// One run of an agent.
pub(crate) struct Run {
    pub(crate) fleet: Fleet,
    pub(crate) tenant: TenantId,
    pub(crate) id: AgentId,
    /// Which run of the agent it is.
    pub(crate) number: u32,
    pub(crate) orders: mpsc::Receiver<Order>,
    /// Is set when the lease is lost.
    pub(crate) lost: CancellationToken,
}

impl Run {
    /// Runs the agent; returns what the queue is told, if it is to be told anything.
    pub(crate) async fn run(mut self) -> Option<Say> {
        // It is large, and most of its life is waiting.
        let ended = Box::pin(self.work()).await;
        let agent = self.agent().await.ok();
        match ended {
            Ok(End::Completed) => Some(Say::Done(agent.map(|agent| result(&agent)))),
            Ok(End::Stopped) => Some(Say::Done(None)),
            Ok(End::Shutdown) => Some(Say::Released),
            Ok(End::Lost) => None,
            Ok(End::GaveUp(error)) => Some(Say::Failed { error, fatal: true }),
            // Whoever was stopped need not have worked.
            Err(_) if agent.is_some_and(|agent| !self.is_mine(&agent)) => Some(Say::Done(None)),
            Err(error) => {
                let why = godel_model::Report::hint(&error)
                    .map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"));
                tracing::warn!(agent = %self.id, error = %why, "an agent cannot work");
                let fatal = match self.stumble(&why).await {
                    Ok(fatal) => fatal,
                    Err(again) => {
                        tracing::warn!(agent = %self.id, error = %again, "nobody could be told");
                        false
                    }
                };
                Some(Say::Failed { error: why, fatal })
            }
        }
    }

    async fn agent(&self) -> Result<Agent> {
        let id = self.id;
        let found = paper::look(self.fleet.app(), self.tenant, move |tx| {
            paper::by_id::<Agent>(tx, id.uuid())
        });
        found.await?.ok_or_else(|| Error::NoAgent(id.to_string()))
    }

    /// Changes the agent, and tells of it; nothing happens if this run is not the agent's any more.
    async fn change(
        &self,
        kind: &'static str,
        work: impl Fn(&mut Agent) -> Result<()> + Send + Sync + Clone + 'static,
    ) -> Result<Agent> {
        self.change_in(kind, move |_, agent| work(agent)).await
    }

    /// Does the same together with something else in the database: both are there, or neither.
    async fn change_in(
        &self,
        kind: &'static str,
        work: impl Fn(&mut Tx<'_>, &mut Agent) -> Result<()> + Send + Sync + Clone + 'static,
    ) -> Result<Agent> {
        let (fleet, number) = (self.fleet.clone(), self.number);
        let work = move |tx: &mut Tx<'_>, agent: &mut Agent| {
            if agent.run != number || !agent.life.is_running() {
                return Ok(());
            }
            let before = agent.life;
            work(tx, agent)?;
            if agent.life != before {
                let told = serde_json::json!({
                    "agent": agent.label, "state": agent.life.as_str(), "view": agent.life.view(),
                    "from": before.as_str(), "why": agent.note,
                });
                fleet.record(tx, agent, kind, &told)?;
            }
            Ok(())
        };
        let id = self.id.uuid();
        let (agent, ()) =
            paper::change::<Agent, ()>(self.fleet.app(), self.tenant, id, work).await?;
        self.fleet.own.moved.notify_waiters();
        Ok(agent)
    }

    async fn step(&self, happens: LifeMove, why: impl Into<String>) -> Result<Agent> {
        let (why, now) = (why.into(), self.fleet.app().clock.now());
        self.change("agent:state", move |agent| agent.step(happens, &why, now)).await
    }

    /// Tells whether the run is still the agent's own.
    fn is_mine(&self, agent: &Agent) -> bool {
        agent.run == self.number && agent.life.is_running()
    }

    async fn work(&mut self) -> Result<End> {
        let mut agent = self.agent().await?;
        if !self.is_mine(&agent) {
            return Ok(End::Stopped);
        }
        let call = self.fleet.on_behalf(self.tenant, agent.user).await?;
        let (project, folder) = self.fleet.project(&call, agent.project).await?;
        let own = crate::wishes::read(&self.fleet, folder).await?.agents.max;
        let _place = match self.enter(&project, own).await {
            Ok(place) => place,
            Err(end) => return Ok(end),
        };
        if self.stands_still().await? {
            return Ok(End::Stopped);
        }
        agent = self.agent().await?;
        if check::complete_late(&self.fleet, &call, (&agent, self.number)).await? {
            place::leave(&self.fleet, self.tenant, &agent).await;
            return Ok(End::Completed);
        }
        if agent.life != Life::Initializing {
            agent = self.step(LifeMove::Lost, "its server was lost; it goes on").await?;
            self.forget_questions(&agent).await?;
        }
        if !self.is_mine(&agent) {
            return Ok(End::Stopped);
        }
        let (place, site) = place::settle(&self.fleet, &call, &mut agent).await?;
        let end = self.attempts_while(site, (&call, &place), agent).await;
        let gone = !matches!(end, Ok(End::Lost));
        if gone && let Ok(agent) = self.agent().await {
            // Behind walls the end of the sandbox does that.
            if agent.sandbox == Profile::None && place.ready.initialized() {
                self.keep_commits(&place).await;
            }
            place::leave(&self.fleet, self.tenant, &agent).await;
        }
        end
    }

    /// Waits until the project has room for one more agent.
    async fn enter(
        &mut self,
        project: &Project,
        own: Option<u32>,
    ) -> std::result::Result<Spot, End> {
        let (fleet, stopping) = (self.fleet.clone(), self.fleet.own.crew.stopping());
        let mut room = std::pin::pin!(fleet.room(project, own));
        loop {
            tokio::select! {
                place = &mut room => return Ok(place),
                () = self.lost.cancelled() => return Err(End::Lost),
                () = stopping.cancelled() => return Err(End::Shutdown),
                // Whatever else it is told is on disk, too, and read when it begins.
                Some(order) = self.orders.recv() => if matches!(order, Order::Stop) {
                    return Err(End::Stopped);
                },
            }
        }
    }

    /// Pauses the agent if everything was stopped in the very moment when it was asked for.
    async fn stands_still(&self) -> Result<bool> {
        if crate::stop::standstill(&self.fleet, self.tenant).await?.is_none() {
            return Ok(false);
        }
        let now = self.fleet.app().clock.now();
        self.change("agent:pause", move |agent| {
            agent.stopped = true;
            agent.step(LifeMove::Pause, "everything stands still", now)
        })
        .await?;
        Ok(true)
    }

    /// Closes what a session asked that is gone: nobody would hear the answer, and the agent asks again.
    async fn forget_questions(&self, agent: &Agent) -> Result<()> {
        let (fleet, agent) = (self.fleet.clone(), agent.clone());
        let asked = [NoticeKind::Question];
        let work = move |tx: &mut Tx<'_>| inbox::close(&fleet, tx, &agent, &asked);
        paper::write(self.fleet.app(), self.tenant, work).await
    }

    /// Takes over what was committed, so that the branch has it whatever comes.
    async fn keep_commits(&self, place: &Place) {
        if let Err(error) = place.collect().await {
            tracing::info!(agent = %self.id, %error, "what was committed was not taken over");
        }
    }

    /// Returns the commit that the work is at, if it can be taken over.
    async fn head(&self, place: &Place) -> Option<String> {
        let collected = place.collect().await;
        collected.ok().map(|collected| collected.commit)
    }

    /// Works in a place that is made meanwhile: its model is asked at once, what it wants done waits.
    async fn attempts_while(
        &mut self,
        site: Site,
        (call, place): (&Call, &Place),
        agent: Agent,
    ) -> Result<End> {
        // If the place could not be made the last time, nobody pays for a model before it is there.
        let begins = agent.began_at.is_none() && agent.stumbles == 0;
        let has_worked = agent.files.is_some() || !agent.attempts.is_empty();
        let at_once = agent.harness == Harness::Native && begins && !has_worked;
        let mut made = Box::pin(site.make());
        if !at_once {
            made.await?;
            return Box::pin(self.attempts(call, place, agent)).await;
        }
        let mut work = Box::pin(self.attempts(call, place, agent));
        tokio::select! {
            made = &mut made => {
                made?;
                work.await
            }
            end = &mut work => {
                // Whoever takes it away must find it whole.
                if let Err(error) = made.await {
                    tracing::info!(%error, "the place of an agent that has ended was not made");
                }
                end
            }
        }
    }

    /// Tries until the work is done, somebody stops it, or a person is needed.
    async fn attempts(&mut self, call: &Call, place: &Place, mut agent: Agent) -> Result<End> {
        loop {
            if agent.life == Life::Initializing {
                agent = self.step(LifeMove::WorktreeCreated, place.in_words()).await?;
            }
            if !self.is_mine(&agent) {
                return Ok(End::Stopped);
            }
            if !place.fresh || !agent.attempts.is_empty() {
                check::clear_locks(place).await;
            }
            let mut session = Session::open(&self.fleet, call, &agent, place).await?;
            agent = self.begin_work().await?;
            let first = session.first_words(&agent);
            let talked = self.converse(call, place, &mut session, first).await;
            session.keep(&self.fleet, self.tenant, agent.talk).await?;
            let (why, ended) = match talked? {
                Talked::Done => return Ok(End::Completed),
                Talked::Stopped => return Ok(End::Stopped),
                Talked::Shutdown => return Ok(End::Shutdown),
                Talked::Lost => return Ok(End::Lost),
                Talked::Spent(refused) => return self.out_of_money(refused).await,
                Talked::Late => return self.out_of_time(&agent).await,
                Talked::Trouble { why, ended } => (why, ended),
            };
            agent = self.agent().await?;
            if !self.is_mine(&agent) {
                return Ok(End::Stopped);
            }
            let note = session.handoff(&agent, place, &why).await;
            drop(session);
            let head = self.head(place).await;
            let before = agent.commit.clone().or_else(|| agent.base.clone());
            let progressed = head.is_some() && head != before;
            let debugging = agent.debugging;
            let attempt = Attempt { model: agent.model.clone(), ended, progressed, debugging };
            let next = self.next_rung(&agent, place, &attempt).await?;
            let debugs = matches!(next, Next::Debug { .. });
            let (model, handoff) = match next {
                Next::Again { model, handoff } | Next::Stronger { model, handoff } => {
                    (model, handoff.then_some(note))
                }
                Next::Debug { model } => (model, Some(debugging::brief(&agent, &note))),
                Next::NeedsPerson { why: tried } => {
                    let why = format!("{why} ({tried})");
                    self.give_up(&why).await?;
                    return Ok(End::GaveUp(why));
                }
            };
            let now = self.fleet.app().clock.now();
            agent = self
                .change("agent:state", move |agent| {
                    agent.attempts.push(attempt.clone());
                    agent.last_error = Some(why.clone());
                    agent.retries += 1;
                    agent.sent_back = 0;
                    agent.commit = head.clone().or_else(|| agent.commit.clone());
                    if handoff.is_some() {
                        agent.debugging = debugs;
                    }
                    agent.handoff.clone_from(&handoff);
                    let words = debugging::words(agent, (&model, debugs), &why);
                    agent.model.clone_from(&model);
                    agent.step(LifeMove::Retry, &words, now)
                })
                .await?;
        }
    }

    /// Decides what is tried after an attempt that failed.
    async fn next_rung(&self, agent: &Agent, place: &Place, last: &Attempt) -> Result<Next> {
        let history = [agent.attempts.clone(), vec![last.clone()]].concat();
        let models = self.models(agent, place).await?;
        Ok(Ladder::default().next(&history, &models))
    }

    /// Lists the models that may work on: its own, and stronger ones unless what its own can do is the question.
    async fn models(&self, agent: &Agent, place: &Place) -> Result<Vec<String>> {
        let mut models = vec![agent.first_model.clone().unwrap_or_else(|| agent.model.clone())];
        if agent.trial.is_none() {
            let wanted = crate::wishes::read(&self.fleet, place.folder.clone()).await?;
            models.extend(wanted.agents.stronger);
        }
        Ok(models)
    }

    /// Says that the agent is at work; its time runs from the first time on.
    async fn begin_work(&self) -> Result<Agent> {
        let now = self.fleet.app().clock.now();
        self.change("agent:state", move |agent| {
            agent.began_at.get_or_insert(now);
            agent.step(LifeMove::SessionStarted, "it works", now)
        })
        .await
    }

    /// Keeps files and conversation of one moment.
    async fn snapshot(&self, place: &Place, session: &mut Session, talk: Uuid) -> Result<Moment> {
        for _ in 1..SNAPSHOTS_TRIED {
            let moment = self.snapshot_once(place, session, talk).await?;
            if !session.has_grown() {
                return Ok(moment);
            }
        }
        self.snapshot_once(place, session, talk).await
    }

    async fn snapshot_once(
        &self,
        place: &Place,
        session: &mut Session,
        talk: Uuid,
    ) -> Result<Moment> {
        session.keep(&self.fleet, self.tenant, talk).await?;
        let node = session.head();
        place.ready.wait().await;
        let files = place.runtime.snapshot(place.sandbox).await?;
        Ok(Moment { files, node })
    }

    /// Notes that a run could not go on for a reason that is not the agent's: it is tried again a few
    /// times, since it may be a process that somebody killed, and then a person is told.
    async fn stumble(&self, why: &str) -> Result<bool> {
        let (words, now) = (why.to_owned(), self.fleet.app().clock.now());
        let agent = self
            .change("agent:state", move |agent| {
                agent.stumbles += 1;
                agent.last_error = Some(words.clone());
                if agent.stumbles > STUMBLES_MAX {
                    return Ok(());
                }
                if agent.life == Life::Completing {
                    // What was said to be done is looked at first: the bead may be in review already.
                    return Ok(());
                }
                agent.step(LifeMove::Lost, &format!("tries again: {words}"), now)
            })
            .await?;
        if agent.stumbles <= STUMBLES_MAX {
            return Ok(false);
        }
        self.give_up(why).await?;
        Ok(true)
    }

    /// Ends an agent whose time is up; its work stays.
    async fn out_of_time(&self, agent: &Agent) -> Result<End> {
        let why = format!("its time of {} s is up", agent.timeout.unwrap_or_default());
        self.give_up(&why).await?;
        Ok(End::GaveUp(why))
    }

    /// Tells a person, once, that the agent cannot go on.
    async fn give_up(&self, why: &str) -> Result<()> {
        let (fleet, why, now) = (self.fleet.clone(), why.to_owned(), self.fleet.app().clock.now());
        let work = move |tx: &mut Tx<'_>, agent: &mut Agent| {
            agent.last_error = Some(why.clone());
            agent.step(LifeMove::Error, &why, now)?;
            if agent.trial.is_some() {
                // A person is told once, when all attempts are at their end.
                return Ok(());
            }
            let text = format!(
                "{} cannot go on with {}: {why}. Look at it: godel agent show {}; then: godel agent \
                 restart {}",
                agent.label, agent.bead, agent.label, agent.label
            );
            inbox::raise(&fleet, tx, agent, NoticeKind::Stuck, (&text, &[])).map(drop)
        };
        self.change_in("agent:state", work).await.map(drop)
    }
}

fn result(agent: &Agent) -> Payload {
    Payload::of(&serde_json::json!({
        "agent": agent.id, "bead": agent.bead, "commit": agent.commit, "summary": agent.summary,
    }))
}
