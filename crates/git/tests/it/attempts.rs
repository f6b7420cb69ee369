//! Attempts: one becomes the branch of its bead, by compare and swap, and the work of none is lost.

use godel_git::{PutAway, Taken};

use crate::crash::killed;
use crate::world::{World, git, name, write};

/// Makes a worktree with a commit and a file that is in none; returns the base and the commit.
fn tried(world: &World, tree: &str) -> (String, String) {
    let base = git(&world.repo(), &["rev-parse", "HEAD"]);
    let (_, at) = world.create(tree);
    write(&at.join("commit.txt"), "committed\n");
    git(&at, &["add", "commit.txt"]);
    git(&at, &["commit", "-q", "-m", "work"]);
    write(&at.join("new.txt"), "untracked\n");
    (base, git(&at, &["rev-parse", "HEAD"]))
}

#[test]
fn an_attempt_that_is_put_away_over_any_kill_is_kept_once_and_leaves_nothing_else() {
    for step in [
        "attempt:kept",
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
    ] {
        let world = World::new();
        let (base, commit) = tried(&world, "x");
        assert_eq!(killed(&world, "put-away", step), step != "none", "{step}");
        // Said twice more, it is the same.
        for _ in 0..2 {
            let away = world.bench().put_away((&name("bead"), 1), &name("x"), &base).unwrap();
            let PutAway { reference, commit: kept, rescued } = away;
            assert_eq!(reference.as_deref(), Some("refs/godel/attempts/bead/1"), "{step}");
            assert_eq!(kept.as_ref(), Some(&commit), "{step}");
            assert_eq!(rescued.len(), 1, "{step}: what was in no commit is saved once");
            assert_eq!(world.show(&rescued[0], "new.txt"), "untracked", "{step}");
        }
        assert_eq!(world.show("refs/godel/attempts/bead/1", "commit.txt"), "committed", "{step}");
        assert_eq!(git(&world.repo(), &["branch", "--list", "bead/*"]), "", "{step}");
        world.is_gone("x");
        world.is_untouched();
    }
}

#[test]
fn an_attempt_without_a_commit_leaves_no_reference() {
    let world = World::new();
    let base = git(&world.repo(), &["rev-parse", "HEAD"]);
    world.create("x");
    let away = world.bench().put_away((&name("bead"), 1), &name("x"), &base).unwrap();
    assert_eq!(away, PutAway::default());
    assert_eq!(git(&world.repo(), &["for-each-ref", "refs/godel"]), "");
    world.is_gone("x");
}

#[test]
fn the_branch_of_a_bead_moves_only_from_where_it_was() {
    let world = World::new();
    let (base, commit) = tried(&world, "x");
    let bench = world.bench();
    let head = || bench.head_of("bead/bead").unwrap();
    // There was none; it is made once, and again is fine.
    let moved = bench.take_over(&name("bead"), &commit, Some(&base)).unwrap();
    assert_eq!((moved, head()), (Taken::Moved(None), None));
    for _ in 0..2 {
        assert_eq!(bench.take_over(&name("bead"), &commit, None).unwrap(), Taken::Done);
        assert_eq!(head().as_ref(), Some(&commit));
    }
    // Somebody has moved it.
    git(&world.repo(), &["branch", "-f", "bead/bead", &base]);
    let moved = bench.take_over(&name("bead"), &commit, None).unwrap();
    assert_eq!((moved, head()), (Taken::Moved(Some(base.clone())), Some(base.clone())));
    // A worktree of the bead goes, and what is in it is saved.
    let (_, tree) = world.create("bead");
    write(&tree.join("more.txt"), "more\n");
    assert_eq!(bench.take_over(&name("bead"), &commit, Some(&base)).unwrap(), Taken::Done);
    assert!(!tree.exists());
    let saved = bench.rescues(Some(&name("bead"))).unwrap();
    assert_eq!(world.show(&saved[0].reference, "more.txt"), "more");
    // One that a person has checked out stays where it is.
    let elsewhere = world.root().join("elsewhere");
    git(&world.repo(), &["worktree", "add", "-q", elsewhere.to_str().unwrap(), "bead/bead"]);
    let refused = bench.take_over(&name("bead"), &base, Some(&commit)).unwrap_err();
    assert!(refused.to_string().contains("checked out by somebody"), "{refused}");
    assert_eq!(head(), Some(commit));
}

#[test]
fn two_attempts_are_compared_line_by_line() {
    let world = World::new();
    let (base, one) = tried(&world, "x");
    let (_, at) = world.create("y");
    write(&at.join("commit.txt"), "differently\n");
    git(&at, &["add", "--all"]);
    git(&at, &["commit", "-q", "-m", "work"]);
    let other = git(&at, &["rev-parse", "HEAD"]);
    let patch = world.bench().compare(&one, &other).unwrap();
    assert!(patch.contains("-committed\n+differently\n"), "{patch}");
    assert!(world.bench().compare(&base, &base).unwrap().is_empty());
}
