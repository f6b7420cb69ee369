//! Requests whose answer is yes, no, or nobody knows.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::Value;

/// No request of this suite takes this long unless the server is gone.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a server said.
#[derive(Debug)]
pub(super) enum Heard {
    /// Yes, and this.
    Yes(Value),
    /// No: status and code. Nothing has changed.
    No(u16, String),
    /// The connection broke, or the server could not tell.
    Nobody,
}

/// The way to one or several servers that may be gone.
#[derive(Debug, Clone)]
pub(super) struct Way {
    http: Client,
    key: String,
    urls: Arc<Mutex<Vec<String>>>,
    turn: Arc<AtomicUsize>,
    /// How often servers could not do something, by its reason.
    refused: Arc<Mutex<HashMap<String, u64>>>,
    /// How many requests were not answered for so long that nobody waited any more.
    pub(super) hung: Arc<AtomicU64>,
}

impl Way {
    pub(super) fn new(key: String, urls: Vec<String>) -> Self {
        godel_tls::install();
        let http = Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self {
            http,
            key,
            urls: Arc::new(Mutex::new(urls)),
            turn: Arc::default(),
            refused: Arc::default(),
            hung: Arc::default(),
        }
    }

    /// Tells where the servers are now.
    pub(super) fn lead_to(&self, urls: Vec<String>) {
        *self.urls.lock().unwrap() = urls;
    }

    /// How often servers could not do something for this reason.
    pub(super) fn refused(&self, code: &str) -> u64 {
        self.refused.lock().unwrap().get(code).copied().unwrap_or_default()
    }

    /// One server after the other.
    fn url(&self) -> String {
        let urls = self.urls.lock().unwrap();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        urls[turn % urls.len()].clone()
    }

    pub(super) async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Heard {
        let request = self.http.request(method, format!("{}/api/v1{path}", self.url()));
        let request = request.bearer_auth(&self.key);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => {
                self.hung.fetch_add(u64::from(error.is_timeout()), Ordering::Relaxed);
                return Heard::Nobody;
            }
        };
        let status = answer.status();
        let Ok(text) = answer.text().await else { return Heard::Nobody };
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        if status.is_success() {
            return Heard::Yes(body["data"].clone());
        }
        assert_ne!(status, 500, "{text}");
        // What the server could not do, another server or the next may have done.
        let code = body["error"]["code"].as_str().unwrap_or_default().to_owned();
        if status.is_server_error() || status.as_u16() == 429 {
            *self.refused.lock().unwrap().entry(code).or_default() += 1;
            return Heard::Nobody;
        }
        Heard::No(status.as_u16(), code)
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Heard {
        self.ask(Method::POST, path, Some(body)).await
    }

    pub(super) async fn get(&self, path: &str) -> Heard {
        self.ask(Method::GET, path, None).await
    }
}
