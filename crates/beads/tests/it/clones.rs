//! Several clones of one repository.

use godel_beads::ops::{self, Changes};
use godel_beads::{Bead, Shelf};

use crate::support::{Repo, create, git};

/// Makes a bare remote and two clones of it.
fn family() -> (tempfile::TempDir, Repo, Repo) {
    let folder = tempfile::tempdir().unwrap();
    let origin = folder.path().join("origin.git");
    git(folder.path(), &["init", "-q", "--bare", "-b", "main", origin.to_str().unwrap()]);
    let seed = Repo::new();
    seed.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    seed.git(&["push", "-q", "origin", "main"]);
    let clone = || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clone");
        let (from, to) = (origin.to_str().unwrap(), path.to_str().unwrap());
        git(folder.path(), &["clone", "-q", from, to]);
        git(&path, &["config", "user.name", "Ben"]);
        git(&path, &["config", "user.email", "ben@example.com"]);
        Repo::at(folder, path)
    };
    let (one, two) = (clone(), clone());
    (folder, one, two)
}

fn tree(repo: &Repo) -> String {
    repo.git(&["rev-parse", "godel/state^{tree}"])
}

fn retitle(shelf: &mut Shelf, id: &str, title: &str) -> Bead {
    let id = id.to_owned();
    let changes = Changes { title: Some(title.to_owned()), ..Changes::default() };
    shelf.write("ben", move |draft| ops::update(draft, &id, &changes)).unwrap()
}

fn say(shelf: &mut Shelf, id: &str, text: &str) {
    let (id, text) = (id.to_owned(), text.to_owned());
    shelf.write("ben", move |draft| ops::comment(draft, &id, &text)).unwrap();
}

