//! The whole journey on both engines: a sentence, a plan, agents, a review, the merge queue, with `kill -9` at each turn.

use std::time::Instant;

use godel_store::DatabaseUrl;
use godel_testkit::{Database, postgres_url};
use serde_json::{Value, json};

use crate::fleet::{PATIENCE, Yard, path};

const SETTINGS: &str = "[gates]\nno-todo = \"! grep -r FORBIDDEN . --include=*.txt\"\n\
                        [project]\nreview = \"person\"\n[agents]\nmodel = \"claude-opus-4-8\"\n";

/// A plan of three beads: two side by side, and one after both.
fn plan() -> String {
    let bead = |key: &str, needs: &[&str], work: &str| {
        json!({ "key": key, "title": format!("Write {key}"), "description": work, "type": "task",
            "needs": needs, "role": "worker", "size": "small" })
    };
    let beads = [
        bead("one", &[], "[[work one.txt the first]]"),
        bead("two", &[], "[[work two.txt the second]]"),
        bead("last", &["one", "two"], "[[work last.txt after both]]"),
    ];
    json!({ "title": "Three files", "beads": beads }).to_string()
}

fn until(yard: &Yard, what: &[&str], is_so: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let found = yard.json(what);
        if is_so(&found) {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{found:#}\n{}", yard.repo.home.log());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

fn killed(yard: &mut Yard) {
    yard.server.take().unwrap().kill();
    yard.up();
}

async fn goes_from_a_sentence_to_a_merged_change(database: Option<&str>) {
    let path = path();
    let mut variables = vec![("PATH", path.to_str().unwrap())];
    variables.extend(database.map(|url| ("GODEL_DATABASE_URL", url)));
    let say = |base: &str| format!("[providers.anthropic]\nanthropic = \"{base}\"\n");
    let mut yard = Yard::staged(SETTINGS, &variables, (&["anthropic"], say)).await;

    // A sentence becomes a plan with a price, and nothing runs before the yes.
    let wish = format!("Write three files [[json {}]]", plan());
    let intent = yard.json(&["do", &wish, "--plan-only", "--budget", "5", "--agents", "2"]);
    assert_eq!(intent["plan"]["waves"], json!([["one", "two"], ["last"]]), "{intent:#}");
    assert_eq!(yard.json(&["agent", "list"])["items"], json!([]));
    killed(&mut yard);
    let started = yard.json(&["do", "--start", intent["id"].as_str().unwrap()]);
    let convoy = started["convoy"].as_str().unwrap().to_owned();
    let beads = &started["plan"]["beads"];
    let named = |key: &str| {
        let found = beads.as_array().unwrap().iter().find(|bead| bead["key"] == key);
        found
            .and_then(|bead| bead["bead"].as_str())
            .unwrap_or_else(|| panic!("{beads:#}"))
            .to_owned()
    };
    let [one, two, last] = ["one", "two", "last"].map(named);

    // Agents work although their server dies, and stop at the review.
    killed(&mut yard);
    for id in [&one, &two] {
        until(&yard, &["bead", "show", id], |bead| bead["status"] == "review");
    }
    assert_eq!(yard.json(&["bead", "show", &last])["status"], "open", "it waits for both");
    assert!(!yard.repo.path.join("one.txt").exists(), "nothing lands by itself");

    // A comment on a line goes back to an agent; what it answers is approved.
    let words = "Make it better [[work one.txt the first, better]]";
    yard.run(&["review", "comment", &one, words, "--on", "one.txt:1"]).expect(0);
    killed(&mut yard);
    yard.run(&["review", "request-changes", &one]).expect(0);
    // The convoy starts somebody who goes on.
    let better = |bead: &Value| {
        bead["status"] == "review" && yard.at(&format!("bead/{one}"), "one.txt").ends_with("better")
    };
    until(&yard, &["bead", "show", &one], better);
    let done = yard.json(&["review", "approve", &one]);
    assert_eq!(done["landing"]["landed"], true, "{done:#}");

    // Killed with work in the line, it lands once.
    yard.run(&["land", "pause"]).expect(0);
    yard.run(&["land", "add", &two]).expect(0);
    killed(&mut yard);
    yard.run(&["land", "resume"]).expect(0);
    until(&yard, &["bead", "show", &two], |bead| bead["status"] == "done");
    until(&yard, &["bead", "show", &last], |bead| bead["status"] == "review");
    assert_eq!(yard.json(&["review", "approve", &last])["landing"]["landed"], true);

    for (file, text) in
        [("one.txt", "the first, better"), ("two.txt", "the second"), ("last.txt", "after both")]
    {
        assert_eq!(yard.in_main(file), text);
    }
    for id in [&one, &two, &last] {
        let bead = yard.json(&["bead", "show", id]);
        let passed = json!([{ "gate": "no-todo", "passed": true }]);
        assert_eq!((&bead["status"], &bead["landed"]["gates"]), (&json!("done"), &passed));
        let target = bead["landed"]["target"].as_str().unwrap();
        yard.repo.git(&["merge-base", "--is-ancestor", target, "main"]);
        let merges = yard.repo.git(&["log", "--first-parent", "--format=%B", "main"]);
        assert_eq!(merges.matches(&format!("Bead: {id}")).count(), 1, "{merges}");
    }
    let run =
        until(&yard, &["convoy", "watch", &convoy, "--once"], |run| run["state"] != "running");
    assert_eq!(run["state"], "done", "{run:#}");
    // Every cent of it is that of the convoy.
    let all = yard.json(&["usage"])["total"]["costMicros"].clone();
    assert_eq!(yard.json(&["usage", "--convoy", &convoy])["total"]["costMicros"], all);
    assert!(all.as_i64().unwrap() > 0);
    yard.run(&["audit", "verify"]).expect(0);
    assert_eq!(yard.repo.git(&["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sentence_becomes_a_merged_change_on_sqlite_whatever_is_killed() {
    goes_from_a_sentence_to_a_merged_change(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sentence_becomes_a_merged_change_on_postgres_whatever_is_killed() {
    let Some(server) = postgres_url() else {
        eprintln!("skipped on PostgreSQL: no server (run `cargo xtask test`)");
        return;
    };
    let database = tokio::task::spawn_blocking(|| Database::postgres(server)).await.unwrap();
    let DatabaseUrl::Postgres(url) = database.url() else { panic!("another engine") };
    goes_from_a_sentence_to_a_merged_change(Some(&url)).await;
}
