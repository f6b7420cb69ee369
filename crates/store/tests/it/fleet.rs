//! Several servers on one PostgreSQL.

use std::time::Duration;

use godel_model::{EventFilter, Seq};
use godel_store::{Error, Gap, Scope, Store};
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

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_retention_has_overtaken_tells_its_subscribers_of_the_gap() {
    let Some(server) = postgres_url() else { return };
    let here = World::on(Database::postgres(server)).await;
    let there = Store::open(&here.config).await.unwrap();
    let mut tail = there.tail(here.tenant, None, EventFilter::all()).await.unwrap();
    // Ten events and the end of the first six in one transaction: the other server cannot look in
    // between, so its own idea of the log is older than what is kept.
    let drafts: Vec<_> = (0..10).map(|_| here.draft("test:here", "{}")).collect();
    let write = here.store.write(Scope::Tenant(here.tenant), move |tx| {
        tx.events().trim(Seq(6))?;
        drafts.iter().try_for_each(|draft| tx.record(draft.clone()))
    });
    write.await.map_err(|error: Error| error).unwrap();
    let (mut gaps, mut seen) = (Vec::new(), Vec::new());
    while seen.last() != Some(&10) {
        let batch = tokio::time::timeout(Duration::from_secs(20), tail.next(100)).await;
        let batch = batch.expect("the other server hears of it").unwrap();
        gaps.extend(batch.gap);
        seen.extend(batch.events.iter().map(|logged| logged.event.seq.0));
    }
    assert_eq!(gaps, [Gap { from: Seq(1), to: Seq(6) }]);
    assert_eq!(seen, [7, 8, 9, 10]);
    // And it goes on from there as if nothing had been.
    let next = here.append(here.tenant, "test:next").await.seq;
    let batch = tokio::time::timeout(Duration::from_secs(20), tail.next(10)).await;
    assert_eq!(batch.expect("it comes").unwrap().events[0].event.seq, next);
    there.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_name_leaves_the_memory_of_other_servers_too() {
    let Some(server) = postgres_url() else { return };
    let here = World::on(Database::postgres(server)).await;
    let there = Store::open(&here.config).await.unwrap();
    let mut tail = there.tail(here.tenant, None, EventFilter::all()).await.unwrap();
    let mut told = here.draft("test:named", "{}");
    told.metadata.actor = Some("user:zebulon".to_owned());
    let scope = Scope::Tenant(here.tenant);
    here.store.write::<_, Error, _>(scope, move |tx| tx.record(told.clone())).await.unwrap();
    let named = tokio::time::timeout(Duration::from_secs(20), tail.next(10)).await;
    let named = named.expect("it comes").unwrap().events;
    assert_eq!(named[0].event.metadata.actor.as_deref(), Some("user:zebulon"));
    let erased = here.draft("user:erase", "{}");
    let erase = here.store.write::<_, Error, _>(scope, move |tx| {
        tx.events().rename_actor((0, i64::MAX), "user:zebulon", "user:nobody")?;
        tx.record(erased.clone())
    });
    erase.await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), tail.next(10)).await.expect("heard").unwrap();
    // Whoever reads from the beginning now gets it from there as the database has it.
    let begun = std::time::Instant::now();
    loop {
        let mut again = there.tail(here.tenant, Some(Seq(0)), EventFilter::all()).await.unwrap();
        let events = again.next(10).await.unwrap().events;
        match events[0].event.metadata.actor.as_deref() {
            Some("user:nobody") => break,
            other => assert_eq!(other, Some("user:zebulon")),
        }
        assert!(begun.elapsed() < Duration::from_secs(2), "the name stays in memory");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    there.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_is_told_to_all_servers_that_listen() {
    let Some(server) = postgres_url() else { return };
    let here = World::on(Database::postgres(server)).await;
    let godel_store::DatabaseUrl::Postgres(url) = here.database.url() else {
        panic!("no PostgreSQL")
    };
    let (ready, begun) = std::sync::mpsc::channel();
    let listener = std::thread::spawn(move || {
        use postgres::fallible_iterator::FallibleIterator as _;
        let mut ears = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        ears.batch_execute("LISTEN godel_events").unwrap();
        ready.send(()).unwrap();
        let heard = ears.notifications().timeout_iter(Duration::from_secs(30)).next().unwrap();
        heard.map(|heard| heard.payload().to_owned())
    });
    begun.recv().unwrap();
    here.append(here.tenant, "test:here").await;
    let heard = tokio::task::spawn_blocking(move || listener.join().unwrap()).await.unwrap();
    assert_eq!(heard, Some(here.tenant.to_string()));
}
