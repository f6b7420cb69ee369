//! The foremen: one for each tenant, who takes runs of agents from the queue.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use godel_app::Call;
use godel_app::queue::workers::{self, NewWorker};
use godel_app::queue::{Given, Say};
use godel_decide::agent::ERRANDS;
use godel_model::{AgentId, Life, PoolName, TaskId, TenantId, WorkerId};
use godel_store::{DatabaseUrl, Scope, Tx};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::doc::Agent;
use crate::errands::Hold;
use crate::fleet::lock;
use crate::landing::Stage;
use crate::run::{Order, Run};
use crate::slips::{March, MarchState};
use crate::spawn::{self, POOL};
use crate::{Error, Fleet, Result, hearing, landing, march, paper, review};

/// How often the queue hears that the foreman lives, and the foreman what it has by the book.
const BEAT_EVERY: Duration = Duration::from_secs(2);
/// How long the foreman waits for work in one go.
const WAIT: Duration = Duration::from_secs(20);
/// How often agents are looked for that the queue knows nothing of.
const HEAL_EVERY: Duration = Duration::from_secs(20);
/// How many errands a server looks after at once: each only waits for its agent.
const ERRANDS_MAX: u32 = 1_000;
/// How many orders to a run may wait.
const ORDERS_MAX: usize = 64;
/// How many agents are looked at in one go.
const LOOK_MAX: usize = 1_000;

/// What the queue keeps of a run.
#[derive(Deserialize)]
struct Ticket {
    agent: AgentId,
    run: u32,
}

/// What is held, and in which attempt: the next one may be given before the last has quite ended.
type Held = HashMap<TaskId, (u32, Hold)>;

/// Whose tasks a shift takes: the tenant's, as a worker.
type Taker = (TenantId, WorkerId, Post);

/// What is under way in a shift; each is known by its task and attempt.
#[derive(Default)]
struct Underway {
    runs: JoinSet<()>,
    spots: HashMap<Id, (TaskId, u32)>,
    held: Held,
}

impl Underway {
    /// Waits until one ends; tells which one if it did so without a word.
    async fn next(&mut self) -> Option<Option<(TaskId, u32)>> {
        let ended = self.runs.join_next_with_id().await?;
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
        let spot = self.spots.remove(&id)?;
        if self.held.get(&spot.0).is_some_and(|(attempt, _)| *attempt == spot.1) {
            self.held.remove(&spot.0);
        }
        Some(ended.is_err().then_some(spot))
    }
}

/// Waits for what was asked for, if anything was.
async fn wait_for<F: Future>(asked: &mut Option<Pin<Box<F>>>) -> F::Output {
    match asked {
        Some(asked) => asked.as_mut().await,
        None => std::future::pending().await,
    }
}

/// The one run of an agent; whoever waits for it comes next, however it ends.
struct Seat<'a> {
    fleet: &'a Fleet,
    agent: AgentId,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.fleet.close_terminal(self.agent);
        lock(&self.fleet.own.live).remove(&self.agent);
        self.fleet.own.drop_ticket(self.agent);
        self.fleet.own.moved.notify_waiters();
    }
}

/// Whose worker a foreman is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Post {
    /// Of runs of agents.
    Runs,
    /// Of tasks that ask for an agent, and wait for it.
    Errands,
}

impl Post {
    fn pool(self) -> &'static str {
        match self {
            Self::Runs => POOL,
            Self::Errands => ERRANDS,
        }
    }
}

