//! Server-sent events.

use godel_api::{Client, SseDecoder, SseMessage, StreamItem};
use godel_model::Report as _;
use reqwest::Method;

use crate::harness::{Running, SOON, failure, server_with, servers};

async fn read(server: &Running, path: &str, last: Option<i64>, count: usize) -> Vec<SseMessage> {
    let mut request = server.request(Method::GET, path);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let (mut decoder, mut messages) = (SseDecoder::default(), Vec::new());
    while messages.len() < count {
        let chunk = tokio::time::timeout(SOON, answer.chunk()).await.expect("more comes").unwrap();
        messages.extend(decoder.feed(&chunk.expect("the stream goes on")));
    }
    messages
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_resumes_behind_the_last_event_id() {
    for server in servers().await {
        for _ in 0..5 {
            server.publish("test:one").await;
        }
        let all = read(&server, "/api/v1/events/stream?after=0&pattern=test:*", None, 6).await;
        assert_eq!((all[0].event.as_deref(), all[0].id.as_deref()), (Some("ready"), Some("0")));
        let third: i64 = all[3].id.as_deref().unwrap().parse().unwrap();
        let rest =
            read(&server, "/api/v1/events/stream?after=0&pattern=test:*", Some(third), 3).await;
        assert_eq!(rest[1..], all[4..6], "{}", server.engine);
        let event: serde_json::Value = serde_json::from_str(&rest[1].data).unwrap();
        assert_eq!(event["sequence"].as_i64(), Some(third + 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_follows_from_now_on() {
    let server = server_with(|_| {}).await;
    let client = Client::new(&server.url, Some(server.key.parse().unwrap())).unwrap();
    server.publish("test:before").await;
    let mut stream = client.follow(vec!["test:*".to_owned()], None);
    let next = tokio::spawn(async move { stream.next().await.map(|item| (item, stream)) });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    server.publish("other:thing").await;
    let wanted = server.publish("test:after").await;
    let (item, _) = tokio::time::timeout(SOON, next).await.unwrap().unwrap().unwrap();
    let StreamItem::Event(event) = item else { panic!("{item:?}") };
    assert_eq!(event.id.to_string(), wanted["id"].as_str().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_of_another_log_is_refused() {
    for server in servers().await {
        let head = server.publish("test:last").await["sequence"].as_i64().unwrap();
        let path = "/api/v1/events/stream?pattern=test:*";
        let by_query = server.get(&format!("{path}&after={}", head + 1)).await;
        failure(by_query, 400, "invalid_cursor").await;
        let by_header = server.request(Method::GET, path).header("last-event-id", head + 1);
        let body = failure(by_header.send().await.unwrap(), 400, "invalid_cursor").await;
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("the log ends at {head}, ")), "{message}");
        // The end itself is a place to go on from.
        read(&server, path, Some(head), 1).await;
        let client = Client::new(&server.url, Some(server.key.parse().unwrap())).unwrap();
        let refused = client.follow(Vec::new(), Some(head + 1)).next().await.unwrap_err();
        assert_eq!(refused.code(), godel_model::code::INVALID_CURSOR, "{}", server.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_key_however_busy_the_log_is() {
    let server = server_with(|_| {}).await;
    let (id, key) = server.user("leaver", "viewer").await;
    let mut stream = server.ask_as(&key, Method::GET, "/api/v1/events/stream").await;
    let path = format!("/api/v1/users/{id}");
    let shut = server.request(Method::PATCH, &path).json(&serde_json::json!({ "disabled": true }));
    assert_eq!(shut.send().await.unwrap().status(), 200);
    let busy = async {
        loop {
            server.publish("test:busy").await;
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    };
    let ended = async { while let Ok(Some(_)) = stream.chunk().await {} };
    tokio::select! {
        () = busy => {}
        ended = tokio::time::timeout(SOON, ended) => ended.expect("the stream ends"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_stream_says_that_it_lives_and_what_it_sent_last() {
    let server = server_with(|_| {}).await;
    let wanted = server.publish("test:last").await["sequence"].as_i64().unwrap();
    server.publish("other:thing").await;
    let path = format!("/api/v1/events/stream?pattern=test:*&after={}", wanted - 1);
    let (all, none) = tokio::join!(
        read(&server, &path, None, 3),
        read(&server, "/api/v1/events/stream?pattern=none:*", None, 2),
    );
    assert_eq!(all[1].id, Some(wanted.to_string()));
    // Not the last of the log: whoever listens to some of it has missed nothing.
    let alive = serde_json::json!({ "head": wanted }).to_string();
    assert_eq!((all[2].event.as_deref(), &all[2].data), (Some("alive"), &alive));
    assert_eq!(
        (none[1].event.as_deref(), none[1].data.as_str()),
        (Some("alive"), "{\"head\":null}")
    );
}
