//! Stopping: what has begun is finished.

use std::time::Duration;

use godel_server::{Config, Server, StartError};
use reqwest::StatusCode;
use serde_json::json;

use crate::harness::{data, server_with, servers, servers_with};
use crate::ws::Socket;

#[tokio::test(flavor = "multi_thread")]
async fn requests_under_way_are_answered_and_streams_end() {
    for mut server in servers().await {
        let stream = server.get("/api/v1/events/stream").await;
        let mut writers = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let request = server
                .request(reqwest::Method::POST, "/api/v1/events")
                .json(&json!({ "type": "test:last" }));
            writers.spawn(async move { request.send().await });
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
        server.begin_stop();
        // Either it was too late to connect, or it was carried out.
        for answer in writers.join_all().await.into_iter().flatten() {
            data(answer, StatusCode::CREATED).await;
        }
        tokio::time::timeout(Duration::from_secs(5), stream.bytes())
            .await
            .expect("the stream ends")
            .ok();
        server.stop().await;
        assert!(!server.data.path().join("server.json").exists());
        assert!(server.http.get(format!("{}/health", server.url)).send().await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_that_nobody_reads_does_not_hold_up_the_end() {
    // Far more than the test takes: the end must come by itself, not when patience runs out.
    const DRAIN: Duration = Duration::from_secs(60);
    for mut server in servers_with(|config| config.drain = DRAIN).await {
        let mut socket = Socket::open(&server).await;
        socket.subscribe(json!({ "patterns": ["bulk:*"], "policy": "block" })).await;
        let body = json!({ "type": "bulk:event", "payload": { "text": "x".repeat(60_000) } });
        // More than the buffers of both ends take, so the server is in the middle of a frame.
        for _ in 0..300 {
            assert_eq!(server.post("/api/v1/events", body.clone()).await.status(), 201);
        }
        let started = std::time::Instant::now();
        server.stop().await;
        assert!(started.elapsed() < Duration::from_secs(8), "{}", server.engine);
        drop(socket);
    }
}

#[tokio::test]
async fn a_second_server_on_the_same_data_or_address_is_refused() {
    let server = server_with(|config| config.database = None).await;
    let same_data = Config::new(server.data.path().to_owned(), "127.0.0.1:0".parse().unwrap());
    let refused = Server::start(same_data).await.unwrap_err();
    assert!(refused.to_string().contains("in use by another godel"), "{refused}");
    let elsewhere = tempfile::TempDir::new().unwrap();
    let address = server.url.trim_start_matches("http://").parse().unwrap();
    let refused = Server::start(Config::new(elsewhere.path().to_owned(), address)).await;
    assert!(matches!(refused, Err(StartError::AddressInUse(_))), "{refused:?}");
    let open = Config::new(elsewhere.path().join("x"), "0.0.0.0:0".parse().unwrap());
    assert!(matches!(Server::start(open).await, Err(StartError::Exposed(_))));
}
