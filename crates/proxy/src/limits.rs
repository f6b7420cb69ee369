//! How much each user, project and agent may use.
//!
//! The buckets are in memory, in shards with a lock each, so that callers do not wait for one
//! another. With Redis several servers share them, and how many go on at the same time; without
//! it, or when it does not answer, each server counts for itself: laxer for a while, never closed.

mod leases;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use godel_decide::{Left, Meterage, Quota, UsedUp};
use godel_model::TenantId;
use godel_store::hints::{Hints, Room, Share};
use jiff::Timestamp;

use self::leases::Leases;
use crate::config::{LimitTable, Limits};
use crate::who::Who;

const SHARDS: usize = 16;
/// Above this number in a shard, those who are idle are forgotten.
const SHARD_MAX: usize = 4_096;
/// For how long Redis is left alone after it did not answer.
const REDIS_PAUSE_MS: i64 = 5_000;

/// Whose limit it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Owner {
    tenant: TenantId,
    /// `user`, `project` or `agent`.
    kind: &'static str,
    name: String,
}

#[derive(Debug)]
struct Stand {
    requests: Meterage,
    tokens: Meterage,
    open: u32,
    /// How many tokens were used beyond those that were taken ahead, until Redis hears of it.
    debt: f64,
}

type Shard = HashMap<Owner, Stand>;

/// Everybody's limits.
#[derive(Debug)]
pub(crate) struct Gate {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    hints: Option<Hints>,
    redis_again_ms: AtomicI64,
    leases: Leases,
}

/// Why a request must wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// What is used up, as a sentence.
    pub(crate) why: String,
    /// After how many seconds to try again.
    pub(crate) retry_after: u64,
}

/// A place at the gate; who drops it makes room.
#[derive(Debug)]
pub(crate) struct Place {
    gate: Arc<Gate>,
    owners: Vec<(Owner, Limits)>,
    /// How many tokens were taken ahead, and whether it was told how many were used.
    taken: u64,
    told: bool,
    /// Whether they were taken from what all servers share, too.
    shared: bool,
    /// What is left of the tightest limit of requests.
    pub(crate) left: Option<Left>,
    /// Under which number the other servers know of it.
    lease: Option<u128>,
}

