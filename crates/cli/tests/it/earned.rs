//! From a bead over its work tree to a commit in the main branch: each status is earned.

use crate::repo::{Repo, git};

#[test]
fn the_work_of_a_bead_goes_from_its_work_tree_to_done() {
    let repo = Repo::new();
    let bead = repo.json(&["bead", "create", "Add a greeting", "--type", "feature"]);
    let id = bead["id"].as_str().unwrap();
    let short = &id[..id.len() - 1];
    repo.godel(&["bead", "status", id, "review"]).refused(4, &["no branch", "status_not_earned"]);
    repo.say(&["worktree", "create", short]);
    let tree = repo.path.join(".godel/worktrees").join(id);
    let shown = repo.json(&["bead", "show", id]);
    assert_eq!(shown["worktree"], format!(".godel/worktrees/{id}"), "{shown}");
    repo.say(&["bead", "assign", id, "--agent", "ann", "--start"]);
    std::fs::write(tree.join("greeting.txt"), "hello\n").unwrap();
    let lacks = ["not committed", "no commit that main lacks"];
    repo.godel(&["bead", "status", id, "review"]).refused(4, &lacks);
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "Greet"]);
    let head = git(&tree, &["rev-parse", "HEAD"]).trim().to_owned();
    repo.say(&["bead", "verdict", id, "--gate", "tests", "--failed", "--commit", &head]);
    repo.godel(&["bead", "status", id, "review"]).refused(4, &["gate tests failed"]);
    repo.say(&["bead", "verdict", id, "--gate", "tests", "--passed", "--commit", &head]);
    repo.say(&["bead", "status", id, "review"]);
    repo.godel(&["bead", "status", id, "done"]).refused(4, &["is not in main"]);
    // A squash loses the commits of the branch; a record says where the work is.
    repo.git(&["merge", "-q", "--squash", &format!("bead/{id}")]);
    repo.git(&["commit", "-q", "-m", &format!("Greet\n\nBead: {id}")]);
    let landed = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.say(&["bead", "landed", id, "--commit", &landed]);
    repo.say(&["bead", "status", id, "done"]);
    let shown = repo.json(&["bead", "show", id]);
    assert_eq!(shown["status"], "done");
    let text = repo.say(&["bead", "show", id]);
    assert!(text.contains(&landed[..10]) && text.contains(&head[..10]), "{text}");
    repo.say(&["worktree", "remove", id]);
    let shown = repo.json(&["bead", "show", id]);
    assert!(shown["worktree"].is_null(), "{shown}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}
