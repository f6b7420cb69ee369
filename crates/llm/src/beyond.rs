//! What a request makes a provider do beyond what is in it: read what lies elsewhere, look things up, and
//! remember for longer than usual. It is noticed while the request is looked through anyway.

use std::ops::Range;

/// The longest name that means something here; with escapes it may be longer.
const NAME_MAX_BYTES: usize = 21;
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

impl Beyond {
    /// Looks at a text of the request, which may be the name of a member.
    pub(crate) fn look(&mut self, body: &[u8], text: Range<usize>) {
        let (inner, rest) = (&body[text.start + 1..text.end - 1], &body[text.end..]);
        if inner.len() > ESCAPED_NAME_MAX_BYTES {
            return;
        }
        if !inner.contains(&b'\\') {
            self.look_at_name(inner, rest);
        } else if value_of(rest).is_some()
            // Who writes a name in signs that nobody needs does not get away with less.
            && let Ok(name) = serde_json::from_slice::<String>(&body[text])
        {
            self.look_at_name(name.as_bytes(), rest);
        }
    }

    fn look_at_name(&mut self, name: &[u8], rest: &[u8]) {
        if name.len() > NAME_MAX_BYTES {
            return;
        }
        let text = || value_of(rest).and_then(|value| value.strip_prefix(b"\""));
        match name {
            b"file_id"
            | b"file_url"
            | b"fileUri"
            | b"file_uri"
            | b"cachedContent"
            | b"cached_content"
            | b"previous_response_id" => self.reads |= text().is_some(),
            b"url" | b"image_url" => {
                self.reads |= text().is_some_and(|url| url.starts_with(b"http"));
            }
            b"ttl" => self.for_an_hour |= text().is_some_and(|ttl| ttl.starts_with(b"1h\"")),
            b"encrypted_content" => self.account_state |= text().is_some(),
            b"signature" | b"thoughtSignature" | b"thought_signature" => {
                self.state |= text().is_some();
            }
            b"type" => {
                if text().is_some_and(is_own_tool) {
                    (self.reads, self.tools) = (true, true);
                }
                self.state |= text().is_some_and(|kind| kind.starts_with(b"redacted_thinking\""));
            }
            b"web_search_options"
            | b"googleSearch"
            | b"google_search"
            | b"googleSearchRetrieval"
            | b"urlContext"
            | b"url_context"
            | b"googleMaps"
            | b"codeExecution"
            | b"code_execution"
                if value_of(rest).is_some_and(|value| value.starts_with(b"{")) =>
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

/// Tells whether a type is that of a tool that the provider itself uses.
fn is_own_tool(kind: &[u8]) -> bool {
    const KINDS: [&[u8]; 8] = [
        b"web_search",
        b"web_fetch",
        b"file_search",
        b"code_execution",
        b"code_interpreter",
        b"image_generation",
        b"tool_search_tool",
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
            r#"{"a":[{"file\u005fid":"file-1"}]}"#,
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
        ] {
            assert_eq!(of(body), (false, false, false), "{body}");
        }
    }
}
