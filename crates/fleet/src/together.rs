//! Convoys that land as one: a bead of their own, the whole, takes the work of all others into its branch. When
//! it has all of it, it comes to review and lands like any other bead.

use std::collections::HashSet;

use godel_app::{App, Call, beads};
use godel_beads::{Bead, ConvoyState, Row, ops};
use godel_git::Name;
use godel_model::{BeadKind, BeadStatus, Kind, LinkKind, Report as _};
use godel_store::Tx;

use crate::slips::March;
use crate::{Fleet, Result, landing, paper};

/// Sees to it that the whole is there, waits for all others, and that those land in it.
pub(crate) async fn gather(
    fleet: &Fleet,
    call: &Call,
    march: &March,
    (whole, state): (&str, &ConvoyState),
) -> Result<Bead> {
    let (app, project) = (fleet.app(), Some(march.project));
    // Each thing is done once by what is there already; a key of the request would make them one.
    let call = &Call { once: None, ..call.clone() };
    let mut bead = match beads::get(app, call, project, whole).await {
        Ok(found) => found.value.0,
        Err(error) if error.code().kind() == Kind::NotFound => {
            make(app, call, march, (whole, state)).await?
        }
        Err(error) => return Err(error.into()),
    };
    if bead.is_closed() {
        return Ok(bead);
    }
    let members: Vec<&Row> = state.waves.iter().flatten().chain(&state.tangled).collect();
    if !members.iter().any(|row| row.id == whole) {
        let add = (vec![whole.to_owned()], Vec::new());
        beads::fill_convoy(app, call, project, &march.convoy, add).await?;
    }
    let known: HashSet<String> =
        bead.links.iter().filter(|link| link.blocks()).map(|link| link.target.clone()).collect();
    for row in members.iter().filter(|row| row.id != whole && !known.contains(&row.id)) {
        if row.status != BeadStatus::Done {
            let lands = (LinkKind::LandsIn, whole.to_owned());
            beads::link(app, call, project, &row.id, lands).await?;
        }
        // This one last: it says that the other is settled.
        let waits = (LinkKind::Blocks, row.id.clone());
        bead = beads::link(app, call, project, whole, waits).await?.value;
    }
    Ok(bead)
}

/// Makes the whole, under the id that it was given.
async fn make(
    app: &App,
    call: &Call,
    march: &March,
    (whole, state): (&str, &ConvoyState),
) -> Result<Bead> {
    let new = ops::NewBead {
        title: state.convoy.name.clone(),
        kind: Some(BeadKind::Epic),
        description: Some(format!(
            "All that the beads of {} come to. Their work lands in the branch bead/{whole}, and that lands as one.",
            march.convoy
        )),
        id: Some(whole.to_owned()),
        ..ops::NewBead::default()
    };
    Ok(beads::create(app, call, Some(march.project), new).await?.value)
}

/// Brings the whole to review once it has all the others; `false` while it waits for them.
pub(crate) async fn show(
    fleet: &Fleet,
    call: &Call,
    march: &March,
    (whole, state): (&Bead, &ConvoyState),
) -> Result<bool> {
    let mut others =
        state.waves.iter().flatten().chain(&state.tangled).filter(|row| row.id != whole.id);
    if !others.all(|row| row.status == BeadStatus::Done) || !state.missing.is_empty() {
        return Ok(false);
    }
    if whole.status == BeadStatus::Open {
        judged(fleet, call, march, whole).await?;
        let review = beads::Move {
            status: Some(BeadStatus::Review),
            reason: Some(format!("all beads of {} are in it", march.convoy)),
            force: true,
            ..beads::Move::default()
        };
        beads::move_to(fleet.app(), call, Some(march.project), &whole.id, review).await?;
    }
    let note = |_: &mut Tx<'_>, march: &mut March| {
        march.gathered = true;
        Ok(())
    };
    paper::change::<March, ()>(fleet.app(), call.actor.tenant, march.id, note).await?;
    Ok(true)
}

/// Writes into the whole what the gates said about its branch when the last of the others landed there.
async fn judged(fleet: &Fleet, call: &Call, march: &March, whole: &Bead) -> Result<()> {
    let Some(head) = head(fleet, call, march, whole).await? else { return Ok(()) };
    for link in whole.links.iter().filter(|link| link.blocks()) {
        let which = (march.project, link.target.as_str());
        let entry = landing::find(fleet, call.actor.tenant, which).await?;
        let Some(entry) = entry.filter(|entry| entry.commit.as_ref() == Some(&head)) else {
            continue;
        };
        for verdict in entry.verdicts {
            let verdict = ops::Verdict {
                gate: verdict.gate,
                passed: verdict.passed,
                commit: head.clone(),
                detail: Some(format!("when {} landed in it", link.target)),
            };
            beads::judge(fleet.app(), call, Some(march.project), &whole.id, verdict).await?;
        }
    }
    Ok(())
}

/// Returns the commit that the branch of the whole is at.
pub(crate) async fn head(
    fleet: &Fleet,
    call: &Call,
    march: &March,
    whole: &Bead,
) -> Result<Option<String>> {
    let (_, folder) = fleet.project(call, march.project).await?;
    let name: Name = whole.id.parse()?;
    fleet.at_bench(folder, move |bench| bench.head_of(&name.branch())).await
}
