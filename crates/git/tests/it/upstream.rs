//! A branch that is led on another machine: work is pushed there, and what came of it is fetched.

use std::path::{Path, PathBuf};

use godel_git::{How, Landed, Load, Workbench};

use crate::land::{bead, message};
use crate::world::{World, git, name, read, write};

fn world() -> (World, Workbench, PathBuf) {
    let world = World::new();
    let far = world.root().join("far.git");
    git(&world.root(), &["init", "-q", "--bare", "far.git"]);
    git(&world.repo(), &["remote", "add", "origin", far.to_str().unwrap()]);
    git(&world.repo(), &["push", "-q", "origin", "main"]);
    let bench = world.bench();
    (world, bench, far)
}

/// Somebody else commits on the other machine; returns the commit.
fn elsewhere(world: &World, far: &Path, (branch, file): (&str, &str)) -> String {
    let clone = world.root().join(format!("clone-{file}"));
    git(
        &world.root(),
        &["clone", "-q", "-b", branch, far.to_str().unwrap(), clone.to_str().unwrap()],
    );
    write(&clone.join(file), "from elsewhere\n");
    git(&clone, &["add", "--all"]);
    git(&clone, &["commit", "-q", "-m", "from elsewhere"]);
    git(&clone, &["push", "-q", "origin", branch]);
    git(&clone, &["rev-parse", "HEAD"])
}

#[test]
fn work_is_judged_on_what_the_other_side_has_and_no_branch_moves() {
    let (world, bench, far) = world();
    let source = bead(&world, "w-1", "main", &[("own.txt", Some("mine"))]);
    let before = git(&world.repo(), &["rev-parse", "main"]);
    let theirs = elsewhere(&world, &far, ("main", "theirs.txt"));
    let tip = bench.fetch("origin", "main").unwrap();
    assert_eq!(tip, theirs);
    let load = Load { message: message("w-1"), source, again: None };
    let stack = bench.landing().stack_on(&[load], ("main", Some(&tip)), How::Merge).unwrap();
    let merge = stack.merge.unwrap();
    assert_eq!((&merge.before, &stack.before), (&tip, &tip));
    let files = git(&world.repo(), &["ls-tree", "--name-only", &merge.commit]);
    assert!(files.contains("theirs.txt") && files.contains("own.txt"), "{files}");
    assert_eq!(git(&world.repo(), &["rev-parse", "main"]), before);
}

#[test]
fn the_branch_follows_with_its_files_unless_something_of_a_person_is_in_the_way() {
    let (world, bench, far) = world();
    let follow = |tip: &str| bench.landing().catch_up(&name("w-1"), "main", tip).unwrap();
    elsewhere(&world, &far, ("main", "theirs.txt"));
    let tip = bench.fetch("origin", "main").unwrap();
    assert_eq!((follow(&tip), follow(&tip)), (Landed::Done, Landed::Done));
    assert_eq!(git(&world.repo(), &["rev-parse", "main"]), tip);
    assert_eq!(read(&world.repo().join("theirs.txt")), "from elsewhere\n");
    assert_eq!(git(&world.repo(), &["status", "--porcelain"]), "");

    elsewhere(&world, &far, ("main", "more.txt"));
    let tip = bench.fetch("origin", "main").unwrap();
    write(&world.repo().join("more.txt"), "mine, not committed\n");
    assert!(matches!(follow(&tip), Landed::Blocked { .. }));
    assert_eq!(read(&world.repo().join("more.txt")), "mine, not committed\n");
    git(&world.repo(), &["add", "--all"]);
    git(&world.repo(), &["commit", "-q", "-m", "mine, and committed"]);
    let own = git(&world.repo(), &["rev-parse", "main"]);
    let Landed::Blocked { why } = follow(&tip) else { panic!("both have commits of their own") };
    assert!(why.contains("commits of its own"), "{why}");
    assert_eq!(git(&world.repo(), &["rev-parse", "main"]), own);
}

#[test]
fn only_what_was_pushed_last_is_overwritten() {
    let (world, bench, far) = world();
    let branch = "bead/w-1";
    let first = bead(&world, "w-1", "main", &[("own.txt", Some("one"))]);
    bench.push_commit("origin", (&first, branch), None).unwrap();
    bench.push_commit("origin", (&first, branch), None).unwrap();
    let second = bead(&world, "w-2", "main", &[("own.txt", Some("two"))]);
    assert!(bench.push_commit("origin", (&second, branch), None).is_err());
    bench.push_commit("origin", (&second, branch), Some(&first)).unwrap();
    // Said again after a crash, it is as it should be.
    bench.push_commit("origin", (&second, branch), Some(&first)).unwrap();
    assert_eq!(git(&far, &["rev-parse", branch]), second);
    let theirs = elsewhere(&world, &far, (branch, "theirs.txt"));
    assert!(bench.push_commit("origin", (&first, branch), Some(&second)).is_err());
    assert_eq!(git(&far, &["rev-parse", branch]), theirs, "what others pushed is there");
    for remote in ["upstream", "--upload-pack=x"] {
        assert!(bench.fetch(remote, "main").is_err());
        assert!(bench.push_commit(remote, (&first, branch), None).is_err());
    }
    assert!(bench.fetch("origin", "no-such-branch").is_err());
}
