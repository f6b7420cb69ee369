//! What a request used, as each dialect tells it.

use godel_model::Usage;
use serde_json::Value;

use crate::Dialect;

/// Reads what a provider tells in its `usage` (Gemini: `usageMetadata`); nothing if it is none.
pub fn read_usage(dialect: Dialect, told: &Value) -> Option<Usage> {
    told.as_object()?;
    Some(match dialect {
        Dialect::Chat => open_ai(told, "prompt_tokens", "completion_tokens"),
        Dialect::Responses => open_ai(told, "input_tokens", "output_tokens"),
        Dialect::Anthropic => anthropic(told),
        Dialect::Gemini => gemini(told),
    })
}

fn open_ai(told: &Value, input: &str, output: &str) -> Usage {
    let inputs = &told[format!("{input}_details")];
    let cache_read = count(inputs, "cached_tokens");
    let cache_write_5m = count(inputs, "cache_write_tokens");
    let all = count(told, input);
    Usage {
        input: all.saturating_sub(cache_read).saturating_sub(cache_write_5m),
        cache_read,
        cache_write_5m,
        output: count(told, output),
        reasoning: count(&told[format!("{output}_details")], "reasoning_tokens"),
        ..Usage::default()
    }
}

fn anthropic(told: &Value) -> Usage {
    let written = &told["cache_creation"];
    let (short, long) =
        (count(written, "ephemeral_5m_input_tokens"), count(written, "ephemeral_1h_input_tokens"));
    // Older replies tell only the sum.
    let rest = count(told, "cache_creation_input_tokens").saturating_sub(short + long);
    let tools = told["server_tool_use"].as_object();
    Usage {
        input: count(told, "input_tokens"),
        cache_read: count(told, "cache_read_input_tokens"),
        cache_write_5m: short + rest,
        cache_write_1h: long,
        output: count(told, "output_tokens"),
        reasoning: count(&told["output_tokens_details"], "thinking_tokens"),
        server_tools: tools.map_or(0, |tools| tools.values().filter_map(Value::as_u64).sum()),
    }
}

fn gemini(told: &Value) -> Usage {
    let cache_read = count(told, "cachedContentTokenCount");
    let reasoning = count(told, "thoughtsTokenCount");
    let prompt = count(told, "promptTokenCount").saturating_sub(cache_read);
    Usage {
        input: prompt + count(told, "toolUsePromptTokenCount"),
        cache_read,
        output: count(told, "candidatesTokenCount") + reasoning,
        reasoning,
        ..Usage::default()
    }
}

/// Reads a count; what no provider could mean is none.
fn count(told: &Value, name: &str) -> u64 {
    const COUNT_MAX: u64 = 1 << 40;
    told[name].as_u64().filter(|count| *count <= COUNT_MAX).unwrap_or(0)
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
            "server_tool_use": {"web_search_requests": 2}});
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
        }
    }
}
