//! Worktrees of beads: found by the beginning of an id, and known to the bead.

use serde_json::json;

use crate::repo::Repo;

#[test]
fn a_bead_knows_its_worktree_until_it_is_removed() {
    let repo = Repo::new();
    let id = repo.create("work");
    let made = repo.json(&["worktree", "create", &id[6..]]);
    assert_eq!(made["id"], json!(id));
    let shown = repo.json(&["bead", "show", &id]);
    assert_eq!(shown["worktree"], json!(format!(".godel/worktrees/{id}")));
    assert_eq!(shown["git"]["head"].as_str().map(str::len), Some(40));
    let tree = repo.path.join(format!(".godel/worktrees/{id}"));
    std::fs::write(tree.join("new.txt"), "not committed").unwrap();
    repo.git(&["-C", tree.to_str().unwrap(), "commit", "-q", "--allow-empty", "-m", "work"]);
    repo.godel(&["bead", "status", &id, "review"]).refused(4, &["changes that are not committed"]);
    repo.git(&["-C", tree.to_str().unwrap(), "add", "--all"]);
    repo.git(&["-C", tree.to_str().unwrap(), "commit", "-q", "-m", "the rest"]);
    repo.say(&["bead", "status", &id, "review"]);
    repo.json(&["worktree", "remove", &id[6..]]);
    assert_eq!(repo.json(&["bead", "show", &id])["worktree"], json!(null));
    repo.create("another");
    repo.godel(&["worktree", "info", "godel-"]).refused(2, &["bead_ambiguous"]);
    repo.json(&["worktree", "create", "no-bead"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}
