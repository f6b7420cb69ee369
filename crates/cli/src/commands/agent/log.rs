//! What an agent said and did, as it happens.

use clap::builder::styling::{AnsiColor, Style};
use godel_api::{Agent, AgentLine, AgentLog};
use godel_console::output::{BAD, GOOD, Output, STRONG, WARN, cut, plain, styled};
use godel_console::{Context, Exit, Result, locate, lookup};
use serde_json::Value;
use uuid::Uuid;

use super::show::colour;
use super::spawn::SHORT_ID;
use super::{PATH, by_id, is_over};
use crate::commands::worker::notes;
use godel_worker::Patience;

/// How many entries are asked for at once.
const PAGE: usize = 100;
/// How long the server may wait for something new. An agent that has ended is noticed after that.
const WAIT_SECONDS: u64 = 5;
/// A server that looked through fewer positions than this and found nothing has reached the end; other
/// agents go on all the time.
const LOOKED_MIN: i64 = 1_000;
/// How wide the word in front of a text is.
const MARK_WIDTH: usize = 12;
/// How many lines of what a tool gave back are shown.
const RESULT_LINES: usize = 4;
/// How many characters of a line are shown, unless all are wanted.
const LINE_MAX: usize = 200;

/// What people know already, or cannot use.
const KNOWN: [&str; 4] = ["agent", "view", "notice", "letter"];

/// Cyan, for what is done with tools.
const TOOL: Style = AnsiColor::Cyan.on_default();
/// Faint, for what is there if one looks for it.
const FAINT: Style = Style::new().dimmed();

/// How a log is printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// Goes on with what happens next.
    pub(super) follow: bool,
    /// Begins behind this position.
    pub(super) after: i64,
    /// Prints texts whole.
    pub(super) full: bool,
    /// Begins with what came last before a position.
    pub(super) back: Option<Back>,
}

/// The last entries before a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Back {
    before: i64,
    most: usize,
}

impl Back {
    /// Reads what was asked for; nothing if the log is read from its beginning.
    pub(super) fn asked(tail: Option<u32>, before: Option<i64>) -> Option<Self> {
        let most = tail.map_or(PAGE, |tail| usize::try_from(tail).unwrap_or(usize::MAX));
        let before = before.unwrap_or(i64::MAX);
        (tail.is_some() || before != i64::MAX).then_some(Self { before, most })
    }
}

/// A place in the log of an agent.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) server: Patience,
    pub(super) agent: Uuid,
    pub(super) after: i64,
}

impl Tail {
    /// Asks for what comes next; a server that is gone for a while is waited for.
    pub(super) async fn look(&self, wait: bool) -> Result<AgentLog> {
        let path = format!("{PATH}/{}/logs", self.agent);
        let wait = if wait { WAIT_SECONDS } else { 0 };
        let query = [
            ("after", self.after.to_string()),
            ("limit", PAGE.to_string()),
            ("waitSeconds", wait.to_string()),
        ];
        let look = || self.server.client.get::<AgentLog>(&path, &query);
        Ok(self.server.until_answered(look).await?)
    }

    /// Reads what came last before a position, the oldest first, and moves behind it.
    async fn look_back(&mut self, back: Back) -> Result<Vec<AgentLine>> {
        let path = format!("{PATH}/{}/logs", self.agent);
        let (mut lines, mut before) = (Vec::new(), Some(back.before));
        while let Some(position) = before.filter(|_| lines.len() < back.most) {
            let limit = PAGE.min(back.most - lines.len());
            let query = [("before", position.to_string()), ("limit", limit.to_string())];
            let look = || self.server.client.get::<AgentLog>(&path, &query);
            let page = self.server.until_answered(look).await?;
            // The newest page comes first, and each of them has its oldest line first.
            lines.extend(page.items.into_iter().rev());
            before = page.previous;
        }
        lines.reverse();
        self.after = lines.last().map_or(self.after, |line| line.seq);
        Ok(lines)
    }

    /// Moves behind what was read; tells whether that was all for now.
    pub(super) fn pass(&mut self, log: &AgentLog) -> bool {
        let far = log.next - self.after;
        self.after = self.after.max(log.next);
        log.items.is_empty() && far < LOOKED_MIN
    }

    /// Asks how the agent is.
    pub(super) async fn state(&self) -> Result<Agent> {
        let look = || by_id(&self.server.client, self.agent);
        Ok(self.server.until_answered(look).await?)
    }
}

