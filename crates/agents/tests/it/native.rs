//! The built-in agent at work: a real server for its model, real processes, a real repository.

use std::sync::Arc;

use godel_agents::native::{Line, NativeSession, NativeSettings, Voice};
use godel_agents::tree::{Entry, Tree};
use godel_agents::{AgentSession, Answer, Error, Outcome, SessionEvent, TodoState, Turn};
use godel_llm::Dialect;
use godel_llm::translate::talk::Item;
use godel_runtime::{RuntimeProvider as _, SandboxId, SandboxPath};
use godel_scripted::{Fault, Options, Scripted, Switch};
use proptest::prelude::*;
use secrecy::SecretString;
use tokio::sync::SetOnce;

use crate::room::Room;
use crate::stage::Stage;

struct World {
    model: Scripted,
    room: Room,
}

impl World {
    async fn new() -> Self {
        godel_tls::install();
        let model = Scripted::start(Options::default()).await.unwrap();
        let room = Room::new(&model.base_url(), Vec::new()).await;
        Self { model, room }
    }

    fn voice(dialect: Dialect) -> Voice {
        let model = match dialect {
            Dialect::Chat | Dialect::Responses => "gpt-5",
            Dialect::Anthropic => "claude-opus-4-8",
            Dialect::Gemini => "gemini-2.5-pro",
        };
        Voice { think: true, ..Voice::new(dialect, model) }
    }

    fn session(&self, voice: Voice, tree: Tree) -> NativeSession {
        self.session_on(self.line(), voice, tree)
    }

    fn session_on(&self, line: Line, voice: Voice, tree: Tree) -> NativeSession {
        self.session_in(self.room.sandbox.id, line, voice, tree)
    }

    fn session_in(
        &self,
        sandbox: SandboxId,
        line: Line,
        voice: Voice,
        tree: Tree,
    ) -> NativeSession {
        let runtime = Arc::new(self.room.provider.clone());
        let ready = Arc::new(SetOnce::new_with(Some(self.room.sandbox.clone())));
        NativeSession::start(NativeSettings { voice, line, runtime, sandbox, ready }, tree)
    }

    fn line(&self) -> Line {
        Line {
            http: reqwest::Client::new(),
            base_url: self.model.base_url(),
            token: SecretString::from(self.model.key().to_owned()),
        }
    }
}

/// Lets a turn run to its end.
async fn turn(session: &mut dyn AgentSession, prompt: &str) -> Vec<SessionEvent> {
    session.prompt(Turn::new(prompt)).await.unwrap();
    let mut events = Vec::new();
    while events.last().and_then(SessionEvent::outcome).is_none() {
        events.push(session.next().await.unwrap());
    }
    events
}

fn outcome(events: &[SessionEvent]) -> &Outcome {
    events.last().and_then(SessionEvent::outcome).unwrap()
}

fn results(events: &[SessionEvent]) -> Vec<(&str, bool)> {
    let result = |event: &'_ SessionEvent| matches!(event, SessionEvent::ToolResult { .. });
    let told = events.iter().filter(|event| result(event)).map(|event| match event {
        SessionEvent::ToolResult { text, failed, .. } => (text.as_str(), *failed),
        _ => unreachable!(),
    });
    told.collect()
}

const TASK: &str = r#"Write a greeting and commit it.
[[call todo_write {"todos":[{"text":"greet","state":"in_progress"}]}]]
[[call write {"path":"docs/greeting.txt","content":"hello\nworld\n"}]]
[[then]]
[[call edit {"path":"docs/greeting.txt","old":"world","new":"people"}]]
[[then]]
[[call read {"path":"docs/greeting.txt"}]] [[call search {"pattern":"peo+ple"}]]
[[then]]
[[shell git add -A && git commit -q -m "A greeting" && git log --oneline | wc -l]]
[[then]]
[[call todo_write {"todos":[{"text":"greet","state":"completed"}]}]]
[[call done {"summary":"There is a greeting."}]]"#;

