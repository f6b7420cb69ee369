//! What holds for any workflow, any fate of its steps and any order of answers.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::stage::{Fate, Pending, Stage};
use crate::workflow::{Input, RunState, StepIndex, StepState};

/// A step of a made-up workflow.
#[derive(Debug, Clone)]
struct Made {
    before: Vec<usize>,
    kind: usize,
    when: usize,
    on_error: usize,
    skip: bool,
    priority: usize,
    fate: Fate,
}

fn any_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Succeeds),
        2 => Just(Fate::Fails),
        1 => Just(Fate::FailsOnceFirst),
        1 => Just(Fate::IsCancelled),
    ]
}

prop_compose! {
    fn any_made()(
        before in prop::collection::vec(0_usize..40, 0..4),
        kind in 0_usize..8,
        when in 0_usize..8,
        on_error in 0_usize..5,
        skip in any::<bool>(),
        priority in 0_usize..4,
        fate in any_fate(),
    ) -> Made {
        Made { before, kind, when, on_error, skip, priority, fate }
    }
}

#[derive(Debug, Clone)]
struct World {
    text: String,
    fates: Vec<Fate>,
}

prop_compose! {
    fn any_world(fail_fast: bool)(
        steps in prop::collection::vec(any_made(), 1..14),
        places in 1_u32..5,
    ) -> World {
        let mut text = format!("name: made\nfailFast: {fail_fast}\nmaxConcurrency: {places}\ninputs: {{ yes: {{}}, no: {{}} }}\nsteps:\n");
        for (index, step) in steps.iter().enumerate() {
            write_step(&mut text, index, step);
        }
        World { text, fates: steps.iter().map(|step| step.fate).collect() }
    }
}

fn write_step(text: &mut String, index: usize, step: &Made) {
    let before: Vec<usize> = match index {
        0 => Vec::new(),
        _ => step.before.iter().map(|other| other % index).collect(),
    };
    let names: Vec<String> = before.iter().map(|other| format!("s{other}")).collect();
    writeln!(text, "  - id: s{index}\n    dependsOn: [{}]", names.join(", ")).unwrap();
    let task = match (step.kind, before.first()) {
        (0, _) => "timer: 10s".to_owned(),
        (1, _) => "approval: { by: [role:admin], timeout: 1h }".to_owned(),
        (2, _) => "workflow: other".to_owned(),
        (3, Some(other)) => format!("with: {{ seen: '{{{{ steps.s{other}.state }}}}' }}"),
        // Fails if the one before gave nothing back, which depends on its fate alone.
        (4, Some(other)) => format!("with: {{ seen: '{{{{ steps.s{other}.output.n }}}}' }}"),
        _ => format!("priority: {}", ["critical", "high", "medium", "low"][step.priority]),
    };
    writeln!(text, "    {task}").unwrap();
    match (step.when, before.first()) {
        (0, _) => text.push_str("    when: inputs.no\n"),
        (1, _) => text.push_str("    when: inputs.yes\n"),
        (2, Some(other)) => {
            writeln!(text, "    when: steps.s{other}.state == 'succeeded'").unwrap();
        }
        (3, Some(other)) => writeln!(text, "    when: steps.s{other}.output.n >= 0").unwrap(),
        _ => {}
    }
    if step.on_error == 0 {
        text.push_str("    onError: continue\n");
    }
    if step.skip {
        text.push_str("    ifSkipped: skip\n");
    }
}

fn stage(world: &World) -> Stage {
    Stage::new(&world.text, json!({ "yes": true, "no": false }))
}

fn step_of(pending: Pending) -> StepIndex {
    match pending {
        Pending::Task(step, _)
        | Pending::Child(step, _)
        | Pending::Timer(step, _)
        | Pending::Approval(step, _) => step,
    }
}

