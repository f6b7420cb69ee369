use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use godel_model::Report as _;
use tempfile::TempDir;

use super::super::manifest::Kept;
use super::super::vault::Part;
use super::*;

/// A directory with everything that can be kept.
fn furnish(dir: &Path) {
    fs::create_dir_all(dir.join("src/deep")).unwrap();
    fs::write(dir.join("src/main.rs"), "fn main() {}\n").unwrap();
    fs::write(dir.join("src/deep/empty"), "").unwrap();
    fs::create_dir(dir.join("ignored")).unwrap();
    let large: Vec<u8> =
        (0..3_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(dir.join("ignored/cache.bin"), &large).unwrap();
    fs::write(dir.join("ignored/copy.bin"), &large).unwrap();
    fs::write(dir.join(OsStr::from_bytes(b"no \xfftext")), "a name\n").unwrap();
    fs::write(dir.join("run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(dir.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(dir.join("src/deep"), fs::Permissions::from_mode(0o700)).unwrap();
    symlink("../elsewhere", dir.join("link")).unwrap();
    symlink(OsStr::from_bytes(b"\xfe"), dir.join("odd link")).unwrap();
}

/// All paths of a directory with their modes and contents.
fn picture(dir: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut all = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let found = fs::symlink_metadata(&path).unwrap();
            let content = if found.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().as_bytes().to_vec()
            } else if found.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            all.push((path.strip_prefix(dir).unwrap().to_owned(), found.mode(), content));
        }
    }
    all.sort();
    all
}

fn parts(dir: &Path) -> [Part; 1] {
    [Part::new("workspace", dir, &[])]
}

/// A vault with a snapshot in it, and the snapshot in pieces.
fn carried(home: &Path) -> (SnapshotId, Vec<Vec<u8>>) {
    let dir = home.join("from");
    fs::create_dir(&dir).unwrap();
    furnish(&dir);
    let vault = Vault::open(&home.join("one")).unwrap();
    let id = vault.keep(&parts(&dir)).unwrap();
    (id.clone(), pieces_of(&vault, &id))
}

fn pieces_of(vault: &Vault, id: &SnapshotId) -> Vec<Vec<u8>> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let to = move |piece| {
        sink.lock().unwrap().push(piece);
        Ok(())
    };
    vault.export(id, Box::new(to)).unwrap();
    let told = told.lock().unwrap();
    told.clone()
}

fn given(pieces: Vec<Vec<u8>>) -> Pieces {
    Box::new(pieces.into_iter().map(Ok))
}

