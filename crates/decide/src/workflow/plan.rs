//! A workflow made ready to run: steps by number, who waits for whom, waves and the critical path.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Step};
use super::graph::Graph;
use super::limits::{EDGES_MAX, STEPS_MAX};
use super::problem::{Findings, Mistake, Position, Problems};

/// The number of a step: its place in the definition, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepIndex(pub u32);

impl StepIndex {
    pub(super) const fn at(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for StepIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A workflow made ready to run. It never changes, so all runs of one definition share it.
#[derive(Debug)]
pub struct Plan {
    definition: Definition,
    graph: Graph,
    ids: HashMap<String, StepIndex>,
}

/// The longest way through a workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Its steps, the first one first.
    pub steps: Vec<StepIndex>,
    /// How long they take one after the other.
    pub length: Duration,
}

impl Plan {
    /// Makes a definition ready. One that was read always is; one that was built may not be.
    ///
    /// # Errors
    /// If two steps have one id, a dependency is not there, or there is a circle.
    pub fn new(definition: Definition) -> Result<Self, Problems> {
        let mut out = Findings::default();
        let mut ids = HashMap::with_capacity(definition.steps.len());
        if definition.steps.len() > STEPS_MAX {
            let message = format!("there are more than {STEPS_MAX} steps");
            out.add(Mistake::TooManySteps, Position::START, message);
        }
        for (index, step) in definition.steps.iter().enumerate() {
            if ids.insert(step.id.clone(), StepIndex(index as u32)).is_some() {
                let message = format!("there are two steps `{}`", step.id);
                out.add(Mistake::DuplicateStep, Position::START, message);
            }
        }
        let mut edges = 0;
        let mut dependencies = Vec::with_capacity(definition.steps.len());
        for step in &definition.steps {
            let mut before = BTreeSet::new();
            for id in &step.depends_on {
                match ids.get(id) {
                    Some(other) => {
                        before.insert(other.0);
                    }
                    None => {
                        let message =
                            format!("`{}` depends on `{id}`, which is not there", step.id);
                        out.add(Mistake::UnknownDependency, Position::START, message);
                    }
                }
            }
            edges += before.len();
            dependencies.push(before.into_iter().collect::<Vec<_>>());
        }
        if edges > EDGES_MAX {
            let message = format!("there are more than {EDGES_MAX} dependencies");
            out.add(Mistake::TooComplex, Position::START, message);
        }
        match Graph::build(&dependencies) {
            Ok(graph) => out.settle(Self { definition, graph, ids }),
            Err(_) => Err(out.fail(Mistake::Cycle, "steps wait for each other")),
        }
    }

    /// Reads a workflow from YAML or JSON and makes it ready.
    ///
    /// # Errors
    /// All that is wrong with it, each with its place in the text.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        Definition::parse(text).and_then(Self::new)
    }

    /// Returns the definition.
    pub const fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns how many steps there are.
    pub fn len(&self) -> usize {
        self.definition.steps.len()
    }

