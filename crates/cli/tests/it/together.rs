//! A convoy that lands as one: its beads land in the branch of one bead, which is reviewed and lands by itself.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fleet::{AUTO, PATIENCE, PERSON, Yard};
use crate::landing::{of, settled};
use crate::reviews::{decides, roles, writes};

/// What the second bead does: it needs what the first one made, and makes something of it.
const SECOND: &str = "[[shell cat first.txt first.txt > second.txt; git add -A; git commit -qm second]] [[then]] \
     [[call done {\"summary\":\"twice\"}]]";
/// A gate that only the two together pass: the second has all of the first twice.
const GATE: &str = "[gates]\ntwice = \"! [ -e second.txt ] || [ $(wc -l < second.txt) = 2 ]\"\n";

/// Makes a convoy of three beads, the second of which needs the first, and returns it with its beads.
fn convoy(yard: &Yard, name: &str) -> (String, Vec<String>) {
    let titles = ["First [[work first.txt one]]", "Second", "Third [[work third.txt three]]"];
    let mut beads = Vec::new();
    for (at, title) in titles.iter().enumerate() {
        let words = if at == 1 { SECOND } else { "" };
        let made = yard.json(&["bead", "create", title, "--description", words]);
        beads.push(made["id"].as_str().unwrap().to_owned());
    }
    yard.run(&["bead", "dep", "add", &beads[1], &beads[0]]).expect(0);
    let names: Vec<&str> = beads.iter().map(String::as_str).collect();
    let made = yard.json(&[&["convoy", "create", name], &names[..]].concat());
    (made["id"].as_str().unwrap().to_owned(), beads)
}

/// Starts a convoy that lands as one, and returns the bead that takes it all.
fn start(yard: &Yard, convoy: &str) -> String {
    let run = yard.json(&["convoy", "start", convoy, "--together"]);
    run["whole"].as_str().unwrap().to_owned()
}

