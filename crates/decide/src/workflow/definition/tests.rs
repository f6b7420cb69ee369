//! What is a workflow and what is none, and that each fault is told at its place.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::workflow::limits::STEPS_MAX;
use crate::workflow::{Mistake, Problem};

/// All that a definition can say.
const WHOLE: &str = r#"
name: release
version: 1.10
description: Builds and ships.
inputs:
  branch: { type: string, default: main, description: Which branch. }
  level: { type: integer, required: true, options: [1, 2] }
maxConcurrency: 4
timeout: 2h
onError: continue
failFast: true
pool: builders
priority: high
retryPolicy: { maxAttempts: 5, backoff: { type: exponential, initial: 1000ms, multiplier: 2, max: 30000ms } }
steps:
  - id: build
    name: Build it
    task: "Build {{ inputs.branch }}"
    requires: [rust, git]
    agent: a-1
    session: "s-{{ run.id }}"
    agentSelector: { capabilities: [fast] }
    with: { env: { N: "{{ inputs.level }}" }, list: [1, "x", null] }
    timeout: 30m
    retries: 2
    onError: retry
  - id: agree
    dependsOn: [build]
    approval: { by: [role:admin, user:ann], message: "Ship {{ steps.build.output.version }}?", timeout: 1d }
    onError: fail
  - { id: rest, dependsOn: agree, timer: 90s, ifSkipped: skip }
  - { id: until, dependsOn: agree, timer: { until: "{{ inputs.branch }}" } }
  - id: ship
    dependsOn: [rest, until]
    when: "inputs.level > 1 && steps.build.state == 'succeeded'"
    workflow: ship-it
    with: { path: "{{ steps.build.output.path }}" }
  - id: tidy
    workflow:
      maxConcurrency: 2
      steps: [{ id: one, run: [rm, "{{ run.id }}"] }]
outputs:
  path: "{{ steps.build.output.path }}"
"#;

#[test]
fn all_that_can_be_said_is_understood() {
    let read = Definition::parse(WHOLE).unwrap();
    assert_eq!(read.version.as_deref(), Some("1.10"), "as it was written");
    assert_eq!((read.max_concurrency, read.fail_fast), (4, true));
    assert_eq!(read.timeout, Some(Duration::from_secs(7_200)));
    assert_eq!(read.uses().into_iter().collect::<Vec<_>>(), ["ship-it"]);
    let StepKind::Task(build) = &read.steps[0].kind else { panic!("a task") };
    assert_eq!(build.pool.as_str(), "builders");
    assert_eq!(build.priority, TaskPriority::High);
    assert_eq!(build.retry.max_attempts, 3, "two retries are three attempts");
    assert_eq!(build.requires.len(), 3);
    assert_eq!(build.payload["task"], "Build {{ inputs.branch }}");
    assert_eq!(build.payload["list"], json!([1, "x", null]));
    assert_eq!(read.steps[0].on_error, OnError::Retry);
    assert_eq!(read.steps[1].timeout, Some(Duration::from_secs(86_400)));
    assert_eq!(read.steps[2].kind, StepKind::Timer(TimerStep::For(Duration::from_secs(90))));
    assert_eq!(read.steps[2].if_skipped, IfSkipped::Skip);
    assert_eq!(read.steps[4].on_error, OnError::Continue);
    let StepKind::Workflow(WorkflowStep { workflow: WorkflowRef::Inline(inner), .. }) =
        &read.steps[5].kind
    else {
        panic!("a workflow")
    };
    assert_eq!(inner.name, "tidy");
    let StepKind::Task(one) = &inner.steps[0].kind else { panic!("a task") };
    assert_eq!((one.pool.as_str(), one.retry.max_attempts), ("builders", 5));
}

#[test]
fn what_is_stored_is_read_to_the_same_workflow() {
    let read = Definition::parse(WHOLE).unwrap();
    let again = Definition::parse(&read.to_json().to_string()).unwrap();
    assert_eq!(read, again);
}

