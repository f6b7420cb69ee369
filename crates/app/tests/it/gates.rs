//! Steps that did not go well: what is tried again, by whom and from where.

use std::time::Duration;

use godel_app::queue::{Given, Say, workers};
use godel_app::workflows::runs;
use godel_app::{App, Call, Crew};
use godel_decide::workflow::{RunState, StepState};
use godel_model::{RunId, Worker};
use godel_testkit::{World, worlds};
use jiff::SignedDuration;
use serde_json::json;

use crate::stage::{app, call};
use crate::workflows::{claim, done, ended, start, worker};

/// An application with all that keeps runs going.
async fn running(world: &World) -> (App, Call, Crew) {
    let (app, call, crew) = (app(world).await, call(world), Crew::default());
    godel_app::queue::start(&app, &crew).await.unwrap();
    godel_app::workflows::start(&app, &crew);
    (app, call, crew)
}

async fn fails(app: &App, call: &Call, worker: &Worker, given: &Given, fatal: bool) {
    let spot = &given.lease.spot;
    let failed = Say::Failed { error: "it broke".to_owned(), fatal };
    workers::say(app, call, (worker.id, spot.task, spot.attempt), failed).await.unwrap();
}

/// Waits for a task while time passes.
async fn next(world: &World, app: &App, call: &Call, worker: &Worker) -> Given {
    for _ in 0..60 {
        let short = (1, Duration::from_millis(300));
        if let Some(given) = workers::claim(app, call, worker.id, short).await.unwrap().pop() {
            return given;
        }
        world.clock.advance(SignedDuration::from_secs(2));
    }
    panic!("nothing comes on {}", world.engine)
}

async fn state(app: &App, call: &Call, run: RunId, step: &str) -> StepState {
    let steps = runs::steps(app, call, run, 0).await.unwrap();
    steps.iter().find(|one| one.id == step).unwrap().row.state
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inner_workflow_goes_on_where_it_failed() {
    const OUTER: &str = "
name: outer
steps:
  - id: sub
    workflow:
      name: inner
      steps:
        - id: first
        - { id: second, dependsOn: [first], retries: 1 }
  - id: last
    dependsOn: [sub]
";
    for world in worlds().await {
        let (app, call, crew) = running(&world).await;
        let worker = worker(&app, &call).await;
        let run = start(&app, &call, OUTER, json!({})).await.record.id;
        let first = claim(&app, &call, &worker).await.remove(0);
        let inner: RunId = first.asked.owner.as_ref().unwrap().id.parse().unwrap();
        done(&app, &call, &worker, &first, json!({})).await;
        let second = claim(&app, &call, &worker).await.remove(0);
        fails(&app, &call, &worker, &second, true).await;
        assert_eq!(ended(&app, &call, run).await.row.state, RunState::Failed);
        // Twice: an inner run that was taken over once can be taken over again.
        for again in [true, false] {
            runs::retry(&app, &call, run, Vec::new()).await.unwrap();
            let given = claim(&app, &call, &worker).await.remove(0);
            let key = given.asked.key.clone().unwrap();
            assert!(key.starts_with(&format!("{inner}/second/")), "{key} on {}", world.engine);
            if again {
                fails(&app, &call, &worker, &given, true).await;
                assert_eq!(ended(&app, &call, run).await.row.state, RunState::Failed);
            } else {
                done(&app, &call, &worker, &given, json!({})).await;
            }
        }
        let last = claim(&app, &call, &worker).await.remove(0);
        assert!(last.asked.key.as_ref().unwrap().contains("/last/"));
        done(&app, &call, &worker, &last, json!({})).await;
        assert_eq!(ended(&app, &call, run).await.row.state, RunState::Completed);
        assert_eq!(ended(&app, &call, inner).await.row.state, RunState::Completed);
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_error_retry_tries_three_times_and_then_fails() {
    const FLAKY: &str = "
name: flaky
steps:
  - { id: lucky, onError: retry }
  - { id: unlucky, onError: retry, dependsOn: [lucky] }
  - { id: last, dependsOn: [unlucky] }
";
    for world in worlds().await {
        let (app, call, crew) = running(&world).await;
        let worker = worker(&app, &call).await;
        let run = start(&app, &call, FLAKY, json!({})).await.record.id;
        for attempt in 1..=6 {
            let given = next(&world, &app, &call, &worker).await;
            let step = if attempt <= 3 { "/lucky/" } else { "/unlucky/" };
            assert!(given.asked.key.as_ref().unwrap().contains(step), "{attempt}");
            if attempt == 3 {
                done(&app, &call, &worker, &given, json!({})).await;
            } else {
                fails(&app, &call, &worker, &given, false).await;
            }
        }
        assert_eq!(ended(&app, &call, run).await.row.state, RunState::Failed);
        assert_eq!(state(&app, &call, run, "lucky").await, StepState::Succeeded);
        assert_eq!(state(&app, &call, run, "unlucky").await, StepState::Failed);
        assert_eq!(state(&app, &call, run, "last").await, StepState::Cancelled);
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_no_or_says_nothing_lets_the_step_fail() {
    const ASKS: &str = "
name: asks
steps:
  - id: agree
    approval: { message: May it?, timeout: 2s }
  - { id: last, dependsOn: [agree] }
";
    for world in worlds().await {
        let (app, call, crew) = running(&world).await;
        let run = start(&app, &call, ASKS, json!({})).await.record.id;
        let no = (false, Some("not today".to_owned()));
        runs::answer(&app, &call, (run, "agree".to_owned()), no).await.unwrap();
        let view = ended(&app, &call, run).await;
        assert_eq!(view.row.state, RunState::Failed, "{}", world.engine);
        let steps = runs::steps(&app, &call, run, 0).await.unwrap();
        assert!(format!("{:?}", steps[0].row).contains("not today"), "{:?}", steps[0].row);
        assert_eq!(state(&app, &call, run, "last").await, StepState::Cancelled);
        let run = start(&app, &call, ASKS, json!({})).await.record.id;
        world.clock.advance(SignedDuration::from_secs(3));
        assert_eq!(ended(&app, &call, run).await.row.state, RunState::Failed);
        let late = runs::answer(&app, &call, (run, "agree".to_owned()), (true, None)).await;
        assert!(late.is_err(), "nobody is asked any more");
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}
