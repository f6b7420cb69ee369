//! Whatever an agent says, and however it is split, a turn ends once and nothing breaks.

use godel_agents::parse::{Exit, Parser};
use godel_agents::tree::{Recorder, Tree};
use godel_agents::{Harness, SessionEvent};
use godel_llm::translate::talk::Item;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::golden::fixture;

const RECORDINGS: [(Harness, &str); 12] = [
    (Harness::Claude, "claude.jsonl"),
    (Harness::Claude, "claude-529.jsonl"),
    (Harness::Codex, "codex.jsonl"),
    (Harness::Codex, "codex-401.jsonl"),
    (Harness::Gemini, "gemini.jsonl"),
    (Harness::Gemini, "gemini-401.jsonl"),
    (Harness::Opencode, "opencode.jsonl"),
    (Harness::Pi, "pi.jsonl"),
    (Harness::Pi, "pi-abort.jsonl"),
    (Harness::Acp, "acp-claude.jsonl"),
    (Harness::Acp, "acp-gemini.jsonl"),
    (Harness::Command, "codex.jsonl"),
];

fn play(harness: Harness, pieces: &[&[u8]]) -> (Vec<SessionEvent>, Vec<String>) {
    let mut parser = Parser::new(harness).unwrap();
    let mut told = parser.prompt("do it").unwrap();
    let mut all = (std::mem::take(&mut told.events), std::mem::take(&mut told.send));
    for piece in pieces {
        let told = parser.feed(piece);
        all.0.extend(told.events);
        all.1.extend(told.send);
    }
    let told = parser.finish(&Exit::default());
    all.0.extend(told.events);
    all.1.extend(told.send);
    assert!(!parser.in_turn());
    all
}

fn ends(events: &[SessionEvent]) -> usize {
    events.iter().filter(|event| event.outcome().is_some()).count()
}

/// JSON that looks like what agents say, with anything anywhere.
fn likeness() -> impl Strategy<Value = String> {
    let word = select(vec![
        "type",
        "item",
        "part",
        "message",
        "content",
        "assistant",
        "result",
        "tool_use",
        "error",
        "system",
        "init",
        "text",
        "id",
        "session/update",
        "method",
        "params",
        "update",
        "tool_call_update",
        "toolCallId",
        "status",
        "completed",
        "agent_settled",
        "message_end",
        "stopReason",
        "todos",
        "response",
        "command",
        "turn.completed",
        "usage",
        "input_tokens",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
        ".{0,12}".prop_map(serde_json::Value::from),
    ];
    let tree = leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            proptest::collection::vec((word.clone(), inner), 0..5).prop_map(|fields| {
                fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    });
    tree.prop_map(|value| value.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn it_does_not_matter_where_a_recording_is_split(
        which in select(RECORDINGS.to_vec()),
        cuts in proptest::collection::vec(any::<Index>(), 0..12),
    ) {
        let (harness, name) = which;
        let bytes = fixture(name);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(play(harness, &pieces), play(harness, &[&bytes]));
    }

    #[test]
    fn a_recording_that_is_damaged_anywhere_ends_its_turn_once(
        which in select(RECORDINGS.to_vec()),
        places in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..40),
        end in any::<Index>(),
    ) {
        let (harness, name) = which;
        let mut bytes = fixture(name);
        bytes.truncate(end.index(bytes.len()));
        for (place, byte) in places {
            if !bytes.is_empty() {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let (events, sent) = play(harness, &[&bytes]);
        prop_assert_eq!(ends(&events), 1);
        prop_assert!(sent.iter().all(|line| !line.contains('\n')));
    }

    #[test]
    fn lookalikes_end_the_turn_once(
        harness in select(Harness::ALL[1..].to_vec()),
        lines in proptest::collection::vec(likeness(), 0..20),
    ) {
        let (events, _) = play(harness, &[format!("{}\n", lines.join("\n")).as_bytes()]);
        prop_assert_eq!(ends(&events), 1);
        // However odd they are, each call that is written down has its one result.
        let (mut tree, mut recorder) = (Tree::new(), Recorder::new(harness));
        for event in &events {
            recorder.event(&mut tree, event).unwrap();
        }
        let mut open = Vec::new();
        for item in tree.context() {
            match item {
                Item::Call { id, .. } => open.push(id),
                Item::Result { call, .. } => {
                    let at = open.iter().position(|id| *id == call);
                    prop_assert!(at.is_some());
                    at.map(|at| open.remove(at));
                }
                _ => {}
            }
        }
        prop_assert!(open.is_empty());
    }

    #[test]
    fn bytes_of_any_kind_break_nothing(
        harness in select(Harness::ALL[1..].to_vec()),
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        prop_assert_eq!(ends(&play(harness, &[&bytes]).0), 1);
    }
}

#[test]
fn a_line_without_end_is_passed_over() {
    let mut parser = Parser::new(Harness::Codex).unwrap();
    parser.prompt("x").unwrap();
    let piece = vec![b'x'; godel_agents::LINE_MAX_BYTES / 2 + 1];
    parser.feed(&piece);
    parser.feed(&piece);
    let told = parser.feed(b"\n{\"type\":\"turn.completed\",\"usage\":{}}\n");
    assert!(matches!(told.events[0], SessionEvent::Trouble { .. }));
    assert_eq!(ends(&told.events), 1);
}
