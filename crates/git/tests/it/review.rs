//! Reviews: what is shown, what is decided, and what comes of it.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::Instant;

use godel_git::{
    Applied, Apply, Bound, Changes, Decision, LineKind, Lines, Standing, Status, Undecided, Verdict,
};
use godel_model::{Report as _, code};

use crate::land::{bead, message};
use crate::world::{World, attempt, git, name, read, write};

/// Commits all that lies in the work tree, and returns the commit.
pub(crate) fn commit(world: &World) -> String {
    let repo = world.repo();
    git(&repo, &["add", "--all", "--force"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "change"]);
    git(&repo, &["rev-parse", "HEAD"])
}

/// Ten numbered lines with some replaced; `0` is the first.
pub(crate) fn numbered(count: usize, other: &[(usize, &str)]) -> String {
    let line = |at: usize| {
        let found = other.iter().find(|(which, _)| *which == at);
        found.map_or_else(|| format!("line {at}\n"), |(_, text)| (*text).to_owned())
    };
    (0..count).map(line).collect()
}

pub(crate) fn decide(changes: &Changes, path: &str, hunk: usize, verdict: Verdict) -> Decision {
    let file = changes.files.iter().find(|file| file.path == path).unwrap();
    file.parts().nth(hunk).unwrap().decide(None, verdict)
}

