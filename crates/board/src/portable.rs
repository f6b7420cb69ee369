//! Settings as one document, to be kept or taken to another server: projects with their limits, and budgets.
//!
//! Nothing secret is in it, and no id: things are known by their names. Agents, beads, convoys and tokens are
//! work and not settings, so their budgets stay out.

use std::collections::{BTreeMap, BTreeSet};

use godel_app::projects::{self, NewProject};
use godel_app::spend::budgets;
use godel_app::{App, Call, users};
use godel_model::{
    Allowance, AllowanceChange, Budget, BudgetScope, Invalid, Limits, Period, Project,
    ProjectChange, ProjectId, ProjectName, Reach, UserId, code,
};
use tracing::instrument;

use crate::Result;

/// How many projects, people or budgets a document can name.
pub const MOST: usize = 1_000;
const PAGE: usize = 200;

/// The settings of a tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Its projects.
    pub projects: Vec<ProjectSettings>,
    /// What may be spent.
    pub budgets: Vec<BudgetSettings>,
}

/// What is set for a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSettings {
    /// Its name, by which it is known.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Its limits.
    pub limits: Limits,
}

/// What may be spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetSettings {
    /// `tenant`, `project:NAME` or `user:NAME`.
    pub scope: String,
    /// daily, monthly or total.
    pub period: String,
    /// The limit, in millionths of a dollar.
    pub cap: i64,
    /// From how many percent on it warns.
    pub warn_percent: u32,
    /// Whether it stops what it limits; as it is unless given.
    pub stops: Option<bool>,
    /// By how many percent it may be passed before; as it is unless given.
    pub grace_percent: Option<u32>,
}

/// One thing that a document changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// project or budget.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// Whether it is not there yet.
    pub is_new: bool,
    /// What is different: the name of a field, and its value before and after.
    pub fields: Vec<(String, Option<String>, Option<String>)>,
}

/// A change, and how it is made.
struct Step {
    change: Change,
    act: Act,
}

enum Act {
    Create(NewProject),
    Update(ProjectId, ProjectChange),
    Budget { scope: String, period: Period, change: AllowanceChange },
}

/// What there is now.
struct Present {
    projects: Vec<Project>,
    users: BTreeMap<UserId, String>,
    budgets: Vec<Budget>,
}

/// Writes the settings of the tenant as a document.
///
/// # Errors
/// If the caller may not, or there is more than a document can hold.
#[instrument(level = "debug", name = "board.portable.export", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn export(app: &App, call: &Call) -> Result<Document> {
    call.may("config", "read", Reach::Team)?;
    let now = present(app, call).await?;
    let scope_of = |budget: &Budget| now.scope_name(&budget.scope);
    let budgets = now.budgets.iter().filter_map(|budget| {
        Some(BudgetSettings {
            scope: scope_of(budget)?,
            period: budget.period.as_str().to_owned(),
            cap: budget.allows.cap,
            warn_percent: budget.allows.warn_percent,
            stops: Some(budget.allows.stops),
            grace_percent: Some(budget.allows.grace_percent),
        })
    });
    let budgets = budgets.collect();
    let projects = now.projects.iter().map(|project| ProjectSettings {
        name: project.name.to_string(),
        description: project.description.clone(),
        limits: project.limits.clone(),
    });
    Ok(Document { projects: projects.collect(), budgets })
}

/// Lets the settings be what a document says, and tells what that changes; nothing is changed if it is only tried.
///
/// What is not in the document stays as it is. All of it is checked before the first change; what is made is
/// made one by one, so the same document can be taken again if something fails on the way.
///
/// # Errors
/// If the caller may not, or something in the document makes no sense.
#[instrument(level = "debug", name = "board.portable.import", skip_all, fields(tenant = %call.actor.tenant, dry_run))]
pub async fn import(
    app: &App,
    call: &Call,
    document: Document,
    dry_run: bool,
) -> Result<Vec<Change>> {
    call.may("config", "update", Reach::Team)?;
    let now = present(app, call).await?;
    let steps = plan(&now, document)?;
    let mut changes = Vec::with_capacity(steps.len());
    for Step { change, act } in steps {
        if !dry_run {
            carry_out(app, call, &now, act).await?;
        }
        changes.push(change);
    }
    Ok(changes)
}

