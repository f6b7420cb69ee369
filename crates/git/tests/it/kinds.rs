//! Every kind of repository.

use std::path::Path;

use godel_git::{Create, Remove, State, Workbench};
use godel_model::{Report as _, code};

use crate::world::{World, attempt, git, name, write};

/// Makes a worktree, commits in it, leaves a change behind, removes it, and finds both again.
fn round(world: &World, at: &Path) {
    let bench = world.bench_at(at);
    let id = name("godel-a1b2c");
    let config = git(at, &["config", "--list", "--local"]);
    let record = bench.create(&id, &Create::default()).unwrap();
    let tree = bench.path(&id);
    assert_eq!(git(&tree, &["branch", "--show-current"]), "bead/godel-a1b2c");
    assert_eq!(git(&tree, &["rev-parse", "HEAD"]), record.base.commit);
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    write(&tree.join("new.txt"), "new\n");
    git(&tree, &["add", "--sparse", "new.txt"]);
    git(&tree, &["commit", "-m", "work"]);
    write(&tree.join("left.txt"), "left\n");
    let entry = bench.info(&id).unwrap();
    assert_eq!((entry.ahead, entry.dirty, entry.state), (Some(1), Some(1), State::Ready));
    assert_eq!(entry.branch.as_deref(), Some("bead/godel-a1b2c"));
    let removed = bench.remove(&id, Remove::default()).unwrap();
    assert!(!removed.branch_deleted, "its commit is nowhere else");
    let rescue = &removed.rescued[0];
    assert_eq!(git(at, &["show", &format!("{}:left.txt", rescue.reference)]), "left");
    assert_eq!(git(at, &["show", "bead/godel-a1b2c:new.txt"]), "new");
    assert!(!tree.exists());
    assert!(bench.list().unwrap().is_empty());
    assert_eq!(git(at, &["config", "--list", "--local"]), config, "the configuration is as it was");
    git(at, &["fsck", "--no-dangling"]);
}

#[test]
fn a_normal_repository_in_a_path_with_blanks() {
    let world = World::new();
    let before = git(&world.repo(), &["for-each-ref", "refs/heads/main", "refs/stash"]);
    round(&world, &world.repo());
    world.is_untouched();
    world.is_gone("godel-a1b2c");
    assert_eq!(git(&world.repo(), &["for-each-ref", "refs/heads/main", "refs/stash"]), before);
    let exclude = std::fs::read_to_string(world.repo().join(".git/info/exclude")).unwrap();
    assert_eq!(exclude.lines().filter(|line| *line == "/.godel/").count(), 1);
}

#[test]
fn a_subdirectory_of_the_work_tree_is_as_good_as_its_top() {
    let world = World::new();
    round(&world, &world.repo().join("dir"));
}

#[test]
fn a_bare_repository_keeps_worktrees_in_its_git_directory() {
    let world = World::new();
    let bare = world.root().join("bare.git");
    git(&world.root(), &["clone", "-q", "--bare", "repo", "bare.git"]);
    let bench = world.bench_at(&bare);
    assert_eq!(bench.path(&name("x")), bare.join("godel/worktrees/x"));
    assert_eq!(bench.main(), None);
    round(&world, &bare);
}

#[test]
fn a_linked_worktree_leads_to_the_same_place() {
    let world = World::new();
    let linked = world.root().join("linked");
    git(&world.repo(), &["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    write(&linked.join("side.txt"), "side\n");
    git(&linked, &["add", "side.txt"]);
    git(&linked, &["commit", "-q", "-m", "side"]);
    let bench = world.bench_at(&linked);
    assert_eq!(bench.path(&name("x")), world.repo().join(".godel/worktrees/x"));
    let record = bench.create(&name("x"), &Create::default()).unwrap();
    assert_eq!(record.base.revision, "main", "HEAD is that of the main work tree");
    bench.remove(&name("x"), Remove::default()).unwrap();
    round(&world, &linked);
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
}

#[test]
fn a_worktree_of_ours_leads_to_the_main_one_too() {
    let world = World::new();
    let (_, tree) = world.create("one");
    let bench = world.bench_at(&tree);
    assert_eq!(bench.path(&name("two")), world.repo().join(".godel/worktrees/two"));
    bench.create(&name("two"), &Create::default()).unwrap();
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    assert_eq!(world.bench().list().unwrap().len(), 2);
}

#[test]
fn a_shallow_clone() {
    let world = World::new();
    let url = format!("file://{}", world.repo().display());
    git(&world.root(), &["clone", "-q", "--depth", "1", &url, "shallow"]);
    round(&world, &world.root().join("shallow"));
}

#[test]
fn a_sparse_checkout_stays_sparse_and_loses_nothing_outside_of_it() {
    let world = World::new();
    let repo = world.repo();
    write(&repo.join("other/c.txt"), "three\n");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "-q", "-m", "third"]);
    git(&repo, &["sparse-checkout", "set", "dir"]);
    let (_, tree) = world.create("sparse");
    assert!(tree.join("dir/b.txt").exists() && !tree.join("other").exists());
    write(&tree.join("other/new.txt"), "outside\n");
    let removed = world.remove("sparse").unwrap();
    let rescue = &removed.rescued[0].reference;
    assert_eq!(world.show(rescue, "other/new.txt"), "outside");
    assert_eq!(
        world.show(rescue, "other/c.txt"),
        "three",
        "what is not checked out is not deleted"
    );
    assert_eq!(
        git(&repo, &["diff", "--name-only", &format!("{rescue}^"), rescue]),
        "other/new.txt"
    );
    round(&world, &repo);
}

