//! The queue: nothing is lost, the most urgent comes first, every attempt is accounted for.

use std::time::Duration;

use godel_app::queue::tasks::Created;
use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Keeper, QueueError, Said, Say, dead, pools, tasks, workers};
use godel_app::{App, Call, Crew, Error};
use godel_model::{Mood, NewTask, Payload, TaskPriority, TaskState, Worker, WorkerStatus};
use godel_store::{Scope, Tx};
use godel_testkit::{World, worlds};
use jiff::SignedDuration;
use serde_json::json;

use crate::stage::{app, call};

const NOW: Duration = Duration::ZERO;

fn asked(title: &str) -> NewTask {
    serde_json::from_value(json!({"title": title, "payload": {"n": 1}})).unwrap()
}

async fn worker(app: &App, call: &Call, capacity: u32) -> Worker {
    let name = "somebody".to_owned();
    let (pool, capabilities) = (Default::default(), Default::default());
    workers::register(app, call, NewWorker { name, pool, capabilities, capacity }).await.unwrap()
}

async fn add(app: &App, call: &Call, title: &str) -> Created {
    tasks::create(app, call, asked(title)).await.unwrap()
}

fn failed() -> Say {
    Say::Failed { error: "it broke".to_owned(), fatal: false }
}

/// Lets time pass, and does what is due then.
async fn pass(world: &World, app: &App, seconds: i64) {
    world.clock.advance(SignedDuration::from_secs(seconds));
    Keeper::new(app.clone()).look().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_handed_out_and_done() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, 2).await;
        let made = add(&app, &call, "one").await;
        assert_eq!(made.state, Some(TaskState::Ready));
        let given = workers::claim(&app, &call, worker.id, (2, NOW)).await.unwrap();
        assert_eq!(given.len(), 1, "{}", world.engine);
        let spot = &given[0].lease.spot;
        assert_eq!((spot.task, spot.attempt), (made.id, 1));
        let (found, held) = workers::find(&app, &call, worker.id).await.unwrap();
        assert_eq!(held.len(), 1);
        let now = app.clock.now();
        assert_eq!(found.status(1, now), WorkerStatus::Busy);
        let progress = Say::Progress(Payload::of(&json!({"percent": 50})));
        let fence = (worker.id, made.id, 1);
        workers::say(&app, &call, fence, progress).await.unwrap();
        let (found, _) = tasks::find(&app, &call, made.id).await.unwrap();
        assert_eq!(found.progress.as_deref(), Some(r#"{"percent":50}"#));
        let done = Say::Done(Some(Payload::of(&json!({"ok": true}))));
        let said = workers::say(&app, &call, fence, done.clone()).await.unwrap();
        assert_eq!(said, Said::Over(TaskState::Succeeded));
        let again = workers::say(&app, &call, fence, done).await.unwrap_err();
        assert!(matches!(again, Error::Queue(QueueError::LeaseLost(_))), "{again}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_gets_what_comes() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, 1).await;
        let (waiting_app, waiting_call) = (app.clone(), call.clone());
        let mut waiting = tokio::task::JoinSet::new();
        waiting.spawn(async move {
            let patience = Duration::from_secs(20);
            workers::claim(&waiting_app, &waiting_call, worker.id, (1, patience)).await.unwrap()
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let made = add(&app, &call, "one").await;
        let given = waiting.join_next().await.unwrap().unwrap();
        assert_eq!(given[0].lease.spot.task, made.id, "{}", world.engine);
        let none = workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
        assert!(none.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_callers_and_workers_lose_and_double_nothing() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, 1_000).await;
        let mut crowd = tokio::task::JoinSet::new();
        for number in 0..100 {
            let (app, call) = (app.clone(), call.clone());
            crowd.spawn(async move { add(&app, &call, &format!("{number}")).await.id });
        }
        let mut made = crowd.join_all().await;
        let mut crowd = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let (app, call) = (app.clone(), call.clone());
            crowd.spawn(async move {
                let mut mine = Vec::new();
                loop {
                    let given = workers::claim(&app, &call, worker.id, (3, NOW)).await.unwrap();
                    if given.is_empty() {
                        return mine;
                    }
                    for given in given {
                        let spot = given.lease.spot;
                        let fence = (worker.id, spot.task, spot.attempt);
                        workers::say(&app, &call, fence, Say::Done(None)).await.unwrap();
                        mine.push(spot.task);
                    }
                }
            });
        }
        let mut done: Vec<_> = crowd.join_all().await.into_iter().flatten().collect();
        made.sort_unstable();
        done.sort_unstable();
        assert_eq!(made, done, "{}", world.engine);
        assert!(pools::depth(&app, &call).await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_worker_loses_what_it_has_and_is_not_heard_any_more() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let (silent, other) = (worker(&app, &call, 1).await, worker(&app, &call, 1).await);
        let made = add(&app, &call, "one").await;
        workers::claim(&app, &call, silent.id, (1, NOW)).await.unwrap();
        let is_postgres = world.engine == "postgres";
        if is_postgres {
            // There the database tells the time.
            let (long_ago, id) = (app.clock.now(), silent.id);
            let scope = Scope::Tenant(world.tenant);
            let touch = move |tx: &mut Tx<'_>| tx.workers().touch(id, long_ago, long_ago);
            assert!(app.store.write(scope, touch).await.unwrap().value);
        } else {
            pass(&world, &app, 20).await;
            workers::beat(&app, &call, other.id).await.unwrap();
            pass(&world, &app, 11).await;
        }
        pass(&world, &app, 0).await;
        let (found, attempts) = tasks::find(&app, &call, made.id).await.unwrap();
        assert_eq!(found.state, TaskState::Delayed, "{}", world.engine);
        assert_eq!(attempts.len(), 1);
        let late = workers::say(&app, &call, (silent.id, made.id, 1), Say::Done(None)).await;
        let late = late.unwrap_err();
        assert!(matches!(late, Error::Queue(QueueError::NoWorker(_) | QueueError::LeaseLost(_))));
        let beat = workers::beat(&app, &call, silent.id).await.unwrap_err();
        assert!(matches!(beat, Error::Queue(QueueError::NoWorker(_))), "{beat}");
        tasks::retry(&app, &call, made.id).await.unwrap();
        let given = workers::claim(&app, &call, other.id, (1, NOW)).await.unwrap();
        assert_eq!(given[0].lease.spot.attempt, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_task_ends_as_a_dead_letter_and_can_be_replayed() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, 5).await;
        let mut poison = asked("poison");
        (poison.retry.max_attempts, poison.retry.delay_ms) = (3, 0);
        let made = tasks::create(&app, &call, poison).await.unwrap();
        let after = vec![made.id];
        let child = tasks::create(&app, &call, NewTask { after, ..asked("child") }).await.unwrap();
        assert_eq!(child.state, Some(TaskState::Blocked));
        for attempt in 1..=3 {
            let given = workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
            assert_eq!(given[0].lease.spot.attempt, attempt, "{}", world.engine);
            workers::say(&app, &call, (worker.id, made.id, attempt), failed()).await.unwrap();
        }
        let (found, attempts) = tasks::find(&app, &call, made.id).await.unwrap();
        assert_eq!((found.state, attempts.len()), (TaskState::Dead, 3));
        let (found, _) = tasks::find(&app, &call, child.id).await.unwrap();
        assert_eq!((found.state, found.because), (TaskState::Cancelled, Some(made.id)));
        let filter = dead::DeadFilter { error: Some("broke".to_owned()), ..Default::default() };
        let listed = dead::list(&app, &call, filter.clone(), (None, 9)).await.unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(dead::replay_all(&app, &call, filter).await.unwrap(), 1);
        let given = workers::claim(&app, &call, worker.id, (5, NOW)).await.unwrap();
        assert_eq!((given.len(), given[0].lease.spot.attempt), (1, 4));
        workers::say(&app, &call, (worker.id, made.id, 4), Say::Done(None)).await.unwrap();
        let given = workers::claim(&app, &call, worker.id, (5, NOW)).await.unwrap();
        assert_eq!(given[0].lease.spot.task, child.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_reaches_waiting_and_running_ones() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, 5).await;
        let waiting = add(&app, &call, "waiting").await;
        let found = tasks::cancel(&app, &call, waiting.id, None).await.unwrap();
        assert_eq!(found.state, TaskState::Cancelled);
        let twice = tasks::cancel(&app, &call, waiting.id, None).await.unwrap_err();
        assert!(matches!(twice, Error::Queue(QueueError::TaskOver(..))), "{twice}");
        let running = add(&app, &call, "running").await;
        workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
        let reason = Some("not needed".to_owned());
        let found = tasks::cancel(&app, &call, running.id, reason).await.unwrap();
        assert_eq!(found.state, TaskState::Running);
        let beat = workers::beat(&app, &call, worker.id).await.unwrap();
        assert_eq!(beat.held[0].cancel.as_deref(), Some("not needed"));
        let said = workers::say(&app, &call, (worker.id, running.id, 1), failed()).await.unwrap();
        assert_eq!(said, Said::Over(TaskState::Cancelled), "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_pool_or_worker_gets_nothing() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, 5).await;
        add(&app, &call, "one").await;
        let change = |paused| pools::PoolChange { paused: Some(paused), ..Default::default() };
        let pool = worker.pool.clone();
        pools::change(&app, &call, pool.clone(), change(true)).await.unwrap();
        let none = workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
        assert!(none.is_empty());
        pools::change(&app, &call, pool, change(false)).await.unwrap();
        workers::set_mood(&app, &call, worker.id, Mood::Paused, None).await.unwrap();
        let none = workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
        assert!(none.is_empty());
        workers::set_mood(&app, &call, worker.id, Mood::Active, None).await.unwrap();
        let given = workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
        assert_eq!(given.len(), 1, "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_urgent_child_raises_what_it_waits_for() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, 5).await;
        add(&app, &call, "medium").await;
        let low = NewTask { priority: TaskPriority::Low, ..asked("low") };
        let low = tasks::create(&app, &call, low).await.unwrap();
        let urgent =
            NewTask { priority: TaskPriority::Critical, after: vec![low.id], ..asked("urgent") };
        tasks::create(&app, &call, urgent).await.unwrap();
        let given = workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
        assert_eq!(given[0].lease.spot.task, low.id, "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_assigned_goes_to_that_worker_alone() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let (one, two) = (worker(&app, &call, 1).await, worker(&app, &call, 1).await);
        let made = add(&app, &call, "one").await;
        tasks::assign(&app, &call, made.id, two.id).await.unwrap();
        let none = workers::claim(&app, &call, one.id, (1, NOW)).await.unwrap();
        assert!(none.is_empty());
        let given = workers::claim(&app, &call, two.id, (1, NOW)).await.unwrap();
        assert_eq!(given.len(), 1, "{}", world.engine);
        workers::leave(&app, &call, two.id).await.unwrap();
        let (found, _) = tasks::find(&app, &call, made.id).await.unwrap();
        assert_eq!((found.state, found.attempt), (TaskState::Ready, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keeper_brings_back_what_waits_for_its_time() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let crew = Crew::default();
        godel_app::queue::start(&app, &crew).await.unwrap();
        let worker = worker(&app, &call, 1).await;
        let mut soon = asked("soon");
        (soon.retry.delay_ms, soon.retry.max_attempts) = (20, 2);
        let made = tasks::create(&app, &call, soon).await.unwrap();
        workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
        workers::say(&app, &call, (worker.id, made.id, 1), failed()).await.unwrap();
        world.clock.advance(SignedDuration::from_secs(1));
        let patience = Duration::from_secs(20);
        let given = workers::claim(&app, &call, worker.id, (1, patience)).await.unwrap();
        assert_eq!(given[0].lease.spot.attempt, 2, "{}", world.engine);
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}
