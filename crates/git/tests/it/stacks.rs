//! Beads that land together, each way in which work can land, and how it is taken back.

use std::path::Path;

use godel_git::{How, Landed, Load, Placed, Prepared, Span, Stack, Workbench};

use crate::land::{bead, message};
use crate::world::{World, git, read, write};

fn load(id: &str, source: &str) -> Load {
    Load { message: message(id), source: source.to_owned(), again: None }
}

fn stack(bench: &Workbench, loads: &[Load], how: How) -> Stack {
    bench.landing().stack(loads, "main", how).unwrap()
}

fn land(bench: &Workbench, stack: &Stack) {
    let merge = stack.merge.as_ref().unwrap();
    assert_eq!(bench.landing().finish(merge).unwrap(), Landed::Done);
}

fn span(placed: &Placed) -> Span {
    match placed {
        Placed::Here { from, to } => Span { from: from.clone(), to: to.clone() },
        other => panic!("{other:?}"),
    }
}

/// The first line of each commit of a branch that a landing made, newest first.
fn line(repo: &Path) -> Vec<String> {
    let said = git(repo, &["log", "--first-parent", "--format=%s", "main"]);
    said.lines().map(str::to_owned).collect()
}

/// Commits a file on the branch, as a person does.
fn commit(world: &World, file: &str, text: &str) {
    write(&world.repo().join(file), text);
    git(&world.repo(), &["add", "--all"]);
    git(&world.repo(), &["commit", "-q", "-m", "by a person"]);
}

fn world() -> (World, Workbench) {
    let world = World::new();
    for file in ["a.txt", "b.txt", "c.txt"] {
        commit(&world, file, "one\ntwo\nthree\n");
    }
    let bench = world.bench();
    (world, bench)
}

#[test]
fn three_beads_land_as_one_commit_of_the_branch_and_each_can_be_taken_back_alone() {
    let (world, bench) = world();
    let loads: Vec<Load> = ["a", "b", "c"]
        .map(|id| load(id, &bead(&world, id, "main", &[(&format!("{id}.txt"), Some(id))])))
        .into();
    let before = line(&world.repo()).len();
    let stacked = stack(&bench, &loads, How::Merge);
    assert_eq!(line(&world.repo()).len(), before, "nothing moves before it is judged");
    land(&bench, &stacked);
    let now = line(&world.repo());
    assert_eq!((now.len(), now[0].as_str()), (before + 1, "Land 3 beads"));
    let said = git(&world.repo(), &["log", "-1", "--format=%B", "main"]);
    for id in ["a", "b", "c"] {
        assert!(said.contains(&format!("- Land {id}\n")), "{said}");
        assert!(said.contains(&format!("\nBead: {id}")), "{said}");
        assert_eq!(read(&world.repo().join(format!("{id}.txt"))), id, "files follow");
    }
    for load in &loads {
        assert!(bench.is_ancestor(&load.source, "main").unwrap());
    }
    assert_eq!(git(&world.repo(), &["for-each-ref", "refs/godel/landing"]), "");

    let undone = bench.landing().undo(&span(&stacked.placed[1]), "main", &message("b")).unwrap();
    let Prepared::Ready(merge) = undone else { panic!("{undone:?}") };
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    assert_eq!(read(&world.repo().join("b.txt")), "one\ntwo\nthree\n");
    assert_eq!(
        (read(&world.repo().join("a.txt")), read(&world.repo().join("c.txt"))),
        ("a".into(), "c".into())
    );
    let again = bench.landing().undo(&span(&stacked.placed[1]), "main", &message("b")).unwrap();
    assert!(matches!(again, Prepared::AlreadyThere { .. }), "{again:?}");
}

#[test]
fn what_conflicts_is_left_out_and_it_is_told_with_whom() {
    let (world, bench) = world();
    let old = git(&world.repo(), &["rev-parse", "main"]);
    commit(&world, "c.txt", "one\nother\nthree\n");
    let first = bead(&world, "first", &old, &[("a.txt", Some("first\n"))]);
    let rival = bead(&world, "rival", &old, &[("a.txt", Some("rival\n"))]);
    let stale = bead(&world, "stale", &old, &[("c.txt", Some("stale\n"))]);
    let loads = [
        load("first", &first),
        load("rival", &rival),
        load("stale", &stale),
        load("again", &first),
    ];
    let stacked = stack(&bench, &loads, How::Merge);
    let (mine, main) = (vec!["a.txt".to_owned()], vec!["c.txt".to_owned()]);
    assert_eq!(stacked.placed[1], Placed::Conflict { files: mine, with_branch: false });
    assert_eq!(stacked.placed[2], Placed::Conflict { files: main, with_branch: true });
    let twin = Placed::Conflict { files: Vec::new(), with_branch: false };
    assert_eq!(stacked.placed[3], twin, "the same once more waits until it is there");
    land(&bench, &stacked);
    assert_eq!(line(&world.repo())[0], "Land first", "one alone is a merge of its own");
    assert_eq!(stack(&bench, &loads[3..], How::Merge).merge, None);
}

