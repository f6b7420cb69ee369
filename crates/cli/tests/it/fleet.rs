//! Agents of a real server, in real sandboxes, asked and led through the commands; only the provider of
//! models does what the prompt says.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use godel_engines::Places;
use godel_scripted::{Options, Scripted};
use serde_json::Value;

use crate::home::{Answer, Server, lasting_address};
use crate::people::{developer, piped};
use crate::repo::Repo;

pub(crate) const PROVIDER_KEY: &str = "sk-scripted-leakcanary-0077";
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// What a project says about agents.
pub(crate) const AUTO: &str =
    "[project]\nreview = \"auto\"\n[agents]\nmodel = \"claude-opus-4-8\"\n";
pub(crate) const PERSON: &str = "[agents]\nmodel = \"claude-opus-4-8\"\n";

/// A repository that is a project of a server whose provider does what it is told.
pub(crate) struct Yard {
    pub(crate) repo: Repo,
    pub(crate) server: Option<Server>,
    pub(crate) provider: Scripted,
    pub(crate) address: String,
}

impl Yard {
    pub(crate) async fn open(settings: &str) -> Self {
        let say = |base: &str| format!("[providers.anthropic]\nanthropic = \"{base}\"\n");
        let path = path();
        Self::staged(settings, &[("PATH", path.to_str().unwrap())], (&["anthropic"], say)).await
    }

