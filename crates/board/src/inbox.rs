//! The inbox: all that needs a person, of agents and of everything else, in one list.
//!
//! Notices of agents are the fleet's. An incident is written together with what it tells of, so it is there
//! after a crash, and once; a budget that was raised since is no trouble any more, which is looked up.

use godel_app::workflows::{WorkflowError, runs};
use godel_app::{App, Call, Error as AppError};
use godel_decide::workflow::Illegal;
use godel_fleet::{Agent, Fleet, Notice, inbox, paper};
use godel_model::{
    Budget, BudgetId, BudgetScope, Incident, Period, Reach, RunId, Trouble, UserId, UserStatus,
    code,
};
use godel_store::{Error as StoreError, INCIDENT, Paper, Tx};
use jiff::Timestamp;
use serde_json::json;
use tracing::instrument;
use uuid::Uuid;

use crate::{Error, Result};

/// How many incidents are looked at together.
const PAGE: usize = 500;
/// What can be said to a gate.
const YES: &str = "Approve";
const NO: &str = "Reject";
/// How much can be said with it, as much as to the step itself.
const NOTE_MAX_CHARS: usize = 2_000;

/// Something that needs a person.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The id.
    pub id: Uuid,
    /// Why: `question`, `stuck`, `budget`, `review`, `approval` or `dead_letters`.
    pub kind: &'static str,
    /// Whether it waits.
    pub open: bool,
    /// Whose it is.
    pub about: About,
    /// What is wanted.
    pub text: String,
    /// What can be chosen.
    pub choices: Vec<String>,
    /// What was answered.
    pub answer: Option<String>,
    /// Since when.
    pub created_at: Timestamp,
}

/// Whose something in the inbox is.
#[derive(Debug, Clone)]
pub enum About {
    /// An agent's, and for whom that one works.
    Agent(Box<Notice>, Option<UserId>),
    /// A gate's in a run of a workflow.
    Gate {
        /// The run.
        run: RunId,
        /// The name of the workflow.
        workflow: String,
        /// The step that asks.
        step: String,
        /// Who may answer; empty stands for everybody.
        by: Vec<String>,
    },
    /// A budget's, by its id and its scope.
    Budget(BudgetId, String),
    /// A pool's, by its name.
    Pool(String),
}

impl Entry {
    fn of(notice: Notice, user: Option<UserId>) -> Self {
        Self {
            id: notice.id,
            kind: notice.kind.as_str(),
            open: notice.open,
            text: notice.text.clone(),
            choices: notice.choices.clone(),
            answer: notice.answer.clone(),
            created_at: notice.created_at,
            about: About::Agent(Box::new(notice), user),
        }
    }
}

/// Finds for whom the agents work that notices are of.
async fn with_users(app: &App, call: &Call, notices: Vec<Notice>) -> Result<Vec<Entry>> {
    let read = move |tx: &mut Tx<'_>| {
        let entry = |notice: &Notice| {
            let agent = notice.agent.map(|id| paper::by_id::<Agent>(tx, id.uuid())).transpose()?;
            Ok(Entry::of(notice.clone(), agent.flatten().map(|agent| agent.user)))
        };
        notices.iter().map(entry).collect()
    };
    paper::look(app, call.actor.tenant, read).await
}

/// Counts what needs a person: as many as the list has, however long it is.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "board.inbox.count", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn count(fleet: &Fleet, call: &Call) -> Result<u64> {
    call.may("agent", "read", Reach::Team)?;
    let agents = inbox::count(fleet, call).await?;
    let others = incidents(fleet.app(), call, false, (None, usize::MAX)).await?;
    Ok(agents.saturating_add(others.len() as u64))
}

/// Lists what needs a person, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "board.inbox.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    all: bool,
    (before, limit): (Option<Uuid>, usize),
) -> Result<Vec<Entry>> {
    call.may("agent", "read", Reach::Team)?;
    let agents = inbox::list(fleet, call, all, (before, limit)).await?;
    let mut found = incidents(fleet.app(), call, all, (before, limit)).await?;
    found.extend(with_users(fleet.app(), call, agents).await?);
    // Each has the newest of its own, so together they have the newest of all.
    found.sort_by_key(|entry| std::cmp::Reverse(entry.id));
    found.truncate(limit);
    Ok(found)
}

