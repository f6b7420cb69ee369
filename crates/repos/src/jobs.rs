//! Jobs: each makes one repository in the background.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use godel_api::{RepositoryJob, RepositoryKind, RepositoryState};
use godel_app::{App, Call, Crew, Error, Result};
use godel_model::{AuditResult, EventId, Invalid, Reach, TenantId, code};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::{Semaphore, SemaphorePermit};
use tracing::instrument;
use uuid::Uuid;

use crate::folder::{self, Made};
use crate::git::{self, Limits, Trouble};
use crate::source::Source;
use crate::walls::Walls;
use crate::words;

/// How many repositories are cloned at the same time; the next ones wait.
const AT_ONCE: usize = 4;
/// How many jobs may work or wait.
const UNDER_WAY_MAX: usize = 32;
/// How many jobs are remembered.
const KEPT_MAX: usize = 100;
/// How long git may work on one repository.
const TIME_MAX: Duration = Duration::from_secs(30 * 60);

/// What makes repositories, and knows the latest jobs; cheap to clone.
#[derive(Debug, Clone)]
pub struct Repositories(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    app: App,
    crew: Crew,
    data: PathBuf,
    /// The oldest first.
    jobs: Mutex<VecDeque<Job>>,
    places: Semaphore,
}

/// A repository that is made, or was.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its id.
    pub id: Uuid,
    /// Whose it is.
    pub tenant: TenantId,
    /// What is cloned; none if the repository is new.
    pub url: Option<String>,
    /// Where the repository is to be.
    pub folder: String,
    /// The last line that git printed.
    pub progress: String,
    /// When it was asked for.
    pub started_at: Timestamp,
    /// When it ended, and why it failed if it did.
    pub ended: Option<(Timestamp, Option<String>)>,
}

impl Job {
    fn state(&self) -> RepositoryState {
        match &self.ended {
            None => RepositoryState::Working,
            Some((_, None)) => RepositoryState::Ready,
            Some((_, Some(_))) => RepositoryState::Failed,
        }
    }

    /// Tells whether it works in a folder, in one above it, or in one inside of it.
    fn works_around(&self, folder: &Path) -> bool {
        let own = Path::new(&self.folder);
        self.ended.is_none() && (own.starts_with(folder) || folder.starts_with(own))
    }
}

impl From<Job> for RepositoryJob {
    fn from(job: Job) -> Self {
        let state = job.state();
        let (ended_at, why) = job.ended.unzip();
        Self {
            id: job.id,
            kind: job.url.as_ref().map_or(RepositoryKind::New, |_| RepositoryKind::Clone),
            url: job.url,
            folder: job.folder,
            state,
            progress: job.progress,
            why: why.flatten(),
            started_at: job.started_at,
            ended_at,
        }
    }
}

/// Begins to make a repository: a clone of what is at an address, or a new one in a folder.
///
/// # Errors
/// If the caller may not, the address or the folder cannot be used, or too many are under way.
#[instrument(level = "debug", name = "repos.jobs.make", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn make(
    repositories: &Repositories,
    call: &Call,
    clone: Option<String>,
    folder: Option<String>,
) -> Result<Job> {
    call.may("project", "create", Reach::Team)?;
    let Inner { app, data, .. } = &*repositories.0;
    let source = clone.as_deref().map(Source::parse).transpose()?;
    let folder = wanted(folder, source.as_ref())?;
    let fresh = repositories.of_others(call.actor.tenant);
    let walls = Walls::around(app, call, (data.clone(), fresh)).await?;
    let (from, to) = (source.clone(), folder.clone());
    let checked = tokio::task::spawn_blocking(move || walls.check(from.as_ref(), &to)).await;
    checked.map_err(|_| Error::Store(godel_store::Error::Panicked))??;
    let job = Job {
        id: app.mint.id::<EventId>().uuid(),
        tenant: call.actor.tenant,
        url: source.as_ref().map(|source| source.text().to_owned()),
        folder: folder.display().to_string(),
        progress: String::new(),
        started_at: app.clock.now(),
        ended: None,
    };
    repositories.admit(&job, &folder)?;
    let (own, call, id) = (repositories.clone(), call.clone(), job.id);
    // Nothing is waited for since the admission: a caller who goes away leaves no job that nobody leads.
    repositories.0.crew.spawn(async move { own.lead(&call, id, (source, folder)).await });
    Ok(job)
}

