//! The file in which a snapshot is carried: frames, each with a kind and a length, and a digest of all of it
//! at the end.
//!
//! First what the agent was like and what was said, then the list of its files, then each content once, then
//! the commits as a bundle of git if the other side may lack them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use godel_model::code;

use crate::error::at;
use crate::snapshot::{LIST_MAX_BYTES, Pieces};
use crate::{Error, Result};

/// How a file begins; what follows is the version of the form.
const MAGIC: &[u8] = b"godel snapshot ";
const VERSION: &[u8] = b"1\n";
/// How large the description of the agent and its conversation may be.
pub const ABOUT_MAX_BYTES: u64 = 256 << 20;
/// How large a content may be.
const CONTENT_MAX_BYTES: u64 = 1 << 20;
const HEAD_BYTES: usize = 9;
const BUFFER_BYTES: usize = 64 << 10;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What the agent was like, and what was said.
    About,
    /// The list of its files.
    List,
    /// What a file holds.
    Content,
    /// The commits.
    Commits,
    /// The digest of all of it.
    End,
}

impl Kind {
    const fn byte(self) -> u8 {
        match self {
            Self::About => b'a',
            Self::List => b'l',
            Self::Content => b'c',
            Self::Commits => b'g',
            Self::End => b'z',
        }
    }

    fn of(byte: u8) -> Option<Self> {
        let all = [Self::About, Self::List, Self::Content, Self::Commits, Self::End];
        all.into_iter().find(|kind| kind.byte() == byte)
    }

    /// Tells whether a frame of this kind may come after one of another, or as the first.
    const fn may_follow(self, before: Option<Self>) -> bool {
        match (before, self) {
            (None, Self::About)
            | (Some(Self::About), Self::List)
            | (Some(Self::List | Self::Content), Self::Content | Self::Commits | Self::End)
            | (Some(Self::Commits), Self::End) => true,
            (None | Some(_), _) => false,
        }
    }

    const fn most(self) -> u64 {
        match self {
            Self::About => ABOUT_MAX_BYTES,
            Self::List => LIST_MAX_BYTES,
            Self::Content => CONTENT_MAX_BYTES,
            // As much as the whole file.
            Self::Commits => u64::MAX,
            Self::End => blake3::OUT_LEN as u64,
        }
    }
}

/// Takes the bytes of a file.
pub type Out = Box<dyn FnMut(Vec<u8>) -> io::Result<()> + Send>;

/// Writes a file, frame by frame.
pub struct Writer {
    to: Out,
    hash: blake3::Hasher,
}

impl Writer {
    /// Begins a file.
    ///
    /// # Errors
    /// If nobody takes the bytes.
    pub fn begin(to: Out) -> io::Result<Self> {
        let mut writer = Self { to, hash: blake3::Hasher::new() };
        writer.put([MAGIC, VERSION].concat())?;
        Ok(writer)
    }

    fn put(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.hash.update(&bytes);
        (self.to)(bytes)
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// If nobody takes the bytes.
    pub fn frame(&mut self, kind: Kind, body: Vec<u8>) -> io::Result<()> {
        self.put(head(kind, body.len() as u64))?;
        self.put(body)
    }

    /// Writes a frame of what a file holds.
    ///
    /// # Errors
    /// If it cannot be read, or nobody takes the bytes.
    pub fn copy(&mut self, kind: Kind, mut from: File) -> io::Result<()> {
        let mut left = from.metadata()?.len();
        self.put(head(kind, left))?;
        while left > 0 {
            let mut bytes = Vec::with_capacity(BUFFER_BYTES);
            (&mut from).take(left.min(BUFFER_BYTES as u64)).read_to_end(&mut bytes)?;
            if bytes.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= bytes.len() as u64;
            self.put(bytes)?;
        }
        Ok(())
    }

    /// Writes the digest of all before it.
    ///
    /// # Errors
    /// If nobody takes the bytes.
    pub fn end(&mut self) -> io::Result<()> {
        let digest = self.hash.finalize();
        self.frame(Kind::End, digest.as_bytes().to_vec())
    }
}

fn head(kind: Kind, length: u64) -> Vec<u8> {
    let mut head = vec![kind.byte()];
    head.extend(length.to_be_bytes());
    head
}

/// A file that is whole: what it says about the agent, and where the rest is.
#[derive(Debug)]
pub struct Checked {
    /// What it says about the agent.
    pub about: Vec<u8>,
    /// Where the list of files begins.
    list_at: u64,
    /// Where commits are, and how many bytes.
    commits: Option<(u64, u64)>,
}

/// Reads a whole file, and sees that every byte of it is what was written.
///
/// # Errors
/// If it is not, or cannot be read.
pub fn check(path: &Path) -> Result<Checked> {
    let mut reader = Reader::open(path, 0)?;
    reader.check_magic()?;
    let (mut before, mut about) = (None, Vec::new());
    let (mut list_at, mut commits) = (0, None);
    loop {
        let (at, so_far) = (reader.at, reader.hash.finalize());
        let (kind, length) = reader.head()?;
        if !kind.may_follow(before) {
            return Err(refused("its parts are in no order"));
        }
        before = Some(kind);
        match kind {
            Kind::About => about = reader.body(length)?,
            Kind::List => {
                list_at = at;
                reader.skip(length)?;
            }
            Kind::Content => reader.skip(length)?,
            Kind::Commits => {
                commits = Some((reader.at, length));
                reader.skip(length)?;
            }
            Kind::End => {
                let same = reader.body(length)?.as_slice() == so_far.as_bytes();
                if !same || !reader.is_over()? {
                    return Err(refused("it is not what was written"));
                }
                return Ok(Checked { about, list_at, commits });
            }
        }
    }
}

impl Checked {
    /// Gives the list of files and the contents.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn pieces(&self, path: &Path) -> Result<Pieces> {
        let mut reader = Reader::open(path, self.list_at)?;
        let next = move || match reader.head() {
            Ok((Kind::List | Kind::Content, length)) => {
                Some(reader.body(length).map_err(io::Error::other))
            }
            Ok(_) => None,
            Err(error) => Some(Err(io::Error::other(error))),
        };
        Ok(Box::new(std::iter::from_fn(next)))
    }