/// Answers an agent or a gate, or puts aside what needs no answer.
///
/// # Errors
/// If the caller may not, it was answered already, or a gate is told neither yes nor no. Of two who answer a gate at
/// the same moment, the later one hears what the other said.
#[instrument(level = "debug", name = "board.inbox.answer", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn answer(fleet: &Fleet, call: &Call, id: Uuid, answer: Option<String>) -> Result<Entry> {
    call.may("agent", "read", Reach::Team)?;
    let Some(entry) = by_id(fleet.app(), call, id).await? else {
        let answered = vec![inbox::answer(fleet, call, id, answer).await?];
        let found = with_users(fleet.app(), call, answered).await?.pop();
        return found.ok_or_else(|| Error::NoNotice(id.to_string()));
    };
    if !entry.open {
        return Err(closed(&entry));
    }
    if let About::Gate { run, step, .. } = &entry.about {
        let said = verdict(answer.as_deref())?;
        let answered = runs::answer(fleet.app(), call, (*run, step.clone()), said).await;
        if let Err(AppError::Workflow(error)) = &answered
            && asks_nobody(error)
        {
            match close(fleet.app(), call, id).await {
                // A server that knows of no incidents let it go: nobody else would take it away.
                Ok(()) => {}
                // Who answered it a moment before us has closed it, and what they said is the news.
                Err(Error::NoNotice(_)) => {
                    let now = by_id(fleet.app(), call, id).await?;
                    return Err(closed(&now.unwrap_or(entry)));
                }
                Err(error) => return Err(error),
            }
        }
        answered?;
    } else {
        // It is put aside for everybody.
        call.may("agent", "execute", Reach::Team)?;
        close(fleet.app(), call, id).await?;
    }
    Ok(by_id(fleet.app(), call, id).await?.unwrap_or(entry))
}

/// Says why something that is closed takes no answer: of a gate, what became of it.
fn closed(entry: &Entry) -> Error {
    let About::Gate { run, workflow, step, .. } = &entry.about else {
        return Error::NoNotice(entry.id.to_string());
    };
    let became = entry.answer.as_ref().map_or_else(String::new, |answer| format!(": {answer}"));
    let why = format!("step `{step}` of {workflow} asks nobody any more{became}");
    let hint = format!("`godel workflow status {run}` shows where the run is");
    Error::refused(code::RUN_STATE, why, hint)
}

/// Tells whether somebody answered a gate that is gone or answered.
fn asks_nobody(error: &WorkflowError) -> bool {
    use WorkflowError::{Illegal as Refused, NoRun, NoStep};
    matches!(error, NoRun(_) | NoStep(_) | Refused(Illegal::NotWaiting { .. }))
}

/// Reads yes or no, and what is said with it, such as `Reject: not today`.
fn verdict(answer: Option<&str>) -> Result<(bool, Option<String>)> {
    let (word, note) = answer.map_or(("", None), |text| {
        text.split_once(':').map_or((text, None), |(word, note)| (word, Some(note.trim())))
    });
    let is = |choice: &str| word.trim().eq_ignore_ascii_case(choice);
    if !is(YES) && !is(NO) {
        let hint = format!("answer {YES} or {NO}; behind a colon you can say why");
        let refused = Error::refused(code::INVALID_FIELD, "an approval needs a yes or a no", hint);
        return Err(refused.at("answer"));
    }
    if note.is_some_and(|note| note.chars().count() > NOTE_MAX_CHARS) {
        let why = format!("a note has at most {NOTE_MAX_CHARS} characters");
        return Err(Error::refused(code::INVALID_FIELD, why, "say it shorter").at("answer"));
    }
    let note = note.filter(|note| !note.is_empty()).map(ToOwned::to_owned);
    Ok((is(YES), note))
}

async fn close(app: &App, call: &Call, id: Uuid) -> Result<()> {
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        if !tx.incidents().put_aside(id)? {
            return Err(Error::NoNotice(id.to_string()));
        }
        let told = json!({ "notice": id });
        Ok(call_.tell(&app_, tx, call_.event(&app_, "notice:closed", &told, ("noticeId", id)))?)
    };
    paper::write(app, call.actor.tenant, work).await
}