#[test]
fn two_clones_that_edit_the_same_bead_end_equal() {
    let (_origin, one, two) = family();
    let bead = one.create("shared");
    assert!(one.shelf().sync(None).unwrap().sent);
    let synced = two.shelf().sync(None).unwrap();
    assert_eq!((synced.received > 0, synced.sent), (true, false), "{synced:?}");
    retitle(&mut one.shelf(), &bead.id, "as one has it");
    say(&mut one.shelf(), &bead.id, "from one");
    say(&mut two.shelf(), &bead.id, "from two");
    let later = retitle(&mut two.shelf(), &bead.id, "as two has it");
    create(&mut two.shelf(), "only of two");
    one.shelf().sync(None).unwrap();
    two.shelf().sync(None).unwrap();
    one.shelf().sync(None).unwrap();
    assert_eq!(tree(&one), tree(&two));
    let merged = Bead::of(&one.shelf().bead(&bead.id).unwrap());
    assert_eq!((merged.title, merged.comments.len()), (later.title, 2));
    let quiet = two.shelf().sync(None).unwrap();
    assert_eq!((quiet.received, quiet.sent), (0, false));
    for repo in [&one, &two] {
        repo.git(&["fsck", "--strict"]);
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn two_claims_made_apart_are_settled_and_the_loser_is_told() {
    let (_origin, one, two) = family();
    let bead = one.create("wanted by both");
    one.shelf().sync(None).unwrap();
    two.shelf().sync(None).unwrap();
    let claim = |repo: &Repo, agent: &'static str| {
        let id = bead.id.clone();
        repo.shelf().write(agent, move |draft| ops::claim(draft, &id, agent, 600)).unwrap()
    };
    claim(&one, "early");
    std::thread::sleep(std::time::Duration::from_millis(5));
    let late = claim(&two, "late");
    one.shelf().sync(None).unwrap();
    let told = two.shelf().sync(None).unwrap();
    let lost = (bead.id.clone(), "late".to_owned(), "early".to_owned());
    assert_eq!(told.lost_claims, [lost]);
    let id = bead.id.clone();
    let beat = two.shelf().write("late", move |draft| ops::heartbeat(draft, &id, &late.token, 600));
    assert!(matches!(beat, Err(godel_beads::Error::LeaseLost { .. })));
    one.shelf().sync(None).unwrap();
    assert_eq!(tree(&one), tree(&two));
}

#[test]
fn a_claim_that_lost_in_another_clone_is_told_here_too() {
    let (_origin, one, two) = family();
    let bead = one.create("wanted by both");
    one.shelf().sync(None).unwrap();
    two.shelf().sync(None).unwrap();
    for (repo, agent) in [(&one, "early"), (&two, "late")] {
        let id = bead.id.clone();
        repo.shelf().write(agent, move |draft| ops::claim(draft, &id, agent, 600)).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    two.shelf().sync(None).unwrap();
    // The one that was earlier merges; the other only takes over what came of it.
    assert!(one.shelf().sync(None).unwrap().lost_claims.is_empty());
    let lost = (bead.id.clone(), "late".to_owned(), "early".to_owned());
    assert_eq!(two.shelf().sync(None).unwrap().lost_claims, [lost]);
    assert_eq!(tree(&one), tree(&two));
}

#[test]
fn a_fresh_clone_has_the_beads_without_being_asked() {
    let (origin, one, _two) = family();
    let bead = one.create("came with the clone");
    one.shelf().sync(None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fresh");
    let from = origin.path().join("origin.git");
    git(folder.path(), &["clone", "-q", from.to_str().unwrap(), path.to_str().unwrap()]);
    let mut shelf = Shelf::open(&path).unwrap();
    assert_eq!(shelf.ready(5).unwrap()[0].id, bead.id);
    say(&mut shelf, &bead.id, "hello");
    let parents = git(&path, &["rev-list", "--count", "godel/state"]);
    assert_eq!(parents.trim(), "2");
}

#[test]
fn the_same_id_chosen_twice_is_told_apart() {
    let (_origin, one, two) = family();
    let make = |repo: &Repo, title: &str| {
        let new = ops::NewBead {
            title: title.to_owned(),
            id: Some("godel-abc12".to_owned()),
            ..ops::NewBead::default()
        };
        repo.shelf().write("ann", move |draft| ops::create(draft, &new)).unwrap()
    };
    make(&one, "the first");
    std::thread::sleep(std::time::Duration::from_millis(5));
    make(&two, "the second");
    one.shelf().sync(None).unwrap();
    let synced = two.shelf().sync(None).unwrap();
    let [(old, new)] = &synced.renamed[..] else { panic!("{synced:?}") };
    assert_eq!(old, "godel-abc12");
    one.shelf().sync(None).unwrap();
    assert_eq!(tree(&one), tree(&two));
    for repo in [&one, &two] {
        let mut shelf = repo.shelf();
        assert_eq!(Bead::of(&shelf.bead("godel-abc12").unwrap()).title, "the first");
        assert_eq!(Bead::of(&shelf.bead(new).unwrap()).title, "the second");
    }
}

/// Makes two clones that edited the same bead, and fetches one side's state into the other.
fn in_conflict() -> (tempfile::TempDir, Repo, Repo, String) {
    let (origin, one, two) = family();
    let bead = one.create("shared");
    one.shelf().sync(None).unwrap();
    two.shelf().sync(None).unwrap();
    retitle(&mut one.shelf(), &bead.id, "as one has it");
    retitle(&mut two.shelf(), &bead.id, "as two has it");
    say(&mut two.shelf(), &bead.id, "from two");
    one.shelf().sync(None).unwrap();
    two.git(&["fetch", "-q", "origin"]);
    (origin, one, two, bead.id)
}

fn check_healed(one: &Repo, two: &Repo, id: &str) {
    let merged = Bead::of(&two.shelf().bead(id).unwrap());
    assert_eq!((merged.title.as_str(), merged.comments.len()), ("as two has it", 1));
    assert!(two.shelf().damaged().unwrap().is_empty());
    two.shelf().sync(None).unwrap();
    one.shelf().sync(None).unwrap();
    assert_eq!(tree(one), tree(two));
    two.git(&["fsck", "--strict"]);
}

#[test]
fn a_merge_by_git_that_was_committed_with_its_conflict_is_repaired() {
    let (_origin, one, two, id) = in_conflict();
    let side = two.path.parent().unwrap().join("side");
    two.git(&["worktree", "add", "-q", side.to_str().unwrap(), "godel/state"]);
    let merge = std::process::Command::new("git")
        .arg("-C")
        .arg(&side)
        .args(["merge", "origin/godel/state"])
        .output()
        .unwrap();
    assert!(!merge.status.success(), "there should be a conflict");
    git(&side, &["add", "-A"]);
    git(&side, &["commit", "-q", "--no-verify", "-m", "merged by hand"]);
    assert!(two.shelf().list(&godel_beads::Filter::default(), &page()).unwrap().len() == 1);
    check_healed(&one, &two, &id);
}

#[test]
fn a_merge_by_git_that_stopped_in_a_conflict_is_finished() {
    let (_origin, one, two, id) = in_conflict();
    let side = two.path.parent().unwrap().join("side");
    two.git(&["worktree", "add", "-q", side.to_str().unwrap(), "godel/state"]);
    let merge = std::process::Command::new("git")
        .arg("-C")
        .arg(&side)
        .args(["merge", "origin/godel/state"])
        .output()
        .unwrap();
    assert!(!merge.status.success(), "there should be a conflict");
    assert!(two.shelf().list(&godel_beads::Filter::default(), &page()).unwrap().len() == 1);
    check_healed(&one, &two, &id);
    assert!(!two.path.join(".git/worktrees/side/MERGE_HEAD").exists());
    assert_eq!(git(&side, &["status", "--porcelain"]), "");
}

fn page() -> godel_beads::Page {
    godel_beads::Page { limit: 10, ..godel_beads::Page::default() }
}

#[test]
fn what_happened_is_told_once_whoever_did_it() {
    let (_origin, one, two) = family();
    let bead = one.create("shared");
    one.shelf().sync(None).unwrap();
    let (first, cursor) = one.shelf().happenings(None, 1_000).unwrap();
    assert_eq!(first.len(), 1);
    two.shelf().sync(None).unwrap();
    say(&mut two.shelf(), &bead.id, "from two");
    retitle(&mut two.shelf(), &bead.id, "as two has it");
    two.shelf().sync(None).unwrap();
    say(&mut one.shelf(), &bead.id, "from one");
    one.shelf().sync(None).unwrap();
    // All at once, and one step at a time, tell the same.
    let (all, _) = one.shelf().happenings(cursor.as_deref(), 1_000).unwrap();
    let mut stepwise = Vec::new();
    let mut at = cursor;
    loop {
        let (some, next) = one.shelf().happenings(at.as_deref(), 1).unwrap();
        stepwise.extend(some.clone());
        if some.is_empty() || next == at {
            break;
        }
        at = next;
    }
    let names = |happened: &[godel_beads::Happening]| {
        let mut names: Vec<(String, String)> = happened
            .iter()
            .map(|one| (one.entry.commit.clone(), one.entry.event.clone()))
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&all), names(&stepwise));
    let events: Vec<String> = all.iter().map(|one| one.entry.event.clone()).collect();
    assert_eq!(events.iter().filter(|event| *event == "bead:commented").count(), 2, "{events:?}");
    assert!(all.iter().all(|one| one.entry.by == "ben" || one.entry.event == "bead:updated"));
}
