//! The database server dies under load: every answered write is there afterwards.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use godel_engines::{Binaries, Places, Postgres};
use godel_model::{EventFilter, EventId, Mint, Seq};
use godel_store::{Error, Scope};
use godel_testkit::{Database, World, postgres_url};

/// How often the server is killed; `cargo xtask torture` asks for more.
fn rounds() -> usize {
    std::env::var("GODEL_TORTURE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_postmaster_loses_no_answered_write_and_leaves_no_gap() {
    if postgres_url().is_none() {
        return;
    }
    let start = || Postgres::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut server = tokio::task::spawn_blocking(start).await.unwrap();
    let world = World::on(Database::postgres(server.url("postgres"))).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, tenant, stop) = (world.store.clone(), world.tenant, Arc::clone(&stop));
        let draft = world.draft("test:write", "{}");
        writers.spawn(async move {
            let (mut answered, mut unanswered): (Vec<(EventId, Seq)>, Vec<EventId>) =
                Default::default();
            while !stop.load(Ordering::Relaxed) {
                let mut draft = draft.clone();
                draft.id = Mint::system().id();
                let id = draft.id;
                match store.write(Scope::Tenant(tenant), move |tx| tx.record(draft.clone())).await {
                    Ok(written) => answered.push((id, written.events[0].event.seq)),
                    Err(Error::Unavailable(_) | Error::CommitUnknown(_)) => unanswered.push(id),
                    Err(other) => panic!("{other:?}"),
                }
            }
            (answered, unanswered)
        });
    }
    let follow = tokio::spawn(follow(world.store.clone(), world.tenant, Arc::clone(&stop)));
    for _ in 0..rounds() {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.kill_postmaster().unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.restart().unwrap();
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    stop.store(true, Ordering::Relaxed);
    let results = writers.join_all().await;
    let log = world.log(world.tenant).await;
    let expected: Vec<Seq> = (1..=log.len() as i64).map(Seq).collect();
    assert_eq!(log.iter().map(|event| event.seq).collect::<Vec<_>>(), expected);
    let mut possible = HashSet::new();
    let mut count = 0;
    for (answered, unanswered) in results {
        for (id, seq) in answered {
            assert_eq!(log[seq.0 as usize - 1].id, id, "an answered write is missing or moved");
            possible.insert(id);
            count += 1;
        }
        possible.extend(unanswered);
    }
    assert!(count > 50, "only {count} writes were answered");
    assert!(log.iter().all(|event| possible.contains(&event.id)), "a write appeared from nowhere");
    let seen = follow.await.unwrap();
    assert_eq!(
        seen,
        (1..=seen.len() as i64).collect::<Vec<_>>(),
        "the follower missed or repeated one"
    );
    drop(world);
}

/// Follows the log through the crashes; what it sees must be 1, 2, 3 ..
async fn follow(
    store: godel_store::Store,
    tenant: godel_model::TenantId,
    stop: Arc<AtomicBool>,
) -> Vec<i64> {
    let mut seen = Vec::new();
    let mut tail = store.tail(tenant, Some(Seq::START), EventFilter::all()).await.unwrap();
    while !stop.load(Ordering::Relaxed) {
        let next = tokio::time::timeout(Duration::from_millis(200), tail.next(50)).await;
        if let Ok(Ok(batch)) = next {
            seen.extend(batch.events.iter().map(|logged| logged.event.seq.0));
        }
    }
    seen
}
