//! Tokens by which agents reach models.

use godel_model::{
    AgentToken, Allowance, AllowanceChange, BudgetScope, KeyHash, Period, ProjectId, Purpose,
    Reach, TokenId,
};
use godel_store::{AgentTokenRecord, Tx};
use jiff::Timestamp;
use serde::Serialize;
use tracing::instrument;

use super::budgets;
use super::who::own_project;
use crate::once::{Outcome, once};
use crate::{App, Call, Error, Result};

/// How many tokens of a user can live at the same time.
const LIVE_MAX: i64 = 1_000;
const NAME_MAX_CHARS: usize = 100;
const MODELS_MAX: usize = 50;

/// What a new token is to be.
#[derive(Debug, Clone, Default)]
pub struct NewToken {
    /// What it is for.
    pub name: String,
    /// The project whose work it does.
    pub project: Option<ProjectId>,
    /// The agent that holds it.
    pub agent: Option<String>,
    /// The bead that is worked on.
    pub bead: Option<String>,
    /// The convoy of that bead.
    pub convoy: Option<String>,
    /// Which models may be asked, as patterns with `*`; none means all.
    pub models: Vec<String>,
    /// What may be spent with it in all, in millionths of a dollar.
    pub budget: Option<i64>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    id: TokenId,
    prefix: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

fn told(token: &AgentTokenRecord) -> Told<'_> {
    let agent = token.purpose.agent.as_deref();
    Told { id: token.id, prefix: &token.prefix, agent, expires_at: token.expires_at }
}

fn check(new: &NewToken, now: Timestamp) -> Result<()> {
    let short = |text: &str| {
        !text.is_empty()
            && text.chars().count() <= NAME_MAX_CHARS
            && !text.chars().any(|c| c.is_control() || c.is_whitespace())
    };
    if new.name.is_empty()
        || new.name.chars().count() > NAME_MAX_CHARS
        || new.name.chars().any(char::is_control)
    {
        return Err(Error::invalid_at("name", "a token needs a name of 1 to 100 characters"));
    }
    let names = [&new.agent, &new.bead, &new.convoy];
    if !names.into_iter().flatten().all(|name| short(name)) {
        return Err(Error::invalid(
            "agent, bead and convoy have 1 to 100 characters without blanks",
        ));
    }
    if new.models.len() > MODELS_MAX || !new.models.iter().all(|model| short(model)) {
        return Err(Error::invalid_at(
            "models",
            "a token can name at most 50 models, without blanks",
        ));
    }
    if new.expires_at.is_some_and(|at| at <= now) {
        return Err(Error::invalid_at("expiresAt", "a token must end in the future"));
    }
    if let Some(cap) = new.budget {
        Allowance::of(cap).check().map_err(|invalid| invalid.with_field("budgetMicros"))?;
    }
    Ok(())
}

/// Makes a token. It is shown now and never again, so a repeated request gets none.
///
/// # Errors
/// If the caller may not, or something makes no sense.
#[instrument(level = "debug", name = "app.tokens.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(
    app: &App,
    call: &Call,
    new: NewToken,
) -> Result<(Option<AgentToken>, AgentTokenRecord)> {
    call.may("agent", "create", Reach::Own)?;
    call.whole()?;
    let now = app.clock.now();
    check(&new, now)?;
    if let Some(project) = new.project.filter(|project| !call.actor.works_in(*project)) {
        return Err(Error::NoProject(project));
    }
    let project = match new.project {
        Some(project) => Some(project),
        None => own_project(&call.actor)?,
    };
    let token = AgentToken::new(app.mint);
    let id: TokenId = app.mint.id();
    let purpose = Purpose {
        tenant: call.actor.tenant,
        user: call.actor.user,
        project,
        agent: new.agent,
        bead: new.bead,
        convoy: new.convoy,
        token: Some(id),
    };
    let record = AgentTokenRecord {
        id,
        purpose,
        prefix: token.prefix().to_owned(),
        name: new.name,
        models: new.models,
        created_at: now,
        expires_at: new.expires_at,
        revoked_at: None,
    };
    let draft = Draft { record, hash: token.hash(), budget: new.budget };
    let (app_, call_) = (app.clone(), call.clone());
    let outcome = once(app, call, move |tx| {
        draft.store(&app_, &call_, tx, now)?;
        Ok(draft.record.id)
    });
    let (token, id) = match outcome.await? {
        Outcome::Fresh(written) => (Some(token), written.value),
        Outcome::Known(id) => (None, id),
    };
    app.askers.forget_all();
    let find = move |tx: &mut Tx<'_>| tx.agent_tokens().by_id(id);
    let found = app.store.read(call.scope(), find).await.map_err(Error::Store)?;
    found.map(|record| (token, record)).ok_or(Error::NoToken(id))
}

