//! The rules of the engine, one by one.

use std::sync::Arc;
use std::time::Duration;

use godel_model::TaskPriority;
use serde_json::json;

use super::super::advance::later;
use super::stage::{Fate, Pending, Stage};
use crate::workflow::definition::WorkflowRef;
use crate::workflow::limits::OUTPUT_MAX_BYTES;
use crate::workflow::{
    Answer, ChildOrder, Effect, Fault, Illegal, Input, NewRun, Run, RunState, StepIndex, StepState,
};

const BUILD: &str = "
name: build
inputs: { branch: { type: string, default: main } }
timeout: 1h
steps:
  - id: checkout
    pool: builders
    with: { command: 'git checkout {{ inputs.branch }}' }
  - { id: test, dependsOn: [checkout], with: { dir: '{{ steps.checkout.output.dir }}' }, timeout: 5m, retries: 2 }
  - { id: lint, dependsOn: [checkout], onError: continue }
  - { id: publish, dependsOn: [test, lint], when: inputs.branch == 'main' }
outputs: { dir: '{{ steps.checkout.output.dir }}', lint: '{{ steps.lint.state }}' }
";

fn order(effects: &[Effect], at: usize) -> &crate::workflow::TaskOrder {
    let orders: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::EnqueueTask(order) => Some(order.as_ref()),
            _ => None,
        })
        .collect();
    orders[at]
}

fn done(stage: &mut Stage, id: &str, output: serde_json::Value) -> Vec<Effect> {
    let step = stage.at(id);
    let round = stage.run.step_round(step);
    stage.pending.remove(&Pending::Task(step, round));
    stage.say(Input::TaskSucceeded { step, round, output })
}

#[test]
fn a_run_from_its_start_to_its_end() {
    let mut stage = Stage::new(BUILD, json!({}));
    let effects = stage.say(Input::Start);
    assert_eq!(order(&effects, 0).payload["command"], "git checkout main");
    assert_eq!(order(&effects, 0).pool.as_str(), "builders");
    assert!(matches!(effects[0], Effect::SetDeadline { .. }));
    let effects = done(&mut stage, "checkout", json!({ "dir": "/w" }));
    assert_eq!(order(&effects, 0).payload["dir"], "/w");
    assert_eq!(order(&effects, 0).timeout, Some(Duration::from_secs(300)));
    assert_eq!(order(&effects, 0).retry.max_attempts, 3);
    stage.answer(Pending::Task(StepIndex(2), 0), Fate::Fails);
    assert_eq!(stage.run.state(), RunState::Running);
    assert!((stage.run.progress() - 0.5).abs() < f64::EPSILON);
    done(&mut stage, "test", json!(null));
    let effects = done(&mut stage, "publish", json!(1));
    let outputs = json!({ "dir": "/w", "lint": "failed" }).as_object().cloned();
    let end = Effect::Finished { state: RunState::Completed, outputs, fault: None };
    assert_eq!(effects.last(), Some(&end));
    assert_eq!(stage.run.counts().tolerated, 1);
}

#[test]
fn a_condition_that_does_not_hold_skips_the_step() {
    let mut stage = Stage::new(BUILD, json!({ "branch": "dev" }));
    stage.say(Input::Start);
    done(&mut stage, "checkout", json!({ "dir": "/w" }));
    stage.play();
    assert_eq!(stage.state("publish"), StepState::Skipped);
    assert_eq!(stage.run.state(), RunState::Completed);
}

#[test]
fn a_template_that_finds_nothing_fails_the_step_and_not_the_engine() {
    let mut stage = Stage::new(BUILD, json!({}));
    stage.say(Input::Start);
    done(&mut stage, "checkout", json!({}));
    assert_eq!(stage.state("test"), StepState::Failed);
    let row = stage.run.step_row(stage.at("test")).unwrap();
    assert_eq!(row.fault.unwrap().code, "template_failed");
    assert_eq!(stage.state("publish"), StepState::Cancelled);
    stage.play();
    assert_eq!(stage.run.state(), RunState::Failed);
}

