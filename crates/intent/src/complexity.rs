//! How hard a piece of work is: five factors from 1 to 10, each with its reason, and what follows.

use godel_model::{PartKind, Survey};
use serde::{Deserialize, Serialize};

use crate::rules::places;
use crate::text::{line, words};

/// How hard something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// One person, one sitting.
    Simple,
    /// A few steps.
    Moderate,
    /// Several people, with care.
    Complex,
    /// A project.
    VeryComplex,
}

/// One factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// From 1 to 10.
    pub score: f64,
    /// How much it counts.
    pub weight: f64,
    /// Why it is as it is.
    pub reason: String,
}

/// The five factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Factors {
    /// How much code there is, and of how many kinds.
    pub code_complexity: Factor,
    /// How much one has to know.
    pub domain_complexity: Factor,
    /// How much is not known.
    pub uncertainty: Factor,
    /// How much is not in one's own hands.
    pub dependencies: Factor,
    /// How much there is to do.
    pub scope_size: Factor,
}

impl Factors {
    /// Returns all five.
    pub fn all(&self) -> [(&'static str, &Factor); 5] {
        [
            ("code", &self.code_complexity),
            ("domain", &self.domain_complexity),
            ("uncertainty", &self.uncertainty),
            ("dependencies", &self.dependencies),
            ("scope", &self.scope_size),
        ]
    }
}

/// How hard a piece of work is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Complexity {
    /// From 1 to 10.
    pub score: f64,
    /// The same as a word.
    pub category: Category,
    /// What it follows from.
    pub factors: Factors,
    /// What could go wrong.
    pub risks: Vec<String>,
    /// How sure this is, from 0 to 1.
    pub confidence: f64,
}

const DOMAINS: [(&str, f64, &[&str]); 9] = [
    (
        "security",
        4.0,
        &[
            "auth",
            "authentication",
            "authorization",
            "oauth",
            "sso",
            "password",
            "token",
            "tokens",
            "encryption",
            "crypto",
            "permissions",
            "rbac",
            "security",
            "login",
            "jwt",
            "session",
        ],
    ),
    (
        "money",
        4.0,
        &[
            "payment",
            "payments",
            "billing",
            "invoice",
            "invoices",
            "tax",
            "currency",
            "checkout",
            "refund",
            "refunds",
            "subscription",
            "subscriptions",
            "stripe",
        ],
    ),
    (
        "concurrency",
        4.5,
        &[
            "concurrent",
            "concurrency",
            "race",
            "deadlock",
            "lock",
            "locks",
            "async",
            "parallel",
            "thread",
            "threads",
            "queue",
            "distributed",
            "consensus",
        ],
    ),
    (
        "data that is there",
        3.0,
        &["migration", "migrations", "migrate", "schema", "backfill", "table", "column"],
    ),
    (
        "real-time",
        3.5,
        &[
            "websocket",
            "websockets",
            "realtime",
            "real-time",
            "streaming",
            "sync",
            "offline",
            "collaboration",
        ],
    ),
    (
        "languages and parsing",
        3.5,
        &[
            "parser",
            "compiler",
            "grammar",
            "unicode",
            "timezone",
            "timezones",
            "i18n",
            "localization",
        ],
    ),
    (
        "speed",
        3.0,
        &[
            "performance",
            "latency",
            "throughput",
            "memory",
            "cache",
            "caching",
            "index",
            "optimize",
            "faster",
        ],
    ),
    (
        "tenants and law",
        4.0,
        &["gdpr", "compliance", "audit", "multi-tenant", "tenant", "tenants", "privacy"],
    ),
    ("models", 3.5, &["ml", "model", "embedding", "embeddings", "inference", "training"]),
];
const OUTSIDE: [&str; 24] = [
    "stripe",
    "oauth",
    "github",
    "slack",
    "aws",
    "s3",
    "kubernetes",
    "docker",
    "redis",
    "postgres",
    "postgresql",
    "database",
    "api",
    "sdk",
    "third-party",
    "webhook",
    "webhooks",
    "email",
    "smtp",
    "upgrade",
    "dependency",
    "dependencies",
    "google",
    "integration",
];
const VAGUE: [&str; 20] = [
    "maybe",
    "somehow",
    "some",
    "etc",
    "something",
    "better",
    "improve",
    "probably",
    "perhaps",
    "various",
    "stuff",
    "things",
    "modern",
    "nice",
    "nicer",
    "robust",
    "scalable",
    "investigate",
    "explore",
    "why",
];

