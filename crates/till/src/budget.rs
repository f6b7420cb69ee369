//! `godel budget`: what may be spent.

use godel_api::{
    Budget, BudgetList, BudgetTrial, Client, Project, ProjectLimits, ProjectPatch, SetBudget,
    TryBudget,
};
use godel_args::models::{Budget as Asked, SetBudget as Wanted};
use godel_args::units::Allowance;
use godel_console::lookup::{self, NOTHING};
use godel_console::measure::{money, percent};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{BudgetId, Invalid, Report as _, code};
use reqwest::Method;
use serde_json::json;

use crate::names::Names;
use crate::token;

const PATH: &str = "/api/v1/budgets";
const SCOPES: &str = "write tenant, or project:, user:, agent:, bead:, convoy: or token: and a name, as in project:web";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Set(asked) => set(context, asked).await,
        Asked::Try { scope, amount, days } => rehearse(context, &scope, amount, days).await,
        Asked::List => list(context).await,
        Asked::Delete { budget } => delete(context, &budget).await,
    }
}

/// Whose spending is meant, as the server writes it.
struct Scope {
    text: String,
    project: Option<Project>,
}

/// Finds what a scope means: names become ids.
async fn scope(context: &Context, client: &Client, given: &str) -> Result<Scope> {
    let of = |kind: &str, id: &str| Scope { text: format!("{kind}:{id}"), project: None };
    match given.split_once(':') {
        None if given == "tenant" => Ok(Scope { text: given.to_owned(), project: None }),
        Some(("project", name)) => {
            let project = lookup::project(client, name).await?;
            let text = format!("project:{}", project.id);
            Ok(Scope { text, project: Some(project) })
        }
        Some(("user", name)) => Ok(of("user", &lookup::user(client, name).await?.id.to_string())),
        Some(("token", id)) if id.parse::<godel_model::TokenId>().is_ok() => Ok(of("token", id)),
        Some(("token", name)) => {
            Ok(of("token", &token::find(context, client, name).await?.id.to_string()))
        }
        Some(("agent", name)) if !name.is_empty() => agent_scope(client, name).await,
        Some(("bead" | "convoy", name)) if !name.is_empty() => {
            Ok(Scope { text: given.to_owned(), project: None })
        }
        _ => Err(Error::usage(format!("\"{given}\" is no scope of a budget"), SCOPES)),
    }
}

/// Finds the agent that is called so; what no agent of Godel's is called is a name in a token.
async fn agent_scope(client: &Client, name: &str) -> Result<Scope> {
    let id = match lookup::agent(client, name).await {
        Ok(agent) => agent.id.to_string(),
        Err(error) if error.code() == code::AGENT_NOT_FOUND => name.to_owned(),
        Err(error) => return Err(error),
    };
    Ok(Scope { text: format!("agent:{id}"), project: None })
}

async fn set(context: &Context, asked: Wanted) -> Result<Exit> {
    let found = locate::server(context).await?;
    let client = &found.client;
    let given = &asked.scope;
    let Scope { text, project } = scope(context, client, given).await?;
    let Allowance { micros, period } = asked.amount;
    let before = budgets(client).await?;
    let before = before.into_iter().find(|one| one.scope == text && one.period == period);
    if let Some(project) = project.filter(|_| period == "monthly") {
        limit_project(client, &project, u64::try_from(micros).ok()).await?;
    }
    let mut tell = asked.tell_all.then(Vec::new);
    for name in &asked.tell {
        tell.get_or_insert_default().push(lookup::user(client, name).await?.id);
    }
    let hard_stop = match (asked.alert_only, asked.hard_stop || asked.grace.is_some()) {
        (true, _) => Some(false),
        (false, true) => Some(true),
        (false, false) => None,
    };
    let new = SetBudget {
        scope: text,
        period: period.to_owned(),
        cap_micros: micros,
        warn_percent: asked.warn,
        hard_stop,
        grace_percent: asked.grace,
        tell,
    };
    let budget: Budget = client.call(Method::PUT, PATH, Some(&new)).await?;
    if context.output.is_json() {
        context.output.value(&budget)?;
        return Ok(Exit::Done);
    }
    let was = before.filter(|before| before.cap_micros != micros);
    let was = was.map_or_else(String::new, |was| format!(", it was {}", cap(&was)));
    context.output.line(format_args!(
        "{given} may spend {}{was}; {} spent so far, a warning comes at {}%{}",
        cap(&budget),
        money(budget.spent_micros),
        budget.warn_percent,
        beyond(&budget)
    ))?;
    Ok(Exit::Done)
}

