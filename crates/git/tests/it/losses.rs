//! Each way in which work could be lost, and is not.

use godel_git::{Create, Fate, Remove, State};
use godel_model::{Report as _, code};

use crate::world::{World, attempt, git, name, read, write};

#[test]
fn uncommitted_changes_are_rescued_and_the_index_is_not_used_for_it() {
    let world = World::new();
    write(&world.repo().join("a.txt"), "the user's own change\n");
    git(&world.repo(), &["add", "a.txt"]);
    let (_, tree) = world.create("x");
    write(&tree.join("a.txt"), "changed\n");
    std::fs::remove_file(tree.join("dir/b.txt")).unwrap();
    write(&tree.join("deep/new file.txt"), "untracked\n");
    let removed = world.remove("x").unwrap();
    let rescue = &removed.rescued[0];
    assert_eq!(world.show(&rescue.reference, "a.txt"), "changed");
    assert_eq!(world.show(&rescue.reference, "deep/new file.txt"), "untracked");
    assert!(
        git(&world.repo(), &["ls-tree", "-r", "--name-only", &rescue.commit]).lines().count() == 3
    );
    assert_eq!(rescue.reference, "refs/godel/rescue/x/20261115T080000Z");
    assert_eq!(git(&world.repo(), &["status", "--porcelain"]), "M  a.txt");
    world.is_gone("x");
    // The command that the user is told works.
    let words: Vec<&str> = rescue.restore.split(' ').skip(1).collect();
    git(&world.repo(), &words);
    assert_eq!(world.show("rescued/x", "a.txt"), "changed");
    assert_eq!(world.bench().rescues(None).unwrap().as_slice(), std::slice::from_ref(rescue));
}

