//! What time does to the queue: workers that fall silent, attempts that take too long, tasks whose
//! time has come.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use godel_model::{AttemptEnd, EventFilter, TaskPriority, TaskState, TenantId, WorkerId};
use godel_store::{Closing, DatabaseUrl, Error as StoreError, Fence, Scope, Tx, fault};
use jiff::{SignedDuration, Timestamp};

use super::desk::Desk;
use super::tell::{Author, More, Teller};
use super::turn::{Outside, end_attempt, end_descendants};
use super::workers::{self, LIVES};
use super::{alerts, attic, heal, holders, schedules, sessions, tally, wake};
use crate::{App, Crew, Result};

/// How often everything is looked at where this server alone works on the database.
const LOOK_ALONE: Duration = Duration::from_secs(1);
/// How often workers that were heard of are noted.
const NOTE_EVERY: Duration = Duration::from_secs(3);
/// How often waiting tasks are looked at for ageing.
const AGE_EVERY: Duration = Duration::from_secs(5);
/// How often it is looked whether dead letters pile up.
const ALERT_EVERY: Duration = Duration::from_secs(5);
/// How many of a kind are taken care of in one transaction.
const AT_ONCE: usize = 500;
/// From when on two clocks count as having gone apart.
const JUMP: SignedDuration = SignedDuration::from_secs(5);

/// Tells how much time has passed since some moment, whatever the clock on the wall says.
pub type Steady = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Keeps the queue going.
pub struct Keeper {
    app: App,
    steady: Steady,
    /// What both clocks said at the last look.
    clocks: (Timestamp, Duration),
    noted: Duration,
    aged: Duration,
    /// When alerts were last looked at.
    alerted: Option<Duration>,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("clocks", &self.clocks).finish_non_exhaustive()
    }
}

/// Lets the workers that were there before live on for a while, and then keeps the queue going.
///
/// # Errors
/// If the database fails.
pub async fn start(app: &App, crew: &Crew) -> Result<()> {
    let alone = matches!(app.store.url(), DatabaseUrl::Sqlite(_));
    // Nobody could be heard while all servers were away.
    workers::grace(app, alone).await?;
    let (mut keeper, stopping, app_) = (Keeper::new(app.clone()), crew.stopping(), app.clone());
    crew.spawn(async move {
        loop {
            let look = if alone {
                LOOK_ALONE
            } else {
                // A wake-up that was lost costs no more than this.
                let chance = f64::from(app_.mint.bytes::<1>()[0]) / 255.0;
                app_.config.look.mul_f64(0.5 + chance)
            };
            let until = keeper.until_due(look).await;
            tokio::select! {
                () = tokio::time::sleep(until) => {}
                () = app_.desks.changed() => {}
                () = stopping.cancelled() => break,
            }
            if let Err(error) = keeper.look().await {
                tracing::warn!(%error, "the queue could not be looked after; it is tried again");
                tokio::time::sleep(LOOK_ALONE).await;
            }
        }
        app_.desks.close();
    });
    attic::start(app, crew);
    holders::start(app, crew);
    if !alone {
        let (app, crew_) = (app.clone(), crew.clone());
        wake::start(&app, &crew_);
        crew.spawn(async move { follow(&app, &crew_).await });
    }
    Ok(())
}

/// Wakes desks where somebody waits when another server has added something.
async fn follow(app: &App, crew: &Crew) {
    let stopping = crew.stopping();
    let mut followed: HashMap<TenantId, ()> = HashMap::new();
    while tokio::time::timeout(LOOK_ALONE, stopping.cancelled()).await.is_err() {
        for desk in app.desks.all() {
            if desk.has_parked() && followed.insert(desk.tenant(), ()).is_none() {
                sessions::follow(app, crew, &desk);
                let (app, stopping) = (app.clone(), crew.stopping());
                crew.spawn(async move {
                    tokio::select! {
                        () = wake_on_news(&app, &desk) => {}
                        () = stopping.cancelled() => {}
                    }
                });
            }
        }
    }
}

async fn wake_on_news(app: &App, desk: &Arc<Desk>) {
    let patterns = tally::BRINGERS.iter().filter_map(|kind| kind.parse().ok()).collect();
    let filter = EventFilter::new(patterns, BTreeMap::new()).unwrap_or_else(|_| EventFilter::all());
    loop {
        let tail = app.store.tail(desk.tenant(), None, filter.clone()).await;
        let Ok(mut tail) = tail else {
            tokio::time::sleep(LOOK_ALONE).await;
            continue;
        };
        loop {
            tail.ready().await;
            tail.skip_to(tail.head());
            if desk.has_parked() {
                desk.wake();
            }
        }
    }
}

impl Keeper {
    /// Makes one that has not looked yet.
    pub fn new(app: App) -> Self {
        let start = Instant::now();
        Self::paced(app, Arc::new(move || start.elapsed()))
    }

