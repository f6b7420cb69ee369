//! Landing a bead on a branch: once, whole, and without losing what a person has lying about.

use std::path::{Path, PathBuf};
use std::process::Command;

use godel_git::{Author, Host, Landed, Merge, Message, Prepared, Workbench};
use godel_model::{Report as _, SystemClock, code};

use crate::crash::die;
use crate::world::{World, attempt, git, name, read, write};

pub(crate) fn message(bead: &str) -> Message {
    let author = Author { name: "Bea Dee".to_owned(), email: "bea@example.com".to_owned() };
    let (title, body) = (format!("Land {bead}"), "Why it was done.\n\nAnd how.".to_owned());
    Message { bead: name(bead), title, body, author }
}

/// Commits changes of a bead on its branch, in a worktree that goes again; a text of `None` deletes.
pub(crate) fn bead(
    world: &World,
    id: &str,
    base: &str,
    changes: &[(&str, Option<&str>)],
) -> String {
    let (tree, branch) = (world.root().join(id), format!("bead/{id}"));
    git(&world.repo(), &["worktree", "add", "-q", "-b", &branch, tree.to_str().unwrap(), base]);
    for (path, text) in changes {
        match text {
            Some(text) => write(&tree.join(path), text),
            None => {
                std::fs::remove_file(tree.join(path)).unwrap();
                // A directory that is empty is none for git.
                std::fs::remove_dir(tree.join(path).parent().unwrap()).ok();
            }
        }
    }
    git(&tree, &["add", "--all", "--force"]);
    git(&tree, &["commit", "-q", "--allow-empty", "-m", "work"]);
    let commit = git(&tree, &["rev-parse", "HEAD"]);
    git(&world.repo(), &["worktree", "remove", "--force", tree.to_str().unwrap()]);
    commit
}

