//! Passwords: hashed with argon2id, a few at a time, away from the threads that serve requests.

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Argon2, Params, PasswordHash};
use godel_model::{Invalid, Mint, code};
use tokio::sync::Semaphore;

use crate::{Error, Result};

/// The shortest password, in characters.
const PASSWORD_MIN_CHARS: usize = 12;
/// The longest one; hashing must not become work for its own sake.
const PASSWORD_MAX_BYTES: usize = 1_024;
/// How many may wait for their turn; beyond it, callers come again later.
const WAITING_MAX: usize = 32;

/// Hashes and checks passwords.
#[derive(Debug)]
pub(crate) struct Passwords {
    turns: Semaphore,
    places: Semaphore,
    /// What a password is compared with when there is no such user: it takes as long.
    decoy: tokio::sync::OnceCell<String>,
}

/// Each hash takes 19 MiB and a core for some milliseconds: half of the cores are left to others.
fn at_once() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1))
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(at_once()),
            places: Semaphore::new(at_once() + WAITING_MAX),
            decoy: tokio::sync::OnceCell::new(),
        }
    }
}

fn argon2() -> Argon2<'static> {
    // 19 MiB, 2 passes, 1 lane: what OWASP advises at least.
    let params = Params::new(19 * 1_024, 2, 1, None).unwrap_or_default();
    Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params)
}

impl Passwords {
    /// Runs the slow part on a thread of its own.
    async fn slowly<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _place = self.places.try_acquire().map_err(|_| Error::Throttled { retry_ms: 1_000 })?;
        let _turn = self.turns.acquire().await.map_err(|_| Error::Unauthorized)?;
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Unauthorized)?
    }

    /// Hashes a new password.
    ///
    /// # Errors
    /// If it is too short or too long, or too many are being hashed.
    pub(crate) async fn hash(&self, password: String, mint: Mint) -> Result<String> {
        check(&password)?;
        let salt: [u8; 16] = mint.bytes();
        self.slowly(move || {
            let hashed = argon2().hash_password_with_salt(password.as_bytes(), &salt);
            hashed.map(|hash| hash.to_string()).map_err(|_| Error::Unauthorized)
        })
        .await
    }

    /// Compares a password with a hash; without one it takes as long, and does not match.
    ///
    /// # Errors
    /// If too many are being compared.
    pub(crate) async fn matches(
        &self,
        password: String,
        hash: Option<String>,
        mint: Mint,
    ) -> Result<bool> {
        if password.len() > PASSWORD_MAX_BYTES {
            return Ok(false);
        }
        let known = hash.is_some();
        let hash = match hash {
            Some(hash) => hash,
            None => {
                let make = || self.hash(mint.secret(), mint);
                self.decoy.get_or_try_init(make).await?.clone()
            }
        };
        self.slowly(move || {
            let parsed = PasswordHash::new(&hash).map_err(|_| Error::Unauthorized)?;
            let same = argon2().verify_password(password.as_bytes(), &parsed).is_ok();
            Ok(same && known)
        })
        .await
    }
}

fn check(password: &str) -> Result<()> {
    let refuse = |why: &str| Err(Invalid::new(code::INVALID_FIELD, why).into());
    if password.chars().count() < PASSWORD_MIN_CHARS {
        return refuse("a password must have at least 12 characters");
    }
    if password.len() > PASSWORD_MAX_BYTES {
        return refuse("a password must have at most 1,024 bytes");
    }
    Ok(())
}

#[cfg(test)]
impl Passwords {
    /// Takes all places, so that nobody else gets one.
    pub(crate) fn crowd(&self) -> tokio::sync::SemaphorePermit<'_> {
        let all = u32::try_from(self.places.available_permits()).unwrap();
        self.places.try_acquire_many(all).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_matches_its_own_hash_only() {
        let (passwords, mint) = (Passwords::default(), Mint::system());
        let word = "correct horse battery".to_owned();
        let hash = passwords.hash(word.clone(), mint).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, passwords.hash(word.clone(), mint).await.unwrap(), "each has its salt");
        assert!(passwords.matches(word.clone(), Some(hash.clone()), mint).await.unwrap());
        assert!(
            !passwords.matches("Correct horse battery".into(), Some(hash), mint).await.unwrap()
        );
        assert!(!passwords.matches(word, None, mint).await.unwrap());
    }

    #[tokio::test]
    async fn short_and_endless_passwords_are_refused() {
        let (passwords, mint) = (Passwords::default(), Mint::system());
        assert!(passwords.hash("short".to_owned(), mint).await.is_err());
        assert!(passwords.hash("x".repeat(2_000), mint).await.is_err());
        assert!(!passwords.matches("x".repeat(2_000_000), None, mint).await.unwrap());
    }
}