/// Waits until a bead is as it should be, and returns it.
fn until(yard: &Yard, bead: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        // It may not be there yet.
        let answer = yard.run(&["bead", "show", bead, "--json"]);
        if answer.code == 0 {
            let found = answer.json();
            if is_so(&found) {
                return found;
            }
        }
        assert!(
            started.elapsed() < PATIENCE,
            "{}\n{:#}\n{:#}\n{}",
            answer.stdout,
            yard.json(&["land", "status", "--all"]),
            yard.json(&["agent", "list"]),
            yard.repo.home.log()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The commits that main got since, without those that they bring.
fn line(yard: &Yard, from: &str) -> Vec<String> {
    let range = format!("{from}..main");
    let said = yard.repo.git(&["log", "--first-parent", "--format=%s", &range]);
    said.lines().map(str::to_owned).collect()
}

fn main_of(yard: &Yard) -> String {
    yard.repo.git(&["rev-parse", "main"]).trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_convoy_is_reviewed_once_lands_by_one_commit_and_is_taken_back_by_one() {
    let yard = Yard::open(&format!("{GATE}{PERSON}")).await;
    let base = main_of(&yard);
    let (convoy, beads) = convoy(&yard, "Three of a kind");
    let whole = start(&yard, &convoy);
    let branch = format!("bead/{whole}");
    let shown = until(&yard, &whole, |bead| bead["status"] == "review");
    assert_eq!((&shown["type"], &shown["title"]), (&json!("epic"), &json!("Three of a kind")));
    let acts = yard.json(&["audit", "query", "--action", "bead:create", "--limit", "100"]);
    let made = acts["items"].as_array().unwrap().iter();
    let about = json!(format!("bead/{whole}"));
    assert_eq!(made.filter(|act| act["resource"] == about).count(), 1, "{acts:#}");
    // Nobody was asked for the parts, and nothing of them is in main.
    assert_eq!(main_of(&yard), base);
    for bead in &beads {
        let part = yard.json(&["bead", "show", bead]);
        assert_eq!(part["status"], "done", "{part:#}");
        assert_eq!(part["landed"]["branch"], json!(branch), "{part:#}");
    }
    assert_eq!(yard.at(&branch, "second.txt"), "one\none");
    let review = yard.json(&["review", "show", &whole]);
    assert_eq!((&review["files"], &review["blocked"]), (&json!(3), &json!([])), "{review:#}");
    let run = yard.json(&["convoy", "watch", &convoy, "--once"]);
    assert_eq!((&run["state"], &run["whole"]), (&json!("running"), &json!(whole)), "{run:#}");

    let landed = yard.json(&["land", &whole]);
    assert_eq!(landed["landed"], true, "{landed:#}");
    assert_eq!(line(&yard, &base), [format!("Three of a kind ({whole})")]);
    assert_eq!(yard.in_main("second.txt"), "one\none");
    let commit = main_of(&yard);
    let added = |bead: &Value| bead["landed"]["change"]["added"].as_u64().unwrap();
    let all = added(&yard.json(&["bead", "show", &whole]));
    for bead in beads.iter().chain([&whole]) {
        let part = yard.json(&["bead", "show", bead]);
        let there = (&part["landed"]["branch"], &part["landed"]["target"]);
        assert_eq!(there, (&json!("main"), &json!(commit)), "{part:#}");
        assert!(
            *bead == whole || (1..all).contains(&added(&part)),
            "a part is not the whole: {part:#}"
        );
    }
    assert_eq!(yard.repo.git(&["branch", "--list", &branch]), "", "its branch has done its work");
    until(&yard, &whole, |_| yard.json(&["convoy", "watch", &convoy, "--once"])["state"] == "done");

    yard.run(&["land", "revert", &beads[0]])
        .refused(4, &["landed as a part of", &whole, "godel land revert"]);
    yard.run(&["land", "revert", &whole]).expect(0);
    assert_eq!(line(&yard, &base).len(), 2);
    assert_eq!(yard.repo.git(&["diff", &base, "main"]), "", "all of it is taken back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_that_conflicts_with_main_is_repaired_by_an_agent_and_lands() {
    let settings = format!("{GATE}[landing]\ntogether = true\nhow = \"squash\"\n{AUTO}");
    let yard = Yard::open(&settings).await;
    let done = json!({ "summary": "both are there" });
    let name = format!(
        "Sum [[shell git merge -q main; printf 'both\\n' > third.txt; git add -A; git commit -qm both]] [[then]] \
         [[call done {done}]]"
    );
    let (convoy, beads) = convoy(&yard, &name);
    // Somebody else writes the same file while it is worked on.
    yard.run(&["land", "pause", "--reason", "first something else"]).expect(0);
    std::fs::write(yard.repo.path.join("third.txt"), "a person's\n").unwrap();
    let run = yard.json(&["convoy", "start", &convoy]);
    let whole = run["whole"].as_str().unwrap().to_owned();
    until(&yard, &beads[2], |bead| bead["status"] == "review");
    yard.repo.git(&["add", "-A"]);
    yard.repo.git(&["commit", "-q", "-m", "by hand"]);
    let base = main_of(&yard);
    yard.run(&["land", "resume"]).expect(0);
    let shown = until(&yard, &whole, |bead| bead["status"] == "done");
    assert_eq!(shown["landed"]["branch"], "main", "{shown:#}");
    assert_eq!(line(&yard, &base).len(), 1, "one commit brings all of it");
    assert_eq!(yard.in_main("third.txt"), "both");
    assert_eq!(yard.in_main("second.txt"), "one\none");
    let agents = yard.json(&["agent", "list", "--bead", &whole]);
    let menders = agents["items"].as_array().unwrap().iter();
    assert_eq!(menders.filter(|one| one["role"] == "refinery").count(), 1, "{agents:#}");
    // What a squash leaves out is kept.
    let all = settled(&yard);
    let source = of(&all, &whole)["source"].as_str().unwrap();
    let kept = yard.repo.git(&["for-each-ref", "--contains", source]);
    assert_ne!(kept, "", "nothing has {source}");
    assert_eq!(yard.repo.git(&["status", "--porcelain"]), "");

    // One bead is a whole by itself.
    let alone = yard.repo.create("Alone [[work alone.txt yes]]");
    let made = yard.json(&["convoy", "create", "One", &alone]);
    let run = yard.json(&["convoy", "start", made["id"].as_str().unwrap()]);
    assert_eq!(run["whole"], Value::Null);
    until(&yard, &alone, |bead| bead["status"] == "done");
    assert_eq!(yard.in_main("alone.txt"), "yes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_that_an_agent_sends_back_is_mended_and_lands() {
    let yard = Yard::open(&format!("[project]\nreview = \"agent\"\n{PERSON}")).await;
    let good = format!("good {}", decides("approve: good now"));
    let bad = format!("bad {}", decides(&format!("send back: {}", writes("note.txt", &good))));
    let mut beads = Vec::new();
    for (title, words) in
        [("A note", writes("note.txt", &bad)), ("More [[work more.txt x]]", String::new())]
    {
        let made = yard.json(&["bead", "create", title, "--description", &words]);
        beads.push(made["id"].as_str().unwrap().to_owned());
    }
    let made = yard.json(&["convoy", "create", "Notes", &beads[0], &beads[1]]);
    let whole = start(&yard, made["id"].as_str().unwrap());
    until(&yard, &whole, |bead| bead["status"] == "done");
    assert_eq!((yard.in_main("note.txt"), yard.in_main("more.txt")), (good, "x".to_owned()));
    // What lands as one is judged as one.
    assert_eq!(roles(&yard, &whole), ["reviewer", "worker", "reviewer"]);
    for bead in &beads {
        assert_eq!(roles(&yard, bead), ["worker"]);
        assert_eq!(yard.json(&["bead", "show", bead])["landed"]["branch"], "main");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_convoy_lands_as_one_once_whatever_is_killed() {
    let mut yard = Yard::open(&format!("{GATE}{AUTO}")).await;
    let base = main_of(&yard);
    let (convoy, beads) = convoy(&yard, "Three under fire");
    let whole = start(&yard, &convoy);
    for at in 0..6 {
        std::thread::sleep(Duration::from_millis(150 + 230 * at));
        yard.server.take().unwrap().kill();
        yard.up();
    }
    until(&yard, &whole, |bead| bead["status"] == "done");
    assert_eq!(line(&yard, &base), [format!("Three under fire ({whole})")]);
    let (commit, log) = (main_of(&yard), yard.repo.git(&["log", "--format=%s", "main"]));
    for bead in &beads {
        let own = log.lines().filter(|line| line.ends_with(&format!("({bead})"))).count();
        assert_eq!(own, 1, "{bead} in\n{log}");
        assert_eq!(yard.json(&["bead", "show", bead])["landed"]["target"], json!(commit));
    }
    assert_eq!(yard.in_main("second.txt"), "one\none");
    assert_eq!(yard.repo.git(&["status", "--porcelain"]), "");
}
