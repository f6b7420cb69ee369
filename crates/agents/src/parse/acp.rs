//! Any agent that speaks the Agent Client Protocol: JSON-RPC over its input and output.
//!
//! The client offers no files and no terminal: the agent works in its sandbox with its own tools.

use std::collections::BTreeMap;

use godel_model::Usage;
use serde_json::{Value, json};

use super::json::{count, list, readable, text};
use super::tell::Tell;
use super::{Answer, Outcome, Reader};
use crate::error::{Error, Result};
use crate::event::{CHOICES_MAX, Change, Choice, SessionEvent, clip};
use crate::launch::Allowed;

const PROTOCOL_VERSION: u64 = 1;
const NO_SUCH_METHOD: i64 = -32601;
/// The most tools that run, and questions that wait, at once.
const OPEN_MAX: usize = 1000;
const QUESTIONS_MAX: usize = 20;
/// The longest id of a request of the agent.
const ID_MAX_BYTES: usize = 512;

/// What happens when the agent asks whether it may use a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Permissions {
    /// It may: the sandbox is what holds it.
    #[default]
    Allow,
    /// It may if its role lets it use such a tool.
    Role(Allowed),
    /// A person is asked.
    Ask,
}

/// How a session is begun.
#[derive(Debug, Clone, PartialEq)]
pub struct AcpSettings {
    /// The folder it works in, as the agent sees it.
    pub folder: String,
    /// The tools of Godel, as an entry of the protocol.
    pub servers: Vec<Value>,
    /// The session to go on with.
    pub resume: Option<String>,
    /// Who answers when it asks.
    pub permissions: Permissions,
}

impl Default for AcpSettings {
    fn default() -> Self {
        let (servers, resume) = (Vec::new(), None);
        Self { folder: "/".to_owned(), servers, resume, permissions: Permissions::Allow }
    }
}

#[derive(Debug)]
pub(super) struct Acp {
    settings: AcpSettings,
    step: Step,
    sent: u64,
    session: String,
    /// What is said as soon as there is a session.
    waiting: Option<String>,
    calls: BTreeMap<String, Open>,
    questions: BTreeMap<String, Value>,
}

/// What was asked of the agent and is not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    New,
    Initialize(u64),
    Session(u64),
    Ready,
    Prompt(u64),
}

/// A call that is under way.
#[derive(Debug, Default)]
struct Open {
    name: String,
    input: Value,
    told: bool,
}

impl Acp {
    pub(super) fn new(settings: AcpSettings) -> Self {
        Self {
            settings,
            step: Step::New,
            sent: 0,
            session: String::new(),
            waiting: None,
            calls: BTreeMap::new(),
            questions: BTreeMap::new(),
        }
    }

    fn ask(&mut self, method: &str, params: &Value, tell: &mut Tell) -> u64 {
        self.sent += 1;
        tell.send(
            &json!({ "jsonrpc": "2.0", "id": self.sent, "method": method, "params": params }),
        );
        self.sent
    }

    fn say(&mut self, prompt: &str, tell: &mut Tell) {
        let params = json!({
            "sessionId": self.session,
            "prompt": [{ "type": "text", "text": prompt }],
        });
        self.step = Step::Prompt(self.ask("session/prompt", &params, tell));
    }

