//! Lines of a file outside of the hunks of a review.

use godel_app::Call;
use godel_git::Excerpt;
use godel_model::{ProjectId, Reach};
use tracing::instrument;

use crate::desk::{Desk, refused};
use crate::doc::Side;
use crate::{Result, Reviews};

/// Which lines of a file are wanted.
#[derive(Debug, Clone)]
pub struct WantLines {
    /// The file; by its name before or now.
    pub path: String,
    /// As it was, or as it is.
    pub side: Side,
    /// The first line and the last; 1 is the first.
    pub span: (u32, u32),
    /// Only if the work is still at this commit.
    pub commit: Option<String>,
}

/// Lines of a file on one side of a review.
#[derive(Debug, Clone)]
pub struct FileLines {
    /// The name of the file on that side.
    pub path: String,
    /// The commit that they are of.
    pub commit: String,
    /// The lines, and how many the file has.
    pub excerpt: Excerpt,
}

/// Reads lines of a file that a bead changes, from the commit where the work began or where it is.
///
/// # Errors
/// If the caller may not, the bead does not change the file, or it has no lines to show.
#[instrument(level = "debug", name = "reviews.lines", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn lines(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    want: WantLines,
) -> Result<FileLines> {
    call.may("review", "read", Reach::Team)?;
    let desk = Desk::open(reviews, call, which).await?;
    desk.refuse_if_moved(want.commit.as_deref())?;
    let changes = desk.changes().await?;
    let WantLines { path, side, span, .. } = want;
    let bead = &desk.bead.id;
    let all = || format!("`godel review diff {bead}` shows all files");
    // The content is found by what the change says of the file, never by a name in the repository.
    let by_name = |old: bool| {
        changes.files.iter().find(|file| match old {
            true => file.old_path.as_deref() == Some(path.as_str()),
            false => file.path == path,
        })
    };
    let file = by_name(false).or_else(|| by_name(true));
    let file =
        file.ok_or_else(|| refused(format!("{path:?} is not changed by bead {bead}"), all()))?;
    let (content, commit) = match side {
        Side::Old => (&file.old, &changes.base),
        Side::New => (&file.new, &changes.head),
    };
    let content = content.clone().ok_or_else(|| {
        let when = if side == Side::Old { "before" } else { "after" };
        refused(format!("{path:?} is not there {when} the work on {bead}"), all())
    })?;
    let name = match side {
        Side::Old => file.old_path.as_ref().unwrap_or(&file.path),
        Side::New => &file.path,
    };
    let (path, commit) = (name.clone(), commit.clone());
    let excerpt = desk.at_bench(move |reviewing| reviewing.excerpt(&content, span)).await?;
    Ok(FileLines { path, commit, excerpt })
}
