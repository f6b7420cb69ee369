//! What was asked and what it cost.

use std::collections::{BTreeMap, BTreeSet};

use godel_app::spend::oldest;
use godel_app::{App, Call, Error, Result};
use godel_model::{
    CallId, Outcome, QUARTER_MICROS, Quota, Reach, UsageKey, UsageSum, from_micros, micros,
};
use godel_proxy::ProviderHealth;
use godel_store::{CallBody, CallRecord, Tx};
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, ToSpan as _, Zoned};
use tracing::instrument;

/// How many attempts are looked at for one page of those that fit.
const LOOK_MAX: usize = 5_000;
/// How long after its id was made an attempt may begin: a large request takes its time to arrive.
const SLACK: SignedDuration = SignedDuration::from_hours(1);
/// The longest time that a report tells of.
const DAYS_MAX: i32 = 3_660;
/// The longest time of a report by hour or in a time zone, which adds up finer sums.
const FINE_DAYS_MAX: i32 = 400;

/// By what a report is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupBy {
    /// By day.
    Day,
    /// By hour.
    Hour,
    /// By provider.
    Provider,
    /// By model.
    Model,
    /// By project.
    Project,
    /// By user.
    User,
    /// By agent.
    Agent,
    /// By bead.
    Bead,
    /// By convoy.
    Convoy,
}

impl GroupBy {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Day,
        Self::Hour,
        Self::Provider,
        Self::Model,
        Self::Project,
        Self::User,
        Self::Agent,
        Self::Bead,
        Self::Convoy,
    ];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Hour => "hour",
            Self::Provider => "provider",
            Self::Model => "model",
            Self::Project => "project",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Bead => "bead",
            Self::Convoy => "convoy",
        }
    }

    fn of(self, key: &UsageKey, zone: &TimeZone) -> String {
        match self {
            Self::Day if *zone == TimeZone::UTC => day_text(key.day()),
            Self::Day => local(key, zone).date().to_string(),
            // An hour that comes twice, when clocks go back, is one.
            Self::Hour => local(key, zone).strftime("%Y-%m-%dT%H").to_string(),
            Self::Provider => key.provider.clone(),
            Self::Model => key.model.clone(),
            Self::Project => key.project.clone(),
            Self::User => key.user.clone(),
            Self::Agent => key.agent.clone(),
            Self::Bead => key.bead.clone(),
            Self::Convoy => key.convoy.clone(),
        }
    }
}

const EPOCH: Date = date(1970, 1, 1);

fn day_text(day: i64) -> String {
    let date = EPOCH.checked_add(Span::new().days(day.clamp(0, 1_000_000)));
    date.map_or_else(|_| String::new(), |date| date.to_string())
}

fn local(key: &UsageKey, zone: &TimeZone) -> Zoned {
    from_micros(key.quarter.saturating_mul(QUARTER_MICROS)).to_zoned(zone.clone())
}

fn day_number(day: Date) -> i64 {
    day.since(EPOCH).map_or(0, |span| i64::from(span.get_days()))
}

/// What a report or a list is about; empty fields do not narrow it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrow {
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The project, by id.
    pub project: Option<String>,
    /// The user, by id.
    pub user: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The bead.
    pub bead: Option<String>,
    /// The convoy.
    pub convoy: Option<String>,
    /// One of these agents; an empty name stands for work without an agent.
    pub agents: Option<BTreeSet<String>>,
}

impl Narrow {
    fn fits(&self, key: &UsageKey) -> bool {
        let fits = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        fits(&self.provider, &key.provider)
            && fits(&self.model, &key.model)
            && fits(&self.project, &key.project)
            && fits(&self.user, &key.user)
            && fits(&self.agent, &key.agent)
            && fits(&self.bead, &key.bead)
            && fits(&self.convoy, &key.convoy)
            && self.agents.as_ref().is_none_or(|agents| agents.contains(&key.agent))
    }
}

/// Which attempts are listed; what is not said leaves out none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Which {
    /// What they are about.
    pub narrow: Narrow,
    /// Those that began then or later.
    pub from: Option<Timestamp>,
    /// Those that began before then.
    pub to: Option<Timestamp>,
    /// Those that ended like this.
    pub outcome: Option<Outcome>,
    /// Those of the session that its client calls like this.
    pub session: Option<String>,
}