    /// Takes the answer to something that was asked.
    fn answered(&mut self, id: u64, value: &Value, tell: &mut Tell) {
        let result = &value["result"];
        let expected = match self.step {
            Step::Initialize(id) | Step::Session(id) | Step::Prompt(id) => id,
            Step::New | Step::Ready => return,
        };
        if expected != id {
            return;
        }
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            if matches!(self.step, Step::Session(_)) && self.settings.resume.take().is_some() {
                tell.trouble(&format!("the session cannot be resumed: {}", reason(error)));
                return self.open(tell);
            }
            // Without a session it can only be begun anew.
            let ready = matches!(self.step, Step::Prompt(_));
            self.step = if ready { Step::Ready } else { Step::New };
            return tell.end(Outcome::failed(&reason(error)));
        }
        match self.step {
            Step::Initialize(_) => self.begin(result, tell),
            Step::Session(_) => {
                let new = text(result, "sessionId");
                let known = self.settings.resume.clone().unwrap_or_default();
                self.session = if new.is_empty() { known } else { new.to_owned() };
                tell.started(&self.session);
                self.settings.resume = Some(self.session.clone());
                self.step = Step::Ready;
                if let Some(prompt) = self.waiting.take() {
                    self.say(&prompt, tell);
                }
            }
            Step::Prompt(_) => {
                self.step = Step::Ready;
                self.calls.clear();
                self.questions.clear();
                tell.usage(usage(result));
                tell.end(outcome(text(result, "stopReason")));
            }
            Step::New | Step::Ready => {}
        }
    }

    fn begin(&mut self, result: &Value, tell: &mut Tell) {
        let version = result["protocolVersion"].as_u64();
        if version != Some(PROTOCOL_VERSION) {
            self.step = Step::New;
            let message = format!("the agent speaks another version of the protocol: {version:?}");
            return tell.end(Outcome::failed(&message));
        }
        let loads = result["agentCapabilities"]["loadSession"] == Value::Bool(true);
        if !loads && self.settings.resume.take().is_some() {
            tell.trouble("the agent cannot resume its session and begins a new one");
        }
        self.open(tell);
    }

    /// Opens the session to go on with, or a new one, which then has another id.
    fn open(&mut self, tell: &mut Tell) {
        let mut params = json!({
            "cwd": self.settings.folder, "mcpServers": self.settings.servers,
        });
        let method = match &self.settings.resume {
            Some(session) => {
                params["sessionId"] = json!(session);
                "session/load"
            }
            None => "session/new",
        };
        self.step = Step::Session(self.ask(method, &params, tell));
    }

    /// Answers what the agent asks.
    fn asked(&mut self, method: &str, value: &Value, tell: &mut Tell) {
        let id = &value["id"];
        if method != "session/request_permission" || id.to_string().len() > ID_MAX_BYTES {
            let error =
                json!({ "code": NO_SUCH_METHOD, "message": "this client has no such method" });
            return tell.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
        let params = &value["params"];
        self.update(&params["toolCall"], true, tell);
        let options = list(params, "options");
        let ask =
            self.settings.permissions == Permissions::Ask && self.questions.len() < QUESTIONS_MAX;
        if !ask {
            let refused = match &self.settings.permissions {
                Permissions::Role(allowed) => refused(allowed, &params["toolCall"]),
                Permissions::Allow | Permissions::Ask => None,
            };
            let kinds = match &refused {
                None => ["allow_always", "allow_once"],
                Some(_) => ["reject_once", "reject_always"],
            };
            let chosen = kinds
                .into_iter()
                .find_map(|kind| options.iter().find(|option| text(option, "kind") == kind));
            if let Some(tool) = refused {
                tell.trouble(&format!("its role does not let it use {tool}"));
            }
            return permit(id, chosen.map(|option| text(option, "optionId")), tell);
        }
        let choice = |option: &Value| Choice {
            id: text(option, "optionId").to_owned(),
            label: clip(text(option, "name"), 512),
        };
        let question = SessionEvent::Question {
            id: id.to_string(),
            text: clip(text(&params["toolCall"], "title"), 4096),
            choices: options.iter().take(CHOICES_MAX).map(choice).collect(),
        };
        self.questions.insert(id.to_string(), id.clone());
        tell.push(question);
    }

    fn noticed(&mut self, update: &Value, tell: &mut Tell) {
        // What a session held before is repeated while it is loaded.
        if matches!(self.step, Step::Session(_) | Step::Initialize(_)) {
            return;
        }
        let said = || text(&update["content"], "text");
        match text(update, "sessionUpdate") {
            "agent_message_chunk" => tell.text(said()),
            "agent_thought_chunk" => tell.thinking(said()),
            "tool_call" | "tool_call_update" => self.update(update, false, tell),
            "plan" => tell.todos(list(update, "entries")),
            "usage_update" => {
                tell.context(update["used"].as_u64().unwrap_or_default(), update["size"].as_u64());
            }
            _ => {}
        }
    }

    /// A call is told when its input is known, or when it can no longer wait.
    fn update(&mut self, update: &Value, now: bool, tell: &mut Tell) {
        let id = text(update, "toolCallId");
        if id.is_empty() || (self.calls.len() >= OPEN_MAX && !self.calls.contains_key(id)) {
            return;
        }
        let open = self.calls.entry(id.to_owned()).or_default();
        let named = text(&update["_meta"]["claudeCode"], "toolName");
        for name in [named, text(update, "title")] {
            if open.name.is_empty() && !name.is_empty() {
                open.name = clip(name, 512);
            }
        }
        let input = &update["rawInput"];
        if input.as_object().is_some_and(|input| !input.is_empty()) {
            open.input = input.clone();
        }
        let status = text(update, "status");
        let over = matches!(status, "completed" | "failed");
        let known = open.input.is_object() || over || status == "in_progress" || now;
        if known && !std::mem::replace(&mut open.told, true) {
            tell.call(id, &open.name, &open.input);
        }
        if !over {
            return;
        }
        self.calls.remove(id);
        let content = list(update, "content");
        let said = match readable(&update["rawOutput"]) {
            said if said.is_empty() => {
                let parts: Vec<String> =
                    content.iter().map(|part| readable(&part["content"])).collect();
                parts.join("\n")
            }
            said => said,
        };
        tell.result(id, &said, status == "failed");
        for diff in content.iter().filter(|part| text(part, "type") == "diff") {
            let new = diff["oldText"].is_null();
            tell.file(text(diff, "path"), if new { Change::Added } else { Change::Modified });
        }
    }
}

