//! All previews of a server.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use godel_app::{App, Call};
use godel_fleet::Fleet;
use godel_model::{ProjectId, Reach, TenantId, UserId, code};
use godel_store::{Scope, Tx};
use jiff::{SignedDuration, Timestamp};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::instrument;
use uuid::Uuid;

use crate::doc::{Preview, State};
use crate::scene::Scene;
use crate::tail::Tail;
use crate::{Error, Result, news, run};

/// How long a preview lasts.
pub(crate) const TIME: Duration = Duration::from_secs(4 * 60 * 60);
/// How many run on a server at a time.
const RUNNING_MAX: usize = 16;
/// For how many seconds one that has ended is remembered.
const REMEMBERED_SECS: i64 = 60 * 60;
/// How many are remembered.
const KNOWN_MAX: usize = 200;
/// No command is longer.
const COMMAND_MAX_BYTES: usize = 8 << 10;

/// What somebody wants to look at.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The work of this agent.
    pub agent: Option<String>,
    /// The work on this bead.
    pub bead: Option<String>,
    /// The project of the bead, if an id alone is not enough.
    pub project: Option<ProjectId>,
    /// The command; else that of the project, or what its files tell.
    pub command: Option<String>,
}

/// All previews of a server; cheap to clone.
#[derive(Clone)]
pub struct Previews {
    own: Arc<Own>,
}

struct Own {
    fleet: Fleet,
    panes: Mutex<Vec<Arc<Pane>>>,
    /// Held by whoever starts one, so that two who want to look at the same start it once; the repositories that
    /// were cleared of what an earlier server has left.
    starting: tokio::sync::Mutex<HashSet<PathBuf>>,
}

impl std::fmt::Debug for Previews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Previews").finish_non_exhaustive()
    }
}

/// One preview.
pub(crate) struct Pane {
    tenant: TenantId,
    user: UserId,
    shown: Mutex<Preview>,
    tail: Mutex<Tail>,
    pub(crate) stop: CancellationToken,
    stopped_by: Mutex<Option<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pane {
    /// Returns it as it is now, without what was written.
    pub(crate) fn look(&self) -> Preview {
        lock(&self.shown).clone()
    }

    fn look_closer(&self) -> Preview {
        Preview { output: lock(&self.tail).text(), ..self.look() }
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Preview)) {
        change(&mut lock(&self.shown));
    }

    pub(crate) fn hear(&self, bytes: &[u8]) {
        lock(&self.tail).push(bytes);
    }

    pub(crate) async fn tell(&self, app: &App, kind: &'static str) {
        news::tell(app, self.tenant, kind, &self.look()).await;
    }

    /// Says who has stopped it.
    pub(crate) fn stopped_by(&self) -> String {
        let by = lock(&self.stopped_by).clone();
        by.map_or_else(|| "it was stopped".to_owned(), |by| format!("{by} stopped it"))
    }

    fn is_over(&self) -> bool {
        lock(&self.shown).state == State::Ended
    }
}

impl Previews {
    /// Opens the window; nothing is in it.
    pub fn new(fleet: Fleet) -> Self {
        Self { own: Arc::new(Own { fleet, panes: Mutex::default(), starting: Default::default() }) }
    }

