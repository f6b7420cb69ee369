//! A server, a provider that does what the prompt says, and somebody who asks.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use godel_llm::Dialect;
use godel_scripted::{Options, Scripted};
use godel_server::Config;
use godel_testkit::{Database, postgres_url};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Running, data};

pub(crate) use crate::emitted::Logs;

/// A key of the provider that must never be seen anywhere else.
pub(crate) const KEY: &str = "sk-leakcanary-0123456789abcdef";

/// What the models of the stage cost: dollars for a million tokens, so micro-dollars for one.
const MODELS: &str = r#"
    [[model]]
    name = "m-1"
    provider = "stage"
    output = 1000
    can = ["tools"]
    prices = [{ input = 1.0, output = 2.0, cache_read = 0.5, cache_write_5m = 1.5, server_tool = 0.01, flex = 0.5, fast = 6.0 }]
    [[model]]
    name = "m-1"
    provider = "second"
    output = 1000
    can = ["tools"]
    prices = [{ input = 10.0, output = 20.0 }]
    [[model]]
    name = "m-dear"
    provider = "stage"
    output = 1000
    can = ["tools"]
    prices = [{ input = 1.0, output = 1000.0, priority = 2.0 }]
    [[model]]
    name = "m-eyes"
    provider = "stage"
    context = 9_000
    output = 1000
    can = ["tools", "vision"]
    prices = [{ input = 1.0, output = 2.0 }]
    [[model]]
    name = "m-small"
    provider = "stage"
    context = 500
    output = 1000
    can = ["tools", "pdf", "json"]
    prices = [{ input = 1.0, output = 2.0 }]
    [[model]]
    name = "m-1"
    provider = "metered"
    prices = [{ input = 1.0, output = 2.0 }]
"#;

/// A server, its provider, and the token of an agent.
pub(crate) struct World {
    pub(crate) server: Running,
    pub(crate) stage: Scripted,
    pub(crate) token: String,
    pub(crate) files: TempDir,
}

/// Writes the file of providers: the stage speaks every dialect, and there is one of each kind that
/// speaks only one.
pub(crate) fn providers(files: &TempDir, stage: &Scripted, more: &str) {
    let (base, key) = (stage.base_url(), files.path().join("key"));
    std::fs::write(&key, stage.key()).unwrap();
    let models = files.path().join("models.toml");
    std::fs::write(&models, MODELS).unwrap();
    let (key, models) = (key.display(), models.display());
    let mut text = format!("models = \"{models}\"\n{more}\n");
    let all = format!(
        "chat = \"{base}/v1\"\nresponses = \"{base}/v1\"\nanthropic = \"{base}\"\ngemini = \"{base}\""
    );
    for (name, speaks) in [
        ("stage", all.as_str()),
        ("only-chat", &format!("chat = \"{base}/v1\"")),
        ("only-responses", &format!("responses = \"{base}/v1\"")),
        ("only-anthropic", &format!("anthropic = \"{base}\"")),
        ("only-gemini", &format!("gemini = \"{base}\"")),
    ] {
        writeln!(text, "[providers.{name}]\n{speaks}\nkey_files = [\"{key}\"]").unwrap();
        if name == "stage" {
            writeln!(text, "prefixes = [\"m-\", \"missing-\"]").unwrap();
        }
    }
    std::fs::write(files.path().join("proxy.toml"), text).unwrap();
}

impl World {
    /// Starts one on each engine.
    pub(crate) async fn all(more: &str) -> Vec<Self> {
        let mut worlds = vec![Self::one(more).await];
        if let Some(server) = postgres_url() {
            worlds.push(Self::on(Database::postgres(server), more, |_| {}).await);
        }
        worlds
    }

    /// Starts one on SQLite.
    pub(crate) async fn one(more: &str) -> Self {
        Self::with(more, |_| {}).await
    }

    /// Starts one on SQLite, with some settings changed.
    pub(crate) async fn with(more: &str, change: impl Fn(&mut Config)) -> Self {
        Self::on(Database::sqlite(), more, change).await
    }

