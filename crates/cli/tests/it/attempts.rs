//! One bead, tried several ways by real agents: compared, picked, landed and archived, over kills and refusals.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fleet::{AUTO, PATIENCE, PERSON, Yard};
use crate::people::developer;

const OPUS: &str = "claude-opus-4-8";
const SONNET: &str = "claude-sonnet-5";
const HAIKU: &str = "claude-haiku-5-5";
/// What no file of the project may say.
const GATE: &str = "[gates]\nno-todo = \"! grep -r FORBIDDEN . --include=*.txt\"\n";
/// What the attempts do: each looks by its name which one it is. The space belongs to it: a bead may be `godel-1yw5i`.
const THREE: &str = "[[shell case $(git var GIT_AUTHOR_IDENT) in attempt-*-1' '*) echo one > out.txt;; \
     attempt-*-2' '*) printf 'two\\nlines\\n' > out.txt; echo more > extra.txt;; *) echo FORBIDDEN > out.txt;; \
     esac; git add -A; git commit -qm work]] [[then]] [[call done {\"summary\":\"tried\"}]]";
/// The first is done at once, the others have half of it and go on for long.
const SLOW: &str = "[[shell case $(git var GIT_AUTHOR_IDENT) in attempt-*-1' '*) echo quick > out.txt; git add -A; \
     git commit -qm quick;; *) echo half > half.txt; sleep 600;; esac]] [[then]] [[call done \
     {\"summary\":\"quick\"}]]";

/// Makes a bead and returns its id.
fn bead(yard: &Yard, title: &str, words: &str) -> String {
    let made = yard.json(&["bead", "create", title, "--description", words]);
    made["id"].as_str().unwrap().to_owned()
}

fn show(yard: &Yard, bead: &str) -> Value {
    yard.json(&["attempt", "show", bead])
}

