//! Taking a sentence in: look at the repository, understand it, plan it, price it, and write that down.

use std::collections::BTreeMap;
use std::path::PathBuf;

use godel_agents::gates::{Gates, Review};
use godel_app::spend::budgets;
use godel_app::{Call, beads, projects};
use godel_fleet::{Fleet, march, paper, wishes};
use godel_intent::complexity::complexity;
use godel_intent::estimate::estimate;
use godel_intent::parse::{self, Answer, Kind, Parsed, Scene};
use godel_intent::shape::{self, Bounds, ModelFact};
use godel_model::{Allowance, ConvoyId, EventId, ProjectId, Reach, Survey, code};
use godel_store::Tx;
use jiff::tz::TimeZone;
use tracing::instrument;

use super::doc::{Facts, State, Wanted, Wish};
use super::planner::{self, Asking};
use super::{act, find, history, may_lead, over, scene, status};
use crate::{Error, Result};

/// How many characters the end of a convoy's id has that is chosen without looking.
const SELDOM_TAKEN_LETTERS: usize = 6;
/// How many agents there may be unless the project says otherwise.
const AGENTS_MAX: u32 = 16;
/// How many projects are looked at for the only one with a repository.
const PROJECTS_MAX: usize = 100;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct New {
    /// In which project; the only one with a repository if it is not said.
    pub project: Option<ProjectId>,
    /// In words.
    pub text: String,
    /// What is allowed.
    pub wanted: Wanted,
}

/// All that is known before a text is read.
struct Ground {
    project: ProjectId,
    survey: Survey,
    gates: Gates,
    candidates: Vec<parse::Candidate>,
    workflows: Vec<String>,
    models: Vec<ModelFact>,
    most: u32,
}

/// Takes in what somebody wants. Nothing runs.
///
/// # Errors
/// If the caller may not, or the text says nothing or too much.
#[instrument(level = "debug", name = "studio.intents.submit", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn submit(fleet: &Fleet, call: &Call, new: New) -> Result<Wish> {
    call.may("bead", "read", Reach::Team)?;
    check(&new.wanted)?;
    let (project, folder) = place(fleet, call, new.project).await?;
    let ground = ground(fleet, call, project, folder).await?;
    let parsed = read(&new.text, &ground, None)?;
    let app = fleet.app();
    let day = app.clock.now().to_zoned(TimeZone::UTC).date();
    let wish = Wish {
        id: app.mint.id::<EventId>().uuid(),
        user: call.actor.user,
        project,
        state: State::Asking,
        text: parsed.intent.original.clone(),
        wanted: new.wanted,
        intent: parsed.intent.clone(),
        question: None,
        repository: Facts::of(&ground.survey),
        complexity: None,
        plan: None,
        planned_by: None,
        team: None,
        estimate: None,
        deed: None,
        words: Vec::new(),
        data: None,
        beads: BTreeMap::new(),
        convoy: Some(ConvoyId::mint(app.mint, day, SELDOM_TAKEN_LETTERS).to_string()),
        created_at: app.clock.now(),
        started_at: None,
    };
    let wish = settle(fleet, call, wish, parsed, &ground).await?;
    let (app_, call_, kept) = (app.clone(), call.clone(), wish.clone());
    let work = move |tx: &mut Tx<'_>| {
        paper::insert(tx, &kept)?;
        let told = told(&kept);
        let event = call_.event(&app_, "intent:planned", &told, ("intentId", kept.id));
        Ok(call_.tell(&app_, tx, event)?)
    };
    paper::write(app, call.actor.tenant, work).await?;
    Ok(wish)
}

/// Takes in the answer to the question of an intent, and goes on from there.
///
/// # Errors
/// If the caller may not, there is no such intent, or it asks nothing.
#[instrument(level = "debug", name = "studio.intents.answer", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn answer(fleet: &Fleet, call: &Call, name: &str, value: &str) -> Result<Wish> {
    call.may("bead", "read", Reach::Team)?;
    let wish = find(fleet, call, name).await?;
    may_lead(call, &wish)?;
    let Some(question) = wish.question.clone().filter(|_| wish.state == State::Asking) else {
        return Err(over(&wish));
    };
    let known = question.choices.iter().any(|choice| choice.value == value);
    if value.trim().is_empty() || !(known || question.free) {
        let choices: Vec<&str> = question.choices.iter().map(|one| one.value.as_str()).collect();
        return Err(Error::refused(
            code::INVALID_FIELD,
            format!("that is no answer to \"{}\"", question.ask),
            format!("answer one of: {}", choices.join("; ")),
        ));
    }
    let (_, folder) = fleet.project(call, wish.project).await?;
    let ground = ground(fleet, call, wish.project, folder).await?;
    let answer = Answer { about: question.about, value: value.to_owned() };
    let text = parse::settled(&wish.text, &answer);
    let parsed = read(&text, &ground, Some(&answer))?;
    let (asked, was) = (wish.question.clone(), wish.text.clone());
    let wish = Wish { text, intent: parsed.intent.clone(), ..wish };
    let fresh = settle(fleet, call, wish, parsed, &ground).await?;
    let (app_, call_) = (fleet.app().clone(), call.clone());
    let id = fresh.id;
    let work = move |tx: &mut Tx<'_>, wish: &mut Wish| {
        // Somebody else may have answered meanwhile.
        if wish.state != State::Asking || wish.question != asked || wish.text != was {
            return Err(over(wish));
        }
        wish.clone_from(&fresh);
        let event = call_.event(&app_, "intent:planned", &told(wish), ("intentId", wish.id));
        Ok(call_.tell(&app_, tx, event)?)
    };
    Ok(paper::change::<Wish, ()>(fleet.app(), call.actor.tenant, id, work).await?.0)
}