    /// Makes one that has not looked yet, and takes the passing of time from somewhere else.
    pub fn paced(app: App, steady: Steady) -> Self {
        let now = steady();
        let clocks = (app.clock.now(), now);
        let (noted, aged) = (now, now);
        Self { app, steady, clocks, noted, aged, alerted: None }
    }

    /// Returns how long it is until the next task is due, at most `look`.
    async fn until_due(&self, look: Duration) -> Duration {
        let due = self.app.store.read(Scope::System, |tx| {
            let due = tx.tasks().next_due()?;
            Ok::<_, StoreError>(due.map(|due| (due, tx.clock(Timestamp::UNIX_EPOCH))))
        });
        let Ok(Some((due, database))) = due.await else { return look };
        let now = match database {
            Ok(now) if now > Timestamp::UNIX_EPOCH => now,
            _ => self.app.clock.now(),
        };
        let left = due.duration_since(now);
        Duration::try_from(left).unwrap_or_default().min(look)
    }

    /// Does everything that is due.
    ///
    /// # Errors
    /// If the database fails; what was done is done.
    pub async fn look(&mut self) -> Result<()> {
        self.watch_clocks().await?;
        let steady = self.clocks.1;
        if steady.saturating_sub(self.noted) >= NOTE_EVERY {
            self.noted = steady;
            workers::note_all(&self.app).await?;
        }
        self.bury_silent().await?;
        self.stop_late().await?;
        self.promote().await?;
        self.end_useless().await?;
        schedules::make_due(&self.app).await?;
        if steady.saturating_sub(self.aged) >= AGE_EVERY {
            self.aged = steady;
            self.age().await?;
        }
        self.alert().await?;
        for desk in self.app.desks.all() {
            if desk.has_parked() {
                desk.wake();
            }
        }
        Ok(())
    }

    /// Does not take a clock that was set for time that has passed.
    async fn watch_clocks(&mut self) -> Result<()> {
        let (wall, steady) = (self.app.clock.now(), (self.steady)());
        let passed = steady.saturating_sub(self.clocks.1);
        let passed = SignedDuration::try_from(passed).unwrap_or_default();
        let jump = wall.duration_since(self.clocks.0) - passed;
        self.clocks = (wall, steady);
        let alone = matches!(self.app.store.url(), DatabaseUrl::Sqlite(_));
        if alone && jump.abs() > JUMP {
            tracing::warn!(seconds = jump.as_secs(), "the clock was set; leases go on as before");
            workers::shift(&self.app, jump).await?;
        }
        Ok(())
    }

