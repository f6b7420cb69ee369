//! A running server for one test.

use std::time::Duration;

use godel_app::App;
use godel_server::{Config, Server};
use godel_testkit::{Database, postgres_url};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::emitted::{self, Ear, Logs};

pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A running server with its owner's key.
pub(crate) struct Running {
    pub(crate) engine: &'static str,
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) login_link: String,
    pub(crate) app: App,
    pub(crate) http: reqwest::Client,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
    pub(crate) data: TempDir,
    _ear: Option<Ear>,
    _store: emitted::Store,
    _database: Database,
}

/// Starts a server on each engine.
pub(crate) async fn servers() -> Vec<Running> {
    servers_with(|_| {}).await
}

/// Starts a server on each engine, with some settings changed.
pub(crate) async fn servers_with(change: impl Fn(&mut Config)) -> Vec<Running> {
    let mut servers = vec![Running::on(Database::sqlite(), &change).await];
    if let Some(server) = postgres_url() {
        servers.push(Running::on(Database::postgres(server), &change).await);
    }
    servers
}

/// Starts a server on SQLite, with some settings changed.
pub(crate) async fn server_with(change: impl Fn(&mut Config)) -> Running {
    Running::on(Database::sqlite(), &change).await
}

impl Running {
    pub(crate) async fn on(database: Database, change: &impl Fn(&mut Config)) -> Self {
        let data = TempDir::with_prefix("godel-test-").unwrap();
        Self::at(database, data, change).await
    }

    /// Stops the server, lets something happen, and starts it again on the same data.
    pub(crate) async fn again(mut self, meanwhile: impl FnOnce()) -> Self {
        self.stop().await;
        drop(self._store);
        meanwhile();
        Self::at(self._database, self.data, &|_| {}).await
    }

    async fn at(database: Database, data: TempDir, change: &impl Fn(&mut Config)) -> Self {
        let mut config = Config::new(data.path().to_owned(), "127.0.0.1:0".parse().unwrap());
        config.database = Some(database.url());
        change(&mut config);
        if emitted::directory().is_some() {
            Logs::capture();
        }
        let server = Server::start(config).await.unwrap();
        let login_link = server.login_link().unwrap_or_default().to_owned();
        let ear = Ear::before(server.url(), emitted::directory()).await;
        let url = ear.as_ref().map_or_else(|| server.url().to_owned(), |ear| ear.url.clone());
        let key = std::fs::read_to_string(data.path().join("owner.key")).unwrap().trim().to_owned();
        let (app, stop) = (server.app().clone(), CancellationToken::new());
        let signal = stop.clone();
        let task = tokio::spawn(async move {
            server.run_until(signal.cancelled_owned()).await.unwrap();
        });
        godel_tls::install();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        let stored = app.store.url().clone();
        Self {
            engine: database.url().engine(),
            url,
            key,
            login_link,
            app,
            http,
            stop,
            task: Some(task),
            data,
            _ear: ear,
            _store: emitted::Store(stored),
            _database: database,
        }
    }

    /// Asks the server to stop and waits until it has.
    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            tokio::time::timeout(SOON, task).await.expect("the server stops").unwrap();
        }
    }

    /// Asks the server to stop, without waiting.
    pub(crate) fn begin_stop(&self) {
        self.stop.cancel();
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&self.key)
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Response {
        self.request(Method::POST, path).json(&body).send().await.unwrap()
    }

    /// Publishes an event and returns it.
    pub(crate) async fn publish(&self, kind: &str) -> Value {
        let answer = self.post("/api/v1/events", json!({ "type": kind })).await;
        data(answer, StatusCode::CREATED).await
    }

    /// Makes a second tenant and returns a key for it.
    pub(crate) async fn other_tenant(&self) -> String {
        self.tenant("other").await
    }

    /// Makes one more tenant and returns a key for it.
    pub(crate) async fn tenant(&self, name: &str) -> String {
        let made = self.post("/api/v1/tenants", json!({ "name": name })).await;
        let made = data(made, StatusCode::CREATED).await;
        self.key_by_link(made["linkPath"].as_str().unwrap()).await
    }

    /// Invites a user and returns its id and a key for it.
    pub(crate) async fn user(&self, name: &str, role: &str) -> (String, String) {
        let new = json!({ "name": name, "role": role });
        let made = data(self.post("/api/v1/users", new).await, StatusCode::CREATED).await;
        let key = self.key_by_link(made["linkPath"].as_str().unwrap()).await;
        (made["user"]["id"].as_str().unwrap().to_owned(), key)
    }

    /// Logs in by a link and makes a key for whoever it is.
    pub(crate) async fn key_by_link(&self, path: &str) -> String {
        let token = path.split("#token=").nth(1).unwrap();
        let session = self.login(json!({ "token": token, "wants": "tokens" })).await;
        let access = session["tokens"]["accessToken"].as_str().unwrap();
        let made = self
            .http
            .post(format!("{}/api/v1/keys", self.url))
            .bearer_auth(access)
            .json(&json!({ "name": "test" }))
            .send()
            .await
            .unwrap();
        data(made, StatusCode::CREATED).await["key"].as_str().unwrap().to_owned()
    }

    /// Logs in and returns who it is.
    pub(crate) async fn login(&self, how: Value) -> Value {
        let url = format!("{}/auth/login", self.url);
        let answer = self.http.post(url).json(&how).send().await.unwrap();
        data(answer, StatusCode::OK).await
    }

    /// Asks with another key than the owner's.
    pub(crate) async fn ask_as(&self, key: &str, method: Method, path: &str) -> Response {
        let url = format!("{}{path}", self.url);
        self.http.request(method, url).bearer_auth(key).send().await.unwrap()
    }
}

/// Checks the status and returns the `data` of an answer.
pub(crate) async fn data(answer: Response, status: StatusCode) -> Value {
    let found = answer.status();
    let body: Value = answer.json().await.unwrap();
    assert_eq!(found, status, "{body}");
    assert_eq!(body["success"], true, "{body}");
    body["data"].clone()
}

/// Checks the status and the code of a failure and returns its body.
pub(crate) async fn failure(answer: Response, status: u16, code: &str) -> Value {
    let found = answer.status();
    let id = answer.headers().get("x-request-id").cloned();
    let text = answer.text().await.unwrap();
    let body: Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {found} {text}"));
    assert_eq!((found.as_u16(), &body["error"]["code"]), (status, &Value::from(code)), "{body}");
    assert_eq!(body["success"], false);
    assert!(body["error"]["message"].as_str().is_some_and(|message| !message.is_empty()));
    assert_eq!(body["meta"]["requestId"].as_str(), id.as_ref().and_then(|id| id.to_str().ok()));
    for secret in ["SELECT", "INSERT", "panicked", "src/", "rusqlite"] {
        assert!(!text.contains(secret), "{secret} leaks in {text}");
    }
    assert!(!text.replace("godel_sk_..", "").contains("godel_sk_"), "a key leaks in {text}");
    body
}
