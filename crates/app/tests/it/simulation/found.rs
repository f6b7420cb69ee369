//! What the simulation and the torture of real servers have found, each as small as it can be told.

use std::sync::Arc;

use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{
    Add, Added, Author, Batch, Keeper, Outside, QueueError, Said, Say, TurnError, tasks, workers,
};
use godel_app::{App, Call, Error};
use godel_model::{Clock as _, Mint, Mood, NewTask, Task, TaskId, TaskPriority, TaskState, Worker};
use godel_store::{Fence, Scope, Store};
use godel_testkit::{Database, World, worlds};
use jiff::SignedDuration;
use serde_json::json;

use crate::stage::{app, call};

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(50);

fn asked(title: &str) -> NewTask {
    serde_json::from_value(json!({ "title": title, "payload": {} })).unwrap()
}

async fn worker(app: &App, call: &Call, pool: &str) -> Worker {
    let (name, pool) = ("somebody".to_owned(), pool.parse().unwrap());
    let new = NewWorker { name, pool, capabilities: [].into(), capacity: 9 };
    workers::register(app, call, new).await.unwrap()
}

async fn state(app: &App, call: &Call, id: TaskId) -> TaskState {
    tasks::find(app, call, id).await.unwrap().0.state
}

async fn sqlite() -> (World, App, Call) {
    let world = World::on(Database::sqlite()).await;
    let (app, call) = (app(&world).await, call(&world));
    (world, app, call)
}

/// Puts what a transaction of the desk does together.
async fn turn(world: &World, batch: Batch) -> godel_app::queue::Turn {
    let outside = Outside { mint: Mint::system(), now: world.clock.now(), chance: 0.5 };
    let work = move |tx: &mut godel_store::Tx<'_>| batch.run(tx, outside);
    world.store.write(Scope::Tenant(world.tenant), work).await.unwrap().value
}

