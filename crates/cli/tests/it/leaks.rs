//! Nothing that a server emits holds a secret that it was given or that it made.

use godel_store::DatabaseUrl;
use godel_testkit::{Database, postgres_url};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::home::{Home, Server};

/// A database password that no server asks for; it must not appear all the same.
const DATABASE_PASSWORD: &str = "dbpass-7f3kq9";
const PASSWORD: &str = "correct horse battery 91";
const SECRET: &str = "sk-ant-api03-zebra-quagga-0042";

/// A server, everything it was told or told in confidence, and everything that it emitted.
struct Watch<'a> {
    server: &'a Server,
    http: reqwest::Client,
    secrets: Vec<(String, String)>,
    emitted: Vec<(String, String)>,
}

impl Watch<'_> {
    fn secret(&mut self, name: &str, value: impl Into<String>) -> String {
        let value = value.into();
        assert!(value.len() >= 12, "{name} is too short to be looked for");
        self.secrets.push((name.to_owned(), value.clone()));
        value
    }

    fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.server.url()))
    }

    /// Sends a request whose answer hands a secret out; returns its data.
    async fn trusted(&self, request: RequestBuilder) -> Value {
        let body: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(body["success"], true, "{body}");
        body["data"].clone()
    }

    /// Sends a request whose answer must hold no secret, whatever its status.
    async fn watched(&mut self, name: &str, request: RequestBuilder) {
        let answer = request.send().await.unwrap();
        let headers = format!("{:?}", answer.headers());
        let text = answer.text().await.unwrap();
        self.emitted.push((name.to_owned(), format!("{headers}\n{text}")));
    }

    fn judge(&self) {
        assert!(self.secrets.len() >= 10 && self.emitted.len() >= 25);
        for (name, secret) in &self.secrets {
            for (place, text) in &self.emitted {
                assert!(!text.contains(secret.as_str()), "{name} is in {place}");
            }
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

async fn watch(home: &Home, server: &Server) {
    godel_tls::install();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut watch = Watch { server, http, secrets: Vec::new(), emitted: Vec::new() };
    watch.secret("the database password", DATABASE_PASSWORD);
    watch.secret("a password", PASSWORD);
    watch.secret("a secret", SECRET);
    let read = |name: &str| std::fs::read_to_string(home.data().join(name)).unwrap();
    watch.secret("the master key", read("master.key").trim());
    let owner = watch.secret("the owner key", read("owner.key").trim());
    let link = text(&server.said["loginLink"]);
    let link = watch.secret("a login link", link.split_once("#token=").unwrap().1);
    hand_out(&mut watch, &owner, &link).await;
    misuse(&mut watch, &owner).await;
    for path in [
        "/api/v1/events?limit=100",
        "/api/v1/audit?limit=100",
        "/api/v1/audit/verify",
        "/api/v1/keys?limit=100",
        "/api/v1/users?limit=100",
        "/api/v1/secrets",
        "/api/v1/tenants",
        "/api/v1/projects",
        "/api/v1/metrics/system",
        "/metrics",
        "/health",
        "/health/detailed",
        "/capabilities",
        "/api/v1/openapi.json",
        "/auth/me",
    ] {
        let request = watch.ask(Method::GET, path).bearer_auth(&owner);
        watch.watched(path, request).await;
    }
    assert!(watch.emitted.iter().any(|(_, text)| text.contains("secret:set")), "it was recorded");
    watch.emitted.push(("the log".to_owned(), home.log()));
    watch.emitted.push(("the discovery file".to_owned(), read("server.json")));
    assert!(home.log().contains("\"level\":\"debug\""), "everything is logged");
    watch.judge();
}

/// Lets the server hand out every kind of credential, and uses each once.
async fn hand_out(watch: &mut Watch<'_>, owner: &str, link: &str) {
    let login = watch.ask(Method::POST, "/auth/login");
    let answer = login.json(&json!({ "token": link })).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    let cookie = cookie.split(';').next().unwrap().split_once('=').unwrap().1.to_owned();
    let cookie = watch.secret("a cookie", cookie);
    let session: Value = answer.json().await.unwrap();
    let csrf = watch.secret("a CSRF token", text(&session["data"]["csrfToken"]));
    let by_cookie = watch.ask(Method::POST, "/api/v1/events").json(&json!({ "type": "test:x" }));
    let by_cookie = by_cookie.header("cookie", format!("godel_session={cookie}"));
    watch.watched("a publication", by_cookie.header("x-godel-csrf", csrf)).await;
    let tokens = watch.ask(Method::POST, "/auth/login");
    let tokens = tokens.json(&json!({ "key": owner, "wants": "tokens" }));
    let tokens = watch.trusted(tokens).await["tokens"].clone();
    let access = watch.secret("an access token", text(&tokens["accessToken"]));
    let refresh = watch.secret("a refresh token", text(&tokens["refreshToken"]));
    let next = watch.ask(Method::POST, "/auth/refresh").json(&json!({ "refreshToken": refresh }));
    let next = watch.trusted(next).await["tokens"].clone();
    watch.secret("the next refresh token", text(&next["refreshToken"]));
    let key = watch.ask(Method::POST, "/api/v1/keys").bearer_auth(&access);
    let key = watch.trusted(key.json(&json!({ "name": "leaky" }))).await;
    let key = watch.secret("an API key", text(&key["key"]));
    let ticket = watch.ask(Method::POST, "/auth/ticket").bearer_auth(&key);
    let ticket = watch.trusted(ticket).await;
    let ticket = watch.secret("a ticket", text(&ticket["ticket"]));
    let socket = watch.ask(Method::GET, &format!("/events?ticket={ticket}"));
    watch.watched("a socket that is none", socket.header("upgrade", "websocket")).await;
    let device = watch.ask(Method::POST, "/auth/device").json(&json!({ "name": "tool" }));
    let device = watch.trusted(device).await;
    let device = watch.secret("a device code", text(&device["deviceCode"]));
    let asked = watch.ask(Method::POST, "/auth/device/token");
    watch.watched("a device that waits", asked.json(&json!({ "deviceCode": device }))).await;
    let set = watch.ask(Method::PUT, "/api/v1/secrets/anthropic").bearer_auth(owner);
    watch.watched("a secret that is set", set.json(&json!({ "value": SECRET }))).await;
    let word = watch.ask(Method::PUT, "/auth/password").bearer_auth(owner);
    watch.watched("a password that is set", word.json(&json!({ "password": PASSWORD }))).await;
    let login = watch.ask(Method::POST, "/auth/login");
    let login = login.json(&json!({ "name": "owner", "password": PASSWORD, "wants": "tokens" }));
    let session = watch.trusted(login).await;
    watch.secret("another access token", text(&session["tokens"]["accessToken"]));
    let invite = watch.ask(Method::POST, "/api/v1/users").bearer_auth(owner);
    let invite = invite.json(&json!({ "name": "ann", "role": "viewer" }));
    let path = text(&watch.trusted(invite).await["linkPath"]);
    watch.secret("an invitation", path.split_once("#token=").unwrap().1);
}

/// Puts secrets where they do not belong: the answer must not repeat them.
async fn misuse(watch: &mut Watch<'_>, owner: &str) {
    let secrets: Vec<String> = watch.secrets.iter().map(|(_, secret)| secret.clone()).collect();
    for (number, secret) in secrets.iter().enumerate() {
        let post =
            |path: &str, body: Value| watch.ask(Method::POST, path).bearer_auth(owner).json(&body);
        let wrong = [
            post("/auth/login", json!({ "key": secret, "token": secret })),
            post("/auth/login", json!({ "name": secret, "password": secret })),
            post("/auth/refresh", json!({ "refreshToken": format!("{secret}x") })),
            post("/api/v1/keys", json!({ "name": "n", "scopes": [format!("{secret}:read")] })),
            watch.ask(Method::GET, "/api/v1/events").bearer_auth(format!("{secret}x")),
            watch.ask(Method::GET, "/api/v1/events").header("x-api-key", format!("{secret}x")),
            watch
                .ask(Method::PUT, "/auth/password")
                .bearer_auth(owner)
                .json(&json!({ "password": "x", "currentPassword": secret })),
        ];
        for (kind, request) in wrong.into_iter().enumerate() {
            let answer = request.send().await.unwrap();
            let text = answer.text().await.unwrap();
            // A scope that is not understood is repeated, so that people find their mistake.
            if kind != 3 {
                watch.emitted.push((format!("misuse {number}.{kind}"), text));
            }
        }
    }
}

fn watched_home() -> Home {
    Home::new()
        .with("GODEL_LOG_LEVEL", "trace")
        .with("GODEL_LOG_FORMAT", "json")
        .with("GODEL_RATE_FAILURES_PER_MINUTE", "100000")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_keeps_what_it_was_told_in_confidence_on_sqlite() {
    let home = watched_home();
    let server = home.up();
    watch(&home, &server).await;
    tokio::task::spawn_blocking(move || drop((server, home))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_keeps_what_it_was_told_in_confidence_on_postgres() {
    let Some(server) = postgres_url() else { return };
    let database = tokio::task::spawn_blocking(|| Database::postgres(server)).await.unwrap();
    let DatabaseUrl::Postgres(url) = database.url() else { panic!("not PostgreSQL") };
    // The server of the tests trusts everybody, so any password will do.
    let url = url.replacen('@', &format!(":{DATABASE_PASSWORD}@"), 1);
    let home = watched_home().with("GODEL_DATABASE_URL", &url);
    let server = home.up();
    watch(&home, &server).await;
    tokio::task::spawn_blocking(move || drop((server, home, database))).await.unwrap();
}
