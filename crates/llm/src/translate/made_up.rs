//! What was made up for a client must not reach a provider of the client's own dialect, which would
//! refuse it: a session may move from a provider that is told to one that is passed through.

use memchr::memmem;

use super::json::Json;
use crate::Dialect;

/// The signature of thoughts that are not Anthropic's. Clients take a thought without any as
/// broken, and nobody but Anthropic looks into one.
pub(crate) const SIGNATURE: &str = "Z29kZWwtdHJhbnNsYXRlZC10aG91Z2h0";

/// Begins every id of a thought that is not of OpenAI's Responses.
pub(crate) const THOUGHT_ID: &str = "rs_godel_";

/// Begins every signature that carries the id of a call to a client of Gemini.
pub(crate) const CARRIER: &str = "godelids";

/// What stands for a signature of Gemini that is lost; the provider's documentation names it.
pub(crate) const SKIP: &str = "skip_thought_signature_validator";

/// Leaves out of a request what an earlier reply had made up for the client; returns nothing if
/// there is nothing to leave out, which costs no more than one look through the bytes.
pub fn without_made_up(dialect: Dialect, body: &[u8]) -> Option<Vec<u8>> {
    let mark = match dialect {
        Dialect::Chat => return None,
        Dialect::Responses => THOUGHT_ID,
        Dialect::Anthropic => SIGNATURE,
        Dialect::Gemini => CARRIER,
    };
    memmem::find(body, mark.as_bytes())?;
    let mut body = Json::parse(body).ok()?;
    let changed = match dialect {
        Dialect::Chat => false,
        Dialect::Responses => retain(&mut body, "input", |item| {
            !item.text("id").is_some_and(|id| id.starts_with(THOUGHT_ID))
        }),
        Dialect::Anthropic => of_anthropic(&mut body),
        Dialect::Gemini => of_gemini(&mut body),
    };
    changed.then(|| body.to_bytes())
}

fn of_anthropic(body: &mut Json) -> bool {
    let Some(Json::List(messages)) = body.get_mut("messages") else { return false };
    let (mut changed, mut lost) = (false, false);
    for message in messages.iter_mut() {
        if message.text("role") == Some("user") {
            let result = |block: &Json| block.text("type") == Some("tool_result");
            // A new turn needs no thoughts of those before.
            lost &= message.list("content").iter().any(result);
        }
        let gone = retain(message, "content", |block| block.text("signature") != Some(SIGNATURE));
        changed |= gone;
        lost |= gone;
    }
    messages.retain(
        |message| !matches!(message.get("content"), Some(Json::List(list)) if list.is_empty()),
    );
    if lost {
        // It demands the thoughts of the turn that goes on, so it cannot think in this one.
        body.remove("thinking");
        body.remove("context_management");
    }
    changed
}

fn of_gemini(body: &mut Json) -> bool {
    let Some(Json::List(contents)) = body.get_mut("contents") else { return false };
    let mut changed = false;
    for content in contents {
        let Some(Json::List(parts)) = content.get_mut("parts") else { continue };
        for part in parts {
            for key in ["thoughtSignature", "thought_signature"] {
                match part.get_mut(key) {
                    Some(Json::Text(signature)) if signature.starts_with(CARRIER) => {
                        SKIP.clone_into(signature);
                        changed = true;
                    }
                    _ => {}
                }
            }
        }
    }
    changed
}

/// Keeps those elements of a list that are wanted; tells whether any was not.
fn retain(parent: &mut Json, key: &str, wanted: impl Fn(&Json) -> bool) -> bool {
    let Some(Json::List(list)) = parent.get_mut(key) else { return false };
    let before = list.len();
    list.retain(wanted);
    list.len() < before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_anything_made_up_stays_as_it_is() {
        for dialect in Dialect::ALL {
            let body = br#"{"messages":[],"input":[{"id":"rs_1"}],"contents":[]}"#;
            assert_eq!(without_made_up(dialect, body), None);
        }
    }

    #[test]
    fn anthropic_gets_no_thoughts_that_are_not_its_own() {
        let thought = format!(r#"{{"type":"thinking","thinking":"x","signature":"{SIGNATURE}"}}"#);
        let call = r#"{"type":"tool_use","id":"c","name":"f","input":{}}"#;
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}"#;
        let body = |thought: &str, end: &str, thinking: &str| {
            format!(
                r#"{{"messages":[{{"role":"user","content":"a"}},
                {{"role":"assistant","content":[{thought}{call}]}},{result}{end}]{thinking}}}"#
            )
        };
        let thinking = r#","thinking":{"type":"enabled"}"#;
        let clean = |body: &str| {
            let made = without_made_up(Dialect::Anthropic, body.as_bytes()).unwrap();
            Json::parse(&made).unwrap()
        };
        let parse = |text: String| Json::parse(text.as_bytes()).unwrap();
        let thought = format!("{thought},");
        assert_eq!(clean(&body(&thought, "", thinking)), parse(body("", "", "")));
        let end = r#",{"role":"user","content":"b"}"#;
        assert_eq!(clean(&body(&thought, end, thinking)), parse(body("", end, thinking)));
    }

    #[test]
    fn responses_and_gemini_get_nothing_made_up_either() {
        let body = format!(r#"{{"input":[{{"id":"{THOUGHT_ID}1"}},{{"id":"rs_1"}}]}}"#);
        let made = without_made_up(Dialect::Responses, body.as_bytes()).unwrap();
        assert_eq!(made, br#"{"input":[{"id":"rs_1"}]}"#);
        let body =
            format!(r#"{{"contents":[{{"parts":[{{"thoughtSignature":"{CARRIER}00"}}]}}]}}"#);
        let made = without_made_up(Dialect::Gemini, body.as_bytes()).unwrap();
        assert!(String::from_utf8(made).unwrap().contains(SKIP));
    }
}