impl Gate {
    /// Makes a gate.
    pub(crate) fn new(hints: Option<Hints>) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            hints,
            redis_again_ms: AtomicI64::new(0),
            leases: Leases::default(),
        }
    }

    /// Lets the other servers know who is under way here; never ends.
    pub(crate) async fn tend(&self) {
        match &self.hints {
            Some(hints) => self.leases.tend(hints).await,
            None => std::future::pending().await,
        }
    }

    /// Lets the other servers know who has left.
    pub(crate) async fn tidy(&self) {
        if let Some(hints) = &self.hints {
            self.leases.tell_left(hints).await;
        }
    }

    fn shard(&self, owner: &Owner) -> MutexGuard<'_, Shard> {
        let at = self.hasher.hash_one(owner) as usize % SHARDS;
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for a request of `weight` requests and about `tokens` tokens.
    ///
    /// # Errors
    /// If somebody's limit is used up; then nothing was taken.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        who: &Who,
        table: &LimitTable,
        (weight, tokens): (u32, u64),
        now: Timestamp,
    ) -> Result<Place, Refused> {
        let mut place = Place {
            gate: Arc::clone(self),
            owners: Vec::with_capacity(3),
            taken: tokens,
            told: false,
            shared: false,
            left: None,
            lease: None,
        };
        for (owner, limits) in owners(who, table) {
            if limits == Limits::default() {
                continue;
            }
            let left = match self.take(&owner, &limits, (weight, tokens), now) {
                Ok(left) => left,
                Err(refused) => {
                    place.undo(weight);
                    return Err(refused);
                }
            };
            place.owners.push((owner, limits));
            place.left = match (place.left, left) {
                (Some(a), Some(b)) => Some(if b.remaining < a.remaining { b } else { a }),
                (a, b) => a.or(b),
            };
        }
        if let Err(refused) = self.lease(&mut place, now).await {
            place.undo(weight);
            return Err(refused);
        }
        match self.share(&place, (weight, tokens), now).await {
            Ok(shared) => place.shared = shared,
            Err(refused) => {
                place.undo(weight);
                return Err(refused);
            }
        }
        Ok(place)
    }

    fn take(
        &self,
        owner: &Owner,
        limits: &Limits,
        (weight, tokens): (u32, u64),
        now: Timestamp,
    ) -> Result<Option<Left>, Refused> {
        let (requests, token_quota) = (limits.requests(), limits.tokens());
        let mut shard = self.shard(owner);
        if shard.len() > SHARD_MAX {
            shard.retain(|_, stand| {
                stand.open > 0
                    || !stand.requests.is_idle(requests, now)
                    || !stand.tokens.is_idle(token_quota, now)
            });
        }
        let stand = shard.entry(owner.clone()).or_insert_with(|| Stand {
            requests: Meterage::full(requests, now),
            tokens: Meterage::full(token_quota, now),
            open: 0,
            debt: 0.0,
        });
        if let Some(most) = limits.concurrent.filter(|most| stand.open >= *most) {
            return Err(owner.busy(most));
        }
        let left = stand.requests.take(requests, weight.into(), now);
        let left = left.map_err(|used| owner.refused("requests", used))?;
        // A quota of tokens lets through whoever has any left; what is used is taken later.
        if let Err(used) = stand.tokens.take(token_quota, tokens as f64, now) {
            stand.requests.charge(-f64::from(weight));
            return Err(owner.refused("tokens", used));
        }
        stand.open += 1;
        Ok(left)
    }

    /// Takes a place among those who are under way on all servers.
    async fn lease(&self, place: &mut Place, now: Timestamp) -> Result<(), Refused> {
        let Some(hints) = &self.hints else { return Ok(()) };
        let limited = place.owners.iter().filter_map(|(owner, limits)| {
            let name = format!("{}:{}", owner.kind, owner.name);
            Some((owner, Room { name, limit: limits.concurrent? }))
        });
        let (whose, rooms): (Vec<&Owner>, Vec<Room>) = limited.unzip();
        let Some(first) = whose.first() else { return Ok(()) };
        let id = self.leases.begin(first.tenant, &rooms);
        // From now on its drop gives it back, also if nobody waits for the answer any more.
        place.lease = Some(id);
        if now.as_millisecond() < self.redis_again_ms.load(Ordering::Relaxed) {
            return Ok(());
        }
        match hints.enter(first.tenant, &leases::name(id), &rooms, leases::LEASE).await {
            Ok(None) => Ok(()),
            Ok(Some(full)) => {
                let (Some(owner), Some(room)) = (whose.get(full), rooms.get(full)) else {
                    return Ok(());
                };
                Err(owner.busy(room.limit))
            }
            Err(error) => {
                self.rest(&error, now);
                Ok(())
            }
        }
    }

    /// Leaves Redis alone for a while.
    fn rest(&self, error: &godel_store::Error, now: Timestamp) {
        tracing::warn!(%error, "limits of models are not shared for some seconds");
        let again = now.as_millisecond() + REDIS_PAUSE_MS;
        self.redis_again_ms.store(again, Ordering::Relaxed);
    }

    /// Asks Redis, whose buckets all servers share; tells whether it took its part.
    async fn share(
        &self,
        place: &Place,
        (weight, tokens): (u32, u64),
        now: Timestamp,
    ) -> Result<bool, Refused> {
        let Some(hints) = &self.hints else { return Ok(false) };
        if now.as_millisecond() < self.redis_again_ms.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let (mut shares, mut whose) = (Vec::new(), Vec::new());
        for (owner, limits) in &place.owners {
            let debt = self.debt(owner);
            for (what, quota, amount, used) in [
                ("requests", limits.requests(), f64::from(weight), 0.0),
                ("tokens", limits.tokens(), tokens as f64, debt),
            ] {
                for (window, window_ms, limit) in quota.limits() {
                    let name = format!("{}:{}:{what}:{window}", owner.kind, owner.name);
                    shares.push(Share { name, limit, window_ms, amount, used });
                    whose.push((owner, what, window, limit));
                }
            }
        }
        let Some((owner, ..)) = whose.first() else { return Ok(false) };
        match hints.take_all(owner.tenant, &shares).await {
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

    /// Takes what somebody used and the other servers do not know of yet.
    fn debt(&self, owner: &Owner) -> f64 {
        self.shard(owner).get_mut(owner).map_or(0.0, |stand| std::mem::take(&mut stand.debt))
    }
}

impl Owner {
    fn said(&self) -> String {
        format!("{} {}", self.kind, self.name)
    }

    fn busy(&self, most: u32) -> Refused {
        let why = format!("{} has {most} requests under way, as many as it may", self.said());
        Refused { why, retry_after: 1 }
    }

    fn refused(&self, what: &str, used: UsedUp) -> Refused {
        let UsedUp { limit, window, retry_after_ms } = used;
        let why = format!("{} has used its {limit} {what} of this {window}", self.said());
        Refused { why, retry_after: retry_after_ms.div_ceil(1_000).max(1) }
    }
}

fn owners(who: &Who, table: &LimitTable) -> Vec<(Owner, Limits)> {
    let purpose = &who.purpose;
    let owner = |kind, name: String| Owner { tenant: purpose.tenant, kind, name };
    let mut owners = vec![(owner("user", purpose.user.to_string()), table.user)];
    if let Some(project) = purpose.project {
        let own = who.project_per_minute;
        let limits = Limits { per_minute: own.or(table.project.per_minute), ..table.project };
        owners.push((owner("project", project.to_string()), limits));
    }
    if let Some(agent) = &purpose.agent {
        owners.push((owner("agent", agent.clone()), table.agent));
    }
    owners
}

impl Place {
    /// Gives back what was taken for a request that is refused.
    fn undo(&mut self, weight: u32) {
        for (owner, _) in &self.owners {
            if let Some(stand) = self.gate.shard(owner).get_mut(owner) {
                stand.requests.charge(-f64::from(weight));
            }
        }
    }

    /// Notes how many tokens were really used, instead of those that were taken ahead.
    pub(crate) fn used(&mut self, tokens: u64) {
        let more = tokens as f64 - self.taken as f64;
        let unshared = tokens as f64 - if self.shared { self.taken as f64 } else { 0.0 };
        (self.taken, self.told, self.shared) = (tokens, true, true);
        for (owner, limits) in &self.owners {
            if limits.tokens() == Quota::default() {
                continue;
            }
            if let Some(stand) = self.gate.shard(owner).get_mut(owner) {
                stand.tokens.charge(more);
                stand.debt += unshared;
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.told {
            self.used(0);
        }
        if let Some(lease) = self.lease {
            self.gate.leases.end(lease);
        }
        for (owner, _) in &self.owners {
            if let Some(stand) = self.gate.shard(owner).get_mut(owner) {
                stand.open = stand.open.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use godel_model::{Mint, Purpose};

    use super::*;

    fn who(agent: &str) -> Who {
        let mint = Mint::system();
        let purpose = Purpose {
            tenant: mint.id(),
            user: mint.id(),
            project: Some(mint.id()),
            agent: Some(agent.to_owned()),
            bead: None,
            convoy: None,
            token: None,
        };
        Who {
            purpose,
            models: vec![],
            project_per_minute: None,
            keys: Arc::default(),
            budgets: [].into(),
            capture: None,
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn gate() -> Arc<Gate> {
        Arc::new(Gate::new(None))
    }

    #[tokio::test]
    async fn an_agent_has_a_hundred_requests_a_minute_unless_told_otherwise() {
        let (gate, who, table) = (gate(), who("a"), LimitTable::default());
        for left in (0..100).rev() {
            let place = gate.enter(&who, &table, (1, 0), at(0)).await.unwrap();
            assert_eq!(place.left.unwrap().remaining, left);
        }
        let refused = gate.enter(&who, &table, (1, 0), at(0)).await.unwrap_err();
        assert_eq!(refused.why, "agent a has used its 100 requests of this minute");
        assert_eq!(refused.retry_after, 1);
        assert!(gate.enter(&who, &table, (1, 0), at(1)).await.is_ok());
    }

    #[tokio::test]
    async fn who_is_refused_has_taken_nothing_and_who_leaves_makes_room() {
        let mut table = LimitTable::default();
        table.user.concurrent = Some(2);
        table.agent.per_minute = Some(10);
        let (gate, who) = (gate(), who("a"));
        let places = [
            gate.enter(&who, &table, (1, 0), at(0)).await.unwrap(),
            gate.enter(&who, &table, (1, 0), at(0)).await.unwrap(),
        ];
        for _ in 0..20 {
            let refused = gate.enter(&who, &table, (1, 0), at(0)).await.unwrap_err();
            assert!(refused.why.contains("2 requests under way"), "{}", refused.why);
        }
        drop(places);
        let place = gate.enter(&who, &table, (1, 0), at(0)).await.unwrap();
        assert_eq!(place.left.unwrap().remaining, 7);
        // A refusal by the agent's limit gives the user's place back.
        drop(place);
        assert!(gate.enter(&who, &table, (50, 0), at(0)).await.is_err());
        assert!(gate.enter(&who, &table, (1, 0), at(0)).await.is_ok());
    }

    #[tokio::test]
    async fn tokens_are_counted_as_they_were_used() {
        let mut table = LimitTable::default();
        table.agent.tokens_per_minute = Some(1_000);
        let (gate, who) = (gate(), who("a"));
        let mut place = gate.enter(&who, &table, (1, 100), at(0)).await.unwrap();
        place.used(5_000);
        drop(place);
        let refused = gate.enter(&who, &table, (1, 10), at(0)).await.unwrap_err();
        assert!(refused.why.contains("1000 tokens of this minute"), "{}", refused.why);
        assert!(gate.enter(&who, &table, (1, 10), at(300)).await.is_ok());
    }
}
