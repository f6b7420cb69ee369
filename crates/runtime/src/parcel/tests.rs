use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use godel_model::Report as _;
use tempfile::TempDir;

use super::*;

/// Writes a whole file and returns its bytes.
fn whole(home: &Path) -> Vec<u8> {
    let bundle = home.join("bundle");
    std::fs::write(&bundle, vec![9; 3 * BUFFER_BYTES / 2]).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&told);
    let out = move |bytes: Vec<u8>| {
        to.lock().unwrap().extend(bytes);
        Ok(())
    };
    let mut writer = Writer::begin(Box::new(out)).unwrap();
    writer.frame(Kind::About, b"{}".to_vec()).unwrap();
    writer.frame(Kind::List, b"list".to_vec()).unwrap();
    writer.frame(Kind::Content, vec![1; 200]).unwrap();
    writer.frame(Kind::Content, vec![2; 10]).unwrap();
    writer.copy(Kind::Commits, File::open(&bundle).unwrap()).unwrap();
    writer.end().unwrap();
    let told = told.lock().unwrap();
    told.clone()
}

fn written(home: &Path, bytes: &[u8]) -> PathBuf {
    let path = home.join("file");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_was_written_is_read_again() {
    let home = TempDir::new().unwrap();
    let path = written(home.path(), &whole(home.path()));
    let checked = check(&path).unwrap();
    assert_eq!(checked.about, b"{}");
    let pieces: Vec<Vec<u8>> = checked.pieces(&path).unwrap().map(|piece| piece.unwrap()).collect();
    assert_eq!(pieces, [b"list".to_vec(), vec![1; 200], vec![2; 10]]);
    let to = home.path().join("to");
    assert!(checked.commits(&path, &to).unwrap());
    assert_eq!(std::fs::read(to).unwrap(), vec![9; 3 * BUFFER_BYTES / 2]);
}

#[test]
fn a_file_that_is_cut_or_changed_anywhere_is_refused() {
    let home = TempDir::new().unwrap();
    let good = whole(home.path());
    let refused = |bytes: &[u8], why: &str| {
        let error = check(&written(home.path(), bytes)).expect_err(why);
        assert_eq!(error.code(), code::SNAPSHOT_FILE_INVALID, "{why}: {error}");
        error.to_string()
    };
    // All of the small parts, and a few places of the large one.
    let places: Vec<usize> = (0..600)
        .chain((600..good.len()).step_by(9_973))
        .chain(good.len() - 60..good.len())
        .collect();
    for at in places {
        refused(&good[..at], "cut");
        let mut bad = good.clone();
        bad[at] ^= 1;
        refused(&bad, "changed");
    }
    refused(&[&good[..], b"x"].concat(), "longer");
    refused(&[&good[..], &good[..]].concat(), "twice");
    let mut other = good.clone();
    other[MAGIC.len()] = b'2';
    assert!(refused(&other, "newer").contains("another version"));
    let mut huge = good;
    let head = MAGIC.len() + VERSION.len();
    huge[head + 1..head + HEAD_BYTES].copy_from_slice(&u64::MAX.to_be_bytes());
    refused(&huge, "a part that is longer than memory");
}

#[test]
fn parts_come_in_their_order_only() {
    let all = [Kind::About, Kind::List, Kind::Content, Kind::Commits, Kind::End];
    let may = |before: Option<Kind>| -> Vec<Kind> {
        all.into_iter().filter(|kind| kind.may_follow(before)).collect()
    };
    assert_eq!(may(None), [Kind::About]);
    assert_eq!(may(Some(Kind::About)), [Kind::List]);
    assert_eq!(may(Some(Kind::List)), [Kind::Content, Kind::Commits, Kind::End]);
    assert_eq!(may(Some(Kind::Content)), [Kind::Content, Kind::Commits, Kind::End]);
    assert_eq!(may(Some(Kind::Commits)), [Kind::End]);
    assert_eq!(may(Some(Kind::End)), []);
}
