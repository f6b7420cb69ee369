//! Who is under way, told to all servers: leases in Redis that end by themselves.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use godel_hints::{Hints, Room};
use godel_model::TenantId;
use tokio::sync::Notify;

/// For how long a place is believed to be taken without a sign of life of its server.
pub(super) const LEASE: Duration = Duration::from_secs(60);
/// How often a server gives that sign.
const RENEW_EVERY: Duration = Duration::from_secs(15);
/// How many places one call to Redis renews or gives back.
const AT_ONCE: usize = 500;

/// Who is under way on this server.
#[derive(Debug, Default)]
pub(super) struct Leases {
    open: Mutex<HashMap<u128, (TenantId, Vec<String>)>>,
    left: Mutex<Vec<(TenantId, String, String)>>,
    wake: Notify,
}

impl Leases {
    fn open(&self) -> MutexGuard<'_, HashMap<u128, (TenantId, Vec<String>)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that somebody is under way, whether Redis heard of it or not: it will.
    pub(super) fn begin(&self, tenant: TenantId, rooms: &[Room]) -> u128 {
        let id = rand::random();
        let names = rooms.iter().map(|room| room.name.clone()).collect();
        self.open().insert(id, (tenant, names));
        id
    }

    /// Notes that somebody has left; Redis hears of it soon.
    pub(super) fn end(&self, id: u128) {
        let Some((tenant, rooms)) = self.open().remove(&id) else { return };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.extend(rooms.into_iter().map(|room| (tenant, room, name(id))));
        drop(left);
        self.wake.notify_one();
    }

    /// Tells Redis who has left, and now and then who is still there; never ends.
    pub(super) async fn tend(&self, hints: &Hints) {
        let mut renew = tokio::time::interval(RENEW_EVERY);
        renew.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.wake.notified() => self.tell_left(hints).await,
                _ = renew.tick() => self.renew(hints).await,
            }
        }
    }

    /// Tells Redis who has left.
    pub(super) async fn tell_left(&self, hints: &Hints) {
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        for (tenant, places) in by_tenant(left) {
            for places in places.chunks(AT_ONCE) {
                // Who is not told of it now notices when the lease ends.
                if hints.leave(tenant, places).await.is_err() {
                    return;
                }
            }
        }
    }

    async fn renew(&self, hints: &Hints) {
        let open: Vec<(TenantId, String, String)> = self
            .open()
            .iter()
            .flat_map(|(id, (tenant, rooms))| {
                rooms.iter().map(|room| (*tenant, room.clone(), name(*id)))
            })
            .collect();
        for (tenant, places) in by_tenant(open) {
            for places in places.chunks(AT_ONCE) {
                if hints.stay(tenant, places, LEASE).await.is_err() {
                    return;
                }
            }
        }
        // One may have left while it was renewed.
        self.tell_left(hints).await;
    }
}

/// By which name a place is known to Redis.
pub(super) fn name(id: u128) -> String {
    format!("{id:032x}")
}

fn by_tenant(places: Vec<(TenantId, String, String)>) -> BTreeMap<TenantId, Vec<(String, String)>> {
    let mut grouped: BTreeMap<TenantId, Vec<(String, String)>> = BTreeMap::new();
    for (tenant, room, who) in places {
        grouped.entry(tenant).or_default().push((room, who));
    }
    grouped
}
