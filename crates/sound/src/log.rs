//! The log of a SQLite database, read as SQLite would recover it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
const PAGE_BYTES_MAX: usize = 65_536;
/// How much is read at once.
const READ_BYTES: usize = 1 << 20;

/// Looks whether the log of a database that nobody uses has all that was committed to it; returns what is
/// wrong.
///
/// There are two witnesses. The index of the log, `-shm`, tells how far it went: SQLite writes that in
/// memory after the log was synced, and a process that is killed leaves it behind. And a change is synced
/// before the next one begins, so that no power cut damages one that others follow. Neither is heard with
/// `relaxed`, where nothing waits for the disk and a power cut may take what was answered.
///
/// # Errors
/// If the log cannot be read.
pub fn log(database: &Path, relaxed: bool) -> io::Result<Option<String>> {
    // SQLite puts it beside the file itself, not beside a link to it.
    let database = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let index = if relaxed { None } else { Index::read(&beside(&database, "-shm"))? };
    let path = beside(&database, "-wal");
    let shown = path.display();
    let found = match File::open(&path) {
        Ok(file) => Found::read(&mut BufReader::with_capacity(READ_BYTES, file))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
        Err(error) => return Err(error),
    };
    Ok(match (&found, &index) {
        (Found::Nothing, Some(index)) => {
            Some(format!("{shown} is gone or empty, and {} pages were in it", index.frames))
        }
        (Found::Unreadable, _) => Some(format!("the beginning of {shown} makes no sense")),
        (Found::Log { salts, .. }, Some(index)) if *salts != index.salts => {
            Some(format!("{shown} is not the log that was written last"))
        }
        (Found::Log { committed, .. }, Some(index)) if *committed < index.frames => Some(format!(
            "{shown} is damaged or cut off behind page {committed} of {}",
            index.frames
        )),
        (Found::Log { committed, followed: true, .. }, _) if !relaxed => Some(format!(
            "{shown} is damaged behind page {committed}, and changes follow that were saved"
        )),
        (Found::Nothing | Found::Log { .. }, _) => None,
    })
}

fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(suffix);
    name.into()
}

/// How four bytes are a number.
type Word = fn([u8; 4]) -> u32;

/// The sums that SQLite keeps, over words of four bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sums(u32, u32);

impl Sums {
    fn add(mut self, bytes: &[u8], word: Word) -> Self {
        for pair in bytes.chunks_exact(8) {
            let (first, second) = pair.split_at(4);
            let of = |part: &[u8]| word(part.try_into().unwrap_or_default());
            self.0 = self.0.wrapping_add(of(first)).wrapping_add(self.1);
            self.1 = self.1.wrapping_add(of(second)).wrapping_add(self.0);
        }
        self
    }
}

/// A number in the log, which has the most significant byte first.
fn big(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |part| u32::from_be_bytes(part.try_into().unwrap_or_default()))
}

/// A number in the index, which is as the machine has it.
fn own(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |part| u32::from_ne_bytes(part.try_into().unwrap_or_default()))
}

/// What the index of a log says of it, if anything of the log is not in the database yet.
struct Index {
    frames: u32,
    salts: Vec<u8>,
}

impl Index {
    fn read(path: &Path) -> io::Result<Option<Self>> {
        /// Where each thing is: a header, the same again, and how much was moved into the database.
        const LENGTH: usize = 48;
        const SUMS: usize = 40;
        let mut bytes = Vec::new();
        match File::open(path) {
            Ok(file) => file.take(2 * LENGTH as u64 + 4).read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some((header, rest)) = bytes.split_at_checked(LENGTH) else { return Ok(None) };
        let Some((again, moved)) = rest.split_at_checked(LENGTH) else { return Ok(None) };
        let sums = Sums(0, 0).add(&header[..SUMS], u32::from_ne_bytes);
        let is_whole = header == again && sums == Sums(own(header, SUMS), own(header, SUMS + 4));
        let (frames, moved) = (own(header, 16), own(moved, 0));
        let salts = header[32..SUMS].to_vec();
        Ok((is_whole && frames > moved).then_some(Self { frames, salts }))
    }
}

/// What a log is like.
enum Found {
    /// There is none, or nothing in it.
    Nothing,
    /// Its beginning was something else once.
    Unreadable,
    /// It can be read to some place.
    Log {
        salts: Vec<u8>,
        /// How many pages SQLite recovers.
        committed: u32,
        /// Whether more than one change follows behind the place where that ends.
        followed: bool,
    },
}

impl Found {
    fn read(file: &mut BufReader<File>) -> io::Result<Self> {
        let mut header = [0; HEADER_BYTES];
        if !fill(file, &mut header)? {
            return Ok(Self::Nothing);
        }
        let word: Word = match big(&header, 0) {
            0x377f_0682 => u32::from_le_bytes,
            0x377f_0683 => u32::from_be_bytes,
            _ => return Self::without_beginning(file, &header),
        };
        let sums = Sums(0, 0).add(&header[..24], word);
        let bytes = big(&header, 8) as usize;
        let is_page = bytes.is_power_of_two() && (512..=PAGE_BYTES_MAX).contains(&bytes);
        if sums != Sums(big(&header, 24), big(&header, 28)) || !is_page {
            return Ok(Self::Unreadable);
        }
        let salts = header[16..24].to_vec();
        let (frames, committed) = recovered(file, (&salts, sums, word), bytes)?;
        let followed = commits_from(file, (&salts, frames), bytes)? > 1;
        Ok(Self::Log { salts, committed, followed })
    }

