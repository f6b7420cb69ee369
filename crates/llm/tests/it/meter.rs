//! What a reply used is read while its bytes pass by, whatever way they are split.

use bytes::Bytes;
use godel_llm::{Dialect, Ending, Passed, ReplyMeter, StreamMeter, Usage};
use proptest::prelude::*;

const CHAT: &str = concat!(
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"usage \\\"usage\\\":\"}}]}\n\n",
    ": keep-alive\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,",
    "\"prompt_tokens_details\":{\"cached_tokens\":40}}}\n\n",
    "data: [DONE]\n\n",
);
const ANTHROPIC: &str = concat!(
    "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":",
    "{\"input_tokens\":60,\"cache_read_input_tokens\":40,\"output_tokens\":1}}}\r\n\r\n",
    "event: ping\r\ndata: {\"type\":\"ping\"}\r\n\r\n",
    "event: message_delta\r\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":",
    "{\"output_tokens\":7,\"input_tokens\":null}}\r\n\r\n",
    "event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n",
);
const RESPONSES: &str = concat!(
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"é\"}\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":",
    "{\"input_tokens\":100,\"input_tokens_details\":{\"cached_tokens\":40},\"output_tokens\":7}}}\n\n",
);
const GEMINI: &str = concat!(
    "data: {\"candidates\":[{\"content\":{}}],\"usageMetadata\":{\"promptTokenCount\":100}}\n\n",
    "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":100,",
    "\"cachedContentTokenCount\":40,\"candidatesTokenCount\":7}}\n\n",
);

fn used() -> Usage {
    Usage { input: 60, cache_read: 40, output: 7, ..Usage::default() }
}

fn streams() -> [(Dialect, &'static str); 4] {
    [
        (Dialect::Chat, CHAT),
        (Dialect::Anthropic, ANTHROPIC),
        (Dialect::Responses, RESPONSES),
        (Dialect::Gemini, GEMINI),
    ]
}

fn run(meter: &mut StreamMeter, pieces: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in pieces {
        match meter.feed(piece) {
            Passed::All => out.extend_from_slice(piece),
            Passed::Up(end) => out.extend_from_slice(&piece[..end]),
            Passed::Instead(bytes) => out.extend(bytes),
        }
    }
    out.extend(meter.finish());
    out
}

proptest! {
    #[test]
    fn usage_and_bytes_are_the_same_wherever_the_stream_is_split(
        which in 0_usize..4,
        cuts in proptest::collection::vec(0_usize..600, 0..20),
    ) {
        let (dialect, text) = streams()[which];
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let mut meter = StreamMeter::new(dialect, false);
        prop_assert_eq!(run(&mut meter, &pieces), bytes);
        prop_assert_eq!(meter.usage(), Some(used()));
        prop_assert_eq!(meter.ending(), Ending::Proper);
    }

    #[test]
    fn a_stream_that_is_cut_passes_whole_events_only(which in 0_usize..4, cut in 0_usize..400) {
        let (dialect, text) = streams()[which];
        let bytes = &text.as_bytes()[..cut.min(text.len() - 3)];
        let mut meter = StreamMeter::new(dialect, false);
        let out = run(&mut meter, &[bytes]);
        let text = String::from_utf8_lossy(&out).into_owned();
        prop_assert!(out.is_empty() || text.ends_with("\n\n") || text.ends_with("\r\n\r\n"));
        for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
            prop_assert!(data == "[DONE]" || serde_json::from_str::<serde_json::Value>(data).is_ok());
        }
    }

    #[test]
    fn no_bytes_make_it_panic(which in 0_usize..4, pieces: Vec<Vec<u8>>) {
        let mut meter = StreamMeter::new(streams()[which].0, true);
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        run(&mut meter, &pieces);
        meter.usage();
    }
}

#[test]
fn usage_that_the_client_did_not_ask_for_is_left_out() {
    for size in [1, 7, 10_000] {
        let mut meter = StreamMeter::new(Dialect::Chat, true);
        let pieces: Vec<&[u8]> = CHAT.as_bytes().chunks(size).collect();
        let out = String::from_utf8(run(&mut meter, &pieces)).unwrap();
        assert!(!out.contains("prompt_tokens") && out.ends_with("data: [DONE]\n\n"), "{out}");
        assert!(out.contains("keep-alive") && out.contains("finish_reason"));
        assert_eq!(meter.usage(), Some(used()));
    }
}

#[test]
fn a_stream_without_its_last_event_has_not_ended() {
    for (dialect, text) in streams() {
        let last = text.trim_end().rfind("data:").unwrap();
        let cut = match dialect {
            // A finish reason is enough for clients of chat.
            Dialect::Chat => text.find("finish_reason").unwrap() - 30,
            _ => last,
        };
        let mut meter = StreamMeter::new(dialect, false);
        run(&mut meter, &[&text.as_bytes()[..cut]]);
        assert_eq!(meter.ending(), Ending::Open, "{dialect}");
    }
}

#[test]
fn an_event_of_ten_megabytes_passes_and_is_not_kept() {
    let mut meter = StreamMeter::new(Dialect::Chat, false);
    let piece = vec![b'x'; 300_000];
    let mut passed = 0;
    for _ in 0..34 {
        passed += match meter.feed(&piece) {
            Passed::All => piece.len(),
            Passed::Up(end) => end,
            Passed::Instead(bytes) => bytes.len(),
        };
    }
    assert!(passed > 9_000_000, "{passed}");
}

#[test]
fn a_whole_reply_tells_its_usage_wherever_it_stands() {
    let read = |dialect, text: &str| {
        let mut meter = ReplyMeter::new(dialect);
        text.as_bytes().chunks(11).for_each(|piece| meter.take(&Bytes::copy_from_slice(piece)));
        meter.usage()
    };
    let chat = r#"{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens":7},"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":1}"}}]}"#;
    assert_eq!(read(Dialect::Chat, chat), Some(used()));
    let gemini = r#"[{"usageMetadata":{"promptTokenCount":1}},{"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":7}}]"#;
    assert_eq!(read(Dialect::Gemini, gemini), Some(used()));
    let large = format!(
        r#"{{"output":"{}","usage":{{"input_tokens":60,"cache_read_input_tokens":40,"output_tokens":7}}}}"#,
        "x".repeat(2_000_000)
    );
    let mut meter = ReplyMeter::new(Dialect::Anthropic);
    let pieces = large.as_bytes().chunks(100_000);
    pieces.for_each(|piece| meter.take(&Bytes::copy_from_slice(piece)));
    assert_eq!(meter.usage(), Some(used()));
    assert_eq!(read(Dialect::Chat, r#"{"choices":[]}"#), None);
    assert_eq!(read(Dialect::Chat, "<html>"), None);
}
