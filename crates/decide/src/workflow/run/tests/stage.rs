//! A stage on which runs are played: it does what effects ask for, keeps the rows as a database would,
//! and checks after each move what must always hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use godel_model::RunId;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::super::advance::later;
use crate::workflow::{
    Answer, Effect, Fault, Input, NewRun, Plan, Run, RunRow, RunState, StepIndex, StepRow,
    StepState,
};

/// What somebody was asked to do and has not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pending {
    Task(StepIndex, u32),
    Child(StepIndex, u32),
    Timer(StepIndex, u32),
    Approval(StepIndex, u32),
}

/// What answers a step gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Succeeds,
    Fails,
    FailsOnceFirst,
    IsCancelled,
}

pub(super) struct Stage {
    pub(super) plan: Arc<Plan>,
    pub(super) run: Run,
    pub(super) now: Timestamp,
    pub(super) row: RunRow,
    pub(super) rows: BTreeMap<StepIndex, StepRow>,
    pub(super) pending: BTreeSet<Pending>,
    pub(super) begun: BTreeSet<(StepIndex, u32)>,
    pub(super) said: Vec<Input>,
    pub(super) finished: Vec<RunState>,
    /// Where each change is also made on a run that was restored from the rows just before.
    pub(super) twin: bool,
}

impl Stage {
    pub(super) fn new(text: &str, inputs: Value) -> Self {
        let plan = Arc::new(Plan::parse(text).unwrap_or_else(|why| panic!("{why}\n{text}")));
        Self::of(plan, inputs)
    }

    pub(super) fn of(plan: Arc<Plan>, inputs: Value) -> Self {
        let Value::Object(inputs) = inputs else { panic!("inputs are a mapping") };
        let id = RunId::from_uuid("01890000-0000-7000-8000-000000000001".parse().unwrap());
        let run = Run::new(Arc::clone(&plan), NewRun::top(id, inputs)).unwrap();
        Self {
            row: run.row(),
            run,
            plan,
            now: Timestamp::from_second(1_800_000_000).unwrap(),
            rows: BTreeMap::new(),
            pending: BTreeSet::new(),
            begun: BTreeSet::new(),
            said: Vec::new(),
            finished: Vec::new(),
            twin: true,
        }
    }

    pub(super) fn at(&self, id: &str) -> StepIndex {
        self.plan.find(id).unwrap_or_else(|| panic!("no step {id}"))
    }

    pub(super) fn state(&self, id: &str) -> StepState {
        self.run.step_state(self.at(id))
    }

    /// All states by id, for comparison.
    pub(super) fn states(&self) -> Vec<(String, StepState, Option<Value>)> {
        self.plan
            .steps()
            .map(|(step, definition)| {
                let row = self.run.step_row(step).unwrap();
                (definition.id.clone(), row.state, row.output)
            })
            .collect()
    }

    /// Applies an input that must be legal, does what is asked for, and checks all that must hold.
    pub(super) fn say(&mut self, input: Input) -> Vec<Effect> {
        self.now = later(self.now, Duration::from_secs(1));
        let paused = self.run.state() == RunState::Paused && input != Input::Resume;
        let twin = self.twin.then(|| self.restored());
        let effects = self.run.apply(input.clone(), self.now).unwrap_or_else(|why| panic!("{why}"));
        if let Some(mut twin) = twin {
            let same = twin.apply(input.clone(), self.now).unwrap();
            assert_eq!(effects, same, "a restored run does the same");
        }
        self.said.push(input);
        for effect in &effects {
            assert!(!paused || !is_beginning(effect), "paused, and yet {effect:?}");
            self.do_it(effect);
        }
        self.check();
        effects
    }

    /// The run as the rows tell it.
    pub(super) fn restored(&self) -> Run {
        // As a database would: through JSON.
        let text =
            serde_json::to_string(&(&self.row, &self.rows.iter().collect::<Vec<_>>())).unwrap();
        let (row, rows): (RunRow, Vec<(StepIndex, StepRow)>) = serde_json::from_str(&text).unwrap();
        Run::restore(Arc::clone(&self.plan), row, rows).unwrap()
    }

    fn do_it(&mut self, effect: &Effect) {
        match effect {
            Effect::EnqueueTask(order) => {
                self.begin(order.step, order.round);
                let id = &self.plan.get(order.step).unwrap().id;
                assert_eq!(order.key, format!("{}/{id}/{}", self.run.id(), order.round));
                self.pending.insert(Pending::Task(order.step, order.round));
            }
            Effect::StartChild(order) => {
                self.begin(order.step, order.round);
                self.pending.insert(Pending::Child(order.step, order.round));
            }
            Effect::AskApproval { step, round, .. } => {
                self.begin(*step, *round);
                self.pending.insert(Pending::Approval(*step, *round));
            }
            Effect::SetTimer { step, round, .. } => {
                if !self.pending.contains(&Pending::Approval(*step, *round)) {
                    self.begin(*step, *round);
                    self.pending.insert(Pending::Timer(*step, *round));
                }
            }
            Effect::CancelTask { step, round } => {
                assert!(self.pending.remove(&Pending::Task(*step, *round)), "{effect:?}");
            }
            Effect::CancelChild { step, round } => {
                assert!(self.pending.remove(&Pending::Child(*step, *round)), "{effect:?}");
            }
            Effect::StepChanged { step } => {
                self.rows.insert(*step, self.run.step_row(*step).unwrap());
            }
            Effect::RunChanged => self.row = self.run.row(),
            Effect::Finished { state, .. } => self.finished.push(*state),
            Effect::SetDeadline { .. } => {}
        }
    }

