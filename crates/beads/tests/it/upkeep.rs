//! Packs are put together and nothing is lost.

use crate::support::{Repo, create};

#[test]
fn many_packs_become_few_and_everything_is_still_there() {
    let repo = Repo::new();
    repo.git(&["gc", "-q"]);
    let mut shelf = repo.shelf();
    let ids: Vec<String> = (0..120).map(|n| create(&mut shelf, &format!("bead {n}")).id).collect();
    assert!(shelf.upkeep_due());
    let upkeep = shelf.maintain().unwrap();
    assert!(upkeep.packs >= 120, "{upkeep:?}");
    assert!(!shelf.upkeep_due());
    repo.git(&["fsck", "--strict", "--full"]);
    // Whoever had the old packs open, and whoever comes new, finds everything.
    for shelf in [&mut shelf, &mut repo.shelf()] {
        assert_eq!(shelf.ready(200).unwrap().len(), 120);
        ids.iter().for_each(|id| drop(shelf.bead(id).unwrap()));
    }
    create(&mut shelf, "after");
    repo.git(&["gc", "-q", "--prune=now"]);
    repo.git(&["fsck", "--strict", "--full"]);
    assert_eq!(repo.shelf().ready(200).unwrap().len(), 121);
    assert_eq!(shelf.log(None, 500).unwrap().len(), 121);
}