/// Says what happens when a budget is used up, if that is not the usual, and who hears of it.
fn beyond(budget: &Budget) -> String {
    let then = match (budget.hard_stop, budget.grace_percent) {
        (false, _) => "; nothing is refused when it is used up".to_owned(),
        (true, 0) => String::new(),
        (true, grace) => format!("; requests are refused {grace}% beyond it"),
    };
    match budget.tell.len() {
        0 => then,
        1 => format!("{then}; 1 person is told"),
        told => format!("{then}; {told} people are told"),
    }
}

/// Tells what a budget would have stopped.
async fn rehearse(context: &Context, given: &str, amount: Allowance, days: u32) -> Result<Exit> {
    let found = locate::server(context).await?;
    let Scope { text, .. } = scope(context, &found.client, given).await?;
    let Allowance { micros, period } = amount;
    let (period, past_days) = (period.to_owned(), Some(days));
    let asked = TryBudget { scope: text, period, cap_micros: micros, past_days };
    let path = format!("{PATH}/trial");
    let told: BudgetTrial = found.client.call(Method::POST, &path, Some(&asked)).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&told)?;
        return Ok(Exit::Done);
    }
    let (spent, requests) = (money(told.spent_micros), told.requests);
    output.line(format_args!("{given} spent {spent} within {days} days (requests: {requests})"))?;
    if told.stops.is_empty() {
        output.line("this limit would have stopped nothing")?;
    }
    for stop in &told.stops {
        let (agents, requests) = (stop.agent_count, stop.requests);
        let cost = money(stop.cost_micros);
        output.line(format_args!(
            "{:.0}  reached; agents stopped: {agents}, requests refused: {requests} ({cost})",
            stop.at
        ))?;
    }
    if !told.is_whole {
        output.note("there are more requests than were looked at: the oldest are left out");
    }
    Ok(Exit::Done)
}

/// Lets the limits of a project say the same as its monthly budget, which follows them.
async fn limit_project(client: &Client, project: &Project, cap: Option<u64>) -> Result<()> {
    if project.limits.monthly_budget_micros == cap {
        return Ok(());
    }
    let limits = ProjectLimits { monthly_budget_micros: cap, ..project.limits.clone() };
    let patch = ProjectPatch { limits: Some(limits), ..ProjectPatch::default() };
    let path = format!("/api/v1/projects/{}", project.id);
    client.change::<Project>(&path, project.version, &patch).await?;
    Ok(())
}

async fn budgets(client: &Client) -> Result<Vec<Budget>> {
    let list: BudgetList = client.call(Method::GET, PATH, NOTHING).await?;
    Ok(list.items)
}

/// Writes a limit as a person would type it.
fn cap(budget: &Budget) -> String {
    let often = match budget.period.as_str() {
        "daily" => "/day",
        "monthly" => "/month",
        _ => "",
    };
    format!("{}{often}", money(budget.cap_micros))
}