    /// Tells whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.definition.steps.is_empty()
    }

    /// Returns all steps with their numbers.
    pub fn steps(&self) -> impl Iterator<Item = (StepIndex, &Step)> {
        (0_u32..).map(StepIndex).zip(&self.definition.steps)
    }

    /// Returns a step; none if there is no such number.
    pub fn get(&self, step: StepIndex) -> Option<&Step> {
        self.definition.steps.get(step.at())
    }

    /// Finds a step by its id.
    pub fn find(&self, id: &str) -> Option<StepIndex> {
        self.ids.get(id).copied()
    }

    /// Returns what a step waits for.
    pub fn dependencies(&self, step: StepIndex) -> impl Iterator<Item = StepIndex> {
        self.graph.dependencies(step.0).iter().copied().map(StepIndex)
    }

    /// Returns what waits for a step.
    pub fn dependants(&self, step: StepIndex) -> impl Iterator<Item = StepIndex> {
        self.graph.dependants(step.0).iter().copied().map(StepIndex)
    }

    /// Returns the steps in waves: those of one wave could all run at once, after the wave before.
    pub fn waves(&self) -> Vec<Vec<StepIndex>> {
        let mut waves: Vec<Vec<StepIndex>> = Vec::new();
        for step in 0..self.graph.len() as u32 {
            let wave = self.graph.wave(step) as usize;
            if waves.len() <= wave {
                waves.resize_with(wave + 1, Vec::new);
            }
            waves[wave].push(StepIndex(step));
        }
        waves
    }

    /// Returns the longest way through the workflow, if each step takes as long as `takes` says.
    pub fn critical_path(&self, takes: impl Fn(StepIndex) -> Duration) -> CriticalPath {
        let count = self.graph.len();
        let mut ends = vec![Duration::ZERO; count];
        let mut came_from: Vec<Option<u32>> = vec![None; count];
        let mut last: Option<u32> = None;
        for step in self.graph.order().iter().copied() {
            // Of equally long ways the first is taken, so that the answer is always the same.
            for before in self.graph.dependencies(step).iter().copied() {
                let longest = came_from[step as usize].map(|one| ends[one as usize]);
                if longest.is_none_or(|longest| ends[before as usize] > longest) {
                    came_from[step as usize] = Some(before);
                }
            }
            let start = came_from[step as usize].map_or(Duration::ZERO, |one| ends[one as usize]);
            ends[step as usize] = start.saturating_add(takes(StepIndex(step)));
            if last.is_none_or(|last| ends[step as usize] > ends[last as usize]) {
                last = Some(step);
            }
        }
        let length = last.map_or(Duration::ZERO, |last| ends[last as usize]);
        let mut steps: Vec<StepIndex> =
            std::iter::successors(last, |step| came_from[*step as usize]).map(StepIndex).collect();
        steps.reverse();
        CriticalPath { steps, length }
    }

    pub(super) fn step(&self, step: StepIndex) -> &Step {
        &self.definition.steps[step.at()]
    }

    pub(super) const fn graph(&self) -> &Graph {
        &self.graph
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIAMOND: &str = "
name: x
steps:
  - { id: a }
  - { id: slow, dependsOn: [a] }
  - { id: quick, dependsOn: [a] }
  - { id: end, dependsOn: [slow, quick] }
  - { id: alone }
";

    #[test]
    fn the_critical_path_is_the_longest_way() {
        let plan = Plan::parse(DIAMOND).unwrap();
        let takes = |step: StepIndex| Duration::from_secs(if step.0 == 1 { 9 } else { 1 });
        let path = plan.critical_path(takes);
        let names: Vec<&str> = path.steps.iter().map(|step| plan.step(*step).id.as_str()).collect();
        assert_eq!(names, ["a", "slow", "end"]);
        assert_eq!(path.length, Duration::from_secs(11));
    }

    #[test]
    fn waves_hold_what_could_run_at_once() {
        let plan = Plan::parse(DIAMOND).unwrap();
        let waves: Vec<Vec<u32>> =
            plan.waves().iter().map(|wave| wave.iter().map(|step| step.0).collect()).collect();
        assert_eq!(waves, [vec![0, 4], vec![1, 2], vec![3]]);
    }

    #[test]
    fn what_was_built_wrongly_is_refused() {
        let mut built = Plan::parse(DIAMOND).unwrap().definition;
        built.steps[0].depends_on.push("end".to_owned());
        let code = |built: &Definition| {
            Plan::new(built.clone()).unwrap_err().iter().next().map(|one| one.code)
        };
        assert_eq!(code(&built), Some(Mistake::Cycle));
        built.steps[0].depends_on = vec!["nobody".to_owned()];
        assert_eq!(code(&built), Some(Mistake::UnknownDependency));
        built.steps[0].depends_on.clear();
        built.steps[1].id = "a".to_owned();
        assert_eq!(code(&built), Some(Mistake::DuplicateStep));
    }

    proptest! {
        #[test]
        fn no_way_is_longer_than_the_critical_one(lengths in prop::collection::vec(0_u64..9, 5)) {
            let plan = Plan::parse(DIAMOND).unwrap();
            let takes = |step: StepIndex| Duration::from_secs(lengths[step.at()]);
            let path = plan.critical_path(takes);
            let sum: Duration = path.steps.iter().map(|step| takes(*step)).sum();
            prop_assert_eq!(sum, path.length);
            let ways = [vec![0, 1, 3], vec![0, 2, 3], vec![4]];
            let longest = ways.iter().map(|way| way.iter().map(|at| lengths[*at]).sum::<u64>()).max();
            prop_assert_eq!(Some(path.length.as_secs()), longest);
        }
    }
}
