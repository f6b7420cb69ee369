//! What a careful reader found: each of these went wrong once.

use std::path::Path;

use godel_beads::ops::{self, Close, NewBead, NewConvoy};
use godel_beads::{Bead, Error, Evidence, Shelf};
use godel_model::{LinkKind, Resolution};

use crate::support::{Repo, create, git};

fn close(shelf: &mut Shelf, id: &str) -> Result<Bead, Error> {
    let bead = Bead::of(&shelf.bead(id)?);
    let evidence = shelf.evidence(&bead)?;
    close_with(shelf, id, evidence)
}

fn close_with(shelf: &mut Shelf, id: &str, evidence: Evidence) -> Result<Bead, Error> {
    let (resolution, reason) = (Resolution::Done, Some("so it is".to_owned()));
    let close = Close { resolution, reason, token: None, force: false, evidence };
    let id = id.to_owned();
    shelf.write("ann", move |draft| ops::close(draft, &id, &close))
}

fn link(shelf: &mut Shelf, from: &str, kind: LinkKind, to: &str) -> Result<Bead, Error> {
    let (from, to) = (from.to_owned(), to.to_owned());
    shelf.write("ann", move |draft| ops::link(draft, &from, kind, &to))
}

fn forget_index(repo: &Repo) {
    for ending in ["", "-wal", "-shm"] {
        std::fs::remove_file(repo.path.join(format!(".git/godel/index.db{ending}"))).ok();
    }
}

#[test]
fn upkeep_that_makes_the_same_pack_again_keeps_it() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    let ids: Vec<String> = (0..5).map(|n| create(&mut shelf, &format!("bead {n}")).id).collect();
    for _ in 0..4 {
        repo.shelf().maintain().unwrap();
        repo.git(&["fsck", "--strict", "--full"]);
    }
    for n in 0..130 {
        let text = format!("memory {n}");
        shelf.write("ann", move |draft| ops::remember(draft, None, &text)).unwrap();
        if n % 40 == 39 {
            repo.shelf().maintain().unwrap();
        }
    }
    repo.git(&["fsck", "--strict", "--full"]);
    ids.iter().for_each(|id| drop(repo.shelf().bead(id).unwrap()));
    assert_eq!(repo.shelf().memories().unwrap().len(), 130);
}

#[test]
fn upkeep_gets_over_a_pack_that_lost_its_index() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    (0..4).for_each(|n| drop(create(&mut shelf, &format!("bead {n}"))));
    let folder = repo.path.join(".git/objects/pack");
    let half = folder.join("pack-0123456789012345678901234567890123456789");
    std::fs::write(half.with_extension("pack"), "half").unwrap();
    std::fs::write(half.with_extension("keep"), "godel state\n").unwrap();
    assert!(repo.shelf().maintain().unwrap().packs >= 4);
    assert_eq!(repo.shelf().ready(10).unwrap().len(), 4);
}

#[test]
fn a_part_is_free_when_what_holds_up_both_it_and_the_whole_is_closed() {
    for round in 0..6 {
        let repo = Repo::new();
        let mut shelf = repo.shelf();
        let (x, whole) = (create(&mut shelf, "x").id, create(&mut shelf, "whole").id);
        let part = create(&mut shelf, "part").id;
        link(&mut shelf, &part, LinkKind::ParentChild, &whole).unwrap();
        link(&mut shelf, &whole, LinkKind::Blocks, &x).unwrap();
        link(&mut shelf, &part, LinkKind::Blocks, &x).unwrap();
        close(&mut shelf, &x).unwrap();
        let ready: Vec<String> = shelf.ready(9).unwrap().into_iter().map(|row| row.id).collect();
        assert!(ready.contains(&part) && ready.contains(&whole), "round {round}: {ready:?}");
    }
}

/// Does something to the beads of a shelf, by chance; what is refused is refused.
fn disturb(shelf: &mut Shelf, ids: &[String], chance: &mut u64) {
    let mut next = |below: usize| {
        *chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(*chance >> 33).unwrap() % below
    };
    let kinds =
        [LinkKind::Blocks, LinkKind::ParentChild, LinkKind::WaitsFor, LinkKind::ConditionalBlocks];
    let (one, other) = (ids[next(ids.len())].clone(), ids[next(ids.len())].clone());
    let (what, kind) = (next(10), kinds[next(4)]);
    let done = match what {
        0..=4 => link(shelf, &one, kind, &other).map(|_| ()),
        5 => {
            let work = move |draft: &mut godel_beads::Draft<'_>| {
                ops::unlink(draft, &one, None, &other).map(|_| ())
            };
            shelf.write("ann", work)
        }
        6 | 7 => close_with(shelf, &one, Evidence::default()).map(|_| ()),
        8 => shelf.write("ann", move |draft| ops::reopen(draft, &one, "again").map(|_| ())),
        _ => shelf.write("ann", move |draft| ops::delete(draft, &one, true, None)),
    };
    done.ok();
}