async fn present(app: &App, call: &Call) -> Result<Present> {
    let too_many = || {
        Invalid::new(code::INVALID_FIELD, format!("a document of settings holds at most {MOST}"))
    };
    let (mut all, mut from) = (Vec::new(), None);
    loop {
        let page = projects::list(app, call, false, from, PAGE).await?;
        let full = page.len() == PAGE;
        from = page.last().map(|project| project.id);
        all.extend(page);
        if all.len() > MOST {
            return Err(too_many().into());
        }
        if !full {
            break;
        }
    }
    let (mut people, mut from) = (BTreeMap::new(), None);
    loop {
        let page = users::list(app, call, from, PAGE).await?;
        let full = page.len() == PAGE;
        from = page.last().map(|user| user.id);
        people.extend(page.into_iter().map(|user| (user.id, user.name.to_string())));
        if people.len() > MOST {
            return Err(too_many().into());
        }
        if !full {
            break;
        }
    }
    Ok(Present { projects: all, users: people, budgets: budgets::list(app, call).await? })
}

impl Present {
    /// Writes a scope by name; nothing if it belongs to work, or to somebody who is gone.
    fn scope_name(&self, scope: &BudgetScope) -> Option<String> {
        match scope {
            BudgetScope::Tenant => Some("tenant".to_owned()),
            BudgetScope::Project(id) => {
                let found = self.projects.iter().find(|project| project.id == *id)?;
                Some(format!("project:{}", found.name))
            }
            BudgetScope::User(id) => self.users.get(id).map(|name| format!("user:{name}")),
            BudgetScope::Agent(_)
            | BudgetScope::Bead(_)
            | BudgetScope::Convoy(_)
            | BudgetScope::Token(_) => None,
        }
    }

    fn project(&self, name: &str) -> Option<&Project> {
        self.projects.iter().find(|project| project.name.as_str() == name)
    }
}

fn refuse(why: impl Into<String>, field: &'static str) -> Invalid {
    Invalid::new(code::INVALID_FIELD, why).with_field(field)
}

/// Works out what a document changes, and refuses all of it if a part makes no sense.
fn plan(now: &Present, document: Document) -> Result<Vec<Step>> {
    if document.projects.len() > MOST || document.budgets.len() > MOST {
        let why = format!("a document of settings holds at most {MOST} projects and budgets");
        return Err(refuse(why, "settings").into());
    }
    let (mut steps, mut names) = (Vec::new(), BTreeSet::new());
    for wanted in document.projects {
        if !names.insert(wanted.name.clone()) {
            let why = format!("the project {:?} is there twice", wanted.name);
            return Err(refuse(why, "settings.projects").into());
        }
        steps.extend(plan_project(now, wanted)?);
    }
    let mut scopes = BTreeSet::new();
    for wanted in document.budgets {
        if !scopes.insert((wanted.scope.clone(), wanted.period.clone())) {
            let why = format!("the {} budget of {} is there twice", wanted.period, wanted.scope);
            return Err(refuse(why, "settings.budgets").into());
        }
        let known = match wanted.scope.split_once(':') {
            None => wanted.scope == "tenant",
            Some(("project", name)) => now.project(name).is_some() || names.contains(name),
            Some(("user", name)) => now.users.values().any(|known| known == name),
            Some(_) => false,
        };
        if !known {
            let why = format!("there is nothing here that {:?} could mean", wanted.scope);
            let hint = "write tenant, project:NAME or user:NAME; people are invited first";
            return Err(refuse(why, "settings.budgets").with_hint(hint).into());
        }
        steps.extend(plan_budget(now, wanted)?);
    }
    Ok(steps)
}