/// Judges a text about a repository.
pub fn complexity(text: &str, survey: &Survey) -> Complexity {
    let lows: Vec<String> = words(text).into_iter().map(|word| word.low).collect();
    let factors = Factors {
        code_complexity: code(text, survey),
        domain_complexity: domain(&lows),
        uncertainty: uncertainty(text, &lows, survey),
        dependencies: dependencies(text, &lows, survey),
        scope_size: scope(text, &lows, survey),
    };
    let sum: f64 = factors.all().iter().map(|(_, factor)| factor.score * factor.weight).sum();
    let score = round(sum.clamp(1.0, 10.0));
    let category = match score {
        low if low < 3.0 => Category::Simple,
        low if low < 5.0 => Category::Moderate,
        low if low < 7.0 => Category::Complex,
        _ => Category::VeryComplex,
    };
    let confidence = confidence(&factors, survey);
    Complexity { score, category, risks: risks(text, &lows, survey), factors, confidence }
}

fn round(score: f64) -> f64 {
    (score * 10.0).round() / 10.0
}

fn factor(score: f64, weight: f64, reason: String) -> Factor {
    Factor { score: round(score.clamp(1.0, 10.0)), weight, reason }
}

fn touched(text: &str, survey: &Survey) -> Vec<places::Place> {
    let named = places::of(survey, text);
    if named.is_empty() { places::everywhere(survey, text) } else { named }
}

fn code(text: &str, survey: &Survey) -> Factor {
    let places = touched(text, survey);
    let named: u64 = places.iter().map(|place| place.lines).sum();
    let lines = if places.is_empty() { survey.lines } else { named };
    // Ten times the code is about two points more.
    let size = if lines == 0 { 1.0 } else { ((lines as f64).log10() * 2.0 - 2.0).max(1.0) };
    let kinds =
        survey.languages.iter().filter(|language| language.lines * 20 >= survey.lines).count();
    let mixed = if kinds > 1 { (kinds as f64 - 1.0) * 0.5 } else { 0.0 };
    let folder: Vec<&str> = places.iter().map(|place| place.path.as_str()).collect();
    let busy = survey
        .history
        .hot
        .iter()
        .filter(|hot| folder.iter().any(|path| hot.path.starts_with(path)) && hot.changes >= 10)
        .count();
    let hot = if busy > 0 { 0.5 } else { 0.0 };
    let whose = match places.len() {
        0 => "the repository has".to_owned(),
        1 => format!("{} has", line(folder.first().unwrap_or(&""), 60)),
        many => format!("the {many} parts that are touched have"),
    };
    let mut reason = format!("{whose} about {lines} lines in {kinds} main language(s)");
    if busy > 0 {
        reason.push_str(&format!(", and {busy} file(s) there change often"));
    }
    factor(size + mixed + hot, 0.25, reason)
}

fn domain(lows: &[String]) -> Factor {
    let hit = |known: &[&str]| lows.iter().any(|word| known.contains(&word.as_str()));
    let found: Vec<&(&str, f64, &[&str])> =
        DOMAINS.iter().filter(|(_, _, known)| hit(known)).collect();
    let most = found.iter().map(|(_, points, _)| *points).fold(0.0, f64::max);
    let score = if found.is_empty() { 2.0 } else { 1.5 + most + (found.len() as f64 - 1.0) * 1.2 };
    let names: Vec<&str> = found.iter().map(|(name, ..)| *name).collect();
    let reason = if names.is_empty() {
        "nothing in the text needs special knowledge".to_owned()
    } else {
        format!("it is about {}", names.join(", "))
    };
    factor(score, 0.20, reason)
}

fn uncertainty(text: &str, lows: &[String], survey: &Survey) -> Factor {
    let (mut score, mut why) = (2.0, Vec::new());
    let vague: Vec<&str> =
        lows.iter().map(String::as_str).filter(|word| VAGUE.contains(word)).collect();
    if !vague.is_empty() {
        score += (vague.len() as f64).min(3.0);
        why.push(format!(
            "the text is vague (\"{}\")",
            vague.iter().take(3).copied().collect::<Vec<_>>().join("\", \"")
        ));
    }
    if places::of(survey, text).is_empty() {
        score += 1.0;
        why.push("no part of the repository is named".to_owned());
    }
    if survey.tests.files == 0 {
        score += 1.5;
        why.push("there are no tests to rely on".to_owned());
    }
    if survey.files > 0 && survey.history.commits <= 1 {
        score += 0.5;
        why.push("there is hardly any history".to_owned());
    }
    if text.contains('?') {
        score += 1.0;
        why.push("it is a question".to_owned());
    }
    let reason = if why.is_empty() {
        "it is plain what is meant, and tests would notice a mistake".to_owned()
    } else {
        why.join("; ")
    };
    factor(score, 0.25, reason)
}

