//! How much each user, project and agent may use.
//!
//! The buckets are in memory, in shards with a lock each, so that callers do not wait for one
//! another. With Redis several servers share them, and how many go on at the same time; without
//! it, or when it does not answer, each server counts for itself: laxer for a while, never closed.

mod leases;
mod shared;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use godel_decide::{Left, Meterage, Quota, UsedUp};
use godel_hints::Hints;
use godel_model::TenantId;
use jiff::Timestamp;

use self::leases::Leases;
use crate::config::{LimitTable, Limits};
use crate::who::Who;

const SHARDS: usize = 16;
/// Above this number in a shard, those who are idle are forgotten.
const SHARD_MAX: usize = 4_096;
/// For how long Redis is left alone after it did not answer.
const REDIS_PAUSE_MS: i64 = 5_000;

const USER: &str = "user";
const PROJECT: &str = "project";
const AGENT: &str = "agent";
/// A request counts for so many at most.
const OWNERS_MAX: usize = 3;

/// Whose limit it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Owner {
    tenant: TenantId,
    /// One of [`USER`], [`PROJECT`] and [`AGENT`].
    kind: &'static str,
    name: String,
}

#[derive(Debug)]
struct Stand {
    requests: Meterage,
    tokens: Meterage,
    /// Whether tokens are limited at all.
    counts_tokens: bool,
    open: u32,
    /// How many tokens were used beyond those that were taken ahead, until Redis hears of it.
    debt: f64,
}

/// Where somebody stands.
#[derive(Debug)]
struct Seat {
    owner: Owner,
    /// Nothing until the first request.
    stand: Mutex<Option<Stand>>,
}

impl Seat {
    fn stand(&self) -> MutexGuard<'_, Option<Stand>> {
        self.stand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Stand)) {
        if let Some(stand) = self.stand().as_mut() {
            change(stand);
        }
    }
}

/// Where a caller, its project and its agent stand: looked up once, and then known.
#[derive(Debug, Default, Clone)]
pub struct Seats(OnceLock<Arc<[Arc<Seat>]>>);

type Shard = HashMap<Owner, Arc<Seat>>;

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
    /// The limit that is used up, and of what; none if too many are under way.
    pub(crate) of: Option<(u32, &'static str)>,
}

/// A place at the gate; who drops it makes room.
#[derive(Debug)]
pub(crate) struct Place {
    gate: Arc<Gate>,
    seats: Arc<[Arc<Seat>]>,
    /// Which of them have limits, and let the request in.
    entered: [bool; OWNERS_MAX],
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

    /// Finds where somebody stands.
    fn seat(&self, owner: Owner, limits: &Limits, now: Timestamp) -> Arc<Seat> {
        let at = self.hasher.hash_one(&owner) as usize % SHARDS;
        let mut shard = self.shards[at].lock().unwrap_or_else(PoisonError::into_inner);
        if shard.len() > SHARD_MAX {
            shard.retain(|_, seat| Arc::strong_count(seat) > 1 || !seat.is_idle(limits, now));
        }
        let new = || Arc::new(Seat { owner: owner.clone(), stand: Mutex::default() });
        Arc::clone(shard.entry(owner.clone()).or_insert_with(new))
    }

    fn seats(&self, who: &Who, table: &LimitTable, now: Timestamp) -> Arc<[Arc<Seat>]> {
        let find = || {
            let owners = owners(who).into_iter();
            let seat = |owner: Owner| {
                let limits = limits_of(&owner, who, table);
                self.seat(owner, &limits, now)
            };
            owners.map(seat).collect()
        };
        Arc::clone(who.seats.0.get_or_init(find))
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
            seats: self.seats(who, table, now),
            entered: [false; OWNERS_MAX],
            taken: tokens,
            told: false,
            shared: false,
            left: None,
            lease: None,
        };
        for at in 0..place.seats.len().min(OWNERS_MAX) {
            let seat = &place.seats[at];
            let limits = limits_of(&seat.owner, who, table);
            if limits == Limits::default() {
                continue;
            }
            let left = match seat.take(&limits, (weight, tokens), now) {
                Ok(left) => left,
                Err(refused) => {
                    place.undo(weight);
                    return Err(refused);
                }
            };
            place.entered[at] = true;
            place.left = match (place.left, left) {
                (Some(a), Some(b)) => Some(if b.remaining < a.remaining { b } else { a }),
                (a, b) => a.or(b),
            };
        }
        if self.hints.is_some() {
            let amounts = (weight, tokens);
            // Boxed: most servers are alone, and need no room for it.
            let shared = Box::pin(self.share_all(&mut place, (who, table), amounts, now));
            if let Err(refused) = shared.await {
                place.undo(weight);
                return Err(refused);
            }
        }
        Ok(place)
    }
}

