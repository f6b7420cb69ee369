//! The scripted provider, asked over HTTP as its clients ask it.

#![cfg(test)]

mod anthropic;
mod bench;
mod chat;
mod control;
mod faults;
mod gemini;
mod responses;

use godel_scripted::{Options, Scripted};
use reqwest::{RequestBuilder, Response};
use serde_json::Value;

const KEY: &str = "sk-test";

/// A server and a client for it.
struct Stage {
    scripted: Scripted,
    client: reqwest::Client,
}

impl Stage {
    async fn open() -> Self {
        let scripted = Scripted::start(Options::with_key(KEY)).await.unwrap();
        godel_tls::install();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { scripted, client }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.scripted.base_url())
    }

    /// A request with the key in the header of its dialect.
    fn request(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.client.post(self.url(path)).json(body);
        if path.contains(":generate") || path.contains(":stream") || path.contains(":count") {
            request.header("x-goog-api-key", KEY)
        } else if path.contains("/messages") {
            request.header("x-api-key", KEY).header("anthropic-version", "2023-06-01")
        } else {
            request.bearer_auth(KEY)
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        self.request(path, body).send().await.unwrap()
    }

    /// Asks and returns the document of a good answer.
    async fn json(&self, path: &str, body: &Value) -> Value {
        let response = self.post(path, body).await;
        let status = response.status();
        let text = response.text().await.unwrap();
        assert!(status.is_success(), "{status}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Asks and returns the status and the document of a refusal.
    async fn refused(&self, path: &str, body: &Value) -> (u16, Value) {
        let response = self.post(path, body).await;
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Asks and returns the events of a stream.
    async fn events(&self, path: &str, body: &Value) -> Vec<Event> {
        events(&self.post(path, body).await.text().await.unwrap())
    }
}

/// One server-sent event.
#[derive(Debug, Clone)]
struct Event {
    name: String,
    data: String,
}

impl Event {
    fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_default()
    }
}

fn events(text: &str) -> Vec<Event> {
    let field = |frame: &str, name: &str| {
        let line = frame.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
        line.unwrap_or_default().to_owned()
    };
    let frames = text.split("\n\n").filter(|frame| !frame.trim().is_empty());
    frames
        .map(|frame| Event { name: field(frame, "event:"), data: field(frame, "data:") })
        .collect()
}
