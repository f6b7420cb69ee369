//! Following the log: resume anywhere, see each event once and in order.

use std::collections::BTreeMap;
use std::time::Duration;

use godel_model::{EventFilter, Seq, TenantState};
use godel_store::{Error, Gap, Scope};
use godel_testkit::{World, worlds};

const SOON: Duration = Duration::from_secs(20);

async fn collect(world: &World, after: Option<Seq>, filter: EventFilter, count: usize) -> Vec<i64> {
    let mut tail = world.store.tail(world.tenant, after, filter).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < count {
        let batch = tokio::time::timeout(SOON, tail.next(50)).await.expect("events come").unwrap();
        seen.extend(batch.events.iter().map(|logged| logged.event.seq.0));
    }
    seen
}

#[tokio::test]
async fn a_tail_resumes_behind_any_position_from_disk_or_memory() {
    for mut world in worlds().await {
        for _ in 0..10 {
            world.append(world.tenant, "test:old").await;
        }
        world.restart().await;
        assert_eq!(collect(&world, Some(Seq(4)), EventFilter::all(), 6).await, [5, 6, 7, 8, 9, 10]);
        let mut live = world.store.tail(world.tenant, None, EventFilter::all()).await.unwrap();
        world.append(world.tenant, "test:new").await;
        let batch = tokio::time::timeout(SOON, live.next(10)).await.unwrap().unwrap();
        assert_eq!(batch.events[0].event.seq, Seq(11), "{}", world.engine);
    }
}

#[tokio::test]
async fn a_tail_returns_only_what_its_filter_wants() {
    for world in worlds().await {
        let filter = EventFilter::new(vec!["agent:*".parse().unwrap()], BTreeMap::new()).unwrap();
        let mut tail = world.store.tail(world.tenant, None, filter).await.unwrap();
        world.append(world.tenant, "team:start").await;
        world.append(world.tenant, "agent:start").await;
        let batch = tokio::time::timeout(SOON, tail.next(10)).await.unwrap().unwrap();
        assert_eq!(batch.events.len(), 1);
        assert_eq!(batch.events[0].event.kind.as_str(), "agent:start");
        let quiet = tokio::time::timeout(Duration::from_millis(300), tail.next(10)).await;
        assert!(quiet.is_err(), "{}: nothing more was wanted", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_subscriber_that_keeps_reconnecting_sees_each_event_once_and_in_order() {
    const COUNT: usize = 400;
    for world in worlds().await {
        let writers = async {
            let mut writers = tokio::task::JoinSet::new();
            for _ in 0..8 {
                let (store, tenant) = (world.store.clone(), world.tenant);
                let draft = world.draft("test:write", "{}");
                writers.spawn(async move {
                    for _ in 0..COUNT / 8 {
                        let mut draft = draft.clone();
                        draft.id = godel_model::Mint::system().id();
                        let write =
                            store.write(Scope::Tenant(tenant), move |tx| tx.record(draft.clone()));
                        write.await.map_err(|error: Error| error).unwrap();
                    }
                });
            }
            writers.join_all().await;
        };
        let reader = async {
            let mut seen: Vec<i64> = Vec::new();
            while seen.len() < COUNT {
                let after = Seq(seen.last().copied().unwrap_or_default());
                let mut tail =
                    world.store.tail(world.tenant, Some(after), EventFilter::all()).await.unwrap();
                // A short life: a few batches, then the connection is lost.
                for _ in 0..3 {
                    let Ok(batch) =
                        tokio::time::timeout(Duration::from_millis(500), tail.next(7)).await
                    else {
                        break;
                    };
                    seen.extend(batch.unwrap().events.iter().map(|logged| logged.event.seq.0));
                }
            }
            seen
        };
        let (seen, ()) =
            tokio::time::timeout(Duration::from_secs(60), async { tokio::join!(reader, writers) })
                .await
                .expect("all events arrive");
        assert_eq!(seen, (1..=COUNT as i64).collect::<Vec<_>>(), "{}", world.engine);
    }
}

#[tokio::test]
async fn a_tail_behind_the_trimmed_part_is_told_what_it_missed() {
    for world in worlds().await {
        for _ in 0..10 {
            world.append(world.tenant, "test:old").await;
        }
        let log = world.log(world.tenant).await;
        world
            .store
            .write(Scope::Tenant(world.tenant), move |tx| {
                let mut state = TenantState::default();
                log[..6].iter().try_for_each(|event| state.apply(event)).unwrap();
                tx.snapshots().save(&state)?;
                tx.events().trim(Seq(6))
            })
            .await
            .map_err(|error: Error| error)
            .unwrap();
        let mut tail =
            world.store.tail(world.tenant, Some(Seq(2)), EventFilter::all()).await.unwrap();
        let batch = tail.next(100).await.unwrap();
        assert_eq!(batch.gap, Some(Gap { from: Seq(3), to: Seq(6) }), "{}", world.engine);
        assert_eq!(batch.events.len(), 4);
        assert_eq!(batch.events[0].event.seq, Seq(7));
    }
}

/// Records one rare event and then others, all in one transaction.
async fn rare_then(world: &World, others: usize, bytes: usize) {
    let text = format!("{{\"x\":\"{}\"}}", "y".repeat(bytes));
    let mut drafts = vec![world.draft("rare:thing", "{}")];
    drafts.extend((0..others).map(|_| world.draft("other:thing", &text)));
    world
        .store
        .write(Scope::Tenant(world.tenant), move |tx| {
            drafts.iter().try_for_each(|draft| tx.record(draft.clone()))
        })
        .await
        .map_err(|error: Error| error)
        .unwrap();
}

fn rare() -> EventFilter {
    EventFilter::new(vec!["rare:*".parse().unwrap()], BTreeMap::new()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_that_leaves_memory_at_once_still_wakes_its_subscriber() {
    for world in worlds().await {
        let mut tail = world.store.tail(world.tenant, None, rare()).await.unwrap();
        // More bytes than are kept in memory, behind the one that is wanted.
        rare_then(&world, 200, 60_000).await;
        let batch = tokio::time::timeout(SOON, tail.next(10)).await.expect("it is woken").unwrap();
        assert_eq!(batch.events[0].event.seq, Seq(1), "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_waited_long_goes_straight_to_its_match() {
    for world in worlds().await {
        let mut tail = world.store.tail(world.tenant, None, rare()).await.unwrap();
        let mut unwanted = world.store.tail(world.tenant, None, EventFilter::all()).await.unwrap();
        for _ in 0..2 {
            rare_then(&world, 5_000, 10).await;
        }
        for expected in [1, 5_002] {
            let batch = tokio::time::timeout(SOON, tail.next(1)).await.unwrap().unwrap();
            assert_eq!(batch.events[0].event.seq, Seq(expected), "{}", world.engine);
        }
        // Nothing is left for it, and it knows so without reading what passed by.
        tail.skip_unwanted();
        assert_eq!(tail.backlog(), Some(Vec::new()), "{}", world.engine);
        assert_eq!(tail.cursor(), Seq(10_002), "{}", world.engine);
        unwanted.skip_unwanted();
        assert!(unwanted.cursor() < Seq(5), "one that wants all skips nothing");
    }
}
