//! Calls that have ended, as they are kept in the ledger: a text for each.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use uuid::Uuid;

use super::{NoReceipt, dialect, unreadable};
use crate::{
    CallEnd, CallId, CallStart, Outcome, PaidBy, ProjectId, Purpose, Saved, TenantId, TokenId,
    Usage, UserId, from_micros, micros,
};

type Result<T> = std::result::Result<T, NoReceipt>;

/// A call as its text has it; what is nothing, or as usual, is left out there.
#[derive(Debug, Deserialize)]
struct Ended<'a> {
    person: UserId,
    project: Option<ProjectId>,
    agent: Option<String>,
    bead: Option<String>,
    convoy: Option<String>,
    token: Option<TokenId>,
    session: Option<String>,
    #[serde(borrow)]
    dialect: Cow<'a, str>,
    asked: Arc<str>,
    provider: Arc<str>,
    /// The provider's name of the model, if it is another one.
    model: Option<Arc<str>>,
    #[serde(default)]
    streamed: u8,
    #[serde(default)]
    paid_by: PaidBy,
    /// The id of the first attempt, if it is another one.
    request: Option<CallId>,
    attempt: Option<u32>,
    at: i64,
    worst: Option<i64>,
    outcome: Cow<'a, str>,
    status: Option<u16>,
    #[serde(default)]
    input: u64,
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write_5m: u64,
    #[serde(default)]
    cache_write_1h: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    server_tools: u64,
    cost: Option<i64>,
    #[serde(default)]
    estimated: u8,
    first_byte: Option<i64>,
    ended_at: Option<i64>,
    error: Option<String>,
    price: Option<Arc<str>>,
    #[serde(default)]
    saved_by_cache: i64,
    #[serde(default)]
    saved_by_routing: i64,
}

/// Reads the text of a call that has ended.
///
/// # Errors
/// If it is no such text.
pub fn read_ended(tenant: TenantId, id: CallId, text: &str) -> Result<(CallStart, CallEnd)> {
    let ended: Ended<'_> = serde_json::from_str(text).map_err(unreadable)?;
    let outcome: Outcome = ended.outcome.parse().map_err(unreadable)?;
    let end = CallEnd {
        at: from_micros(ended.ended_at.unwrap_or(0)),
        outcome,
        status: ended.status,
        usage: Usage {
            input: ended.input,
            cache_read: ended.cache_read,
            cache_write_5m: ended.cache_write_5m,
            cache_write_1h: ended.cache_write_1h,
            output: ended.output,
            reasoning: ended.reasoning,
            server_tools: ended.server_tools,
            ..Usage::default()
        },
        cost: ended.cost,
        price: ended.price,
        saved: Saved {
            saved_by_cache_micros: ended.saved_by_cache,
            saved_by_routing_micros: ended.saved_by_routing,
        },
        estimated: ended.estimated != 0,
        first_byte_micros: ended.first_byte,
        error: ended.error,
    };
    let purpose = Purpose {
        tenant,
        user: ended.person,
        project: ended.project,
        agent: ended.agent,
        bead: ended.bead,
        convoy: ended.convoy,
        token: ended.token,
    };
    let start = CallStart {
        id,
        request: ended.request.unwrap_or(id),
        attempt: ended.attempt.unwrap_or(1),
        at: from_micros(ended.at),
        purpose: Arc::new(purpose),
        dialect: dialect(&ended.dialect),
        provider: ended.provider,
        model: ended.model.unwrap_or_else(|| Arc::clone(&ended.asked)),
        asked: ended.asked,
        streamed: ended.streamed != 0,
        paid_by: ended.paid_by,
        session: ended.session,
        worst: ended.worst,
        held: Vec::new(),
    };
    Ok((start, end))
}

/// Writes the texts of calls; what one has in common with the one before is written once.
#[derive(Debug, Default)]
pub struct EndedWriter<'a> {
    common: Option<(&'a CallStart, String)>,
}

impl<'a> EndedWriter<'a> {
    /// Writes the text of a call in place of what is there.
    ///
    /// # Errors
    /// Never, as long as text can be written as JSON.
    pub fn write(&mut self, start: &'a CallStart, end: &CallEnd, text: &mut String) -> Result<()> {
        let (_, common) = match self.common.take().filter(|(of, _)| is_common(of, start)) {
            Some(known) => self.common.insert(known),
            None => self.common.insert((start, common(start)?)),
        };
        text.clear();
        text.push_str(common);
        let mut line = Line(text);
        if start.request != start.id {
            line.uuid("request", start.request.uuid());
        }
        line.count("attempt", if start.attempt == 1 { 0 } else { start.attempt.into() });
        line.number("at", micros(start.at));
        line.opt("worst", start.worst);
        line.word("outcome", end.outcome.as_str());
        line.opt("status", end.status.map(i64::from));
        let usage = &end.usage;
        for (name, count) in [
            ("input", usage.input),
            ("cache_read", usage.cache_read),
            ("cache_write_5m", usage.cache_write_5m),
            ("cache_write_1h", usage.cache_write_1h),
            ("output", usage.output),
            ("reasoning", usage.reasoning),
            ("server_tools", usage.server_tools),
        ] {
            line.count(name, count);
        }
        line.opt("cost", end.cost);
        line.count("estimated", end.estimated.into());
        line.opt("first_byte", end.first_byte_micros);
        line.number("ended_at", micros(end.at));
        line.text("error", end.error.as_deref())?;
        line.text("price", end.price.as_deref())?;
        for (name, saved) in [
            ("saved_by_cache", end.saved.saved_by_cache_micros),
            ("saved_by_routing", end.saved.saved_by_routing_micros),
        ] {
            line.opt(name, Some(saved).filter(|saved| *saved != 0));
        }
        text.push('}');
        Ok(())
    }
}

