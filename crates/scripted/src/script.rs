//! Deciding what to answer.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::ask::{Ask, Choice, Think, Tool, ToolKind};
use crate::dialect::Dialect;
use crate::directive::{Script, Step, Wanted};
use crate::fault::Fault;
use crate::reply::{Call, Reply, Stop};
use crate::schema::example;
use crate::shell;
use crate::usage::Usage;

/// How much of a prompt is quoted.
const QUOTE_MAX_CHARS: usize = 200;
/// A request body of this many bytes is said to cost a token.
const BYTES_PER_TOKEN: usize = 4;
/// What a tool call is said to cost.
const CALL_TOKENS: usize = 10;
const THOUGHT: &str = "The script says what to do, so I do it.";

/// Numbers answers, and makes ids and opaque state from the numbers.
#[derive(Debug, Default)]
pub(crate) struct Mint {
    next: AtomicU64,
    /// Tells the state of two servers apart.
    salt: u64,
}

impl Mint {
    /// Starts to count; two servers should differ in `salt`.
    pub(crate) fn new(salt: u64) -> Self {
        Self { next: AtomicU64::new(1), salt }
    }

    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes opaque state: base64 with every kind of character in it.
    fn seal(&self, number: u64) -> String {
        use base64::Engine;
        let mut state = self.salt ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut bytes = Vec::with_capacity(136);
        for _ in 0..17 {
            // The steps of splitmix64.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            bytes.extend_from_slice(&(mixed ^ (mixed >> 31)).to_be_bytes());
        }
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }
}

/// Decides the answer to a request of `bytes` bytes; `fault` is what goes wrong this time.
pub(crate) fn reply(ask: &Ask, script: &Script, mint: &Mint, bytes: usize, fault: &Fault) -> Reply {
    let number = mint.number();
    let worked = script.work.as_ref().map(|work| work.step(ask));
    let played = worked.as_ref().or_else(|| script.steps.get(ask.round));
    let step = played.filter(|step| !step.is_empty());
    let mut calls = step.map(|step| calls(ask, step)).unwrap_or_default();
    if step.is_none() && ask.results.is_empty() {
        calls = forced(ask);
    }
    if !ask.parallel {
        calls.truncate(1);
    }
    for (at, call) in calls.iter_mut().enumerate() {
        call.id = call_id(ask.dialect, mint.salt, number, at);
    }
    let text = match step {
        Some(step) => scripted_text(ask, step, &calls),
        None if calls.is_empty() => plain_text(ask),
        None => String::new(),
    };
    let mut pieces = pieces(text, fault.huge_event);
    let stop = stop(ask, played.and_then(|step| step.stop), &mut pieces, &calls);
    let thought = thought(ask, played.is_some_and(|step| step.think));
    // Gemini puts its state on the call, the others on the thinking.
    let place = if ask.dialect == Dialect::Gemini { !calls.is_empty() } else { thought.is_some() };
    let seal = (ask.sealed && place).then(|| mint.seal(number));
    let reasoning = thought.as_ref().map_or(0, |thought| thought.split_whitespace().count());
    let usage = script.usage.unwrap_or(Usage {
        input: (bytes / BYTES_PER_TOKEN).max(1) as u64,
        output: (pieces.len() + CALL_TOKENS * calls.len() + reasoning) as u64,
        reasoning: reasoning as u64,
        ..Usage::default()
    });
    let (tier, searches) = (script.tier.clone(), script.searches);
    let model = ask.model.clone();
    Reply { number, model, thought, seal, pieces, calls, stop, usage, tier, searches }
}

/// The fault of the step that is to be played.
pub(crate) fn step_fault<'a>(ask: &Ask, script: &'a Script) -> Option<&'a Fault> {
    script.steps.get(ask.round).and_then(|step| step.fault.as_ref())
}

fn call_id(dialect: Dialect, salt: u64, number: u64, at: usize) -> String {
    let prefix = match dialect {
        Dialect::Anthropic => "toolu",
        Dialect::Gemini => "fc",
        Dialect::Chat | Dialect::Responses => "call",
    };
    format!("{prefix}_{:08x}_{number}_{at}", salt as u32)
}

