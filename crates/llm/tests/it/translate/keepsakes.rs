//! What only the upstream understands returns to it, and to no other.

use std::sync::Arc;

use godel_llm::Dialect;
use godel_llm::translate::{Ask, KeepLimits, Keepsake, Keepsakes, Place, Thinks, request};
use serde_json::{Value, json};

use super::{ask, pairs, samples, tell};

/// Makes the request of the next turn, as a client in that dialect does, and tells it.
fn next_turn(ask: &Ask<'_>, kept: &[Keepsake]) -> Value {
    let mut body = samples::request(ask.from);
    // The round goes on: the user has not spoken since.
    match ask.from {
        Dialect::Chat => drop(body["messages"].as_array_mut().unwrap().pop()),
        Dialect::Responses => drop(body["input"].as_array_mut().unwrap().pop()),
        Dialect::Anthropic => drop(body["messages"][2]["content"].as_array_mut().unwrap().pop()),
        Dialect::Gemini => drop(body["contents"][2]["parts"].as_array_mut().unwrap().pop()),
    }
    let recall = |call: &str| -> Option<Arc<str>> {
        kept.iter().find(|keepsake| keepsake.call == call).map(|keepsake| keepsake.state.clone())
    };
    let told = request(ask, body.to_string().as_bytes(), &recall).unwrap();
    serde_json::from_slice(&told.body).unwrap()
}

/// Returns what is kept of the sample's reply, streamed and whole alike.
fn kept(ask: &Ask<'_>) -> Vec<Keepsake> {
    let told = || tell(ask, &samples::request(ask.from)).unwrap();
    let mut relay = told().back.stream();
    let mut out = Vec::new();
    relay.feed(samples::stream(ask.to).as_bytes(), &mut out).unwrap();
    assert!(relay.finish(&mut out).finished);
    let reply = samples::reply(ask.to).to_string();
    let whole = told().back.reply(reply.as_bytes()).unwrap().keepsakes;
    let streamed = relay.keepsakes();
    assert_eq!(whole, streamed);
    streamed
}

#[test]
fn thoughts_return_to_the_upstream_that_had_them() {
    for (from, to) in pairs() {
        let ask = Ask { thinks: Thinks::Budget, ..ask(from, to) };
        let kept = kept(&ask);
        assert_eq!(kept[0].call, "c1", "{to} to {from}");
        let body = next_turn(&ask, &kept);
        let (said, own) = match to {
            Dialect::Chat => (&body["messages"][2]["reasoning_content"], json!("Hm.")),
            Dialect::Responses => (
                &body["input"][1],
                json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "secret",
                    "summary": [{"type": "summary_text", "text": "Hm."}]}),
            ),
            Dialect::Anthropic => (
                &body["messages"][1]["content"][0],
                json!({"type": "thinking", "thinking": "Hm.", "signature": "secret"}),
            ),
            Dialect::Gemini => {
                (&body["contents"][1]["parts"][1]["thoughtSignature"], json!("secret"))
            }
        };
        assert_eq!(*said, own, "{to} to {from}: {body}");
        if to == Dialect::Anthropic {
            assert_eq!(body["thinking"]["type"], "enabled");
        }
        if to == Dialect::Gemini {
            assert_eq!(body["contents"][1]["parts"][2]["thoughtSignature"], Value::Null);
        }
    }
}

#[test]
fn lost_thoughts_do_no_harm() {
    for (from, to) in pairs() {
        let body = next_turn(&Ask { thinks: Thinks::Budget, ..ask(from, to) }, &[]);
        match to {
            Dialect::Anthropic => {
                assert_eq!(body["thinking"], Value::Null);
                assert_eq!(body["messages"][1]["content"][0]["type"], "text");
            }
            Dialect::Gemini => {
                let signature = &body["contents"][1]["parts"][1]["thoughtSignature"];
                assert_eq!(signature, "skip_thought_signature_validator");
            }
            Dialect::Chat | Dialect::Responses => {
                assert!(!body.to_string().contains("Hm."));
            }
        }
    }
}

#[test]
fn a_turn_without_thoughts_is_not_taken_for_a_lost_one() {
    let ask = Ask { thinks: Thinks::Budget, ..ask(Dialect::Chat, Dialect::Anthropic) };
    let first = json!({"reasoning_effort": "low", "messages": [{"role": "user", "content": "a"}]});
    let told = tell(&ask, &first).unwrap();
    let reply = json!({"stop_reason": "tool_use", "content": [
        {"type": "tool_use", "id": "c1", "name": "read", "input": {}},
        {"type": "tool_use", "id": "c2", "name": "list", "input": {}},
    ]});
    let kept = told.back.reply(reply.to_string().as_bytes()).unwrap().keepsakes;
    assert_eq!(next_turn(&ask, &kept)["thinking"]["type"], "enabled");
}

#[test]
fn a_client_of_gemini_that_drops_ids_gets_its_thoughts_back() {
    let ask = Ask { thinks: Thinks::Budget, ..ask(Dialect::Gemini, Dialect::Anthropic) };
    let told = tell(&ask, &samples::request(Dialect::Gemini)).unwrap();
    let reply = samples::reply(Dialect::Anthropic).to_string();
    let answer = told.back.reply(reply.as_bytes()).unwrap();
    let reply: Value = serde_json::from_slice(&answer.body).unwrap();
    let mut content = reply["candidates"][0]["content"].clone();
    for part in content["parts"].as_array_mut().unwrap() {
        if let Some(call) = part.get_mut("functionCall") {
            call.as_object_mut().unwrap().remove("id");
        }
    }
    let mut request = samples::request(Dialect::Gemini);
    request["contents"][1] = content;
    request["contents"][2] = json!({"role": "user", "parts": [
        {"functionResponse": {"name": "read", "response": {"output": "one"}}},
        {"functionResponse": {"name": "list", "response": {"output": "two"}}},
    ]});
    let mut keepsakes = Keepsakes::new(KeepLimits::default());
    let place = Place { scope: "session", provider: "anthropic" };
    for keepsake in answer.keepsakes {
        keepsakes.put(place, keepsake, 0);
    }
    let keepsakes = std::cell::RefCell::new(keepsakes);
    let recall = |call: &str| keepsakes.borrow_mut().get(place, call, 1);
    let told =
        godel_llm::translate::request(&ask, request.to_string().as_bytes(), &recall).unwrap();
    let body: Value = serde_json::from_slice(&told.body).unwrap();
    assert_eq!(body["messages"][1]["content"][0]["signature"], "secret");
    assert_eq!(body["messages"][1]["content"][2]["id"], "c1");
    assert_eq!(body["messages"][2]["content"][1]["tool_use_id"], "c2");
}
