//! What a large run costs, counted in steps and arrows looked at and not in time.

use std::sync::Arc;

use godel_model::RunId;
use jiff::Timestamp;
use serde_json::{Map, json};

use crate::workflow::{Effect, Input, NewRun, Plan, Run, RunState};

/// Runs a workflow of tasks to its end and returns steps, arrows, and what was looked at.
fn run(steps: &[Vec<usize>], places: u32) -> (u64, u64, u64) {
    let mut arrows = 0;
    let list: Vec<_> = steps
        .iter()
        .enumerate()
        .map(|(index, before)| {
            arrows += before.len() as u64;
            let mut with = Map::new();
            if let Some(other) = before.first() {
                with.insert("x".to_owned(), json!(format!("{{{{ steps.s{other}.output.path }}}}")));
            }
            let before: Vec<String> = before.iter().map(|other| format!("s{other}")).collect();
            json!({ "id": format!("s{index}"), "dependsOn": before, "with": with })
        })
        .collect();
    let text = json!({ "name": "big", "maxConcurrency": places, "steps": list }).to_string();
    let plan = Arc::new(Plan::parse(&text).unwrap());
    let id = RunId::from_uuid("01890000-0000-7000-8000-000000000001".parse().unwrap());
    let mut run = Run::new(plan, NewRun::top(id, Map::new())).unwrap();
    let now = Timestamp::from_second(1_800_000_000).unwrap();
    let mut todo = run.apply(Input::Start, now).unwrap();
    let mut effects = 0_u64;
    let mut done = 0;
    while let Some(effect) = todo.pop() {
        effects += 1;
        if let Effect::EnqueueTask(order) = effect {
            done += 1;
            let output = json!({ "path": format!("/out/{}", order.step) });
            let input = Input::TaskSucceeded { step: order.step, round: order.round, output };
            todo.extend(run.apply(input, now).unwrap());
        }
    }
    assert_eq!((run.state(), done), (RunState::Completed, steps.len()));
    let count = steps.len() as u64;
    // Each step is begun once and written twice: when it began and when it ended.
    assert_eq!(effects, count * 3 + 3);
    (count, arrows, run.touched())
}

fn check(steps: &[Vec<usize>], places: u32) {
    let (count, arrows, touched) = run(steps, places);
    assert!(touched <= 3 * count + arrows, "{touched} for {count} steps and {arrows} arrows");
}

#[test]
fn a_chain_of_ten_thousand_steps() {
    let steps: Vec<Vec<usize>> =
        (0..10_000).map(|at: usize| at.checked_sub(1).into_iter().collect()).collect();
    check(&steps, 1);
}

#[test]
fn ten_thousand_steps_between_one_and_one_with_few_places() {
    let mut steps = vec![Vec::new()];
    steps.extend((0..9_998).map(|_| vec![0]));
    steps.push((1..9_999).collect());
    check(&steps, 8);
}

#[test]
fn ten_thousand_steps_in_layers() {
    let layer = |at: usize| -> Vec<usize> {
        if at < 100 {
            return Vec::new();
        }
        let first = (at / 100 - 1) * 100;
        (0..10)
            .map(|other| first + (at * 7 + other * 13) % 100)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect()
    };
    let steps: Vec<Vec<usize>> = (0..10_000).map(layer).collect();
    check(&steps, 64);
}
