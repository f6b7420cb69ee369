//! What lands as one: the beads of a convoy land in the branch of one bead, the whole, and that one lands.

use std::path::PathBuf;

use godel_agents::gates::{Gates, Review};
use godel_app::{Call, beads};
use godel_beads::{Bead, ops};
use godel_git::Name;
use godel_model::{Kind, LinkKind, ProjectId, Report as _};

use super::entry::Entry;
use super::train::Ride;
use crate::{Fleet, Result, wishes};

/// Finds the branch that the work on a bead begins from and lands in; none if nobody says and there is no usual
/// one.
///
/// # Errors
/// If git fails.
pub async fn target_of(
    fleet: &Fleet,
    call: &Call,
    (project, folder): (ProjectId, PathBuf),
    (wanted, bead): (&Gates, &Bead),
) -> Result<Option<String>> {
    let usual = wishes::target(fleet, folder.clone(), wanted).await?;
    let Some(whole) = open_whole(fleet, call, project, bead.lands_in()).await? else {
        return Ok(usual);
    };
    branch(fleet, folder, (whole, usual)).await.map(Some)
}

/// Tells whether the work on a bead lands in the branch of another that is still to land.
///
/// # Errors
/// If the beads cannot be read.
pub(crate) async fn is_part(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (ProjectId, &str),
) -> Result<bool> {
    let bead = beads::get(fleet.app(), call, Some(project), bead).await?.value.0;
    Ok(open_whole(fleet, call, project, bead.lands_in()).await?.is_some())
}

/// Returns the whole, unless it has landed or is gone: what comes later lands by itself.
async fn open_whole(
    fleet: &Fleet,
    call: &Call,
    project: ProjectId,
    whole: Option<&str>,
) -> Result<Option<Name>> {
    let Some(whole) = whole else { return Ok(None) };
    match beads::get(fleet.app(), call, Some(project), whole).await {
        Ok(found) if found.value.0.is_closed() => Ok(None),
        Ok(found) => Ok(Some(found.value.0.id.parse()?)),
        Err(error) if error.code().kind() == Kind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the branch of a whole; it begins where the target branch is.
async fn branch(
    fleet: &Fleet,
    folder: PathBuf,
    (whole, target): (Name, Option<String>),
) -> Result<String> {
    let make = move |bench: &godel_git::Workbench| {
        let branch = whole.branch();
        if bench.head_of(&branch)?.is_none() {
            let from = bench.whole_id(target.as_deref().unwrap_or("HEAD"))?;
            // Somebody else may make it in the same moment, which is as good.
            bench.take_over(&whole, &from, None)?;
        }
        Ok(branch)
    };
    fleet.at_bench(folder, make).await
}

/// Returns how the branch is reached that an entry lands in. In the branch of a whole the gates decide: what
/// people or agents say, what is pushed and what is checked afterwards is a matter of the whole.
pub(super) async fn aimed(ride: &Ride, entry: &Entry) -> Result<Ride> {
    let Some(onto) = entry.onto.as_deref() else { return Ok(ride.clone()) };
    let call = ride.call(entry).await?;
    let Some(whole) = open_whole(&ride.fleet, &call, ride.project, Some(onto)).await? else {
        return Ok(ride.clone());
    };
    let usual = Some(ride.target.clone());
    let target = branch(&ride.fleet, ride.folder.clone(), (whole, usual)).await?;
    let mut wanted = ride.wanted.clone();
    wanted.review = Review::Auto;
    (wanted.landing.after, wanted.landing.push, wanted.landing.pulls) = (None, None, None);
    Ok(Ride { target, wanted, upstream: None, ..ride.clone() })
}

/// Lists the beads that landed in the branch of a whole.
pub(super) async fn parts(ride: &Ride, call: &Call, whole: &Bead) -> Result<Vec<Bead>> {
    let mut parts = Vec::new();
    let waits_for = whole.links.iter().filter(|link| link.kind == LinkKind::Blocks.as_str());
    for link in waits_for {
        let part = match beads::get(ride.fleet.app(), call, Some(ride.project), &link.target).await
        {
            Ok(found) => found.value.0,
            Err(error) if error.code().kind() == Kind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        if part.lands_in() == Some(whole.id.as_str()) {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Writes into the beads of a whole that has landed where their work is now.
pub(super) async fn landed(
    ride: &Ride,
    call: &Call,
    whole: &Bead,
    landing: &ops::Landing,
) -> Result<()> {
    let name: Name = whole.id.parse()?;
    let branch = name.branch();
    for part in parts(ride, call, whole).await? {
        let there = |field: &str| part.landed.as_ref()?.get(field)?.as_str().map(str::to_owned);
        if there("branch").as_deref() == Some(branch.as_str()) {
            // It is as large as it was, and not as large as the whole.
            let own = part.landed.as_ref().and_then(|landed| landed.get("change").cloned());
            let change = own.and_then(|change| serde_json::from_value(change).ok());
            let landing = ops::Landing { source: there("source"), change, ..landing.clone() };
            beads::finish(ride.fleet.app(), call, Some(ride.project), &part.id, landing).await?;
        }
    }
    Ok(())
}
