//! Writing objects as one pack: a batch of any size costs the same few syncs.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::hash::{Hasher, Kind as Hash, ObjectId};
use gix::object::Kind;

use super::disk::{Disk, fault};
use crate::{Error, Result};

/// What a `.keep` file of ours says; git then leaves the pack alone.
pub(crate) const KEEP: &str = "godel state\n";

/// Objects on their way to the disk.
#[derive(Debug)]
pub(crate) struct Pack {
    hash: Hash,
    objects: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    id: ObjectId,
    kind: Kind,
    bytes: Vec<u8>,
}

impl Pack {
    /// Begins a pack for a repository with this kind of hash.
    pub(crate) fn new(hash: Hash) -> Self {
        Self { hash, objects: Vec::new() }
    }

    /// Adds an object and returns its name.
    pub(crate) fn add(&mut self, kind: Kind, bytes: Vec<u8>) -> Result<ObjectId> {
        let id = name(self.hash, kind, &bytes)?;
        self.objects.push(Entry { id, kind, bytes });
        Ok(id)
    }

    /// Writes the pack into the folder of packs, durably, and returns its path without ending;
    /// another file that waits to be made safe is synced together with it.
    pub(crate) fn write(
        mut self,
        folder: &Path,
        disk: &Disk,
        beside: &(PathBuf, File),
    ) -> Result<PathBuf> {
        self.objects.sort_by_key(|entry| entry.id);
        self.objects.dedup_by_key(|entry| entry.id);
        let (pack, index, name) = self.encode()?;
        let path = folder.join(format!("pack-{name}"));
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |cause| Error::write(&path, cause)
        };
        disk.make_dir(folder).map_err(failed(folder))?;
        // Names without an ending: git reads whatever ends as an index does, be it half written, and
        // clears away what begins like this once it is old.
        let fresh = |what: &str| folder.join(format!("tmp_{what}_godel_{name}"));
        let (fresh_pack, fresh_index) = (fresh("pack"), fresh("idx"));
        let pack = disk.write(&fresh_pack, &pack).map_err(failed(&fresh_pack))?;
        fault("pack-written");
        let index = disk.write(&fresh_index, &index).map_err(failed(&fresh_index))?;
        fault("index-written");
        let (beside_path, beside) = beside;
        disk.sync(&[(&fresh_pack, &pack), (&fresh_index, &index), (beside_path, beside)])
            .map_err(failed(&fresh_pack))?;
        fault("pack-synced");
        // A mark that gets lost costs nothing: git then packs these objects with its own.
        std::fs::write(path.with_extension("keep"), KEEP).ok();
        for (fresh, ending) in [(fresh_pack, "pack"), (fresh_index, "idx")] {
            let named = path.with_extension(ending);
            disk.rename(&fresh, &named).map_err(failed(&named))?;
            fault("pack-half-named");
        }
        disk.sync_dir(folder).map_err(failed(folder))?;
        fault("pack-named");
        Ok(path)
    }

    /// Returns the bytes of the pack and of its index, and its name.
    fn encode(&self) -> Result<(Vec<u8>, Vec<u8>, ObjectId)> {
        let count = u32::try_from(self.objects.len()).map_err(|_| Error::TooLarge)?;
        let mut pack = Vec::with_capacity(4096);
        pack.extend_from_slice(b"PACK");
        pack.extend_from_slice(&2_u32.to_be_bytes());
        pack.extend_from_slice(&count.to_be_bytes());
        let mut places = Vec::with_capacity(self.objects.len());
        for entry in &self.objects {
            let start = pack.len();
            put_header(&mut pack, entry.kind, entry.bytes.len());
            // Folders are hashes, which hardly shrink, and upkeep tells them as differences; the
            // rest is small, and stays as it is written here.
            let level = if entry.kind == Kind::Tree { 1 } else { 9 };
            let mut encoder = ZlibEncoder::new(pack, Compression::new(level));
            let written = encoder.write_all(&entry.bytes).and_then(|()| encoder.finish());
            pack = written.map_err(|cause| Error::write(Path::new("a pack"), cause))?;
            let offset = u32::try_from(start).ok().filter(|at| *at < 1 << 31);
            let offset = offset.ok_or(Error::TooLarge)?;
            places.push((entry.id, crc32fast::hash(&pack[start..]), offset));
        }
        let name = self.checksum(&pack)?;
        pack.extend_from_slice(name.as_slice());
        let index = self.index(&places, name)?;
        Ok((pack, index, name))
    }

    /// Returns the index of a pack, in git's second format.
    fn index(&self, places: &[(ObjectId, u32, u32)], pack: ObjectId) -> Result<Vec<u8>> {
        let mut index = vec![0xff, b't', b'O', b'c', 0, 0, 0, 2];
        let mut upto = 0_u32;
        let mut next = places.iter().peekable();
        for first in 0..=255_u8 {
            while next.next_if(|(id, _, _)| id.as_slice()[0] == first).is_some() {
                upto += 1;
            }
            index.extend_from_slice(&upto.to_be_bytes());
        }
        places.iter().for_each(|(id, _, _)| index.extend_from_slice(id.as_slice()));
        places.iter().for_each(|(_, crc, _)| index.extend_from_slice(&crc.to_be_bytes()));
        places.iter().for_each(|(_, _, at)| index.extend_from_slice(&at.to_be_bytes()));
        index.extend_from_slice(pack.as_slice());
        let sum = self.checksum(&index)?;
        index.extend_from_slice(sum.as_slice());
        Ok(index)
    }

    fn checksum(&self, bytes: &[u8]) -> Result<ObjectId> {
        let mut hasher = gix::hash::hasher(self.hash);
        hasher.update(bytes);
        finish(hasher)
    }
}

/// Returns the name of a blob with this content.
pub(crate) fn blob_id(hash: Hash, bytes: &[u8]) -> Result<ObjectId> {
    name(hash, Kind::Blob, bytes)
}

fn name(hash: Hash, kind: Kind, bytes: &[u8]) -> Result<ObjectId> {
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(format!("{kind} {}\0", bytes.len()).as_bytes());
    hasher.update(bytes);
    finish(hasher)
}

fn finish(hasher: Hasher) -> Result<ObjectId> {
    hasher.try_finalize().map_err(|cause| Error::git("hashed", cause))
}

/// Writes type and size as packs do: four bits of size first, then seven at a time.
fn put_header(pack: &mut Vec<u8>, kind: Kind, mut size: usize) {
    let kind = match kind {
        Kind::Commit => 1_u8,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let low = |size: usize, mask: usize| u8::try_from(size & mask).unwrap_or_default();
    let mut byte = (kind << 4) | low(size, 15);
    size >>= 4;
    while size > 0 {
        pack.push(byte | 0x80);
        byte = low(size, 127);
        size >>= 7;
    }
    pack.push(byte);
}