pub(crate) fn ready(bench: &Workbench, source: &str, id: &str) -> Merge {
    match bench.landing().prepare(source, "main", &message(id)).unwrap() {
        Prepared::Ready(merge) => merge,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn blocked(landed: Landed) -> String {
    match landed {
        Landed::Blocked { why } => why,
        other => panic!("{other:?}"),
    }
}

/// The commits on the first line of a branch, newest first.
fn line(repo: &Path) -> Vec<String> {
    let said = git(repo, &["log", "--first-parent", "--format=%s", "main"]);
    said.lines().map(str::to_owned).collect()
}

/// Checks that one landing is whole: one commit, files that follow, nothing left behind.
pub(crate) fn is_landed(world: &World, source: &str, id: &str) {
    let repo = world.repo();
    let titles = line(&repo);
    let title = format!("Land {id}");
    assert_eq!(titles.iter().filter(|one| **one == title).count(), 1, "{titles:?}");
    assert!(attempt(&repo, &["merge-base", "--is-ancestor", source, "main"]).status.success());
    assert_eq!(git(&repo, &["for-each-ref", "refs/godel/landing"]), "");
    assert!(!repo.join(".git/index.lock").exists() && !repo.join(".git/index.godel").exists());
    assert!(!repo.join(".godel/state/landing.json").exists());
    git(&repo, &["fsck", "--no-dangling"]);
}

#[test]
fn a_bead_becomes_one_commit_and_the_checkout_follows() {
    let world = World::new();
    let changes = [
        ("a.txt", Some("two\n")),
        ("dir/b.txt", None),
        ("moved/b.txt", Some("two\n")),
        ("new file.txt", Some("new\n")),
    ];
    let source = bead(&world, "x", "main", &changes);
    // What could run must not: hooks, signatures.
    let marker = world.root().join("hook ran");
    for hook in ["reference-transaction", "post-checkout", "post-merge", "post-index-change"] {
        let path = world.repo().join(".git/hooks").join(hook);
        write(&path, &format!("#!/bin/sh\ntouch '{}'\n", marker.display()));
        Command::new("chmod").arg("+x").arg(&path).status().unwrap();
    }
    git(&world.repo(), &["config", "commit.gpgSign", "true"]);
    let bench = world.bench();
    let before = git(&world.repo(), &["rev-parse", "main"]);
    let merge = ready(&bench, &source, "x");
    assert_eq!((merge.before.as_str(), merge.source.as_str()), (before.as_str(), source.as_str()));
    assert_eq!(merge.files, 3, "a rename is one file");
    assert_eq!(git(&world.repo(), &["rev-parse", "main"]), before, "nothing has moved");
    assert_eq!(git(&world.repo(), &["rev-parse", "refs/godel/landing/x"]), merge.commit);
    assert_eq!(ready(&bench, &source, "x"), merge, "asked again, it is the same commit");
    std::fs::remove_file(&marker).ok();
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    assert!(!marker.exists(), "a hook was run");
    is_landed(&world, &source, "x");
    world.is_untouched();
    assert!(marker.exists(), "the hooks would run for a person");
    assert_eq!(read(&world.repo().join("a.txt")), "two\n");
    assert!(!world.repo().join("dir/b.txt").exists());
    assert_eq!(read(&world.repo().join("moved/b.txt")), "two\n");
    let shown = git(&world.repo(), &["show", "-s", "--format=%an <%ae>%n%P%n%B", "main"]);
    let wanted = format!(
        "Bea Dee <bea@example.com>\n{before} {source}\nLand x\n\nWhy it was done.\n\nAnd how."
    );
    assert_eq!(shown.trim_end(), wanted);
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done, "twice is once");
    let again = bench.landing().prepare(&source, "main", &message("x")).unwrap();
    assert_eq!(again, Prepared::AlreadyThere { target: merge.commit.clone() });
    assert!(git(&world.repo(), &["reflog", "-1", "HEAD"]).contains("godel: land x"));
}

#[test]
fn two_beads_land_one_after_the_other_and_a_conflict_names_its_files() {
    let world = World::new();
    let bench = world.bench();
    let one = bead(&world, "one", "main", &[("dir/b.txt", Some("by one\n"))]);
    let two = bead(&world, "two", "main", &[("other.txt", Some("by two\n"))]);
    let three = bead(&world, "three", "main", &[("dir/b.txt", Some("by three\n"))]);
    let (first, second) = (ready(&bench, &one, "one"), ready(&bench, &two, "two"));
    assert_eq!(bench.landing().finish(&first).unwrap(), Landed::Done);
    let moved = bench.landing().finish(&second).unwrap();
    assert_eq!(moved, Landed::Moved { now: first.commit.clone() });
    let second = ready(&bench, &two, "two");
    assert_eq!(bench.landing().finish(&second).unwrap(), Landed::Done);
    assert_eq!(line(&world.repo())[..3], ["Land two", "Land one", "second"]);
    let conflict = bench.landing().prepare(&three, "main", &message("three")).unwrap();
    assert_eq!(conflict, Prepared::Conflict { files: vec!["dir/b.txt".to_owned()] });
    world.is_untouched();
    assert_eq!(read(&world.repo().join("dir/b.txt")), "by one\n");
}

#[test]
fn changes_of_a_person_elsewhere_stay_and_those_in_the_way_stop_the_landing() {
    let world = World::new();
    let (bench, repo) = (world.bench(), world.repo());
    let changes = [("a.txt", Some("landed\n")), ("n.log", Some("l\n")), ("d/new", Some("n\n"))];
    let source = bead(&world, "x", "main", &changes);
    let merge = ready(&bench, &source, "x");
    let head = git(&repo, &["rev-parse", "HEAD"]);
    let spoils: [(&str, &str); 4] =
        [("a.txt", "mine\n"), ("d/new", "mine\n"), ("n.log", "mine, ignored\n"), ("d", "a file\n")];
    for (path, text) in spoils {
        write(&repo.join(path), text);
        let why = blocked(bench.landing().finish(&merge).unwrap());
        assert!(why.contains(path) && why.contains("git stash"), "{why}");
        assert_eq!(read(&repo.join(path)), text);
        assert_eq!(git(&repo, &["rev-parse", "HEAD"]), head);
        assert!(!repo.join(".git/index.lock").exists(), "{path}");
        if path == "a.txt" {
            git(&repo, &["add", "a.txt"]);
            let why = blocked(bench.landing().finish(&merge).unwrap());
            assert!(why.contains("a.txt"), "{why}");
            git(&repo, &["reset", "-q", "--hard"]);
        } else {
            std::fs::remove_file(repo.join(path)).unwrap();
            std::fs::remove_dir(repo.join("d")).ok();
        }
    }
    write(&repo.join("dir/b.txt"), "mine and elsewhere\n");
    write(&repo.join("mine.txt"), "untracked\n");
    write(&repo.join("staged.txt"), "staged\n");
    git(&repo, &["add", "staged.txt"]);
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
    let status = git(&repo, &["status", "--porcelain"]);
    assert_eq!(status, " M dir/b.txt\nA  staged.txt\n?? mine.txt");
    assert_eq!(read(&repo.join("a.txt")), "landed\n");
}

#[test]
fn what_a_person_is_in_the_middle_of_stops_the_landing() {
    let world = World::new();
    let (bench, repo) = (world.bench(), world.repo());
    let source = bead(&world, "x", "main", &[("new", Some("n\n"))]);
    git(&repo, &["switch", "-q", "-c", "side"]);
    write(&repo.join("a.txt"), "side\n");
    git(&repo, &["commit", "-qam", "side"]);
    git(&repo, &["switch", "-q", "main"]);
    write(&repo.join("a.txt"), "main\n");
    git(&repo, &["commit", "-qam", "main side"]);
    let merge = ready(&bench, &source, "x");
    attempt(&repo, &["merge", "side"]);
    assert!(blocked(bench.landing().finish(&merge).unwrap()).contains("a merge is under way"));
    git(&repo, &["merge", "--abort"]);
    attempt(&repo, &["rebase", "side"]);
    assert!(blocked(bench.landing().finish(&merge).unwrap()).contains("being rebased"));
    git(&repo, &["rebase", "--abort"]);
    write(&repo.join(".git/index.lock"), "");
    assert!(blocked(bench.landing().finish(&merge).unwrap()).contains("another git is at work"));
    std::fs::remove_file(repo.join(".git/index.lock")).unwrap();
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
}

#[test]
fn bare_repositories_and_checkouts_elsewhere_land_too() {
    let world = World::new();
    let source = bead(&world, "x", "main", &[("new", Some("n\n")), ("a.txt", None)]);
    let bare = world.root().join("bare.git");
    git(&world.root(), &["clone", "-q", "--bare", "repo", "bare.git"]);
    let bench = world.bench_at(&bare);
    let merge = ready(&bench, &source, "x");
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    assert_eq!(git(&bare, &["show", "main:new"]), "n");
    // The branch is checked out in a linked worktree, and something else in the main one.
    git(&world.repo(), &["switch", "-q", "-c", "side"]);
    let linked = world.root().join("linked tree");
    git(&world.repo(), &["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    let bench = world.bench();
    let merge = ready(&bench, &source, "x");
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    assert_eq!(read(&linked.join("new")), "n\n");
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
    assert!(!world.repo().join("new").exists());
    world.is_untouched();
    let error = bench.landing().prepare(&source, "none", &message("x")).unwrap_err();
    assert_eq!(error.code(), code::BASE_NOT_FOUND);
    let error = bench.landing().prepare("--all", "main", &message("x")).unwrap_err();
    assert_eq!(error.code(), code::COMMIT_NOT_FOUND);
}

#[test]
fn a_union_merge_works_and_programs_for_merging_are_not_run() {
    let world = World::new();
    let (bench, repo) = (world.bench(), world.repo());
    write(&repo.join(".gitattributes"), "*.md merge=union\n*.gen merge=mine\n");
    write(&repo.join("log.md"), "begin\n");
    write(&repo.join("x.gen"), "begin\n");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "-qm", "attributes"]);
    let marker = world.root().join("driver ran");
    git(&repo, &["config", "merge.mine.driver", &format!("touch '{}'", marker.display())]);
    let one = bead(&world, "one", "main", &[("log.md", Some("begin\none\n"))]);
    let two = bead(&world, "two", "main", &[("log.md", Some("begin\ntwo\n"))]);
    let three = bead(&world, "three", "main", &[("x.gen", Some("three\n"))]);
    let four = bead(&world, "four", "main", &[("x.gen", Some("four\n"))]);
    for (source, id) in [(&one, "one"), (&two, "two"), (&three, "three")] {
        assert_eq!(bench.landing().finish(&ready(&bench, source, id)).unwrap(), Landed::Done);
    }
    assert_eq!(read(&repo.join("log.md")), "begin\none\ntwo\n");
    let conflict = bench.landing().prepare(&four, "main", &message("four")).unwrap();
    assert_eq!(conflict, Prepared::Conflict { files: vec!["x.gen".to_owned()] });
    assert!(!marker.exists());
}

#[test]
fn many_land_at_once_while_a_person_commits_and_each_lands_once() {
    let world = World::new();
    let repo = world.repo();
    let sources: Vec<(String, String)> = (0..6)
        .map(|at| {
            let (id, file) = (format!("b{at}"), format!("files/{at}.txt"));
            (bead(&world, &id, "main", &[(&file, Some("landed\n"))]), id)
        })
        .collect();
    std::thread::scope(|scope| {
        for (source, id) in &sources {
            let world = &world;
            scope.spawn(move || {
                let bench = world.bench();
                loop {
                    let prepared = bench.landing().prepare(source, "main", &message(id)).unwrap();
                    match prepared {
                        Prepared::AlreadyThere { .. } => break,
                        Prepared::Conflict { files } => panic!("{files:?}"),
                        Prepared::Ready(merge) => {
                            // Somebody else may be at work; then it is tried again.
                            bench.landing().finish(&merge).ok();
                        }
                    }
                }
            });
        }
        scope.spawn(|| {
            for at in 0..8 {
                write(&repo.join("person.txt"), &format!("{at}\n"));
                // A person's git may meet a lock of ours, and then says so.
                if attempt(&repo, &["add", "person.txt"]).status.success() {
                    attempt(&repo, &["commit", "-qm", "person"]);
                }
            }
        });
    });
    for (source, id) in &sources {
        is_landed(&world, source, id);
    }
    attempt(&repo, &["add", "person.txt"]);
    attempt(&repo, &["commit", "-qm", "person"]);
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    assert_eq!(read(&repo.join("person.txt")), "7\n");
}

/// What the child process does; without its variables it is no test.
#[test]
fn child() {
    let Ok(repo) = std::env::var("GODEL_LAND_REPO") else {
        return;
    };
    let state = std::env::var("GODEL_TEST_STATE").unwrap().into();
    let clock = std::sync::Arc::new(SystemClock);
    let host = Host { clock, state, stop: std::sync::Arc::default(), step: die };
    let bench = Workbench::open(Path::new(&repo), host).unwrap();
    let source = std::env::var("GODEL_LAND_SOURCE").unwrap();
    land(&bench, &source);
}

pub(crate) fn land(bench: &Workbench, source: &str) {
    match bench.landing().prepare(source, "main", &message("x")).unwrap() {
        Prepared::AlreadyThere { .. } => {}
        Prepared::Ready(merge) => assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done),
        Prepared::Conflict { files } => panic!("{files:?}"),
    }
}

