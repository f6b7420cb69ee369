//! Worktrees that are ready before anybody asks.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use godel_git::Create;

use crate::world::{World, git, name, read, write};

fn plain() -> Create {
    Create { skip_setup: true, ..Create::default() }
}

/// What a worktree is, as far as anybody can see.
fn picture(world: &World, id: &str) -> [String; 5] {
    let tree = world.repo().join(".godel/worktrees").join(id);
    let shown =
        |arguments: &[&str]| git(&tree, arguments).replace(&format!("bead/{id}"), "bead/ID");
    [
        shown(&["status", "--porcelain", "--branch", "--ignored"]),
        shown(&["log", "--format=%H", "-3"]),
        shown(&["ls-files", "--stage"]),
        shown(&["symbolic-ref", "HEAD"]),
        read(&tree.join("a.txt")),
    ]
}

fn stocked(world: &World) -> usize {
    let folder = world.repo().join(".godel/spares");
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_worktree_that_was_ready_is_as_one_that_was_made() {
    let world = World::new();
    let bench = world.bench();
    bench.create(&name("made"), &plain()).unwrap();
    assert_eq!(bench.stock(2, None).unwrap(), 2);
    assert_eq!(stocked(&world), 2);
    bench.create(&name("taken"), &plain()).unwrap();
    assert_eq!(stocked(&world), 1);
    assert_eq!(picture(&world, "taken"), picture(&world, "made"));
    let listed: Vec<String> =
        bench.list().unwrap().iter().map(|entry| entry.id.to_string()).collect();
    assert_eq!(listed, ["made", "taken"], "spares are nobody's worktrees");
    // Another commit than the one that was prepared for.
    let first = git(&world.repo(), &["rev-parse", "HEAD~1"]);
    let older = Create { base: Some(first.clone()), ..plain() };
    bench.create(&name("older"), &older).unwrap();
    assert_eq!(stocked(&world), 0);
    bench.create(&name("older-made"), &older).unwrap();
    assert_eq!(picture(&world, "older"), picture(&world, "older-made"));
    // It goes as every other does, and git is content.
    bench.remove(&name("taken"), godel_git::Remove::default()).unwrap();
    git(&world.repo(), &["worktree", "prune"]);
    git(&world.repo(), &["fsck", "--strict"]);
    assert!(!git(&world.repo(), &["worktree", "list"]).contains("prunable"));
}

#[test]
fn the_stock_follows_the_commit_and_the_count() {
    let world = World::new();
    let bench = world.bench();
    bench.stock(3, None).unwrap();
    write(&world.repo().join("new.txt"), "new\n");
    git(&world.repo(), &["add", "--all"]);
    git(&world.repo(), &["commit", "-qm", "third"]);
    assert_eq!(bench.stock(1, None).unwrap(), 1);
    assert_eq!(stocked(&world), 1);
    assert_eq!(read(&world.repo().join(".godel/spares/spare-1/new.txt")), "new\n");
    assert_eq!(bench.stock(0, None).unwrap(), 0);
    assert_eq!(stocked(&world), 0);
    assert_eq!(git(&world.repo(), &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_spare_that_somebody_has_touched_is_not_given() {
    for touched in ["a.txt", "untracked", "ignored.log"] {
        let world = World::new();
        let bench = world.bench();
        bench.stock(1, None).unwrap();
        write(&world.repo().join(".godel/spares/spare-1").join(touched), "not theirs\n");
        bench.create(&name("x"), &plain()).unwrap();
        bench.create(&name("y"), &plain()).unwrap();
        assert_eq!(picture(&world, "x"), picture(&world, "y"), "{touched}");
        assert_eq!(bench.stock(1, None).unwrap(), 1);
        let status = ["status", "--porcelain", "--ignored"];
        assert_eq!(git(&world.repo().join(".godel/spares/spare-1"), &status), "");
    }
}

#[test]
fn killed_at_any_step_the_same_command_finishes_the_work() {
    for step in [
        "stock:found",
        "stock:moved",
        "stock:added",
        "claim:taken",
        "claim:pointed",
        "claim:moved",
        "claim:attached",
    ] {
        let world = World::new();
        let act = if step.starts_with("stock") { "stock" } else { "create" };
        // What is stocked is made of a worktree that was removed.
        world.bench().stock(1, None).unwrap();
        world.create("before");
        world.remove("before").unwrap();
        if act == "create" {
            world.bench().stock(1, None).unwrap();
        }
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::child", "--nocapture"])
            .env("GODEL_TEST_REPO", world.repo())
            .env("GODEL_TEST_STATE", world.root().join("state"))
            .env("GODEL_TEST_ACT", act)
            .env("GODEL_TEST_STEP", step)
            .output()
            .unwrap()
            .status;
        assert_eq!(status.signal(), Some(9), "{step}");
        let bench = world.bench();
        bench.create(&name("x"), &plain()).unwrap();
        bench.create(&name("y"), &plain()).unwrap();
        assert_eq!(picture(&world, "x"), picture(&world, "y"), "{step}");
        assert_eq!(bench.stock(1, None).unwrap(), 1, "{step}");
        bench.create(&name("z"), &plain()).unwrap();
        assert_eq!(picture(&world, "z"), picture(&world, "y"), "{step}");
        assert_eq!(stocked(&world), 0, "{step}");
        git(&world.repo(), &["fsck", "--strict"]);
    }
}

#[test]
fn nothing_that_somebody_left_in_a_removed_worktree_is_in_the_next() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let world = World::new();
    let bench = world.bench();
    bench.stock(1, None).unwrap();
    let (_, tree) = world.create("old");
    let inode = std::fs::metadata(tree.join("dir/b.txt")).unwrap().ino();
    write(&tree.join("a.txt"), "changed\n");
    write(&tree.join("untracked"), "x\n");
    write(&tree.join("ignored.log"), "x\n");
    write(&tree.join("node_modules/x/index.js"), "x\n");
    symlink("/etc/passwd", tree.join("link")).unwrap();
    std::fs::hard_link(tree.join(".gitignore"), tree.join("second-name")).unwrap();
    let mode = |path: &str, mode| {
        std::fs::set_permissions(tree.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("dir/b.txt", 0o4777);
    mode("dir", 0o3777);
    // The same length and time as before; only the content tells.
    let time = std::fs::metadata(tree.join("dir/b.txt")).unwrap().modified().unwrap();
    write(&tree.join("dir/b.txt"), "TWO\n");
    std::fs::File::open(tree.join("dir/b.txt")).unwrap().set_modified(time).unwrap();
    world.remove("old").unwrap();
    assert_eq!(bench.stock(1, None).unwrap(), 1);
    bench.create(&name("new"), &plain()).unwrap();
    assert_eq!(stocked(&world), 0, "the files were used again");
    bench.create(&name("made"), &plain()).unwrap();
    assert_eq!(picture(&world, "new"), picture(&world, "made"));
    let look = |id: &str, path: &str| {
        let path = world.repo().join(".godel/worktrees").join(id).join(path);
        let found = std::fs::symlink_metadata(&path).unwrap();
        let mode = found.permissions().mode();
        (mode, found.uid(), found.gid(), found.nlink(), std::fs::read(&path).ok())
    };
    for path in ["", "a.txt", ".gitignore", "dir", "dir/b.txt"] {
        assert_eq!(look("new", path), look("made", path), "{path}");
    }
    // What nobody had touched is the same file still: that is what it is for.
    let (_, tree) = world.create("third");
    let untouched = std::fs::metadata(tree.join("a.txt")).unwrap().ino();
    world.remove("third").unwrap();
    bench.stock(1, None).unwrap();
    let (_, tree) = world.create("fourth");
    assert_eq!(std::fs::metadata(tree.join("a.txt")).unwrap().ino(), untouched);
    assert_ne!(untouched, inode);
}

#[test]
fn many_at_a_time_each_get_their_own() {
    let world = World::new();
    world.bench().stock(3, None).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let bench = world.bench();
            scope.spawn(move || bench.create(&name(&format!("n{number}")), &plain()).unwrap());
        }
    });
    for number in 1..8 {
        assert_eq!(picture(&world, &format!("n{number}")), picture(&world, "n0"));
    }
}