#[test]
fn a_failure_reaches_what_depends_on_it_and_the_rest_goes_on() {
    let text = "
name: x
steps:
  - { id: a }
  - { id: b, dependsOn: [a] }
  - { id: c, dependsOn: [b] }
  - { id: other }
  - { id: after, dependsOn: [other] }
";
    let mut stage = Stage::new(text, json!({}));
    stage.say(Input::Start);
    stage.answer(Pending::Task(StepIndex(0), 0), Fate::Fails);
    assert_eq!((stage.state("b"), stage.state("c")), (StepState::Cancelled, StepState::Cancelled));
    assert_eq!(stage.run.state(), RunState::Running);
    stage.play();
    assert_eq!(stage.state("after"), StepState::Succeeded);
    assert_eq!(stage.run.state(), RunState::Failed);
    // Doing it anew begins with what failed; what succeeded stays.
    let effects = stage.say(Input::RetryFrom { steps: vec![stage.at("a")] });
    assert_eq!(order(&effects, 0).key, format!("{}/a/1", stage.run.id()));
    assert_eq!(stage.state("after"), StepState::Succeeded);
    let late =
        Input::TaskFailed { step: StepIndex(0), round: 0, fault: Fault::new("x", "x"), last: true };
    assert_eq!(stage.say(late), [], "an answer to the old round changes nothing");
    stage.play();
    assert_eq!(stage.run.state(), RunState::Completed);
}

#[test]
fn what_the_end_of_the_run_cut_off_is_done_too_when_a_failed_step_is_done_anew() {
    let text = "name: x\nfailFast: true\nsteps: [{ id: a }, { id: other }, { id: after, dependsOn: [other] }]";
    let mut stage = Stage::new(text, json!({}));
    stage.say(Input::Start);
    let effects = stage.answer(Pending::Task(StepIndex(0), 0), Fate::Fails);
    assert!(effects.contains(&Effect::CancelTask { step: StepIndex(1), round: 0 }));
    assert_eq!(stage.run.state(), RunState::Failed);
    stage.say(Input::RetryFrom { steps: vec![stage.at("a")] });
    assert_eq!(
        (stage.state("other"), stage.state("after")),
        (StepState::Running, StepState::Pending)
    );
    stage.play();
    assert_eq!(stage.run.state(), RunState::Completed);
}

#[test]
fn places_are_given_by_priority_and_then_in_the_order_of_the_text() {
    let text = "
name: x
maxConcurrency: 1
steps:
  - { id: one, priority: low }
  - { id: two }
  - { id: three, priority: critical }
  - { id: four }
";
    let mut stage = Stage::new(text, json!({}));
    stage.say(Input::Start);
    let mut order = Vec::new();
    while let Some(pending) = stage.pending.first().copied() {
        let Pending::Task(step, _) = pending else { panic!("only tasks") };
        assert_eq!(stage.pending.len(), 1);
        order.push(stage.plan.get(step).unwrap().id.clone());
        stage.answer(pending, Fate::Succeeds);
    }
    assert_eq!(order, ["three", "two", "four", "one"]);
}

#[test]
fn more_places_begin_more_and_fewer_stop_nobody() {
    let text = "name: x\nmaxConcurrency: 1\nsteps: [{ id: a }, { id: b }, { id: c }, { id: d }]";
    let mut stage = Stage::new(text, json!({}));
    stage.say(Input::Start);
    assert_eq!(stage.pending.len(), 1);
    stage.say(Input::Scale { max_concurrency: 3 });
    assert_eq!(stage.pending.len(), 3);
    let mut run = stage.run.clone();
    run.apply(Input::Scale { max_concurrency: 1 }, stage.now).unwrap();
    assert_eq!(run.counts().running, 3);
    let refused = run.apply(Input::Scale { max_concurrency: 0 }, stage.now);
    assert!(matches!(refused, Err(Illegal::BadScale { wanted: 0, .. })));
}

