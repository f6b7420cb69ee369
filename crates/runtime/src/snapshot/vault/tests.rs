use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Something to put into a directory.
#[derive(Debug, Clone)]
enum Thing {
    Dir(u32),
    File(u32, Vec<u8>),
    Link(String),
}

fn thing() -> impl Strategy<Value = Thing> {
    let content = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..64),
        1 => (any::<u8>(), 0_usize..3_000_000).prop_map(|(byte, count)| vec![byte; count]),
    ];
    prop_oneof![
        (0_u32..8).prop_map(|bits| Thing::Dir(0o700 | bits)),
        ((0_u32..64), content).prop_map(|(bits, bytes)| Thing::File(0o600 | bits, bytes)),
        "(\\.\\./)?[a-c]{1,3}".prop_map(Thing::Link),
    ]
}

/// Paths of at most three short names, so that they meet; one name is no text.
fn path() -> impl Strategy<Value = PathBuf> {
    let name = prop_oneof![
        4 => "[a-c .]{0,2}[a-c]".prop_map(String::into_bytes),
        1 => Just(vec![b'x', 0xff]),
    ];
    prop::collection::vec(name, 1..4)
        .prop_map(|names| names.iter().map(|name| OsStr::from_bytes(name)).collect())
}

fn build(dir: &Path, things: &[(PathBuf, Thing)]) {
    for (path, thing) in things {
        let full = dir.join(path);
        // What does not fit with what is there is left out.
        let Some(above) = full.parent().and_then(|above| {
            let plain = above.ancestors().take_while(|up| *up != dir).all(|up| !up.is_symlink());
            plain.then(|| fs::create_dir_all(above)).and_then(Result::ok)
        }) else {
            continue;
        };
        let () = above;
        let set = |mode| fs::set_permissions(&full, fs::Permissions::from_mode(mode));
        let _ = match thing {
            Thing::Dir(mode) => fs::create_dir(&full).and_then(|()| set(*mode)),
            Thing::File(mode, bytes) if !full.exists() && !full.is_symlink() => {
                fs::write(&full, bytes).and_then(|()| set(*mode))
            }
            Thing::Link(target) => symlink(target, &full),
            Thing::File(..) => Ok(()),
        };
    }
}

fn picture(dir: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let found = fs::symlink_metadata(entry.path()).unwrap();
            let content = if found.is_symlink() {
                fs::read_link(entry.path()).unwrap().into_os_string().as_bytes().to_vec()
            } else if found.is_dir() {
                open.push(entry.path());
                Vec::new()
            } else {
                fs::read(entry.path()).unwrap()
            };
            let path = entry.path().strip_prefix(dir).unwrap().to_owned();
            all.insert(path, (found.mode(), content));
        }
    }
    all
}

fn part(dir: &Path) -> Part {
    Part::new("it", dir, &[])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_comes_back_in_place_of_whatever_was_there(
        one in prop::collection::vec((path(), thing()), 0..20),
        other in prop::collection::vec((path(), thing()), 0..20),
    ) {
        let home = TempDir::new().unwrap();
        let (first, second) = (home.path().join("first"), home.path().join("second"));
        for (dir, things) in [(&first, &one), (&second, &other)] {
            fs::create_dir(dir).unwrap();
            build(dir, things);
        }
        let before = picture(&first);
        let vault = Vault::open(&home.path().join("vault")).unwrap();
        let id = vault.keep(&[part(&first)]).unwrap();
        prop_assert_eq!(vault.keep(&[part(&first)]).unwrap(), id.clone());
        // Another Godel, later, on a directory with other things in it.
        let vault = Vault::open(&home.path().join("vault")).unwrap();
        vault.lay(&id, &[part(&second)]).unwrap();
        prop_assert_eq!(picture(&second), before.clone());
        prop_assert_eq!(vault.keep(&[part(&second)]).unwrap(), id);
        prop_assert_eq!(picture(&first), before);
    }
}

#[test]
fn the_same_content_is_kept_once() {
    let home = TempDir::new().unwrap();
    let dir = home.path().join("dir");
    fs::create_dir(&dir).unwrap();
    let bytes: Vec<u8> =
        (0..5_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for name in ["a", "b", "c"] {
        fs::write(dir.join(name), &bytes).unwrap();
    }
    let vault = Vault::open(&home.path().join("vault")).unwrap();
    let first = vault.keep(&[part(&dir)]).unwrap();
    fs::write(dir.join("d"), "new").unwrap();
    let second = vault.keep(&[part(&dir)]).unwrap();
    let packs = fs::read_dir(home.path().join("vault/packs")).unwrap().flatten();
    let sum: u64 = packs.map(|entry| entry.metadata().unwrap().len()).sum();
    assert!(sum < 6 << 20, "{sum}");

    // Each is as large as its files, and all together take the room of one.
    let stored = vault.stored().unwrap();
    let sizes = [&first, &second].map(|id| stored.snapshots.get(id).copied());
    assert_eq!(sizes, [Some(15 << 20), Some((15 << 20) + 3)]);
    assert!((sum..sum + (1 << 20)).contains(&stored.bytes), "{} {sum}", stored.bytes);
    assert_eq!(vault.stored().unwrap(), stored);
    vault.forget(&first).unwrap();
    assert_eq!(vault.stored().unwrap().snapshots.len(), 1);
    // It is the same place when it is opened again.
    drop(vault);
    let again = Vault::open(&home.path().join("vault")).unwrap().stored().unwrap();
    assert_eq!((again.vault, again.snapshots.len()), (stored.vault, 1));
}

#[test]
fn special_files_are_left_out_and_links_are_not_followed() {
    let home = TempDir::new().unwrap();
    let (dir, secret) = (home.path().join("dir"), home.path().join("secret"));
    fs::create_dir(&dir).unwrap();
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, dir.join("link")).unwrap();
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, dir.join("pipe"), pipe, 0o600.into(), 0).unwrap();
    let vault = Vault::open(&home.path().join("vault")).unwrap();
    let id = vault.keep(&[part(&dir)]).unwrap();
    let copy = home.path().join("copy");
    vault.lay(&id, &[part(&copy)]).unwrap();
    assert_eq!(fs::read_dir(&copy).unwrap().count(), 1);
    assert!(copy.join("link").is_symlink());
}

