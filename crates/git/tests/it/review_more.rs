//! Reviews: lines outside of hunks, taking back what was applied, and both sides of a conflict.

use godel_git::{Applied, Apply, Changes, Side, Spoken, Undecided, Verdict};

use crate::land::{bead, message};
use crate::review::{commit, decide, numbered};
use crate::world::{World, git, name, write};

fn side_of(changes: &Changes, path: &str, new: bool) -> Side {
    let file = changes.files.iter().find(|file| file.path == path).unwrap();
    if new { file.new.clone().unwrap() } else { file.old.clone().unwrap() }
}

#[test]
fn lines_outside_of_hunks_are_read_on_both_sides() {
    let world = World::empty();
    let repo = world.repo();
    write(&repo.join("old"), &numbered(50, &[]));
    std::fs::write(repo.join("bin"), b"\x00a").unwrap();
    write(&repo.join("large"), "x\n");
    let base = commit(&world);
    std::fs::remove_file(repo.join("old")).unwrap();
    let changed = numbered(50, &[(10, "ten\nand more\n")]);
    let mut changed = changed.into_bytes();
    changed.extend_from_slice(b"gr\xfc\xdfe");
    std::fs::write(repo.join("new"), changed).unwrap();
    std::fs::write(repo.join("bin"), b"\x00b").unwrap();
    write(&repo.join("large"), &"y".repeat(9 << 20));
    let head = commit(&world);
    let bench = world.bench();
    let reviewing = bench.reviewing();
    let changes = reviewing.changes(&base, &head).unwrap();
    let new = reviewing.excerpt(&side_of(&changes, "new", true), (50, 60)).unwrap();
    assert_eq!(new.total, 52);
    let last = Spoken { number: 52, text: "gr��e".to_owned(), lossy: true, no_newline: true };
    assert_eq!(new.lines.last(), Some(&last));
    assert_eq!(new.lines.len(), 3);
    let old = reviewing.excerpt(&side_of(&changes, "new", false), (1, 2)).unwrap();
    assert_eq!((old.total, old.lines[0].number, old.lines.len()), (50, 1, 2));
    for (span, path) in [((0, 1), "new"), ((2, 1), "new"), ((1, 1_001), "new")] {
        let error = reviewing.excerpt(&side_of(&changes, path, true), span).unwrap_err();
        assert!(error.to_string().contains("cannot be read"), "{error}");
    }
    for (path, why) in [("bin", "binary"), ("large", "bytes")] {
        let error = reviewing.excerpt(&side_of(&changes, path, true), (1, 2)).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(reviewing.excerpt(&side_of(&changes, "new", true), (90, 95)).unwrap().lines, []);
}

/// Applies that `b.txt` is rejected, and returns the commits before and after.
fn applied(world: &World) -> (String, String) {
    let work = [("a.txt", Some("by the bead\n")), ("dir/b.txt", Some("b\n"))];
    let head = bead(world, "x", "main", &work);
    let (bench, branch) = (world.bench(), name("x").branch());
    let base = bench.reviewing().base("main", &head).unwrap().unwrap();
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    let decisions = [decide(&changes, "dir/b.txt", 0, Verdict::Rejected)];
    let mut message = message("x");
    "Take over x".clone_into(&mut message.title);
    "ann@people.godel.invalid".clone_into(&mut message.author.email);
    let apply = Apply {
        branch: &branch,
        target: "main",
        decisions: &decisions,
        undecided: Undecided::Keep,
        message: &message,
    };
    let done = bench.reviewing().apply(&changes, &apply).unwrap();
    let Applied::Done { commit, .. } = done else { panic!("{done:?}") };
    (head, commit)
}

#[test]
fn what_was_applied_is_taken_back_unless_something_came_since() {
    let world = World::new();
    let (before, commit) = applied(&world);
    let bench = world.bench();
    let (reviewing, branch) = (bench.reviewing(), name("x").branch());
    assert_eq!(reviewing.takeover(&before, "Take over x").unwrap(), None, "an agent's commit");
    assert_eq!(reviewing.takeover(&commit, "Take over y").unwrap(), None, "of another bead");
    let done = reviewing.takeover(&commit, "Take over x").unwrap().unwrap();
    assert_eq!((&done.commit, &done.before), (&commit, &before));
    let mut back = message("x");
    "Undo it".clone_into(&mut back.title);
    let undone = reviewing.take_back(&branch, &done, &back).unwrap();
    let Applied::Done { commit: now, .. } = undone else { panic!("{undone:?}") };
    assert_eq!(world.show(&now, "dir/b.txt"), "b");
    // Nothing goes from the history, and it is not taken back twice.
    assert_eq!(git(&world.repo(), &["rev-parse", &format!("{now}^")]), commit);
    assert_eq!(reviewing.takeover(&now, "Take over x").unwrap(), None);
    let again = reviewing.take_back(&branch, &done, &message("x")).unwrap();
    assert_eq!(again, Applied::Moved { now });
}

#[test]
fn a_conflict_is_told_with_both_sides() {
    let world = World::new();
    let work = [("a.txt", Some("top\nby the bead\nend\n")), ("gone.txt", Some("mine\n"))];
    write(&world.repo().join("a.txt"), "top\nas it was\nend\n");
    write(&world.repo().join("gone.txt"), "x\n");
    commit(&world);
    let head = bead(&world, "x", "main", &work);
    let bench = world.bench();
    assert_eq!(bench.reviewing().clashes("main", &head).unwrap().files, []);
    write(&world.repo().join("a.txt"), "top\nby a person\nend\n");
    std::fs::remove_file(world.repo().join("gone.txt")).unwrap();
    let target = commit(&world);
    let found = bench.reviewing().clashes("main", &head).unwrap();
    assert_eq!((found.target, found.head, found.cut), (target, head, false));
    let names: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["a.txt", "gone.txt"]);
    let spot = &found.files[0].spots[0];
    assert_eq!(spot.above, ["top"]);
    assert_eq!(spot.target, ["by a person"]);
    assert_eq!(spot.base, ["as it was"]);
    assert_eq!(spot.work, ["by the bead"]);
    assert_eq!(spot.below, ["end"]);
    assert_eq!(found.files[1].why, "the branch removed it, and the work changes it");
}
