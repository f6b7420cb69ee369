//! Workflows and teams: every step is a task, and a crash costs nothing but time.

use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Given, Say, workers};
use godel_app::workflows::runs::{self, What};
use godel_app::workflows::{RunView, definitions};
use godel_app::{App, Call, Crew, teams};
use godel_decide::team::{Role, Strategy, TeamAction, TeamSpec};
use godel_decide::workflow::{Input, RunState, StepState};
use godel_model::{EventFilter, Payload, RunId, Seq, Worker};
use godel_store::{Direction, Error as StoreError, Scope};
use godel_testkit::{World, worlds};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::stage::{app, call};

const BUILD: &str = "
name: build
inputs:
  branch: { type: string, default: main }
maxConcurrency: 2
steps:
  - id: checkout
    with: { ref: '{{ inputs.branch }}' }
  - id: lint
    dependsOn: [checkout]
  - id: test
    dependsOn: [checkout]
    with: { path: '{{ steps.checkout.output.path }}' }
  - id: deploy
    dependsOn: [lint, test]
    when: inputs.branch == 'main'
outputs:
  tested: '{{ steps.test.output.ok }}'
";

pub(crate) async fn worker(app: &App, call: &Call) -> Worker {
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name: "w".to_owned(), pool, capabilities, capacity: 100 };
    workers::register(app, call, new).await.unwrap()
}

pub(crate) async fn claim(app: &App, call: &Call, worker: &Worker) -> Vec<Given> {
    let patience = Duration::from_secs(10);
    workers::claim(app, call, worker.id, (100, patience)).await.unwrap()
}

pub(crate) async fn done(app: &App, call: &Call, worker: &Worker, given: &Given, result: Value) {
    let spot = &given.lease.spot;
    let fence = (worker.id, spot.task, spot.attempt);
    workers::say(app, call, fence, Say::Done(Some(Payload::of(&result)))).await.unwrap();
}

pub(crate) async fn start(app: &App, call: &Call, source: &str, inputs: Value) -> RunView {
    let Value::Object(inputs) = inputs else { panic!("inputs are an object") };
    runs::start(app, call, What::Inline(source.to_owned()), inputs, None).await.unwrap()
}

