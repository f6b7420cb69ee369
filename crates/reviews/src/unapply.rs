//! Taking back what was applied, and looking at what the work conflicts with.

use godel_app::Call;
use godel_git::{Applied, Clashes, Name, Takeover};
use godel_model::{BeadStatus, ProjectId, Reach};
use serde_json::json;
use tracing::instrument;

use crate::desk::{Desk, refused};
use crate::end::Outcome;
use crate::{Result, Reviews};

/// Takes back what was applied last: a commit of the caller that has the files from before.
///
/// # Errors
/// If the caller may not, nothing was applied, or something came since.
#[instrument(level = "debug", name = "reviews.unapply", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn unapply(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    commit: Option<String>,
) -> Result<Outcome> {
    call.may("review", "update", Reach::Own)?;
    let desk = Desk::open(reviews, call, which).await?;
    let bead = &desk.bead.id;
    if desk.bead.status == BeadStatus::Done {
        let why = format!("bead {bead} is done: what was applied has landed");
        return Err(refused(why, format!("take the landing back: godel land revert {bead}")));
    }
    desk.refuse_if_moved(commit.as_deref())?;
    let Some(done) = desk.takeover().await? else {
        let why = format!("the last commit of {bead} is none that applied decisions");
        let hint = "what came since is kept; take it back with git, or request changes";
        return Err(refused(why, hint));
    };
    let (name, undone) = (bead.parse::<Name>()?, done.commit.clone());
    let message = desk.message_of_return(name.clone(), &done);
    let back = desk.at_bench(move |reviewing| {
        let branch = name.branch();
        reviewing.take_back(&branch, &done, &message)
    });
    let (commit, tree) = match back.await? {
        Applied::Done { commit, tree, .. } => (Some(commit), tree),
        Applied::Unchanged { tree } => (None, tree),
        Applied::Moved { now } => {
            let why = format!("the branch of {bead} has moved to {now} meanwhile");
            return Err(refused(why, "what came since is kept; look at the change again"));
        }
        Applied::Blocked { why } => return Err(refused(why, "then take it back again")),
    };
    let told = json!({ "bead": bead, "undone": undone, "commit": commit, "by": call.actor.name });
    desk.note("review:decided", told, |_| Ok(())).await?;
    Ok(Outcome { commit, tree, conflicts: Vec::new() })
}

/// Tells in which files the work conflicts with the branch that it is for, and what both sides say.
///
/// # Errors
/// If the caller may not, or there is no work.
#[instrument(level = "debug", name = "reviews.clashes", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn clashes(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
) -> Result<(String, Clashes)> {
    call.may("review", "read", Reach::Team)?;
    let desk = Desk::open(reviews, call, which).await?;
    let ((_, head), target) = (desk.commits()?, desk.target.clone());
    let find = move |reviewing: godel_git::Reviewing<'_>| reviewing.clashes(&target, &head);
    let found = desk.at_bench(find).await?;
    Ok((desk.target, found))
}

impl Desk<'_> {
    /// Returns the commit that applied decisions, if the branch is at it.
    pub(crate) async fn takeover(&self) -> Result<Option<Takeover>> {
        let Some((_, head)) = self.span.clone() else { return Ok(None) };
        let title = title(&self.bead.id);
        self.at_bench(move |reviewing| reviewing.takeover(&head, &title)).await
    }
}

/// The title of a commit that applies decisions; by it the commit is known.
pub(crate) fn title(bead: &str) -> String {
    format!("Take over what was accepted of {bead}")
}
