//! Steps whose task cannot be made: they fail with the reason, so that no run waits for ever.

use std::collections::{HashSet, VecDeque};

use godel_decide::workflow::{Effect, Fault, Input, TaskOrder};
use godel_model::{Lane, Report as _, TenantId};
use jiff::Timestamp;

use super::effects::asked;
use super::engine::{Loaded, take_in};
use crate::queue::lanes;
use crate::{App, Error, Result};

/// Lets steps fail whose task nobody would take in; returns what is left to do, and what follows.
pub(super) async fn refuse_misfits(
    app: &App,
    tenant: TenantId,
    loaded: &mut Loaded,
    (effects, now): (Vec<Effect>, Timestamp),
) -> Result<Vec<Effect>> {
    let mut kept = Vec::with_capacity(effects.len());
    let (mut left, mut wanted) = (VecDeque::from(effects), HashSet::new());
    while let Some(effect) = left.pop_front() {
        let Effect::EnqueueTask(order) = &effect else {
            kept.push(effect);
            continue;
        };
        let (step, round) = (order.step, order.round);
        match fits(app, (tenant, loaded), order.as_ref(), &mut wanted).await? {
            None => kept.push(effect),
            Some(fault) => {
                let input = Input::TaskFailed { step, round, fault, last: true };
                let mut more = Vec::new();
                take_in(&mut loaded.run, input, now, &mut more)?;
                left.extend(more);
            }
        }
    }
    Ok(kept)
}

/// Tells why a task cannot be made, if so.
async fn fits(
    app: &App,
    (tenant, loaded): (TenantId, &Loaded),
    order: &TaskOrder,
    wanted: &mut HashSet<Lane>,
) -> Result<Option<Fault>> {
    let lane = match asked(&loaded.record, order.clone()).check() {
        Ok(lane) => lane,
        Err(why) => return Ok(Some(Fault::new("task_refused", why.to_string()))),
    };
    if wanted.contains(&lane) || app.lanes.knows(tenant, &lane) {
        return Ok(None);
    }
    // What the other steps of this turn need counts too.
    let mut all = wanted.clone();
    all.insert(lane.clone());
    match lanes::check(app, tenant, all).await {
        Ok(()) => {
            wanted.insert(lane);
            Ok(None)
        }
        Err(Error::Queue(why)) => Ok(Some(Fault::new(why.code().name(), why.to_string()))),
        Err(error) => Err(error),
    }
}