/// Prints the log of an agent.
pub(super) async fn run(context: &Context, given: &str, how: How) -> Result<Exit> {
    let output = context.output;
    let found = locate::server(context).await?;
    let agent = lookup::agent(&found.client, given).await?;
    let server = Patience::new(found.client, notes(output));
    let mut tail = Tail { server, agent: agent.id, after: how.after };
    let mut over = is_over(&agent);
    if how.follow && !over {
        output.remark(format_args!("following {}; Ctrl-C ends it", plain(&agent.label)));
    }
    if let Some(back) = how.back {
        let lines = tail.look_back(back).await?;
        lines.iter().try_for_each(|line| print(output, line, how.full))?;
        if !how.follow {
            return Ok(Exit::Done);
        }
    }
    loop {
        let log = tail.look(how.follow && !over).await?;
        log.items.iter().try_for_each(|line| print(output, line, how.full))?;
        if !tail.pass(&log) {
            continue;
        }
        if !how.follow || over {
            return Ok(Exit::Done);
        }
        // What it said last may have come after the last look, so there is one more.
        over = is_over(&tail.state().await?);
    }
}

/// Prints one entry.
pub(super) fn print(output: Output, line: &AgentLine, full: bool) -> Result<()> {
    if output.is_json() {
        return output.value(line);
    }
    match shown(line, full) {
        Some(shown) => output.line(shown.text(line, full)),
        None => Ok(()),
    }
}

/// An entry for people: a word, and what is told.
#[derive(Debug, PartialEq)]
struct Shown {
    mark: String,
    style: Style,
    text: String,
    /// How many lines are shown at most.
    lines: usize,
}

impl Shown {
    fn new(mark: &str, style: Style, text: impl Into<String>) -> Self {
        Self { mark: mark.to_owned(), style, text: text.into(), lines: usize::MAX }
    }

    fn brief(self) -> Self {
        Self { lines: RESULT_LINES, ..self }
    }

    /// Writes it below a time, each line of the text behind the word.
    fn text(&self, line: &AgentLine, full: bool) -> String {
        let (max, width) = if full { (usize::MAX, usize::MAX) } else { (self.lines, LINE_MAX) };
        let all: Vec<&str> = self.text.trim_end().lines().collect();
        let show = |line: &&str| cut(&plain(&line.replace('\t', "    ")), width);
        let mut lines: Vec<String> = all.iter().take(max).map(show).collect();
        if all.len() > lines.len() {
            lines.push(format!("(and {} more lines)", all.len() - lines.len()));
        }
        let mark = cut(&plain(&self.mark), MARK_WIDTH);
        let time = line.at.strftime("%H:%M:%S");
        let first = lines.first().cloned().unwrap_or_default();
        let room = " ".repeat(MARK_WIDTH.saturating_sub(mark.chars().count()));
        let mut text = format!("{time}  {}{room}  {first}", styled(self.style, mark));
        for line in lines.iter().skip(1) {
            text.push_str(&format!("\n{:1$}{line}", "", 12 + MARK_WIDTH));
        }
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }
}

/// Says what an entry tells; some are of interest only to those who want all.
fn shown(line: &AgentLine, full: bool) -> Option<Shown> {
    let payload = &line.payload;
    let text = |name: &str| field(payload, name);
    let kind = line.kind.strip_prefix("agent:").unwrap_or(&line.kind);
    let failed = payload.get("failed") == Some(&Value::Bool(true));
    Some(match kind {
        "text" => Shown::new("says", STRONG, text("text")),
        "thinking" if full => Shown::new("thinks", FAINT, text("text")),
        "turn" if !full && payload.pointer("/outcome/kind") == Some(&"completed".into()) => {
            return None;
        }
        "thinking" | "usage" | "sandbox:spawn" | "sandbox:end" if !full => return None,
        // Others tell of the agent, too: its tokens, its task in the queue.
        _ if !full && !line.kind.starts_with("agent:") => return None,
        "tool:call" => Shown::new(text("name"), TOOL, input(payload.get("input"))).brief(),
        "tool:result" if failed => Shown::new("failed", BAD, text("text")).brief(),
        "tool:result" => Shown::new("gave", FAINT, text("text")).brief(),
        "file" => Shown::new(text("change"), TOOL, text("path")),
        "todos" => Shown::new("todos", GOOD, todos(payload)),
        "needs:person" => Shown::new("needs you", WARN, question(payload)),
        "says:done" => Shown::new("says done", GOOD, text("summary")),
        "trouble" => Shown::new("trouble", BAD, text("message")),
        "complete" => Shown::new("completed", GOOD, done(payload)),
        "commit" => Shown::new("commit", GOOD, text("commit")),
        "state" => Shown::new(text("state"), colour(text("state")), text("why")),
        "sandbox:egress" => Shown::new("refused", WARN, refused(payload)),
        _ => Shown::new(&kind.replace(':', " "), style(kind), rest(payload)).brief(),
    })
}

