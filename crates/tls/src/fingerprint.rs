//! Fingerprints: how people compare certificates.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

/// The text is not a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is 64 hexadecimal digits, with or without colons between pairs")]
pub struct NotAFingerprint;

impl Fingerprint {
    /// Returns the fingerprint of a certificate in DER form.
    pub fn of(certificate: &[u8]) -> Self {
        Self(Sha256::digest(certificate).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            let colon = if at == 0 { "" } else { ":" };
            write!(f, "{colon}{byte:02X}")?;
        }
        Ok(())
    }
}

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let text = text.trim();
        let bare = match text.split_at_checked(7) {
            Some((name, rest)) if name.eq_ignore_ascii_case("sha256:") => rest,
            _ => text,
        };
        let digits: Vec<u32> = match bare.contains(':') {
            true if !bare.split(':').all(|pair| pair.len() == 2) => return Err(NotAFingerprint),
            _ => bare.chars().filter(|c| *c != ':').map_while(|c| c.to_digit(16)).collect(),
        };
        if digits.len() != 64 || bare.chars().filter(|c| *c != ':').count() != 64 {
            return Err(NotAFingerprint);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            // Two hexadecimal digits fit into a byte.
            *byte = u8::try_from(pair[0] * 16 + pair[1]).unwrap_or_default();
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_people_write_it() {
        let own = Fingerprint::of(b"certificate");
        let shown = own.to_string();
        assert_eq!((shown.len(), shown.matches(':').count()), (95, 31));
        let plain = shown.replace(':', "");
        for text in [
            shown.clone(),
            shown.to_lowercase(),
            plain.clone(),
            format!("sha256:{plain}"),
            format!(" SHA256:{shown}\n"),
        ] {
            assert_eq!(text.parse(), Ok(own), "{text}");
        }
        for bad in ["", "AB:CD", "ca.pem", &plain[1..], &format!("{plain}0"), &shown[..94]] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(NotAFingerprint), "{bad}");
        }
        let shifted = shown.replacen("", ":", 1);
        assert_eq!(shifted.parse::<Fingerprint>(), Err(NotAFingerprint));
        assert_eq!("ß".repeat(64).parse::<Fingerprint>(), Err(NotAFingerprint));
    }
}
