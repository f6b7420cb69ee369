//! Landings in repositories of every kind, and with what people do to their checkouts.

use std::os::unix::process::CommandExt as _;
use std::time::Duration;

use godel_git::{Landed, Prepared};

use crate::land::{bead, blocked, is_landed, land, message, ready};
use crate::world::{World, git, read, write};

/// Lands one bead that changes, adds and removes files, and looks whether the checkout followed.
fn lands(world: &World, kind: &str) {
    let repo = world.repo();
    let changes = [("a.txt", Some("landed\n")), ("dir/b.txt", None), ("deep/er/c", Some("c\n"))];
    let source = bead(world, "x", "main", &changes);
    let bench = world.bench();
    let merge = ready(&bench, &source, "x");
    write(&repo.join("mine.txt"), "mine\n");
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done, "{kind}");
    is_landed(world, &source, "x");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "?? mine.txt", "{kind}");
    assert_eq!(git(&repo, &["rev-parse", "HEAD"]), merge.commit, "{kind}");
    assert_eq!(read(&repo.join("a.txt")).replace('\r', ""), "landed\n", "{kind}");
    assert!(!repo.join("dir/b.txt").exists(), "{kind}");
    assert_eq!(read(&repo.join("deep/er/c")).replace('\r', ""), "c\n", "{kind}");
}

/// A repository that was made in a way of its own.
fn made(flags: &[&str]) -> World {
    let world = World::empty();
    let repo = world.repo();
    std::fs::remove_dir_all(repo.join(".git")).unwrap();
    git(&repo, &[&["init", "-q"], flags].concat());
    write(&repo.join("a.txt"), "one\n");
    write(&repo.join("dir/b.txt"), "two\n");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "-qm", "first"]);
    world
}

#[test]
fn every_kind_of_repository() {
    lands(&made(&["--object-format=sha256"]), "sha256");
    lands(&made(&["--ref-format=reftable"]), "reftable");
    for setting in [
        "core.splitIndex=true",
        "core.autocrlf=true",
        "feature.manyFiles=true",
        "index.skipHash=true",
        "core.untrackedCache=true",
        "core.logAllRefUpdates=false",
        "submodule.recurse=true",
        "merge.ff=only",
    ] {
        let world = made(&[]);
        let (name, value) = setting.split_once('=').unwrap();
        git(&world.repo(), &["config", name, value]);
        git(&world.repo(), &["rm", "-q", "--cached", "-r", "."]);
        git(&world.repo(), &["reset", "-q", "--hard"]);
        lands(&world, setting);
    }
}

#[test]
fn files_outside_of_a_sparse_checkout_stay_outside() {
    let world = World::new();
    let repo = world.repo();
    git(&repo, &["sparse-checkout", "set", "--no-cone", "/*", "!/dir/"]);
    assert!(!repo.join("dir").exists());
    let source = bead(&world, "x", "main", &[("dir/b.txt", Some("new\n")), ("c", Some("c\n"))]);
    let bench = world.bench();
    assert_eq!(bench.landing().finish(&ready(&bench, &source, "x")).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
    world.is_untouched();
    assert!(!repo.join("dir").exists() && repo.join("c").exists());
}

#[test]
fn files_directories_and_links_change_places() {
    let world = World::new();
    let repo = world.repo();
    write(&repo.join("was-dir/x"), "x\n");
    write(&repo.join("was-file"), "f\n");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "-qm", "places"]);
    let changes = [
        ("was-dir/x", None),
        ("was-dir", Some("now a file\n")),
        ("was-file", None),
        ("was-file/y", Some("y\n")),
    ];
    let source = bead(&world, "x", "main", &changes);
    let bench = world.bench();
    let merge = ready(&bench, &source, "x");
    // Something ignored in the directory that must go is somebody's.
    write(&repo.join("was-dir/own.log"), "precious\n");
    let why = blocked(bench.landing().finish(&merge).unwrap());
    assert!(why.contains("was-dir/own.log"), "{why}");
    assert_eq!(read(&repo.join("was-dir/own.log")), "precious\n");
    std::fs::remove_file(repo.join("was-dir/own.log")).unwrap();
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
    world.is_untouched();
    assert_eq!(read(&repo.join("was-dir")), "now a file\n");
    assert_eq!(read(&repo.join("was-file/y")), "y\n");
}

