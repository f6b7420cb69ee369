//! What a request makes a provider do beyond what is in it: read what lies elsewhere, look things up, and
//! remember for longer than usual. It is noticed while the request is looked through anyway.

use std::borrow::Cow;
use std::ops::Range;

use crate::scan::value_length;

/// The longest name that means something here; with escapes it may be longer.
const NAME_MAX_BYTES: usize = 23;
const ESCAPED_NAME_MAX_BYTES: usize = 6 * NAME_MAX_BYTES;

/// What a request makes a provider do beyond what is in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beyond {
    /// The model reads what is not in the request: files, pictures and conversations that lie elsewhere, or
    /// what it finds.
    pub reads: bool,
    /// The provider may use tools of its own, which cost something themselves.
    pub tools: bool,
    /// Some of it is to be remembered for an hour.
    pub for_an_hour: bool,
    /// It gives back what only the provider understands that said it.
    pub state: bool,
    /// It gives back what only the account understands to which it was said.
    pub account_state: bool,
}

/// Looks at the texts of a request, one after the other.
pub(crate) struct Watch<'b> {
    body: &'b [u8],
    pub(crate) found: Beyond,
    /// Where the last object began that is told and nobody acts upon, and where it ends once that is known.
    told: Option<(usize, Option<usize>)>,
}

impl<'b> Watch<'b> {
    pub(crate) fn new(body: &'b [u8]) -> Self {
        Self { body, found: Beyond::default(), told: None }
    }

    /// Looks at a text of the request, which may be the name of a member.
    pub(crate) fn look(&mut self, text: Range<usize>) {
        let inner = &self.body[text.start + 1..text.end - 1];
        if inner.len() > ESCAPED_NAME_MAX_BYTES {
            return;
        }
        let Some(value) = value_of(&self.body[text.end..]) else { return };
        // Who writes a name in signs that nobody needs does not get away with less.
        let name = plain(inner);
        if name.len() <= NAME_MAX_BYTES {
            self.look_at_member(&name, value);
        }
    }

    fn look_at_member(&mut self, name: &[u8], value: &'b [u8]) {
        let is_object = value.starts_with(b"{");
        // What a tool was called with and what it said, and how it may be called.
        if is_object
            && matches!(
                name,
                b"input"
                    | b"args"
                    | b"response"
                    | b"parameters"
                    | b"input_schema"
                    | b"parametersJsonSchema"
            )
        {
            let at = self.body.len() - value.len();
            // What is inside of one that is only told is, too.
            if !self.is_told(at) {
                self.told = Some((at, None));
            }
            return;
        }
        let mut found = self.found;
        found.take(name, value);
        // Few requests come so far, and each of them once.
        if found != self.found && !self.is_told(self.body.len() - value.len()) {
            self.found = found;
        }
    }

    /// Tells whether a place is inside of what is only told.
    fn is_told(&mut self, at: usize) -> bool {
        let Some((start, end)) = self.told else { return false };
        let end = end.or_else(|| value_length(&self.body[start..]).map(|length| start + length));
        self.told = Some((start, end));
        end.is_some_and(|end| at < end)
    }
}

impl Beyond {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        let is_object = value.starts_with(b"{");
        let text = value.strip_prefix(b"\"");
        let begins = |with: &[u8]| text.is_some_and(|text| plain(text).starts_with(with));
        match name {
            b"file_id"
            | b"file_url"
            | b"fileUri"
            | b"file_uri"
            | b"cachedContent"
            | b"cached_content"
            | b"previous_response_id" => self.reads |= text.is_some(),
            b"prompt" => self.reads |= is_object,
            b"url" | b"image_url" => self.reads |= text.is_some() && !begins(b"data:"),
            b"ttl" => self.for_an_hour |= begins(b"1h\""),
            b"encrypted_content" => self.account_state |= text.is_some(),
            b"signature" | b"thoughtSignature" | b"thought_signature" => {
                self.state |= text.is_some();
            }
            b"type" => {
                if text.is_some_and(|kind| is_own_tool(&plain(kind))) {
                    (self.reads, self.tools) = (true, true);
                }
                self.state |= begins(b"redacted_thinking\"");
            }
            b"web_search_options"
            | b"googleSearch"
            | b"google_search"
            | b"googleSearchRetrieval"
            | b"google_search_retrieval"
            | b"enterpriseWebSearch"
            | b"enterprise_web_search"
            | b"urlContext"
            | b"url_context"
            | b"googleMaps"
            | b"google_maps"
            | b"fileSearch"
            | b"file_search"
            | b"codeExecution"
            | b"code_execution"
                if is_object =>
            {
                (self.reads, self.tools) = (true, true);
            }
            _ => {}
        }
    }
}

