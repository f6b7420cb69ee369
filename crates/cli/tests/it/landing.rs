//! The merge queue of a real server: order, batches, repairs, and what people do with it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fleet::{PATIENCE, PERSON, Yard};
use crate::people::developer;
use crate::repo::git;

/// Makes the work of a bead by hand, and brings it to review.
pub(crate) fn work(yard: &Yard, title: &str, base: &str, files: &[(&str, &str)]) -> String {
    let bead = yard.repo.create(title);
    let tree = yard.repo.home.path().join(format!("by-hand-{bead}"));
    let (path, branch) = (tree.to_str().unwrap(), format!("bead/{bead}"));
    yard.repo.git(&["worktree", "add", "-q", "-b", &branch, path, base]);
    for (file, text) in files {
        std::fs::create_dir_all(tree.join(file).parent().unwrap()).unwrap();
        std::fs::write(tree.join(file), text).unwrap();
    }
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", &format!("work on {bead}")]);
    yard.repo.git(&["worktree", "remove", "--force", path]);
    yard.run(&["bead", "status", &bead, "review"]).expect(0);
    bead
}

/// Waits until nothing of the line goes on any more, and returns all of it by bead.
pub(crate) fn settled(yard: &Yard) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let lines = yard.json(&["land", "status", "--all"]);
        let all = lines["items"][0]["landings"].as_array().cloned().unwrap_or_default();
        let open = ["waiting", "checking", "mending", "pushing"];
        if !all.iter().any(|one| open.contains(&one["stage"].as_str().unwrap())) {
            return all;
        }
        let (log, agents) = (yard.repo.home.log(), yard.json(&["agent", "list"]));
        assert!(started.elapsed() < PATIENCE * 2, "{lines:#}\n{agents:#}\n{log}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub(crate) fn of<'a>(all: &'a [Value], bead: &str) -> &'a Value {
    all.iter().find(|one| one["bead"] == bead).unwrap_or_else(|| panic!("{bead} in {all:#?}"))
}

/// The commits of main that landings made, oldest first.
pub(crate) fn line(yard: &Yard, from: &str) -> Vec<String> {
    let range = format!("{from}..main");
    let said = yard.repo.git(&["rev-list", "--first-parent", "--reverse", &range]);
    said.lines().map(str::to_owned).collect()
}

/// Runs the gate on each commit of a line, as somebody does who has nothing but git.
pub(crate) fn is_green_everywhere(yard: &Yard, commits: &[String]) {
    let tree: PathBuf = yard.repo.home.path().join("judge");
    for commit in commits {
        let path = tree.to_str().unwrap();
        yard.repo.git(&["worktree", "add", "-q", "--detach", path, commit]);
        let judged = std::process::Command::new("sh").arg("check.sh").current_dir(&tree).status();
        assert!(judged.unwrap().success(), "{commit} does not pass");
        yard.repo.git(&["worktree", "remove", "--force", path]);
    }
}

/// Fails if something is broken, or if two things are there that do not go together.
const CHECK: &str = "#!/bin/sh
[ ! -e broken ] || { echo broken is there; exit 1; }
[ ! -e left ] || [ ! -e right ] || { echo left and right do not go together; exit 1; }
";

async fn yard(settings: &str) -> Yard {
    let yard = Yard::open(&format!("[gates]\ntest = \"sh check.sh\"\n{settings}{PERSON}")).await;
    std::fs::write(yard.repo.path.join("check.sh"), CHECK).unwrap();
    std::fs::write(yard.repo.path.join("shared.txt"), "one\ntwo\nthree\n").unwrap();
    yard.repo.git(&["add", "-A"]);
    yard.repo.git(&["commit", "-q", "-m", "a check"]);
    yard
}

