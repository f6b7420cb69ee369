//! Where a repository keeps what: found once from any folder inside it.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The places of one repository; all its work trees share them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder with objects and references, shared by all work trees.
    pub common: PathBuf,
    /// The main work tree, if there is one and it can be found from everywhere.
    pub main: Option<PathBuf>,
    /// The folder with what can be thrown away: views, index, work trees of beads.
    pub home: PathBuf,
}

impl Place {
    /// Finds the repository that a folder belongs to.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn find(from: &Path) -> Result<(Self, gix::Repository)> {
        if !from.exists() {
            return Err(Error::NoRepository { from: from.to_owned() });
        }
        let found = gix::discover::upwards(from)
            .map_err(|_| Error::NoRepository { from: from.to_owned() })?;
        let (path, _) = found;
        let (git_dir, _) = path.into_repository_and_work_tree_directories();
        // Every write adds a pack until they are put together; there must be room to see them all.
        let slots =
            gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 4096 };
        let options = gix::open::Options::default().open_path_as_is(true).object_store_slots(slots);
        let repository = gix::ThreadSafeRepository::open_opts(&git_dir, options)
            .map_err(|cause| Error::git("opened", cause))?;
        let mut repository = repository.to_thread_local();
        repository.object_cache_size_if_unset(4 * 1024 * 1024);
        let place = Self::of(&repository)?;
        Ok((place, repository))
    }

    fn of(repository: &gix::Repository) -> Result<Self> {
        let common = repository.common_dir();
        let common = common.canonicalize().map_err(|cause| Error::read(common, cause))?;
        let config = repository.config_snapshot();
        let main = if let Some(path) = config.string("core.worktree") {
            // Submodules say here where they are checked out.
            common.join(path.to_string()).canonicalize().ok()
        } else if config.boolean("core.bare") == Some(true) {
            None
        } else {
            // Another name means that the folder was put elsewhere, and that nothing leads back.
            let beside = common.file_name().is_some_and(|name| name == ".git");
            common.parent().filter(|_| beside).map(Path::to_owned)
        };
        // A repository can bring a link along that leads elsewhere; nothing is written through it.
        let own = main.as_ref().map(|main| main.join(".godel")).filter(|home| !home.is_symlink());
        let home = own.unwrap_or_else(|| common.join("godel"));
        Ok(Self { common, main, home })
    }

    /// Returns the folder inside the git folder for what must not be thrown away.
    pub fn inner(&self) -> PathBuf {
        self.common.join("godel")
    }

    /// Returns the folder for the index and the like.
    pub fn state(&self) -> PathBuf {
        self.home.join("state")
    }

    /// Keeps `.godel/` out of `git status`, without touching a file of the user.
    pub(crate) fn exclude(&self) -> std::io::Result<()> {
        const LINE: &str = "/.godel/";
        if self.main.is_none() {
            return Ok(());
        }
        let path = self.common.join("info/exclude");
        let known = match std::fs::read_to_string(&path) {
            Ok(known) => known,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(cause) => return Err(cause),
        };
        if known.lines().any(|line| line.trim() == LINE) {
            return Ok(());
        }
        std::fs::create_dir_all(self.common.join("info"))?;
        let gap = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
        let fresh = self.common.join("info/exclude.godel");
        std::fs::write(&fresh, format!("{known}{gap}{LINE}\n"))?;
        std::fs::rename(&fresh, &path)
    }
}