#[test]
fn an_executable_and_a_link_land_as_they_are() {
    let world = World::new();
    let (repo, tree) = (world.repo(), world.root().join("x"));
    git(&repo, &["worktree", "add", "-q", "-b", "bead/x", tree.to_str().unwrap()]);
    write(&tree.join("run.sh"), "#!/bin/sh\n");
    std::process::Command::new("chmod").arg("+x").arg(tree.join("run.sh")).status().unwrap();
    std::os::unix::fs::symlink("a.txt", tree.join("link")).unwrap();
    git(&tree, &["add", "--all"]);
    git(&tree, &["commit", "-qm", "work"]);
    let source = git(&tree, &["rev-parse", "HEAD"]);
    let bench = world.bench();
    // A link of a person's that leads elsewhere is in the way as a file is.
    std::os::unix::fs::symlink("/nowhere", repo.join("link")).unwrap();
    let merge = ready(&bench, &source, "x");
    assert!(blocked(bench.landing().finish(&merge).unwrap()).contains("link"));
    std::fs::remove_file(repo.join("link")).unwrap();
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
    world.is_untouched();
    assert_eq!(std::fs::read_link(repo.join("link")).unwrap().to_str(), Some("a.txt"));
    assert!(git(&repo, &["ls-files", "-s", "run.sh"]).starts_with("100755"));
}

#[test]
fn work_that_is_there_already_in_other_commits_lands_as_an_empty_merge_once() {
    let world = World::new();
    let repo = world.repo();
    let source = bead(&world, "x", "main", &[("a.txt", Some("same\n"))]);
    write(&repo.join("a.txt"), "same\n");
    git(&repo, &["commit", "-qam", "a person was faster"]);
    let bench = world.bench();
    let merge = ready(&bench, &source, "x");
    assert_eq!(merge.files, 0);
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
    world.is_untouched();
    let again = bench.landing().prepare(&source, "main", &message("x")).unwrap();
    assert!(matches!(again, Prepared::AlreadyThere { .. }), "{again:?}");
}

#[test]
fn conflicts_of_every_kind_name_their_files() {
    let world = World::new();
    let (repo, bench) = (world.repo(), world.bench());
    let gone = bead(&world, "gone", "main", &[("dir/b.txt", None)]);
    let both = bead(&world, "both", "main", &[("new file", Some("by the bead\n"))]);
    let place = bead(&world, "place", "main", &[("thing", Some("a file\n"))]);
    write(&repo.join("dir/b.txt"), "changed\n");
    write(&repo.join("new file"), "by a person\n");
    write(&repo.join("thing/inside"), "a directory\n");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "-qm", "other side"]);
    for (source, id, file) in
        [(&gone, "gone", "dir/b.txt"), (&both, "both", "new file"), (&place, "place", "thing")]
    {
        let prepared = bench.landing().prepare(source, "main", &message(id)).unwrap();
        let Prepared::Conflict { files } = prepared else { panic!("{id}: {prepared:?}") };
        assert!(files.len() == 1 && files[0].starts_with(file), "{id}: {files:?}");
        assert_eq!(git(&repo, &["for-each-ref", "refs/godel/landing"]), "");
    }
    git(&repo, &["switch", "-q", "--orphan", "island"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "alone"]);
    let island = git(&repo, &["rev-parse", "HEAD"]);
    let error = bench.landing().prepare(&island, "main", &message("x")).unwrap_err().to_string();
    assert!(error.contains("unrelated histories"), "{error}");
}