#[tokio::test(flavor = "multi_thread")]
async fn who_lost_a_task_is_not_heard_because_another_is_done_with_it_at_the_same_moment() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let (one, two) = (worker(&app, &call, "a").await, worker(&app, &call, "a").await);
        let made = NewTask { pool: one.pool.clone(), ..asked("one") };
        let made = tasks::create(&app, &call, made).await.unwrap().id;
        workers::claim(&app, &call, one.id, (1, NOW)).await.unwrap();
        workers::say(&app, &call, (one.id, made, 1), Say::Released).await.unwrap();
        workers::claim(&app, &call, two.id, (1, NOW)).await.unwrap();
        let done = |worker: &Worker, attempt| {
            let fence = Fence { task: made, attempt, worker: worker.id };
            (fence, Say::Done(None), Author::default())
        };
        let says = vec![done(&one, 1), done(&two, 2), done(&two, 2)];
        let turn = turn(&world, Batch { says, ..Batch::default() }).await;
        let lost = || Err(TurnError::LeaseLost(made));
        assert_eq!(
            turn.says,
            [lost(), Ok(Said::Over(TaskState::Succeeded)), lost()],
            "{}",
            world.engine
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_assigned_keeps_its_time_and_comes_back_if_the_worker_leaves() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let (one, two) =
            (worker(&app, &call, "default").await, worker(&app, &call, "default").await);
        let tomorrow = SignedDuration::from_hours(24 * 365 * 50);
        let start_at = Some(world.clock.now().checked_add(tomorrow).unwrap());
        let later = NewTask { start_at, ..asked("later") };
        let later = tasks::create(&app, &call, later).await.unwrap().id;
        tasks::assign(&app, &call, later, one.id).await.unwrap();
        assert_eq!(state(&app, &call, later).await, TaskState::Delayed, "{}", world.engine);
        let first = tasks::create(&app, &call, asked("first")).await.unwrap().id;
        tasks::assign(&app, &call, first, one.id).await.unwrap();
        workers::leave(&app, &call, one.id).await.unwrap();
        let given = workers::claim(&app, &call, two.id, (9, NOW)).await.unwrap();
        let given: Vec<_> = given.iter().map(|given| given.lease.spot.task).collect();
        assert_eq!(given, [first], "{}", world.engine);
        let gone = tasks::assign(&app, &call, later, one.id).await.unwrap_err();
        assert!(matches!(gone, Error::Queue(QueueError::NoWorker(_))), "{gone}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_back_after_its_deadline_is_dead() {
    let (world, app, call) = sqlite().await;
    let worker = worker(&app, &call, "default").await;
    let deadline = Some(world.clock.now().checked_add(SignedDuration::from_secs(4)).unwrap());
    let made = NewTask { deadline, ..asked("soon") };
    let made = tasks::create(&app, &call, made).await.unwrap().id;
    workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
    world.clock.advance(SignedDuration::from_secs(5));
    let mut keeper = Keeper::new(app.clone());
    keeper.look().await.unwrap();
    workers::say(&app, &call, (worker.id, made, 1), Say::Released).await.unwrap();
    keeper.look().await.unwrap();
    assert_eq!(state(&app, &call, made).await, TaskState::Dead);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_behind_a_thousand_others_gets_what_only_it_can_do() {
    let (_world, app, call) = sqlite().await;
    let (crowd, last) = (worker(&app, &call, "crowd").await, worker(&app, &call, "last").await);
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..1_100 {
        let (app, call) = (app.clone(), call.clone());
        waiting.spawn(async move { workers::claim(&app, &call, crowd.id, (1, LONG)).await });
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (its_app, its_call) = (app.clone(), call.clone());
    let its = tokio::task::JoinSet::from_iter([async move {
        workers::claim(&its_app, &its_call, last.id, (1, LONG)).await.unwrap()
    }]);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let made = NewTask { pool: last.pool.clone(), ..asked("for the last") };
    let made = tasks::create(&app, &call, made).await.unwrap().id;
    let given = its.join_all().await.remove(0);
    assert_eq!(given.first().map(|given| given.lease.spot.task), Some(made));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_pauses_or_leaves_while_it_waits_gets_nothing_and_is_in_nobodys_way() {
    let (_world, app, call) = sqlite().await;
    let (one, two) = (worker(&app, &call, "default").await, worker(&app, &call, "default").await);
    for leaves in [false, true] {
        let (its_app, its_call) = (app.clone(), call.clone());
        let waiting = tokio::task::JoinSet::from_iter([async move {
            workers::claim(&its_app, &its_call, one.id, (9, LONG)).await.unwrap()
        }]);
        tokio::time::sleep(Duration::from_millis(100)).await;
        if leaves {
            workers::set_mood(&app, &call, one.id, Mood::Active, None).await.unwrap();
            workers::leave(&app, &call, one.id).await.unwrap();
        } else {
            workers::set_mood(&app, &call, one.id, Mood::Paused, None).await.unwrap();
        }
        assert!(waiting.join_all().await.remove(0).is_empty());
        let made = tasks::create(&app, &call, asked("one")).await.unwrap().id;
        let given = workers::claim(&app, &call, two.id, (1, LONG)).await.unwrap();
        assert_eq!(given[0].lease.spot.task, made);
    }
}

/// Makes a task that somebody else makes too.
fn add(new: NewTask) -> Add {
    let lane = new.check().unwrap();
    let created_at = "2026-01-15T10:30:00Z".parse().unwrap();
    let task = Task { id: Mint::system().id(), asked: new, created_at, created_by: None };
    Add { task, lane, author: Author::default(), under: None }
}

async fn run(store: &Store, world: &World, batch: Batch) -> godel_app::queue::Turn {
    let outside = Outside { mint: Mint::system(), now: world.clock.now(), chance: 0.5 };
    let scope = Scope::Tenant(world.tenant);
    store.write(scope, move |tx| batch.run(tx, outside)).await.unwrap().value
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_that_add_and_hand_out_the_same_at_once_hinder_nobody() {
    for world in worlds().await {
        if world.engine == "sqlite" {
            continue;
        }
        let (app, call) = (app(&world).await, call(&world));
        let other = Store::open(&world.config).await.unwrap();
        let worker = worker(&app, &call, "default").await;
        let start_at: jiff::Timestamp = "2100-01-01T00:00:00Z".parse().unwrap();
        for round in 0..40 {
            let key = Some(format!("key {round}"));
            let new = NewTask { key, start_at: Some(start_at), ..asked("keyed") };
            let both =
                [new.clone(), new].map(|new| Batch { adds: vec![add(new)], ..Batch::default() });
            let [one, two] = both;
            let (one, two) = tokio::join!(run(&world.store, &world, one), run(&other, &world, two));
            let fresh = |turn: &godel_app::queue::Turn| matches!(turn.adds[0], Ok(Added::New(_)));
            assert!(fresh(&one) != fresh(&two), "{one:?} {two:?}");
            // One raises a task while the other hands it out.
            let low = NewTask { priority: TaskPriority::Low, ..asked("low") };
            let low = tasks::create(&app, &call, low).await.unwrap().id;
            let priority = TaskPriority::Critical;
            let urgent = NewTask { priority, after: vec![low], ..asked("urgent") };
            let raise = Batch { adds: vec![add(urgent)], ..Batch::default() };
            let claim = Batch {
                asks: vec![Arc::new(godel_app::queue::Ask {
                    worker: worker.id,
                    pool: worker.pool.clone(),
                    able: [].into(),
                    free: 1,
                    capacity: 9,
                })],
                ..Batch::default()
            };
            let (raised, claimed) =
                tokio::join!(run(&world.store, &world, raise), run(&other, &world, claim));
            assert!(matches!(raised.adds[0], Ok(Added::New(TaskState::Blocked))), "{raised:?}");
            // If it was being raised, it comes the next time.
            let given = claimed.given[0].first().map(|given| given.lease.spot.task);
            assert!(given.is_none_or(|given| given == low), "{claimed:?}");
            if given.is_none() {
                workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
            }
            workers::say(&app, &call, (worker.id, low, 1), Say::Done(None)).await.unwrap();
            let urgent = workers::claim(&app, &call, worker.id, (1, NOW)).await.unwrap();
            let urgent = urgent[0].lease.spot.task;
            workers::say(&app, &call, (worker.id, urgent, 1), Say::Done(None)).await.unwrap();
        }
        other.close().await;
    }
}
