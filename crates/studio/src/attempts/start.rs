//! Beginning attempts.

use godel_agents::Harness;
use godel_app::spend::budgets;
use godel_app::{App, Call, beads};
use godel_beads::Bead;
use godel_decide::attempts::line_up;
use godel_fleet::part::tree_of;
use godel_fleet::{Agent, Fleet, landing, paper, spawn, stop, wishes};
use godel_git::{Name, Workbench};
use godel_model::{BeadStatus, EventId, ProjectId, Reach, TenantId, code};
use godel_store::Tx;
use serde_json::json;
use tracing::instrument;

use super::doc::{Attempt, Cap, Stage, Trial};
use super::look::View;
use super::{look, turn};
use crate::{Error, Result};

/// How many trials of a bead are looked at.
pub(super) const LOOK_MAX: usize = 100;

/// How a bead is to be tried.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    /// How many ways.
    pub attempts: Option<u32>,
    /// The models, in turn; those of the project if none are named.
    pub models: Vec<String>,
    /// Which agent works.
    pub harness: Option<String>,
    /// What all of them may spend together.
    pub budget: Option<i64>,
    /// The convoy that the bead is tried for.
    pub convoy: Option<String>,
}

/// Begins several attempts at a bead; they are on disk, and the bead is held, when this returns.
///
/// # Errors
/// If the caller may not, the bead is not free, or what is asked for makes no sense.
#[instrument(level = "debug", name = "studio.attempts.start", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn start(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
    orders: Orders,
) -> Result<View> {
    call.may("agent", "create", Reach::Own)?;
    stop::refuse_if_stopped(fleet, call.actor.tenant).await?;
    let models = line_up(orders.attempts, &orders.models)?;
    let native = orders.harness.as_deref().is_none_or(|name| name == Harness::Native.name());
    let unknown = |model: &&String| native && !fleet.app().switchboard.knows_model(model);
    if let Some(model) = orders.models.iter().find(unknown) {
        return Err(Error::refused(
            code::INVALID_FIELD,
            format!("no provider knows the model \"{model}\""),
            "`godel models` lists those that can be asked",
        ));
    }
    let found = beads::get(fleet.app(), call, project, bead).await?;
    let (project, bead) = (found.project, found.value.0);
    refuse_if_taken(fleet, call.actor.tenant, project, &bead).await?;
    let (_, folder) = fleet.project(call, project).await?;
    for model in &models {
        let (bead, harness) = (Some(bead.id.clone()), orders.harness.clone());
        let new = spawn::NewAgent { bead, harness, model: model.clone(), ..Default::default() };
        spawn::check_choice(fleet, call, (project, &new)).await?;
    }
    let base = base_of(fleet, call, (project, folder), &bead).await?;
    let trial = file(fleet, call, (project, &bead), (orders, models, base)).await?;
    fleet.enlist(call.actor.tenant);
    let begun = turn::turn(fleet, call.actor.tenant, trial.id).await;
    if let Err(error) = begun {
        turn::give_up_unbegun(fleet, call, trial.id).await?;
        return Err(error);
    }
    look::one(fleet, call, trial.id).await
}

fn refused(why: String, hint: String) -> Error {
    Error::refused(code::ATTEMPT_REFUSED, why, hint)
}

/// Refuses a bead at which somebody is, or which is not open.
async fn refuse_if_taken(
    fleet: &Fleet,
    tenant: TenantId,
    project: ProjectId,
    bead: &Bead,
) -> Result<()> {
    let id = &bead.id;
    refuse_if_tried(fleet, tenant, (project, id)).await?;
    if bead.status >= BeadStatus::Review {
        return Err(refused(
            format!("bead {id} is {} and not open", bead.status),
            format!("open it again: godel bead status {id} open"),
        ));
    }
    spawn::refuse_second(fleet, tenant, project, id).await?;
    let held = bead.held(fleet.app().clock.now()).map(|(holder, _)| holder);
    // One that is assigned to somebody is theirs, too.
    if let Some(holder) = held.or(bead.agent.as_deref().filter(|_| bead.lease.is_none())) {
        return Err(refused(
            format!("bead {id} is held by {holder}"),
            format!("wait for it, or give the bead back: godel bead release {id} --force"),
        ));
    }
    Ok(())
}

/// Refuses a bead that is being tried several ways.
pub(crate) async fn refuse_if_tried(
    fleet: &Fleet,
    tenant: TenantId,
    (project, bead): (ProjectId, &str),
) -> Result<()> {
    let owner = Agent::owner_of(project, bead);
    let find = move |tx: &mut Tx<'_>| paper::of::<Trial>(tx, &owner, None, 1);
    let last = paper::look(fleet.app(), tenant, find).await?.pop();
    refuse_open(last.as_ref())
}