    pub(crate) async fn on(database: Database, more: &str, change: impl Fn(&mut Config)) -> Self {
        let (files, stage) = (files(), stage().await);
        providers(&files, &stage, more);
        let file = files.path().join("proxy.toml");
        let set_up = |config: &mut Config| {
            config.providers = Some(file.clone());
            change(config);
        };
        Self::of(Running::on(database, &set_up).await, stage, files).await
    }

    pub(crate) async fn of(server: Running, stage: Scripted, files: TempDir) -> Self {
        let mut world = Self { server, stage, token: String::new(), files };
        world.token = world.token(json!({ "name": "test", "agent": "worker" })).await;
        world
    }

    /// Makes a token of an agent.
    pub(crate) async fn token(&self, new: Value) -> String {
        let made = data(self.server.post("/api/v1/agent-tokens", new).await, StatusCode::CREATED);
        made.await["token"].as_str().unwrap().to_owned()
    }

    /// Sets a budget.
    pub(crate) async fn budget(&self, scope: &str, cap: i64) -> Value {
        let body = json!({ "scope": scope, "period": "total", "capMicros": cap });
        let set = self.server.request(Method::PUT, "/api/v1/budgets").json(&body);
        data(set.send().await.unwrap(), StatusCode::OK).await
    }

    /// Returns all budgets.
    pub(crate) async fn budgets(&self) -> Vec<Value> {
        self.settled().await;
        let found = data(self.server.get("/api/v1/budgets").await, StatusCode::OK).await;
        found["items"].as_array().unwrap().clone()
    }

    /// Asks for something in a dialect; the model may name a provider: `only-chat/m-1`.
    pub(crate) fn ask(&self, asked: &Asked<'_>) -> reqwest::RequestBuilder {
        let url = format!("{}{}", self.server.url, asked.path());
        let request = self.server.http.post(url).json(&asked.body());
        match asked.dialect {
            Dialect::Anthropic => {
                request.header("x-api-key", &self.token).header("anthropic-version", "2023-06-01")
            }
            Dialect::Gemini => request.header("x-goog-api-key", &self.token),
            Dialect::Chat | Dialect::Responses => request.bearer_auth(&self.token),
        }
    }