    /// A log that a power cut kept from being begun is nothing but zeros.
    fn without_beginning(file: &mut impl Read, header: &[u8]) -> io::Result<Self> {
        let mut more = [0; PAGE_BYTES_MAX];
        let length = file.read(&mut more)?;
        let zeros = header.iter().chain(&more[..length]).all(|byte| *byte == 0);
        Ok(if zeros { Self::Nothing } else { Self::Unreadable })
    }
}

/// Reads frames as far as they are whole; returns how many they are, and which of them is the last one of
/// a change.
fn recovered(
    file: &mut impl Read,
    (salts, mut sums, word): (&[u8], Sums, Word),
    bytes: usize,
) -> io::Result<(u32, u32)> {
    let mut frame = vec![0; FRAME_HEADER_BYTES + bytes];
    let (mut frames, mut committed) = (0, 0);
    while fill(file, &mut frame)? {
        let (header, page) = frame.split_at(FRAME_HEADER_BYTES);
        sums = sums.add(&header[..8], word).add(page, word);
        let is_whole = sums == Sums(big(header, 16), big(header, 20));
        if header[8..16] != *salts || !is_whole || big(header, 0) == 0 {
            break;
        }
        frames += 1;
        if big(header, 4) != 0 {
            committed = frames;
        }
    }
    Ok((frames, committed))
}

/// Counts the ends of changes from a frame on that belong to the same log, whole or not.
fn commits_from(
    file: &mut BufReader<File>,
    (salts, from): (&[u8], u32),
    bytes: usize,
) -> io::Result<usize> {
    let length = (FRAME_HEADER_BYTES + bytes) as u64;
    let mut header = [0; FRAME_HEADER_BYTES];
    file.seek(SeekFrom::Start(HEADER_BYTES as u64 + u64::from(from) * length))?;
    let mut commits = 0;
    while commits < 2 && fill(file, &mut header)? {
        commits += usize::from(header[8..16] == *salts && big(&header, 4) != 0);
        file.seek_relative(bytes as i64)?;
    }
    Ok(commits)
}

/// Fills a buffer; `false` if the file ends before that.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;

    /// A database with ten changes in its log, as a process leaves it that is killed.
    fn killed() -> (TempDir, PathBuf) {
        let (live, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let conn = Connection::open(live.path().join("x.db")).unwrap();
        let begin = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x);";
        conn.execute_batch(begin).unwrap();
        for number in 0..9 {
            conn.execute("INSERT INTO t VALUES (?1)", [number]).unwrap();
        }
        for name in ["x.db", "x.db-wal", "x.db-shm"] {
            std::fs::copy(live.path().join(name), left.path().join(name)).unwrap();
        }
        let path = left.path().join("x.db");
        (left, path)
    }

    fn flip(path: &Path, at: usize) {
        let mut bytes = std::fs::read(path).unwrap();
        bytes[at] ^= 4;
        std::fs::write(path, bytes).unwrap();
    }

    fn rows(path: &Path) -> i64 {
        let conn = Connection::open(path).unwrap();
        conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_a_killed_process_leaves_is_sound() {
        let (_left, path) = killed();
        assert_eq!(log(&path, false).unwrap(), None);
        assert_eq!(rows(&path), 9);
        // The last one who closed it removed the log.
        assert_eq!(log(&path, false).unwrap(), None);
        assert_eq!(log(Path::new("/nowhere/x.db"), false).unwrap(), None);
    }

    #[test]
    fn a_bit_anywhere_in_the_log_is_found_where_sqlite_loses_rows() {
        let (_left, path) = killed();
        let wal = beside(&path, "-wal");
        let (length, mut lost) = (std::fs::metadata(&wal).unwrap().len(), 0);
        for at in (0..length).step_by(997) {
            let (_left, path) = killed();
            flip(&beside(&path, "-wal"), at.try_into().unwrap());
            let found = log(&path, false).unwrap();
            if found.is_none() {
                assert_eq!(rows(&path), 9, "a bit at {at}");
            }
            lost += usize::from(found.is_some());
        }
        assert!(lost > 30, "only {lost} were found");
    }

    #[test]
    fn a_log_that_was_cut_off_is_found_by_its_index() {
        for length in [0, 31, 32, 5_000, 9_000, 30_000] {
            let (_left, path) = killed();
            File::options()
                .write(true)
                .open(beside(&path, "-wal"))
                .unwrap()
                .set_len(length)
                .unwrap();
            assert!(log(&path, false).unwrap().is_some(), "{length} bytes are left");
        }
        let (_left, path) = killed();
        std::fs::remove_file(beside(&path, "-wal")).unwrap();
        assert!(log(&path, false).unwrap().is_some_and(|why| why.contains("is gone")));
    }

    #[test]
    fn without_an_index_only_the_last_change_may_be_damaged() {
        for (back, sound) in [(100, true), (4_200, false), (8_400, false), (20_000, false)] {
            let (_left, path) = killed();
            let wal = beside(&path, "-wal");
            let length = std::fs::metadata(&wal).unwrap().len();
            flip(&wal, usize::try_from(length).unwrap() - back);
            std::fs::remove_file(beside(&path, "-shm")).unwrap();
            assert_eq!(log(&path, false).unwrap().is_none(), sound, "{back} before the end");
            assert_eq!(log(&path, true).unwrap(), None, "{back} before the end");
        }
    }

    #[test]
    fn a_log_of_nothing_but_zeros_was_never_begun() {
        let (_left, path) = killed();
        std::fs::remove_file(beside(&path, "-shm")).unwrap();
        std::fs::write(beside(&path, "-wal"), vec![0; 20_000]).unwrap();
        assert_eq!(log(&path, false).unwrap(), None);
        flip(&beside(&path, "-wal"), 10_000);
        assert!(log(&path, false).unwrap().is_some());
    }
}