/// Plays to the end; the numbers say whose answer comes next, and where somebody pauses or an old
/// answer comes again.
fn play(stage: &mut Stage, fates: &[Fate], order: &[u8]) {
    let mut order = order.iter().copied().cycle();
    let mut moves = 0;
    while !stage.run.state().is_final() {
        moves += 1;
        assert!(moves < 1_000, "it does not end");
        let pick = order.next().unwrap();
        match (pick % 16, stage.run.state()) {
            (0, RunState::Running) => drop(stage.say(Input::Pause)),
            (1, RunState::Paused) => drop(stage.say(Input::Resume)),
            (2, _) => {
                let max_concurrency = u32::from(pick / 16) + 1;
                // Fewer places than run at the moment would break no rule, but the check is simple.
                if max_concurrency >= stage.run.counts().running {
                    stage.say(Input::Scale { max_concurrency });
                }
            }
            (3, _) => replay(stage, pick),
            _ if stage.pending.is_empty() => {
                assert_eq!(stage.run.state(), RunState::Paused, "nobody is asked, and it goes on");
                stage.say(Input::Resume);
            }
            _ => {
                let at = usize::from(pick) % stage.pending.len();
                let pending = *stage.pending.iter().nth(at).unwrap();
                stage.answer(pending, fates[step_of(pending).0 as usize]);
            }
        }
    }
}

/// Says again what was said before: if it was an answer, it changes nothing.
fn replay(stage: &mut Stage, pick: u8) {
    let answers: Vec<Input> =
        stage.said.iter().filter(|input| is_final_answer(input)).cloned().collect();
    if let Some(input) = answers.get(usize::from(pick) % answers.len().max(1)) {
        assert_eq!(stage.say(input.clone()), [], "an old answer changes nothing");
    }
}

fn is_final_answer(input: &Input) -> bool {
    matches!(
        input,
        Input::TaskSucceeded { .. }
            | Input::TaskFailed { last: true, .. }
            | Input::TaskCancelled { .. }
            | Input::TimerDue { .. }
            | Input::ChildFinished { .. }
    )
}

