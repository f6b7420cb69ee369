//! Saying yes: a plan becomes beads and a convoy that runs, once, however often it is asked.

use godel_app::{Call, beads};
use godel_beads::ops::{NewBead, NewConvoy};
use godel_fleet::march::{self, Orders};
use godel_fleet::{Fleet, paper, stop};
use godel_intent::plan::{Plan, PlannedBead};
use godel_model::{Reach, code};
use godel_store::Tx;
use serde_json::{Map, json};
use tracing::instrument;

use super::doc::{State, Wanted, Wish};
use super::{act, find, may_lead, over, submit};
use crate::{Error, Result, attempts};

/// What is said with a yes; what is left out stays as it was.
#[derive(Debug, Clone, Default)]
pub struct Go {
    /// How many agents work at once.
    pub agents: Option<u32>,
    /// What all of it may cost, in micro-dollars.
    pub budget: Option<i64>,
    /// Which agent works.
    pub harness: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// In how many ways the one bead of the plan is tried.
    pub attempts: Option<u32>,
    /// The models by which it is tried, in turn.
    pub models: Vec<String>,
    /// Whether all of it lands as one; as the project says if it is not said.
    pub together: Option<bool>,
}

/// Does what was planned. Asked twice, or killed in between and asked again, it is done once.
///
/// # Errors
/// If the caller may not, there is no such intent, it waits for an answer, or the budget is too small.
#[instrument(level = "debug", name = "studio.intents.start", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn start(fleet: &Fleet, call: &Call, name: &str, go: Go) -> Result<Wish> {
    call.may("agent", "create", Reach::Own)?;
    let found = find(fleet, call, name).await?;
    may_lead(call, &found)?;
    match found.state {
        State::Started => return Ok(found),
        State::Asking => {
            let ask = found.question.as_ref().map_or("", |question| question.ask.as_str());
            return Err(Error::refused(
                code::INTENT_STATE,
                format!("something has to be known first: {ask}"),
                format!("answer it: godel do --answer {} ANSWER", found.id),
            ));
        }
        State::Answered | State::Cancelled => return Err(over(&found)),
        State::Planned | State::Starting => {}
    }
    if found.plan.is_some() {
        // Refused before anything is made, not half-way.
        call.may("bead", "create", Reach::Own)?;
        call.may("convoy", "create", Reach::Own)?;
        stop::refuse_if_stopped(fleet, call.actor.tenant).await?;
    }
    let wish = begin(fleet, call, &found, go).await?;
    let words = match (&wish.plan, &wish.deed) {
        (Some(plan), _) => run(fleet, call, &wish, plan).await?,
        (None, Some(deed)) => act::carry_out(fleet, call, &wish, deed).await?,
        (None, None) => Vec::new(),
    };
    finish(fleet, call, &wish, words).await
}

/// Writes down that it is being started, and with what.
async fn begin(fleet: &Fleet, call: &Call, found: &Wish, go: Go) -> Result<Wish> {
    let old = &found.wanted;
    let wanted = Wanted {
        agents: go.agents.or(old.agents),
        budget: go.budget.or(old.budget),
        harness: go.harness.or(old.harness.clone()),
        model: go.model.or(old.model.clone()),
        rules: old.rules,
        attempts: go.attempts.or(old.attempts),
        models: if go.models.is_empty() { old.models.clone() } else { go.models },
        together: go.together.or(old.together),
    };
    submit::check(&wanted)?;
    let ways = wanted.ways()?;
    refuse_several_beads(found, ways)?;
    let times = u64::from(ways.unwrap_or(1));
    if let (Some(cap), Some(estimate)) = (wanted.budget, &found.estimate)
        && u64::try_from(cap).unwrap_or(0) < estimate.cost.low.saturating_mul(times)
    {
        let dollars = |micros: u64| format!("${:.2}", micros as f64 * times as f64 / 1e6);
        let (low, high) = (dollars(estimate.cost.low), dollars(estimate.cost.high));
        return Err(Error::refused(
            code::BUDGET_TOO_SMALL,
            format!("the budget is less than the plan is likely to cost ({low} to {high})"),
            format!("start it with more: godel do --start {} --budget 5", found.id),
        ));
    }
    let work = move |_: &mut Tx<'_>, wish: &mut Wish| {
        if !matches!(wish.state, State::Planned | State::Starting) {
            return Err(over(wish));
        }
        (wish.state, wish.wanted) = (State::Starting, wanted.clone());
        Ok(())
    };
    Ok(paper::change::<Wish, ()>(fleet.app(), call.actor.tenant, found.id, work).await?.0)
}

/// Refuses to try a plan several ways that has not exactly one bead.
fn refuse_several_beads(found: &Wish, ways: Option<u32>) -> Result<()> {
    let count = found.plan.as_ref().map_or(0, |plan| plan.beads.len());
    if ways.is_none() || count == 1 {
        return Ok(());
    }
    Err(Error::refused(
        code::ATTEMPT_REFUSED,
        format!("a plan of one bead can be tried several ways; this one has {count}"),
        format!(
            "start it without --attempts and --models: godel do --start {}; or make its beads yourself and try one \
             of them: godel attempt start BEAD",
            found.id
        ),
    ))
}