fn field<'a>(payload: &'a Value, name: &str) -> &'a str {
    payload.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn style(kind: &str) -> Style {
    match kind {
        "kill" | "commit:refused" | "sandbox:limit" | "sandbox:call" => BAD,
        "pause" | "restart" => WARN,
        _ => Style::new(),
    }
}

/// Says what the work came to.
fn done(payload: &Value) -> String {
    let (commit, summary) = (field(payload, "commit"), field(payload, "summary"));
    match commit.get(..SHORT_ID) {
        Some(short) => format!("commit {short}\n{summary}"),
        None => summary.to_owned(),
    }
}

/// Says which way out was closed.
fn refused(payload: &Value) -> String {
    let port = payload.get("port").map_or_else(String::new, |port| format!(":{port}"));
    format!("{}{port}: {}", field(payload, "host"), field(payload, "reason"))
}

/// Writes what a tool was given: the one text that says most, or all of it.
fn input(given: Option<&Value>) -> String {
    match given {
        None | Some(Value::Null) => String::new(),
        // The log has it as text, which may be cut.
        Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(fields @ Value::Object(_)) => input(Some(&fields)),
            _ => text.clone(),
        },
        Some(Value::Object(fields)) => {
            let main =
                ["command", "question", "path", "file_path", "pattern", "query", "text", "url"];
            let main = main.iter().find_map(|name| fields.get(*name).and_then(Value::as_str));
            match main {
                Some(main) => main.to_owned(),
                None => Value::Object(fields.clone()).to_string(),
            }
        }
        Some(other) => other.to_string(),
    }
}

fn todos(payload: &Value) -> String {
    let all = payload.get("todos").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let state =
        |todo: &&Value, wanted: &str| todo.get("state").and_then(Value::as_str) == Some(wanted);
    let done = all.iter().filter(|todo| state(todo, "completed")).count();
    let now = all.iter().find(|todo| state(todo, "in_progress"));
    let now = now.and_then(|todo| todo.get("text")).and_then(Value::as_str);
    let now = now.map_or_else(String::new, |now| format!("; now: {now}"));
    format!("{done} of {} done{now}", all.len())
}

fn question(payload: &Value) -> String {
    let mut told = field(payload, "text").to_owned();
    let choices = payload.get("choices").and_then(Value::as_array);
    for (number, choice) in choices.into_iter().flatten().enumerate() {
        told.push_str(&format!("\n  {}. {}", number + 1, choice.as_str().unwrap_or_default()));
    }
    let id = field(payload, "notice");
    if !id.is_empty() {
        told.push_str(&format!("\n`godel inbox answer {id} TEXT` answers it"));
    }
    told
}

