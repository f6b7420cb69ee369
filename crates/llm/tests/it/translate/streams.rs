//! Streamed replies told in the client's dialect.

use godel_llm::Dialect;
use godel_llm::translate::{Ask, BadReply, Ended, Relay};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::replies::expected;
use super::{ask, facts, pairs, samples, tell};

fn relay(from: Dialect, to: Dialect) -> Relay {
    tell(&ask(from, to), &samples::request(from)).unwrap().back.stream()
}

/// Feeds a stream in pieces and returns what the client gets.
fn relayed(mut relay: Relay, pieces: &[&[u8]]) -> (Vec<u8>, Ended) {
    let mut out = Vec::new();
    for piece in pieces {
        relay.feed(piece, &mut out).unwrap();
    }
    let ended = relay.finish(&mut out);
    (out, ended)
}

/// Tells whether a client would take the stream as ended.
fn looks_ended(from: Dialect, out: &[u8]) -> bool {
    facts::events(from, out).iter().any(|event| match from {
        Dialect::Chat => *event == "done" || event["choices"][0]["finish_reason"].is_string(),
        Dialect::Responses => {
            let kind = event["type"].as_str().unwrap();
            matches!(kind, "response.completed" | "response.incomplete" | "response.failed")
        }
        Dialect::Anthropic => event["type"] == "message_stop" || event["type"] == "message_delta",
        Dialect::Gemini => event["candidates"][0]["finishReason"].is_string(),
    })
}

#[test]
fn a_stream_says_the_same_as_a_whole_reply() {
    for (from, to) in pairs() {
        let (out, ended) = relayed(relay(from, to), &[samples::stream(to).as_bytes()]);
        assert_eq!(facts::stream(from, &out), expected(from), "{to} to {from}");
        assert!(ended.finished && !ended.paused);
        let usage = ended.usage.unwrap();
        assert_eq!((usage.input, usage.cache_read), (10, 7), "{to}");
        assert_eq!((usage.output, usage.reasoning), (20, 4), "{to}");
    }
}

#[test]
fn it_does_not_matter_where_a_stream_is_split() {
    for (from, to) in pairs() {
        let stream = samples::stream(to);
        let (whole, _) = relayed(relay(from, to), &[stream.as_bytes()]);
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(relayed(relay(from, to), &bytes).0, whole, "{to} to {from}");
        for cut in (0..stream.len()).step_by(13) {
            let (first, second) = stream.as_bytes().split_at(cut);
            assert_eq!(relayed(relay(from, to), &[first, second]).0, whole);
        }
    }
}

#[test]
fn a_stream_that_is_cut_never_looks_ended() {
    for (from, to) in pairs() {
        let stream = samples::stream(to);
        // What tells the end upstream; from there on it may be told.
        let end = stream.rfind(match to {
            Dialect::Chat => "\"finish_reason\":\"tool_calls\"",
            Dialect::Responses => "event: response.completed",
            Dialect::Anthropic => "event: message_stop",
            Dialect::Gemini => "\"finishReason\"",
        });
        let frames = stream.match_indices("\n\n").map(|(at, _)| at);
        let cuts = (0..end.unwrap()).step_by(11).chain(frames.filter(|at| *at < end.unwrap()));
        for cut in cuts.chain([end.unwrap()]) {
            let mut relay = relay(from, to);
            let mut out = Vec::new();
            relay.feed(&stream.as_bytes()[..cut], &mut out).unwrap();
            let ended = relay.finish(&mut out);
            assert!(!ended.finished, "{to} to {from}, cut at {cut}");
            assert!(!looks_ended(from, &out), "{to} to {from}, cut at {cut}");
        }
    }
}