fn dependencies(text: &str, lows: &[String], survey: &Survey) -> Factor {
    let mut outside: Vec<&str> =
        lows.iter().map(String::as_str).filter(|word| OUTSIDE.contains(word)).collect();
    outside.sort_unstable();
    outside.dedup();
    let parts = touched(text, survey).len();
    let score = 1.5 + outside.len() as f64 * 1.5 + (parts.saturating_sub(1) as f64).min(4.0);
    let mut why = Vec::new();
    if !outside.is_empty() {
        why.push(format!(
            "it has to do with {}",
            outside.iter().take(4).copied().collect::<Vec<_>>().join(", ")
        ));
    }
    if parts > 1 {
        why.push(format!("{parts} parts have to fit each other"));
    }
    let reason = if why.is_empty() {
        "it needs nothing from outside of one part".to_owned()
    } else {
        why.join("; ")
    };
    factor(score, 0.15, reason)
}

fn scope(text: &str, lows: &[String], survey: &Survey) -> Factor {
    let verbs = lows.iter().filter(|word| crate::rules::is_work_verb(word)).count();
    let wide = lows.iter().any(|word| crate::rules::is_everywhere(word));
    let parts = touched(text, survey).len();
    let (mut score, mut why) = (1.0, Vec::new());
    score += (verbs.saturating_sub(1) as f64).min(4.0);
    why.push(format!("{} thing(s) to do", verbs.max(1)));
    if wide {
        score += 2.5;
        why.push("all over the repository".to_owned());
    }
    if parts > 1 {
        score += (parts as f64 - 1.0).min(3.0);
        why.push(format!("{parts} parts"));
    }
    let rewrite = lows.iter().any(|word| {
        matches!(word.as_str(), "rewrite" | "migrate" | "port" | "redesign" | "replace")
    });
    if rewrite {
        score += 2.0;
        why.push("something that is there is replaced".to_owned());
    }
    score += (lows.len() as f64 / 40.0).min(2.0);
    factor(score, 0.15, why.join(", "))
}

fn risks(text: &str, lows: &[String], survey: &Survey) -> Vec<String> {
    let has = |some: &[&str]| lows.iter().any(|word| some.contains(&word.as_str()));
    let mut found = Vec::new();
    if survey.tests.files == 0 && survey.files > 0 {
        found.push("without tests, a mistake is noticed late".to_owned());
    }
    if has(&["migration", "migrations", "schema", "table", "column", "drop", "delete", "backfill"])
    {
        found.push("data that is there could be lost or shut out".to_owned());
    }
    if has(&[
        "auth",
        "authentication",
        "login",
        "password",
        "payment",
        "payments",
        "billing",
        "security",
        "permissions",
    ]) {
        found.push("a mistake can cost money or let somebody in: have a person read it".to_owned());
    }
    let places = touched(text, survey);
    let hot = survey.history.hot.iter().find(|hot| {
        hot.changes >= 10 && places.iter().any(|place| hot.path.starts_with(&place.path))
    });
    if let Some(hot) = hot {
        found.push(format!(
            "{} changes often, so others may be changing it now",
            line(&hot.path, 100)
        ));
    }
    if survey.cut {
        found.push("the repository is larger than what was looked at".to_owned());
    }
    found
}

fn confidence(factors: &Factors, survey: &Survey) -> f64 {
    let seen = if survey.files == 0 { 0.2 } else { 0.0 };
    let code = survey.parts.iter().any(|part| part.kind == PartKind::Code);
    let blind = if code { 0.0 } else { 0.1 };
    let value = 0.95 - (factors.uncertainty.score - 1.0) * 0.06 - seen - blind;
    (value.clamp(0.1, 0.95) * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_weighted_sum_of_its_factors() {
        let survey = Survey { files: 10, lines: 5_000, ..Survey::default() };
        let judged = complexity("Migrate payments to Stripe webhooks and maybe refunds", &survey);
        let sum: f64 =
            judged.factors.all().iter().map(|(_, factor)| factor.score * factor.weight).sum();
        assert!((judged.score - sum).abs() < 0.051, "{} {sum}", judged.score);
        let weights: f64 = judged.factors.all().iter().map(|(_, factor)| factor.weight).sum();
        assert!((weights - 1.0).abs() < 1e-9);
        assert!(judged.factors.all().iter().all(|(_, factor)| !factor.reason.is_empty()));
        let easy = complexity("Fix a typo in the readme", &survey);
        assert!(easy.score < judged.score, "{} {}", easy.score, judged.score);
        assert!(easy.category <= judged.category);
    }
}
