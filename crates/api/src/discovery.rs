//! Discovery: how commands find the server that runs on a data directory.

use std::io;
use std::path::{Path, PathBuf};

use godel_tls::Trust;
use serde::{Deserialize, Serialize};

/// The file in the data directory that holds the owner's key, readable by its user only.
pub const OWNER_KEY_FILE: &str = "owner.key";

const FILE: &str = "server.json";

/// What a running server tells about itself in its data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discovery {
    /// How this machine reaches it, such as `http://127.0.0.1:7373`.
    pub url: String,
    /// The id of its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Since when it runs.
    pub started_at: jiff::Timestamp,
    /// With TLS, the SHA-256 of the certificate to trust: that of its own authority, or its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Whether other machines can reach it without TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,
}

impl Discovery {
    /// Returns whom a client on this machine trusts to be this server.
    pub fn trust(&self) -> Trust {
        let known = self.fingerprint.as_deref().and_then(|text| text.parse().ok());
        known.map_or(Trust::System, Trust::Fingerprint)
    }

    /// Returns the path of the file.
    pub fn path(data_dir: &Path) -> PathBuf {
        data_dir.join(FILE)
    }

    /// Reads the file; `None` if there is none. It may be left over from a server that was killed:
    /// only an answer from the address with the same pid proves that it runs.
    ///
    /// # Errors
    /// If the file cannot be read or understood.
    pub fn read(data_dir: &Path) -> io::Result<Option<Self>> {
        match std::fs::read_to_string(Self::path(data_dir)) {
            Ok(text) => Ok(Some(serde_json::from_str(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the file; readers see the old one or the new one, never a part.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn write(&self, data_dir: &Path) -> io::Result<()> {
        let part = data_dir.join(format!(".{FILE}.{}", self.pid));
        std::fs::write(&part, serde_json::to_string_pretty(self)?)?;
        std::fs::rename(part, Self::path(data_dir))
    }

    /// Removes the file if it is this server's own.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn remove(&self, data_dir: &Path) -> io::Result<()> {
        match Self::read(data_dir)? {
            Some(found) if found.pid == self.pid => std::fs::remove_file(Self::path(data_dir)),
            _ => Ok(()),
        }
    }
}
