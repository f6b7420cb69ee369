//! Putting packs together: small ones often, large ones seldom, and never a pack of the user.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use gix::ObjectId;
use gix::object::Kind;
use gix::object::tree::EntryKind;
use serde::Serialize;

use crate::doc::Class;
use crate::git::{KEEP, quiet_git, run_git};
use crate::shelf::{Shelf, path_of};
use crate::{Error, Result};

/// More packs than this are put together.
const PACKS_MAX: usize = 50;

/// So many small packs are put together without a larger one.
const SMALL_MIN: usize = PACKS_MAX / 2;

/// How long a chain of differences may be. The folder of all folders changes with each write and has
/// kilobytes: told anew every hundredth time, it would be a tenth of all that is kept. The newest
/// version is the whole one, so only history pays for a long chain.
const DEPTH: &str = "--depth=1000";

/// What upkeep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Upkeep {
    /// How many packs were put together.
    pub packs: usize,
    /// How many objects they had.
    pub objects: usize,
    /// Whether the readable view was written anew.
    pub view: bool,
}

impl Shelf {
    /// Tells whether upkeep would be worth its while; costs a look at one folder.
    pub fn upkeep_due(&self) -> bool {
        let view = self.index_is_behind_view();
        view || marks(&self.packs_folder()).len() > PACKS_MAX
    }

    fn packs_folder(&self) -> PathBuf {
        self.place().common.join("objects/pack")
    }

    /// Puts small packs together and brings the readable view up; only one does so at a time.
    ///
    /// # Errors
    /// If the repository cannot be read or written, or git fails.
    pub fn maintain(&mut self) -> Result<Upkeep> {
        let path = self.place().inner().join("upkeep.lock");
        let failed = |cause| Error::write(&path, cause);
        std::fs::create_dir_all(self.place().inner()).map_err(failed)?;
        let file = std::fs::File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(failed)?;
        if file.try_lock().is_err() {
            return Ok(Upkeep::default());
        }
        let mut upkeep = self.consolidate()?;
        self.index()?;
        if self.index_is_behind_view() {
            self.repair_view()?;
            upkeep.view = true;
        }
        Ok(upkeep)
    }

    fn consolidate(&mut self) -> Result<Upkeep> {
        let folder = self.packs_folder();
        let packs = chosen(&folder);
        if packs.len() < 2 {
            return Ok(Upkeep::default());
        }
        let live = self.index()?.blobs()?;
        let (mut now, mut past) = (Vec::new(), Vec::new());
        for pack in &packs {
            for (id, small) in self.objects(pack)? {
                match live.contains(&id) {
                    true => now.push((id, String::new())),
                    // What is small already stays as it is.
                    false if small => past.push((id, String::new())),
                    false => past.push((id, self.kinship(id).unwrap_or_default())),
                }
            }
        }
        let objects = now.len() + past.len();
        // Documents that are current are read often and stay whole. A folder has as many versions as
        // there were writes in it, so all of them, the current one too, are told as differences.
        let whole = self.pack(&folder, &now, &["--window=0"])?;
        let small = self.pack(&folder, &past, &["--window=8", DEPTH])?;
        let made: Vec<PathBuf> = whole.into_iter().chain(small).collect();
        self.check(&made, now.iter().chain(&past).map(|(id, _)| id))?;
        std::fs::File::open(&folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|cause| Error::write(&folder, cause))?;
        // git may make a pack anew that is there already, under the same name; that one stays.
        for pack in packs.iter().filter(|pack| !made.contains(&pack.with_extension(""))) {
            // Without its index nobody begins to read a pack; whoever reads it already goes on.
            for ending in ["idx", "rev", "pack", "keep"] {
                std::fs::remove_file(pack.with_extension(ending)).ok();
            }
        }
        if folder.join("multi-pack-index").exists() {
            // The user's index over all packs named ours; without it git only reads slower.
            run_git(&self.place().common, &["multi-pack-index", "write"]).ok();
        }
        Ok(Upkeep { packs: packs.len(), objects, view: false })
    }

    /// Returns a word that versions of the same folder or document have in common: git looks for
    /// what two objects share among those with the same name.
    fn kinship(&self, id: ObjectId) -> Option<String> {
        let object = self.repository.find_object(id).ok()?;
        match object.kind {
            Kind::Tree => {
                let mut entries = gix::objs::TreeRefIter::from_bytes(&object.data, id.kind());
                let first = entries.next()?.ok()?;
                let (name, kind) = (first.filename.to_string(), first.mode.kind());
                Some(match (kind, name.strip_suffix(".json")) {
                    (EntryKind::Blob, Some(id)) => {
                        let path = path_of(Class::Bead, id);
                        path.rsplit_once('/').map(|(folder, _)| folder.to_owned())?
                    }
                    (EntryKind::Tree, _) if name.len() == 2 => "beads".to_owned(),
                    _ => "root".to_owned(),
                })
            }
            Kind::Blob => {
                let text = std::str::from_utf8(&object.data).ok()?;
                let id = text.lines().find_map(|line| line.strip_prefix("  \"id\": \""))?;
                Some(id.trim_end_matches([',', '"']).to_owned())
            }
            Kind::Commit | Kind::Tag => None,
        }
    }

