//! Sessions of programs: with a plain command always, and with the real agent programs where they are.
//!
//! Those are installed by `cargo xtask test --only clients --clients all`, which then runs the ignored
//! tests against a running Godel. By hand: `GODEL_TEST_CLIS=~/.cache/godel-dev/clients-cli/node_modules
//! cargo test -p godel-agents -- --ignored`; then they ask the scripted provider directly.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use godel_agents::discover::discover;
use godel_agents::launch::{Allowed, Plan, Resume, Tools};
use godel_agents::parse::Permissions;
use godel_agents::program::{ProgramSession, ProgramSettings};
use godel_agents::{AgentSession, Error, Harness, Outcome, SessionEvent, Turn};
use godel_llm::Dialect;
use godel_runtime::SandboxId;
use secrecy::SecretString;
use tempfile::TempDir;

use crate::front::Front;
use crate::room::Room;
use crate::stage::Stage;

struct World {
    stage: Stage,
    room: Room,
    front: Front,
}

impl World {
    async fn new() -> Self {
        Self::reading(Vec::new()).await
    }

    /// A world in whose sandbox these folders can be read too.
    async fn reading(folders: Vec<PathBuf>) -> Self {
        let stage = Stage::open().await;
        let front = Front::open(&stage.base, &stage.token).await;
        let room = Room::new(&front.base, folders).await;
        Self { stage, room, front }
    }

    fn plan(&self, harness: Harness, program: Vec<String>, dialect: Dialect) -> Plan {
        let model = match dialect {
            Dialect::Chat | Dialect::Responses => "gpt-5",
            Dialect::Anthropic => "claude-opus-4-8",
            Dialect::Gemini => "gemini-2.5-pro",
        };
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        Plan {
            harness,
            program,
            base_url: self.room.sandbox.api.clone().unwrap(),
            model: model.to_owned(),
            dialect,
            home: text(&self.room.sandbox.home),
            folder: text(&self.room.sandbox.workspace),
            system: None,
            tools: None,
            allowed: Allowed::default(),
        }
    }

    fn session(&self, plan: Plan) -> ProgramSession {
        self.resumed(plan, None)
    }

    fn resumed(&self, plan: Plan, resume: Option<Resume>) -> ProgramSession {
        self.session_in(self.room.sandbox.id, plan, resume)
    }

    fn session_in(&self, sandbox: SandboxId, plan: Plan, resume: Option<Resume>) -> ProgramSession {
        ProgramSession::start(ProgramSettings {
            plan,
            runtime: Arc::new(self.room.provider.clone()),
            sandbox,
            token: SecretString::from(self.stage.token.clone()),
            resume,
            permissions: Permissions::Allow,
        })
        .unwrap()
    }
}

async fn turn(session: &mut ProgramSession, prompt: &str) -> Vec<SessionEvent> {
    session.prompt(Turn::new(prompt)).await.unwrap();
    rest(session).await
}

async fn rest(session: &mut ProgramSession) -> Vec<SessionEvent> {
    let mut events = Vec::new();
    while events.last().and_then(SessionEvent::outcome).is_none() {
        events.push(session.next().await.unwrap());
    }
    events
}

