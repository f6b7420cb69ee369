//! The queue: each task is in one place, and only who has it may say anything of it.

use godel_model::{
    AttemptEnd, Lane, Mint, Mood, NewTask, Payload, PoolName, Task, TaskId, TaskPriority,
    TaskState, UserId, Worker, WorkerId,
};
use godel_store::{
    Closing, Done, Ending, Enqueued, Fence, Lease, Next, Ready, Scope, Settled, TaskFilter, Tx,
};
use godel_testkit::{World, worlds};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn asked(title: &str) -> NewTask {
    serde_json::from_value(json!({"title": title, "payload": {"n": 1}})).unwrap()
}

fn task(asked: NewTask) -> (Task, Lane) {
    let lane = asked.check().unwrap();
    (Task { id: Mint::system().id(), asked, created_at: at(0), created_by: None }, lane)
}

fn worker() -> WorkerId {
    WorkerId::from_uuid(Uuid::from_u128(7))
}

fn somebody() -> Worker {
    Worker {
        id: worker(),
        name: "somebody".parse().unwrap(),
        pool: PoolName::default(),
        capabilities: ["gpu".parse().unwrap()].into(),
        capacity: 9,
        mood: Mood::Active,
        error: None,
        user: UserId::from_uuid(Uuid::nil()),
        registered_at: at(0),
        seen_at: at(0),
        expires_at: at(30),
    }
}

async fn write<T: Send + 'static>(
    world: &World,
    work: impl Fn(&mut Tx<'_>) -> godel_store::Result<T> + Send + Sync + 'static,
) -> T {
    world.store.write(Scope::Tenant(world.tenant), move |tx| work(tx)).await.unwrap().value
}

async fn add(world: &World, tasks: Vec<(Task, Lane)>) -> Vec<Enqueued> {
    let work = move |tx: &mut Tx<'_>| {
        let batch: Vec<_> = tasks.iter().map(|(task, lane)| (task, lane)).collect();
        tx.tasks().enqueue(&batch, Ready::InLine, at(0))
    };
    write(world, work).await
}

async fn claim(world: &World, limit: usize) -> Vec<Lease> {
    write(world, move |tx| {
        let (_, lanes) = tx.tasks().pool(&PoolName::default())?;
        let heads = tx.tasks().heads(&lanes.iter().collect::<Vec<_>>(), limit)?;
        let given: Vec<_> = heads.into_iter().map(|head| (head, worker())).take(limit).collect();
        if tx.workers().by_id(worker())?.is_none() {
            tx.workers().insert(&somebody())?;
        }
        tx.tasks().hand_out(&given, at(1))
    })
    .await
}

fn fence(lease: &Lease) -> Fence {
    Fence { task: lease.spot.task, attempt: lease.spot.attempt, worker: lease.worker }
}

async fn succeed(world: &World, fence: Fence) -> Option<Settled> {
    let result = Some(Payload::of(&json!({"ok": true})));
    let done = Done { fence, result };
    write(world, move |tx| tx.tasks().succeed(std::slice::from_ref(&done), at(2))).await.remove(0)
}

async fn fail(world: &World, fence: Fence) -> Option<(Lease, Next)> {
    write(world, move |tx| {
        let ending = Ending { how: AttemptEnd::Failed, error: "it broke", at: at(2), fatal: false };
        tx.tasks().fail(fence, ending, |_| at(5))
    })
    .await
}

async fn state(world: &World, id: TaskId) -> TaskState {
    write(world, move |tx| tx.tasks().find(id)).await.unwrap().state
}

