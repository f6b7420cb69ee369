//! Accounts from day to day: passwords, keys, old tokens, and pages that make noise.

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Error as WsError;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::harness::{Running, data, failure, server_with, servers};

async fn set_password(server: &Running, key: &str, body: Value) -> Response {
    let url = format!("{}/auth/password", server.url);
    server.http.put(url).bearer_auth(key).json(&body).send().await.unwrap()
}

async fn log_in(server: &Running, name: &str, password: &str) -> Response {
    let body = json!({ "name": name, "password": password });
    server.http.post(format!("{}/auth/login", server.url)).json(&body).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_changed_by_who_knows_it_and_reset_by_an_admin() {
    const OLD: &str = "correct horse battery";
    const NEW: &str = "another horse battery";
    for server in servers().await {
        let (id, key) = server.user("ann", "developer").await;
        assert_eq!(set_password(&server, &key, json!({ "password": OLD })).await.status(), 204);
        let blind = set_password(&server, &key, json!({ "password": NEW })).await;
        failure(blind, 400, "current_password_needed").await;
        let wrong = json!({ "password": NEW, "currentPassword": "wrong horse battery" });
        failure(set_password(&server, &key, wrong.clone()).await, 401, "wrong_password").await;
        data(log_in(&server, "ann", OLD).await, StatusCode::OK).await;
        let right = json!({ "password": NEW, "currentPassword": OLD });
        assert_eq!(set_password(&server, &key, right).await.status(), 204);
        failure(log_in(&server, "ann", OLD).await, 401, "wrong_password").await;
        data(log_in(&server, "ann", NEW).await, StatusCode::OK).await;
        // It is no way around the limit of guesses.
        for _ in 0..5 {
            set_password(&server, &key, wrong.clone()).await;
        }
        failure(set_password(&server, &key, wrong).await, 429, "rate_limited").await;
        let filter = r#"{"action":"auth:failure","result":"denied"}"#;
        let found = server.request(Method::GET, "/api/v1/audit").query(&[("filter", filter)]);
        let found = data(found.send().await.unwrap(), StatusCode::OK).await;
        assert_eq!(found["items"][0]["resource"], "password", "{}: {found}", server.engine);
        assert_eq!(found["items"][0]["userId"], id.as_str());
        // Who forgot it gets a link, and whoever comes by it needs no password to set one.
        let link = server.post(&format!("/api/v1/users/{id}/link"), json!({})).await;
        let link = data(link, StatusCode::CREATED).await["linkPath"].as_str().unwrap().to_owned();
        let fresh = server.key_by_link(&link).await;
        assert_eq!(set_password(&server, &fresh, json!({ "password": OLD })).await.status(), 204);
    }
}

async fn new_key(server: &Running, key: &str) -> Response {
    let url = format!("{}/api/v1/keys", server.url);
    let body = json!({ "name": "one of many" });
    server.http.post(url).bearer_auth(key).json(&body).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_a_hundred_keys_and_no_more() {
    for server in servers().await {
        let (id, key) = server.user("ann", "developer").await;
        for _ in 1..95 {
            assert_eq!(new_key(&server, &key).await.status(), 201);
        }
        // Many at the same moment do not get past each other.
        let all = futures_util::future::join_all((0..12).map(|_| new_key(&server, &key))).await;
        let made = all.iter().filter(|answer| answer.status() == 201).count();
        assert_eq!(made, 5, "{}", server.engine);
        failure(new_key(&server, &key).await, 409, "too_many_keys").await;
        let others = json!({ "name": "by an admin", "userId": id });
        failure(server.post("/api/v1/keys", others).await, 409, "too_many_keys").await;
        let list = server.ask_as(&key, Method::GET, "/api/v1/keys?limit=100").await;
        let list = data(list, StatusCode::OK).await;
        let one = list["items"][5]["id"].as_str().unwrap().to_owned();
        let rotate = |body: Value| {
            let url = format!("{}/api/v1/keys/{one}/rotate", server.url);
            server.http.post(url).bearer_auth(&key).json(&body).send()
        };
        failure(rotate(json!({})).await.unwrap(), 409, "too_many_keys").await;
        let swapped = rotate(json!({ "graceSeconds": 0 })).await.unwrap();
        data(swapped, StatusCode::CREATED).await;
        failure(new_key(&server, &key).await, 409, "too_many_keys").await;
        let other = list["items"][6]["id"].as_str().unwrap();
        let gone = server.ask_as(&key, Method::DELETE, &format!("/api/v1/keys/{other}")).await;
        assert_eq!(gone.status(), 204);
        data(new_key(&server, &key).await, StatusCode::CREATED).await;
        // Others have their own hundred.
        assert_eq!(new_key(&server, &server.key).await.status(), 201);
    }
}

async fn refresh(server: &Running, token: &str) -> Response {
    let url = format!("{}/auth/refresh", server.url);
    server.http.post(url).json(&json!({ "refreshToken": token })).send().await.unwrap()
}

async fn reuses(server: &Running) -> usize {
    let filter = r#"{"action":"auth:refresh-reused"}"#;
    let found = server.request(Method::GET, "/api/v1/audit").query(&[("filter", filter)]);
    let found = data(found.send().await.unwrap(), StatusCode::OK).await;
    let items = found["items"].as_array().unwrap();
    assert!(items.iter().all(|act| act["result"] == "denied" && !act["userId"].is_null()));
    items.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_token_of_an_ended_login_is_on_record_once() {
    for server in servers().await {
        let login = || async {
            let session = server.login(json!({ "key": server.key, "wants": "tokens" })).await;
            session["tokens"]["refreshToken"].as_str().unwrap().to_owned()
        };
        // A login that ended in good order; then somebody comes with one of its old tokens.
        let first = login().await;
        let next = data(refresh(&server, &first).await, StatusCode::OK).await;
        let access = next["tokens"]["accessToken"].as_str().unwrap();
        let out = server.ask_as(access, Method::POST, "/auth/logout").await;
        assert_eq!(out.status(), 204);
        for _ in 0..5 {
            failure(refresh(&server, &first).await, 401, "unauthorized").await;
        }
        assert_eq!(reuses(&server).await, 1, "{}", server.engine);
        // One that ends by the reuse itself is told of once, too.
        let stolen = login().await;
        data(refresh(&server, &stolen).await, StatusCode::OK).await;
        for _ in 0..5 {
            failure(refresh(&server, &stolen).await, 401, "unauthorized").await;
        }
        assert_eq!(reuses(&server).await, 2, "{}", server.engine);
    }
}

/// Opens a socket as a page of a browser does; answers with the status.
async fn knock(server: &Running, ticket: &str, origin: Option<&str>) -> u16 {
    knock_at(server, "/events", ticket, origin).await
}

async fn knock_at(server: &Running, path: &str, ticket: &str, origin: Option<&str>) -> u16 {
    let url = format!("{}{path}?ticket={ticket}", server.url.replace("http", "ws"));
    let mut request = url.into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("sec-websocket-protocol", "godel-events-v1".parse().unwrap());
    if let Some(origin) = origin {
        headers.insert("origin", origin.parse().unwrap());
    }
    match tokio_tungstenite::connect_async(request).await {
        Ok(_) => 101,
        Err(WsError::Http(answer)) => answer.status().as_u16(),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_server_does_not_use_up_the_patience_with_an_address() {
    let server = server_with(|config| config.app.rates.failures_per_minute = 5).await;
    let guess = format!("godel_sk_{}", "B".repeat(43));
    for ticket in ["A".repeat(43), "short".to_owned(), guess.clone()] {
        for origin in ["https://evil.example", "null"] {
            for _ in 0..10 {
                assert_eq!(knock(&server, &ticket, Some(origin)).await, 403);
            }
        }
    }
    let honest = server.ask_as(&guess, Method::GET, "/api/v1/events").await;
    failure(honest, 401, "unauthorized").await;
    // The dashboard's own pages, and programs, which have no origin.
    for origin in [Some(server.url.as_str()), None] {
        let made = data(server.post("/auth/ticket", json!({})).await, StatusCode::CREATED).await;
        let ticket = made["ticket"].as_str().unwrap();
        assert_eq!(knock(&server, ticket, Some("https://evil.example")).await, 403);
        assert_eq!(knock(&server, ticket, origin).await, 101, "a refusal does not use it up");
        assert_eq!(knock(&server, ticket, origin).await, 401);
    }
    // The socket of an agent has the same guard; behind it is nobody of this name.
    let made = data(server.post("/auth/ticket", json!({})).await, StatusCode::CREATED).await;
    let (ticket, path) = (made["ticket"].as_str().unwrap(), "/api/v1/agents/nobody/attach");
    assert_eq!(knock_at(&server, path, ticket, Some("https://evil.example")).await, 403);
    assert_eq!(knock_at(&server, path, ticket, Some(&server.url)).await, 404);
    assert_eq!(knock_at(&server, path, ticket, Some(&server.url)).await, 401);
}