fn refuse_open(last: Option<&Trial>) -> Result<()> {
    last.filter(|trial| !trial.stage.is_over()).map_or(
        Ok(()),
        |Trial { attempts, bead, .. }| {
            Err(refused(
                format!("{} attempts at {bead} are at work or wait for a choice", attempts.len()),
                format!("look at them: godel attempt show {bead}; then pick one, or drop all"),
            ))
        },
    )
}

/// Finds the commit that all attempts begin from: what the bead has so far, or the target.
async fn base_of(
    fleet: &Fleet,
    call: &Call,
    (project, folder): (ProjectId, std::path::PathBuf),
    bead: &Bead,
) -> Result<String> {
    let wanted = wishes::read(fleet, folder.clone()).await?;
    let place = (project, folder.clone());
    let target = landing::target_of(fleet, call, place, (&wanted, bead)).await?;
    let (name, id): (Name, _) = (bead.id.parse()?, bead.id.clone());
    let find = move |bench: &Workbench| {
        let tree = bench.info(&name).ok();
        if tree.as_ref().is_some_and(|tree| tree.dirty.is_some_and(|files| files > 0)) {
            return Ok(Err(id));
        }
        let begun = bench.head_of(&name.branch())?;
        let base = begun.or(target).unwrap_or_else(|| "HEAD".to_owned());
        bench.whole_id(&base).map(Ok)
    };
    fleet.at_bench(folder, find).await?.map_err(|id| {
        refused(
            format!("the worktree of {id} has changes that are in no commit"),
            format!("commit them, or let the worktree go (its work is saved): godel worktree remove {id}"),
        )
    })
}

/// Writes a trial down, with the ids and names of its agents; numbers go on from earlier ones.
async fn file(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (ProjectId, &Bead),
    (orders, models, base): (Orders, Vec<Option<String>>, String),
) -> Result<Trial> {
    let (app, call_, bead) = (fleet.app().clone(), call.clone(), bead.id.clone());
    let work = move |tx: &mut Tx<'_>| {
        let earlier = paper::of::<Trial>(tx, &Agent::owner_of(project, &bead), None, LOOK_MAX)?;
        refuse_open(earlier.first())?;
        let all = earlier.iter().flat_map(|one| &one.attempts);
        let first = all.map(|one| one.number).max().unwrap_or(0) + 1;
        let mut attempts = Vec::with_capacity(models.len());
        for (number, model) in (first..).zip(&models) {
            attempts.push(attempt(&app, tx, (&bead, number), model.clone())?);
        }
        let cap = orders.budget.map(|micros| {
            let before = budgets::cap_bead(&app, &call_, tx, (&bead, micros))?;
            Ok::<_, Error>(Cap { micros, before })
        });
        let trial = Trial {
            id: app.mint.id::<EventId>().uuid(),
            name: format!("{project}/{bead}/{first}"),
            project,
            bead: bead.clone(),
            convoy: orders.convoy.clone(),
            user: call_.actor.user,
            harness: orders.harness.clone(),
            base: base.clone(),
            stage: Stage::Running,
            attempts,
            claim: None,
            cap: cap.transpose()?,
            pick: None,
            told: false,
            note: None,
            created_at: app.clock.now(),
            ended_at: None,
        };
        if !paper::insert(tx, &trial)? {
            return Err(Error::Raced("bead"));
        }
        Ok(trial)
    };
    paper::write(fleet.app(), call.actor.tenant, work).await
}

/// Gives an attempt its agent, under a name that is free.
fn attempt(
    app: &App,
    tx: &mut Tx<'_>,
    (bead, number): (&str, u32),
    model: Option<String>,
) -> Result<Attempt> {
    let agent = app.mint.id();
    let mut label = tree_of(bead, number);
    // A bead of another project may have the same id.
    if paper::by_label::<Agent>(tx, &label)?.is_some() {
        label = format!("{label}-{}", app.mint.id::<EventId>().uuid().simple());
    }
    let (begun, commit, archived, rescued) = (false, None, None, Vec::new());
    Ok(Attempt { number, agent, label, model, begun, commit, archived, rescued })
}

/// Tells of a change of a trial, on record too.
pub(super) fn tell(
    app: &App,
    call: &Call,
    tx: &mut Tx<'_>,
    kind: &'static str,
    trial: &Trial,
) -> Result<()> {
    let told = json!({
        "bead": trial.bead, "stage": trial.stage, "base": trial.base,
        "attempts": trial.attempts.iter().map(|one| json!({
            "number": one.number, "agent": one.label, "model": one.model, "archived": one.archived,
        })).collect::<Vec<_>>(),
        "picked": trial.pick.as_ref().map(|pick| pick.number),
        "commit": trial.pick.as_ref().map(|pick| &pick.commit),
    });
    let mut event = call.event(app, kind, &told, ("beadId", &trial.bead));
    event.metadata.refs.insert("projectId".into(), trial.project.to_string());
    if let Some(convoy) = &trial.convoy {
        event.metadata.refs.insert("convoyId".into(), convoy.clone());
    }
    Ok(call.tell(app, tx, event)?)
}