/// Says whether there is anything left.
fn state(budget: &Budget) -> &'static str {
    let (spent, cap) = (i128::from(budget.spent_micros), i128::from(budget.cap_micros));
    match () {
        () if spent >= cap && !budget.hard_stop => "passed",
        () if spent >= cap => "used up",
        () if spent * 100 >= cap * i128::from(budget.warn_percent) => "warned",
        () => "ok",
    }
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let items = budgets(&found.client).await?;
    if context.output.is_json() {
        context.output.value(&BudgetList { items })?;
        return Ok(Exit::Done);
    }
    if items.is_empty() {
        context.output.remark("there are no budgets: `godel budget set tenant 200/month` sets one");
    }
    let names = names(context, &found.client, &items).await?;
    let rows = items.iter().map(|one| {
        let left = one.cap_micros - one.spent_micros - one.held_micros;
        let anew = one.ends_at.map_or("never".to_owned(), |at| format!("{at:.0}")[..10].to_owned());
        vec![
            shown(&one.scope, &names),
            state(one).to_owned(),
            cap(one),
            money(one.spent_micros),
            money(one.held_micros),
            money(left),
            percent(one.spent_micros, one.cap_micros),
            format!("{}%", one.warn_percent),
            anew,
            one.id.to_string(),
        ]
    });
    let header =
        ["SCOPE", "STATE", "LIMIT", "SPENT", "HELD", "LEFT", "USED", "WARNS", "ANEW", "ID"];
    context.output.numbers(header.map(ToOwned::to_owned).to_vec(), rows.collect(), 2..8)?;
    Ok(Exit::Done)
}

async fn names(context: &Context, client: &Client, budgets: &[Budget]) -> Result<Names> {
    let any = |kind: &str| budgets.iter().any(|one| one.scope.starts_with(kind));
    let mut names = Names::load(context, client, any("project:"), any("user:")).await?;
    if any("token:") {
        for token in token::live(context, client).await? {
            names.learn(token.id.to_string(), token.name);
        }
    }
    Ok(names)
}

/// Writes a scope with a name where there is one.
fn shown(scope: &str, names: &Names) -> String {
    match scope.split_once(':') {
        Some((kind @ ("project" | "user" | "token"), id)) => format!("{kind}:{}", names.of(id)),
        _ => scope.to_owned(),
    }
}

async fn delete(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let client = &found.client;
    let budget = find(context, client, given).await?;
    let id = budget.id;
    match budget.scope.strip_prefix("project:").filter(|_| budget.period == "monthly") {
        // Else the next change of the project would bring it back.
        Some(project) => {
            let project = lookup::project(client, project).await?;
            limit_project(client, &project, None).await?;
            if budgets(client).await?.iter().any(|one| one.id == id) {
                client.act(Method::DELETE, &format!("{PATH}/{id}"), NOTHING).await?;
            }
        }
        None => client.act(Method::DELETE, &format!("{PATH}/{id}"), NOTHING).await?,
    }
    if context.output.is_json() {
        context.output.value(&json!({ "deleted": id }))?;
    } else {
        let names = names(context, client, std::slice::from_ref(&budget)).await?;
        let scope = shown(&budget.scope, &names);
        context
            .output
            .line(format_args!("the budget of {} for {scope} is deleted", cap(&budget)))?;
    }
    Ok(Exit::Done)
}

/// Finds a budget by its id or its scope.
async fn find(context: &Context, client: &Client, given: &str) -> Result<Budget> {
    let all = budgets(client).await?;
    let is_id = given.parse::<BudgetId>().is_ok();
    let wanted = if is_id { String::new() } else { scope(context, client, given).await?.text };
    let mut meant: Vec<Budget> = all
        .into_iter()
        .filter(|one| if is_id { one.id.to_string() == given } else { one.scope == wanted })
        .collect();
    if meant.len() > 1 {
        let lines: Vec<String> =
            meant.iter().map(|one| format!("{}  {}", one.id, cap(one))).collect();
        return Err(Error::usage(
            format!("{given} has {} budgets", meant.len()),
            format!("name one of them by its id:\n{}", lines.join("\n")),
        ));
    }
    meant.pop().ok_or_else(|| {
        let message = match is_id {
            true => format!("there is no budget {given}"),
            false => format!("there is no budget for {given}"),
        };
        Invalid::new(code::BUDGET_NOT_FOUND, message)
            .with_hint("`godel budget list` shows all budgets")
            .into()
    })
}
