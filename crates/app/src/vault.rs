//! The vault: keys that the master key opens.
//!
//! The master key lives outside the database. It wraps a few data keys that live inside: one for
//! the record of acts, one for access tokens, one for secrets. So all servers on one database share
//! them, and a copy of the database alone opens nothing.

use std::collections::HashMap;
use std::sync::Arc;

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use godel_model::{Clock, Mint, chain::AuditKey};
use godel_store::{DataKeyRecord, Scope, Store};
use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

const NONCE_BYTES: usize = 24;
const AUDIT: &str = "audit";
const TOKEN: &str = "token";
const SECRET: &str = "secret";

/// The key that opens the others.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MasterKey({})", self.id())
    }
}

impl MasterKey {
    /// Takes a key.
    pub const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Makes a new key.
    pub fn random(mint: Mint) -> Self {
        Self(mint.bytes())
    }

    /// Returns the key itself, to be written to its file.
    pub const fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns a name for the key that tells nothing about it.
    pub fn id(&self) -> String {
        let hash = Sha256::new().chain_update(b"godel master key").chain_update(self.0).finalize();
        hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Encrypts a value; `label` binds it to its place.
fn encrypt(key: &[u8; 32], label: &str, value: &[u8], mint: Mint) -> Result<Vec<u8>> {
    let nonce: [u8; NONCE_BYTES] = mint.bytes();
    let cipher = XChaCha20Poly1305::new(key.into())
        .encrypt(&XNonce::from(nonce), Payload { msg: value, aad: label.as_bytes() })
        .map_err(|_| Error::Undecipherable(label.to_owned()))?;
    Ok([nonce.as_slice(), &cipher].concat())
}

fn decrypt(key: &[u8; 32], label: &str, sealed: &[u8]) -> Result<Vec<u8>> {
    let refuse = || Error::Undecipherable(label.to_owned());
    let (nonce, cipher) = sealed.split_at_checked(NONCE_BYTES).ok_or_else(refuse)?;
    let nonce: [u8; NONCE_BYTES] = nonce.try_into().map_err(|_| refuse())?;
    XChaCha20Poly1305::new(key.into())
        .decrypt(&XNonce::from(nonce), Payload { msg: cipher, aad: label.as_bytes() })
        .map_err(|_| refuse())
}

/// The opened keys.
#[derive(Clone)]
pub struct Vault {
    keys: Arc<HashMap<String, [u8; 32]>>,
    mint: Mint,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault(..)")
    }
}

fn label(name: &str) -> String {
    format!("data key {name}")
}

impl Vault {
    /// Opens the data keys, made at the first start, and hands the store the one it needs.
    ///
    /// # Errors
    /// If the master key is not the one that wraps them.
    pub async fn open(
        store: &Store,
        master: &MasterKey,
        mint: Mint,
        clock: &dyn Clock,
    ) -> Result<Self> {
        let (fresh, _) = fresh_keys(master, mint, clock.now())?;
        let read = store.read(Scope::System, |tx| tx.secrets().keys()).await;
        let mut known = read.map_err(Error::Store)?;
        if known.is_empty() {
            let work = move |tx: &mut godel_store::Tx<'_>| {
                // Another server may have been faster; then its keys count.
                for key in &fresh {
                    tx.secrets().insert_key(key)?;
                }
                tx.secrets().keys()
            };
            known = store.write(Scope::System, work).await.map_err(Error::Store)?.value;
        }
        let mut keys = HashMap::new();
        for key in known {
            let opened = decrypt(&master.0, &label(&key.name), &key.cipher)
                .map_err(|_| Error::MasterKey { given: master.id(), needed: key.master.clone() })?;
            let opened = opened.try_into().map_err(|_| Error::Undecipherable(label(&key.name)))?;
            keys.insert(key.name, opened);
        }
        let vault = Self { keys: Arc::new(keys), mint };
        store.unlock(AuditKey::new(vault.key(AUDIT)?));
        Ok(vault)
    }

    fn key(&self, name: &str) -> Result<[u8; 32]> {
        self.keys.get(name).copied().ok_or_else(|| Error::Undecipherable(label(name)))
    }

    /// Returns the key of access tokens.
    pub(crate) fn token_key(&self) -> Result<[u8; 32]> {
        self.key(TOKEN)
    }

    /// Returns the key of the record of acts.
    pub(crate) fn audit_key(&self) -> Result<AuditKey> {
        self.key(AUDIT).map(AuditKey::new)
    }

