//! Whether what is asked and answered is kept.

use jiff::SignedDuration;
use serde::Deserialize;

/// The most that is kept of one body, in KiB.
const KB_MAX: usize = 16 * 1024;

/// Whether what is asked and answered is kept, as the file says it.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CaptureTable {
    enabled: bool,
    tenants: Vec<String>,
    projects: Vec<String>,
    max_kb: usize,
    keep_days: u32,
}

impl Default for CaptureTable {
    fn default() -> Self {
        let (tenants, projects) = (Vec::new(), Vec::new());
        Self { enabled: false, tenants, projects, max_kb: 64, keep_days: 7 }
    }
}

/// Whether what is asked and answered is kept, and of whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaptureRule {
    enabled: bool,
    tenants: Vec<String>,
    projects: Vec<String>,
    config: CaptureConfig,
}

/// How much is kept, and for how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureConfig {
    /// The most that is kept of a request, and of a reply.
    pub max_bytes: usize,
    /// For how long.
    pub keep: SignedDuration,
}

impl CaptureTable {
    /// Reads the rule; nothing is kept longer than the attempts themselves.
    pub(super) fn rule(self, keep_days: u32) -> CaptureRule {
        let days = self.keep_days.clamp(1, keep_days.max(1));
        CaptureRule {
            enabled: self.enabled,
            tenants: self.tenants,
            projects: self.projects,
            config: CaptureConfig {
                max_bytes: self.max_kb.clamp(1, KB_MAX) * 1024,
                keep: SignedDuration::from_hours(24 * i64::from(days)),
            },
        }
    }
}

impl CaptureRule {
    /// Tells whether anything is kept at all.
    pub const fn is_on(&self) -> bool {
        self.enabled
    }

    /// Tells what is kept of a tenant and a project, each by all of its names; nothing if it is not.
    pub fn of(&self, tenant: &[&str], project: &[&str]) -> Option<CaptureConfig> {
        let fits = |wanted: &[String], names: &[&str]| {
            wanted.is_empty() || wanted.iter().any(|wanted| names.contains(&wanted.as_str()))
        };
        let kept = self.enabled && fits(&self.tenants, tenant) && fits(&self.projects, project);
        kept.then_some(self.config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> CaptureRule {
        toml::from_str::<CaptureTable>(text).unwrap().rule(90)
    }

    #[test]
    fn nothing_is_kept_unless_somebody_says_so_and_only_of_those_who_are_named() {
        assert_eq!(rule("").of(&["a"], &["p"]), None);
        assert_eq!(rule("tenants = [\"a\"]").of(&["a"], &["p"]), None);
        assert!(rule("enabled = true").of(&["a"], &[]).is_some());
        let some = rule("enabled = true\ntenants = [\"a\"]\nprojects = [\"p\", \"q\"]");
        assert!(some.of(&["id", "a"], &["q"]).is_some());
        assert_eq!(some.of(&["b"], &["q"]), None);
        assert_eq!(some.of(&["a"], &["r"]), None);
        assert_eq!(some.of(&["a"], &[]), None);
    }

    #[test]
    fn nothing_is_kept_longer_than_the_attempts_themselves() {
        let table: CaptureTable = toml::from_str("enabled = true\nkeep_days = 400").unwrap();
        let kept = table.rule(30).of(&[], &[]).unwrap();
        assert_eq!((kept.keep.as_hours(), kept.max_bytes), (720, 64 * 1024));
    }
}
