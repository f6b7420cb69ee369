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
    vault.keep(&[part(&dir)]).unwrap();
    fs::write(dir.join("d"), "new").unwrap();
    vault.keep(&[part(&dir)]).unwrap();
    let packs = fs::read_dir(home.path().join("vault/packs")).unwrap().flatten();
    let sum: u64 = packs.map(|entry| entry.metadata().unwrap().len()).sum();
    assert!(sum < 6 << 20, "{sum}");
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
