//! What real agents said, as events.
//!
//! The fixtures are recordings of the programs against a scripted provider, shortened.

use std::path::Path;

use godel_agents::launch::Allowed;
use godel_agents::native::Voice;
use godel_agents::parse::{AcpSettings, Exit, Parser, Permissions};
use godel_agents::tree::{Recorder, Tree};
use godel_agents::{Answer, Change, Harness, Outcome, SessionEvent, TodoState};
use godel_llm::Dialect;
use godel_llm::translate::talk::Item;
use godel_model::Usage;

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Plays a recording of one turn.
fn play(harness: Harness, name: &str) -> Vec<SessionEvent> {
    let mut parser = Parser::new(harness).unwrap();
    let mut events = parser.prompt("write the probe").unwrap().events;
    events.extend(parser.feed(&fixture(name)).events);
    events.extend(parser.finish(&Exit { code: Some(0), ..Exit::default() }).events);
    events
}

/// What is told of a turn, without what differs from agent to agent.
#[derive(Debug, Default, PartialEq)]
struct Digest {
    said: String,
    thought: String,
    calls: Vec<(String, String)>,
    results: Vec<(String, bool)>,
    usage: Usage,
    outcome: Option<Outcome>,
}

fn digest(events: &[SessionEvent]) -> Digest {
    let mut digest = Digest::default();
    for event in events {
        match event {
            SessionEvent::Text { text } => digest.said.push_str(text),
            SessionEvent::Thinking { text } => digest.thought.push_str(text),
            SessionEvent::ToolCall { name, input, .. } => {
                let command = input["command"].as_str().unwrap_or_default();
                digest.calls.push((name.clone(), command.to_owned()));
            }
            SessionEvent::ToolResult { text, failed, .. } => {
                digest.results.push((text.clone(), *failed));
            }
            SessionEvent::Usage { usage } => {
                digest.usage.input += usage.input;
                digest.usage.cache_read += usage.cache_read;
                digest.usage.cache_write_5m += usage.cache_write_5m;
                digest.usage.output += usage.output;
                digest.usage.reasoning += usage.reasoning;
            }
            SessionEvent::TurnEnded { outcome } => {
                assert_eq!(digest.outcome, None, "a turn ends once");
                digest.outcome = Some(outcome.clone());
            }
            _ => {}
        }
    }
    digest
}

/// How much was in mind, each time that was told.
fn contexts(events: &[SessionEvent]) -> Vec<(u64, Option<u64>)> {
    let told = |event: &SessionEvent| match event {
        SessionEvent::Context { used, most } => Some((*used, *most)),
        _ => None,
    };
    events.iter().filter_map(told).collect()
}

fn started(events: &[SessionEvent]) -> Vec<&str> {
    let id = |event: &'_ SessionEvent| match event {
        SessionEvent::Started { id } => Some(id.clone()),
        _ => None,
    };
    let ids: Vec<String> = events.iter().filter_map(id).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    events
        .iter()
        .find_map(|event| match event {
            SessionEvent::Started { id } => Some(vec![id.as_str()]),
            _ => None,
        })
        .unwrap_or_default()
}

const COMMAND: &str = "echo GODEL_TOOL_RAN > probe.txt";

#[test]
fn claude_makes_a_round() {
    let events = play(Harness::Claude, "claude.jsonl");
    assert_eq!(started(&events), ["fe10c0fe-4eb6-4994-9776-a161a48b1929"]);
    let told = digest(&events);
    assert_eq!(told.said, "Running the probe.GODEL-FINAL-OK");
    assert_eq!(told.thought, "Consider the probe.Consider the probe.");
    assert_eq!(told.calls, [("Bash".to_owned(), COMMAND.to_owned())]);
    assert_eq!(told.results, [("(Bash completed with no output)".to_owned(), false)]);
    let usage = (told.usage.input, told.usage.cache_read, told.usage.cache_write_5m);
    assert_eq!((usage, told.usage.output), ((2000, 1280, 256), 114));
    // Two requests, each with as much in mind; what both used together is no measure of it.
    assert_eq!(contexts(&events), [(1768, None)]);
    assert_eq!(told.outcome, Some(Outcome::Completed));
}