#[test]
fn only_those_who_may_answer_can_and_only_while_it_is_asked() {
    let text = "
name: x
inputs: { who: {} }
steps:
  - { id: before }
  - id: gate
    dependsOn: [before]
    approval: { by: [role:admin], message: 'May {{ inputs.who }}?', timeout: 1h }
";
    let mut stage = Stage::new(text, json!({ "who": "ann" }));
    stage.say(Input::Start);
    let gate = stage.at("gate");
    let by = |name: &str| Answer { by: name.to_owned(), names: vec![name.to_owned()], note: None };
    let approve = |name: &str| Input::Approved { step: gate, answer: by(name) };
    let early = stage.run.clone().apply(approve("role:admin"), stage.now);
    assert!(matches!(early, Err(Illegal::NotWaiting { .. })));
    let effects = done(&mut stage, "before", json!(1));
    let asked = effects.iter().any(|effect| {
        matches!(effect, Effect::AskApproval { message: Some(text), until: Some(_), .. } if text == "May ann?")
    });
    assert!(asked, "{effects:?}");
    let before = stage.run.row();
    let refused = stage.run.apply(approve("role:guest"), stage.now);
    assert!(matches!(refused, Err(Illegal::NotAllowed { .. })));
    assert_eq!(stage.run.row(), before);
    stage.say(approve("role:admin"));
    assert_eq!(stage.run.state(), RunState::Completed);
    assert!(matches!(
        stage.run.apply(approve("role:admin"), stage.now),
        Err(Illegal::NotWaiting { .. })
    ));
}

#[test]
fn a_clock_that_rings_early_is_set_again() {
    let mut stage = Stage::new("name: x\ntimeout: 1h\nsteps: [{ id: t, timer: 10m }]", json!({}));
    stage.say(Input::Start);
    stage.twin = false;
    let step = stage.at("t");
    let due = stage.run.step_row(step).unwrap().due_at.unwrap();
    let again = stage.run.apply(Input::TimerDue { step, round: 0 }, stage.now).unwrap();
    assert_eq!(again, [Effect::SetTimer { step, round: 0, at: due }]);
    let again = stage.run.apply(Input::RunTimedOut, stage.now).unwrap();
    assert!(matches!(again[..], [Effect::SetDeadline { .. }]));
    stage.run.apply(Input::TimerDue { step, round: 0 }, due).unwrap();
    assert_eq!(stage.run.state(), RunState::Completed);
}

#[test]
fn a_run_whose_time_is_over_fails_and_can_be_done_anew_with_new_time() {
    let mut stage = Stage::new(BUILD, json!({}));
    stage.say(Input::Start);
    stage.now = stage.run.row().deadline.unwrap();
    let effects = stage.say(Input::RunTimedOut);
    assert!(effects.contains(&Effect::CancelTask { step: StepIndex(0), round: 0 }));
    assert_eq!(stage.run.state(), RunState::Failed);
    assert_eq!(stage.run.row().fault.unwrap().code, "run_timed_out");
    stage.say(Input::RetryFrom { steps: vec![StepIndex(0)] });
    assert!(stage.run.row().deadline.unwrap() > stage.now);
    done(&mut stage, "checkout", json!({ "dir": "/w" }));
    stage.play();
    assert_eq!(stage.run.state(), RunState::Completed);
}

