//! `review = "agent"`: one agent judges what another has done. What the reviewer says is written in the very
//! change that it is shown, so that it depends on the work and on nothing else.

use std::time::Instant;

use serde_json::{Value, json};

use crate::fleet::{PATIENCE, PERSON, Yard};

/// Says what an agent does that writes something into a file and commits it.
pub(crate) fn writes(path: &str, content: &str) -> String {
    let (write, done) = (json!({ "path": path, "content": content }), json!({ "summary": "made" }));
    let commit = format!("git add -A && git commit -qm 'Write {path}'");
    format!("[[call write {write}]] [[then]] [[shell {commit}]] [[then]] [[call done {done}]]")
}

/// Says what a reviewer decides.
pub(crate) fn decides(words: &str) -> String {
    format!("[[call done {}]]", json!({ "summary": words }))
}

async fn yard() -> Yard {
    Yard::open(&format!("[project]\nreview = \"agent\"\n{PERSON}")).await
}

fn bead(yard: &Yard, id: &str) -> Value {
    yard.json(&["bead", "show", id])
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

/// Lists the agents of a bead by their roles, the oldest first.
pub(crate) fn roles(yard: &Yard, id: &str) -> Vec<String> {
    let list = yard.json(&["agent", "list", "--bead", id]);
    let all = list["items"].as_array().unwrap().iter().rev();
    all.map(|agent| agent["role"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reviewer_approves_lands_by_itself() {
    let yard = yard().await;
    let id = yard.repo.create("A note");
    let note = decides("approve: it says what it should");
    yard.run(&["agent", "spawn", "--bead", &id, &writes("note.txt", &note)]).expect(0);
    until(&yard, &["bead", "show", &id], |bead| bead["status"] == "done");
    assert_eq!(yard.in_main("note.txt"), note);
    assert_eq!(yard.repo.git(&["rev-list", "--merges", "--count", "main"]).trim(), "1");
    assert_eq!(roles(&yard, &id), ["worker", "reviewer"]);
    let list = yard.json(&["agent", "list", "--bead", &id, "--role", "reviewer"]);
    let judge = &list["items"][0];
    assert_eq!(judge["sandbox"], "read-only", "{judge:#}");
    assert_eq!(
        (&judge["lifecycleState"], &judge["note"]),
        (&"completed".into(), &"it approves the work".into())
    );
    let tree = std::path::PathBuf::from(judge["worktree"].as_str().unwrap());
    let gone = Instant::now();
    while tree.exists() {
        assert!(gone.elapsed() < PATIENCE, "its worktree stays: {}", yard.repo.home.log());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reviewer_sends_back_is_mended_by_the_next_agent_and_lands() {
    let yard = yard().await;
    let id = yard.repo.create("A note");
    let good = format!("good {}", decides("approve: good now"));
    let bad = format!("bad {}", decides(&format!("send back: {}", writes("note.txt", &good))));
    yard.run(&["agent", "spawn", "--bead", &id, &writes("note.txt", &bad)]).expect(0);
    let bead = until(&yard, &["bead", "show", &id], |bead| bead["status"] == "done");
    assert_eq!(yard.in_main("note.txt"), good);
    assert_eq!(roles(&yard, &id), ["worker", "reviewer", "worker", "reviewer"]);
    let said = bead["comments"].to_string();
    assert_eq!(said.matches("send back: ").count(), 1, "{said}");
    assert_eq!(yard.repo.git(&["rev-list", "--merges", "--count", "main"]).trim(), "1");
    assert_eq!(yard.json(&["inbox"])["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_three_rounds_a_person_decides() {
    let yard = yard().await;
    let id = yard.repo.create("A note");
    let third = writes("note.txt", &decides("send back: third"));
    let second = writes("note.txt", &decides(&format!("send back: second {third}")));
    let first = writes("note.txt", &decides(&format!("send back: first {second}")));
    yard.run(&["agent", "spawn", "--bead", &id, &first]).expect(0);
    let inbox = until(&yard, &["inbox"], |inbox| !inbox["items"].as_array().unwrap().is_empty());
    let notice = &inbox["items"][0];
    let about = (&notice["kind"], &notice["bead"]);
    let log = yard.run(&["agent", "logs", "worker-1"]).stdout;
    assert_eq!(about, (&"review".into(), &id.clone().into()), "{inbox:#}\n{log}");
    assert!(notice["text"].as_str().unwrap().contains("sent back 3 times"), "{notice:#}");
    assert_eq!(bead(&yard, &id)["status"], "review");
    assert_eq!(roles(&yard, &id).len(), 6);
    assert!(!yard.repo.path.join("note.txt").exists(), "nothing has landed");
    // A person may think otherwise.
    assert_eq!(yard.json(&["land", &id])["landed"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_convoy_is_reviewed_and_lands_once_although_its_server_is_killed() {
    let mut yard = yard().await;
    let content = json!(decides("approve: fine")).to_string();
    let maker = format!(
        "name: maker\ndescription: makes\nprompt: |\n  {{title}} {{task}} [[call write \
         {{\"path\":\"{{bead}}.txt\",\"content\":{content}}}]] [[then]] [[shell git add -A && git \
         commit -qm made]] [[then]] [[call done {{\"summary\":\"made\"}}]]\n"
    );
    let folder = yard.repo.path.join(".godel/roles");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("maker.yaml"), maker).unwrap();
    let beads = [yard.repo.create("One"), yard.repo.create("Two")];
    let made = yard.json(&["convoy", "create", "Sprint", &beads[0], &beads[1]]);
    let convoy = made["id"].as_str().unwrap().to_owned();
    yard.run(&["convoy", "start", &convoy, "--agents", "2", "--role", "maker"]).expect(0);
    until(&yard, &["agent", "list", "--role", "reviewer"], |list| {
        !list["items"].as_array().unwrap().is_empty()
    });
    yard.server.take().unwrap().kill();
    yard.up();
    until(&yard, &["convoy", "status", &convoy], |convoy| convoy["status"] == "completed");
    for id in &beads {
        assert_eq!(yard.in_main(&format!("{id}.txt")), decides("approve: fine"));
        assert_eq!(roles(&yard, id), ["maker", "reviewer"]);
    }
    assert_eq!(yard.repo.git(&["rev-list", "--merges", "--count", "main"]).trim(), "2");
}
