//! Convoys and memories on the command line.

use serde_json::json;

use crate::repo::{Repo, ids};

#[test]
fn a_convoy_shows_waves_progress_and_why_it_stalls() {
    let repo = Repo::new();
    let (a, b, c) = (repo.create("first"), repo.create("second"), repo.create("third"));
    repo.say(&["bead", "dep", "add", &b, &a]);
    let made =
        repo.say(&["convoy", "create", "Sprint 1", &a, &b[6..], "--description", "Auth work"]);
    let id = made.strip_prefix("Created convoy ").unwrap().trim_end();
    assert!(id.starts_with("convoy-20") && id.len() == "convoy-20261115-k3d".len(), "{made:?}");
    let said = repo.say(&["convoy", "add", id, &c]);
    assert_eq!(said, format!("{id}: 1 added; it has 3 beads and is active\n"));
    let status = repo.say(&["convoy", "status", id]);
    for part in ["Sprint 1", "0/3 done (0%)", "Auth work", "WAVE", "first", "open, blocked"] {
        assert!(status.contains(part), "no {part:?} in {status}");
    }
    let status = repo.json(&["convoy", "status", &id["convoy-".len()..]]);
    assert_eq!(status["progress"]["total"], 3);
    assert_eq!(ids(&status["waves"][1]), [&b]);
    let waves = repo.say(&["convoy", "waves", id]);
    assert!(waves.contains("Wave 1\n") && waves.contains("Wave 2\n"), "{waves}");
    assert_eq!(repo.json(&["convoy", "waves", id])["waves"].as_array().unwrap().len(), 2);
    repo.say(&["bead", "close", &a, "--reason", "done"]);
    assert!(repo.say(&["convoy", "status", id]).contains("1/3 done (33%)"));
    assert_eq!(repo.json(&["convoy", "remove", id, &c])["beads"].as_array().unwrap().len(), 2);
    repo.say(&["bead", "defer", &b, "--until", "2099-01-01"]);
    assert!(repo.say(&["convoy", "status", id]).contains("stalled"));
    assert_eq!(ids(&repo.json(&["bead", "list", "--convoy", id])["items"]), [&b]);
    assert_eq!(repo.json(&["bead", "show", &b])["convoys"], json!([id]));
    repo.say(&["bead", "close", &b, "--reason", "done"]);
    assert_eq!(repo.json(&["convoy", "status", id])["status"], "completed");
}

#[test]
fn a_convoy_is_renamed_archived_and_deleted() {
    let repo = Repo::new();
    let made = repo.json(&["convoy", "create", "Sprint 1"]);
    let id = made["id"].as_str().unwrap();
    assert_eq!(repo.json(&["convoy", "update", id, "--name", "Sprint 2"])["name"], "Sprint 2");
    assert!(repo.say(&["convoy", "list"]).contains("Sprint 2"));
    let said = repo.say(&["convoy", "archive", id]);
    assert_eq!(said, format!("{id}: archived; it has 0 beads and is archived\n"));
    assert_eq!(repo.json(&["convoy", "list"])["items"], json!([]));
    assert_eq!(repo.json(&["convoy", "list", "--all"])["items"].as_array().unwrap().len(), 1);
    assert_eq!(repo.json(&["convoy", "archive", id, "--undo"])["status"], "active");
    repo.godel(&["convoy", "delete", id]).refused(2, &["--yes"]);
    assert_eq!(repo.json(&["convoy", "delete", id, "--yes"]), json!({ "deleted": id }));
    repo.godel(&["convoy", "status", id]).refused(3, &["convoy_not_found", "godel convoy list"]);
    repo.godel(&["convoy", "create", ""]).refused(2, &["must not be empty"]);
    repo.godel(&["convoy", "create", "x", "nope"]).refused(3, &["bead_not_found"]);
    repo.godel(&["convoy", "add", "../..", "nope"]).refused(3, &["convoy_not_found"]);
}

#[test]
fn memories_are_kept_found_and_forgotten() {
    let repo = Repo::new();
    let said = repo.say(&["remember", "make -j4 all", "--name", "build-command"]);
    assert_eq!(said, "Remembered build-command\n");
    let known = repo.fed("two\nlines", &["remember", "-", "--json"]).expect(0).json();
    assert_eq!(known["text"], "two\nlines");
    let all = repo.say(&["memories"]);
    assert!(all.contains("build-command  Ann ") && all.contains("\n  lines\n"), "{all}");
    let found = repo.json(&["memories", "MAKE"]);
    assert_eq!(ids(&found["items"]), ["build-command"]);
    assert_eq!(repo.say(&["forget", "build-command"]), "Forgot build-command\n");
    repo.godel(&["forget", "build-command"]).refused(3, &["memory_not_found"]);
    // To change one's mind is to say the same again.
    repo.say(&["remember", "make -j4 all", "--name", "build-command"]);
    assert_eq!(ids(&repo.json(&["memories", "MAKE"])["items"]), ["build-command"]);
    repo.godel(&["forget", "../x"]).refused(2, &["a-z, 0-9"]);
    repo.godel(&["remember", ""]).refused(2, &["must not be empty"]);
}
