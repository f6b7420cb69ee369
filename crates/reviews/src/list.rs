//! Lists of work to look at. What a project says is read once for all of its beads, and what is between two
//! commits once for ever: where no branch has moved, a list that was there before costs no more than a look at where they are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

use godel_agents::gates::Gates;
use godel_app::beads::Placed;
use godel_app::{Call, beads};
use godel_beads::{Bead, Filter, Sort};
use godel_fleet::{landing, wishes};
use godel_git::Name;
use godel_model::{BeadStatus, ProjectId, Reach};
use jiff::Timestamp;
use tracing::instrument;

use crate::desk::{Desk, no_target};
use crate::look::Summary;
use crate::size::Size;
use crate::{Result, Reviews};

/// How much is listed at once.
const LIST_MAX: usize = 100;
/// So many are looked at to find those that have waited longest, a page at a time.
const WAITING_MAX: usize = 10_000;
const PAGE: usize = 1_000;

/// Where a list of reviews goes on: since when the last one waits, its project and its bead.
pub type Place = (Timestamp, ProjectId, String);

/// What is listed.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Of this project only.
    pub project: Option<ProjectId>,
    /// Work that has come so far.
    pub status: BeadStatus,
    /// Behind this place.
    pub behind: Option<Place>,
    /// How many at most.
    pub limit: usize,
}

/// Lists what has waited longest, and where the list goes on; of one page first what nobody approved.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "reviews.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    reviews: &Reviews,
    call: &Call,
    listing: Listing,
) -> Result<(Vec<Summary>, Option<Place>)> {
    call.may("review", "read", Reach::Team)?;
    let Listing { project, status, behind, limit } = listing;
    let limit = limit.clamp(1, LIST_MAX);
    let found = all(reviews, call, (project, status)).await?;
    // What has waited longest must not be cut off by what came later.
    let place = |one: &Placed<Bead>| (one.value.status_since, one.project, one.value.id.clone());
    let mut found: Vec<(Place, _)> = found.into_iter().map(|one| (place(&one), one)).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    let known = |(place, _): &(Place, _)| behind.as_ref().is_some_and(|at| place <= at);
    found.drain(..found.partition_point(known));
    let next = (found.len() > limit).then(|| found[limit - 1].0.clone());
    found.truncate(limit);
    let (mut rows, mut grounds) = (Vec::new(), HashMap::new());
    for (_, placed) in found {
        let bead = placed.value.id.clone();
        match row(reviews, call, &mut grounds, placed).await {
            Ok(row) => rows.extend(row),
            Err(error) => tracing::warn!(%bead, %error, "a review could not be listed"),
        }
    }
    rows.sort_by_key(|row| (row.approval.is_some(), row.since));
    Ok((rows, next))
}

/// Reads all beads that have come so far.
async fn all(
    reviews: &Reviews,
    call: &Call,
    (project, status): (Option<ProjectId>, BeadStatus),
) -> Result<Vec<Placed<Bead>>> {
    let filter = Filter { statuses: vec![status], ..Filter::default() };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let (filter, sort) = (filter.clone(), Sort::Created);
        let listing = beads::Listing { project, filter, sort, limit: PAGE, after };
        let (beads, _, next) = beads::beads(reviews.fleet.app(), call, listing).await?;
        found.extend(beads);
        after = next;
        // Lists begin with the newest, and what waits longest is likely to be the oldest.
        if after.is_none() || found.len() >= WAITING_MAX {
            return Ok(found);
        }
    }
}

/// What all beads of a project have in common.
struct Ground {
    folder: PathBuf,
    wanted: Gates,
    /// The branch in which work lands unless it is part of a whole.
    usual: Option<String>,
    /// Where branches are.
    heads: HashMap<String, String>,
}

