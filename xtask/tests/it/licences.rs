//! Rule: every dependency has an allowed licence and none is banned, as `deny.toml` says.

use std::collections::{HashMap, HashSet};

use toml::{Table, Value};

use crate::workspace::Package;

/// What `deny.toml` allows and bans, as far as it can be checked offline.
pub(crate) struct Policy {
    allowed: HashSet<String>,
    /// Further licences, for one crate each.
    exceptions: HashMap<String, HashSet<String>>,
    banned: HashMap<String, String>,
}

impl Policy {
    /// Reads the text of `deny.toml`.
    pub(crate) fn parse(text: &str) -> Self {
        let table: Table = text.parse().unwrap();
        let licences = &table["licenses"];
        let exceptions = list(licences.get("exceptions"))
            .map(|entry| (word(&entry["crate"]), list(entry.get("allow")).map(word).collect()));
        let banned = list(table["bans"].get("deny")).map(|entry| {
            (word(&entry["crate"]), entry.get("reason").map(word).unwrap_or_default())
        });
        let policy = Self {
            allowed: list(licences.get("allow")).map(word).collect(),
            exceptions: exceptions.collect(),
            banned: banned.collect(),
        };
        assert!(!policy.allowed.is_empty() && !policy.banned.is_empty(), "deny.toml was not read");
        policy
    }

    /// Complains about packages with another licence or on the list of banned ones.
    pub(crate) fn check(&self, packages: &[Package]) -> Vec<String> {
        let mut complaints = Vec::new();
        for package in packages {
            let Package { name, version, licence } = package;
            if let Some(reason) = self.banned.get(name) {
                complaints.push(format!("{name} {version} is banned: {reason}"));
            }
            match licence {
                None => complaints.push(format!("{name} {version} states no licence")),
                Some(licence) if self.allows(name, licence) => {}
                Some(licence) => {
                    complaints.push(format!("{name} {version} has the licence {licence}"));
                }
            }
        }
        complaints
    }

    fn allows(&self, name: &str, licence: &str) -> bool {
        let further = self.exceptions.get(name);
        let allowed = |one: &str| {
            self.allowed.contains(one) || further.is_some_and(|further| further.contains(one))
        };
        satisfied(licence, &allowed)
    }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Whether a licence expression can be met with allowed licences; nonsense cannot.
fn satisfied(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    // Before there was a grammar, `A/B` meant a choice.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    choice(&mut rest, allowed).is_some_and(|met| met && rest.is_empty())
}

/// `a OR b`; none if it cannot be read.
fn choice(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut met = both(words, allowed)?;
    while take(words, "OR") {
        // Both sides are read in any case, so no shortcut.
        met |= both(words, allowed)?;
    }
    Some(met)
}

/// `a AND b`, which binds more tightly.
fn both(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut met = one(words, allowed)?;
    while take(words, "AND") {
        met &= one(words, allowed)?;
    }
    Some(met)
}

/// `( ... )`, `name` or `name WITH exception`.
fn one(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    if take(words, "(") {
        let met = choice(words, allowed)?;
        return take(words, ")").then_some(met);
    }
    let (name, rest) = words.split_first()?;
    *words = rest;
    if !take(words, "WITH") {
        return Some(allowed(name));
    }
    let (exception, rest) = words.split_first()?;
    *words = rest;
    Some(allowed(&format!("{name} WITH {exception}")))
}

fn take(words: &mut &[&str], word: &str) -> bool {
    let found = words.first() == Some(&word);
    if found {
        *words = &words[1..];
    }
    found
}

mod tests {
    use super::*;

    const POLICY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
        exceptions = [{ crate = "special", allow = ["MPL-2.0"] }]
        [bans]
        deny = [{ crate = "openssl-sys", reason = "rustls is enough" }]
    "#;

    fn complaints(name: &str, licence: Option<&str>) -> Vec<String> {
        let package = Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.map(str::to_owned),
        };
        Policy::parse(POLICY).check(&[package])
    }

    #[test]
    fn a_licence_that_can_be_met_passes() {
        for licence in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "Apache-2.0 AND MIT",
            "(GPL-3.0 OR MIT) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
            "GPL-2.0 AND GPL-3.0 OR MIT",
        ] {
            assert_eq!(complaints("a", Some(licence)), Vec::<String>::new(), "{licence}");
        }
        assert_eq!(complaints("special", Some("MPL-2.0")), Vec::<String>::new());
    }

    #[test]
    fn a_licence_that_cannot_be_met_is_found() {
        for licence in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "MPL-2.0",
            "MIT WITH strange-exception",
            "(MIT",
            "MIT MIT",
            "OR MIT",
            "",
        ] {
            assert_eq!(complaints("a", Some(licence)).len(), 1, "{licence}");
        }
        assert_eq!(complaints("a", None).len(), 1);
    }

    #[test]
    fn a_banned_crate_is_found_with_its_reason() {
        let found = complaints("openssl-sys", Some("MIT"));
        assert!(found.len() == 1 && found[0].contains("rustls is enough"), "{found:?}");
    }
}
