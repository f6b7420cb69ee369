//! Several servers on one PostgreSQL.

use std::time::Duration;

use godel_model::EventFilter;
use godel_store::Store;
use godel_testkit::{Database, World, postgres_url};

#[tokio::test(flavor = "multi_thread")]
async fn events_of_one_server_reach_the_subscribers_of_another() {
    let Some(server) = postgres_url() else { return };
    let here = World::on(Database::postgres(server)).await;
    let there = Store::open(&here.config).await.unwrap();
    let mut tail = there.tail(here.tenant, None, EventFilter::all()).await.unwrap();
    let mut seen = Vec::new();
    for round in 0..50 {
        here.append(here.tenant, "test:here").await;
        if round % 3 == 0 {
            let draft = here.draft("test:there", "{}");
            let scope = godel_store::Scope::Tenant(here.tenant);
            there.write(scope, move |tx| tx.record(draft.clone())).await.unwrap();
        }
    }
    while seen.len() < 67 {
        let batch = tokio::time::timeout(Duration::from_secs(20), tail.next(100)).await;
        let batch = batch.expect("the other server hears of it").unwrap();
        seen.extend(batch.events.iter().map(|logged| logged.event.seq.0));
    }
    assert_eq!(seen, (1..=67).collect::<Vec<_>>());
    there.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_changes_servers_is_not_taken_for_one_of_another_log() {
    let Some(server) = postgres_url() else { return };
    let here = World::on(Database::postgres(server)).await;
    let there = Store::open(&here.config).await.unwrap();
    // Somebody listens there, so that server has its own idea of the end of the log.
    let _listener = there.tail(here.tenant, None, EventFilter::all()).await.unwrap();
    for _ in 0..5 {
        let last = here.append(here.tenant, "test:here").await.seq;
        let mut tail = there.tail(here.tenant, Some(last), EventFilter::all()).await.unwrap();
        assert!(tail.log_end() >= last, "{} ends before {last}", tail.log_end());
        let next = here.append(here.tenant, "test:next").await.seq;
        let batch = tokio::time::timeout(Duration::from_secs(20), tail.next(10)).await;
        assert_eq!(batch.expect("it comes").unwrap().events[0].event.seq, next);
    }
    there.close().await;
}