fn told(wish: &Wish) -> serde_json::Value {
    serde_json::json!({
        "id": wish.id, "state": wish.state.as_str(), "type": wish.intent.kind.as_str(),
        "beads": wish.plan.as_ref().map_or(0, |plan| plan.beads.len()), "convoy": wish.convoy,
    })
}

/// Finds out what the words mean here.
async fn settle(
    fleet: &Fleet,
    call: &Call,
    mut wish: Wish,
    parsed: Parsed,
    ground: &Ground,
) -> Result<Wish> {
    wish.question = parsed.question;
    if wish.question.is_some() {
        wish.state = State::Asking;
        return Ok(wish);
    }
    match wish.intent.kind {
        Kind::QueryStatus => status::tell(fleet, call, &mut wish, &parsed.targets).await?,
        Kind::StopTask | Kind::ScaleTeam | Kind::ExecuteWorkflow => {
            act::prepare(fleet, call, &mut wish, parsed.targets).await?;
        }
        Kind::SpawnAgent | Kind::CreateTeam | Kind::Custom => {
            draw_up(fleet, call, &mut wish, ground).await?;
        }
    }
    Ok(wish)
}

/// Plans work, shapes the team for it, and prices it.
async fn draw_up(fleet: &Fleet, call: &Call, wish: &mut Wish, ground: &Ground) -> Result<()> {
    call.may("agent", "create", Reach::Own)?;
    call.may("bead", "create", Reach::Own)?;
    let task = wish.intent.task().to_owned();
    narrow(wish);
    let judged = complexity(&task, &ground.survey);
    let convoy = wish.convoy.clone().unwrap_or_default();
    let model = planner_model(wish, ground);
    if let (Some(cap), Ok(_)) = (wish.wanted.budget, &model) {
        // The planning is paid from the same budget as the work.
        budgets::cap_convoy(fleet.app(), call, &convoy, cap).await?;
    }
    // Who works on a bead must be able to commit; what a bead or a model says of roles counts for nothing.
    let workers = ["worker".to_owned()];
    let asking = Asking {
        text: &task,
        survey: &ground.survey,
        score: judged.score,
        roles: &workers,
        project: ground.project,
        convoy: &convoy,
        model,
    };
    let (plan, planned_by) = planner::plan(fleet, call, &asking).await;
    let mut roles = workers.to_vec();
    if ground.gates.review == Review::Agent {
        roles.push("reviewer".to_owned());
    }
    // What the text says counts within what the project allows; see `most`.
    let said = wish.intent.size().filter(|size| *size > 0);
    let one = wish.intent.kind == Kind::SpawnAgent;
    let bounds = Bounds {
        roles: &roles,
        models: &ground.models,
        model: wish.wanted.model.as_deref(),
        wanted: wish.wanted.agents.or(said).or(one.then_some(1)),
        most: ground.most,
    };
    let team = shape::team(&plan, &judged, &bounds);
    let model =
        team.members.iter().find(|one| one.role == "worker").and_then(|one| one.model.clone());
    let samples = history::samples(fleet, call).await?;
    let priced = estimate(&plan, model.as_deref(), team.size, &samples);
    wish.words.clear();
    if let Some(budget) = wish.wanted.budget.and_then(|cap| u64::try_from(cap).ok()) {
        wish.words.extend(budget_words(budget, &priced.cost));
    }
    wish.words.extend(judged.risks.iter().cloned());
    let mint =
        |bead: &godel_intent::plan::PlannedBead| (bead.key.clone(), beads::new_id(fleet.app()));
    wish.beads = plan.beads.iter().map(mint).collect();
    (wish.complexity, wish.plan, wish.planned_by) = (Some(judged), Some(plan), Some(planned_by));
    (wish.team, wish.estimate, wish.state) = (Some(team), Some(priced), State::Planned);
    Ok(())
}

/// What the text says about money counts if it is less than what the caller allows.
fn narrow(wish: &mut Wish) {
    let said = wish.intent.named("budget").and_then(|one| one.value.parse::<f64>().ok());
    let said = said.map(|dollars| (dollars * 1e6) as i64).filter(|micros| *micros > 0);
    wish.wanted.budget = match (wish.wanted.budget, said) {
        (Some(cap), Some(said)) => Some(cap.min(said)),
        (cap, said) => cap.or(said),
    };
}

