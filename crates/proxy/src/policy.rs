//! Content policies: what is done with a request whose text looks like something.

mod texts;

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memmem};
use serde::Deserialize;

use crate::capture::{Kind, found};

use self::texts::{plain, rewritten};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The request is refused.
    Block,
    /// What was found is replaced.
    Transform,
    /// It is written to the log.
    Log,
    /// It counts as many requests.
    RateLimit,
}

/// One policy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Its name, for logs and refusals.
    pub name: String,
    /// What is done.
    #[serde(rename = "type")]
    pub action: Action,
    /// The texts that are looked for in what the request says.
    #[serde(default)]
    pub contains: Vec<String>,
    /// Whether keys of well-known services are looked for.
    #[serde(default)]
    pub secrets: bool,
    /// What else is looked for by its shape.
    #[serde(default)]
    pub find: Vec<Kind>,
    /// Only for these models, as patterns with `*`.
    #[serde(default)]
    pub models: Vec<String>,
    /// What is put in place of what was found.
    #[serde(default = "removed")]
    pub replacement: String,
    /// As how many requests one counts.
    #[serde(default = "one")]
    pub weight: u32,
}

fn removed() -> String {
    "[removed]".to_owned()
}

const fn one() -> u32 {
    1
}

/// How keys of well-known services begin, and how long what follows is at least.
const KEY_MARKS: [(&str, usize); 9] = [
    ("sk-ant-", 20),
    ("sk-proj-", 20),
    ("ghp_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("AKIA", 16),
    ("AIza", 30),
    ("xoxb-", 20),
    ("godel_sk_", 40),
];

/// What the policies say to a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ruling {
    /// The policy that refuses it.
    pub(crate) blocked: Option<String>,
    /// The body instead of the one that came.
    pub(crate) body: Option<Vec<u8>>,
    /// As how many requests it counts.
    pub(crate) weight: u32,
}

impl Policy {
    /// Checks what it is made of.
    ///
    /// # Errors
    /// If it looks for nothing, or its replacement would break the body.
    pub(crate) fn check(&self) -> Result<(), String> {
        let refuse = |why: &str| Err(format!("policy {}: {why}", self.name));
        if self.contains.iter().all(String::is_empty) && !self.secrets && self.find.is_empty() {
            return refuse("it needs `contains`, `secrets` or `find` to look for");
        }
        // The text may stand in a document that stands in a text, where these would end it.
        if self.replacement.contains(['"', '\\']) || self.replacement.chars().any(char::is_control)
        {
            return refuse("a replacement must not have quotes, backslashes or control characters");
        }
        if self.weight == 0 || self.weight > 1_000 {
            return refuse("a weight must be 1 to 1,000");
        }
        Ok(())
    }

    /// Returns where something is found in a text, what begins first in front.
    fn found_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        for wanted in self.contains.iter().filter(|wanted| !wanted.is_empty()) {
            let places = memmem::find_iter(text.as_bytes(), wanted);
            all.extend(places.map(|at| at..at + wanted.len()));
        }
        if self.secrets {
            all.extend(keys_in(text.as_bytes()));
        }
        for kind in &self.find {
            all.extend(found(text, *kind));
        }
        all.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        all
    }

    /// Tells by a look at the bytes whether there may be something. Without escapes a text stands there as it is.
    fn may_be_in(&self, body: &[u8]) -> bool {
        let has =
            |wanted: &String| !wanted.is_empty() && memmem::find(body, wanted.as_bytes()).is_some();
        !self.find.is_empty()
            || memchr(b'\\', body).is_some()
            || self.contains.iter().any(has)
            || (self.secrets && !keys_in(body).is_empty())
    }

    /// Returns a text with the replacement in place of what is found; nothing if nothing is.
    fn replaced(&self, text: &str) -> Option<String> {
        let places = self.found_in(text);
        if places.is_empty() {
            return None;
        }
        let (mut changed, mut from) = (String::with_capacity(text.len()), 0);
        for place in places {
            if place.start < from {
                // It lies inside of another or overlaps it; nothing of it may stay.
                from = from.max(place.end);
                continue;
            }
            changed.push_str(text.get(from..place.start).unwrap_or_default());
            changed.push_str(&self.replacement);
            from = place.end;
        }
        changed.push_str(text.get(from..).unwrap_or_default());
        Some(changed)
    }

    fn concerns(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| matches(pattern, model))
    }
}

/// Returns where keys of well-known services are.
pub(crate) fn keys_in(body: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (mark, least) in KEY_MARKS {
        found.extend(memmem::find_iter(body, mark).filter_map(|at| {
            let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
            let rest = body[at + mark.len()..].iter().take_while(is_key).count();
            (rest >= least).then(|| at..at + mark.len() + rest)
        }));
    }
    found
}

/// Asks all policies.
pub(crate) fn rule(policies: &[Policy], model: &str, body: &[u8]) -> Ruling {
    let mut ruling = Ruling { weight: 1, ..Ruling::default() };
    let (mut body, mut said) = (Cow::Borrowed(body), None);
    for policy in policies.iter().filter(|policy| policy.concerns(model)) {
        if !policy.may_be_in(&body) {
            continue;
        }
        let said_now = said.get_or_insert_with(|| plain(&body));
        let found = policy.found_in(said_now).len();
        if found == 0 {
            continue;
        }
        match policy.action {
            Action::Block => {
                ruling.blocked = Some(policy.name.clone());
                return ruling;
            }
            Action::Log => {
                tracing::info!(policy = policy.name, model, found, "a request matched");
            }
            Action::RateLimit => ruling.weight = ruling.weight.max(policy.weight),
            Action::Transform => {
                body = rewritten(&body, &|text| policy.replaced(text)).into();
                said = None;
            }
        }
    }
    if let Cow::Owned(changed) = body {
        ruling.body = Some(changed);
    }
    ruling
}