#[test]
fn what_comes_along_with_other_work_has_not_landed_before_that_does() {
    let (world, bench) = world();
    let first = bead(&world, "first", "main", &[("a.txt", Some("a\n"))]);
    let more = bead(&world, "more", &first, &[("b.txt", Some("b\n"))]);
    let stacked = stack(&bench, &[load("more", &more), load("first", &first)], How::Merge);
    let later = Placed::Conflict { files: Vec::new(), with_branch: false };
    assert_eq!(stacked.placed[1], later, "{:?}", stacked.placed);
    land(&bench, &stacked);
    assert_eq!(stack(&bench, &[load("first", &first)], How::Merge).placed, [Placed::AlreadyThere]);
}

#[test]
fn work_that_was_taken_back_is_laid_anew() {
    let (world, bench) = world();
    let source = bead(&world, "x", "main", &[("a.txt", Some("x\n"))]);
    let stacked = stack(&bench, &[load("x", &source)], How::Merge);
    land(&bench, &stacked);
    let part = span(&stacked.placed[0]);
    let undone = bench.landing().undo(&part, "main", &message("x")).unwrap();
    let Prepared::Ready(undo) = undone else { panic!("{undone:?}") };
    assert_eq!(bench.landing().finish(&undo).unwrap(), Landed::Done);
    // Git thinks that the branch has it.
    assert_eq!(stack(&bench, &[load("x", &source)], How::Merge).placed, [Placed::AlreadyThere]);
    let again = stack(&bench, &[Load { again: Some(part), ..load("x", &source) }], How::Merge);
    land(&bench, &again);
    assert_eq!(read(&world.repo().join("a.txt")), "x\n");
}

#[test]
fn a_squash_is_one_commit_and_is_known_when_it_is_there() {
    let (world, bench) = world();
    let source = bead(&world, "x", "main", &[("a.txt", Some("x\n")), ("new.txt", Some("y\n"))]);
    let loads = [load("x", &source)];
    let stacked = stack(&bench, &loads, How::Squash);
    land(&bench, &stacked);
    let said = git(&world.repo(), &["log", "-1", "--format=%P|%an|%s", "main"]);
    assert_eq!(said, format!("{}|Bea Dee|Land x", stacked.before));
    assert_eq!(stack(&bench, &loads, How::Squash).placed, [Placed::AlreadyThere]);
    // Killed before it was noted that it landed: the same call says so.
    let merge = stacked.merge.as_ref().unwrap();
    commit(&world, "a.txt", "later\n");
    assert_eq!(bench.landing().finish(merge).unwrap(), Landed::Done);
}

#[test]
fn a_rebase_keeps_commits_their_authors_and_their_words() {
    let (world, bench) = world();
    bead(&world, "x", "main", &[("a.txt", Some("x\n"))]);
    let tree = world.root().join("more");
    git(&world.repo(), &["worktree", "add", "-q", tree.to_str().unwrap(), "bead/x"]);
    write(&tree.join("b.txt"), "y\n");
    let said = "Second\n\nWhy.\n\nSigned-off-by: Ann <ann@example.com>";
    let (who, date) = ("--author=Ann Other <ann@example.com>", "--date=@1700000000 +0200");
    git(&tree, &["commit", "-q", "-a", "-m", said, who, date]);
    let source = git(&tree, &["rev-parse", "HEAD"]);
    commit(&world, "c.txt", "moved on\n");
    let stacked = stack(&bench, &[load("x", &source)], How::Rebase);
    land(&bench, &stacked);
    let log =
        git(&world.repo(), &["log", "-2", "--format=%s|%an|%ad|%cn|%P", "--date=raw", "main"]);
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].starts_with("Second|Ann Other|1700000000 +0200|Bea Dee|"), "{log}");
    assert!(lines[1].starts_with("work|") && lines[1].ends_with(&stacked.before), "{log}");
    let words = git(&world.repo(), &["log", "-1", "--format=%B", "main"]);
    assert!(words.ends_with("Signed-off-by: Ann <ann@example.com>\nBead: x"), "{words}");
    let first = git(&world.repo(), &["log", "-1", "--format=%B", "main^"]);
    assert_eq!(first, "work\n\nBead: x");

    let undone = bench.landing().undo(&span(&stacked.placed[0]), "main", &message("x")).unwrap();
    let Prepared::Ready(merge) = undone else { panic!("{undone:?}") };
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    let (back, now) = (bench.tree_of(&stacked.before).unwrap(), bench.tree_of("main").unwrap());
    assert_eq!(back, now, "all commits of it are taken back");
}

