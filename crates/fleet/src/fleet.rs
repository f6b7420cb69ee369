//! The fleet: what all agents of this server share.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use godel_agents::native::Line;
use godel_app::{App, Call, Crew, Origin, Spot, auth};
use godel_git::{Benches, Host, Workbench};
use godel_model::{
    Actor, AgentId, NewEvent, Payload, Project, ProjectId, Role, TaskId, TenantId, UserId,
};
use godel_runtime::{Helper, RuntimeProvider};
use godel_store::Tx;
use secrecy::SecretString;
use serde::Serialize;
use tokio::sync::{Notify, RwLock, RwLockReadGuard, Semaphore, mpsc};
use uuid::Uuid;

use crate::attach::Attached;
use crate::doc::Agent;
use crate::landing::Forges;
use crate::run::Order;
use crate::{Error, Result, carry};

/// How the fleet works.
#[derive(Clone)]
pub struct Settings {
    /// The base URL of this server, as its own machine reaches it.
    pub api: String,
    /// Speaks to that URL.
    pub http: reqwest::Client,
    /// Where sandboxes, snapshots and results of gates are kept.
    pub data: PathBuf,
    /// The user's state directory of Godel.
    pub state: PathBuf,
    /// How this binary is started as the helper of sandboxes.
    pub helper: Helper,
    /// Where agent programs are looked for.
    pub search: OsString,
    /// The bubblewrap that makes walls; the one on the PATH unless named.
    pub bubblewrap: Option<PathBuf>,
    /// How many agents run on this server at once.
    pub capacity: u32,
}

/// What all agents of this server share; cheap to clone.
#[derive(Clone)]
pub struct Fleet {
    pub(crate) own: Arc<Own>,
}

pub(crate) struct Own {
    pub(crate) app: App,
    pub(crate) crew: Crew,
    pub(crate) settings: Settings,
    pub(crate) runtimes: BTreeMap<&'static str, Arc<dyn RuntimeProvider>>,
    /// Agents that run here, and how they are told something.
    pub(crate) live: Mutex<HashMap<AgentId, mpsc::Sender<Order>>>,
    /// The tenant of each of them, and the task of the queue by which it runs.
    tickets: Mutex<HashMap<AgentId, (TenantId, TaskId)>>,
    /// Tenants that have a foreman here.
    pub(crate) foremen: Mutex<HashMap<TenantId, ()>>,
    /// Repositories in which something is landing.
    pub(crate) landings: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
    /// Forges that are spoken to.
    pub(crate) forges: Forges,
    /// Repositories that were opened.
    benches: Benches,
    /// Repositories in which worktrees are made ready, and whether that is to be done again.
    pub(crate) stocking: Mutex<HashMap<PathBuf, bool>>,
    /// How many errands are carried out here.
    pub(crate) errands: AtomicUsize,
    /// What is moved on by one at a time, by its id.
    turns: Mutex<HashMap<Uuid, Arc<tokio::sync::Mutex<()>>>>,
    /// Something happened that a march may wait for.
    pub(crate) moved: Notify,
    /// Somebody answered a question.
    pub(crate) answered: Notify,
    /// Who looks at agents, and their terminals.
    pub(crate) attached: Attached,
    /// Held by whoever makes or uses a snapshot: what has no row yet is not taken for left over.
    pub(crate) keeping: RwLock<()>,
    /// How many snapshots are taken in at once.
    pub(crate) incoming: Arc<Semaphore>,
}

impl Own {
    /// Lets a run be the one of its agent; `false` while another is.
    pub(crate) fn take_seat(&self, agent: AgentId, line: &mpsc::Sender<Order>) -> bool {
        let mut live = lock(&self.live);
        let free = !live.contains_key(&agent);
        if free {
            live.insert(agent, line.clone());
        }
        free
    }

    pub(crate) fn tickets(&self, agent: AgentId) -> Option<TaskId> {
        lock(&self.tickets).get(&agent).map(|(_, task)| *task)
    }

    pub(crate) fn tenant_of(&self, agent: AgentId) -> Option<TenantId> {
        lock(&self.tickets).get(&agent).map(|(tenant, _)| *tenant)
    }

    pub(crate) fn hold_ticket(&self, agent: AgentId, ticket: (TenantId, TaskId)) {
        lock(&self.tickets).insert(agent, ticket);
    }

