//! Appending events: one statement a tenant, and the head of the log is locked last and shortest.

use std::sync::Arc;

use godel_model::chain::{AuditKey, Bound, End, Link};
use godel_model::{AuditEntry, EventId, NewEvent, Seq, TenantId, UserId, micros};
use postgres::types::ToSql;
use uuid::Uuid;

use super::outcome::{Row, Trace};
use super::session::Session;
use crate::hub::Logged;
use crate::tables::events::refs_text;
use crate::tables::idempotency::Receipt;
use crate::{Error, Result};

/// Keeps others from appending until the commit; what is to be said before that goes along.
///
/// It is a statement before the one that appends: that one must see what was committed while this one
/// waited. The row is locked and not written, because each version that is written would be walked
/// over while somebody holds on to an old state.
pub(super) fn lock_head(session: &mut Session, tenant: TenantId, first: &str) -> Result<()> {
    const NAME: &str = "stream_head_lock";
    if first.is_empty() {
        return session.query_raw(NAME, LOCK_HEAD, &[&tenant.uuid()]).map(drop);
    }
    // The id is a UUID, so nothing in it can be taken for SQL.
    let lock = format!("{first} SELECT FROM stream_head WHERE tenant = '{tenant}' FOR UPDATE;");
    session.batch(NAME, &lock)
}

pub(super) const LOCK_HEAD: &str = "SELECT FROM stream_head WHERE tenant = $1 FOR UPDATE";

/// Inserts all events of a tenant in this transaction behind its newest one.
///
/// The head of the log is locked until the commit, so positions are in commit order without a gap. The
/// transaction's own id comes along for free: with it can be asked whether a commit whose answer
/// was lost still goes on.
pub(super) const APPEND: &str = "
    WITH head AS (
        SELECT GREATEST(h.seq, (SELECT e.seq FROM event e WHERE e.tenant = $1
                                ORDER BY e.seq DESC LIMIT 1)) AS base
        FROM stream_head h WHERE h.tenant = $1
    ), stored AS (
        INSERT INTO event (tenant, seq, id, kind, at, source, instance, version, payload,
                           correlation, causation, actor, trace, refs)
        SELECT $1, head.base + e.place, e.id, e.kind, e.at, e.source, e.instance, e.version,
               e.payload, e.correlation, e.causation, e.actor, e.trace, e.refs
        FROM head, unnest($2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                          $8::text[], $9::text[], $10::uuid[], $11::text[], $12::text[],
                          $13::text[])
             WITH ORDINALITY AS e (id, kind, at, source, instance, version, payload, correlation,
                                   causation, actor, trace, refs, place)
    )
    SELECT base, pg_current_xact_id()::text FROM head";