#[test]
fn a_landing_that_is_killed_anywhere_is_finished_by_the_next() {
    use std::os::unix::process::ExitStatusExt as _;
    for step in [
        "land:merged",
        "land:written",
        "land:committed",
        "land:announced",
        "land:held",
        "land:files",
        "land:index",
        "land:branch",
        "land:moved",
    ] {
        let world = World::new();
        let changes = [("a.txt", Some("two\n")), ("dir/b.txt", None), ("dir/c", Some("c\n"))];
        let source = bead(&world, "x", "main", &changes);
        write(&world.repo().join("mine.txt"), "mine\n");
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["land::child", "--exact"])
            .env("GODEL_LAND_REPO", world.repo())
            .env("GODEL_TEST_STATE", world.root().join("state"))
            .env("GODEL_LAND_SOURCE", &source)
            .env("GODEL_TEST_STEP", step)
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.signal(), Some(9), "{step}");
        land(&world.bench(), &source);
        is_landed(&world, &source, "x");
        assert_eq!(git(&world.repo(), &["status", "--porcelain"]), "?? mine.txt", "{step}");
        assert_eq!(read(&world.repo().join("dir/c")), "c\n", "{step}");
    }
}

/// Lets the first git that writes a `.slow` file die in the middle of it.
fn deadly(world: &World) -> PathBuf {
    let (repo, flag) = (world.repo(), world.root().join("died"));
    write(&repo.join(".git/info/attributes"), "*.slow filter=die\n");
    let smudge = format!("[ -e '{0}' ] || {{ touch '{0}'; kill -9 $PPID; }}; cat", flag.display());
    git(&repo, &["config", "filter.die.smudge", &smudge]);
    flag
}