/// Tells whether a name matches a pattern in which `*` stands for any text.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, fits) in [
            ("*", "x", true),
            ("claude-*", "claude-opus", true),
            ("claude-*", "gpt", false),
            ("*-mini", "gpt-5-mini", true),
            ("g*5*i", "gpt-5-mini", true),
            ("g*5*i", "gpt-5-min", false),
            ("gpt-5", "gpt-5", true),
            ("gpt-5", "gpt-5-mini", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn each_action_does_its_own() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let body = format!(r#"{{"content":"use {key} for secret-x"}}"#);
        let block = policy("name = \"no x\"\ntype = \"block\"\ncontains = [\"secret-x\"]");
        assert_eq!(rule(&[block], "m", body.as_bytes()).blocked.as_deref(), Some("no x"));
        let clean = policy("name = \"clean\"\ntype = \"transform\"\nsecrets = true");
        let changed = rule(&[clean], "m", body.as_bytes()).body.unwrap();
        assert_eq!(
            String::from_utf8(changed).unwrap(),
            r#"{"content":"use [removed] for secret-x"}"#
        );
        let heavy = policy(
            "name = \"heavy\"\ntype = \"rate-limit\"\ncontains = [\"use\"]\nweight = 5\nmodels = [\"big-*\"]",
        );
        assert_eq!(rule(std::slice::from_ref(&heavy), "m", body.as_bytes()).weight, 1);
        assert_eq!(rule(&[heavy], "big-1", body.as_bytes()).weight, 5);
    }

    #[test]
    fn nobody_gets_by_with_escapes_quotes_or_lines() {
        let block = |wanted: &str| Policy {
            contains: vec![wanted.to_owned()],
            ..policy("name = \"p\"\ntype = \"block\"")
        };
        for (wanted, body) in [
            ("Nachtigall", r#"{"content":"Projekt N\u0061chtigall"}"#),
            ("Zürich", r#"{"content":"in Z\u00fcrich"}"#),
            ("Zürich", r#"{"content":"in Zürich"}"#),
            ("😀", r#"{"content":"\ud83d\ude00"}"#),
            ("say \"yes\"", r#"{"content":"they say \"yes\" to it"}"#),
            ("one\ntwo", r#"{"content":"one\ntwo"}"#),
            ("a/b", r#"{"content":"a\/b"}"#),
            ("C:\\x", r#"{"content":"C:\\x"}"#),
            ("hunter2", r#"{"arguments":"{\"password\":\"h\\u0075nter2\"}"}"#),
            ("4711", r#"{"input":{"number":4711}}"#),
            ("name", r#"{"input":{"n\u0061me":1}}"#),
        ] {
            let told = rule(&[block(wanted)], "m", body.as_bytes());
            assert_eq!(told.blocked.as_deref(), Some("p"), "{wanted}: {body}");
        }
        // How a document is written is not what it says.
        for (wanted, body) in [
            ("\"content\"", r#"{"content":"x"}"#),
            ("\",\"", r#"["a","b"]"#),
            ("u0061", r#"{"content":"\u0061"}"#),
            ("1,2", "[1,2]"),
        ] {
            assert_eq!(
                rule(&[block(wanted)], "m", body.as_bytes()).blocked,
                None,
                "{wanted}: {body}"
            );
        }
    }

    #[test]
    fn personal_data_is_found_by_its_shape_and_the_body_stays_a_document() {
        let body = r#"{"a":"mail ann\u0040mail.example or 4111 1111 1111 1111","n":4111111111111111,
            "arguments":"{\"to\":\"ann@mail.example\",\"card\":4111111111111111}","call":"+49 (30) 1234-5678"}"#;
        let of = |action: &str, kinds: &str| {
            let text = format!("name = \"p\"\ntype = \"{action}\"\nfind = [{kinds}]");
            rule(&[policy(&text)], "m", body.as_bytes())
        };
        for kind in ["mail", "card", "phone"] {
            let told = of("block", &format!("\"{kind}\""));
            assert_eq!(told.blocked.as_deref(), Some("p"), "{kind}");
        }
        assert_eq!(of("block", "\"account\", \"secret\"").blocked, None);
        let changed = of("transform", "\"mail\", \"card\", \"phone\"").body.unwrap();
        let changed: serde_json::Value = serde_json::from_slice(&changed).unwrap();
        assert_eq!(changed["a"], "mail [removed] or [removed]");
        assert_eq!((&changed["n"], &changed["call"]), (&"[removed]".into(), &"[removed]".into()));
        let inner: serde_json::Value =
            serde_json::from_str(changed["arguments"].as_str().unwrap()).unwrap();
        assert_eq!((&inner["to"], &inner["card"]), (&"[removed]".into(), &"[removed]".into()));
        let wrong = toml::from_str::<Policy>("name = \"p\"\ntype = \"log\"\nfind = [\"shoe\"]");
        assert!(wrong.is_err());
    }

    #[test]
    fn a_policy_that_cannot_work_is_refused() {
        for bad in [
            "name = \"a\"\ntype = \"block\"",
            "name = \"a\"\ntype = \"transform\"\nsecrets = true\nreplacement = \"\\\"\"",
            "name = \"a\"\ntype = \"rate-limit\"\nsecrets = true\nweight = 0",
        ] {
            assert!(policy(bad).check().is_err(), "{bad}");
        }
    }
}
