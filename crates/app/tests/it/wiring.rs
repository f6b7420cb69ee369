//! What is decided elsewhere reaches the queue: schedules, ageing, placement, room, and inheritance.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use godel_app::queue::pools::{self, PoolChange};
use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Keeper, Say, schedules, tasks, workers};
use godel_app::workflows::runs::{self, What};
use godel_app::{App, Call, Crew};
use godel_model::{NewTask, Placement, PoolName, TaskPriority, WorkerId};
use godel_store::Fence;
use godel_testkit::{Database, World, change, worlds};
use jiff::SignedDuration;
use serde_json::json;

use crate::stage::{app, call};

const NOW: Duration = Duration::ZERO;

fn asked(title: &str) -> NewTask {
    serde_json::from_value(json!({ "title": title, "payload": {} })).unwrap()
}

async fn worker(app: &App, call: &Call, name: &str, capacity: u32) -> WorkerId {
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name: name.to_owned(), pool, capabilities, capacity };
    workers::register(app, call, new).await.unwrap().id
}

/// Keeps a queue whose time is the test's.
struct Time<'w> {
    world: &'w World,
    passed: Arc<AtomicU64>,
    keeper: Keeper,
}

impl<'w> Time<'w> {
    fn of(world: &'w World, app: &App) -> Self {
        let passed = Arc::new(AtomicU64::new(0));
        let read = Arc::clone(&passed);
        let steady = Arc::new(move || Duration::from_secs(read.load(Ordering::Relaxed)));
        Self { world, passed, keeper: Keeper::paced(app.clone(), steady) }
    }

    /// Lets time pass, and does what is due then.
    async fn pass(&mut self, seconds: u64) {
        self.passed.fetch_add(seconds, Ordering::Relaxed);
        self.world.clock.advance(SignedDuration::from_secs(i64::try_from(seconds).unwrap()));
        self.keeper.look().await.unwrap();
    }
}

/// A world whose time is the test's.
async fn timed() -> World {
    World::on(Database::sqlite()).await
}

async fn set(app: &App, call: &Call, change: PoolChange) {
    pools::change(app, call, PoolName::default(), change).await.unwrap();
}

/// Returns the titles of what somebody new gets, in their order.
async fn taken(app: &App, call: &Call) -> Vec<String> {
    let worker = worker(app, call, "new", 9).await;
    titles(app, call, worker, 9).await
}