fn said(events: &[SessionEvent]) -> String {
    let text = |event: &SessionEvent| match event {
        SessionEvent::Text { text } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

fn outcome(events: &[SessionEvent]) -> &Outcome {
    events.last().and_then(SessionEvent::outcome).unwrap()
}

fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

#[tokio::test]
async fn any_command_is_an_agent() {
    let world = World::new().await;
    let script = "echo told: $1; echo $GODEL_BASE_URL; test -n \"$GODEL_TOKEN\" && echo has a token; \
        echo x > made.txt; git add -A; git commit -q -m made";
    let program = words(&["sh", "-c", script, "sh", "{prompt}"]);
    let mut session = world.session(world.plan(Harness::Command, program, Dialect::Chat));
    for prompt in ["one {model}", "two"] {
        let events = turn(&mut session, prompt).await;
        let text = said(&events);
        assert!(text.starts_with(&format!("told: {prompt}\n")), "{text}");
        assert!(text.contains(&world.front.base) && text.contains("has a token"), "{text}");
        let well = prompt.starts_with("one");
        // The second time there is nothing to commit, and git says so by its exit code.
        assert_eq!(outcome(&events) == &Outcome::Completed, well, "{events:?}");
    }
    assert_eq!(world.room.collect().await.commits, 1);
    assert_eq!(world.room.last_commit(), "made by Agent");
}

#[tokio::test]
async fn a_prompt_without_a_place_goes_over_the_input_however_long_it_is() {
    let world = World::new().await;
    let program = words(&["sh", "-c", "wc -c"]);
    let mut session = world.session(world.plan(Harness::Command, program, Dialect::Chat));
    let events = turn(&mut session, &"x".repeat(godel_agents::PROMPT_MAX_BYTES)).await;
    assert_eq!(said(&events).trim(), godel_agents::PROMPT_MAX_BYTES.to_string());
    let long = session.prompt(Turn::new("x".repeat(godel_agents::PROMPT_MAX_BYTES + 1))).await;
    assert!(matches!(long, Err(Error::TooLong { .. })));
}

#[tokio::test]
async fn a_command_is_stopped_and_the_next_one_runs() {
    let world = World::new().await;
    let program = words(&["sh", "-c", "{prompt}"]);
    let mut session = world.session(world.plan(Harness::Command, program, Dialect::Chat));
    session.prompt(Turn::new("echo begun; exec sleep 600")).await.unwrap();
    while !matches!(session.next().await.unwrap(), SessionEvent::Text { .. }) {}
    assert!(matches!(session.prompt(Turn::new("more")).await, Err(Error::Busy)));
    session.cancel().await.unwrap();
    assert_eq!(outcome(&rest(&mut session).await), &Outcome::Cancelled);
    assert_eq!(outcome(&turn(&mut session, "exit 0").await), &Outcome::Completed);
    let events = turn(&mut session, "echo it is broken >&2; exit 3").await;
    let Outcome::Failed { message } = outcome(&events) else { panic!("{events:?}") };
    assert!(message.contains("exit code 3") && message.contains("it is broken"), "{message}");
}

#[tokio::test]
async fn an_agent_that_talks_without_end_can_be_stopped_by_who_does_not_listen() {
    let world = World::new().await;
    let program = words(&["sh", "-c", "{prompt}"]);
    let mut session = world.session(world.plan(Harness::Command, program, Dialect::Chat));
    session.prompt(Turn::new("while :; do echo more; done")).await.unwrap();
    // Nobody listens, so the agent waits with its next word; still the order must reach it.
    assert!(matches!(session.prompt(Turn::new("x")).await, Err(Error::Busy)));
    session.cancel().await.unwrap();
    assert_eq!(outcome(&rest(&mut session).await), &Outcome::Cancelled);
}

#[tokio::test]
async fn a_token_that_an_agent_prints_is_told_to_nobody() {
    let world = World::new().await;
    let program = words(&["sh", "-c", "env; env >&2; exit 1"]);
    let mut session = world.session(world.plan(Harness::Command, program, Dialect::Chat));
    let events = turn(&mut session, "x").await;
    let told = format!("{events:?}");
    assert!(told.contains("GODEL_TOKEN=[token]") && !told.contains(&world.stage.token), "{told}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let world = World::new().await;
    let plan = world.plan(Harness::Codex, words(&["no-such-program"]), Dialect::Responses);
    let mut session = world.session(plan);
    let events = turn(&mut session, "x").await;
    let Outcome::Failed { message } = outcome(&events) else { panic!("{events:?}") };
    assert!(message.contains("no-such-program"), "{message}");
}

/// Where the agent programs are.
fn programs() -> PathBuf {
    std::env::var_os("GODEL_TEST_CLIS").map(PathBuf::from).expect(
        "the agent programs are missing: `cargo xtask test --only clients --clients all` installs them \
         and runs this test; by hand, set GODEL_TEST_CLIS to their node_modules",
    )
}

/// A real agent program makes a file and a commit, goes on with its session, and sees Godel's tools.
async fn works(harness: Harness, dialect: Dialect) {
    works_as(harness, harness, &[], dialect).await;
}

/// The same for a program that is led as an agent of another kind.
async fn works_as(program: Harness, harness: Harness, further: &[&str], dialect: Dialect) {
    let modules = programs();
    let kind = format!("node-{}-{}", std::env::consts::OS, node_arch());
    let bin = TempDir::with_prefix("godel-programs-").unwrap();
    native(bin.path(), &modules);
    let path = [bin.path().to_owned(), modules.join(&kind).join("bin"), modules.join(".bin")];
    let search = std::env::join_paths(
        path.iter()
            .cloned()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    let found = discover(program, &search).await.unwrap().expect("the program is installed");
    assert_eq!(found.complaint(), None, "{found:?}");
    let world = World::reading([found.folders(), vec![bin.path().to_owned()]].concat()).await;
    let line = [found.line(), words(further)].concat();
    let mut plan = world.plan(harness, line, dialect);
    plan.system = Some("The password is swordfish.".to_owned());
    plan.tools = Some(tools(bin.path()));
    let mut session = world.session(plan.clone());
    let note = format!("Note {}", world.room.sandbox.id);
    let events = turn(&mut session, &format!("{note} [[work docs/note.txt it's hello]]")).await;
    assert_eq!(outcome(&events), &Outcome::Completed, "{harness}: {events:#?}");
    let collected = world.room.collect().await;
    assert_eq!((collected.commits, collected.dirty), (1, false), "{harness}: {events:#?}");
    assert_eq!(world.room.last_commit(), "Write docs/note.txt by Agent", "{harness}");
    assert_eq!(world.room.on_branch("docs/note.txt"), "it's hello");
    let called = harness.has_tools_of_godel();
    let end = if called { "That is all." } else { "docs/note.txt is written and committed." };
    assert!(said(&events).contains(end), "{harness}: {events:?}");
    let accepted = |event: &SessionEvent| format!("{event:?}").contains("The work is accepted.");
    assert_eq!(events.iter().any(accepted), called, "{harness}: {events:#?}");
    let done = world.front.done();
    assert_eq!(done.len(), usize::from(called), "{harness}: {done:?}");
    assert!(done.iter().all(|one| one["summary"].is_string()), "{harness}: {done:?}");
    let has = |wanted: fn(&SessionEvent) -> bool| events.iter().any(wanted);
    assert!(has(|event| matches!(event, SessionEvent::Started { .. })), "{harness}: {events:?}");
    assert!(has(|event| matches!(event, SessionEvent::ToolCall { .. })), "{harness}");
    assert!(has(|event| matches!(event, SessionEvent::ToolResult { failed: false, .. })));
    assert!(has(|event| matches!(event, SessionEvent::Usage { .. })), "{harness}");
    // What a turn used is no measure of what it has in mind, so it tells that, too.
    let mindful = has(|event| matches!(event, SessionEvent::Context { used: 1.., .. }));
    assert!(mindful || harness != Harness::Claude, "{harness}: {events:?}");
    let id = events.iter().rev().find_map(|event| match event {
        SessionEvent::Started { id } => Some(id.clone()),
        _ => None,
    });
    // The next turn goes on with the same session, and so does a new process after a crash.
    goes_on(&world, harness, &mut session, &note).await;
    drop(session);
    if (program, harness) == (Harness::Gemini, Harness::Acp) {
        // It cannot go on with a session of its own that had a tool call; see its launcher.
        return kept_secret(&world, harness);
    }
    let mut session = world.resumed(plan.clone(), id.clone().map(Resume::same));
    goes_on(&world, harness, &mut session, &note).await;
    drop(session);
    copy_goes_on(&world, plan, id.unwrap(), &note).await;
    kept_secret(&world, harness);
}

async fn goes_on(world: &World, harness: Harness, session: &mut ProgramSession, note: &str) {
    let before = world.stage.last().await;
    let events = turn(session, "And now? [[say Nothing is left.]]").await;
    assert_eq!(outcome(&events), &Outcome::Completed, "{harness}: {events:#?}");
    assert!(said(&events).contains("Nothing is left."), "{harness}: {events:?}");
    let asked = world.stage.asked(before).await;
    let whole = |body: &&String| body.contains("And now?") && body.contains(note);
    let asked = asked.iter().find(whole).expect("the session was resumed");
    assert!(asked.contains("swordfish"), "{harness}: it was not told its instructions");
    if harness != Harness::Pi {
        // Some show tools only when they are looked for, but name them.
        assert!(asked.contains("mail_read"), "{harness}: it sees no tools of Godel");
    }
}

/// A copy of the agent goes on in a worktree of its own.
async fn copy_goes_on(world: &World, plan: Plan, id: String, note: &str) {
    let harness = plan.harness;
    let [copy, _] = world.room.fork(["left", "right"]).await;
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let plan = Plan { folder: text(&copy.workspace), home: text(&copy.home), ..plan };
    let mut session = world.session_in(copy.id, plan, Some(Resume { id, copied: true }));
    if harness.carries_copies() {
        return goes_on(world, harness, &mut session, note).await;
    }
    let events = turn(&mut session, "Who are you? [[say Somebody new.]]").await;
    assert_eq!(outcome(&events), &Outcome::Completed, "{harness}: {events:#?}");
    assert!(matches!(events[0], SessionEvent::Trouble { .. }), "{harness}: {events:?}");
}

/// Packages are installed without running their scripts, which would put these in place.
fn native(folder: &Path, modules: &Path) {
    let kind = format!("{}-{}", std::env::consts::OS, node_arch());
    for (name, path) in [
        ("claude", format!("@anthropic-ai/claude-code-{kind}/claude")),
        ("opencode", format!("opencode-{kind}/bin/opencode")),
    ] {
        std::os::unix::fs::symlink(modules.join(path), folder.join(name)).unwrap();
    }
}

/// The token is in none of the settings in the agent's home: they name the variable that holds it.
fn kept_secret(world: &World, harness: Harness) {
    let mut seen = 0;
    for path in files(&world.room.home.path().join("data")) {
        let name = path.to_string_lossy().into_owned();
        let settings =
            ["settings.json", "config.toml", "models.json", "opencode.json", "tools.json"];
        if settings.iter().any(|each| name.ends_with(each)) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(!text.contains(&world.stage.token), "{harness}: the token is in {name}");
            seen += 1;
        }
    }
    assert!(seen > 0, "{harness}: no settings were found to look into");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

/// Godel's own tools, in a program that can be read in the sandbox.
fn tools(folder: &Path) -> Tools {
    let program = folder.join("godel-tools");
    std::fs::copy(env!("CARGO_BIN_EXE_godel-agents-helper"), &program).unwrap();
    Tools {
        name: "godel".to_owned(),
        command: program.to_str().unwrap().to_owned(),
        args: vec!["mcp".to_owned()],
    }
}

fn node_arch() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    }
}

mod real {
    use super::*;

    #[tokio::test]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn claude() {
        works(Harness::Claude, Dialect::Anthropic).await;
    }

    #[tokio::test]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn codex() {
        works(Harness::Codex, Dialect::Responses).await;
    }

    #[tokio::test]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn gemini() {
        works(Harness::Gemini, Dialect::Gemini).await;
    }

    #[tokio::test]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn opencode() {
        works(Harness::Opencode, Dialect::Anthropic).await;
    }

    #[tokio::test]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn gemini_over_acp() {
        works_as(Harness::Gemini, Harness::Acp, &["--acp"], Dialect::Gemini).await;
    }

    #[tokio::test]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn opencode_over_acp() {
        works_as(Harness::Opencode, Harness::Acp, &["acp"], Dialect::Chat).await;
    }

    #[tokio::test]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn pi() {
        works(Harness::Pi, Dialect::Chat).await;
    }
}
