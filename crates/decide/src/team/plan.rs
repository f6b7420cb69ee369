//! From what a team is asked to do to the workflow that does it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use godel_model::RetryPolicy;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::spec::{Aggregate, Role, Strategy, TeamSpec};
use crate::agent::{Wanted, errand_retry, errands};
use crate::workflow::Definition;
use crate::workflow::definition::{IfSkipped, InputSpec, OnError, Step, StepKind, TaskStep};

/// What was done already, by the id of the step: what it gave.
pub type Finished = BTreeMap<String, Value>;

/// A team planned as a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct TeamPlan {
    /// The workflow. It needs no inputs, since all that it works on is in it; it has no steps if
    /// everything was done already, and then [`TeamPlan::verdict`] knows the result.
    pub definition: Definition,
    /// The pieces of work in order, and what is known of those that were done already.
    pub(super) pieces: Vec<Piece>,
    /// Where the result comes from, if it comes from one step.
    pub(super) result: Option<String>,
    pub(super) aggregate: Aggregate,
    pub(super) quorum: u32,
    pub(super) tolerate: u32,
}

/// One piece of work whose result counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) id: String,
    pub(super) done: Option<Value>,
}

/// Plans a team. What is in `finished` is not done again.
///
/// # Errors
/// All that is wrong with what is asked for.
pub fn plan(spec: &TeamSpec, finished: &Finished, now: Timestamp) -> Result<TeamPlan, Vec<String>> {
    let mut wrong = spec.faults();
    let left = spec.deadline.map(|deadline| deadline.duration_since(now));
    if left.is_some_and(|left| !left.is_positive()) {
        wrong.push("the deadline has passed".to_owned());
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut planner = Planner::new(spec, finished);
    let result = match spec.strategy {
        Strategy::Parallel => {
            planner.work(None);
            None
        }
        Strategy::MapReduce => {
            planner.work(None);
            planner.join()
        }
        Strategy::Pipeline => {
            planner.stages();
            None
        }
        Strategy::Tree => {
            let lead = planner.lead();
            planner.work(lead.as_deref());
            planner.join()
        }
    };
    let timeout = left.and_then(|left| Duration::try_from(left).ok());
    let planned = planner.finish(result, timeout);
    if planned.definition.steps.is_empty() {
        return Ok(planned);
    }
    // Roles may bring templates of their own, so the whole is read as if it had come from outside.
    match Definition::parse(&planned.definition.to_json().to_string()) {
        Ok(_) => Ok(planned),
        Err(problems) => Err(problems.iter().map(|problem| problem.message.clone()).collect()),
    }
}

struct Planner<'a> {
    spec: &'a TeamSpec,
    finished: &'a Finished,
    inputs: BTreeMap<String, InputSpec>,
    steps: Vec<Step>,
    pieces: Vec<Piece>,
}

impl<'a> Planner<'a> {
    fn new(spec: &'a TeamSpec, finished: &'a Finished) -> Self {
        let mut planner =
            Self { spec, finished, inputs: BTreeMap::new(), steps: Vec::new(), pieces: Vec::new() };
        planner.give("goal", json!(spec.goal));
        planner
    }

    /// Puts a value where templates find it. What comes from outside is never written into a
    /// template itself, so nothing in it is taken for one.
    fn give(&mut self, name: &str, value: Value) -> String {
        let default = (!value.is_null()).then_some(value);
        self.inputs.insert(name.to_owned(), InputSpec { default, ..InputSpec::default() });
        format!("{{{{ inputs[\"{name}\"] }}}}")
    }