/// Commits one file of each kind, and then what may become of it.
fn of_every_kind() -> (World, String, String) {
    let world = World::empty();
    let repo = world.repo();
    write(&repo.join("src/a.rs"), "fn a() {\r\n    let total = 1;\r\n}\r\n");
    write(&repo.join("old name"), &numbered(20, &[]));
    write(&repo.join("run.sh"), "#!/bin/sh\n");
    write(&repo.join("gone"), "x");
    std::fs::write(repo.join("pic"), b"\x00one").unwrap();
    std::fs::write(repo.join("latin"), b"gr\xfc\xdfe\n").unwrap();
    symlink("gone", repo.join("link")).unwrap();
    symlink("gone", repo.join("turns")).unwrap();
    write(&repo.join(".gitattributes"), "*.gen linguist-generated\n");
    write(&repo.join("x.gen"), "one\n");
    write(&repo.join("Cargo.lock"), "one\n");
    let base = commit(&world);
    write(&repo.join("src/a.rs"), "fn a() {\r\n    let sum = 1;\r\n}");
    std::fs::remove_file(repo.join("old name")).unwrap();
    write(&repo.join("new\n\"name\"\t"), &numbered(20, &[(10, "other\n")]));
    std::fs::set_permissions(repo.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(repo.join("gone")).unwrap();
    std::fs::write(repo.join("pic"), b"\x00two!").unwrap();
    std::fs::write(repo.join("latin"), b"gr\xfc\xdfen\n").unwrap();
    for link in ["link", "turns"] {
        std::fs::remove_file(repo.join(link)).unwrap();
    }
    symlink("run.sh", repo.join("link")).unwrap();
    write(&repo.join("turns"), "a file now\n");
    write(&repo.join("x.gen"), "two\n");
    write(&repo.join("Cargo.lock"), "two\n");
    write(&repo.join("empty"), "");
    let head = commit(&world);
    (world, base, head)
}

#[test]
fn every_kind_of_change_is_told_with_its_lines_and_words() {
    let (world, base, head) = of_every_kind();
    let repo = world.repo();
    // What could run must not.
    let marker = world.root().join("ran");
    let runs = format!("touch '{}'; cat", marker.display());
    for setting in ["diff.external", "diff.mine.command", "diff.mine.textconv"] {
        git(&repo, &["config", setting, &runs]);
    }
    write(&repo.join(".git/info/attributes"), "*.rs diff=mine\n");
    git(&repo, &["config", "diff.suppressBlankEmpty", "true"]);
    git(&repo, &["config", "diff.noprefix", "true"]);
    let mut changes = world.bench().reviewing().changes(&base, &head).unwrap();
    assert!(!marker.exists() && !changes.cut);
    let shown: Vec<_> =
        changes.files.iter().map(|file| (file.path.as_str(), file.status)).collect();
    let wanted = [
        ("Cargo.lock", Status::Modified),
        ("empty", Status::Added),
        ("gone", Status::Deleted),
        ("latin", Status::Modified),
        ("link", Status::Modified),
        ("new\n\"name\"\t", Status::Renamed),
        ("pic", Status::Modified),
        ("run.sh", Status::ModeChanged),
        ("src/a.rs", Status::Modified),
        ("turns", Status::TypeChanged),
        ("x.gen", Status::Modified),
    ];
    assert_eq!(shown, wanted);
    let file = |path: &str| changes.files.iter().find(|file| file.path == path).unwrap();
    assert!(file("Cargo.lock").generated && file("x.gen").generated && !file("src/a.rs").generated);
    let pic = file("pic");
    let sizes = [&pic.old, &pic.new].map(|side| side.as_ref().unwrap().size);
    assert_eq!((pic.binary, pic.entire, sizes), (true, true, [Some(4), Some(5)]));
    assert!(file("link").entire && file("turns").entire && file("turns").hunks.is_empty());
    assert_eq!(file("new\n\"name\"\t").old_path.as_deref(), Some("old name"));
    let moved = file("new\n\"name\"\t");
    assert_eq!((moved.hunks.len(), moved.parts().count()), (1, 2), "the name is decided apart");
    let latin = &file("latin").hunks[0].lines;
    assert!(latin.iter().all(|line| line.lossy) && latin[0].text == "gr\u{fffd}\u{fffd}e");
    let lines: Vec<_> = file("src/a.rs").hunks[0]
        .lines
        .iter()
        .map(|line| (line.kind, line.text.as_str(), line.no_newline, line.at))
        .collect();
    let wanted = [
        (LineKind::Context, "fn a() {\r", false, None),
        (LineKind::Removed, "    let total = 1;\r", false, Some(1)),
        (LineKind::Removed, "}\r", false, Some(2)),
        (LineKind::Added, "    let sum = 1;\r", false, Some(3)),
        (LineKind::Added, "}", true, Some(4)),
    ];
    assert_eq!(lines, wanted);
    let at = changes.files.iter().position(|file| file.path == "src/a.rs").unwrap();
    changes.files[at].mark_words();
    let marked = &changes.files[at].hunks[0].lines;
    assert_eq!((&marked[1].marks, &marked[3].marks), (&vec![(8, 13)], &vec![(8, 11)]));
}

#[test]
fn decisions_are_found_again_after_a_push_or_told_as_changed_or_gone() {
    let world = World::empty();
    let path = world.repo().join("a.txt");
    write(&path, &numbered(60, &[]));
    let base = commit(&world);
    let edits = [(10, "ten, changed\n"), (30, "thirty, changed\n"), (50, "fifty, changed\n")];
    write(&path, &numbered(60, &edits));
    let head = commit(&world);
    let bench = world.bench();
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    let decisions: Vec<_> =
        (0..3).map(|at| decide(&changes, "a.txt", at, Verdict::Accepted)).collect();
    assert_eq!(changes.bind(&decisions), [Bound::Bound; 3]);
    // The first only moves, the second is amended, the third is taken back.
    let edits = [(10, "ten, changed\n"), (30, "thirty, and better\n")];
    write(&path, &format!("new on top\n{}", numbered(60, &edits)));
    let pushed = commit(&world);
    let changes = bench.reviewing().changes(&base, &pushed).unwrap();
    assert_eq!(changes.bind(&decisions), [Bound::Bound, Bound::Changed, Bound::Gone]);
    let standings = changes.standings(&decisions);
    let of = |hunk: usize| standings[&changes.files[0].hunks[hunk].key];
    assert_eq!(
        [of(0), of(1), of(2)],
        [Standing::Undecided, Standing::Accepted, Standing::Undecided]
    );
    // The whole file is as it was.
    write(&path, &numbered(60, &[]));
    let undone = commit(&world);
    let changes = bench.reviewing().changes(&base, &undone).unwrap();
    assert_eq!(changes.bind(&decisions), [Bound::Gone; 3]);
}

#[test]
fn equal_hunks_are_decided_each_for_itself() {
    let world = World::empty();
    let path = world.repo().join("a.txt");
    let block = |word: &str| format!("{}begin\n{word}\nend\n", "same\n".repeat(9));
    write(&path, &block("old").repeat(3));
    let base = commit(&world);
    write(&path, &block("new").repeat(3));
    let head = commit(&world);
    let bench = world.bench();
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    assert_eq!(changes.files[0].hunks.len(), 3);
    let decisions = [decide(&changes, "a.txt", 1, Verdict::Rejected)];
    let tree = bench.reviewing().build(&changes, &decisions, Undecided::Keep).unwrap();
    let wanted = format!("{}{}{}", block("new"), block("old"), block("new"));
    assert_eq!(world.show(&tree, "a.txt"), wanted.trim_end());
}

#[test]
fn lines_and_edits_make_the_file_that_was_meant() {
    let world = World::empty();
    let path = world.repo().join("a.txt");
    write(&path, "one\ntwo\nthree\nfour");
    let base = commit(&world);
    write(&path, "one\nTWO\nand more\nthree\nFOUR\n");
    let head = commit(&world);
    let bench = world.bench();
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    let part = changes.parts().next().unwrap();
    let build = |decisions: &[Decision]| {
        let tree = bench.reviewing().build(&changes, decisions, Undecided::LeaveOut).unwrap();
        let bytes = attempt(&world.repo(), &["cat-file", "blob", &format!("{tree}:a.txt")]).stdout;
        String::from_utf8(bytes).unwrap()
    };
    // -two +TWO +and more  three -four +FOUR
    let lines = |from, to| part.decide(Some(Lines { from, to }), Verdict::Accepted);
    assert_eq!(build(&[]), "one\ntwo\nthree\nfour");
    assert_eq!(build(&[lines(1, 2)]), "one\nTWO\nthree\nfour");
    assert_eq!(build(&[lines(3, 3)]), "one\ntwo\nand more\nthree\nfour");
    assert_eq!(build(&[lines(6, 6)]), "one\ntwo\nthree\nfour\nFOUR\n", "a line gets its end");
    assert_eq!(build(&[lines(1, 6)]), "one\nTWO\nand more\nthree\nFOUR\n");
    let all = part.decide(None, Verdict::Accepted);
    let rejected = part.decide(Some(Lines { from: 3, to: 3 }), Verdict::Rejected);
    assert_eq!(build(&[all.clone(), rejected]), "one\nTWO\nthree\nFOUR\n", "a later one counts");
    let how = |decisions: &[Decision]| {
        (changes.standings(decisions)[part.key()], changes.open(decisions))
    };
    assert_eq!(how(&[lines(1, 2)]), (Standing::Undecided, 1));
    assert_eq!(how(&[lines(1, 6)]), (Standing::Accepted, 0));
    let one = part.decide(Some(Lines { from: 1, to: 1 }), Verdict::Rejected);
    assert_eq!(how(&[one]), (Standing::Mixed, 1));
    let edited = part.decide(None, Verdict::Edited("2\n3\n4".to_owned()));
    assert_eq!(build(std::slice::from_ref(&edited)), "one\n2\n3\n4");
    assert_eq!(build(&[edited, all]), "one\nTWO\nand more\nthree\nFOUR\n");
}

#[test]
fn a_name_and_a_mode_are_decided_apart_from_the_lines() {
    let world = World::empty();
    let repo = world.repo();
    write(&repo.join("before"), &numbered(20, &[]));
    let base = commit(&world);
    git(&repo, &["mv", "before", "after"]);
    write(&repo.join("after"), &numbered(20, &[(10, "other\n")]));
    std::fs::set_permissions(repo.join("after"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let head = commit(&world);
    let bench = world.bench();
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    let build = |hunk: Verdict, file: Verdict| {
        let decisions = [decide(&changes, "after", 0, hunk), decide(&changes, "after", 1, file)];
        let tree = bench.reviewing().build(&changes, &decisions, Undecided::LeaveOut).unwrap();
        let listed = git(&repo, &["ls-tree", &tree]);
        let same = listed.contains(&changes.files[0].old.as_ref().unwrap().id);
        (listed.split(' ').next().unwrap().to_owned(), listed.contains("\tafter"), same)
    };
    let (yes, no) = (Verdict::Accepted, Verdict::Rejected);
    assert_eq!(build(yes.clone(), no.clone()), ("100644".to_owned(), false, false));
    assert_eq!(build(no.clone(), yes.clone()), ("100755".to_owned(), true, true));
    assert_eq!(build(no.clone(), no), ("100644".to_owned(), false, true));
    assert_eq!(build(yes.clone(), yes), ("100755".to_owned(), true, false));
}

#[test]
fn a_file_in_the_way_of_a_directory_is_refused_with_both_names() {
    let world = World::empty();
    let repo = world.repo();
    write(&repo.join("x"), "a file\n");
    let base = commit(&world);
    std::fs::remove_file(repo.join("x")).unwrap();
    write(&repo.join("x/y"), "in a directory\n");
    let head = commit(&world);
    let bench = world.bench();
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    let kept = [decide(&changes, "x", 0, Verdict::Rejected)];
    let error = bench.reviewing().build(&changes, &kept, Undecided::Keep).unwrap_err();
    assert_eq!(error.code(), code::INVALID_FIELD);
    assert!(error.to_string().contains("\"x\" and \"x/y\""), "{error}");
    let tree = bench.reviewing().build(&changes, &[], Undecided::Keep).unwrap();
    assert_eq!(tree, git(&repo, &["rev-parse", &format!("{head}^{{tree}}")]));
    let patch = bench.reviewing().export(&base, &tree).unwrap();
    assert_eq!(applied(&world, &base, &patch), tree);
}

/// Applies a patch as a person would, in a checkout of its own, and returns the id of the files.
fn applied(world: &World, base: &str, patch: &[u8]) -> String {
    let (tree, file) = (world.root().join("checkout"), world.root().join("the.patch"));
    git(&world.repo(), &["worktree", "add", "-q", "--detach", tree.to_str().unwrap(), base]);
    std::fs::write(&file, patch).unwrap();
    git(&tree, &["apply", "--index", "--allow-empty", file.to_str().unwrap()]);
    let id = git(&tree, &["write-tree"]);
    assert_eq!(git(&tree, &["diff", "--stat"]), "", "the files are as the index says");
    git(&world.repo(), &["worktree", "remove", "--force", tree.to_str().unwrap()]);
    id
}

#[test]
fn what_was_accepted_becomes_a_commit_of_the_person_and_its_checkout_follows() {
    let world = World::new();
    let repo = world.repo();
    write(&repo.join("long.txt"), &numbered(40, &[]));
    commit(&world);
    let (_, tree) = world.create("x");
    write(&tree.join("long.txt"), &numbered(40, &[(5, "five!\n"), (30, "thirty!\n")]));
    git(&tree, &["commit", "-qam", "work"]);
    let head = git(&tree, &["rev-parse", "HEAD"]);
    let (bench, branch) = (world.bench(), name("x").branch());
    let base = bench.reviewing().base("main", &head).unwrap().unwrap();
    assert_eq!(base, git(&repo, &["rev-parse", "main"]));
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    let decisions = [decide(&changes, "long.txt", 1, Verdict::Rejected)];
    let message = message("x");
    let apply = Apply {
        branch: &branch,
        target: "main",
        decisions: &decisions,
        undecided: Undecided::Keep,
        message: &message,
    };
    let all = Apply { decisions: &[], ..apply.clone() };
    let unchanged = bench.reviewing().apply(&changes, &all).unwrap();
    assert!(matches!(unchanged, Applied::Unchanged { .. }), "{unchanged:?}");
    let done = bench.reviewing().apply(&changes, &apply).unwrap();
    let Applied::Done { commit: id, tree: files, conflicts } = done else { panic!("{done:?}") };
    assert!(conflicts.is_empty());
    assert_eq!(git(&repo, &["rev-parse", &branch]), id);
    assert_eq!(git(&repo, &["rev-parse", &format!("{id}^{{tree}}")]), files);
    assert_eq!(git(&repo, &["show", "-s", "--format=%an %P", &id]), format!("Bea Dee {head}"));
    assert_eq!(read(&tree.join("long.txt")), numbered(40, &[(5, "five!\n")]));
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    world.is_untouched();
    // Twice is once; and for another decision the branch is elsewhere now.
    let again = bench.reviewing().apply(&changes, &apply).unwrap();
    assert!(matches!(&again, Applied::Done { commit, .. } if *commit == id), "{again:?}");
    let other = [decide(&changes, "long.txt", 0, Verdict::Rejected)];
    let other = Apply { decisions: &other, ..apply };
    let moved = bench.reviewing().apply(&changes, &other).unwrap();
    assert_eq!(moved, Applied::Moved { now: id });
}

#[test]
fn drift_of_the_target_is_told_with_its_files() {
    let world = World::new();
    let work = [("a.txt", Some("by the bead\n")), ("dir/b.txt", Some("b\n"))];
    let head = bead(&world, "x", "main", &work);
    let (bench, branch) = (world.bench(), name("x").branch());
    let base = bench.reviewing().base("main", &head).unwrap().unwrap();
    write(&world.repo().join("a.txt"), "by a person\n");
    commit(&world);
    assert_eq!(bench.reviewing().base("main", &head).unwrap().unwrap(), base);
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    let decisions = [decide(&changes, "dir/b.txt", 0, Verdict::Rejected)];
    let message = message("x");
    let apply = Apply {
        branch: &branch,
        target: "main",
        decisions: &decisions,
        undecided: Undecided::Keep,
        message: &message,
    };
    let done = bench.reviewing().apply(&changes, &apply).unwrap();
    let Applied::Done { conflicts, .. } = done else { panic!("{done:?}") };
    assert_eq!(conflicts, ["a.txt"]);
}

#[test]
fn what_is_too_long_is_cut_and_decided_as_a_whole() {
    let world = World::empty();
    let repo = world.repo();
    write(&repo.join("long"), "begin\n");
    std::fs::write(repo.join("large"), b"x\n").unwrap();
    let base = commit(&world);
    write(&repo.join("long"), &"more\n".repeat(40_000));
    write(&repo.join("large"), &"y".repeat(9 << 20));
    let head = commit(&world);
    let bench = world.bench();
    let changes = bench.reviewing().changes(&base, &head).unwrap();
    assert!(changes.cut);
    for file in &changes.files {
        assert!(file.cut && file.entire && file.hunks.is_empty(), "{}", file.path);
    }
    let decisions = [decide(&changes, "long", 0, Verdict::Accepted)];
    let tree = bench.reviewing().build(&changes, &decisions, Undecided::LeaveOut).unwrap();
    assert_eq!(world.show(&tree, "large"), "x");
    assert_eq!(world.show(&tree, "long").lines().count(), 40_000);
}

/// Shows how long a large change takes; run it with `--ignored --nocapture` and `--release`.
#[test]
#[ignore = "it measures and asserts nothing about time"]
fn five_hundred_files_with_twenty_thousand_lines() {
    let world = World::empty();
    let text = |other: &str| -> String {
        (0..400)
            .map(|at| if at % 20 == 7 { format!("{other} {at}\n") } else { format!("line {at}\n") })
            .collect()
    };
    for at in 0..500 {
        write(&world.repo().join(format!("d{}/f{at}.rs", at % 20)), &text("let before ="));
    }
    let base = commit(&world);
    for at in 0..500 {
        write(&world.repo().join(format!("d{}/f{at}.rs", at % 20)), &text("let after ="));
    }
    let head = commit(&world);
    let bench = world.bench();
    for _ in 0..3 {
        let begun = Instant::now();
        let mut changes = bench.reviewing().changes(&base, &head).unwrap();
        let read = begun.elapsed();
        changes.files.iter_mut().for_each(godel_git::FileChange::mark_words);
        let marked = begun.elapsed();
        let json = serde_json::to_vec(&changes).unwrap().len();
        let lines: u32 = changes.files.iter().map(|file| file.added + file.removed).sum();
        assert_eq!((changes.files.len(), lines), (500, 20_000));
        println!(
            "read {read:?}, with words {marked:?}, with JSON of {json} bytes {:?}",
            begun.elapsed()
        );
    }
}