async fn by_id(app: &App, call: &Call, id: Uuid) -> Result<Option<Entry>> {
    let (call_, now) = (call.clone(), app.clock.now());
    let read = move |tx: &mut Tx<'_>| match tx.papers(INCIDENT).by_id(id)? {
        Some(paper) => entry(tx, &call_, &paper, now),
        None => Ok(None),
    };
    paper::look(app, call.actor.tenant, read).await
}

/// Lists incidents, the newest first.
async fn incidents(
    app: &App,
    call: &Call,
    all: bool,
    (before, limit): (Option<Uuid>, usize),
) -> Result<Vec<Entry>> {
    let (call_, now) = (call.clone(), app.clock.now());
    let read = move |tx: &mut Tx<'_>| {
        let (mut found, mut from) = (Vec::new(), before);
        loop {
            let papers = match all {
                true => tx.papers(INCIDENT).page(from, PAGE)?,
                false => tx.papers(INCIDENT).in_state("open", from, PAGE)?,
            };
            for paper in &papers {
                found.extend(entry(tx, &call_, paper, now)?.filter(|entry| all || entry.open));
            }
            from = papers.last().map(|paper| paper.id);
            if papers.len() < PAGE || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    };
    paper::look(app, call.actor.tenant, read).await
}

/// Says an incident in words; none if the caller may not know of it.
fn entry(tx: &mut Tx<'_>, call: &Call, paper: &Paper, now: Timestamp) -> Result<Option<Entry>> {
    let unreadable = |cause: serde_json::Error| {
        Error::Store(StoreError::Unreadable { what: INCIDENT, cause: cause.into() })
    };
    let incident: Incident = serde_json::from_str(&paper.doc).map_err(unreadable)?;
    let open = paper.state == "open";
    let may = |resource| call.may(resource, "read", Reach::Team).is_ok();
    let Incident { id, raised_at: created_at, answer, trouble } = incident;
    let (kind, text, about) = match trouble {
        Trouble::Approval { run, workflow, step, by, message, .. } if may("workflow") => {
            let asks = message.unwrap_or_else(|| format!("May {workflow} go on?"));
            let who =
                if by.is_empty() { String::new() } else { format!("\nAsked: {}", by.join(", ")) };
            ("approval", format!("{asks}{who}"), About::Gate { run, workflow, step, by })
        }
        Trouble::DeadLetters { pool } if may("task") => {
            let text = format!("The pool {pool} has more dead letters than its setting allows.");
            ("dead_letters", text, About::Pool(pool.to_string()))
        }
        Trouble::Budget { budget, ref scope, period, cap, used_up, .. } if may("cost") => {
            let Some(scope_) = scope.parse().ok().filter(|scope| sees(call, scope)) else {
                return Ok(None);
            };
            let found = tx.budgets().by_scope(&scope_, period)?;
            if let Some(found) = &found
                && !is_told(tx, call, &found.allows.tell)?
            {
                return Ok(None);
            }
            let of = named(tx, call, &scope_)?;
            let stands = found.filter(|_| open).and_then(|found| stands(found, &trouble, now));
            let open = stands.is_some();
            let text = in_words(&of, (period, cap, used_up), stands.as_ref());
            let about = About::Budget(budget, scope.clone());
            let (choices, kind) = (Vec::new(), "budget");
            return Ok(Some(Entry { id, kind, open, about, text, choices, answer, created_at }));
        }
        Trouble::Approval { .. } | Trouble::DeadLetters { .. } | Trouble::Budget { .. } => {
            return Ok(None);
        }
    };
    let choices = if kind == "approval" { vec![YES.to_owned(), NO.to_owned()] } else { Vec::new() };
    Ok(Some(Entry { id, kind, open, about, text, choices, answer, created_at }))
}

/// Who works in some projects sees what concerns those, and what concerns all.
fn sees(call: &Call, scope: &BudgetScope) -> bool {
    match scope {
        BudgetScope::Project(id) => call.actor.works_in(*id),
        _ => true,
    }
}

