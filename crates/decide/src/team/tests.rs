//! Teams planned and played by the engine of workflows.

use std::sync::Arc;

use godel_model::{RetryPolicy, RunId, WorkerId};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::strategy::Strategy as Chance;
use serde_json::{Map, Value, json};

use super::Strategy;
use super::*;
use crate::workflow::definition::StepKind;
use crate::workflow::{Effect, Fault, Input, NewRun, Plan, Run, RunState};

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn role(name: &str) -> Role {
    Role { name: name.to_owned(), ..Role::default() }
}

fn team(strategy: Strategy, items: usize) -> TeamSpec {
    let mut spec = TeamSpec::new("t", strategy, role("worker"), 4);
    spec.goal = Some("do {{ it }}".to_owned());
    spec.items = (0..items).map(|item| json!(format!("{{{{ item }}}} {item}"))).collect();
    spec
}

struct Play {
    plan: TeamPlan,
    run: Run,
    payloads: Vec<(String, Map<String, Value>)>,
    most: u32,
}

/// Plays a team; `answer` gives what comes of a task, none if it fails. Stops when it is decided.
fn play(
    spec: &TeamSpec,
    finished: &Finished,
    answer: impl Fn(&str, &Map<String, Value>) -> Option<Value>,
) -> Play {
    let plan = plan(spec, finished, now()).unwrap_or_else(|why| panic!("{why:?}"));
    let id = RunId::from_uuid("01890000-0000-7000-8000-000000000002".parse().unwrap());
    let compiled = Arc::new(Plan::new(plan.definition.clone()).unwrap());
    let mut run = Run::new(Arc::clone(&compiled), NewRun::top(id, Map::new())).unwrap();
    let mut payloads = Vec::new();
    let mut most = 0;
    let mut todo = run.apply(Input::Start, now()).unwrap();
    while !todo.is_empty() {
        let effect = todo.remove(0);
        most = most.max(run.counts().running);
        let Effect::EnqueueTask(order) = effect else { continue };
        if plan.verdict(&run) != Verdict::Open {
            break;
        }
        let id = compiled.get(order.step).unwrap().id.clone();
        let (step, round) = (order.step, order.round);
        let input = match answer(&id, &order.payload) {
            Some(output) => Input::TaskSucceeded { step, round, output },
            None => Input::TaskFailed { step, round, fault: Fault::new("x", "x"), last: true },
        };
        payloads.push((id, order.payload));
        todo.extend(run.apply(input, now()).unwrap());
    }
    Play { plan, run, payloads, most }
}

impl Play {
    fn verdict(&self) -> Verdict {
        self.plan.verdict(&self.run)
    }
}

fn item_of(payload: &Map<String, Value>) -> Value {
    payload.get("item").cloned().unwrap_or(json!("whole"))
}

/// What a worker or a merger gives: the items that went into it.
fn collect(_: &str, payload: &Map<String, Value>) -> Option<Value> {
    let Some(Value::Array(results)) = payload.get("results") else {
        return Some(json!([item_of(payload)]));
    };
    let all: Vec<Value> = results.iter().filter_map(Value::as_array).flatten().cloned().collect();
    Some(Value::Array(all))
}

#[test]
fn parallel_gives_the_list_in_the_order_of_the_items() {
    let spec = team(Strategy::Parallel, 3);
    let done = play(&spec, &Finished::new(), |_, payload| Some(item_of(payload)));
    assert_eq!(done.verdict(), Verdict::Done(json!(spec.items)), "templates in items stay texts");
    assert_eq!(done.payloads[0].1["goal"], "do {{ it }}");
    assert_eq!(done.payloads[0].1["role"], "worker");
    assert_eq!(done.run.state(), RunState::Completed);
}

#[test]
fn parallel_with_several_roles_has_each_look_at_each_item() {
    let mut spec = team(Strategy::Parallel, 2);
    spec.roles = vec![role("security"), role("style")];
    let done = play(&spec, &Finished::new(), |id, _| Some(json!(id)));
    assert_eq!(
        done.verdict(),
        Verdict::Done(json!([
            "work-0000-security",
            "work-0000-style",
            "work-0001-security",
            "work-0001-style"
        ]))
    );
}

