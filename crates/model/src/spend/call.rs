//! One request to a model, before and after.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{BudgetScope, Held, QUARTER_MICROS, Saved, Usage, UsageKey, UsageSum};
use crate::{CallId, Invalid, ProjectId, TenantId, TokenId, UserId, code};

/// On whose behalf and for what a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purpose {
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// The project.
    pub project: Option<ProjectId>,
    /// The agent.
    pub agent: Option<String>,
    /// The bead.
    pub bead: Option<String>,
    /// The convoy.
    pub convoy: Option<String>,
    /// The token of the agent.
    pub token: Option<TokenId>,
}

impl Purpose {
    /// Returns every scope whose budgets count.
    pub fn scopes(&self) -> Vec<BudgetScope> {
        let mut scopes = vec![BudgetScope::Tenant, BudgetScope::User(self.user)];
        scopes.extend(self.project.map(BudgetScope::Project));
        scopes.extend(self.agent.clone().map(BudgetScope::Agent));
        scopes.extend(self.bead.clone().map(BudgetScope::Bead));
        scopes.extend(self.convoy.clone().map(BudgetScope::Convoy));
        scopes.extend(self.token.map(BudgetScope::Token));
        scopes
    }
}

/// By what an answer is paid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaidBy {
    /// By a key of the server, with a price for each token.
    #[default]
    Key,
    /// By a login that the client brought: a subscription, which has a quota and no price.
    Login,
    /// By nobody: it was given before.
    Cache,
}

impl PaidBy {
    const ALL: [Self; 3] = [Self::Key, Self::Login, Self::Cache];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Login => "login",
            Self::Cache => "cache",
        }
    }
}

impl FromStr for PaidBy {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|by| by.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "nothing is paid in this way")
                .with_hint("an answer is paid by key, login or cache")
        })
    }
}

/// What is known of an attempt before the provider is asked. It is handed on several times for each request, so
/// what many requests have in common is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallStart {
    /// The id of the attempt.
    pub id: CallId,
    /// The id of the request: that of its first attempt.
    pub request: CallId,
    /// Counts the attempts of a request from 1.
    pub attempt: u32,
    /// When it began.
    pub at: Timestamp,
    /// On whose behalf and for what.
    pub purpose: Arc<Purpose>,
    /// The dialect of the client.
    pub dialect: &'static str,
    /// The model that the client asked for.
    pub asked: Arc<str>,
    /// The provider.
    pub provider: Arc<str>,
    /// The model, as the provider calls it.
    pub model: Arc<str>,
    /// Whether the reply is streamed.
    pub streamed: bool,
    /// By what it is paid.
    pub paid_by: PaidBy,
    /// By which name the client calls its session.
    pub session: Option<String>,
    /// What the call costs at most; if its end is never known, this is taken as its cost.
    pub worst: Option<i64>,
    /// What is held back for it in which budget.
    pub held: Vec<Held>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It has not yet.
    Open,
    /// With an answer.
    Ok,
    /// The provider refused the request or failed.
    Failed,
    /// The client went away.
    Cancelled,
    /// The server died before it knew.
    Lost,
}

impl Outcome {
    const ALL: [Self; 5] = [Self::Open, Self::Ok, Self::Failed, Self::Cancelled, Self::Lost];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Outcome {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "there is no such outcome")
                .with_hint("outcomes are open, ok, failed, cancelled and lost")
        })
    }
}

/// How an attempt ended and what it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEnd {
    /// When it ended.
    pub at: Timestamp,
    /// How.
    pub outcome: Outcome,
    /// The HTTP status of the provider.
    pub status: Option<u16>,
    /// What it used.
    pub usage: Usage,
    /// What it cost in millionths of a dollar, if that is known.
    pub cost: Option<i64>,
    /// By which price, as the list of models had it then.
    pub price: Option<Arc<str>>,
    /// What it would have cost more without a cache, or with another provider.
    pub saved: Saved,
    /// Whether usage and cost are an estimate, because the provider did not tell.
    pub estimated: bool,
    /// How long the first byte took.
    pub first_byte_micros: Option<i64>,
    /// What went wrong.
    pub error: Option<String>,
}

impl CallStart {
    /// Returns the quarter of an hour in which it began, counted from 1970-01-01 in UTC.
    pub fn quarter(&self) -> i64 {
        crate::micros(self.at).div_euclid(QUARTER_MICROS)
    }

    /// Returns by what the attempt is summed up.
    pub fn key(&self) -> UsageKey {
        let text = |id: Option<String>| id.unwrap_or_default();
        UsageKey {
            quarter: self.quarter(),
            provider: self.provider.to_string(),
            model: self.model.to_string(),
            project: text(self.purpose.project.map(|id| id.to_string())),
            user: self.purpose.user.to_string(),
            agent: text(self.purpose.agent.clone()),
            bead: text(self.purpose.bead.clone()),
            convoy: text(self.purpose.convoy.clone()),
        }
    }
}

impl CallEnd {
    /// Returns what the attempt adds to the sums: what was given before is counted apart.
    pub fn sum(&self, paid_by: PaidBy) -> UsageSum {
        if paid_by == PaidBy::Cache {
            return UsageSum { from_cache: 1, saved: self.saved, ..UsageSum::default() };
        }
        let by_login = paid_by == PaidBy::Login;
        UsageSum {
            requests: 1,
            failed: u64::from(self.outcome == Outcome::Failed),
            unpriced: u64::from(self.cost.is_none() && !by_login),
            by_login: u64::from(by_login),
            from_cache: 0,
            estimated: u64::from(self.estimated),
            usage: self.usage,
            cost_micros: self.cost.unwrap_or(0),
            saved: self.saved,
        }
    }
}
