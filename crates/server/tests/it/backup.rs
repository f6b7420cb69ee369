//! Backups over HTTP and by schedule.

use std::time::Duration;

use godel_app::backup::Schedule;
use jiff::SignedDuration;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::harness::{SOON, failure, servers, servers_with};

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_gets_a_whole_backup_and_nobody_else_does() {
    for server in servers().await {
        server.publish("test:one").await;
        let request = server.request(Method::GET, "/api/v1/admin/backup");
        let answer = request.header("accept-encoding", "gzip, br").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{}", server.engine);
        assert_eq!(answer.headers()["content-type"], "application/octet-stream");
        assert_eq!(answer.headers()["cache-control"], "no-store");
        assert!(!answer.headers().contains_key("content-encoding"), "it is compressed already");
        let bytes = answer.bytes().await.unwrap();
        let contents = godel_store::backup::verify_blocking(bytes.as_ref()).unwrap();
        assert_eq!(contents.rows("tenant"), 1, "{}: {contents:?}", server.engine);
        assert!(contents.rows("event") >= 3, "{}: {contents:?}", server.engine);
        let other = server.other_tenant().await;
        let url = format!("{}/api/v1/admin/backup", server.url);
        let refused = server.http.get(url).header("x-api-key", other).send().await.unwrap();
        failure(refused, 403, "forbidden").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_is_seen_in_health_and_metrics() {
    let dir = tempfile::tempdir().unwrap();
    let plan = |config: &mut godel_server::Config| {
        let (dir, every) = (dir.path().join("backups"), SignedDuration::from_hours(1));
        config.backup = Some(Schedule { dir, every, keep: 2 });
    };
    for server in servers_with(plan).await {
        let made = async {
            while server.app.backups.numbers().unwrap().newest.is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(SOON, made).await.expect("the first backup is made at once");
        let health: Value = server.get("/health/detailed").await.json().await.unwrap();
        assert_eq!(health["checks"]["backup"]["status"], "healthy", "{}", server.engine);
        let metrics = server.get("/metrics").await.text().await.unwrap();
        assert!(metrics.contains("godel_backups_total{outcome=\"made\"}"), "{metrics}");
        assert!(metrics.contains("godel_backups_total{outcome=\"failed\"} 0"), "{metrics}");
    }
}
