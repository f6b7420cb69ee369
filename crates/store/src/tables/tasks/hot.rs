//! What happens to every task, on PostgreSQL: one round trip for a whole batch.

use std::collections::{HashMap, HashSet};

use godel_model::{
    Lane, Payload, Task, TaskId, TaskState, TenantId, UserId, WorkerId, from_micros, micros,
};
use jiff::Timestamp;
use postgres::types::ToSql;
use uuid::Uuid;

use super::enqueue::{asked_text, first_spot};
use super::{Done, Enqueued, Fence, Head, Lease, Ready, Settled, Spot, claim};
use crate::postgres::session::Session;
use crate::statement::Row;
use crate::{Error, Result};

const ENQUEUE: &str = "
    WITH asked AS (
        SELECT * FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::text[],
                             $7::text[], $8::text[], $9::text[], $10::uuid[], $11::bigint[],
                             $12::bigint[], $13::text[])
            AS a (id, lane, tier, asked, idem, owner_kind, owner, owner_part, person, created_at,
                  last, pool)
    ), lanes AS (
        INSERT INTO lane (tenant, pool, name) SELECT DISTINCT $1::uuid, pool, lane FROM asked
        WHERE NOT EXISTS (SELECT FROM lane l
                          WHERE l.tenant = $1 AND l.pool = asked.pool AND l.name = asked.lane)
        ON CONFLICT DO NOTHING
    ), made AS (
        INSERT INTO task (tenant, id, lane, tier, asked, idem, owner_kind, owner, owner_part,
                          person, created_at)
        SELECT $1, id, lane, tier, asked, idem, owner_kind, owner, owner_part, person, created_at
        FROM asked ON CONFLICT (tenant, idem) WHERE idem IS NOT NULL DO NOTHING
        RETURNING id
    ), ready AS (
        INSERT INTO ready (tenant, lane, tier, at, task, attempt, last)
        SELECT $1, a.lane, a.tier, $14, a.id, 0, a.last FROM asked a JOIN made ON made.id = a.id
        WHERE $15::bool
    )
    SELECT id FROM made";

const LINE_UP: &str = "
    INSERT INTO ready (tenant, lane, tier, at, task, attempt, last)
    SELECT $1, lane, tier, $6, task, 0, last
    FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[]) AS s (task, lane, tier, last)";

const BY_IDEM: &str = "SELECT idem, id FROM task WHERE tenant = $1 AND idem = ANY($2::text[])";

const HEADS: &str = "
    SELECT h.task, h.lane, h.tier, h.attempt, h.last, h.at, t.asked, t.created_at
    FROM unnest($2::text[]) AS w (lane)
    CROSS JOIN LATERAL (
        SELECT task, lane, tier, attempt, last, at FROM ready r
        WHERE r.tenant = $1 AND r.lane = w.lane ORDER BY r.tier, r.at, r.task LIMIT $3
        FOR UPDATE SKIP LOCKED
    ) AS h
    JOIN task t ON t.tenant = $1 AND t.id = h.task
    ORDER BY h.tier, h.at, h.task";

// Whoever hands a task out sees the worker alive until the commit, so that nobody takes away what it
// has in the same moment, and no other server gives it anything: only the next statement sees what it
// has by now.
const LOCK_WORKERS: &str = "
    SELECT id, capacity FROM worker WHERE tenant = $1 AND id = ANY($2::uuid[]) AND gone = 0
    ORDER BY id FOR NO KEY UPDATE";

const HAND_OUT: &str = "
    WITH alive AS (
        SELECT w.id, w.capacity, l.held, l.oldest
        FROM unnest($12::uuid[], $13::bigint[], $14::bigint[]) AS w (id, capacity, since)
        CROSS JOIN LATERAL (
            SELECT COUNT(*) AS held, MIN(l.started_at) AS oldest FROM lease l
            WHERE l.tenant = $1 AND l.worker = w.id AND l.started_at >= w.since
        ) AS l
    ), given AS (
        SELECT g.*, row_number() OVER (PARTITION BY g.worker ORDER BY g.place) AS nth,
               alive.held, alive.capacity
        FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
                             $7::bigint[], $8::uuid[], $9::bigint[], $10::bigint[], $11::bool[])
            WITH ORDINALITY
            AS g (task, lane, tier, at, attempt, last, worker, started_at, ends_at, in_line, place)
        JOIN alive ON alive.id = g.worker
    ), fits AS (
        SELECT * FROM given WHERE held + nth <= capacity
    ), gone AS (
        DELETE FROM ready r USING fits g
        WHERE r.tenant = $1 AND r.lane = g.lane AND r.tier = g.tier AND r.at = g.at
          AND r.task = g.task
        RETURNING r.task
    ), moved AS (
        SELECT task FROM gone UNION ALL SELECT task FROM fits WHERE NOT in_line
    ), put AS (
        INSERT INTO lease (tenant, task, attempt, last, lane, tier, worker, started_at, ends_at)
        SELECT $1, g.task, g.attempt, g.last, g.lane, g.tier, g.worker, g.started_at, g.ends_at
        FROM fits g JOIN moved ON moved.task = g.task RETURNING task, worker, started_at
    )
    SELECT put.task, put.worker, COALESCE(alive.oldest, put.started_at)
    FROM put JOIN alive ON alive.id = put.worker";

