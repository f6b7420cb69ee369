//! Properties of all dialects: what is written is read again as the same.

use proptest::collection::vec;
use proptest::prelude::*;

use super::back::{Reader, Writer};
use super::ir::{Call, Event, Item, Outcome, Part, Reply, Said, Stop, Tool, ToolRef};
use super::json::Json;
use super::settle::settle;
use super::*;
use crate::sse::Decoder;

fn ask<'a>(from: Dialect, to: Dialect) -> Ask<'a> {
    Ask {
        from,
        to,
        model: "m",
        client_model: "m",
        thinks: Thinks::Never,
        stream: true,
        array: false,
        max_output: 1000,
        request_id: "r",
        now_seconds: 0,
    }
}

fn word() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 é\"\\\\\n]{0,8}[a-z]"
}

fn input() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{}".to_owned()),
        (word(), word()).prop_map(|(key, text)| {
            Json::Map(vec![(key.into(), text.into()), ("n".into(), 1_u64.into())]).to_string()
        }),
        Just("{\"cut".to_owned()),
    ]
}

/// One step of the model: words, and calls with their results.
fn step() -> impl Strategy<Value = Vec<Item>> {
    let call = ("[a-z]{1,5}", input(), vec(word(), 1..3), any::<bool>());
    (proptest::option::of(word()), vec(call, 0..4)).prop_map(|(text, calls)| {
        let mut items: Vec<Item> = text.map(Item::Model).into_iter().collect();
        let mut results = Vec::new();
        for (name, input, texts, failed) in calls {
            let tool = ToolRef { name, ..ToolRef::default() };
            items.push(Item::Call(Call { tool, input, ..Call::default() }));
            let parts = texts.into_iter().map(Part::Text).collect();
            results.push(Item::Result(Outcome { call: String::new(), parts, failed }));
        }
        items.extend(results);
        items
    })
}

fn conversation() -> impl Strategy<Value = Vec<Item>> {
    let user =
        vec(word(), 1..3).prop_map(|texts| Item::User(texts.into_iter().map(Part::Text).collect()));
    vec((user, vec(step(), 0..3)), 1..4).prop_map(|turns| {
        let mut items = Vec::new();
        for (user, steps) in turns {
            items.push(user);
            items.extend(steps.into_iter().flatten());
        }
        number(items)
    })
}

/// Gives each call an id of its own, and each result that of its call.
fn number(items: Vec<Item>) -> Vec<Item> {
    let (mut calls, mut results) = (0, 0);
    let each = |item| match item {
        Item::Call(call) => {
            calls += 1;
            Item::Call(Call { id: format!("id-{calls}"), ..call })
        }
        Item::Result(result) => {
            results += 1;
            Item::Result(Outcome { call: format!("id-{results}"), ..result })
        }
        other => other,
    };
    items.into_iter().map(each).collect()
}

/// Lists what matters of a conversation; how texts are divided into messages does not.
fn essence(items: &[Item]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match item {
            Item::User(parts) => lines.extend(parts.iter().map(|part| format!("user {part:?}"))),
            Item::Model(text) => match lines.last_mut() {
                // Some dialects have but one text in a message.
                Some(last) if last.starts_with("model ") => last.push_str(&format!("\n\n{text}")),
                _ => lines.push(format!("model {text}")),
            },
            Item::Call(call) => {
                lines.push(format!("call {} {} {}", call.id, call.tool.name, call.input));
            }
            Item::Result(result) => {
                let text = result.text();
                let text = text.strip_prefix("Error: ").unwrap_or(&text);
                lines.push(format!("result {} {text}", result.call));
            }
            Item::System(_) | Item::Thought(_) => {}
        }
    }
    lines
}