    /// A step begins: never before those that it depends on, and once in each round.
    fn begin(&mut self, step: StepIndex, round: u32) {
        assert!(self.begun.insert((step, round)), "step {step} began twice in round {round}");
        for before in self.plan.dependencies(step) {
            let row = self.run.step_row(before).unwrap();
            let well =
                matches!(row.state, StepState::Succeeded | StepState::Skipped) || row.tolerated;
            assert!(well, "step {step} began before {before}, which is {}", row.state);
        }
    }

    fn check(&self) {
        let counts = self.run.counts();
        for state in StepState::ALL {
            let there = self.plan.steps().filter(|(step, _)| self.run.step_state(*step) == *state);
            assert_eq!(counts.of(*state) as usize, there.count(), "count of {state}");
        }
        assert_eq!(counts.total() as usize, self.plan.len());
        assert!((0.0..=1.0).contains(&self.run.progress()));
        assert!(counts.running <= self.run.row().max_concurrency, "too many run");
        assert_eq!(self.row, self.run.row(), "the row of the run was written");
        for (step, _) in self.plan.steps() {
            let mut row = self.run.step_row(step).unwrap();
            if row.state == StepState::Ready {
                row.state = StepState::Pending;
            }
            let mut stored = self.rows.get(&step).cloned().unwrap_or_default();
            if stored.state == StepState::Ready {
                stored.state = StepState::Pending;
            }
            assert_eq!(stored, row, "the row of step {step} was written");
        }
        self.check_restored();
        if self.run.state().is_final() {
            assert_eq!(counts.ended() as usize, self.plan.len(), "all steps have ended");
            assert!((self.run.progress() - 1.0).abs() < f64::EPSILON);
        }
    }

    /// A run that is restored from the rows is the same through and through.
    fn check_restored(&self) {
        let twin = self.restored();
        assert_eq!(twin.row(), self.run.row());
        assert_eq!(twin.counts(), self.run.counts());
        assert_eq!(twin.output_bytes, self.run.output_bytes);
        assert_eq!(twin.ready_work, self.run.ready_work);
        assert_eq!(twin.ready_gates, self.run.ready_gates);
        for (step, _) in self.plan.steps() {
            assert_eq!(twin.step_row(step), self.run.step_row(step));
            if self.run.step_state(step) == StepState::Pending {
                assert_eq!(twin.cell(step).left, self.run.cell(step).left, "step {step}");
            }
        }
    }

    /// The answer to something that was asked for.
    pub(super) fn answer(&mut self, pending: Pending, fate: Fate) -> Vec<Effect> {
        self.pending.remove(&pending);
        let fault = Fault::new("boom", "it did not work");
        let names = vec!["role:admin".to_owned()];
        let who = Answer { by: "ann".to_owned(), names, note: None };
        let input = match (pending, fate) {
            (Pending::Task(step, round), Fate::Succeeds) => {
                Input::TaskSucceeded { step, round, output: json!({ "n": step.0 }) }
            }
            (Pending::Task(step, round), Fate::Fails) => {
                Input::TaskFailed { step, round, fault, last: true }
            }
            (Pending::Task(step, round), Fate::FailsOnceFirst) => {
                self.say(Input::TaskFailed { step, round, fault, last: false });
                Input::TaskSucceeded { step, round, output: json!({ "n": step.0 }) }
            }
            (Pending::Task(step, round), Fate::IsCancelled) => Input::TaskCancelled { step, round },
            (Pending::Child(step, round), fate) => {
                let (state, outputs) = match fate {
                    Fate::Succeeds | Fate::FailsOnceFirst => {
                        (RunState::Completed, json!({ "n": step.0 }))
                    }
                    Fate::Fails => (RunState::Failed, json!({})),
                    Fate::IsCancelled => (RunState::Cancelled, json!({})),
                };
                let outputs: Map<String, Value> = outputs.as_object().cloned().unwrap();
                Input::ChildFinished { step, round, state, outputs, fault: None }
            }
            (Pending::Timer(step, round), _) => {
                let due = self.run.step_row(step).unwrap().due_at;
                self.now = self.now.max(due.unwrap_or(self.now));
                Input::TimerDue { step, round }
            }
            (Pending::Approval(step, _), Fate::Succeeds | Fate::FailsOnceFirst) => {
                Input::Approved { step, answer: who }
            }
            (Pending::Approval(step, _), Fate::Fails) => Input::Rejected { step, answer: who },
            (Pending::Approval(step, round), Fate::IsCancelled) => {
                let due = self.run.step_row(step).unwrap().due_at;
                self.now = self.now.max(due.unwrap_or(self.now));
                Input::TimerDue { step, round }
            }
        };
        self.say(input)
    }

    /// Plays to the end, everybody succeeding, in the order of the steps.
    pub(super) fn play(&mut self) {
        while let Some(pending) = self.pending.first().copied() {
            self.answer(pending, Fate::Succeeds);
        }
    }
}

fn is_beginning(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::EnqueueTask(_)
            | Effect::StartChild(_)
            | Effect::AskApproval { .. }
            | Effect::SetTimer { .. }
    )
}
