//! Chance as an argument: whoever needs a new id or secret takes a [`Mint`].

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::TryRngCore as _;
use rand::rngs::OsRng;
use uuid::Uuid;

/// Makes ids and secrets from the operating system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mint(());

impl Mint {
    /// Returns the mint of this machine.
    pub const fn system() -> Self {
        Self(())
    }

    /// Makes a new id, ordered by time of making.
    #[expect(clippy::disallowed_methods, reason = "the one place that makes ids")]
    pub fn id<T: From<Uuid>>(self) -> T {
        T::from(Uuid::now_v7())
    }

    /// Makes a secret of 256 bits as 43 base64url characters.
    pub fn secret(self) -> String {
        URL_SAFE_NO_PAD.encode(self.bytes::<32>())
    }

    /// Makes random bytes.
    pub fn bytes<const N: usize>(self) -> [u8; N] {
        let mut bytes = [0_u8; N];
        OsRng
            .try_fill_bytes(&mut bytes)
            .expect("the operating system always has randomness once it has booted");
        bytes
    }
}
