//! The place where snapshots are kept.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use godel_model::{Mint, code};
use uuid::Uuid;

use super::manifest::{Manifest, VERSION, What};
use super::packs::{Packs, damaged, write_synced};
use super::{sweep, walk};
use crate::error::at;
use crate::{Error, Result, SnapshotId};

/// A directory that belongs to a snapshot.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// What it is called in the snapshot.
    pub(super) name: String,
    /// Where it is.
    pub(super) dir: PathBuf,
    /// What in it is neither kept nor touched.
    pub(super) skip: Vec<PathBuf>,
    /// What in it is kept up to a bound only.
    pub(super) bounded: Vec<PathBuf>,
    /// The bound in bytes.
    pub(super) budget: u64,
}

impl Part {
    pub(crate) fn new(name: &str, dir: &Path, skip: &[&str]) -> Self {
        let skip = skip.iter().map(PathBuf::from).collect();
        let (name, dir) = (name.to_owned(), dir.to_owned());
        Self { name, dir, skip, bounded: Vec::new(), budget: u64::MAX }
    }

    /// Bounds what is kept below some paths.
    pub(crate) fn bounding(mut self, paths: Vec<PathBuf>, bytes: u64) -> Self {
        self.bounded = paths;
        self.budget = bytes;
        self
    }
}

/// The place where snapshots are kept.
pub(crate) struct Vault {
    id: Uuid,
    manifests: PathBuf,
    pub(super) packs: Mutex<Packs>,
    /// How large snapshots are that were measured; they never change.
    sizes: Mutex<HashMap<SnapshotId, u64>>,
}

/// How much room snapshots take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// The place where they are kept, wherever its disk is.
    pub vault: Uuid,
    /// All of them together, in bytes on disk: what several hold is there once.
    pub bytes: u64,
    /// How large the files of each are.
    pub snapshots: HashMap<SnapshotId, u64>,
}

impl Vault {
    /// Opens the place, and makes it if it is not there.
    pub(crate) fn open(dir: &Path) -> Result<Self> {
        let manifests = dir.join("manifests");
        fs::create_dir_all(&manifests).map_err(at(&manifests, "made"))?;
        let packs = Mutex::new(Packs::open(&dir.join("packs"))?);
        Ok(Self { id: own_id(&dir.join("id"))?, manifests, packs, sizes: Mutex::default() })
    }

    /// Keeps what some directories hold; on disk when this returns.
    pub(crate) fn keep(&self, parts: &[Part]) -> Result<SnapshotId> {
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut adding = packs.add()?;
        let kept = parts.iter().map(|part| walk::read(part, &mut adding)).collect();
        let manifest = match kept {
            Ok(parts) => Manifest { version: VERSION, parts },
            Err(error) => {
                adding.give_up();
                return Err(error);
            }
        };
        adding.finish()?;
        let bytes = serde_json::to_vec(&manifest)
            .map_err(|error| Error::file(&self.manifests, "written", error.into()))?;
        let id = SnapshotId::try_from(blake3::hash(&bytes).to_hex().to_string())?;
        write_synced(&self.list_path(&id), &bytes)?;
        Ok(id)
    }

    /// Sees whether there is a snapshot.
    pub(crate) fn check(&self, id: &SnapshotId) -> Result<()> {
        self.load(id).map(drop)
    }

    /// Makes directories hold what a snapshot holds.
    pub(crate) fn lay(&self, id: &SnapshotId, parts: &[Part]) -> Result<()> {
        let manifest = self.load(id)?;
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        for part in parts {
            if let Some(kept) = manifest.parts.iter().find(|kept| kept.name == part.name) {
                walk::write(kept, part, &mut packs)?;
            }
        }
        Ok(())
    }