#[test]
fn the_first_words_are_told_at_once() {
    for (from, to) in pairs() {
        let stream = samples::stream(to);
        let first = stream.find("Say").unwrap();
        let (mut relay, mut out) = (relay(from, to), Vec::new());
        let frame = stream[first..].find("\n\n").or_else(|| stream[first..].find("\r\n\r\n"));
        relay.feed(&stream.as_bytes()[..first + frame.unwrap() + 4], &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        // One provider splits its first words within the first of them.
        let word = if to == Dialect::Responses { "Sa" } else { "Say" };
        assert!(out.contains(&format!("\"{word}")), "{to} to {from}: {out}");
    }
}

#[test]
fn a_failure_in_the_middle_is_told_to_the_caller_and_to_the_client() {
    for (from, to) in pairs() {
        let error = json!({"type": "overloaded", "message": "too much"});
        let event = match to {
            Dialect::Chat | Dialect::Gemini => format!("data: {}\n\n", json!({"error": error})),
            Dialect::Anthropic => samples::named(&[json!({"type": "error", "error": error})]),
            Dialect::Responses => {
                samples::named(&[json!({"type": "response.failed", "response": {"error": error}})])
            }
        };
        let stream = samples::stream(to);
        let half = stream[..stream.len() / 2].rfind("\n\n").map_or(0, |at| at + 2);
        let (mut relay, mut out) = (relay(from, to), Vec::new());
        relay.feed(&stream.as_bytes()[..half], &mut out).unwrap();
        let told = out.len();
        let failed = BadReply::Failed { code: "overloaded".into(), message: "too much".into() };
        assert_eq!(relay.feed(event.as_bytes(), &mut out), Err(failed.clone()), "{to}");
        assert_eq!(relay.feed(stream.as_bytes(), &mut out), Err(failed));
        assert!(!relay.finish(&mut out).finished);
        assert_eq!(out.len(), told);
        relay.fail("gone", &mut out);
        let events = facts::events(from, &out);
        let last = events.last().unwrap();
        let message = match from {
            Dialect::Responses => {
                assert_eq!(last["type"], "response.failed");
                assert_eq!(last["sequence_number"], json!(events.len() - 1));
                &last["response"]["error"]["message"]
            }
            _ => &last["error"]["message"],
        };
        assert_eq!(message, "gone", "{from}");
    }
}

#[test]
fn usage_is_told_only_to_those_who_asked() {
    let mut request = samples::request(Dialect::Chat);
    request["stream_options"] = Value::Null;
    for to in [Dialect::Responses, Dialect::Anthropic, Dialect::Gemini] {
        let told = tell(&ask(Dialect::Chat, to), &request).unwrap();
        let (out, ended) = relayed(told.back.stream(), &[samples::stream(to).as_bytes()]);
        assert!(!String::from_utf8(out).unwrap().contains("usage"));
        assert!(ended.usage.is_some());
    }
}

#[test]
fn gemini_without_events_gets_one_array() {
    let ask = Ask { array: true, ..ask(Dialect::Gemini, Dialect::Anthropic) };
    let told = || tell(&ask, &samples::request(Dialect::Gemini)).unwrap().back.stream();
    let stream = samples::stream(Dialect::Anthropic);
    let (out, _) = relayed(told(), &[stream.as_bytes()]);
    let chunks: Vec<Value> = serde_json::from_slice(&out).unwrap();
    assert!(chunks.len() > 4);
    assert_eq!(chunks.last().unwrap()["candidates"][0]["finishReason"], "STOP");
    let (mut relay, mut out) = (told(), Vec::new());
    relay.feed(&stream.as_bytes()[..stream.len() / 2], &mut out).unwrap();
    assert!(!relay.finish(&mut out).finished);
    assert!(serde_json::from_slice::<Value>(&out).is_err());
    relay.fail("gone", &mut out);
    let chunks: Vec<Value> = serde_json::from_slice(&out).unwrap();
    assert_eq!(chunks.last().unwrap()["error"]["message"], "gone");
}

#[test]
fn a_reply_is_cut_where_the_upstream_knows_no_stop_sequences() {
    let mut request = samples::request(Dialect::Anthropic);
    request["stop_sequences"] = json!(["ay é"]);
    let told = tell(&ask(Dialect::Anthropic, Dialect::Responses), &request).unwrap();
    let stream = samples::stream(Dialect::Responses);
    let (out, ended) = relayed(told.back.stream(), &[stream.as_bytes()]);
    assert!(ended.finished);
    let facts = facts::stream(Dialect::Anthropic, &out);
    assert_eq!(facts, ["thought Hm.", "text S", "stop stop_sequence", "usage 17 7 20 4"]);
}

fn chat(deltas: &[Value]) -> String {
    let chunk = |delta: &Value| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}));
    let reason = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    deltas.iter().map(chunk).chain([format!("data: {reason}\n\n")]).collect()
}

