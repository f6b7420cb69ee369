//! Where a repository is made: a folder that is free, and how it goes again if nothing comes of it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use godel_model::{Invalid, code};

/// The longest path, in bytes.
const PATH_MAX_BYTES: usize = 4_096;

/// Reads the path of a folder.
pub(crate) fn parse(text: &str) -> Result<PathBuf, Invalid> {
    let refused = |why: &str| {
        Err(Invalid::new(code::INVALID_FIELD, why)
            .with_field("folder")
            .with_hint("give a path such as /home/ann/app"))
    };
    let fits = text.starts_with('/')
        && text.len() <= PATH_MAX_BYTES
        && !text.chars().any(char::is_control);
    if !fits {
        return refused(
            "a folder must be an absolute path on the server's machine, of at most 4,096 bytes",
        );
    }
    let mut path = PathBuf::new();
    for part in Path::new(text).components() {
        match part {
            Component::RootDir | Component::Normal(_) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => {
                return refused("the path of a folder must not lead back up");
            }
        }
    }
    if path.file_name().is_none() {
        return refused("the root of the file system cannot be a repository");
    }
    Ok(path)
}

/// Returns where a path really is, past all links; what is not there yet comes behind it as it is written.
pub(crate) fn resolved(path: &Path) -> io::Result<PathBuf> {
    let (mut at, mut missing) = (path, Vec::new());
    loop {
        match (at.canonicalize(), at.parent(), at.file_name()) {
            (Ok(real), ..) => {
                return Ok(missing.iter().rev().fold(real, |path, name| path.join(name)));
            }
            // A link to nothing would be followed when the folder is made.
            (Err(cause), Some(above), Some(name))
                if cause.kind() == ErrorKind::NotFound && !at.is_symlink() =>
            {
                missing.push(name);
                at = above;
            }
            (Err(cause), ..) => return Err(cause),
        }
    }
}

/// Tells whether nothing is at a path, or only an empty folder.
pub(crate) fn is_free(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(true),
        Err(cause) if cause.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// A folder that is there for a repository, and what of it was not there before.
#[derive(Debug)]
pub(crate) struct Made {
    folder: PathBuf,
    own: bool,
    /// Folders on the way to it, the outermost first.
    above: Vec<PathBuf>,
}

impl Made {
    /// Makes a folder with all that is missing on the way to it; an empty one is taken as it is.
    pub(crate) fn at(folder: &Path) -> io::Result<Self> {
        let mut made = Self { folder: folder.to_owned(), own: false, above: Vec::new() };
        match made.make() {
            Ok(()) => Ok(made),
            Err(cause) => {
                made.clear();
                Err(cause)
            }
        }
    }

    fn make(&mut self) -> io::Result<()> {
        let above = self.folder.ancestors().skip(1).take_while(|above| !above.exists());
        let above: Vec<PathBuf> = above.map(Path::to_owned).collect();
        for above in above.into_iter().rev() {
            match fs::create_dir(&above) {
                Ok(()) => self.above.push(above),
                // Another job may have the same way.
                Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(cause),
            }
        }
        match fs::create_dir(&self.folder) {
            Ok(()) => self.own = true,
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
                if !is_free(&self.folder)? {
                    return Err(cause);
                }
            }
            Err(cause) => return Err(cause),
        }
        Ok(())
    }

    /// Removes what was made; `false` if something is left in the folder.
    pub(crate) fn clear(&self) -> bool {
        if self.own {
            // What cannot be removed is seen right below.
            fs::remove_dir_all(&self.folder).ok();
        }
        for above in self.above.iter().rev() {
            // Others may have put something there meanwhile, which stays.
            fs::remove_dir(above).ok();
        }
        is_free(&self.folder).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_an_absolute_path_that_leads_down() {
        assert_eq!(parse("/home/./ann//app/").unwrap(), Path::new("/home/ann/app"));
        let long = format!("/{}", "a".repeat(4_096));
        for text in ["", "app", "./app", "~/app", "/", "//", "/a/../b", "/a\nb", "/a\0b", &long] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_what_was_made_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b/c");
        fs::create_dir(root.path().join("a")).unwrap();
        let made = Made::at(&folder).unwrap();
        fs::create_dir(folder.join(".git")).unwrap();
        assert!(made.clear());
        assert!(root.path().join("a").exists() && !root.path().join("a/b").exists());
        // An empty folder that was there stays, and so does what is in it.
        fs::create_dir_all(&folder).unwrap();
        let made = Made::at(&folder).unwrap();
        assert!(made.clear() && folder.exists());
        fs::write(folder.join("mine"), "mine").unwrap();
        assert!(!made.clear() && folder.join("mine").exists());
        assert_eq!(Made::at(&folder).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(Made::at(&folder.join("mine/x")).is_err());
    }

    #[test]
    fn links_are_followed_to_where_they_lead() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        fs::create_dir(real.join("there")).unwrap();
        std::os::unix::fs::symlink(real.join("there"), real.join("link")).unwrap();
        assert_eq!(resolved(&real.join("link/a/b")).unwrap(), real.join("there/a/b"));
        std::os::unix::fs::symlink(real.join("nowhere"), real.join("dangling")).unwrap();
        assert!(resolved(&real.join("dangling/a")).is_err());
        assert!(is_free(&real.join("link")).unwrap() && is_free(&real.join("none")).unwrap());
        fs::write(real.join("file"), "").unwrap();
        assert!(!is_free(&real.join("file")).unwrap() && !is_free(&real).unwrap());
    }
}
