//! Appending: durable, gapless, in commit order, all or nothing.

use std::collections::HashSet;

use godel_model::{Event, Seq};
use godel_store::{Error, Scope, Store, Tx};
use godel_testkit::{World, worlds};

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writers_leave_no_gap_and_each_learns_its_own_position() {
    for world in worlds().await {
        let other = world.new_tenant("second").await;
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..200 {
            let (store, tenant) =
                (world.store.clone(), if number % 4 == 0 { other } else { world.tenant });
            let draft = world.draft("test:write", &format!("{{\"n\":{number}}}"));
            writers.spawn(async move {
                let written =
                    store.write(Scope::Tenant(tenant), move |tx| tx.record(draft.clone())).await;
                let written = written.map_err(|error: Error| error).unwrap();
                (tenant, written.events[0].event.clone())
            });
        }
        let answered = writers.join_all().await;
        for tenant in [world.tenant, other] {
            let log = world.log(tenant).await;
            let expected: Vec<Seq> = (1..=log.len() as i64).map(Seq).collect();
            assert_eq!(
                log.iter().map(|event| event.seq).collect::<Vec<_>>(),
                expected,
                "{}",
                world.engine
            );
            for (_, event) in answered.iter().filter(|(of, _)| *of == tenant) {
                assert_eq!(&log[event.seq.0 as usize - 1], event, "{}", world.engine);
            }
        }
        assert_eq!(answered.iter().map(|(_, event)| event.id).collect::<HashSet<_>>().len(), 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_fails_or_panics_leaves_nothing_and_hurts_no_neighbour() {
    for world in worlds().await {
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..60 {
            let (store, tenant) = (world.store.clone(), world.tenant);
            let draft = world.draft("test:write", "{}");
            writers.spawn(async move {
                let result = store
                    .write(Scope::Tenant(tenant), move |tx| {
                        tx.record(draft.clone())?;
                        match number % 3 {
                            0 => Err(Error::ReadOnly),
                            1 => panic!("on purpose"),
                            _ => Ok(()),
                        }
                    })
                    .await;
                (number, result.map(|written| written.events.len()))
            });
        }
        for (number, result) in writers.join_all().await {
            match number % 3 {
                0 => assert!(matches!(result, Err(Error::ReadOnly))),
                1 => assert!(matches!(result, Err(Error::Panicked)), "{result:?}"),
                _ => assert_eq!(result.unwrap(), 1),
            }
        }
        let log = world.log(world.tenant).await;
        assert_eq!(log.len(), 20, "{}", world.engine);
        assert_eq!(log.last().unwrap().seq, Seq(20), "{}", world.engine);
    }
}

#[tokio::test]
async fn what_was_written_is_there_after_a_restart_and_counting_goes_on() {
    for mut world in worlds().await {
        let first = world.append(world.tenant, "test:before").await;
        world.restart().await;
        let second = world.append(world.tenant, "test:after").await;
        assert_eq!(world.log(world.tenant).await, [first, second], "{}", world.engine);
    }
}

#[tokio::test]
async fn every_field_of_an_event_comes_back_as_it_was() {
    for world in worlds().await {
        let cause = world.append(world.tenant, "test:cause").await;
        let mut draft =
            world.draft("test:effect:done", r#"{"text":"ä \u0000 \" 🙂","deep":[{"x":1.5e3}]}"#);
        draft.source.instance = Some("one".to_owned());
        draft.source.version = Some("1.2".to_owned());
        draft.metadata.correlation_id = Some("c-1".to_owned());
        draft.metadata.causation_id = Some(cause.id);
        draft.metadata.actor = Some("key:owner".to_owned());
        draft.metadata.trace_id = Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned());
        draft.metadata = draft.metadata.about("projectId", "p 1");
        let copy = draft.clone();
        world
            .store
            .write(Scope::Tenant(world.tenant), move |tx| tx.record(copy.clone()))
            .await
            .unwrap();
        let (tenant, id) = (world.tenant, draft.id);
        let found =
            world.store.read(Scope::Tenant(tenant), move |tx| tx.events().by_id(id)).await.unwrap();
        assert_eq!(found, Some(draft.at_seq(Seq(2))), "{}", world.engine);
    }
}

/// The newest schema in which each event was in an index by its id.
const WITHOUT_MOMENTS: i64 = 13;

/// Writes twenty events in one transaction, whose ids say that they are of an hour; most of one moment.
async fn write_hour(world: &World, round: u8, hour: u64) -> Vec<Event> {
    let drafts: Vec<_> = (0..20)
        .map(|number: u8| {
            let at =
                hour * 3_600_000 + if number.is_multiple_of(7) { 900 } else { u64::from(number) };
            let rest = [round, number, 0, 0, 0, 0, 0, 0, 0, 0];
            let id = uuid::Builder::from_unix_timestamp_millis(at, &rest).into_uuid();
            godel_model::NewEvent { id: id.into(), ..world.draft("test:write", "{}") }
        })
        .collect();
    let work = move |tx: &mut Tx<'_>| drafts.iter().try_for_each(|draft| tx.record(draft.clone()));
    let written = world.store.write(Scope::Tenant(world.tenant), work).await;
    let written = written.map_err(|error: Error| error).unwrap();
    written.events.iter().map(|logged| logged.event.clone()).collect()
}

async fn found(world: &World, event: &Event) -> Option<Event> {
    let id = event.id;
    world.store.read(Scope::Tenant(world.tenant), move |tx| tx.events().by_id(id)).await.unwrap()
}

#[tokio::test]
async fn an_event_is_found_by_its_id_whatever_the_clock_said() {
    for mut world in worlds().await {
        let mut all = Vec::new();
        // The clock goes back and forth, and moments come again.
        for (round, hour) in [(1, 5), (2, 1), (3, 5), (4, 3), (5, 1)] {
            all.extend(write_hour(&world, round, hour).await);
        }
        world.restart().await;
        for event in &all {
            assert_eq!(found(&world, event).await.as_ref(), Some(event), "{}", world.engine);
        }
        // What an older Godel has stored is found too, and what comes behind it.
        world.store.close().await;
        Store::migrate(&world.config, WITHOUT_MOMENTS).await.unwrap();
        world.restart().await;
        all.extend(write_hour(&world, 6, 5).await);
        for event in &all {
            assert_eq!(found(&world, event).await.as_ref(), Some(event), "{}", world.engine);
        }
        let trim = |tx: &mut Tx<'_>| {
            tx.events().lock_bounds()?;
            tx.events().trim(Seq(50))
        };
        let scope = Scope::Tenant(world.tenant);
        assert_eq!(world.store.write(scope, trim).await.map_err(|e: Error| e).unwrap().value, 50);
        for event in &all {
            let left = (event.seq > Seq(50)).then_some(event);
            assert_eq!(found(&world, event).await.as_ref(), left, "{}", world.engine);
        }
    }
}

#[tokio::test]
async fn a_read_cannot_write() {
    for world in worlds().await {
        let draft = world.draft("test:write", "{}");
        let result =
            world.store.read(Scope::Tenant(world.tenant), move |tx| tx.record(draft.clone())).await;
        assert!(matches!(result, Err(Error::ReadOnly)));
        let result =
            world.store.read(Scope::Tenant(world.tenant), |tx| tx.events().trim(Seq(1))).await;
        assert!(result.is_err(), "{}: the engine itself must refuse", world.engine);
    }
}
