//! How many tokens a request has, roughly.

use super::json::Json;
use crate::Dialect;

/// Bytes of text that make a token.
const TOKEN_BYTES: u64 = 4;

/// Tokens of a picture.
const IMAGE_TOKENS: u64 = 1500;

/// Tokens around each value: names, brackets, roles.
const VALUE_TOKENS: u64 = 1;

/// Estimates the input tokens of a request.
pub fn count_tokens_estimate(dialect: Dialect, body: &[u8]) -> u64 {
    let Ok(body) = Json::parse(body) else {
        return (body.len() as u64).div_ceil(TOKEN_BYTES);
    };
    // Gemini may wrap the request once more when it only counts.
    let inner = match dialect {
        Dialect::Gemini => body.get("generateContentRequest").unwrap_or(&body),
        Dialect::Chat | Dialect::Responses | Dialect::Anthropic => &body,
    };
    let (mut bytes, mut tokens, mut left) = (0_u64, 0_u64, vec![inner]);
    while let Some(value) = left.pop() {
        tokens += VALUE_TOKENS;
        match value {
            Json::Text(text) if text.starts_with("data:") => tokens += IMAGE_TOKENS,
            Json::Text(text) => bytes += text.len() as u64,
            Json::List(list) => left.extend(list),
            Json::Map(_) if is_data(value) => tokens += IMAGE_TOKENS,
            Json::Map(entries) => left.extend(entries.iter().map(|(_, value)| value)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    tokens + bytes.div_ceil(TOKEN_BYTES)
}

fn is_data(value: &Json) -> bool {
    let typed =
        ["media_type", "mimeType", "mime_type"].into_iter().any(|key| value.get(key).is_some());
    typed && value.text("data").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_counts_by_its_length_and_a_picture_as_one() {
        let text = format!(r#"{{"messages":[{{"content":"{}"}}]}}"#, "word ".repeat(800));
        let tokens = count_tokens_estimate(Dialect::Chat, text.as_bytes());
        assert!((1000..1010).contains(&tokens), "{tokens}");
        let image = format!(
            r#"{{"parts":[{{"inlineData":{{"mimeType":"image/png","data":"{}"}}}}]}}"#,
            "A".repeat(1_000_000)
        );
        let tokens = count_tokens_estimate(Dialect::Gemini, image.as_bytes());
        assert!((1500..1600).contains(&tokens), "{tokens}");
    }

    #[test]
    fn what_is_no_json_counts_by_its_length() {
        assert_eq!(count_tokens_estimate(Dialect::Anthropic, b"{2345"), 2);
    }
}
