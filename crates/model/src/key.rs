//! Secrets that prove who is calling. None of them can be printed by accident.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::{Invalid, Mint, code};

const KEY_PREFIX: &str = "godel_sk_";
const AGENT_PREFIX: &str = "godel_at_";
const SECRET_CHARS: usize = 43;

/// The SHA-256 of a secret: what is stored instead of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

fn hash(text: &str) -> KeyHash {
    KeyHash(Sha256::digest(text.as_bytes()).into())
}

fn is_secret(text: &str) -> bool {
    text.len() == SECRET_CHARS
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// An API key: `godel_sk_` and 43 base64url characters.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Makes a new key.
    pub fn new(mint: Mint) -> Self {
        Self(format!("{KEY_PREFIX}{}", mint.secret()))
    }

    /// Returns what is stored.
    pub fn hash(&self) -> KeyHash {
        hash(&self.0)
    }

    /// Returns the beginning, by which a person can recognise the key.
    pub fn prefix(&self) -> &str {
        &self.0[..KEY_PREFIX.len() + 4]
    }

    /// Returns the key itself, to be shown once or sent to the server.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for ApiKey {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.strip_prefix(KEY_PREFIX) {
            Some(secret) if is_secret(secret) => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new(code::UNAUTHORIZED, "this is not a Godel API key")
                .with_hint("a key begins with godel_sk_ and has 43 more characters")),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({}..)", self.prefix())
    }
}

/// A token by which an agent reaches models: `godel_at_` and 43 base64url characters.
#[derive(Clone)]
pub struct AgentToken(String);

impl AgentToken {
    /// Makes a new token.
    pub fn new(mint: Mint) -> Self {
        Self(format!("{AGENT_PREFIX}{}", mint.secret()))
    }

    /// Returns what is stored.
    pub fn hash(&self) -> KeyHash {
        hash(&self.0)
    }

    /// Returns the beginning, by which a person can recognise the token.
    pub fn prefix(&self) -> &str {
        &self.0[..AGENT_PREFIX.len() + 4]
    }

    /// Returns the token itself, to be shown once or handed to an agent.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentToken {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.strip_prefix(AGENT_PREFIX) {
            Some(secret) if is_secret(secret) => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new(code::UNAUTHORIZED, "this is not a token of an agent")
                .with_hint("a token begins with godel_at_ and has 43 more characters")),
        }
    }
}

impl fmt::Debug for AgentToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentToken({}..)", self.prefix())
    }
}

/// A secret of a login: the one-time token of a link, or the token of a browser session.
#[derive(Clone)]
pub struct LoginToken(String);

impl LoginToken {
    /// Makes a new token.
    pub fn new(mint: Mint) -> Self {
        Self(mint.secret())
    }

    /// Returns what is stored.
    pub fn hash(&self) -> KeyHash {
        hash(&self.0)
    }

    /// Returns the token itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for LoginToken {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if is_secret(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new(code::LOGIN_LINK_INVALID, "this is not a login token")
                .with_hint("`godel up` prints a new link each time it starts"))
        }
    }
}

impl fmt::Debug for LoginToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoginToken(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_being_written_and_read() {
        let key = ApiKey::new(Mint::system());
        let again: ApiKey = key.expose().parse().unwrap();
        assert_eq!(again.hash(), key.hash());
        assert_eq!(key.expose().len(), "godel_sk_".len() + 43);
    }

    #[test]
    fn a_secret_is_not_shown_by_debug() {
        let key = ApiKey::new(Mint::system());
        assert!(!format!("{key:?}").contains(&key.expose()[13..]));
        let token = LoginToken::new(Mint::system());
        assert!(!format!("{token:?}").contains(token.expose()));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for bad in
            ["", "godel_sk_", "godel_sk_short", "sk-123", &format!("godel_sk_{}", "é".repeat(22))]
        {
            assert!(bad.parse::<ApiKey>().is_err(), "{bad:?}");
        }
    }
}