/// What failed and counts has cancelled all that depends on it.
fn check_reach(stage: &Stage) {
    for (step, _) in stage.plan.steps() {
        let row = stage.run.step_row(step).unwrap();
        let bad = matches!(row.state, StepState::Failed | StepState::Cancelled) && !row.tolerated;
        if bad {
            for after in stage.plan.dependants(step) {
                assert_eq!(
                    stage.run.step_state(after),
                    StepState::Cancelled,
                    "{after} after {step}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The stage checks after each move: nothing begins before what it depends on, nothing begins
    /// twice, nothing begins while paused, no more run than may, counts add up, rows are written,
    /// and a run restored from the rows does the same as the one that wrote them.
    #[test]
    fn any_order_of_answers_ends_in_the_same_states(
        world in any_world(false),
        one in prop::collection::vec(any::<u8>(), 40),
        other in prop::collection::vec(any::<u8>(), 40),
    ) {
        let mut first = stage(&world);
        first.say(Input::Start);
        play(&mut first, &world.fates, &one);
        check_reach(&first);
        prop_assert_eq!(first.finished.len(), 1);
        let mut second = stage(&world);
        second.say(Input::Start);
        play(&mut second, &world.fates, &other);
        prop_assert_eq!(first.states(), second.states());
        prop_assert_eq!(first.run.state(), second.run.state());
    }

    #[test]
    fn with_fail_fast_the_run_ends_the_same_way(
        world in any_world(true),
        one in prop::collection::vec(any::<u8>(), 40),
        other in prop::collection::vec(any::<u8>(), 40),
    ) {
        let ends: Vec<RunState> = [one, other]
            .iter()
            .map(|order| {
                let mut stage = stage(&world);
                stage.say(Input::Start);
                play(&mut stage, &world.fates, order);
                check_reach(&stage);
                assert!(stage.pending.iter().all(|one| !matches!(one, Pending::Task(..) | Pending::Child(..))), "all were called off");
                stage.run.state()
            })
            .collect();
        prop_assert_eq!(ends[0], ends[1]);
    }

    #[test]
    fn cancel_at_any_moment_ends_everything(
        world in any_world(false),
        order in prop::collection::vec(any::<u8>(), 40),
        moves in 0_usize..12,
    ) {
        let mut stage = stage(&world);
        if moves > 0 {
            stage.say(Input::Start);
        }
        for pick in order.iter().take(moves) {
            let Some(pending) = stage.pending.iter().nth(usize::from(*pick) % stage.pending.len().max(1)).copied() else { break };
            stage.answer(pending, world.fates[step_of(pending).0 as usize]);
        }
        if stage.run.state().is_final() {
            return Ok(());
        }
        stage.say(Input::Cancel);
        check_reach(&stage);
        prop_assert_eq!(stage.run.state(), RunState::Cancelled);
        prop_assert!(stage.pending.iter().all(|one| !matches!(one, Pending::Task(..) | Pending::Child(..))));
        for (step, _) in stage.plan.steps() {
            prop_assert!(stage.run.step_state(step).is_final());
        }
        let before = stage.states();
        for pending in stage.pending.clone() {
            if let Pending::Timer(step, round) = pending {
                prop_assert_eq!(stage.say(Input::TimerDue { step, round }), []);
            }
        }
        prop_assert_eq!(stage.states(), before);
    }

    /// Whatever happened, doing anew what failed, with better luck, completes the run.
    #[test]
    fn retrying_what_failed_with_better_luck_completes_the_run(
        world in any_world(false),
        fast in any::<bool>(),
        order in prop::collection::vec(any::<u8>(), 40),
        cancel_after in prop::option::of(0_usize..6),
    ) {
        let text = if fast { world.text.replace("failFast: false", "failFast: true") } else { world.text.clone() };
        // A template that finds nothing fails again however often it is tried.
        let text = text.replace(".output.n", ".state").replace(".state >= 0", ".state != ''");
        let world = World { text, ..world };
        let mut stage = stage(&world);
        stage.say(Input::Start);
        let limit = cancel_after.unwrap_or(usize::MAX);
        let mut moves = 0;
        while !stage.run.state().is_final() {
            if moves == limit {
                stage.say(Input::Cancel);
                break;
            }
            let at = usize::from(order[moves % order.len()]) % stage.pending.len();
            let pending = *stage.pending.iter().nth(at).unwrap();
            stage.answer(pending, world.fates[step_of(pending).0 as usize]);
            moves += 1;
        }
        if stage.run.state() == RunState::Completed {
            return Ok(());
        }
        stage.pending.clear();
        stage.say(Input::RetryFrom { steps: Vec::new() });
        stage.play();
        prop_assert_eq!(stage.run.state(), RunState::Completed, "{:?}", stage.states());
        prop_assert_eq!(stage.finished.len(), 2);
    }

    #[test]
    fn one_step_that_is_over_is_done_anew_with_all_that_depends_on_it(
        world in any_world(false),
        order in prop::collection::vec(any::<u8>(), 40),
        which in any::<prop::sample::Index>(),
    ) {
        let mut stage = stage(&world);
        stage.say(Input::Start);
        play(&mut stage, &world.fates, &order);
        let is_over = |step: &StepIndex| {
            matches!(stage.run.step_state(*step), StepState::Failed | StepState::Succeeded)
        };
        let over: Vec<StepIndex> =
            stage.plan.steps().map(|(step, _)| step).filter(is_over).collect();
        prop_assume!(!over.is_empty());
        let step = over[which.index(over.len())];
        let rounds: Vec<u32> = stage.plan.steps().map(|(step, _)| stage.run.step_round(step)).collect();
        let later: Vec<bool> = stage.plan.steps().map(|(other, _)| depends(&stage, other, step)).collect();
        stage.say(Input::RetryFrom { steps: vec![step] });
        prop_assert_eq!(stage.run.step_round(step), rounds[step.0 as usize] + 1);
        for (other, _) in stage.plan.steps() {
            let grown = stage.run.step_round(other) - rounds[other.0 as usize];
            prop_assert!(grown == 0 || other == step || later[other.0 as usize], "only what depends on it");
        }
        stage.play();
        prop_assert!(stage.run.state().is_final());
        check_reach(&stage);
    }
}

fn depends(stage: &Stage, step: StepIndex, on: StepIndex) -> bool {
    stage.plan.dependencies(step).any(|other| other == on || depends(stage, other, on))
}
