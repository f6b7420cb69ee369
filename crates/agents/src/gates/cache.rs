//! What is remembered of gates: the same files and the same command give the same result.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::GateResult;

/// No entry is larger.
const ENTRY_MAX_BYTES: u64 = 1 << 20;
/// Goes into every key, so that what an older version remembered is not believed when this changes.
const VERSION: &str = "gate 1";

/// Remembers results of gates.
pub trait GateCache: Send + Sync {
    /// Returns what is remembered under a key.
    fn get(&self, key: &str) -> Option<GateResult>;

    /// Remembers a result; to forget it is allowed.
    fn put(&self, key: &str, result: &GateResult);
}

/// Remembers nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCache;

impl GateCache for NoCache {
    fn get(&self, _: &str) -> Option<GateResult> {
        None
    }

    fn put(&self, _: &str, _: &GateResult) {}
}

/// Believes nothing that is remembered, and remembers what comes out now: for whoever asks again.
pub struct Anew<'a>(pub &'a dyn GateCache);

impl GateCache for Anew<'_> {
    fn get(&self, _: &str) -> Option<GateResult> {
        None
    }

    fn put(&self, key: &str, result: &GateResult) {
        self.0.put(key, result);
    }
}

/// Returns the key of a command on files: 64 hexadecimal digits.
pub fn key(tree: &str, command: &str) -> String {
    let mut digest = Sha256::new();
    for part in [VERSION, tree, command] {
        digest.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Remembers results in files of a directory, so many at most.
#[derive(Debug)]
pub struct FileCache {
    folder: PathBuf,
    max: usize,
    drafts: AtomicU64,
    tidying: Mutex<()>,
}

impl FileCache {
    /// Uses a directory, and makes it if it is not there; nobody else may write into it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: impl Into<PathBuf>, max: usize) -> std::io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        let (max, drafts) = (max.max(1), AtomicU64::new(0));
        Ok(Self { folder, max, drafts, tidying: Mutex::new(()) })
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let good = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        good.then(|| self.folder.join(format!("{key}.json")))
    }

    fn write(&self, path: &Path, result: &GateResult) -> std::io::Result<()> {
        let number = self.drafts.fetch_add(1, Ordering::Relaxed);
        let draft = self.folder.join(format!(".{}-{number}.tmp", std::process::id()));
        let bytes = serde_json::to_vec(result)?;
        let mut file = fs::File::create(&draft)?;
        // A file that a power cut took the contents of is no JSON, and so is not believed.
        file.write_all(&bytes).and_then(|()| fs::rename(&draft, path))
    }

    /// Removes the oldest if there are too many.
    fn tidy(&self) -> std::io::Result<()> {
        let Ok(_one) = self.tidying.try_lock() else { return Ok(()) };
        let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let made = entry.metadata().and_then(|about| about.modified());
            files.push((made.unwrap_or(SystemTime::UNIX_EPOCH), entry.path()));
        }
        if files.len() <= self.max {
            return Ok(());
        }
        files.sort();
        // Some more than needed, so that not every one that is added has to look.
        let gone = files.len() - self.max + self.max / 10;
        for (_, path) in files.into_iter().take(gone) {
            fs::remove_file(path).ok();
        }
        Ok(())
    }
}

impl GateCache for FileCache {
    fn get(&self, key: &str) -> Option<GateResult> {
        let path = self.path(key)?;
        let small = fs::metadata(&path).is_ok_and(|about| about.len() <= ENTRY_MAX_BYTES);
        let bytes = small.then(|| fs::read(&path).ok()).flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    fn put(&self, key: &str, result: &GateResult) {
        // What cannot be remembered is found out again.
        if let Some(path) = self.path(key) {
            self.write(&path, result).and_then(|()| self.tidy()).ok();
        }
    }
}
