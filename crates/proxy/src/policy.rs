//! Content policies: what is done with a request whose text looks like something.

use memchr::memmem;
use serde::Deserialize;

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
    /// The texts that are looked for in the body.
    #[serde(default)]
    pub contains: Vec<String>,
    /// Kinds of secrets that are looked for: `keys` for API keys and private keys.
    #[serde(default)]
    pub secrets: bool,
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
        if self.contains.iter().all(String::is_empty) && !self.secrets {
            return refuse("it needs `contains` or `secrets` to look for");
        }
        // The text stands inside of JSON strings, where these would end the string.
        if self.replacement.contains(['"', '\\']) || self.replacement.chars().any(char::is_control)
        {
            return refuse("a replacement must not have quotes, backslashes or control characters");
        }
        if self.weight == 0 || self.weight > 1_000 {
            return refuse("a weight must be 1 to 1,000");
        }
        Ok(())
    }

    /// Returns where something is found.
    fn find(&self, body: &[u8]) -> Vec<std::ops::Range<usize>> {
        let mut found = Vec::new();
        for text in self.contains.iter().filter(|text| !text.is_empty()) {
            found.extend(memmem::find_iter(body, text).map(|at| at..at + text.len()));
        }
        if self.secrets {
            found.extend(keys_in(body));
        }
        found.sort_by_key(|place| place.start);
        found
    }

    fn concerns(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| matches(pattern, model))
    }
}

/// Returns where keys of well-known services are.
pub(crate) fn keys_in(body: &[u8]) -> Vec<std::ops::Range<usize>> {
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
    for policy in policies.iter().filter(|policy| policy.concerns(model)) {
        let present = ruling.body.as_deref().unwrap_or(body);
        let found = policy.find(present);
        if found.is_empty() {
            continue;
        }
        match policy.action {
            Action::Block => {
                ruling.blocked = Some(policy.name.clone());
                return ruling;
            }
            Action::Log => {
                tracing::info!(
                    policy = policy.name,
                    model,
                    found = found.len(),
                    "a request matched"
                );
            }
            Action::RateLimit => ruling.weight = ruling.weight.max(policy.weight),
            Action::Transform => {
                let mut changed = Vec::with_capacity(present.len());
                let mut from = 0;
                for place in found.into_iter() {
                    // One may lie inside of another.
                    if place.start < from {
                        continue;
                    }
                    changed.extend_from_slice(&present[from..place.start]);
                    changed.extend_from_slice(policy.replacement.as_bytes());
                    from = place.end;
                }
                changed.extend_from_slice(&present[from..]);
                ruling.body = Some(changed);
            }
        }
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
