//! Keys of providers. None of them can be printed by accident.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;
use memchr::memmem;

use crate::config::{Config, Provider};
use crate::route::KnownRoutes;

/// A key of a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    value: String,
    /// Tells keys apart without telling anything about them.
    pub(crate) id: u64,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// Takes a key; blanks around it are not part of it. Nothing if it is none.
    pub fn new(value: &str) -> Option<Self> {
        let value = value.trim();
        if value.is_empty() || HeaderValue::from_str(value).is_err() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        Some(Self { value: value.to_owned(), id: hasher.finish() })
    }

    /// Returns a text without the key.
    pub(crate) fn removed_from(&self, text: &Bytes) -> Bytes {
        let mut found = memmem::find_iter(text, self.value.as_bytes()).peekable();
        if found.peek().is_none() {
            return text.clone();
        }
        let (mut rest, mut from) = (Vec::with_capacity(text.len()), 0);
        for at in found {
            rest.extend_from_slice(&text[from..at]);
            rest.extend_from_slice(b"[removed]");
            from = at + self.value.len();
        }
        rest.extend_from_slice(&text[from..]);
        rest.into()
    }

    /// Returns a header with the key, which no log shows.
    pub(crate) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut header = HeaderValue::try_from(format!("{before}{}", self.value)).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

/// The keys of one tenant, by provider.
#[derive(Debug, Default)]
pub struct Keys {
    of: HashMap<String, Vec<Arc<Key>>>,
    /// Who could answer with them.
    pub(crate) routes: KnownRoutes,
}

impl Keys {
    /// Adds a key of a provider, unless it is there.
    pub fn add(&mut self, provider: &str, key: Key) {
        let keys = self.of.entry(provider.to_owned()).or_default();
        if keys.iter().all(|known| known.value != key.value) {
            keys.push(Arc::new(key));
        }
    }

    /// Returns the keys of a provider.
    pub fn of(&self, provider: &str) -> &[Arc<Key>] {
        self.of.get(provider).map(Vec::as_slice).unwrap_or_default()
    }

    /// Adds what the server's environment and files hold.
    pub fn add_own(&mut self, config: &Config) {
        for (name, provider) in &config.providers {
            for key in own(provider) {
                self.add(name, key);
            }
        }
    }
}

/// Tells of which provider a secret with this name is a key: `openai`, or `openai-` and anything.
pub fn provider_of<'c>(config: &'c Config, secret: &str) -> Option<&'c str> {
    let is = |name: &&String| {
        secret
            .strip_prefix(name.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    // The longest name: one provider's may begin like another's.
    config.providers.keys().filter(is).max_by_key(|name| name.len()).map(String::as_str)
}

fn own(provider: &Provider) -> Vec<Key> {
    let from_env = provider.env.iter().filter_map(|name| std::env::var(name).ok());
    let from_files =
        provider.key_files.iter().filter_map(|path| match std::fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(cause) => {
                tracing::warn!(path = %path.display(), %cause, "a file with a key cannot be read");
                None
            }
        });
    from_env.chain(from_files).filter_map(|text| Key::new(&text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_belongs_to_the_provider_whose_name_it_bears() {
        let config = Config::read("[providers.openai-eu]\nchat = \"http://a\"").unwrap();
        for (secret, provider) in [
            ("openai", Some("openai")),
            ("openai-2", Some("openai")),
            ("openai-eu", Some("openai-eu")),
            ("openai-eu-2", Some("openai-eu")),
            ("openaix", None),
            ("database", None),
        ] {
            assert_eq!(provider_of(&config, secret), provider, "{secret}");
        }
    }

    #[test]
    fn a_key_is_taken_out_of_what_a_provider_says() {
        let key = Key::new("sk-123").unwrap();
        let said = key.removed_from(&Bytes::from_static(b"bad sk-123, bad sk-123!"));
        assert_eq!(said, "bad [removed], bad [removed]!");
        assert_eq!(key.removed_from(&Bytes::from_static(b"bad")), "bad");
    }

    #[test]
    fn a_key_is_not_shown_and_junk_is_none() {
        let key = Key::new(" sk-123 \n").unwrap();
        assert_eq!(format!("{key:?} {:?}", key.header("Bearer ")), "Key(..) Some(Sensitive)");
        assert!(Key::new("  ").is_none() && Key::new("a\nb").is_none());
    }
}
