//! Tasks that come again and again.

use godel_decide::Cron;
use godel_model::{Invalid, NewSchedule, Reach, Schedule, ScheduleId, Task, TenantId, code};
use godel_store::{Error as StoreError, Scope, Tx};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use tracing::instrument;

use super::tell::Author;
use super::turn::Add;
use super::{QueueError, lanes};
use crate::{App, Call, Error, Result};

const DUE_AT_ONCE: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    schedule: ScheduleId,
    name: &'a str,
    cron: &'a str,
    paused: bool,
    next_at: Option<Timestamp>,
}

impl<'a> Told<'a> {
    fn of(schedule: &'a Schedule) -> Self {
        Self {
            schedule: schedule.id,
            name: schedule.asked.name.as_str(),
            cron: &schedule.asked.cron,
            paused: schedule.paused,
            next_at: schedule.next_at,
        }
    }
}

/// Reads the times of a schedule.
fn times(asked: &NewSchedule) -> Result<(Cron, TimeZone), Invalid> {
    let cron = Cron::parse(&asked.cron)?;
    let zone = match asked.timezone.as_str() {
        "" | "UTC" => TimeZone::UTC,
        name => TimeZone::get(name).map_err(|_| {
            let why = format!("there is no time zone \"{}\" here", name.escape_debug());
            Invalid::new(code::INVALID_FIELD, why).with_hint(
                "write it as Europe/Berlin; on a small machine the package tzdata may be missing",
            )
        })?,
    };
    Ok((cron, zone))
}

/// Makes a schedule.
///
/// # Errors
/// If the caller may not, or it makes no sense, or the name is taken.
#[instrument(level = "debug", name = "app.schedules.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(app: &App, call: &Call, asked: NewSchedule) -> Result<Schedule> {
    call.may("task", "create", Reach::Team)?;
    asked.task.check()?;
    let (cron, zone) = times(&asked)?;
    let now = app.clock.now();
    let next_at = cron.after(now, &zone);
    if next_at.is_none() {
        return Err(Error::invalid("this schedule never comes"));
    }
    let schedule = Schedule {
        id: app.mint.id(),
        asked,
        paused: false,
        next_at,
        last_at: None,
        created_at: now,
        created_by: call.actor.user,
    };
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        if !tx.schedules().insert(&schedule)? {
            return Err(Error::Queue(QueueError::ScheduleNameTaken(
                schedule.asked.name.as_str().to_owned(),
            )));
        }
        let about = ("scheduleId", schedule.id);
        let event = call_.event(&app_, "schedule:created", &Told::of(&schedule), about);
        call_.tell(&app_, tx, event)?;
        Ok(schedule.clone())
    };
    Ok(app.store.write(call.scope(), work).await?.value)
}

/// Lists schedules.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.schedules.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    app: &App,
    call: &Call,
    after: Option<ScheduleId>,
    limit: usize,
) -> Result<Vec<Schedule>> {
    call.may("task", "read", Reach::Team)?;
    let read = app.store.read(call.scope(), move |tx| tx.schedules().page(after, limit));
    read.await.map_err(Error::Store)
}

/// Finds a schedule.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.schedules.find", skip_all, fields(tenant = %call.actor.tenant, schedule = %id))]
pub async fn find(app: &App, call: &Call, id: ScheduleId) -> Result<Schedule> {
    call.may("task", "read", Reach::Team)?;
    let find = move |tx: &mut Tx<'_>| tx.schedules().by_id(id);
    let found = app.store.read(call.scope(), find).await.map_err(Error::Store)?;
    Ok(found.ok_or(QueueError::NoSchedule(id))?)
}

/// Lets a schedule pause, or go on from now.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.schedules.pause", skip_all, fields(tenant = %call.actor.tenant, schedule = %id))]
pub async fn pause(app: &App, call: &Call, id: ScheduleId, paused: bool) -> Result<Schedule> {
    call.may("task", "update", Reach::Team)?;
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let before = tx.schedules().by_id(id)?.ok_or(QueueError::NoSchedule(id))?;
        let (cron, zone) = times(&before.asked)?;
        // What would have come while it was paused does not come later.
        let next_at = if paused { before.next_at } else { cron.after(now, &zone) };
        let after = Schedule { paused, next_at, ..before };
        tx.schedules().update(&after)?;
        let kind = if paused { "schedule:paused" } else { "schedule:resumed" };
        let event = call_.event(&app_, kind, &Told::of(&after), ("scheduleId", id));
        call_.tell(&app_, tx, event)?;
        Ok::<_, Error>(after)
    };
    Ok(app.store.write(call.scope(), work).await?.value)
}

/// Removes a schedule; what it made stays.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.schedules.delete", skip_all, fields(tenant = %call.actor.tenant, schedule = %id))]
pub async fn delete(app: &App, call: &Call, id: ScheduleId) -> Result<()> {
    call.may("task", "delete", Reach::Team)?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let gone = tx.schedules().by_id(id)?.ok_or(QueueError::NoSchedule(id))?;
        tx.schedules().delete(id)?;
        let event = call_.event(&app_, "schedule:deleted", &Told::of(&gone), ("scheduleId", id));
        call_.tell(&app_, tx, event)
    };
    app.store.write(call.scope(), work).await?;
    Ok(())
}

/// Makes the tasks of schedules whose time has come: one for each, however long nobody looked.
pub(super) async fn make_due(app: &App) -> Result<()> {
    let now = app.clock.now();
    let due = app.store.read(Scope::System, move |tx| {
        let now = tx.clock(now)?;
        let due = tx.schedules().due(now, DUE_AT_ONCE)?;
        Ok::<_, StoreError>((now, due))
    });
    let (now, due) = due.await?;
    for (tenant, schedule) in due {
        make(app, tenant, schedule, now).await?;
    }
    Ok(())
}

async fn make(app: &App, tenant: TenantId, schedule: Schedule, now: Timestamp) -> Result<()> {
    let Some(from) = schedule.next_at else { return Ok(()) };
    let next = match times(&schedule.asked) {
        Ok((cron, zone)) => cron.after(now, &zone),
        Err(error) => {
            tracing::warn!(schedule = %schedule.id, %error, "a schedule cannot be read; it ends");
            None
        }
    };
    let mut asked = schedule.asked.task.clone();
    // Whoever comes twice, after a crash in between or from another server, finds the first one.
    asked.key = Some(format!("schedule:{}:{from}", schedule.id));
    asked.start_at = None;
    let lane = asked.check()?;
    let created_by = Some(schedule.created_by);
    let task = Task { id: app.mint.id(), asked, created_at: app.clock.now(), created_by };
    let name = Some(format!("schedule:{}", schedule.asked.name.as_str()));
    let add = Add { task, lane, author: Author { name, trace_id: None }, under: None };
    // First the task, then the clock: a crash in between makes it come again, and be found.
    let made = match lanes::admit(app, tenant, [&add.lane]).await {
        Ok(()) => app.desks.of(tenant).add(add).await.map(drop).map_err(Error::from),
        Err(error) => Err(error),
    };
    match made {
        // One that cannot be made must not hold all others up.
        Err(Error::Queue(error)) => {
            tracing::warn!(schedule = %schedule.id, %error, "a schedule made no task this time");
        }
        other => other?,
    }
    let work = move |tx: &mut Tx<'_>| tx.schedules().advance(schedule.id, from, next);
    app.store.write(Scope::Tenant(tenant), work).await?;
    Ok(())
}
