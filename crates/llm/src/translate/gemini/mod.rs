//! Gemini generateContent.

mod read_reply;
mod read_request;
mod write_reply;
mod write_request;

pub(crate) use read_reply::{Reader, read_whole};
pub(crate) use read_request::read_request;
pub(crate) use write_reply::{Writer, write_whole};
pub(crate) use write_request::write_request;

use super::json::Json;
use super::made_up::CARRIER;

/// Returns the entry of that name, which may also be written in snake case.
fn field<'a>(json: &'a Json, name: &str) -> Option<&'a Json> {
    json.get(name).or_else(|| {
        let mut snake = String::with_capacity(name.len() + 4);
        for each in name.chars() {
            if each.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(each.to_ascii_lowercase());
        }
        json.get(&snake)
    })
}

/// Makes a signature that carries the id of a call: many clients drop the id, but all return the
/// signature. It reads as base64, since some clients decode it.
fn carry(id: &str) -> String {
    let mut text = CARRIER.to_owned();
    for byte in id.bytes() {
        text.push_str(&format!("{byte:02x}"));
    }
    while !text.len().is_multiple_of(4) {
        text.push('z');
    }
    text
}

/// Returns the id that a signature carries, if it is one of ours.
fn carried(signature: &str) -> Option<String> {
    let hex = signature.strip_prefix(CARRIER)?.trim_end_matches('z').as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    String::from_utf8(hex.chunks(2).map(byte).collect::<Option<_>>()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_in_a_signature() {
        for id in ["", "a", "call_1", "toolu_01Abé|/"] {
            let signature = carry(id);
            assert!(
                signature.len().is_multiple_of(4) && signature.chars().all(char::is_alphanumeric)
            );
            assert_eq!(carried(&signature).as_deref(), Some(id));
        }
        assert_eq!(carried("CiQB"), None);
        assert_eq!(carried("godelids0"), None);
    }

    #[test]
    fn names_may_be_in_snake_case() {
        let json = Json::parse(br#"{"function_call":1}"#).unwrap();
        assert!(field(&json, "functionCall").is_some());
    }
}
