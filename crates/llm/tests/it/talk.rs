//! A conversation with a model, in every dialect.

use godel_llm::Dialect;
use godel_llm::translate::talk::{Heard, Item, Listener, Reply, Stop, Talk, Tool};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const TOOLS: [Tool; 1] = [Tool {
    name: "look",
    description: "Looks",
    schema: r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}"#,
}];

const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I lo"}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok é"}}

data: {"type":"content_block_stop","index":1}

data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"z\":"}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"1\"}"}}

data: {"type":"content_block_stop","index":2}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}

data: {"type":"message_stop"}

"#;

const CHAT: &str = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"hmm"}}]}

data: {"choices":[{"index":0,"delta":{"content":"I look é"}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"look","arguments":"{\"z\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"1\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":7}}

data: [DONE]

"#;

const RESPONSES: &str = r#"data: {"type":"response.created","response":{}}

data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r1","summary":[{"type":"summary_text","text":"hmm"}],"encrypted_content":"e1"}}

data: {"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"I look é"}]}}

data: {"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"t1","name":"look","arguments":"{\"z\":\"1\"}"}}

data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":10,"output_tokens":7}}}

"#;

const GEMINI: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":"hmm","thought":true}]}}]}

data: {"candidates":[{"content":{"parts":[{"text":"I look é"}]}}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":{"z":"1"}},"thoughtSignature":"g1"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":7}}

"#;

fn stream(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Chat => CHAT,
        Dialect::Responses => RESPONSES,
        Dialect::Anthropic => ANTHROPIC,
        Dialect::Gemini => GEMINI,
    }
}

fn model(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Chat | Dialect::Responses => "gpt-5",
        Dialect::Anthropic => "claude-opus-4-8",
        Dialect::Gemini => "gemini-2.5-pro",
    }
}

fn listen(dialect: Dialect, pieces: &[&[u8]]) -> (Result<Reply, String>, String) {
    let mut listener = Listener::new(dialect, model(dialect));
    let mut said = String::new();
    let mut each = |heard: Heard| match heard {
        Heard::Text(text) => said.push_str(&text),
        Heard::Thought(text) => said.push_str(&format!("({text})")),
    };
    for piece in pieces {
        if let Err(error) = listener.feed(piece, &mut each) {
            return (Err(error.to_string()), said);
        }
    }
    let reply = listener.finish("7", &mut each).map_err(|error| error.to_string());
    (reply, said)
}

fn ask(dialect: Dialect, items: &[Item]) -> String {
    let talk = Talk {
        dialect,
        model: model(dialect),
        think: true,
        max_output: 100,
        system: "Be kind.",
        tools: &TOOLS,
        items,
    };
    String::from_utf8(talk.request().unwrap()).unwrap()
}

#[test]
fn a_reply_is_heard_in_the_same_words_in_every_dialect() {
    for dialect in Dialect::ALL {
        let (reply, said) = listen(dialect, &[stream(dialect).as_bytes()]);
        let reply = reply.unwrap();
        assert_eq!(said, "(hmm)I look é", "{dialect}");
        assert_eq!(reply.stop, Stop::Calls, "{dialect}");
        let usage = reply.usage.unwrap();
        assert_eq!((usage.input, usage.output), (10, 7), "{dialect}");
        let [Item::Thought { .. }, Item::Model { text }, Item::Call { id, name, input, .. }] =
            reply.items.as_slice()
        else {
            panic!("{dialect}: {reply:?}");
        };
        // Gemini gives its calls no id, so one is made.
        let made = if dialect == Dialect::Gemini { "call_7_0" } else { "t1" };
        assert_eq!((text.as_str(), id.as_str(), name.as_str()), ("I look é", made, "look"));
        assert_eq!(input.replace(' ', ""), r#"{"z":"1"}"#, "{dialect}");
    }
}

#[test]
fn what_a_model_keeps_to_itself_comes_back_to_it_and_to_no_other() {
    for from in Dialect::ALL {
        let reply = listen(from, &[stream(from).as_bytes()]).0.unwrap();
        let mut items = vec![Item::User { text: "look".into() }];
        items.extend(reply.items);
        let seal = match from {
            Dialect::Chat => r#""reasoning_content":"hmm""#,
            Dialect::Responses => r#""encrypted_content":"e1""#,
            Dialect::Anthropic => r#""signature":"s1""#,
            Dialect::Gemini => r#""thoughtSignature":"g1""#,
        };
        for to in Dialect::ALL {
            let asked = ask(to, &items);
            assert_eq!(asked.contains(seal), from == to, "{from} to {to}: {asked}");
            // The order of a schema is kept, and the open call has a result.
            assert!(asked.find("\"z\"").unwrap() < asked.find("\"a\"").unwrap(), "{to}");
            assert!(asked.contains("interrupted"), "{to}");
        }
    }
}

proptest! {
    #[test]
    fn it_does_not_matter_where_a_reply_is_split(
        dialect in select(Dialect::ALL.to_vec()), cuts in proptest::collection::vec(any::<Index>(), 0..8),
    ) {
        let bytes = stream(dialect).as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(listen(dialect, &pieces), listen(dialect, &[bytes]));
    }

    #[test]
    fn a_reply_that_breaks_off_is_none(dialect in select(Dialect::ALL.to_vec()), at in any::<Index>()) {
        let text = stream(dialect);
        // Before the event that says why it ended, nothing is an end.
        let end = match dialect {
            Dialect::Chat => text.find("finish_reason").unwrap(),
            Dialect::Responses => text.find("response.completed").unwrap(),
            Dialect::Anthropic => text.find("message_stop").unwrap(),
            Dialect::Gemini => text.find("finishReason").unwrap(),
        };
        let cut = at.index(end);
        prop_assert!(listen(dialect, &[&text.as_bytes()[..cut]]).0.is_err());
    }
}