#[derive(Clone)]
struct Draft {
    record: AgentTokenRecord,
    hash: KeyHash,
    budget: Option<i64>,
}

impl Draft {
    fn store(&self, app: &App, call: &Call, tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
        let Self { record, hash, budget } = self;
        if tx.agent_tokens().live(record.purpose.user, now)? >= LIVE_MAX {
            return Err(Error::invalid("a user can have at most 1,000 tokens that live"));
        }
        if let Some(project) = record.purpose.project
            && tx.projects().by_id(project)?.is_none()
        {
            return Err(Error::NoProject(project));
        }
        tx.agent_tokens().insert(record, hash)?;
        if let Some(cap) = budget {
            let scope = BudgetScope::Token(record.id);
            budgets::put(app, tx, scope, (Period::Total, AllowanceChange::cap(*cap)), now)?;
        }
        let event = call.event(app, "key:agent-create", &told(record), ("tokenId", record.id));
        call.tell(app, tx, event)
    }
}

/// Lists tokens by age, those of others only for admins and operators.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.tokens.list", skip_all, fields(tenant = %call.actor.tenant, limit))]
pub async fn list(
    app: &App,
    call: &Call,
    after: Option<TokenId>,
    limit: usize,
) -> Result<Vec<AgentTokenRecord>> {
    call.may("agent", "create", Reach::Own)?;
    let own = call.may("agent", "create", Reach::Team).is_err().then_some(call.actor.user);
    let work = move |tx: &mut Tx<'_>| {
        let mut found = Vec::new();
        let mut from = after;
        while found.len() < limit {
            let page = tx.agent_tokens().page(from, limit.max(100))?;
            let Some(last) = page.last() else { break };
            from = Some(last.id);
            let mine = |token: &AgentTokenRecord| own.is_none_or(|user| token.purpose.user == user);
            found.extend(page.into_iter().filter(mine));
        }
        found.truncate(limit);
        Ok(found)
    };
    app.store.read(call.scope(), work).await.map_err(Error::Store)
}

/// Revokes a token; from now on it opens nothing.
///
/// # Errors
/// If the caller may not, or there is none that lives.
#[instrument(level = "debug", name = "app.tokens.revoke", skip_all, fields(tenant = %call.actor.tenant, token = %id))]
pub async fn revoke(app: &App, call: &Call, id: TokenId) -> Result<()> {
    call.may("agent", "create", Reach::Own)?;
    let others = call.may("agent", "create", Reach::Team).is_ok();
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let token = tx.agent_tokens().by_id(id)?;
        let own = |token: &AgentTokenRecord| others || token.purpose.user == call_.actor.user;
        let token = token.filter(own).ok_or(Error::NoToken(id))?;
        if !tx.agent_tokens().revoke(id, now)? {
            return Err(Error::NoToken(id));
        }
        let event = call_.event(&app_, "key:agent-revoke", &told(&token), ("tokenId", id));
        call_.tell(&app_, tx, event)
    };
    app.store.write(call.scope(), work).await?;
    app.askers.forget_all();
    Ok(())
}

/// Revokes all tokens of an agent, because it has ended; returns how many lived.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.tokens.revoke_agent", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn revoke_agent(app: &App, call: &Call, agent: String) -> Result<u64> {
    call.may("agent", "create", Reach::Team)?;
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let gone = tx.agent_tokens().revoke_agent(&agent, now)?;
        if gone > 0 {
            let told = serde_json::json!({"agent": agent, "tokens": gone});
            let event = call_.event(&app_, "key:agent-revoke", &told, ("agentId", &agent));
            call_.tell(&app_, tx, event)?;
        }
        Ok::<_, Error>(gone)
    };
    let gone = app.store.write(call.scope(), work).await?.value;
    app.askers.forget_all();
    Ok(gone)
}