#[test]
fn work_that_merged_the_branch_is_rebased_as_one_commit() {
    let (world, bench) = world();
    bead(&world, "x", "main", &[("a.txt", Some("x\n"))]);
    commit(&world, "b.txt", "main\n");
    let tree = world.root().join("more");
    git(&world.repo(), &["worktree", "add", "-q", tree.to_str().unwrap(), "bead/x"]);
    git(&tree, &["merge", "-q", "-m", "with main", "main"]);
    let source = git(&tree, &["rev-parse", "HEAD"]);
    let stacked = stack(&bench, &[load("x", &source)], How::Rebase);
    land(&bench, &stacked);
    let said = git(&world.repo(), &["log", "-1", "--format=%P|%s", "main"]);
    assert_eq!(said, format!("{}|Land x", stacked.before));
}

#[test]
fn what_cannot_be_taken_back_is_told() {
    let (world, bench) = world();
    let source = bead(&world, "x", "main", &[("a.txt", Some("x\n"))]);
    let stacked = stack(&bench, &[load("x", &source)], How::Merge);
    let error = bench.landing().undo(&span(&stacked.placed[0]), "main", &message("x"));
    assert!(error.unwrap_err().to_string().contains("does not have the commit"));
    land(&bench, &stacked);
    commit(&world, "a.txt", "built upon\n");
    let undone = bench.landing().undo(&span(&stacked.placed[0]), "main", &message("x")).unwrap();
    assert_eq!(undone, Prepared::Conflict { files: vec!["a.txt".to_owned()] });
    assert!(bench.landing().stack(&[], "main", How::Merge).is_err());
}

/// Repairs a bead that conflicts with main in `a.txt`, as an agent does, and does more if it is told to.
fn repaired(world: &World, id: &str, more: impl FnOnce(&Path)) -> String {
    let tree = world.root().join(format!("{id}-repair"));
    git(&world.repo(), &["worktree", "add", "-q", tree.to_str().unwrap(), &format!("bead/{id}")]);
    // It ends with a conflict, which is what is repaired.
    crate::world::attempt(&tree, &["merge", "-q", "main"]);
    write(&tree.join("a.txt"), "both\n");
    more(&tree);
    git(&tree, &["add", "--all"]);
    git(&tree, &["commit", "-q", "-m", "repaired"]);
    git(&tree, &["rev-parse", "HEAD"])
}

#[test]
fn a_repair_is_honest_if_it_changes_nothing_but_the_conflict() {
    let (world, bench) = world();
    let old = git(&world.repo(), &["rev-parse", "main"]);
    commit(&world, "a.txt", "main\n");
    commit(&world, "c.txt", "also main\n");
    let beyond = |id: &str, more: fn(&Path)| {
        let source = bead(&world, id, &old, &[("a.txt", Some("mine\n")), ("own.txt", Some("x\n"))]);
        let mended = repaired(&world, id, more);
        bench.landing().beyond_repair(&source, &mended, "main").unwrap()
    };
    assert_eq!(beyond("honest", |_| ()), None);
    let more = beyond("more", |tree| write(&tree.join("b.txt"), "slipped in\n"));
    assert_eq!(more.as_deref(), Some("it changes b.txt"));
    let own = beyond("own", |tree| write(&tree.join("own.txt"), "other than was allowed\n"));
    assert_eq!(own.as_deref(), Some("it changes own.txt"));
    let theirs = beyond("theirs", |tree| write(&tree.join("c.txt"), "one\ntwo\nthree\n"));
    assert_eq!(theirs.as_deref(), Some("it changes c.txt"), "what main has was undone");
    let mode = beyond("mode", |tree| {
        let file = tree.join("b.txt");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    });
    assert_eq!(mode.as_deref(), Some("it changes b.txt"));
}

#[test]
fn a_repair_that_replaces_what_was_allowed_is_none() {
    let (world, bench) = world();
    let old = git(&world.repo(), &["rev-parse", "main"]);
    commit(&world, "a.txt", "main\n");
    let source = bead(&world, "x", &old, &[("a.txt", Some("mine\n"))]);
    let other = bead(&world, "y", "main", &[("a.txt", Some("both\n"))]);
    let said = bench.landing().beyond_repair(&source, &other, "main").unwrap();
    assert_eq!(said.as_deref(), Some("it is not built on the work that was allowed"));
}
