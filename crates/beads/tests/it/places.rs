//! Every kind of repository.

use godel_beads::Shelf;

use crate::support::{Repo, create, git};

#[test]
fn all_work_trees_share_one_shelf() {
    let repo = Repo::new();
    let side = repo.path.parent().unwrap().join("side tree");
    repo.git(&["worktree", "add", "-q", side.to_str().unwrap(), "-b", "side"]);
    let bead = create(&mut Shelf::open(&side).unwrap(), "made in the side tree");
    assert_eq!(repo.shelf().ready(5).unwrap()[0].id, bead.id);
    assert!(!side.join(".godel").exists());
    for at in [&repo.path, &side] {
        assert_eq!(git(at, &["status", "--porcelain"]), "");
    }
    let deep = repo.path.join("some/where");
    std::fs::create_dir_all(&deep).unwrap();
    assert_eq!(Shelf::open(&deep).unwrap().ready(5).unwrap()[0].id, bead.id);
}

#[test]
fn a_repository_without_commits_or_with_a_detached_head_is_fine() {
    let repo = Repo::empty();
    repo.create("before the first commit");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    repo.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.create("detached");
    assert_eq!(repo.shelf().ready(5).unwrap().len(), 2);
}

#[test]
fn a_bare_repository_keeps_all_inside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bare.git");
    git(folder.path(), &["init", "-q", "--bare", path.to_str().unwrap()]);
    let bead = create(&mut Shelf::open(&path).unwrap(), "bare");
    assert_eq!(Shelf::open(&path).unwrap().ready(5).unwrap()[0].id, bead.id);
    assert!(path.join("godel/beads").join(format!("{}.json", bead.id)).exists());
    git(&path, &["fsck", "--strict"]);
}

#[test]
fn shallow_sparse_and_sha256_repositories_are_fine() {
    let repo = Repo::new();
    (0..3).for_each(|_| drop(repo.git(&["commit", "-q", "--allow-empty", "-m", "more"])));
    let folder = tempfile::tempdir().unwrap();
    let shallow = folder.path().join("shallow");
    let from = format!("file://{}", repo.path.display());
    git(folder.path(), &["clone", "-q", "--depth=1", &from, shallow.to_str().unwrap()]);
    git(&shallow, &["sparse-checkout", "set", "nothing"]);
    let bead = create(&mut Shelf::open(&shallow).unwrap(), "shallow");
    Shelf::open(&shallow).unwrap().sync(None).unwrap();
    assert_eq!(repo.shelf().bead_id(&bead.id).unwrap(), bead.id);
    assert_eq!(git(&shallow, &["status", "--porcelain"]), "");
    let long = folder.path().join("long");
    git(folder.path(), &["init", "-q", "--object-format=sha256", long.to_str().unwrap()]);
    create(&mut Shelf::open(&long).unwrap(), "long hashes");
    assert_eq!(Shelf::open(&long).unwrap().ready(5).unwrap().len(), 1);
    git(&long, &["fsck", "--strict"]);
}

#[test]
fn what_is_no_repository_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Shelf::open(folder.path()).unwrap_err();
    assert!(matches!(error, godel_beads::Error::NoRepository { .. }), "{error}");
}

#[test]
fn a_branch_in_the_way_is_named() {
    let repo = Repo::new();
    repo.git(&["branch", "godel"]);
    let new = godel_beads::ops::NewBead { title: "x".to_owned(), ..Default::default() };
    let refused =
        repo.shelf().write("ann", move |draft| godel_beads::ops::create(draft, &new)).unwrap_err();
    assert!(matches!(refused, godel_beads::Error::BranchInTheWay), "{refused}");
}

#[test]
fn a_newer_format_can_be_read_and_is_not_written() {
    let repo = Repo::new();
    let bead = repo.create("old");
    let side = repo.path.parent().unwrap().join("side");
    repo.git(&["worktree", "add", "-q", side.to_str().unwrap(), "godel/state"]);
    std::fs::write(side.join("format"), "99\n").unwrap();
    git(&side, &["add", "format"]);
    git(&side, &["commit", "-qm", "from tomorrow"]);
    assert_eq!(repo.shelf().ready(5).unwrap()[0].id, bead.id);
    let before = repo.git(&["rev-parse", "godel/state"]);
    let new = godel_beads::ops::NewBead { title: "x".to_owned(), ..Default::default() };
    let refused =
        repo.shelf().write("ann", move |draft| godel_beads::ops::create(draft, &new)).unwrap_err();
    assert!(matches!(refused, godel_beads::Error::Newer { found: 99, .. }), "{refused}");
    assert_eq!(repo.git(&["rev-parse", "godel/state"]), before);
}

#[test]
fn a_damaged_document_leaves_the_others_readable_and_can_be_mended() {
    let repo = Repo::new();
    let (good, bad) = (repo.create("good"), repo.create("bad"));
    let side = repo.path.parent().unwrap().join("side");
    repo.git(&["worktree", "add", "-q", side.to_str().unwrap(), "godel/state"]);
    let name = format!("{}.json", bad.id);
    let files = git(&side, &["ls-files"]);
    let path = files.lines().find(|line| line.ends_with(&name)).unwrap();
    std::fs::write(side.join(path), "{ not json").unwrap();
    git(&side, &["commit", "-qam", "edited by hand"]);
    let mut shelf = repo.shelf();
    assert!(shelf.ready(5).unwrap().iter().any(|row| row.id == good.id));
    assert_eq!(shelf.damaged().unwrap().len(), 1);
    let error = shelf.bead(&bad.id).unwrap_err();
    assert!(matches!(error, godel_beads::Error::Damaged { .. }), "{error}");
    let checked = shelf.fsck("ann", true).unwrap();
    assert_eq!((checked.mended.len(), checked.damaged.len()), (1, 0));
    assert_eq!(godel_beads::Bead::of(&repo.shelf().bead(&bad.id).unwrap()).title, "bad");
}

#[test]
fn a_link_that_the_repository_brings_along_leads_nowhere() {
    let repo = Repo::new();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), repo.path.join(".godel")).unwrap();
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "a link"]);
    let bead = repo.create("here");
    assert_eq!(repo.shelf().ready(5).unwrap()[0].id, bead.id);
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