#[test]
fn codex_makes_a_round() {
    let events = play(Harness::Codex, "codex.jsonl");
    assert_eq!(started(&events), ["01a1dc95-be9b-7d00-a620-25c21b98831d"]);
    let told = digest(&events);
    assert_eq!(told.said, "Running the probe.GODEL-FINAL-OK");
    assert_eq!(told.calls, [("shell".to_owned(), format!("/bin/bash -lc '{COMMAND}'"))]);
    assert_eq!(told.results, [(String::new(), false)]);
    let usage = (told.usage.input, told.usage.cache_read, told.usage.output, told.usage.reasoning);
    assert_eq!(usage, (2256, 1280, 114, 42));
    assert_eq!(told.outcome, Some(Outcome::Completed));
    let warns = |event: &SessionEvent| matches!(event, SessionEvent::Trouble { .. });
    assert!(events.iter().any(warns));
}

#[test]
fn gemini_makes_a_round() {
    let events = play(Harness::Gemini, "gemini.jsonl");
    assert_eq!(started(&events), ["507987a9-5292-43cf-b752-9f7de788324f"]);
    let told = digest(&events);
    assert_eq!(told.said, "Running the probe.GODEL-FINAL-OK");
    assert_eq!(told.calls, [("run_shell_command".to_owned(), COMMAND.to_owned())]);
    let usage = (told.usage.input, told.usage.cache_read, told.usage.output, told.usage.reasoning);
    assert_eq!(usage, (3000, 1920, 171, 63));
    assert_eq!(told.outcome, Some(Outcome::Completed));
}

#[test]
fn opencode_makes_a_round() {
    let events = play(Harness::Opencode, "opencode.jsonl");
    assert_eq!(started(&events), ["ses_e236875d8ffej7vPnzwaGJw4rU"]);
    let told = digest(&events);
    assert_eq!(told.said, "Running the probe.GODEL-FINAL-OK");
    assert_eq!(told.calls, [("bash".to_owned(), COMMAND.to_owned())]);
    assert_eq!((told.usage.input, told.usage.output), (2000, 114));
    assert_eq!(told.outcome, Some(Outcome::Completed));
}

#[test]
fn pi_makes_a_round_and_writes_a_file() {
    let events = play(Harness::Pi, "pi.jsonl");
    assert_eq!(started(&events), ["godel-sess-1"]);
    let told = digest(&events);
    assert_eq!(told.said, "File note.txt holds: hello-pi\n");
    let names: Vec<&str> = told.calls.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["write", "bash"]);
    assert_eq!((told.usage.input, told.usage.output), (4274, 28));
    assert_eq!(told.outcome, Some(Outcome::Completed));
    let path = "note.txt".to_owned();
    let written = SessionEvent::FileChange { path, change: Change::Written };
    assert!(events.contains(&written));
}

#[test]
fn a_turn_of_pi_that_was_stopped_is_cancelled() {
    assert_eq!(digest(&play(Harness::Pi, "pi-abort.jsonl")).outcome, Some(Outcome::Cancelled));
}

#[test]
fn failures_are_told_with_their_reason() {
    for (harness, name, reason) in [
        (Harness::Claude, "claude-529.jsonl", "simulated 529"),
        (Harness::Codex, "codex-401.jsonl", "simulated 401"),
        (Harness::Gemini, "gemini-401.jsonl", "simulated 401"),
        (Harness::Opencode, "opencode-402.jsonl", "simulated 402"),
    ] {
        // An exit code of 0 makes none of them a success.
        match digest(&play(harness, name)).outcome {
            Some(Outcome::Failed { message }) => assert!(message.contains(reason), "{message}"),
            other => panic!("{harness}: {other:?}"),
        }
    }
}

/// Plays the agent's side of the Agent Client Protocol.
fn acp(name: &str, permissions: Permissions) -> (Vec<SessionEvent>, Vec<serde_json::Value>) {
    let settings =
        AcpSettings { folder: "/workspace".into(), permissions, ..AcpSettings::default() };
    let mut parser = Parser::acp(settings);
    let mut told = parser.prompt("write the probe").unwrap();
    let text = String::from_utf8(fixture(name)).unwrap();
    for line in text.lines() {
        // Godel counts its requests from one, the recording from nought.
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        if value.get("method").is_none() {
            value["id"] = (value["id"].as_u64().unwrap() + 1).into();
        }
        let more = parser.feed(format!("{value}\n").as_bytes());
        let asked = more.events.last().and_then(|event| match event {
            SessionEvent::Question { id, choices, .. } => Some((id.clone(), choices[1].id.clone())),
            _ => None,
        });
        told.events.extend(more.events);
        told.send.extend(more.send);
        if let Some((id, choice)) = asked {
            told.send.extend(parser.answer(&id, &Answer::Choice(choice)).unwrap().send);
        }
    }
    let sent = told.send.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    (told.events, sent)
}