fn calls(ask: &Ask, step: &Step) -> Vec<Call> {
    if ask.choice == Choice::Never {
        return Vec::new();
    }
    let call = |wanted: &Wanted| match wanted {
        Wanted::Tool { name, input } => {
            let tool = find(&ask.tools, name)?;
            Some(call_of(tool, input.clone()))
        }
        Wanted::Unoffered { name, input } => {
            let (kind, schema) = (ToolKind::Function, Value::Null);
            let tool = Tool { name: name.clone(), namespace: None, kind, schema };
            Some(call_of(&tool, input.clone()))
        }
        Wanted::Shell(command) => {
            let tool = shell::choose(&ask.tools)?;
            Some(call_of(tool, shell::input(tool, command)))
        }
    };
    step.calls.iter().filter_map(call).collect()
}

fn find<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    tools.iter().find(|tool| tool.name == name)
}

fn call_of(tool: &Tool, input: Value) -> Call {
    Call {
        id: String::new(),
        name: tool.name.clone(),
        namespace: tool.namespace.clone(),
        kind: tool.kind,
        input,
    }
}

/// The call that must be made although the prompt says nothing of it.
fn forced(ask: &Ask) -> Vec<Call> {
    let tool = match &ask.choice {
        Choice::Any => ask.tools.first(),
        Choice::Named(name) => find(&ask.tools, name),
        Choice::Auto | Choice::Never => None,
    };
    let made_up = |tool: &Tool| match tool.kind {
        ToolKind::Function => example(&tool.schema, "scripted"),
        ToolKind::Custom | ToolKind::LocalShell => shell::input(tool, "true"),
    };
    tool.map(|tool| call_of(tool, made_up(tool))).into_iter().collect()
}

fn scripted_text(ask: &Ask, step: &Step, calls: &[Call]) -> String {
    if let Some(json) = &step.json {
        return json.to_string();
    }
    // Titles and the like quote the prompt, but want an answer of their own shape.
    if calls.is_empty() && ask.schema.is_some() {
        return plain_text(ask);
    }
    if let Some(count) = step.words {
        return (1..=count).map(|number| format!("word{number} ")).collect();
    }
    match &step.say {
        Some(say) => say.clone(),
        None if ask.tools.is_empty() => plain_text(ask),
        None if calls.is_empty() => {
            let names: Vec<&str> = ask.tools.iter().map(|tool| tool.name.as_str()).collect();
            format!("I cannot call that; the tools on offer are: {}.", names.join(", "))
        }
        None => String::new(),
    }
}

fn plain_text(ask: &Ask) -> String {
    if let Some(schema) = &ask.schema {
        return example(schema, "Scripted answer").to_string();
    }
    if !ask.results.is_empty() {
        return format!("The tool said: {}", ask.results.join(" | "));
    }
    let mut text = format!("You said: {}", tail(ask.prompt.trim()));
    if !ask.images.is_empty() {
        text.push_str(&format!(" (with {})", ask.images.join(", ")));
    }
    text
}

/// The end of a prompt: clients put their remarks first.
fn tail(prompt: &str) -> String {
    let skipped = prompt.chars().count().saturating_sub(QUOTE_MAX_CHARS);
    prompt.chars().skip(skipped).collect()
}

fn pieces(text: String, huge: Option<usize>) -> Vec<String> {
    match huge {
        Some(bytes) => vec!["x".repeat(bytes)],
        None => text.split_inclusive(' ').map(str::to_owned).collect(),
    }
}

fn stop(ask: &Ask, wanted: Option<Stop>, pieces: &mut Vec<String>, calls: &[Call]) -> Stop {
    let most = ask.max_tokens.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    match wanted {
        Some(stop) => stop,
        None if !calls.is_empty() => Stop::Calls,
        None if pieces.len() > most => {
            pieces.truncate(most);
            Stop::Length
        }
        None => Stop::End,
    }
}

fn thought(ask: &Ask, asked: bool) -> Option<String> {
    match ask.think {
        Think::Quiet if asked => Some(THOUGHT.to_owned()),
        Think::Shown => Some(THOUGHT.to_owned()),
        Think::Hidden => Some(String::new()),
        Think::Never | Think::Quiet => None,
    }
}