#[test]
fn a_detached_head() {
    let world = World::new();
    git(&world.repo(), &["checkout", "-q", "--detach", "HEAD~1"]);
    let (record, _) = world.create("loose");
    assert_eq!(record.base.reference, None);
    assert_eq!(record.base.commit, git(&world.repo(), &["rev-parse", "main~1"]));
    world.remove("loose").unwrap();
    round(&world, &world.repo());
}

#[test]
fn a_repository_that_is_a_submodule() {
    let world = World::new();
    let outer = world.root().join("outer");
    std::fs::create_dir(&outer).unwrap();
    git(&outer, &["init", "-q"]);
    git(&outer, &["submodule", "--quiet", "add", world.repo().to_str().unwrap(), "inner"]);
    git(&outer, &["commit", "-q", "-m", "with a submodule"]);
    let inner = outer.join("inner");
    assert_eq!(world.bench_at(&inner).main(), Some(inner.as_path()));
    round(&world, &inner);
    assert_eq!(git(&inner, &["status", "--porcelain"]), "");
    assert_eq!(git(&outer, &["status", "--porcelain"]), "");
}

#[test]
fn a_git_directory_that_is_elsewhere() {
    let world = World::new();
    let tree = world.root().join("tree");
    git(&world.root(), &["clone", "-q", "--separate-git-dir", "apart", "repo", "tree"]);
    assert_eq!(
        world.bench_at(&tree).path(&name("x")),
        world.root().join("apart/godel/worktrees/x")
    );
    round(&world, &tree);
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
}

#[test]
fn a_repository_of_another_format() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let world = World::new();
        let other = world.root().join("other");
        std::fs::create_dir(&other).unwrap();
        // An older git does not know the newest format.
        if !attempt(&other, &["init", "-q", format]).status.success() {
            continue;
        }
        write(&other.join("a.txt"), "one\n");
        git(&other, &["add", "a.txt"]);
        git(&other, &["commit", "-q", "-m", "first"]);
        round(&world, &other);
        let bench = world.bench_at(&other);
        bench.create(&name("x"), &Create::default()).unwrap();
        let tree = bench.path(&name("x"));
        git(&tree, &["checkout", "-q", "--detach"]);
        git(&tree, &["commit", "-q", "--allow-empty", "-m", "left behind"]);
        let left = git(&tree, &["rev-parse", "HEAD"]);
        git(&tree, &["checkout", "-q", "bead/x"]);
        let removed = bench.remove(&name("x"), Remove::default()).unwrap();
        assert_eq!(removed.rescued[0].commit, left, "{format}");
    }
}

#[test]
fn a_branch_that_another_worktree_has_stays() {
    for format in ["--ref-format=files", "--ref-format=reftable"] {
        let world = World::new();
        let other = world.root().join("other");
        std::fs::create_dir(&other).unwrap();
        if !attempt(&other, &["init", "-q", format]).status.success() {
            continue;
        }
        git(&other, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let bench = world.bench_at(&other);
        bench.create(&name("x"), &Create::default()).unwrap();
        git(&bench.path(&name("x")), &["checkout", "-q", "--detach"]);
        git(&other, &["checkout", "-q", "bead/x"]);
        let how = Remove { branch: godel_git::Fate::Delete, ..Remove::default() };
        assert!(!bench.remove(&name("x"), how).unwrap().branch_deleted, "{format}");
        assert_eq!(git(&other, &["branch", "--show-current"]), "bead/x");
    }
}

#[test]
fn no_commit_yet_is_told_clearly_and_leaves_nothing_behind() {
    let world = World::empty();
    let error = world.bench().create(&name("x"), &Create::default()).unwrap_err();
    assert_eq!(error.code(), code::BASE_NOT_FOUND);
    assert!(error.to_string().contains("no commit yet"), "{error}");
    assert!(!world.repo().join(".godel").exists());
}

#[test]
fn no_repository_is_told_clearly() {
    let world = World::new();
    let error = Workbench::open(&world.root(), world.host()).err().unwrap();
    assert_eq!(error.code(), code::NO_REPOSITORY);
    let error = Workbench::open(&world.root().join("none"), world.host()).err().unwrap();
    assert_eq!(error.code(), code::FILE_FAILED);
}

#[test]
fn hooks_and_odd_settings_of_the_user_do_not_get_in() {
    let world = World::new();
    let repo = world.repo();
    let ran = world.root().join("ran");
    for hook in ["post-checkout", "reference-transaction", "pre-commit", "post-index-change"] {
        let path = repo.join(".git/hooks").join(hook);
        write(&path, &format!("#!/bin/sh\ntouch '{}'\nexit 1\n", ran.display()));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", "false-program"),
        ("status.showUntrackedFiles", "no"),
        ("core.safecrlf", "true"),
        ("core.autocrlf", "input"),
        ("branch.autoSetupMerge", "always"),
        ("worktree.guessRemote", "true"),
        ("commit.gpgSign", "true"),
        ("add.ignoreErrors", "true"),
    ] {
        git(&repo, &["config", key, value]);
    }
    let bench = world.bench();
    bench.create(&name("x"), &Create::default()).unwrap();
    write(&bench.path(&name("x")).join("crlf.txt"), "a\r\nb\n");
    let removed = bench.remove(&name("x"), Remove::default()).unwrap();
    assert!(world.show(&removed.rescued[0].reference, "crlf.txt").starts_with('a'));
    assert!(!ran.exists());
}
