//! Agents by the commands, from a task to work that has landed.

use serde_json::{Value, json};

use crate::fleet::{AUTO, Yard};
use crate::home::{Home, answer};
use crate::repo::{Repo, git};

/// What a project says about agents.
const MODEL: &str = "[agents]\nmodel = \"claude-opus-4-8\"\n";

/// Starts an agent as people do, and returns its name.
fn spawned(yard: &Yard, task: &str) -> String {
    yard.repo.say(&["agent", "spawn", task]).trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_does_a_task_and_its_work_lands() {
    let yard = Yard::open(MODEL).await;
    let repo = &yard.repo;
    let task = "Say hello [[work docs/hello.txt hello there]] [[usage input=1000 output=100]]";
    let spawn = ["agent", "spawn", task, "--budget", "5", "--wait", "--name"];
    let done = repo.godel(&[&spawn[..], &["greeter"]].concat()).expect(0);
    assert!(done.stdout.starts_with("greeter is completed: godel-"), "{done:?}");
    let agent = repo.json(&["agent", "show", "greeter"]);
    let bead = agent["bead"].as_str().unwrap();
    assert_eq!((&agent["status"], &agent["sandbox"]), (&json!("completed"), &json!("workspace")));
    assert!(agent["spentMicros"].as_i64().unwrap() >= 3_000, "{agent}");
    let list = repo.say(&["agent", "list"]);
    for part in ["greeter", "completed", bead, "native/claude-opus-4-8"] {
        assert!(list.contains(part), "no {part:?} in {list}");
    }
    let shown = repo.say(&["agent", "show", "greeter"]);
    assert!(shown.contains(&format!("`godel land {bead}` merges its work.")), "{shown}");
    let log = repo.say(&["agent", "logs", "greeter"]);
    for part in ["executing", "shell", "docs/hello.txt is written and committed", "completed"] {
        assert!(log.contains(part), "no {part:?} in {log}");
    }
    let lines = repo.godel(&["agent", "logs", "greeter", "--json", "--follow"]).expect(0).stdout;
    let kinds: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone())
        .collect();
    assert!(kinds.contains(&json!("agent:tool:call")), "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "agent:complete").count(), 1, "{kinds:?}");
    backwards(&yard, &kinds);
    let file = format!("bead/{bead}:docs/hello.txt");
    assert_eq!(repo.git(&["show", &file]), "hello there\n");
    conversation(&yard, bead);
    let landed = repo.json(&["land", &bead[6..]]);
    assert_eq!((&landed["landed"], &landed["target"]), (&json!(true), &json!("main")));
    assert_eq!(repo.git(&["show", "main:docs/hello.txt"]), "hello there\n");
    repo.say(&["agent", "delete", "greeter"]);
    repo.godel(&["agent", "show", "greeter"]).refused(3, &["agent_not_found"]);
}

/// A log is read from its end, too, and what is before a position is all that is before it.
fn backwards(yard: &Yard, kinds: &[Value]) {
    let read = |more: &[&str]| -> Vec<Value> {
        let words = [&["agent", "logs", "greeter", "--json"], more].concat();
        let lines = yard.repo.say(&words);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let last = read(&["--tail", "3"]);
    let told: Vec<_> = last.iter().map(|line| line["type"].clone()).collect();
    assert_eq!(told, kinds[kinds.len() - 3..]);
    let seq = last[0]["seq"].to_string();
    let before = read(&["--before", &seq, "--tail", "100000"]);
    assert_eq!(before.len() + 3, kinds.len());
    assert_eq!(
        before.iter().map(|line| line["type"].clone()).collect::<Vec<_>>(),
        kinds[..before.len()]
    );
    let both = ["agent", "logs", "greeter", "--before", &seq, "--follow"];
    yard.repo.godel(&both).refused(2, &["cannot be used with"]);
}

fn conversation(yard: &Yard, bead: &str) {
    let repo = &yard.repo;
    let known = repo.json(&["session", "show", "greeter"]);
    let nodes = known["nodes"].as_array().unwrap();
    assert!(nodes.iter().all(|node| node["at"].is_string()), "{known}");
    let paid: i64 = nodes.iter().filter_map(|node| node["costMicros"].as_i64()).sum();
    assert_eq!(json!(paid), yard.json(&["agent", "show", "greeter"])["spentMicros"]);
    let tree = repo.say(&["session", "tree", "greeter", "--all"]);
    for part in [&format!("greeter on {bead} (ended)"), "  0 user", "branch main (chosen)"] {
        assert!(tree.contains(part), "no {part:?} in {tree}");
    }
    let saved = repo.say(&["session", "save", bead, "the-end"]);
    assert!(saved.contains("on branch main"), "{saved}");
    repo.say(&["session", "branch", "greeter", "again", "--node", "0"]);
    repo.say(&["session", "switch", "greeter", "again"]);
    let shown = repo.json(&["session", "show", "greeter"]);
    assert_eq!((&shown["session"]["branch"], &shown["nodes"][1]), (&json!("again"), &Value::Null));
    let told =
        repo.json(&["events", "list", "--type", "agent:session", "--limit", "10"]).to_string();
    assert!(
        told.contains(r#""change":"switch""#) && told.contains(r#""change":"branch""#),
        "{told}"
    );
    let tree = repo.say(&["session", "tree", "greeter"]);
    assert!(tree.contains("saved as the-end") && tree.contains("branch again (chosen)"), "{tree}");
    let no = ["session", "fork", "greeter", "--node", "nowhere"];
    repo.godel(&no).refused(3, &["node_not_found", "the-end"]);
    let archived = repo.json(&["session", "archive", "greeter"]);
    assert_eq!(archived["status"], "archived");
    assert!(repo.say(&["session", "list"]).contains(bead));
    let of_bead = repo.json(&["session", "list", "--bead", bead, "--limit", "1"]);
    assert_eq!((&of_bead["items"][0]["bead"], &of_bead["hasMore"]), (&json!(bead), &json!(false)));
    repo.godel(&["session", "list", "--bead", "godel-none"]).refused(3, &["godel-none"]);
}

/// Asks a person, and then does the work.
const ASKS: &str = r#"[[call ask {"question":"Which colour?","choices":["red","blue"]}]]
[[then]] [[shell echo painted > colour.txt; git add -A; git commit -qm paint]]
[[then]] [[call done {"summary":"It is painted."}]]"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_by_the_number_of_a_choice() {
    let yard = Yard::open(MODEL).await;
    let label = spawned(&yard, ASKS);
    let asked = yard.asked();
    assert_eq!((&asked["kind"], &asked["agent"]), (&json!("question"), &json!(label)));
    let inbox = yard.repo.say(&["inbox"]);
    for part in [&format!("asks  {label} on godel-"), "Which colour?", "2. blue"] {
        assert!(inbox.contains(part), "no {part:?} in {inbox}");
    }
    assert_eq!(yard.repo.say(&["inbox", "--count"]), "1\n");
    let id = asked["id"].as_str().unwrap();
    let told = yard.repo.say(&["inbox", "answer", &id[id.len() - 8..], "2"]);
    assert_eq!(told, format!("{label} is told: blue\n"));
    yard.until_state(&label, "completed");
    assert_eq!(yard.json(&["inbox"]), json!({ "items": [] }));
    assert_eq!(yard.json(&["inbox", "--count"]), json!({ "open": 0 }));
    assert!(yard.repo.say(&["inbox", "--all"]).contains("answered: blue"));
    assert_eq!(yard.repo.say(&["inbox"]), "Nothing needs you.\n");
    yard.repo.godel(&["inbox", "answer", id, "1"]).refused(3, &["notice_not_found"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_follows_a_log_follows_it_over_a_killed_server() {
    let mut yard = Yard::open(MODEL).await;
    let label = spawned(&yard, ASKS);
    let follow = yard.begin(&["agent", "logs", &label, "--follow"]);
    yard.until_state(&label, "waiting");
    yard.server.take().unwrap().kill();
    yard.up();
    // Whether it asks once more depends on how much of its turn was on disk.
    yard.repo.say(&["agent", "message", &label, "[[work colour.txt painted]]"]);
    let settled = |agent: &Value| {
        for asked in yard.json(&["inbox"])["items"].as_array().unwrap() {
            // It may have gone with the server that was killed.
            yard.repo.godel(&["inbox", "decline", asked["id"].as_str().unwrap()]);
        }
        agent["status"] == "completed"
    };
    yard.look_until(&["agent", "show", &label], settled);
    let followed = follow.ended().expect(0);
    for part in ["needs you", "Which colour?", "its server was lost", "completed"] {
        assert!(followed.stdout.contains(part), "no {part:?} in {followed:?}");
    }
    assert!(followed.stderr.contains("trying again"), "{followed:?}");
    let again = yard.repo.godel(&["agent", "logs", &label]).expect(0).stdout;
    assert_eq!(followed.stdout, again, "nothing was lost, and nothing came twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_attached_talks_to_the_agent_and_leaves_it_at_work() {
    let yard = Yard::open(MODEL).await;
    let label = spawned(&yard, ASKS);
    yard.until_state(&label, "waiting");
    let mut person = yard.begin(&["agent", "attach", &label]);
    person.types("red");
    let done = yard.until_state(&label, "completed");
    let seen = person.ended().expect(0);
    assert!(seen.stdout.contains("Which colour?") && seen.stdout.contains("painted"), "{seen:?}");
    assert!(seen.stderr.contains(&format!("{label} has ended: it is completed")), "{seen:?}");
    assert!(!done["commit"].is_null(), "{done}");
    let slow = spawned(&yard, "[[shell sleep 300]]");
    yard.until_state(&slow, "executing");
    let mut person = yard.begin(&["agent", "attach", &slow]);
    person.heard();
    person.interrupt();
    let seen = person.ended().expect(0);
    assert!(seen.stderr.contains(&format!("detached from {slow}; it goes on")), "{seen:?}");
    assert_eq!(yard.repo.json(&["agent", "show", &slow])["lifecycleState"], "executing");
    let told = yard.repo.fed("leave the tests alone", &["agent", "message", &slow, "-"]).expect(0);
    assert!(told.stdout.contains("next safe point"), "{told:?}");
    let mail = yard.repo.json(&["mail", "list", "--agent", &slow]);
    assert_eq!(mail["items"][0]["text"], "leave the tests alone");
    assert!(yard.repo.say(&["agent", "kill", &slow]).contains("is killed"));
    yard.repo.godel(&["agent", "message", &slow, "hello?"]).refused(4, &["agent_state"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_stops_at_once_and_goes_on_again() {
    let yard = Yard::open(MODEL).await;
    let label = spawned(&yard, "[[shell echo kept > kept.txt; sleep 300]]");
    yard.until_state(&label, "executing");
    let stopped = yard.repo.say(&["estop", "--reason", "wrong branch"]);
    assert!(stopped.contains("(wrong branch): 1 agent paused"), "{stopped}");
    yard.until_state(&label, "paused");
    let spawn = ["agent", "spawn", "more"];
    yard.repo.godel(&spawn).refused(4, &["stopped", "godel resume"]);
    assert!(yard.repo.say(&["estop", "--show"]).contains("stands still (wrong branch)"));
    let listed = yard.repo.godel(&["agent", "list"]).expect(0);
    assert!(listed.stderr.contains("everything stands still"), "{listed:?}");
    assert_eq!(yard.repo.say(&["resume"]), "everything goes on: 1 agent resumed\n");
    yard.until_state(&label, "executing");
    yard.repo.say(&["agent", "pause", &label]);
    yard.until_state(&label, "paused");
    let shown = yard.repo.say(&["agent", "show", &label]);
    assert!(shown.contains(&format!("`godel agent resume {label}`")), "{shown}");
    let metrics = yard.repo.json(&["agent", "metrics"]);
    assert_eq!(metrics["states"]["paused"], 1, "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_convoy_is_done_bead_by_bead() {
    let yard = Yard::open(AUTO).await;
    let repo = &yard.repo;
    let first = repo.create("first [[work a.txt one]]");
    let second = repo.create("second [[work b.txt two]]");
    repo.say(&["bead", "dep", "add", &second, &first]);
    let made = repo.json(&["convoy", "create", "Sprint", &first, &second]);
    let convoy = made["id"].as_str().unwrap();
    let start = ["convoy", "start", convoy, "--agents", "2", "--budget", "5"];
    let done = repo.godel(&[&start[..], &["--wait"]].concat()).expect(0);
    assert_eq!(done.stdout, format!("{convoy} is done, at most $5\n"));
    assert_eq!(repo.git(&["show", "main:a.txt"]), "one\n");
    assert_eq!(repo.git(&["show", "main:b.txt"]), "two\n");
    assert_eq!(repo.json(&["convoy", "status", convoy])["status"], "completed");
    let agents = repo.json(&["agent", "list", "--convoy", convoy]);
    assert_eq!(agents["items"].as_array().unwrap().len(), 2, "{agents}");
    let once = repo.json(&["convoy", "watch", convoy, "--once"]);
    assert_eq!(once["state"], "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_convoy_is_done_where_it_is_told_to() {
    let yard = Yard::open(AUTO).await;
    let repo = &yard.repo;
    let bead = repo.create("first [[work a.txt one]]");
    let made = repo.json(&["convoy", "create", "Apart", &bead]);
    let convoy = made["id"].as_str().unwrap();
    repo.godel(&["convoy", "start", convoy, "--runtime", "moon"]).refused(2, &["gvisor"]);
    repo.say(&["convoy", "start", convoy, "--runtime", "gvisor", "--wait"]);
    assert_eq!(repo.git(&["show", "main:a.txt"]), "one\n");
    assert_eq!(repo.json(&["convoy", "watch", convoy, "--once"])["runtime"], "gvisor");
    let agents = repo.json(&["agent", "list", "--convoy", convoy]);
    assert_eq!(agents["items"][0]["runtime"], "gvisor", "{agents}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_is_no_project_is_told_how_to_become_one() {
    let yard = Yard::open(MODEL).await;
    let (repo, home) = (&yard.repo, &yard.repo.home);
    let other = home.path().join("another one");
    let inside = other.join("inside");
    std::fs::create_dir_all(&inside).unwrap();
    git(&other, &["init", "-q", "-b", "main"]);
    let there = |arguments: &[&str]| answer(&mut repo.command_in(&other, arguments));
    let how = "godel project create 'another one' --repository .";
    there(&["agent", "spawn", "x"]).refused(3, &["is not a project", how, "project_not_found"]);
    there(&["convoy", "start", "c"]).refused(3, &[how]);
    let whole = format!("--repository '{}'", other.canonicalize().unwrap().display());
    answer(&mut repo.command_in(&inside, &["agent", "spawn", "x"])).refused(3, &[&whole]);
    let cook = ["agent", "spawn", "x", "--role", "cook"];
    // Where there is no repository, the only project is meant.
    home.run(&cook).refused(3, &["role_not_found"]);
    there(&["project", "create", "another one", "--repository", "."]).expect(0);
    answer(&mut repo.command_in(&inside, &cook)).refused(3, &["role_not_found"]);
    there(&["agent", "spawn", "x"]).refused(2, &["model_needed", "--model"]);
    home.run(&["agent", "spawn", "x"]).refused(2, &["--project", "another one", "app"]);
    assert!(repo.say(&["role", "list"]).contains("reviewer"));
    assert!(repo.say(&["role", "show", "worker"]).contains("prompt"));
}

#[test]
fn walls_are_not_lost_by_a_slip_and_no_server_is_said_so() {
    let home = Home::new();
    let bare = ["agent", "spawn", "x", "--sandbox", "none"];
    home.run(&bare).refused(2, &["--no-walls"]);
    let both = ["agent", "spawn", "x", "--sandbox", "workspace", "--allow", "x.org"];
    home.run(&both).refused(2, &["workspace+net"]);
    home.run(&["agent", "spawn", "x", "--no-walls"]).refused(6, &["godel up"]);
    home.run(&["agent", "spawn"]).refused(2, &["TASK"]);
    let repo = Repo::new();
    for asked in [
        &["agent", "list"][..],
        &["convoy", "start", "x"],
        &["convoy", "stop", "x"],
        &["land", "x"],
        &["estop"],
        &["inbox"],
        &["session", "list"],
    ] {
        repo.godel(asked).refused(6, &["no godel server runs", "godel up", "server_unreachable"]);
    }
    assert_eq!(repo.json(&["convoy", "list"]), json!({ "items": [] }), "this one needs none");
}

#[test]
fn the_words_for_agents_are_those_that_godel_can_lead() {
    let known: Vec<&str> = godel_agents::Harness::ALL.iter().map(|one| one.name()).collect();
    assert_eq!(known, godel_args::agent::HARNESSES);
}