/// Tells whether two calls begin with the same text.
fn is_common(one: &CallStart, other: &CallStart) -> bool {
    (Arc::ptr_eq(&one.purpose, &other.purpose) || one.purpose == other.purpose)
        && (one.dialect, one.streamed, one.paid_by)
            == (other.dialect, other.streamed, other.paid_by)
        && (&one.asked, &one.provider, &one.model) == (&other.asked, &other.provider, &other.model)
        && one.session == other.session
}

/// Writes what many calls have in common, without an end.
fn common(start: &CallStart) -> Result<String> {
    let (purpose, mut text) = (&start.purpose, String::from("{"));
    let mut line = Line(&mut text);
    line.uuid("person", purpose.user.uuid());
    if let Some(project) = purpose.project {
        line.uuid("project", project.uuid());
    }
    line.text("agent", purpose.agent.as_deref())?;
    line.text("bead", purpose.bead.as_deref())?;
    line.text("convoy", purpose.convoy.as_deref())?;
    if let Some(token) = purpose.token {
        line.uuid("token", token.uuid());
    }
    line.text("session", start.session.as_deref())?;
    line.word("dialect", start.dialect);
    line.text("asked", Some(&start.asked))?;
    line.text("provider", Some(&start.provider))?;
    line.text("model", Some(&*start.model).filter(|model| *model != &*start.asked))?;
    line.count("streamed", start.streamed.into());
    if start.paid_by != PaidBy::Key {
        line.word("paid_by", start.paid_by.as_str());
    }
    Ok(text)
}

/// An object that is being written, member by member.
struct Line<'t>(&'t mut String);

impl Line<'_> {
    fn name(&mut self, name: &str) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
    }

    fn number(&mut self, name: &str, number: i64) {
        self.name(name);
        let mut room = itoa::Buffer::new();
        self.0.push_str(room.format(number));
    }

    fn opt(&mut self, name: &str, number: Option<i64>) {
        if let Some(number) = number {
            self.number(name, number);
        }
    }

    /// Writes a count, unless it is nothing.
    fn count(&mut self, name: &str, count: u64) {
        if count > 0 {
            self.number(name, i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// Writes a word of ours, which needs no escapes.
    fn word(&mut self, name: &str, word: &str) {
        self.name(name);
        self.0.push('"');
        self.0.push_str(word);
        self.0.push('"');
    }

    fn uuid(&mut self, name: &str, uuid: Uuid) {
        let mut room = Uuid::encode_buffer();
        self.word(name, uuid.hyphenated().encode_lower(&mut room));
    }

    fn text(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        let Some(text) = text else { return Ok(()) };
        self.name(name);
        let escaped = serde_json::to_string(text).map_err(unreadable)?;
        self.0.push_str(&escaped);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Mint;

    use super::*;

    fn start(mint: &Mint) -> CallStart {
        let purpose = Purpose {
            tenant: mint.id(),
            user: mint.id(),
            project: Some(mint.id()),
            agent: Some("a \"b\" {".to_owned()),
            bead: None,
            convoy: Some("\u{1}\\".to_owned()),
            token: Some(mint.id()),
        };
        let id = mint.id();
        CallStart {
            id,
            request: id,
            attempt: 1,
            at: from_micros(1_700_000_000_000_001),
            purpose: Arc::new(purpose),
            dialect: "chat",
            asked: "m".into(),
            provider: "p".into(),
            model: "m".into(),
            streamed: false,
            paid_by: PaidBy::Key,
            session: None,
            worst: Some(7),
            held: Vec::new(),
        }
    }

    fn end() -> CallEnd {
        CallEnd {
            at: from_micros(1_700_000_000_000_009),
            outcome: Outcome::Ok,
            status: Some(200),
            usage: Usage { input: 1, cache_read: 2, output: 3, ..Usage::default() },
            cost: Some(0),
            price: Some("$1/$2".into()),
            saved: Saved { saved_by_cache_micros: -4, ..Saved::default() },
            estimated: false,
            first_byte_micros: Some(5),
            error: None,
        }
    }

    #[test]
    fn what_is_written_is_read_as_it_was_whatever_came_before() {
        let mint = Mint::system();
        let base = start(&mint);
        let other = CallStart { purpose: Arc::clone(&start(&mint).purpose), ..base.clone() };
        let usage = Usage {
            cache_write_5m: 4,
            cache_write_1h: 5,
            reasoning: 6,
            server_tools: u32::MAX.into(),
            ..Usage::default()
        };
        let failed = CallEnd {
            outcome: Outcome::Failed,
            status: None,
            usage,
            cost: None,
            price: None,
            estimated: true,
            first_byte_micros: None,
            error: Some("it \"said\"\nno".to_owned()),
            ..end()
        };
        let calls = [
            (base.clone(), end()),
            (CallStart { id: mint.id(), attempt: 2, worst: None, ..base.clone() }, failed.clone()),
            (other, end()),
            (CallStart { session: Some("s".to_owned()), ..base.clone() }, failed),
            (CallStart { streamed: true, paid_by: PaidBy::Login, ..base.clone() }, end()),
            (CallStart { model: "the \"m\"".into(), dialect: "gemini", ..base.clone() }, end()),
            (base, end()),
        ];
        let (mut writer, mut text) = (EndedWriter::default(), String::new());
        for (start, end) in &calls {
            writer.write(start, end, &mut text).unwrap();
            let found = read_ended(start.purpose.tenant, start.id, &text).unwrap();
            assert_eq!(found, (start.clone(), end.clone()), "{text}");
            let mut alone = String::new();
            EndedWriter::default().write(start, end, &mut alone).unwrap();
            assert_eq!(alone, text, "what many have in common is the same by itself");
        }
    }
}