/// The mistakes of a text with their places.
fn faults(text: &str) -> Vec<(&'static str, u32, u32)> {
    let problems = Definition::parse(text).expect_err(text);
    problems.iter().map(|one| (one.code.code(), one.at.line, one.at.column)).collect()
}

fn only(text: &str) -> Problem {
    let problems = Definition::parse(text).expect_err(text);
    assert_eq!(problems.iter().len(), 1, "{problems}");
    problems.iter().next().cloned().unwrap()
}

#[test]
fn all_faults_are_told_at_their_places() {
    let text = "
name: x
maxConcurency: 3
timeout: soon
steps:
  - id: a
    dependsOn: [b, nobody]
    when: 1 +
  - id: b
    with: { x: '{{ steps.c.output }}', y: '{{ oops', z: '{{ inputs.q }}' }
  - id: b
    onError: explode
  - id: c
    pool: NO SPACES
    priority: urgent
    retries: { maxAttempts: 0, backof: 1 }
  - id: '*'
  - name: no id
";
    assert_eq!(
        faults(text),
        [
            ("unknown_field", 3, 1),
            ("invalid_duration", 4, 10),
            ("unknown_dependency", 7, 20),
            ("invalid_condition", 8, 11),
            ("unknown_reference", 10, 16),
            ("invalid_template", 10, 43),
            ("unknown_reference", 10, 57),
            ("duplicate_step", 11, 9),
            ("invalid_value", 12, 14),
            ("invalid_value", 14, 11),
            ("invalid_value", 15, 15),
            ("invalid_value", 16, 29),
            ("unknown_field", 16, 32),
            ("invalid_name", 17, 9),
            ("missing_field", 18, 5),
        ]
    );
}

#[test]
fn json_has_places_too() {
    let text = "{\"name\": \"x\",\n \"steps\": [{\"id\": \"a\",\n   \"dependsOn\": [\"a1\"]},\n {\"id\": \"b\", \"wen\": \"true\"}]}";
    assert_eq!(faults(text), [("unknown_dependency", 3, 18), ("unknown_field", 4, 14)]);
}

#[test]
fn a_slip_is_told_with_what_was_meant() {
    let problem = only("name: x\nsteps:\n  - id: a\n    dependson: []\n");
    assert_eq!(problem.hint.as_deref(), Some("is `dependsOn` meant?"));
    let problem = only("name: x\nsteps:\n  - id: build\n  - id: b\n    dependsOn: biuld\n");
    assert_eq!(problem.hint.as_deref(), Some("is `build` meant?"));
}

#[test]
fn a_circle_is_named() {
    let text = "
name: x
steps:
  - { id: free }
  - { id: a, dependsOn: [free, c] }
  - { id: b, dependsOn: [a] }
  - { id: c, dependsOn: [b] }
  - { id: after, dependsOn: [c] }
";
    let problem = only(text);
    assert_eq!(problem.code, Mistake::Cycle);
    assert_eq!(problem.message, "steps wait for each other: a -> b -> c -> a");
    let problem = only("name: x\nsteps: [{ id: a, dependsOn: a }]");
    assert_eq!(problem.message, "steps wait for each other: a -> a");
}

#[test]
fn only_what_comes_before_can_be_named() {
    let far = "
name: x
steps:
  - { id: a }
  - { id: b, dependsOn: [a] }
  - { id: c, dependsOn: [b], with: { x: '{{ steps.a.output }}' }, when: steps.b.output == 1 }
";
    Definition::parse(far).unwrap();
    let beside = "
name: x
steps:
  - { id: a }
  - { id: b, when: steps.a.output == 1 }
";
    assert_eq!(only(beside).hint.as_deref(), Some("add `a` to `dependsOn`"));
    let myself = "name: x\nsteps: [{ id: a, when: steps.a.output == 1 }]";
    assert_eq!(only(myself).code, Mistake::UnknownReference);
    let computed = "name: x\ninputs: { i: {} }\nsteps: [{ id: a, when: 'steps[inputs.i] == 1' }]";
    assert_eq!(only(computed).code, Mistake::UnknownReference);
}

