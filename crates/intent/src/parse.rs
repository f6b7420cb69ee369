//! What a sentence asks for: its kind, what it names, and the one question that has to be asked first.

mod kinds;
mod named;
mod targets;
mod vague;

use godel_model::{Invalid, Survey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use targets::{Candidate, CandidateKind};

use crate::text::{self, Word};

/// How many choices a question offers.
const CHOICES_MAX: usize = 6;
/// The longest answer that is read.
const ANSWER_MAX_CHARS: usize = 2_000;

/// What kind of thing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One agent for one piece of work.
    SpawnAgent,
    /// Several agents for one piece of work.
    CreateTeam,
    /// A workflow that is there is to be run.
    ExecuteWorkflow,
    /// How something is going.
    QueryStatus,
    /// Something that runs is to end.
    StopTask,
    /// More or fewer agents for something that runs.
    ScaleTeam,
    /// Work to be planned.
    Custom,
}

impl Kind {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SpawnAgent => "spawn_agent",
            Self::CreateTeam => "create_team",
            Self::ExecuteWorkflow => "execute_workflow",
            Self::QueryStatus => "query_status",
            Self::StopTask => "stop_task",
            Self::ScaleTeam => "scale_team",
            Self::Custom => "custom",
        }
    }

    /// Tells whether it is work that needs a plan.
    pub const fn is_work(self) -> bool {
        matches!(self, Self::SpawnAgent | Self::CreateTeam | Self::Custom)
    }
}

/// Something that the text names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// What it is for: `size`, `task`, `target`, `workflow`, `part`, `file`, `model`, `role`, `budget`.
    pub name: String,
    /// What it is.
    pub value: String,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Where it begins and ends in the text, in bytes.
    pub position: [usize; 2],
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// What the text names.
    pub entities: Vec<Entity>,
    /// The text, without what nobody can see.
    pub original: String,
}

impl Intent {
    /// Returns what the text names under a name.
    pub fn named(&self, name: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.name == name)
    }

    /// Returns the work itself, without who should do it.
    pub fn task(&self) -> &str {
        let at = self.named("task").map(|entity| entity.position);
        at.and_then(|[from, to]| self.original.get(from..to)).unwrap_or(&self.original)
    }

    /// Returns how many agents are asked for.
    pub fn size(&self) -> Option<u32> {
        self.named("size").and_then(|entity| entity.value.parse().ok())
    }

    /// Returns what is named as values by their names.
    pub fn parameters(&self) -> Map<String, Value> {
        let value = |entity: &Entity| match entity.kind.as_str() {
            "number" => entity.value.parse::<u64>().map_or(Value::Null, |number| json!(number)),
            _ => json!(entity.value),
        };
        let mut found = Map::new();
        for entity in &self.entities {
            found.entry(entity.name.clone()).or_insert_with(|| value(entity));
        }
        found
    }
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// Which agent, bead, convoy, team or run is meant.
    Target,
    /// Which workflow is meant.
    Workflow,
    /// Which part of the repository is meant.
    Part,
    /// What the work is about.
    Object,
    /// What should be done.
    Action,
}

/// The one thing that has to be known first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What it is about.
    pub about: About,
    /// The question.
    pub ask: String,
    /// What can be answered.
    pub choices: Vec<Choice>,
    /// Whether anything else can be answered too.
    pub free: bool,
}

/// One answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What is sent back.
    pub value: String,
    /// What a person reads.
    pub label: String,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What the question was about.
    pub about: About,
    /// The answer.
    pub value: String,
}

/// What is known when a text is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scene<'a> {
    /// What runs or waits, and could be meant.
    pub candidates: &'a [Candidate],
    /// The workflows that there are.
    pub workflows: &'a [String],
    /// The roles that there are.
    pub roles: &'a [String],
    /// The models that there are.
    pub models: &'a [String],
    /// What the repository looks like.
    pub survey: Option<&'a Survey>,
    /// What was answered already.
    pub answer: Option<&'a Answer>,
}

/// What a text was read as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// What is asked for.
    pub intent: Intent,
    /// What has to be known first.
    pub question: Option<Question>,
    /// What it is done to: agents, beads, convoys, teams or runs by their ids.
    pub targets: Vec<Candidate>,
}

/// Reads a text.
///
/// # Errors
/// If there is nothing in it, or more than is read.
pub fn parse(text: &str, scene: &Scene<'_>) -> Result<Parsed, Invalid> {
    let text = text::clean(text)?;
    let words = text::words(&text);
    let read = kinds::read(&text, &words, scene);
    let mut entities = read.entities;
    named::add(&mut entities, &words, scene);
    let intent = Intent { kind: read.kind, confidence: read.confidence, entities, original: text };
    let (question, targets) = match intent.kind {
        Kind::QueryStatus | Kind::StopTask | Kind::ScaleTeam => {
            targets::resolve(intent.kind, &words, scene)
        }
        Kind::ExecuteWorkflow => (workflow_question(&intent, scene), Vec::new()),
        Kind::SpawnAgent | Kind::CreateTeam | Kind::Custom => {
            (vague::question(&intent, scene), Vec::new())
        }
    };
    Ok(Parsed { intent, question, targets })
}

fn workflow_question(intent: &Intent, scene: &Scene<'_>) -> Option<Question> {
    if intent.named("workflow").is_some() || scene.workflows.is_empty() {
        return None;
    }
    let choice = |name: &String| Choice { value: name.clone(), label: name.clone() };
    Some(Question {
        about: About::Workflow,
        ask: "Which workflow should run?".to_owned(),
        choices: scene.workflows.iter().take(CHOICES_MAX).map(choice).collect(),
        free: false,
    })
}

/// Makes an entity of words that stand together.
fn entity(name: &str, kind: &str, value: impl Into<String>, at: (&Word, &Word)) -> Entity {
    Entity {
        name: name.to_owned(),
        value: value.into(),
        kind: kind.to_owned(),
        confidence: 0.95,
        position: [at.0.start, at.1.end],
    }
}

/// Puts an answer into the text that it was missing in, so that it reads as if it had been said at once.
pub fn settled(text: &str, answer: &Answer) -> String {
    let value = text::line(&text::visible(&answer.value), ANSWER_MAX_CHARS);
    match answer.about {
        About::Object | About::Part => format!("{} in {value}", text.trim_end()),
        About::Action => format!("{value} {}", text.trim_start()),
        About::Target | About::Workflow => text.to_owned(),
    }
}