/// Waits until attempts are as they should be, and returns them.
fn until(yard: &Yard, bead: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let found = show(yard, bead);
        if is_so(&found) {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{found:#}\n{}", lives(yard, &found));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Says what the agents of attempts did, for whoever has to find out why they are not as they should be.
fn lives(yard: &Yard, found: &Value) -> String {
    let agents = each(found, "agent").into_iter().filter_map(|one| one.as_str().map(str::to_owned));
    let logs = agents.map(|agent| yard.run(&["agent", "logs", &agent]).stdout);
    format!("{}\n{}", logs.collect::<Vec<_>>().join("\n"), yard.repo.home.log())
}

/// Returns a field of each attempt.
fn each(found: &Value, field: &str) -> Vec<Value> {
    found["attempts"].as_array().unwrap().iter().map(|one| one[field].clone()).collect()
}

fn needs_choice(found: &Value) -> bool {
    found["needsChoice"] == true
}

fn status(yard: &Yard, bead: &str) -> Value {
    yard.json(&["bead", "show", bead])["status"].clone()
}

/// Lists what git keeps of attempts at a bead.
fn kept(yard: &Yard, bead: &str) -> Vec<String> {
    let below = format!("refs/godel/attempts/{bead}/");
    let listed = yard.repo.git(&["for-each-ref", "--format=%(refname)", &below]);
    listed.lines().map(str::to_owned).collect()
}

/// Lists what attempts have besides: branches and worktrees.
fn left(yard: &Yard, bead: &str) -> (String, Vec<PathBuf>) {
    let branches = yard.repo.git(&["for-each-ref", &format!("refs/heads/bead/attempt-{bead}-*")]);
    let trees = std::fs::read_dir(yard.repo.path.join(".godel/worktrees"));
    let trees = trees.into_iter().flatten().map(|entry| entry.unwrap().path());
    let name = format!("attempt-{bead}-");
    let own = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&name);
    (branches, trees.filter(own).collect())
}

/// Counts events of a kind.
fn told(yard: &Yard, kind: &str) -> usize {
    let list = yard.json(&["events", "list", "--type", kind, "--limit", "100"]);
    list["items"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn three_models_try_a_bead_and_one_is_picked_and_lands_while_the_others_are_kept() {
    let yard = Yard::open(&format!("{GATE}{PERSON}")).await;
    let bead = bead(&yard, "Write it three ways", THREE);
    let models = [OPUS, SONNET, HAIKU].join(",");
    let begun = yard.json(&["attempt", "start", &bead, "--models", &models]);
    assert_eq!(each(&begun, "number"), [1, 2, 3]);
    assert_eq!(each(&begun, "model"), [OPUS, SONNET, HAIKU]);
    let found = until(&yard, &bead, needs_choice);
    assert_eq!(each(&found, "state"), ["done", "done", "failed"], "{found:#}");
    assert_eq!(each(&found, "gatesPassed"), [json!(true), json!(true), json!(false)]);
    assert_eq!(each(&found, "files"), [1, 2, 1]);
    assert_eq!(each(&found, "added"), [1, 3, 1]);
    let costs: Vec<i64> =
        each(&found, "spentMicros").iter().map(|one| one.as_i64().unwrap()).collect();
    assert!(costs.iter().all(|cost| *cost > 0), "{costs:?}");
    assert_eq!(found["spentMicros"], costs.iter().sum::<i64>());
    // Each talks on its own about the one bead.
    let talks = |limit| yard.json(&["session", "list", "--bead", &bead, "--limit", limit]);
    let (two, all) = (talks("2"), talks("10"));
    assert_eq!((two["items"].as_array().unwrap().len(), &two["hasMore"]), (2, &json!(true)));
    assert_eq!((all["items"].as_array().unwrap().len(), &all["hasMore"]), (3, &json!(false)));
    // The bead is nobody's to land, and nothing of it was moved.
    assert_eq!(status(&yard, &bead), "in-progress");
    assert!(!yard.repo.git(&["branch", "--list", &format!("bead/{bead}")]).contains(&bead));
    let inbox = yard.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["kind"]), (1, &json!("review")), "{inbox:#}");
    assert!(items[0]["text"].as_str().unwrap().starts_with("2 of 3 attempts"), "{inbox:#}");

    let table = yard.run(&["attempt", "show", &bead]).expect(0).stdout;
    for part in [OPUS, SONNET, HAIKU, "passed", "no-todo failed", "+3 -0", "the choice is yours"] {
        assert!(table.contains(part), "no {part} in\n{table}");
    }
    let one = yard.run(&["attempt", "diff", &bead, "2"]).expect(0).stdout;
    assert!(one.contains("+lines") && one.contains("extra.txt"), "{one}");
    let two = yard.json(&["attempt", "diff", &bead, "1", "2"]);
    assert_eq!((&two["files"], &two["added"], &two["removed"]), (&json!(2), &json!(3), &json!(1)));
    assert!(two["patch"].as_str().unwrap().contains("-one\n+two"), "{two:#}");

    yard.run(&["attempt", "pick", &bead, "3"]).refused(4, &["gates did not pass", "--force"]);
    let picked = yard.json(&["attempt", "pick", &bead, "2"]);
    assert_eq!((&picked["state"], &picked["picked"]), (&json!("picked"), &json!(2)), "{picked:#}");
    assert_eq!(status(&yard, &bead), "review");
    let commit = each(&picked, "commit")[1].as_str().unwrap().to_owned();
    assert_eq!(yard.repo.git(&["rev-parse", &format!("bead/{bead}")]).trim(), commit);
    // Again is fine, and another one is too late.
    assert_eq!(yard.json(&["attempt", "pick", &bead, "2"])["picked"], 2);
    yard.run(&["attempt", "pick", &bead, "1"]).refused(4, &["attempt 2", "was picked already"]);
    yard.run(&["attempt", "drop", &bead]).refused(4, &["was picked already"]);
    assert_eq!(yard.json(&["inbox"])["items"].as_array().unwrap().len(), 0);

    assert_eq!(kept(&yard, &bead), [1, 2, 3].map(|n| format!("refs/godel/attempts/{bead}/{n}")));
    assert_eq!(yard.at(&format!("refs/godel/attempts/{bead}/1"), "out.txt"), "one");
    assert_eq!(yard.at(&format!("refs/godel/attempts/{bead}/3"), "out.txt"), "FORBIDDEN");
    assert_eq!(left(&yard, &bead), (String::new(), Vec::new()));
    let archived = yard.run(&["attempt", "list", "--archived"]).expect(0).stdout;
    assert_eq!(archived.matches(&format!("refs/godel/attempts/{bead}/")).count(), 3, "{archived}");

    let landed = yard.json(&["land", &bead]);
    assert_eq!(landed["landed"], true, "{landed:#}");
    assert_eq!(yard.in_main("out.txt"), "two\nlines");
    assert_eq!(status(&yard, &bead), "done");
    // All of it was paid for the bead.
    let usage = yard.json(&["usage", "--by", "bead"]);
    let rows = usage["rows"].as_array().unwrap();
    let own = rows.iter().find(|row| row["group"].to_string().contains(&bead)).unwrap();
    assert_eq!(own["costMicros"], costs.iter().sum::<i64>(), "{usage:#}");
    let kinds = ["attempt:started", "attempt:ready", "attempt:picked", "attempt:archived"];
    assert_eq!(kinds.map(|kind| told(&yard, kind)), [1, 1, 1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_early_pick_stops_the_others_and_keeps_what_they_had_not_committed() {
    let yard = Yard::open(PERSON).await;
    let bead = bead(&yard, "Write it fast", SLOW);
    yard.json(&["attempt", "start", &bead, "--attempts", "2"]);
    let slow = format!("attempt-{bead}-2");
    let agent = yard.until(&slow, "executing");
    let half = PathBuf::from(agent["worktree"].as_str().unwrap()).join("half.txt");
    yard.wait(&slow, |_| half.exists());
    let found = until(&yard, &bead, |found| each(found, "state") == ["done", "working"]);
    assert!(!needs_choice(&found));
    yard.run(&["attempt", "pick", &bead, "2"]).refused(4, &["attempt 2 is still at work"]);
    // Nobody else begins at a bead that is tried.
    let other = ["agent", "spawn", "do it too", "--bead", &bead];
    yard.run(&other).refused(4, &["godel attempt show"]);
    let picked = yard.json(&["attempt", "pick", &bead, "1"]);
    assert_eq!(picked["state"], "picked", "{picked:#}");
    assert_eq!(yard.agent(&slow)["lifecycleState"], "killed");
    let rescued = each(&picked, "rescued")[1][0].as_str().unwrap().to_owned();
    assert_eq!(yard.at(&rescued, "half.txt"), "half");
    assert_eq!(kept(&yard, &bead), [format!("refs/godel/attempts/{bead}/1")]);
    assert_eq!(left(&yard, &bead), (String::new(), Vec::new()));
    assert_eq!(status(&yard, &bead), "review");
    // Who is asked to mend it is like the one that was picked, and alone.
    yard.run(&["review", "request-changes", &bead, "[[work more.txt more]]"]).expect(0);
    let mender = yard.until("worker-3", "completed");
    assert_eq!(mender["bead"], bead.as_str());
    assert_eq!(yard.at(&format!("bead/{bead}"), "out.txt"), "quick");
    assert_eq!(yard.at(&format!("bead/{bead}"), "more.txt"), "more");
    assert_eq!(yard.json(&["land", &bead])["landed"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_go_on_after_kills_and_a_pick_is_carried_out_whenever_the_server_dies() {
    let mut yard = Yard::open(PERSON).await;
    let slowly = THREE.replace("git add", "sleep 1; git add");
    let beads: Vec<String> = (0..3).map(|at| bead(&yard, &format!("Bead {at}"), &slowly)).collect();
    for (bead, pause) in beads.iter().zip([0, 300, 900]) {
        yard.json(&["attempt", "start", bead, "--attempts", "2"]);
        std::thread::sleep(Duration::from_millis(pause));
        yard.server.take().unwrap().kill();
        yard.up();
    }
    for bead in &beads {
        let found = until(&yard, bead, needs_choice);
        assert_eq!(each(&found, "state"), ["done", "done"], "{found:#}");
    }
    let agents = yard.json(&["agent", "list"]);
    assert_eq!(agents["items"].as_array().unwrap().len(), 6, "each attempt has one agent");
    for (bead, pause) in beads.iter().zip([60, 150, 400]) {
        let mut pick = yard.repo.command_in(&yard.repo.path, &["attempt", "pick", bead, "1"]);
        let mut picking = pick.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        yard.server.take().unwrap().kill();
        picking.wait().unwrap();
        yard.up();
        // Whether it was heard or not, to say it again is right.
        yard.json(&["attempt", "pick", bead, "1"]);
        let found = until(&yard, bead, |found| found["state"] == "picked");
        assert_eq!((&found["picked"], status(&yard, bead)), (&json!(1), json!("review")));
        assert_eq!(yard.at(&format!("bead/{bead}"), "out.txt"), "one");
        assert_eq!(kept(&yard, bead).len(), 2, "{found:#}");
        assert_eq!(left(&yard, bead), (String::new(), Vec::new()));
    }
    assert_eq!(told(&yard, "attempt:picked"), 3);
    for bead in &beads {
        let commits = yard.repo.git(&["rev-list", "--count", &format!("main..bead/{bead}")]);
        assert_eq!(commits.trim(), "1");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_dropped_is_kept_and_the_bead_can_be_tried_anew_with_other_numbers() {
    let yard = Yard::open(PERSON).await;
    let bead = bead(&yard, "Write it", SLOW);
    yard.json(&["attempt", "start", &bead, "--attempts", "2", "--budget", "3"]);
    until(&yard, &bead, |found| each(found, "state") == ["done", "working"]);
    assert_eq!(yard.json(&["budget", "list"])["items"].as_array().unwrap().len(), 1);
    let dropped = yard.json(&["attempt", "drop", &bead]);
    assert_eq!((&dropped["state"], status(&yard, &bead)), (&json!("dropped"), json!("open")));
    assert_eq!(yard.json(&["attempt", "drop", &bead])["state"], "dropped");
    yard.run(&["attempt", "pick", &bead, "1"]).refused(4, &["were dropped"]);
    assert_eq!(yard.json(&["budget", "list"])["items"].as_array().unwrap().len(), 0);
    assert_eq!(yard.at(&format!("refs/godel/attempts/{bead}/1"), "out.txt"), "quick");
    let again = yard.json(&["attempt", "start", &bead, "--attempts", "2"]);
    assert_eq!(each(&again, "number"), [3, 4]);
    yard.json(&["attempt", "drop", &bead]);
    assert_eq!(left(&yard, &bead), (String::new(), Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn all_attempts_together_spend_no_more_than_they_may() {
    let yard = Yard::open(PERSON).await;
    let bead = bead(&yard, "Write it cheaply", "[[work a.txt worth it]]");
    let start = ["attempt", "start", &bead, "--attempts", "2", "--budget", "0.0001"];
    assert_eq!(yard.json(&start)["budgetMicros"], 100);
    let found = until(&yard, &bead, needs_choice);
    assert_eq!(each(&found, "state"), ["paused", "paused"], "{found:#}");
    yard.run(&["attempt", "pick", &bead, "1"]).refused(4, &["has made no commit"]);
    // With more, one goes on, and the choice waits for it.
    yard.run(&["budget", "set", &format!("bead:{bead}"), "5"]).expect(0);
    yard.run(&["agent", "resume", &format!("attempt-{bead}-2")]).expect(0);
    yard.until(&format!("attempt-{bead}-2"), "completed");
    let picked = yard.json(&["attempt", "pick", &bead, "2"]);
    assert_eq!(picked["picked"], 2);
    assert_eq!(yard.json(&["budget", "list"])["items"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let yard = Yard::open(PERSON).await;
    let free = bead(&yard, "Free", SLOW);
    let start = |bead: &str, more: &[&str]| yard.run(&[&["attempt", "start", bead], more].concat());
    start(&free, &["--attempts", "1"]).refused(2, &["2 to 8 ways, not 1"]);
    start(&free, &["--attempts", "9"]).refused(2, &["2 to 8 ways, not 9"]);
    start(&free, &["--attempts", "2", "--models", "a,b,c"]).refused(2, &["3 models", "2 attempts"]);
    start(&free, &["--models", "missing-1,missing-2"]).refused(2, &["missing-1", "godel models"]);
    start(&free, &["--harness", "claud"]).refused(2, &["no kind of agent called \"claud\""]);
    start("godel-zzzzz", &[]).refused(3, &["godel-zzzzz"]);
    yard.run(&["attempt", "show", &free]).refused(3, &["there is no attempt"]);
    yard.run(&["attempt", "pick", &free, "1"]).refused(3, &["there is no attempt"]);

    let blocked = bead(&yard, "Later", "[[work x.txt x]]");
    yard.run(&["bead", "dep", "add", &blocked, &free]).expect(0);
    start(&blocked, &[]).refused(4, &[&free]);
    let closed = bead(&yard, "Over", "nothing");
    let close = ["bead", "close", &closed, "--resolution", "wont-do", "--reason", "no need"];
    yard.run(&close).expect(0);
    start(&closed, &[]).refused(4, &["done and not open"]);
    let busy = yard.spawn("[[shell echo half > half.txt; sleep 600]]");
    let at = yard.until(&busy, "executing")["bead"].as_str().unwrap().to_owned();
    start(&at, &[]).refused(4, &[&format!("agent {busy} works on {at} already")]);
    for list in [&["attempt", "list"][..], &["attempt", "list", "--archived"]] {
        assert_eq!(yard.json(list)["items"], json!([]));
    }
    assert_eq!(yard.json(&["agent", "list"])["items"].as_array().unwrap().len(), 1);
    assert_eq!(told(&yard, "attempt:started"), 0);
    for id in [&free, &blocked] {
        assert_eq!(status(&yard, id), "open");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_developer_decides_about_own_attempts_only_and_a_viewer_looks() {
    let yard = Yard::open(PERSON).await;
    let bead = bead(&yard, "Write it", "[[work a.txt a]]");
    yard.json(&["attempt", "start", &bead, "--attempts", "2"]);
    until(&yard, &bead, needs_choice);
    let server = yard.server.as_ref().unwrap();
    let person = |name: &str, role: &str, more: &[&str]| {
        tokio::task::block_in_place(|| developer(server, &yard.repo.home, name, role, more))
    };
    let dora = person("dora", "developer", &["--project", "app"]);
    let vera = person("vera", "viewer", &["--project", "app"]);
    for home in [&dora, &vera] {
        home.run(&["attempt", "show", &bead]).expect(0);
        home.run(&["attempt", "diff", &bead, "1"]).expect(0);
        home.run(&["attempt", "pick", &bead, "1"]).refused(5, &["ask an admin"]);
        home.run(&["attempt", "drop", &bead]).refused(5, &["ask an admin"]);
    }
    vera.run(&["attempt", "start", &bead]).refused(5, &["ask an admin"]);
    // Whoever works elsewhere sees nothing of it.
    yard.run(&["project", "create", "other"]).expect(0);
    let otto = person("otto", "operator", &["--project", "other"]);
    assert_eq!(otto.run(&["attempt", "list", "--json"]).expect(0).json()["items"], json!([]));
    otto.run(&["attempt", "show", &bead]).refused(3, &[]);
    otto.run(&["attempt", "pick", &bead, "1"]).refused(3, &[]);
    assert_eq!(yard.json(&["attempt", "pick", &bead, "1"])["picked"], 1);
    let record = yard.json(&["audit", "query", "--limit", "100"]);
    let acts = record["items"].as_array().unwrap();
    let acts = acts.iter().filter(|one| one["action"].as_str().unwrap().starts_with("attempt:"));
    assert!(acts.count() >= 2, "{record:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_intent_of_one_bead_is_tried_several_ways_and_lands_when_one_is_picked() {
    let yard = Yard::open(AUTO).await;
    let plan = |keys: &[&str]| {
        let bead = |key: &&str| {
            json!({ "key": key, "title": format!("Write {key}"), "description": format!("[[work {key}.txt by it]]"),
                "type": "task", "needs": [], "role": "worker", "size": "small" })
        };
        let beads: Vec<Value> = keys.iter().map(bead).collect();
        format!("Build it [[json {}]]", json!({ "title": "Files", "beads": beads }))
    };
    let two = yard.run(&["do", &plan(&["a", "b"]), "--yes", "--attempts", "2"]).expect(4);
    for part in ["this one has 2", "godel attempt start BEAD"] {
        assert!(two.stderr.contains(part), "{two:?}");
    }
    let poor =
        yard.run(&["do", &plan(&["a"]), "--yes", "--attempts", "8", "--budget", "0.2"]).expect(4);
    assert!(poor.stderr.contains("the budget is less than the plan is likely to cost"), "{poor:?}");
    assert_eq!(yard.json(&["bead", "list", "--all"])["items"], json!([]), "nothing was made");
    let models = format!("{OPUS},{SONNET}");
    let one = plan(&["a"]);
    let intent = yard.json(&["do", &one, "--yes", "--models", &models, "--budget", "5"]);
    let list = yard.json(&["attempt", "list"]);
    let bead = list["items"][0]["bead"].as_str().unwrap().to_owned();
    let found = until(&yard, &bead, needs_choice);
    assert_eq!(each(&found, "model"), [OPUS, SONNET], "{found:#}");
    assert_eq!(found["convoy"], intent["convoy"]);
    // The convoy begins nobody else, and lands nothing before the choice.
    assert_eq!(yard.json(&["agent", "list"])["items"].as_array().unwrap().len(), 2);
    yard.json(&["attempt", "pick", &bead, "1"]);
    let started = Instant::now();
    while status(&yard, &bead) != "done" {
        assert!(started.elapsed() < PATIENCE, "{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(yard.in_main("a.txt"), "by it");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_of_attempts_do_not_see_each_others_work() {
    let yard = Yard::open(PERSON).await;
    let slow = SLOW.replace("quick", "zebra");
    let bead = bead(&yard, "Look around", &slow);
    yard.json(&["attempt", "start", &bead, "--attempts", "2"]);
    let (first, second) = (format!("attempt-{bead}-1"), format!("attempt-{bead}-2"));
    yard.until(&first, "completed");
    // What it is told counts once it is at work; before that it would begin with its task.
    let agent = yard.until(&second, "executing");
    let half = PathBuf::from(agent["worktree"].as_str().unwrap()).join("half.txt");
    yard.wait(&second, |_| half.exists());
    // The second looks around in a sandbox that is made when the work of the first is on its branch.
    let spy = "[[shell { ls -a ..; cat ../*/out.txt; git for-each-ref; git log --all --oneline; git worktree list; } > \
         seen.txt 2>&1; git add -A; git commit -qm seen]] [[then]] [[call done {\"summary\":\"looked\"}]]";
    // One that works reads its mail at once, and would be cut off in the middle of what that says.
    yard.run(&["agent", "pause", &second]).expect(0);
    yard.run(&["agent", "message", &second, spy]).expect(0);
    yard.run(&["agent", "resume", &second]).expect(0);
    let found = until(&yard, &bead, needs_choice);
    assert_eq!(each(&found, "state"), ["done", "done"], "{found:#}");
    let commit = each(&found, "commit")[0].as_str().unwrap()[..7].to_owned();
    let seen = yard.at(&format!("bead/{second}"), "seen.txt");
    for mark in ["zebra", first.as_str(), commit.as_str()] {
        assert!(!seen.contains(mark), "{mark} in\n{seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_picked_is_reviewed_by_an_agent_if_the_project_wants_that() {
    let yard = Yard::open(&format!("[project]\nreview = \"agent\"\n{PERSON}")).await;
    let bead = bead(&yard, "A note", "Write a note.");
    // What is said about a bead is told to those who work on it, and not to who judges.
    let approve = format!("[[call done {}]]", json!({ "summary": "approve: fine" }));
    let write = json!({ "path": "note.txt", "content": approve });
    let words = format!(
        "[[call write {write}]] [[then]] [[shell git add -A && git commit -qm note]] [[then]] [[call done {}]]",
        json!({ "summary": "made" })
    );
    yard.run(&["bead", "comment", &bead, &words]).expect(0);
    yard.json(&["attempt", "start", &bead, "--attempts", "2"]);
    until(&yard, &bead, needs_choice);
    let roles = || -> Vec<Value> {
        let list = yard.json(&["agent", "list", "--bead", &bead]);
        list["items"].as_array().unwrap().iter().rev().map(|one| one["role"].clone()).collect()
    };
    assert_eq!(roles(), ["worker", "worker"], "nobody judges before the choice");
    yard.json(&["attempt", "pick", &bead, "2"]);
    let started = Instant::now();
    while status(&yard, &bead) != "done" {
        assert!(started.elapsed() < PATIENCE, "{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(yard.in_main("note.txt"), approve);
    assert_eq!(roles(), ["worker", "worker", "reviewer"]);
}
