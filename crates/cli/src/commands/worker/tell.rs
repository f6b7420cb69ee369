//! What a worker tells of its work: a line for each thing that happens.

use godel_api::{GivenTask, TaskSaid, Worker};
use godel_console::measure::millis;
use godel_console::output::{Output, plain};
use godel_worker::{Ended, Note, Notes, Outcome};
use serde_json::{Value, json};

/// Writes down what happens, for people or programs.
pub(crate) fn notes(output: Output) -> Notes {
    let teller = Teller(output);
    Notes::new(move |note| match note {
        Note::Registered(worker) => teller.registered(worker),
        Note::Began(task) => teller.began(task),
        Note::Ended(ended) => teller.ended(ended),
        Note::Left(worker) => teller.left(worker),
        Note::Remark(text) => output.note(format_args!("note: {text}")),
    })
}

/// Writes lines for people or programs; it works on, even if nobody reads them.
#[derive(Debug, Clone, Copy)]
struct Teller(Output);

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
    fn registered(self, worker: &Worker) {
        let Worker { name, pool, id, .. } = worker;
        self.write(
            || format!("worker {} takes tasks of pool {pool}; id {id}", plain(name)),
            || json!({ "event": "registered", "workerId": id, "name": name, "pool": pool }),
        );
    }

    /// Tells that a task has begun.
    fn began(self, task: &GivenTask) {
        let GivenTask { id, attempt, title, .. } = task;
        self.write(
            || format!("began     {id}  attempt {attempt}  {}", plain(title)),
            || json!({ "event": "began", "taskId": id, "attempt": attempt, "title": title }),
        );
    }

    /// Tells what became of a task.
    fn ended(self, ended: &Ended) {
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
    fn left(self, worker: uuid::Uuid) {
        self.write(|| "left".to_owned(), || json!({ "event": "left", "workerId": worker }));
    }
}