// A lease is found by its task: the index by worker would walk over all that the worker ever had, so
// the worker is compared in a way for which no index is of use.
const SUCCEED: &str = "
    WITH said AS (
        SELECT * FROM unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::text[])
            AS s (task, attempt, worker, result)
    ), gone AS (
        DELETE FROM lease l USING said s
        WHERE l.tenant = $1 AND l.task = s.task AND l.attempt = s.attempt
          AND l.worker IS NOT DISTINCT FROM s.worker
        RETURNING l.task, l.lane, l.tier, l.attempt, l.last, l.worker, l.started_at, s.result
    ), noted AS (
        INSERT INTO outcome (tenant, task, state, lane, tier, attempt, worker, started_at, at, result)
        SELECT $1, task, 'succeeded', lane, tier, attempt, worker, started_at, $6, result FROM gone
    ), told AS (
        INSERT INTO task_news (tenant, task, owner_kind, owner, part, state, at)
        SELECT $1, t.id, t.owner_kind, t.owner, t.owner_part, 'succeeded', $6
        FROM gone JOIN task t ON t.tenant = $1 AND t.id = gone.task WHERE t.owner IS NOT NULL
        ON CONFLICT (tenant, owner_kind, owner, task)
        DO UPDATE SET state = EXCLUDED.state, at = EXCLUDED.at
    )
    SELECT task, lane, tier, attempt, last, started_at,
           EXISTS (SELECT FROM dependency d WHERE d.tenant = $1 AND d.parent = gone.task), worker
    FROM gone";

const PROMOTE: &str = "
    WITH gone AS (
        DELETE FROM delayed WHERE tenant = $1 AND task = ANY($2::uuid[])
        RETURNING task, lane, tier, attempt, last
    )
    INSERT INTO ready (tenant, lane, tier, at, task, attempt, last)
    SELECT $1, lane, tier, $3, task, attempt, last FROM gone
    RETURNING task, lane, tier, attempt, last";

const LOCK_SHARED: &str = "SELECT pg_advisory_xact_lock_shared($1)";
const LOCK_ALONE: &str = "SELECT pg_advisory_xact_lock($1)";

/// The statements that only PostgreSQL has, by name.
pub(crate) static ONLY_POSTGRES: &[(&str, &str)] = &[
    ("task_enqueue", ENQUEUE),
    ("task_line_up", LINE_UP),
    ("task_by_idems", BY_IDEM),
    ("task_heads", HEADS),
    ("worker_lock", LOCK_WORKERS),
    ("task_hand_out", HAND_OUT),
    ("task_succeed", SUCCEED),
    ("task_promote", PROMOTE),
    ("graph_lock_shared", LOCK_SHARED),
    ("graph_lock_alone", LOCK_ALONE),
];

