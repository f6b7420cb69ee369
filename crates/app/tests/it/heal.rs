//! A worker that failed at a task is replaced where another one is able; people hear when none is.

use std::collections::BTreeSet;
use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Given, Keeper, Say, tasks, workers};
use godel_app::{App, Call, Crew, teams};
use godel_decide::team::{Role, Strategy, TeamSpec};
use godel_model::{EventFilter, NewTask, Seq, Worker, WorkerId};
use godel_store::{Direction, Error as StoreError, Scope};
use godel_testkit::{World, worlds};
use serde_json::{Value, json};

use crate::stage::{app, call};

async fn worker(app: &App, call: &Call, able: &[&str]) -> Worker {
    let capabilities: BTreeSet<_> = able.iter().map(|able| able.parse().unwrap()).collect();
    let new =
        NewWorker { name: "w".to_owned(), pool: Default::default(), capabilities, capacity: 9 };
    workers::register(app, call, new).await.unwrap()
}

async fn claim(app: &App, call: &Call, worker: &Worker) -> Vec<Given> {
    workers::claim(app, call, worker.id, (9, Duration::ZERO)).await.unwrap()
}

async fn fail(app: &App, call: &Call, worker: WorkerId, given: &Given) {
    let spot = &given.lease.spot;
    let failed = Say::Failed { error: "it broke".to_owned(), fatal: false };
    workers::say(app, call, (worker, spot.task, spot.attempt), failed).await.unwrap();
}

fn picky(requires: &[&str]) -> NewTask {
    serde_json::from_value(json!({
        "title": "picky", "payload": {}, "requires": requires,
        "retry": {"maxAttempts": 5, "delayMs": 0, "elsewhere": true},
    }))
    .unwrap()
}

async fn alerts(world: &World) -> Vec<String> {
    let read = world.store.read(Scope::Tenant(world.tenant), |tx| {
        let all = EventFilter::all();
        Ok::<_, StoreError>(tx.events().page(&all, Direction::Forward, Seq(0), 1_000)?.events)
    });
    let events = read.await.unwrap().into_iter();
    let alerts = events.filter(|event| event.kind.as_str() == "team:alert");
    let why = |payload: Value| payload["why"].as_str().unwrap().to_owned();
    alerts.map(|event| why(event.payload.read().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_failed_is_replaced_where_another_is_able() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let one = worker(&app, &call, &["rust"]).await;
        let other = worker(&app, &call, &["rust", "gpu"]).await;
        let unable = worker(&app, &call, &["gpu"]).await;
        let made = tasks::create(&app, &call, picky(&["rust"])).await.unwrap();
        let given = claim(&app, &call, &one).await;
        fail(&app, &call, one.id, &given[0]).await;
        // It goes on with everything else.
        let plain = tasks::create(&app, &call, NewTask { key: None, ..picky(&[]) }).await.unwrap();
        let given = claim(&app, &call, &one).await;
        assert_eq!(given.len(), 1, "{}", world.engine);
        assert_eq!(given[0].lease.spot.task, plain.id);
        assert!(claim(&app, &call, &unable).await.is_empty());
        let given = claim(&app, &call, &other).await;
        assert_eq!((given[0].lease.spot.task, given[0].lease.spot.attempt), (made.id, 2));
        // Now all who are able have failed at it, so that anybody may try again.
        fail(&app, &call, other.id, &given[0]).await;
        let given = claim(&app, &call, &one).await;
        assert_eq!((given[0].lease.spot.task, given[0].lease.spot.attempt), (made.id, 3));
        // A third one is able now, and has not failed yet.
        let third = worker(&app, &call, &["rust"]).await;
        fail(&app, &call, one.id, &given[0]).await;
        assert!(claim(&app, &call, &other).await.is_empty(), "it failed too");
        let given = claim(&app, &call, &third).await;
        assert_eq!(given[0].lease.spot.task, made.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_others_were_to_do_is_for_all_when_no_other_is_left() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let one = worker(&app, &call, &[]).await;
        let other = worker(&app, &call, &[]).await;
        let made = tasks::create(&app, &call, picky(&[])).await.unwrap();
        let given = claim(&app, &call, &one).await;
        fail(&app, &call, one.id, &given[0]).await;
        Keeper::new(app.clone()).look().await.unwrap();
        assert!(claim(&app, &call, &one).await.is_empty(), "{}", world.engine);
        workers::leave(&app, &call, other.id).await.unwrap();
        Keeper::new(app.clone()).look().await.unwrap();
        let given = claim(&app, &call, &one).await;
        assert_eq!(given[0].lease.spot.task, made.id);
        // One who gave it back untouched has not failed, and its line is there again.
        let spot = given[0].lease.spot.clone();
        let fence = (one.id, spot.task, spot.attempt);
        workers::say(&app, &call, fence, Say::Released).await.unwrap();
        assert_eq!(claim(&app, &call, &one).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_replaces_workers_and_tells_people_when_nobody_is_left() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let role = Role { name: "adder".to_owned(), ..Role::default() };
        let mut spec = TeamSpec::new("sum", Strategy::Parallel, role, 1);
        spec.items = vec![json!(1)];
        (spec.retry.max_attempts, spec.retry.delay_ms) = (5, 0);
        let team = teams::create(&app, &call, spec).await.unwrap().record.id;
        teams::start(&app, &call, team).await.unwrap();
        // Nobody is there yet: it waits in the queue, and people know.
        let told = alerts(&world).await;
        assert_eq!(told.len(), 1, "{}: {told:?}", world.engine);
        assert!(told[0].contains("no worker of pool default"), "{told:?}");
        let (one, other) = (worker(&app, &call, &[]).await, worker(&app, &call, &[]).await);
        let patience = (9, Duration::from_secs(10));
        let given = workers::claim(&app, &call, one.id, patience).await.unwrap();
        fail(&app, &call, one.id, &given[0]).await;
        assert!(claim(&app, &call, &one).await.is_empty(), "another one is able");
        let given = claim(&app, &call, &other).await;
        assert_eq!(given.len(), 1);
        fail(&app, &call, other.id, &given[0]).await;
        let why = loop {
            match alerts(&world).await.as_slice() {
                [_, why] => break why.clone(),
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        assert!(why.contains("all 2 agents that could do it have failed"), "{why}");
        let given = claim(&app, &call, &one).await;
        fail(&app, &call, one.id, &given[0]).await;
        let given = claim(&app, &call, &other).await;
        let spot = &given[0].lease.spot;
        let fence = (other.id, spot.task, spot.attempt);
        workers::say(&app, &call, fence, Say::Done(None)).await.unwrap();
        let found = loop {
            let found = teams::find(&app, &call, team).await.unwrap();
            if found.record.state != "running" {
                break found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert_eq!(found.record.state, "completed", "{:?}", found.doc);
        assert_eq!(alerts(&world).await.len(), 2, "the same reason is told once");
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}