#[test]
fn acp_makes_a_round_with_two_agents() {
    for (name, allowed) in
        [("acp-claude.jsonl", "allow_always"), ("acp-gemini.jsonl", "proceed_always")]
    {
        let (events, sent) = acp(name, Permissions::Allow);
        let told = digest(&events);
        assert_eq!(told.said, "Running the probe.GODEL-FINAL-OK", "{name}");
        assert_eq!((told.calls.len(), told.results.len()), (1, 1), "{name}: {events:?}");
        assert_eq!(told.outcome, Some(Outcome::Completed), "{name}");
        assert!(told.usage.input >= 2000 && told.usage.output > 0, "{name}");
        let used: Vec<u64> =
            if name == "acp-claude.jsonl" { vec![1769, 1825, 1769, 1825] } else { vec![] };
        let wanted: Vec<_> = used.into_iter().map(|used| (used, Some(1_000_000))).collect();
        assert_eq!(contexts(&events), wanted, "{name}");
        let methods: Vec<_> = sent.iter().filter_map(|each| each["method"].as_str()).collect();
        assert_eq!(methods, ["initialize", "session/new", "session/prompt"], "{name}");
        let answer = sent.iter().find(|each| each.get("result").is_some()).unwrap();
        assert_eq!(answer["result"]["outcome"]["optionId"], allowed, "{name}");
    }
}

#[test]
fn acp_asks_a_person_if_it_is_to() {
    let (events, sent) = acp("acp-claude.jsonl", Permissions::Ask);
    assert!(events.iter().any(|event| matches!(event, SessionEvent::Question { .. })));
    let answer = sent.iter().find(|each| each.get("result").is_some()).unwrap();
    assert_eq!(answer["result"]["outcome"]["optionId"], "allow");
}

#[test]
fn acp_is_answered_by_the_role() {
    let role = |tools: &[&str]| {
        let tools: Vec<String> = tools.iter().map(|tool| (*tool).to_owned()).collect();
        Permissions::Role(Allowed::only(&tools))
    };
    for (name, tools, chosen) in [
        ("acp-claude.jsonl", &["read", "edit"][..], "reject"),
        ("acp-gemini.jsonl", &["read", "edit"], "cancel"),
        ("acp-claude.jsonl", &["shell"], "allow_always"),
        ("acp-gemini.jsonl", &[], "proceed_always"),
    ] {
        let (events, sent) = acp(name, role(tools));
        let answer = sent.iter().find(|each| each.get("result").is_some()).unwrap();
        assert_eq!(answer["result"]["outcome"]["optionId"], chosen, "{name} {tools:?}");
        let told = format!("{events:?}").contains("its role does not let it use");
        assert_eq!(told, !chosen.contains("always"), "{name} {tools:?}: {events:?}");
    }
}

#[test]
fn acp_refuses_what_it_does_not_offer() {
    let mut parser = Parser::new(Harness::Acp).unwrap();
    let told = parser.feed(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"fs/read_text_file\"}\n");
    assert!(told.send[0].contains("-32601"), "{told:?}");
}

#[test]
fn todos_of_any_agent_are_told() {
    let codex = br#"{"type":"item.updated","item":{"id":"i","type":"todo_list","items":[{"text":"a","completed":true},{"text":"b","completed":false}]}}
"#;
    let claude = br#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}}]}}
"#;
    for (harness, line) in [(Harness::Codex, codex.as_slice()), (Harness::Claude, claude)] {
        let told = Parser::new(harness).unwrap().feed(line);
        let Some(SessionEvent::Todos { todos }) = told.events.first() else {
            panic!("{harness}: {told:?}");
        };
        let states: Vec<TodoState> = todos.iter().map(|todo| todo.state).collect();
        assert_eq!(states, [TodoState::Completed, TodoState::Pending]);
    }
}

#[test]
fn what_came_in_pieces_is_not_told_again() {
    let mut parser = Parser::new(Harness::Claude).unwrap();
    let lines = [
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"hel"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"lo"}}}"#,
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"hello"}]}}"#,
        r#"{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":" there"}]}}"#,
    ];
    let told = parser.feed(format!("{}\n", lines.join("\n")).as_bytes());
    assert_eq!(digest(&told.events).said, "hello there");
}

