//! Tokens, tickets and logins that last: forged, expired, stolen, guessed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, server_with, servers};

async fn tokens(server: &Running) -> (String, String) {
    let session = server.login(json!({ "key": server.key, "wants": "tokens" })).await;
    let text = |name: &str| session["tokens"][name].as_str().unwrap().to_owned();
    assert_eq!(session["tokens"]["expiresIn"], 900);
    (text("accessToken"), text("refreshToken"))
}

async fn refresh(server: &Running, token: &str) -> reqwest::Response {
    let url = format!("{}/auth/refresh", server.url);
    server.http.post(url).json(&json!({ "refreshToken": token })).send().await.unwrap()
}

async fn me(server: &Running, token: &str) -> reqwest::Response {
    server.ask_as(token, Method::GET, "/auth/me").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_works_once_and_a_stolen_one_ends_the_login() {
    for server in servers().await {
        let (access, first) = tokens(&server).await;
        let who = data(me(&server, &access).await, StatusCode::OK).await;
        assert_eq!((&who["actor"], &who["role"]), (&json!("user:owner"), &json!("admin")));
        let next = data(refresh(&server, &first).await, StatusCode::OK).await;
        let second = next["tokens"]["refreshToken"].as_str().unwrap();
        let newer = next["tokens"]["accessToken"].as_str().unwrap();
        assert_ne!(second, first);
        data(me(&server, newer).await, StatusCode::OK).await;
        // Whoever shows the first one again has stolen it, or was robbed.
        failure(refresh(&server, &first).await, 401, "unauthorized").await;
        failure(refresh(&server, second).await, 401, "unauthorized").await;
        failure(me(&server, newer).await, 401, "unauthorized").await;
        failure(me(&server, &access).await, 401, "unauthorized").await;
        let filter = r#"{"action":"auth:refresh-reused"}"#;
        let found = server.request(Method::GET, "/api/v1/audit").query(&[("filter", filter)]);
        let found = data(found.send().await.unwrap(), StatusCode::OK).await;
        assert_eq!(found["items"][0]["result"], "denied", "{}: {found}", server.engine);
        assert!(found["items"][0]["address"].as_str().is_some_and(|ip| ip.starts_with("127.")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_refreshes_at_the_same_moment_give_one_pair() {
    for server in servers().await {
        let (_, token) = tokens(&server).await;
        let all = futures_util::future::join_all((0..8).map(|_| refresh(&server, &token))).await;
        let good = all.iter().filter(|answer| answer.status() == 200).count();
        assert!(good <= 1, "{}: {good} of 8 got in", server.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_logout_ends_the_tokens() {
    let server = server_with(|_| {}).await;
    let (access, token) = tokens(&server).await;
    let out = server.ask_as(&access, Method::POST, "/auth/logout").await;
    assert_eq!(out.status(), 204);
    failure(me(&server, &access).await, 401, "unauthorized").await;
    failure(refresh(&server, &token).await, 401, "unauthorized").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_tokens_are_refused() {
    let server = server_with(|_| {}).await;
    let (access, _) = tokens(&server).await;
    let parts: Vec<&str> = access.split('.').collect();
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let body: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
    for claim in ["sub", "iss", "aud", "exp", "iat", "nbf", "jti", "tid", "sid"] {
        assert!(!body[claim].is_null(), "{claim} is missing");
    }
    let none = part(&json!({ "alg": "none", "typ": "JWT" }));
    let rs = part(&json!({ "alg": "RS256", "typ": "JWT" }));
    let mut admin = body.clone();
    admin["exp"] = json!(body["exp"].as_i64().unwrap() + 86_400);
    for forged in [
        format!("{none}.{}.", parts[1]),
        format!("{none}.{}.{}", parts[1], parts[2]),
        format!("{rs}.{}.{}", parts[1], parts[2]),
        format!("{}.{}.{}", parts[0], part(&admin), parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}", parts[0], parts[1]),
        format!("{access}.x"),
        format!("{}.{}.{}", parts[0], parts[1], "A".repeat(43)),
        format!("{}.{}.{}", "A".repeat(3_000), parts[1], parts[2]),
    ] {
        failure(me(&server, &forged).await, 401, "unauthorized").await;
    }
    data(me(&server, &access).await, StatusCode::OK).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_claims_to_be_two_callers_is_refused() {
    let server = server_with(|_| {}).await;
    let (_, viewer) = server.user("vera", "viewer").await;
    let url = format!("{}/api/v1/users", server.url);
    let both = server.http.get(&url).bearer_auth(&viewer).header("x-api-key", &server.key);
    failure(both.send().await.unwrap(), 400, "invalid_header").await;
    let twice = server.http.get(&url).header("x-api-key", &viewer).header("x-api-key", &server.key);
    failure(twice.send().await.unwrap(), 400, "invalid_header").await;
    // Headers that proxies set are no proof of anything.
    for (name, value) in
        [("x-forwarded-user", "owner"), ("x-user-id", "1"), ("x-original-url", "/health")]
    {
        let request = server.http.get(&url).header(name, value);
        failure(request.send().await.unwrap(), 401, "unauthorized").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_gets_a_new_session_whatever_the_browser_had() {
    let server = server_with(|_| {}).await;
    let url = format!("{}/auth/login", server.url);
    let planted = "godel_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let login =
        server.http.post(&url).header("cookie", planted).json(&json!({ "key": server.key }));
    let answer = login.send().await.unwrap();
    let set = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(!set.starts_with(planted), "{set}");
    let with = server.http.get(format!("{}/auth/me", server.url)).header("cookie", planted);
    failure(with.send().await.unwrap(), 401, "unauthorized").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_are_compared_slowly_equally_and_not_too_often() {
    for server in servers().await {
        let (_, key) = server.user("ann", "developer").await;
        let set = server.http.put(format!("{}/auth/password", server.url)).bearer_auth(&key);
        let set = set.json(&json!({ "password": "correct horse battery" })).send().await.unwrap();
        assert_eq!(set.status(), 204);
        let login = |name: &str, password: &str| {
            let body = json!({ "name": name, "password": password });
            server.http.post(format!("{}/auth/login", server.url)).json(&body).send()
        };
        data(login("ann", "correct horse battery").await.unwrap(), StatusCode::OK).await;
        let wrong = failure(login("ann", "wrong").await.unwrap(), 401, "wrong_password").await;
        let nobody = failure(login("zoe", "wrong").await.unwrap(), 401, "wrong_password").await;
        assert_eq!(wrong["error"], nobody["error"], "the answer must not tell who exists");
        for _ in 0..4 {
            login("ann", "wrong").await.unwrap();
        }
        let late = login("ann", "correct horse battery").await.unwrap();
        assert!(late.headers().contains_key("retry-after"));
        failure(late, 429, "rate_limited").await;
        // Somebody else on the same machine is not locked out by that.
        failure(login("bob", "wrong").await.unwrap(), 401, "wrong_password").await;
        let (_, fresh) = server.user("cat", "developer").await;
        let short = server.http.put(format!("{}/auth/password", server.url)).bearer_auth(&fresh);
        let short = short.json(&json!({ "password": "short" })).send().await.unwrap();
        failure(short, 400, "invalid_field").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_keys_is_slowed_down_and_good_callers_are_not() {
    let server = server_with(|_| {}).await;
    let guess = format!("godel_sk_{}", "B".repeat(43));
    let mut refused = 0;
    for _ in 0..80 {
        let answer = server.ask_as(&guess, Method::GET, "/api/v1/events").await;
        refused += u32::from(answer.status() == 429);
    }
    assert!(refused >= 10, "{refused} of 80 guesses were slowed down");
    assert_eq!(server.get("/api/v1/events").await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_opens_one_socket() {
    use tokio_tungstenite::tungstenite::Error as WsError;
    use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
    for server in servers().await {
        let made = data(server.post("/auth/ticket", json!({})).await, StatusCode::CREATED).await;
        let ticket = made["ticket"].as_str().unwrap();
        let open = |ticket: String| {
            let url = format!("{}/events?ticket={ticket}", server.url.replace("http", "ws"));
            let mut request = url.into_client_request().unwrap();
            let wanted = "godel-events-v1".parse().unwrap();
            request.headers_mut().insert("sec-websocket-protocol", wanted);
            tokio_tungstenite::connect_async(request)
        };
        open(ticket.to_owned()).await.unwrap();
        for bad in [ticket.to_owned(), "A".repeat(43), server.key.clone()] {
            match open(bad).await {
                Err(WsError::Http(answer)) => assert_eq!(answer.status(), 401),
                other => panic!("{:?}", other.map(|_| "open")),
            }
        }
        // Outside of a socket a ticket is nothing.
        let plain = format!("{}/api/v1/events?ticket={ticket}", server.url);
        failure(server.http.get(plain).send().await.unwrap(), 401, "unauthorized").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_lets_a_program_in() {
    for server in servers().await {
        let post = |path: &str, body: Value| {
            server.http.post(format!("{}{path}", server.url)).json(&body).send()
        };
        let start = post("/auth/device", json!({ "name": "laptop" })).await.unwrap();
        let start = data(start, StatusCode::OK).await;
        let device = json!({ "deviceCode": start["deviceCode"] });
        let ask = || post("/auth/device/token", device.clone());
        let waiting = data(ask().await.unwrap(), StatusCode::OK).await;
        assert_eq!(waiting, json!({ "status": "waiting" }));
        let code = start["userCode"].as_str().unwrap().to_lowercase().replace('-', " ");
        let nobody = post("/auth/device/decision", json!({ "userCode": code, "approve": true }));
        failure(nobody.await.unwrap(), 401, "unauthorized").await;
        let (_, developer) = server.user("dev", "developer").await;
        let decide = |body: Value| {
            let url = format!("{}/auth/device/decision", server.url);
            server.http.post(url).bearer_auth(&developer).json(&body).send()
        };
        let look = data(decide(json!({ "userCode": code })).await.unwrap(), StatusCode::OK).await;
        assert_eq!(look, json!({ "name": "laptop", "status": "waiting" }));
        let yes = decide(json!({ "userCode": code, "approve": true })).await.unwrap();
        data(yes, StatusCode::OK).await;
        let answer = data(ask().await.unwrap(), StatusCode::OK).await;
        let key = answer["key"].as_str().unwrap();
        let who = data(me(&server, key).await, StatusCode::OK).await;
        assert_eq!((&who["actor"], &who["role"]), (&json!("user:dev"), &json!("developer")));
        failure(ask().await.unwrap(), 401, "device_code_invalid").await;
        let wrong = decide(json!({ "userCode": "BBBB-BBBB", "approve": true })).await.unwrap();
        failure(wrong, 401, "device_code_invalid").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_guesses_at_the_same_moment_are_as_many_guesses() {
    let server = server_with(|_| {}).await;
    let guess = |number: usize| {
        // However the tenant is named, it is one account.
        let mut body = json!({ "name": "owner", "password": format!("guess {number} of many") });
        if number.is_multiple_of(2) {
            body["tenant"] = json!("default");
        }
        server.http.post(format!("{}/auth/login", server.url)).json(&body).send()
    };
    let all = futures_util::future::join_all((0..24).map(guess)).await;
    let looked = all.iter().filter(|answer| answer.as_ref().unwrap().status() == 401).count();
    assert!((1..=6).contains(&looked), "{looked} of 24 guesses were looked at");
}
