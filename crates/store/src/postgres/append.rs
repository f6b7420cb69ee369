//! Appending events: one statement a tenant, and the head of the log is locked last and shortest.

use std::sync::Arc;

use godel_model::{EventId, NewEvent, Seq, TenantId, micros};
use postgres::types::ToSql;
use uuid::Uuid;

use super::session::Session;
use crate::hub::Logged;
use crate::tables::events::refs_text;
use crate::tables::idempotency::Receipt;
use crate::{Error, Result};

/// Bumps the tenant's head and inserts all its events of this transaction behind it.
///
/// The row lock on the head is held until the commit, so positions are in commit order without a
/// gap. The transaction's own id comes along for free: with it the outcome of a commit whose answer
/// was lost can be asked for.
pub(super) const APPEND: &str = "
    WITH head AS (
        UPDATE stream_head SET seq = seq + $2 WHERE tenant = $1 RETURNING seq - $2 AS base
    ), stored AS (
        INSERT INTO event (tenant, seq, id, kind, at, source, instance, version, payload,
                           correlation, causation, actor, trace, refs)
        SELECT $1, head.base + e.place, e.id, e.kind, e.at, e.source, e.instance, e.version,
               e.payload, e.correlation, e.causation, e.actor, e.trace, e.refs
        FROM head, unnest($3::uuid[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[],
                          $9::text[], $10::text[], $11::uuid[], $12::text[], $13::text[],
                          $14::text[])
             WITH ORDINALITY AS e (id, kind, at, source, instance, version, payload, correlation,
                                   causation, actor, trace, refs, place)
    )
    SELECT base, pg_current_xact_id()::text FROM head";

/// Appends one tenant's events; returns the position before the first, and the transaction's id.
pub(super) fn append(
    session: &mut Session,
    tenant: TenantId,
    events: &[NewEvent],
) -> Result<(Seq, String)> {
    let tenant_id = tenant.uuid();
    let count = events.len() as i64;
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
    let params: [&(dyn ToSql + Sync); 14] = [
        &tenant_id,
        &count,
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
