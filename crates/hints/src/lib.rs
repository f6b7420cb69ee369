//! Redis, where loss is harmless: token buckets that several servers share, and wake-ups.
//!
//! A `FLUSHALL` may cost latency, never a fact.

mod error;
mod rooms;
mod wakes;

use std::path::Path;
use std::time::{Duration, Instant};

use godel_model::TenantId;
use redis::Script;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};

use self::error::unreachable;
pub use self::error::{Error, Result};
pub use self::rooms::Room;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// Takes one token of a bucket that refills by the clock of Redis. All servers share it.
const TAKE: &str = "
    local burst, per_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
    local time = redis.call('TIME')
    local now = time[1] * 1000 + time[2] / 1000
    local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
    local tokens, at = tonumber(kept[1]) or burst, tonumber(kept[2]) or now
    tokens = math.min(burst, tokens + math.max(0, now - at) * per_ms)
    local allowed = tokens >= 1
    if allowed then tokens = tokens - 1 end
    redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(now))
    redis.call('PEXPIRE', KEYS[1], math.ceil(burst / per_ms) + 1000)
    return { allowed and 1 or 0, tostring(tokens) }";

/// Takes an amount of each of several buckets, or of none; what was used before counts in any case.
const TAKE_ALL: &str = "
    local time = redis.call('TIME')
    local now = time[1] * 1000 + time[2] / 1000
    local levels, lacks, longest = {}, 0, 0
    for i = 1, #KEYS do
        local limit, per_ms = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
        local amount, used = tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i])
        local kept = redis.call('HMGET', KEYS[i], 'tokens', 'at')
        local tokens, at = tonumber(kept[1]) or limit, tonumber(kept[2]) or now
        tokens = math.min(limit, tokens + math.max(0, now - at) * per_ms - used)
        local wait = (math.min(amount, limit) - tokens) / per_ms
        if wait > longest then lacks, longest = i, wait end
        levels[i] = tokens
    end
    for i = 1, #KEYS do
        local limit, per_ms = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
        if lacks == 0 then levels[i] = levels[i] - tonumber(ARGV[4 * i - 1]) end
        redis.call('HSET', KEYS[i], 'tokens', tostring(levels[i]), 'at', tostring(now))
        redis.call('PEXPIRE', KEYS[i], math.ceil(math.max(0, limit - levels[i]) / per_ms) + 1000)
    end
    return { lacks, tostring(longest) }";

/// What is taken of a bucket that several servers share.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The bucket.
    pub name: String,
    /// How much it holds, and gets anew in its window.
    pub limit: u32,
    /// Its window in milliseconds.
    pub window_ms: f64,
    /// How much is taken, if there is enough.
    pub amount: f64,
    /// How much was used before and not taken yet; less than nothing is given back.
    pub used: f64,
}

/// A bucket that has too little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lacking {
    /// Which of those that were asked for.
    pub place: usize,
    /// After how many milliseconds there is enough.
    pub wait_ms: f64,
}

/// A connection to Redis that comes back by itself.
#[derive(Clone)]
pub struct Hints {
    client: redis::Client,
    connection: ConnectionManager,
    take: std::sync::Arc<Script>,
    take_all: std::sync::Arc<Script>,
    enter: std::sync::Arc<Script>,
    stay: std::sync::Arc<Script>,
}

impl std::fmt::Debug for Hints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hints").finish_non_exhaustive()
    }
}

/// Says that Redis is not there, or not who it should be.
fn failed(cause: redis::RedisError) -> Error {
    match godel_tls::refusal(&cause) {
        Some(why) => Error::Tls(why),
        None => unreachable(cause),
    }
}

/// Reads the address; `?ca=FILE` names whom to trust instead of the authorities of this machine.
fn client(url: &str) -> Result<redis::Client> {
    let parsed = redis::parse_redis_url(url).filter(|parsed| parsed.scheme() == "rediss");
    let Some(parsed) = parsed else {
        return redis::Client::open(url).map_err(failed);
    };
    godel_tls::install();
    let ca = parsed.query_pairs().find(|(name, _)| name == "ca");
    let Some((_, ca)) = ca else {
        return redis::Client::open(url).map_err(failed);
    };
    let path = Path::new(ca.as_ref());
    let root = godel_tls::read(path)?;
    godel_tls::certificates(path, &root)?;
    let certificates = redis::TlsCertificates { client_tls: None, root_cert: Some(root) };
    redis::Client::build_with_tls(url, certificates).map_err(failed)
}

impl Hints {
    /// Connects, or says why not; later interruptions heal by themselves.
    ///
    /// # Errors
    /// If the address is wrong or nobody answers.
    pub async fn connect(url: &str) -> Result<Self> {
        let client = client(url)?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(ANSWER_TIMEOUT))
            .set_number_of_retries(2);
        let connection =
            ConnectionManager::new_with_config(client.clone(), config).await.map_err(failed)?;
        let (take, take_all) = (Script::new(TAKE).into(), Script::new(TAKE_ALL).into());
        let (enter, stay) = (Script::new(rooms::ENTER).into(), Script::new(rooms::STAY).into());
        Ok(Self { client, connection, take, take_all, enter, stay })
    }

    /// Takes a token from a tenant's shared bucket: whether there was one, and how many are left.
    ///
    /// # Errors
    /// If Redis does not answer; the caller then falls back to its own bucket.
    pub async fn take(
        &self,
        tenant: TenantId,
        caller: &str,
        burst: u32,
        per_minute: u32,
    ) -> Result<(bool, f64)> {
        let mut connection = self.connection.clone();
        let key = format!("{{{tenant}}}:rate:{caller}");
        let per_ms = f64::from(per_minute.max(1)) / 60_000.0;
        let (allowed, tokens): (i64, String) = self
            .take
            .key(key)
            .arg(burst.max(1))
            .arg(per_ms)
            .invoke_async(&mut connection)
            .await
            .map_err(unreachable)?;
        Ok((allowed == 1, tokens.parse().unwrap_or_default()))
    }

    /// Takes of all of a tenant's shared buckets, or of none: then it tells which has too little.
    ///
    /// # Errors
    /// If Redis does not answer; the caller then falls back to its own buckets.
    pub async fn take_all(&self, tenant: TenantId, shares: &[Share]) -> Result<Option<Lacking>> {
        let mut connection = self.connection.clone();
        let mut call = self.take_all.prepare_invoke();
        for share in shares {
            call.key(format!("{{{tenant}}}:models:{}", share.name));
            let limit = share.limit.max(1);
            let per_ms = f64::from(limit) / share.window_ms.max(1.0);
            call.arg(limit).arg(per_ms).arg(share.amount).arg(share.used);
        }
        let (lacks, wait): (usize, String) =
            call.invoke_async(&mut connection).await.map_err(unreachable)?;
        let wait_ms = wait.parse().unwrap_or_default();
        Ok(lacks.checked_sub(1).map(|place| Lacking { place, wait_ms }))
    }

    /// Asks Redis for a sign of life and returns how long it took.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn probe(&self) -> Result<Duration> {
        let start = Instant::now();
        let mut connection = self.connection.clone();
        let answer: redis::RedisResult<String> =
            redis::cmd("PING").query_async(&mut connection).await;
        answer.map_err(unreachable)?;
        Ok(start.elapsed())
    }
}
