//! From hand to hand: what is new goes straight to who waits, and who ends a task has the next one.

use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{QueueError, Said, Say, pools, tasks, workers};
use godel_app::{App, Call, Error};
use godel_model::{NewTask, TaskId, TaskPriority, TaskState, WorkerId};
use godel_testkit::{Database, World, worlds};
use proptest::prelude::*;
use serde_json::json;
use tokio::task::JoinSet;

use crate::stage::{app, call};

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(30);

fn asked(title: &str, priority: TaskPriority) -> NewTask {
    let asked: NewTask = serde_json::from_value(json!({ "title": title, "payload": {} })).unwrap();
    NewTask { priority, ..asked }
}

async fn worker(app: &App, call: &Call, capacity: u32) -> WorkerId {
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name: "somebody".to_owned(), pool, capabilities, capacity };
    workers::register(app, call, new).await.unwrap().id
}

async fn add(app: &App, call: &Call, title: &str) -> TaskId {
    tasks::create(app, call, asked(title, TaskPriority::Medium)).await.unwrap().id
}

/// Counts what is ready.
async fn in_line(app: &App, call: &Call) -> u64 {
    let depths = pools::depth(app, call).await.unwrap();
    depths.iter().filter(|one| one.state == TaskState::Ready).map(|one| one.count).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_ends_a_task_has_the_next_with_the_same_word() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, 1).await;
        let (one, two) = (add(&app, &call, "one").await, add(&app, &call, "two").await);
        let given = workers::claim(&app, &call, worker, (1, NOW)).await.unwrap();
        assert_eq!(given[0].lease.spot.task, one);
        let done = |task| ((worker, task, 1), Say::Done(None));
        let (fence, say) = done(one);
        let heard = workers::say_and_claim(&app, &call, fence, say, (1, NOW)).await.unwrap();
        assert_eq!(heard.0, Said::Over(TaskState::Succeeded));
        assert_eq!(heard.1[0].lease.spot.task, two, "{}", world.engine);

        // If there is nothing, it waits for it; its word was taken in before.
        let mut waiting = JoinSet::new();
        let (waiting_app, waiting_call, (fence, say)) = (app.clone(), call.clone(), done(two));
        waiting.spawn(async move {
            let ask = (1, LONG);
            workers::say_and_claim(&waiting_app, &waiting_call, fence, say, ask).await.unwrap()
        });
        while tasks::find(&app, &call, two).await.unwrap().0.state != TaskState::Succeeded {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let three = add(&app, &call, "three").await;
        let (_, given) = waiting.join_next().await.unwrap().unwrap();
        assert_eq!(given[0].lease.spot.task, three);
        assert_eq!(in_line(&app, &call).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_heard_is_given_nothing() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let (one, other) = (worker(&app, &call, 1).await, worker(&app, &call, 1).await);
        let task = add(&app, &call, "one").await;
        workers::claim(&app, &call, one, (1, NOW)).await.unwrap();
        workers::say(&app, &call, (one, task, 1), Say::Done(None)).await.unwrap();
        let next = add(&app, &call, "next").await;
        let again = (one, task, 1);
        let refused = workers::say_and_claim(&app, &call, again, Say::Done(None), (1, LONG)).await;
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::Queue(QueueError::LeaseLost(_))), "{refused}");
        let given = workers::claim(&app, &call, other, (1, LONG)).await.unwrap();
        assert_eq!(given[0].lease.spot.task, next, "{}", world.engine);
        // What it would have had was not begun: all attempts are left.
        let spot = &given[0].lease.spot;
        assert_eq!(spot.last - spot.attempt, given[0].asked.retry.max_attempts - 1);
    }
}

/// Adds some tasks while somebody waits, and returns what that one got and how many are left.
async fn served(
    world: &World,
    (old, new): (&[TaskPriority], &[TaskPriority]),
    free: u32,
) -> (Vec<i64>, u64) {
    let (app, call) = (app(world).await, call(world));
    let worker = worker(&app, &call, 100).await;
    for priority in old {
        tasks::create(&app, &call, asked("old", *priority)).await.unwrap();
    }
    // Both in one turn: the desk takes what has arrived when its transaction begins.
    let many = new.iter().map(|priority| asked("new", *priority)).collect();
    let (made, given) = tokio::join!(
        tasks::create_all(&app, &call, many),
        workers::claim(&app, &call, worker, (free, LONG)),
    );
    made.unwrap();
    let tiers = given.unwrap().iter().map(|one| one.lease.spot.priority.tier()).collect();
    (tiers, in_line(&app, &call).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_new_and_not_taken_is_in_line() {
    use TaskPriority::{Critical, High, Low};
    for world in worlds().await {
        for _ in 0..5 {
            let (got, left) = served(&world, (&[Low, Low], &[Low, Critical, High]), 2).await;
            assert!(got == [0, 1] || got == [3, 3], "{}: {got:?}", world.engine);
            assert_eq!(left, 3);
            // The next round begins with an empty line.
            let (app, call) = (app(&world).await, call(&world));
            let worker = worker(&app, &call, 9).await;
            assert_eq!(workers::claim(&app, &call, worker, (9, NOW)).await.unwrap().len(), 3);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_most_urgent_goes_first_whether_it_is_new_or_in_line(
        old in prop::collection::vec(prop::sample::select(TaskPriority::ALL.to_vec()), 0..4),
        new in prop::collection::vec(prop::sample::select(TaskPriority::ALL.to_vec()), 1..6),
        free in 1_u32..6,
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (tiers, left) = runtime.block_on(async {
            served(&World::on(Database::sqlite()).await, (&old, &new), free).await
        });
        prop_assert!(tiers.is_sorted(), "{:?}", tiers);
        prop_assert_eq!(tiers.len() as u64 + left, (old.len() + new.len()) as u64);
        let mut old: Vec<i64> = old.iter().map(|one| one.tier()).collect();
        let mut all: Vec<i64> = new.iter().map(|one| one.tier()).chain(old.clone()).collect();
        old.sort_unstable();
        all.sort_unstable();
        // The claim came before what is new, or with it.
        old.truncate(free as usize);
        all.truncate(free as usize);
        prop_assert!(tiers == all || tiers == old, "{tiers:?} of {all:?} or {old:?}");
    }
}