/// Adds tasks that can be handed out at once.
pub(super) fn enqueue(
    session: &mut Session,
    tenant: TenantId,
    batch: &[(&Task, &Lane)],
    (ready, now): (Ready, Timestamp),
) -> Result<Vec<Enqueued>> {
    let texts = batch.iter().map(|(task, _)| asked_text(task)).collect::<Result<Vec<_>>>()?;
    let asked: Vec<_> = batch.iter().map(|(task, _)| &task.asked).collect();
    let ids: Vec<Uuid> = batch.iter().map(|(task, _)| task.id.uuid()).collect();
    let lanes: Vec<&str> = batch.iter().map(|(_, lane)| lane.as_str()).collect();
    let tiers: Vec<i64> = asked.iter().map(|asked| asked.priority.tier()).collect();
    let idems: Vec<_> = asked.iter().map(|asked| asked.key.as_deref()).collect();
    let owner = |read: fn(&godel_model::Owner) -> &str| -> Vec<Option<&str>> {
        asked.iter().map(|asked| asked.owner.as_ref().map(read)).collect()
    };
    let kinds = owner(|owner| &owner.kind);
    let owners = owner(|owner| &owner.id);
    let parts = owner(|owner| &owner.part);
    let people: Vec<Option<Uuid>> =
        batch.iter().map(|(task, _)| task.created_by.map(UserId::uuid)).collect();
    let times: Vec<i64> = batch.iter().map(|(task, _)| micros(task.created_at)).collect();
    let lasts: Vec<i64> = asked.iter().map(|asked| asked.retry.max_attempts.into()).collect();
    let pools: Vec<&str> = batch.iter().map(|(_, lane)| lane.pool()).collect();
    let (own, at, in_line) = (tenant.uuid(), micros(now), ready == Ready::InLine);
    let params: [&(dyn ToSql + Sync); 15] = [
        &own, &ids, &lanes, &tiers, &texts, &idems, &kinds, &owners, &parts, &people, &times,
        &lasts, &pools, &at, &in_line,
    ];
    let made = session.query_raw("task_enqueue", ENQUEUE, &params)?;
    if made.len() == batch.len() {
        return Ok(batch.iter().map(|(task, lane)| new(task, lane)).collect());
    }
    let made: Vec<Uuid> =
        made.iter().map(|row| Row::Postgres(row).uuid(0)).collect::<Result<_>>()?;
    let rows = session.query_raw("task_by_idems", BY_IDEM, &[&own, &idems])?;
    let mut known = HashMap::new();
    for row in &rows {
        let row = Row::Postgres(row);
        known.insert(row.text(0)?, TaskId::from_uuid(row.uuid(1)?));
    }
    let outcome = |(task, lane): &(&Task, &Lane)| {
        if made.contains(&task.id.uuid()) {
            return Ok(new(task, lane));
        }
        let found = task.asked.key.as_ref().and_then(|key| known.get(key));
        found.map(|id| Enqueued::Known(*id)).ok_or_else(|| Error::Unavailable(None))
    };
    batch.iter().map(outcome).collect()
}

fn new(task: &Task, lane: &Lane) -> Enqueued {
    Enqueued::New(first_spot(task, lane), TaskState::Ready)
}

/// Locks those workers that are there: returns who, how much each can have, and since when what it has
/// can have begun.
fn lock_workers(
    session: &mut Session,
    tenant: TenantId,
    (workers, now): (&[Uuid], i64),
) -> Result<(Vec<Uuid>, Vec<i64>, Vec<i64>)> {
    let (mut ids, mut capacities, mut since) = (Vec::new(), Vec::new(), Vec::new());
    for row in &session.query_raw("worker_lock", LOCK_WORKERS, &[&tenant.uuid(), &workers])? {
        let row = Row::Postgres(row);
        let id = row.uuid(0)?;
        ids.push(id);
        capacities.push(row.int(1)?);
        since.push(session.floors.of(id, now));
    }
    Ok((ids, capacities, since))
}

/// Hands tasks out that this transaction has locked.
pub(super) fn hand_out(
    session: &mut Session,
    tenant: TenantId,
    given: &[(Head, WorkerId)],
    leases: &[Lease],
) -> Result<HashSet<TaskId>> {
    let spots = || leases.iter().map(|lease| &lease.spot);
    let tasks: Vec<Uuid> = spots().map(|spot| spot.task.uuid()).collect();
    let lanes: Vec<&str> = spots().map(|spot| spot.lane.as_str()).collect();
    let tiers: Vec<i64> = spots().map(|spot| spot.priority.tier()).collect();
    let times: Vec<i64> = given.iter().map(|(head, _)| micros(head.at)).collect();
    let attempts: Vec<i64> = spots().map(|spot| spot.attempt.into()).collect();
    let lasts: Vec<i64> = spots().map(|spot| spot.last.into()).collect();
    let workers: Vec<Uuid> = leases.iter().map(|lease| lease.worker.uuid()).collect();
    let starts: Vec<i64> = leases.iter().map(|lease| micros(lease.started_at)).collect();
    let ends: Vec<Option<i64>> = leases.iter().map(|lease| lease.ends_at.map(micros)).collect();
    let in_line: Vec<bool> = given.iter().map(|(head, _)| head.from == Ready::InLine).collect();
    let own = tenant.uuid();
    let now = starts.iter().copied().min().unwrap_or_default();
    let (alive, capacities, since) = lock_workers(session, tenant, (&workers, now))?;
    let params: [&(dyn ToSql + Sync); 14] = [
        &own,
        &tasks,
        &lanes,
        &tiers,
        &times,
        &attempts,
        &lasts,
        &workers,
        &starts,
        &ends,
        &in_line,
        &alive,
        &capacities,
        &since,
    ];
    let mut moved = HashSet::with_capacity(tasks.len());
    for row in &session.query_raw("task_hand_out", HAND_OUT, &params)? {
        let row = Row::Postgres(row);
        moved.insert(TaskId::from_uuid(row.uuid(0)?));
        session.floors.see(row.uuid(1)?, row.int(2)?);
    }
    Ok(moved)
}

