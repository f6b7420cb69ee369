//! What the events of a session mean to whoever watches whether the agent is stuck.

use godel_decide::agent::{Seen, Watch};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::event::SessionEvent;

/// How the tools are called by which agents ask a person, whatever stands before.
const ASKS: [&str; 2] = ["ask", "ask_human"];

/// Takes note of an event. That a turn has begun, and that a question was answered which is no call of a
/// tool, must be told by whoever does it.
pub fn note(watch: &mut Watch, event: &SessionEvent, now: Timestamp) {
    match event {
        SessionEvent::ToolCall { call, name, input } if asks(name) => {
            watch.saw(&Seen::Asked { question: call }, now);
            begun(watch, [call, name], input, now);
        }
        SessionEvent::ToolCall { call, name, input } => begun(watch, [call, name], input, now),
        SessionEvent::ToolResult { call, text, failed } => {
            watch.saw(&Seen::CallEnded { call, failed: *failed, said: text }, now);
            watch.saw(&Seen::Answered { question: call }, now);
        }
        SessionEvent::Question { id, .. } => watch.saw(&Seen::Asked { question: id }, now),
        SessionEvent::FileChange { .. } => watch.saw(&Seen::Changed, now),
        SessionEvent::TurnEnded { .. } | SessionEvent::Ended { .. } => {
            watch.saw(&Seen::TurnEnded, now);
        }
        SessionEvent::Started { .. }
        | SessionEvent::Text { .. }
        | SessionEvent::Thinking { .. }
        | SessionEvent::Usage { .. }
        | SessionEvent::Context { .. }
        | SessionEvent::Todos { .. }
        | SessionEvent::Mail { .. }
        | SessionEvent::SaysDone { .. }
        | SessionEvent::Trouble { .. }
        | SessionEvent::Compacted { .. } => watch.saw(&Seen::Sign, now),
    }
}

/// Counts the turns of an agent: each answer of its model, until tools have given something back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Turns {
    begun: u32,
    in_answer: bool,
}

impl Turns {
    /// Takes note of an event, and returns how many turns have begun.
    pub const fn note(&mut self, event: &SessionEvent) -> u32 {
        match event {
            SessionEvent::Text { .. }
            | SessionEvent::Thinking { .. }
            | SessionEvent::ToolCall { .. }
                if !self.in_answer =>
            {
                self.in_answer = true;
                self.begun = self.begun.saturating_add(1);
            }
            SessionEvent::ToolResult { .. } | SessionEvent::TurnEnded { .. } => {
                self.in_answer = false;
            }
            _ => {}
        }
        self.begun
    }
}

fn begun(watch: &mut Watch, [call, name]: [&str; 2], input: &Value, now: Timestamp) {
    let seen = Seen::CallBegan { call, name, input: &input.to_string(), within: limit(input) };
    watch.saw(&seen, now);
}

fn asks(name: &str) -> bool {
    let own = name.rsplit("__").next().unwrap_or(name);
    let own = own.rsplit(['.', ':', '/']).next().unwrap_or(own);
    ASKS.iter().any(|ask| own == *ask || own.ends_with(&format!("_{ask}")))
}

/// Reads how long a call says that it may take: agents call it by several names.
fn limit(input: &Value) -> Option<SignedDuration> {
    let number = |name: &str| input.get(name).and_then(Value::as_i64).filter(|number| *number > 0);
    let millis = number("timeout_ms").or_else(|| number("timeout"));
    // The built-in agent says seconds.
    let millis = number("seconds").and_then(|seconds| seconds.checked_mul(1000)).or(millis)?;
    // A call that takes for ever is no excuse.
    Some(SignedDuration::from_millis(millis.min(24 * 3600 * 1000)))
}

#[cfg(test)]
mod tests {
    use godel_decide::agent::{Limits, Stuck};
    use serde_json::json;

    use super::*;
    use crate::event::{Change, Outcome};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn call(name: &str, input: Value) -> SessionEvent {
        SessionEvent::ToolCall { call: "c".to_owned(), name: name.to_owned(), input }
    }

    fn result(failed: bool) -> SessionEvent {
        SessionEvent::ToolResult { call: "c".to_owned(), text: "no".to_owned(), failed }
    }

    #[test]
    fn a_question_is_waited_for_whichever_tool_asks_it() {
        for name in
            ["ask", "ask_human", "mcp__godel__ask_human", "godel_ask_human", "godel.ask_human"]
        {
            let mut watch = Watch::new(Limits::default());
            note(&mut watch, &call(name, json!({ "question": "?" })), at(0));
            assert_eq!(watch.verdict(at(1_000_000)), None, "{name}");
            note(&mut watch, &result(false), at(1_000_000));
            assert!(watch.due().is_some(), "{name}");
        }
        for name in ["task", "mask", "shell", "done"] {
            assert!(!asks(name), "{name}");
        }
    }

    #[test]
    fn a_tool_is_waited_for_as_long_as_it_says() {
        for (input, seconds) in [
            (json!({ "command": "make", "seconds": 1200 }), 1200),
            (json!({ "command": "make", "timeout": 900_000 }), 900),
            (json!({ "command": "make" }), 3600),
            (json!({ "seconds": i64::MAX }), 3600),
            (json!(["make"]), 3600),
        ] {
            let mut watch = Watch::new(Limits::default());
            note(&mut watch, &call("shell", input.clone()), at(0));
            assert_eq!(watch.due(), Some(at(seconds + 600)), "{input}");
        }
    }

    #[test]
    fn a_loop_of_failing_calls_is_seen_and_a_changed_file_ends_it() {
        let mut watch = Watch::new(Limits::default());
        for now in 0..5 {
            note(&mut watch, &call("shell", json!({ "command": "make" })), at(now));
            note(&mut watch, &result(true), at(now));
        }
        assert!(matches!(watch.verdict(at(5)), Some(Stuck::Failing { times: 5, .. })));
        let change = SessionEvent::FileChange { path: "a".to_owned(), change: Change::Modified };
        note(&mut watch, &change, at(6));
        assert_eq!(watch.verdict(at(6)), None);
        note(&mut watch, &SessionEvent::TurnEnded { outcome: Outcome::Completed }, at(7));
        assert_eq!(watch.due(), None);
    }

    #[test]
    fn a_turn_is_an_answer_and_what_its_tools_gave_back() {
        let mut turns = Turns::default();
        let text = SessionEvent::Text { text: "I look.".to_owned() };
        let ended = SessionEvent::TurnEnded { outcome: Outcome::Completed };
        let look = || call("read", json!({}));
        let all = [text.clone(), look(), look(), result(false), result(false), look()];
        let counts = all.map(|event| turns.note(&event));
        assert_eq!(counts, [1, 1, 1, 1, 1, 2]);
        assert_eq!((turns.note(&ended), turns.note(&text)), (2, 3));
    }
}
