//! What may be spent.

use godel_model::{
    AgentId, Allowance, AllowanceChange, Budget, BudgetId, BudgetScope, EventId, Incident, Limits,
    Period, Project, ProjectChange, Reach, SpendKind, Trouble, UserStatus, micros,
};
use godel_store::Tx;
use jiff::Timestamp;
use serde_json::{Value, json};
use tracing::instrument;

use crate::{App, Call, Error, Result};

const MICROS_PER_DAY: i64 = 86_400_000_000;

fn told(budget: &Budget) -> Value {
    let (scope, period) = (budget.scope.to_string(), budget.period.as_str());
    json!({ "scope": scope, "period": period, "capMicros": budget.allows.cap })
}

/// Sets what may be spent; a scope has one budget for each period.
///
/// # Errors
/// If the caller may not, or the limit makes no sense.
#[instrument(level = "debug", name = "app.budgets.set", skip_all, fields(tenant = %call.actor.tenant, %scope))]
pub async fn set(
    app: &App,
    call: &Call,
    scope: BudgetScope,
    (period, change): (Period, AllowanceChange),
) -> Result<Budget> {
    call.may("budget", "update", Reach::Team)?;
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        for user in change.tell.iter().flatten() {
            let found = tx.users().by_id(call_.actor.tenant, *user)?;
            let found = found.filter(|user| user.status != UserStatus::Erased);
            found.ok_or_else(|| {
                Error::invalid_at("tell", "somebody who is to be told is not here")
            })?;
        }
        let budget = put(&app_, tx, scope.clone(), (period, change.clone()), now)?;
        lead_project(&app_, &call_, tx, &budget, Some(change.cap))?;
        let event = call_.event(&app_, "budget:set", &told(&budget), ("budgetId", budget.id));
        call_.tell(&app_, tx, event)?;
        Ok::<_, Error>(budget)
    };
    let budget = app.store.write(call.scope(), work).await?.value;
    app.askers.forget_all();
    Ok(budget)
}

/// Sets what an agent may spend in all; whoever may have agents may limit them.
///
/// # Errors
/// If the caller may not, or the limit makes no sense.
#[instrument(level = "debug", name = "app.budgets.cap_agent", skip_all, fields(tenant = %call.actor.tenant, %agent))]
pub async fn cap_agent(app: &App, call: &Call, agent: AgentId, cap: i64) -> Result<()> {
    call.may("agent", "create", Reach::Own)?;
    cap_total(app, call, BudgetScope::Agent(agent.to_string()), cap).await
}

/// Sets what all agents of a convoy may spend together.
///
/// # Errors
/// If the caller may not, or the limit makes no sense.
#[instrument(level = "debug", name = "app.budgets.cap_convoy", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn cap_convoy(app: &App, call: &Call, convoy: &str, cap: i64) -> Result<()> {
    call.may("agent", "create", Reach::Own)?;
    cap_total(app, call, BudgetScope::Convoy(convoy.to_owned()), cap).await
}

/// Sets what may be spent on a bead from now on, unless less is allowed already; returns the limit that it had.
///
/// # Errors
/// If the caller may not, or the limit makes no sense.
pub fn cap_bead(
    app: &App,
    call: &Call,
    tx: &mut Tx<'_>,
    (bead, more): (&str, i64),
) -> Result<Option<i64>> {
    call.may("agent", "create", Reach::Own)?;
    Allowance::of(more).check()?;
    let (scope, now) = (BudgetScope::Bead(bead.to_owned()), app.clock.now());
    let before = tx.budgets().by_scope(&scope, Period::Total)?;
    let spent = match &before {
        Some(before) => before.spent.saturating_add(before.held),
        None => spent_since(tx, &scope, Period::Total.starts(now), now)?,
    };
    let cap = spent.saturating_add(more);
    let cap = before.as_ref().map_or(cap, |before| cap.min(before.allows.cap));
    let budget = put(app, tx, scope, (Period::Total, AllowanceChange::cap(cap)), now)?;
    let event = call.event(app, "budget:set", &told(&budget), ("budgetId", budget.id));
    call.tell(app, tx, event)?;
    app.askers.forget_all();
    Ok(before.map(|before| before.allows.cap))
}

/// Lets the limit of a bead be what it was before [`cap_bead`].
///
/// # Errors
/// If the caller may not, or the database fails.
pub fn uncap_bead(
    app: &App,
    call: &Call,
    tx: &mut Tx<'_>,
    (bead, before): (&str, Option<i64>),
) -> Result<()> {
    call.may("agent", "create", Reach::Own)?;
    let scope = BudgetScope::Bead(bead.to_owned());
    let Some(found) = tx.budgets().by_scope(&scope, Period::Total)? else { return Ok(()) };
    match before {
        Some(cap) => {
            let allows = AllowanceChange::cap(cap).applied(Some(found.allows.clone()))?;
            tx.budgets().put(&Budget { allows, ..found })?;
        }
        None => drop(tx.budgets().delete_scope(&scope, Period::Total)?),
    }
    app.askers.forget_all();
    Ok(())
}

async fn cap_total(app: &App, call: &Call, scope: BudgetScope, cap: i64) -> Result<()> {
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let wanted = (Period::Total, AllowanceChange::cap(cap));
        let budget = put(&app_, tx, scope.clone(), wanted, now)?;
        let event = call_.event(&app_, "budget:set", &told(&budget), ("budgetId", budget.id));
        call_.tell(&app_, tx, event)
    };
    app.store.write(call.scope(), work).await?;
    app.askers.forget_all();
    Ok(())
}