    /// With variables of the server, and providers as the proxy is told about them.
    pub(crate) async fn staged(
        settings: &str,
        variables: &[(&str, &str)],
        (providers, say): (&[&str], impl Fn(&str) -> String),
    ) -> Self {
        godel_tls::install();
        let provider = Scripted::start(Options::with_key(PROVIDER_KEY)).await.unwrap();
        let mut repo = Repo::new();
        let file = repo.home.path().join("proxy.toml");
        std::fs::write(&file, say(&provider.base_url())).unwrap();
        let file = file.to_str().unwrap().to_owned();
        repo.home = std::mem::replace(&mut repo.home, crate::home::Home::new())
            .with("GODEL_PROXY_FILE", &file);
        for (name, value) in variables {
            repo.home =
                std::mem::replace(&mut repo.home, crate::home::Home::new()).with(name, value);
        }
        std::fs::write(repo.path.join("README.md"), "A project.\n").unwrap();
        std::fs::write(repo.path.join("godel.toml"), settings).unwrap();
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "-m", "how agents work here"]);
        let address = lasting_address();
        let mut yard = Self { repo, server: None, provider, address };
        yard.up();
        for name in providers {
            piped(&yard.repo.home, &["secret", "set", name], PROVIDER_KEY).expect(0);
        }
        yard.run(&["project", "create", "app", "--repository", "."]).expect(0);
        yard
    }

    /// Starts the server, or starts it again.
    pub(crate) fn up(&mut self) {
        self.server = Some(self.repo.home.up_with(&["--listen", &self.address]));
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        self.repo.godel(arguments)
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).expect(0).json()
    }

    /// Starts an agent and returns its name.
    pub(crate) fn spawn(&self, task: &str) -> String {
        self.json(&["agent", "spawn", task])["label"].as_str().unwrap().to_owned()
    }

    pub(crate) fn agent(&self, name: &str) -> Value {
        self.json(&["agent", "show", name])
    }

    /// Waits until an agent is in a state, and returns it.
    pub(crate) fn until(&self, name: &str, state: &str) -> Value {
        self.wait(name, |agent| agent["lifecycleState"] == state)
    }

    pub(crate) fn wait(&self, name: &str, done: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let agent = self.agent(name);
            if done(&agent) {
                return agent;
            }
            assert!(started.elapsed() < PATIENCE, "{agent:#}\n{}", self.repo.home.log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Returns what lies in main, as git sees it.
    pub(crate) fn in_main(&self, path: &str) -> String {
        self.at("main", path)
    }

    /// Returns what lies in a branch.
    pub(crate) fn at(&self, branch: &str, path: &str) -> String {
        self.repo.git(&["show", &format!("{branch}:{path}")]).trim_end().to_owned()
    }
}

/// Returns a PATH with what walls are made of.
pub(crate) fn path() -> PathBuf {
    let known = std::env::var_os("PATH").unwrap_or_default();
    let folder = |program: &str| {
        let found = Places::from_env().program(program);
        let found = found.unwrap_or_else(|| panic!("agents need {program}"));
        found.parent().map(ToOwned::to_owned).unwrap_or_default()
    };
    let all = ["bwrap", "runsc"].map(folder).into_iter().chain(std::env::split_paths(&known));
    PathBuf::from(std::env::join_paths(all).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_brings_a_task_to_review_and_a_person_lands_it() {
    let yard = Yard::open(PERSON).await;
    let name = yard.spawn("Say hello [[work notes/hello.txt hello from an agent]]");
    assert_eq!(name, "worker-1");
    let agent = yard.until(&name, "completed");
    let bead = agent["bead"].as_str().unwrap();
    assert_eq!(yard.json(&["bead", "show", bead])["status"], "review");
    let lives: Vec<&str> = agent["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["state"].as_str().unwrap())
        .collect();
    assert_eq!(lives, ["initializing", "spawning", "executing", "completing", "completed"]);
    let branch = yard.repo.git(&["rev-parse", &format!("bead/{bead}")]);
    assert_eq!(agent["commit"].as_str().unwrap(), branch.trim());
    // Nothing lands without a person.
    assert!(!yard.repo.path.join("notes/hello.txt").exists());

    let landed = yard.json(&["land", bead]);
    let is = (&landed["landed"], &landed["target"]);
    assert_eq!(is, (&true.into(), &"main".into()), "{landed:#}\n{}", yard.repo.home.log());
    assert_eq!(yard.in_main("notes/hello.txt"), "hello from an agent");
    // The person's own checkout follows, and is clean.
    assert!(yard.repo.path.join("notes/hello.txt").exists());
    assert_eq!(yard.repo.git(&["status", "--porcelain"]), "");
    assert_eq!(yard.json(&["bead", "show", bead])["status"], "done");
    assert!(!yard.repo.path.join(".godel/worktrees").join(bead).exists(), "its worktree went");
    // What it cost is what the ledger says.
    let total = yard.json(&["usage"])["total"]["costMicros"].clone();
    assert_eq!(yard.agent(&name)["spentMicros"], total);
    assert_ne!(total, 0);
    // Its token opened what it had to, and opens nothing any more.
    let tokens = yard.json(&["token", "list"]);
    let live = tokens["items"].as_array().unwrap().iter().filter(|one| one["revokedAt"].is_null());
    assert_eq!(live.count(), 0, "{tokens:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_has_as_many_at_work_as_it_allows_and_the_next_comes_in_when_there_is_a_place() {
    let yard = Yard::open(PERSON).await;
    let allow =
        |count: &str| yard.run(&["project", "update", "app", "--max-agents", count]).expect(0);
    allow("2");
    let busy = || yard.spawn("[[shell sleep 600]]");
    let (first, second) = (busy(), busy());
    yard.until(&first, "executing");
    yard.until(&second, "executing");
    let (third, fourth, fifth) = (busy(), busy(), busy());
    std::thread::sleep(Duration::from_secs(2));
    for name in [&third, &fourth, &fifth] {
        assert_eq!(yard.agent(name)["lifecycleState"], "initializing", "{name} waits");
    }
    // One leaves, and the first of those who wait is pulled in.
    yard.run(&["agent", "kill", &first]).expect(0);
    yard.until(&third, "executing");
    assert_eq!(yard.agent(&fourth)["lifecycleState"], "initializing");
    // More are allowed: nobody has to leave for that, and no more come in than there are places.
    allow("3");
    yard.until(&fourth, "executing");
    assert_eq!(yard.agent(&fifth)["lifecycleState"], "initializing");
    // Fewer are allowed: whoever is in stays, and nobody comes in until they are few enough.
    allow("1");
    yard.run(&["agent", "kill", &second]).expect(0);
    yard.run(&["agent", "kill", &third]).expect(0);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(yard.agent(&fifth)["lifecycleState"], "initializing");
    yard.run(&["agent", "kill", &fourth]).expect(0);
    yard.until(&fifth, "executing");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_done_with_work_left_over_is_told_and_goes_on() {
    let yard = Yard::open(PERSON).await;
    let name = yard.spawn(
        "[[call write {\"path\":\"a.txt\",\"content\":\"left over\"}]] [[then]] [[call done \
         {\"summary\":\"all done\"}]]",
    );
    let sent_back = |agent: &Value| {
        let steps = agent["history"].as_array().unwrap();
        steps.iter().any(|step| step["why"].as_str().unwrap().starts_with("not done: files are"))
    };
    let agent = yard.wait(&name, sent_back);
    let bead = agent["bead"].as_str().unwrap().to_owned();
    assert_eq!(yard.json(&["bead", "show", &bead])["status"], "in-progress");
    yard.run(&["agent", "message", &name, "Commit it. [[work b.txt and more]]"]).expect(0);
    yard.until(&name, "completed");
    assert_eq!(yard.at(&format!("bead/{bead}"), "a.txt"), "left over");
    assert_eq!(yard.at(&format!("bead/{bead}"), "b.txt"), "and more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_to_a_busy_agent_is_heard_although_it_is_stopped_before_it_reads_it() {
    let mut yard = Yard::open(PERSON).await;
    let busy = "[[shell echo half > half.txt; sleep 600]]";
    let (paused, killed) = (yard.spawn(busy), yard.spawn(busy));
    for name in [&paused, &killed] {
        let agent = yard.until(name, "executing");
        let half = PathBuf::from(agent["worktree"].as_str().unwrap()).join("half.txt");
        yard.wait(name, |_| half.exists());
        yard.run(&["agent", "message", name, "[[work rest.txt done]]"]).expect(0);
    }
    yard.run(&["agent", "pause", &paused]).expect(0);
    yard.run(&["agent", "resume", &paused]).expect(0);
    yard.until(&paused, "completed");
    yard.server.take().unwrap().kill();
    yard.up();
    let agent = yard.until(&killed, "completed");
    assert_eq!(yard.at(&format!("bead/{}", agent["bead"].as_str().unwrap()), "rest.txt"), "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_fails_keeps_work_from_review_until_it_is_mended() {
    let gates = "[gates]\nno-todo = \"! grep -r FORBIDDEN . --include=*.txt\"\n";
    let yard = Yard::open(&format!("{gates}{PERSON}")).await;
    let name = yard.spawn("[[work a.txt FORBIDDEN word]]");
    let failed = |agent: &Value| {
        let steps = agent["history"].as_array().unwrap();
        steps.iter().any(|step| step["why"].as_str().unwrap().contains("no-todo"))
    };
    yard.wait(&name, failed);
    yard.run(&["agent", "message", &name, "[[work a.txt allowed word]]"]).expect(0);
    let agent = yard.until(&name, "completed");
    let bead = agent["bead"].as_str().unwrap();
    assert_eq!(yard.at(&format!("bead/{bead}"), "a.txt"), "allowed word");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_waits_for_a_person_and_the_answer_is_heard() {
    let yard = Yard::open(PERSON).await;
    let name =
        yard.spawn("[[call ask {\"question\":\"Which colour?\",\"choices\":[\"red\",\"blue\"]}]]");
    yard.until(&name, "waiting");
    let inbox = yard.json(&["inbox"]);
    let notice = &inbox["items"][0];
    assert_eq!((&notice["kind"], &notice["text"]), (&"question".into(), &"Which colour?".into()));
    let id = notice["id"].as_str().unwrap();
    yard.run(&["agent", "message", &name, "[[work c.txt done with asking]]"]).expect(0);
    yard.run(&["inbox", "answer", id, "blue"]).expect(0);
    yard.until(&name, "completed");
    let said = yard.run(&["agent", "logs", &name]).expect(0).stdout;
    assert!(said.contains("blue"), "{said}");
    assert_eq!(yard.json(&["inbox"])["items"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_stands_still_at_once_keeps_its_work_and_goes_on() {
    let yard = Yard::open(PERSON).await;
    let names: Vec<String> = (0..3)
        .map(|at| yard.spawn(&format!("[[shell echo half > half-{at}.txt; sleep 600]]")))
        .collect();
    for name in &names {
        yard.until(name, "executing");
    }
    let written = || {
        names.iter().all(|name| {
            let tree = yard.agent(name)["worktree"].as_str().map(PathBuf::from);
            tree.is_some_and(|tree| {
                std::fs::read_dir(tree)
                    .unwrap()
                    .any(|one| one.unwrap().file_name().to_string_lossy().starts_with("half-"))
            })
        })
    };
    let started = Instant::now();
    while !written() {
        assert!(started.elapsed() < PATIENCE, "{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(yard.json(&["estop", "--reason", "a drill"])["agents"], 3);
    yard.run(&["agent", "spawn", "too late"])
        .refused(4, &["stand still", "a drill", "godel resume"]);
    for name in &names {
        assert_eq!(yard.agent(name)["lifecycleState"], "paused");
        yard.run(&["agent", "message", name, "[[work late.txt mended]]"]).expect(0);
    }
    assert!(written(), "the worktrees are as they were");
    assert_eq!(yard.json(&["resume"])["agents"], 3);
    for name in &names {
        let agent = yard.until(name, "completed");
        let bead = agent["bead"].as_str().unwrap();
        let all = yard.repo.git(&["ls-tree", "--name-only", &format!("bead/{bead}")]);
        assert!(all.contains("half-") && all.contains("late.txt"), "{all}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_fails_is_tried_again_then_by_a_stronger_model_and_then_one_person_is_told() {
    let nobody = "[agents]\nmodel = \"missing-1\"\nstronger = [\"missing-2\"]\n";
    let yard = Yard::open(nobody).await;
    let name = yard.spawn("[[work x.txt fine]]");
    let agent = yard.until(&name, "failed");
    assert_eq!((&agent["model"], &agent["retryCount"]), (&"missing-2".into(), &4.into()));
    let steps = agent["history"].as_array().unwrap();
    let found = |step: &&Value| step["why"].as_str().unwrap().contains("anew to find the cause:");
    assert_eq!(steps.iter().filter(found).count(), 1, "{agent:#}");
    let inbox = yard.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["kind"]), (1, &"stuck".into()), "{inbox:#}");
    // A person mends it.
    yard.run(&["agent", "restart", &name, "--model", "claude-opus-4-8"]).expect(0);
    yard.until(&name, "completed");
    assert_eq!(yard.json(&["inbox"])["items"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn before_a_person_is_asked_a_fresh_session_is_told_to_find_the_cause() {
    let yard = Yard::open(PERSON).await;
    let script = "cat > told.txt; grep -q 'First find the cause' told.txt || exit 7; \
                  grep -c 'begins anew' told.txt > anew.txt; rm told.txt; git add -A; \
                  git commit -qm found; godel self done 'the cause is mended'";
    let how = ["agent", "spawn", "fix it", "--harness", "command", "--json"];
    let spawned = yard.run(&[&how[..], &["--", "sh", "-c", script]].concat()).expect(0).json();
    let name = spawned["label"].as_str().unwrap().to_owned();
    let agent = yard.until(&name, "completed");
    assert_eq!(agent["retryCount"], 2, "{agent:#}");
    let bead = agent["bead"].as_str().unwrap();
    let told = yard.repo.git(&["show", &format!("bead/{bead}:anew.txt")]);
    assert_eq!(told.trim(), "1", "it hears how the one before it began");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_budget_is_spent_stands_still_and_goes_on_when_it_is_raised() {
    let yard = Yard::open(PERSON).await;
    let spawn = ["agent", "spawn", "[[work a.txt worth it]]", "--budget", "0.0001"];
    let name = yard.json(&spawn)["label"].as_str().unwrap().to_owned();
    let agent = yard.until(&name, "paused");
    let why = agent["note"].as_str().unwrap();
    assert!(why.starts_with(&format!("its budget is spent: the budget of agent:{name}")), "{why}");
    let inbox = yard.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["kind"]), (1, &"budget".into()), "{inbox:#}");
    assert!(PathBuf::from(agent["worktree"].as_str().unwrap()).is_dir(), "its work is kept");
    // Nothing was raised: it stops again at once, and nobody is told twice.
    yard.run(&["agent", "resume", &name]).expect(0);
    yard.wait(&name, |agent| {
        let steps = agent["history"].as_array().unwrap();
        steps.iter().filter(|step| step["state"] == "paused").count() == 2
    });
    assert_eq!(yard.json(&["inbox"])["items"].as_array().unwrap().len(), 1);
    // More, but too little all the same: it tries once, and is told no once.
    yard.run(&["budget", "set", &format!("agent:{name}"), "0.00011"]).expect(0);
    yard.wait(&name, |agent| {
        let steps = agent["history"].as_array().unwrap();
        steps.iter().filter(|step| step["state"] == "paused").count() == 3
    });
    yard.run(&["budget", "set", &format!("agent:{name}"), "5"]).expect(0);
    yard.until(&name, "completed");
    assert_eq!(yard.json(&["inbox"])["items"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_raised_before_a_turn_ends_lets_its_agent_go_on_too() {
    let yard = Yard::open(PERSON).await;
    let ask = r#"{"model":"claude-opus-4-8","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}"#;
    // It is told no, and takes its time to end over it.
    let script = format!(
        "curl -sS -o said.json -w '%{{http_code}}' $OPENAI_BASE_URL/chat/completions \
         -H \"authorization: Bearer $OPENAI_API_KEY\" -H 'content-type: application/json' -d '{ask}' > code.txt; \
         if grep -q 200 code.txt; then rm -f said.json code.txt refused; echo paid > paid.txt; git add -A; \
         git commit -qm paid; godel self done 'it was paid'; exit 0; fi; touch refused; sleep 4; exit 1"
    );
    let how = ["agent", "spawn", "ask", "--harness", "command", "--budget", "0.000001", "--json"];
    let spawned = yard.run(&[&how[..], &["--", "sh", "-c", &script]].concat()).expect(0).json();
    let name = spawned["label"].as_str().unwrap().to_owned();
    yard.wait(&name, |agent| {
        let tree = agent["worktree"].as_str().map(PathBuf::from);
        tree.is_some_and(|tree| tree.join("refused").exists())
    });
    yard.run(&["budget", "set", &format!("agent:{name}"), "5"]).expect(0);
    let agent = yard.until(&name, "completed");
    let steps = agent["history"].as_array().unwrap();
    assert_eq!(steps.iter().filter(|step| step["state"] == "paused").count(), 1, "{agent:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_time_is_up_ends_once_and_a_person_is_told() {
    let yard = Yard::open(PERSON).await;
    let spawn = ["agent", "spawn", "[[shell echo half > half.txt; sleep 600]]", "--timeout", "3s"];
    let name = yard.json(&spawn)["label"].as_str().unwrap().to_owned();
    let agent = yard.until(&name, "failed");
    assert_eq!(
        (&agent["note"], &agent["retryCount"]),
        (&"its time of 3 s is up".into(), &0.into())
    );
    assert_eq!(yard.json(&["inbox"])["items"][0]["kind"], "stuck");
    let tree = PathBuf::from(agent["worktree"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(tree.join("half.txt")).unwrap(), "half\n");
    // Begun anew, it has its time again.
    yard.run(&["agent", "message", &name, "[[work b.txt quick]]"]).expect(0);
    yard.run(&["agent", "restart", &name]).expect(0);
    yard.until(&name, "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_developer_leads_its_own_agents_and_nobody_elses() {
    let yard = Yard::open(PERSON).await;
    let name = yard.spawn("[[call ask {\"question\":\"Which?\",\"choices\":[\"a\",\"b\"]}]]");
    yard.until(&name, "waiting");
    let notice = yard.json(&["inbox"])["items"][0]["id"].as_str().unwrap().to_owned();
    let server = yard.server.as_ref().unwrap();
    let project = ["--project", "app"];
    let dora = || developer(server, &yard.repo.home, "dora", "developer", &project);
    let other = tokio::task::block_in_place(dora);
    other.run(&["agent", "show", &name]).expect(0);
    let asked: [&[&str]; 9] = [
        &["agent", "pause", &name],
        &["agent", "restart", &name],
        &["agent", "kill", &name],
        &["agent", "message", &name, "do something else"],
        &["agent", "snapshot", &name],
        &["mail", "send", &name, "do something else"],
        &["inbox", "answer", &notice, "a"],
        &["session", "compact", &name],
        &["session", "archive", &name],
    ];
    for words in asked {
        other.run(words).refused(5, &["ask an admin"]);
    }
    yard.run(&["agent", "kill", &name]).expect(0);
    other.run(&["agent", "delete", &name]).refused(5, &["ask an admin"]);
    yard.run(&["agent", "delete", &name]).expect(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_agents_work_is_what_the_project_says_unless_somebody_says_it() {
    let yard = Yard::open(&format!("{PERSON}runtime = \"gvisor\"\n")).await;
    let spawn = ["agent", "spawn", "[[work a.txt one]]", "--json"];
    let asked = yard.run(&spawn);
    // Without gVisor on this machine nobody falls back to weaker walls.
    if asked.code == 0 {
        assert_eq!(asked.json()["runtime"], "gvisor");
    } else {
        assert!(asked.stderr.contains("gvisor"), "{asked:?}");
    }
    let other = yard.json(&["agent", "spawn", "[[work b.txt two]]", "--runtime", "worktree"]);
    assert_eq!(other["runtime"], "worktree");
}