    /// Encrypts a secret; returns the name of the key as well.
    pub(crate) fn seal(&self, label: &str, value: &[u8]) -> Result<(Vec<u8>, String)> {
        Ok((encrypt(&self.key(SECRET)?, label, value, self.mint)?, SECRET.to_owned()))
    }

    /// Decrypts a secret.
    pub(crate) fn open_secret(&self, key: &str, label: &str, cipher: &[u8]) -> Result<Vec<u8>> {
        decrypt(&self.key(key)?, label, cipher)
    }
}

/// Tells whether a master key opens the data keys; `None` if there are none yet.
///
/// # Errors
/// If the store fails.
pub async fn opens(store: &Store, master: &MasterKey) -> Result<Option<bool>> {
    let read = store.read(Scope::System, |tx| tx.secrets().keys()).await;
    let known = read.map_err(Error::Store)?;
    let opened = |key: &DataKeyRecord| decrypt(&master.0, &label(&key.name), &key.cipher).is_ok();
    Ok((!known.is_empty()).then(|| known.iter().all(opened)))
}

/// Makes new data keys, and tells the one of the record of acts.
fn fresh_keys(
    master: &MasterKey,
    mint: Mint,
    now: jiff::Timestamp,
) -> Result<(Vec<DataKeyRecord>, AuditKey)> {
    let audit: [u8; 32] = mint.bytes();
    let mut fresh = Vec::new();
    for (name, key) in [(AUDIT, audit), (TOKEN, mint.bytes()), (SECRET, mint.bytes())] {
        fresh.push(DataKeyRecord {
            name: name.to_owned(),
            master: master.id(),
            cipher: encrypt(&master.0, &label(name), &key, mint)?,
            created_at: now,
        });
    }
    Ok((fresh, AuditKey::new(audit)))
}

/// Gives up what the lost master key opened: makes new keys, removes all secrets, and begins the
/// check of the record anew behind what is there. Returns how many secrets are gone.
///
/// # Errors
/// If the store fails; then nothing was changed.
pub async fn reset_master(
    store: &Store,
    new: &MasterKey,
    mint: Mint,
    now: jiff::Timestamp,
) -> Result<u64> {
    let (fresh, audit) = fresh_keys(new, mint, now)?;
    let work = move |tx: &mut godel_store::Tx<'_>| {
        let gone = tx.secrets().clear()?;
        for key in &fresh {
            tx.secrets().insert_key(key)?;
        }
        for tenant in tx.tenants().list()? {
            tx.audit().restart(tenant.id, &audit)?;
        }
        Ok::<_, Error>(gone)
    };
    Ok(store.write(Scope::System, work).await?.value)
}

/// Lets another master key wrap all data keys from now on.
///
/// # Errors
/// If the old key does not open them; then nothing was changed.
pub async fn rotate_master(
    store: &Store,
    old: &MasterKey,
    new: &MasterKey,
    mint: Mint,
) -> Result<usize> {
    let (old, new) = (old.clone(), new.clone());
    let work = move |tx: &mut godel_store::Tx<'_>| {
        let keys = tx.secrets().keys()?;
        for key in &keys {
            let label = label(&key.name);
            let opened = decrypt(&old.0, &label, &key.cipher)
                .map_err(|_| Error::MasterKey { given: old.id(), needed: key.master.clone() })?;
            let cipher = encrypt(&new.0, &label, &opened, mint)?;
            let wrapped = DataKeyRecord { master: new.id(), cipher, ..key.clone() };
            tx.secrets().rewrap_key(&wrapped)?;
        }
        Ok::<_, Error>(keys.len())
    };
    Ok(store.write(Scope::System, work).await?.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encrypted_opens_with_its_key_and_label_only() {
        let mint = Mint::system();
        let key = [3; 32];
        let sealed = encrypt(&key, "a", b"value", mint).unwrap();
        assert_eq!(decrypt(&key, "a", &sealed).unwrap(), b"value");
        assert_ne!(sealed, encrypt(&key, "a", b"value", mint).unwrap(), "each has its nonce");
        assert!(decrypt(&key, "b", &sealed).is_err());
        assert!(decrypt(&[4; 32], "a", &sealed).is_err());
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(decrypt(&key, "a", &changed).is_err(), "byte {place}");
        }
        assert!(decrypt(&key, "a", &sealed[..10]).is_err());
    }

    #[test]
    fn a_master_key_is_not_shown_by_debug() {
        let shown = format!("{:?}", MasterKey::new([0xab; 32]));
        assert!(!shown.contains("abab") && shown.len() < 30, "{shown}");
    }
}
