//! Calls under way, as they are kept until they are in the ledger: many of them in one row.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{NoReceipt, dialect, unreadable};
use crate::{
    BudgetId, CallId, CallStart, Held, PaidBy, ProjectId, Purpose, TenantId, TokenId, UserId,
    from_micros, micros,
};

type Result<T> = std::result::Result<T, NoReceipt>;

/// Where in the text of a call begins what it has in common with others, where that ends, and how a
/// group of calls ends.
const COMMON_FROM: &str = "\"dialect\":";
const COMMON_TO: &str = "\"worst\":";
const GROUP_END: &str = "]}";

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

/// What one call after the other of a server has in common, as JSON.
struct Common<'a> {
    of: &'a CallStart,
    /// From the dialect to the name of the worst case.
    members: String,
    /// The budgets, each from the bracket to the comma before its amount.
    budgets: Vec<String>,
}

impl<'a> Common<'a> {
    fn of(start: &'a CallStart) -> Result<Self> {
        // What is each call's own is left out of the text that the library makes of it.
        let all = serde_json::to_string(&NotedCall::of(start)).map_err(unreadable)?;
        let from = all.find(COMMON_FROM).ok_or_else(|| incomplete(&all))?;
        let to = all[from..].find(COMMON_TO).ok_or_else(|| incomplete(&all))?;
        let members = all[from..from + to + COMMON_TO.len()].to_owned();
        let budgets = start.held.iter().map(|held| format!("[\"{}\",", held.budget)).collect();
        Ok(Self { of: start, members, budgets })
    }

    fn is_of(&self, start: &CallStart) -> bool {
        let budgets = |(one, other): (&Held, &Held)| one.budget == other.budget;
        facts(self.of) == facts(start)
            && self.of.held.len() == start.held.len()
            && self.of.held.iter().zip(&start.held).all(budgets)
    }

    /// Writes a call as the library would.
    fn write(&self, start: &CallStart, text: &mut String) -> Result<()> {
        let mut room = Uuid::encode_buffer();
        let mut id = |name: &str, id: CallId, text: &mut String| {
            text.push_str(name);
            text.push_str(id.uuid().hyphenated().encode_lower(&mut room));
        };
        id("{\"id\":\"", start.id, text);
        if start.request != start.id {
            id("\",\"request\":\"", start.request, text);
        }
        write!(text, "\",\"attempt\":{},\"at\":{},", start.attempt, micros(start.at))
            .map_err(unreadable)?;
        if let Some(session) = &start.session {
            let session = serde_json::to_string(session).map_err(unreadable)?;
            write!(text, "\"session\":{session},").map_err(unreadable)?;
        }
        text.push_str(&self.members);
        match start.worst {
            Some(worst) => write!(text, "{worst}").map_err(unreadable)?,
            None => text.push_str("null"),
        }
        text.push_str(",\"held\":[");
        for (place, (budget, held)) in self.budgets.iter().zip(&start.held).enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(text, "{comma}{budget}{}]", held.amount).map_err(unreadable)?;
        }
        text.push_str("]}");
        Ok(())
    }
}

/// What calls may have in common besides their budgets.
fn facts(call: &CallStart) -> (&str, &str, &str, &str, bool, PaidBy) {
    (call.dialect, &call.asked, &call.provider, &call.model, call.streamed, call.paid_by)
}

/// Writes calls that are under way as one text.
///
/// # Errors
/// Never, as long as the names of its members are those that are looked for.
pub fn write_open<'a>(calls: impl IntoIterator<Item = &'a CallStart>) -> Result<String> {
    let mut all: Vec<(&Arc<Purpose>, String)> = Vec::new();
    let mut common: Option<Common<'_>> = None;
    for start in calls {
        let place = all.iter().position(|(purpose, _)| {
            Arc::ptr_eq(purpose, &start.purpose) || **purpose == start.purpose
        });
        let place = place.unwrap_or(all.len());
        if place == all.len() {
            let empty = serde_json::to_string(&Noted::of(&start.purpose)).map_err(unreadable)?;
            let open = empty.strip_suffix(GROUP_END).ok_or_else(|| incomplete(&empty))?;
            all.push((&start.purpose, open.to_owned()));
        } else {
            all[place].1.push(',');
        }
        let known = match common.take().filter(|known| known.is_of(start)) {
            Some(known) => known,
            None => Common::of(start)?,
        };
        known.write(start, &mut all[place].1)?;
        common = Some(known);
    }
    let groups: Vec<String> = all.into_iter().map(|(_, text)| text + GROUP_END).collect();
    Ok(format!("[{}]", groups.join(",")))
}