    /// Starts a preview; `false` with one that shows the same already.
    ///
    /// # Errors
    /// If the caller may not lead whose work it is, there is nothing to show, or nobody knows how.
    #[instrument(level = "debug", name = "previews.start", skip_all, fields(tenant = %call.actor.tenant))]
    pub async fn start(&self, call: &Call, wanted: Wanted) -> Result<(Preview, bool)> {
        let Own { fleet, panes, starting } = &*self.own;
        call.may("agent", "execute", Reach::Own)?;
        let said = wanted.command.clone().map(checked).transpose()?;
        let scene = Scene::find(fleet, call, &wanted).await?;
        let command = scene.command(fleet, said).await?;
        let mut cleared = starting.lock().await;
        forget(&mut lock(panes), fleet.app().clock.now());
        if !cleared.contains(&scene.folder) {
            match scene.tidy(fleet, cleared.is_empty()).await {
                Ok(()) => drop(cleared.insert(scene.folder.clone())),
                Err(error) => {
                    tracing::info!(%error, "what an earlier server has left of previews is still there");
                }
            }
        }
        let door = TcpListener::bind(("127.0.0.1", 0)).await;
        let place = door.and_then(|door| Ok((door.local_addr()?.port(), door)));
        let (port, door) =
            place.map_err(|error| Error::Paper(format!("no port is free: {error}")))?;
        let pane = Arc::new(self.pane(call, &scene, command, port));
        {
            let mut panes = lock(panes);
            let known = panes.iter().find(|one| !one.is_over() && one.look().shows(&pane.look()));
            if let Some(known) = known.filter(|known| known.tenant == pane.tenant) {
                return Ok((known.look_closer(), false));
            }
            if panes.iter().filter(|pane| !pane.is_over()).count() >= RUNNING_MAX {
                let why = format!("{RUNNING_MAX} previews run on this server already");
                let hint = "stop one: godel preview list, godel preview stop ID";
                return Err(Error::refused(code::TOO_MANY_CONNECTIONS, why, hint));
            }
            panes.push(Arc::clone(&pane));
        }
        let (window, call, own) = (self.clone(), call.clone(), Arc::clone(&pane));
        // Whoever asked may go now: one that nobody runs would be taken for one that runs.
        fleet.to_its_end(async move { window.begin(&call, own, scene, door).await }).await?;
        Ok((pane.look_closer(), true))
    }

    /// Puts on record that somebody starts a preview, and lets it run.
    async fn begin(
        &self,
        call: &Call,
        pane: Arc<Pane>,
        scene: Scene,
        door: TcpListener,
    ) -> Result<()> {
        if let Err(error) = self.told(call, &pane, "preview:started").await {
            lock(&self.own.panes).retain(|one| !Arc::ptr_eq(one, &pane));
            return Err(error);
        }
        let fleet = self.own.fleet.clone();
        fleet.crew().clone().spawn(async move {
            let (exit_code, why) = run::show(&fleet, &pane, &scene, door).await;
            let ended_at = Some(fleet.app().clock.now());
            pane.change(|one| {
                (one.state, one.ended_at, one.exit_code) = (State::Ended, ended_at, exit_code);
                one.why = Some(why);
            });
            pane.tell(fleet.app(), "preview:ended").await;
        });
        Ok(())
    }

    fn pane(&self, call: &Call, scene: &Scene, command: String, port: u16) -> Pane {
        let app = self.own.fleet.app();
        let now = app.clock.now();
        let shown = Preview {
            id: app.mint.id::<Uuid>(),
            project: scene.project,
            bead: scene.bead.clone(),
            agent: scene.agent.as_ref().map(|agent| (agent.id, agent.label.clone())),
            command,
            state: State::Starting,
            port,
            commit: scene.commit.clone(),
            started_at: now,
            started_by: person(call),
            ends_at: SignedDuration::try_from(TIME)
                .ok()
                .and_then(|time| now.checked_add(time).ok())
                .unwrap_or(now),
            ended_at: None,
            exit_code: None,
            why: None,
            output: String::new(),
        };
        Pane {
            tenant: call.actor.tenant,
            user: call.actor.user,
            shown: Mutex::new(shown),
            tail: Mutex::default(),
            stop: CancellationToken::new(),
            stopped_by: Mutex::default(),
        }
    }

    /// Records what somebody did.
    async fn told(&self, call: &Call, pane: &Pane, kind: &'static str) -> Result<()> {
        let app = self.own.fleet.app();
        let mut event = news::event(app, kind, &pane.look());
        event.metadata.actor = Some(call.actor.name.clone());
        event.metadata.trace_id.clone_from(&call.trace_id);
        let (own, by) = (app.clone(), call.clone());
        let work = move |tx: &mut Tx<'_>| Ok::<_, Error>(by.tell(&own, tx, event.clone())?);
        app.store.write(Scope::Tenant(call.actor.tenant), work).await.map(drop)
    }