#[test]
fn a_file_that_became_a_directory_a_link_and_a_mode_are_rescued() {
    let world = World::new();
    let (_, tree) = world.create("x");
    std::fs::remove_file(tree.join("a.txt")).unwrap();
    write(&tree.join("a.txt/inside.txt"), "inside\n");
    std::fs::remove_dir_all(tree.join("dir")).unwrap();
    std::os::unix::fs::symlink("/etc", tree.join("dir")).unwrap();
    write(&tree.join("run.sh"), "#!/bin/sh\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(tree.join("run.sh"), mode).unwrap();
    write(&tree.join("-dash\n name"), "odd\n");
    let commit = world.remove("x").unwrap().rescued[0].commit.clone();
    assert_eq!(world.show(&commit, "a.txt/inside.txt"), "inside");
    assert_eq!(world.show(&commit, "dir"), "/etc");
    assert_eq!(world.show(&commit, "-dash\n name"), "odd");
    let listed = git(&world.repo(), &["ls-tree", &commit]);
    assert!(listed.contains("120000 blob") && listed.contains("100755 blob"), "{listed}");
}

#[test]
fn a_clean_worktree_leaves_no_rescue_and_no_empty_branch() {
    let world = World::new();
    world.create("x");
    let removed = world.remove("x").unwrap();
    assert!(removed.rescued.is_empty() && removed.branch_deleted);
    assert_eq!(git(&world.repo(), &["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    world.is_gone("x");
}

#[test]
fn what_is_staged_only_is_rescued_beside_what_lies_there() {
    let world = World::new();
    let (_, tree) = world.create("x");
    write(&tree.join("a.txt"), "staged\n");
    git(&tree, &["add", "a.txt"]);
    write(&tree.join("a.txt"), "later\n");
    write(&tree.join("gone.txt"), "staged and deleted\n");
    git(&tree, &["add", "gone.txt"]);
    std::fs::remove_file(tree.join("gone.txt")).unwrap();
    let removed = world.remove("x").unwrap();
    let commit = &removed.rescued[0].commit;
    assert_eq!(world.show(commit, "a.txt"), "later");
    assert_eq!(world.show(&format!("{commit}^2"), "a.txt"), "staged");
    assert_eq!(world.show(&format!("{commit}^2"), "gone.txt"), "staged and deleted");
    assert_eq!(
        git(&world.repo(), &["rev-parse", &format!("{commit}^1")]),
        git(&world.repo(), &["rev-parse", "main"])
    );
}

#[test]
fn changes_that_git_was_told_not_to_see_are_rescued() {
    let world = World::new();
    let (_, tree) = world.create("x");
    git(&tree, &["update-index", "--assume-unchanged", "a.txt"]);
    git(&tree, &["update-index", "--skip-worktree", "dir/b.txt"]);
    write(&tree.join("a.txt"), "assumed\n");
    write(&tree.join("dir/b.txt"), "skipped\n");
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    let commit = world.remove("x").unwrap().rescued[0].commit.clone();
    assert_eq!(world.show(&commit, "a.txt"), "assumed");
    assert_eq!(world.show(&commit, "dir/b.txt"), "skipped");
}

#[test]
fn ignored_files_that_are_wanted_are_rescued_and_others_are_measured() {
    let world = World::new();
    write(
        &world.repo().join(".godel/config.toml"),
        "[worktree]\nrescue = ['notes/*.log', 'keep']\n",
    );
    let (_, tree) = world.create("x");
    write(&tree.join("notes/wanted.log"), "wanted\n");
    write(&tree.join("build.log"), &"x".repeat(1_000));
    write(&tree.join("node_modules/m/index.js"), &"y".repeat(2_000));
    let removed = world.remove("x").unwrap();
    let commit = &removed.rescued[0].commit;
    assert_eq!(world.show(commit, "notes/wanted.log"), "wanted");
    let files = git(&world.repo(), &["ls-tree", "-r", "--name-only", commit]);
    assert!(!files.contains("build.log") && !files.contains("node_modules"), "{files}");
    assert!(removed.ignored.bytes >= 3_000, "{:?}", removed.ignored);
    assert_eq!(removed.ignored.largest[0].0.to_str(), Some("node_modules/"));
}

#[test]
fn commits_on_a_detached_head_are_rescued() {
    let world = World::new();
    let (_, tree) = world.create("x");
    git(&tree, &["checkout", "-q", "--detach"]);
    write(&tree.join("d.txt"), "detached\n");
    git(&tree, &["add", "d.txt"]);
    git(&tree, &["commit", "-q", "-m", "detached"]);
    let commit = git(&tree, &["rev-parse", "HEAD"]);
    let removed = world.remove("x").unwrap();
    assert_eq!(removed.rescued[0].commit, commit, "the reference is on the commit itself");
    assert_eq!(removed.rescued[0].subject, "detached");
}

#[test]
fn commits_that_were_left_behind_on_the_way_are_rescued() {
    let world = World::new();
    let (_, tree) = world.create("x");
    let commit = |text: &str| {
        write(&tree.join("d.txt"), text);
        git(&tree, &["add", "d.txt"]);
        git(&tree, &["commit", "-q", "-m", text]);
        git(&tree, &["rev-parse", "HEAD"])
    };
    git(&tree, &["checkout", "-q", "--detach"]);
    let detached = commit("detached");
    git(&tree, &["checkout", "-q", "bead/x"]);
    let dropped = commit("dropped");
    git(&tree, &["reset", "-q", "--hard", "HEAD~1"]);
    let before = commit("before");
    git(&tree, &["commit", "-q", "--amend", "-m", "amended"]);
    let removed = world.remove("x").unwrap();
    let rescue = &removed.rescued[0].reference;
    let saved = git(&world.repo(), &["rev-list", rescue]);
    assert!(saved.contains(&detached) && saved.contains(&dropped), "{saved}");
    assert!(!saved.contains(&before), "what was amended is replaced, not lost");
    assert!(!removed.branch_deleted);
}

#[test]
fn a_rebase_that_is_under_way_is_rescued_from_both_ends() {
    let world = World::new();
    let (_, tree) = world.create("x");
    for (text, message) in [("mine 1\n", "mine 1"), ("mine 2\n", "mine 2")] {
        write(&tree.join("a.txt"), text);
        git(&tree, &["commit", "-q", "-am", message]);
    }
    let tip = git(&tree, &["rev-parse", "HEAD"]);
    write(&world.repo().join("a.txt"), "theirs\n");
    git(&world.repo(), &["commit", "-q", "-am", "theirs"]);
    assert!(!attempt(&tree, &["rebase", "main"]).status.success(), "it conflicts");
    write(&tree.join("a.txt"), "half resolved\n");
    write(&tree.join("staged.txt"), "staged in the middle\n");
    git(&tree, &["add", "staged.txt"]);
    let how = Remove { branch: Fate::Delete, ..Remove::default() };
    let removed = world.bench().remove(&name("x"), how).unwrap();
    assert!(removed.branch_deleted);
    let rescue = &removed.rescued[0].reference;
    assert_eq!(world.show(rescue, "a.txt"), "half resolved");
    assert_eq!(world.show(rescue, "staged.txt"), "staged in the middle");
    let saved = git(&world.repo(), &["rev-list", rescue]);
    assert!(saved.contains(&tip), "the branch as it was before the rebase");
}

#[test]
fn a_merge_in_conflict_is_rescued_with_both_sides() {
    let world = World::new();
    let (_, tree) = world.create("x");
    write(&tree.join("a.txt"), "mine\n");
    git(&tree, &["commit", "-q", "-am", "mine"]);
    git(&tree, &["checkout", "-q", "--detach", "main"]);
    write(&tree.join("a.txt"), "theirs\n");
    git(&tree, &["commit", "-q", "-am", "theirs, on no branch"]);
    let theirs = git(&tree, &["rev-parse", "HEAD"]);
    git(&tree, &["checkout", "-q", "bead/x"]);
    assert!(!attempt(&tree, &["merge", &theirs]).status.success(), "it conflicts");
    let commit = world.remove("x").unwrap().rescued[0].commit.clone();
    assert!(world.show(&commit, "a.txt").contains("<<<<<<<"));
    let saved = git(&world.repo(), &["rev-list", &commit]);
    assert!(saved.contains(&theirs), "{saved}");
}

#[test]
fn commits_on_a_branch_that_is_deleted_are_rescued() {
    let world = World::new();
    let (_, tree) = world.create("x");
    write(&tree.join("new.txt"), "work\n");
    git(&tree, &["add", "new.txt"]);
    git(&tree, &["commit", "-q", "-m", "work"]);
    let tip = git(&tree, &["rev-parse", "HEAD"]);
    let how = Remove { branch: Fate::Delete, ..Remove::default() };
    let removed = world.bench().remove(&name("x"), how).unwrap();
    assert!(removed.branch_deleted);
    assert_eq!(removed.rescued[0].commit, tip);
    assert_eq!(git(&world.repo(), &["branch", "--list", "bead/*"]), "");
}

#[test]
fn a_branch_that_is_merged_goes_and_one_that_is_pushed_goes_too() {
    let world = World::new();
    let commit = |id: &str| {
        let (_, tree) = world.create(id);
        write(&tree.join(id), "work\n");
        git(&tree, &["add", "--all"]);
        git(&tree, &["commit", "-q", "-m", id]);
        tree
    };
    commit("merged");
    git(&world.repo(), &["merge", "-q", "--no-edit", "bead/merged"]);
    let removed = world.remove("merged").unwrap();
    assert!(removed.branch_deleted && removed.rescued.is_empty());
    git(&world.root(), &["clone", "-q", "--bare", "repo", "remote.git"]);
    let remote = world.root().join("remote.git");
    git(&world.repo(), &["remote", "add", "origin", remote.to_str().unwrap()]);
    let tree = commit("pushed");
    git(&tree, &["push", "-q", "origin", "bead/pushed"]);
    let removed = world.remove("pushed").unwrap();
    assert!(removed.branch_deleted && removed.rescued.is_empty());
    let how = Remove { branch: Fate::Keep, ..Remove::default() };
    world.create("kept");
    assert!(!world.bench().remove(&name("kept"), how).unwrap().branch_deleted);
    assert_eq!(git(&world.repo(), &["branch", "--list", "bead/*"]).trim(), "bead/kept");
}

#[test]
fn a_directory_that_was_deleted_by_hand_loses_nothing_that_git_still_had() {
    let world = World::new();
    let other = world.root().join("other");
    git(&world.repo(), &["worktree", "add", "-q", "--detach", other.to_str().unwrap()]);
    std::fs::remove_dir_all(&other).unwrap();
    let (_, tree) = world.create("x");
    write(&tree.join("staged.txt"), "staged\n");
    git(&tree, &["add", "staged.txt"]);
    std::fs::remove_dir_all(world.repo().join(".godel/worktrees")).unwrap();
    let entry = world.bench().info(&name("x")).unwrap();
    assert_eq!(entry.state, State::Missing);
    let error = world.bench().create(&name("x"), &Create::default()).unwrap_err();
    assert_eq!(error.code(), code::WORKTREE_EXISTS);
    let commit = world.remove("x").unwrap().rescued[0].commit.clone();
    assert_eq!(world.show(&commit, "staged.txt"), "staged");
    world.is_gone("x");
    let known = git(&world.repo(), &["worktree", "list"]);
    assert!(known.contains("/other "), "entries of others are not pruned: {known}");
    world.create("x");
}

#[test]
fn a_worktree_without_its_record_or_without_git_s_entry_is_rescued_too() {
    let world = World::new();
    let (_, tree) = world.create("one");
    write(&tree.join("new.txt"), "one\n");
    std::fs::remove_dir_all(world.repo().join(".godel/state")).unwrap();
    assert_eq!(world.bench().info(&name("one")).unwrap().state, State::Unrecorded);
    let commit = world.remove("one").unwrap().rescued[0].commit.clone();
    assert_eq!(world.show(&commit, "new.txt"), "one");
    let (_, tree) = world.create("two");
    write(&tree.join("new.txt"), "two\n");
    std::fs::remove_dir_all(world.repo().join(".git/worktrees")).unwrap();
    assert_eq!(world.bench().info(&name("two")).unwrap().state, State::Orphaned);
    let commit = world.remove("two").unwrap().rescued[0].commit.clone();
    assert_eq!(world.show(&commit, "new.txt"), "two");
    world.is_gone("two");
}

#[test]
fn work_of_the_same_second_is_kept_apart() {
    let world = World::new();
    let mut references = Vec::new();
    for text in ["first", "second", "first"] {
        let (_, tree) = world.create("x");
        write(&tree.join("new.txt"), text);
        references.push(world.remove("x").unwrap().rescued[0].reference.clone());
    }
    assert_ne!(references[0], references[1]);
    assert_eq!(references[0], references[2], "the same work is kept once");
    assert_eq!(world.show(&references[0], "new.txt"), "first");
    assert_eq!(world.show(&references[1], "new.txt"), "second");
}

#[test]
fn stashes_are_not_touched() {
    let world = World::new();
    let (_, tree) = world.create("x");
    write(&tree.join("a.txt"), "stashed\n");
    git(&tree, &["stash", "-q"]);
    let stash = git(&world.repo(), &["rev-parse", "refs/stash"]);
    world.remove("x").unwrap();
    assert_eq!(git(&world.repo(), &["rev-parse", "refs/stash"]), stash);
    assert_eq!(git(&world.repo(), &["stash", "list"]).lines().count(), 1);
    assert_eq!(read(&world.repo().join("a.txt")), "one and a half\n");
}