#[test]
fn a_step_is_one_thing() {
    for step in [
        "{ id: a, timer: 1s, approval: {} }",
        "{ id: a, kind: timer }",
        "{ id: a, timer: { for: 1s, until: '2030-01-01T00:00:00Z' } }",
        "{ id: a, timer: {} }",
        "{ id: a, timer: { until: tomorrow } }",
        "{ id: a, timer: 1s, onError: retry }",
        "{ id: a, timer: 1s, with: { a: 1 } }",
        "{ id: a, approval: yes }",
        "{ id: a, with: [1] }",
        "{ id: a, run: x, with: { run: y } }",
        "{ id: a, retries: 500 }",
        "{ id: a, retries: { backoff: { multiplier: 3 } } }",
        "plain",
    ] {
        let text = format!("name: x\nsteps:\n  - {step}\n");
        assert!(Definition::parse(&text).is_err(), "{step}");
    }
    Definition::parse(
        "name: x\nsteps: [{ id: a, kind: timer, timer: { until: '2030-01-01T00:00:00Z' } }]",
    )
    .unwrap();
}

#[test]
fn a_workflow_does_not_run_itself() {
    let direct = "name: x\nsteps:\n  - id: a\n    workflow: { steps: [{ id: b, workflow: x }] }\n";
    assert_eq!(faults(direct), [("recursion", 4, 44)]);
    let inner = "name: x\nsteps:\n  - id: y\n    workflow: { steps: [{ id: b, workflow: y }] }\n";
    Definition::parse(inner).expect("a step may go by the name of a stored workflow");
    let first = Definition::parse("name: a\nsteps: [{ id: s, workflow: b }]").unwrap();
    let known = |name: &str| match name {
        "b" => Some(vec!["c".to_owned(), "e".to_owned()]),
        "c" => Some(vec!["a".to_owned()]),
        _ => None,
    };
    assert_eq!(first.recursion(known), Some(["a", "b", "c", "a"].map(str::to_owned).to_vec()));
    assert_eq!(first.recursion(|name| (name == "b").then(|| vec!["d".to_owned()])), None);
    let mut deep = "{ id: a, run: x }".to_owned();
    for _ in 0..10 {
        deep = format!("{{ id: a, workflow: {{ steps: [{deep}] }} }}");
    }
    assert_eq!(only(&format!("name: x\nsteps: [{deep}]")).code, Mistake::TooDeep);
}

#[test]
fn many_steps_are_fine_and_too_many_are_not() {
    let chain = |count: usize| {
        let mut text = "name: big\nsteps:\n".to_owned();
        for step in 0..count {
            text.push_str(&format!("  - id: s{step}\n"));
            if step > 0 {
                let before = step - 1;
                text.push_str(&format!("    dependsOn: [s{before}]\n    with: {{ x: '{{{{ steps.s{before}.output }}}}' }}\n"));
            }
        }
        text
    };
    assert_eq!(Definition::parse(&chain(10_000)).unwrap().steps.len(), 10_000);
    let many = format!("name: big\nsteps: [{}]", "a,".repeat(STEPS_MAX + 1));
    assert_eq!(only(&many).code, Mistake::TooManySteps);
}

#[test]
fn far_references_in_a_large_graph_take_no_quadratic_time() {
    // Each step names the very first one, which is far away and only indirectly before it.
    let mut text = "name: big\nsteps:\n  - id: s0\n".to_owned();
    for step in 1..8_000 {
        text.push_str(&format!(
            "  - id: s{step}\n    dependsOn: [s{}]\n    when: steps.s0.state == 'succeeded'\n",
            step - 1
        ));
    }
    let problems = Definition::parse(&text).unwrap_err();
    assert!(problems.iter().all(|one| one.code == Mistake::TooComplex), "{problems}");
    assert!(problems.left_out() > 1_000);
}