pub(crate) async fn ended(app: &App, call: &Call, id: RunId) -> RunView {
    for _ in 0..200 {
        let view = runs::find(app, call, id).await.unwrap();
        if view.row.state.is_final() {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the run did not end: {:?}", runs::find(app, call, id).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_become_tasks_in_order_and_their_outputs_go_on() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let run = start(&app, &call, BUILD, json!({"branch": "main"})).await;
        let id = run.record.id;
        assert_eq!(run.row.state, RunState::Running, "{}", world.engine);
        let first = claim(&app, &call, &worker).await;
        assert_eq!(first.len(), 1);
        assert_eq!(first[0].asked.payload.as_str(), r#"{"ref":"main"}"#);
        done(&app, &call, &worker, &first[0], json!({"path": "/src"})).await;
        let mut second = Vec::new();
        while second.len() < 2 {
            second.extend(claim(&app, &call, &worker).await);
        }
        second.sort_by_key(|given| given.asked.title.clone());
        assert_eq!(second[1].asked.payload.as_str(), r#"{"path":"/src"}"#);
        for given in &second {
            done(&app, &call, &worker, given, json!({"ok": true})).await;
        }
        let last = claim(&app, &call, &worker).await;
        done(&app, &call, &worker, &last[0], json!({})).await;
        let view = ended(&app, &call, id).await;
        assert_eq!(view.row.state, RunState::Completed);
        assert!((view.progress - 1.0).abs() < f64::EPSILON);
        assert_eq!(view.row.outputs.unwrap()["tested"], json!(true));
        let steps = runs::steps(&app, &call, id, 0).await.unwrap();
        assert!(steps.iter().all(|step| step.row.state == StepState::Succeeded));
        assert!(steps.iter().all(|step| step.task.is_some()));
        assert!(runs::draw(&app, &call, id, false).await.unwrap().starts_with("flowchart"));
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_after_a_restart_and_is_not_begun_twice() {
    for mut world in worlds().await {
        let (first, call) = (app(&world).await, call(&world));
        let run = start(&first, &call, BUILD, json!({"branch": "other"})).await.record.id;
        let somebody = worker(&first, &call).await;
        let given = claim(&first, &call, &somebody).await;
        // Nobody takes the news in before the server dies.
        done(&first, &call, &somebody, &given[0], json!({"path": "/src"})).await;
        drop(first);
        world.restart().await;
        let (second, crew) = (app(&world).await, Crew::default());
        godel_app::workflows::start(&second, &crew);
        let mut seen = Vec::new();
        while seen.len() < 2 {
            let given = claim(&second, &call, &somebody).await;
            for given in given {
                done(&second, &call, &somebody, &given, json!({"ok": 1})).await;
                seen.push(given.asked.key.clone().unwrap());
            }
        }
        let view = ended(&second, &call, run).await;
        assert_eq!(view.row.state, RunState::Completed, "{}", world.engine);
        assert_eq!((view.counts.succeeded, view.counts.skipped), (3, 1));
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_step_can_be_retried_and_a_run_can_be_cancelled() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let source = "
name: two
steps:
  - id: one
    retries: { maxAttempts: 1 }
  - id: two
    dependsOn: [one]
";
        let run = start(&app, &call, source, json!({})).await.record.id;
        let given = claim(&app, &call, &worker).await;
        let spot = &given[0].lease.spot;
        let fence = (worker.id, spot.task, spot.attempt);
        let failed = Say::Failed { error: "no disk".to_owned(), fatal: false };
        workers::say(&app, &call, fence, failed).await.unwrap();
        let view = ended(&app, &call, run).await;
        assert_eq!(view.row.state, RunState::Failed, "{}", world.engine);
        let again = runs::retry(&app, &call, run, vec!["one".to_owned()]).await.unwrap();
        assert_eq!(again.row.state, RunState::Running);
        let given = claim(&app, &call, &worker).await;
        done(&app, &call, &worker, &given[0], json!({})).await;
        let given = claim(&app, &call, &worker).await;
        assert!(given[0].asked.key.as_ref().unwrap().contains("/two/"));
        let view = runs::control(&app, &call, run, Input::Cancel).await.unwrap();
        assert_eq!(view.row.state, RunState::Cancelled);
        let beat = workers::beat(&app, &call, worker.id).await.unwrap();
        assert!(beat.held[0].cancel.is_some(), "its worker is asked to stop");
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_and_clocks_are_waited_for_and_children_run() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let child = "
name: child
inputs: { n: { type: number } }
steps:
  - id: only
    with: { n: '{{ inputs.n }}' }
outputs: { twice: '{{ steps.only.output.twice }}' }
";
        definitions::create(&app, &call, child.to_owned()).await.unwrap();
        let source = "
name: gates
steps:
  - id: ask
    approval: { message: May it go out? }
  - id: wait
    timer: 1s
    dependsOn: [ask]
  - id: sub
    workflow: child
    with: { n: 21 }
    dependsOn: [wait]
outputs: { answer: '{{ steps.sub.output.twice }}' }
";
        let run = start(&app, &call, source, json!({})).await.record.id;
        let refused = runs::answer(&app, &call, (run, "wait".to_owned()), (true, None)).await;
        assert!(refused.is_err());
        runs::answer(&app, &call, (run, "ask".to_owned()), (true, None)).await.unwrap();
        world.clock.advance(SignedDuration::from_secs(2));
        let given = claim(&app, &call, &worker).await;
        assert_eq!(given[0].asked.payload.as_str(), r#"{"n":21}"#, "{}", world.engine);
        done(&app, &call, &worker, &given[0], json!({"twice": 42})).await;
        let view = ended(&app, &call, run).await;
        assert_eq!(view.row.state, RunState::Completed);
        assert_eq!(view.row.outputs.unwrap()["answer"], json!(42));
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_maps_reduces_and_falls_back() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let role = |name: &str| Role { name: name.to_owned(), ..Role::default() };
        let mut spec = TeamSpec::new("sum", Strategy::MapReduce, role("adder"), 3);
        spec.items = vec![json!(1), json!(2), json!(3)];
        spec.merge = Some(role("merger"));
        spec.retry.max_attempts = 1;
        let team = teams::create(&app, &call, spec).await.unwrap();
        let id = team.record.id;
        teams::start(&app, &call, id).await.unwrap();
        let mut worked = 0;
        let mut merged = 0;
        let team = loop {
            let team = teams::find(&app, &call, id).await.unwrap();
            if team.record.state != "running" {
                break team;
            }
            let short = (100, Duration::from_millis(200));
            for given in workers::claim(&app, &call, worker.id, short).await.unwrap() {
                let spot = &given.lease.spot;
                let fence = (worker.id, spot.task, spot.attempt);
                if given.asked.key.as_ref().unwrap().contains("merge") {
                    merged += 1;
                    let failed = Say::Failed { error: "cannot".to_owned(), fatal: true };
                    workers::say(&app, &call, fence, failed).await.unwrap();
                } else {
                    worked += 1;
                    done(&app, &call, &worker, &given, json!({"costMicros": 5})).await;
                }
            }
        };
        // The merge failed, so the results are listed; what was done is not done again.
        assert_eq!((worked, merged), (3, 1), "{}: {team:?}", world.engine);
        assert_eq!(team.record.state, "completed");
        assert_eq!(team.doc.fallbacks.len(), 1);
        assert_eq!(team.doc.result.as_ref().unwrap().as_array().unwrap().len(), 3);
        let over = teams::control(&app, &call, id, TeamAction::Pause).await;
        assert!(over.is_err());
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

const PARENT: &str = "
name: parent
maxConcurrency: 1
steps:
  - id: sub
    workflow:
      name: child
      steps:
        - id: first
        - id: second
          dependsOn: [first]
  - id: last
    dependsOn: [sub]
";

/// Waits until a step has ended.
async fn step_ended(app: &App, call: &Call, run: RunId, step: &str) {
    for _ in 0..400 {
        let steps = runs::steps(app, call, run, 0).await.unwrap();
        if steps.iter().any(|one| one.id == step && one.row.state.is_final()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("step {step} does not end")
}

async fn at_hand(app: &App, call: &Call, worker: &Worker) -> usize {
    workers::claim(app, call, worker.id, (100, Duration::ZERO)).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_run_begins_nothing_and_its_children_rest_too() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let run = start(&app, &call, PARENT, json!({})).await.record.id;
        let given = claim(&app, &call, &worker).await;
        let child: RunId = given[0].asked.owner.as_ref().unwrap().id.parse().unwrap();
        assert_ne!(child, run, "{}", world.engine);
        runs::control(&app, &call, run, Input::Pause).await.unwrap();
        done(&app, &call, &worker, &given[0], json!({})).await;
        step_ended(&app, &call, child, "first").await;
        assert_eq!(runs::find(&app, &call, child).await.unwrap().row.state, RunState::Paused);
        assert_eq!(at_hand(&app, &call, &worker).await, 0, "the child rests");
        runs::control(&app, &call, run, Input::Resume).await.unwrap();
        let given = claim(&app, &call, &worker).await;
        assert!(given[0].asked.key.as_ref().unwrap().contains("/second/"));
        runs::control(&app, &call, run, Input::Pause).await.unwrap();
        done(&app, &call, &worker, &given[0], json!({})).await;
        step_ended(&app, &call, run, "sub").await;
        assert_eq!(at_hand(&app, &call, &worker).await, 0, "the run rests");
        runs::control(&app, &call, run, Input::Resume).await.unwrap();
        let given = claim(&app, &call, &worker).await;
        assert!(given[0].asked.key.as_ref().unwrap().contains("/last/"));
        done(&app, &call, &worker, &given[0], json!({})).await;
        assert_eq!(ended(&app, &call, run).await.row.state, RunState::Completed);
        let (mut states, mut ends, mut steps) = (Vec::new(), 0, Vec::new());
        for (kind, told) in told(&world, run).await {
            let state = told["state"].as_str().unwrap_or_default().to_owned();
            match kind.as_str() {
                "workflow:run:changed" => states.push(state),
                "workflow:run:finished" => ends += u32::from(state == "completed"),
                "workflow:step:changed" => steps.push((told["step"].clone(), state)),
                _ => {}
            }
        }
        let expected = ["running", "paused", "running", "paused", "running", "completed"];
        assert_eq!((states, ends), (expected.map(str::to_owned).to_vec(), 1));
        let step = |id: &str, state: &str| (json!(id), state.to_owned());
        let expected = [
            step("sub", "running"),
            step("sub", "succeeded"),
            step("last", "running"),
            step("last", "succeeded"),
        ];
        assert_eq!(steps, expected);
        assert!(crew.stop(Duration::from_secs(5)).await);
    }
}

/// What was told of a run, as kind and payload.
async fn told(world: &World, run: RunId) -> Vec<(String, Value)> {
    let read = world.store.read(Scope::Tenant(world.tenant), |tx| {
        let all = EventFilter::all();
        Ok::<_, StoreError>(tx.events().page(&all, Direction::Forward, Seq(0), 1_000)?.events)
    });
    let all = read.await.unwrap().into_iter();
    let read = all.map(|event| (event.kind.as_str().to_owned(), event.payload.read().unwrap()));
    read.filter(|(_, payload): &(String, Value)| payload["run"] == json!(run)).collect()
}