#[test]
fn a_helper_of_claude_does_not_change_what_claude_has_in_mind() {
    let mut parser = Parser::new(Harness::Claude).unwrap();
    let lines = [
        r#"{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":5,"cache_read_input_tokens":90000,"cache_creation_input_tokens":1000},"content":[]}}"#,
        r#"{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"m2","usage":{"input_tokens":700},"content":[]}}"#,
        r#"{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m3","usage":{"input_tokens":7,"cache_read_input_tokens":91005},"content":[]}}"#,
        r#"{"type":"assistant","message":{"id":"m4","content":[]}}"#,
    ];
    let told = parser.feed(format!("{}\n", lines.join("\n")).as_bytes());
    assert_eq!(contexts(&told.events), [(91_005, None), (91_012, None)]);
}

#[test]
fn a_command_is_judged_by_its_exit_code() {
    for (code, well) in [(Some(0), true), (Some(1), false), (None, false)] {
        let mut parser = Parser::new(Harness::Command).unwrap();
        parser.prompt("x").unwrap();
        let said = parser.feed(b"one\ntwo");
        let end = parser.finish(&Exit { code, complaint: "oh".into(), cancelled: false });
        assert_eq!(digest(&said.events).said + &digest(&end.events).said, "one\ntwo\n");
        assert_eq!(digest(&end.events).outcome == Some(Outcome::Completed), well);
    }
}

#[test]
fn a_prompt_that_pi_refuses_is_a_failed_turn() {
    let mut parser = Parser::new(Harness::Pi).unwrap();
    let sent = parser.prompt("x").unwrap().send;
    let id = serde_json::from_str::<serde_json::Value>(&sent[1]).unwrap()["id"].clone();
    let line = serde_json::json!({
        "id": id, "type": "response", "command": "prompt", "success": false, "error": "no model",
    });
    let told = parser.feed(format!("{line}\n").as_bytes());
    assert_eq!(digest(&told.events).outcome, Some(Outcome::failed("no model")));
}

#[test]
fn an_acp_agent_that_cannot_resume_begins_anew_and_says_so() {
    let resume = Some("old".to_owned());
    let mut parser = Parser::acp(AcpSettings { resume, ..AcpSettings::default() });
    parser.prompt("go on").unwrap();
    let begun =
        r#"{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#;
    let told = parser.feed(format!("{begun}\n").as_bytes());
    assert!(told.send[0].contains("session/load") && told.send[0].contains("old"), "{told:?}");
    let told = parser.feed(b"{\"id\":2,\"error\":{\"code\":-1,\"message\":\"none such\"}}\n");
    assert!(
        matches!(&told.events[0], SessionEvent::Trouble { message } if message.contains("none"))
    );
    assert!(told.send[0].contains("session/new"), "{told:?}");
    let told = parser.feed(b"{\"id\":3,\"result\":{\"sessionId\":\"new\"}}\n");
    assert_eq!(told.events[0], SessionEvent::Started { id: "new".into() });
    assert!(told.send[0].contains("go on"), "{told:?}");
}

#[test]
fn what_any_agent_did_can_be_told_to_any_model() {
    for (harness, name) in [
        (Harness::Claude, "claude.jsonl"),
        (Harness::Codex, "codex.jsonl"),
        (Harness::Gemini, "gemini.jsonl"),
        (Harness::Opencode, "opencode.jsonl"),
        (Harness::Pi, "pi.jsonl"),
        (Harness::Pi, "pi-abort.jsonl"),
    ] {
        let (mut tree, mut recorder) = (Tree::new(), Recorder::new(harness));
        recorder.prompt(&mut tree, "write the probe").unwrap();
        for event in play(harness, name) {
            recorder.event(&mut tree, &event).unwrap();
        }
        let items = tree.context();
        let count = |wanted: fn(&Item) -> bool| items.iter().filter(|item| wanted(item)).count();
        let calls = count(|item| matches!(item, Item::Call { .. }));
        assert_eq!(calls, count(|item| matches!(item, Item::Result { .. })), "{harness}");
        // The program itself can go on by its id, until somebody else has gone on.
        assert!(tree.kept_by(harness).is_some(), "{harness}: {items:?}");
        assert_eq!(tree.kept_by(Harness::Command), None);
        tree.say(Item::User { text: "go on".into() }).unwrap();
        assert_eq!(tree.kept_by(harness), None);
        for dialect in Dialect::ALL {
            let request = Voice::new(dialect, "m").request(&tree).unwrap();
            let text = String::from_utf8(request).unwrap();
            assert!(text.contains("write the probe") && text.contains("go on"), "{harness}");
        }
    }
}
