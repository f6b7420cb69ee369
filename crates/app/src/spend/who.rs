//! Who asks a model.

use std::sync::Arc;

use godel_model::{
    Actor, AgentId, AgentToken, AuditEntry, AuditResult, BudgetId, KeyHash, Need, Project,
    ProjectId, ProjectName, Purpose, Reach, SecretName, Tenant, TenantId, UserId,
};
use godel_proxy::{CaptureConfig, Config, Key, Keys, Seats, Who, provider_of};
use godel_store::{Scope, Tx};
use jiff::Timestamp;

use crate::auth::{self, Credential};
use crate::{App, Error, Result, secrets};

const MANY_PROJECTS: &str = "you work in more than one project: say for which one this is, models are asked with the \
    header x-godel-project";

/// What somebody shows who asks a model.
#[derive(Debug, Clone)]
pub enum Shown {
    /// The token of an agent.
    Agent(AgentToken),
    /// A key or a token of a person, and the project by name or id that it is used for.
    Person(Credential, Option<String>),
}

/// What is known of somebody before the tenant's own rules are looked up.
struct Known {
    purpose: Purpose,
    models: Vec<String>,
    ends: Option<Timestamp>,
    home: bool,
}

/// Finds out who asks, for what, and what is allowed to them.
///
/// # Errors
/// If nobody is known by what is shown, or may not ask models.
pub async fn who(app: &App, shown: &Shown) -> Result<Arc<Who>> {
    let now = app.clock.now();
    let asker = match shown {
        Shown::Agent(token) => (token.hash(), None),
        Shown::Person(credential, project) => (credential.hash(), project.clone()),
    };
    let round = match app.askers.get(&asker, now) {
        Ok(who) => return Ok(who),
        Err(round) => round,
    };
    let known = match shown {
        Shown::Agent(token) => by_token(app, token.hash(), now).await?,
        Shown::Person(credential, project) => {
            by_person(app, credential, project.as_deref()).await?
        }
    };
    let ends = known.ends;
    let who = Arc::new(rules(app, known, now).await?);
    app.askers.put(asker, &who, (round, ends), now);
    Ok(who)
}

async fn by_token(app: &App, hash: KeyHash, now: Timestamp) -> Result<Known> {
    let find = move |tx: &mut Tx<'_>| tx.agent_tokens().by_hash(&hash);
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    let (token, active) = found.ok_or(Error::Unauthorized)?;
    let ended = token.revoked_at.is_some() || token.expires_at.is_some_and(|at| at <= now);
    // Agents that Godel leads are known by their id: theirs ends with them, and they should know why.
    let of_agent =
        token.purpose.agent.as_ref().is_some_and(|agent| agent.parse::<AgentId>().is_ok());
    if token.revoked_at.is_some() && of_agent {
        return Err(Error::AgentEnded);
    }
    if ended || !active {
        return Err(Error::Unauthorized);
    }
    let home = app.home() == Some(token.purpose.tenant);
    Ok(Known { purpose: token.purpose, models: token.models, ends: token.expires_at, home })
}

async fn by_person(app: &App, credential: &Credential, project: Option<&str>) -> Result<Known> {
    let identity = auth::identify(app, credential).await?;
    let actor = &identity.actor;
    let need = Need { resource: "agent", action: "execute", reach: Reach::Own };
    if !actor.may(&need) {
        return Err(Error::Forbidden(need));
    }
    let project = match project {
        Some(text) => Some(project_of(app, actor, text).await?),
        None => own_project(actor)?,
    };
    let purpose = Purpose {
        tenant: actor.tenant,
        user: actor.user,
        project,
        agent: None,
        bead: None,
        convoy: None,
        token: None,
    };
    Ok(Known { purpose, models: Vec::new(), ends: identity.expires_at, home: actor.home })
}

/// Returns the project of somebody who named none: whoever works in one only means that one, and whoever works in
/// some must say which, or the rules and budgets of none of them would count.
pub(super) fn own_project(actor: &Actor) -> Result<Option<ProjectId>> {
    match actor.projects.as_ref() {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        _ => Err(Error::invalid_at("project", MANY_PROJECTS)),
    }
}