fn retold(prompt: &Prompt, dialect: Dialect) -> Prompt {
    let names = Names::new(prompt);
    let ask = ask(dialect, dialect);
    let body = match dialect {
        Dialect::Chat => chat::write_request(&ask, prompt, &names),
        Dialect::Responses => responses::write_request(&ask, prompt, &names),
        Dialect::Anthropic => anthropic::write_request(&ask, prompt, &names).map(|told| told.0),
        Dialect::Gemini => gemini::write_request(&ask, prompt, &names),
    };
    let mut read = read_request(dialect, &body.unwrap()).unwrap();
    read.items = settle(read.items);
    read
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let call = ("[a-z]{1,5}", input()).prop_map(|(name, input)| {
        let tool = ToolRef { name, ..ToolRef::default() };
        vec![
            Event::Call(Call { tool, ..Call::default() }),
            Event::Input(input[..2].to_owned()),
            Event::Input(input[2..].to_owned()),
            Event::CallEnd,
        ]
    });
    let texts = |kind: fn(String) -> Event| {
        vec(word(), 1..4).prop_map(move |texts| texts.into_iter().map(kind).collect::<Vec<_>>())
    };
    let thought = texts(Event::Thought).prop_map(|mut events| {
        events.push(Event::ThoughtEnd(None));
        events
    });
    let said = (proptest::option::of(thought), proptest::option::of(texts(Event::Text)));
    let stop = prop_oneof![Just(Stop::End), Just(Stop::Length), Just(Stop::Refused)];
    (said, vec(call, 0..3), stop).prop_map(|((thought, text), calls, stop)| {
        let mut events = vec![Event::Begin];
        events.extend(thought.into_iter().flatten());
        events.extend(text.into_iter().flatten());
        let calling = !calls.is_empty();
        for (number, mut call) in calls.into_iter().enumerate() {
            if let Event::Call(call) = &mut call[0] {
                call.id = format!("id-{number}");
            }
            events.extend(call);
        }
        let stop = if calling { Stop::Calls } else { stop };
        let usage = crate::Usage { input: 5, output: 7, ..crate::Usage::default() };
        events.push(Event::End { stop, usage: Some(usage) });
        events
    })
}

/// Writes a reply as a stream and reads that stream.
fn reread(dialect: Dialect, events: &[Event]) -> Vec<Event> {
    let back = Back {
        from: dialect,
        to: dialect,
        head: Head::new(&ask(dialect, dialect)),
        names: Names::default().into(),
        stop: Vec::new(),
        thinking: false,
        include_usage: true,
        array: false,
    };
    let (mut writer, mut out) = (Writer::new(back), Vec::new());
    for event in events {
        writer.write(event, &mut out);
    }
    let (mut reader, mut read) = (Reader::new(dialect), Vec::new());
    let mut frames = Vec::new();
    Decoder::default().feed(&out, |frame| frames.push(frame)).unwrap();
    for frame in frames {
        reader.read(&frame.data, &mut read).unwrap();
    }
    reader.end(&mut read);
    read
}

/// Calls may lose how their input was written, and what was attached to them.
fn essentials(reply: Option<Reply>) -> Option<Reply> {
    let mut reply = reply?;
    for said in &mut reply.said {
        if let Said::Call(call) = said {
            call.input = input::text_of(&input::object_of(&call.input));
            call.own = None;
        }
    }
    Some(reply)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_conversation_comes_back_from_every_other_dialect(items in conversation()) {
        let tool = Tool {
            tool: ToolRef { name: "t".to_owned(), ..ToolRef::default() },
            ..Tool::default()
        };
        for (home, away) in Dialect::ALL.into_iter().zip(Dialect::ALL.into_iter().cycle().skip(1))
            .chain(Dialect::ALL.into_iter().zip(Dialect::ALL.into_iter().cycle().skip(2)))
            .chain(Dialect::ALL.into_iter().zip(Dialect::ALL.into_iter().cycle().skip(3)))
        {
            let prompt =
                Prompt { items: items.clone(), tools: vec![tool.clone()], ..Prompt::default() };
            let first = retold(&prompt, home);
            prop_assert_eq!(essence(&first.items), essence(&items));
            let last = retold(&retold(&first, away), home);
            prop_assert_eq!(essence(&last.items), essence(&items), "{} by {}", home, away);
        }
    }

    #[test]
    fn a_stream_that_is_written_is_read_as_the_same(events in events()) {
        for dialect in Dialect::ALL {
            let read = Reply::gather(reread(dialect, &events));
            let expected = Reply::gather(events.clone());
            prop_assert_eq!(essentials(read), essentials(expected), "{}", dialect);
        }
    }
}
