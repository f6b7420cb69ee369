//! What no job may touch: data directories of Godel, and what belongs to other tenants.

use std::path::{Path, PathBuf};

use godel_api::OWNER_KEY_FILE;
use godel_app::{App, Call, Result};
use godel_beads::git::Place;
use godel_model::{Invalid, code};
use godel_store::Scope;

use crate::folder::{is_free, resolved};
use crate::source::Source;

/// The places that a caller keeps out of.
#[derive(Debug)]
pub(crate) struct Walls {
    data: PathBuf,
    /// The repositories of other tenants.
    theirs: Vec<PathBuf>,
}

impl Walls {
    /// Finds out what a caller keeps out of, beside a data directory and what is known to be others'.
    pub(crate) async fn around(
        app: &App,
        call: &Call,
        (data, mut theirs): (PathBuf, Vec<PathBuf>),
    ) -> Result<Self> {
        let tenants = app.store.read(Scope::System, |tx| tx.tenants().list()).await?;
        for tenant in tenants.into_iter().filter(|tenant| tenant.id != call.actor.tenant) {
            let scope = Scope::Tenant(tenant.id);
            let projects = app.store.read(scope, |tx| tx.projects().with_repository()).await?;
            let paths = projects.into_iter().filter_map(|project| project.repository);
            theirs.extend(paths.map(PathBuf::from));
        }
        Ok(Self { data, theirs })
    }

    /// Refuses a job that would read or write where it must not, or over what is there.
    ///
    /// # Errors
    /// If the source or the folder is out of bounds, or the folder is not free.
    pub(crate) fn check(&self, source: Option<&Source>, folder: &Path) -> Result<(), Invalid> {
        if let Some(from) = source.and_then(Source::folder) {
            self.check_source(from)?;
        }
        self.check_folder(folder)
    }

    fn check_folder(&self, folder: &Path) -> Result<(), Invalid> {
        let unusable = |_| refused("folder", "a part of the way to the folder cannot be used");
        let real = resolved(folder).map_err(unusable)?;
        if self.is_data(&real) {
            return Err(refused("folder", "the folder is in a data directory of Godel"));
        }
        if self.are_theirs(&real) {
            return Err(refused("folder", "the folder is in a repository of another tenant"));
        }
        if !is_free(&real).map_err(unusable)? {
            return Err(Invalid::new(code::FILE_EXISTS, "the folder exists and is not empty")
                .with_field("folder")
                .with_hint(
                    "choose another folder; a repository that is there already is given to a project as it is: godel \
                     project create NAME --repository DIR",
                ));
        }
        Ok(())
    }

    fn check_source(&self, from: &Path) -> Result<(), Invalid> {
        let none =
            || refused("clone", "there is no repository at this path of the server's machine");
        let real = from.canonicalize().map_err(|_| none())?;
        let place = Place::find(&real).map_err(|_| none())?.0;
        if self.is_data(&real) || self.is_data(&place.common) {
            return Err(refused("clone", "what is in a data directory of Godel is not cloned"));
        }
        // A folder may lead to the objects of a repository that is elsewhere.
        let same = |theirs: &PathBuf| Place::find(theirs).is_ok_and(|(other, _)| other == place);
        if self.are_theirs(&real) || self.are_theirs(&place.common) || self.theirs.iter().any(same)
        {
            return Err(refused("clone", "this repository belongs to another tenant"));
        }
        Ok(())
    }

    fn is_data(&self, real: &Path) -> bool {
        let own = self.data.canonicalize();
        own.is_ok_and(|own| real.starts_with(own))
            || real.ancestors().any(|above| above.join(OWNER_KEY_FILE).is_file())
    }

    fn are_theirs(&self, real: &Path) -> bool {
        let real_one = |theirs: &PathBuf| theirs.canonicalize().unwrap_or_else(|_| theirs.clone());
        self.theirs.iter().any(|theirs| real.starts_with(real_one(theirs)))
    }
}

fn refused(field: &'static str, why: &str) -> Invalid {
    Invalid::new(code::INVALID_FIELD, why).with_field(field).with_hint("choose another one")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use godel_model::Report as _;

    use super::*;

    fn repository(path: &Path) {
        let made = Command::new("git").args(["init", "-q"]).arg(path).status().unwrap();
        assert!(made.success());
    }

    #[test]
    fn neither_data_nor_what_is_others_is_read_or_written() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for name in ["data", "theirs", "mine", "data/copy"] {
            repository(&path(name));
        }
        fs::create_dir(path("other-data")).unwrap();
        fs::write(path("other-data").join(OWNER_KEY_FILE), "").unwrap();
        fs::write(path("mine/file"), "").unwrap();
        // A folder that says that its repository is elsewhere.
        fs::create_dir(path("sly")).unwrap();
        let elsewhere = format!("gitdir: {}\n", path("theirs/.git").display());
        fs::write(path("sly/.git"), elsewhere).unwrap();
        std::os::unix::fs::symlink(path("theirs"), path("link")).unwrap();
        let walls = Walls { data: path("data"), theirs: vec![path("theirs")] };
        for name in ["data/x", "data", "other-data/x/y", "theirs/x", "link/x", "mine/file/x"] {
            let error = walls.check(None, &path(name)).expect_err(name);
            assert_eq!(
                (error.code(), error.field()),
                (code::INVALID_FIELD, Some("folder")),
                "{name}"
            );
        }
        let taken = walls.check(None, &path("mine")).unwrap_err();
        assert_eq!(taken.code(), code::FILE_EXISTS);
        walls.check(None, &path("new/x")).unwrap();
        for name in ["theirs", "theirs/.git", "link", "sly", "data/copy", "none", "other-data"] {
            let from = Source::parse(path(name).to_str().unwrap()).unwrap();
            let error = walls.check(Some(&from), &path("new")).expect_err(name);
            assert_eq!(
                (error.code(), error.field()),
                (code::INVALID_FIELD, Some("clone")),
                "{name}"
            );
        }
        let mine = Source::parse(path("mine").to_str().unwrap()).unwrap();
        walls.check(Some(&mine), &path("new")).unwrap();
    }
}
