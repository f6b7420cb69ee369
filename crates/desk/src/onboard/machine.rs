//! What is on this machine: agent programs, keys of providers, and what walls are made of.

use std::path::Path;

use godel_console::agents::{self, Found};
use godel_console::output::plain;
use godel_settings::Environment;
use serde::Serialize;

/// Variables that a server takes keys from, and whose they are.
const KEYS: [(&str, &str); 3] = [
    ("ANTHROPIC_API_KEY", "Anthropic"),
    ("OPENAI_API_KEY", "OpenAI"),
    ("GEMINI_API_KEY", "Google"),
];

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    /// Agent programs on the PATH.
    pub(super) agents: Vec<Found>,
    /// The names of variables with keys; never what is in them.
    pub(super) keys: Vec<&'static str>,
    /// What is missing to put walls around agents; nothing if all is there.
    #[serde(rename = "wallsMissing")]
    pub(super) walls_missing: Option<String>,
}

/// Looks around; nothing is started but a bubblewrap that does nothing.
pub(super) fn look(environment: &Environment) -> Machine {
    let set = |name: &str| environment.get(name).is_some_and(|key| !key.trim().is_empty());
    let keys = KEYS.iter().filter(|(name, _)| set(name)).map(|(name, _)| *name).collect();
    let walls_missing = godel_runtime::can_wall(None::<&Path>).err().map(|error| error.to_string());
    Machine { agents: agents::find(environment), keys, walls_missing }
}

impl Machine {
    /// Tells it in lines.
    pub(super) fn rows(&self) -> Vec<[String; 2]> {
        let mut rows = Vec::new();
        if self.agents.is_empty() {
            let none =
                format!("none on the PATH (looked for {}); Godel has its own", agents::known());
            rows.push(["agents".to_owned(), none]);
        }
        for (at, agent) in self.agents.iter().enumerate() {
            let name = if at == 0 { "agents" } else { "" };
            let path = plain(&agent.path.display().to_string());
            rows.push([name.to_owned(), format!("{} ({path})", agent.name)]);
        }
        let keys = match self.keys.as_slice() {
            [] => "none in the environment".to_owned(),
            keys => format!("{}; `godel up` uses them from here", keys.join(", ")),
        };
        rows.push(["keys".to_owned(), keys]);
        let walls =
            self.walls_missing.as_deref().unwrap_or("agents are walled off with bubblewrap");
        rows.push(["walls".to_owned(), plain(walls)]);
        rows
    }
}