impl Fleet {
    /// Begins to run agents: those that were under way, and those that come.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn start(&self) -> Result<()> {
        let find = move |tx: &mut Tx<'_>| {
            let mut tenants = Vec::new();
            for life in Life::ALL.into_iter().filter(|life| life.is_running()) {
                tenants.extend(tx.papers("agent").tenants(life.as_str())?);
            }
            tenants.extend(tx.papers("march").tenants(MarchState::Running.as_str())?);
            tenants.extend(tx.papers("hearing").tenants(hearing::OPEN)?);
            for stage in Stage::OPEN {
                tenants.extend(tx.papers("landing").tenants(stage.as_str())?);
            }
            Ok::<_, Error>(tenants)
        };
        let fleet = self.clone();
        self.own.crew.spawn(async move { fleet.scout().await });
        let mut tenants: Vec<TenantId> = self.app().store.read(Scope::System, find).await?;
        tenants.sort_unstable();
        tenants.dedup();
        for tenant in tenants {
            self.enlist(tenant);
        }
        Ok(())
    }

    /// Makes sure that a tenant has a foreman here.
    pub fn enlist(&self, tenant: TenantId) {
        if lock(&self.own.foremen).insert(tenant, ()).is_some() {
            return;
        }
        let fleet = self.clone();
        self.own.crew.spawn(async move { fleet.lead(tenant, Post::Runs).await });
        let fleet = self.clone();
        self.own.crew.spawn(async move { fleet.lead(tenant, Post::Errands).await });
        let fleet = self.clone();
        self.own.crew.spawn(async move { fleet.keep_sizes(tenant).await });
        let fleet = self.clone();
        self.own.crew.spawn(async move { fleet.heal_always(tenant).await });
        let fleet = self.clone();
        self.own.crew.spawn(async move { march::keep_going(&fleet, tenant).await });
        let fleet = self.clone();
        self.own.crew.spawn(async move { review::keep_going(&fleet, tenant).await });
        let fleet = self.clone();
        self.own.crew.spawn(async move { landing::keep_going(&fleet, tenant).await });
    }

    /// Takes runs from the queue until the server stops.
    async fn lead(&self, tenant: TenantId, post: Post) {
        let stopping = self.own.crew.stopping();
        while !stopping.is_cancelled() {
            if let Err(error) = self.shift(tenant, post, &stopping).await {
                tracing::warn!(%tenant, %error, "agents cannot be taken from the queue");
                let pause = Duration::from_secs(1);
                let _ = tokio::time::timeout(pause, stopping.cancelled()).await;
            }
        }
    }

    /// One shift: as long as the queue knows this worker.
    async fn shift(
        &self,
        tenant: TenantId,
        post: Post,
        stopping: &CancellationToken,
    ) -> Result<()> {
        let call = self.as_fleet(tenant);
        self.bury_predecessors(&call, post).await?;
        let capacity = match post {
            Post::Runs => self.own.settings.capacity,
            Post::Errands => ERRANDS_MAX,
        };
        let worker = workers::register(
            self.app(),
            &call,
            NewWorker {
                name: self.worker_name(),
                pool: PoolName::from_stored(post.pool().to_owned()),
                capabilities: [].into(),
                capacity,
            },
        )
        .await?
        .id;
        let taker = (tenant, worker, post);
        let mut underway = Underway::default();
        let mut beat = tokio::time::interval(BEAT_EVERY);
        // What is asked for is waited for until it is there: a task that was given while nobody listened
        // any more would be held by this worker for ever, and begun by nobody.
        let mut claim = None;
        let ended = loop {
            let free = capacity.saturating_sub(underway.held.len() as u32);
            if claim.is_none() && free > 0 {
                claim = Some(Box::pin(workers::claim(self.app(), &call, worker, (free, WAIT))));
            }
            tokio::select! {
                () = stopping.cancelled() => break Ok(()),
                Some(silent) = underway.next() => self.speak_for(taker, silent).await,
                _ = beat.tick() => {
                    if let Err(error) = self.beat(&call, worker, &underway.held).await {
                        break Err(error);
                    }
                }
                given = wait_for(&mut claim) => {
                    claim = None;
                    match given {
                        Ok(given) => {
                            for one in given {
                                self.begin(taker, one, &mut underway);
                            }
                        }
                        Err(error) => break Err(error.into()),
                    }
                }
            }
        };
        drop(claim);
        if ended.is_err() {
            for (_, hold) in underway.held.values() {
                hold.lost.cancel();
            }
        }
        // Runs that are under way report before they end; the last of them lets the worker go.
        while let Some(silent) = underway.next().await {
            self.speak_for(taker, silent).await;
        }
        if ended.is_ok() {
            drop(workers::leave(self.app(), &call, worker).await);
        }
        ended
    }

    fn worker_name(&self) -> String {
        // On one machine the same data directory is the same server.
        format!("fleet-{:016x}", self.identity())
    }

    /// A number that this server keeps when it is started again: it follows from where its data is.
    pub(crate) fn identity(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.own.settings.data.as_os_str().as_encoded_bytes() {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash
    }

    /// Ends workers of this very server from before it was killed: nobody else can be they, so what they
    /// had need not wait until they are missed.
    async fn bury_predecessors(&self, call: &Call, post: Post) -> Result<()> {
        let alone = matches!(self.app().store.url(), DatabaseUrl::Sqlite(_));
        let name = self.worker_name();
        for (worker, _) in workers::list(self.app(), call, None, LOOK_MAX).await? {
            let ours = worker.pool.as_str() == post.pool()
                && worker.user == call.actor.user
                && (alone || worker.name.as_str() == name);
            if ours {
                // One that is gone already is gone.
                drop(workers::leave(self.app(), call, worker.id).await);
            }
        }
        Ok(())
    }

    /// Says that the foreman lives; stops what it has no more, or what was called off.
    async fn beat(&self, call: &Call, worker: WorkerId, held: &Held) -> Result<()> {
        let beat = workers::beat(self.app(), call, worker).await?;
        for (task, (attempt, hold)) in held {
            let own = (*task, *attempt);
            let mut leases = beat.held.iter();
            let lease = leases.find(|lease| (lease.spot.task, lease.spot.attempt) == own);
            match lease {
                None => hold.lost.cancel(),
                Some(lease) if lease.cancel.is_some() => {
                    hold.off.cancel();
                    self.recall(*task);
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Stops the run of a task that was called off on another server.
    fn recall(&self, task: TaskId) {
        for (id, line) in lock(&self.own.live).iter() {
            if self.own.tickets(*id) == Some(task) {
                // A run that has not yet read so many orders was told before; the foreman must not wait.
                drop(line.try_send(Order::Stop));
            }
        }
    }

    /// Begins a run.
    fn begin(&self, (tenant, worker, post): Taker, given: Given, underway: &mut Underway) {
        let (task, attempt) = (given.lease.spot.task, given.lease.spot.attempt);
        let hold = Hold::default();
        underway.held.insert(task, (attempt, hold.clone()));
        let fleet = self.clone();
        let run = self.own.crew.track(async move {
            let said = match post {
                Post::Runs => fleet.run_ticket(tenant, &given, hold.lost.clone()).await,
                Post::Errands => fleet.carry_out(tenant, &given, &hold).await,
            };
            if let Some(say) = said
                && !hold.lost.is_cancelled()
            {
                fleet.say((tenant, worker, post), (task, attempt), say).await;
            }
        });
        let id = underway.runs.spawn(run).id();
        underway.spots.insert(id, (task, attempt));
    }

    /// Tells the queue how a task ended.
    async fn say(&self, (tenant, worker, _): Taker, (task, attempt): (TaskId, u32), say: Say) {
        let call = self.as_fleet(tenant);
        let word = workers::say(self.app(), &call, (worker, task, attempt), say).await;
        if let Err(error) = word {
            tracing::debug!(%task, %error, "the end of a run was not heard");
        }
    }

    /// Gives a task to the next attempt whose run broke off without a word: nobody else would.
    async fn speak_for(&self, taker: Taker, silent: Option<(TaskId, u32)>) {
        if let Some(spot) = silent {
            let error = "its run broke off; the server's log says where".to_owned();
            self.say(taker, spot, Say::Failed { error, fatal: false }).await;
        }
    }

    async fn run_ticket(
        &self,
        tenant: TenantId,
        given: &Given,
        lost: CancellationToken,
    ) -> Option<Say> {
        let ticket: Ticket = match serde_json::from_str(given.asked.payload.as_str()) {
            Ok(ticket) => ticket,
            Err(error) => {
                let error = format!("this is not a run of an agent: {error}");
                return Some(Say::Failed { error, fatal: true });
            }
        };
        self.run_agent(tenant, (ticket.agent, ticket.run), given.lease.spot.task, lost).await
    }

    /// Runs an agent, once the run before it has let go.
    pub(crate) async fn run_agent(
        &self,
        tenant: TenantId,
        (id, number): (AgentId, u32),
        task: TaskId,
        lost: CancellationToken,
    ) -> Option<Say> {
        let (line, orders) = mpsc::channel(ORDERS_MAX);
        while !self.own.take_seat(id, &line) {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
                () = lost.cancelled() => return None,
            }
        }
        self.own.hold_ticket(id, (tenant, task));
        let seat = Seat { fleet: self, agent: id };
        let run = Run { fleet: self.clone(), tenant, id, number, orders, lost };
        let said = run.run().await;
        drop(seat);
        said
    }

    /// Looks now and then for agents that the queue knows nothing of.
    async fn heal_always(&self, tenant: TenantId) {
        let stopping = self.own.crew.stopping();
        loop {
            let healed = self.heal(tenant).await;
            if let Err(error) = healed.and(self.end_orphans(tenant).await) {
                tracing::warn!(%tenant, %error, "agents could not be looked after");
            }
            if tokio::time::timeout(HEAL_EVERY, stopping.cancelled()).await.is_ok() {
                return;
            }
        }
    }

    /// Puts agents back into the queue that were asked for and not queued before a server was killed.
    async fn heal(&self, tenant: TenantId) -> Result<()> {
        let find = move |tx: &mut Tx<'_>| {
            let mut found = Vec::new();
            for life in Life::ALL.into_iter().filter(|life| life.is_running()) {
                found.extend(paper::in_state::<Agent>(tx, life.as_str(), None, LOOK_MAX)?);
            }
            Ok(found)
        };
        for agent in paper::look(self.app(), tenant, find).await? {
            if agent.queued.is_none() {
                spawn::enqueue(self, tenant, agent).await?;
            }
        }
        Ok(())
    }

    /// Lists the marches of a tenant that go on.
    pub(crate) async fn marches(&self, tenant: TenantId) -> Result<Vec<March>> {
        paper::look(self.app(), tenant, |tx| {
            paper::in_state::<March>(tx, MarchState::Running.as_str(), None, LOOK_MAX)
        })
        .await
    }
}