/// Reads the text of calls that are under way.
///
/// # Errors
/// If it is no such text.
pub fn read_open(text: &str, tenant: TenantId) -> Result<Vec<CallStart>> {
    let noted: Vec<Noted<'_>> = serde_json::from_str(text).map_err(unreadable)?;
    Ok(noted.into_iter().flat_map(|noted| noted.starts(tenant)).collect())
}

fn incomplete(text: &str) -> NoReceipt {
    unreadable(format!("{text} lacks a member"))
}

#[cfg(test)]
mod tests {
    use crate::Mint;

    use super::*;

    fn purpose(mint: &Mint, agent: Option<&str>) -> Arc<Purpose> {
        Arc::new(Purpose {
            tenant: mint.id(),
            user: mint.id(),
            project: Some(mint.id()),
            agent: agent.map(ToOwned::to_owned),
            bead: Some("gd-\"worst\":".to_owned()),
            convoy: None,
            token: None,
        })
    }

    fn start(mint: &Mint, purpose: &Arc<Purpose>, model: &str) -> CallStart {
        let id = mint.id();
        CallStart {
            id,
            request: id,
            attempt: 1,
            at: from_micros(1_700_000_000_000_001),
            purpose: Arc::clone(purpose),
            dialect: "chat",
            asked: "a \"quoted\" \"dialect\": model".into(),
            provider: "openai".into(),
            model: model.into(),
            streamed: true,
            paid_by: PaidBy::Key,
            session: None,
            worst: Some(7),
            held: vec![
                Held { budget: mint.id(), amount: 5 },
                Held { budget: mint.id(), amount: -1 },
            ],
        }
    }

    /// As the library writes it, each by itself.
    fn plain(calls: &[CallStart]) -> serde_json::Value {
        let mut all: Vec<(&Arc<Purpose>, Noted<'_>)> = Vec::new();
        for start in calls {
            let place = all.iter().position(|(purpose, _)| **purpose == start.purpose);
            let place = place.unwrap_or(all.len());
            if place == all.len() {
                all.push((&start.purpose, Noted::of(&start.purpose)));
            }
            all[place].1.calls.push(NotedCall::of(start));
        }
        let all: Vec<Noted<'_>> = all.into_iter().map(|(_, noted)| noted).collect();
        serde_json::to_value(all).unwrap()
    }

    #[test]
    fn what_calls_have_in_common_is_made_once_and_nothing_is_written_otherwise_for_it() {
        let mint = Mint::system();
        let (one, other) = (purpose(&mint, Some("a \"b\"")), purpose(&mint, None));
        let base = start(&mint, &one, "m");
        let calls = vec![
            base.clone(),
            CallStart { id: mint.id(), ..base.clone() },
            CallStart { session: Some("s \"1\"".to_owned()), worst: None, ..base.clone() },
            CallStart { held: Vec::new(), ..base.clone() },
            CallStart { attempt: 2, id: mint.id(), streamed: false, ..base.clone() },
            start(&mint, &other, "m2"),
            CallStart { dialect: "gemini", paid_by: PaidBy::Login, ..base.clone() },
            CallStart { provider: "other".into(), model: Arc::clone(&base.asked), ..base },
        ];
        let text = write_open(&calls).unwrap();
        let written: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(written, plain(&calls));
        assert_eq!(write_open([]).unwrap(), "[]");
        let tenant = one.tenant;
        let mut read = read_open(&text, tenant).unwrap();
        read.sort_by_key(|call| (call.id, call.attempt));
        assert_eq!(read.len(), calls.len());
    }
}