/// Tells whether somebody is among those who are told of a budget. If none of them is here any more,
/// everybody is: better than nobody.
fn is_told(tx: &mut Tx<'_>, call: &Call, tell: &[UserId]) -> Result<bool> {
    if tell.is_empty() || tell.contains(&call.actor.user) {
        return Ok(true);
    }
    for user in tell {
        let found = tx.users().by_id(call.actor.tenant, *user)?;
        if found.is_some_and(|user| user.status == UserStatus::Active) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns where a budget stands, if the trouble with it is still the same.
fn stands(mut budget: Budget, trouble: &Trouble, now: Timestamp) -> Option<Budget> {
    budget.roll(now);
    let used_up = matches!(trouble, Trouble::Budget { used_up: true, .. });
    let same = Trouble::of_budget(&budget, used_up).as_ref() == Some(trouble);
    (same && budget.is_low()).then_some(budget)
}

/// Says whose spending a budget limits.
fn named(tx: &mut Tx<'_>, call: &Call, scope: &BudgetScope) -> Result<String> {
    Ok(match scope {
        BudgetScope::Tenant => "everything".to_owned(),
        BudgetScope::Project(id) => {
            let found = tx.projects().by_id(*id)?;
            found.map_or_else(|| format!("project {id}"), |found| format!("project {}", found.name))
        }
        BudgetScope::User(id) => {
            let found = tx.users().by_id(call.actor.tenant, *id)?;
            found.map_or_else(|| format!("user {id}"), |found| format!("user {}", found.name))
        }
        other => other.to_string().replacen(':', " ", 1),
    })
}

fn in_words(
    of: &str,
    (period, cap, used_up): (Period, i64, bool),
    stands: Option<&Budget>,
) -> String {
    let which = match period {
        Period::Total => "budget",
        Period::Daily => "daily budget",
        Period::Monthly => "monthly budget",
    };
    let cap_ = dollars(cap);
    match stands.map(|budget| budget.spent) {
        None => format!("The {which} of {cap_} for {of} was used up, or nearly."),
        Some(spent) if spent >= cap => {
            let then = stands.map_or_else(String::new, beyond);
            let spent = dollars(spent);
            format!("The {which} for {of} is used up: {spent} of {cap_} is spent.{then}")
        }
        Some(spent) if used_up => {
            let spent = dollars(spent);
            format!("The {which} for {of} leaves too little: {spent} of {cap_} is spent.")
        }
        Some(spent) => {
            let (percent, spent) =
                (i128::from(spent) * 100 / i128::from(cap.max(1)), dollars(spent));
            format!("The {which} for {of} is {percent}% used: {spent} of {cap_} is spent.")
        }
    }
}

/// Says what happens to requests after a budget is used up, if they are not refused at once.
fn beyond(budget: &Budget) -> String {
    match budget.allows.limit() {
        None => " It stops nothing.".to_owned(),
        Some(limit) if limit > budget.allows.cap && budget.spent < limit => {
            format!(" Requests are refused from {} on.", dollars(limit))
        }
        Some(_) => String::new(),
    }
}

/// Writes an amount of money to its last part, and to the cent at least.
fn dollars(micros: i64) -> String {
    let part = format!("{:06}", micros % 1_000_000);
    format!("${}.{:0<2}", micros / 1_000_000, part.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_told_yes_or_no_and_nothing_is_guessed() {
        let said = |text| verdict(Some(text)).unwrap();
        assert_eq!(said("approve"), (true, None));
        assert_eq!(
            said("Reject: not today: tomorrow"),
            (false, Some("not today: tomorrow".to_owned()))
        );
        assert_eq!(said("Reject:"), (false, None));
        for unclear in [None, Some(""), Some("no problem"), Some("approve it"), Some("maybe: yes")]
        {
            assert!(verdict(unclear).is_err(), "{unclear:?}");
        }
    }

    #[test]
    fn money_is_written_to_its_last_part() {
        assert_eq!(dollars(10_000_000), "$10.00");
        assert_eq!(dollars(8_400_000), "$8.40");
        assert_eq!(dollars(1_234), "$0.001234");
    }
}