    /// Returns the objects of a pack, and whether each is told as a difference to another.
    fn objects(&self, pack: &Path) -> Result<Vec<(ObjectId, bool)>> {
        let index = self.pack_index(pack)?;
        let hash = self.repository.object_hash();
        let data = gix::odb::pack::data::File::at(pack.with_extension("pack"), hash);
        let data = data.map_err(|cause| Error::git("read", cause))?;
        let mut entries: Vec<_> = index.iter().collect();
        entries.sort_unstable_by_key(|entry| entry.pack_offset);
        let objects = entries.into_iter().map(|entry| {
            let stored = data.entry(entry.pack_offset);
            (entry.oid, stored.is_ok_and(|stored| stored.header.is_delta()))
        });
        Ok(objects.collect())
    }

    fn pack_index(&self, pack: &Path) -> Result<gix::odb::pack::index::File> {
        let path = pack.with_extension("idx");
        let hash = self.repository.object_hash();
        gix::odb::pack::index::File::at(path, hash).map_err(|cause| Error::git("read", cause))
    }

    /// Lets git write a pack of these objects, and returns its path without ending.
    fn pack(
        &self,
        folder: &Path,
        objects: &[(ObjectId, String)],
        how: &[&str],
    ) -> Result<Option<PathBuf>> {
        if objects.is_empty() {
            return Ok(None);
        }
        let failed = |message: String| Error::Command { command: "pack-objects".into(), message };
        let mut child = quiet_git(&self.place().common)
            .args(["-c", "pack.writeReverseIndex=false"])
            .args(["pack-objects", "--quiet", "--threads=1", "--delta-base-offset"])
            .args(how)
            .arg(folder.join("pack"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|cause| failed(cause.to_string()))?;
        let mut list = String::with_capacity(objects.len() * 56);
        for (id, name) in objects {
            list.push_str(&format!("{id} {name}\n"));
        }
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(list.as_bytes()).map_err(|cause| failed(cause.to_string()))?;
        }
        let output = child.wait_with_output().map_err(|cause| failed(cause.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let path = folder.join(format!("pack-{name}"));
        std::fs::write(path.with_extension("keep"), KEEP)
            .map_err(|cause| Error::write(&path, cause))?;
        Ok(Some(path))
    }

    /// Makes sure that every object is in one of the new packs before an old one goes.
    fn check<'a>(
        &self,
        made: &[PathBuf],
        objects: impl Iterator<Item = &'a ObjectId>,
    ) -> Result<()> {
        let indexes: Vec<_> =
            made.iter().map(|pack| self.pack_index(pack)).collect::<Result<_>>()?;
        for id in objects {
            if !indexes.iter().any(|index| index.lookup(id).is_some()) {
                let message = format!("git left {id} out of a pack");
                return Err(Error::Command { command: "pack-objects".into(), message });
            }
        }
        Ok(())
    }
}

/// Lists what could be marks of our packs.
fn marks(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "keep")).collect()
}

/// Chooses the packs that are put together: the small ones, and a larger one only once those are
/// half as large, so that each object is written again a few times in its life at most.
fn chosen(folder: &Path) -> Vec<PathBuf> {
    let mut packs: Vec<(u64, PathBuf)> = marks(folder)
        .into_iter()
        .filter(|mark| std::fs::read_to_string(mark).is_ok_and(|text| text == KEEP))
        .map(|mark| mark.with_extension("pack"))
        // A kill between two renames leaves a pack without an index, which nobody can read.
        .filter(|pack| pack.with_extension("idx").exists())
        .filter_map(|pack| Some((pack.metadata().ok()?.len(), pack)))
        .collect();
    packs.sort();
    let mut sum = 0;
    let mut chosen = Vec::new();
    for (size, pack) in packs {
        if chosen.len() >= SMALL_MIN && size > sum * 2 {
            break;
        }
        sum += size;
        chosen.push(pack);
    }
    // The newest first, as git wants them: a version then stands beside the one before it.
    let written = |pack: &PathBuf| pack.metadata().and_then(|meta| meta.modified()).ok();
    chosen.sort_by_key(|pack| std::cmp::Reverse(written(pack)));
    chosen
}