#[test]
fn git_that_dies_in_the_middle_of_writing_files_leaves_the_checkout_as_it_was() {
    let world = World::new();
    let (bench, repo) = (world.bench(), world.repo());
    let changes = [
        ("a.txt", Some("landed\n")),
        ("dir/b.txt", None),
        ("b/new.txt", Some("n\n")),
        ("z.slow", Some("slow\n")),
    ];
    let source = bead(&world, "x", "main", &changes);
    let flag = deadly(&world);
    let merge = ready(&bench, &source, "x");
    assert!(bench.landing().finish(&merge).is_err());
    assert!(flag.exists(), "git did not die");
    world.is_untouched();
    assert_eq!(read(&repo.join("dir/b.txt")), "two\n");
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
    world.is_untouched();
}

#[test]
fn a_conflict_that_somebody_has_not_solved_yet_is_in_the_way() {
    let world = World::new();
    let (bench, repo) = (world.bench(), world.repo());
    let source = bead(&world, "x", "main", &[("a.txt", Some("landed\n"))]);
    let merge = ready(&bench, &source, "x");
    // As `git stash pop` leaves it: no merge is under way, and a path has three versions.
    let blob = git(&repo, &["rev-parse", "HEAD:dir/b.txt"]);
    let stages: String =
        (1..=3).map(|stage| format!("100644 {blob} {stage}\tdir/b.txt\n")).collect();
    let stages = format!("0 {} 0\tdir/b.txt\n{stages}", "0".repeat(40));
    write(&world.root().join("stages"), &stages);
    let stages = std::fs::File::open(world.root().join("stages")).unwrap();
    let mut index = std::process::Command::new("git");
    index.args(["update-index", "--index-info"]).current_dir(&repo).stdin(stages);
    assert!(index.status().unwrap().success());
    let before = git(&repo, &["status", "--porcelain"]);
    let why = blocked(bench.landing().finish(&merge).unwrap());
    assert!(why.contains("in the way"), "{why}");
    assert_eq!(git(&repo, &["status", "--porcelain"]), before);
    assert_eq!(git(&repo, &["rev-parse", "main"]), merge.before);
    git(&repo, &["reset", "-q"]);
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
}