/// All files of a directory of packs.
fn packs(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join("packs")).unwrap().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn what_is_not_forgotten_comes_back_after_any_sweep(
        contents in prop::collection::vec(prop::collection::vec(0_u8..12, 1..6), 1..6),
        forgotten in prop::collection::vec(any::<bool>(), 6),
        reopened in any::<bool>(),
    ) {
        let home = TempDir::new().unwrap();
        let root = home.path().join("vault");
        let mut vault = Vault::open(&root).unwrap();
        let mut kept = Vec::new();
        for (number, bytes) in contents.iter().enumerate() {
            let dir = home.path().join(number.to_string());
            fs::create_dir(&dir).unwrap();
            for byte in bytes {
                fs::write(dir.join(byte.to_string()), vec![*byte; 100 + usize::from(*byte)]).unwrap();
            }
            kept.push((vault.keep(&[Part::new("x", &dir, &[])]).unwrap(), dir));
        }
        let gone: Vec<&SnapshotId> = kept
            .iter()
            .zip(&forgotten)
            .filter_map(|((id, _), forgotten)| forgotten.then_some(id))
            .collect();
        for id in &gone {
            vault.forget(id).unwrap();
        }
        vault.sweep().unwrap();
        prop_assert_eq!(vault.sweep().unwrap(), 0, "once is enough");
        if reopened {
            vault = Vault::open(&root).unwrap();
        }
        let mut live = 0;
        for (id, dir) in &kept {
            if gone.contains(&id) {
                prop_assert!(vault.check(id).is_err());
                continue;
            }
            live += 1;
            let to = home.path().join("to");
            vault.lay(id, &[Part::new("x", &to, &[])]).unwrap();
            for entry in fs::read_dir(dir).unwrap().flatten() {
                prop_assert_eq!(
                    fs::read(to.join(entry.file_name())).unwrap(),
                    fs::read(entry.path()).unwrap()
                );
            }
        }
        prop_assert!(live > 0 || packs(&root).is_empty());
    }
}

#[test]
fn whatever_a_crash_leaves_behind_nothing_is_lost_and_the_next_sweep_clears_it() {
    let home = TempDir::new().unwrap();
    let (root, dir) = (home.path().join("vault"), home.path().join("dir"));
    fs::create_dir(&dir).unwrap();
    let vault = Vault::open(&root).unwrap();
    for name in ["big", "small"] {
        fs::write(dir.join(name), vec![name.len() as u8; 10_000 * name.len().pow(3)]).unwrap();
    }
    let both = vault.keep(&[Part::new("x", &dir, &[])]).unwrap();
    let before = packs(&root);
    fs::remove_file(dir.join("small")).unwrap();
    let one = vault.keep(&[Part::new("x", &dir, &[])]).unwrap();
    vault.forget(&both).unwrap();
    let saved: Vec<(PathBuf, Vec<u8>)> =
        before.iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert!(vault.sweep().unwrap() > 0, "less than half is needed");
    let after = packs(&root);
    assert!(after.iter().all(|path| !before.contains(path)));
    let good = |vault: &Vault| {
        let to = home.path().join("to");
        vault.lay(&one, &[Part::new("x", &to, &[])]).unwrap();
        assert_eq!(fs::read(to.join("big")).unwrap(), fs::read(dir.join("big")).unwrap());
    };
    good(&vault);
    // Died before the old list was gone, after it, and while something was being added.
    for state in [&["pack", "list"][..], &["pack"], &["new"]] {
        for (path, bytes) in &saved {
            let kind = path.extension().unwrap().to_str().unwrap();
            if state.contains(&kind) {
                fs::write(path, bytes).unwrap();
            }
            if state == ["new"] {
                fs::write(path.with_extension("new"), b"half").unwrap();
            }
        }
        let vault = Vault::open(&root).unwrap();
        good(&vault);
        vault.sweep().unwrap();
        good(&vault);
        assert_eq!(packs(&root).len(), 2, "{state:?}");
    }
}

#[test]
fn a_snapshot_that_cannot_be_read_stops_the_sweep() {
    let home = TempDir::new().unwrap();
    let (root, dir) = (home.path().join("vault"), home.path().join("dir"));
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("file"), b"precious").unwrap();
    let vault = Vault::open(&root).unwrap();
    let id = vault.keep(&[Part::new("x", &dir, &[])]).unwrap();
    let manifest = root.join("manifests").join(id.as_str()).with_extension("json");
    let bytes = fs::read(&manifest).unwrap();
    fs::write(&manifest, b"{}").unwrap();
    assert!(vault.sweep().is_err());
    fs::write(&manifest, bytes).unwrap();
    vault.sweep().unwrap();
    vault.lay(&id, &[Part::new("x", &home.path().join("to"), &[])]).unwrap();
    assert_eq!(fs::read(home.path().join("to/file")).unwrap(), b"precious");
}
