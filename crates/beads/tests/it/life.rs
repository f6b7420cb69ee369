//! The life of a bead, from its making to its end.

use godel_beads::{Filter, Page};

use crate::support::{Repo, create};

#[test]
fn what_is_made_is_in_git_and_nothing_else_is_touched() {
    let repo = Repo::new();
    let before = repo.git(&["for-each-ref"]);
    let bead = repo.create("Fix authentication bug");
    let page = Page { limit: 10, ..Page::default() };
    let rows = repo.shelf().list(&Filter::default(), &page).unwrap();
    assert_eq!(rows[0].id, bead.id);
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored=no"]), "");
    let diary = repo.git(&["log", "--format=%an: %s", "godel/state"]);
    assert_eq!(diary, format!("ann: {} created: Fix authentication bug\n", bead.id));
    repo.git(&["fsck", "--strict", "--full"]);
    let after = repo.git(&["for-each-ref", "--exclude=refs/heads/godel/"]);
    assert_eq!(before, after);
    let view = std::fs::read_to_string(repo.path.join(format!(".godel/beads/{}.json", bead.id)));
    assert!(view.unwrap().contains("Fix authentication bug"));
}

#[test]
fn an_index_that_is_thrown_away_answers_the_same() {
    let repo = Repo::new();
    let mut shelf = repo.shelf();
    (0..30).for_each(|n| drop(create(&mut shelf, &format!("bead {n}"))));
    let page = Page { limit: 100, ..Page::default() };
    let before = shelf.list(&Filter::everything(), &page).unwrap();
    drop(shelf);
    std::fs::remove_dir_all(repo.path.join(".godel")).unwrap();
    std::fs::remove_file(repo.path.join(".git/godel/index.db")).unwrap();
    assert_eq!(repo.shelf().list(&Filter::everything(), &page).unwrap(), before);
    assert_eq!(before.len(), 30);
    assert_eq!(std::fs::read_dir(repo.path.join(".godel/beads")).unwrap().count(), 30);
    repo.git(&["fsck", "--strict", "--full"]);
}