#[test]
fn what_a_run_is_given_is_checked() {
    let read = Definition::parse(WHOLE).unwrap();
    let bind = |value: Value| match value {
        Value::Object(given) => read.bind(given),
        _ => panic!("a mapping"),
    };
    let bound = bind(json!({"level": 2})).unwrap();
    assert_eq!(Value::Object(bound), json!({"branch": "main", "level": 2}));
    assert_eq!(
        bind(json!({"brunch": 1, "level": 3})).unwrap_err(),
        ["there is no input `brunch`; is `branch` meant?", "the input `level` must be one of 1, 2",]
    );
    assert_eq!(
        bind(json!({"branch": 1})).unwrap_err(),
        ["the input `branch` must be of type string", "the input `level` is missing",]
    );
}

#[test]
fn nothing_is_no_workflow() {
    for text in ["", "[]", "x", "{}", "name: x", "name: x\nsteps: []", "name: x\nsteps: 1"] {
        assert!(Definition::parse(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(name|steps|id|when|with|timer|: |- |\n|  |\\[|\\]|\\{|\\}|a|1|'|\"|&|\\*|,){0,40}") {
        let _ = Definition::parse(&text);
    }

    #[test]
    fn a_workflow_survives_being_cut_anywhere(at in 0_usize..2_000) {
        let cut = at.min(WHOLE.len());
        let _ = Definition::parse(&WHOLE[..cut]);
    }
}

#[test]
fn a_step_with_a_role_or_a_harness_is_done_by_an_agent() {
    let text = r#"
name: mend
inputs: { what: { type: string } }
pool: builders
retryPolicy: { maxAttempts: 5 }
steps:
  - id: a
    name: Mend it
    role: worker
    model: big
    sandbox: read-only
    budget: 0.5
    timeout: 90s
    project: app
    task: "Mend {{ inputs.what }}"
    with: { file: "{{ inputs.what }}" }
  - { id: b, dependsOn: [a], harness: command, command: [./agent, "{prompt}"], bead: "{{ steps.a.output.bead }}" }
"#;
    let read = Definition::parse(text).unwrap();
    let StepKind::Task(first) = &read.steps[0].kind else { panic!("{read:?}") };
    assert_eq!((first.pool.as_str(), first.retry.max_attempts), ("errands", 100));
    assert_eq!(read.steps[0].timeout, None, "its time is the agent's");
    assert_eq!(
        json!(first.payload),
        json!({ "wanted": {
            "role": "worker", "model": "big", "sandbox": "read-only", "budgetMicros": 500_000,
            "timeoutSeconds": 90, "project": "app", "title": "Mend it",
            "task": "Mend {{ inputs.what }}", "with": { "file": "{{ inputs.what }}" },
        } })
    );
    let again = Definition::parse(&read.to_json().to_string()).unwrap();
    assert_eq!(again, read);
    let wrong = |step: &str| {
        let text = format!("name: x\nsteps:\n  - id: a\n    {step}\n");
        let problems = Definition::parse(&text).unwrap_err();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    for (step, why) in [
        ("role: worker", "3:5: the agent has nothing to do"),
        ("{role: worker, task: x, retries: 2}", "begins anew by itself"),
        ("role: worker\n    task: x\n    run: make", "6:5: `run` is for workers"),
        ("harness: acp\n    task: x", "4:14: an agent of this kind needs its command line"),
        ("role: worker\n    task: \"{{ steps.b.output }}\"", "5:11: there is no step `b`"),
        ("role: worker\n    task: x\n    budget: -1", "6:13: `budget` must be a number of dollars"),
        ("model: big\n    task: x", "4:5: a step has no field `model`"),
    ] {
        let step = step.replace(
            "{role: worker, task: x, retries: 2}",
            "role: worker\n    task: x\n    retries: 2",
        );
        assert!(wrong(&step).contains(why), "{step}: {}", wrong(&step));
    }
}