#[test]
fn after_a_power_cut_half_written_files_are_put_back_and_edits_stay() {
    let world = World::new();
    let (bench, repo) = (world.bench(), world.repo());
    let changes =
        [("a.txt", Some("landed and long\n")), ("dir/b.txt", Some("b\n")), ("n", Some("new\n"))];
    let source = bead(&world, "x", "main", &changes);
    let merge = ready(&bench, &source, "x");
    let checkout = serde_json::json!({ "tree": repo, "dir": repo.join(".git") });
    let journal = serde_json::json!({
        "checkout": checkout, "reference": "refs/heads/main", "merge": merge,
    });
    write(&repo.join(".godel/state/landing.json"), &journal.to_string());
    write(&repo.join(".git/index.lock"), "godel landing\n");
    write(&repo.join(".git/index.godel.lock"), "half an ind");
    write(&repo.join("a.txt"), "landed an");
    write(&repo.join("n"), "ne");
    write(&repo.join("dir/b.txt"), "a person was here\n");
    let why = blocked(bench.landing().finish(&merge).unwrap());
    assert!(why.contains("dir/b.txt") && !why.contains("a.txt"), "{why}");
    assert_eq!(git(&repo, &["status", "--porcelain"]), " M dir/b.txt");
    assert_eq!(read(&repo.join("dir/b.txt")), "a person was here\n");
    git(&repo, &["checkout", "-q", "dir/b.txt"]);
    assert_eq!(bench.landing().finish(&merge).unwrap(), Landed::Done);
    is_landed(&world, &source, "x");
    world.is_untouched();
}

#[test]
fn questions_about_commits_are_answered() {
    let world = World::new();
    let bench = world.bench();
    let source = bead(&world, "x", "main", &[("a.txt", Some("1\n2\n")), ("dir/b.txt", None)]);
    let stat = bench.diff_stat("main", &source).unwrap();
    assert_eq!((stat.files, stat.added, stat.removed), (2, 2, 2));
    assert_eq!(stat.paths, ["a.txt", "dir/b.txt"]);
    assert!(bench.is_ancestor("main", &source).unwrap());
    assert!(!bench.is_ancestor(&source, "main").unwrap());
    assert_eq!(bench.head_of("bead/x").unwrap().as_deref(), Some(source.as_str()));
    assert_eq!(bench.head_of("none").unwrap(), None);
    let tree = git(&world.repo(), &["rev-parse", "bead/x^{tree}"]);
    assert_eq!(bench.tree_of(&source).unwrap(), tree);
    assert_eq!(bench.file_at(&source, "a.txt").unwrap().as_deref(), Some("1\n2\n"));
    assert_eq!(bench.file_at(&source, "dir/b.txt").unwrap(), None);
    assert_eq!(bench.file_at("main", "dir").unwrap_err().code(), code::INVALID_CONFIG);
    assert_eq!(bench.tree_of("none").unwrap_err().code(), code::COMMIT_NOT_FOUND);
}