/// Writes what is not known more closely.
fn rest(payload: &Value) -> String {
    let main = ["text", "why", "reason", "message", "summary", "note", "title"];
    let main = main.iter().find_map(|name| payload.get(*name).and_then(Value::as_str));
    match (main, payload) {
        (Some(main), _) => main.to_owned(),
        (None, Value::Object(fields)) => {
            let told = fields
                .iter()
                .filter(|(name, value)| !value.is_null() && !KNOWN.contains(&name.as_str()));
            let pairs = told.map(|(name, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
                format!("{name} {value}")
            });
            pairs.collect::<Vec<_>>().join(", ")
        }
        (None, Value::Null) => String::new(),
        (None, other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn line(kind: &str, payload: Value) -> AgentLine {
        let at = "2026-11-15T08:01:02Z".parse().unwrap();
        AgentLine { seq: 7, at, kind: kind.to_owned(), payload }
    }

    fn told(kind: &str, payload: Value, full: bool) -> Option<String> {
        let line = line(kind, payload);
        let text = shown(&line, full)?.text(&line, full);
        Some(anstream::adapter::strip_str(&text).to_string())
    }

    #[test]
    fn each_entry_is_a_word_and_what_is_told() {
        let of = |kind: &str, payload: Value| told(kind, payload, false).unwrap();
        assert_eq!(
            of("agent:text", json!({ "text": "I look.\n\nThen I fix." })),
            "08:01:02  says          I look.\n\n                        Then I fix."
        );
        assert_eq!(
            of("agent:tool:call", json!({ "name": "shell", "input": { "command": "make" } })),
            "08:01:02  shell         make"
        );
        assert_eq!(
            of("agent:tool:result", json!({ "text": "1\n2\n3\n4\n5\n6", "failed": true })),
            "08:01:02  failed        1\n                        2\n                        3\n                        4\n                        (and 2 more lines)"
        );
        let todos = json!({ "todos": [{ "text": "a", "state": "completed" },
            { "text": "b", "state": "in_progress" }, { "text": "c", "state": "pending" }] });
        assert_eq!(of("agent:todos", todos), "08:01:02  todos         1 of 3 done; now: b");
        let asks = json!({ "notice": "3f9c", "text": "Which?", "choices": ["this", "that"] });
        let asks = of("agent:needs:person", asks);
        assert!(asks.contains("Which?") && asks.contains("2. that"), "{asks}");
        assert!(asks.contains("`godel inbox answer 3f9c TEXT`"), "{asks}");
        assert_eq!(
            of("agent:state", json!({ "state": "executing", "view": "busy", "why": "it began" })),
            "08:01:02  executing     it began"
        );
        let cut = json!({ "name": "shell", "input": "{\"command\":\"make\"}" });
        assert_eq!(of("agent:tool:call", cut), "08:01:02  shell         make");
        let cut = json!({ "name": "shell", "input": "{\"command\":\"ma" });
        assert_eq!(of("agent:tool:call", cut), "08:01:02  shell         {\"command\":\"ma");
        let spawn = json!({ "agent": "worker-1", "bead": "godel-4k2hm", "model": null });
        assert_eq!(of("agent:spawn", spawn), "08:01:02  spawn         bead godel-4k2hm");
        let own = line("key:agent:revoke", json!({ "tokens": 1 }));
        assert!(shown(&own, false).is_none() && shown(&own, true).is_some());
        let egress = json!({ "host": "x.org", "port": 443, "reason": "not allowed" });
        assert_eq!(
            of("agent:sandbox:egress", egress),
            "08:01:02  refused       x.org:443: not allowed"
        );
        let done = json!({ "commit": "0123456789abcdef", "summary": "Fixed." });
        assert_eq!(
            of("agent:complete", done),
            "08:01:02  completed     commit 0123456789\n                        Fixed."
        );
    }

    #[test]
    fn thoughts_and_long_texts_are_for_those_who_want_all() {
        assert_eq!(told("agent:thinking", json!({ "text": "hm" }), false), None);
        assert_eq!(
            told("agent:thinking", json!({ "text": "hm" }), true).unwrap(),
            "08:01:02  thinks        hm"
        );
        let end = |kind: &str| json!({ "outcome": { "kind": kind } });
        assert_eq!(told("agent:turn", end("completed"), false), None);
        assert!(told("agent:turn", end("failed"), false).is_some());
        let long = json!({ "text": "x\n".repeat(50) });
        assert_eq!(told("agent:tool:result", long.clone(), true).unwrap().lines().count(), 50);
        assert_eq!(told("agent:tool:result", long, false).unwrap().lines().count(), 5);
    }

    #[test]
    fn only_an_end_that_was_reached_is_one() {
        let log = |next, items| AgentLog { items, next, previous: None };
        let client = godel_api::Client::new("http://127.0.0.1:1", None).unwrap();
        let server = Patience::new(client, notes(Output::new(false, false)));
        let mut tail = Tail { server, agent: Uuid::nil(), after: 10 };
        let some = vec![line("agent:text", json!({}))];
        assert!(!tail.pass(&log(12, some)));
        assert!(!tail.pass(&log(5_012, Vec::new())), "it may be that others said so much");
        assert!(tail.pass(&log(5_020, Vec::new())));
        assert!(tail.pass(&log(0, Vec::new())) && tail.after == 5_020, "it never goes back");
    }

    proptest! {
        #[test]
        fn no_entry_commands_a_terminal(kind in "[a-z:]{0,20}", text in ".{0,60}") {
            let kind = format!("agent:{kind}");
            let payload = json!({ "text": text, "name": text, "input": { "a": text } });
            if let Some(told) = told(&kind, payload, true) {
                prop_assert!(!told.chars().any(|c| c.is_control() && c != '\n'), "{:?}", told);
            }
        }
    }
}