#[test]
fn a_workflow_inside_gives_its_outputs_to_its_step() {
    let text = "
name: x
steps:
  - { id: sub, workflow: other, with: { n: 1 }, timeout: 5m }
  - { id: after, dependsOn: [sub], with: { got: '{{ steps.sub.output.n }}' } }
";
    let mut stage = Stage::new(text, json!({}));
    let effects = stage.say(Input::Start);
    let Effect::StartChild(child) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!((child.depth, child.inputs["n"].as_u64()), (1, Some(1)));
    let effects = stage.answer(Pending::Child(StepIndex(0), 0), Fate::Succeeds);
    assert_eq!(order(&effects, 0).payload["got"], 0);
    let mut stage = Stage::new(text, json!({}));
    stage.say(Input::Start);
    let effects = stage.say(Input::Cancel);
    assert!(effects.contains(&Effect::CancelChild { step: StepIndex(0), round: 0 }));
}

#[test]
fn what_is_too_large_to_keep_fails_the_step() {
    let mut stage = Stage::new("name: x\nsteps: [{ id: a }]", json!({}));
    stage.say(Input::Start);
    done(&mut stage, "a", json!("x".repeat(OUTPUT_MAX_BYTES)));
    assert_eq!(stage.run.step_row(StepIndex(0)).unwrap().fault.unwrap().code, "output_too_large");
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut stage = Stage::new(BUILD, json!({}));
    let now = stage.now;
    for input in [Input::Pause, Input::Resume, Input::RetryFrom { steps: Vec::new() }] {
        assert!(stage.run.apply(input, now).is_err());
    }
    stage.say(Input::Start);
    let nobody = StepIndex(99);
    for (input, why) in [
        (Input::Start, "a run that is running cannot be started"),
        (Input::Resume, "a run that is running cannot be resumed"),
        (Input::TaskSucceeded { step: nobody, round: 0, output: json!(1) }, "there is no step 99"),
        (Input::RetryFrom { steps: vec![nobody] }, "there is no step 99"),
        (
            Input::RetryFrom { steps: vec![StepIndex(0)] },
            "step `checkout` is running; only what is over can be done anew",
        ),
        (Input::RetryFrom { steps: Vec::new() }, "no step failed"),
        (
            Input::Approved { step: StepIndex(0), answer: Answer::default() },
            "step `checkout` is no approval",
        ),
    ] {
        let before = stage.restored().row();
        let refused = stage.run.apply(input, now).unwrap_err();
        assert_eq!(refused.to_string(), why);
        assert_eq!(stage.run.row(), before);
    }
    stage.say(Input::Cancel);
    assert!(matches!(stage.run.apply(Input::Cancel, now), Err(Illegal::State { .. })));
}

#[test]
fn a_step_behind_another_failure_cannot_be_done_anew_alone() {
    let text = "name: x\nsteps: [{ id: a }, { id: b }, { id: c, dependsOn: [a, b] }]";
    let mut stage = Stage::new(text, json!({}));
    stage.say(Input::Start);
    stage.answer(Pending::Task(StepIndex(0), 0), Fate::Fails);
    stage.answer(Pending::Task(StepIndex(1), 0), Fate::Fails);
    let refused = stage.run.apply(Input::RetryFrom { steps: vec![stage.at("c")] }, stage.now);
    assert!(matches!(refused, Err(Illegal::Blocked { .. })));
    stage.say(Input::RetryFrom { steps: vec![stage.at("a")] });
    assert_eq!(stage.state("c"), StepState::Cancelled, "b still failed");
    stage.say(Input::RetryFrom { steps: vec![stage.at("b")] });
    assert_eq!(stage.state("c"), StepState::Pending);
    stage.play();
    assert_eq!(stage.run.state(), RunState::Completed);
}

#[test]
fn the_way_that_is_left_shrinks_as_steps_end() {
    let mut stage = Stage::new(BUILD, json!({}));
    stage.say(Input::Start);
    let usual = |step: StepIndex| Some(Duration::from_secs([100, 50, 10, 5][step.0 as usize]));
    let left = |stage: &Stage| {
        let remaining = stage.run.status(stage.now, usual).remaining;
        let names: Vec<String> =
            remaining.steps.iter().map(|step| stage.plan.get(*step).unwrap().id.clone()).collect();
        (names.join(" "), remaining.length.as_secs())
    };
    assert_eq!(left(&stage), ("checkout test publish".to_owned(), 155));
    done(&mut stage, "checkout", json!({ "dir": "/w" }));
    assert_eq!(left(&stage), ("test publish".to_owned(), 55));
    done(&mut stage, "test", json!(1));
    assert_eq!(left(&stage), ("lint publish".to_owned(), 14), "lint began a second ago");
    stage.play();
    assert_eq!(left(&stage), (String::new(), 0));
}

