//! Repositories that are open: to find one takes git several processes, and every step of an agent needs it.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::{Host, Workbench};

/// How long what was found is believed.
const FRESH: Duration = Duration::from_secs(60);

/// Repositories that are open, by the folder that leads to them.
#[derive(Default)]
pub struct Benches(Mutex<HashMap<PathBuf, Open>>);

struct Open {
    bench: Workbench,
    config: Config,
    since: Instant,
}

/// What tells one state of a repository's settings from another: which file, when and how long.
type Config = Option<(u64, i64, i64, u64)>;

impl Benches {
    /// Opens the repository of a folder, or takes the one that is open.
    ///
    /// # Errors
    /// If there is no repository.
    pub fn open(&self, folder: &Path, host: Host) -> Result<Workbench> {
        let known = self.all().get(folder).and_then(Open::if_fresh);
        if let Some(bench) = known {
            return Ok(bench);
        }
        let bench = Workbench::open(folder, host)?;
        let open = Open { bench: bench.clone(), config: config(&bench), since: Instant::now() };
        let mut all = self.all();
        all.retain(|_, open| open.since.elapsed() < FRESH);
        all.insert(folder.to_owned(), open);
        Ok(bench)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<PathBuf, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Returns the repository unless it may have become another.
    fn if_fresh(&self) -> Option<Workbench> {
        let fresh = self.config.is_some()
            && self.since.elapsed() < FRESH
            && self.config == config(&self.bench);
        fresh.then(|| self.bench.clone())
    }
}

fn config(bench: &Workbench) -> Config {
    let found = fs::metadata(bench.common_dir().join("config")).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
}
