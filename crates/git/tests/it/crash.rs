//! `kill -9` at each step: nothing is lost, and the same command finishes the work.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use godel_git::{Create, Fate, Host, Phase, Remove, Workbench};
use godel_model::SystemClock;

use crate::world::{World, git, name, read, write};

const REMOVE_STEPS: [&str; 10] = [
    "remove:checked",
    "remove:rescued",
    "remove:recorded",
    "remove:moved",
    "remove:verified",
    "remove:deleted",
    "remove:forgotten",
    "remove:branch",
    "remove:freed",
    "none",
];
const CREATE_STEPS: [&str; 8] = [
    "create:recorded",
    "create:added",
    "create:ports",
    "create:registered",
    "create:copied",
    "create:shared",
    "create:setup",
    "none",
];

pub(crate) fn die(step: &'static str) {
    if std::env::var("GODEL_TEST_STEP").is_ok_and(|wanted| wanted == step) {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    }
}

/// What the child process does; without its variables it is no test.
#[test]
fn child() {
    let Ok(repo) = std::env::var("GODEL_TEST_REPO") else {
        return;
    };
    let state = std::env::var("GODEL_TEST_STATE").unwrap().into();
    let host = Host {
        clock: std::sync::Arc::new(SystemClock),
        state,
        stop: std::sync::Arc::default(),
        step: die,
    };
    let bench = Workbench::open(Path::new(&repo), host).unwrap();
    match std::env::var("GODEL_TEST_ACT").unwrap().as_str() {
        "stock" => drop(bench.stock(1, None).unwrap()),
        "create" => drop(bench.create(&name("x"), &Create::default()).unwrap()),
        "put-away" => {
            let base = std::env::var("GODEL_TEST_BASE").unwrap();
            bench.put_away((&name("bead"), 1), &name("x"), &base).unwrap();
        }
        _ => {
            let how = Remove { branch: Fate::Delete, ..Remove::default() };
            bench.remove(&name("x"), how).unwrap();
        }
    }
}

/// Runs an act in a process that is killed at a step; tells whether it came that far.
pub(crate) fn killed(world: &World, act: &str, step: &str) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["crash::child", "--exact"])
        .env("GODEL_TEST_REPO", world.repo())
        .env("GODEL_TEST_STATE", world.root().join("state"))
        .env("GODEL_TEST_ACT", act)
        .env("GODEL_TEST_STEP", step)
        .env("GODEL_TEST_BASE", git(&world.repo(), &["rev-parse", "HEAD"]))
        // A variable that would lead git astray, if it got through.
        .env("GIT_DIR", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.worktree")
        .env("GIT_CONFIG_VALUE_0", "/nowhere")
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() || status.signal() == Some(9), "{act} {step}: {status}");
    status.signal() == Some(9)
}

fn furnished() -> World {
    let world = World::new();
    write(&world.repo().join(".env"), "TOKEN=abc123\n");
    write(&world.repo().join("node_modules/m.js"), "module\n");
    let text = "[worktree]\ncopy = ['.env']\nshare = { node_modules = 'copy' }\n\
                setup = 'echo set up > setup.log'\n";
    write(&world.repo().join(".godel/config.toml"), text);
    world
}

#[test]
fn a_removal_that_is_killed_anywhere_loses_nothing_and_is_finished_by_the_next() {
    for step in REMOVE_STEPS {
        let world = furnished();
        let (_, tree) = world.create("x");
        write(&tree.join("commit.txt"), "committed\n");
        git(&tree, &["add", "commit.txt"]);
        git(&tree, &["commit", "-q", "-m", "work"]);
        write(&tree.join("staged.txt"), "staged\n");
        git(&tree, &["add", "staged.txt"]);
        write(&tree.join("new.txt"), "untracked\n");
        assert_eq!(killed(&world, "remove", step), step != "none", "{step}");
        let saved = world.bench().rescues(None).unwrap();
        let trash = world.repo().join(".godel/trash/x");
        if tree.exists() || trash.exists() {
            let there = if tree.exists() { &tree } else { &trash };
            assert_eq!(read(&there.join("new.txt")), "untracked\n", "{step}");
        } else {
            assert_eq!(saved.len(), 1, "{step}");
        }
        // Killed after its last act, the record is gone and there is nothing to finish.
        if step != "none" {
            assert!(world.bench().list().unwrap().len() == 1, "{step}: it is still listed");
            let how = Remove { branch: Fate::Delete, ..Remove::default() };
            world.bench().remove(&name("x"), how).unwrap();
        }
        let saved = world.bench().rescues(None).unwrap();
        assert_eq!(saved.len(), 1, "{step}: the work is saved once: {saved:?}");
        let rescue = &saved[0].reference;
        for (path, text) in
            [("commit.txt", "committed"), ("staged.txt", "staged"), ("new.txt", "untracked")]
        {
            assert_eq!(world.show(rescue, path), text, "{step}");
        }
        world.is_gone("x");
        assert_eq!(git(&world.repo(), &["branch", "--list", "bead/*"]), "", "{step}");
        git(&world.repo(), &["fsck", "--no-dangling"]);
        world.is_untouched();
        // The same name can be used again.
        world.create("x");
    }
}

#[test]
fn a_creation_that_is_killed_anywhere_is_finished_by_the_next() {
    for step in CREATE_STEPS {
        let world = furnished();
        assert_eq!(killed(&world, "create", step), step != "none", "{step}");
        assert_eq!(world.bench().list().unwrap().len(), 1, "{step}");
        if step != "none" {
            let record = world.bench().create(&name("x"), &Create::default()).unwrap();
            assert_eq!(record.phase, Phase::Ready, "{step}");
        }
        let tree = world.bench().path(&name("x"));
        assert_eq!(read(&tree.join(".env")), "TOKEN=abc123\n", "{step}");
        assert_eq!(read(&tree.join("node_modules/m.js")), "module\n", "{step}");
        assert_eq!(read(&tree.join("setup.log")), "set up\n", "{step}");
        let entry = world.bench().info(&name("x")).unwrap();
        assert_eq!((entry.dirty, entry.ports.unwrap().first), (Some(0), 20_000), "{step}");
        assert_eq!(entry.copied.len(), 1, "{step}");
        world.is_untouched();
        let removed = world.remove("x").unwrap();
        assert!(removed.rescued.is_empty() && removed.branch_deleted, "{step}");
        world.is_gone("x");
    }
}

#[test]
fn git_that_was_killed_in_the_middle_of_a_checkout_is_tidied() {
    let world = World::new();
    assert!(killed(&world, "create", "create:added"));
    let admin = world.repo().join(".git/worktrees/x");
    write(&admin.join("locked"), "initializing");
    std::fs::remove_file(admin.join("index")).unwrap();
    let tree = world.bench().path(&name("x"));
    std::fs::remove_file(tree.join("a.txt")).unwrap();
    world.create("x");
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    assert!(!admin.join("locked").exists());
}

#[test]
fn many_processes_make_the_same_worktree_and_one_wins() {
    let world = World::new();
    let (bench, id) = (world.bench(), name("x"));
    let made: usize = std::thread::scope(|scope| {
        let tries: Vec<_> =
            (0..8).map(|_| scope.spawn(|| bench.create(&id, &Create::default()).is_ok())).collect();
        tries.into_iter().map(|one| usize::from(one.join().unwrap())).sum()
    });
    assert_eq!(made, 1);
    assert_eq!(bench.list().unwrap().len(), 1);
}