/// Finds a job.
///
/// # Errors
/// If the caller may not see it, or it is not known any more.
#[instrument(level = "debug", name = "repos.jobs.get", skip_all, fields(tenant = %call.actor.tenant, repository = %id))]
pub async fn get(repositories: &Repositories, call: &Call, id: Uuid) -> Result<Job> {
    call.may("project", "create", Reach::Team)?;
    let own = |job: &&Job| job.id == id && job.tenant == call.actor.tenant;
    let found = repositories.jobs().iter().find(own).cloned();
    found.ok_or_else(|| {
        let why = format!("no repository is made under the id {id}, as far as this server knows");
        let hint =
            "the last 100 are known until the server stops; look whether the folder is there";
        Invalid::new(code::NO_REPOSITORY, why).with_hint(hint).into()
    })
}

/// Returns the folder that somebody wants, or the one in the home of the server's user.
fn wanted(folder: Option<String>, source: Option<&Source>) -> Result<PathBuf, Invalid> {
    let needed = |why: &str| Invalid::new(code::INVALID_FIELD, why).with_field("folder");
    if let Some(folder) = folder {
        return folder::parse(&folder);
    }
    let Some(source) = source else {
        let why = "a new repository needs a folder";
        return Err(
            needed(why).with_hint("say in `folder` where it is to be, or in `clone` what to clone")
        );
    };
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
    let (Some(home), Some(name)) = (home, source.name()) else {
        let why = "no folder follows from this address";
        return Err(needed(why).with_hint("say in `folder` where the clone is to be"));
    };
    folder::parse(&format!("{home}/{name}"))
}

impl Repositories {
    /// Begins with no job; `data` is the server's data directory, which none may touch.
    pub fn new(app: &App, crew: &Crew, data: &Path) -> Self {
        Self(Arc::new(Inner {
            app: app.clone(),
            crew: crew.clone(),
            data: data.to_owned(),
            jobs: Mutex::default(),
            places: Semaphore::new(AT_ONCE),
        }))
    }

    fn jobs(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.0.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists the folders that other tenants work in, or have just got: no project may have them yet.
    fn of_others(&self, tenant: TenantId) -> Vec<PathBuf> {
        let theirs = |job: &&Job| job.tenant != tenant && job.state() != RepositoryState::Failed;
        self.jobs().iter().filter(theirs).map(|job| PathBuf::from(&job.folder)).collect()
    }

    /// Takes a job in, unless there are too many or another one works at the same place.
    fn admit(&self, job: &Job, folder: &Path) -> Result<(), Invalid> {
        let mut jobs = self.jobs();
        if jobs.iter().any(|other| other.works_around(folder)) {
            let why = "another repository is being made in this folder";
            return Err(Invalid::new(code::FILE_EXISTS, why)
                .with_field("folder")
                .with_hint("wait until it is there, or choose another folder"));
        }
        if jobs.iter().filter(|other| other.ended.is_none()).count() >= UNDER_WAY_MAX {
            let why = format!("{UNDER_WAY_MAX} repositories are being made already");
            return Err(Invalid::new(code::RATE_LIMITED, why).with_hint("wait until one is ready"));
        }
        if jobs.len() >= KEPT_MAX
            && let Some(oldest) = jobs.iter().position(|other| other.ended.is_some())
        {
            jobs.remove(oldest);
        }
        jobs.push_back(job.clone());
        Ok(())
    }

    /// Changes a job, and returns it as it is then.
    fn change(&self, id: Uuid, change: impl FnOnce(&mut Job)) -> Option<Job> {
        let mut jobs = self.jobs();
        // One that is under way is among the newest.
        let job = jobs.iter_mut().rev().find(|job| job.id == id)?;
        change(job);
        Some(job.clone())
    }

    /// Leads a job to its end, and tells how that was.
    async fn lead(&self, call: &Call, id: Uuid, (source, folder): (Option<Source>, PathBuf)) {
        let made = self.carry_out(call, id, (source.as_ref(), &folder)).await;
        let (now, why) = (self.0.app.clock.now(), made.err());
        let ended = self.change(id, |job| job.ended = Some((now, why)));
        let Some(job) = ended else { return };
        if let Err(error) = tell(&self.0.app, call, &job).await {
            tracing::warn!(%error, folder = job.folder, "the end of a repository's making is not told");
        }
    }

    /// Makes a repository; says why if it cannot.
    async fn carry_out(
        &self,
        call: &Call,
        id: Uuid,
        (source, folder): (Option<&Source>, &Path),
    ) -> Result<(), String> {
        let Inner { app, crew, .. } = &*self.0;
        let noted = note(app, call, id).await;
        noted.map_err(|error| format!("it could not be put on record ({error}); try again"))?;
        let limits = Limits { time: TIME_MAX, stop: crew.stopping() };
        let why = |trouble: Trouble| words::why(&trouble, source);
        let _place = match source {
            Some(_) => Some(self.place(&limits).await.map_err(why)?),
            None => None,
        };
        let made = make_folder(folder.to_owned()).await.map_err(why)?;
        let filled = match source {
            Some(source) => {
                let heard = |line: &str| {
                    self.change(id, |job| line.clone_into(&mut job.progress));
                };
                git::clone(source, folder, &limits, heard).await
            }
            None => git::begin(folder, &limits).await,
        };
        let Err(trouble) = filled else { return Ok(()) };
        let why = words::why(&trouble, source);
        let cleared = tokio::task::spawn_blocking(move || made.clear()).await;
        match cleared {
            Ok(true) => Err(why),
            _ => Err(format!("{why}; remove what is left in the folder before")),
        }
    }

    /// Waits for a place among those that work.
    async fn place(&self, limits: &Limits) -> Result<SemaphorePermit<'_>, Trouble> {
        tokio::select! {
            place = self.0.places.acquire() => place.map_err(|_| Trouble::Stopped),
            () = limits.stop.cancelled() => Err(Trouble::Stopped),
        }
    }
}

