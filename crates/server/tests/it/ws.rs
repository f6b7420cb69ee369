//! The event socket.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use godel_decide::Limit;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::harness::{Running, SOON, failure, server_with, servers};

/// An open event socket.
pub(crate) struct Socket(pub(crate) WebSocketStream<TcpStream>);

impl Socket {
    async fn try_open(
        server: &Running,
        headers: &[(&'static str, String)],
    ) -> Result<Self, WsError> {
        let address = server.url.trim_start_matches("http://");
        let mut request = format!("ws://{address}/events").into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "godel-events-v1".parse().unwrap());
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(address).await.unwrap();
        let (socket, answer) = client_async(request, stream).await?;
        assert_eq!(answer.headers()["sec-websocket-protocol"], "godel-events-v1");
        Ok(Self(socket))
    }

    pub(crate) async fn open(server: &Running) -> Self {
        Self::open_as(server, &server.key).await
    }

    pub(crate) async fn open_as(server: &Running, key: &str) -> Self {
        let key = format!("Bearer {key}");
        Self::try_open(server, &[("authorization", key)]).await.unwrap()
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Value {
        loop {
            let message = tokio::time::timeout(SOON, self.0.next()).await.expect("a frame comes");
            if let Message::Text(text) = message.expect("the socket is open").unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Subscribes and returns the data of the response.
    pub(crate) async fn subscribe(&mut self, payload: Value) -> Value {
        self.send(json!({ "id": "s", "type": "subscribe", "payload": payload })).await;
        let answer = self.next().await;
        assert_eq!(
            (&answer["type"], &answer["metadata"]["correlationId"]),
            (&json!("response"), &json!("s"))
        );
        assert_eq!(answer["payload"]["success"], true, "{answer}");
        answer["payload"]["data"].clone()
    }

    /// Reads frames until `count` events came; returns them, and the notices between.
    pub(crate) async fn events(&mut self, count: usize) -> (Vec<Value>, Vec<Value>) {
        let (mut events, mut notices) = (Vec::new(), Vec::new());
        while events.len() < count {
            let frame = self.next().await;
            match frame["type"].as_str().unwrap() {
                "event" => events.push(frame["payload"].clone()),
                "events" => events.extend(frame["payload"]["events"].as_array().unwrap().clone()),
                "lagged" => notices.push(frame["payload"].clone()),
                other => panic!("{other}: {frame}"),
            }
        }
        (events, notices)
    }
}

fn sequences(events: &[Value]) -> Vec<i64> {
    events.iter().map(|event| event["sequence"].as_i64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribers_get_what_they_asked_for_live_and_from_the_log() {
    for server in servers().await {
        let old = server.publish("agent:start").await;
        let mut socket = Socket::open(&server).await;
        let answer =
            socket.subscribe(json!({ "patterns": ["agent:*", "deploy:step:*"], "after": 0 })).await;
        assert!(answer["head"].as_i64().unwrap() >= old["sequence"].as_i64().unwrap());
        server.publish("crew:start").await;
        let new = server.publish("deploy:step:done").await;
        let (events, _) = socket.events(2).await;
        assert_eq!(events, [old, new], "{}", server.engine);
        socket.send(json!({ "id": "p", "type": "ping" })).await;
        let pong = socket.next().await;
        assert_eq!(
            (&pong["type"], &pong["metadata"]["correlationId"]),
            (&json!("pong"), &json!("p"))
        );
        // Who has not got the last event that was sent learns it by this.
        assert_eq!(pong["payload"]["head"], events[1]["sequence"]);
        socket
            .send(json!({ "id": "c", "type": "command", "payload": { "command": "events:head" } }))
            .await;
        assert!(socket.next().await["payload"]["data"]["head"].as_i64().unwrap() > 2);
        let id = answer["subscriptionId"].clone();
        socket
            .send(json!({ "id": "u", "type": "unsubscribe", "payload": { "subscriptionId": id } }))
            .await;
        assert_eq!(socket.next().await["payload"]["success"], true);
        server.publish("agent:later").await;
        let other = socket.subscribe(json!({ "patterns": ["other:*"] })).await;
        assert_eq!(other["subscriptionId"], "sub-2");
        server.publish("other:thing").await;
        let (events, _) = socket.events(1).await;
        assert_eq!(events[0]["type"], "other:thing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_of_another_log_is_refused_and_the_socket_goes_on() {
    for server in servers().await {
        let head = server.publish("test:last").await["sequence"].as_i64().unwrap();
        let mut socket = Socket::open(&server).await;
        for beyond in [head + 1, i64::MAX] {
            let payload = json!({ "patterns": ["test:*"], "after": beyond });
            socket.send(json!({ "id": "far", "type": "subscribe", "payload": payload })).await;
            let answer = socket.next().await;
            assert_eq!(answer["metadata"]["correlationId"], "far", "{answer}");
            assert_eq!(answer["payload"]["error"]["code"], "invalid_cursor", "{answer}");
            let message = answer["payload"]["error"]["message"].as_str().unwrap();
            assert!(message.starts_with(&format!("the log ends at {head}, ")), "{message}");
        }
        socket.subscribe(json!({ "patterns": ["test:*"], "after": head })).await;
        let next = server.publish("test:next").await;
        assert_eq!(socket.events(1).await.0, [next], "{}", server.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_subscription_does_not_starve_the_others() {
    let server = server_with(|_| {}).await;
    for _ in 0..300 {
        server.publish("bulk:old").await;
    }
    let quiet = server.publish("quiet:thing").await;
    let mut socket = Socket::open(&server).await;
    // Two that replay the whole log in front of one that wants a single event.
    for pattern in ["bulk:*", "*", "quiet:*"] {
        let request = json!({ "patterns": [pattern], "after": 0 });
        socket.send(json!({ "type": "subscribe", "payload": request })).await;
    }
    loop {
        let frame = socket.next().await;
        if frame["metadata"]["subscriptionId"] == "sub-3" {
            assert_eq!(frame["payload"], quiet);
            return;
        }
    }
}

#[tokio::test]
async fn filters_select_by_what_events_belong_to() {
    let server = server_with(|_| {}).await;
    let mut socket = Socket::open(&server).await;
    socket.subscribe(json!({ "patterns": [], "filters": { "agentId": "a2" } })).await;
    for agent in ["a1", "a2", "a3"] {
        let body = json!({ "type": "agent:step", "metadata": { "refs": { "agentId": agent } } });
        server.post("/api/v1/events", body).await;
    }
    server.publish("agent:step").await;
    let body = json!({ "type": "agent:end", "metadata": { "refs": { "agentId": "a2" } } });
    server.post("/api/v1/events", body).await;
    let (events, _) = socket.events(2).await;
    assert_eq!(
        (&events[0]["metadata"]["agentId"], &events[1]["type"]),
        (&json!("a2"), &json!("agent:end"))
    );
}

#[tokio::test]
async fn frames_that_are_not_understood_are_answered_and_the_socket_stays() {
    let server = server_with(|_| {}).await;
    let mut socket = Socket::open(&server).await;
    for (text, code) in [
        ("nonsense", "invalid_json"),
        ("{}", "invalid_field"),
        (r#"{"type":"dance"}"#, "invalid_field"),
        (r#"{"type":"event"}"#, "invalid_request"),
        (r#"{"type":"ping","extra":1}"#, "invalid_field"),
    ] {
        socket.0.send(Message::text(text)).await.unwrap();
        let answer = socket.next().await;
        assert_eq!(
            (&answer["type"], &answer["payload"]["code"]),
            (&json!("error"), &json!(code)),
            "{text}: {answer}"
        );
    }
    for (payload, code) in [
        (json!({ "patterns": ["Bad Pattern"] }), "invalid_pattern"),
        (json!({ "patterns": ["a:*"], "bufferSize": 0 }), "invalid_field"),
        (json!({ "patterns": ["a:*"], "after": -1 }), "invalid_field"),
        (json!({ "patterns": ["a:*"], "policy": "explode" }), "invalid_field"),
        (json!({ "unknown": true }), "invalid_field"),
    ] {
        socket.send(json!({ "id": "x", "type": "subscribe", "payload": payload })).await;
        let answer = socket.next().await;
        assert_eq!(answer["payload"]["error"]["code"], code, "{answer}");
    }
    socket.send(json!({ "id": "c", "type": "command", "payload": { "command": "nothing" } })).await;
    assert_eq!(socket.next().await["payload"]["success"], false);
    socket.0.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(socket.next().await["type"], "error");
    socket.subscribe(json!({ "patterns": ["test:*"] })).await;
    server.publish("test:alive").await;
    assert_eq!(socket.events(1).await.0.len(), 1);
}

#[tokio::test]
async fn a_stranger_or_a_foreign_page_gets_no_socket() {
    let server = server_with(|_| {}).await;
    let refused = |answer: Result<Socket, WsError>, expected: u16| match answer {
        Err(WsError::Http(response)) => assert_eq!(response.status().as_u16(), expected),
        other => panic!("{:?}", other.map(|_| "open")),
    };
    refused(Socket::try_open(&server, &[]).await, 401);
    let login =
        server.http.post(format!("{}/auth/login", server.url)).json(&json!({ "key": server.key }));
    let login = login.send().await.unwrap();
    let cookie =
        login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    refused(Socket::try_open(&server, &[("cookie", cookie.clone())]).await, 403);
    let foreign = [("cookie", cookie.clone()), ("origin", "http://evil.example".to_owned())];
    refused(Socket::try_open(&server, &foreign).await, 403);
    let own = [("cookie", cookie), ("origin", server.url.clone())];
    Socket::try_open(&server, &own).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_ends_with_its_login() {
    let server = server_with(|_| {}).await;
    let login = server.http.post(format!("{}/auth/login", server.url));
    let login = login.json(&json!({ "key": server.key })).send().await.unwrap();
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let cookie = cookie.to_owned();
    let session: serde_json::Value = login.json().await.unwrap();
    let csrf = session["data"]["csrfToken"].as_str().unwrap();
    let own = [("cookie", cookie.clone()), ("origin", server.url.clone())];
    let mut socket = Socket::try_open(&server, &own).await.unwrap();
    socket.subscribe(json!({ "patterns": ["test:*"] })).await;
    let logout = server.http.post(format!("{}/auth/logout", server.url)).header("cookie", &cookie);
    assert_eq!(logout.header("x-godel-csrf", csrf).send().await.unwrap().status(), 204);
    let end = loop {
        match tokio::time::timeout(SOON, socket.0.next()).await.expect("the socket ends") {
            Some(Ok(Message::Close(Some(frame)))) => break u16::from(frame.code),
            Some(Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(end, 4401);
}

#[tokio::test]
async fn a_tier_may_limit_open_sockets_and_streams_together() {
    let limit = Limit { per_minute: 6_000, burst: 1_000, sockets: Some(1) };
    let server = server_with(|config| config.app.rates.limit = limit).await;
    let first = Socket::open(&server).await;
    let key = format!("Bearer {}", server.key);
    let second = Socket::try_open(&server, &[("authorization", key.clone())]).await;
    assert!(matches!(second, Err(WsError::Http(response)) if response.status() == 429));
    let stream = server.get("/api/v1/events/stream").await;
    failure(stream, 429, "too_many_connections").await;
    drop(first);
    let stream = loop {
        let stream = server.get("/api/v1/events/stream").await;
        if stream.status() == 200 {
            break stream;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let second = Socket::try_open(&server, &[("authorization", key.clone())]).await;
    assert!(matches!(second, Err(WsError::Http(response)) if response.status() == 429));
    drop(stream);
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if Socket::try_open(&server, &[("authorization", key.clone())]).await.is_ok() {
            return;
        }
    }
    panic!("the place of a closed socket is not free again");
}

/// Fills the log with large events while nobody reads the socket, then looks at what arrives.
async fn slow(server: &Running, policy: &str, count: usize) -> (Vec<i64>, Vec<Value>) {
    let mut socket = Socket::open(server).await;
    let start = socket
        .subscribe(json!({ "patterns": ["bulk:*"], "policy": policy, "bufferSize": 20 }))
        .await;
    let start = start["head"].as_i64().unwrap();
    let text = "x".repeat(60_000);
    for _ in 0..count {
        let body = json!({ "type": "bulk:event", "payload": { "text": text } });
        assert_eq!(server.post("/api/v1/events", body).await.status(), 201);
    }
    let last = start + count as i64;
    let (mut seen, mut notices) = (Vec::new(), Vec::new());
    let covered = |seen: &[i64], notices: &[Value]| {
        seen.last() == Some(&last) || notices.iter().any(|notice| notice["toSequence"] == last)
    };
    while !covered(&seen, &notices) {
        let frame = socket.next().await;
        match frame["type"].as_str().unwrap() {
            "event" => seen.push(frame["payload"]["sequence"].as_i64().unwrap()),
            "events" => seen.extend(sequences(frame["payload"]["events"].as_array().unwrap())),
            "lagged" => notices.push(frame["payload"].clone()),
            other => panic!("{other}"),
        }
    }
    let expected: Vec<i64> = (start + 1..=last).collect();
    let mut accounted: Vec<i64> = seen.clone();
    for notice in &notices {
        assert_eq!(notice["reason"], "slow");
        accounted.extend(
            notice["fromSequence"].as_i64().unwrap()..=notice["toSequence"].as_i64().unwrap(),
        );
    }
    accounted.sort_unstable();
    assert_eq!(accounted, expected, "{policy}: each is sent or named as skipped, once");
    assert!(seen.is_sorted());
    (seen, notices)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_subscriber_skips_only_as_its_policy_says() {
    const COUNT: usize = 250;
    let server = server_with(|_| {}).await;
    let (seen, notices) = slow(&server, "block", COUNT).await;
    assert_eq!((seen.len(), notices.len()), (COUNT, 0), "block skips nothing");
    let (seen, notices) = slow(&server, "sliding", COUNT).await;
    assert!(!notices.is_empty(), "60 KB events must not fit into the buffers of the system");
    assert!(seen.len() < COUNT);
    let (kept, notices) = slow(&server, "drop", COUNT).await;
    assert!(!notices.is_empty() && kept.len() < COUNT);
    let first_skipped = notices[0]["fromSequence"].as_i64().unwrap();
    assert!(kept.iter().filter(|seq| **seq < first_skipped).count() >= 20, "drop keeps the oldest");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_stays_small_however_large_its_events_are() {
    const COUNT: usize = 60;
    // What a page or a batch may hold, one event beyond it, and what is around them.
    const FRAME_MAX_BYTES: usize = 512 * 1024 + 64 * 1024 + 16 * 1024;
    for server in servers().await {
        // Somebody listens, so what comes now is in memory; what came before is not.
        let fill = async || {
            let body = json!({ "type": "bulk:event", "payload": { "text": "x".repeat(60_000) } });
            for _ in 0..COUNT {
                assert_eq!(server.post("/api/v1/events", body.clone()).await.status(), 201);
            }
        };
        fill().await;
        let mut listener = Socket::open(&server).await;
        let start = listener.subscribe(json!({ "patterns": ["other:*"] })).await["head"].clone();
        fill().await;
        for (after, count) in [(start, COUNT), (json!(0), 2 * COUNT)] {
            let mut socket = Socket::open(&server).await;
            socket.subscribe(json!({ "patterns": ["bulk:*"], "after": after })).await;
            let (mut seen, mut frames) = (0, 0);
            while seen < count {
                let frame = socket.next().await;
                let bytes = frame.to_string().len();
                assert!(bytes <= FRAME_MAX_BYTES, "{}: a frame of {bytes} bytes", server.engine);
                seen += frame["payload"]["events"].as_array().map_or(1, Vec::len);
                frames += 1;
            }
            assert!(frames < count, "{}: several events share a frame", server.engine);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_says_goodbye_when_the_server_stops() {
    let mut server = server_with(|_| {}).await;
    let mut socket = Socket::open(&server).await;
    socket.subscribe(json!({ "patterns": ["*"] })).await;
    server.begin_stop();
    let end = loop {
        match tokio::time::timeout(SOON, socket.0.next()).await.expect("the socket ends") {
            Some(Ok(Message::Close(Some(frame)))) => break u16::from(frame.code),
            Some(Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(end, 1001);
    server.stop().await;
}
