//! What lies on the desk of a reviewer: the bead, its commits, and the paper.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use godel_agents::gates::Gates;
use godel_app::{Call, beads};
use godel_beads::Bead;
use godel_fleet::{Fleet, landing, paper, wishes};
use godel_git::{Changes, Name, Reviewing};
use godel_model::{ProjectId, code};
use godel_store::Tx;

use crate::doc::Review;
use crate::{Error, Result, Reviews};

/// How many changes are remembered.
const KEPT_MAX: usize = 4;
/// Changes with more lines are read each time.
const KEPT_LINES_MAX: usize = 300_000;
/// So much of the name of a commit must be said at least.
const SHORTEST_ID: usize = 7;

/// Changes that were read last: two commits never differ otherwise than before.
#[derive(Default)]
pub(crate) struct Kept(Mutex<VecDeque<(PathBuf, Arc<Changes>)>>);

impl Kept {
    fn find(&self, folder: &Path, base: &str, head: &str) -> Option<Arc<Changes>> {
        let kept = lock(&self.0);
        let is = |(at, one): &&(PathBuf, Arc<Changes>)| {
            at == folder && one.base == base && one.head == head
        };
        kept.iter().find(is).map(|(_, changes)| Arc::clone(changes))
    }

    fn keep(&self, folder: &Path, changes: &Arc<Changes>) {
        let hunks = changes.files.iter().flat_map(|file| &file.hunks);
        if hunks.map(|hunk| hunk.lines.len()).sum::<usize>() > KEPT_LINES_MAX {
            return;
        }
        let mut kept = lock(&self.0);
        kept.truncate(KEPT_MAX - 1);
        kept.push_front((folder.to_owned(), Arc::clone(changes)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the repository is, what the project wants, the branch that the work is for, and where the work began and is.
pub(crate) type Found = (PathBuf, Gates, String, Option<(String, String)>);

/// What lies on the desk of a reviewer.
pub(crate) struct Desk<'a> {
    pub(crate) fleet: &'a Fleet,
    changes: &'a Kept,
    pub(crate) call: &'a Call,
    pub(crate) project: ProjectId,
    pub(crate) folder: PathBuf,
    pub(crate) bead: Bead,
    pub(crate) wanted: Gates,
    /// The branch that the work is for.
    pub(crate) target: String,
    /// Where the work began, and where it is; none if there is no work.
    pub(crate) span: Option<(String, String)>,
    pub(crate) review: Review,
}

impl<'a> Desk<'a> {
    /// Finds all that belongs to the review of a bead.
    pub(crate) async fn open(
        reviews: &'a Reviews,
        call: &'a Call,
        (project, bead): (Option<ProjectId>, &str),
    ) -> Result<Self> {
        let found = beads::get(reviews.fleet.app(), call, project, bead).await?;
        let (project, bead) = (found.project, found.value.0);
        Self::of(reviews, call, project, bead).await
    }

    /// The same, for a bead that was read already.
    pub(crate) async fn of(
        reviews: &'a Reviews,
        call: &'a Call,
        project: ProjectId,
        bead: Bead,
    ) -> Result<Self> {
        let fleet = &reviews.fleet;
        let (_, folder) = fleet.project(call, project).await?;
        let wanted = wishes::read(fleet, folder.clone()).await?;
        let at = (project, folder.clone());
        let target = landing::target_of(fleet, call, at, (&wanted, &bead)).await?;
        let target = target.ok_or_else(no_target)?;
        let (name, onto): (Name, _) = (bead.id.parse()?, target.clone());
        let find = move |bench: &godel_git::Workbench| {
            let Some(head) = bench.head_of(&name.branch())? else { return Ok(None) };
            let base = bench.reviewing().base(&onto, &head)?;
            Ok(base.map(|base| (base, head)))
        };
        let span = fleet.at_bench(folder.clone(), find).await?;
        Self::with(reviews, call, (project, bead), (folder, wanted, target, span)).await
    }

    /// The same, for one of which git was asked already.
    pub(crate) async fn with(
        reviews: &'a Reviews,
        call: &'a Call,
        (project, bead): (ProjectId, Bead),
        (folder, wanted, target, span): Found,
    ) -> Result<Self> {
        let (fleet, changes) = (&reviews.fleet, &*reviews.changes);
        let label = Review::name_of(project, &bead.id);
        let kept = paper::look(fleet.app(), call.actor.tenant, move |tx| {
            paper::by_label::<Review>(tx, &label)
        });
        let review = kept.await?.unwrap_or_else(|| Review::fresh(fleet, project, &bead.id));
        Ok(Self { fleet, changes, call, project, folder, bead, wanted, target, span, review })
    }

    /// Returns where the work began and where it is.
    pub(crate) fn commits(&self) -> Result<(String, String)> {
        self.span.clone().ok_or_else(|| {
            Error::refused(
                code::REVIEW_NOT_FOUND,
                format!("bead {} has no work to look at", self.bead.id),
                "an agent commits on its branch; `godel review list` shows what waits",
            )
        })
    }

    /// Refuses if the work is another than the caller has looked at.
    pub(crate) fn refuse_if_moved(&self, seen: Option<&str>) -> Result<()> {
        let (_, head) = self.commits()?;
        // People name a commit by its beginning.
        let is_it = |seen: &str| seen.len() >= SHORTEST_ID && head.starts_with(seen);
        match seen {
            Some(seen) if !is_it(seen) => Err(refused(
                format!("bead {} has another commit since you looked: {head}", self.bead.id),
                format!("look again: godel review diff {}", self.bead.id),
            )),
            _ => Ok(()),
        }
    }

    /// Does something with git, for a review.
    pub(crate) async fn at_bench<T: Send + 'static>(
        &self,
        work: impl FnOnce(Reviewing<'_>) -> godel_git::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.fleet.at_bench(self.folder.clone(), move |bench| work(bench.reviewing())).await
    }

    /// Reads what the work changes.
    pub(crate) async fn changes(&self) -> Result<Arc<Changes>> {
        let (base, head) = self.commits()?;
        if let Some(known) = self.changes.find(&self.folder, &base, &head) {
            return Ok(known);
        }
        let read = self.at_bench(move |reviewing| reviewing.changes(&base, &head)).await?;
        let changes = Arc::new(read);
        self.changes.keep(&self.folder, &changes);
        Ok(changes)
    }

    /// Changes the paper, and tells of it in the same transaction.
    pub(crate) async fn note(
        &self,
        kind: &'static str,
        told: serde_json::Value,
        work: impl Fn(&mut Review) -> Result<()> + Send + Sync + Clone + 'static,
    ) -> Result<Review> {
        let (app, call) = (self.fleet.app().clone(), self.call.clone());
        let (fresh, bead, project) = (self.review.clone(), self.bead.id.clone(), self.project);
        let write = move |tx: &mut Tx<'_>| {
            let known = paper::by_label::<Review>(tx, &Review::name_of(project, &bead))?;
            if known.is_none() && !paper::insert(tx, &fresh)? {
                return Err(Error::Raced("review"));
            }
            let id = known.map_or(fresh.id, |known| known.id);
            let (review, ()) = paper::change_in::<Review, ()>(tx, id, |_, review| work(review))?;
            let mut event = call.event(&app, kind, &told, ("beadId", &bead));
            event.metadata.refs.insert("projectId".into(), project.to_string());
            call.tell(&app, tx, event)?;
            Ok(review)
        };
        paper::write(self.fleet.app(), self.call.actor.tenant, write).await
    }
}

/// Says that nobody knows which branch the work is for.
pub(crate) fn no_target() -> Error {
    Error::refused(
        code::LANDING_REFUSED,
        "the repository has neither a branch main nor master",
        "say which branch work lands in: `[project] target` in godel.toml",
    )
}

/// Refuses something about a review.
pub(crate) fn refused(why: String, hint: impl Into<String>) -> Error {
    Error::refused(code::REVIEW_REFUSED, why, hint)
}
