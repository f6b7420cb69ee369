//! Comparing files that are in no commit.

use std::path::PathBuf;

use godel_git::{Piece, Shape};

use crate::world::{World, git, name, write};

fn piece(path: &str, shape: Shape, bytes: &[u8]) -> Piece {
    Piece { path: path.into(), shape, bytes: bytes.to_vec() }
}

#[test]
fn sides_are_compared_as_git_compares_commits() {
    let (world, home) = (World::new(), tempfile::tempdir().unwrap());
    let left = [
        piece("binary", Shape::File, b"\0one"),
        piece("gone \"it\" \\ \n.txt", Shape::File, b"gone\n"),
        piece("link", Shape::Link, b"/etc/passwd"),
        piece("run", Shape::File, b"echo\n"),
        piece("same/text", Shape::File, b"one\ntwo\n"),
    ];
    let right = [
        piece("binary", Shape::File, b"\0two"),
        piece("git~1", Shape::File, b"new\n"),
        piece("link", Shape::Link, b"elsewhere"),
        piece("run", Shape::Program, b"echo\n"),
        piece("same/text", Shape::File, b"one\n2\n"),
    ];
    let compare = |left: &[Piece], right: &[Piece]| {
        world.bench().compare_files(home.path(), left, right).unwrap()
    };
    let (stat, patch) = compare(&left, &right);
    assert_eq!((stat.files, stat.added, stat.removed), (6, 3, 3), "{patch}");
    for part in [
        "Binary files a/binary and b/binary differ",
        "+++ b/git~1\n",
        "-/etc/passwd\n",
        "new mode 100755\n",
        " one\n-two\n+2\n",
    ] {
        assert!(patch.contains(part), "no {part:?} in {patch}");
    }
    let (back, _) = compare(&right, &left);
    assert_eq!((back.files, back.added, back.removed), (6, 3, 3));
    assert_eq!(compare(&left, &left), Default::default());
    assert_eq!(compare(&[], &[]), Default::default());
    assert_eq!(compare(&[], &left).0.files, 5);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing is left behind");
    world.is_untouched();
}

#[test]
fn rules_are_those_that_are_given_and_those_of_the_machine() {
    let (world, home) = (World::new(), tempfile::tempdir().unwrap());
    write(&world.repo().join(".git/info/exclude"), "*.local\n");
    let rules = [
        (PathBuf::from(".gitignore"), b"build/\n*.env\n".to_vec()),
        (PathBuf::from("sub/.gitignore"), b"!keep.env\n".to_vec()),
    ];
    let all = ["a.env", "build/x", "deep/build/y", "sub/b.env", "x.local"].map(PathBuf::from);
    let not = [":(exclude)x", "plain", "sub/keep.env"].map(PathBuf::from);
    let paths: Vec<PathBuf> = all.iter().chain(&not).cloned().collect();
    let ignored = world.bench().ignored_by(home.path(), &rules, &paths).unwrap();
    let mut ignored: Vec<PathBuf> = ignored.into_iter().collect();
    ignored.sort();
    assert_eq!(ignored, all);
    assert!(world.bench().ignored_by(home.path(), &[], &not).unwrap().is_empty());
    assert!(world.bench().ignored_by(home.path(), &rules, &[]).unwrap().is_empty());
}

#[test]
fn a_worktree_shows_what_git_has_and_what_is_new() {
    let world = World::new();
    assert_eq!(world.bench().present(&name("x")).unwrap(), None);
    let (_, at) = world.create("x");
    write(&at.join(".gitignore"), "secret\n");
    git(&at, &["add", ".gitignore"]);
    git(&at, &["commit", "-q", "-m", "rules"]);
    write(&at.join("secret"), "x");
    write(&at.join("new.txt"), "x");
    let found = world.bench().present(&name("x")).unwrap().unwrap();
    assert_eq!(found.commit, Some(git(&at, &["rev-parse", "HEAD"])));
    assert_eq!(found.new, [PathBuf::from("new.txt")]);
    assert!(found.tracked.contains(&PathBuf::from(".gitignore")));
    assert!(!found.tracked.contains(&PathBuf::from("secret")));
}
