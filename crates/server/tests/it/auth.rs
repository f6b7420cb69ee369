//! Who gets in.

use reqwest::{Method, Response, StatusCode};
use serde_json::json;

use crate::harness::{Running, data, failure, server_with, servers};

async fn login(server: &Running, body: serde_json::Value) -> Response {
    server.http.post(format!("{}/auth/login", server.url)).json(&body).send().await.unwrap()
}

fn token(server: &Running) -> String {
    server.login_link.split_once("#token=").unwrap().1.to_owned()
}

fn cookie(answer: &Response) -> String {
    let set = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_link_opens_one_session() {
    for server in servers().await {
        let answer = login(&server, json!({ "token": token(&server) })).await;
        let cookie = cookie(&answer);
        let session = data(answer, StatusCode::OK).await;
        assert_eq!(
            (&session["actor"], &session["tenant"]["name"]),
            (&json!("user:owner"), &json!("default"))
        );
        failure(
            login(&server, json!({ "token": token(&server) })).await,
            401,
            "login_link_invalid",
        )
        .await;
        let with = |method: Method, path: &str| {
            server.http.request(method, format!("{}{path}", server.url)).header("cookie", &cookie)
        };
        data(with(Method::GET, "/auth/me").send().await.unwrap(), StatusCode::OK).await;
        let csrf = session["csrfToken"].as_str().unwrap();
        let publish = || with(Method::POST, "/api/v1/events").json(&json!({ "type": "test:page" }));
        failure(publish().send().await.unwrap(), 403, "csrf_refused").await;
        let guessed = publish().header("x-godel-csrf", "1");
        failure(guessed.send().await.unwrap(), 403, "csrf_refused").await;
        let proved = publish().header("x-godel-csrf", csrf);
        data(proved.send().await.unwrap(), StatusCode::CREATED).await;
        let foreign =
            publish().header("x-godel-csrf", csrf).header("origin", "http://evil.example");
        failure(foreign.send().await.unwrap(), 403, "csrf_refused").await;
        let out =
            with(Method::POST, "/auth/logout").header("x-godel-csrf", csrf).send().await.unwrap();
        assert_eq!(out.status(), 204);
        failure(with(Method::GET, "/auth/me").send().await.unwrap(), 401, "unauthorized").await;
    }
}

#[tokio::test]
async fn only_a_known_key_gets_in() {
    let server = server_with(|_| {}).await;
    let url = format!("{}/api/v1/events", server.url);
    let stranger = format!("godel_sk_{}", "A".repeat(43));
    for request in [
        server.http.get(&url),
        server.http.get(&url).bearer_auth("nonsense"),
        server.http.get(&url).bearer_auth(&stranger),
        server.http.get(&url).header("x-api-key", &stranger),
        server.http.get(&url).header("authorization", format!("Basic {}", server.key)),
        server.http.get(&url).header("cookie", "godel_session=short"),
        server.http.get(format!("{url}?token={}", server.key)),
    ] {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.headers()["www-authenticate"], "Bearer");
        failure(answer, 401, "unauthorized").await;
    }
    let by_header = server.http.get(&url).header("x-api-key", &server.key).send().await.unwrap();
    assert_eq!(by_header.status(), 200);
    let by_key = login(&server, json!({ "key": server.key })).await;
    assert_eq!(by_key.status(), 200);
    failure(login(&server, json!({ "key": stranger })).await, 401, "unauthorized").await;
    failure(login(&server, json!({})).await, 400, "invalid_field").await;
}

#[tokio::test]
async fn a_page_of_another_name_cannot_reach_the_server() {
    let server = server_with(|_| {}).await;
    let rebound = server.request(Method::GET, "/api/v1/events").header("host", "evil.example:7373");
    failure(rebound.send().await.unwrap(), 403, "host_refused").await;
    let local = server.request(Method::GET, "/api/v1/events").header("host", "localhost:7373");
    assert_eq!(local.send().await.unwrap().status(), 200);
}

#[cfg(unix)]
#[tokio::test]
async fn the_owners_key_is_for_its_user_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = server_with(|_| {}).await;
    let mode =
        std::fs::metadata(server.data.path().join("owner.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn the_database_holds_no_secret_in_clear() {
    let mut server = server_with(|config| config.database = None).await;
    let token = token(&server);
    login(&server, json!({ "token": token })).await;
    server.stop().await;
    let bytes = std::fs::read(server.data.path().join("godel.db")).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("server:start"), "the file is looked at rightly");
    assert!(!holds(&server.key[9..]) && !holds(&token));
}
