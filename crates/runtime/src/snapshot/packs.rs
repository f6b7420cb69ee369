//! Contents by their digests: each snapshot adds one file with what is new, and a list of it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use godel_model::{Mint, code};

use super::manifest::Chunk;
use crate::error::at;
use crate::{Error, Result};

/// The size of a chunk; the last one of a file is smaller.
pub(super) const CHUNK_BYTES: usize = 1 << 20;
/// A line of a list: digest, offset, length.
const LINE_BYTES: usize = 32 + 8 + 4;

#[derive(Debug, Clone)]
struct Place {
    pack: usize,
    offset: u64,
    length: u32,
}

/// All contents that are kept.
#[derive(Debug)]
pub(super) struct Packs {
    pub(super) dir: PathBuf,
    pub(super) files: Vec<PathBuf>,
    places: HashMap<Chunk, Place>,
}

impl Packs {
    /// Reads the lists.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        fs::create_dir_all(dir).map_err(at(dir, "made"))?;
        let mut packs = Self { dir: dir.to_owned(), files: Vec::new(), places: HashMap::new() };
        packs.refresh()?;
        Ok(packs)
    }

    /// Reads lists that came since.
    pub(super) fn refresh(&mut self) -> Result<()> {
        let entries = fs::read_dir(&self.dir).map_err(at(&self.dir, "read"))?;
        for entry in entries.flatten() {
            let list = entry.path();
            let pack = list.with_extension("pack");
            if list.extension().is_some_and(|end| end == "list") && !self.files.contains(&pack) {
                let bytes = fs::read(&list).map_err(at(&list, "read"))?;
                self.learn(pack, &bytes);
            }
        }
        Ok(())
    }

    fn learn(&mut self, pack: PathBuf, list: &[u8]) {
        let number = self.files.len();
        self.files.push(pack);
        for line in list.chunks_exact(LINE_BYTES) {
            let (digest, rest) = line.split_at(32);
            let (offset, length) = rest.split_at(8);
            let fields = (digest.try_into(), offset.try_into(), length.try_into());
            if let (Ok(digest), Ok(offset), Ok(length)) = fields {
                let place = Place {
                    pack: number,
                    offset: u64::from_be_bytes(offset),
                    length: u32::from_be_bytes(length),
                };
                self.places.entry(Chunk(digest)).or_insert(place);
            }
        }
    }

    /// Returns all contents, and in which pack each is.
    pub(super) fn all(&self) -> impl Iterator<Item = (Chunk, usize)> {
        self.places.iter().map(|(chunk, place)| (*chunk, place.pack))
    }

    /// Returns how long a content is.
    pub(super) fn length(&self, chunk: Chunk) -> u64 {
        self.places.get(&chunk).map_or(0, |place| u64::from(place.length))
    }

    /// Reads a content, and sees that it is what it was.
    pub(super) fn read(&mut self, chunk: Chunk) -> Result<Vec<u8>> {
        if !self.places.contains_key(&chunk) {
            self.refresh()?;
        }
        let Some(place) = self.places.get(&chunk) else {
            return Err(damaged("a content is missing"));
        };
        let path = &self.files[place.pack];
        let mut bytes = vec![0; place.length as usize];
        let read = File::open(path).and_then(|mut file| {
            file.seek(SeekFrom::Start(place.offset))?;
            file.read_exact(&mut bytes)
        });
        match read {
            Ok(()) if *blake3::hash(&bytes).as_bytes() == chunk.0 => Ok(bytes),
            Ok(()) => Err(damaged("a content is not what it was")),
            Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                Err(damaged("a content is cut off"))
            }
            Err(cause) => Err(Error::file(path, "read", cause)),
        }
    }

    /// Begins to add contents.
    pub(super) fn add(&mut self) -> Result<Adding<'_>> {
        let name = Mint::system().id::<uuid::Uuid>().to_string();
        let path = self.dir.join(&name).with_extension("pack");
        let file = File::create(&path).map_err(at(&path, "made"))?;
        Ok(Adding { packs: self, path, file: BufWriter::new(file), list: Vec::new(), offset: 0 })
    }
}

/// Contents that are being added; without [`finish`](Adding::finish) there is nothing new.
pub(super) struct Adding<'a> {
    packs: &'a mut Packs,
    path: PathBuf,
    file: BufWriter<File>,
    list: Vec<(Chunk, u64, u32)>,
    offset: u64,
}

impl Adding<'_> {
    /// Adds a content unless it is there.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<Chunk> {
        let chunk = Chunk(*blake3::hash(bytes).as_bytes());
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if let std::collections::hash_map::Entry::Vacant(place) = self.packs.places.entry(chunk) {
            self.file.write_all(bytes).map_err(at(&self.path, "written"))?;
            place.insert(Place { pack: self.packs.files.len(), offset: self.offset, length });
            self.list.push((chunk, self.offset, length));
            self.offset += u64::from(length);
        }
        Ok(chunk)
    }

    /// Copies a content out of the pack that it is in.
    pub(super) fn copy(&mut self, chunk: Chunk) -> Result<()> {
        let bytes = self.packs.read(chunk)?;
        self.packs.places.remove(&chunk);
        self.put(&bytes).map(drop)
    }

    /// Makes what was added last.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.list.is_empty() {
            return fs::remove_file(&self.path).map_err(at(&self.path, "removed"));
        }
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(at(&self.path, "synced"))?;
        let mut bytes = Vec::with_capacity(self.list.len() * LINE_BYTES);
        for (chunk, offset, length) in &self.list {
            bytes.extend(chunk.0);
            bytes.extend(offset.to_be_bytes());
            bytes.extend(length.to_be_bytes());
        }
        // The list comes last: a pack without one is not there.
        write_synced(&self.path.with_extension("list"), &bytes)?;
        self.packs.files.push(self.path);
        Ok(())
    }

    /// Forgets what was added.
    pub(super) fn give_up(self) {
        for (chunk, ..) in &self.list {
            self.packs.places.remove(chunk);
        }
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes a file: all of it or nothing, and on disk when this returns.
pub(super) fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let scratch = path.with_extension("new");
    let written = File::create(&scratch).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(at(&scratch, "written"))?;
    fs::rename(&scratch, path).map_err(at(path, "written"))?;
    let dir = path.parent().unwrap_or(path);
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(at(dir, "synced"))
}

pub(super) fn damaged(why: &str) -> Error {
    Error::refused(
        code::SNAPSHOT_DAMAGED,
        format!("the snapshot cannot be read back: {why}"),
        "take another snapshot of the agent, or restore an older one",
    )
}
