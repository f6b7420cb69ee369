//! Dead letters that a person removes: those alone, with all that belongs to them, and no other task.

use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Keeper, QueueError, Say, dead, pools, tasks, workers};
use godel_app::workflows::runs::{self, What};
use godel_app::{App, Call, Crew, Error};
use godel_decide::workflow::Input;
use godel_model::{EventFilter, NewTask, Role, Seq, TaskId, TaskState, Worker};
use godel_store::{Direction, Error as StoreError, Scope};
use godel_testkit::{World, worlds};
use serde_json::{Map, Value, json};

use crate::stage::{app, call};

const NOW: Duration = Duration::ZERO;

async fn worker(app: &App, call: &Call) -> Worker {
    let (name, pool) = ("w".to_owned(), Default::default());
    let new = NewWorker { name, pool, capabilities: Default::default(), capacity: 100 };
    workers::register(app, call, new).await.unwrap()
}

fn asked(title: &str) -> NewTask {
    let asked = json!({ "title": title, "payload": {}, "retry": { "maxAttempts": 1 } });
    serde_json::from_value(asked).unwrap()
}

/// Lets so many tasks die.
async fn let_die(app: &App, call: &Call, worker: &Worker, count: usize) -> Vec<TaskId> {
    let mut died = Vec::new();
    for number in 0..count {
        died.push(tasks::create(app, call, asked(&number.to_string())).await.unwrap().id);
    }
    let given = workers::claim(app, call, worker.id, (100, NOW)).await.unwrap();
    assert_eq!(given.len(), count);
    for given in given {
        let spot = &given.lease.spot;
        let failed = Say::Failed { error: "it broke".to_owned(), fatal: false };
        workers::say(app, call, (worker.id, spot.task, spot.attempt), failed).await.unwrap();
    }
    died
}

async fn listed(app: &App, call: &Call) -> Vec<TaskId> {
    let found = dead::list(app, call, Default::default(), (None, 100)).await.unwrap();
    found.into_iter().map(|found| found.task.id).rev().collect()
}