/// Stores a budget; what was spent before it was made counts.
pub(crate) fn put(
    app: &App,
    tx: &mut Tx<'_>,
    scope: BudgetScope,
    (period, change): (Period, AllowanceChange),
    now: Timestamp,
) -> Result<Budget> {
    let before = tx.budgets().by_scope(&scope, period)?;
    let allows = change.applied(before.as_ref().map(|before| before.allows.clone()))?;
    let budget = match before {
        Some(before) => Budget { allows, ..before },
        None => {
            let starts = period.starts(now);
            let spent = match (&scope, period) {
                // Every agent with a budget gets one, so this must not cost more with each day.
                (BudgetScope::Agent(name), Period::Total) => tx.usage().of_agent(name)?.0,
                _ => spent_since(tx, &scope, starts, now)?,
            };
            let (id, held) = (app.mint.id(), 0);
            Budget { id, scope, period, allows, starts, spent, held, created_at: now }
        }
    };
    tx.budgets().put(&budget)?;
    let mut today = budget.clone();
    today.roll(now);
    // A limit below what is spent is passed from the start.
    let passed = today.spent >= today.allows.cap;
    if let Some(trouble) = Trouble::of_budget(&today, true).filter(|_| passed) {
        let id = app.mint.id::<EventId>().uuid();
        let incident = Incident { id, raised_at: now, answer: None, trouble };
        let tenant = tx.tenant()?;
        tx.incidents().raise(tenant, &incident)?;
    }
    Ok(budget)
}

/// Sums up what a scope has spent since the first day of a period.
fn spent_since(
    tx: &mut Tx<'_>,
    scope: &BudgetScope,
    starts: Timestamp,
    now: Timestamp,
) -> Result<i64> {
    let day = |at: Timestamp| micros(at).div_euclid(MICROS_PER_DAY);
    let mut rows = tx.usage().between(day(starts), day(now))?;
    rows.retain(|(key, _)| SpendKind::of(&key.provider) == SpendKind::Models);
    let mine = rows.into_iter().filter(|(key, _)| match scope {
        BudgetScope::Tenant => true,
        BudgetScope::Project(id) => key.project == id.to_string(),
        BudgetScope::User(id) => key.user == id.to_string(),
        BudgetScope::Agent(name) => key.agent == *name,
        BudgetScope::Bead(id) => key.bead == *id,
        BudgetScope::Convoy(id) => key.convoy == *id,
        // A token is new when it gets its budget.
        BudgetScope::Token(_) => false,
    });
    Ok(mine.map(|(_, sum)| sum.cost_micros).sum())
}

/// Lets the monthly budget of a project be what its limits say.
pub(crate) fn follow_project(
    app: &App,
    tx: &mut Tx<'_>,
    project: &Project,
    now: Timestamp,
) -> Result<()> {
    let scope = BudgetScope::Project(project.id);
    match project.limits.monthly_budget_micros.and_then(|cap| i64::try_from(cap).ok()) {
        Some(cap) => {
            put(app, tx, scope, (Period::Monthly, AllowanceChange::cap(cap)), now)?;
        }
        None => {
            tx.budgets().delete_scope(&scope, Period::Monthly)?;
        }
    }
    Ok(())
}

/// Lets the limits of a project say what its monthly budget is: both are one thing.
fn lead_project(
    app: &App,
    call: &Call,
    tx: &mut Tx<'_>,
    budget: &Budget,
    cap: Option<i64>,
) -> Result<()> {
    let (BudgetScope::Project(id), Period::Monthly) = (&budget.scope, budget.period) else {
        return Ok(());
    };
    let before = tx.projects().by_id(*id)?.ok_or(Error::NoProject(*id))?;
    let monthly_budget_micros = cap.and_then(|cap| u64::try_from(cap).ok());
    if before.limits.monthly_budget_micros == monthly_budget_micros {
        return Ok(());
    }
    let limits = Limits { monthly_budget_micros, ..before.limits.clone() };
    let change = ProjectChange { limits: Some(limits), ..ProjectChange::default() };
    let after = before.changed(change, app.clock.now())?;
    if !tx.projects().update(&after)? {
        return Err(Error::ProjectVersion { id: *id, found: before.version + 1 });
    }
    let event = call.event(app, "project:update", &after, ("projectId", *id));
    call.tell(app, tx, event)
}

/// Lists budgets, and where they stand.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.budgets.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(app: &App, call: &Call) -> Result<Vec<Budget>> {
    call.may("cost", "read", Reach::Team)?;
    let (tenant, now) = (call.actor.tenant, app.clock.now());
    let read = app.store.read(call.scope(), move |tx| tx.budgets().list(tenant)).await;
    let mut budgets = read.map_err(Error::Store)?;
    budgets.iter_mut().for_each(|budget| budget.roll(now));
    // Who works in some projects sees what concerns those, and what concerns all.
    let works_in = |budget: &Budget| match budget.scope {
        BudgetScope::Project(id) => call.actor.works_in(id),
        _ => true,
    };
    budgets.retain(works_in);
    Ok(budgets)
}

/// Removes a budget.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.budgets.delete", skip_all, fields(tenant = %call.actor.tenant, budget = %id))]
pub async fn delete(app: &App, call: &Call, id: BudgetId) -> Result<()> {
    call.may("budget", "delete", Reach::Team)?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let found = tx.budgets().lock(call_.actor.tenant, id)?;
        let budget = found.ok_or(Error::NoBudget(id))?;
        tx.budgets().delete(id)?;
        lead_project(&app_, &call_, tx, &budget, None)?;
        let event = call_.event(&app_, "budget:delete", &told(&budget), ("budgetId", id));
        call_.tell(&app_, tx, event)
    };
    app.store.write(call.scope(), work).await?;
    app.askers.forget_all();
    Ok(())
}
