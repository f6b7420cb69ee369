//! What a worker tells of its work: a line for each thing that happens.

use godel_api::{GivenTask, TaskSaid, Worker};
use serde_json::{Value, json};

use super::super::attempt::{Ended, Outcome};
use crate::measure::millis;
use crate::output::{Output, plain};

/// Writes lines for people or programs; it works on, even if nobody reads them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Teller(pub(super) Output);

impl Teller {
    fn write(self, text: impl FnOnce() -> String, value: impl FnOnce() -> Value) {
        let written = match self.0.is_json() {
            true => self.0.value(&value()),
            false => self.0.line(text()),
        };
        // A worker is there for its tasks, not for its readers.
        written.ok();
    }

    /// Tells that the worker is there.
    pub(super) fn registered(self, worker: &Worker) {
        let Worker { name, pool, id, .. } = worker;
        self.write(
            || format!("worker {} takes tasks of pool {pool}; id {id}", plain(name)),
            || json!({ "event": "registered", "workerId": id, "name": name, "pool": pool }),
        );
    }

    /// Tells that a task has begun.
    pub(super) fn began(self, task: &GivenTask) {
        let GivenTask { id, attempt, title, .. } = task;
        self.write(
            || format!("began     {id}  attempt {attempt}  {}", plain(title)),
            || json!({ "event": "began", "taskId": id, "attempt": attempt, "title": title }),
        );
    }

    /// Tells what became of a task.
    pub(super) fn ended(self, ended: &Ended) {
        let (id, attempt) = ended.key;
        let took = ended.took.as_secs_f64() * 1_000.0;
        let refused;
        let (word, said, error) = match &ended.outcome {
            Outcome::Told(word, said, error) => (*word, Some(said), error.as_deref()),
            Outcome::Lost => ("lost", None, Some("it is in other hands now")),
            Outcome::NotStarted(cause) => {
                refused = format!("the command could not be started: {cause}");
                ("released", None, Some(refused.as_str()))
            }
            Outcome::Refused(cause) => {
                refused = cause.to_string();
                ("refused", None, Some(refused.as_str()))
            }
        };
        let state = said.map(|said| said.state.as_str());
        let again = said.and_then(|TaskSaid { again_at, .. }| *again_at);
        let text = || {
            let then = match (state, again) {
                (Some("dead"), _) => "; it is dead".to_owned(),
                (_, Some(at)) if word != "released" => format!("; again at {at:.0}"),
                _ => String::new(),
            };
            let why = error.and_then(|error| error.lines().last()).map(plain);
            let why = why.map_or_else(String::new, |why| format!("  {why}"));
            format!("{word:<9} {id}  attempt {attempt}  {}{why}{then}", millis(took))
        };
        self.write(text, || {
            json!({ "event": "ended", "taskId": id, "attempt": attempt, "outcome": word,
                "state": state, "againAt": again, "error": error, "tookMs": took })
        });
    }

    /// Tells that the worker has left.
    pub(super) fn left(self, worker: uuid::Uuid) {
        self.write(|| "left".to_owned(), || json!({ "event": "left", "workerId": worker }));
    }

    /// Tells people something that is not about a task.
    pub(super) fn note(self, text: impl std::fmt::Display) {
        self.0.note(format_args!("note: {text}"));
    }
}