impl From<Narrow> for Which {
    fn from(narrow: Narrow) -> Self {
        Self { narrow, ..Self::default() }
    }
}

impl Which {
    fn fits(&self, record: &CallRecord) -> bool {
        let outcome = record.end.as_ref().map_or(Outcome::Open, |end| end.outcome);
        self.from.is_none_or(|from| record.start.at >= from)
            && self.to.is_none_or(|to| record.start.at < to)
            && self.outcome.is_none_or(|wanted| wanted == outcome)
            && (self.session.is_none() || self.session == record.start.session)
    }

    /// Returns the first id that is too late.
    fn end(&self) -> Option<CallId> {
        self.to.map(oldest)
    }

    /// Returns an id before which all attempts began too early.
    fn begin(&self) -> Option<CallId> {
        let from = self.from?;
        Some(oldest(from.saturating_sub(SLACK).unwrap_or(Timestamp::UNIX_EPOCH)))
    }
}

/// The days that a report is about, both included, and where they begin at midnight.
#[derive(Debug, Clone, PartialEq)]
pub struct Days {
    /// The first one; 30 days before the last one unless given.
    pub from: Option<Date>,
    /// The last one; today unless given.
    pub to: Option<Date>,
    /// The time zone.
    pub zone: TimeZone,
}

impl From<(Option<Date>, Option<Date>)> for Days {
    fn from((from, to): (Option<Date>, Option<Date>)) -> Self {
        Self { from, to, zone: TimeZone::UTC }
    }
}

impl Days {
    /// Returns the first and the last day.
    fn ends(&self, now: Timestamp, most: i32) -> Result<(Date, Date)> {
        let to = self.to.unwrap_or_else(|| now.to_zoned(self.zone.clone()).date());
        let from = self.from.unwrap_or_else(|| to.saturating_sub(29.days()));
        let days = to.since(from).map_or(0, |span| span.get_days());
        if from > to || days > DAYS_MAX {
            return Err(Error::invalid(
                "a report begins before it ends, and tells of ten years at most",
            ));
        }
        if days > most {
            return Err(Error::invalid(
                "a report by hour or in a time zone tells of 400 days at most",
            ));
        }
        Ok((from, to))
    }

    /// Returns the first and the last quarter of an hour of some days.
    fn quarters(&self, from: Date, to: Date) -> Result<(i64, i64)> {
        let start = |day: Date| {
            let midnight = day.to_zoned(self.zone.clone());
            midnight.map(|at| micros(at.timestamp()).div_euclid(QUARTER_MICROS))
        };
        let after = to.checked_add(1.day()).and_then(start);
        let ends = start(from).and_then(|first| after.map(|after| (first, after - 1)));
        ends.map_err(|_| Error::invalid("there is no such day"))
    }
}

/// What was used and what it cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
    /// Everything together.
    pub total: UsageSum,
    /// By what it is split, with a value for each of the asked kinds.
    pub rows: Vec<(Vec<String>, UsageSum)>,
}

/// Tells what was used between two days, both included; the last 30 if none are given.
///
/// Sums are read, never single attempts: those by day, or those by quarter of an hour if days begin
/// elsewhere than in UTC.
///
/// # Errors
/// If the caller may not, or the days make no sense.
#[instrument(level = "debug", name = "app.reports.usage", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn usage(
    app: &App,
    call: &Call,
    days: impl Into<Days>,
    by: Vec<GroupBy>,
    narrow: Narrow,
) -> Result<Report> {
    call.may("cost", "read", Reach::Team)?;
    let days = days.into();
    let fine = days.zone != TimeZone::UTC || by.contains(&GroupBy::Hour);
    let most = if fine { FINE_DAYS_MAX } else { DAYS_MAX };
    let (from, to) = days.ends(app.clock.now(), most)?;
    let (first, last) = match fine {
        true => days.quarters(from, to)?,
        false => (day_number(from), day_number(to)),
    };
    let work = move |tx: &mut Tx<'_>| match fine {
        true => tx.usage().quarters(first, last),
        false => tx.usage().between(first, last),
    };
    let rows = app.store.read_long(call.scope(), work).await.map_err(Error::Store)?;
    let mut total = UsageSum::default();
    let mut groups: BTreeMap<Vec<String>, UsageSum> = BTreeMap::new();
    for (key, sum) in rows {
        if !narrow.fits(&key) || !visible(call, &key.project) {
            continue;
        }
        total.add(&sum);
        let group = by.iter().map(|by| by.of(&key, &days.zone)).collect();
        groups.entry(group).or_default().add(&sum);
    }
    Ok(Report { from, to, total, rows: groups.into_iter().collect() })
}