    /// The items; none stands for one piece, the goal itself.
    fn items(&self) -> Vec<Option<&'a Value>> {
        if self.spec.items.is_empty() {
            return vec![None];
        }
        self.spec.items.iter().map(Some).collect()
    }

    /// What a member is told of an item.
    fn about(&mut self, index: usize, item: Option<&Value>) -> Map<String, Value> {
        let mut payload = Map::new();
        if let Some(item) = item {
            let from = self.give(&format!("item_{index:04}"), item.clone());
            payload.insert("item".to_owned(), json!(from));
            payload.insert("index".to_owned(), json!(index));
        }
        payload
    }

    /// Plans the work itself: each item by each role, as often as it is asked for.
    fn work(&mut self, after: Option<&str>) {
        let several = self.spec.roles.len() > 1;
        let copies = if self.spec.strategy == Strategy::Parallel { self.spec.copies } else { 1 };
        for (index, item) in self.items().into_iter().enumerate() {
            for role in &self.spec.roles {
                for copy in 1..=copies {
                    let mut id = format!("work-{index:04}");
                    if several {
                        id = format!("{id}-{}", role.name);
                    }
                    if copies > 1 {
                        id = format!("{id}-{copy}");
                    }
                    if !self.piece(&id) {
                        let mut payload = self.about(index, item);
                        if let Some(lead) = after {
                            payload.insert("plan".to_owned(), json!(self.output_of(lead)));
                        }
                        self.step(&id, role, after.into_iter().collect(), payload);
                    }
                }
            }
        }
    }

    /// Notes a piece of work; true if it was done already.
    fn piece(&mut self, id: &str) -> bool {
        let done = self.finished.get(id).cloned();
        let known = done.is_some();
        self.pieces.push(Piece { id: id.to_owned(), done });
        known
    }

    /// Plans one who plans for the others.
    fn lead(&mut self) -> Option<String> {
        let role = self.spec.lead.as_ref()?;
        let id = "lead".to_owned();
        if !self.finished.contains_key(&id) {
            let items: Vec<Value> = self
                .items()
                .into_iter()
                .enumerate()
                .filter_map(|(index, item)| self.about(index, item).remove("item"))
                .collect();
            let mut payload = Map::new();
            payload.insert("items".to_owned(), Value::Array(items));
            self.step(&id, role, Vec::new(), payload);
            if let Some(step) = self.steps.last_mut() {
                step.on_error = OnError::Fail;
            }
        }
        Some(id)
    }

    /// Plans how the results are joined, so many at a time, until one is left.
    fn join(&mut self) -> Option<String> {
        let role = self.spec.merger()?;
        let mut results: Vec<String> = self.pieces.iter().map(|piece| piece.id.clone()).collect();
        let at_once = self.spec.fan_out.max(2) as usize;
        let mut level = 0;
        loop {
            level += 1;
            let last = results.len() <= at_once;
            let groups: Vec<Vec<String>> =
                results.chunks(at_once).map(<[String]>::to_vec).collect();
            results = Vec::with_capacity(groups.len());
            for (index, group) in groups.into_iter().enumerate() {
                let id = format!("merge-{level}-{index:04}");
                let from: Vec<String> = group.iter().map(|one| self.output_of(one)).collect();
                let mut payload = Map::new();
                payload.insert("results".to_owned(), json!(from));
                payload.insert("level".to_owned(), json!(level));
                payload.insert("last".to_owned(), json!(last));
                let before = group.iter().map(String::as_str).collect();
                self.step(&id, role, before, payload);
                if let Some(step) = self.steps.last_mut() {
                    step.on_error = OnError::Fail;
                }
                results.push(id);
            }
            if last {
                return results.pop();
            }
        }
    }

    /// Plans a pipeline: each item through all roles.
    fn stages(&mut self) {
        for (index, item) in self.items().into_iter().enumerate() {
            let mut before: Option<String> = None;
            for (stage, role) in self.spec.roles.iter().enumerate() {
                let last = stage + 1 == self.spec.roles.len();
                let id = match self.spec.roles.len() {
                    // The same id as in any other strategy, so that what was done there counts.
                    1 => format!("work-{index:04}"),
                    _ => format!("stage-{index:04}-{}", role.name),
                };
                let known = if last { self.piece(&id) } else { self.finished.contains_key(&id) };
                if !known {
                    let mut payload = self.about(index, item);
                    payload.insert("stage".to_owned(), json!(stage));
                    if let Some(before) = &before {
                        payload.insert("input".to_owned(), json!(self.output_of(before)));
                    }
                    self.step(&id, role, before.as_deref().into_iter().collect(), payload);
                }
                before = Some(id);
            }
        }
    }

    /// The template for what a step gave, or for what is known of it.
    fn output_of(&mut self, id: &str) -> String {
        match self.finished.get(id) {
            Some(value) => self.give(&format!("done_{id}"), value.clone()),
            None => format!("{{{{ steps[\"{id}\"].output }}}}"),
        }
    }

    fn step(&mut self, id: &str, role: &Role, before: Vec<&str>, payload: Map<String, Value>) {
        let spec = self.spec;
        let mut told = role.with.clone();
        told.insert("role".to_owned(), json!(role.name));
        told.insert("goal".to_owned(), json!("{{ inputs.goal }}"));
        told.extend(payload);
        let depends_on: BTreeSet<&str> =
            before.into_iter().filter(|one| !self.finished.contains_key(*one)).collect();
        let alone = matches!(spec.aggregate, Aggregate::First | Aggregate::Quorum)
            && spec.strategy == Strategy::Parallel;
        let on_error = if spec.tolerate > 0 || alone { OnError::Continue } else { OnError::Fail };
        let by_agent = role.wanted().map(|wanted| errand(spec, wanted, told.clone()));
        let timeout = spec.timeout_seconds.filter(|_| by_agent.is_none());
        let task = by_agent.unwrap_or_else(|| TaskStep {
            pool: role.pool.clone().unwrap_or_else(|| spec.pool.clone()),
            priority: spec.priority,
            requires: spec.requires.union(&role.requires).cloned().collect(),
            agent: None,
            session: None,
            payload: told,
            // Who failed at a piece is not asked again as long as there is another.
            retry: RetryPolicy { elsewhere: true, ..spec.retry },
        });
        self.steps.push(Step {
            id: id.to_owned(),
            name: Some(format!("{}: {id}", role.name)),
            kind: StepKind::Task(task),
            depends_on: depends_on.into_iter().map(str::to_owned).collect(),
            when: None,
            if_skipped: IfSkipped::Run,
            on_error,
            timeout: timeout.map(Duration::from_secs),
        });
    }

    fn finish(self, result: Option<String>, timeout: Option<Duration>) -> TeamPlan {
        let spec = self.spec;
        TeamPlan {
            definition: Definition {
                name: spec.name.clone(),
                version: None,
                description: Some(format!("a team, {}", spec.strategy.as_str())),
                inputs: self.inputs,
                steps: self.steps,
                max_concurrency: spec.size,
                timeout,
                fail_fast: false,
                outputs: BTreeMap::new(),
            },
            pieces: self.pieces,
            result,
            aggregate: match spec.strategy {
                Strategy::Parallel => spec.aggregate,
                Strategy::MapReduce | Strategy::Pipeline | Strategy::Tree => Aggregate::List,
            },
            quorum: spec.quorum,
            tolerate: spec.tolerate,
        }
    }
}

/// Lets an agent do a piece of work: it is told the goal, and what the piece is.
fn errand(spec: &TeamSpec, wanted: Wanted, mut told: Map<String, Value>) -> TaskStep {
    told.remove("role");
    let wanted = Wanted {
        timeout_seconds: spec.timeout_seconds,
        project: spec.project.clone(),
        task: told.remove("goal").unwrap_or_default(),
        with: told,
        ..wanted
    };
    TaskStep {
        pool: errands(),
        priority: spec.priority,
        payload: wanted.payload(),
        retry: errand_retry(),
        ..TaskStep::default()
    }
}