    /// Lists the snapshots that there are.
    pub(crate) fn list(&self) -> Result<Vec<SnapshotId>> {
        let entries = fs::read_dir(&self.manifests).map_err(at(&self.manifests, "read"))?;
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json")?.parse().ok()
        });
        let mut ids: Vec<SnapshotId> = names.collect();
        ids.sort();
        Ok(ids)
    }

    /// Tells how much room snapshots take.
    pub(crate) fn stored(&self) -> Result<Stored> {
        let known = std::mem::take(&mut *self.sizes.lock().unwrap_or_else(PoisonError::into_inner));
        let mut snapshots = HashMap::new();
        for id in self.list()? {
            let size = match known.get(&id) {
                Some(size) => *size,
                None => match self.load(&id) {
                    Ok(manifest) => self.measure(manifest),
                    // It was forgotten meanwhile, or is damaged: nobody can use it.
                    Err(_) => continue,
                },
            };
            snapshots.insert(id, size);
        }
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&snapshots);
        let packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = sweep::size(&packs.dir)? + sweep::size(&self.manifests)?;
        Ok(Stored { vault: self.id, bytes, snapshots })
    }

    fn measure(&self, manifest: Manifest) -> u64 {
        let packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = manifest.parts.into_iter().flat_map(|part| part.entries);
        let chunks = entries.flat_map(|entry| match entry.what {
            What::File { chunks, .. } => chunks,
            What::Directory { .. } | What::Link { .. } => Vec::new(),
        });
        chunks.map(|chunk| packs.length(chunk)).sum()
    }

    /// Forgets a snapshot; what only it held goes with the next sweep.
    pub(crate) fn forget(&self, id: &SnapshotId) -> Result<()> {
        let _packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.list_path(id);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(cause) => Err(Error::file(&path, "removed", cause)),
            Ok(()) => fs::File::open(&self.manifests)
                .and_then(|dir| dir.sync_all())
                .map_err(at(&self.manifests, "synced")),
        }
    }

    /// Removes contents that no snapshot needs; returns how many bytes were freed. If one snapshot
    /// cannot be read nothing is removed, since nobody knows what it needs.
    pub(crate) fn sweep(&self) -> Result<u64> {
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut needed = HashSet::new();
        for id in self.list()? {
            for entry in self.load(&id)?.parts.into_iter().flat_map(|part| part.entries) {
                if let What::File { chunks, .. } = entry.what {
                    needed.extend(chunks);
                }
            }
        }
        sweep::sweep(&mut packs, &needed)
    }

    /// Returns where the list of files of a snapshot is.
    pub(super) fn list_path(&self, id: &SnapshotId) -> PathBuf {
        self.manifests.join(id.as_str()).with_extension("json")
    }

    fn load(&self, id: &SnapshotId) -> Result<Manifest> {
        self.open_list(id).map(|(_, manifest)| manifest)
    }

    /// Reads the list of files of a snapshot, as it is and as what it says.
    pub(super) fn open_list(&self, id: &SnapshotId) -> Result<(Vec<u8>, Manifest)> {
        let path = self.list_path(id);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::refused(
                    code::SNAPSHOT_NOT_FOUND,
                    format!("there is no snapshot {id}"),
                    "see which there are, or take one",
                ));
            }
            Err(cause) => return Err(Error::file(&path, "read", cause)),
        };
        if blake3::hash(&bytes).to_hex().as_str() != id.as_str() {
            return Err(damaged("its list of files is not what it was"));
        }
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|_| damaged("its list of files is wrong"))?;
        if manifest.version != VERSION {
            return Err(damaged("it was made by another version of Godel"));
        }
        Ok((bytes, manifest))
    }
}

/// Reads the id of a place, which it gets when it is first opened.
fn own_id(path: &Path) -> Result<Uuid> {
    match fs::read_to_string(path) {
        Ok(text) => text.trim().parse().map_err(|_| damaged("its id is wrong")),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            let id = Mint::system().id::<Uuid>();
            write_synced(path, id.to_string().as_bytes())?;
            Ok(id)
        }
        Err(cause) => Err(Error::file(path, "read", cause)),
    }
}

#[cfg(test)]
mod tests;