/// What was told of some kinds, as kind and payload.
async fn told(world: &World, kinds: &[&str]) -> Vec<(String, Value)> {
    let read = world.store.read(Scope::Tenant(world.tenant), |tx| {
        let all = EventFilter::all();
        Ok::<_, StoreError>(tx.events().page(&all, Direction::Forward, Seq(0), 1_000)?.events)
    });
    let events = read.await.unwrap().into_iter();
    let told = events.map(|one| (one.kind.as_str().to_owned(), one.payload.read().unwrap()));
    told.filter(|(kind, _)| kinds.contains(&kind.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_that_is_removed_is_gone_and_its_neighbours_stay() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call).await;
        let died = let_die(&app, &call, &worker, 5).await;
        let waits = tasks::create(&app, &call, asked("waits")).await.unwrap().id;
        dead::delete(&app, &call, died[2]).await.unwrap();
        let left = [died[0], died[1], died[3], died[4]];
        assert_eq!(listed(&app, &call).await, left, "{}", world.engine);
        let gone = dead::delete(&app, &call, died[2]).await.unwrap_err();
        assert!(matches!(gone, Error::Queue(QueueError::NoTask(_))), "{gone}");
        // The first, the last, and what is between them.
        for id in [died[0], died[4], died[3], died[1]] {
            dead::delete(&app, &call, id).await.unwrap();
        }
        assert_eq!(listed(&app, &call).await, []);
        let (found, _) = tasks::find(&app, &call, waits).await.unwrap();
        assert_eq!(found.state, TaskState::Ready);
        let depth = pools::depth(&app, &call).await.unwrap();
        let count: u64 = depth.iter().map(|depth| depth.count).sum();
        assert_eq!(count, 1, "only the one that waits is counted: {depth:?}");
        let events = told(&world, &["task:deleted"]).await;
        let order = [died[2], died[0], died[4], died[3], died[1]];
        assert_eq!(events.len(), order.len());
        for ((_, payload), id) in events.iter().zip(order) {
            assert_eq!((&payload["task"], &payload["attempt"]), (&json!(id), &json!(1)));
            assert_eq!(payload["pool"], "default");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_dead_is_removed_and_only_by_who_may() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call).await;
        let died = let_die(&app, &call, &worker, 1).await[0];
        let ready = tasks::create(&app, &call, asked("ready")).await.unwrap().id;
        let is_no_letter = async |id, state| {
            let refused = dead::delete(&app, &call, id).await.unwrap_err();
            let Error::Queue(QueueError::TaskNotDead(_, found)) = refused else {
                panic!("{refused}")
            };
            assert_eq!(found, state, "{}", world.engine);
        };
        is_no_letter(ready, TaskState::Ready).await;
        workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
        is_no_letter(ready, TaskState::Running).await;
        workers::say(&app, &call, (worker.id, ready, 1), Say::Done(None)).await.unwrap();
        is_no_letter(ready, TaskState::Succeeded).await;
        let waits = tasks::create(&app, &call, asked("waits")).await.unwrap().id;
        tasks::cancel(&app, &call, waits, None).await.unwrap();
        is_no_letter(waits, TaskState::Cancelled).await;
        for role in [Role::Developer, Role::Viewer] {
            let mut actor = (*call.actor).clone();
            actor.role = role;
            let other = Call { actor: actor.into(), ..call.clone() };
            let refused = dead::delete(&app, &other, died).await.unwrap_err();
            assert!(matches!(refused, Error::Forbidden(_)), "{refused}");
        }
        assert_eq!(listed(&app, &call).await, [died]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_of_a_run_stays_until_the_run_is_over() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let source = "name: x\nsteps:\n  - { id: one, retries: { maxAttempts: 1 }, onError: continue }\n  \
                      - { id: gate, approval: {} }\n";
        let what = What::Inline(source.to_owned());
        let run = runs::start(&app, &call, what, Map::new(), None).await.unwrap().record.id;
        let patience = (1, Duration::from_secs(10));
        let given = workers::claim(&app, &call, worker.id, patience).await.unwrap();
        let died = given[0].lease.spot.task;
        let failed = Say::Failed { error: "it broke".to_owned(), fatal: true };
        workers::say(&app, &call, (worker.id, died, 1), failed).await.unwrap();
        let refused = dead::delete(&app, &call, died).await.unwrap_err();
        assert!(
            matches!(refused, Error::Queue(QueueError::TaskNeeded(_))),
            "{}: {refused}",
            world.engine
        );
        runs::control(&app, &call, run, Input::Cancel).await.unwrap();
        dead::delete(&app, &call, died).await.unwrap();
        assert_eq!(listed(&app, &call).await, []);
        assert!(crew.stop(Duration::from_secs(10)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_who_replays_and_who_removes_at_the_same_moment_one_is_heard() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call).await;
        for round in 0..10 {
            let died = let_die(&app, &call, &worker, 3).await;
            let (replayed, deleted, again) = tokio::join!(
                tasks::retry(&app, &call, died[1]),
                dead::delete(&app, &call, died[1]),
                dead::delete(&app, &call, died[1]),
            );
            let heard =
                [replayed.is_ok(), deleted.is_ok(), again.is_ok()].into_iter().filter(|ok| *ok);
            assert_eq!(heard.count(), 1, "{}, round {round}", world.engine);
            assert_eq!(listed(&app, &call).await, [died[0], died[2]]);
            let there = tasks::find(&app, &call, died[1]).await;
            assert_eq!(there.is_ok(), replayed.is_ok());
            if replayed.is_ok() {
                workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
                let done = Say::Done(None);
                workers::say(&app, &call, (worker.id, died[1], 2), done).await.unwrap();
            }
            for id in [died[0], died[2]] {
                dead::delete(&app, &call, id).await.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_is_calm_again_when_its_dead_letters_are_removed() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call).await;
        let died = let_die(&app, &call, &worker, 10).await;
        let alerts = ["pool:alert", "pool:calm"];
        let look = async || {
            Keeper::new(app.clone()).look().await.unwrap();
            let events = told(&world, &alerts).await.into_iter();
            let dead = |payload: &Value| payload["dead"].as_u64().unwrap();
            events.map(|(kind, payload)| (kind, dead(&payload))).collect::<Vec<_>>()
        };
        let raised = ("pool:alert".to_owned(), 10);
        assert_eq!(look().await, std::slice::from_ref(&raised), "{}", world.engine);
        for id in &died[..5] {
            dead::delete(&app, &call, *id).await.unwrap();
        }
        assert_eq!(look().await, std::slice::from_ref(&raised), "half of them are left");
        dead::delete(&app, &call, died[5]).await.unwrap();
        assert_eq!(look().await, [raised, ("pool:calm".to_owned(), 4)]);
    }
}
