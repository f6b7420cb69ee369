//! Gates: what finished work must pass before anybody believes it, run in its sandbox.

mod cache;
mod landing;
mod settings;

use std::time::{Duration, Instant};

use godel_runtime::{Command, Exit, Limit, RuntimeProvider, SandboxId};
use serde::{Deserialize, Serialize};

pub use cache::{Anew, FileCache, GateCache, NoCache, key};
pub use landing::{BATCH_MAX, Landings, Pulls};
pub use settings::{
    AGENTS_MAX, Agents, FILE_MAX_BYTES, GATES_MAX, Gate, Gates, Review, STRONGER_MAX,
};

use crate::launch::TOKEN_VARIABLE;
use crate::output::perform;

/// How much of what a gate printed is kept, of both ends together.
pub const OUTPUT_MAX_BYTES: usize = 32 * 1024;

/// What came of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateResult {
    /// The name of the gate.
    pub name: String,
    /// The command.
    pub command: String,
    /// Whether work that does not pass is not done.
    pub required: bool,
    /// Whether it was passed.
    pub passed: bool,
    /// The exit code, if it ended by itself.
    pub exit: Option<i32>,
    /// How it ended otherwise, in words.
    pub note: Option<String>,
    /// How long it took.
    #[serde(rename = "tookMs", with = "millis")]
    pub took: Duration,
    /// The beginning and the end of what it printed.
    pub output_tail: String,
    /// Whether it was not run, since the result was known.
    pub cached: bool,
}

impl GateResult {
    /// Tells whether work with this result cannot be done.
    pub const fn stops(&self) -> bool {
        self.required && !self.passed
    }

    /// Says in one line what came of it.
    pub fn summary(&self) -> String {
        let name = &self.name;
        match (self.passed, self.exit, &self.note) {
            (true, ..) => format!("gate {name} is passed"),
            (false, _, Some(note)) => format!("gate {name} failed: it {note}"),
            (false, Some(code), None) => format!("gate {name} failed with exit code {code}"),
            (false, None, None) => format!("gate {name} failed"),
        }
    }
}

impl Gates {
    /// Runs all gates, one after the other, and tells what came of each.
    ///
    /// `tree` is git's id of the files in the sandbox. If files are there that are in no commit it must
    /// be empty: then nothing is remembered or believed.
    pub async fn run(
        &self,
        runtime: &dyn RuntimeProvider,
        sandbox: SandboxId,
        cache: &dyn GateCache,
        tree: &str,
    ) -> Vec<GateResult> {
        let mut results = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let key = (!tree.is_empty()).then(|| key(tree, &gate.run));
            if let Some(known) = key.as_deref().and_then(|key| cache.get(key)) {
                let (name, required) = (gate.name.clone(), gate.required);
                results.push(GateResult { name, required, cached: true, ..known });
                continue;
            }
            let result = gate.run(runtime, sandbox).await;
            // One that did not end by itself might another time.
            if let (Some(key), Some(_)) = (key, result.exit) {
                cache.put(&key, &result);
            }
            results.push(result);
        }
        results
    }
}

impl Gate {
    /// Runs the gate.
    async fn run(&self, runtime: &dyn RuntimeProvider, sandbox: SandboxId) -> GateResult {
        let script = format!("exec 2>&1\n{}", self.run);
        // What a gate prints is shown to people, so it does not get the agent's token.
        let command = Command::shell(script).env(TOKEN_VARIABLE, "").within(self.timeout);
        let begun = Instant::now();
        let (output_tail, exit, note) =
            match perform(runtime, sandbox, &command, OUTPUT_MAX_BYTES).await {
                Ok((said, Exit::Code { code })) => (said, Some(code), None),
                Ok((said, ended)) => (said, None, Some(self.note(ended))),
                Err(error) => {
                    (String::new(), None, Some(format!("could not be run: {}", chain(&error))))
                }
            };
        GateResult {
            name: self.name.clone(),
            command: self.run.clone(),
            required: self.required,
            passed: exit == Some(0),
            exit,
            note,
            took: begun.elapsed(),
            output_tail,
            cached: false,
        }
    }

    fn note(&self, ended: Exit) -> String {
        match ended {
            Exit::Limit { limit: Limit::Time } => {
                let seconds = self.timeout.as_secs();
                format!("was stopped after {seconds} seconds, which is all that godel.toml allows")
            }
            Exit::Limit { limit: Limit::Memory } => "used more memory than it may".to_owned(),
            Exit::Limit { limit: Limit::Disk } => "used more disk than it may".to_owned(),
            Exit::Limit { limit: Limit::Processes } => "had more processes than it may".to_owned(),
            Exit::Signal { signal } => format!("was ended by signal {signal}"),
            Exit::Code { code } => format!("ended with exit code {code}"),
        }
    }
}

fn chain(error: &godel_runtime::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
