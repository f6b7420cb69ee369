//! Attaching to agents: a shell in a real sandbox, byte by byte, and who has control.

use std::time::Duration;

use bytes::Bytes;
use godel_api::{
    ATTACH_PROTOCOL, AttachAsk, AttachTold, CLOSE_REFUSED, CLOSE_TOO_SLOW, Client, ClientError,
    Heard, Holder, Socket, read_terminal_frame,
};
use godel_model::{Report as _, code};
use uuid::Uuid;

use crate::fleet::Yard;
use crate::home::Home;
use crate::people::developer;
use crate::wire::{Cutter, Talkative, gather, terminal, wait_for};

pub(crate) const MODEL: &str = "[agents]\nmodel = \"claude-opus-4-8\"\n";
/// An agent that works for as long as a test takes.
pub(crate) const BUSY: &str = "[[shell sleep 600]]";
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts an agent that is busy, and returns its name.
pub(crate) fn busy(yard: &Yard) -> String {
    let label = yard.repo.say(&["agent", "spawn", BUSY]).trim_end().to_owned();
    yard.until_state(&label, "executing");
    label
}

fn client(yard: &Yard, home: &Home) -> Client {
    let made = home.run(&["key", "create", "attach", "--json"]);
    let key = made.expect(0).json()["key"].as_str().unwrap().parse().unwrap();
    Client::new(yard.server.as_ref().unwrap().url(), Some(key)).unwrap()
}

/// Somebody who is attached by a socket.
struct Visitor {
    socket: Socket,
    seat: Uuid,
    terminal: Option<Uuid>,
    may_control: bool,
    holder: Option<Holder>,
    /// The columns and rows of the terminal, as they were told last.
    size: Option<(u16, u16)>,
    /// Where the next byte is expected.
    at: u64,
    shown: Vec<u8>,
}

impl Visitor {
    async fn try_open(
        client: &Client,
        agent: &str,
        query: &[(&str, &str)],
    ) -> Result<Self, ClientError> {
        let path = format!("/api/v1/agents/{agent}/attach");
        let query: Vec<_> = query.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        let mut socket = client.socket(&path, &query, ATTACH_PROTOCOL).await?;
        let Heard::Text(text) = socket.next().await else { panic!("no hello") };
        let told = serde_json::from_str(&text).unwrap();
        let AttachTold::Hello {
            seat, terminal, offset, columns, rows, may_control, holder, ..
        } = told
        else {
            panic!("{text}");
        };
        let (size, shown) = (columns.zip(rows), Vec::new());
        Ok(Self { socket, seat, terminal, may_control, holder, size, at: offset, shown })
    }

    async fn open(client: &Client, agent: &str) -> Self {
        Self::try_open(client, agent, &[("terminal", "true")]).await.unwrap()
    }

    /// Comes back to a terminal.
    async fn back(client: &Client, agent: &str, (terminal, offset): (Uuid, u64)) -> Self {
        let (id, offset) = (terminal.to_string(), offset.to_string());
        let query = [("terminal", "true"), ("terminalId", &id), ("offset", &offset)];
        Self::try_open(client, agent, &query).await.unwrap()
    }

    async fn ask(&mut self, ask: AttachAsk) {
        assert!(self.socket.text(serde_json::to_string(&ask).unwrap()).await);
    }

    async fn types(&mut self, text: &str) {
        assert!(self.socket.bytes(Bytes::copy_from_slice(text.as_bytes())).await);
    }

    async fn next(&mut self) -> Heard {
        let told = tokio::time::timeout(PATIENCE, self.socket.next()).await;
        told.unwrap_or_else(|_| panic!("nothing after {:?}", String::from_utf8_lossy(&self.shown)))
    }

    /// Waits for a frame that is not what the terminal shows, and checks the places of what is.
    async fn told(&mut self) -> Result<AttachTold, (u16, String)> {
        loop {
            match self.next().await {
                Heard::Text(text) if self.resized(&text) => {}
                Heard::Text(text) => return Ok(serde_json::from_str(&text).unwrap()),
                Heard::Bytes(frame) => self.see(&frame),
                Heard::Closed { code, reason } => return Err((code, reason)),
                Heard::Lost => panic!("the connection broke"),
            }
        }
    }

    /// Takes note if a frame tells of another size.
    fn resized(&mut self, text: &str) -> bool {
        let told = serde_json::from_str(text).unwrap();
        let AttachTold::Size { columns, rows } = told else { return false };
        self.size = Some((columns, rows));
        true
    }