/// Returns the titles of what a worker gets, in their order.
async fn titles(app: &App, call: &Call, worker: WorkerId, free: u32) -> Vec<String> {
    let given = workers::claim(app, call, worker, (free, NOW)).await.unwrap();
    given.into_iter().map(|one| one.asked.title).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_given_more_than_it_can_have() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let full = worker(&app, &call, "full", 2).await;
        for title in ["a", "b", "c", "d"] {
            tasks::create(&app, &call, asked(title)).await.unwrap();
        }
        // It says each time that it has room; the book says otherwise.
        let mut had = Vec::new();
        for _ in 0..4 {
            had.extend(workers::claim(&app, &call, full, (2, NOW)).await.unwrap());
        }
        assert_eq!(had.len(), 2, "{}", world.engine);
        let spot = &had[0].lease.spot;
        let fence = (full, spot.task, spot.attempt);
        let next = workers::say_and_claim(&app, &call, fence, Say::Done(None), (9, NOW)).await;
        assert_eq!(next.unwrap().1.len(), 1);
        let other = worker(&app, &call, "other", 9).await;
        assert_eq!(workers::claim(&app, &call, other, (9, NOW)).await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_brings_forth_is_as_urgent_as_it_is() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, "one", 1).await;
        let urgent = NewTask { priority: TaskPriority::Critical, ..asked("parent") };
        tasks::create(&app, &call, urgent).await.unwrap();
        let given = workers::claim(&app, &call, worker, (1, NOW)).await.unwrap();
        let spot = &given[0].lease.spot;
        let under = Fence { task: spot.task, attempt: spot.attempt, worker };
        for (inherits, priority) in [(true, TaskPriority::Critical), (false, TaskPriority::Medium)]
        {
            let made = tasks::spawn(&app, &call, asked("child"), (under, inherits)).await.unwrap();
            let (found, _) = tasks::find(&app, &call, made.id).await.unwrap();
            assert_eq!(found.priority, priority, "{}", world.engine);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_makes_its_task_once_for_each_time_and_none_while_it_is_paused() {
    let world = timed().await;
    let (app, call) = (app(&world).await, call(&world));
    let mut time = Time::of(&world, &app);
    let new = json!({
        "name": "nightly", "cron": "0 * * * *", "timezone": "UTC",
        "task": { "title": "tidy up", "payload": {} },
    });
    let new = serde_json::from_value(new).unwrap();
    let schedule = schedules::create(&app, &call, new).await.unwrap();
    time.pass(60).await;
    assert_eq!(taken(&app, &call).await, [""; 0], "its time has not come");
    time.pass(3_600).await;
    // Whoever looks again finds that it was made.
    time.pass(0).await;
    assert_eq!(taken(&app, &call).await, ["tidy up"]);
    // Nobody looked for a day: it is made up for once.
    time.pass(86_400).await;
    time.pass(0).await;
    assert_eq!(taken(&app, &call).await, ["tidy up"]);
    schedules::pause(&app, &call, schedule.id, true).await.unwrap();
    time.pass(7_200).await;
    assert_eq!(taken(&app, &call).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_long_rises_where_the_pool_says_so() {
    for ages in [false, true] {
        let world = timed().await;
        let (app, call) = (app(&world).await, call(&world));
        let mut time = Time::of(&world, &app);
        let ageing_seconds = Some(ages.then_some(60));
        set(&app, &call, PoolChange { ageing_seconds, ..PoolChange::default() }).await;
        let low = NewTask { priority: TaskPriority::Low, ..asked("old") };
        tasks::create(&app, &call, low).await.unwrap();
        // From low over medium to high.
        for _ in 0..3 {
            time.pass(61).await;
        }
        tasks::create(&app, &call, asked("new")).await.unwrap();
        let expected = if ages { ["old", "new"] } else { ["new", "old"] };
        assert_eq!(taken(&app, &call).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_comes_back_to_who_had_it_if_the_pool_says_so() {
    for placement in [Placement::Affinity, Placement::LeastLoaded] {
        for world in worlds().await {
            let (app, call) = (app(&world).await, call(&world));
            set(&app, &call, PoolChange { placement: Some(placement), ..Default::default() }).await;
            let of = |title: &str| NewTask { session: Some("s".to_owned()), ..asked(title) };
            let (first, other) =
                (worker(&app, &call, "first", 9).await, worker(&app, &call, "other", 9).await);
            tasks::create(&app, &call, of("one")).await.unwrap();
            assert_eq!(titles(&app, &call, first, 1).await, ["one"]);
            // The other one has more room, and has waited for longer.
            let wait = Duration::from_secs(20);
            let asks = [(other, 9), (first, 1)].map(|(worker, free)| {
                let (app, call) = (app.clone(), call.clone());
                async move {
                    let given = workers::claim(&app, &call, worker, (free, wait)).await.unwrap();
                    (worker, given.len())
                }
            });
            let mut waiting = tokio::task::JoinSet::new();
            for ask in asks {
                waiting.spawn(ask);
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            tasks::create(&app, &call, of("two")).await.unwrap();
            let served = waiting.join_next().await.unwrap().unwrap();
            let expected = if placement == Placement::Affinity { first } else { other };
            assert_eq!(served, (expected, 1), "{placement:?} on {}", world.engine);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_for_an_agent_goes_to_nobody_else() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let crew = Crew::default();
        godel_app::workflows::start(&app, &crew);
        let source = "name: w\nsteps:\n  - { id: s, agent: a-1 }\n".to_owned();
        let inputs = serde_json::Map::new();
        runs::start(&app, &call, What::Inline(source), inputs, None).await.unwrap();
        let (other, own) =
            (worker(&app, &call, "b-2", 1).await, worker(&app, &call, "a-1", 1).await);
        let wait = Duration::from_secs(20);
        let given = workers::claim(&app, &call, own, (1, wait)).await.unwrap();
        assert_eq!(given.len(), 1, "{}", world.engine);
        let spot = &given[0].lease.spot;
        workers::say(&app, &call, (own, spot.task, spot.attempt), Say::Released).await.unwrap();
        assert_eq!(titles(&app, &call, other, 1).await, [""; 0]);
        assert_eq!(workers::claim(&app, &call, own, (1, NOW)).await.unwrap().len(), 1);
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_could_not_be_heard_because_no_server_was_there_keeps_what_it_has() {
    for world in worlds().await {
        let (first, call) = (app(&world).await, call(&world));
        let worker = worker(&first, &call, "one", 1).await;
        let made = tasks::create(&first, &call, asked("long")).await.unwrap();
        workers::claim(&first, &call, worker, (1, NOW)).await.unwrap();
        // A minute without any server.
        let minute =
            "UPDATE worker SET seen_at = seen_at - 60000000, expires_at = expires_at - 60000000";
        change(&world.database.url(), minute);
        let (again, crew) = (app(&world).await, Crew::default());
        godel_app::queue::start(&again, &crew).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let said = workers::say(&again, &call, (worker, made.id, 1), Say::Done(None)).await;
        assert!(said.is_ok(), "{}: {said:?}", world.engine);
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}
