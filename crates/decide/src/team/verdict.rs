//! What comes of the work of a team.

use serde_json::Value;

use super::plan::{Finished, Piece, TeamPlan};
use super::spec::Aggregate;
use crate::workflow::{Fault, Run, RunState, StepState};

/// How the work of a team stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It goes on.
    Open,
    /// It is done, and this came of it. Whatever still runs can be called off.
    Done(Value),
    /// Nothing can come of it in this way any more. Whatever still runs can be called off.
    Failed(Fault),
}

/// How one piece of work stands.
enum Standing {
    Open,
    Done(Value),
    Lost,
}

impl TeamPlan {
    /// Tells how the work stands, as the run of the plan tells it. It may be decided while others
    /// still run: when the first answer is enough, when enough agree, or when too much has failed.
    pub fn verdict(&self, run: &Run) -> Verdict {
        let standings: Vec<Standing> =
            self.pieces.iter().map(|piece| standing(piece, run)).collect();
        let lost = standings.iter().filter(|one| matches!(one, Standing::Lost)).count();
        match self.aggregate {
            Aggregate::First => self.first(standings),
            Aggregate::Quorum => self.agreed(standings),
            Aggregate::List | Aggregate::Concat if lost > self.tolerate as usize => {
                let message = format!("{lost} of {} pieces failed", standings.len());
                Verdict::Failed(Fault::new("pieces_failed", message))
            }
            Aggregate::List | Aggregate::Concat => match &self.result {
                Some(step) => self.joined(step, run),
                None => self.collected(standings, run),
            },
        }
    }

    /// Returns what was done so far, to begin another strategy with.
    pub fn finished(&self, run: &Run) -> Finished {
        let mut finished: Finished = self
            .pieces
            .iter()
            .filter_map(|piece| Some((piece.id.clone(), piece.done.clone()?)))
            .collect();
        for (step, definition) in run.plan().steps() {
            if run.step_state(step) == StepState::Succeeded {
                let output = run.step_row(step).and_then(|row| row.output).unwrap_or_default();
                finished.insert(definition.id.clone(), output);
            }
        }
        finished
    }

    fn joined(&self, step: &str, run: &Run) -> Verdict {
        let piece = Piece { id: step.to_owned(), done: None };
        match standing(&piece, run) {
            Standing::Done(value) => Verdict::Done(value),
            Standing::Open => Verdict::Open,
            Standing::Lost => {
                Verdict::Failed(Fault::new("merge_failed", "the results could not be joined"))
            }
        }
    }

    fn collected(&self, standings: Vec<Standing>, run: &Run) -> Verdict {
        let open = standings.iter().any(|one| matches!(one, Standing::Open));
        if open || matches!(run.state(), RunState::Cancelled) {
            return match run.state() {
                RunState::Cancelled => Verdict::Failed(Fault::new("cancelled", "it was cancelled")),
                _ => Verdict::Open,
            };
        }
        let values: Vec<Value> = standings
            .into_iter()
            .map(|one| match one {
                Standing::Done(value) => value,
                Standing::Open | Standing::Lost => Value::Null,
            })
            .collect();
        Verdict::Done(match self.aggregate {
            Aggregate::Concat => concat(values),
            Aggregate::List | Aggregate::First | Aggregate::Quorum => Value::Array(values),
        })
    }

    fn first(&self, standings: Vec<Standing>) -> Verdict {
        let mut open = false;
        for one in standings {
            match one {
                Standing::Done(value) => return Verdict::Done(value),
                Standing::Open => open = true,
                Standing::Lost => {}
            }
        }
        if open {
            return Verdict::Open;
        }
        Verdict::Failed(Fault::new("pieces_failed", "nobody succeeded"))
    }

    fn agreed(&self, standings: Vec<Standing>) -> Verdict {
        let quorum = self.quorum.max(1) as usize;
        let mut open = 0;
        let mut votes: Vec<(Value, usize)> = Vec::new();
        for one in standings {
            match one {
                Standing::Open => open += 1,
                Standing::Lost => {}
                Standing::Done(value) => {
                    match votes.iter_mut().find(|(known, _)| *known == value) {
                        Some((_, count)) => *count += 1,
                        None => votes.push((value, 1)),
                    }
                }
            }
        }
        let most = votes.iter().map(|(_, count)| *count).max().unwrap_or(0);
        // Of several that enough agree on, the one of the earlier piece.
        match votes.into_iter().find(|(_, count)| *count >= quorum) {
            Some((value, _)) => Verdict::Done(value),
            None if most + open >= quorum => Verdict::Open,
            None => {
                let message = format!("at most {} agree, and {quorum} must", most + open);
                Verdict::Failed(Fault::new("no_quorum", message))
            }
        }
    }
}

fn standing(piece: &Piece, run: &Run) -> Standing {
    if let Some(value) = &piece.done {
        return Standing::Done(value.clone());
    }
    let Some(step) = run.plan().find(&piece.id) else { return Standing::Lost };
    match run.step_state(step) {
        StepState::Succeeded => {
            Standing::Done(run.step_row(step).and_then(|row| row.output).unwrap_or_default())
        }
        StepState::Failed | StepState::Cancelled | StepState::Skipped => Standing::Lost,
        StepState::Pending | StepState::Ready | StepState::Running | StepState::Waiting => {
            Standing::Open
        }
    }
}

/// Joins lists to one list and texts to one text, with a line between them; anything else stays a
/// list.
fn concat(values: Vec<Value>) -> Value {
    let values: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
    if values.iter().all(Value::is_string) {
        let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        return Value::String(texts.join("\n"));
    }
    let mut joined = Vec::new();
    for value in values {
        match value {
            Value::Array(items) => joined.extend(items),
            one => joined.push(one),
        }
    }
    Value::Array(joined)
}
