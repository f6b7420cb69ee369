//! A store that an earlier version made: read, written on, and merged with one of this version.
//!
//! That version wrote a file `format` into each tree and a trailer into each commit. The bundle holds
//! two clones that it wrote to apart (`here`, `there`), and what it made of both (`merged`).

use godel_beads::ops;
use godel_beads::{Bead, Error, Filter, Page};

use crate::support::{Repo, create, git};

const BUNDLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stores/format-1.bundle");

/// Makes a repository with a store as it was then.
fn older(branch: &str) -> Repo {
    fetched(BUNDLE, branch)
}

fn fetched(from: &str, branch: &str) -> Repo {
    let repo = Repo::new();
    repo.git(&["fetch", "-q", from, &format!("{branch}:godel/state")]);
    repo
}

fn copy(repo: &Repo) -> Repo {
    fetched(repo.path.to_str().unwrap(), "godel/state")
}

/// Lists the files of the store, with what is in them.
fn files(repo: &Repo) -> Vec<String> {
    repo.git(&["ls-tree", "-r", "godel/state"]).lines().map(str::to_owned).collect()
}

fn documents(repo: &Repo) -> Vec<String> {
    files(repo).into_iter().filter(|line| !line.ends_with("\tformat")).collect()
}

#[test]
fn an_older_store_is_read_and_written_on() {
    let repo = older("here");
    let (before, tip) = (documents(&repo), repo.git(&["rev-parse", "godel/state"]));
    assert_eq!(files(&repo).len(), before.len() + 1, "it does not say its format");
    let mut shelf = repo.shelf();
    let page = Page { limit: 100, ..Page::default() };
    let rows = shelf.list(&Filter::everything(), &page).unwrap();
    assert_eq!((rows.len(), shelf.damaged().unwrap().len()), (5, 0));
    assert_eq!((shelf.convoys().unwrap().len(), shelf.memories().unwrap().len()), (1, 1));
    let log = shelf.log(None, 100).unwrap();
    assert_eq!(log.len(), 15, "{log:?}");
    let by: Vec<&str> = log.iter().map(|entry| entry.by.as_str()).collect();
    assert!(by.contains(&"Ben <ben@example.com>") && by.contains(&"worker-7"), "{by:?}");
    assert_eq!(repo.git(&["rev-parse", "godel/state"]), tip, "reading moved the branch");

    let new = create(&mut shelf, "of today");
    let mut after = documents(&repo);
    assert_eq!(files(&repo), after, "what goes without saying was said");
    after.retain(|line| !line.contains(&new.id));
    assert_eq!(after, before, "a document changed that nobody touched");
    let longer = shelf.log(None, 100).unwrap();
    assert_eq!((&longer[0].event[..], &longer[0].by[..]), ("bead:created", "ann"));
    assert_eq!(longer[1..], log);
    repo.git(&["fsck", "--strict", "--full"]);
    assert_eq!(shelf.fsck("ann", false).unwrap().damaged, []);
}

#[test]
fn clones_of_both_versions_merge_to_the_same_bytes() {
    let as_then = documents(&older("merged"));
    for written in [false, true] {
        let (one, two) = (older("here"), older("there"));
        if written {
            create(&mut one.shelf(), "of today");
        }
        let (other_one, other_two) = (copy(&one), copy(&two));
        one.shelf().sync(two.path.to_str()).unwrap();
        other_two.shelf().sync(other_one.path.to_str()).unwrap();
        let merged = files(&one);
        for repo in [&two, &other_one, &other_two] {
            assert_eq!(files(repo), merged);
            repo.git(&["fsck", "--strict", "--full"]);
        }
        assert_eq!(documents(&one), merged);
        assert_eq!(merged.len(), as_then.len() + usize::from(written));
        if !written {
            assert_eq!(merged, as_then, "the earlier version merged otherwise");
        }
    }
    // What the earlier version merged, and says its format again, is simply gone on with.
    let (mine, theirs) = (older("here"), older("merged"));
    create(&mut mine.shelf(), "of today");
    mine.shelf().sync(theirs.path.to_str()).unwrap();
    assert_eq!(files(&mine).len(), as_then.len() + 1);
    assert_eq!(files(&mine), files(&theirs));
}

#[test]
fn a_clone_of_a_newer_format_is_not_merged() {
    let (repo, newer) = (older("here"), older("there"));
    let side = newer.path.parent().unwrap().join("side");
    newer.git(&["worktree", "add", "-q", side.to_str().unwrap(), "godel/state"]);
    std::fs::write(side.join("format"), "2\n").unwrap();
    git(&side, &["commit", "-qam", "from tomorrow"]);
    let tip = repo.git(&["rev-parse", "godel/state"]);
    let refused = repo.shelf().sync(newer.path.to_str()).unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 2, known: 1 }), "{refused}");
    assert!(refused.to_string().contains("format 2"), "{refused}");
    assert_eq!(repo.git(&["rev-parse", "godel/state"]), tip);
}

#[test]
fn who_did_it_is_told_whatever_the_name() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    let names = [
        "ann",
        "Ann of Ghent",
        "Ben <ben@example.com>",
        "",
        " spaced",
        "two\nlines",
        "ünï 🦀",
        "a > b",
        "-",
        "x <",
        "godel",
        "committer",
        "a\tb",
    ];
    let id = create(&mut shelf, "talked about").id;
    for name in names {
        let of = id.clone();
        shelf.write(name, move |draft| ops::comment(draft, &of, "so it is")).unwrap();
        let entry = shelf.log(Some(&id), 1).unwrap().remove(0);
        assert_eq!(entry.by, name.replace('\n', " "));
        assert_eq!((&entry.event[..], &entry.id), ("bead:commented", &id));
        assert_eq!(entry.line, format!("{id} commented: so it is"));
    }
    // Only what says more than subject and author do is said twice.
    let said = repo.git(&["log", "--format=%an: %B", "--reverse", "godel/state"]);
    let said: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(said[0], format!("ann: {id} created: talked about"));
    assert_eq!(said[1], format!("ann: {id} commented: so it is"));
    assert_eq!(said[2], format!("Ann of Ghent: {id} commented: so it is"));
    assert!(said[4].starts_with("Godel-Act: bead:commented"), "{said:?}");
    assert_eq!(Bead::of(&shelf.bead(&id).unwrap()).comments.len(), names.len());
}
