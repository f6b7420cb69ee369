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

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_the_server_cannot_finish_breaks_off() {
    for mut server in servers().await {
        let tenant = godel_app::tenants::ensure_first(&server.app).await.unwrap().id;
        for _ in 0..20 {
            let fill = move |tx: &mut godel_store::Tx<'_>| {
                (0..100).try_for_each(|_| {
                    let mint = godel_model::Mint::system();
                    let noise: Vec<String> =
                        (0..200).map(|_| mint.id::<godel_model::EventId>().to_string()).collect();
                    tx.record(godel_model::NewEvent {
                        id: mint.id(),
                        kind: "test:noise".parse().unwrap(),
                        at: jiff::Timestamp::UNIX_EPOCH,
                        source: godel_model::Source::component("test"),
                        payload: godel_model::Payload::of(&noise),
                        metadata: godel_model::Metadata::default(),
                    })
                })
            };
            let scope = godel_store::Scope::Tenant(tenant);
            server.app.store.write::<_, godel_store::Error, _>(scope, fill).await.unwrap();
        }
        let mut answer = server.get("/api/v1/admin/backup").await;
        assert!(answer.chunk().await.unwrap().is_some(), "it has begun");
        server.begin_stop();
        // Given time to notice: what is in the buffers on the way here is less than the whole.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let ended = loop {
            match answer.chunk().await {
                Ok(Some(_)) => {}
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        assert!(ended, "{}: half a backup looks like a whole one", server.engine);
        server.stop().await;
    }
}
