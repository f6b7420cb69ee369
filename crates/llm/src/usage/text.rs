//! The same as it stands in a reply: each request is counted, so nothing is made on the way.

use godel_model::Tier;

use super::lenient::{COUNT_MAX, Count, Object, Served};
use super::{Anthropic, Gemini, InputDetails, OpenAi, OutputDetails, ServerTools, Written};
use crate::scan::each_member;

/// What is read member by member; names that it does not know are left out.
pub(super) trait Members: Default {
    /// Takes a member: its name as it is written, and its value.
    fn take(&mut self, name: &[u8], value: &[u8]);
}

/// Reads an object in which nothing is written with escapes; nothing if it is none.
pub(super) fn read<T: Members>(told: &[u8]) -> Option<T> {
    let mut found = T::default();
    each_member(told, |name, value| found.take(name, value)).ok().map(|()| found)
}

fn object<T: Members>(value: &[u8]) -> Object<T> {
    Object(read(value).unwrap_or_default())
}

fn count(value: &[u8]) -> Count {
    let digit = |sum: Option<u64>, byte: &u8| match byte {
        b'0'..=b'9' => sum?.checked_mul(10)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    };
    let sum = value.iter().fold(Some(0), digit);
    Count(sum.filter(|sum| *sum <= COUNT_MAX).unwrap_or(0))
}

fn served(value: &[u8]) -> Served {
    let text = serde_json::from_slice::<std::borrow::Cow<'_, str>>(value).ok();
    Served(text.map(|text| Tier::named(&text)))
}

impl Members for OpenAi {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"prompt_tokens" => self.prompt_tokens = count(value),
            b"completion_tokens" => self.completion_tokens = count(value),
            b"prompt_tokens_details" => self.prompt_tokens_details = object(value),
            b"completion_tokens_details" => self.completion_tokens_details = object(value),
            b"input_tokens" => self.input_tokens = count(value),
            b"output_tokens" => self.output_tokens = count(value),
            b"input_tokens_details" => self.input_tokens_details = object(value),
            b"output_tokens_details" => self.output_tokens_details = object(value),
            _ => {}
        }
    }
}

impl Members for InputDetails {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"cached_tokens" => self.cached_tokens = count(value),
            b"cache_write_tokens" => self.cache_write_tokens = count(value),
            _ => {}
        }
    }
}

impl Members for OutputDetails {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"reasoning_tokens" => self.reasoning_tokens = count(value),
            b"thinking_tokens" => self.thinking_tokens = count(value),
            _ => {}
        }
    }
}

impl Members for Anthropic {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"input_tokens" => self.input_tokens = count(value),
            b"output_tokens" => self.output_tokens = count(value),
            b"cache_read_input_tokens" => self.cache_read_input_tokens = count(value),
            b"cache_creation_input_tokens" => self.cache_creation_input_tokens = count(value),
            b"cache_creation" => self.cache_creation = object(value),
            b"output_tokens_details" => self.output_tokens_details = object(value),
            b"server_tool_use" => self.server_tool_use = object(value),
            b"service_tier" => self.service_tier = served(value),
            b"speed" => self.speed = served(value),
            _ => {}
        }
    }
}

impl Members for Written {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"ephemeral_5m_input_tokens" => self.ephemeral_5m_input_tokens = count(value),
            b"ephemeral_1h_input_tokens" => self.ephemeral_1h_input_tokens = count(value),
            _ => {}
        }
    }
}

impl Members for ServerTools {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        if name == b"web_search_requests" {
            self.web_search_requests = count(value);
        }
    }
}

impl Members for Gemini {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"promptTokenCount" => self.prompt_token_count = count(value),
            b"cachedContentTokenCount" => self.cached_content_token_count = count(value),
            b"toolUsePromptTokenCount" => self.tool_use_prompt_token_count = count(value),
            b"candidatesTokenCount" => self.candidates_token_count = count(value),
            b"thoughtsTokenCount" => self.thoughts_token_count = count(value),
            b"serviceTier" => self.service_tier = served(value),
            b"trafficType" => self.traffic_type = served(value),
            _ => {}
        }
    }
}
