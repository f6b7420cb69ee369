//! Checks of the data directory.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use godel_api::OWNER_KEY_FILE;
use godel_console::is_absent;
use godel_console::measure::bytes;

use super::Finding;

/// Below this the server calls itself degraded, as does this check.
const SPACE_LOW_BYTES: u64 = 1024 * 1024 * 1024;
/// Below this it cannot work for long.
const SPACE_OUT_BYTES: u64 = 100 * 1024 * 1024;

/// Checks that the data directory can be written, or made.
pub(super) fn directory(data: &Path) -> Finding {
    let hint = "choose another one with --data, or change who may write there";
    let shown = data.display();
    match std::fs::metadata(data) {
        Ok(found) if !found.is_dir() => {
            Finding::fail("data", format!("{shown} is not a directory"), hint)
        }
        Ok(found) => match writable(data) {
            Err(cause) => {
                Finding::fail("data", format!("{shown} cannot be written: {cause}"), hint)
            }
            Ok(()) if found.permissions().mode() & 0o022 != 0 => Finding::warn(
                "data",
                format!("{shown} can be written by other users"),
                format!("chmod 700 {shown}"),
            ),
            Ok(()) => Finding::ok("data", format!("{shown} can be written")),
        },
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            let parent = existing(data);
            match writable(&parent) {
                Ok(()) => Finding::ok("data", format!("{shown} will be made by `godel up`")),
                Err(cause) => {
                    let message =
                        format!("{shown} cannot be made in {}: {cause}", parent.display());
                    Finding::fail("data", message, hint)
                }
            }
        }
        Err(cause) => Finding::fail("data", format!("{shown} cannot be looked at: {cause}"), hint),
    }
}

/// Finds out whether this user may make files in a directory, without making one.
fn writable(directory: &Path) -> io::Result<()> {
    let wanted = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    Ok(rustix::fs::access(directory, wanted)?)
}

/// Returns the nearest directory above that exists.
fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|one| one.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

/// Checks that there is room to grow.
pub(super) fn space(data: &Path) -> Finding {
    let Ok(found) = rustix::fs::statvfs(existing(data)) else {
        return Finding::warn("space", "the free space is not known", "check it with `df -h`");
    };
    let free = found.f_bavail * found.f_frsize;
    let message = format!("{} free", bytes(free));
    let hint = "free some space; nothing that was answered is lost when the disk is full";
    match free {
        0..SPACE_OUT_BYTES => Finding::fail("space", message, hint),
        SPACE_OUT_BYTES..SPACE_LOW_BYTES => Finding::warn("space", message, hint),
        _ => Finding::ok("space", message),
    }
}

/// Checks that only its user can read the owner's key.
pub(super) fn owner_key(data: &Path) -> Finding {
    let path = data.join(OWNER_KEY_FILE);
    let shown = path.display();
    match std::fs::metadata(&path) {
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            let mode = found.permissions().mode() & 0o777;
            let message = format!("other users may read {shown} (mode {mode:o})");
            Finding::fail("owner key", message, format!("chmod 600 {shown}"))
        }
        Ok(_) => match std::fs::read(&path) {
            Ok(_) => Finding::ok("owner key", format!("{shown} is yours alone")),
            Err(cause) => Finding::fail(
                "owner key",
                format!("{shown} cannot be read: {cause}"),
                "run godel as the user who started the server",
            ),
        },
        Err(cause) if is_absent(&cause) => {
            Finding::ok("owner key", "will be made at the first start")
        }
        Err(cause) => Finding::fail(
            "owner key",
            format!("{shown} cannot be looked at: {cause}"),
            "run godel as the user who started the server",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use tempfile::TempDir;

    use super::super::Verdict;
    use super::*;

    #[test]
    fn a_key_that_others_can_read_is_a_failure() {
        let dir = TempDir::new().unwrap();
        assert_eq!(owner_key(dir.path()).status, Verdict::Ok);
        let key = dir.path().join(OWNER_KEY_FILE);
        std::fs::write(&key, "x").unwrap();
        std::fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
        let found = owner_key(dir.path());
        assert_eq!(found.status, Verdict::Fail);
        assert!(found.hint.unwrap().starts_with("chmod 600 "));
        std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(owner_key(dir.path()).status, Verdict::Ok);
    }

    #[test]
    fn a_directory_is_there_or_can_be_made() {
        let dir = TempDir::new().unwrap();
        assert_eq!(directory(dir.path()).status, Verdict::Ok);
        assert_eq!(directory(&dir.path().join("a/b/c")).status, Verdict::Ok);
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
        assert_eq!(directory(dir.path()).status, Verdict::Warn);
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(directory(&file).status, Verdict::Fail);
        assert_eq!(directory(&file.join("below")).status, Verdict::Fail);
    }
}