async fn project_of(app: &App, actor: &Actor, text: &str) -> Result<ProjectId> {
    let by_id = text.parse::<ProjectId>().ok();
    let by_name = text.parse::<ProjectName>().ok();
    let find = move |tx: &mut Tx<'_>| match (by_id, &by_name) {
        (Some(id), _) => tx.projects().by_id(id),
        (None, Some(name)) => tx.projects().by_name(name),
        (None, None) => Ok(None),
    };
    let found = app.store.read(Scope::Tenant(actor.tenant), find).await.map_err(Error::Store)?;
    let found = found.filter(|project| actor.works_in(project.id));
    found.map(|project| project.id).ok_or_else(|| Error::invalid("there is no such project"))
}

/// Looks up what the tenant and the project say.
async fn rules(app: &App, known: Known, now: Timestamp) -> Result<Who> {
    let Known { purpose, models, home, .. } = known;
    let (tenant, project) = (purpose.tenant, purpose.project);
    let config = app.switchboard.config();
    let captures = config.capture.is_on();
    let find = move |tx: &mut Tx<'_>| {
        let project = project.map(|id| tx.projects().by_id(id)).transpose()?.flatten();
        let named = if captures { tx.tenants().by_id(tenant)? } else { None };
        let budgets = tx.budgets().list(tenant)?;
        let secrets = tx.secrets().list()?;
        let versions = secrets.into_iter().map(|one| (one.name.as_str().to_owned(), one.version));
        Ok((project, named, budgets, versions.collect::<Vec<_>>()))
    };
    let read = app.store.read(Scope::Tenant(tenant), find).await;
    let (project, named, budgets, versions): (Option<Project>, Option<Tenant>, _, _) =
        read.map_err(Error::Store)?;
    if purpose.project.is_some() && project.is_none() {
        return Err(Error::Unauthorized);
    }
    let scopes = purpose.scopes();
    let mut counted: Vec<BudgetId> = budgets
        .into_iter()
        .filter(|budget| scopes.contains(&budget.scope))
        .map(|budget| budget.id)
        .collect();
    counted.sort_unstable();
    let capture = capture(&config, tenant, named.as_ref(), project.as_ref());
    let keys = keys_of(app, (tenant, purpose.user), home, versions, now).await?;
    let limits = project.map(|project| project.limits).unwrap_or_default();
    Ok(Who {
        purpose: Arc::new(purpose),
        models: vec![models, limits.models],
        project_per_minute: limits.requests_per_minute,
        keys,
        budgets: counted.into(),
        capture,
        seats: Seats::default(),
    })
}

/// Tells whether what is asked for a tenant and a project is kept, which the settings name by name or
/// id.
fn capture(
    config: &Config,
    tenant: TenantId,
    named: Option<&Tenant>,
    project: Option<&Project>,
) -> Option<CaptureConfig> {
    let id = tenant.to_string();
    let mut tenants = vec![id.as_str()];
    tenants.extend(named.map(|tenant| tenant.name.as_str()));
    let project_id = project.map(|project| project.id.to_string());
    let mut projects: Vec<&str> = project_id.iter().map(String::as_str).collect();
    projects.extend(project.map(|project| project.name.as_str()));
    config.capture.of(&tenants, &projects)
}

/// Returns the keys of a tenant: its secrets, and at home those of the server's own environment.
pub(super) async fn keys_of(
    app: &App,
    (tenant, user): (TenantId, UserId),
    home: bool,
    versions: Vec<(String, i64)>,
    now: Timestamp,
) -> Result<Arc<Keys>> {
    if let Some(keys) = app.askers.keys(tenant, &versions) {
        return Ok(keys);
    }
    let config = app.switchboard.config();
    let mut keys = Keys::default();
    for (name, _) in &versions {
        let Some(provider) = provider_of(&config, name) else { continue };
        let Ok(secret) = name.parse::<SecretName>() else { continue };
        let act = AuditEntry {
            at: now,
            user: Some(user),
            action: "secret:use".to_owned(),
            resource: format!("secret/{name}"),
            result: AuditResult::Ok,
            trace_id: None,
            detail: "{}".to_owned(),
            personal: None,
        };
        let value = secrets::open(app, tenant, secret, act).await?;
        if let Some(key) = Key::new(&value.0) {
            keys.add(provider, key);
        }
    }
    if home || config.share_keys {
        keys.add_own(&config);
    }
    let keys = Arc::new(keys);
    app.askers.put_keys(tenant, versions, &keys);
    Ok(keys)
}