#[test]
fn what_is_blocked_is_the_same_step_by_step_and_built_anew() {
    for seed in 1..=4 {
        let repo = Repo::new();
        let mut shelf = repo.shelf();
        let ids: Vec<String> =
            (0..8).map(|n| create(&mut shelf, &format!("bead {n}")).id).collect();
        let mut chance = seed;
        (0..60).for_each(|_| disturb(&mut shelf, &ids, &mut chance));
        let look = |shelf: &mut Shelf| -> Vec<Option<(bool, String)>> {
            ids.iter()
                .map(|id| shelf.row(id).unwrap().map(|row| (row.blocked, row.status.to_string())))
                .collect()
        };
        let stepwise = look(&mut shelf);
        drop(shelf);
        forget_index(&repo);
        assert_eq!(look(&mut repo.shelf()), stepwise, "seed {seed}");
    }
}

#[test]
fn what_was_opened_again_must_land_again() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    let id = create(&mut shelf, "lands twice").id;
    let branch = format!("bead/{id}");
    let work = |file: &str| {
        repo.git(&["checkout", "-q", "-B", &branch]);
        std::fs::write(repo.path.join(file), "x").unwrap();
        repo.git(&["add", file]);
        repo.git(&["commit", "-q", "-m", file]);
        repo.git(&["checkout", "-q", "main"]);
    };
    work("one");
    assert!(matches!(close(&mut shelf, &id), Err(Error::NotEarned { .. })));
    repo.git(&["merge", "-q", "--no-ff", "-m", "land", &branch]);
    close(&mut shelf, &id).unwrap();
    let again = id.clone();
    shelf.write("ann", move |draft| ops::reopen(draft, &again, "not enough")).unwrap();
    work("two");
    assert!(matches!(close(&mut shelf, &id), Err(Error::NotEarned { .. })));
    // After a squash only a record says where the work is; opened again, it says so no more.
    repo.git(&["merge", "-q", "--squash", &branch]);
    repo.git(&["commit", "-q", "-m", "squashed"]);
    let target = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let landing = ops::Landing {
        branch: "main".to_owned(),
        target,
        source: None,
        gates: Vec::new(),
        change: None,
    };
    let of = id.clone();
    shelf.write("ann", move |draft| ops::record_landing(draft, &of, &landing)).unwrap();
    close(&mut shelf, &id).unwrap();
    let again = id.clone();
    shelf.write("ann", move |draft| ops::reopen(draft, &again, "still not")).unwrap();
    assert!(matches!(close(&mut shelf, &id), Err(Error::NotEarned { .. })));
}

#[test]
fn a_convoy_is_complete_when_its_last_open_bead_is_deleted() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    let (one, two) = (create(&mut shelf, "one").id, create(&mut shelf, "two").id);
    let beads = vec![one.clone(), two.clone()];
    let new = NewConvoy { name: "both".to_owned(), beads, ..NewConvoy::default() };
    let convoy = shelf.write("ann", move |draft| ops::create_convoy(draft, &new)).unwrap();
    close(&mut shelf, &one).unwrap();
    shelf.write("ann", move |draft| ops::delete(draft, &two, false, None)).unwrap();
    let state = shelf.convoy_state(&convoy.id).unwrap();
    assert_eq!((state.convoy.status.as_str(), state.progress.percent), ("completed", 100));
}

#[test]
fn nobody_writes_into_the_diary_under_another_name() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    let id = create(&mut shelf, "mine").id;
    close(&mut shelf, &id).unwrap();
    let (of, reason) = (id.clone(), format!("r\n\nGodel-Act: bead:deleted {id} admin-eve"));
    shelf.write("ann", move |draft| ops::reopen(draft, &of, &reason)).unwrap();
    let log = shelf.log(Some(&id), 10).unwrap();
    assert!(log.iter().all(|entry| entry.by == "ann" && entry.event != "bead:deleted"), "{log:?}");
    assert!(log[0].line.ends_with(&format!("Godel-Act: bead:deleted {id} admin-eve")), "{log:?}");
    let (happened, _) = shelf.happenings(None, 10).unwrap();
    assert!(happened.iter().all(|one| one.entry.by == "ann"));
}