#[test]
fn a_merge_that_was_prepared_and_left_is_kept_and_another_message_makes_another() {
    let world = World::new();
    let source = bead(&world, "x", "main", &[("c", Some("c\n"))]);
    let bench = world.bench();
    let first = ready(&bench, &source, "x");
    git(&world.repo(), &["reflog", "expire", "--expire=now", "--all"]);
    git(&world.repo(), &["gc", "-q", "--prune=now"]);
    assert_eq!(ready(&bench, &source, "x"), first, "gc did not take it");
    let mut other = message("x");
    other.title = format!("  Another\n\ttitle {}", "x".repeat(300));
    let Prepared::Ready(second) = bench.landing().prepare(&source, "main", &other).unwrap() else {
        panic!("it is not ready")
    };
    assert_ne!(first.commit, second.commit);
    assert_eq!(bench.landing().finish(&second).unwrap(), Landed::Done);
    let title = git(&world.repo(), &["show", "-s", "--format=%s", "main"]);
    assert!(title.starts_with("Another title xxx") && title.len() == 200, "{title}");
    // The first can never land any more.
    let landed = bench.landing().finish(&first).unwrap();
    assert_eq!(landed, Landed::Moved { now: second.commit });
    for (name, email) in [("", "a@b"), ("A <b>", "a@b"), ("A", "a\nb")] {
        let mut bad = message("x");
        bad.author.name = name.to_owned();
        bad.author.email = email.to_owned();
        assert!(bench.landing().prepare(&source, "main", &bad).is_err(), "{name:?} {email:?}");
    }
}

/// Kills a landing together with its gits some time after it began; tells whether that was in time.
fn cut_off(world: &World, source: &str, after: Duration) -> bool {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["land::child", "--exact"])
        .env("GODEL_LAND_REPO", world.repo())
        .env("GODEL_TEST_STATE", world.root().join("state"))
        .env("GODEL_LAND_SOURCE", source)
        .stdout(std::process::Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    !child.wait().unwrap().success()
}

#[test]
fn a_landing_that_is_killed_together_with_its_gits_at_any_time_lands_once() {
    let seed: u64 =
        std::env::var("GODEL_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(7);
    let rounds: u64 =
        std::env::var("GODEL_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let mut cuts = 0;
    for round in 0..rounds {
        let world = World::new();
        let repo = world.repo();
        let files: Vec<String> = (0..200).map(|at| format!("many/{at}.txt")).collect();
        for file in &files {
            write(&repo.join(file), "old\n");
        }
        git(&repo, &["add", "--all"]);
        git(&repo, &["commit", "-qm", "many"]);
        let long = "new and long\n".repeat(2000);
        let changes: Vec<(&str, Option<&str>)> =
            files.iter().map(|file| (file.as_str(), Some(long.as_str()))).collect();
        let source = bead(&world, "x", "main", &changes);
        write(&repo.join("a.txt"), "mine\n");
        // Every third time the branch is checked out nowhere.
        let elsewhere = round % 3 == 2;
        if elsewhere {
            git(&repo, &["switch", "-q", "-c", "side"]);
        }
        // The same landing is cut off several times, each time a little later or earlier.
        let mut number = seed.wrapping_mul(round + 1);
        for _ in 0..3 {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let after = Duration::from_millis(20 + (number >> 33) % 160);
            cuts += usize::from(cut_off(&world, &source, after));
        }
        // A lock that git itself left in its own business is for a person to remove, as git says.
        std::fs::remove_file(repo.join(".git/packed-refs.lock")).ok();
        land(&world.bench(), &source);
        is_landed(&world, &source, "x");
        assert_eq!(
            git(&repo, &["status", "--porcelain"]),
            " M a.txt",
            "seed {seed}, round {round}"
        );
        assert_eq!(git(&repo, &["show", "main:many/199.txt"]), long.trim_end());
        assert_eq!(read(&repo.join("many/199.txt")) == long, !elsewhere);
    }
    assert!(cuts > 0, "no landing was cut off");
}