#[test]
fn a_team_without_items_works_on_its_goal() {
    let done =
        play(&team(Strategy::Parallel, 0), &Finished::new(), |_, payload| Some(item_of(payload)));
    assert_eq!(done.verdict(), Verdict::Done(json!(["whole"])));
}

#[test]
fn a_pipeline_hands_on_what_each_role_gave() {
    let mut spec = team(Strategy::Pipeline, 2);
    spec.roles = ["plan", "build", "test"].map(role).to_vec();
    let done = play(&spec, &Finished::new(), |_, payload| {
        let before = payload.get("input").and_then(Value::as_str).unwrap_or("start");
        Some(json!(format!("{before}>{}", payload["role"].as_str()?)))
    });
    let each = "start>plan>build>test";
    assert_eq!(done.verdict(), Verdict::Done(json!([each, each])));
}

#[test]
fn a_tree_is_led_and_joined() {
    let mut spec = team(Strategy::Tree, 10);
    spec.lead = Some(role("lead"));
    spec.merge = Some(role("judge"));
    spec.fan_out = 3;
    let done = play(&spec, &Finished::new(), |id, payload| match id {
        "lead" => Some(json!({ "of": payload["items"].as_array()?.len() })),
        _ if payload.contains_key("results") => collect(id, payload),
        _ => (payload["plan"]["of"] == 10).then(|| json!([item_of(payload)])),
    });
    assert_eq!(done.verdict(), Verdict::Done(json!(spec.items)));
    let merges = done.payloads.iter().filter(|(_, payload)| payload["role"] == "judge").count();
    assert_eq!(merges, 4 + 2 + 1, "ten by threes, four by threes, two");
}

#[test]
fn the_first_answer_is_enough_if_that_is_wanted() {
    let mut spec = team(Strategy::Parallel, 0);
    (spec.copies, spec.aggregate) = (5, Aggregate::First);
    let done = play(&spec, &Finished::new(), |id, _| (id != "work-0000-1").then(|| json!(id)));
    assert_eq!(done.verdict(), Verdict::Done(json!("work-0000-2")));
    assert_eq!(done.payloads.len(), 2, "the others need not be done");
    let none = play(&spec, &Finished::new(), |_, _| None);
    assert!(matches!(none.verdict(), Verdict::Failed(fault) if fault.code == "pieces_failed"));
}

#[test]
fn a_quorum_decides_as_soon_as_it_can() {
    let mut spec = team(Strategy::Parallel, 0);
    (spec.copies, spec.aggregate, spec.quorum) = (5, Aggregate::Quorum, 3);
    let votes = |votes: [i32; 5]| {
        play(&spec, &Finished::new(), move |id, _| {
            let at: usize = id.rsplit('-').next()?.parse().ok()?;
            (votes[at - 1] >= 0).then(|| json!(votes[at - 1]))
        })
    };
    let agreed = votes([1, 2, 1, 1, 2]);
    assert_eq!(agreed.verdict(), Verdict::Done(json!(1)));
    assert_eq!(agreed.payloads.len(), 4);
    let split = votes([1, 2, 3, 4, 5]);
    assert!(matches!(split.verdict(), Verdict::Failed(fault) if fault.code == "no_quorum"));
    assert_eq!(split.payloads.len(), 4, "the fifth could not change it");
    let failing = votes([-1, -1, 7, 7, 7]);
    assert_eq!(failing.verdict(), Verdict::Done(json!(7)));
}

#[test]
fn so_many_pieces_may_fail_and_no_more() {
    let mut spec = team(Strategy::Parallel, 4);
    spec.tolerate = 1;
    let fail = |failing: &'static [&'static str]| {
        play(&spec, &Finished::new(), move |id, _| (!failing.contains(&id)).then(|| json!(1)))
    };
    assert_eq!(fail(&["work-0002"]).verdict(), Verdict::Done(json!([1, 1, null, 1])));
    assert!(matches!(fail(&["work-0002", "work-0003"]).verdict(), Verdict::Failed(_)));
}

