//! What a project wants of finished work and of its agents: `godel.toml` at the top of its repository.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use godel_model::{Invalid, RUNTIMES, code};
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::landing::{Landings, Section};
use crate::harness::Harness;

/// No such file is larger.
pub const FILE_MAX_BYTES: usize = 1 << 20;
/// The most gates of a project.
pub const GATES_MAX: usize = 50;
/// The most agents that a project may run at a time.
pub const AGENTS_MAX: u32 = 1000;
/// The most worktrees that are kept ready for agents.
const READY_MAX: u32 = 16;
/// The most models that are stronger.
pub const STRONGER_MAX: usize = 10;

const NAME_MAX_CHARS: usize = 64;
const COMMAND_MAX_BYTES: usize = 8 * 1024;
pub(super) const TIMEOUT: Duration = Duration::from_secs(600);
const SPAN_MAX: Duration = Duration::from_secs(24 * 3600);
const STUCK_AFTER: Duration = Duration::from_secs(600);
const READY: u32 = 2;
const HINT: &str =
    "docs/how-to/gates.md lists what can be under [gates], [project], [landing] and [agents]";

/// What a project wants of finished work and of its agents.
///
/// Read it from the branch that work lands on: in the work itself an agent could have changed it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Gates {
    /// What finished work must pass, in the order of the file.
    pub gates: Vec<Gate>,
    /// Who says that work may land.
    pub review: Review,
    /// The role of the agent that says so; the one that is built in if it is not named.
    pub reviewer: Option<String>,
    /// The branch that work begins from and lands on; `main` or `master` if it is not named.
    pub target: Option<String>,
    /// Whether files that an agent left uncommitted are committed for it, as a commit of their own.
    pub auto_commit: bool,
    /// The command that runs what the project is, so that it can be looked at; it serves the port `$PORT`.
    pub preview: Option<String>,
    /// What is wanted of agents.
    pub agents: Agents,
    /// How work lands.
    pub landing: Landings,
}

/// One thing that finished work must pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// Its name.
    pub name: String,
    /// The command, for the shell.
    pub run: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether work that does not pass it is not done.
    pub required: bool,
}

/// Who says that work may land.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Review {
    /// A person.
    #[default]
    Person,
    /// An agent that is a reviewer.
    Agent,
    /// Nobody: gates are enough.
    Auto,
}

impl Review {
    /// Returns it as in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Agent => "agent",
            Self::Auto => "auto",
        }
    }
}

/// What is wanted of agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Agents {
    /// How many may be at work at a time.
    pub max: Option<u32>,
    /// Which program does the work.
    pub harness: Option<Harness>,
    /// The model.
    pub model: Option<String>,
    /// What is tried when the model does not manage, weaker ones first.
    pub stronger: Vec<String>,
    /// How long nothing may happen before an agent counts as stuck.
    pub stuck_after: Duration,
    /// How many worktrees are kept ready, so that an agent begins at once.
    pub ready: u32,
    /// Where they work.
    pub runtime: Option<String>,
}

impl Default for Agents {
    fn default() -> Self {
        let stronger = Vec::new();
        let (stuck_after, ready) = (STUCK_AFTER, READY);
        Self { max: None, harness: None, model: None, stronger, stuck_after, ready, runtime: None }
    }
}

impl Gates {
    /// Reads `godel.toml`; the section `[worktree]` belongs to the workbench and is passed over.
    ///
    /// # Errors
    /// If it is no TOML, or a key or value of these sections is not known; with line and column.
    pub fn read(text: &str) -> Result<Self, Invalid> {
        if text.len() > FILE_MAX_BYTES {
            return Err(refused(text, None, &format!("more than {FILE_MAX_BYTES} bytes")));
        }
        let read = toml::from_str::<File>(text);
        let file = read.map_err(|error| refused(text, error.span(), error.message()))?;
        if file.gates.len() > GATES_MAX {
            return Err(refused(text, None, &format!("more than {GATES_MAX} gates")));
        }
        let mut gates: Vec<(usize, Gate)> = Vec::with_capacity(file.gates.len());
        for (name, wanted) in file.gates {
            let span = wanted.span();
            if !is_name(&name, NAME_MAX_CHARS) {
                let why = format!("a gate is named by 1 to {NAME_MAX_CHARS} visible characters");
                return Err(refused(text, Some(span), &why));
            }
            let Wanted { run, timeout, required } = wanted.into_inner();
            gates.push((
                span.start,
                Gate { name, run: run.0, timeout: timeout.map_or(TIMEOUT, |it| it.0), required },
            ));
        }
        gates.sort_by_key(|(at, _)| *at);
        let Project { review, reviewer, target, auto_commit, preview } = file.project;
        let AgentsSection { max, harness, model, stronger, stuck_after, ready, runtime } =
            file.agents;
        Ok(Self {
            gates: gates.into_iter().map(|(_, gate)| gate).collect(),
            review,
            reviewer: reviewer.map(|role| role.0),
            target: target.map(|branch| branch.0),
            auto_commit,
            preview: preview.map(|run| run.0),
            landing: file.landing.into(),
            agents: Agents {
                max: max.map(|max| max.0),
                harness,
                model: model.map(|model| model.0),
                stronger: stronger.0.into_iter().map(|model| model.0).collect(),
                stuck_after: stuck_after.map_or(STUCK_AFTER, |span| span.0),
                ready: ready.map_or(READY, |ready| ready.0),
                runtime: runtime.map(|runtime| runtime.0),
            },
        })
    }
}

