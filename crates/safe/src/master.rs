//! The master key: where it is found, and how it is made.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use godel_app::vault::{self, MasterKey};
use godel_model::Mint;
use godel_store::{Scope, Store};

use crate::files::{is_open_to_others, rename_durably, write_private};
use crate::{Error, Result};

/// The file in the data directory that holds the master key.
pub const MASTER_KEY_FILE: &str = "master.key";
/// The file that holds the master key from before the last rotation.
pub const OLD_MASTER_KEY_FILE: &str = "master.key.old";
/// The file that holds a master key which the database may not have taken yet.
const NEW_FILE: &str = "master.key.new";

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
pub fn read_master_key(dir: &Path) -> Result<Option<MasterKey>> {
    read_key(dir.join(MASTER_KEY_FILE))
}

fn read_key(path: PathBuf) -> Result<Option<MasterKey>> {
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(Error::File { path, cause }),
    };
    match is_open_to_others(&path) {
        Ok(false) => {}
        Ok(true) => return Err(Error::OpenMasterKey(path)),
        Err(cause) => return Err(Error::File { path, cause }),
    }
    decode_master_key(&text).map(Some).ok_or(Error::BadMasterKey(path))
}

/// Writes the key of a data directory.
///
/// # Errors
/// If it cannot be written.
pub fn write_master_key(dir: &Path, key: &MasterKey) -> Result<PathBuf> {
    let path = dir.join(MASTER_KEY_FILE);
    match write_private(&path, &encode_master_key(key)) {
        Ok(()) => Ok(path),
        Err(cause) => Err(Error::File { path, cause }),
    }
}

/// A master key that is to take over from the one of a data directory.
///
/// It is written beside the old one first, then the database takes it, then it takes the old one's
/// place. A crash in between leaves both files, and [`find_master_key`] knows which one counts.
#[derive(Debug)]
pub struct NewMasterKey<'a> {
    dir: &'a Path,
    key: MasterKey,
}

impl<'a> NewMasterKey<'a> {
    /// Makes a key and writes it beside the old one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn prepare(dir: &'a Path) -> Result<Self> {
        let (path, key) = (dir.join(NEW_FILE), MasterKey::random(Mint::system()));
        match write_private(&path, &encode_master_key(&key)) {
            Ok(()) => Ok(Self { dir, key }),
            Err(cause) => Err(Error::File { path, cause }),
        }
    }

    /// Returns the key.
    pub fn key(&self) -> &MasterKey {
        &self.key
    }

    /// Forgets the key, because the database did not take it.
    ///
    /// # Errors
    /// If its file cannot be removed.
    pub fn withdraw(self) -> Result<()> {
        let path = self.dir.join(NEW_FILE);
        std::fs::remove_file(&path).map_err(|cause| Error::File { path, cause })
    }

    /// Puts the key into the place of the old one, which is kept beside it.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn take_over(self, old: &MasterKey) -> Result<()> {
        let path = self.dir.join(OLD_MASTER_KEY_FILE);
        let kept = write_private(&path, &encode_master_key(old));
        kept.map_err(|cause| Error::File { path, cause })?;
        promote(self.dir)
    }

    /// Puts the key into the place of one that opens nothing any more.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn replace(self) -> Result<()> {
        promote(self.dir)
    }
}

fn promote(dir: &Path) -> Result<()> {
    let path = dir.join(MASTER_KEY_FILE);
    let renamed = rename_durably(&dir.join(NEW_FILE), &path);
    renamed.map_err(|cause| Error::File { path, cause })
}

/// Which file of a data directory holds the key that opens the database.
enum Place {
    /// The usual one, or the database is new.
    Usual(MasterKey),
    /// The one that a rotation left behind.
    LeftOver(MasterKey),
    /// None, and none is needed yet.
    Nowhere,
}

/// A rotation that was interrupted has left two keys; the one that opens the database counts.
async fn place(dir: &Path, store: &Store) -> Result<Place> {
    let usual = read_master_key(dir)?;
    let is_right = match &usual {
        Some(key) => vault::opens(store, key).await?.unwrap_or(true),
        None => false,
    };
    if is_right && let Some(key) = usual {
        return Ok(Place::Usual(key));
    }
    if let Some(key) = read_key(dir.join(NEW_FILE))?
        && vault::opens(store, &key).await? == Some(true)
    {
        return Ok(Place::LeftOver(key));
    }
    // The wrong key is told by whoever tries to open with it.
    Ok(usual.map_or(Place::Nowhere, Place::Usual))
}

