//! Answers that are given again: only where both the settings and the request ask for it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use godel_llm::Dialect;
use godel_model::{ProjectId, TenantId};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::config::CacheConfig;

/// What tells requests apart: to the last byte.
pub(crate) type CacheKey = [u8; 32];

#[derive(Debug)]
struct Entry {
    body: Bytes,
    ends: i64,
    place: u64,
}

#[derive(Debug, Default)]
struct Kept {
    of: HashMap<CacheKey, Entry>,
    /// The oldest first.
    order: BTreeMap<u64, CacheKey>,
    next: u64,
    bytes: usize,
}

/// Answers that may be given again.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    kept: Mutex<Kept>,
}

/// Names a request: whose it is, in which dialect, to which model, and all of its bytes.
pub(crate) fn key_of(
    (tenant, project): (TenantId, Option<ProjectId>),
    dialect: Dialect,
    model: &str,
    body: &[u8],
) -> CacheKey {
    let project = project.map(|project| project.uuid().into_bytes()).unwrap_or_default();
    Sha256::new()
        .chain_update(tenant.uuid().as_bytes())
        .chain_update(project)
        .chain_update(dialect.name())
        .chain_update((model.len() as u64).to_be_bytes())
        .chain_update(model)
        .chain_update(body)
        .finalize()
        .into()
}

impl Cache {
    /// Returns an answer that is not too old.
    pub(crate) fn get(&self, key: &CacheKey, now: Timestamp) -> Option<Bytes> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.of
            .get(key)
            .filter(|entry| entry.ends > now.as_second())
            .map(|entry| entry.body.clone())
    }

    /// Keeps an answer; the oldest make room.
    pub(crate) fn put(&self, key: CacheKey, body: Bytes, config: CacheConfig, now: Timestamp) {
        let most = config.max_mb.saturating_mul(1024 * 1024);
        if body.len() > most / 8 {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(&key);
        kept.bytes += body.len();
        let place = kept.next;
        kept.next += 1;
        let seconds = i64::try_from(config.seconds).unwrap_or(i64::MAX);
        let ends = now.as_second().saturating_add(seconds);
        kept.order.insert(place, key);
        kept.of.insert(key, Entry { body, ends, place });
        while kept.bytes > most {
            let Some(oldest) = kept.order.first_key_value().map(|(_, key)| *key) else { break };
            kept.remove(&oldest);
        }
    }
}

impl Kept {
    fn remove(&mut self, key: &CacheKey) {
        if let Some(entry) = self.of.remove(key) {
            self.order.remove(&entry.place);
            self.bytes -= entry.body.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use godel_model::Mint;

    use super::*;

    #[test]
    fn an_answer_is_given_again_to_the_same_request_only_and_not_for_ever() {
        let (cache, config) =
            (Cache::default(), CacheConfig { enabled: true, seconds: 10, max_mb: 1 });
        let (mint, at) = (Mint::system(), |second| Timestamp::from_second(second).unwrap());
        let (ann, ben): (TenantId, TenantId) = (mint.id(), mint.id());
        let key = key_of((ann, None), Dialect::Chat, "m", b"{}");
        cache.put(key, Bytes::from_static(b"answer"), config, at(0));
        assert_eq!(cache.get(&key, at(9)).as_deref(), Some(&b"answer"[..]));
        assert_eq!(cache.get(&key, at(10)), None);
        for other in [
            key_of((ben, None), Dialect::Chat, "m", b"{}"),
            key_of((ann, Some(mint.id())), Dialect::Chat, "m", b"{}"),
            key_of((ann, None), Dialect::Responses, "m", b"{}"),
            key_of((ann, None), Dialect::Chat, "m{", b"}"),
        ] {
            assert_eq!(cache.get(&other, at(0)), None);
        }
    }

    #[test]
    fn the_oldest_make_room() {
        let (cache, config) =
            (Cache::default(), CacheConfig { enabled: true, seconds: 10, max_mb: 1 });
        let now = Timestamp::UNIX_EPOCH;
        for place in 0..20_u8 {
            cache.put([place; 32], Bytes::from(vec![0; 100 * 1024]), config, now);
        }
        assert!(cache.get(&[0; 32], now).is_none() && cache.get(&[19; 32], now).is_some());
        assert!(cache.kept.lock().unwrap().bytes <= 1024 * 1024);
    }
}
