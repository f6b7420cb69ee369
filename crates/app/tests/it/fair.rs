//! Tenants share a server, and none waits for the backlog of another.

use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Say, pools, tasks, workers};
use godel_app::{App, Call};
use godel_model::{Clock as _, NewTask, TaskState, Tenant, TenantId, Worker};
use godel_store::{Scope, Tx};
use godel_testkit::{World, worlds};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::stage::{app, call};

/// How many tasks of one tenant wait.
const BACKLOG: usize = 100_000;

fn asked() -> NewTask {
    serde_json::from_value(json!({"title": "t", "payload": {}, "priority": "critical"})).unwrap()
}

async fn worker(app: &App, call: &Call) -> Worker {
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name: "w".to_owned(), pool, capabilities, capacity: 1_000 };
    workers::register(app, call, new).await.unwrap()
}

/// Makes a second tenant, and returns a call of its admin.
async fn neighbour(world: &World) -> Call {
    let mut call = call(world);
    let id: TenantId = godel_model::Mint::system().id();
    let now = world.clock.now();
    let tenant =
        Tenant { id, name: "neighbour".parse().unwrap(), created_at: now, disabled_at: None };
    let work = move |tx: &mut Tx<'_>| tx.tenants().insert(&tenant);
    world.store.write(Scope::System, work).await.unwrap();
    let mut actor = (*call.actor).clone();
    actor.tenant = id;
    call.actor = actor.into();
    call
}

async fn ready(app: &App, call: &Call) -> u64 {
    let depth = pools::depth(app, call).await.unwrap();
    depth.iter().filter(|row| row.state == TaskState::Ready).map(|row| row.count).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_with_a_long_line_does_not_hold_another_one_up() {
    for world in worlds().await {
        let (app, busy) = (app(&world).await, call(&world));
        let quiet = neighbour(&world).await;
        for _ in 0..BACKLOG / 1_000 {
            let many = vec![asked(); 1_000];
            tasks::create_all(&app, &busy, many).await.unwrap();
        }
        let (worker_of_busy, worker_of_quiet) =
            (worker(&app, &busy).await.id, worker(&app, &quiet).await.id);
        // Many of the busy tenant take and report as fast as they can.
        let (stop, mut crowd) = (CancellationToken::new(), tokio::task::JoinSet::new());
        for _ in 0..16 {
            let (app, call, stop) = (app.clone(), busy.clone(), stop.clone());
            crowd.spawn(async move {
                while !stop.is_cancelled() {
                    let now = (10, Duration::ZERO);
                    let given = workers::claim(&app, &call, worker_of_busy, now).await.unwrap();
                    for given in given {
                        let spot = given.lease.spot;
                        let fence = (worker_of_busy, spot.task, spot.attempt);
                        workers::say(&app, &call, fence, Say::Done(None)).await.unwrap();
                    }
                }
            });
        }
        for _ in 0..100 {
            let made = tasks::create(&app, &quiet, asked()).await.unwrap();
            let patience = (1, Duration::from_secs(30));
            let given = workers::claim(&app, &quiet, worker_of_quiet, patience).await.unwrap();
            assert_eq!(given[0].lease.spot.task, made.id, "{}", world.engine);
            let fence = (worker_of_quiet, made.id, 1);
            workers::say(&app, &quiet, fence, Say::Done(None)).await.unwrap();
        }
        let left = ready(&app, &busy).await;
        stop.cancel();
        crowd.join_all().await;
        assert!(left > 0, "the quiet one was served behind the whole backlog on {}", world.engine);
    }
}