/// The file. A section that nobody knows is refused: `[gate]` would mean no gates at all.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Belongs to the workbench, which reads it by itself.
    #[serde(default, rename = "worktree")]
    _worktree: Option<IgnoredAny>,
    #[serde(default)]
    gates: BTreeMap<String, Spanned<Wanted>>,
    #[serde(default)]
    project: Project,
    #[serde(default)]
    agents: AgentsSection,
    #[serde(default)]
    landing: Section,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct Project {
    review: Review,
    reviewer: Option<RoleName>,
    target: Option<Branch>,
    #[serde(alias = "auto_commit")]
    auto_commit: bool,
    preview: Option<Run>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct AgentsSection {
    max: Option<Count>,
    harness: Option<Harness>,
    model: Option<Model>,
    stronger: Stronger,
    #[serde(alias = "stuck_after")]
    stuck_after: Option<Span>,
    ready: Option<Ready>,
    runtime: Option<Runtime>,
}

/// A gate as it is written.
struct Wanted {
    run: Run,
    timeout: Option<Span>,
    required: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    run: Run,
    timeout: Option<Span>,
    #[serde(default = "yes")]
    required: bool,
}

const fn yes() -> bool {
    true
}

impl<'de> Deserialize<'de> for Wanted {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Either)
    }
}

/// Reads a gate that is a command, or a table; the errors of an untagged enum would not say where.
struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Wanted;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command, or a table with `run`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Wanted, E> {
        let run = Run::try_from(text.to_owned()).map_err(E::custom)?;
        Ok(Wanted { run, timeout: None, required: true })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Wanted, A::Error> {
        let Table { run, timeout, required } = Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Wanted { run, timeout, required })
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Run(pub(super) String);

impl TryFrom<String> for Run {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.trim().is_empty() || text.len() > COMMAND_MAX_BYTES || text.contains('\0') {
            return Err(format!("a command has 1 to {COMMAND_MAX_BYTES} bytes"));
        }
        Ok(Self(text))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Span(pub(super) Duration);

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let seconds = match text.chars().last() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3600,
            _ => 0,
        };
        let digits = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
        let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'));
        let total = number.and_then(|number| number.checked_mul(seconds));
        let total = total.map(Duration::from_secs);
        total.filter(|total| !total.is_zero() && *total <= SPAN_MAX).map(Self).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            format!("{shown:?} is no span of time up to a day, such as 45s, 10m or 2h")
        })
    }
}

#[derive(Deserialize)]
#[serde(try_from = "i64")]
struct Count(u32);

impl TryFrom<i64> for Count {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        let known = u32::try_from(number).ok().filter(|max| (1..=AGENTS_MAX).contains(max));
        known.map(Self).ok_or_else(|| format!("from 1 to {AGENTS_MAX} agents can be at work"))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "i64")]
struct Ready(u32);

impl TryFrom<i64> for Ready {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        let known = u32::try_from(number).ok().filter(|ready| *ready <= READY_MAX);
        known.map(Self).ok_or_else(|| format!("from 0 to {READY_MAX} worktrees can be kept ready"))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Runtime(String);

impl TryFrom<String> for Runtime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let why = || format!("agents work in one of: {}", RUNTIMES.join(", "));
        if RUNTIMES.contains(&text.as_str()) { Ok(Self(text)) } else { Err(why()) }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Model(String);

impl TryFrom<String> for Model {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if is_name(&text, 200) {
            return Ok(Self(text));
        }
        Err("a model is named by 1 to 200 visible characters".to_owned())
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct RoleName(pub(super) String);

impl TryFrom<String> for RoleName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if is_name(&text, NAME_MAX_CHARS) {
            return Ok(Self(text));
        }
        Err(format!("a role is named by 1 to {NAME_MAX_CHARS} visible characters"))
    }
}

#[derive(Default, Deserialize)]
#[serde(try_from = "Vec<Model>")]
struct Stronger(Vec<Model>);

impl TryFrom<Vec<Model>> for Stronger {
    type Error = String;

    fn try_from(models: Vec<Model>) -> Result<Self, String> {
        if models.len() > STRONGER_MAX {
            return Err(format!("at most {STRONGER_MAX} stronger models can be named"));
        }
        Ok(Self(models))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Branch(String);

impl TryFrom<String> for Branch {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let strange = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
        let good = (1..=200).contains(&text.len())
            && !text.contains(strange)
            && !text.contains("..")
            && !text.contains("@{")
            && !text.starts_with(['-', '/', '.'])
            && !text.ends_with(['/', '.'])
            && !text.starts_with("refs/");
        if good { Ok(Self(text)) } else { Err("that cannot be the name of a branch".to_owned()) }
    }
}

fn is_name(text: &str, max_chars: usize) -> bool {
    let visible = |c: char| !c.is_control() && !c.is_whitespace();
    !text.is_empty() && text.chars().count() <= max_chars && text.chars().all(visible)
}

/// Says what is wrong in the file, and where.
fn refused(text: &str, span: Option<std::ops::Range<usize>>, why: &str) -> Invalid {
    let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let message = format!("godel.toml, line {line}, column {column}: {}", why.trim());
    Invalid::new(code::INVALID_CONFIG, message).with_hint(HINT)
}
