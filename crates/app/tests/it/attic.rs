//! What is over for long goes, a little at a time; what something unfinished depends on stays.

use std::sync::Arc;
use std::time::Duration;

use godel_app::queue::attic::{Keep, sweep};
use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Say, tasks, workers};
use godel_app::vault::MasterKey;
use godel_app::workflows::runs::{self, What};
use godel_app::{App, AppConfig, Call, Crew, Error, teams};
use godel_decide::team::{Role, Strategy, TeamSpec};
use godel_model::{NewTask, Report as _, TaskId, Worker};
use godel_store::{Scope, Tx};
use godel_testkit::{World, worlds};
use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use crate::stage::{MASTER, call};

/// An application that keeps nothing that is over, but dead letters.
async fn forgetful(world: &World) -> App {
    let keep = Keep { done: SignedDuration::ZERO, dead: SignedDuration::ZERO };
    let config = AppConfig { keep, ..AppConfig::default() };
    let (clock, master) = (Arc::clone(&world.clock), MasterKey::new(MASTER));
    App::open(world.store.clone(), None, clock, config, &master).await.unwrap()
}

async fn swept(world: &World, app: &App) -> u64 {
    // On SQLite the test tells the time, and nothing has ended before the same moment.
    world.clock.advance(SignedDuration::from_secs(1));
    sweep(app, Duration::ZERO).await.unwrap()
}

async fn worker(app: &App, call: &Call) -> Worker {
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name: "w".to_owned(), pool, capabilities, capacity: 1_000 };
    workers::register(app, call, new).await.unwrap()
}

fn asked(what: Value) -> NewTask {
    let mut all = json!({"title": "t", "payload": {}, "retry": {"maxAttempts": 1}});
    all.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

async fn make(app: &App, call: &Call, what: Value) -> TaskId {
    tasks::create(app, call, asked(what)).await.unwrap().id
}

/// Takes what there is, and says the same of all.
async fn work(app: &App, call: &Call, worker: &Worker, say: Say) -> usize {
    let patience = (1_000, Duration::from_secs(5));
    let given = workers::claim(app, call, worker.id, patience).await.unwrap();
    for given in &given {
        let spot = &given.lease.spot;
        let fence = (worker.id, spot.task, spot.attempt);
        workers::say(app, call, fence, say.clone()).await.unwrap();
    }
    given.len()
}

async fn is_there(app: &App, call: &Call, task: TaskId) -> bool {
    match tasks::find(app, call, task).await {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.code().name(), "task_not_found");
            false
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_go_when_nothing_depends_on_them_and_dead_letters_stay_for_a_week() {
    for world in worlds().await {
        let (app, call) = (forgetful(&world).await, call(&world));
        let worker = worker(&app, &call).await;
        let bad = make(&app, &call, json!({"title": "bad"})).await;
        let failed = Say::Failed { error: "no".to_owned(), fatal: true };
        assert_eq!(work(&app, &call, &worker, failed).await, 1);
        let parent = make(&app, &call, json!({"title": "parent"})).await;
        let many: Vec<NewTask> = (0..450).map(|_| asked(json!({}))).collect();
        for made in tasks::create_all(&app, &call, many).await.unwrap() {
            made.unwrap();
        }
        let mut done = 0;
        while done < 451 {
            done += work(&app, &call, &worker, Say::Done(None)).await;
        }
        let waits = make(&app, &call, json!({"title": "waits"})).await;
        let child = json!({"title": "child", "after": [parent, waits]});
        let child = make(&app, &call, child).await;
        assert_eq!(swept(&world, &app).await, 450, "{}", world.engine);
        assert!(is_there(&app, &call, bad).await, "dead letters are kept for 7 days at least");
        assert!(is_there(&app, &call, parent).await, "a child that is not over waits behind it");
        assert!(is_there(&app, &call, waits).await);
        done = 0;
        while done < 2 {
            done += work(&app, &call, &worker, Say::Done(None)).await;
        }
        assert_eq!(swept(&world, &app).await, 3);
        for task in [parent, waits, child] {
            assert!(!is_there(&app, &call, task).await);
        }
        let left = world.store.read(Scope::Tenant(world.tenant), move |tx: &mut Tx<'_>| {
            let edges = tx.tasks().parents(child)?.len();
            Ok::<_, Error>((edges, tx.tasks().attempts(bad)?.len()))
        });
        assert_eq!(left.await.unwrap(), (0, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_go_with_all_their_steps_and_what_runs_stays() {
    for world in worlds().await {
        let (app, call, crew) = (forgetful(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let steps = |count: usize| -> String {
            (0..count).map(|number| format!("  - id: s{number}\n")).collect()
        };
        let start = async |source: String| {
            let run = runs::start(&app, &call, What::Inline(source), Map::new(), None).await;
            run.unwrap().record.id
        };
        let wide = start(format!("name: wide\nmaxConcurrency: 500\nsteps:\n{}", steps(450))).await;
        let mut done = 0;
        while done < 450 {
            done += work(&app, &call, &worker, Say::Done(None)).await;
        }
        let source = "name: open\nsteps:\n  - id: one\n  - id: two\n    dependsOn: [one]\n";
        let open = start(source.to_owned()).await;
        assert_eq!(work(&app, &call, &worker, Say::Done(None)).await, 1);
        while runs::find(&app, &call, wide).await.unwrap().row.state.as_str() == "running"
            || runs::find(&app, &call, open).await.unwrap().counts.succeeded == 0
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // 450 tasks and their run go; the first step of the open one stays.
        assert_eq!(swept(&world, &app).await, 451, "{}", world.engine);
        let gone = runs::find(&app, &call, wide).await.unwrap_err();
        assert_eq!(gone.code().name(), "run_not_found", "{gone}");
        let shown = runs::steps(&app, &call, open, 0).await.unwrap();
        assert!(shown[0].task.is_some(), "a run that is not over shows its tasks");
        let left = world.store.read(Scope::Tenant(world.tenant), move |tx: &mut Tx<'_>| {
            Ok::<_, Error>((tx.runs().steps(wide)?.len(), tx.runs().definition(wide)?.is_some()))
        });
        assert_eq!(left.await.unwrap(), (0, false));
        assert_eq!(work(&app, &call, &worker, Say::Done(None)).await, 1, "it goes on");
        while runs::find(&app, &call, open).await.unwrap().row.state.as_str() == "running" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(swept(&world, &app).await, 3, "two tasks and a run");
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_run_of_a_team_that_works_stays_and_both_go_when_it_is_over() {
    for world in worlds().await {
        let (app, call, crew) = (forgetful(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let (pool, requires) = (None, Default::default());
        let role = Role { name: "adder".to_owned(), pool, requires, ..Role::default() };
        let mut spec = TeamSpec::new("sum", Strategy::Parallel, role, 2);
        spec.items = vec![json!(1), json!(2)];
        let team = teams::create(&app, &call, spec).await.unwrap().record.id;
        teams::start(&app, &call, team).await.unwrap();
        assert_eq!(swept(&world, &app).await, 0, "{}", world.engine);
        let mut done = 0;
        while done < 2 {
            done += work(&app, &call, &worker, Say::Done(None)).await;
        }
        while teams::find(&app, &call, team).await.unwrap().record.state == "running" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut removed = 0;
        // The run is told to end after the team has.
        while removed < 4 {
            removed += swept(&world, &app).await;
        }
        let gone = teams::find(&app, &call, team).await.unwrap_err();
        assert_eq!(gone.code().name(), "team_not_found", "{gone}");
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}
