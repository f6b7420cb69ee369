//! The login that is kept in the data directory.

use std::path::{Path, PathBuf};

use godel_model::{ApiKey, Invalid, code};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, is_absent};

/// The file in the data directory that `godel login` writes.
const FILE: &str = "login.json";

/// A server, and the key that opens it.
#[derive(Serialize, Deserialize)]
pub struct Login {
    /// The address of the server.
    pub url: String,
    key: String,
    /// Whether the key was made for this login, so that it ends with it.
    #[serde(default)]
    pub own: bool,
    /// Whom to trust: a file with certificates, or a fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Login {
    /// Keeps a key for a server.
    pub fn new(url: &str, key: &ApiKey, own: bool) -> Self {
        Self { url: url.to_owned(), key: key.expose().to_owned(), own, ca: None }
    }

    /// Returns the key.
    pub fn key(&self, data: &Path) -> Result<ApiKey> {
        self.key.parse().map_err(|_| damaged(&path(data)))
    }
}

/// Returns where the login is kept.
fn path(data: &Path) -> PathBuf {
    data.join(FILE)
}

fn damaged(path: &Path) -> Error {
    let message = format!("{} does not hold a login", path.display());
    Invalid::new(code::UNAUTHORIZED, message)
        .with_hint("`godel logout` removes it; then `godel login URL` makes a new one")
        .into()
}

/// Reads the login, if there is one.
pub fn read(data: &Path) -> Result<Option<Login>> {
    let path = path(data);
    let fail = |cause| Error::file(&path.display(), "read", cause);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(cause) if is_absent(&cause) => return Ok(None),
        Err(cause) => return Err(fail(cause)),
    };
    if godel_server::is_open_to_others(&path).map_err(fail)? {
        let message = format!("{} can be read by other users of this machine", path.display());
        let hint = format!("run: chmod 600 {}", path.display());
        return Err(Invalid::new(code::UNAUTHORIZED, message).with_hint(hint).into());
    }
    serde_json::from_str(&text).map(Some).map_err(|_| damaged(&path))
}

/// Keeps a login in place of an earlier one; only this user can read it.
pub fn write(data: &Path, login: &Login) -> Result<PathBuf> {
    let path = path(data);
    let fail = |cause| Error::file(&path.display(), "written", cause);
    godel_server::make_private_dir(data).map_err(fail)?;
    let text = serde_json::to_string(login).map_err(|cause| fail(cause.into()))?;
    godel_server::write_private(&path, &text).map_err(fail)?;
    Ok(path)
}

/// Removes the login; tells whether there was one.
pub fn remove(data: &Path) -> Result<bool> {
    let path = path(data);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(cause) if is_absent(&cause) => Ok(false),
        Err(cause) => Err(Error::file(&path.display(), "removed", cause)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use godel_model::Mint;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_login_is_kept_for_its_user_alone() {
        let dir = TempDir::new().unwrap();
        let data = dir.path().join("new");
        assert!(read(&data).unwrap().is_none());
        let key = ApiKey::new(Mint::system());
        let login = Login::new("http://127.0.0.1:1", &key, true);
        assert!(!format!("{login:?}").contains("godel_sk_"));
        let path = write(&data, &login).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let kept = read(&data).unwrap().unwrap();
        assert_eq!(
            (kept.url.as_str(), kept.key(&data).unwrap().expose()),
            (login.url.as_str(), key.expose())
        );
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(read(&data).unwrap_err().to_string().contains("can be read by other users"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "{").unwrap();
        assert!(read(&data).unwrap_err().to_string().contains("does not hold a login"));
        assert!(remove(&data).unwrap() && !remove(&data).unwrap());
    }
}
