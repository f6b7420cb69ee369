//! Beads for other clones, other tools and fresh agents.

use serde_json::json;

use crate::home::answer;
use crate::repo::{Repo, git};

#[test]
fn two_clones_that_changed_the_same_bead_end_equal() {
    let repo = Repo::new();
    let id = repo.create("shared");
    let bare = repo.home.path().join("hub.git");
    let hub = bare.to_str().unwrap();
    git(repo.home.path(), &["init", "-q", "--bare", hub]);
    repo.godel(&["sync"]).refused(2, &["no remote", "git remote add", "no_remote"]);
    repo.git(&["remote", "add", "origin", hub]);
    repo.git(&["push", "-q", "origin", "main"]);
    let said = repo.say(&["sync"]);
    assert!(said.starts_with("Synced with origin: "), "{said}");
    let clone = repo.home.path().join("clone");
    git(repo.home.path(), &["clone", "-q", hub, clone.to_str().unwrap()]);
    git(&clone, &["config", "user.name", "Bob"]);
    git(&clone, &["config", "user.email", "bob@example.com"]);
    let there = |arguments: &[&str]| answer(&mut repo.command_in(&clone, arguments)).expect(0);
    there(&["bead", "update", &id, "--title", "theirs"]);
    there(&["bead", "label", "add", &id, "b"]);
    repo.say(&["bead", "update", &id, "--priority", "high"]);
    repo.say(&["bead", "label", "add", &id, "a"]);
    there(&["sync"]);
    assert_eq!(repo.json(&["sync"])["sent"], true);
    there(&["sync", "origin"]);
    let ours = repo.git(&["rev-parse", "godel/state^{tree}"]);
    assert_eq!(ours, git(&clone, &["rev-parse", "godel/state^{tree}"]));
    let bead = repo.json(&["bead", "show", &id]);
    assert_eq!((&bead["title"], &bead["priority"]), (&json!("theirs"), &json!("high")));
    assert_eq!(bead["labels"], json!(["a", "b"]));
    repo.godel(&["sync", "absent"]).refused(6, &["absent", "git ls-remote", "remote_unreachable"]);
    repo.godel(&["sync", "--", "--upload-pack=x"]).refused(2, &["no remote"]);
}

const ISSUES: &str = concat!(
    r#"{"id":"bd-1","title":"first","status":"open","priority":1,"issue_type":"bug","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z","flavour":"odd"}"#,
    "\n",
    r#"{"id":"bd-2","title":"second","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks","created_at":"2026-01-01T00:00:00Z","created_by":"x"}]}"#,
    "\n",
);

#[test]
fn beads_come_from_bd_and_go_back_to_it() {
    let repo = Repo::new();
    let file = repo.path.join("issues.jsonl");
    std::fs::write(&file, ISSUES).unwrap();
    let said = repo.say(&["import", "beads", "issues.jsonl", "--dry-run"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("+ godel-") && lines[0].ends_with(" first"), "{said}");
    assert_eq!(lines[2..], ["Would import: 2 new, 0 updated, 0 unchanged"]);
    assert_eq!(repo.json(&["bead", "list"])["items"], json!([]));
    assert_eq!(repo.json(&["import", "beads", "issues.jsonl"])["created"], 2);
    let said = repo.fed(ISSUES, &["import", "beads", "-"]).expect(0).stdout;
    assert_eq!(said, "Imported: 0 new, 0 updated, 2 unchanged\n");
    let long = ISSUES.replace("second", &"long ".repeat(100)).replace(r#","flavour":"odd""#, "");
    let said = repo.fed(&long, &["import", "beads", "-", "--dry-run"]).expect(0).stdout;
    assert!(said.contains("\n    flavour: odd -> none\n"), "{said}");
    assert!(said.contains(&format!("\n    title: second -> {}…\n", "long ".repeat(40))), "{said}");
    let ready = repo.json(&["bead", "ready"]);
    assert_eq!(ready["items"].as_array().unwrap().len(), 1);
    let sorted = |text: &str| {
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let mut lines: Vec<serde_json::Value> = lines.collect();
        lines.sort_by_key(|line| line["id"].to_string());
        lines
    };
    assert_eq!(sorted(&repo.say(&["export", "beads"])), sorted(ISSUES));
    let said = repo.say(&["export", "beads", "out.jsonl"]);
    assert_eq!(said, "Exported 2 beads to out.jsonl\n");
    let written = std::fs::read_to_string(repo.path.join("out.jsonl")).unwrap();
    assert_eq!(sorted(&written), sorted(ISSUES));
    assert_eq!(repo.json(&["export", "beads", "out.jsonl"])["beads"], 2);
    repo.godel(&["export", "beads", "no/such/place"]).refused(1, &["could not be written"]);
    repo.fed("{ not JSON", &["import", "beads", "-"]).refused(2, &["hint:"]);
    repo.godel(&["import", "beads", "absent"]).refused(1, &["absent could not be read"]);
}

#[test]
fn a_fresh_agent_is_told_what_it_needs() {
    let repo = Repo::new();
    let id = repo.create("the work at hand");
    repo.say(&["remember", "tests need a moon"]);
    let said = repo.say(&["prime"]);
    assert!(said.contains(&id) && said.contains("tests need a moon"), "{said}");
    repo.say(&["bead", "comment", &id, "look in auth.rs"]);
    let said = repo.say(&["prime", &id]);
    assert!(said.contains("the work at hand") && said.contains("look in auth.rs"), "{said}");
    repo.say(&["bead", "claim", &id, "--agent", "bob"]);
    assert_eq!(repo.json(&["prime", "--by", "bob"])["bead"], json!(id));
    assert_eq!(repo.json(&["prime", "--by", "eve"])["bead"], json!(null));
    repo.godel(&["prime", "nope"]).refused(3, &["bead_not_found"]);
}

#[test]
fn upkeep_starts_by_itself_and_nobody_waits_for_it() {
    let repo = Repo::new();
    let id = repo.create("busy");
    let packs = || {
        let folder = std::fs::read_dir(repo.path.join(".git/objects/pack")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".pack")).count()
    };
    let mut most = 0;
    for n in 0..80 {
        repo.say(&["bead", "comment", &id, &format!("comment {n}")]);
        most = most.max(packs());
    }
    for _ in 0..100 {
        if packs() < 45 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert!(packs() < 81 && most > 30, "{} of at most {most} packs are left", packs());
    assert_eq!(repo.json(&["bead", "show", &id])["comments"].as_array().unwrap().len(), 80);
    let done = repo.json(&["bead", "maintain"]);
    assert!(done["packs"].is_number(), "{done}");
    repo.git(&["fsck", "--strict", "--full"]);
}
