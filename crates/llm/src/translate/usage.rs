//! What each dialect says about used tokens.

use super::json::{Json, lean, object};
use crate::{Dialect, Tier, Usage};

/// Reads a usage object of OpenAI's: `kinds` are the names of input and output.
fn read_openai(usage: &Json, kinds: [&str; 2]) -> Usage {
    let [input, output] = kinds;
    let detail = |kind: &str, key: &str| {
        usage.get(&format!("{kind}_details")).and_then(|details| details.count(key)).unwrap_or(0)
    };
    let (cached, written) = (detail(input, "cached_tokens"), detail(input, "cache_write_tokens"));
    Usage {
        input: usage.count(input).unwrap_or(0).saturating_sub(cached).saturating_sub(written),
        cache_read: cached,
        cache_write_5m: written,
        output: usage.count(output).unwrap_or(0),
        reasoning: detail(output, "reasoning_tokens"),
        ..Usage::default()
    }
}

/// Reads a usage object.
pub(crate) fn read(dialect: Dialect, usage: &Json) -> Usage {
    let mut read = Usage::default();
    match dialect {
        Dialect::Chat => read = read_openai(usage, ["prompt_tokens", "completion_tokens"]),
        Dialect::Responses => read = read_openai(usage, ["input_tokens", "output_tokens"]),
        Dialect::Anthropic => merge_anthropic(&mut read, usage),
        Dialect::Gemini => read = read_gemini(usage),
    }
    read
}

/// Adds how it was served, which OpenAI says beside the usage.
pub(crate) fn served(usage: Usage, told: &Json) -> Usage {
    Usage { tier: told.text("service_tier").map_or(usage.tier, Tier::named), ..usage }
}

/// Takes over what a later usage object of Anthropic's says anew.
pub(crate) fn merge_anthropic(known: &mut Usage, usage: &Json) {
    let take = |field: &mut u64, value: Option<u64>| *field = value.unwrap_or(*field);
    take(&mut known.input, usage.count("input_tokens"));
    take(&mut known.cache_read, usage.count("cache_read_input_tokens"));
    take(&mut known.cache_write_5m, usage.count("cache_creation_input_tokens"));
    if let Some(split) = usage.get("cache_creation") {
        take(&mut known.cache_write_5m, split.count("ephemeral_5m_input_tokens"));
        take(&mut known.cache_write_1h, split.count("ephemeral_1h_input_tokens"));
    } else if usage.count("cache_creation_input_tokens").is_some() {
        // The sum came alone: what is known to be for an hour is part of it.
        known.cache_write_5m = known.cache_write_5m.saturating_sub(known.cache_write_1h);
    }
    take(&mut known.output, usage.count("output_tokens"));
    let details = usage.get("output_tokens_details");
    take(&mut known.reasoning, details.and_then(|details| details.count("thinking_tokens")));
    let searches = usage.get("server_tool_use").and_then(|used| used.count("web_search_requests"));
    take(&mut known.server_tools, searches);
    let named = |key| usage.text(key).map(Tier::named);
    known.tier = match (named("speed"), named("service_tier")) {
        (Some(Tier::Standard), told) => told.unwrap_or_default(),
        (Some(fast), _) => fast,
        // What says nothing of the speed does not say that it was not fast.
        (None, _) if known.tier == Tier::Fast => Tier::Fast,
        (None, told) => told.unwrap_or(known.tier),
    };
}

fn read_gemini(usage: &Json) -> Usage {
    let count = |key| usage.count(key).unwrap_or(0);
    let cached = count("cachedContentTokenCount");
    let prompt = count("promptTokenCount").saturating_sub(cached);
    let thoughts = count("thoughtsTokenCount");
    Usage {
        input: prompt.saturating_add(count("toolUsePromptTokenCount")),
        cache_read: cached,
        output: count("candidatesTokenCount").saturating_add(thoughts),
        reasoning: thoughts,
        tier: ["serviceTier", "trafficType"]
            .into_iter()
            .filter_map(|key| usage.text(key).map(Tier::named))
            .find(|tier| *tier != Tier::Standard)
            .unwrap_or_default(),
        ..Usage::default()
    }
}

