//! The master key: where it is found, and how it is made.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use godel_app::vault::MasterKey;
use godel_model::Mint;
use godel_store::{Scope, Store};

use crate::StartError;
use crate::files::{is_open_to_others, write_private};

/// The file in the data directory that holds the master key.
pub const MASTER_KEY_FILE: &str = "master.key";

/// Writes a master key as text: 43 base64url characters.
pub fn encode_master_key(key: &MasterKey) -> String {
    URL_SAFE_NO_PAD.encode(key.expose())
}

/// Reads a master key from text: 43 base64url characters, or 64 hexadecimal digits.
pub fn decode_master_key(text: &str) -> Option<MasterKey> {
    let text = text.trim();
    let bytes = if text.len() == 64 {
        let pair = |place: usize| u8::from_str_radix(text.get(place..place + 2)?, 16).ok();
        (0..64).step_by(2).map(pair).collect::<Option<Vec<u8>>>()?
    } else {
        URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?
    };
    bytes.try_into().ok().map(MasterKey::new)
}

/// Reads the key of a data directory, if there is one.
///
/// # Errors
/// If it cannot be read, is open to others, or is no key.
pub fn read_master_key(dir: &Path) -> Result<Option<MasterKey>, StartError> {
    let path = dir.join(MASTER_KEY_FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(StartError::File { path, cause }),
    };
    match is_open_to_others(&path) {
        Ok(false) => {}
        Ok(true) => return Err(StartError::OpenMasterKey(path)),
        Err(cause) => return Err(StartError::File { path, cause }),
    }
    decode_master_key(&text).map(Some).ok_or(StartError::BadMasterKey(path))
}

/// Writes the key of a data directory.
///
/// # Errors
/// If it cannot be written.
pub fn write_master_key(dir: &Path, key: &MasterKey) -> Result<PathBuf, StartError> {
    let path = dir.join(MASTER_KEY_FILE);
    match write_private(&path, &encode_master_key(key)) {
        Ok(()) => Ok(path),
        Err(cause) => Err(StartError::File { path, cause }),
    }
}

/// Returns the given key, or that of the data directory. A database that has never been used gets a
/// new one; for any other one a new key would be of no use.
pub(crate) async fn find(
    given: Option<&MasterKey>,
    dir: &Path,
    store: &Store,
) -> Result<MasterKey, StartError> {
    if let Some(key) = given {
        return Ok(key.clone());
    }
    if let Some(key) = read_master_key(dir)? {
        return Ok(key);
    }
    let known = store.read(Scope::System, |tx| tx.secrets().keys()).await?;
    if let Some(wrapped) = known.first() {
        return Err(StartError::NoMasterKey {
            needed: wrapped.master.clone(),
            path: dir.join(MASTER_KEY_FILE),
        });
    }
    // Written first: a key that wraps something and is not on the disk would be lost in a crash.
    let key = MasterKey::random(Mint::system());
    write_master_key(dir, &key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let key = MasterKey::new([0xa5; 32]);
        let text = encode_master_key(&key);
        assert_eq!(decode_master_key(&format!("{text}\n")).unwrap().expose(), key.expose());
        assert_eq!(decode_master_key(&"a5".repeat(32)).unwrap().expose(), key.expose());
        for bad in ["", "short", &"zz".repeat(32), &"a".repeat(60), "é"] {
            assert!(decode_master_key(bad).is_none(), "{bad:?}");
        }
    }
}
