//! Calls under way, as they are kept until they are in the ledger: many of them in one row.
//!
//! The row is written before each provider is asked, so it is short: what calls have in common is told
//! once.

use std::borrow::Cow;

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
    // An older server finds this missing rather than empty: it must not forget calls that it cannot
    // read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<NotedCall<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alike: Vec<Alike<'a>>,
}

/// How calls reach their model.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Way<'a> {
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
}

/// First attempts that hold their worst case back in the same budgets.
#[derive(Debug, Serialize, Deserialize)]
struct Alike<'a> {
    #[serde(flatten)]
    way: Way<'a>,
    budgets: Vec<BudgetId>,
    /// When the first one began.
    at: i64,
    /// The id of each, how much later than the first it began, and its worst case.
    calls: Vec<(CallId, i64, Option<i64>)>,
}

/// A call that is like no other.
#[derive(Debug, Serialize, Deserialize)]
struct NotedCall<'a> {
    id: CallId,
    /// The id of the first attempt, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<CallId>,
    attempt: u32,
    at: i64,
    #[serde(flatten)]
    way: Way<'a>,
    worst: Option<i64>,
    held: Vec<(BudgetId, i64)>,
}

impl<'a> Way<'a> {
    fn of(start: &'a CallStart) -> Self {
        let model = Some(start.model.as_str()).filter(|model| *model != start.asked);
        Self {
            session: start.session.as_deref().map(Cow::Borrowed),
            dialect: start.dialect.into(),
            asked: start.asked.as_str().into(),
            provider: start.provider.as_str().into(),
            model: model.map(Cow::Borrowed),
            streamed: start.streamed,
            paid_by: start.paid_by.as_str().into(),
        }
    }

    /// Returns a first attempt that goes this way and holds nothing.
    fn start(&self, id: CallId, at: i64, purpose: Purpose) -> CallStart {
        CallStart {
            id,
            request: id,
            attempt: 1,
            at: from_micros(at),
            purpose,
            dialect: dialect(&self.dialect),
            provider: self.provider.to_string(),
            model: self.model.as_ref().unwrap_or(&self.asked).to_string(),
            asked: self.asked.to_string(),
            streamed: self.streamed,
            paid_by: self.paid_by.parse().unwrap_or_default(),
            session: self.session.as_ref().map(ToString::to_string),
            worst: None,
            held: Vec::new(),
        }
    }
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
            alike: Vec::new(),
        }
    }

    fn add(&mut self, start: &'a CallStart) {
        let way = Way::of(start);
        let at = micros(start.at);
        let usual = start.attempt == 1 && start.request == start.id;
        if !usual || start.held.iter().any(|held| held.amount != usual_hold(start.worst)) {
            return self.calls.push(NotedCall::of(start, way));
        }
        let budgets = || start.held.iter().map(|held| held.budget);
        let same = |alike: &&mut Alike<'_>| {
            alike.way == way && alike.budgets.iter().copied().eq(budgets())
        };
        match self.alike.iter_mut().find(same) {
            Some(alike) => alike.calls.push((start.id, at - alike.at, start.worst)),
            None => {
                let calls = vec![(start.id, 0, start.worst)];
                self.alike.push(Alike { way, budgets: budgets().collect(), at, calls });
            }
        }
    }

    fn starts(self, tenant: TenantId) -> impl Iterator<Item = CallStart> {
        let text = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let purpose = Purpose {
            tenant,
            user: self.user,
            project: self.project,
            agent: text(self.agent),
            bead: text(self.bead),
            convoy: text(self.convoy),
            token: self.token,
        };
        let other = purpose.clone();
        let calls = self.calls.into_iter().map(move |call| call.start(purpose.clone()));
        calls.chain(self.alike.into_iter().flat_map(move |alike| alike.starts(&other)))
    }
}

impl Alike<'_> {
    fn starts(self, purpose: &Purpose) -> Vec<CallStart> {
        let start = |(id, later, worst): (CallId, i64, Option<i64>)| {
            let amount = usual_hold(worst);
            let held = self.budgets.iter().map(|budget| Held { budget: *budget, amount });
            let start = self.way.start(id, self.at.saturating_add(later), purpose.clone());
            CallStart { worst, held: held.collect(), ..start }
        };
        self.calls.into_iter().map(start).collect()
    }
}

impl<'a> NotedCall<'a> {
    fn of(start: &'a CallStart, way: Way<'a>) -> Self {
        Self {
            id: start.id,
            request: Some(start.request).filter(|request| *request != start.id),
            attempt: start.attempt,
            at: micros(start.at),
            way,
            worst: start.worst,
            held: start.held.iter().map(|held| (held.budget, held.amount)).collect(),
        }
    }

    fn start(self, purpose: Purpose) -> CallStart {
        let held = self.held.into_iter().map(|(budget, amount)| Held { budget, amount });
        CallStart {
            request: self.request.unwrap_or(self.id),
            attempt: self.attempt,
            worst: self.worst,
            held: held.collect(),
            ..self.way.start(self.id, self.at, purpose)
        }
    }
}

/// What a call holds back in each of its budgets, unless it took over the hold of an earlier attempt.
fn usual_hold(worst: Option<i64>) -> i64 {
    worst.unwrap_or(0).max(0)
}