/// Makes the beads and the convoy under the ids that they were given, and runs it.
async fn run(fleet: &Fleet, call: &Call, wish: &Wish, plan: &Plan) -> Result<Vec<String>> {
    let (app, project) = (fleet.app(), Some(wish.project));
    // Each thing has its own id already; a key of the request would make them one.
    let call = &Call { once: None, ..call.clone() };
    let of_key = |key: &String| wish.beads.get(key).cloned();
    let order: Vec<String> = plan.waves().into_iter().flatten().collect();
    for bead in order.iter().filter_map(|key| plan.bead(key)) {
        beads::create(app, call, project, new_bead(wish, bead)).await?;
    }
    let new = NewConvoy {
        name: plan.title.clone(),
        description: Some(wish.text.clone()),
        beads: order.iter().filter_map(of_key).collect(),
        id: wish.convoy.clone(),
    };
    let convoy = beads::create_convoy(app, call, project, new).await?.value.id;
    let team = wish.team.as_ref();
    let worker = team.and_then(|team| team.members.iter().find(|one| one.role == "worker"));
    let orders = Orders {
        agents: wish.wanted.agents.or(team.map(|team| team.size)),
        budget: wish.wanted.budget,
        harness: wish.wanted.harness.clone(),
        model: wish.wanted.model.clone().or(worker.and_then(|one| one.model.clone())),
        together: wish.wanted.together,
        ..Orders::default()
    };
    let mut words = Vec::new();
    if let Some(ways) = wish.wanted.ways()?
        && let Some(bead) = order.iter().find_map(of_key)
    {
        Box::pin(try_bead(fleet, call, wish, (&bead, &convoy, &orders))).await?;
        words.push(format!("{ways} agents try {bead}: godel attempt show {bead}"));
    }
    let march = march::start(fleet, call, (project, &convoy), orders).await?;
    words.push(format!("convoy {convoy} runs with {} agent(s) at once", march.agents));
    Ok(words)
}

/// Lets several agents try the one bead; the convoy has its budget, and lands what is picked.
async fn try_bead(
    fleet: &Fleet,
    call: &Call,
    wish: &Wish,
    (bead, convoy, march): (&str, &str, &Orders),
) -> Result<()> {
    let which = (Some(wish.project), bead);
    match attempts::show(fleet, call, which).await {
        // A start that was interrupted has begun them.
        Ok(_) => return Ok(()),
        Err(Error::NoAttempt(_)) => {}
        Err(error) => return Err(error),
    }
    if let Some(cap) = march.budget {
        godel_app::spend::budgets::cap_convoy(fleet.app(), call, convoy, cap).await?;
    }
    let models = match wish.wanted.models.is_empty() {
        true => march.model.iter().cloned().collect(),
        false => wish.wanted.models.clone(),
    };
    let orders = attempts::Orders {
        attempts: wish.wanted.ways()?,
        models,
        harness: march.harness.clone(),
        budget: None,
        convoy: Some(convoy.to_owned()),
    };
    attempts::start(fleet, call, which, orders).await.map(drop)
}

fn new_bead(wish: &Wish, bead: &PlannedBead) -> NewBead {
    let needs = bead.needs.iter().filter_map(|need| wish.beads.get(need).cloned());
    let mut metadata = Map::new();
    metadata.insert("intent".to_owned(), json!(wish.id));
    metadata.insert("size".to_owned(), json!(bead.size));
    if !bead.files.is_empty() {
        metadata.insert("files".to_owned(), json!(bead.files));
    }
    NewBead {
        title: bead.title.clone(),
        kind: Some(bead.kind),
        priority: Some(bead.priority),
        description: Some(bead.description.clone()),
        blocked_by: needs.collect(),
        metadata,
        id: wish.beads.get(&bead.key).cloned(),
        ..NewBead::default()
    }
}

async fn finish(fleet: &Fleet, call: &Call, wish: &Wish, words: Vec<String>) -> Result<Wish> {
    let (app, call_, now) = (fleet.app().clone(), call.clone(), fleet.app().clock.now());
    let work = move |tx: &mut Tx<'_>, wish: &mut Wish| {
        if wish.state == State::Started {
            return Ok(());
        }
        wish.state = State::Started;
        wish.started_at = Some(now);
        wish.words.clone_from(&words);
        let told =
            json!({ "id": wish.id, "type": wish.intent.kind.as_str(), "convoy": wish.convoy });
        let event = call_.event(&app, "intent:started", &told, ("intentId", wish.id));
        Ok(call_.tell(&app, tx, event)?)
    };
    Ok(paper::change::<Wish, ()>(fleet.app(), call.actor.tenant, wish.id, work).await?.0)
}
