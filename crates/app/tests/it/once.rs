//! Requests with an idempotency key: carried out once, answered alike each time.

use godel_app::events::{self, Publication};
use godel_app::{App, Call, Error, OnceKey, retention};
use godel_decide::Retention;
use godel_model::{Event, Metadata, Payload};
use godel_testkit::worlds;
use jiff::SignedDuration;

use crate::stage::{app, call};

fn keyed(call: &Call, key: &str) -> Call {
    let once = OnceKey { key: key.to_owned(), fingerprint: [key.len() as u8; 32] };
    Call { once: Some(once), ..call.clone() }
}

async fn publish(app: &App, call: &Call, number: usize) -> Result<Event, Error> {
    let publication = Publication {
        kind: "test:once".parse().unwrap(),
        payload: Payload::of(&serde_json::json!({ "number": number })),
        metadata: Metadata::default().about("projectId", number),
        instance: Some("one".to_owned()),
    };
    events::publish(app, call, publication).await
}

#[tokio::test]
async fn a_repeated_request_gets_its_answer_even_after_retention_took_the_event() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        world.append(world.tenant, "test:before").await;
        // At the same time, so that some of them share a commit.
        let calls: Vec<Call> = (0..20).map(|number| keyed(&call, &format!("k{number}"))).collect();
        let all = calls.iter().enumerate().map(|(number, call)| publish(&app, call, number));
        let first: Vec<Event> =
            futures_util::future::join_all(all).await.into_iter().map(Result::unwrap).collect();
        let keep = Retention { max_age: SignedDuration::from_hours(99), max_events: 0 };
        world.clock.advance(SignedDuration::from_secs(60));
        assert_eq!(retention::trim(&app, world.tenant, keep).await.unwrap(), 21);
        for (number, (call, before)) in calls.iter().zip(&first).enumerate() {
            let mut call = call.clone();
            std::sync::Arc::make_mut(&mut call.actor).name = "key:renamed".to_owned();
            call.trace_id = Some("another".to_owned());
            let again = publish(&app, &call, number).await.unwrap();
            assert_eq!(&again, before, "{}", world.engine);
        }
        assert!(world.log(world.tenant).await.is_empty(), "{}: nothing new", world.engine);
    }
}

#[tokio::test]
async fn the_same_request_twice_at_the_same_moment_is_one_event() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, keyed(&call(&world), "twice"));
        let all = (0..10).map(|_| publish(&app, &call, 1));
        let all = futures_util::future::join_all(all).await;
        let first = all[0].as_ref().unwrap();
        assert!(all.iter().all(|one| one.as_ref().unwrap() == first), "{}", world.engine);
        assert_eq!(world.log(world.tenant).await.len(), 1, "{}", world.engine);
    }
}

#[tokio::test]
async fn a_memory_of_an_earlier_version_still_reads() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, keyed(&call(&world), "old"));
        let event = world.append(world.tenant, "test:old").await;
        let once = call.once.clone().unwrap();
        let result = format!("\"{}\"", event.id);
        let now = app.clock.now();
        let work = world.store.write(call.scope(), move |tx| {
            tx.idempotency().settle(&once.key, &once.fingerprint, &result, now)
        });
        work.await.map_err(Error::Store).unwrap();
        assert_eq!(publish(&app, &call, 1).await.unwrap(), event, "{}", world.engine);
    }
}
