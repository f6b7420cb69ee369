//! Every kind of agent takes a bead to a verified commit that lands: through a real server, in a real
//! sandbox, with a token of Godel and nothing else; only the provider of models does what the prompt says.
//!
//! The agent programs are installed by `cargo xtask test --only clients --clients all`, which runs the
//! ignored tests here. By hand: `GODEL_TEST_CLIS=~/.cache/godel-dev/clients-cli/node_modules cargo test -p
//! godel --test it -- --ignored real`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fleet::{PATIENCE, PROVIDER_KEY, Yard, path};

const GPT: &str = "gpt-5";
const CLAUDE: &str = "claude-opus-4-8";
const GEMINI: &str = "gemini-2.5-pro";
/// The model of a provider that speaks Chat Completions only.
const CHAT: &str = "codestral-2508";
const PROVIDERS: [&str; 4] = ["openai", "anthropic", "google", "mistral"];

/// What the project says: work is believed only if no key of a provider lies where the agent can see it.
/// The pattern is written so that it does not match itself.
const SETTINGS: &str = "[gates]\nno-keys = \"! grep -rqs 'leakcanar[y]' . \\\"$HOME\\\"\"\n\
                        [agents]\nmodel = \"claude-opus-4-8\"\n";

fn providers(base: &str) -> String {
    format!(
        "[providers.openai]\nchat = \"{base}/v1\"\nresponses = \"{base}/v1\"\n\
         [providers.anthropic]\nanthropic = \"{base}\"\n\
         [providers.google]\ngemini = \"{base}\"\n\
         [providers.mistral]\nchat = \"{base}/v1\"\n"
    )
}

/// Opens a yard whose server finds programs on a path, and has keys of its own that no agent may see.
async fn yard(path: &Path, tls: &str) -> Yard {
    let path = path.to_str().unwrap();
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
    let keys = keys.map(|name| (name, PROVIDER_KEY));
    let variables = [&[("PATH", path), ("GODEL_TLS_MODE", tls)], &keys[..]].concat();
    Yard::staged(SETTINGS, &variables, (&PROVIDERS, providers)).await
}

/// Lets an agent take a bead to a commit, lets that land, and looks at all that was left behind.
fn takes_a_bead_to_main(yard: &Yard, how: &[&str]) -> Value {
    let bead = yard.json(&[
        "bead",
        "create",
        "Write a note",
        "--description",
        "[[work notes/note.txt it's hello]]",
    ]);
    let bead = bead["id"].as_str().unwrap().to_owned();
    let (options, command): (&[&str], &[&str]) = match how.iter().position(|word| *word == "--") {
        Some(at) => (&how[..at], &how[at..]),
        None => (how, &[]),
    };
    let spawn = [&["agent", "spawn", "--bead", &bead][..], options, &["--json"], command].concat();
    let agent = yard.run(&spawn).expect(0).json();
    let name = agent["label"].as_str().unwrap().to_owned();
    let agent = yard.wait(&name, |agent| {
        let state = agent["lifecycleState"].as_str().unwrap();
        assert!(!matches!(state, "failed" | "paused"), "{}", told(yard, agent));
        state == "completed"
    });
    assert_eq!(yard.json(&["bead", "show", &bead])["status"], "review");
    let branch = yard.repo.git(&["rev-parse", &format!("bead/{bead}")]);
    assert_eq!(agent["commit"].as_str().unwrap(), branch.trim());
    // It said so itself, once, and was believed at once: nobody had to remind it.
    assert_eq!(agent["retryCount"], 0, "{}", told(yard, &agent));
    let states: Vec<&str> =
        agent["history"].as_array().unwrap().iter().map(|s| s["state"].as_str().unwrap()).collect();
    let straight = ["initializing", "spawning", "executing", "completing", "completed"];
    assert_eq!(states, straight, "{}", told(yard, &agent));
    let last = agent["history"].as_array().unwrap().last().unwrap();
    assert_eq!(last["why"], "its work is done and waits for review", "{}", told(yard, &agent));

    assert_eq!(yard.json(&["land", &bead])["landed"], true);
    assert_eq!(yard.in_main("notes/note.txt"), "it's hello");
    // What it cost is what the ledger says.
    let total = yard.json(&["usage"])["total"]["costMicros"].clone();
    assert_ne!(total, 0, "{}", told(yard, &agent));
    assert_eq!(yard.agent(&name)["spentMicros"], total);
    no_key_is_left(yard, &name);
    agent
}

