//! `godel review`: a person decides hunk by hunk what of an agent's work may land.

use std::time::Instant;

use serde_json::{Value, json};

use crate::fleet::{PATIENCE, PERSON, Yard};

/// Says what an agent does that replaces lines of the long file and commits.
fn replaces(script: &str) -> String {
    let done = json!({ "summary": "made" });
    format!(
        "[[shell sed -i '{script}' long.txt && git add -A && git commit -qm work]] [[then]] [[call done \
         {done}]]"
    )
}

/// The long file, with some of its lines replaced.
fn long(other: &[(usize, &str)]) -> String {
    let line = |at: usize| {
        let found = other.iter().find(|(which, _)| *which == at);
        found.map_or_else(|| format!("line {at}"), |(_, text)| (*text).to_owned())
    };
    (1..=60).map(line).collect::<Vec<_>>().join("\n")
}

/// A server, and a bead whose work changes a file in three places and waits for a person.
async fn in_review() -> (Yard, String) {
    let yard = Yard::open(PERSON).await;
    std::fs::write(yard.repo.path.join("long.txt"), long(&[]) + "\n").unwrap();
    yard.repo.git(&["add", "-A"]);
    yard.repo.git(&["commit", "-q", "-m", "a long file"]);
    let id = yard.repo.create("Write numbers");
    let script = "s/^line 15$/fifteen/; s/^line 30$/thirty/; s/^line 55$/fifty-five/";
    yard.run(&["agent", "spawn", "--bead", &id, &replaces(script)]).expect(0);
    until(&yard, &["bead", "show", &id], |bead| bead["status"] == "review");
    (yard, id)
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

fn bounds(review: &Value) -> Vec<(&str, &str)> {
    let decisions = review["decisions"].as_array().unwrap().iter();
    let words = decisions.map(|one| (one["verdict"].as_str(), one["bound"].as_str()));
    words.map(|(verdict, bound)| (verdict.unwrap(), bound.unwrap())).collect()
}

/// Comments on a line, accepts two hunks and rejects one.
fn look_at_it(yard: &Yard, id: &str) {
    let list = yard.json(&["review", "list", "--limit", "1"]);
    assert_eq!(list["hasMore"], false);
    let row = &list["items"][0];
    assert_eq!((&row["bead"], &row["files"]), (&json!(id), &json!(1)), "{list:#}");
    assert_eq!((&row["added"], &row["removed"]), (&json!(3), &json!(3)));
    // What is said about it does not send it to the end of the queue.
    yard.run(&["bead", "update", id, "--priority", "high"]).expect(0);
    let again = yard.json(&["review", "list"]);
    assert_eq!(
        (&again["items"][0]["waitingSince"], row["waitingSince"].is_string()),
        (&row["waitingSince"], true)
    );
    let diff = yard.json(&["review", "diff", id]);
    let hunks = diff["files"][0]["hunks"].as_array().unwrap();
    assert_eq!(hunks.iter().map(|hunk| &hunk["number"]).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(hunks[1]["lines"][3]["text"], "line 30");
    yard.run(&["review", "comment", id, "Say it in digits", "--on", "long.txt:30"]).expect(0);
    yard.run(&["review", "accept", id, "long.txt:1", "long.txt:3"]).expect(0);
    let review = yard.json(&["review", "reject", id, "long.txt:2"]);
    assert_eq!(review["tally"], json!({ "accepted": 2, "rejected": 1, "undecided": 0 }));
    let shown = yard.run(&["review", "diff", id]).expect(0).stdout;
    for part in ["[long.txt:2 rejected]", "Say it in digits", "   2 +thirty", "   1 -line 30"] {
        assert!(shown.contains(part), "no {part:?} in:\n{shown}");
    }
    yard.run(&["review", "approve", id]).refused(4, &["1 hunk is rejected", "request changes"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_and_a_rejected_hunk_go_back_as_one_message_and_decisions_stay() {
    let (mut yard, id) = in_review().await;
    look_at_it(&yard, &id);
    yard.server.take().unwrap().kill();
    yard.up();
    let review = yard.json(&["review", "show", &id]);
    assert_eq!(
        bounds(&review),
        [("accepted", "bound"), ("accepted", "bound"), ("rejected", "bound")]
    );
    assert_eq!(review["comments"][0]["text"], "Say it in digits");
    // The next agent does what it is told: the first two places move, the second becomes another.
    let script = "s/^thirty$/the number 30/; 1i on top";
    let sent = yard.json(&["review", "request-changes", &id, &replaces(script)]);
    let message = sent["message"].as_str().unwrap();
    for part in
        ["long.txt:30, at `thirty`: Say it in digits", "- long.txt:27\n    -line 30\n    +thirty"]
    {
        assert!(message.contains(part), "no {part:?} in:\n{message}");
    }
    let next = sent["agent"].as_str().expect("an agent goes on");
    yard.until(next, "completed");
    let bead = until(&yard, &["bead", "show", &id], |bead| bead["status"] == "review");
    let told = bead["comments"].as_array().unwrap().iter();
    let told: Vec<_> = told.filter(|one| one["text"] == *message).collect();
    assert_eq!(told.len(), 1, "all of it is one message: {bead:#}");
    let review = yard.json(&["review", "show", &id]);
    assert_eq!(
        bounds(&review),
        [("accepted", "bound"), ("accepted", "bound"), ("rejected", "changed")]
    );
    assert_eq!(review["tally"], json!({ "accepted": 2, "rejected": 0, "undecided": 2 }));
    let comment = &review["comments"][0];
    assert_eq!((&comment["sent"], &comment["line"]), (&json!(1), &Value::Null));
    assert_eq!((&review["rounds"], &review["blocked"]), (&json!(1), &json!([])));
    // Whoever looked at another commit, or does not say enough of it, approves nothing.
    let seen = review["commit"].as_str().unwrap()[..10].to_owned();
    for other in ["0123456789", &seen[..6], ""] {
        let approve = ["review", "approve", &id, "--commit", other];
        yard.run(&approve).refused(4, &["has another commit since you looked"]);
    }
    let done = yard.json(&["review", "approve", &id, "--note", "good", "--commit", &seen]);
    assert_eq!(done["landing"]["landed"], true, "{done:#}");
    let wanted = [(15, "fifteen"), (30, "the number 30"), (55, "fifty-five")];
    assert_eq!(yard.in_main("long.txt"), format!("on top\n{}", long(&wanted)));
    assert_eq!(yard.json(&["bead", "show", &id])["status"], "done");
    assert_eq!(yard.json(&["review", "list"])["items"], json!([]));
    for kind in ["comment", "decided", "changes-requested", "approved"] {
        let events = yard.json(&["events", "list", "--type", &format!("review:{kind}")]);
        assert!(!events["items"].as_array().unwrap().is_empty(), "review:{kind}");
    }
}

/// Lines outside of hunks can be read, and what was applied can be taken back.
fn taken_back(yard: &Yard, id: &str) {
    let lines = yard.run(&["review", "lines", id, "long.txt", "--from", "40", "--to", "41"]);
    assert_eq!(lines.expect(0).stdout, "    40  line 40\n    41  line 41\n");
    let old = yard.json(&["review", "lines", id, "long.txt", "--from", "30", "--old"]);
    assert_eq!((&old["lines"][0]["text"], &old["total"]), (&json!("line 30"), &json!(60)));
    yard.run(&["review", "lines", id, "README.md"]).refused(4, &["is not changed by"]);
    yard.run(&["review", "unapply", id]).refused(4, &["none that applied decisions"]);
    let applied = yard.json(&["review", "apply", id]);
    assert_eq!(yard.json(&["review", "show", id])["applied"]["commit"], applied["commit"]);
    yard.run(&["review", "conflicts", id]).expect(0);
    let undone = yard.json(&["review", "unapply", id]);
    let work = long(&[(15, "fifteen"), (30, "thirty"), (55, "fifty-five")]);
    assert_eq!(yard.at(undone["commit"].as_str().unwrap(), "long.txt"), work);
    assert_eq!(bounds(&yard.json(&["review", "show", id])).last(), Some(&("edited", "bound")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_is_a_commit_of_the_person_and_the_same_as_a_patch() {
    let (yard, id) = in_review().await;
    let base = yard.repo.git(&["rev-parse", "main"]).trim().to_owned();
    yard.run(&["review", "apply", &id]).refused(4, &["3 parts", "--undecided keep"]);
    yard.run(&["review", "accept", &id, "--all"]).expect(0);
    yard.run(&["review", "reject", &id, "--all"]).expect(0);
    yard.run(&["review", "undo", &id]).expect(0);
    yard.run(&["review", "reject", &id, "long.txt:2"]).expect(0);
    yard.run(&["review", "reject", &id, "long.txt:2:1-9"]).refused(2, &["1 to 2"]);
    yard.repo.fed("55, by hand\nand more\n", &["review", "edit", &id, "long.txt:3", "-"]).expect(0);
    let patch = yard.run(&["review", "export", &id]).expect(0).stdout;
    taken_back(&yard, &id);
    let done = yard.json(&["review", "apply", &id]);
    let (commit, tree) = (done["commit"].as_str().unwrap(), done["tree"].as_str().unwrap());
    let branch = format!("bead/{id}");
    assert_eq!(yard.repo.git(&["rev-parse", &branch]).trim(), commit);
    assert_eq!(yard.repo.git(&["rev-parse", &format!("{commit}^{{tree}}")]).trim(), tree);
    assert_eq!(yard.repo.git(&["show", "-s", "--format=%an", commit]).trim(), "owner");
    let wanted = long(&[(15, "fifteen"), (55, "55, by hand\nand more")]);
    assert_eq!(yard.at(&branch, "long.txt"), wanted);
    // Applied by git to where the work began, the patch gives the same files.
    let place = yard.repo.home.path().join("elsewhere");
    yard.repo.git(&["worktree", "add", "-q", "--detach", place.to_str().unwrap(), &base]);
    std::fs::write(place.join("../the.patch"), patch).unwrap();
    crate::repo::git(&place, &["apply", "--index", "../the.patch"]);
    assert_eq!(crate::repo::git(&place, &["write-tree"]).trim(), tree);
    yard.repo.git(&["worktree", "remove", "--force", place.to_str().unwrap()]);
    let review = yard.json(&["review", "show", &id]);
    assert_eq!((&review["commit"], &review["blocked"]), (&json!(commit), &json!([])));
    let approved = yard.json(&["review", "approve", &id, "--no-land"]);
    assert_eq!(
        (&approved["approval"]["commit"], &approved["landing"]),
        (&json!(commit), &Value::Null)
    );
    assert_eq!(yard.json(&["review", "show", &id])["approval"]["by"], "user:owner");
    assert_eq!(yard.json(&["land", &id])["landed"], true);
    assert_eq!(yard.in_main("long.txt"), wanted);
}
