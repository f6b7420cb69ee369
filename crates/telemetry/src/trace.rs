//! W3C trace context: who asked for this, across processes.

use godel_model::{EventId, Mint};
use http::HeaderMap;

/// The trace that a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// 32 hex digits: the whole trace.
    pub trace_id: String,
    /// 16 hex digits: the caller's part of it; absent if the trace begins here.
    pub parent_id: Option<String>,
    /// 16 hex digits: this request.
    pub span_id: String,
    /// Whether the caller wants the trace to be kept.
    pub sampled: bool,
}

impl TraceContext {
    /// Takes the caller's trace, or begins a new one.
    pub fn of(headers: &HeaderMap, mint: Mint) -> Self {
        let fresh = mint.id::<EventId>().uuid().simple().to_string();
        // The random end of a time-ordered id: unique enough for one span of one trace.
        let span_id = fresh[16..].to_owned();
        let given = headers.get("traceparent").and_then(|value| value.to_str().ok());
        match given.and_then(parse) {
            Some((trace_id, parent, sampled)) => {
                Self { trace_id, parent_id: Some(parent), span_id, sampled }
            }
            None => Self { trace_id: fresh, parent_id: None, span_id, sampled: true },
        }
    }

    /// Writes the context for an answer or a further call.
    pub fn traceparent(&self) -> String {
        let flags = if self.sampled { "01" } else { "00" };
        format!("00-{}-{}-{flags}", self.trace_id, self.span_id)
    }
}

fn parse(text: &str) -> Option<(String, String, bool)> {
    let mut parts = text.split('-');
    let (version, trace, parent, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, len: usize| {
        text.len() == len && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let valid = hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && hex(trace, 32)
        && hex(parent, 16)
        && hex(flags, 2)
        && trace.bytes().any(|byte| byte != b'0')
        && parent.bytes().any(|byte| byte != b'0');
    let sampled = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1);
    valid.then(|| (trace.to_owned(), parent.to_owned(), sampled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_context_is_taken_and_a_broken_one_is_replaced() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let good = format!("00-{trace}-00f067aa0ba902b7-01");
        assert_eq!(parse(&good), Some((trace.to_owned(), "00f067aa0ba902b7".to_owned(), true)));
        for bad in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", bad.parse().unwrap());
            let begun = TraceContext::of(&headers, Mint::system());
            assert!(parse(&begun.traceparent()).is_some());
            assert_eq!(begun.parent_id, None);
        }
    }
}