    /// Writes the commits into a file of their own; `false` if there are none.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn commits(&self, path: &Path, to: &Path) -> Result<bool> {
        let Some((at, length)) = self.commits else { return Ok(false) };
        let copy = || {
            let mut from = File::open(path)?;
            from.seek(SeekFrom::Start(at))?;
            let mut to = File::create(to)?;
            io::copy(&mut from.take(length), &mut to)?;
            to.flush()
        };
        copy().map_err(failed(to)).map(|()| true)
    }
}

/// Reads a file that anybody may have written.
struct Reader {
    file: BufReader<File>,
    hash: blake3::Hasher,
    at: u64,
    shown: std::path::PathBuf,
}

impl Reader {
    fn open(path: &Path, at: u64) -> Result<Self> {
        let open = || {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(at))?;
            Ok(BufReader::with_capacity(BUFFER_BYTES, file))
        };
        let file = open().map_err(failed(path))?;
        Ok(Self { file, hash: blake3::Hasher::new(), at, shown: path.to_owned() })
    }

    fn check_magic(&mut self) -> Result<()> {
        let magic = self.body(MAGIC.len() as u64).unwrap_or_default();
        if magic != MAGIC {
            return Err(refused("it does not begin as one"));
        }
        if self.body(VERSION.len() as u64)? != VERSION {
            return Err(refused("it was made by another version of Godel"));
        }
        Ok(())
    }

    fn head(&mut self) -> Result<(Kind, u64)> {
        let head = self.body(HEAD_BYTES as u64)?;
        let (kind, length) = head.split_first().unwrap_or((&0, &[]));
        let length = length.try_into().map_or(0, u64::from_be_bytes);
        match Kind::of(*kind).filter(|kind| length <= kind.most()) {
            Some(kind) => Ok((kind, length)),
            None => Err(refused("a part of it is none")),
        }
    }

    fn body(&mut self, length: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&mut self.file).take(length).read_to_end(&mut bytes);
        read.map_err(failed(&self.shown))?;
        self.hash.update(&bytes);
        self.at += bytes.len() as u64;
        if (bytes.len() as u64) < length {
            return Err(refused("it is cut off"));
        }
        Ok(bytes)
    }

    fn skip(&mut self, mut length: u64) -> Result<()> {
        while length > 0 {
            length -= self.body(length.min(BUFFER_BYTES as u64))?.len() as u64;
        }
        Ok(())
    }

    fn is_over(&mut self) -> Result<bool> {
        let mut one = [0];
        Ok(self.file.read(&mut one).map_err(failed(&self.shown))? == 0)
    }
}

/// Says that a file could not be used.
pub fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    at(path, "used")
}

/// Says why a file is no snapshot.
pub fn refused(why: impl std::fmt::Display) -> Error {
    Error::refused(
        code::SNAPSHOT_FILE_INVALID,
        format!("this is no whole snapshot: {why}"),
        "export the snapshot again, and see that the file is copied whole",
    )
}

#[cfg(test)]
mod tests;