    pub(crate) fn drop_ticket(&self, agent: AgentId) {
        lock(&self.tickets).remove(&agent);
    }
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").finish_non_exhaustive()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fleet {
    /// Puts the fleet together; nothing runs yet.
    pub fn new(
        app: App,
        crew: Crew,
        settings: Settings,
        runtimes: Vec<Arc<dyn RuntimeProvider>>,
    ) -> Self {
        let runtimes = runtimes.into_iter().map(|one| (one.name(), one)).collect();
        carry::clear(&settings.data);
        Self {
            own: Arc::new(Own {
                app,
                crew,
                settings,
                runtimes,
                live: Mutex::default(),
                tickets: Mutex::default(),
                landings: Mutex::default(),
                forges: Forges::default(),
                benches: Benches::default(),
                stocking: Mutex::default(),
                foremen: Mutex::default(),
                errands: AtomicUsize::new(0),
                turns: Mutex::default(),
                moved: Notify::new(),
                answered: Notify::new(),
                attached: Attached::default(),
                keeping: RwLock::default(),
                incoming: Arc::new(Semaphore::new(carry::INCOMING_MAX)),
            }),
        }
    }

    /// Returns the application.
    pub fn app(&self) -> &App {
        &self.own.app
    }

    /// Returns how it works.
    pub fn settings(&self) -> &Settings {
        &self.own.settings
    }

    /// Returns the runtimes that this server offers, by name, with what each can do.
    pub fn runtimes(&self) -> Vec<(&'static str, godel_runtime::Capabilities)> {
        self.own.runtimes.iter().map(|(name, one)| (*name, one.capabilities())).collect()
    }

    /// Returns the tasks of this server, which it waits for when it stops.
    pub fn crew(&self) -> &Crew {
        &self.own.crew
    }