impl Ground {
    async fn of(reviews: &Reviews, call: &Call, project: ProjectId) -> Result<Self> {
        let fleet = &reviews.fleet;
        let (_, folder) = fleet.project(call, project).await?;
        let wanted = wishes::read(fleet, folder.clone()).await?;
        let usual = wishes::target(fleet, folder.clone(), &wanted).await?;
        let name = usual.clone();
        let look = move |bench: &godel_git::Workbench| {
            let names = std::iter::once("bead").chain(name.as_deref());
            bench.heads(&names.collect::<Vec<_>>())
        };
        let heads = fleet.at_bench(folder.clone(), look).await?;
        Ok(Self { folder, wanted, usual, heads })
    }
}

async fn row(
    reviews: &Reviews,
    call: &Call,
    grounds: &mut HashMap<ProjectId, Option<Ground>>,
    Placed { project, value: bead, .. }: Placed<Bead>,
) -> Result<Option<Summary>> {
    let ground = match grounds.entry(project) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(fresh) => {
            let found = Ground::of(reviews, call, project).await;
            // One repository that cannot be read does not hide the others, and is not tried for each of its beads.
            if let Err(error) = &found {
                tracing::warn!(%project, %error, "the reviews of a project could not be listed");
            }
            fresh.insert(found.ok())
        }
    };
    let Some(ground) = ground else { return Ok(None) };
    let desk = ground.desk(reviews, call, (project, bead)).await?;
    let size = match desk.span.clone() {
        Some((base, head)) => reviews.size((ground.folder.clone(), base, head)).await?,
        None => Size::default(),
    };
    Ok(Some(desk.summed_up(size)))
}

impl Ground {
    /// Finds all that belongs to the review of a bead.
    async fn desk<'a>(
        &self,
        reviews: &'a Reviews,
        call: &'a Call,
        (project, bead): (ProjectId, Bead),
    ) -> Result<Desk<'a>> {
        let at = (project, self.folder.clone());
        let target = match bead.lands_in() {
            None => self.usual.clone(),
            Some(_) => landing::target_of(&reviews.fleet, call, at, (&self.wanted, &bead)).await?,
        };
        let target = target.ok_or_else(no_target)?;
        let name: Name = bead.id.parse()?;
        let onto = match self.heads.get(&target) {
            Some(known) => Some(known.clone()),
            // The branch of a whole is made when somebody asks for it first.
            None => {
                let target = target.clone();
                let look = move |bench: &godel_git::Workbench| bench.head_of(&target);
                reviews.fleet.at_bench(self.folder.clone(), look).await?
            }
        };
        let span = match (onto, self.heads.get(&name.branch())) {
            (Some(onto), Some(head)) => {
                let base = reviews.base((self.folder.clone(), onto, head.clone())).await?;
                base.map(|base| (base, head.clone()))
            }
            _ => None,
        };
        let found = (self.folder.clone(), self.wanted.clone(), target, span);
        Desk::with(reviews, call, (project, bead), found).await
    }
}

impl Reviews {
    /// Finds where the second of two commits left the first.
    async fn base(&self, pair: (PathBuf, String, String)) -> Result<Option<String>> {
        if let Some(known) = self.known.bases.find(&pair) {
            return Ok(known);
        }
        let (folder, onto, head) = pair.clone();
        let look = move |bench: &godel_git::Workbench| bench.reviewing().base_of(&onto, &head);
        let base = self.fleet.at_bench(folder, look).await?;
        // What git could not find now it may find later: in a shallow clone, or when it is well again.
        if base.is_some() {
            self.known.bases.keep(pair, base.clone());
        }
        Ok(base)
    }

    /// Counts what lies between two commits.
    async fn size(&self, pair: (PathBuf, String, String)) -> Result<Size> {
        if let Some(known) = self.known.sizes.find(&pair) {
            return Ok(known);
        }
        let (folder, base, head) = pair.clone();
        let look = move |bench: &godel_git::Workbench| bench.diff_stat(&base, &head);
        let size = Size::of(&self.fleet.at_bench(folder, look).await?);
        self.known.sizes.keep(pair, size.clone());
        Ok(size)
    }
}