async fn make_folder(folder: PathBuf) -> Result<Made, Trouble> {
    let shown = format!("{} could not be made", folder.display());
    let made = tokio::task::spawn_blocking(move || Made::at(&folder)).await;
    let made = made.unwrap_or_else(|cause| Err(std::io::Error::other(cause)));
    made.map_err(|cause| Trouble::File(shown, cause))
}

/// Puts on record that somebody asked for a repository.
async fn note(app: &App, call: &Call, id: Uuid) -> Result<()> {
    let (tenant, resource) = (call.actor.tenant, format!("repository/{id}"));
    let act = call.act(app, "repository:make", resource, AuditResult::Ok);
    let written = app.store.write(call.scope(), move |tx| tx.record_act(tenant, act.clone()));
    written.await?;
    Ok(())
}

/// Tells how a job ended.
async fn tell(app: &App, call: &Call, job: &Job) -> Result<()> {
    #[derive(Serialize)]
    struct Told<'a> {
        id: Uuid,
        folder: &'a str,
        state: RepositoryState,
    }
    let told = Told { id: job.id, folder: &job.folder, state: job.state() };
    let kind = match told.state {
        RepositoryState::Failed => "repository:failed",
        RepositoryState::Ready | RepositoryState::Working => "repository:ready",
    };
    let event = call.event(app, kind, &told, ("repositoryId", job.id));
    let (app_, call_) = (app.clone(), call.clone());
    let written = app.store.write(call.scope(), move |tx| call_.tell(&app_, tx, event.clone()));
    written.await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_goes_home_unless_somebody_says_where() {
        let source = |text: &str| Source::parse(text).unwrap();
        let app = source("https://example.com/a/app.git");
        let given = wanted(Some("/srv/x".to_owned()), Some(&app)).unwrap();
        assert_eq!(given, Path::new("/srv/x"));
        if let Ok(home) = std::env::var("HOME") {
            assert_eq!(wanted(None, Some(&app)).unwrap(), Path::new(&home).join("app"));
        }
        assert!(wanted(None, None).is_err());
        assert!(wanted(None, Some(&source("https://example.com/.git"))).is_err());
    }

    #[test]
    fn a_job_works_around_its_folder_until_it_ends() {
        let mut job = Job {
            id: Uuid::nil(),
            tenant: TenantId::from_uuid(Uuid::nil()),
            url: None,
            folder: "/a/b".to_owned(),
            progress: String::new(),
            started_at: Timestamp::UNIX_EPOCH,
            ended: None,
        };
        for (path, near) in [("/a/b", true), ("/a", true), ("/a/b/c", true), ("/a/bc", false)] {
            assert_eq!(job.works_around(Path::new(path)), near, "{path}");
        }
        job.ended = Some((Timestamp::UNIX_EPOCH, Some("no luck".to_owned())));
        assert!(!job.works_around(Path::new("/a/b")));
        let told = RepositoryJob::from(job);
        assert_eq!((told.state, told.why.as_deref()), (RepositoryState::Failed, Some("no luck")));
    }
}
