//! What cannot be told is refused by name.

use godel_llm::Dialect;
use godel_llm::translate::{Ask, Thinks, Untranslatable, request};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ask, pairs, samples, tell, told};

/// Puts something into the sample's request and returns the refusal.
fn refusal(from: Dialect, to: Dialect, place: &str, value: Value) -> String {
    let mut body = samples::request(from);
    let (parent, key) = place.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Array(list) => list.push(value),
        parent => parent[key] = value,
    }
    tell(&ask(from, to), &body).map(drop).unwrap_err().to_string()
}

#[test]
fn what_only_openai_can_do_is_named() {
    for (place, value, feature) in [
        ("/n", json!(2), "more than one answer (n)"),
        ("/logprobs", json!(true), "logprobs"),
        ("/audio", json!({}), "audio output"),
        ("/web_search_options", json!({}), "the server tool web_search"),
        ("/functions", json!([]), "the old field functions (use tools)"),
        ("/logit_bias", json!({"50256": -100}), "logit_bias"),
        ("/presence_penalty", json!(0.5), "presence_penalty"),
        ("/frequency_penalty", json!(-0.5), "frequency_penalty"),
        ("/messages/1/content/-", json!({"type": "input_audio", "input_audio": {}}), "audio"),
        ("/messages/1/content/-", json!({"type": "file", "file": {}}), "a document (file)"),
    ] {
        let told = refusal(Dialect::Chat, Dialect::Anthropic, place, value);
        let expected = format!("{feature} cannot be told to a provider that speaks anthropic");
        assert_eq!(told, expected);
    }
    for (place, value, feature) in [
        ("/previous_response_id", json!("r"), "previous_response_id"),
        ("/tools/-", json!({"type": "web_search"}), "the server tool web_search"),
        ("/input/-", json!({"type": "additional_tools", "tools": []}), "additional_tools"),
        ("/input/-", json!({"type": "web_search_call"}), "the server tool web_search"),
        ("/input/0/content/-", json!({"type": "input_file"}), "a document (input_file)"),
        ("/background", json!(true), "background replies"),
        ("/truncation", json!("auto"), "leaving out what is too long (truncation)"),
    ] {
        let told = refusal(Dialect::Responses, Dialect::Gemini, place, value);
        assert!(told.starts_with(feature), "{told}");
    }
}

#[test]
fn what_only_anthropic_and_gemini_can_do_is_named() {
    for (place, value, feature) in [
        ("/tools/-", json!({"type": "web_search_20250305", "name": "w"}), "the server tool web_"),
        ("/messages/0/content/-", json!({"type": "document", "source": {}}), "a document"),
        (
            "/messages/1/content/-",
            json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
            "the server tool web_search",
        ),
        ("/mcp_servers", json!([{}]), "MCP servers"),
    ] {
        let told = refusal(Dialect::Anthropic, Dialect::Chat, place, value);
        assert!(told.starts_with(feature), "{told}");
    }
    for (place, value, feature) in [
        ("/tools/-", json!({"googleSearch": {}}), "the server tool googleSearch"),
        ("/cachedContent", json!("c"), "content that the provider has cached"),
        ("/generationConfig/candidateCount", json!(2), "more than one answer"),
        ("/generationConfig/responseModalities", json!(["AUDIO"]), "the output audio"),
        (
            "/contents/0/parts/-",
            json!({"inlineData": {"mimeType": "application/pdf", "data": ""}}),
            "a document (application/pdf)",
        ),
    ] {
        let told = refusal(Dialect::Gemini, Dialect::Anthropic, place, value);
        assert!(told.starts_with(feature), "{told}");
    }
}

#[test]
fn what_the_upstream_has_no_word_for_is_named() {
    let url = json!({"type": "image_url", "image_url": {"url": "https://x/y.png"}});
    let told = refusal(Dialect::Chat, Dialect::Gemini, "/messages/1/content/-", url);
    assert!(told.starts_with("an image that is given by its URL"), "{told}");
}

