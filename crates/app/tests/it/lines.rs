//! Lines of a pool: there is a limit to them, those that nobody uses vanish, and no task is lost by it.

use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Say, attic, dead, tasks, workers};
use godel_app::workflows::runs::{self, What};
use godel_app::{App, Call, Crew};
use godel_model::{NewTask, Report as _, Worker};
use godel_store::{Scope, Tx};
use godel_testkit::{World, worlds};
use serde_json::{Map, json};

use crate::stage::{app, call};

/// As many sets of capabilities as a pool can have.
const LINES_MAX: usize = 200;

fn asked(pool: &str, able: &str) -> NewTask {
    serde_json::from_value(json!({
        "title": able, "payload": {}, "pool": pool, "requires": [able],
        "retry": {"maxAttempts": 1},
    }))
    .unwrap()
}

async fn worker(app: &App, call: &Call, able: &str) -> Worker {
    let capabilities = [able.parse().unwrap()].into();
    let pool = "ci".parse().unwrap();
    let new = NewWorker { name: "w".to_owned(), pool, capabilities, capacity: 9 };
    workers::register(app, call, new).await.unwrap()
}

async fn lines(world: &World) -> usize {
    let read = world.store.read(Scope::Tenant(world.tenant), |tx: &mut Tx<'_>| {
        Ok::<_, godel_store::Error>(tx.lanes().of_pool("ci")?.len())
    });
    read.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_has_so_many_lines_and_those_nobody_uses_vanish() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let all: Vec<_> = (0..=LINES_MAX).map(|n| asked("ci", &format!("c{n}"))).collect();
        let refused = tasks::create_all(&app, &call, all.clone()).await.unwrap_err();
        assert_eq!(refused.code().name(), "too_many_lines", "{refused}");
        assert_eq!(lines(&world).await, 0, "all or nothing");
        let made = tasks::create_all(&app, &call, all[..LINES_MAX].to_vec()).await.unwrap();
        let ids: Vec<_> = made.into_iter().map(|made| made.unwrap().id).collect();
        let refused = tasks::create(&app, &call, asked("ci", "more")).await.unwrap_err();
        assert_eq!(refused.code().name(), "too_many_lines", "{}", world.engine);
        // What is there, and other pools, have room.
        tasks::create(&app, &call, asked("ci", "c7")).await.unwrap();
        tasks::create(&app, &call, asked("other", "more")).await.unwrap();
        for id in &ids[10..] {
            tasks::cancel(&app, &call, *id, None).await.unwrap();
        }
        attic::sweep(&app, Duration::ZERO).await.unwrap();
        assert_eq!(lines(&world).await, 10, "{}", world.engine);
        tasks::create(&app, &call, asked("ci", "more")).await.unwrap();
        assert_eq!(lines(&world).await, 11);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_finds_its_line_again() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, "rust").await;
        let made = tasks::create(&app, &call, asked("ci", "rust")).await.unwrap();
        let now = (9, Duration::ZERO);
        assert_eq!(workers::claim(&app, &call, worker.id, now).await.unwrap().len(), 1);
        // While it runs, its line stays.
        attic::sweep(&app, Duration::ZERO).await.unwrap();
        assert_eq!(lines(&world).await, 1, "{}", world.engine);
        let failed = Say::Failed { error: "no".to_owned(), fatal: true };
        workers::say(&app, &call, (worker.id, made.id, 1), failed).await.unwrap();
        attic::sweep(&app, Duration::ZERO).await.unwrap();
        assert_eq!(lines(&world).await, 0);
        assert_eq!(dead::replay_all(&app, &call, Default::default()).await.unwrap(), 1);
        let given = workers::claim(&app, &call, worker.id, now).await.unwrap();
        assert_eq!(given[0].lease.spot.task, made.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_vanish_under_load_and_no_task_is_left_behind() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let worker = worker(&app, &call, "rust").await;
        let mut crowd = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let (app, call) = (app.clone(), call.clone());
            crowd.spawn(async move {
                for _ in 0..40 {
                    tasks::create(&app, &call, asked("ci", "rust")).await.unwrap();
                }
            });
        }
        let (sweeping, done) = (app.clone(), tokio_util::sync::CancellationToken::new());
        let mut sweeper = tokio::task::JoinSet::new();
        let stop = done.clone();
        sweeper.spawn(async move {
            while !stop.is_cancelled() {
                attic::sweep(&sweeping, Duration::ZERO).await.unwrap();
            }
        });
        let mut seen = 0;
        while seen < 160 {
            let patience = (9, Duration::from_secs(20));
            let given = workers::claim(&app, &call, worker.id, patience).await.unwrap();
            assert!(!given.is_empty(), "{} of 160 on {}", seen, world.engine);
            seen += given.len();
            for given in given {
                let fence = (worker.id, given.lease.spot.task, given.lease.spot.attempt);
                workers::say(&app, &call, fence, Say::Done(None)).await.unwrap();
            }
        }
        done.cancel();
        sweeper.join_all().await;
        crowd.join_all().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_whose_task_cannot_be_made_fails_and_the_run_ends() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let steps: String = (0..=LINES_MAX)
            .map(|n| format!("  - {{ id: s{n}, pool: ci, requires: [c{n}] }}\n"))
            .collect();
        let many = format!("name: many\nmaxConcurrency: 500\nsteps:\n{steps}");
        let slow = "name: slow\nsteps:\n  - { id: s, timeout: 60d }\n".to_owned();
        let large = "name: large\ninputs: { text: { type: string } }\nsteps:\n  \
                     - { id: s, with: { a: '{{ inputs.text }}', b: '{{ inputs.text }}' } }\n";
        let text: Map<_, _> =
            [("text".to_owned(), json!("x".repeat(600_000)))].into_iter().collect();
        for (source, inputs, code, failed) in [
            (slow, Map::new(), "task_refused", 1),
            (large.to_owned(), text, "payload_too_large", 1),
            (many, Map::new(), "too_many_lines", 1),
        ] {
            let run = runs::start(&app, &call, What::Inline(source), inputs, None).await.unwrap();
            let id = run.record.id;
            let view = loop {
                let view = runs::find(&app, &call, id).await.unwrap();
                if view.counts.failed > 0 {
                    break view;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            };
            assert_eq!(view.counts.failed, failed, "{code} on {}", world.engine);
            let steps = runs::steps(&app, &call, id, 0).await.unwrap();
            let faults = steps.iter().filter_map(|step| step.row.fault.as_ref());
            let codes: Vec<_> = faults.map(|fault| fault.code.clone()).collect();
            assert_eq!(codes, [code]);
        }
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}