/// Sees that a vault holds nothing at all.
fn assert_empty(root: &Path) {
    for folder in ["packs", "manifests"] {
        let left: Vec<_> = fs::read_dir(root.join(folder)).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn what_is_carried_to_another_vault_is_the_same_there() {
    let home = TempDir::new().unwrap();
    let (id, pieces) = carried(home.path());
    // The same content is in two files, and carried once.
    assert!(pieces.iter().map(Vec::len).sum::<usize>() < 5 << 20);
    let there = Vault::open(&home.path().join("two")).unwrap();
    assert_eq!(there.import(given(pieces.clone())).unwrap(), id);
    let to = home.path().join("to");
    there.lay(&id, &parts(&to)).unwrap();
    assert_eq!(picture(&to), picture(&home.path().join("from")));
    // It can be carried on, and brought twice.
    assert_eq!(pieces_of(&there, &id), pieces);
    assert_eq!(there.import(given(pieces)).unwrap(), id);
    assert_eq!(there.sweep().unwrap(), 0);
    // And another Godel finds it.
    let there = Vault::open(&home.path().join("two")).unwrap();
    there.lay(&id, &parts(&home.path().join("again"))).unwrap();
}

#[test]
fn what_is_damaged_in_any_way_is_refused_and_leaves_nothing() {
    let home = TempDir::new().unwrap();
    let (_, pieces) = carried(home.path());
    let root = home.path().join("two");
    let there = Vault::open(&root).unwrap();
    let mut bad: Vec<(&str, Vec<Vec<u8>>)> = vec![("nothing", Vec::new())];
    let mut add = |why, change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut pieces = pieces.clone();
        change(&mut pieces);
        bad.push((why, pieces));
    };
    add("a list that is none", &|pieces| pieces[0] = b"{]".to_vec());
    add("a list that is cut", &|pieces| pieces[0].truncate(100));
    add("another version", &|pieces| replace(pieces, "\"version\":1", "\"version\":2"));
    add("a content that is missing", &|pieces| drop(pieces.pop()));
    add("no content at all", &|pieces| pieces.truncate(1));
    add("a content that is changed", &|pieces| pieces[1][0] ^= 1);
    add("a content that is cut", &|pieces| pieces[1].truncate(1));
    add("a content that is empty", &|pieces| pieces.push(Vec::new()));
    add("a content twice", &|pieces| pieces.push(pieces[1].clone()));
    add("a content of no file", &|pieces| pieces.push(b"stowaway".to_vec()));
    add("a content that is too long", &|pieces| pieces.push(vec![7; CHUNK_BYTES + 1]));
    add("a path that leads up", &|pieces| replace(pieces, "\"run.sh\"", "\"../run.sh\""));
    add("a path from the root", &|pieces| replace(pieces, "\"run.sh\"", "\"/etc/x\""));
    add("a path below a link", &|pieces| replace(pieces, "\"run.sh\"", "\"link/x\""));
    add("a path below a file", &|pieces| {
        replace(pieces, "\"src/main.rs\"", "\"src/deep/empty/x\"");
    });
    add("paths in no order", &|pieces| replace(pieces, "\"run.sh\"", "\"a\""));
    add("a path twice", &|pieces| replace(pieces, "\"run.sh\"", "\"odd link\""));
    add("a part with a strange name", &|pieces| replace(pieces, "\"workspace\"", "\"../x\""));
    for (why, pieces) in bad {
        let refused = there.import(given(pieces)).expect_err(why);
        assert_eq!(refused.code(), code::SNAPSHOT_FILE_INVALID, "{why}: {refused}");
        assert_empty(&root);
    }
    // After all this the whole one is taken.
    there.import(given(pieces)).unwrap();
}

fn replace(pieces: &mut [Vec<u8>], what: &str, with: &str) {
    let text = String::from_utf8(pieces[0].clone()).unwrap();
    assert!(text.contains(what), "{what}");
    pieces[0] = text.replace(what, with).into_bytes();
}

#[test]
fn the_digest_of_a_content_that_is_here_is_not_the_content() {
    let home = TempDir::new().unwrap();
    let (_, pieces) = carried(home.path());
    // It holds all contents already, and still wants to see them.
    let here = Vault::open(&home.path().join("one")).unwrap();
    let refused = here.import(given(pieces[..1].to_vec())).unwrap_err();
    assert_eq!(refused.code(), code::SNAPSHOT_FILE_INVALID);
}

#[test]
fn a_small_file_that_would_fill_the_disk_is_refused() {
    let home = TempDir::new().unwrap();
    let content = vec![0; CHUNK_BYTES];
    let chunk = Chunk(*blake3::hash(&content).as_bytes());
    let times = usize::try_from(LAID_MAX_BYTES / CHUNK_BYTES as u64).unwrap() + 1;
    let what = What::File { mode: 0o600, chunks: vec![chunk; times] };
    let entries = vec![Entry { path: PathBuf::from("bomb"), what }];
    let part = Kept { name: "workspace".to_owned(), entries, left_out: 0 };
    let list = serde_json::to_vec(&Manifest { version: VERSION, parts: vec![part] }).unwrap();
    let there = Vault::open(&home.path().join("two")).unwrap();
    let refused = there.import(given(vec![list, content])).unwrap_err();
    assert!(refused.to_string().contains("more room"), "{refused}");
    assert_empty(&home.path().join("two"));
}

#[test]
fn whoever_breaks_off_in_the_middle_leaves_nothing() {
    let home = TempDir::new().unwrap();
    let (id, pieces) = carried(home.path());
    let root = home.path().join("two");
    let there = Vault::open(&root).unwrap();
    let broken = || io::Error::new(io::ErrorKind::UnexpectedEof, "gone");
    let first = pieces.iter().take(2).cloned().map(Ok).collect::<Vec<_>>();
    let refused = there.import(Box::new(first.into_iter().chain([Err(broken())]))).unwrap_err();
    assert_eq!(refused.code(), code::FILE_FAILED);
    assert_empty(&root);
    // Killed before the list was written: contents are there that nobody names, and the sweep takes them.
    there.import(given(pieces.clone())).unwrap();
    fs::remove_file(there.list_path(&id)).unwrap();
    let there = Vault::open(&root).unwrap();
    assert!(there.check(&id).is_err());
    assert!(there.sweep().unwrap() > 3 << 20);
    assert_empty(&root);
    // Killed while contents were written: the same.
    fs::write(root.join("packs/half.pack"), b"half").unwrap();
    there.sweep().unwrap();
    assert_empty(&root);
    // Who takes no more ends the export.
    let vault = Vault::open(&home.path().join("one")).unwrap();
    assert!(vault.export(&id, Box::new(move |_| Err(broken()))).is_err());
}