impl Seat {
    fn is_idle(&self, limits: &Limits, now: Timestamp) -> bool {
        self.stand().as_mut().is_none_or(|stand| {
            stand.open == 0
                && stand.requests.is_idle(limits.requests(), now)
                && stand.tokens.is_idle(limits.tokens(), now)
        })
    }

    fn take(
        &self,
        limits: &Limits,
        (weight, tokens): (u32, u64),
        now: Timestamp,
    ) -> Result<Option<Left>, Refused> {
        let (requests, token_quota) = (limits.requests(), limits.tokens());
        let mut stand = self.stand();
        let stand = stand.get_or_insert_with(|| Stand {
            requests: Meterage::full(requests, now),
            tokens: Meterage::full(token_quota, now),
            counts_tokens: false,
            open: 0,
            debt: 0.0,
        });
        stand.counts_tokens = token_quota != Quota::default();
        if let Some(most) = limits.concurrent.filter(|most| stand.open >= *most) {
            return Err(self.owner.busy(most));
        }
        let left = stand.requests.take(requests, weight.into(), now);
        let left = left.map_err(|used| self.owner.refused("requests", used))?;
        // A quota of tokens lets through whoever has any left; what is used is taken later.
        if let Err(used) = stand.tokens.take(token_quota, tokens as f64, now) {
            stand.requests.charge(-f64::from(weight));
            return Err(self.owner.refused("tokens", used));
        }
        stand.open += 1;
        Ok(left)
    }
}

impl Owner {
    fn said(&self) -> String {
        format!("{} {}", self.kind, self.name)
    }

    fn busy(&self, most: u32) -> Refused {
        let why = format!("{} has {most} requests under way, as many as it may", self.said());
        Refused { why, retry_after: 1, of: None }
    }

    fn refused(&self, what: &'static str, used: UsedUp) -> Refused {
        let UsedUp { limit, window, retry_after_ms } = used;
        let why = format!("{} has used its {limit} {what} of this {window}", self.said());
        let retry_after = retry_after_ms.div_ceil(1_000).max(1);
        Refused { why, retry_after, of: Some((limit, what)) }
    }
}

fn owners(who: &Who) -> Vec<Owner> {
    let purpose = &who.purpose;
    let owner = |kind, name: String| Owner { tenant: purpose.tenant, kind, name };
    let mut owners = vec![owner(USER, purpose.user.to_string())];
    owners.extend(purpose.project.map(|project| owner(PROJECT, project.to_string())));
    owners.extend(purpose.agent.as_ref().map(|agent| owner(AGENT, agent.clone())));
    owners
}

fn limits_of(owner: &Owner, who: &Who, table: &LimitTable) -> Limits {
    match owner.kind {
        USER => table.user,
        PROJECT => {
            let own = who.project_per_minute;
            Limits { per_minute: own.or(table.project.per_minute), ..table.project }
        }
        _ => table.agent,
    }
}

impl Place {
    /// Returns those who have limits and let the request in.
    fn entered(&self) -> impl Iterator<Item = &Arc<Seat>> {
        self.seats.iter().zip(self.entered).filter(|(_, entered)| *entered).map(|(seat, _)| seat)
    }

    /// Gives back what was taken for a request that is refused.
    fn undo(&mut self, weight: u32) {
        for seat in self.entered() {
            seat.change(|stand| stand.requests.charge(-f64::from(weight)));
        }
    }

    /// Notes how many tokens were really used, instead of those that were taken ahead.
    pub(crate) fn used(&mut self, tokens: u64) {
        let more = tokens as f64 - self.taken as f64;
        let unshared = tokens as f64 - if self.shared { self.taken as f64 } else { 0.0 };
        (self.taken, self.told, self.shared) = (tokens, true, true);
        for seat in self.entered() {
            seat.change(|stand| {
                if stand.counts_tokens {
                    stand.tokens.charge(more);
                    stand.debt += unshared;
                }
            });
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
        for seat in self.entered() {
            seat.change(|stand| stand.open = stand.open.saturating_sub(1));
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
            purpose: Arc::new(purpose),
            models: vec![],
            project_per_minute: None,
            keys: Arc::default(),
            budgets: [].into(),
            capture: None,
            seats: Seats::default(),
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