/// Appends one tenant's events behind its head, which must be locked; returns the position before the first, and the transaction's id.
pub(super) fn append(
    session: &mut Session,
    tenant: TenantId,
    events: &[NewEvent],
) -> Result<(Seq, String)> {
    let tenant_id = tenant.uuid();
    let ids: Vec<Uuid> = events.iter().map(|event| event.id.uuid()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    let times: Vec<i64> = events.iter().map(|event| micros(event.at)).collect();
    let sources: Vec<&str> = events.iter().map(|e| e.source.component.as_str()).collect();
    let instances: Vec<_> = events.iter().map(|e| e.source.instance.as_deref()).collect();
    let versions: Vec<_> = events.iter().map(|e| e.source.version.as_deref()).collect();
    let payloads: Vec<&str> = events.iter().map(|event| event.payload.as_str()).collect();
    let correlations: Vec<_> =
        events.iter().map(|event| event.metadata.correlation_id.as_deref()).collect();
    let causations: Vec<Option<Uuid>> =
        events.iter().map(|event| event.metadata.causation_id.map(EventId::uuid)).collect();
    let actors: Vec<_> = events.iter().map(|event| event.metadata.actor.as_deref()).collect();
    let traces: Vec<_> = events.iter().map(|event| event.metadata.trace_id.as_deref()).collect();
    let refs: Vec<Option<String>> = events.iter().map(|e| refs_text(&e.metadata)).collect();
    let params: [&(dyn ToSql + Sync); 13] = [
        &tenant_id,
        &ids,
        &kinds,
        &times,
        &sources,
        &instances,
        &versions,
        &payloads,
        &correlations,
        &causations,
        &actors,
        &traces,
        &refs,
    ];
    let rows = session.query_raw("event_append", APPEND, &params)?;
    let row = rows.first().ok_or_else(|| Error::Unreadable {
        what: "log head",
        cause: format!("tenant {tenant} has no log").into(),
    })?;
    let unreadable =
        |cause: postgres::Error| Error::Unreadable { what: "log head", cause: cause.into() };
    Ok((Seq(row.try_get(0).map_err(unreadable)?), row.try_get(1).map_err(unreadable)?))
}

/// Leaves the receipts of events as the results of idempotency keys, all in one round trip.
pub(super) const NOTE: &str = "
    UPDATE idempotency SET result = note.result
    FROM unnest($2::text[], $3::text[]) AS note (key, result)
    WHERE idempotency.tenant = $1 AND idempotency.key = note.key";

/// Stores the receipts of those events that were recorded for an idempotency key.
pub(super) fn note(
    session: &mut Session,
    tenant: TenantId,
    events: &[Arc<Logged>],
    receipts: &[(EventId, String)],
) -> Result<()> {
    let (mut keys, mut results) = (Vec::new(), Vec::new());
    for (id, key) in receipts {
        if let Some(logged) = events.iter().find(|logged| logged.event.id == *id) {
            keys.push(key.as_str());
            results.push(Receipt::text(&logged.event)?);
        }
    }
    if keys.is_empty() {
        return Ok(());
    }
    session.query_raw("idempotency_notes", NOTE, &[&tenant.uuid(), &keys, &results]).map(drop)
}

/// Locks the end of the tenant's chain until the commit, so that rows are in commit order.
pub(super) const LOCK_CHAIN: &str = "SELECT seq, mac FROM audit_head WHERE tenant = $1 FOR UPDATE";
/// Begins the chain of a tenant.
pub(super) const BEGIN_CHAIN: &str = "
    INSERT INTO audit_head (tenant, seq, mac, seal, trimmed, trimmed_mac, trimmed_seal)
    VALUES ($1, 0, $2, $3, 0, $2, $4) ON CONFLICT (tenant) DO NOTHING";
/// Inserts rows and moves the end of the chain behind them.
pub(super) const APPEND_ACTS: &str = "
    WITH stored AS (
        INSERT INTO audit (tenant, seq, at, person, action, resource, result, trace, detail,
                           personal, digest, mac)
        SELECT $1, a.* FROM unnest($2::bigint[], $3::bigint[], $4::uuid[], $5::text[], $6::text[],
                                   $7::text[], $8::text[], $9::text[], $10::text[], $11::bytea[],
                                   $12::bytea[]) AS a
    )
    UPDATE audit_head SET seq = $13, mac = $14, seal = $15 WHERE tenant = $1
    RETURNING pg_current_xact_id()::text";

/// Appends acts to one tenant's chain; returns by what the transaction can be found again.
pub(super) fn append_acts(
    session: &mut Session,
    tenant: TenantId,
    acts: Vec<AuditEntry>,
    key: &AuditKey,
) -> Result<Option<Trace>> {
    let mut newest = lock_chain(session, tenant, key)?;
    let mut rows: Vec<Bound> = Vec::with_capacity(acts.len());
    for act in acts {
        let bound = key.bind(tenant, &newest, act);
        newest = bound.link();
        rows.push(bound);
    }
    let (id, seal) = (tenant.uuid(), key.seal(tenant, End::Newest, &newest));
    let seqs: Vec<i64> = rows.iter().map(|r| r.row.seq).collect();
    let times: Vec<i64> = rows.iter().map(|r| micros(r.row.entry.at)).collect();
    let people: Vec<Option<Uuid>> =
        rows.iter().map(|r| r.row.entry.user.map(UserId::uuid)).collect();
    let actions: Vec<&str> = rows.iter().map(|r| r.row.entry.action.as_str()).collect();
    let resources: Vec<&str> = rows.iter().map(|r| r.row.entry.resource.as_str()).collect();
    let results: Vec<&str> = rows.iter().map(|r| r.row.entry.result.as_str()).collect();
    let traces: Vec<_> = rows.iter().map(|r| r.row.entry.trace_id.as_deref()).collect();
    let details: Vec<&str> = rows.iter().map(|r| r.row.entry.detail.as_str()).collect();
    let personal: Vec<_> = rows.iter().map(|r| r.personal.as_deref()).collect();
    let digests: Vec<&[u8]> = rows.iter().map(|r| r.row.digest.as_slice()).collect();
    let macs: Vec<&[u8]> = rows.iter().map(|r| r.row.mac.as_slice()).collect();
    let params: [&(dyn ToSql + Sync); 15] = [
        &id,
        &seqs,
        &times,
        &people,
        &actions,
        &resources,
        &results,
        &traces,
        &details,
        &personal,
        &digests,
        &macs,
        &newest.seq,
        &newest.mac.as_slice(),
        &seal.as_slice(),
    ];
    let rows = session.query_raw("audit_append", APPEND_ACTS, &params)?;
    let xid = rows.first().and_then(|row| row.try_get(0).ok());
    Ok(xid.map(|xid| Trace { xid, tenant, seq: newest.seq, row: Row::Act(newest.mac) }))
}

fn lock_chain(session: &mut Session, tenant: TenantId, key: &AuditKey) -> Result<Link> {
    let id = tenant.uuid();
    for _ in 0..2 {
        let rows = session.query_raw("audit_head_lock", LOCK_CHAIN, &[&id])?;
        if let Some(row) = rows.first() {
            let unreadable = |cause: crate::error::Cause| Error::Unreadable {
                what: "end of the record of acts",
                cause,
            };
            let seq = row.try_get(0).map_err(|cause| unreadable(cause.into()))?;
            let mac: Vec<u8> = row.try_get(1).map_err(|cause| unreadable(cause.into()))?;
            let mac =
                mac.try_into().map_err(|_| unreadable("its hash has another length".into()))?;
            return Ok(Link { seq, mac });
        }
        let start = Link::default();
        let (seal, trimmed) =
            (key.seal(tenant, End::Newest, &start), key.seal(tenant, End::Trimmed, &start));
        let params: [&(dyn ToSql + Sync); 4] =
            [&id, &start.mac.as_slice(), &seal.as_slice(), &trimmed.as_slice()];
        session.query_raw("audit_head_begin", BEGIN_CHAIN, &params)?;
    }
    Err(Error::Unreadable {
        what: "end of the record of acts",
        cause: format!("tenant {tenant} has none").into(),
    })
}