/// Writes a usage object.
pub(crate) fn write(dialect: Dialect, usage: &Usage) -> Json {
    let written = usage.cache_write_5m.saturating_add(usage.cache_write_1h);
    let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(written);
    let total = prompt.saturating_add(usage.output);
    let input = object! { "cached_tokens" => usage.cache_read, "cache_write_tokens" => written };
    let output = object! { "reasoning_tokens" => usage.reasoning };
    match dialect {
        Dialect::Chat => object! {
            "prompt_tokens" => prompt,
            "completion_tokens" => usage.output,
            "total_tokens" => total,
            "prompt_tokens_details" => input,
            "completion_tokens_details" => output,
        },
        Dialect::Responses => object! {
            "input_tokens" => prompt,
            "input_tokens_details" => input,
            "output_tokens" => usage.output,
            "output_tokens_details" => output,
            "total_tokens" => total,
        },
        Dialect::Anthropic => object! {
            "input_tokens" => usage.input,
            "cache_creation_input_tokens" => written,
            "cache_read_input_tokens" => usage.cache_read,
            "cache_creation" => object! {
                "ephemeral_5m_input_tokens" => usage.cache_write_5m,
                "ephemeral_1h_input_tokens" => usage.cache_write_1h,
            },
            "output_tokens" => usage.output,
            "output_tokens_details" => object! { "thinking_tokens" => usage.reasoning },
        },
        Dialect::Gemini => {
            let some = |count: u64| (count > 0).then_some(count);
            lean! {
                "promptTokenCount" => prompt,
                "candidatesTokenCount" => usage.output.saturating_sub(usage.reasoning),
                "totalTokenCount" => total,
                "cachedContentTokenCount" => some(usage.cache_read),
                "thoughtsTokenCount" => some(usage.reasoning),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_reads_what_it_writes() {
        let usage = Usage {
            input: 10,
            cache_read: 7,
            cache_write_5m: 5,
            output: 20,
            reasoning: 4,
            ..Usage::default()
        };
        for dialect in Dialect::ALL {
            let mut expected = usage;
            if dialect == Dialect::Gemini {
                // It has no word for what is written to a cache.
                (expected.input, expected.cache_write_5m) = (15, 0);
            }
            assert_eq!(read(dialect, &write(dialect, &usage)), expected, "{dialect}");
        }
    }

    #[test]
    fn the_last_word_of_anthropic_counts() {
        let parse = |text: &str| Json::parse(text.as_bytes()).unwrap();
        let mut usage = Usage::default();
        merge_anthropic(
            &mut usage,
            &parse(
                r#"{"input_tokens":9,"output_tokens":1,"cache_creation_input_tokens":30,
                "cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}"#,
            ),
        );
        merge_anthropic(
            &mut usage,
            &parse(r#"{"output_tokens":40,"input_tokens":null,"cache_creation_input_tokens":30}"#),
        );
        assert_eq!((usage.input, usage.output), (9, 40));
        assert_eq!((usage.cache_write_5m, usage.cache_write_1h), (10, 20));
    }

    #[test]
    fn how_it_was_served_is_taken_over_too() {
        let parse = |text: &str| Json::parse(text.as_bytes()).unwrap();
        let mut usage = Usage::default();
        let began = r#"{"input_tokens":9,"service_tier":"standard","speed":"fast"}"#;
        merge_anthropic(&mut usage, &parse(began));
        let searched = r#"{"output_tokens":4,"service_tier":"standard","server_tool_use":{"web_search_requests":3}}"#;
        merge_anthropic(&mut usage, &parse(searched));
        assert_eq!((usage.tier, usage.server_tools), (Tier::Fast, 3));
        let gemini = parse(r#"{"promptTokenCount":1,"trafficType":"ON_DEMAND_FLEX"}"#);
        assert_eq!(read(Dialect::Gemini, &gemini).tier, Tier::Flex);
        let chat = parse(r#"{"usage":{},"service_tier":"priority"}"#);
        assert_eq!(served(Usage::default(), &chat).tier, Tier::Priority);
    }

    #[test]
    fn numbers_that_contradict_each_other_do_no_harm() {
        let text = br#"{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}"#;
        assert_eq!(read(Dialect::Chat, &Json::parse(text).unwrap()).input, 0);
    }
}