#[test]
fn the_habits_of_other_chat_providers_are_understood() {
    // All in one piece and with the same index, a name that comes late, no input, no [DONE].
    let stream = chat(&[
        json!({"tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"a\":1}"}},
            {"index": 0, "id": "b", "function": {"name": "read", "arguments": "{\"a\":2}"}},
            {"index": 0, "id": "c", "function": {"name": "list", "arguments": {"a": 3}}},
        ]}),
        json!({"tool_calls": [{"index": 1, "id": "d", "function": {"arguments": "{\"a\""}}]}),
        json!({"tool_calls": [{"index": 1, "function": {"name": "list", "arguments": ":4}"}}]}),
        json!({"tool_calls": [{"index": 2, "function": {"name": "list"}}], "content": ""}),
    ]);
    let (out, ended) = relayed(relay(Dialect::Anthropic, Dialect::Chat), &[stream.as_bytes()]);
    assert!(ended.finished);
    let facts = facts::stream(Dialect::Anthropic, &out);
    let expected = [
        "call a read {\"a\":1}",
        "call b read {\"a\":2}",
        "call c list {\"a\":3}",
        "call d list {\"a\":4}",
        "call toolu_req-1_4 list {}",
        "stop tool_use",
        "usage 0 0 0 0",
    ];
    assert_eq!(facts, expected);
}

#[test]
fn pieces_of_several_calls_that_are_mixed_are_refused() {
    let stream = chat(&[
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "read"}}]}),
        json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "read"}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
    ]);
    let mut relay = relay(Dialect::Anthropic, Dialect::Chat);
    let told = relay.feed(stream.as_bytes(), &mut Vec::new());
    assert!(matches!(told, Err(BadReply::Malformed(_))));
}

#[test]
fn a_stream_of_responses_may_tell_only_whole_items() {
    let whole = samples::reply(Dialect::Responses);
    let mut events: Vec<Value> = whole["output"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| json!({"type": "response.output_item.done", "item": item}))
        .collect();
    events.push(json!({"type": "response.completed", "response": whole}));
    for stream in [samples::named(&events), samples::named(&events[4..])] {
        let (out, _) = relayed(relay(Dialect::Chat, Dialect::Responses), &[stream.as_bytes()]);
        assert_eq!(facts::stream(Dialect::Chat, &out), expected(Dialect::Chat));
    }
}

#[test]
fn a_custom_tool_gets_its_text_in_a_stream_too() {
    let request = json!({"input": "a", "tools": [{"type": "custom", "name": "read"}]});
    let told = tell(&ask(Dialect::Responses, Dialect::Anthropic), &request).unwrap();
    let stream = samples::stream(Dialect::Anthropic).replace("\\\"path\\\"", "\\\"input\\\"");
    let (out, _) = relayed(told.back.stream(), &[stream.as_bytes()]);
    let events = facts::events(Dialect::Responses, &out);
    let find = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!(find("response.custom_tool_call_input.delta")["delta"], "x");
    assert_eq!(find("response.custom_tool_call_input.done")["input"], "x");
    let end = &events.last().unwrap()["response"]["output"][2];
    assert_eq!((&end["type"], &end["input"]), (&json!("custom_tool_call"), &json!("x")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_split_gives_the_same_stream(
        pair in 0_usize..12,
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let (from, to) = pairs().nth(pair).unwrap();
        let stream = samples::stream(to);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> =
            cuts.windows(2).map(|pair| &stream.as_bytes()[pair[0]..pair[1]]).collect();
        let whole = relayed(relay(from, to), &[stream.as_bytes()]);
        prop_assert_eq!(relayed(relay(from, to), &pieces), whole);
    }
}
