//! Commits of snapshots: kept whatever becomes of their branch, and carried to another repository.

use godel_git::{Error, Workbench};
use godel_model::{Report as _, code};
use uuid::Uuid;

use crate::world::{World, attempt, git, write};

const ID: Uuid = Uuid::from_u128(0x01a1_e2de_a80e_76aa_8694_f10e_77a1_bb67);
const OTHER: Uuid = Uuid::from_u128(0x01a1_e2de_a80e_76aa_8694_f10e_77a1_bb68);

/// A commit on a branch of its own; returns it.
fn work(world: &World) -> String {
    let repo = world.repo();
    git(&repo, &["checkout", "-q", "-b", "side"]);
    write(&repo.join("side.txt"), "from the side\n");
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-q", "-m", "side"]);
    let commit = git(&repo, &["rev-parse", "HEAD"]).trim().to_owned();
    git(&repo, &["checkout", "-q", "main"]);
    commit
}

/// A clone of what is in main.
fn clone(world: &World, name: &str) -> Workbench {
    let (from, to) = (world.repo(), world.root().join(name));
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
    git(&world.root(), &["clone", "-q", "--no-local", "--single-branch", "-b", "main", from, to]);
    world.bench_at(&world.root().join(name))
}

fn has(bench: &Workbench, commit: &str) -> bool {
    attempt(bench.common_dir(), &["cat-file", "-e", commit]).status.success()
}

fn code_of(result: Result<(), Error>) -> godel_model::Code {
    result.expect_err("it is refused").code()
}

#[test]
fn a_kept_commit_outlives_its_branch_until_it_is_let_go() {
    let world = World::new();
    let (bench, commit) = (world.bench(), work(&world));
    for _ in 0..2 {
        bench.pin(ID, &commit).unwrap();
    }
    let clean = || {
        git(&world.repo(), &["reflog", "expire", "--expire=now", "--all"]);
        git(&world.repo(), &["gc", "-q", "--prune=now"]);
    };
    git(&world.repo(), &["branch", "-q", "-D", "side"]);
    clean();
    assert!(has(&bench, &commit));
    for _ in 0..2 {
        bench.unpin(ID).unwrap();
    }
    clean();
    assert!(!has(&bench, &commit));
    assert!(bench.pin(ID, &commit).is_err(), "what is gone cannot be kept");
}

#[test]
fn commits_come_along_to_a_repository_that_has_what_they_build_on() {
    let world = World::new();
    let there = clone(&world, "there");
    let (bench, commit) = (world.bench(), work(&world));
    let file = world.root().join("commits");
    assert!(bench.bundle(ID, Some("main"), &file).is_err(), "only what is kept");
    bench.pin(ID, &commit).unwrap();
    assert!(bench.bundle(ID, Some("main"), &file).unwrap());
    assert_eq!(code_of(there.must_have(&commit)), code::COMMIT_NOT_FOUND);
    there.check_bundle(&commit, &file).unwrap();
    assert!(!has(&there, &commit), "to look changes nothing");
    there.unbundle(OTHER, &commit, &file).unwrap();
    there.must_have(&commit).unwrap();
    let kept = git(&world.root().join("there"), &["for-each-ref", "--format=%(refname)"]);
    assert!(kept.contains(&format!("refs/godel/snapshots/{OTHER}")), "{kept}");
    assert!(!kept.contains("side") && !kept.contains(&ID.to_string()), "{kept}");
    // What the branch has is not carried.
    git(&world.repo(), &["merge", "-q", "side"]);
    assert!(!bench.bundle(ID, Some("main"), &world.root().join("none")).unwrap());
    assert!(!world.root().join("none").exists());
    // Without a branch all of it is.
    assert!(bench.bundle(ID, None, &file).unwrap());
    git(&world.root(), &["init", "-q", "empty"]);
    world.bench_at(&world.root().join("empty")).unbundle(OTHER, &commit, &file).unwrap();
}

#[test]
fn what_is_missing_is_named_and_what_is_damaged_is_refused() {
    let world = World::new();
    let (bench, commit) = (world.bench(), work(&world));
    let file = world.root().join("commits");
    bench.pin(ID, &commit).unwrap();
    bench.bundle(ID, Some("main"), &file).unwrap();
    git(&world.root(), &["init", "-q", "empty"]);
    let empty = world.bench_at(&world.root().join("empty"));
    let main = git(&world.repo(), &["rev-parse", "main"]);
    let refused = empty.unbundle(OTHER, &commit, &file).unwrap_err();
    assert_eq!(refused.code(), code::COMMIT_NOT_FOUND);
    assert!(refused.to_string().contains(main.trim()), "{refused}");

    let there = clone(&world, "there");
    let wrong = there.unbundle(OTHER, main.trim(), &file);
    assert_eq!(code_of(wrong), code::SNAPSHOT_FILE_INVALID);
    let good = std::fs::read(&file).unwrap();
    for bad in [&good[..good.len() - 3], &good[..good.len() / 2], &b"# v2 git bundle\n\n"[..]] {
        std::fs::write(&file, bad).unwrap();
        assert_eq!(code_of(there.unbundle(OTHER, &commit, &file)), code::SNAPSHOT_FILE_INVALID);
        let kept = git(&world.root().join("there"), &["for-each-ref", "refs/godel"]);
        assert_eq!(kept, "");
    }
}
