//! Conflicts are repaired by an agent, in the worktree of the bead; who judges the repair is decided here.

use godel_agents::gates::Review;
use godel_app::beads;
use godel_model::{BeadStatus, Kind, Life, Report as _};
use godel_store::Tx;

use super::entry::{Entry, Stage, Trouble};
use super::train::Ride;
use super::{Hindrance, send_back, settle};
use crate::doc::Agent;
use crate::spawn::{self, NewAgent};
use crate::{Result, paper};

/// How often the conflicts of one bead are repaired before somebody else is asked.
const MENDS_MAX: u32 = 3;
/// The role of whoever repairs, unless the project names another.
const ROLE: &str = "refinery";

/// Tells whether an agent may repair an entry.
pub(super) fn may(ride: &Ride, entry: &Entry) -> bool {
    ride.wanted.landing.repair && entry.mends < MENDS_MAX
}

/// Lets an agent repair the conflicts of an entry.
pub(super) async fn begin(
    ride: &Ride,
    entry: &Entry,
    files: Vec<String>,
    why: String,
) -> Result<()> {
    let number = entry.mends + 1;
    let short = entry.source.get(..8).unwrap_or(&entry.source);
    // A name that nobody else can have lets no second one begin, whatever happens.
    let label = format!("{ROLE}-{}-{short}-{number}", entry.bead);
    let begun = move |entry: &mut Entry| {
        (entry.stage, entry.mends) = (Stage::Mending, number);
        (entry.mender, entry.why) = (Some(label.clone()), Some(why.clone()));
        (entry.files, entry.moving) = (files.clone(), None);
    };
    let entry = settle::ended(ride, entry, "landing:mending", begun).await?;
    look(ride, &entry).await
}

/// Goes on with a repair: starts it, waits for it, or takes over what came of it.
pub(super) async fn look(ride: &Ride, entry: &Entry) -> Result<()> {
    let Some(label) = entry.mender.clone() else { return Ok(()) };
    let find = move |tx: &mut Tx<'_>| paper::by_label::<Agent>(tx, &label);
    let Some(agent) = paper::look(ride.fleet.app(), ride.tenant, find).await? else {
        return start(ride, entry).await;
    };
    match agent.life {
        Life::Completed => repaired(ride, entry).await,
        Life::Killed => {
            let why = format!("its repair by {} was ended", agent.label);
            give_up(ride, entry, why).await
        }
        // It works, or a person was told that it cannot.
        _ => Ok(()),
    }
}

async fn start(ride: &Ride, entry: &Entry) -> Result<()> {
    let call = ride.call(entry).await?;
    let (fleet, project) = (&ride.fleet, Some(ride.project));
    let bead = beads::get(fleet.app(), &call, project, &entry.bead).await?.value.0;
    if bead.is_closed() {
        let why = format!("it is {} and not in review", bead.status);
        return settle::changed(ride, entry, why).await;
    }
    if bead.status == BeadStatus::Review {
        let why = format!("it conflicts with {} and is repaired", ride.target);
        send_back(fleet, &call, (ride.project, &entry.bead), &why).await?;
    }
    let target = ride.target.clone();
    let onto = match &ride.upstream {
        Some(upstream) => Some(upstream.clone()),
        None => fleet.at_bench(ride.folder.clone(), move |bench| bench.head_of(&target)).await?,
    };
    let like = match settle::last_agent(ride, entry).await? {
        Some(last) => NewAgent::like(&last),
        None => NewAgent::default(),
    };
    let role = ride.wanted.landing.repairer.clone().unwrap_or_else(|| ROLE.to_owned());
    let new = NewAgent {
        label: entry.mender.clone(),
        bead: Some(entry.bead.clone()),
        task: Some(words(entry, &ride.target, &onto.unwrap_or_default())),
        project,
        role: Some(role),
        convoy: entry.convoy.clone(),
        ..like
    };
    match spawn::spawn(fleet, &call, new).await {
        Ok(_) => Ok(()),
        Err(error) if error.code().kind().retryable() || error.code().kind() == Kind::Conflict => {
            // Somebody is at it, or everything stands still: it is looked at again.
            let why = error.to_string();
            ride.change(entry, move |entry| entry.why = Some(why.clone())).await.map(drop)
        }
        Err(error) => give_up(ride, entry, format!("nobody can repair it: {error}")).await,
    }
}

/// Says what is to be done.
fn words(entry: &Entry, target: &str, onto: &str) -> String {
    format!(
        "This work is done and was allowed to land on the branch {target}, but that branch has changed in the same \
         places. The files in conflict: {}.\n\nBring both together: `git merge {onto}` in your worktree, solve each \
         conflict so that what both sides wanted still holds, look that the tests pass, and commit the merge. \
         Change nothing else: a repair that changes other files has to be reviewed again.",
        entry.files.join(", ")
    )
}

/// Takes over what a repair came to: it lands if it is nothing but the repair, or if nobody has to look.
async fn repaired(ride: &Ride, entry: &Entry) -> Result<()> {
    let call = ride.call(entry).await?;
    let app = ride.fleet.app();
    let bead = beads::get(app, &call, Some(ride.project), &entry.bead).await?.value.0;
    if bead.status != BeadStatus::Review {
        let why = format!("it is {} and not in review", bead.status);
        return settle::changed(ride, entry, why).await;
    }
    let name: godel_git::Name = entry.bead.parse()?;
    let (old, target) = (entry.source.clone(), ride.target.clone());
    let looked = ride.fleet.at_bench(ride.folder.clone(), move |bench| {
        let Some(head) = bench.head_of(&name.branch())? else { return Ok(None) };
        let beyond = bench.landing().beyond_repair(&old, &head, &target)?;
        Ok(Some((head, beyond)))
    });
    let Some((head, beyond)) = looked.await? else {
        return give_up(ride, entry, "its branch is gone".to_owned()).await;
    };
    if head == entry.source {
        return give_up(ride, entry, "its repair changed nothing".to_owned()).await;
    }
    match (ride.wanted.review, beyond) {
        (Review::Agent, _) => {
            let (why, now) = ("it was repaired, and the repair is reviewed".to_owned(), ride.now());
            let end = move |entry: &mut Entry| {
                entry.end(Stage::Removed, now);
                entry.why = Some(why.clone());
            };
            settle::ended(ride, entry, "landing:removed", end).await.map(drop)
        }
        (Review::Person, Some(more)) => {
            let why = format!("its repair changed more than the conflict: {more}; look at it");
            settle::changed(ride, entry, why).await
        }
        (Review::Auto | Review::Person, _) => {
            let again = move |entry: &mut Entry| {
                (entry.stage, entry.source) = (Stage::Waiting, head.clone());
                (entry.why, entry.not_before) = (None, None);
            };
            settle::ended(ride, entry, "landing:mended", again).await.map(drop)
        }
    }
}

/// Ends a repair that did not work out. The work is what it was, so it waits for whoever decides.
async fn give_up(ride: &Ride, entry: &Entry, why: String) -> Result<()> {
    let (call, app) = (ride.call(entry).await?, ride.fleet.app());
    let back = beads::Move { status: Some(BeadStatus::Review), ..beads::Move::default() };
    let project = Some(ride.project);
    if let Err(error) = beads::move_to(app, &call, project, &entry.bead, back).await {
        tracing::info!(bead = %entry.bead, %error, "the bead stays where the repair left it");
    }
    let files = entry.files.clone();
    let hindrance = Hindrance::Unrepaired { files, why };
    settle::give_up(ride, entry, Trouble::Conflict, &hindrance).await
}
