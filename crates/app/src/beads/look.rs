//! Looking at beads.

use godel_beads::{Bead, Entry, Filter, LinkedCommit, Page, Row, Sort, Waiting, tag};
use godel_model::{ProjectId, Reach};
use tracing::instrument;

use super::Placed;
use super::access::{Noun, find, shelves, skip};
use crate::{App, Call, Result};

/// Which beads are wanted, and how many.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Of one project, or of all.
    pub project: Option<ProjectId>,
    /// Which ones.
    pub filter: Filter,
    /// In which order.
    pub sort: Sort,
    /// How many at most.
    pub limit: usize,
    /// Behind this one, which may be of any project.
    pub after: Option<Row>,
}

/// Lists beads of all projects that the caller sees, in one order; also how many there are.
///
/// # Errors
/// If a repository cannot be read.
#[instrument(level = "debug", name = "app.beads.beads", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn beads(
    app: &App,
    call: &Call,
    listing: Listing,
) -> Result<(Vec<Placed<Bead>>, u64, Option<Row>)> {
    call.may("bead", "read", Reach::Team)?;
    let (mut found, mut total) = (Vec::new(), 0);
    for shelved in shelves(app, call, listing.project).await? {
        let (filter, sort) = (listing.filter.clone(), listing.sort);
        let page = Page { sort, limit: listing.limit + 1, after: listing.after.clone() };
        let rows = shelved.shelf.read(move |shelf| {
            let rows = shelf.list(&filter, &page)?;
            let beads: Vec<(Row, Bead)> = rows
                .into_iter()
                // A document that is damaged is told of elsewhere; the others are listed.
                .filter_map(|row| shelf.whole(&row).ok().map(|bead| (row, bead)))
                .collect();
            Ok((beads, shelf.count(&filter)?))
        });
        let (rows, count) = match rows.await {
            Ok(found) => found,
            Err(error) => {
                skip(listing.project, shelved.project, error)?;
                continue;
            }
        };
        total += count;
        found.extend(rows.into_iter().map(|(row, bead)| (shelved.project, row, bead)));
    }
    found.sort_by(|(_, one, _), (_, other, _)| match listing.sort {
        Sort::Priority => {
            let key = |row: &Row| (row.priority, row.created_at, row.id.clone());
            key(one).cmp(&key(other))
        }
        Sort::Created => (other.created_at, &other.id).cmp(&(one.created_at, &one.id)),
        Sort::Updated => (other.updated_at, &other.id).cmp(&(one.updated_at, &one.id)),
    });
    let more = found.len() > listing.limit;
    found.truncate(whole_page(&found, listing.limit, |(_, row, _)| row.id.as_str()));
    let last = found.last().filter(|_| more).map(|(_, row, _)| row.clone());
    let beads = found.into_iter().map(|(project, _, value)| Placed { project, value, tag: None });
    Ok((beads.collect(), total, last))
}

/// Returns where a page ends. Projects may be clones of one repository and have the same beads; a
/// cursor names a bead, so those of the same name are never on two pages.
fn whole_page<T>(found: &[T], limit: usize, name: impl Fn(&T) -> &str) -> usize {
    let splits = |at: usize| at < found.len() && at > 0 && name(&found[at - 1]) == name(&found[at]);
    let (mut end, most) = (limit, found.len());
    while splits(end) {
        end -= 1;
    }
    if end == 0 {
        end = limit.max(1);
        while end < most && splits(end) {
            end += 1;
        }
    }
    end
}

/// Finds a bead by its id or the beginning of it, with its commits as git knows them.
///
/// # Errors
/// If there is none that the caller sees.
#[instrument(level = "debug", name = "app.beads.get", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn get(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
) -> Result<Placed<(Bead, Vec<LinkedCommit>)>> {
    call.may("bead", "read", Reach::Team)?;
    let (shelved, id) = find(app, call, project, Noun::Bead, name).await?;
    let read = shelved.shelf.read(move |shelf| {
        let document = shelf.bead(&id)?;
        let bead = Bead::of(&document);
        if bead.deleted_at.is_some() {
            return Err(godel_beads::Error::NotFound { what: "bead", name: id });
        }
        let evidence = shelf.evidence(&bead)?;
        let commits = shelf.commits(&bead, &evidence)?;
        Ok(((bead, commits), tag(&document)))
    });
    let (value, tag) = read.await?;
    Ok(Placed { project: shelved.project, value, tag: Some(tag) })
}

/// What can be begun now, and what cannot.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// What can be begun, by priority, then age.
    pub ready: Vec<Placed<Row>>,
    /// What cannot, with what keeps each.
    pub waiting: Vec<Placed<Waiting>>,
}

/// Lists what can be begun now; with `explain`, also what cannot, and why.
///
/// # Errors
/// If a repository cannot be read.
#[instrument(level = "debug", name = "app.beads.ready", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn ready(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    (limit, explain): (usize, bool),
) -> Result<Queue> {
    call.may("bead", "read", Reach::Team)?;
    let (mut ready, mut waiting) = (Vec::new(), Vec::new());
    for shelved in shelves(app, call, project).await? {
        let found = shelved.shelf.read(move |shelf| {
            let waiting = if explain { shelf.waiting(limit)? } else { Vec::new() };
            Ok((shelf.ready(limit)?, waiting))
        });
        let (rows, kept) = match found.await {
            Ok(found) => found,
            Err(error) => {
                skip(project, shelved.project, error)?;
                continue;
            }
        };
        let project = shelved.project;
        ready.extend(rows.into_iter().map(|value| Placed { project, value, tag: None }));
        waiting.extend(kept.into_iter().map(|value| Placed { project, value, tag: None }));
    }
    ready.sort_by_key(|placed| (placed.value.priority, placed.value.created_at));
    waiting.sort_by_key(|placed| (placed.value.row.priority, placed.value.row.created_at));
    ready.truncate(limit);
    waiting.truncate(limit);
    Ok(Queue { ready, waiting })
}

/// Reads the diary of a bead, the newest first.
///
/// # Errors
/// If there is no such bead.
#[instrument(level = "debug", name = "app.beads.log", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn log(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    name: &str,
    limit: usize,
) -> Result<Vec<Entry>> {
    call.may("bead", "read", Reach::Team)?;
    let (shelved, id) = find(app, call, project, Noun::Bead, name).await?;
    shelved.shelf.read(move |shelf| shelf.log(Some(&id), limit)).await
}