/// Puts new tasks into their lines.
pub(super) fn line_up(
    session: &mut Session,
    tenant: TenantId,
    spots: &[&Spot],
    now: Timestamp,
) -> Result<()> {
    let tasks: Vec<Uuid> = spots.iter().map(|spot| spot.task.uuid()).collect();
    let lanes: Vec<&str> = spots.iter().map(|spot| spot.lane.as_str()).collect();
    let tiers: Vec<i64> = spots.iter().map(|spot| spot.priority.tier()).collect();
    let lasts: Vec<i64> = spots.iter().map(|spot| spot.last.into()).collect();
    let (own, at) = (tenant.uuid(), micros(now));
    let params: [&(dyn ToSql + Sync); 6] = [&own, &tasks, &lanes, &tiers, &lasts, &at];
    session.query_raw("task_line_up", LINE_UP, &params).map(drop)
}

/// Returns the heads of some lines, and locks them.
pub(super) fn heads(
    session: &mut Session,
    tenant: TenantId,
    lanes: &[&Lane],
    limit: usize,
) -> Result<Vec<Head>> {
    let lanes: Vec<&str> = lanes.iter().map(|lane| lane.as_str()).collect();
    let params: [&(dyn ToSql + Sync); 3] = [&tenant.uuid(), &lanes, &(limit as i64)];
    let rows = session.query_raw("task_heads", HEADS, &params)?;
    rows.iter().map(|row| claim::head(&Row::Postgres(row))).collect()
}

/// Settles tasks that were done.
pub(super) fn succeed(
    session: &mut Session,
    tenant: TenantId,
    batch: &[Done],
    now: Timestamp,
) -> Result<Vec<Option<Settled>>> {
    let tasks: Vec<Uuid> = batch.iter().map(|done| done.fence.task.uuid()).collect();
    let attempts: Vec<i64> = batch.iter().map(|done| done.fence.attempt.into()).collect();
    let workers: Vec<Uuid> = batch.iter().map(|done| done.fence.worker.uuid()).collect();
    let results: Vec<Option<&str>> =
        batch.iter().map(|done| done.result.as_ref().map(Payload::as_str)).collect();
    let (own, at) = (tenant.uuid(), micros(now));
    let params: [&(dyn ToSql + Sync); 6] = [&own, &tasks, &attempts, &workers, &results, &at];
    let mut settled = HashMap::new();
    for row in &session.query_raw("task_succeed", SUCCEED, &params)? {
        let has_children = row
            .try_get(6)
            .map_err(|cause| Error::Unreadable { what: "column", cause: cause.into() })?;
        let row = Row::Postgres(row);
        let spot = super::rows::spot(&row)?;
        let started_at = from_micros(row.int(5)?);
        let worker = WorkerId::from_uuid(row.uuid(7)?);
        let fence = Fence { task: spot.task, attempt: spot.attempt, worker };
        settled.insert(fence, Settled { spot, started_at, has_children });
    }
    // One that says it twice in a batch is heard once, and who speaks for another not at all.
    Ok(batch.iter().map(|done| settled.remove(&done.fence)).collect())
}

/// Lets delayed tasks be handed out.
pub(super) fn promote(
    session: &mut Session,
    tenant: TenantId,
    tasks: &[TaskId],
    now: Timestamp,
) -> Result<Vec<Spot>> {
    let ids: Vec<Uuid> = tasks.iter().map(|task| task.uuid()).collect();
    let params: [&(dyn ToSql + Sync); 3] = [&tenant.uuid(), &ids, &micros(now)];
    let rows = session.query_raw("task_promote", PROMOTE, &params)?;
    rows.iter().map(|row| super::rows::spot(&Row::Postgres(row))).collect()
}

/// Keeps others from changing who waits for whom (`alone`), or from doing so alone.
pub(super) fn lock_graph(session: &mut Session, tenant: TenantId, alone: bool) -> Result<()> {
    let text = if alone { LOCK_ALONE } else { LOCK_SHARED };
    let name = if alone { "graph_lock_alone" } else { "graph_lock_shared" };
    let key = (tenant.uuid().as_u128() & u128::from(u64::MAX >> 1)) as i64;
    session.query_raw(name, text, &[&key]).map(drop)
}