/// What whoever repairs a conflict is told to do, in the words of its bead.
fn repair(text: &str) -> String {
    let done = json!({ "summary": "both are there" });
    format!(
        "[[shell git merge -q main; printf '{text}' > shared.txt; git add -A; git commit -qm both]] \
         [[then]] [[call done {done}]]"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_beads_with_conflicts_and_breakers_land_and_main_is_green_at_every_commit() {
    let yard = yard("[landing]\nbatch = 5\n").await;
    let base = yard.repo.git(&["rev-parse", "main"]).trim().to_owned();
    let mut beads = Vec::new();
    for at in 0..20 {
        let (own, text) = (format!("own/{at}.txt"), format!("{at}\n"));
        let mut files = vec![(own.as_str(), text.as_str())];
        let mut title = format!("Bead {at}");
        match at {
            3 => files.push(("shared.txt", "one\nfrom three\nthree\n")),
            7 => {
                files.push(("shared.txt", "one\nfrom seven\nthree\n"));
                title = format!("{title} {}", repair("one\\nfrom both\\nthree\\n"));
            }
            5 => files.push(("broken", "yes\n")),
            9 => files.push(("left", "\n")),
            13 => files.push(("right", "\n")),
            _ => {}
        }
        beads.push(work(&yard, &title, &base, &files));
    }
    yard.run(&["land", "pause", "--reason", "all at once"]).expect(0);
    for bead in &beads {
        yard.run(&["land", "add", bead, "--no-wait"]).expect(0);
    }
    let waiting = yard.json(&["land", "status"]);
    assert_eq!(waiting["items"][0]["paused"]["reason"], "all at once");
    let places = waiting["items"][0]["landings"].as_array().unwrap();
    let order: Vec<&str> = places.iter().map(|one| one["bead"].as_str().unwrap()).collect();
    assert_eq!(order, beads, "in the order in which they were added");
    assert_eq!(places[19]["position"], 20);
    yard.run(&["land", "resume"]).expect(0);
    let all = settled(&yard);
    for (at, bead) in beads.iter().enumerate() {
        let found = of(&all, bead);
        let (stage, shown) = (found["stage"].as_str().unwrap(), yard.json(&["bead", "show", bead]));
        if [5, 13].contains(&at) {
            assert_eq!((stage, &found["trouble"]), ("failed", &json!("gate")), "{at}: {found:#}");
            assert_eq!(shown["status"], "review", "{at}: a person decides");
            continue;
        }
        assert_eq!((stage, &shown["status"]), ("landed", &json!("done")), "{at}: {found:#}");
        assert_eq!(yard.in_main(&format!("own/{at}.txt")), at.to_string());
        let landed = &shown["landed"];
        assert_eq!((&landed["branch"], &landed["target"]), (&json!("main"), &found["commit"]));
        assert_eq!(landed["gates"], json!([{ "gate": "test", "passed": true }]), "{shown:#}");
        if [0, 1, 2, 4].contains(&at) {
            // Of a train each counts what is its own.
            assert_eq!(landed["change"], json!({ "files": 1, "added": 1, "removed": 0 }), "{at}");
        }
    }
    assert!(of(&all, &beads[13])["why"].as_str().unwrap().contains("left and right"), "{all:#?}");
    assert_eq!(yard.in_main("shared.txt"), "one\nfrom both\nthree");
    let mender = of(&all, &beads[7])["mender"].as_str().unwrap().to_owned();
    let agent = yard.agent(&mender);
    assert_eq!(
        (&agent["role"], &agent["lifecycleState"]),
        (&json!("refinery"), &json!("completed"))
    );
    let landed = line(&yard, &base);
    assert!(landed.len() < 18, "some landed together: {landed:?}");
    is_green_everywhere(&yard, &landed);
    assert_eq!(yard.repo.git(&["status", "--porcelain"]), "", "the person's checkout is clean");
    let notices = yard.json(&["inbox"])["items"].clone();
    assert_eq!(notices, json!([]), "beads that no agent made have nobody to ask for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_takes_out_tries_again_and_takes_back() {
    let yard = yard("").await;
    let base = yard.repo.git(&["rev-parse", "main"]).trim().to_owned();
    let (good, bad) = (
        work(&yard, "Good", &base, &[("good.txt", "good\n")]),
        work(&yard, "Bad", &base, &[("broken", "yes\n")]),
    );
    yard.run(&["land", "remove", &good])
        .refused(3, &["is not in the merge queue", "godel land status"]);
    yard.run(&["land", "pause"]).expect(0);
    yard.run(&["land", &good, "--no-wait"]).expect(0);
    yard.run(&["land", "remove", &good]).expect(0);
    yard.run(&["land", "resume"]).expect(0);
    let failed = yard.run(&["land", &bad]).expect(4);
    assert!(failed.stderr.contains("broken is there"), "{}", failed.stderr);
    assert_eq!(line(&yard, &base), [""; 0], "nothing has landed");
    // Somebody mends the branch; what was allowed is what was looked at.
    let tree = yard.repo.home.path().join("mended");
    yard.repo.git(&["worktree", "add", "-q", tree.to_str().unwrap(), &format!("bead/{bad}")]);
    git(&tree, &["rm", "-q", "broken"]);
    std::fs::write(tree.join("mended.txt"), "fine\n").unwrap();
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "mended"]);
    yard.run(&["land", "retry", &bad]).expect(0);
    yard.run(&["land", "retry", &good]).expect(0);
    assert_eq!(
        (yard.in_main("good.txt"), yard.in_main("mended.txt")),
        ("good".into(), "fine".into())
    );
    let again = yard.json(&["land", &good]);
    assert_eq!(
        (&again["landed"], &again["stage"]),
        (&json!(true), &json!("landed")),
        "twice is once"
    );

    let before = yard.repo.git(&["rev-parse", "main"]).trim().to_owned();
    let server = yard.server.as_ref().unwrap();
    let dora = || developer(server, &yard.repo.home, "dora", "developer", &["--project", "app"]);
    let other = tokio::task::block_in_place(dora);
    other.run(&["land", "revert", &good]).refused(5, &["ask an admin"]);
    assert_eq!(yard.repo.git(&["rev-parse", "main"]).trim(), before, "it was refused before");
    let reverted = yard.json(&["land", "revert", &good]);
    assert_eq!(yard.repo.git(&["rev-parse", "main"]).trim(), reverted["commit"].as_str().unwrap());
    assert!(yard.repo.git(&["ls-tree", "main"]).lines().all(|one| !one.ends_with("good.txt")));
    assert!(!yard.repo.path.join("good.txt").exists(), "the checkout follows");
    let shown = yard.json(&["bead", "show", &good]);
    assert_eq!((&shown["status"], &shown["landed"]), (&json!("open"), &Value::Null), "{shown:#}");
    yard.run(&["land", "revert", &good]).refused(4, &["has not landed"]);
    is_green_everywhere(&yard, &line(&yard, &before));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_gets_another_place_and_lands_in_that_order() {
    let yard = yard("[landing]\nbatch = 1\n").await;
    let base = yard.repo.git(&["rev-parse", "main"]).trim().to_owned();
    let beads = ["a", "b", "c", "d"]
        .map(|name| work(&yard, name, &base, &[(&format!("own/{name}"), "x\n")]));
    yard.run(&["land", "pause"]).expect(0);
    for bead in &beads {
        yard.run(&["land", "add", bead, "--no-wait"]).expect(0);
    }
    let [a, b, c, d] = &beads;
    yard.run(&["land", "move", d, "--first"]).expect(0);
    yard.run(&["land", "move", a, "--last"]).expect(0);
    let said = yard.run(&["land", "move", c, "--before", b]).expect(0);
    assert!(said.stdout.contains("has another place"), "{}", said.stdout);
    let wanted = [d, c, b, a];
    let status = yard.json(&["land", "status"]);
    let order: Vec<&str> = status["items"][0]["landings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["bead"].as_str().unwrap())
        .collect();
    assert_eq!(order, wanted);
    // Whoever comes later is behind all of them.
    let late = work(&yard, "late", &base, &[("own/late", "x\n")]);
    yard.run(&["land", "move", &late, "--first"]).refused(4, &["does not wait in the line"]);
    yard.run(&["land", "move", a, "--before", &late]).refused(4, &["does not wait in the line"]);
    yard.run(&["land", "move", a]).refused(2, &["--first"]);
    yard.run(&["land", "add", &late, "--no-wait"]).expect(0);
    let told = yard.json(&["events", "list", "--type", "landing:moved"]);
    assert_eq!(told["items"].as_array().unwrap().len(), 3, "{told:#}");
    yard.run(&["land", "resume"]).expect(0);
    settled(&yard);
    let log = yard.repo.git(&[
        "log",
        "--first-parent",
        "--reverse",
        "--format=%s",
        &format!("{base}..main"),
    ]);
    let landed: Vec<&str> = log.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(landed, ["d", "c", "b", "a", "late"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_need_is_not_taken_back() {
    let yard = yard("").await;
    let base = yard.repo.git(&["rev-parse", "main"]).trim().to_owned();
    let first = work(&yard, "First", &base, &[("shared.txt", "one\nfirst\nthree\n")]);
    yard.run(&["land", &first]).expect(0);
    let later = work(&yard, "Later", "main", &[("shared.txt", "one\nfirst and later\nthree\n")]);
    yard.run(&["land", &later]).expect(0);
    yard.run(&["land", "revert", &first]).refused(4, &["built on it in shared.txt"]);
    assert_eq!(yard.in_main("shared.txt"), "one\nfirst and later\nthree");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_lands_squashed_or_rebased_if_the_project_says_so() {
    for (how, subject) in [("squash", "Tidy"), ("rebase", "work on")] {
        let yard = yard(&format!("[landing]\nhow = \"{how}\"\n")).await;
        let base = yard.repo.git(&["rev-parse", "main"]).trim().to_owned();
        let beads = ["a", "b"].map(|file| work(&yard, "Tidy", &base, &[(file, "x\n")]));
        for bead in &beads {
            yard.run(&["land", bead]).expect(0);
        }
        assert_eq!(yard.repo.git(&["rev-list", "--merges", "--count", "main"]).trim(), "0");
        let log = yard.repo.git(&["log", "--format=%s", &format!("{base}..main")]);
        assert_eq!(log.lines().filter(|one| one.starts_with(subject)).count(), 2, "{how}: {log}");
        for bead in &beads {
            let said = yard.repo.git(&["log", "--format=%B", &format!("{base}..main")]);
            assert!(said.contains(&format!("\nBead: {bead}")), "{how}: {said}");
            assert_eq!(yard.json(&["bead", "show", bead])["status"], "done");
        }
        yard.run(&["land", "revert", &beads[0]]).expect(0);
        assert!(!yard.repo.path.join("a").exists() && yard.repo.path.join("b").exists(), "{how}");
    }
}
