//! Calls under way, as they are kept until they are in the ledger: many of them in one row.

use std::borrow::Cow;
use std::sync::Arc;

use godel_model::{
    BudgetId, CallId, CallStart, Held, ProjectId, Purpose, TenantId, TokenId, UserId, from_micros,
    micros,
};
use serde::{Deserialize, Serialize};

use super::dialect;
use crate::{Error, Result};

/// Calls of one purpose in a row of many; the row knows the tenant.
#[derive(Debug, Serialize, Deserialize)]
struct Noted<'a> {
    user: UserId,
    project: Option<ProjectId>,
    agent: Option<Cow<'a, str>>,
    bead: Option<Cow<'a, str>>,
    convoy: Option<Cow<'a, str>>,
    token: Option<TokenId>,
    calls: Vec<NotedCall<'a>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct NotedCall<'a> {
    id: CallId,
    /// The id of the first attempt, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<CallId>,
    attempt: u32,
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<Cow<'a, str>>,
    dialect: Cow<'a, str>,
    asked: Cow<'a, str>,
    provider: Cow<'a, str>,
    /// The provider's name of the model, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Cow<'a, str>>,
    streamed: bool,
    #[serde(default)]
    paid_by: Cow<'a, str>,
    worst: Option<i64>,
    held: Vec<(BudgetId, i64)>,
}

impl<'a> Noted<'a> {
    fn of(purpose: &'a Purpose) -> Self {
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            user: purpose.user,
            project: purpose.project,
            agent: text(&purpose.agent),
            bead: text(&purpose.bead),
            convoy: text(&purpose.convoy),
            token: purpose.token,
            calls: Vec::new(),
        }
    }

    fn starts(self, tenant: TenantId) -> impl Iterator<Item = CallStart> {
        let text = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let purpose = Arc::new(Purpose {
            tenant,
            user: self.user,
            project: self.project,
            agent: text(self.agent),
            bead: text(self.bead),
            convoy: text(self.convoy),
            token: self.token,
        });
        self.calls.into_iter().map(move |call| call.start(Arc::clone(&purpose)))
    }
}

impl<'a> NotedCall<'a> {
    fn of(start: &'a CallStart) -> Self {
        let model = Some(&*start.model).filter(|model| *model != &*start.asked);
        Self {
            id: start.id,
            request: Some(start.request).filter(|request| *request != start.id),
            attempt: start.attempt,
            at: micros(start.at),
            session: start.session.as_deref().map(Cow::Borrowed),
            dialect: start.dialect.into(),
            asked: (&*start.asked).into(),
            provider: (&*start.provider).into(),
            model: model.map(Cow::Borrowed),
            streamed: start.streamed,
            paid_by: start.paid_by.as_str().into(),
            worst: start.worst,
            held: start.held.iter().map(|held| (held.budget, held.amount)).collect(),
        }
    }

    fn start(self, purpose: Arc<Purpose>) -> CallStart {
        let asked: Arc<str> = self.asked.into();
        let held = self.held.into_iter();
        CallStart {
            id: self.id,
            request: self.request.unwrap_or(self.id),
            attempt: self.attempt,
            at: from_micros(self.at),
            purpose,
            dialect: dialect(&self.dialect),
            provider: self.provider.into(),
            model: self.model.map_or_else(|| Arc::clone(&asked), Into::into),
            asked,
            streamed: self.streamed,
            paid_by: self.paid_by.parse().unwrap_or_default(),
            session: self.session.map(Cow::into_owned),
            worst: self.worst,
            held: held.map(|(budget, amount)| Held { budget, amount }).collect(),
        }
    }
}

/// Writes calls as the text of a row.
pub(super) fn text_of<'a>(calls: impl IntoIterator<Item = &'a CallStart>) -> Result<String> {
    let mut all: Vec<(&Arc<Purpose>, Noted<'_>)> = Vec::new();
    for start in calls {
        let place = all.iter().position(|(purpose, _)| **purpose == start.purpose);
        let place = place.unwrap_or(all.len());
        if place == all.len() {
            all.push((&start.purpose, Noted::of(&start.purpose)));
        }
        all[place].1.calls.push(NotedCall::of(start));
    }
    let noted: Vec<Noted<'_>> = all.into_iter().map(|(_, noted)| noted).collect();
    serde_json::to_string(&noted).map_err(unreadable)
}

/// Reads the text of a row.
pub(super) fn calls_in(text: &str, tenant: TenantId) -> Result<Vec<CallStart>> {
    let noted: Vec<Noted<'_>> = serde_json::from_str(text).map_err(unreadable)?;
    Ok(noted.into_iter().flat_map(|noted| noted.starts(tenant)).collect())
}

fn unreadable(cause: serde_json::Error) -> Error {
    Error::Unreadable { what: "open calls", cause: cause.into() }
}