    fn see(&mut self, frame: &Bytes) {
        let (at, bytes) = read_terminal_frame(frame).unwrap();
        assert_eq!(at, self.at, "no byte is lost, and none comes twice");
        self.at += bytes.len() as u64;
        self.shown.extend_from_slice(&bytes);
    }

    /// Reads until a text was shown.
    async fn until(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.shown).contains(text) {
            match self.next().await {
                Heard::Bytes(frame) => self.see(&frame),
                Heard::Text(told) if self.resized(&told) => {}
                other => panic!("{other:?} instead of {text:?}"),
            }
        }
    }

    /// Waits until it is told who has control.
    async fn holder(&mut self) -> Option<Uuid> {
        match self.told().await {
            Ok(AttachTold::Control { holder }) => holder.map(|holder| holder.seat),
            other => panic!("{other:?}"),
        }
    }

    /// Waits for a refusal, and returns its code.
    async fn refusal(&mut self) -> String {
        match self.told().await {
            Ok(AttachTold::Refused { error }) => error.code,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_read_on_from_any_byte_after_a_cut_and_nothing_is_lost_or_doubled() {
    let yard = Yard::open(MODEL).await;
    let label = busy(&yard);
    let client = client(&yard, &yard.repo.home);
    let mut first = Visitor::open(&client, &label).await;
    assert_eq!((first.holder.map(|one| one.seat), first.may_control), (Some(first.seat), true));
    let terminal = first.terminal.unwrap();
    first.holder = None;
    // It is the agent's own sandbox: its worktree, and no way to the person's home.
    first.types("echo in-$((40 + 2)) $(git rev-parse --is-inside-work-tree); ls README.md\n").await;
    first.until("in-42 true\r\nREADME.md\r\n").await;
    first.types("for n in $(seq 1 5000); do echo row-$n; done; echo fin''ished\n").await;
    first.until("row-200\r\n").await;
    let (at, seen) = (first.at, first.shown.clone());
    // Cut off without a goodbye, in the middle.
    drop(first);
    let mut second = Visitor::back(&client, &label, (terminal, at)).await;
    second.until("finished\r\n").await;
    let whole = [seen, second.shown.clone()].concat();
    let mut third = Visitor::back(&client, &label, (terminal, 0)).await;
    third.until("finished\r\n").await;
    let length = whole.len().min(third.shown.len());
    assert_eq!(whole[..length], third.shown[..length]);
    for row in 1..=5_000 {
        let row = format!("row-{row}\r\n");
        assert_eq!(String::from_utf8_lossy(&whole).matches(&row).count(), 1, "{row}");
    }
    // Who comes from a place that there is not, or to a terminal that there is not, is told.
    let far = [("terminal", "true"), ("offset", "99999999")];
    let refused = Visitor::try_open(&client, &label, &far).await.err().unwrap();
    assert_eq!(refused.code(), code::INVALID_FIELD);
    let other = [("terminal", "true"), ("terminalId", "01a1e032-219b-76dd-a51c-67e958f1e5a8")];
    let refused = Visitor::try_open(&client, &label, &other).await.err().unwrap();
    assert_eq!(refused.code(), code::SANDBOX_STATE);
    let opened = yard.repo.json(&["events", "list", "--limit", "1000"]).to_string();
    assert_eq!(opened.matches("agent:terminal").count(), 1, "it is told who opened it, once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_inside_the_walls_of_gvisor_too() {
    let yard = Yard::open(MODEL).await;
    let how = ["agent", "spawn", BUSY, "--runtime", "gvisor"];
    let name = yard.repo.say(&how).trim_end().to_owned();
    yard.until_state(&name, "executing");
    let client = client(&yard, &yard.repo.home);
    let mut visitor = Visitor::open(&client, &name).await;
    // It has a size, and what its keys mean reaches the command.
    visitor.ask(AttachAsk::Resize { columns: 77, rows: 33 }).await;
    // It says that it is there once it has the keys; a shell that is still about to start it would have them.
    visitor.types("stty size; sh -c 'echo rea\"\"dy; exec sleep 600'\n").await;
    visitor.until("33 77\r\n").await;
    visitor.until("ready").await;
    visitor.types("\u{3}echo $((20 + 3)) more\n").await;
    visitor.until("23 more").await;
    let (terminal, at) = (visitor.terminal.unwrap(), visitor.at);
    drop(visitor);
    // Whoever was cut off and comes back has the keys again, also if the server does not know of the cut yet.
    let mut again = Visitor::back(&client, &name, (terminal, at)).await;
    assert_eq!(again.holder.as_ref().map(|one| one.seat), Some(again.seat));
    again.types("echo $((40 + 1)) again\n").await;
    again.until("41 again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_has_control_and_everybody_knows_who() {
    let yard = Yard::open(MODEL).await;
    let label = busy(&yard);
    let client = client(&yard, &yard.repo.home);
    let mut one = Visitor::open(&client, &label).await;
    let mut two = Visitor::open(&client, &label).await;
    assert_eq!((one.size, two.size), (Some((80, 24)), Some((80, 24))));
    assert_eq!(two.holder.clone().map(|holder| holder.seat), Some(one.seat));
    two.types("echo stolen\n").await;
    assert_eq!(two.refusal().await, "control_held");
    two.ask(AttachAsk::Resize { columns: 10, rows: 10 }).await;
    assert_eq!(two.refusal().await, "control_held");
    two.ask(AttachAsk::Take { force: false }).await;
    assert_eq!(two.refusal().await, "control_held");
    one.ask(AttachAsk::Release {}).await;
    assert_eq!((one.holder().await, two.holder().await), (None, None));
    two.ask(AttachAsk::Take { force: false }).await;
    let own = Some(two.seat);
    assert_eq!((one.holder().await, two.holder().await), (own, own));
    two.ask(AttachAsk::Resize { columns: 91, rows: 17 }).await;
    two.types("stty size\n").await;
    two.until("17 91\r\n").await;
    one.until("17 91\r\n").await;
    assert_eq!((one.size, two.size), (Some((91, 17)), Some((91, 17))));
    one.ask(AttachAsk::Take { force: true }).await;
    let own = Some(one.seat);
    assert_eq!((one.holder().await, two.holder().await), (own, own));
    // The lock goes with the connection of who has it.
    drop(one);
    assert_eq!(two.holder().await, None);
    assert!(!String::from_utf8_lossy(&two.shown).contains("stolen"));
    // The conversation has a lock of its own.
    let talk = Visitor::try_open(&client, &label, &[]).await.unwrap();
    assert_eq!((talk.holder.map(|holder| holder.seat), talk.size), (Some(talk.seat), None));
    // A browser cannot read why a socket did not open, so it is told on the socket if it asks for that.
    let path = format!("/api/v1/agents/{label}/attach");
    let query = [("terminal", "true"), ("offset", "99999999"), ("explain", "true")]
        .map(|(name, text)| (name, text.to_owned()));
    let mut socket = client.socket(&path, &query, ATTACH_PROTOCOL).await.unwrap();
    let Heard::Text(told) = socket.next().await else { panic!("nothing was told") };
    let AttachTold::Refused { error } = serde_json::from_str(&told).unwrap() else {
        panic!("{told}")
    };
    assert_eq!(error.code, "invalid_field");
    let Heard::Closed { code, reason } = socket.next().await else { panic!("it stays open") };
    assert_eq!((code, reason.as_str()), (CLOSE_REFUSED, error.message.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_may_only_watch() {
    let yard = Yard::open(MODEL).await;
    let label = busy(&yard);
    let server = yard.server.as_ref().unwrap();
    let vera = || developer(server, &yard.repo.home, "vera", "viewer", &["--project", "app"]);
    let vera = tokio::task::block_in_place(vera);
    let reader = client(&yard, &vera);
    let terminal = [("terminal", "true")];
    let refused = Visitor::try_open(&reader, &label, &terminal).await.err().unwrap();
    assert_eq!(refused.code(), code::FORBIDDEN, "a reader opens no shell");
    let owner = client(&yard, &yard.repo.home);
    let mut lead = Visitor::open(&owner, &label).await;
    let mut watcher = Visitor::open(&reader, &label).await;
    assert!(!watcher.may_control);
    for ask in [AttachAsk::Take { force: false }, AttachAsk::Take { force: true }] {
        watcher.ask(ask).await;
        assert_eq!(watcher.refusal().await, "forbidden");
    }
    watcher.types("echo intruder\n").await;
    assert_eq!(watcher.refusal().await, "forbidden");
    lead.types("echo wel''come\n").await;
    watcher.until("welcome\r\n").await;
    assert!(!String::from_utf8_lossy(&watcher.shown).contains("intruder"));
    let mut log = Visitor::try_open(&reader, &label, &[]).await.unwrap();
    log.ask(AttachAsk::Message { text: "do something else".to_owned() }).await;
    let refusal = loop {
        match log.told().await {
            Ok(AttachTold::Log { .. }) => {}
            Ok(AttachTold::Refused { error }) => break error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refusal.code, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_ends_with_its_agent_and_says_so_and_the_log_can_still_be_read() {
    let yard = Yard::open(MODEL).await;
    let label = busy(&yard);
    let client = client(&yard, &yard.repo.home);
    let watch = [("terminal", "true"), ("watch", "true")];
    let refused = Visitor::try_open(&client, &label, &watch).await.err().unwrap();
    assert_eq!(refused.code(), code::SANDBOX_STATE, "who only looks opens none");
    let terminal = [("terminal", "true")];
    let mut paused = Visitor::open(&client, &label).await;
    yard.run(&["agent", "pause", &label]).expect(0);
    assert_eq!(paused.told().await, Ok(AttachTold::Exit { code: None }));
    let (code, why) = paused.told().await.unwrap_err();
    assert!(code == 1000 && why.contains("is paused"), "{code} {why}");
    let refused = Visitor::try_open(&client, &label, &terminal).await.err().unwrap();
    assert_eq!(refused.code(), code::AGENT_STATE);
    assert!(refused.hint().unwrap().contains(&format!("godel agent resume {label}")));
    yard.run(&["agent", "resume", &label]).expect(0);
    yard.until_state(&label, "executing");
    // The next one is another shell.
    let mut killed = Visitor::open(&client, &label).await;
    assert_ne!(killed.terminal, paused.terminal);
    let mut log = Visitor::try_open(&client, &label, &[]).await.unwrap();
    yard.run(&["agent", "kill", &label]).expect(0);
    assert_eq!(killed.told().await, Ok(AttachTold::Exit { code: None }));
    let ended = format!("{label} has ended: it is killed");
    assert_eq!(killed.told().await, Err((1000, ended.clone())));
    let refused = Visitor::try_open(&client, &label, &terminal).await.err().unwrap();
    assert_eq!(refused.code(), code::AGENT_STATE);
    // Its log says all of it, to who was there and to who comes now, and then the same.
    let mut late = Visitor::try_open(&client, &label, &[]).await.unwrap();
    for visitor in [&mut log, &mut late] {
        let mut kinds = Vec::new();
        let end = loop {
            match visitor.told().await {
                Ok(AttachTold::Log { items, .. }) => {
                    kinds.extend(items.into_iter().map(|line| line.kind));
                }
                // The other one leaves, and who comes late hears of it.
                Ok(AttachTold::Control { holder: None }) => {}
                Ok(other) => panic!("{other:?}"),
                Err(end) => break end,
            }
        };
        assert!(kinds.iter().any(|kind| kind == "agent:kill"), "{kinds:?}");
        assert_eq!(end, (1000, ended.clone()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_watcher_is_cut_off_and_the_others_are_not_slowed() {
    let yard = Yard::open(MODEL).await;
    let label = busy(&yard);
    let client = client(&yard, &yard.repo.home);
    let mut lead = Visitor::open(&client, &label).await;
    let mut slow = Visitor::open(&client, &label).await;
    // More than all buffers between here and there can hold; it waits for who reads it.
    lead.types("stty -echo; yes 0123456789 | head -c 40000000; echo a''ll\n").await;
    let mut last = Vec::new();
    while !last.ends_with(b"all\r\n") && !last.windows(5).any(|part| part == b"all\r\n") {
        match lead.next().await {
            Heard::Bytes(frame) => last = frame[frame.len().saturating_sub(200)..].to_vec(),
            Heard::Text(text) => assert!(text.contains("dropped"), "{text}"),
            other => panic!("{other:?}"),
        }
    }
    // The other one wakes up later than the server waits for one who keeps up.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let end = loop {
        match slow.next().await {
            Heard::Closed { code, reason } => break (code, reason),
            Heard::Lost => panic!("it is told why"),
            _ => {}
        }
    };
    assert_eq!(end.0, CLOSE_TOO_SLOW, "{end:?}");
    assert!(end.1.contains("too slow") && end.1.contains("come back from"), "{end:?}");
    lead.types("echo st''ill\n").await;
    loop {
        if let Heard::Bytes(frame) = lead.next().await
            && frame.windows(5).any(|part| part == b"still")
        {
            return;
        }
    }
}

/// Begins to attach by the command.
fn attach(yard: &Yard, words: &[&str], variables: &[(&str, &str)]) -> Talkative {
    let mut command =
        yard.repo.command_in(&yard.repo.path, &[&["agent", "attach"], words].concat());
    Talkative::start(command.envs(variables.iter().copied()))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_passes_bytes_by_pipes_and_comes_back_after_each_cut() {
    let yard = Yard::open(MODEL).await;
    let label = busy(&yard);
    let cutter = Cutter::before(yard.server.as_ref().unwrap().url(), vec![20_000, 33_333, 50_001]);
    let key = std::fs::read_to_string(yard.repo.home.data().join("owner.key")).unwrap();
    let words = [&label, "--terminal", "--server", &cutter.url];
    let mut person = attach(&yard, &words, &[("GODEL_KEY", key.trim())]);
    person.types("stty -echo; PS1=; echo begin-$((1 + 1))");
    person.until("begin-2\n");
    person.types("for n in $(seq 1 20000); do echo row-$n; done; exit 3");
    assert_eq!(person.ended(), 0, "{}", person.stderr());
    let (shown, told) = (person.stdout(), person.stderr());
    assert!(told.contains("the shell has ended with code 3"), "{told}");
    assert_eq!(told.matches("the connection broke; trying again").count(), 3, "{told}");
    let rows: Vec<&str> = shown.lines().filter(|line| line.starts_with("row-")).collect();
    let wanted: Vec<String> = (1..=20_000).map(|row| format!("row-{row}")).collect();
    assert_eq!(rows, wanted, "no byte is lost, and none comes twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_share_a_terminal_and_the_one_who_takes_control_types() {
    let mut yard = Yard::open(MODEL).await;
    let label = busy(&yard);
    let mut one = attach(&yard, &[&label, "--terminal"], &[]);
    one.types("echo fi''rst");
    one.until("first\n");
    let two = attach(&yard, &[&label, "--terminal", "--watch"], &[]);
    two.until("first\n");
    let mut three = attach(&yard, &[&label, "--terminal", "--take"], &[]);
    one.until("owner has control; you watch");
    three.types("echo thi''rd");
    two.until("third\n");
    one.until("third\n");
    // When it is free again, who waits has it, and what waited is typed.
    one.types("echo ag''ain");
    drop(three);
    one.until("you have control");
    one.until("again\n");
    // A terminal ends with its server, and who comes back is told.
    yard.server.take().unwrap().kill();
    yard.up();
    assert_eq!(one.ended(), 4, "{}", one.stderr());
    assert!(one.stderr().contains("has ended") && one.stderr().contains("sandbox_state"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_talks_to_an_agent_talks_on_after_the_server_was_killed() {
    let mut yard = Yard::open(MODEL).await;
    let task = r#"[[call ask {"question":"Which colour?","choices":["red","blue"]}]]"#;
    let label = yard.repo.say(&["agent", "spawn", task]).trim_end().to_owned();
    yard.until_state(&label, "waiting");
    let mut person = attach(&yard, &[&label], &[]);
    person.until("Which colour?");
    yard.server.take().unwrap().kill();
    person.until("trying again");
    yard.up();
    person.until("connected again");
    // Whether it asks once more depends on how much of its turn was on disk.
    person.until("its server was lost");
    person.types("[[work colour.txt painted]]");
    let settled = |agent: &serde_json::Value| {
        for asked in yard.json(&["inbox"])["items"].as_array().unwrap() {
            yard.repo.godel(&["inbox", "decline", asked["id"].as_str().unwrap()]);
        }
        agent["status"] == "completed"
    };
    yard.look_until(&["agent", "show", &label], settled);
    assert_eq!(person.ended(), 0, "{}", person.stderr());
    assert!(person.stderr().contains(&format!("{label} has ended: it is completed")));
    let whole = yard.repo.godel(&["agent", "logs", &label]).expect(0).stdout;
    // It shows the last of what was before; from there on each line once.
    assert!(whole.ends_with(&person.stdout()), "{whole}\n---\n{}", person.stdout());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_at_a_terminal_works_in_the_agents_and_leaves_by_a_key() {
    use std::io::Write as _;

    let yard = Yard::open(MODEL).await;
    let label = busy(&yard);
    let (mut keyboard, tty) = terminal((33, 111));
    let mut command =
        yard.repo.command_in(&yard.repo.path, &["agent", "attach", &label, "--terminal"]);
    let both = (tty.try_clone().unwrap(), tty.try_clone().unwrap());
    let mut child = command.stdin(both.0).stdout(both.1).stderr(tty).spawn().unwrap();
    let shown = gather(keyboard.try_clone().unwrap());
    let until = |text: &str| wait_for(&[&shown], text);
    until("Ctrl-] or ~. after Enter detaches");
    keyboard.write_all(b"echo size $(stty size)\r").unwrap();
    until("size 33 111");
    // Ctrl-C is for the command there, not for the one here.
    keyboard.write_all(b"sh -c \"echo sta''rted; exec sleep 600\"\r").unwrap();
    until("started");
    keyboard.write_all(b"\x03echo al''ive\r").unwrap();
    until("alive");
    keyboard.write_all(b"\x1d").unwrap();
    until(&format!("detached from {label}; its terminal stays open"));
    assert!(child.wait().unwrap().success());
}
