//! Packs are put together and nothing is lost.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use godel_beads::ops::{self, NewBead};
use godel_beads::{Options, Writer};

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

#[test]
fn a_writer_that_lives_long_puts_packs_together_by_itself() {
    let repo = Repo::new();
    let writer = Writer::start(&repo.path, Options::default()).unwrap();
    let (tell, told) = channel();
    let (mut ids, mut slowest) = (Vec::new(), Duration::ZERO);
    for n in 0..400 {
        let new = NewBead { title: format!("bead {n}"), ..NewBead::default() };
        let tell = tell.clone();
        let begun = Instant::now();
        writer.submit(
            "ann",
            move |draft| ops::create(draft, &new),
            move |made| {
                tell.send(made).unwrap();
            },
        );
        ids.push(told.recv().unwrap().unwrap().id);
        slowest = slowest.max(begun.elapsed());
    }
    drop(writer);
    let packs = std::fs::read_dir(repo.path.join(".git/objects/pack")).unwrap();
    let packs = packs.flatten().filter(|file| file.path().extension().unwrap() == "pack");
    assert!(packs.count() < 300, "nobody put them together");
    assert!(slowest < Duration::from_secs(5), "a write took {slowest:?}");
    let mut shelf = repo.shelf();
    ids.iter().for_each(|id| drop(shelf.bead(id).unwrap()));
    repo.git(&["fsck", "--strict", "--full"]);
    assert_eq!(shelf.log(None, 500).unwrap().len(), 400);
}