#[tokio::test]
async fn a_commit_is_made_in_every_dialect() {
    for dialect in Dialect::ALL {
        let world = World::new().await;
        let mut session = world.session(World::voice(dialect), Tree::new());
        let events = turn(&mut session, TASK).await;
        assert_eq!(outcome(&events), &Outcome::Completed, "{dialect}: {events:#?}");
        let collected = world.room.collect().await;
        assert_eq!((collected.commits, collected.dirty), (1, false), "{dialect}");
        assert_eq!(world.room.last_commit(), "A greeting by Agent", "{dialect}");
        assert_eq!(world.room.on_branch("docs/greeting.txt"), "hello\npeople");
        let told = results(&events);
        assert!(told.iter().all(|(_, failed)| !failed), "{dialect}: {told:?}");
        assert_eq!(told[3].0, "1\thello\n2\tpeople\n", "{dialect}");
        assert_eq!(told[4].0.trim(), "docs/greeting.txt:2:people", "{dialect}");
        assert_eq!(told[5].0.trim(), "2");
        let todos: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                SessionEvent::Todos { todos } => Some(todos[0].state),
                _ => None,
            })
            .collect();
        assert_eq!(todos, [TodoState::InProgress, TodoState::Completed]);
        let summary = "There is a greeting.".to_owned();
        assert!(events.contains(&SessionEvent::SaysDone { summary }));
        assert!(events.iter().any(|event| matches!(event, SessionEvent::Usage { .. })));
        let stats = world.model.stats();
        assert_eq!(stats.seals_broken, 0, "{dialect}: opaque state must come back as it was");
    }
}

#[tokio::test]
async fn told_that_something_is_missing_it_goes_on_until_it_is_there() {
    let world = World::new().await;
    let mut session = world.session(World::voice(Dialect::Anthropic), Tree::new());
    let events = turn(&mut session, "The bead: [[work a/b.txt one]]").await;
    assert!(events.iter().any(|event| matches!(event, SessionEvent::SaysDone { .. })));
    assert_eq!(world.room.collect().await.commits, 1);
    assert_eq!(world.room.on_branch("a/b.txt"), "one");
    let left = SandboxPath::new("left.txt").unwrap();
    let room = &world.room;
    room.provider.write(room.sandbox.id, &left, "over".into()).await.unwrap();
    assert!(room.collect().await.dirty);
    let stored = serde_json::to_string(&session.tree()).unwrap();
    drop(session);
    // A new process, which has nothing but what was stored.
    let tree = serde_json::from_str(&stored).unwrap();
    let mut session = world.session(World::voice(Dialect::Chat), tree);
    let events = turn(&mut session, "left.txt is not committed.").await;
    assert!(
        events.iter().any(|event| matches!(event, SessionEvent::SaysDone { .. })),
        "{events:?}"
    );
    let collected = world.room.collect().await;
    assert_eq!((collected.commits, collected.dirty), (2, false));
    assert_eq!(world.room.on_branch("left.txt"), "over");
}

#[tokio::test]
async fn copies_of_an_agent_go_on_with_its_files_and_its_conversation_each_for_itself() {
    let world = World::new().await;
    let mut session = world.session(World::voice(Dialect::Responses), Tree::new());
    turn(&mut session, "[[work a.txt common]]").await;
    turn(&mut session, "[[shell echo draft > draft.txt]]").await;
    let stored = serde_json::to_string(&session.tree()).unwrap();
    let mut asked = Vec::new();
    for (bead, copy) in ["left", "right"].into_iter().zip(world.room.fork(["left", "right"]).await)
    {
        let tree = serde_json::from_str(&stored).unwrap();
        let voice = World::voice(Dialect::Responses);
        let mut session = world.session_in(copy.id, world.line(), voice, tree);
        let before = world.model.recorded().len();
        let events = turn(&mut session, "Go on. [[shell cat draft.txt]]").await;
        assert_eq!(results(&events), [("draft\n", false)], "{bead}");
        asked.push(world.model.recorded()[before].body.clone());
        turn(&mut session, &format!("[[work b.txt {bead}]]")).await;
        let collected = world.room.provider.collect(copy.id).await.unwrap();
        assert_eq!((collected.commits, collected.dirty), (2, false), "{bead}");
        assert_eq!(world.room.git(&["show", &format!("bead/{bead}:b.txt")]), bead);
        assert_eq!(world.room.git(&["show", &format!("bead/{bead}:draft.txt")]), "draft");
    }
    assert_eq!(asked[0], asked[1], "both remember the same");
    // The first one has heard nothing of it.
    assert_eq!(world.room.collect().await.commits, 1);
    assert_eq!(serde_json::to_string(&session.tree()).unwrap(), stored);
}