    /// Does something to its end although whoever asked may go: a request is shorter, and half of it must not
    /// be done.
    ///
    /// # Errors
    /// If it fails, or the server stops meanwhile.
    pub async fn to_its_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (tell, told) = tokio::sync::oneshot::channel();
        // Whoever asked may have gone.
        self.own.crew.spawn(async move { drop(tell.send(work.await)) });
        let code = godel_model::code::SHUTTING_DOWN;
        told.await.map_err(|_| Error::refused(code, "the server stops", "say it again"))?
    }

    /// Waits until something happens that others may wait for: an agent that moves, or work that lands.
    pub fn moved(&self) -> impl Future<Output = ()> {
        self.own.moved.notified()
    }

    /// Says that such a thing has happened.
    pub fn has_moved(&self) {
        self.own.moved.notify_waiters();
    }

    /// Returns what is held by whoever moves something on here, so that there is one at a time.
    pub fn turn_of(&self, id: Uuid) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(lock(&self.own.turns).entry(id).or_default())
    }

    /// Forgets what is over, and has no turns any more.
    pub fn end_turns(&self, id: Uuid) {
        lock(&self.own.turns).remove(&id);
    }

    /// Returns how many agents run here, and how many can.
    pub fn load(&self) -> (u32, u32) {
        let running = u32::try_from(lock(&self.own.live).len()).unwrap_or(u32::MAX);
        (running, self.own.settings.capacity)
    }

    /// Tells an agent that runs here something; `false` if it does not run here.
    pub(crate) async fn tell(&self, agent: AgentId, order: Order) -> bool {
        let line = lock(&self.own.live).get(&agent).cloned();
        match line {
            Some(line) => line.send(order).await.is_ok(),
            None => false,
        }
    }

    /// Tells whether an agent runs here.
    pub fn leads(&self, agent: AgentId) -> bool {
        lock(&self.own.live).contains_key(&agent)
    }

    /// Waits for a place among the agents of a project that may run here; the project's own file can say
    /// that there are fewer.
    pub(crate) async fn room(&self, project: &Project, own: Option<u32>) -> Spot {
        let capacity = self.own.settings.capacity;
        let bound = own.map_or(capacity, |own| own.min(capacity));
        self.app().rooms.enter(project.id, project.limits.max_agents, bound).await
    }

    /// Returns a kind of runtime.
    pub fn runtime(&self, name: &str) -> Result<Arc<dyn RuntimeProvider>> {
        self.own.runtimes.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.own.runtimes.keys().copied().collect();
            Error::refused(
                godel_model::code::SANDBOX_UNAVAILABLE,
                format!("agents cannot work in \"{name}\" on this server"),
                format!(
                    "use one of: {}; gvisor needs the program runsc (Debian: apt install runsc)",
                    known.join(", ")
                ),
            )
        })
    }

    /// Keeps the files of snapshots from being collected, as long as what it returns is held.
    pub async fn keep_snapshots(&self) -> RwLockReadGuard<'_, ()> {
        self.own.keeping.read().await
    }

    /// Acts for the person who asked for an agent: with what that person may do now, not then.
    ///
    /// # Errors
    /// If that person is gone, or may not any more.
    pub async fn on_behalf(&self, tenant: TenantId, user: UserId) -> Result<Call> {
        let actor = auth::on_behalf(&self.own.app, tenant, user).await?;
        Ok(Call { actor: actor.into(), trace_id: None, once: None, origin: Origin::default() })
    }

    /// Acts as the fleet itself.
    pub fn as_fleet(&self, tenant: TenantId) -> Call {
        let actor = Actor {
            tenant,
            home: false,
            user: UserId::from_uuid(Uuid::nil()),
            name: "godel:fleet".to_owned(),
            role: Role::Operator,
            scopes: [].into(),
            projects: [].into(),
            key: None,
            session: None,
        };
        Call { actor: actor.into(), trace_id: None, once: None, origin: Origin::default() }
    }

    /// Records what happened to an agent, where those who follow it look.
    pub(crate) fn record(
        &self,
        tx: &mut Tx<'_>,
        agent: &Agent,
        kind: &'static str,
        payload: &impl Serialize,
    ) -> Result<()> {
        Ok(tx.record(self.event(agent, kind, payload))?)
    }

    /// Makes an event about an agent.
    pub(crate) fn event(
        &self,
        agent: &Agent,
        kind: &'static str,
        payload: &impl Serialize,
    ) -> NewEvent {
        let about = (agent.id, agent.label.as_str(), agent.project, agent.bead.as_str());
        let mut event = self.event_about(about, kind, payload);
        if let Some(convoy) = &agent.convoy {
            event.metadata.refs.insert("convoyId".into(), convoy.clone());
        }
        event
    }

    /// Makes an event about an agent that may be gone: its id and name, its project and its bead.
    pub(crate) fn event_about(
        &self,
        (id, label, project, bead): (AgentId, &str, ProjectId, &str),
        kind: &'static str,
        payload: &impl Serialize,
    ) -> NewEvent {
        let mut event = NewEvent {
            id: self.own.app.mint.id(),
            kind: godel_model::EventType::known(kind),
            at: self.own.app.clock.now(),
            source: godel_model::Source::component("fleet"),
            payload: Payload::of(payload),
            metadata: godel_model::Metadata {
                actor: Some(format!("agent:{label}")),
                ..godel_model::Metadata::default()
            },
        };
        let refs = &mut event.metadata.refs;
        refs.insert("agentId".into(), id.to_string());
        refs.insert("projectId".into(), project.to_string());
        refs.insert("beadId".into(), bead.to_owned());
        event
    }

    /// Returns the way to models for whoever has a token: through the proxy, by which all is paid.
    pub fn line(&self, token: SecretString) -> Line {
        let settings = &self.own.settings;
        let base_url = crate::run::proxy(&settings.api);
        Line { http: settings.http.clone(), base_url, token }
    }

    /// Finds a project and the folder of its repository.
    ///
    /// # Errors
    /// If the caller does not see it, or it has no repository.
    pub async fn project(&self, call: &Call, id: ProjectId) -> Result<(Project, PathBuf)> {
        let project = godel_app::projects::get(&self.own.app, call, id).await?;
        let folder = project.repository.clone().filter(|path| !path.is_empty());
        let folder = folder.ok_or(godel_app::Error::NoRepository(id))?;
        Ok((project, folder.into()))
    }

    /// Does something at the workbench of a repository, on a thread that may wait.
    ///
    /// # Errors
    /// If the repository cannot be opened, or the work fails.
    pub async fn at_bench<T: Send + 'static>(
        &self,
        folder: PathBuf,
        work: impl FnOnce(&Workbench) -> godel_git::Result<T> + Send + 'static,
    ) -> Result<T> {
        let host = Host {
            clock: Arc::clone(&self.own.app.clock),
            state: self.own.settings.state.clone(),
            stop: Arc::default(),
            step: |_| {},
        };
        let fleet = self.clone();
        let run = move || work(&fleet.own.benches.open(&folder, host)?);
        let done = tokio::task::spawn_blocking(run).await;
        let done = done.map_err(|_| Error::Store(godel_store::Error::Panicked))?;
        Ok(done?)
    }
}