/// Returns what stands behind a name, at its first byte; nothing if it is no name.
fn value_of(rest: &[u8]) -> Option<&[u8]> {
    rest.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start)
}

/// Returns the beginning of a text, up to its end and what follows or as far as a word may go, without escapes.
fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    let near = &text[..text.len().min(ESCAPED_NAME_MAX_BYTES)];
    if near.iter().find(|byte| matches!(byte, b'"' | b'\\')) != Some(&b'\\') {
        return Cow::Borrowed(text);
    }
    let (mut found, mut rest) = (Vec::with_capacity(near.len()), near);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            found.push(byte);
            if byte == b'"' {
                break;
            }
            continue;
        }
        let Some((&sign, after)) = rest.split_first() else { break };
        rest = after;
        if sign != b'u' {
            found.push(sign);
            continue;
        }
        let code = rest.get(..4).and_then(|code| str::from_utf8(code).ok());
        // What is no plain sign is in no word that means something.
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        found.push(code.unwrap_or(b'?'));
        rest = rest.get(4..).unwrap_or_default();
    }
    Cow::Owned(found)
}

/// Tells whether a type is that of a tool that the provider itself uses.
fn is_own_tool(kind: &[u8]) -> bool {
    const KINDS: [&[u8]; 10] = [
        b"web_search",
        b"web_fetch",
        b"file_search",
        b"code_execution",
        b"code_interpreter",
        b"image_generation",
        b"tool_search_tool_regex",
        b"tool_search_tool_bm25",
        b"mcp_toolset",
        b"mcp",
    ];
    let mut kinds = KINDS.iter().filter_map(|own| kind.strip_prefix(*own));
    // A name goes on with the day of its version, if at all; what a conversation tells of their use does not.
    kinds.any(|rest| {
        rest.starts_with(b"\"") || rest.starts_with(b"_2") || rest.starts_with(b"_preview")
    })
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, Peek};

    fn of(body: &str) -> (bool, bool, bool) {
        let found = Peek::of(Dialect::Chat, body.as_bytes()).unwrap().beyond;
        (found.reads, found.tools, found.for_an_hour)
    }

    #[test]
    fn what_lies_elsewhere_is_noticed_in_every_dialect() {
        for body in [
            r#"{"input":[{"content":[{"type":"input_file","file_id":"file-1"}]}]}"#,
            r#"{"input":[{"content":[{"type":"input_file","file_url":"https://a/b.pdf"}]}]}"#,
            r#"{"messages":[{"content":[{"image_url":{"url": "https://a/b.png"}}]}]}"#,
            r#"{"input":[{"content":[{"type":"input_image","image_url":"http://a/b.png"}]}]}"#,
            r#"{"messages":[{"content":[{"source":{"type":"url","url":"https://a/b.pdf"}}]}]}"#,
            r#"{"contents":[{"parts":[{"fileData" : {"fileUri":"https://a/b"}}]}]}"#,
            r#"{"contents":[{"parts":[{"file_data":{"file_uri":"gs://a/b"}}]}]}"#,
            r#"{"cachedContent":"cachedContents/1","contents":[]}"#,
            r#"{"previous_response_id":"resp_1"}"#,
            r#"{"prompt":{"id":"pmpt_1"},"input":[]}"#,
            r#"{"a":[{"file\u005fid":"file-1"}]}"#,
            r#"{"messages":[{"content":[{"type":"image","source":{"type":"url","url":"\u0068ttps://a"}}]}]}"#,
            r#"{"messages":[{"content":[{"type":"tool_use","input":{"a":1}},{"source":{"url":"https://a"}}]}]}"#,
            r#"{"a":[{"\u0066\u0069\u006c\u0065\u005f\u0069\u0064":"file-1"}]}"#,
        ] {
            assert_eq!(of(body), (true, false, false), "{body}");
        }
    }

    #[test]
    fn tools_of_the_provider_are_noticed_in_every_dialect() {
        for body in [
            r#"{"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":5}]}"#,
            r#"{"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]}"#,
            r#"{"tools":[{"type":"web_search"}]}"#,
            r#"{"tools":[{"type":"web_search_preview"}]}"#,
            r#"{"tools":[{"type":"mcp","server_url":"https://a"}]}"#,
            r#"{"web_search_options":{}}"#,
            r#"{"tools":[{"googleSearch":{}}]}"#,
            r#"{"tools":[{"google_search" : {}}]}"#,
            r#"{"tools":[{"fileSearch":{"fileSearchStoreNames":["a"]}}]}"#,
            r#"{"tools":[{"type":"web\u005fsearch_20250305"}]}"#,
            r#"{"tools":[{"type":"tool_search_tool_regex_20251119"}]}"#,
        ] {
            assert_eq!(of(body), (true, true, false), "{body}");
        }
        assert!(of(r#"{"system":[{"cache_control":{"type":"ephemeral","ttl":"1h"}}]}"#).2);
    }

    #[test]
    fn state_of_a_provider_is_noticed_in_every_dialect() {
        let of = |body: &str| {
            let found = Peek::of(Dialect::Chat, body.as_bytes()).unwrap().beyond;
            (found.state, found.account_state)
        };
        for (body, state, account) in [
            (r#"{"messages":[{"content":[{"type":"thinking","signature":"c2ln"}]}]}"#, true, false),
            (r#"{"messages":[{"content":[{"type": "redacted_thinking"}]}]}"#, true, false),
            (
                r#"{"contents":[{"parts":[{"functionCall":{},"thoughtSignature":"x"}]}]}"#,
                true,
                false,
            ),
            (r#"{"input":[{"type":"reasoning","encrypted_content":"gAAA"}]}"#, false, true),
            (r#"{"input":[{"type":"reasoning","encrypted_content":null}]}"#, false, false),
            (r#"{"include":["reasoning.encrypted_content"],"input":"x"}"#, false, false),
            (r#"{"tools":[{"properties":{"signature":{"type":"string"}}}]}"#, false, false),
        ] {
            assert_eq!(of(body), (state, account), "{body}");
        }
    }

    #[test]
    fn what_only_looks_like_it_is_left_alone() {
        for body in [
            r#"{"messages":[{"content":"\"file_id\":\"x\" \"url\":\"https://a\" \"type\":\"mcp\""}]}"#,
            r#"{"messages":[{"content":[{"image_url":{"url":"data:image/png;base64,aGk="}}]}]}"#,
            r#"{"tools":[{"function":{"name":"web_search","parameters":{"properties":{
                "file_id":{"type":"string"},"url":{"type":"string"},"googleSearch":true}}}}]}"#,
            r#"{"messages":[{"content":[{"type":"web_search_tool_result","content":[]}]}]}"#,
            r#"{"messages":[{"content":["file_id","url","cachedContent"]}]}"#,
            r#"{"messages":[{"content":[{"cache_control":{"type":"ephemeral","ttl":"5m"}}]}]}"#,
            r#"{"previous_response_id":null}"#,
            r#"{"messages":[{"content":[{"type":"tool_use","name":"fetch","input":{"url":"https://a",
                "file_id":"x","n":{"type":"mcp"}}},{"type":"text","text":"x"}]}]}"#,
            r#"{"contents":[{"parts":[{"functionCall":{"name":"f","args":{"url":"http://a"}}},
                {"functionResponse":{"name":"f","response":{"fileUri":"gs://a"}}}]}]}"#,
            r#"{"tools":[{"input_schema":{"examples":[{"url":"https://a"}]}}]}"#,
        ] {
            assert_eq!(of(body), (false, false, false), "{body}");
        }
    }
}