#[test]
fn rows_of_another_workflow_are_refused() {
    let stage = Stage::new(BUILD, json!({}));
    let row = stage.run.row();
    let plan = std::sync::Arc::clone(&stage.plan);
    let wrong = crate::workflow::Run::restore(plan, row, [(StepIndex(4), Default::default())]);
    assert_eq!(wrong.unwrap_err().step, StepIndex(4));
}

#[test]
fn what_is_skipped_counts_as_done_unless_a_step_says_otherwise() {
    let text = "
name: x
steps:
  - { id: first, when: 'false' }
  - { id: goes-on, dependsOn: [first] }
  - { id: skips-too, dependsOn: [first], ifSkipped: skip }
  - { id: and-after, dependsOn: [skips-too, goes-on] }
";
    let mut stage = Stage::new(text, json!({}));
    stage.say(Input::Start);
    assert_eq!(stage.state("skips-too"), StepState::Skipped);
    assert_eq!(stage.state("goes-on"), StepState::Running);
    stage.play();
    assert_eq!(stage.state("and-after"), StepState::Succeeded);
    assert_eq!(stage.run.state(), RunState::Completed);
}

#[test]
fn what_is_already_being_done_again_is_called_off_and_begun_anew() {
    // The failure of `a` does not count, so `b` runs when `a` is to be done anew.
    let text = "name: x\nsteps: [{ id: a, onError: continue }, { id: b, dependsOn: [a] }]";
    let mut stage = Stage::new(text, json!({}));
    stage.say(Input::Start);
    stage.answer(Pending::Task(StepIndex(0), 0), Fate::Fails);
    assert_eq!(stage.state("b"), StepState::Running);
    let effects = stage.say(Input::RetryFrom { steps: vec![stage.at("a")] });
    assert!(effects.contains(&Effect::CancelTask { step: StepIndex(1), round: 0 }));
    assert_eq!((stage.state("a"), stage.state("b")), (StepState::Running, StepState::Pending));
    stage.play();
    assert_eq!(stage.run.counts().tolerated, 0);
    assert_eq!(stage.run.state(), RunState::Completed);
}

#[test]
fn a_run_inside_another_has_no_more_time_and_no_less_urgency_than_it_was_given() {
    let text =
        "name: x\ntimeout: 1h\nsteps: [{ id: a, priority: low }, { id: b, priority: critical }]";
    let stage = Stage::new(text, json!({}));
    let order = ChildOrder {
        step: StepIndex(0),
        round: 0,
        key: String::new(),
        workflow: WorkflowRef::Named("x".to_owned()),
        inputs: serde_json::Map::new(),
        depth: 3,
        timeout: Some(Duration::from_secs(60)),
        priority: Some(TaskPriority::High),
    };
    let mut run = Run::new(Arc::clone(&stage.plan), NewRun::child(stage.run.id(), &order)).unwrap();
    let mut again = Run::restore(Arc::clone(&stage.plan), run.row(), []).unwrap();
    let effects = run.apply(Input::Start, stage.now).unwrap();
    assert_eq!(effects, again.apply(Input::Start, stage.now).unwrap());
    assert_eq!(run.row().deadline, Some(later(stage.now, Duration::from_secs(60))));
    assert_eq!(self::order(&effects, 0).priority, TaskPriority::Critical);
    assert_eq!(self::order(&effects, 1).priority, TaskPriority::High);
    assert_eq!(run.row().depth, 3);
}
