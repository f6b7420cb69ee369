//! What a request used, as each dialect tells it.

mod lenient;
mod text;

use godel_model::{Tier, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::Dialect;
use lenient::{Count, Object, Served};

/// What OpenAI tells of its tokens, by the names of Chat and of Responses: others tell both at once.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenAi {
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: Object<InputDetails>,
    completion_tokens_details: Object<OutputDetails>,
    input_tokens: Count,
    output_tokens: Count,
    input_tokens_details: Object<InputDetails>,
    output_tokens_details: Object<OutputDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
    thinking_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Anthropic {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    cache_creation: Object<Written>,
    output_tokens_details: Object<OutputDetails>,
    server_tool_use: Object<ServerTools>,
    service_tier: Served,
    speed: Served,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    ephemeral_5m_input_tokens: Count,
    ephemeral_1h_input_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServerTools {
    web_search_requests: Count,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Gemini {
    prompt_token_count: Count,
    cached_content_token_count: Count,
    tool_use_prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    service_tier: Served,
    traffic_type: Served,
}

/// Reads what a provider tells in its `usage` (Gemini: `usageMetadata`); nothing if it is none.
pub fn read_usage(dialect: Dialect, told: &Value) -> Option<Usage> {
    told.as_object()?;
    read(dialect, told)
}

/// Reads the same as it stands in a reply. What says a thing twice means the last of it.
pub(crate) fn read_usage_text(dialect: Dialect, told: &[u8]) -> Option<Usage> {
    let plain = match dialect {
        // Names may be written with signs that nobody needs.
        _ if told.contains(&b'\\') => None,
        Dialect::Chat => text::read(told).map(OpenAi::chat),
        Dialect::Responses => text::read(told).map(OpenAi::responses),
        Dialect::Anthropic => text::read(told).map(|told: Anthropic| told.usage()),
        Dialect::Gemini => text::read(told).map(|told: Gemini| told.usage()),
    };
    plain.or_else(|| read_usage(dialect, &serde_json::from_slice(told).ok()?))
}

fn read<'de>(dialect: Dialect, told: impl serde::Deserializer<'de>) -> Option<Usage> {
    Some(match dialect {
        Dialect::Chat => OpenAi::deserialize(told).ok()?.chat(),
        Dialect::Responses => OpenAi::deserialize(told).ok()?.responses(),
        Dialect::Anthropic => Anthropic::deserialize(told).ok()?.usage(),
        Dialect::Gemini => Gemini::deserialize(told).ok()?.usage(),
    })
}

impl OpenAi {
    fn chat(self) -> Usage {
        let all = (self.prompt_tokens, self.completion_tokens);
        open_ai(all, self.prompt_tokens_details.0, self.completion_tokens_details.0)
    }

    fn responses(self) -> Usage {
        let all = (self.input_tokens, self.output_tokens);
        open_ai(all, self.input_tokens_details.0, self.output_tokens_details.0)
    }
}

fn open_ai((all, output): (Count, Count), input: InputDetails, outputs: OutputDetails) -> Usage {
    let (read, written) = (input.cached_tokens.0, input.cache_write_tokens.0);
    Usage {
        input: all.0.saturating_sub(read).saturating_sub(written),
        cache_read: read,
        cache_write_5m: written,
        output: output.0,
        reasoning: outputs.reasoning_tokens.0,
        ..Usage::default()
    }
}

impl Anthropic {
    fn usage(self) -> Usage {
        let written = self.cache_creation.0;
        let (short, long) =
            (written.ephemeral_5m_input_tokens.0, written.ephemeral_1h_input_tokens.0);
        // Older replies tell only the sum.
        let rest = self.cache_creation_input_tokens.0.saturating_sub(short + long);
        let fast = self.speed.0.filter(|speed| *speed != Tier::Standard);
        Usage {
            input: self.input_tokens.0,
            cache_read: self.cache_read_input_tokens.0,
            cache_write_5m: short + rest,
            cache_write_1h: long,
            output: self.output_tokens.0,
            reasoning: self.output_tokens_details.0.thinking_tokens.0,
            // Searches are paid for one by one; to fetch a page costs nothing but its tokens.
            server_tools: self.server_tool_use.0.web_search_requests.0,
            tier: fast.or(self.service_tier.0).unwrap_or_default(),
        }
    }
}

impl Gemini {
    fn usage(self) -> Usage {
        let (cache_read, reasoning) =
            (self.cached_content_token_count.0, self.thoughts_token_count.0);
        let prompt = self.prompt_token_count.0.saturating_sub(cache_read);
        let tier = self.service_tier.0.filter(|tier| *tier != Tier::Standard);
        Usage {
            input: prompt + self.tool_use_prompt_token_count.0,
            cache_read,
            output: self.candidates_token_count.0 + reasoning,
            reasoning,
            tier: tier.or(self.traffic_type.0).unwrap_or_default(),
            ..Usage::default()
        }
    }
}

/// Reads how a request was served; as usual if nothing is said of it.
pub(crate) fn tier(told: &Value) -> Tier {
    told.as_str().map(Tier::named).unwrap_or_default()
}

/// Puts what a stream told later over what it told before: counts add up along a stream, so the last
/// one that is there is the right one.
pub(crate) fn laid_over(before: Value, later: &Value) -> Value {
    let (Value::Object(mut all), Value::Object(later)) = (before, later) else {
        return later.clone();
    };
    for (name, value) in later {
        if !value.is_null() {
            all.insert(name.clone(), value.clone());
        }
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_dialect_counts_in_its_own_way() {
        let chat = json!({"prompt_tokens": 100, "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 20},
            "completion_tokens_details": {"reasoning_tokens": 3}});
        let same = Usage {
            input: 40,
            cache_read: 40,
            cache_write_5m: 20,
            output: 7,
            reasoning: 3,
            ..Usage::default()
        };
        assert_eq!(read_usage(Dialect::Chat, &chat), Some(same));
        let responses = json!({"input_tokens": 100, "output_tokens": 7,
            "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 20},
            "output_tokens_details": {"reasoning_tokens": 3}});
        assert_eq!(read_usage(Dialect::Responses, &responses), Some(same));
        let anthropic = json!({"input_tokens": 40, "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 20, "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 3}});
        assert_eq!(read_usage(Dialect::Anthropic, &anthropic), Some(same));
        let hours = json!({"input_tokens": 1, "cache_creation_input_tokens": 30, "output_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
            "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 5}});
        let hours = read_usage(Dialect::Anthropic, &hours).unwrap();
        assert_eq!((hours.cache_write_5m, hours.cache_write_1h), (10, 20));
        assert_eq!((hours.server_tools, hours.input_all()), (2, 31));
        let gemini = json!({"promptTokenCount": 80, "cachedContentTokenCount": 40,
            "candidatesTokenCount": 4, "thoughtsTokenCount": 3, "toolUsePromptTokenCount": 5});
        let gemini = read_usage(Dialect::Gemini, &gemini).unwrap();
        assert_eq!(
            (gemini.input, gemini.cache_read, gemini.output, gemini.reasoning),
            (45, 40, 7, 3)
        );
        for dialect in Dialect::ALL {
            assert_eq!(read_usage(dialect, &Value::Null), None);
            assert_eq!(read_usage_text(dialect, b"[]"), None);
        }
    }

    #[test]
    fn what_no_provider_could_mean_counts_nothing_and_spoils_nothing() {
        for odd in ["null", "-3", "1.5", "\"7\"", "true", "[1]", "{\"a\":1}", "99999999999999"] {
            let told = format!(
                r#"{{"x":{odd},"prompt_tokens":{odd},"prompt_tokens_details":{odd},"completion_tokens":7}}"#
            );
            let usage = read_usage_text(Dialect::Chat, told.as_bytes()).unwrap();
            assert_eq!(usage, Usage { output: 7, ..Usage::default() }, "{odd}");
            let tree: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(read_usage(Dialect::Chat, &tree), Some(usage), "{odd}");
            let told = format!(r#"{{"service_tier":{odd},"speed":{odd},"input_tokens":7}}"#);
            assert_eq!(read_usage_text(Dialect::Anthropic, told.as_bytes()).unwrap().input, 7);
        }
        let both =
            br#"{"prompt_tokens":1,"completion_tokens":2,"input_tokens":1,"output_tokens":2}"#;
        for dialect in [Dialect::Chat, Dialect::Responses] {
            let usage = read_usage_text(dialect, both).unwrap();
            assert_eq!((usage.input, usage.output), (1, 2), "{dialect:?}");
        }
        let twice = br#"{"prompt_tokens":1,"prompt_tokens":2,"completion_tokens":3}"#;
        let usage = read_usage_text(Dialect::Chat, twice).unwrap();
        assert_eq!((usage.input, usage.output), (2, 3), "the last word counts");
    }

    /// A value that a provider might tell, sensible or not.
    fn odd() -> impl Strategy<Value = Value> {
        prop_oneof![
            (0_u64..100).prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            Just(Value::Null),
            Just(json!(["flex"])),
            "[a-z\"\\\\é]{0,4}".prop_map(Value::from),
            Just(json!("priority")),
            Just(json!("ON_DEMAND_FLEX")),
        ]
    }

    fn told() -> impl Strategy<Value = Value> {
        const NAMES: [&str; 16] = [
            "prompt_tokens",
            "completion_tokens",
            "input_tokens",
            "output_tokens",
            "cached_tokens",
            "cache_write_tokens",
            "reasoning_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "ephemeral_1h_input_tokens",
            "web_search_requests",
            "service_tier",
            "speed",
            "promptTokenCount",
            "trafficType",
            "x\"y",
        ];
        const OBJECTS: [&str; 6] = [
            "prompt_tokens_details",
            "completion_tokens_details",
            "output_tokens_details",
            "input_tokens_details",
            "cache_creation",
            "server_tool_use",
        ];
        let flat = || {
            let entry = (prop::sample::select(&NAMES[..]), odd());
            prop::collection::hash_map(entry.0, entry.1, 0..8)
        };
        let nested = prop::collection::hash_map(prop::sample::select(&OBJECTS[..]), flat(), 0..4);
        (flat(), nested).prop_map(|(flat, nested)| {
            let mut all: serde_json::Map<String, Value> =
                flat.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            all.extend(nested.into_iter().map(|(name, value)| (name.to_owned(), json!(value))));
            Value::Object(all)
        })
    }

    proptest! {
        #[test]
        fn a_text_is_read_as_its_tree_is(told in told(), pretty: bool) {
            let text = if pretty { format!("{told:#}") } else { told.to_string() };
            for dialect in Dialect::ALL {
                let read = read_usage_text(dialect, text.as_bytes());
                prop_assert_eq!(read, read_usage(dialect, &told), "{}: {}", dialect, text);
            }
        }
    }

    #[test]
    fn how_a_request_was_served_is_read_where_it_stands_in_the_usage() {
        let anthropic = |told: Value| read_usage(Dialect::Anthropic, &told).unwrap().tier;
        assert_eq!(anthropic(json!({})), Tier::Standard);
        assert_eq!(anthropic(json!({"service_tier": "standard"})), Tier::Standard);
        assert_eq!(anthropic(json!({"service_tier": "priority"})), Tier::Priority);
        let fast = json!({"service_tier": "standard", "speed": "fast"});
        assert_eq!(anthropic(fast), Tier::Fast);
        let slow = json!({"service_tier": "batch", "speed": "standard"});
        assert_eq!(anthropic(slow), Tier::Batch);
        let gemini = |told: Value| read_usage(Dialect::Gemini, &told).unwrap().tier;
        assert_eq!(gemini(json!({"serviceTier": "SERVICE_TIER_FLEX"})), Tier::Flex);
        assert_eq!(gemini(json!({"trafficType": "ON_DEMAND_PRIORITY"})), Tier::Priority);
        assert_eq!(gemini(json!({"trafficType": "ON_DEMAND"})), Tier::Standard);
    }
}