#[tokio::test]
#[ignore = "needs a running Godel: cargo xtask test --only clients --clients all"]
async fn real_a_commit_is_made_through_the_proxy() {
    let stage = Stage::open().await;
    for dialect in Dialect::ALL {
        let world = World::new().await;
        let line = Line {
            http: reqwest::Client::new(),
            base_url: stage.base.clone(),
            token: SecretString::from(stage.token.clone()),
        };
        let mut session = world.session_on(line, World::voice(dialect), Tree::new());
        let events = turn(&mut session, TASK).await;
        assert_eq!(outcome(&events), &Outcome::Completed, "{dialect}: {events:#?}");
        assert_eq!(world.room.collect().await.commits, 1, "{dialect}");
        assert_eq!(world.room.last_commit(), "A greeting by Agent", "{dialect}");
    }
}

#[tokio::test]
async fn a_restored_session_asks_the_same_bytes() {
    for dialect in Dialect::ALL {
        let world = World::new().await;
        let mut session = world.session(World::voice(dialect), Tree::new());
        turn(&mut session, "[[call read {\"path\":\"none\"}]] [[then]] [[say so]]").await;
        let stored = serde_json::to_string(&session.tree()).unwrap();
        drop(session);
        let mut asked = Vec::new();
        for _ in 0..2 {
            let tree: Tree = serde_json::from_str(&stored).unwrap();
            let mut restored = world.session(World::voice(dialect), tree);
            let events = turn(&mut restored, "what now? [[say later]]").await;
            assert_eq!(outcome(&events), &Outcome::Completed, "{dialect}: {events:?}");
            asked.push(world.model.recorded().last().unwrap().body.clone());
        }
        assert_eq!(asked[0], asked[1], "{dialect}");
        let mut tree: Tree = serde_json::from_str(&stored).unwrap();
        tree.say(Item::User { text: "what now? [[say later]]".into() }).unwrap();
        let expected = World::voice(dialect).request(&tree).unwrap();
        assert_eq!(asked[0], expected, "{dialect}");
    }
}

#[tokio::test]
async fn what_goes_wrong_is_told_to_the_model_and_it_goes_on() {
    let world = World::new().await;
    let mut session = world.session(World::voice(Dialect::Anthropic), Tree::new());
    let events = turn(
        &mut session,
        r#"[[call read {"path":"/etc/passwd"}]] [[call read {"path":"../x"}]]
        [[call edit {"path":"none","old":"a","new":"b"}]] [[call write {"path":"a"}]]
        [[call shell {"command":"echo out; echo err >&2; exit 3"}]]
        [[call shell {"command":"sleep 60","seconds":1}]]
        [[call search {"pattern":"nowhere"}]] [[call shell {"command":"sleep 300 & echo left"}]]
        [[then]] [[say well]]"#,
    )
    .await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    let told = results(&events);
    assert!(told[0].1 && told[0].0.contains("leads out"), "{told:?}");
    assert!(told[1].1 && told[2].1, "{told:?}");
    assert!(told[3].1 && told[3].0.contains("missing field `content`"), "{told:?}");
    assert!(told[4].1 && told[4].0.contains("out\nerr") && told[4].0.contains("exit code 3"));
    assert!(told[5].1 && told[5].0.contains("after 1 seconds"), "{told:?}");
    assert_eq!(told[6], ("nothing found", false));
    assert!(told[7].0.contains("left"), "{told:?}");
}

