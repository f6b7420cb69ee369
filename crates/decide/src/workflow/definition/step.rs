//! One step of a text.

use std::collections::BTreeSet;
use std::str::FromStr;

use godel_model::{Capability, Lane, PoolName, RetryPolicy};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::expr::{Syntax, check_condition, is_template};
use super::super::limits::{ATTEMPTS_MAX, STEP_ID_MAX_CHARS};
use super::super::problem::{Findings, Mistake, Position};
use super::super::source::{Node, NodeKind};
use super::errand;
use super::fields::{Fields, duration, text, wrong};
use super::read::{self, Defaults, Mention, note, note_templates};
use super::{
    ApprovalStep, IfSkipped, OnError, Step, StepKind, TaskStep, TimerStep, WorkflowRef,
    WorkflowStep,
};

/// What an id can be.
pub(super) const ID_HINT: &str = "it begins with a letter or digit, then letters, digits and _ - .";

/// Where the parts of a step stood, and what they name.
#[derive(Debug)]
pub(super) struct Noted {
    pub(super) id_at: Position,
    pub(super) depends_at: Vec<Position>,
    pub(super) mentions: Vec<Mention>,
}

/// Tells whether a text can be an id.
pub(super) fn is_id(text: &str) -> bool {
    text.chars().count() <= STEP_ID_MAX_CHARS
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Reads a step.
pub(super) fn read(node: &Node, defaults: &Defaults, out: &mut Findings) -> Option<(Step, Noted)> {
    let mut fields = Fields::open(node, "a step", out)?;
    let mut noted = Noted { id_at: fields.at(), depends_at: Vec::new(), mentions: Vec::new() };
    let id = read_id(&mut fields, &mut noted, out);
    let name = fields.name("name", out);
    let mut depends_on: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for (other, at) in fields.texts("dependsOn", out) {
        if seen.insert(other.clone()) {
            depends_on.push(other);
            noted.depends_at.push(at);
        }
    }
    let when = read_when(&mut fields, &mut noted, out);
    let choices = [("run", IfSkipped::Run), ("skip", IfSkipped::Skip)];
    let if_skipped = fields.choice("ifSkipped", &choices, out).unwrap_or_default();
    let own_error = on_error(&mut fields, out);
    let mut timeout = fields.duration("timeout", out);
    let kind = match kind_of(&mut fields, out) {
        "approval" => approval(&mut fields, &mut timeout, &mut noted, out),
        "timer" => timer(&mut fields, &mut noted, out),
        "workflow" => workflow(&mut fields, defaults, &id, &mut noted, out),
        _ if errand::is_one(&fields) => {
            Some(errand::read(&mut fields, defaults, &mut timeout, &mut noted, out))
        }
        _ => Some(task(&mut fields, defaults, own_error, &mut noted, out)),
    };
    if own_error == Some(OnError::Retry) && !matches!(kind, Some(StepKind::Task(_)) | None) {
        out.add(Mistake::InvalidValue, fields.at(), "only a task can be tried again by itself");
    }
    fields.finish(out);
    let on_error = own_error.unwrap_or(defaults.on_error);
    // What is wrong was noted; a step that stays keeps others from seeming wrong too.
    let kind = kind.unwrap_or_else(|| StepKind::Task(TaskStep::default()));
    Some((Step { id, name, kind, depends_on, when, if_skipped, on_error, timeout }, noted))
}

fn read_id(fields: &mut Fields<'_>, noted: &mut Noted, out: &mut Findings) -> String {
    let Some(entry) = fields.take("id") else {
        out.add(Mistake::MissingField, fields.at(), "the step has no `id`");
        return String::new();
    };
    noted.id_at = entry.value.at;
    let id = text(&entry.value, "id", out).unwrap_or_default();
    if !is_id(&id) {
        let message = format!("`{id}` cannot be the id of a step");
        out.add_with_hint(Mistake::InvalidName, entry.value.at, message, ID_HINT);
    }
    id
}

fn read_when(fields: &mut Fields<'_>, noted: &mut Noted, out: &mut Findings) -> Option<String> {
    let entry = fields.take("when")?;
    let condition = text(&entry.value, "when", out)?;
    let at = entry.value.at;
    match check_condition(&condition) {
        Ok(()) => note(&condition, Syntax::Condition, at, &mut noted.mentions, out),
        Err(why) => {
            out.add(Mistake::InvalidCondition, at, format!("this condition cannot be used: {why}"));
        }
    }
    Some(condition)
}

/// What a step does, by its fields; a `kind` that is named must agree.
fn kind_of(fields: &mut Fields<'_>, out: &mut Findings) -> &'static str {
    let kinds = ["approval", "timer", "workflow"];
    let there: Vec<&str> = kinds.into_iter().filter(|kind| fields.has(kind)).collect();
    if there.len() > 1 {
        let message = format!("a step is one thing, not {}", there.join(" and "));
        out.add(Mistake::InvalidValue, fields.at(), message);
    }
    let found = kinds.into_iter().find(|kind| fields.has(kind)).unwrap_or("task");
    let choices = ["task", "workflow", "approval", "timer"].map(|kind| (kind, kind));
    if let Some(named) = fields.choice("kind", &choices, out)
        && named != found
    {
        let message = format!("the step says it is `{named}`, but its fields say `{found}`");
        out.add(Mistake::InvalidValue, fields.at(), message);
    }
    found
}

/// Reads what follows from a failure.
pub(super) fn on_error(fields: &mut Fields<'_>, out: &mut Findings) -> Option<OnError> {
    let choices =
        [("fail", OnError::Fail), ("continue", OnError::Continue), ("retry", OnError::Retry)];
    fields.choice("onError", &choices, out)
}

/// Reads a word that has a type of its own.
pub(super) fn word<T>(fields: &mut Fields<'_>, name: &'static str, out: &mut Findings) -> Option<T>
where
    T: FromStr<Err = godel_model::Invalid>,
{
    let entry = fields.take(name)?;
    let written = text(&entry.value, name, out)?;
    parse(&written, name, entry.value.at, out)
}

fn parse<T: FromStr<Err = godel_model::Invalid>>(
    written: &str,
    name: &str,
    at: Position,
    out: &mut Findings,
) -> Option<T> {
    written
        .parse()
        .map_err(|why: godel_model::Invalid| {
            out.add(Mistake::InvalidValue, at, format!("`{name}`: {why}, not `{written}`"));
        })
        .ok()
}

/// Reads how often something is tried: a number of retries, or a mapping.
pub(super) fn retry(
    fields: &mut Fields<'_>,
    name: &'static str,
    out: &mut Findings,
) -> Option<RetryPolicy> {
    let entry = fields.take(name)?;
    let mut policy = RetryPolicy::default();
    if let NodeKind::Plain(_) = &entry.value.kind {
        let retries = entry.value.to_json().as_u64().filter(|n| *n < u64::from(ATTEMPTS_MAX));
        let Some(retries) = retries.and_then(|n| u32::try_from(n).ok()) else {
            let wanted = format!("a number below {ATTEMPTS_MAX}, or a mapping");
            return wrong(&entry.value, name, &wanted, out);
        };
        policy.max_attempts = retries + 1;
        return Some(policy);
    }
    let mut fields = Fields::open(&entry.value, "a retry policy", out)?;
    if let Some(attempts) = fields.number("maxAttempts", 1..=ATTEMPTS_MAX, out) {
        policy.max_attempts = attempts;
    }
    policy.elsewhere = fields.flag("elsewhere", out).unwrap_or(false);
    if let Some(entry) = fields.take("backoff") {
        backoff(&entry.value, &mut policy, out);
    }
    fields.finish(out);
    if let Err(why) = policy.check() {
        out.add(Mistake::InvalidValue, entry.value.at, format!("`{name}`: {why}"));
    }
    Some(policy)
}

fn backoff(node: &Node, policy: &mut RetryPolicy, out: &mut Findings) {
    let Some(mut fields) = Fields::open(node, "a backoff", out) else { return };
    let millis = |pause: std::time::Duration| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
    let fixed = fields.choice("type", &[("exponential", false), ("fixed", true)], out);
    if let Some(pause) = fields.duration("initial", out) {
        policy.delay_ms = millis(pause);
        policy.max_delay_ms = policy.max_delay_ms.max(policy.delay_ms);
    }
    if let Some(pause) = fields.duration("max", out) {
        policy.max_delay_ms = millis(pause);
    }
    if let Some(entry) = fields.take("multiplier")
        && entry.value.to_json().as_f64() != Some(2.0)
    {
        wrong::<()>(&entry.value, "multiplier", "2, since a pause doubles each time", out);
    }
    if fixed == Some(true) {
        policy.max_delay_ms = policy.delay_ms;
    }
    fields.finish(out);
}

fn task(
    fields: &mut Fields<'_>,
    defaults: &Defaults,
    own_error: Option<OnError>,
    noted: &mut Noted,
    out: &mut Findings,
) -> StepKind {
    let pool: Option<PoolName> = word(fields, "pool", out);
    let priority = word(fields, "priority", out).unwrap_or(defaults.priority);
    let mut requires = capabilities(fields, "requires", out);
    let agent = fields.text("agent", out);
    if let Some(Err(why)) = agent.as_deref().map(Capability::of_agent) {
        out.add(Mistake::InvalidValue, fields.at(), why.to_string());
    }
    if let Some(entry) = fields.take("agentSelector")
        && let Some(mut selector) = Fields::open(&entry.value, "an agent selector", out)
    {
        requires.extend(capabilities(&mut selector, "capabilities", out));
        selector.finish(out);
    }
    let pool = pool.unwrap_or_else(|| defaults.pool.clone());
    if let Err(why) = Lane::new(&pool, &requires) {
        out.add(Mistake::InvalidValue, fields.at(), why.to_string());
    }
    if let Some(entry) = fields.take("session") {
        note_templates(&entry.value, &mut noted.mentions, out);
    }
    let session = fields.text("session", out);
    let mut payload = mapping(fields, noted, out);
    for name in ["task", "run"] {
        let Some(entry) = fields.take(name) else { continue };
        note_templates(&entry.value, &mut noted.mentions, out);
        if payload.insert(name.to_owned(), entry.value.to_json()).is_some() {
            let message = format!("`{name}` is there twice: in the step and under `with`");
            out.add(Mistake::DuplicateField, entry.at, message);
        }
    }
    let usual = match own_error.unwrap_or(defaults.on_error) {
        OnError::Retry => RetryPolicy::default(),
        OnError::Fail | OnError::Continue => {
            RetryPolicy { max_attempts: 1, ..RetryPolicy::default() }
        }
    };
    let retry = retry(fields, "retries", out).or(defaults.retry).unwrap_or(usual);
    StepKind::Task(TaskStep { pool, priority, requires, agent, session, payload, retry })
}

fn capabilities(
    fields: &mut Fields<'_>,
    name: &'static str,
    out: &mut Findings,
) -> BTreeSet<Capability> {
    let written = fields.texts(name, out);
    written.into_iter().filter_map(|(one, at)| parse(&one, name, at, out)).collect()
}

/// Reads what is under `with`.
pub(super) fn mapping(
    fields: &mut Fields<'_>,
    noted: &mut Noted,
    out: &mut Findings,
) -> Map<String, Value> {
    let Some(entry) = fields.take("with") else { return Map::new() };
    note_templates(&entry.value, &mut noted.mentions, out);
    match entry.value.to_json() {
        Value::Object(entries) => entries,
        _ => wrong(&entry.value, "with", "a mapping", out).unwrap_or_default(),
    }
}

fn workflow(
    fields: &mut Fields<'_>,
    defaults: &Defaults,
    id: &str,
    noted: &mut Noted,
    out: &mut Findings,
) -> Option<StepKind> {
    let entry = fields.take("workflow")?;
    let inputs = mapping(fields, noted, out);
    let workflow = if let NodeKind::Map(_) = &entry.value.kind {
        let inner = Defaults { depth: defaults.depth + 1, ..defaults.clone() };
        let definition = read::definition(&entry.value, &inner, Some(id), out)?;
        WorkflowRef::Inline(Box::new(definition))
    } else {
        let name = fields.name("workflow", out)?;
        if defaults.within.as_ref() == Some(&name) {
            let message = format!("`{id}` runs the workflow that it is in");
            out.add(Mistake::Recursion, entry.value.at, message);
        }
        WorkflowRef::Named(name)
    };
    Some(StepKind::Workflow(WorkflowStep { workflow, inputs }))
}

fn approval(
    fields: &mut Fields<'_>,
    timeout: &mut Option<std::time::Duration>,
    noted: &mut Noted,
    out: &mut Findings,
) -> Option<StepKind> {
    let entry = fields.take("approval")?;
    let mut inner = Fields::open(&entry.value, "an approval", out)?;
    let by = inner.texts("by", out).into_iter().map(|(one, _)| one).collect();
    if let Some(message) = inner.take("message") {
        note_templates(&message.value, &mut noted.mentions, out);
    }
    let message = inner.text("message", out);
    *timeout = inner.duration("timeout", out).or(*timeout);
    inner.finish(out);
    Some(StepKind::Approval(ApprovalStep { by, message }))
}

fn timer(fields: &mut Fields<'_>, noted: &mut Noted, out: &mut Findings) -> Option<StepKind> {
    let entry = fields.take("timer")?;
    if !matches!(entry.value.kind, NodeKind::Map(_)) {
        return duration(&entry.value, "timer", out).map(TimerStep::For).map(StepKind::Timer);
    }
    let mut inner = Fields::open(&entry.value, "a timer", out)?;
    let span = inner.duration("for", out);
    let until = inner.take("until");
    if let Some(until) = until {
        note_templates(&until.value, &mut noted.mentions, out);
    }
    let until_text = inner.text("until", out);
    if let (Some(until), Some(written)) = (until, &until_text)
        && !is_template(written)
        && written.parse::<Timestamp>().is_err()
    {
        let message = format!("`until` is not a time: `{written}`");
        let hint = "write it as 2030-01-31T12:00:00Z";
        out.add_with_hint(Mistake::InvalidDuration, until.value.at, message, hint);
    }
    let both = inner.has("for") == inner.has("until");
    inner.finish(out);
    if both {
        out.add(Mistake::InvalidValue, entry.value.at, "a timer has either `for` or `until`");
        return None;
    }
    span.map(TimerStep::For).or(until_text.map(TimerStep::Until)).map(StepKind::Timer)
}