#[test]
fn texts_and_lists_are_joined_if_that_is_wanted() {
    let mut spec = team(Strategy::Parallel, 2);
    spec.aggregate = Aggregate::Concat;
    let texts = play(&spec, &Finished::new(), |id, _| Some(json!(id)));
    assert_eq!(texts.verdict(), Verdict::Done(json!("work-0000\nwork-0001")));
    let lists = play(&spec, &Finished::new(), |id, _| Some(json!([id, 1])));
    assert_eq!(lists.verdict(), Verdict::Done(json!(["work-0000", 1, "work-0001", 1])));
}

#[test]
fn each_strategy_falls_back_to_a_simpler_one_and_keeps_what_was_done() {
    let mut spec = team(Strategy::Tree, 6);
    spec.lead = Some(role("lead"));
    spec.fan_out = 2;
    // Joining always fails, so the ladder goes down to a plain list.
    let first = play(&spec, &Finished::new(), |id, payload| {
        (!id.starts_with("merge")).then(|| json!([item_of(payload)]))
    });
    let Verdict::Failed(fault) = first.verdict() else { panic!("{:?}", first.verdict()) };
    let second = fall_back(&spec, &fault).unwrap();
    assert_eq!(second.spec.strategy, Strategy::MapReduce);
    assert_eq!(
        second.why,
        "tree failed (the results could not be joined): the work is split without a lead"
    );
    let finished = first.plan.finished(&first.run);
    let mapped = play(&second.spec, &finished, |_, _| None);
    assert!(mapped.payloads.iter().all(|(id, _)| id.starts_with("merge")), "no work is done twice");
    let Verdict::Failed(fault) = mapped.verdict() else { panic!("it failed") };
    let third = fall_back(&second.spec, &fault).unwrap();
    let listed = play(&third.spec, &mapped.plan.finished(&mapped.run), |_, _| None);
    assert_eq!(listed.payloads, [], "everything was done");
    let expected: Vec<Value> = spec.items.iter().map(|item| json!([item])).collect();
    assert_eq!(listed.verdict(), Verdict::Done(json!(expected)));
    let fourth = fall_back(&third.spec, &fault).unwrap();
    assert_eq!((fourth.spec.strategy, fourth.spec.size), (Strategy::Pipeline, 1));
    assert_eq!(fall_back(&fourth.spec, &fault), None, "there is nothing simpler");
    spec.fall_back = false;
    assert_eq!(fall_back(&spec, &fault), None);
}

#[test]
fn an_agent_that_failed_is_retried_replaced_or_waited_for() {
    let worker = |n: u128| WorkerId::from_uuid(format!("{n:032x}").parse().unwrap());
    let (one, two) = (worker(1), worker(2));
    let policy = RetryPolicy::default();
    let after = |kind, attempts, failed: &[WorkerId], able: &[WorkerId]| {
        remedy(AgentFailure { kind, attempts, failed, able }, &policy)
    };
    assert_eq!(after(FailureKind::Transient, 1, &[], &[one]), Remedy::Retry);
    let replaced = after(FailureKind::Agent, 1, &[one], &[one, two]);
    assert_eq!(replaced, Remedy::Replace { exclude: vec![one] });
    assert!(matches!(after(FailureKind::Agent, 2, &[one, two], &[one, two]), Remedy::Park { .. }));
    assert!(matches!(after(FailureKind::Agent, 1, &[one], &[]), Remedy::Park { .. }));
    assert!(matches!(after(FailureKind::Agent, 3, &[one], &[two]), Remedy::GiveUp { .. }));
    assert!(matches!(after(FailureKind::Task, 1, &[], &[two]), Remedy::GiveUp { .. }));
}