/// Says what a budget means for a plan.
fn budget_words(budget: u64, cost: &godel_intent::estimate::Range) -> Option<String> {
    let dollars = |micros: u64| format!("${:.2}", micros as f64 / 1e6);
    let (own, low, high) = (dollars(budget), dollars(cost.low), dollars(cost.high));
    if budget < cost.low {
        return Some(format!(
            "the budget of {own} is less than the plan is likely to cost ({low} to {high}): it cannot be started"
        ));
    }
    (budget < cost.high)
        .then(|| format!("the budget of {own} may not last: such plans cost {low} to {high}"))
}

/// Tells which model plans, or why none does.
fn planner_model(wish: &Wish, ground: &Ground) -> std::result::Result<String, String> {
    if wish.wanted.rules {
        return Err("no model was to be asked".to_owned());
    }
    let own = wish.wanted.model.clone().or(ground.gates.agents.model.clone());
    own.filter(|model| !model.is_empty()).ok_or_else(|| {
        "no model is named: say --model, or set `[agents] model` in godel.toml".to_owned()
    })
}

fn read(text: &str, ground: &Ground, answer: Option<&Answer>) -> Result<Parsed> {
    let models: Vec<String> = ground.models.iter().map(|model| model.name.clone()).collect();
    let roles = ["worker", "reviewer"].map(str::to_owned);
    let scene = Scene {
        candidates: &ground.candidates,
        workflows: &ground.workflows,
        roles: &roles,
        models: &models,
        survey: Some(&ground.survey),
        answer,
    };
    Ok(parse::parse(text, &scene)?)
}

/// Looks at everything that the words can be about.
async fn ground(fleet: &Fleet, call: &Call, project: ProjectId, folder: PathBuf) -> Result<Ground> {
    let gates = wishes::read(fleet, folder.clone()).await?;
    let target = wishes::target(fleet, folder.clone(), &gates).await?;
    let look = move || godel_git::survey(&folder, target.as_deref().unwrap_or("HEAD"));
    let looked = tokio::task::spawn_blocking(look);
    let (looked, candidates, workflows) = tokio::join!(
        looked,
        scene::candidates(fleet, call, project),
        scene::workflows(fleet, call)
    );
    let survey = looked.map_err(|_| Error::Store(godel_store::Error::Panicked))??;
    let limit = projects::get(fleet.app(), call, project).await?.limits.max_agents;
    let most = [limit, gates.agents.max].into_iter().flatten().min().unwrap_or(AGENTS_MAX);
    let models = models(fleet, &gates);
    Ok(Ground { project, survey, gates, candidates: candidates?, workflows, models, most })
}

/// The models that the project names, with what they cost.
fn models(fleet: &Fleet, gates: &Gates) -> Vec<ModelFact> {
    let config = fleet.app().switchboard.config();
    let named =
        gates.agents.model.iter().chain(&gates.agents.stronger).filter(|name| !name.is_empty());
    let fact = |(at, name): (usize, &String)| {
        let known = config.registry().named(name).first().cloned();
        let price = known.and_then(|model| model.prices.last().map(|price| price.output));
        // One without a known price stands where the project has put it: stronger ones behind.
        let price = price.map_or(at as u64, |dollars| (dollars * 1e6) as u64);
        ModelFact { name: name.clone(), price }
    };
    named.enumerate().map(fact).collect()
}

/// Finds the project, and the folder of its repository.
async fn place(
    fleet: &Fleet,
    call: &Call,
    given: Option<ProjectId>,
) -> Result<(ProjectId, PathBuf)> {
    if let Some(id) = given {
        return Ok((id, fleet.project(call, id).await?.1));
    }
    let all = projects::list(fleet.app(), call, true, None, PROJECTS_MAX).await?;
    let mut with =
        all.into_iter().filter(|one| one.repository.as_ref().is_some_and(|path| !path.is_empty()));
    match (with.next(), with.next()) {
        (Some(one), None) => Ok((one.id, fleet.project(call, one.id).await?.1)),
        (None, _) => Err(Error::refused(
            code::INVALID_FIELD,
            "no project has a repository yet",
            "make one: godel project create app --repository .",
        )),
        _ => Err(Error::refused(
            code::INVALID_FIELD,
            "there are several projects",
            "say which by `projectId` (--project)",
        )),
    }
}

pub(super) fn check(wanted: &Wanted) -> Result<()> {
    if let Some(cap) = wanted.budget {
        Allowance::of(cap).check()?;
    }
    if wanted.agents.is_some_and(|agents| !(1..=march::AGENTS_MAX).contains(&agents)) {
        return Err(Error::refused(
            code::INVALID_FIELD,
            format!("from 1 to {} agents can work at once", march::AGENTS_MAX),
            "say --agents 4",
        ));
    }
    Ok(())
}