#[tokio::test]
async fn a_task_goes_from_place_to_place_and_is_settled_once() {
    for world in worlds().await {
        let one = task(asked("one"));
        let id = one.0.id;
        assert!(matches!(add(&world, vec![one]).await[0], Enqueued::New(_, TaskState::Ready)));
        let lease = claim(&world, 9).await.remove(0);
        assert_eq!((lease.spot.task, lease.spot.attempt), (id, 1));
        assert!(claim(&world, 9).await.is_empty(), "{}", world.engine);
        assert_eq!(state(&world, id).await, TaskState::Running);
        let late = Fence { attempt: 2, ..fence(&lease) };
        assert_eq!(succeed(&world, late).await, None);
        let other = Fence { worker: WorkerId::from_uuid(Uuid::nil()), ..fence(&lease) };
        assert_eq!(succeed(&world, other).await, None);
        assert!(succeed(&world, fence(&lease)).await.is_some());
        assert_eq!(succeed(&world, fence(&lease)).await, None);
        let found = write(&world, move |tx| tx.tasks().find(id)).await.unwrap();
        assert_eq!(found.state, TaskState::Succeeded);
        assert_eq!(found.result.as_deref(), Some(r#"{"ok":true}"#));
        assert_eq!((found.worker, found.started_at), (Some(worker()), Some(at(1))));
    }
}

#[tokio::test]
async fn the_most_urgent_comes_first_and_then_the_oldest() {
    for world in worlds().await {
        let mut wanted = Vec::new();
        for (number, priority) in [3, 1, 0, 2, 1, 0].into_iter().enumerate() {
            let priority = TaskPriority::from_tier(priority);
            let title = format!("{number}");
            wanted.push((priority, task(NewTask { priority, ..asked(&title) })));
        }
        // Some lines of their own: order holds over all of them.
        let needs = NewTask { requires: ["gpu".parse().unwrap()].into(), ..asked("gpu") };
        wanted.push((TaskPriority::Medium, task(needs)));
        add(&world, wanted.iter().map(|(_, one)| one.clone()).collect()).await;
        wanted.sort_by_key(|(priority, (task, _))| (*priority, task.id));
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.extend(claim(&world, 2).await.into_iter().map(|lease| lease.spot.task));
        }
        let wanted: Vec<_> = wanted.into_iter().map(|(_, (task, _))| task.id).collect();
        assert_eq!(seen, wanted, "{}", world.engine);
    }
}

#[tokio::test]
async fn a_key_makes_one_task_however_often_it_is_sent() {
    for world in worlds().await {
        let keyed = || task(NewTask { key: Some("k".to_owned()), ..asked("keyed") });
        let (first, second, third) = (keyed(), keyed(), keyed());
        let id = first.0.id;
        let answers = add(&world, vec![first, task(asked("other")), second]).await;
        assert!(matches!(&answers[0], Enqueued::New(spot, _) if spot.task == id));
        assert!(matches!(answers[1], Enqueued::New(..)));
        assert_eq!(answers[2], Enqueued::Known(id), "{}", world.engine);
        assert_eq!(add(&world, vec![third]).await, [Enqueued::Known(id)]);
        assert_eq!(claim(&world, 9).await.len(), 2);
    }
}

#[tokio::test]
async fn a_failure_waits_and_the_last_one_is_a_dead_letter() {
    for world in worlds().await {
        let mut one = asked("one");
        one.retry.max_attempts = 2;
        let (one, lane) = task(one);
        let id = one.id;
        add(&world, vec![(one, lane)]).await;
        let lease = claim(&world, 1).await.remove(0);
        let (_, next) = fail(&world, fence(&lease)).await.unwrap();
        assert_eq!(next, Next::Again(at(5)));
        assert_eq!(state(&world, id).await, TaskState::Delayed);
        let due = world.store.read(Scope::System, |tx| tx.tasks().due(at(4), 9)).await.unwrap();
        assert!(due.is_empty());
        let due = world.store.read(Scope::System, |tx| tx.tasks().due(at(5), 9)).await.unwrap();
        assert_eq!(due, [(world.tenant, id)]);
        assert_eq!(write(&world, move |tx| tx.tasks().promote(&[id], at(5))).await.len(), 1);
        assert_eq!(write(&world, move |tx| tx.tasks().promote(&[id], at(5))).await.len(), 0);
        let again = claim(&world, 1).await.remove(0);
        assert_eq!(again.spot.attempt, 2);
        assert_eq!(fail(&world, fence(&lease)).await, None, "the first attempt is over");
        assert_eq!(fail(&world, fence(&again)).await.unwrap().1, Next::Dead);
        let found = write(&world, move |tx| tx.tasks().find(id)).await.unwrap();
        assert_eq!((found.state, found.error.as_deref()), (TaskState::Dead, Some("it broke")));
        let attempts = write(&world, move |tx| tx.tasks().attempts(id)).await;
        assert_eq!(attempts.iter().map(|one| one.number).collect::<Vec<_>>(), [1, 2]);
        let revive = move |tx: &mut Tx<'_>| tx.tasks().revive(id, TaskState::Dead, at(6));
        let revived = write(&world, revive).await.unwrap();
        assert_eq!((revived[0].0.attempt, revived[0].0.last), (2, 4));
        assert_eq!(write(&world, revive).await, None);
        assert_eq!(claim(&world, 1).await[0].spot.attempt, 3, "{}", world.engine);
    }
}

#[tokio::test]
async fn children_wait_inherit_and_share_the_fate() {
    for world in worlds().await {
        let low = |title| task(NewTask { priority: TaskPriority::Low, ..asked(title) });
        let (root, other) = (low("root"), low("other"));
        let (root_id, other_id) = (root.0.id, other.0.id);
        add(&world, vec![other, root]).await;
        let after = vec![root_id, root_id];
        let child = task(NewTask { after, priority: TaskPriority::High, ..asked("child") });
        let child_id = child.0.id;
        let grand = task(NewTask { after: vec![child_id], ..asked("grandchild") });
        let grand_id = grand.0.id;
        let answers = add(&world, vec![child, grand]).await;
        assert!(answers.iter().all(|one| matches!(one, Enqueued::New(_, TaskState::Blocked))));
        let missing = TaskId::from_uuid(Uuid::from_u128(1));
        let orphan = task(NewTask { after: vec![missing], ..asked("orphan") });
        assert_eq!(add(&world, vec![orphan]).await, [Enqueued::NoParent(missing)]);
        let raise = move |tx: &mut Tx<'_>| tx.tasks().raise_ancestors(child_id, TaskPriority::High);
        assert_eq!(write(&world, raise).await[0].task, root_id);
        assert_eq!(write(&world, raise).await, []);
        let lease = claim(&world, 1).await.remove(0);
        assert_eq!(lease.spot.task, root_id, "{}: it was raised", world.engine);
        assert!(succeed(&world, fence(&lease)).await.unwrap().has_children);
        let freed = write(&world, move |tx| tx.tasks().unblock(root_id, at(3))).await;
        assert_eq!(freed.len(), 1);
        let closing =
            Closing { state: TaskState::Cancelled, error: "no more", because: None, at: at(4) };
        let cancel = move |tx: &mut Tx<'_>| tx.tasks().close_waiting(child_id, closing);
        assert_eq!(write(&world, cancel).await.unwrap().task, child_id);
        let gone = write(&world, move |tx| tx.tasks().cancel_descendants(child_id, at(4))).await;
        assert_eq!(gone.iter().map(|spot| spot.task).collect::<Vec<_>>(), [grand_id]);
        let late = task(NewTask { after: vec![child_id], ..asked("late") });
        assert_eq!(add(&world, vec![late]).await, [Enqueued::ParentFailed(child_id)]);
        let revived =
            write(&world, move |tx| tx.tasks().revive(child_id, TaskState::Cancelled, at(5)))
                .await
                .unwrap();
        let states: Vec<_> = revived.iter().map(|(spot, state)| (spot.task, *state)).collect();
        assert_eq!(states, [(child_id, TaskState::Ready), (grand_id, TaskState::Blocked)]);
        assert_eq!(claim(&world, 9).await.len(), 2);
        assert_eq!(state(&world, other_id).await, TaskState::Running);
    }
}

#[tokio::test]
async fn depth_is_what_is_there_and_lists_find_each_task_once() {
    for world in worlds().await {
        let later = NewTask { start_at: Some(at(99)), ..asked("later") };
        let ci = NewTask { pool: "ci".parse().unwrap(), ..asked("ci") };
        let ids: Vec<_> = [asked("a"), asked("b"), later, ci].map(task).into();
        let wanted: Vec<_> = ids.iter().map(|(task, _)| task.id).collect();
        add(&world, ids).await;
        let held = claim(&world, 1).await.remove(0);
        let depth =
            world.store.read(Scope::Tenant(world.tenant), |tx| tx.tasks().depth()).await.unwrap();
        let count = |state, pool: &str| {
            let mine = depth.iter().filter(|row| row.state == state && row.lane.pool() == pool);
            mine.map(|row| row.count).sum::<u64>()
        };
        assert_eq!(count(TaskState::Ready, "default"), 1);
        assert_eq!(count(TaskState::Ready, "ci"), 1);
        assert_eq!(count(TaskState::Delayed, "default"), 1);
        assert_eq!(count(TaskState::Running, "default"), 1);
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let filter = TaskFilter::default();
            let page = write(&world, move |tx| tx.tasks().page(&filter, before, 3)).await;
            let Some(last) = page.last() else { break };
            before = Some(last.task.id);
            seen.extend(page.iter().map(|found| found.task.id));
        }
        seen.reverse();
        assert_eq!(seen, wanted, "{}", world.engine);
        for (state, pool, ids) in [
            (TaskState::Running, None, vec![held.spot.task]),
            (TaskState::Ready, Some("ci"), vec![wanted[3]]),
            (TaskState::Delayed, None, vec![wanted[2]]),
            (TaskState::Dead, None, vec![]),
            (TaskState::Succeeded, None, vec![]),
        ] {
            let pool = pool.map(ToOwned::to_owned);
            let filter = TaskFilter { state: Some(state), pool, owner: None };
            let found = write(&world, move |tx| tx.tasks().page(&filter, None, 9)).await;
            assert_eq!(found.iter().map(|found| found.task.id).collect::<Vec<_>>(), ids);
        }
        let loads = write(&world, |tx| tx.tasks().loads()).await;
        assert_eq!(loads, [(worker(), 1)]);
    }
}

#[tokio::test]
async fn nothing_is_handed_to_a_worker_that_is_gone() {
    for world in worlds().await {
        add(&world, vec![task(asked("one")), task(asked("two"))]).await;
        let lease = claim(&world, 1).await.remove(0);
        let read = write(&world, |tx| tx.workers().by_id(worker())).await.unwrap();
        assert_eq!(read, somebody());
        let early = write(&world, |tx| tx.workers().bury(worker(), at(9), at(29))).await;
        assert!(!early, "it lives until 30");
        let expired = |second| move |tx: &mut Tx<'_>| tx.workers().expired(at(second), 9);
        assert!(world.store.read(Scope::System, expired(29)).await.unwrap().is_empty());
        let found = world.store.read(Scope::System, expired(30)).await.unwrap();
        assert_eq!(found, [(world.tenant, worker())]);
        assert!(write(&world, |tx| tx.workers().bury(worker(), at(31), at(30))).await);
        assert!(!write(&world, |tx| tx.workers().touch(worker(), at(31), at(61))).await);
        assert!(claim(&world, 1).await.is_empty(), "{}", world.engine);
        let held = write(&world, |tx| tx.tasks().held_by(worker())).await;
        assert_eq!(held, [lease]);
    }
}