#[tokio::test]
async fn a_question_waits_for_its_answer() {
    let world = World::new().await;
    let mut session = world.session(World::voice(Dialect::Chat), Tree::new());
    let ask = r#"[[call ask {"question":"Which colour?","choices":["red","blue"]}]]"#;
    session.prompt(Turn::new(ask)).await.unwrap();
    let id = loop {
        if let SessionEvent::Question { id, choices, .. } = session.next().await.unwrap() {
            assert_eq!(choices.len(), 2);
            break id;
        }
    };
    let nobody = session.answer("other", Answer::Declined).await;
    assert!(matches!(nobody, Err(Error::NoQuestion(_))));
    assert!(matches!(session.change(|_| ()), Err(Error::Busy)));
    session.answer(&id, Answer::Choice("blue".into())).await.unwrap();
    let mut said = String::new();
    loop {
        match session.next().await.unwrap() {
            SessionEvent::Text { text } => said.push_str(&text),
            SessionEvent::TurnEnded { outcome } => break assert_eq!(outcome, Outcome::Completed),
            _ => {}
        }
    }
    assert_eq!(said, "The tool said: blue");
}

#[tokio::test]
async fn a_turn_that_is_stopped_can_be_followed_by_another() {
    let world = World::new().await;
    let mut session = world.session(World::voice(Dialect::Responses), Tree::new());
    session.prompt(Turn::new("[[shell sleep 600]]")).await.unwrap();
    while !matches!(session.next().await.unwrap(), SessionEvent::ToolCall { .. }) {}
    session.cancel().await.unwrap();
    let mut last = session.next().await.unwrap();
    while last.outcome().is_none() {
        last = session.next().await.unwrap();
    }
    assert_eq!(last.outcome(), Some(&Outcome::Cancelled));
    // The provider refuses calls without results, so the open one must have been settled.
    let events = turn(&mut session, "[[say still here]]").await;
    assert_eq!(outcome(&events), &Outcome::Completed, "{events:?}");
    // A stop that comes right behind the prompt is not lost.
    session.prompt(Turn::new("[[shell sleep 600]]")).await.unwrap();
    session.cancel().await.unwrap();
    let mut last = session.next().await.unwrap();
    while last.outcome().is_none() {
        last = session.next().await.unwrap();
    }
    assert_eq!(last.outcome(), Some(&Outcome::Cancelled));
}

#[tokio::test]
async fn what_is_said_in_the_middle_of_a_turn_is_heard_at_the_next_safe_point() {
    let world = World::new().await;
    let mut session = world.session(World::voice(Dialect::Chat), Tree::new());
    session.prompt(Turn::new("[[shell sleep 1]]")).await.unwrap();
    while !matches!(session.next().await.unwrap(), SessionEvent::ToolCall { .. }) {}
    session.prompt(Turn::new("[[say I heard you]]")).await.unwrap();
    let mut said = String::new();
    loop {
        match session.next().await.unwrap() {
            SessionEvent::Text { text } => said.push_str(&text),
            SessionEvent::TurnEnded { outcome } => break assert_eq!(outcome, Outcome::Completed),
            _ => {}
        }
    }
    assert_eq!(said, "I heard you");
}

#[tokio::test]
async fn a_model_that_stumbles_is_asked_again_and_one_that_refuses_is_not() {
    let world = World::new().await;
    let mut session = world.session(World::voice(Dialect::Anthropic), Tree::new());
    let events = turn(&mut session, "[[fault 529 times=1]] [[say better]]").await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    assert!(events.iter().any(|event| matches!(event, SessionEvent::Trouble { .. })));
    let before = world.model.recorded().len();
    world.model.switch(Switch::fault(Fault { status: Some(402), ..Fault::default() }));
    let events = turn(&mut session, "more").await;
    assert!(matches!(outcome(&events), Outcome::Failed { message } if message.contains("402")));
    assert_eq!(world.model.recorded().len(), before + 1);
    world.model.switch(Switch::well());
    let events = turn(&mut session, "[[eof-after=3 times=1]] [[words 50]]").await;
    assert_eq!(outcome(&events), &Outcome::Completed, "a stream that broke off is asked again");
}

