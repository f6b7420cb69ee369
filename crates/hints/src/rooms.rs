//! How many are in a room at the same time, counted by all servers together.
//!
//! Who enters has a lease that ends by itself: a server that dies leaves its rooms when its leases
//! end, and nobody has to notice. A server that lives renews them.

use std::time::Duration;

use godel_model::TenantId;

use crate::error::unreachable;
use crate::{Hints, Result};

/// Enters all of some rooms, or none: then it tells which is full.
pub(super) const ENTER: &str = "
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local lease = tonumber(ARGV[1])
    for i = 1, #KEYS do
        redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
        if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[i + 2]) then return i end
    end
    for i = 1, #KEYS do
        redis.call('ZADD', KEYS[i], now + lease, ARGV[2])
        redis.call('PEXPIRE', KEYS[i], lease * 2)
    end
    return 0";

/// Renews leases; one that was lost is there again.
pub(super) const STAY: &str = "
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local lease = tonumber(ARGV[1])
    for i = 1, #KEYS do
        redis.call('ZADD', KEYS[i], now + lease, ARGV[i + 1])
        redis.call('PEXPIRE', KEYS[i], lease * 2)
    end
    return 0";

/// A room, and how many may be in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Its name.
    pub name: String,
    /// How many may be in it.
    pub limit: u32,
}

fn key(tenant: TenantId, room: &str) -> String {
    format!("{{{tenant}}}:rooms:{room}")
}

fn millis(lease: Duration) -> u64 {
    u64::try_from(lease.as_millis()).unwrap_or(u64::MAX)
}

impl Hints {
    /// Enters all of a tenant's rooms for the time of a lease, or none: then it tells which is full.
    ///
    /// # Errors
    /// If Redis does not answer; the caller then counts for itself.
    pub async fn enter(
        &self,
        tenant: TenantId,
        who: &str,
        rooms: &[Room],
        lease: Duration,
    ) -> Result<Option<usize>> {
        let mut connection = self.connection.clone();
        let mut call = self.enter.prepare_invoke();
        call.arg(millis(lease)).arg(who);
        for room in rooms {
            call.key(key(tenant, &room.name)).arg(room.limit);
        }
        let full: usize = call.invoke_async(&mut connection).await.map_err(unreachable)?;
        Ok(full.checked_sub(1))
    }

    /// Renews leases: who is in which room of a tenant.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn stay(
        &self,
        tenant: TenantId,
        places: &[(String, String)],
        lease: Duration,
    ) -> Result<()> {
        let mut connection = self.connection.clone();
        let mut call = self.stay.prepare_invoke();
        call.arg(millis(lease));
        for (room, who) in places {
            call.key(key(tenant, room)).arg(who);
        }
        let done: redis::RedisResult<i64> = call.invoke_async(&mut connection).await;
        done.map(drop).map_err(unreachable)
    }

    /// Leaves rooms of a tenant.
    ///
    /// # Errors
    /// If Redis does not answer; the lease then ends by itself.
    pub async fn leave(&self, tenant: TenantId, places: &[(String, String)]) -> Result<()> {
        let mut connection = self.connection.clone();
        let mut pipe = redis::pipe();
        for (room, who) in places {
            pipe.zrem(key(tenant, room), who).ignore();
        }
        let done: redis::RedisResult<()> = pipe.query_async(&mut connection).await;
        done.map_err(unreachable)
    }
}
