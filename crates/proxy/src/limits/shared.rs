//! Limits that several servers share through Redis.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use godel_decide::UsedUp;
use godel_hints::{Hints, Room, Share};
use jiff::Timestamp;

use super::{Gate, Place, REDIS_PAUSE_MS, Refused, Seat, leases, limits_of};
use crate::config::LimitTable;
use crate::who::Who;

impl Gate {
    /// Takes a place on all servers, and what the request uses.
    pub(super) async fn share_all(
        &self,
        place: &mut Place,
        rules: (&Who, &LimitTable),
        amounts: (u32, u64),
        now: Timestamp,
    ) -> Result<(), Refused> {
        if let Some(hints) = &self.hints {
            self.lease(hints, place, rules, now).await?;
            place.shared = self.share((hints, place), rules, amounts, now).await?;
        }
        Ok(())
    }

    /// Takes a place among those who are under way on all servers.
    async fn lease(
        &self,
        hints: &Hints,
        place: &mut Place,
        (who, table): (&Who, &LimitTable),
        now: Timestamp,
    ) -> Result<(), Refused> {
        let limited = place.entered().filter_map(|seat| {
            let owner = &seat.owner;
            let limit = limits_of(owner, who, table).concurrent?;
            Some((seat, Room { name: format!("{}:{}", owner.kind, owner.name), limit }))
        });
        let (whose, rooms): (Vec<&Arc<Seat>>, Vec<Room>) = limited.unzip();
        let Some(tenant) = whose.first().map(|seat| seat.owner.tenant) else { return Ok(()) };
        let whose: Vec<Arc<Seat>> = whose.into_iter().cloned().collect();
        let id = self.leases.begin(tenant, &rooms);
        // From now on its drop gives it back, also if nobody waits for the answer any more.
        place.lease = Some(id);
        if now.as_millisecond() < self.redis_again_ms.load(Ordering::Relaxed) {
            return Ok(());
        }
        match hints.enter(tenant, &leases::name(id), &rooms, leases::LEASE).await {
            Ok(None) => Ok(()),
            Ok(Some(full)) => {
                let (Some(seat), Some(room)) = (whose.get(full), rooms.get(full)) else {
                    return Ok(());
                };
                Err(seat.owner.busy(room.limit))
            }
            Err(error) => {
                self.rest(&error, now);
                Ok(())
            }
        }
    }

    /// Leaves Redis alone for a while.
    fn rest(&self, error: &godel_hints::Error, now: Timestamp) {
        tracing::warn!(%error, "limits of models are not shared for some seconds");
        let again = now.as_millisecond() + REDIS_PAUSE_MS;
        self.redis_again_ms.store(again, Ordering::Relaxed);
    }

    /// Asks Redis, whose buckets all servers share; tells whether it took its part.
    async fn share(
        &self,
        (hints, place): (&Hints, &Place),
        (who, table): (&Who, &LimitTable),
        (weight, tokens): (u32, u64),
        now: Timestamp,
    ) -> Result<bool, Refused> {
        if now.as_millisecond() < self.redis_again_ms.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let (mut shares, mut whose, mut debts) = (Vec::new(), Vec::new(), Vec::new());
        for seat in place.entered() {
            let (owner, limits) = (&seat.owner, limits_of(&seat.owner, who, table));
            let debt = Debt::of(seat);
            let used = debt.used;
            debts.push(debt);
            for (what, quota, amount, used) in [
                ("requests", limits.requests(), f64::from(weight), 0.0),
                ("tokens", limits.tokens(), tokens as f64, used),
            ] {
                for (window, window_ms, limit) in quota.limits() {
                    let name = format!("{}:{}:{what}:{window}", owner.kind, owner.name);
                    shares.push(Share { name, limit, window_ms, amount, used });
                    whose.push((owner, what, window, limit));
                }
            }
        }
        let Some((owner, ..)) = whose.first() else {
            debts.into_iter().for_each(Debt::settle);
            return Ok(false);
        };
        let answer = hints.take_all(owner.tenant, &shares).await;
        if answer.is_ok() {
            debts.into_iter().for_each(Debt::settle);
        }
        match answer {
            Ok(None) => Ok(true),
            Ok(Some(lacking)) => {
                let Some((owner, what, window, limit)) = whose.get(lacking.place) else {
                    return Ok(false);
                };
                let retry_after_ms = lacking.wait_ms.ceil() as u64;
                Err(owner.refused(what, UsedUp { limit: *limit, window, retry_after_ms }))
            }
            Err(error) => {
                self.rest(&error, now);
                Ok(false)
            }
        }
    }
}

/// What was used beyond what was taken, on its way to Redis. Unless Redis is known to have heard of it, its drop
/// gives it back: too much is counted rather than too little.
struct Debt<'a> {
    seat: &'a Arc<Seat>,
    used: f64,
}

impl<'a> Debt<'a> {
    fn of(seat: &'a Arc<Seat>) -> Self {
        let mut used = 0.0;
        seat.change(|stand| used = std::mem::take(&mut stand.debt));
        Self { seat, used }
    }

    fn settle(mut self) {
        self.used = 0.0;
    }
}

impl Drop for Debt<'_> {
    fn drop(&mut self) {
        if self.used != 0.0 {
            self.seat.change(|stand| stand.debt += self.used);
        }
    }
}