/// Writes calls as the text of a row.
pub(super) fn text_of<'a>(calls: impl IntoIterator<Item = &'a CallStart>) -> Result<String> {
    let mut all: Vec<(&Purpose, Noted<'_>)> = Vec::new();
    for start in calls {
        let place = all.iter().position(|(purpose, _)| **purpose == start.purpose);
        let place = place.unwrap_or(all.len());
        if place == all.len() {
            all.push((&start.purpose, Noted::of(&start.purpose)));
        }
        all[place].1.add(start);
    }
    let noted: Vec<Noted<'_>> = all.into_iter().map(|(_, noted)| noted).collect();
    serde_json::to_string(&noted).map_err(unreadable)
}

/// Reads the text of a row, also of one that an older server wrote.
pub(super) fn calls_in(text: &str, tenant: TenantId) -> Result<Vec<CallStart>> {
    let noted: Vec<Noted<'_>> = serde_json::from_str(text).map_err(unreadable)?;
    Ok(noted.into_iter().flat_map(|noted| noted.starts(tenant)).collect())
}

fn unreadable(cause: serde_json::Error) -> Error {
    Error::Unreadable { what: "open calls", cause: cause.into() }
}

#[cfg(test)]
mod tests {
    use godel_model::Mint;
    use jiff::Timestamp;

    use super::*;

    /// As it was written before calls were told together.
    const OLDER: &str = r#"[{"user":"USER","project":null,"agent":"worker-1","bead":null,"convoy":null,
        "token":null,"calls":[{"id":"CALL","attempt":1,"at":1700000000000000,"dialect":"chat",
        "asked":"fast","provider":"openai","model":"gpt-5","streamed":true,"paid_by":"key","worst":40,
        "held":[]}]}]"#;

    fn call(mint: &Mint, purpose: &Purpose) -> CallStart {
        let id: CallId = mint.id();
        CallStart {
            id,
            request: id,
            attempt: 1,
            at: Timestamp::from_second(1_700_000_000).unwrap(),
            purpose: purpose.clone(),
            dialect: "anthropic",
            asked: "claude-sonnet-4-5".to_owned(),
            provider: "anthropic".to_owned(),
            model: "claude-sonnet-4-5".to_owned(),
            streamed: true,
            paid_by: godel_model::PaidBy::default(),
            session: Some("morning".to_owned()),
            worst: Some(1_234),
            held: vec![Held { budget: mint.id(), amount: 1_234 }],
        }
    }

    fn purpose(mint: &Mint) -> Purpose {
        Purpose {
            tenant: mint.id(),
            user: mint.id(),
            project: Some(mint.id()),
            agent: Some("worker-1".to_owned()),
            bead: None,
            convoy: Some("spring".to_owned()),
            token: Some(mint.id()),
        }
    }

    #[test]
    fn calls_come_back_as_they_were() {
        let mint = Mint::system();
        let purpose = purpose(&mint);
        let first = call(&mint, &purpose);
        let id = mint.id();
        let later = first.at + jiff::SignedDuration::from_micros(17);
        let alike = CallStart { id, request: id, at: later, ..first.clone() };
        let second_try = CallStart { id: mint.id(), attempt: 2, ..first.clone() };
        let id = mint.id();
        let mut unusual = CallStart { id, request: id, worst: None, ..first.clone() };
        unusual.held[0].amount = 5;
        let id = mint.id();
        let unpriced = CallStart { id, request: id, worst: None, held: vec![], ..first.clone() };
        let other_model = CallStart { model: "other".to_owned(), ..call(&mint, &purpose) };
        let other = Purpose { agent: None, ..purpose.clone() };
        let elsewhere = call(&mint, &other);
        let mut all = vec![first, alike, second_try, unusual, unpriced, other_model, elsewhere];
        let text = text_of(&all).unwrap();
        let mut read = calls_in(&text, purpose.tenant).unwrap();
        for calls in [&mut all, &mut read] {
            calls.sort_by_key(|call| call.id);
        }
        assert_eq!(read, all);
    }

    #[test]
    fn what_calls_have_in_common_is_told_once() {
        let mint = Mint::system();
        let purpose = purpose(&mint);
        let first = call(&mint, &purpose);
        let many = (0..24).map(|_| {
            let id = mint.id();
            CallStart { id, request: id, ..first.clone() }
        });
        let text = text_of(&many.collect::<Vec<_>>()).unwrap();
        assert_eq!(text.matches("claude-sonnet-4-5").count(), 1);
        assert_eq!(text.matches(&first.held[0].budget.to_string()).count(), 1);
    }

    #[test]
    fn a_row_of_an_older_server_is_read() {
        let mint = Mint::system();
        let (user, id): (UserId, CallId) = (mint.id(), mint.id());
        let text = OLDER.replace("USER", &user.to_string()).replace("CALL", &id.to_string());
        let calls = calls_in(&text, mint.id()).unwrap();
        assert_eq!(calls.len(), 1);
        let told = (calls[0].id, calls[0].request, calls[0].purpose.user, calls[0].worst);
        assert_eq!(told, (id, id, user, Some(40)));
        assert_eq!((calls[0].asked.as_str(), calls[0].model.as_str()), ("fast", "gpt-5"));
    }
}
