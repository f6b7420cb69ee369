//! The database takes longer than a worker wants to wait.

use std::time::Duration;

use godel_store::DatabaseUrl;
use serde_json::json;

use crate::harness::{SOON, data, server_with};

#[tokio::test(flavor = "multi_thread")]
async fn who_waited_long_enough_is_let_go_although_its_turn_came_late() {
    let server = server_with(|_| ()).await;
    let DatabaseUrl::Sqlite(file) = server.app.store.url() else { panic!("another engine") };
    let made = server.post("/api/v1/workers", json!({ "name": "somebody" })).await;
    let made = data(made, reqwest::StatusCode::CREATED).await;
    let path = format!("/api/v1/workers/{}/claim", made["id"].as_str().unwrap());
    // Once, so that who it is need not be asked of the database.
    data(server.post(&path, json!({ "waitMs": 0 })).await, reqwest::StatusCode::OK).await;
    // Somebody else has the file while the worker's turn begins, until long after it wanted to go.
    let db = rusqlite::Connection::open(file).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let given = async {
        let answer = server.post(&path, json!({ "waitMs": 100 })).await;
        data(answer, reqwest::StatusCode::OK).await
    };
    let unlock = async {
        tokio::time::sleep(Duration::from_millis(600)).await;
        db.execute_batch("ROLLBACK").unwrap();
    };
    let both = async { tokio::join!(given, unlock).0 };
    let given = tokio::time::timeout(SOON, both).await.expect("it waits for ever");
    assert_eq!(given["tasks"], json!([]));
}
