//! A full disk: a clear error, nothing lost, and on it goes when there is room again.

use std::path::Path;
use std::process::Command;

use godel_beads::ops::{self, NewBead};
use godel_beads::{Error, Shelf};
use godel_model::Report as _;

use crate::support::git;

/// Fills a small disk; run by [`a_full_disk_costs_nothing_that_was_answered`] in its own namespace.
#[test]
fn filler() {
    let Ok(path) = std::env::var("GODEL_FILL_AT") else { return };
    let path = Path::new(&path).join("repo");
    git(Path::new("/"), &["init", "-q", "-b", "main", path.to_str().unwrap()]);
    std::fs::write(path.join("ballast"), vec![7; 300_000]).unwrap();
    let mut ids = Vec::new();
    let refused = loop {
        // Text that does not compress fills the disk soon.
        let text: String =
            (0..3_000).map(|_| fastrand_char(&mut ids.len().wrapping_add(7))).collect();
        let new = NewBead {
            title: format!("bead {}", ids.len()),
            description: Some(format!("{text}{:?}", std::time::Instant::now())),
            ..NewBead::default()
        };
        let made = Shelf::open(&path).unwrap().write("ann", move |draft| ops::create(draft, &new));
        match made {
            Ok(bead) => ids.push(bead.id),
            Err(error) => break error,
        }
        assert!(ids.len() < 5_000, "the disk is too large");
    };
    assert!(matches!(refused, Error::Write { .. } | Error::Index(_)), "{refused:?}");
    assert!(refused.hint().is_some());
    for id in &ids {
        assert!(Shelf::open(&path).unwrap().bead(id).is_ok(), "{id} is lost");
    }
    std::fs::remove_file(path.join("ballast")).unwrap();
    let new = NewBead { title: "again".to_owned(), ..NewBead::default() };
    let made = Shelf::open(&path).unwrap().write("ann", move |draft| ops::create(draft, &new));
    assert!(Shelf::open(&path).unwrap().bead(&made.unwrap().id).is_ok());
    git(&path, &["fsck", "--strict"]);
    println!("filled with {} beads: {refused}", ids.len());
}

fn fastrand_char(seed: &mut usize) -> char {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    char::from(b'a' + u8::try_from((*seed >> 33) % 26).unwrap())
}

#[test]
fn a_full_disk_costs_nothing_that_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1500k tmpfs '{0}' && \
         GODEL_FILL_AT='{0}' exec '{1}' --exact full_disk::filler --nocapture",
        folder.path().display(),
        own.display()
    );
    let alone = |script: &str| Command::new("unshare").args(["-rm", "sh", "-c", script]).output();
    // Some systems let nobody but root mount anything, not even in a namespace of its own.
    let probe = format!("mount -t tmpfs tmpfs '{}'", folder.path().display());
    if !alone(&probe).is_ok_and(|probe| probe.status.success()) {
        let on_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!on_ci, "this user may not mount a small disk, and on CI nothing is left out");
        eprintln!("left out: this user may not mount a small disk");
        return;
    }
    let run = alone(&script).unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let cried = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}{cried}");
    assert!(said.contains("filled with"), "{said}{cried}");
}