#[test]
fn a_team_that_grows_has_more_at_work() {
    let mut spec = team(Strategy::Parallel, 20);
    spec.size = 2;
    let planned = plan(&spec, &Finished::new(), now()).unwrap();
    let id = RunId::from_uuid("01890000-0000-7000-8000-000000000003".parse().unwrap());
    let compiled = Arc::new(Plan::new(planned.definition).unwrap());
    let mut run = Run::new(compiled, NewRun::top(id, Map::new())).unwrap();
    run.apply(Input::Start, now()).unwrap();
    assert_eq!(run.counts().running, 2);
    run.apply(spec.scale(7).unwrap(), now()).unwrap();
    assert_eq!((run.counts().running, spec.size), (7, 7));
    assert!(spec.scale(0).is_err() && spec.size == 7);
}

#[test]
fn budget_and_deadline_are_watched() {
    let mut spec = team(Strategy::Parallel, 1);
    assert_eq!(bounds(&spec, i64::MAX, now()), Bounds::Within);
    spec.budget_micros = Some(1_000);
    assert_eq!(bounds(&spec, 799, now()), Bounds::Within);
    assert_eq!(bounds(&spec, 800, now()), Bounds::NearBudget { left_micros: 200 });
    assert_eq!(bounds(&spec, 1_000, now()), Bounds::BudgetSpent);
    assert!(!Bounds::BudgetSpent.may_begin());
    spec.deadline = Some(now());
    assert_eq!(bounds(&spec, 0, now()), Bounds::DeadlinePassed);
    assert_eq!(plan(&spec, &Finished::new(), now()).unwrap_err(), ["the deadline has passed"]);
    spec.deadline = Timestamp::from_second(1_800_000_060).ok();
    let planned = plan(&spec, &Finished::new(), now()).unwrap();
    assert_eq!(planned.definition.timeout.map(|timeout| timeout.as_secs()), Some(60));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let wrong = |change: fn(&mut TeamSpec)| {
        let mut spec = team(Strategy::Parallel, 2);
        change(&mut spec);
        plan(&spec, &Finished::new(), now()).unwrap_err().join("; ")
    };
    assert_eq!(wrong(|spec| spec.size = 0), format!("a team has 1 to {SIZE_MAX} agents, not 0"));
    assert_eq!(wrong(|spec| spec.roles.clear()), "a team has at least one role");
    assert_eq!(wrong(|spec| spec.roles.push(role("worker"))), "there are two roles `worker`");
    assert_eq!(
        wrong(|spec| spec.roles[0].name = "a b".to_owned()),
        "`a b` cannot be the name of a role"
    );
    assert_eq!(
        wrong(|spec| (spec.aggregate, spec.quorum) = (Aggregate::Quorum, 3)),
        "3 of 2 cannot agree"
    );
    assert_eq!(
        wrong(|spec| drop(
            spec.roles[0].with.insert("x".to_owned(), json!("{{ inputs.nothing }}"))
        )),
        "there is no input `nothing`; there is no input `nothing`"
    );
}

#[test]
fn a_spec_is_read_from_json_as_people_write_it() {
    let text = r#"{"name": "review", "strategy": "map-reduce", "roles": [{"name": "reader", "requires": ["rust"]}], "size": 3, "items": ["a"]}"#;
    let spec: TeamSpec = serde_json::from_str(text).unwrap();
    assert_eq!(
        (spec.strategy, spec.copies, spec.fan_out, spec.fall_back),
        (Strategy::MapReduce, 1, 8, true)
    );
    let again: TeamSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
    assert_eq!(spec, again);
    assert!(serde_json::from_str::<TeamSpec>(&text.replace("size", "sise")).is_err());
}

