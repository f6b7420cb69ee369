//! What the provider was asked, kept for tests to look at.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use base64::Engine;
use bytes::Bytes;
use hyper::HeaderMap;
use serde::Serialize;
use serde_json::{Value, json};

/// How many requests are kept; the oldest is forgotten first.
const KEPT_MAX: usize = 10_000;
/// How many bytes of bodies are kept.
const KEPT_MAX_BYTES: usize = 256 << 20;

/// A request exactly as it came, and how it was answered.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Counts from 1.
    pub number: u64,
    /// Milliseconds since the server started.
    pub at_ms: u64,
    /// Such as `POST`.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// What follows the question mark; empty if nothing does.
    pub query: String,
    /// The headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, byte by byte.
    pub body: Bytes,
    /// The status of the answer; 0 while there is none.
    pub status: u16,
    /// How far the answer got.
    pub end: End,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// It is still being sent, or held back.
    Open,
    /// All of it was handed over.
    Whole,
    /// The reader went away before the end.
    Dropped,
}

/// The end of an answer, told by whoever sends it.
#[derive(Debug, Default)]
pub(crate) struct Ending(AtomicU8);

impl Ending {
    pub(crate) fn set(&self, end: End) {
        self.0.store(end as u8, Ordering::Relaxed);
    }

    fn get(&self) -> End {
        match self.0.load(Ordering::Relaxed) {
            0 => End::Open,
            1 => End::Whole,
            _ => End::Dropped,
        }
    }
}

/// The requests that were kept.
#[derive(Debug, Default)]
pub(crate) struct Book {
    entries: VecDeque<(Recorded, Arc<Ending>)>,
    bytes: usize,
    last: u64,
}

impl Book {
    /// Keeps a request and returns its number.
    pub(crate) fn keep(&mut self, mut request: Recorded) -> (u64, Arc<Ending>) {
        self.last += 1;
        request.number = self.last;
        self.bytes += request.body.len();
        let ending = Arc::new(Ending::default());
        self.entries.push_back((request, Arc::clone(&ending)));
        while self.entries.len() > KEPT_MAX || self.bytes > KEPT_MAX_BYTES {
            let gone = self.entries.pop_front().map_or(0, |(request, _)| request.body.len());
            self.bytes -= gone;
        }
        (self.last, ending)
    }

    /// Notes how a request was answered.
    pub(crate) fn answered(&mut self, number: u64, status: u16) {
        if let Some((request, _)) = self.entries.iter_mut().rev().find(|(r, _)| r.number == number)
        {
            request.status = status;
        }
    }

    /// The requests with a higher number.
    pub(crate) fn after(&self, number: u64) -> Vec<Recorded> {
        let later = self.entries.iter().filter(|(request, _)| request.number > number);
        later.map(|(request, end)| Recorded { end: end.get(), ..request.clone() }).collect()
    }
}

impl Recorded {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The request as the control API shows it.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = json!({
            "number": self.number,
            "at_ms": self.at_ms,
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": self.headers,
            "status": self.status,
            "end": self.end,
        });
        match std::str::from_utf8(&self.body) {
            Ok(text) => shown["body"] = text.into(),
            Err(_) => {
                let encoded = base64::engine::general_purpose::STANDARD.encode(&self.body);
                shown["body_base64"] = encoded.into();
            }
        }
        shown
    }
}

/// Copies headers in their order.
pub(crate) fn headers(map: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    map.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}

/// Counts of what happened since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Requests of all kinds, those of the fast lane included.
    pub requests: u64,
    /// Requests of the fast lane.
    pub bench: u64,
    /// Requests by dialect.
    pub dialects: BTreeMap<&'static str, u64>,
    /// Answers by status, those of the fast lane left out.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests whose key was not accepted.
    pub strangers: u64,
    /// Pieces of opaque state that came back as they were.
    pub seals_kept: u64,
    /// Requests whose opaque state was missing or changed.
    pub seals_broken: u64,
}
