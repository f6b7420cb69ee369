//! What a snapshot holds, in the one form that its id is made of.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The version of the form.
pub(super) const VERSION: u32 = 1;

/// What a snapshot holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) version: u32,
    pub(super) parts: Vec<Kept>,
}

/// One directory of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) name: String,
    /// By path, so that the same files always give the same id.
    pub(super) entries: Vec<Entry>,
    /// How many files were left out: they cannot be read, are no files, or are beyond the bound.
    pub(super) left_out: u64,
}

/// One file, directory or link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(with = "text")]
    pub(super) path: PathBuf,
    #[serde(flatten)]
    pub(super) what: What,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum What {
    Directory {
        mode: u32,
    },
    File {
        mode: u32,
        chunks: Vec<Chunk>,
    },
    Link {
        #[serde(with = "text")]
        target: PathBuf,
    },
}

/// A piece of content, named by its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Chunk(pub(super) [u8; 32]);

impl TryFrom<String> for Chunk {
    type Error = blake3::HexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes()))
    }
}

impl From<Chunk> for String {
    fn from(chunk: Chunk) -> Self {
        blake3::Hash::from_bytes(chunk.0).to_hex().to_string()
    }
}

/// Tells whether a path leads down and nowhere else.
pub(super) fn is_plain(path: &Path) -> bool {
    let down = |part: Component<'_>| matches!(part, Component::Normal(_));
    !path.as_os_str().is_empty() && path.components().all(down)
}

/// Paths as text; names that are no text are told in hexadecimal digits after a zero character, which
/// no path can have.
mod text {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => to.serialize_str(text),
            None => {
                let bytes = path.as_os_str().as_bytes();
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                to.serialize_str(&format!("\0{digits}"))
            }
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(from)?;
        let Some(digits) = text.strip_prefix('\0') else {
            return Ok(PathBuf::from(text));
        };
        let pair = |at: usize| {
            let digits = digits.get(at..at + 2)?;
            u8::from_str_radix(digits, 16).ok()
        };
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(pair).collect();
        let bytes = bytes.ok_or_else(|| de::Error::custom("a path is damaged"))?;
        Ok(PathBuf::from(OsString::from_vec(bytes)))
    }
}
