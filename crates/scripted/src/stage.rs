//! What the server remembers from one request to the next.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use hyper::header::{HeaderName, HeaderValue};

use crate::bench::Lane;
use crate::control::Switch;
use crate::dialect::Dialect;
use crate::fault::Fault;
use crate::opaque::Opaque;
use crate::record::{Book, Recorded, Stats};
use crate::script::Mint;
use crate::server::Options;

/// How many prompts with a counted fault are remembered.
const COUNTED_MAX: usize = 10_000;

/// The memory of a server.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) models: Vec<String>,
    pub(crate) mint: Mint,
    pub(crate) lane: Lane,
    pub(crate) started: Instant,
    keys: RwLock<HashSet<String>>,
    benched: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    book: Book,
    stats: Stats,
    opaque: Opaque,
    /// The fault of the whole server, and how often it may still happen.
    fault: Option<(Fault, Option<u32>)>,
    /// How often the fault of a prompt has happened.
    counted: HashMap<String, u32>,
    /// What every answer has on it.
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Stage {
    /// An empty memory.
    pub(crate) fn new(options: Options, salt: u64) -> Self {
        Self {
            models: options.models,
            mint: Mint::new(salt),
            lane: Lane::default(),
            started: Instant::now(),
            keys: RwLock::new(options.keys.into_iter().collect()),
            benched: AtomicU64::new(0),
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a key is accepted.
    pub(crate) fn knows(&self, key: &str) -> bool {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).contains(key)
    }

    /// Changes the whole server.
    pub(crate) fn switch(&self, switch: Switch) {
        if let Some(keys) = switch.keys {
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys.into_iter().collect();
        }
        if let Some(headers) = switch.headers {
            let read = |(name, value): (String, String)| {
                Some((name.parse().ok()?, HeaderValue::try_from(value).ok()?))
            };
            self.inner().headers = headers.into_iter().filter_map(read).collect();
        }
        if let Some(fault) = switch.fault {
            let times = switch.times;
            self.inner().fault = fault.map(|fault| {
                let times = times.or(fault.times);
                (fault, times)
            });
        }
    }

    /// What every answer has on it.
    pub(crate) fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        self.inner().headers.clone()
    }

    /// Takes the fault of the whole server, if it happens now.
    pub(crate) fn server_fault(&self) -> Option<Fault> {
        let mut inner = self.inner();
        let (fault, times) = inner.fault.as_mut()?;
        let fault = fault.clone();
        match times {
            Some(0) => return None,
            Some(times) => *times -= 1,
            None => {}
        }
        Some(fault)
    }

    /// Whether the fault of a prompt happens now, which counts.
    pub(crate) fn happens(&self, prompt: &str, round: usize, fault: &Fault) -> bool {
        let Some(times) = fault.times else {
            return true;
        };
        let mut inner = self.inner();
        if inner.counted.len() >= COUNTED_MAX {
            inner.counted.clear();
        }
        let count = inner.counted.entry(format!("{round} {prompt}")).or_default();
        *count += 1;
        *count <= times
    }

    /// Uses the remembered opaque state.
    pub(crate) fn opaque<T>(&self, use_it: impl FnOnce(&mut Opaque) -> T) -> T {
        use_it(&mut self.inner().opaque)
    }

    /// Uses the record of requests.
    pub(crate) fn book<T>(&self, use_it: impl FnOnce(&mut Book) -> T) -> T {
        use_it(&mut self.inner().book)
    }

    /// The requests after a number.
    pub(crate) fn recorded(&self, after: u64) -> Vec<Recorded> {
        self.inner().book.after(after)
    }

    /// Counts a request that was read.
    pub(crate) fn count_dialect(&self, dialect: Dialect) {
        *self.inner().stats.dialects.entry(dialect.name()).or_default() += 1;
    }

    /// Counts something.
    pub(crate) fn count(&self, count: impl FnOnce(&mut Stats)) {
        count(&mut self.inner().stats);
    }

    /// Counts a request of the fast lane, without a lock.
    pub(crate) fn count_bench(&self) {
        self.benched.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts so far.
    pub(crate) fn stats(&self) -> Stats {
        let mut stats = self.inner().stats.clone();
        stats.bench = self.benched.load(Ordering::Relaxed);
        stats.requests += stats.bench;
        stats
    }
}