#[tokio::test]
async fn a_long_conversation_is_made_shorter_and_goes_on() {
    let world = World::new().await;
    for i in 0..3 {
        std::fs::write(world.room.tree().join(format!("{i}.txt")), "line\n".repeat(1500)).unwrap();
    }
    let voice = Voice { window: 12_000, max_output: 1000, ..World::voice(Dialect::Anthropic) };
    let mut session = world.session(voice, Tree::new());
    for i in 0..3 {
        let read = format!("[[call read {{\"path\":\"{i}.txt\"}}]] [[then]] [[say read {i}]]");
        let events = turn(&mut session, &read).await;
        assert_eq!(outcome(&events), &Outcome::Completed, "{events:?}");
    }
    let tree = session.tree();
    let summaries =
        tree.nodes().filter(|(_, node)| matches!(node.entry, Entry::Summary { .. })).count();
    assert!(summaries >= 1, "it was never made shorter");
    let Item::User { text } = &tree.context()[0] else { panic!("{:?}", tree.context()[0]) };
    assert!(text.contains("summary"), "{text}");
    // Nothing is lost: the whole way is still there.
    assert!(tree.path().len() > tree.context().len());
}

#[tokio::test]
async fn a_summary_by_rule_stands_in_when_the_model_gives_none() {
    let world = World::new().await;
    let mut tree = Tree::new();
    tree.say(Item::User { text: format!("task {}", "x".repeat(40_000)) }).unwrap();
    tree.say(Item::Model { text: "I did this.".into() }).unwrap();
    tree.say(Item::User { text: "more".into() }).unwrap();
    tree.say(Item::Model { text: "y".repeat(40_000) }).unwrap();
    let voice = Voice { window: 12_000, max_output: 1000, ..World::voice(Dialect::Chat) };
    let mut session = world.session(voice, tree);
    // The first request is the one for a summary.
    let fault = Fault { status: Some(400), times: Some(1), ..Fault::default() };
    world.model.switch(Switch::fault(fault));
    let events = turn(&mut session, "[[say on]]").await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    let compacted = events.iter().find_map(|event| match event {
        SessionEvent::Compacted { summary } => Some(summary),
        _ => None,
    });
    let summary = compacted.expect("it was made shorter");
    assert!(
        summary.contains("What was asked") && summary.contains("I did this."),
        "{}",
        summary.len()
    );
}

/// Any conversation, also one that was led with several models.
fn items() -> impl Strategy<Value = Vec<Item>> {
    let text = || "[ -~é\\n\"]{0,20}";
    let own = proptest::option::of((0_usize..4, any::<bool>()).prop_map(|(at, other)| {
        godel_llm::translate::talk::Opaque {
            dialect: Dialect::ALL[at],
            model: if other { "other" } else { "m" }.to_owned(),
            state: r#"{"type":"thinking","thinking":"x","signature":"s"}"#.to_owned(),
        }
    }));
    let item =
        prop_oneof![
            text().prop_map(|text| Item::User { text }),
            text().prop_map(|text| Item::Model { text }),
            (text(), own.clone()).prop_map(|(text, own)| Item::Thought { text, own }),
            ("[a-z]{0,3}", "[a-z]{1,4}", text(), own)
                .prop_map(|(id, name, input, own)| Item::Call { id, name, input, own }),
            ("[a-z]{0,3}", text(), any::<bool>()).prop_map(|(call, text, failed)| Item::Result {
                call,
                text,
                failed
            }),
        ];
    proptest::collection::vec(item, 0..16)
}

proptest! {
    #[test]
    fn the_same_conversation_gives_the_same_bytes(items in items(), think in any::<bool>()) {
        let mut tree = Tree::new();
        for item in items {
            tree.say(item).unwrap();
        }
        let stored = serde_json::to_vec(&tree).unwrap();
        let restored: Tree = serde_json::from_slice(&stored).unwrap();
        for dialect in Dialect::ALL {
            let voice = Voice { think, ..Voice::new(dialect, "m") };
            let first = voice.request(&tree).unwrap();
            prop_assert_eq!(&first, &voice.request(&restored).unwrap());
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&first).is_ok());
            // What another model keeps to itself is not shown to this one.
            let text = String::from_utf8(first).unwrap();
            let own = tree.context().iter().any(|item| matches!(item,
                Item::Thought { own: Some(own), .. } | Item::Call { own: Some(own), .. }
                if own.dialect == dialect && own.model == "m"));
            prop_assert!(own || !text.contains(r#""signature":"s""#));
        }
    }
}
