//! A worker from its first task to its last.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use godel_api::{Client, ClientError, GivenTask, NewWorker, Worker, WorkerBeat};
use godel_model::code;
use godel_store::fault;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep_until, timeout};
use uuid::Uuid;

use crate::attempt::{Attempt, Brake, Ended, Outcome, is_denied, stop};
use crate::book::{Anchor, Book, Key};
use crate::error::Error;
use crate::group::CLEAN_UP;
use crate::group::Program;
use crate::link::{Link, News, is};
use crate::notes::{Note, Notes};
use crate::patience::Patience;
use crate::verdict::Stop;

/// How long the last words to the server may take.
const GOODBYE: Duration = Duration::from_secs(5);
/// How much news may wait.
const NEWS_MAX: usize = 16;

/// How to work.
#[derive(Debug)]
pub struct Plan {
    /// What is run for each task.
    pub program: Arc<Program>,
    /// How the worker presents itself.
    pub new: NewWorker,
    /// Whether it ends after one task.
    pub once: bool,
    /// How many tasks it does at the same time.
    pub jobs: usize,
    /// How long what runs may go on after the worker was asked to end, in seconds.
    pub drain_seconds: u64,
}

/// How a worker has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// Everything that it had is over.
    Done,
    /// It was asked twice, and stopped what it had at once.
    AtOnce,
}

/// What was asked for has come.
enum Step {
    Registered(Result<Worker, ClientError>),
    Claimed(Uuid, Result<Vec<GivenTask>, ClientError>),
}

type Asking = Pin<Box<dyn Future<Output = Step> + Send>>;

/// An attempt that runs.
struct Running {
    since: Instant,
    brake: Brake,
}

/// Who this worker is to the server.
struct Session {
    id: Uuid,
    anchor: Anchor,
}

/// A worker at work.
pub struct Shift {
    notes: Notes,
    link: Link,
    plan: Plan,
    session: Option<Session>,
    /// The one question that is open: for tasks, or to be let in again.
    asking: Option<Asking>,
    /// The attempts; they end with this value, and their commands with them.
    runs: JoinSet<Ended>,
    running: HashMap<Key, Running>,
    book: Book,
    /// The heartbeat, and what is given back on the side.
    errands: JoinSet<()>,
    news: (mpsc::Sender<News>, mpsc::Receiver<News>),
    /// Whether no more tasks are taken.
    ending: bool,
    /// Whether somebody has asked for an end.
    signalled: bool,
    /// Why it ends, if that is a failure.
    fault: Option<Error>,
    /// When what still runs is stopped.
    stop_at: Option<Instant>,
    /// When even what could not be told is given up.
    give_up_at: Option<Instant>,
}

impl Shift {
    /// Prepares for work; what happens is told as notes.
    pub fn new(client: Client, notes: Notes, plan: Plan) -> Self {
        Self {
            notes: notes.clone(),
            link: Link(Patience::new(client, notes)),
            plan,
            session: None,
            asking: None,
            runs: JoinSet::new(),
            running: HashMap::new(),
            book: Book::default(),
            errands: JoinSet::new(),
            news: mpsc::channel(NEWS_MAX),
            ending: false,
            signalled: false,
            fault: None,
            stop_at: None,
            give_up_at: None,
        }
    }

    /// Registers the worker, and begins.
    ///
    /// # Errors
    /// If the server does not let it in.
    pub async fn register(&mut self) -> Result<(), Error> {
        let worker = self.link.register(&self.plan.new).await?;
        self.begin(worker);
        Ok(())
    }

    /// Begins to work as a worker that was let in.
    fn begin(&mut self, worker: Worker) {
        self.notes.tell(Note::Registered(&worker));
        let anchor = Anchor { at: worker.registered_at, since: Instant::now() };
        self.session = Some(Session { id: worker.id, anchor });
        self.book = Book::default();
        self.errands.abort_all();
        self.errands.spawn(self.link.clone().beat(worker.id, self.news.0.clone()));
    }

    /// Works until there is nothing more to do, or somebody asks for an end.
    ///
    /// # Errors
    /// If something is wrong that does not pass.
    pub async fn work(&mut self, asked: &mut mpsc::Receiver<()>) -> Result<Halt, Error> {
        while self.goes_on() {
            let deadline = self.stop_at.or(self.give_up_at);
            tokio::select! {
                step = next(&mut self.asking) => {
                    self.asking = None;
                    self.step(step);
                }
                Some(news) = self.news.1.recv() => self.hear(news),
                Some(ended) = self.runs.join_next() => self.ended(ended),
                Some(_) = self.errands.join_next() => {}
                Some(()) = asked.recv() => {
                    if std::mem::replace(&mut self.signalled, true) {
                        self.notes.remark("stopped at once");
                        self.runs.shutdown().await;
                        self.session = None;
                        return Ok(Halt::AtOnce);
                    }
                    self.drain();
                }
                () = until(deadline) => self.hurry().await,
            }
        }
        self.fault.take().map_or(Ok(Halt::Done), Err)
    }

    /// Asks for what is needed next; `false` if there is nothing left to wait for.
    fn goes_on(&mut self) -> bool {
        if self.asking.is_none() && !self.ending {
            self.asking = self.ask();
        }
        self.asking.is_some() || !self.runs.is_empty()
    }