#[test]
fn penalties_and_seeds_are_told_where_there_are_words_for_them() {
    let mut chat = samples::request(Dialect::Chat);
    chat["presence_penalty"] = json!(0.5);
    chat["frequency_penalty"] = json!(0.25);
    chat["seed"] = json!(7);
    let gemini = told(&ask(Dialect::Chat, Dialect::Gemini), &chat);
    let config = &gemini["generationConfig"];
    assert_eq!(
        (&config["presencePenalty"], &config["frequencyPenalty"]),
        (&json!(0.5), &json!(0.25))
    );
    assert_eq!(config["seed"], 7);
    let plain = Ask { thinks: Thinks::Never, ..ask(Dialect::Gemini, Dialect::Chat) };
    let back = told(&plain, &gemini);
    for name in ["presence_penalty", "frequency_penalty", "seed"] {
        assert_eq!(back[name], chat[name], "{name}");
    }
    // What changes nothing need not be told, and a seed is a wish.
    for penalty in ["presence_penalty", "frequency_penalty"] {
        chat[penalty] = json!(0);
    }
    chat["logit_bias"] = json!({});
    for to in [Dialect::Anthropic, Dialect::Responses] {
        let other = told(&ask(Dialect::Chat, to), &chat);
        let text = other.to_string();
        assert!(!text.contains("penalty") && !text.contains("seed"), "{text}");
    }
}

#[test]
fn unknown_fields_that_do_no_harm_are_ignored() {
    for (from, to) in pairs() {
        let mut body = samples::request(from);
        body["client_metadata"] = json!({"x": 1});
        body["routing"] = json!({});
        assert!(tell(&ask(from, to), &body).is_ok());
    }
}

#[test]
fn a_body_that_is_not_of_the_dialect_is_malformed() {
    for (from, to) in pairs() {
        for body in ["", "{", "[]", "{}", "7", r#"{"messages":1,"input":1,"contents":1}"#] {
            let told = request(&ask(from, to), body.as_bytes(), &|_| None).map(drop);
            assert!(matches!(told, Err(Untranslatable::Malformed { .. })), "{from}: {body}");
        }
    }
}

/// Replaces one value somewhere in a tree.
fn mutate(value: &mut Value, steps: &mut std::slice::Iter<'_, usize>, by: Value) {
    let step = steps.next().copied();
    match (value, step) {
        (Value::Array(list), Some(step)) if !list.is_empty() => {
            let place = step % list.len();
            mutate(&mut list[place], steps, by);
        }
        (Value::Object(map), Some(step)) if !map.is_empty() => {
            let place = step % map.len();
            mutate(map.values_mut().nth(place).unwrap(), steps, by);
        }
        (value, _) => *value = by,
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[], {}, null, 1, "x", {"type": "text"}, {"type": "function"}])),
        Just(json!({"type": "x", "role": "user", "parts": 1, "content": [{}], "id": ""})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_request_makes_it_panic(
        pair in 0_usize..12,
        changes in proptest::collection::vec(
            (proptest::collection::vec(0_usize..9, 1..7), any_value()), 1..4),
    ) {
        let (from, to) = pairs().nth(pair).unwrap();
        let mut body = samples::request(from);
        for (steps, value) in changes {
            mutate(&mut body, &mut steps.iter(), value);
        }
        let _ = tell(&ask(from, to), &body);
    }

    #[test]
    fn no_bytes_make_it_panic(
        pair in 0_usize..12,
        bytes in proptest::collection::vec(any::<u8>(), 0..64),
        place in any::<prop::sample::Index>(),
    ) {
        let (from, to) = pairs().nth(pair).unwrap();
        let told = tell(&ask(from, to), &samples::request(from)).unwrap();
        let mut stream = samples::stream(to).into_bytes();
        let place = place.index(stream.len());
        stream.splice(place..place, bytes);
        let (mut relay, mut out) = (told.back.stream(), Vec::new());
        let _ = relay.feed(&stream, &mut out);
        relay.finish(&mut out);
        let _ = request(&ask(from, to), &stream[place..], &|_| None);
    }

    #[test]
    fn no_reply_makes_it_panic(
        pair in 0_usize..12,
        changes in proptest::collection::vec(
            (proptest::collection::vec(0_usize..9, 1..7), any_value()), 1..4),
    ) {
        let (from, to) = pairs().nth(pair).unwrap();
        let told = tell(&ask(from, to), &samples::request(from)).unwrap();
        let mut body = samples::reply(to);
        for (steps, value) in &changes {
            mutate(&mut body, &mut steps.iter(), value.clone());
        }
        let _ = told.back.reply(body.to_string().as_bytes());
        let (mut relay, mut out) = (told.back.stream(), Vec::new());
        for frame in samples::stream(to).replace('\r', "").split_inclusive("\n\n") {
            let Some((head, data)) = frame.split_once("data: {") else { continue };
            let mut data: Value = serde_json::from_str(&format!("{{{}", data.trim())).unwrap();
            for (steps, value) in &changes {
                mutate(&mut data, &mut steps.iter(), value.clone());
            }
            let frame = format!("{head}data: {data}\n\n");
            if relay.feed(frame.as_bytes(), &mut out).is_err() {
                break;
            }
        }
        relay.finish(&mut out);
        relay.fail("gone", &mut out);
    }
}