/// Who works in some projects sees what those cost, and nothing of others.
fn visible(call: &Call, project: &str) -> bool {
    call.actor.projects.is_empty()
        || project.parse().is_ok_and(|project| call.actor.works_in(project))
}

/// Lists attempts before an id, the newest first, and tells where to go on.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.reports.calls", skip_all, fields(tenant = %call.actor.tenant, limit))]
pub async fn calls(
    app: &App,
    call: &Call,
    before: Option<CallId>,
    limit: usize,
    which: impl Into<Which>,
) -> Result<(Vec<CallRecord>, Option<CallId>)> {
    call.may("cost", "read", Reach::Team)?;
    let (own, which) = (call.clone(), which.into());
    let first = match (before, which.end()) {
        (Some(before), Some(end)) => Some(before.min(end)),
        (before, end) => before.or(end),
    };
    let work = move |tx: &mut Tx<'_>| {
        let (mut found, mut from, mut looked) = (Vec::new(), first, 0);
        while looked < LOOK_MAX {
            let page = tx.calls().before(from, 500)?;
            let end = page.len() < 500;
            for record in page {
                looked += 1;
                from = Some(record.start.id);
                if from < which.begin() {
                    return Ok((found, None));
                }
                let key = record.start.key();
                let fits = which.fits(&record) && which.narrow.fits(&key);
                if fits && visible(&own, &key.project) {
                    found.push(record);
                }
                if found.len() == limit {
                    return Ok((found, from));
                }
            }
            if end {
                return Ok((found, None));
            }
        }
        Ok((found, from))
    };
    app.store.read_long(call.scope(), work).await.map_err(Error::Store)
}

/// Tells which providers there are and how they are doing.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.reports.providers", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn providers(app: &App, call: &Call) -> Result<Vec<(String, Option<ProviderHealth>)>> {
    call.may("cost", "read", Reach::Team)?;
    let health = app.switchboard.providers();
    let config = app.switchboard.config();
    let told = config.order.iter().map(|name| {
        let found = health.iter().find(|health| health.provider == *name).cloned();
        (name.clone(), found)
    });
    Ok(told.collect())
}

/// Lists the quotas of the subscriptions by which providers were asked.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.reports.quotas", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn quotas(app: &App, call: &Call) -> Result<Vec<Quota>> {
    call.may("cost", "read", Reach::Team)?;
    let found = app.store.read(call.scope(), |tx| tx.quotas().list()).await;
    let mut found = found.map_err(Error::Store)?;
    // Who works in some projects sees nothing of the logins of others.
    let (all, own) = (call.actor.projects.is_empty(), call.actor.user);
    found.retain(|quota| all || quota.user == own);
    Ok(found)
}

/// Finds an attempt.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.reports.call", skip_all, fields(tenant = %call.actor.tenant, %id))]
pub async fn call(app: &App, call: &Call, id: CallId) -> Result<CallRecord> {
    call.may("cost", "read", Reach::Team)?;
    let tenant = call.actor.tenant;
    let found = app.store.read(call.scope(), move |tx| tx.calls().by_id(tenant, id)).await;
    let found = found.map_err(Error::Store)?;
    found.filter(|found| visible(call, &found.start.key().project)).ok_or(Error::NoCall(id))
}

/// Finds what was asked and answered in an attempt; that is for those who may read what everybody
/// did.
///
/// # Errors
/// If the caller may not, there is no such attempt, or it was not kept.
#[instrument(level = "debug", name = "app.reports.body", skip_all, fields(tenant = %call.actor.tenant, %id))]
pub async fn body(app: &App, call: &Call, id: CallId) -> Result<CallBody> {
    call.may("audit", "read", Reach::Team)?;
    let (tenant, found) = (call.actor.tenant, self::call(app, call, id).await?);
    let id = found.start.id;
    let found = app.store.read(call.scope(), move |tx| tx.bodies().by_id(tenant, id)).await;
    found.map_err(Error::Store)?.ok_or(Error::NoBody(id))
}