/// What is worth to know when something went wrong.
fn told(yard: &Yard, agent: &Value) -> String {
    let name = agent["label"].as_str().unwrap();
    let log = yard.run(&["agent", "logs", name, "--full"]).stdout;
    format!("{agent:#}\n{log}\n{}", yard.repo.home.log())
}

/// The key of the provider is nowhere but in the server's own vault; its requests came with it.
fn no_key_is_left(yard: &Yard, name: &str) {
    let log = yard.run(&["agent", "logs", name, "--full"]).expect(0).stdout;
    assert!(!log.contains(PROVIDER_KEY), "{log}");
    assert!(!yard.repo.home.log().contains(PROVIDER_KEY));
    let data = yard.repo.home.data();
    for path in files(&data.join("sandboxes")).into_iter().chain(files(&yard.repo.path)) {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let has = bytes.windows(PROVIDER_KEY.len()).any(|part| part == PROVIDER_KEY.as_bytes());
        assert!(!has, "the key of the provider is in {}", path.display());
    }
    assert_eq!(yard.provider.stats().strangers, 0, "the provider was asked with another key");
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

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_agent_works_in_all_four_dialects() {
    let told = [(CLAUDE, "anthropic"), (GPT, "responses"), (GEMINI, "gemini"), (CHAT, "chat")];
    for (model, dialect) in told {
        let yard = yard(&path(), "off").await;
        takes_a_bead_to_main(&yard, &["--model", model]);
        let stats = yard.provider.stats();
        let spoken: Vec<&str> = stats.dialects.keys().copied().collect();
        assert_eq!(spoken, [dialect], "{model}: {stats:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_reach_a_server_that_speaks_tls() {
    let yard = yard(&path(), "auto").await;
    assert!(yard.server.as_ref().unwrap().url().starts_with("https://"));
    takes_a_bead_to_main(&yard, &["--model", CLAUDE]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_finds_its_server_again_that_speaks_tls_and_was_killed() {
    let mut yard = yard(&path(), "auto").await;
    // It says that it is done only when it is begun a second time.
    let script = "cat > /dev/null; git log -1 --format=%s | grep -q note || { echo x > note.txt; git add -A; \
                  git commit -qm note; }; if [ -f begun ]; then rm begun; godel self done 'it is written'; else \
                  touch begun; sleep 600; fi";
    let spawn =
        ["agent", "spawn", "Write", "--harness", "command", "--json", "--", "sh", "-c", script];
    let name = yard.run(&spawn).expect(0).json()["label"].as_str().unwrap().to_owned();
    yard.wait(&name, |agent| {
        let tree = agent["worktree"].as_str().map(PathBuf::from);
        tree.is_some_and(|tree| tree.join("begun").exists())
    });
    yard.server.take().unwrap().kill();
    yard.up();
    yard.until(&name, "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_program_is_an_agent_and_reaches_godel_by_its_command() {
    // Nor need it trust a certificate.
    let yard = yard(&path(), "auto").await;
    let ask = "curl -sS $OPENAI_BASE_URL/chat/completions -H \"authorization: Bearer $OPENAI_API_KEY\" \
               -H 'content-type: application/json' -d \"{\\\"model\\\":\\\"$GODEL_MODEL\\\",\
               \\\"messages\\\":[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"hello\\\"}]}\"";
    let script = format!(
        "set -e; cat > /dev/null; if env | grep 'leakcanar[y]'; then exit 9; fi; {ask}; mkdir -p notes; echo \"it's hello\" > notes/note.txt; git add -A; \
         git commit -qm note; godel self todo '[x] write it'; \
         godel self done 'notes/note.txt is written and committed.'"
    );
    let how = ["--harness", "command", "--model", GPT, "--", "sh", "-c", &script];
    let agent = takes_a_bead_to_main(&yard, &how);
    assert_eq!(agent["todos"][0]["text"], "write it", "{agent:#}");
}

/// The agent programs, on a search path.
struct Programs {
    path: PathBuf,
    _bin: TempDir,
}

impl Programs {
    fn find() -> Self {
        let modules = std::env::var_os("GODEL_TEST_CLIS").map(PathBuf::from).expect(
            "the agent programs are missing: `cargo xtask test --only clients --clients all` installs \
             them and runs this test; by hand, set GODEL_TEST_CLIS to their node_modules",
        );
        let arch = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
        let kind = format!("{}-{arch}", std::env::consts::OS);
        let bin = TempDir::with_prefix("godel-programs-").unwrap();
        // Packages are installed without running their scripts, which would put these in place.
        for (name, path) in [
            ("claude", format!("@anthropic-ai/claude-code-{kind}/claude")),
            ("opencode", format!("opencode-{kind}/bin/opencode")),
        ] {
            std::os::unix::fs::symlink(modules.join(path), bin.path().join(name)).unwrap();
        }
        let node = modules.join(format!("node-{kind}/bin"));
        let first = [bin.path().to_owned(), node, modules.join(".bin")];
        let known = path();
        let all = first.into_iter().chain(std::env::split_paths(&known));
        Self { path: PathBuf::from(std::env::join_paths(all).unwrap()), _bin: bin }
    }
}

/// Lets an agent program do it, and makes sure that it said that it is done by Godel's own tool.
async fn real(how: &[&str], dialect: &str) {
    real_behind(how, dialect, "off").await;
}

/// The same with a server that speaks TLS, or does not.
async fn real_behind(how: &[&str], dialect: &str, tls: &str) {
    let programs = Programs::find();
    let yard = yard(&programs.path, tls).await;
    let agent = takes_a_bead_to_main(&yard, how);
    let stats = yard.provider.stats();
    assert_eq!(stats.dialects.keys().copied().collect::<Vec<_>>(), [dialect], "{stats:?}");
    let name = agent["label"].as_str().unwrap();
    let log = yard.run(&["agent", "logs", name, "--full"]).expect(0).stdout;
    // Of a program that is nothing but a command only its last words are known.
    let seen = agent["harness"] == "command" || log.contains("The work is accepted.");
    assert!(seen && log.contains("notes/note.txt is written and committed."), "{log}");
}

/// Returns the names of all tools that a request offers, in whichever dialect.
fn offered(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| offered(one, names)),
        Value::Object(all) => {
            names.extend(all.get("name").and_then(Value::as_str).map(str::to_owned));
            for key in ["function", "functionDeclarations", "tools"] {
                if let Some(inner) = all.get(key) {
                    offered(inner, names);
                }
            }
        }
        _ => {}
    }
}

/// Lets a program work in a role that may look and run commands but not change files by tools of its own.
async fn held(harness: &str, model: &str, (has, lacks): (&[&str], &[&str])) {
    let programs = Programs::find();
    let yard = yard(&programs.path, "off").await;
    let folder = yard.repo.path.join(".godel/roles");
    std::fs::create_dir_all(&folder).unwrap();
    let role = "name: looker\nprompt: \"{title} {task}\"\ntools: [read, shell, bead]\n";
    std::fs::write(folder.join("looker.yaml"), role).unwrap();
    takes_a_bead_to_main(&yard, &["--harness", harness, "--model", model, "--role", "looker"]);
    let mut seen = 0;
    for request in yard.provider.recorded() {
        let mut names = Vec::new();
        offered(&request.json()["tools"], &mut names);
        let have = |name: &&str| names.iter().any(|known| known == name);
        seen += usize::from(has.iter().all(have));
        assert!(!lacks.iter().any(have), "{harness} is offered {names:?}");
    }
    assert!(seen > 0, "{harness} was not offered {has:?}");
}

/// Lets an agent program carry out a sentence: planned, worked on, sent back with a comment, approved, landed.
async fn takes_a_sentence_to_main(harness: &str, model: &str) {
    let programs = Programs::find();
    let yard = yard(&programs.path, "off").await;
    let bead = |key: &str, needs: &[&str], work: &str| {
        json!({ "key": key, "title": format!("Write {key}"), "description": work, "type": "task",
            "needs": needs, "role": "worker", "size": "small" })
    };
    let beads = [
        bead("first", &[], "[[work notes/first.txt it's a beginning]]"),
        bead("then", &["first"], "[[work notes/then.txt it goes on]]"),
    ];
    let plan = json!({ "title": "Two notes", "beads": beads });
    let wish = format!("Write two notes [[json {plan}]]");
    let how = ["do", &wish, "--yes", "--budget", "5", "--harness", harness, "--model", model];
    let started = yard.json(&how);
    let ids: Vec<&str> = started["plan"]["beads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bead| bead["bead"].as_str().unwrap())
        .collect();
    let in_review = |id: &str, file: &str, text: &str| {
        let begun = Instant::now();
        while yard.json(&["bead", "show", id])["status"] != "review"
            || yard.at(&format!("bead/{id}"), file) != text
        {
            assert!(begun.elapsed() < PATIENCE, "{}", yard.repo.home.log());
            std::thread::sleep(Duration::from_millis(200));
        }
    };
    in_review(ids[0], "notes/first.txt", "it's a beginning");
    let words = "Say more [[work notes/first.txt it's a good beginning]]";
    yard.run(&["review", "comment", ids[0], words, "--on", "notes/first.txt:1"]).expect(0);
    yard.run(&["review", "request-changes", ids[0]]).expect(0);
    in_review(ids[0], "notes/first.txt", "it's a good beginning");
    assert_eq!(yard.json(&["review", "approve", ids[0]])["landing"]["landed"], true);
    in_review(ids[1], "notes/then.txt", "it goes on");
    assert_eq!(yard.json(&["review", "approve", ids[1]])["landing"]["landed"], true);
    assert_eq!(yard.in_main("notes/first.txt"), "it's a good beginning");
    assert_eq!(yard.in_main("notes/then.txt"), "it goes on");
    let agents = yard.json(&["agent", "list", "--limit", "100"]);
    for agent in agents["items"].as_array().unwrap() {
        assert_eq!(agent["harness"], harness, "{agent:#}");
        no_key_is_left(&yard, agent["label"].as_str().unwrap());
    }
    let convoy = started["convoy"].as_str().unwrap();
    let total = yard.json(&["usage"])["total"]["costMicros"].clone();
    assert_eq!(yard.json(&["usage", "--convoy", convoy])["total"]["costMicros"], total);
}

mod real {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn claude_takes_a_sentence_to_main() {
        takes_a_sentence_to_main("claude", CLAUDE).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn claude_is_held_to_its_role() {
        let (has, lacks) = (&["Bash", "Read", "mcp__godel__done"], &["Write", "Edit", "Grep"]);
        held("claude", CLAUDE, (has, lacks)).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn gemini_is_held_to_its_role() {
        let has = &["run_shell_command", "read_file", "mcp_godel_done"];
        held("gemini", GEMINI, (has, &["write_file", "replace", "grep_search"])).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn opencode_is_held_to_its_role() {
        let (has, lacks) = (&["bash", "read", "godel_done"], &["write", "edit", "patch", "grep"]);
        held("opencode", CLAUDE, (has, lacks)).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn pi_is_held_to_its_role() {
        held("pi", CHAT, (&["bash", "read"], &["write", "edit", "grep"])).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn claude() {
        real(&["--harness", "claude", "--model", CLAUDE], "anthropic").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn claude_with_a_model_of_open_ai() {
        real(&["--harness", "claude", "--model", GPT], "chat").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn claude_with_a_server_that_speaks_tls() {
        real_behind(&["--harness", "claude", "--model", CLAUDE], "anthropic", "auto").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn codex() {
        real(&["--harness", "codex", "--model", GPT], "responses").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn gemini() {
        real(&["--harness", "gemini", "--model", GEMINI], "gemini").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn opencode() {
        real(&["--harness", "opencode", "--model", GPT], "responses").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn pi() {
        real(&["--harness", "pi", "--model", CHAT], "chat").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn gemini_over_acp() {
        let how = ["--harness", "acp", "--model", GEMINI, "--", "gemini", "--acp"];
        real(&how, "gemini").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn opencode_over_acp() {
        let how = ["--harness", "acp", "--model", CLAUDE, "--", "opencode", "acp"];
        real(&how, "anthropic").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs the agent programs: cargo xtask test --only clients --clients all"]
    async fn claude_as_any_command() {
        let how = ["--harness", "command", "--model", CLAUDE, "--", "claude", "-p", "{prompt}"];
        let more = ["--model", "{model}", "--dangerously-skip-permissions"];
        real(&[&how[..], &more].concat(), "anthropic").await;
    }
}