impl Reader for Acp {
    fn value(&mut self, value: &Value, tell: &mut Tell) {
        match (value["method"].as_str(), value.get("id")) {
            (Some("session/update"), None) => self.noticed(&value["params"]["update"], tell),
            (Some(method), Some(_)) => self.asked(method, value, tell),
            (None, Some(id)) => {
                if let Some(id) = id.as_u64() {
                    self.answered(id, value, tell);
                }
            }
            (Some(_) | None, None) => {}
        }
    }

    fn prompt(&mut self, prompt: &str, tell: &mut Tell) -> Result<()> {
        match self.step {
            Step::New => {
                let files = json!({ "readTextFile": false, "writeTextFile": false });
                let params = json!({
                    "protocolVersion": PROTOCOL_VERSION,
                    "clientCapabilities": { "fs": files, "terminal": false },
                    "clientInfo": { "name": "godel", "version": env!("CARGO_PKG_VERSION") },
                });
                self.step = Step::Initialize(self.ask("initialize", &params, tell));
                self.waiting = Some(prompt.to_owned());
            }
            Step::Ready => self.say(prompt, tell),
            Step::Initialize(_) | Step::Session(_) | Step::Prompt(_) => return Err(Error::Busy),
        }
        Ok(())
    }

    fn cancel(&mut self, tell: &mut Tell) -> bool {
        if !matches!(self.step, Step::Prompt(_)) {
            return false;
        }
        // The protocol wants open questions answered so.
        for id in std::mem::take(&mut self.questions).into_values() {
            permit(&id, None, tell);
        }
        let params = json!({ "sessionId": self.session });
        tell.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }));
        true
    }

    fn answer(&mut self, question: &str, answer: &Answer, tell: &mut Tell) -> bool {
        let Some(id) = self.questions.remove(question) else { return false };
        let option = match answer {
            Answer::Choice(option) => Some(option.as_str()),
            Answer::Text(_) | Answer::Declined => None,
        };
        permit(&id, option, tell);
        true
    }
}

/// Returns the name of a tool that a role does not allow. The protocol knows kinds of tools; what is of none
/// is known by the first word of its title.
fn refused(allowed: &Allowed, call: &Value) -> Option<String> {
    let words: &[&str] = match text(call, "kind") {
        "read" => &["read"],
        "edit" | "delete" | "move" => &["write", "edit"],
        "search" => &["search"],
        "execute" => &["shell"],
        "fetch" => &["fetch"],
        "think" => return None,
        _ => &[],
    };
    let named = text(&call["_meta"]["claudeCode"], "toolName");
    let titled = text(call, "title").split([' ', '(']).next().unwrap_or_default();
    let name = if named.is_empty() { titled } else { named };
    // Who may change files may do so in every way.
    let known = !words.is_empty() && words.iter().all(|word| allowed.allows(word));
    (!known && !allowed.allows(name)).then(|| clip(name, 100))
}

fn permit(id: &Value, option: Option<&str>, tell: &mut Tell) {
    let outcome = match option {
        Some(option) => json!({ "outcome": "selected", "optionId": option }),
        None => json!({ "outcome": "cancelled" }),
    };
    tell.send(&json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } }));
}

fn outcome(reason: &str) -> Outcome {
    match reason {
        "end_turn" => Outcome::Completed,
        "cancelled" => Outcome::Cancelled,
        reason => Outcome::failed(&format!("the agent stopped: {reason}")),
    }
}

fn reason(error: &Value) -> String {
    let details = match &error["data"] {
        Value::Null => String::new(),
        data => format!(" ({})", readable(data)),
    };
    format!("{}{details}", text(error, "message"))
}

/// Agents tell it in one of two places.
fn usage(result: &Value) -> Usage {
    let told = &result["usage"];
    if told.is_object() {
        let (read, write) = (count(told, "cachedReadTokens"), count(told, "cachedWriteTokens"));
        let (input, output) = (count(told, "inputTokens"), count(told, "outputTokens"));
        // Some count what came from a cache as input too; the sum tells.
        let twice = count(told, "totalTokens") == input + output;
        return Usage {
            input: if twice { input.saturating_sub(read + write) } else { input },
            cache_read: read,
            cache_write_5m: write,
            output,
            reasoning: count(told, "thoughtTokens").min(output),
            ..Usage::default()
        };
    }
    let told = &result["_meta"]["quota"]["token_count"];
    Usage {
        input: count(told, "input_tokens"),
        output: count(told, "output_tokens"),
        ..Usage::default()
    }
}
