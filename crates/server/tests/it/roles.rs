//! What each role may do, and that every refusal is on record.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, server_with, servers};

async fn ask(server: &Running, key: &str, method: &str, path: &str, body: Option<Value>) -> u16 {
    let method: Method = method.parse().unwrap();
    let mut request = server.http.request(method, format!("{}{path}", server.url)).bearer_auth(key);
    if let Some(body) = body {
        request = request.json(&body);
    }
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_role_may_what_it_should_and_no_more() {
    for server in servers().await {
        let mut keys = vec![server.key.clone()];
        for role in ["operator", "developer", "viewer"] {
            keys.push(server.user(role, role).await.1);
        }
        let new = |name: &str| Some(json!({ "name": name }));
        let event = Some(json!({ "type": "test:role" }));
        let user = Some(json!({ "name": "x", "role": "viewer" }));
        let value = Some(json!({ "value": "s3cret" }));
        for (method, path, body, wanted) in [
            ("GET", "/api/v1/events", None, [200, 200, 200, 200]),
            ("POST", "/api/v1/events", event, [201, 201, 201, 403]),
            ("GET", "/api/v1/projects", None, [200, 200, 200, 200]),
            ("POST", "/api/v1/projects", new("p"), [201, 403, 403, 403]),
            ("GET", "/api/v1/users", None, [200, 403, 403, 403]),
            ("POST", "/api/v1/users", user, [201, 403, 403, 403]),
            ("POST", "/api/v1/keys", new("k"), [201, 201, 201, 201]),
            ("GET", "/api/v1/keys", None, [200, 200, 200, 200]),
            ("GET", "/api/v1/secrets", None, [200, 403, 403, 403]),
            ("PUT", "/api/v1/secrets/a", value, [200, 403, 403, 403]),
            ("GET", "/api/v1/audit", None, [200, 403, 403, 403]),
            ("GET", "/api/v1/audit/verify", None, [200, 403, 403, 403]),
            ("GET", "/api/v1/tenants", None, [200, 403, 403, 403]),
            ("POST", "/api/v1/tenants", new("t"), [201, 403, 403, 403]),
            ("GET", "/metrics", None, [200, 200, 200, 200]),
            ("GET", "/health/detailed", None, [200, 200, 200, 200]),
            ("GET", "/auth/me", None, [200, 200, 200, 200]),
        ] {
            let mut found = Vec::new();
            for key in &keys {
                found.push(ask(&server, key, method, path, body.clone()).await);
            }
            assert_eq!(found, wanted, "{}: {method} {path}", server.engine);
        }
        let own = server.ask_as(&keys[3], Method::GET, "/api/v1/keys").await;
        let own = data(own, StatusCode::OK).await;
        let me = data(server.ask_as(&keys[3], Method::GET, "/auth/me").await, StatusCode::OK).await;
        let owners = own["items"].as_array().unwrap().iter().map(|key| &key["userId"]);
        assert!(owners.clone().count() >= 1 && owners.clone().all(|id| *id == me["userId"]));
        let denied = server.request(Method::GET, "/api/v1/audit").query(&[
            ("filter", r#"{"result":"denied","action":"access:denied"}"#),
            ("limit", "100"),
        ]);
        let denied = data(denied.send().await.unwrap(), StatusCode::OK).await;
        let rows = denied["items"].as_array().unwrap();
        assert_eq!(rows.len(), 3 * 9 + 1, "{}: each refusal is on record", server.engine);
        assert!(rows.iter().any(|row| row["actor"] == "user:viewer"
            && row["resource"] == "POST /api/v1/events"
            && row["address"] == "127.0.0.1"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_key_stays_narrow() {
    for server in servers().await {
        let new = json!({ "name": "reader", "scopes": ["event:read:team"] });
        let made = data(server.post("/api/v1/keys", new).await, StatusCode::CREATED).await;
        let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
        let new = |name: &str| Some(json!({ "name": name }));
        for (method, path, body, wanted) in [
            ("GET", "/api/v1/events", None, 200),
            ("POST", "/api/v1/events", Some(json!({ "type": "test:x" })), 403),
            ("GET", "/api/v1/projects", None, 403),
            ("POST", "/api/v1/keys", new("wider"), 403),
            ("PUT", "/auth/password", Some(json!({ "password": "long enough, this" })), 403),
        ] {
            assert_eq!(ask(&server, key, method, path, body).await, wanted, "{method} {path}");
        }
        let login = server.http.post(format!("{}/auth/login", server.url));
        let login = login.json(&json!({ "key": key })).send().await.unwrap();
        failure(login, 403, "forbidden").await;
        let revoked = server.request(Method::DELETE, &format!("/api/v1/keys/{id}"));
        assert_eq!(revoked.send().await.unwrap().status(), 204);
        assert_eq!(ask(&server, key, "GET", "/api/v1/events", None).await, 401);
        let bad = json!({ "name": "bad", "scopes": ["everything"] });
        failure(server.post("/api/v1/keys", bad).await, 400, "invalid_field").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_key_makes_nobody_who_may_more() {
    for server in servers().await {
        let (id, _) = server.user("ann", "viewer").await;
        let scopes = ["user:*:all", "tenant:*:all", "key:*:all"];
        let new = json!({ "name": "people", "scopes": scopes });
        let made = data(server.post("/api/v1/keys", new).await, StatusCode::CREATED).await;
        let key = made["key"].as_str().unwrap();
        let user = Some(json!({ "name": "eve", "role": "admin" }));
        let admin = Some(json!({ "role": "admin" }));
        for (method, path, body) in [
            ("POST", "/api/v1/users".to_owned(), user),
            ("POST", format!("/api/v1/users/{id}/link"), None),
            ("PATCH", format!("/api/v1/users/{id}"), admin),
            ("POST", "/api/v1/tenants".to_owned(), Some(json!({ "name": "eve" }))),
            ("POST", "/api/v1/keys".to_owned(), Some(json!({ "name": "eve" }))),
        ] {
            assert_eq!(ask(&server, key, method, &path, body).await, 403, "{method} {path}");
        }
        assert_eq!(ask(&server, key, "GET", "/api/v1/users", None).await, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_ends_makes_none_that_does_not() {
    let server = server_with(|_| {}).await;
    let new = json!({ "name": "short", "expiresAt": "2999-01-01T00:00:00Z" });
    let made = data(server.post("/api/v1/keys", new).await, StatusCode::CREATED).await;
    let key = made["key"].as_str().unwrap();
    let child = server.http.post(format!("{}/api/v1/keys", server.url)).bearer_auth(key);
    let child = child.json(&json!({ "name": "child" })).send().await.unwrap();
    let child = data(child, StatusCode::CREATED).await;
    assert_eq!(child["expiresAt"], "2999-01-01T00:00:00Z");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_other_projects_are_not_shown() {
    for server in servers().await {
        let mut ids = Vec::new();
        for name in ["ours", "theirs-zebra"] {
            let made = server.post("/api/v1/projects", json!({ "name": name })).await;
            ids.push(data(made, StatusCode::CREATED).await["id"].as_str().unwrap().to_owned());
        }
        let new = json!({ "name": "dev", "role": "developer", "projects": [ids[0]] });
        let made = data(server.post("/api/v1/users", new).await, StatusCode::CREATED).await;
        let key = server.key_by_link(made["linkPath"].as_str().unwrap()).await;
        let all = server.get("/api/v1/events?limit=100").await.text().await.unwrap();
        assert!(all.contains("theirs-zebra"), "{}", server.engine);
        let shown = server.ask_as(&key, Method::GET, "/api/v1/events?limit=100").await;
        let shown = shown.text().await.unwrap();
        assert!(shown.contains("ours") && !shown.contains("theirs-zebra"), "{}", server.engine);
        let all: Value = serde_json::from_str(&all).unwrap();
        let theirs = all["data"]["items"].as_array().unwrap().iter();
        let theirs = theirs.clone().find(|e| e["metadata"]["projectId"] == ids[1].as_str());
        let path = format!("/api/v1/events/{}", theirs.unwrap()["id"].as_str().unwrap());
        assert_eq!(ask(&server, &key, "GET", &path, None).await, 404);
        let mut stream = server.ask_as(&key, Method::GET, "/api/v1/events/stream?after=0").await;
        let mut text = String::new();
        while let Ok(Ok(Some(chunk))) =
            tokio::time::timeout(std::time::Duration::from_millis(700), stream.chunk()).await
        {
            text.push_str(&String::from_utf8_lossy(&chunk));
        }
        assert!(text.contains("ours") && !text.contains("theirs-zebra"), "{}", server.engine);
        let foreign = json!({ "type": "test:x", "metadata": { "projectId": ids[1] } });
        assert_eq!(ask(&server, &key, "POST", "/api/v1/events", Some(foreign)).await, 400);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_at_the_same_moment_undoes_no_ones_decision() {
    for server in servers().await {
        let (id, key) = server.user("leaver", "admin").await;
        let set = server.http.put(format!("{}/auth/password", server.url)).bearer_auth(&key);
        let set = set.json(&json!({ "password": "correct horse battery" })).send().await.unwrap();
        assert_eq!(set.status(), 204);
        let how = json!({ "key": key, "wants": "tokens" });
        let logins = (0..12)
            .map(|_| server.http.post(format!("{}/auth/login", server.url)).json(&how).send());
        let path = format!("/api/v1/users/{id}");
        let change = json!({ "role": "viewer", "disabled": true });
        let change = server.request(Method::PATCH, &path).json(&change).send();
        let (_, changed) = tokio::join!(futures_util::future::join_all(logins), change);
        assert_eq!(changed.unwrap().status(), 200);
        let user = data(server.get(&path).await, StatusCode::OK).await;
        assert_eq!((&user["role"], &user["status"]), (&json!("viewer"), &json!("disabled")));
        assert_eq!(ask(&server, &key, "GET", "/api/v1/events", None).await, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_of_one_project_does_not_see_another() {
    for server in servers().await {
        let mut ids = Vec::new();
        for name in ["payments", "search"] {
            let made = server.post("/api/v1/projects", json!({ "name": name })).await;
            ids.push(data(made, StatusCode::CREATED).await["id"].as_str().unwrap().to_owned());
        }
        let new = json!({ "name": "dev", "role": "developer", "projects": [ids[0]] });
        let made = data(server.post("/api/v1/users", new).await, StatusCode::CREATED).await;
        let key = server.key_by_link(made["linkPath"].as_str().unwrap()).await;
        let of = |id: &str| format!("/api/v1/projects/{id}");
        assert_eq!(ask(&server, &key, "GET", &of(&ids[0]), None).await, 200);
        assert_eq!(ask(&server, &key, "GET", &of(&ids[1]), None).await, 404);
        let list = server.ask_as(&key, Method::GET, "/api/v1/projects").await;
        let list = data(list, StatusCode::OK).await;
        assert_eq!(list["items"].as_array().unwrap().len(), 1);
        let denied = server.request(Method::GET, "/api/v1/audit");
        let denied = denied.query(&[("filter", r#"{"action":"project:read"}"#)]);
        let denied = data(denied.send().await.unwrap(), StatusCode::OK).await;
        assert_eq!(denied["items"][0]["resource"], format!("project/{}", ids[1]));
        assert_eq!(denied["items"][0]["result"], "denied");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_user_and_a_closed_tenant_are_out_at_once() {
    for server in servers().await {
        let (id, key) = server.user("dev", "developer").await;
        let change =
            |path: String, body: Value| server.request(Method::PATCH, &path).json(&body).send();
        let path = format!("/api/v1/users/{id}");
        data(change(path.clone(), json!({ "disabled": true })).await.unwrap(), StatusCode::OK)
            .await;
        assert_eq!(ask(&server, &key, "GET", "/api/v1/events", None).await, 401);
        data(change(path, json!({ "disabled": false })).await.unwrap(), StatusCode::OK).await;
        assert_eq!(ask(&server, &key, "GET", "/api/v1/events", None).await, 200);
        let other = server.other_tenant().await;
        let tenants = data(server.get("/api/v1/tenants").await, StatusCode::OK).await;
        let id = tenants["items"][1]["id"].as_str().unwrap();
        let path = format!("/api/v1/tenants/{id}");
        data(change(path, json!({ "disabled": true })).await.unwrap(), StatusCode::OK).await;
        assert_eq!(ask(&server, &other, "GET", "/api/v1/events", None).await, 401);
        let me = data(server.get("/auth/me").await, StatusCode::OK).await;
        let (own, tenant) = (&me["userId"], &me["tenant"]["id"]);
        let own = format!("/api/v1/users/{}", own.as_str().unwrap());
        let last = change(own, json!({ "role": "viewer" })).await.unwrap();
        failure(last, 409, "last_admin").await;
        let home = format!("/api/v1/tenants/{}", tenant.as_str().unwrap());
        let closed = change(home, json!({ "disabled": true })).await.unwrap();
        failure(closed, 400, "invalid_field").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_key_goes_on_for_its_grace() {
    for server in servers().await {
        let made = server.post("/api/v1/keys", json!({ "name": "ci" })).await;
        let made = data(made, StatusCode::CREATED).await;
        let (id, old) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
        let rotate = |grace: u32| {
            let path = format!("/api/v1/keys/{id}/rotate");
            server.request(Method::POST, &path).json(&json!({ "graceSeconds": grace })).send()
        };
        let next = data(rotate(60).await.unwrap(), StatusCode::CREATED).await;
        let new = next["key"].as_str().unwrap();
        for key in [old, new] {
            assert_eq!(ask(&server, key, "GET", "/api/v1/events", None).await, 200);
        }
        data(rotate(0).await.unwrap(), StatusCode::CREATED).await;
        assert_eq!(ask(&server, old, "GET", "/api/v1/events", None).await, 401);
        assert_eq!(ask(&server, new, "GET", "/api/v1/events", None).await, 200);
        let list = server.request(Method::GET, "/api/v1/keys").query(&[("limit", "100")]);
        let list = data(list.send().await.unwrap(), StatusCode::OK).await;
        let used = list["items"].as_array().unwrap().iter();
        assert!(used.clone().any(|key| key["id"] == id && key["usedAt"].is_string()));
        assert!(used.clone().all(|key| key["key"].is_null() && key["hash"].is_null()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_path_gets_around_the_guard() {
    let server = server_with(|_| {}).await;
    let host = server.url.trim_start_matches("http://").to_owned();
    for path in [
        "/api/v1/events?/health",
        "/api/v1/events#/health",
        "//api/v1/events",
        "/api//v1/events",
        "/api/v1//events",
        "/api/v1/events/",
        "/health/../api/v1/events",
        "/health/..%2fapi/v1/events",
        "/health/%2e%2e/api/v1/events",
        "/api/v1/%65vents",
        "/API/V1/EVENTS",
        "/api/v1/events;/health",
        "/health;/../api/v1/events",
        "/api/v1/./events",
        "/api%2fv1%2fevents",
        "/api/v1/users?x=/auth/login",
        "/metrics/",
        "/metrics?/health/live",
        "\\api\\v1\\events",
    ] {
        // By hand: a client library would tidy the path up.
        let text = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let address = host.clone();
        let answer = tokio::task::spawn_blocking(move || {
            use std::io::{Read as _, Write as _};
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).ok();
            answer
        });
        let answer = answer.await.unwrap();
        let status: u16 = answer.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        assert!(matches!(status, 400 | 401 | 404 | 405), "{path}: {answer}");
        assert!(!answer.contains("\"items\""), "{path}: {answer}");
    }
}