/// Returns the master key that opens the database, changing nothing: the given one, or that of the
/// data directory. `None` if the database has never been used.
///
/// # Errors
/// If there is none and the database needs it, or a file cannot be read.
pub async fn find_master_key(
    given: Option<&MasterKey>,
    dir: &Path,
    store: &Store,
) -> Result<Option<MasterKey>> {
    if let Some(key) = given {
        return Ok(Some(key.clone()));
    }
    match place(dir, store).await? {
        Place::Usual(key) | Place::LeftOver(key) => return Ok(Some(key)),
        Place::Nowhere => {}
    }
    let known = store.read(Scope::System, |tx| tx.secrets().keys()).await?;
    match known.first() {
        None => Ok(None),
        Some(wrapped) => Err(Error::NoMasterKey {
            needed: wrapped.master.clone(),
            path: dir.join(MASTER_KEY_FILE),
        }),
    }
}

/// Returns the master key, and leaves the data directory with it in its usual place. A database that
/// has never been used gets a new one; for any other one a new key would be of no use.
///
/// # Errors
/// If there is none and the database needs it, or a file cannot be read or written.
pub async fn settle_master_key(
    given: Option<&MasterKey>,
    dir: &Path,
    store: &Store,
) -> Result<MasterKey> {
    if given.is_none()
        && let Place::LeftOver(key) = place(dir, store).await?
    {
        tracing::info!("a rotation of the master key was interrupted; it is finished now");
        if let Some(old) = read_master_key(dir)? {
            NewMasterKey { dir, key: key.clone() }.take_over(&old)?;
        } else {
            promote(dir)?;
        }
        return Ok(key);
    }
    if let Some(key) = find_master_key(given, dir, store).await? {
        return Ok(key);
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
    async fn store(dir: &Path) -> Store {
        let url = format!("sqlite://{}", dir.join("godel.db").display()).parse().unwrap();
        Store::open(&godel_store::Config::new(url)).await.unwrap()
    }

    async fn open(store: &Store, key: &MasterKey) -> bool {
        vault::Vault::open(store, key, Mint::system(), &godel_model::SystemClock).await.is_ok()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_rotation_can_be_cut_off_at_any_point() {
        let dir = tempfile::TempDir::new().unwrap();
        let dir = dir.path();
        let store = store(dir).await;
        assert!(find_master_key(None, dir, &store).await.unwrap().is_none());
        let old = settle_master_key(None, dir, &store).await.unwrap();
        assert!(open(&store, &old).await);
        // Cut off before the database took the new key.
        let new = NewMasterKey::prepare(dir).unwrap();
        let found = settle_master_key(None, dir, &store).await.unwrap();
        assert_eq!(found.id(), old.id());
        assert!(open(&store, &found).await);
        // Cut off behind it: reading changes nothing, a start finishes.
        vault::rotate_master(&store, &old, new.key(), Mint::system()).await.unwrap();
        let found = find_master_key(None, dir, &store).await.unwrap().unwrap();
        assert_eq!(found.id(), new.key().id());
        assert_eq!(read_master_key(dir).unwrap().unwrap().id(), old.id());
        let found = settle_master_key(None, dir, &store).await.unwrap();
        assert!(open(&store, &found).await && !open(&store, &old).await);
        assert_eq!(read_master_key(dir).unwrap().unwrap().id(), new.key().id());
        let kept = read_key(dir.join(OLD_MASTER_KEY_FILE)).unwrap().unwrap();
        assert_eq!(kept.id(), old.id());
        assert!(!dir.join(NEW_FILE).exists());
        // Without the usual file, the one that was left behind is enough.
        std::fs::rename(dir.join(MASTER_KEY_FILE), dir.join(NEW_FILE)).unwrap();
        assert!(open(&store, &settle_master_key(None, dir, &store).await.unwrap()).await);
        assert!(dir.join(MASTER_KEY_FILE).exists());
        // A key of another database stays what it is: wrong.
        std::fs::remove_file(dir.join(MASTER_KEY_FILE)).unwrap();
        let error = settle_master_key(None, dir, &store).await.unwrap_err();
        assert!(matches!(error, Error::NoMasterKey { .. }), "{error}");
        write_master_key(dir, &MasterKey::new([7; 32])).unwrap();
        assert!(!open(&store, &settle_master_key(None, dir, &store).await.unwrap()).await);
        store.close().await;
    }
}
