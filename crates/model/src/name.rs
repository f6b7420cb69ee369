//! Names that people give to things.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Invalid, code};

/// The longest name, in characters.
const NAME_MAX_CHARS: usize = 100;

/// A name of one kind of thing: 1 to 100 characters, no control characters, no blank ends.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name<K> {
    text: String,
    kind: PhantomData<fn() -> K>,
}

/// Marks names of projects.
#[derive(Debug)]
pub enum OfProject {}
/// Marks names of tenants.
#[derive(Debug)]
pub enum OfTenant {}

/// Marks names of users.
#[derive(Debug)]
pub enum OfUser {}
/// Marks names of API keys.
#[derive(Debug)]
pub enum OfKey {}
/// Marks names of secrets.
#[derive(Debug)]
pub enum OfSecret {}

/// The name of a user, unique in its tenant.
pub type UserName = Name<OfUser>;
/// The name of an API key.
pub type KeyName = Name<OfKey>;
/// The name of a secret, unique in its tenant.
pub type SecretName = Name<OfSecret>;
/// The name of a project, unique in its tenant.
pub type ProjectName = Name<OfProject>;
/// The name of a tenant, unique on its server.
pub type TenantName = Name<OfTenant>;

impl<K> Name<K> {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl<K> FromStr for Name<K> {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let refuse = |why: &str| Err(Invalid::new(code::INVALID_NAME, why).with_field("name"));
        if text.trim().is_empty() {
            return refuse("a name must not be empty");
        }
        if text.trim() != text {
            return refuse("a name must not begin or end with a blank");
        }
        if text.chars().count() > NAME_MAX_CHARS {
            return refuse("a name must have at most 100 characters");
        }
        if text.chars().any(char::is_control) {
            return refuse("a name must not have control characters");
        }
        Ok(Self { text: text.to_owned(), kind: PhantomData })
    }
}

impl<K> TryFrom<String> for Name<K> {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl<K> From<Name<K>> for String {
    fn from(name: Name<K>) -> Self {
        name.text
    }
}

impl<K> Clone for Name<K> {
    fn clone(&self) -> Self {
        Self { text: self.text.clone(), kind: PhantomData }
    }
}

impl<K> PartialEq for Name<K> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<K> Eq for Name<K> {}

impl<K> fmt::Debug for Name<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl<K> fmt::Display for Name<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_a_person_would_write() {
        for good in ["a", "Payments", "käse & brot", &"x".repeat(100)] {
            assert!(good.parse::<ProjectName>().is_ok(), "{good:?}");
        }
        for bad in ["", " ", " a", "a ", "a\nb", "a\0b", &"x".repeat(101)] {
            assert!(bad.parse::<ProjectName>().is_err(), "{bad:?}");
        }
    }
}