fn any_strategy() -> impl Chance<Value = Strategy> {
    prop::sample::select(vec![
        Strategy::Parallel,
        Strategy::MapReduce,
        Strategy::Pipeline,
        Strategy::Tree,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// In each strategy all items are worked on once, no more agents work at once than there are,
    /// and nothing of what is worked on is lost on the way to the result.
    #[test]
    fn nothing_is_lost_or_done_twice(
        strategy in any_strategy(),
        items in 0_usize..40,
        size in 1_u32..8,
        fan_out in 2_u32..9,
        led in any::<bool>(),
    ) {
        let mut spec = team(strategy, items);
        (spec.size, spec.fan_out) = (size, fan_out);
        spec.lead = led.then(|| role("lead"));
        let done = play(&spec, &Finished::new(), |id, payload| {
            if id == "lead" { Some(json!("a plan")) } else { collect(id, payload) }
        });
        prop_assert!(done.most <= size);
        let mut worked: Vec<&str> = done.payloads.iter().map(|(id, _)| id.as_str()).collect();
        let all = worked.len();
        worked.sort_unstable();
        worked.dedup();
        prop_assert_eq!(all, worked.len(), "each step once");
        let Verdict::Done(value) = done.verdict() else { panic!("{:?}", done.verdict()) };
        let flat: Vec<Value> = value
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|one| one.as_array().cloned().unwrap_or_else(|| vec![one.clone()]))
            .collect();
        let expected = if items == 0 { vec![json!("whole")] } else { spec.items.clone() };
        prop_assert_eq!(flat, expected);
    }

    /// However pieces fail, a decision comes, and the ladder ends.
    #[test]
    fn a_decision_comes_and_the_ladder_ends(
        strategy in any_strategy(),
        items in 1_usize..12,
        failing in prop::collection::btree_set(0_usize..12, 0..6),
        merges in any::<bool>(),
        tolerate in 0_u32..3,
    ) {
        let mut spec = team(strategy, items);
        spec.tolerate = tolerate;
        let mut finished = Finished::new();
        let failing: Vec<String> = failing.into_iter().map(|item| format!("work-{item:04}")).collect();
        for step in 0..5 {
            prop_assert!(step < 4, "at most four strategies");
            let played = play(&spec, &finished, |id, payload| {
                let works = if id.starts_with("merge") { merges } else { !failing.iter().any(|one| one == id) };
                works.then(|| collect(id, payload)).flatten()
            });
            match played.verdict() {
                Verdict::Open => prop_assert!(false, "undecided"),
                Verdict::Done(_) => break,
                Verdict::Failed(fault) => {
                    let before = finished.len();
                    finished = played.plan.finished(&played.run);
                    prop_assert!(finished.len() >= before, "what was done stays done");
                    match fall_back(&spec, &fault) {
                        Some(next) => spec = next.spec,
                        None => break,
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_planned_can_be_stored_and_read_again(strategy in any_strategy(), items in 0_usize..20) {
        let planned = plan(&team(strategy, items), &Finished::new(), now()).unwrap();
        let again = crate::workflow::Definition::parse(&planned.definition.to_json().to_string()).unwrap();
        prop_assert!(planned.definition.steps.iter().all(|step| matches!(step.kind, StepKind::Task(_))));
        prop_assert_eq!(planned.definition, again);
    }
}

#[test]
fn a_role_of_an_agent_is_planned_as_one() {
    let maker = Role { role: Some("worker".to_owned()), ..role("maker") };
    let mut spec = TeamSpec::new("t", Strategy::Parallel, maker, 2);
    (spec.goal, spec.items) = (Some("all".to_owned()), vec![json!("one")]);
    (spec.project, spec.timeout_seconds) = (Some("app".to_owned()), Some(60));
    let planned = plan(&spec, &Finished::new(), Timestamp::UNIX_EPOCH).unwrap();
    let StepKind::Task(task) = &planned.definition.steps[0].kind else { panic!("{planned:?}") };
    assert_eq!(task.pool.as_str(), "errands");
    assert_eq!(
        json!(task.payload["wanted"]),
        json!({ "role": "worker", "project": "app", "timeoutSeconds": 60,
            "task": "{{ inputs.goal }}",
            "with": { "item": "{{ inputs[\"item_0000\"] }}", "index": 0 } })
    );
    spec.roles = vec![Role { model: Some("big".to_owned()), ..role("maker") }];
    assert!(spec.faults()[0].contains("names no `role` or `harness`"), "{:?}", spec.faults());
    spec.roles = vec![Role { harness: Some("claud".to_owned()), ..role("maker") }];
    assert!(spec.faults()[0].contains("role `maker`: `harness` must be"), "{:?}", spec.faults());
}
