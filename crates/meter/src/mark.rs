//! Up to when was paid.

use godel_fleet::paper::{self, Filed};
use godel_fleet::{Error, Result};
use godel_model::{Seq, TenantId};
use godel_store::Tx;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The state of a mark while there are rates.
const ON: &str = "on";
const OFF: &str = "off";

/// Up to when a tenant has paid for its agents, or for its part of a place with snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The tenant, or what stands for it and the place.
    id: Uuid,
    /// Whether there are rates. While there are none time goes by unpaid.
    on: bool,
    /// Up to when was paid.
    pub until: Timestamp,
    /// Up to which event agents were looked at that moved.
    pub seen: Seq,
}

impl Filed for Mark {
    const KIND: &'static str = "meter";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn owner(&self) -> String {
        String::new()
    }

    fn state(&self) -> &str {
        if self.on { ON } else { OFF }
    }

    fn missing(what: String) -> Error {
        Error::Paper(format!("nobody knows up to when {what} was paid"))
    }
}

/// Lists the tenants that paid when they were last looked at.
pub(crate) fn payers(tx: &mut Tx<'_>) -> Result<Vec<TenantId>> {
    Ok(tx.papers(Mark::KIND).tenants(ON)?)
}

/// Finds up to when was paid. Where there are rates for the first time it is paid from now on, and where there
/// are none any more not at all: both return none.
pub(crate) fn due(
    tx: &mut Tx<'_>,
    id: Uuid,
    (now, is_paid): (Timestamp, bool),
) -> Result<Option<Mark>> {
    let (seen, _) = tx.events().bounds()?;
    let begin = Mark { id, on: is_paid, until: now, seen };
    let Some(known) = paper::by_id::<Mark>(tx, id)? else {
        if is_paid {
            paper::insert(tx, &begin)?;
        }
        return Ok(None);
    };
    if known.on && is_paid {
        return Ok(Some(known));
    }
    if known.on != is_paid {
        paper::change_in::<Mark, ()>(tx, id, |_, mark| {
            *mark = begin;
            Ok(())
        })?;
    }
    Ok(None)
}

/// Lets nothing be paid for room any more: takes the marks of all places off.
pub(crate) fn end_room(tx: &mut Tx<'_>, tenant: TenantId) -> Result<()> {
    let marks: Vec<Mark> = paper::all_in_state(tx, ON)?;
    for mark in marks.iter().filter(|mark| mark.id != tenant.uuid()) {
        paper::change_in::<Mark, ()>(tx, mark.id, |_, mark| {
            mark.on = false;
            Ok(())
        })?;
    }
    Ok(())
}

/// Says that was paid from one mark up to another; `false` if somebody else did.
pub(crate) fn move_on(tx: &mut Tx<'_>, from: &Mark, to: (Timestamp, Seq)) -> Result<bool> {
    let work = |_: &mut Tx<'_>, mark: &mut Mark| {
        if mark != from {
            return Ok(false);
        }
        (mark.until, mark.seen) = to;
        Ok(true)
    };
    Ok(paper::change_in::<Mark, bool>(tx, from.id, work)?.1)
}