    fn ask(&self) -> Option<Asking> {
        let link = self.link.clone();
        let Some(Session { id, .. }) = self.session else {
            let new = self.plan.new.clone();
            return Some(Box::pin(
                async move { Step::Registered(link.register_again(&new).await) },
            ));
        };
        let free = self.plan.jobs.saturating_sub(self.runs.len());
        let free = u32::try_from(free).ok().filter(|free| *free > 0)?;
        Some(Box::pin(async move { Step::Claimed(id, link.claim(id, free).await) }))
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Registered(Ok(worker)) => self.begin(worker),
            Step::Claimed(worker, Ok(tasks)) => {
                for task in tasks {
                    self.start(worker, task);
                }
            }
            Step::Claimed(worker, Err(error)) if is(&error, code::WORKER_NOT_FOUND) => {
                self.gone(worker);
            }
            Step::Registered(Err(error)) | Step::Claimed(_, Err(error)) => self.fail(error.into()),
        }
    }

    fn start(&mut self, worker: Uuid, task: GivenTask) {
        fault("worker-claimed");
        let key = (task.id, task.attempt);
        if self.book.is_gone(&key) {
            return;
        }
        self.notes.tell(Note::Began(&task));
        let anchor = self.session.as_ref().map(|session| session.anchor);
        let ends = anchor.zip(task.ends_at).map(|(anchor, at)| anchor.when(at));
        let brake: Brake = Arc::new(watch::Sender::new(None));
        self.running.insert(key, Running { since: Instant::now(), brake: Arc::clone(&brake) });
        let (link, program) = (self.link.clone(), Arc::clone(&self.plan.program));
        self.runs.spawn(Attempt { link, program, worker, task, ends, brake }.run());
        self.ending |= self.plan.once;
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Held(asked, beat) => self.compare(asked, &beat),
            News::Gone(worker) => self.gone(worker),
            News::Refused(error) => self.fail(error.into()),
        }
    }

    fn compare(&mut self, asked: Instant, beat: &WorkerBeat) {
        let Some(Session { id, .. }) = self.session else { return };
        let hands = self.running.iter().map(|(key, run)| (*key, run.since)).collect();
        let found = self.book.compare(&hands, asked, &beat.tasks);
        for (key, why) in found.stop {
            self.stop(key, Stop::Asked(why));
        }
        for key in found.lost {
            self.stop(key, Stop::Lost);
        }
        for key in found.strays {
            let link = self.link.clone();
            self.errands.spawn(async move { link.give_back(id, key).await });
        }
    }

    fn stop(&self, key: Key, why: Stop) {
        if let Some(run) = self.running.get(&key) {
            stop(&run.brake, why);
        }
    }

    fn stop_all(&self, why: &Stop) {
        for run in self.running.values() {
            stop(&run.brake, why.clone());
        }
    }

    /// The server has given what this worker had to others: it comes back as a new one.
    fn gone(&mut self, worker: Uuid) {
        if self.session.as_ref().is_none_or(|session| session.id != worker) {
            return;
        }
        self.session = None;
        self.asking = None;
        self.stop_all(&Stop::Lost);
        if !self.ending {
            self.notes.remark("the server does not know this worker any more; registering again");
        }
    }

    fn ended(&mut self, ended: Result<Ended, JoinError>) {
        let ended = match ended {
            Ok(ended) => ended,
            Err(cause) => {
                return self.fail(Error::Attempt(cause));
            }
        };
        self.running.remove(&ended.key);
        self.notes.tell(Note::Ended(&ended));
        match ended.outcome {
            Outcome::NotStarted(cause) => {
                self.fail(Error::NotStarted { program: self.plan.program.name(), cause });
            }
            Outcome::Refused(error) if is_denied(&error) => {
                self.fail(error.into());
            }
            Outcome::Told(..) | Outcome::Lost | Outcome::Refused(_) => {}
        }
    }

    /// Ends because something is wrong that does not pass.
    fn fail(&mut self, error: Error) {
        self.fault.get_or_insert(error);
        self.drain();
    }

    /// Takes no more tasks, and lets what runs come to its end.
    fn drain(&mut self) {
        self.ending = true;
        self.asking = None;
        if self.runs.is_empty() || self.stop_at.is_some() || self.give_up_at.is_some() {
            return;
        }
        let seconds = self.plan.drain_seconds;
        self.stop_at = Instant::now().checked_add(Duration::from_secs(seconds));
        let count = self.runs.len();
        let what = if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
        self.notes.remark(format_args!(
            "waiting {seconds} s for {what} to end; one more signal stops at once"
        ));
    }

    /// Stops what still runs, and at last gives up what could not be told.
    async fn hurry(&mut self) {
        if self.stop_at.take().is_some() {
            self.stop_all(&Stop::Ending);
            self.give_up_at = Instant::now().checked_add(CLEAN_UP + GOODBYE);
        } else {
            let count = self.runs.len();
            self.notes.remark(format_args!("{count} could not be told to the server"));
            self.runs.shutdown().await;
        }
    }

    /// Takes leave of the server; what it thinks this worker has goes back.
    pub async fn leave(&mut self, asked: &mut mpsc::Receiver<()>) {
        let Some(Session { id, .. }) = self.session.take() else { return };
        let left = tokio::select! {
            left = timeout(GOODBYE, self.link.leave(id)) => left,
            Some(()) = asked.recv() => return,
        };
        match left {
            Ok(Ok(())) => self.notes.tell(Note::Left(id)),
            Ok(Err(error)) if is(&error, code::WORKER_NOT_FOUND) => self.notes.tell(Note::Left(id)),
            Ok(Err(error)) => self.notes.remark(format_args!("could not take leave: {error}")),
            Err(_) => self.notes.remark("could not take leave: the server does not answer"),
        }
    }
}

async fn next(asking: &mut Option<Asking>) -> Step {
    match asking {
        Some(asking) => asking.await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