    /// Lists previews, the newest first, also those that ended in the last hour.
    ///
    /// # Errors
    /// If the caller may not.
    pub fn list(
        &self,
        call: &Call,
        (bead, agent): (Option<&str>, Option<&str>),
    ) -> Result<Vec<Preview>> {
        call.may("agent", "read", Reach::Team)?;
        let mut panes = lock(&self.own.panes);
        forget(&mut panes, self.own.fleet.app().clock.now());
        let seen =
            panes.iter().filter(|pane| pane.tenant == call.actor.tenant).map(|pane| pane.look());
        let seen = seen.filter(|one| {
            call.actor.works_in(one.project)
                && bead.is_none_or(|bead| bead == one.bead)
                && agent.is_none_or(|wanted| {
                    one.agent
                        .as_ref()
                        .is_some_and(|(id, name)| wanted == name || wanted == id.to_string())
                })
        });
        let mut found: Vec<Preview> = seen.collect();
        found.reverse();
        Ok(found)
    }

    fn find(&self, call: &Call, id: Uuid) -> Result<Arc<Pane>> {
        let panes = lock(&self.own.panes);
        let is = |pane: &&Arc<Pane>| {
            let one = pane.look();
            one.id == id && pane.tenant == call.actor.tenant && call.actor.works_in(one.project)
        };
        panes.iter().find(is).cloned().ok_or_else(|| {
            let hint = "`godel preview list` shows those of this server; an ended one is forgotten \
                        after an hour";
            Error::refused(code::PREVIEW_NOT_FOUND, format!("there is no preview {id}"), hint)
        })
    }

    /// Shows a preview, with what its command wrote last.
    ///
    /// # Errors
    /// If the caller may not, or there is none.
    pub fn get(&self, call: &Call, id: Uuid) -> Result<Preview> {
        call.may("agent", "read", Reach::Team)?;
        Ok(self.find(call, id)?.look_closer())
    }

    /// Stops a preview, and returns it when it is over.
    ///
    /// # Errors
    /// If the caller may not, or there is none.
    #[instrument(level = "debug", name = "previews.stop", skip_all, fields(tenant = %call.actor.tenant))]
    pub async fn stop(&self, call: &Call, id: Uuid) -> Result<Preview> {
        call.may("agent", "execute", Reach::Own)?;
        let pane = self.find(call, id)?;
        if pane.user != call.actor.user {
            call.may("agent", "execute", Reach::Team)?;
        }
        if !pane.is_over() {
            *lock(&pane.stopped_by) = Some(person(call));
            self.told(call, &pane, "preview:stopped").await?;
            pane.stop.cancel();
        }
        // Its command has a moment to end by itself.
        for _ in 0..100 {
            if pane.is_over() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(pane.look_closer())
    }
}

/// Returns what people call the caller.
fn person(call: &Call) -> String {
    let name = &call.actor.name;
    name.strip_prefix("user:").unwrap_or(name).to_owned()
}

/// Forgets those that ended long ago, and the oldest that have ended if there are many.
fn forget(panes: &mut Vec<Arc<Pane>>, now: Timestamp) {
    let long_ago = now.saturating_sub(SignedDuration::from_secs(REMEMBERED_SECS)).unwrap_or(now);
    panes.retain(|pane| pane.look().ended_at.is_none_or(|at| at > long_ago));
    let mut many = panes.len().saturating_sub(KNOWN_MAX);
    panes.retain(|pane| {
        let goes = many > 0 && pane.is_over();
        many -= usize::from(goes);
        !goes
    });
}

fn checked(command: String) -> Result<String> {
    if command.trim().is_empty() || command.len() > COMMAND_MAX_BYTES || command.contains('\0') {
        let why = format!("a command has 1 to {COMMAND_MAX_BYTES} bytes");
        return Err(Error::refused(code::INVALID_FIELD, why, "say one for the shell").at("command"));
    }
    Ok(command)
}