    /// Asks and returns the status and the whole answer.
    pub(crate) async fn say(&self, asked: &Asked<'_>) -> (u16, String) {
        let answer = self.ask(asked).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Waits until every attempt has ended, and returns them, the oldest first.
    pub(crate) async fn rows(&self) -> Vec<Value> {
        self.settled().await;
        self.rows_now().await
    }

    pub(crate) async fn rows_now(&self) -> Vec<Value> {
        let found = self.server.get("/proxy/v1/audit?limit=1000").await;
        let found = data(found, StatusCode::OK).await;
        let mut rows = found["logs"].as_array().unwrap().clone();
        rows.reverse();
        rows
    }

    /// Waits until every attempt has ended.
    pub(crate) async fn settled(&self) {
        let start = Instant::now();
        loop {
            self.server.app.switchboard.ledger().settled().await;
            let rows = self.rows_now().await;
            if rows.iter().all(|row| row["outcome"] != "open") {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "still open: {rows:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the totals of the report.
    pub(crate) async fn usage(&self) -> Value {
        self.settled().await;
        data(self.server.get("/proxy/v1/usage").await, StatusCode::OK).await["total"].clone()
    }

    /// Returns the events of a kind.
    pub(crate) async fn events(&self, kind: &str) -> Vec<Value> {
        self.server.app.switchboard.ledger().settled().await;
        let filter = json!({ "type": kind }).to_string();
        let found = self.server.request(Method::GET, "/api/v1/events");
        let found = found.query(&[("filter", filter.as_str())]).send().await.unwrap();
        data(found, StatusCode::OK).await["items"].as_array().unwrap().clone()
    }
}

pub(crate) fn files() -> TempDir {
    TempDir::with_prefix("godel-models-").unwrap()
}

pub(crate) async fn stage() -> Scripted {
    Scripted::start(Options::with_key(KEY)).await.unwrap()
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) model: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) stream: bool,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(dialect: Dialect, prompt: &'a str) -> Self {
        Self { dialect, model: "m-1", prompt, stream: false }
    }

    pub(crate) fn streamed(self) -> Self {
        Self { stream: true, ..self }
    }

    pub(crate) fn of(self, model: &'a str) -> Self {
        Self { model, ..self }
    }

    pub(crate) fn path(&self) -> String {
        let (provider, model) = match self.model.split_once('/') {
            Some((provider, model)) => (format!("/{provider}"), model),
            None => (String::new(), self.model),
        };
        match (self.dialect, self.stream) {
            (Dialect::Chat, _) => format!("/proxy{provider}/v1/chat/completions"),
            (Dialect::Responses, _) => format!("/proxy{provider}/v1/responses"),
            (Dialect::Anthropic, _) => format!("/proxy{provider}/v1/messages"),
            (Dialect::Gemini, false) => {
                format!("/proxy{provider}/v1beta/models/{model}:generateContent")
            }
            (Dialect::Gemini, true) => {
                format!("/proxy{provider}/v1beta/models/{model}:streamGenerateContent?alt=sse")
            }
        }
    }

    pub(crate) fn body(&self) -> Value {
        let (prompt, stream) = (self.prompt, self.stream);
        let model = self.model.split_once('/').map_or(self.model, |(_, model)| model);
        let said = json!([{ "role": "user", "content": prompt }]);
        match self.dialect {
            Dialect::Chat => {
                json!({ "model": model, "messages": said, "stream": stream, "max_tokens": 100 })
            }
            Dialect::Responses => {
                json!({ "model": model, "input": said, "stream": stream, "max_output_tokens": 100 })
            }
            Dialect::Anthropic => {
                json!({ "model": model, "messages": said, "stream": stream, "max_tokens": 100 })
            }
            Dialect::Gemini => json!({
                "contents": [{ "role": "user", "parts": [{ "text": prompt }] }],
                "generationConfig": { "maxOutputTokens": 100 },
            }),
        }
    }
}

/// Tells whether a stream says that it has come to its proper end.
pub(crate) fn is_whole(dialect: Dialect, stream: &str) -> bool {
    match dialect {
        Dialect::Chat => stream.contains("data: [DONE]") && !says_error(dialect, stream),
        Dialect::Responses => stream.contains("event: response.completed"),
        Dialect::Anthropic => stream.contains("event: message_stop"),
        Dialect::Gemini => stream.contains("\"finishReason\"") && !says_error(dialect, stream),
    }
}

/// Tells whether the last event of a stream is the one by which its dialect tells of a failure.
pub(crate) fn says_error(dialect: Dialect, stream: &str) -> bool {
    let last = stream.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let json = last.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default();
    let Ok(value) = serde_json::from_str::<Value>(json) else { return false };
    match dialect {
        Dialect::Chat | Dialect::Gemini => value["error"]["message"].is_string(),
        Dialect::Anthropic => last.starts_with("event: error") && value["type"] == "error",
        Dialect::Responses => value["type"] == "response.failed" || value["type"] == "error",
    }
}

/// Returns the kind and the message of an error, as its dialect writes it.
pub(crate) fn told(dialect: Dialect, text: &str) -> (String, String) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"));
    let error = &value["error"];
    let kind = match dialect {
        Dialect::Gemini => &error["status"],
        Dialect::Anthropic => {
            assert_eq!(value["type"], "error", "{text}");
            &error["type"]
        }
        Dialect::Chat | Dialect::Responses => {
            assert!(value["error"].get("param").is_some(), "{text}");
            if error["code"].is_string() { &error["code"] } else { &error["type"] }
        }
    };
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{text}")).to_owned();
    (text(kind), text(&error["message"]))
}

/// Reads a stream until something is in it.
pub(crate) async fn read_until(answer: &mut Response, mark: &str) -> String {
    let mut all = String::new();
    while !all.contains(mark) {
        let chunk = answer.chunk().await.unwrap().expect("more");
        all.push_str(&String::from_utf8_lossy(&chunk));
    }
    all
}