fn plan_project(now: &Present, wanted: ProjectSettings) -> Result<Option<Step>> {
    let about = |invalid: Invalid| invalid.with_field("settings.projects");
    let name: ProjectName = wanted.name.parse().map_err(about)?;
    Project::check(&wanted.description, &wanted.limits).map_err(about)?;
    let found = now.project(&wanted.name);
    let before = found.map(|found| facts(&found.description, &found.limits)).unwrap_or_default();
    let fields = differences(&before, &facts(&wanted.description, &wanted.limits));
    if found.is_some() && fields.is_empty() {
        return Ok(None);
    }
    let ProjectSettings { description, limits, .. } = wanted;
    let change =
        Change { kind: "project", name: name.to_string(), is_new: found.is_none(), fields };
    let act = match found {
        None => Act::Create(NewProject { name, description, limits, repository: None }),
        Some(found) => {
            let (description, limits) = (Some(description), Some(limits));
            let change = ProjectChange { description, limits, ..ProjectChange::default() };
            Act::Update(found.id, change)
        }
    };
    Ok(Some(Step { change, act }))
}

fn plan_budget(now: &Present, wanted: BudgetSettings) -> Result<Option<Step>> {
    let about = |invalid: Invalid| invalid.with_field("settings.budgets");
    let BudgetSettings { scope, period, cap, warn_percent, stops, grace_percent } = wanted;
    let period: Period = period.parse().map_err(about)?;
    let found = now.budgets.iter().find(|budget| {
        budget.period == period && now.scope_name(&budget.scope).as_ref() == Some(&scope)
    });
    // Who is told is not in the document: people are others on another server.
    let warn_percent = Some(warn_percent);
    let change = AllowanceChange { cap, warn_percent, stops, grace_percent, tell: None };
    let after = change.clone().applied(found.map(|found| found.allows.clone())).map_err(about)?;
    let told = |allows: &Allowance| {
        let fields = [
            ("capMicros", allows.cap.to_string()),
            ("gracePercent", allows.grace_percent.to_string()),
            ("hardStop", allows.stops.to_string()),
            ("warnPercent", allows.warn_percent.to_string()),
        ];
        fields.map(|(name, value)| (name.to_owned(), value)).into()
    };
    let before = found.map(|found| told(&found.allows)).unwrap_or_default();
    let fields = differences(&before, &told(&after));
    if fields.is_empty() {
        return Ok(None);
    }
    let name = format!("{scope}, {}", period.as_str());
    let told = Change { kind: "budget", name, is_new: found.is_none(), fields };
    Ok(Some(Step { change: told, act: Act::Budget { scope, period, change } }))
}

type Facts = BTreeMap<String, String>;

fn facts(description: &str, limits: &Limits) -> Facts {
    let numbers = [
        ("maxAgents", limits.max_agents.map(u64::from)),
        ("cpuMillis", limits.cpu_millis.map(u64::from)),
        ("memoryBytes", limits.memory_bytes),
        ("requestsPerMinute", limits.requests_per_minute.map(u64::from)),
        ("monthlyBudgetMicros", limits.monthly_budget_micros),
    ];
    let numbers = numbers.into_iter().filter_map(|(name, value)| Some((name, value?.to_string())));
    let texts = [("description", description.to_owned()), ("models", limits.models.join(", "))];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    texts.chain(numbers).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn differences(before: &Facts, after: &Facts) -> Vec<(String, Option<String>, Option<String>)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let pairs = names.into_iter().map(|name| (name, before.get(name), after.get(name)));
    let changed = pairs.filter(|(_, before, after)| before != after);
    changed.map(|(name, before, after)| (name.clone(), before.cloned(), after.cloned())).collect()
}

async fn carry_out(app: &App, call: &Call, now: &Present, act: Act) -> Result<()> {
    match act {
        Act::Create(new) => projects::create(app, call, new).await.map(drop)?,
        Act::Update(id, change) => {
            projects::update(app, call, id, None, change).await.map(drop)?;
        }
        Act::Budget { scope, period, change } => {
            let scope = match scope.split_once(':') {
                Some(("project", name)) => {
                    // It may have been made a moment ago.
                    let found = projects::find(app, call, name.parse()?).await?;
                    let found = found.ok_or_else(|| refuse("a project is gone", "settings"))?;
                    BudgetScope::Project(found.id)
                }
                Some((_, name)) => {
                    let found = now.users.iter().find(|(_, known)| *known == name);
                    let found = found.ok_or_else(|| refuse("somebody is gone", "settings"))?;
                    BudgetScope::User(*found.0)
                }
                None => BudgetScope::Tenant,
            };
            budgets::set(app, call, scope, (period, change)).await.map(drop)?;
        }
    }
    Ok(())
}