    async fn system<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Tx<'_>) -> std::result::Result<T, StoreError> + Send + 'static,
    ) -> Result<T> {
        Ok(self.app.store.read(Scope::System, work).await?)
    }

    /// Gives what silent workers had to others.
    async fn bury_silent(&self) -> Result<()> {
        // The time that was looked at for a jump: the clock may have been set since.
        let now = self.clocks.0;
        let silent = self.system(move |tx| {
            let now = tx.clock(now)?;
            tx.workers().expired(now, AT_ONCE)
        });
        for (tenant, worker) in silent.await? {
            workers::bury(&self.app, tenant, worker, AttemptEnd::Lost, None).await?;
            fault("queue-buried");
        }
        Ok(())
    }

    /// Ends attempts that take longer than allowed.
    async fn stop_late(&self) -> Result<()> {
        let now = self.clocks.0;
        let late = self.system(move |tx| {
            let now = tx.clock(now)?;
            tx.tasks().late(now, AT_ONCE)
        });
        for (tenant, fence) in late.await? {
            self.end(tenant, fence, AttemptEnd::Timeout, "it took longer than allowed").await?;
        }
        Ok(())
    }

    async fn end(
        &self,
        tenant: TenantId,
        fence: Fence,
        how: AttemptEnd,
        error: &'static str,
    ) -> Result<()> {
        let outside = outside(&self.app);
        let work = move |tx: &mut Tx<'_>| {
            let outside = Outside { now: tx.clock(outside.now)?, ..outside };
            tx.tasks().lock_graph(false)?;
            let author = Author::default();
            let teller = Teller { mint: outside.mint, now: outside.now, author: &author };
            end_attempt(tx, fence, (how, error, false), (outside, teller))
        };
        if tally::write(&self.app, tenant, work).await?.is_some() {
            tally::timed_out();
        }
        Ok(())
    }

    /// Lets tasks whose time has come be handed out.
    async fn promote(&self) -> Result<()> {
        loop {
            let now = self.app.clock.now();
            let due = self.system(move |tx| {
                let now = tx.clock(now)?;
                tx.tasks().due(now, AT_ONCE)
            });
            let due = due.await?;
            let (found, mint) = (due.len(), self.app.mint);
            for (tenant, tasks) in by_tenant(due) {
                let work = move |tx: &mut Tx<'_>| {
                    let now = tx.clock(now)?;
                    let author = Author::default();
                    let teller = Teller { mint, now, author: &author };
                    for spot in tx.tasks().promote(&tasks, now)? {
                        teller.tell(tx, "task:ready", &spot, &More::default())?;
                    }
                    fault("queue-promoting");
                    Ok::<_, StoreError>(())
                };
                tally::write(&self.app, tenant, work).await?;
                fault("queue-promoted");
                self.app.desks.of(tenant).wake();
            }
            if found < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Ends tasks that are of no use any more and were not begun.
    async fn end_useless(&self) -> Result<()> {
        let (now, mint) = (self.app.clock.now(), self.app.mint);
        let past = self.system(move |tx| {
            let now = tx.clock(now)?;
            tx.tasks().past_deadline(now, AT_ONCE)
        });
        for (tenant, task) in past.await? {
            let work = move |tx: &mut Tx<'_>| {
                let now = tx.clock(now)?;
                tx.tasks().lock_graph(false)?;
                let error = "its deadline has passed";
                let closing = Closing { state: TaskState::Dead, error, because: None, at: now };
                let closed = tx.tasks().close_waiting(task, closing)?;
                // One that runs is ended with its attempt, or looked at again if that is given back.
                if closed.is_none() && tx.tasks().end_by(task, now)? {
                    return Ok(());
                }
                tx.tasks().drop_deadline(task)?;
                let Some(spot) = closed else { return Ok(()) };
                let author = Author::default();
                let teller = Teller { mint, now, author: &author };
                let more = More { error: Some(error), ..More::default() };
                teller.tell(tx, "task:dead", &spot, &more)?;
                end_descendants(tx, task, now, teller)
            };
            tally::write(&self.app, tenant, work).await?;
        }
        Ok(())
    }

    /// Raises what has waited for long, where a pool wants it.
    async fn age(&self) -> Result<()> {
        let (now, mint) = (self.app.clock.now(), self.app.mint);
        for (tenant, pool) in self.system(|tx| tx.pools().all()).await? {
            let Some(seconds) = pool.settings.ageing_seconds else { continue };
            let work = move |tx: &mut Tx<'_>| {
                let now = tx.clock(now)?;
                let age = SignedDuration::from_secs(seconds.into());
                let author = Author::default();
                let teller = Teller { mint, now, author: &author };
                let (_, lanes) = tx.tasks().pool(&pool.name)?;
                for lane in lanes {
                    for from in [TaskPriority::High, TaskPriority::Medium, TaskPriority::Low] {
                        for spot in tx.tasks().age(&lane, from, now, age)? {
                            teller.tell(tx, "task:raised", &spot, &More::default())?;
                        }
                    }
                }
                Ok::<_, StoreError>(())
            };
            self.app.store.write(Scope::Tenant(tenant), work).await?;
        }
        Ok(())
    }

    /// Tells people of dead letters that pile up, and sees to what waits for nobody.
    async fn alert(&mut self) -> Result<()> {
        let steady = self.clocks.1;
        match self.alerted {
            None => alerts::look_at_all(&self.app).await?,
            Some(at) if steady.saturating_sub(at) < ALERT_EVERY => return Ok(()),
            Some(_) => {}
        }
        self.alerted = Some(steady);
        heal::reopen(&self.app).await?;
        alerts::look(&self.app).await
    }
}

/// Returns what a turn needs from outside.
pub(crate) fn outside(app: &App) -> Outside {
    let chance = f64::from(app.mint.bytes::<1>()[0]) / 255.0;
    Outside { mint: app.mint, now: app.clock.now(), chance }
}

/// Returns until when a worker that was heard of now is believed to live.
pub(super) fn lives_until(now: Timestamp) -> Timestamp {
    now.saturating_add(LIVES).unwrap_or(now)
}

fn by_tenant<T>(all: Vec<(TenantId, T)>) -> BTreeMap<TenantId, Vec<T>> {
    let mut sorted: BTreeMap<TenantId, Vec<T>> = BTreeMap::new();
    for (tenant, one) in all {
        sorted.entry(tenant).or_default().push(one);
    }
    sorted
}

/// Ends everything that a worker has; returns how much that was.
pub(super) fn end_held(
    tx: &mut Tx<'_>,
    worker: WorkerId,
    (how, error): (AttemptEnd, &str),
    (outside, teller): (Outside, Teller<'_>),
) -> std::result::Result<usize, StoreError> {
    let held = tx.tasks().held_by(worker)?;
    for lease in &held {
        let spot = &lease.spot;
        let fence = Fence { task: spot.task, attempt: spot.attempt, worker };
        end_attempt(tx, fence, (how, error, false), (outside, teller))?;
        fault("queue-burying");
    }
    Ok(held.len())
}