#[test]
fn a_damaged_bead_is_still_in_the_way() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    let (x, y) = (create(&mut shelf, "x").id, create(&mut shelf, "y").id);
    link(&mut shelf, &y, LinkKind::Blocks, &x).unwrap();
    let side = repo.path.parent().unwrap().join("side");
    repo.git(&["worktree", "add", "-q", side.to_str().unwrap(), "godel/state"]);
    let name = format!("{x}.json");
    let files = git(&side, &["ls-files"]);
    let path = files.lines().find(|line| line.ends_with(&name)).unwrap();
    std::fs::write(side.join(path), "<<<<<<< broken").unwrap();
    git(&side, &["commit", "-qam", "by hand"]);
    for _ in 0..2 {
        assert!(repo.shelf().ready(5).unwrap().is_empty());
        forget_index(&repo);
    }
}

#[test]
fn two_merges_by_git_lose_nothing_and_show_heals_by_itself() {
    let repo = Repo::new();
    let id = create(&mut repo.shelf(), "shared").id;
    let side = repo.path.parent().unwrap().join("side");
    let side_branch = |name: &str, what: &str| {
        repo.git(&["branch", name, "godel/state"]);
        repo.git(&["worktree", "add", "-q", side.to_str().unwrap(), name]);
        let files = git(&side, &["ls-files"]);
        let path = files.lines().find(|line| line.contains(&id)).unwrap().to_owned();
        // Another clone would write this: a comment of its own.
        let text = std::fs::read_to_string(side.join(&path)).unwrap();
        let comment = format!(
            "\"comments\": [{{\"at\": \"2026-01-01T00:00:00Z\", \"by\": \"ben\", \"id\": \"{what}\", \
             \"text\": \"{what}\"}}],\n  \"commits\""
        );
        std::fs::write(side.join(&path), text.replacen("\"commits\"", &comment, 1)).unwrap();
        git(&side, &["commit", "-qam", what]);
        repo.git(&["worktree", "remove", "--force", side.to_str().unwrap()]);
    };
    side_branch("clone-one", "first");
    side_branch("clone-two", "second");
    repo.git(&["worktree", "add", "-q", side.to_str().unwrap(), "godel/state"]);
    for branch in ["clone-one", "clone-two"] {
        git(&side, &["merge", "-q", "--no-ff", "-s", "ours", "-m", "by git", branch]);
    }
    let bead = Bead::of(&repo.shelf().bead(&id).unwrap());
    assert_eq!(bead.comments.len(), 2, "{:?}", bead.comments);
}

#[test]
fn a_promise_to_one_agent_is_kept() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    let id = create(&mut shelf, "promised").id;
    let of = id.clone();
    shelf.write("ann", move |draft| ops::assign(draft, &of, "bob", false)).unwrap();
    let next = |shelf: &mut Shelf, agent: &'static str| {
        shelf.write(agent, move |draft| ops::claim_next(draft, agent, 60))
    };
    assert!(matches!(next(&mut shelf, "alice"), Err(Error::NothingReady)));
    let of = id.clone();
    let direct = shelf.write("alice", move |draft| ops::claim(draft, &of, "alice", 60));
    assert!(matches!(direct, Err(Error::NotReady { .. })));
    assert_eq!(next(&mut shelf, "bob").unwrap().bead.id, id);
}

#[test]
fn a_relative_remote_is_meant_from_the_work_tree() {
    let repo = Repo::new();
    create(&mut repo.shelf(), "travels");
    let parent = repo.path.parent().unwrap();
    git(parent, &["init", "-q", "--bare", "hub.git"]);
    repo.git(&["remote", "add", "origin", "../hub.git"]);
    assert!(repo.shelf().sync(None).unwrap().sent);
    assert!(Path::new(&parent.join("hub.git/refs/heads/godel/state")).exists());
}

#[test]
fn a_branch_in_the_way_is_seen_when_it_is_packed_away() {
    let repo = Repo::new();
    repo.git(&["branch", "godel"]);
    repo.git(&["pack-refs", "--all"]);
    let new = NewBead { title: "x".to_owned(), ..NewBead::default() };
    let refused = repo.shelf().write("ann", move |draft| ops::create(draft, &new)).unwrap_err();
    assert!(matches!(refused, Error::BranchInTheWay), "{refused}");
}
