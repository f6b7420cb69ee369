//! What a team and a machine want of worktrees: `[worktree]` in `godel.toml` and in
//! `.godel/config.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use godel_model::code;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::disk;
use crate::error::{Error, Result};
use crate::glob::{self, Pattern};
use crate::ports::Range;
use crate::record::{Cleanup, Mode, Policy};
use crate::repo::Repo;

const FILE_MAX_BYTES: u64 = 1 << 20;
const SETUP_TIMEOUT: Duration = Duration::from_secs(600);
const SETUP_TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3_600);
const CLEANUP_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);
const PORTS: u16 = 10;
const PORT_FIRST: u16 = 20_000;
const PORT_LAST: u16 = 29_999;

/// The committed file.
pub(crate) const TEAM_FILE: &str = "godel.toml";

#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    worktree: Section,
}

/// `[worktree]` as it is written; other sections belong to others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Section {
    setup: Option<String>,
    setup_timeout: Option<String>,
    copy: Option<Vec<String>>,
    share: Option<BTreeMap<String, Mode>>,
    rescue: Option<Vec<String>>,
    cleanup: Option<Policy>,
    cleanup_after: Option<String>,
    ports: Option<u16>,
    port_range: Option<String>,
}

/// What is in effect.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) setup: Option<String>,
    pub(crate) setup_timeout: Duration,
    pub(crate) copy: Vec<Pattern>,
    pub(crate) share: Vec<(PathBuf, Mode)>,
    pub(crate) rescue: Vec<String>,
    pub(crate) cleanup: Cleanup,
    pub(crate) ports: Range,
    /// What the committed file wants that needs somebody's consent.
    pub(crate) wanted: Option<Wanted>,
}

/// What a committed file wants to do on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The hash of its section.
    pub(crate) digest: String,
    /// What it wants, in words.
    pub(crate) words: Vec<String>,
}

impl Settings {
    /// Reads both files; in a bare repository the committed one is that of a commit.
    pub(crate) fn load(repo: &Repo, commit: Option<&str>) -> Result<Self> {
        let team = team(repo, commit)?;
        let path = repo.home.join("config.toml");
        let text = disk::read(&path, FILE_MAX_BYTES)?.unwrap_or_default();
        Self::merge(team, parse(&text, &path.display().to_string())?)
    }

    fn merge(team: Section, own: Section) -> Result<Self> {
        let wanted = wanted(&team, &own);
        let mut share = team.share.unwrap_or_default();
        share.extend(own.share.unwrap_or_default());
        let copy = own.copy.or(team.copy).unwrap_or_default();
        let rescue = own.rescue.or(team.rescue).unwrap_or_default();
        for pattern in &rescue {
            Pattern::new(pattern).map_err(|why| wrong("rescue", &why))?;
        }
        let timeout = own.setup_timeout.or(team.setup_timeout);
        let timeout = timeout.map(|text| span("setup-timeout", &text)).transpose()?;
        let after = own.cleanup_after.or(team.cleanup_after);
        let after = after.map(|text| span("cleanup-after", &text)).transpose()?;
        let range = own.port_range.or(team.port_range);
        let range = range.map(|text| range_of(&text)).transpose()?;
        let (first, last) = range.unwrap_or((PORT_FIRST, PORT_LAST));
        let timeout = timeout.map_or(SETUP_TIMEOUT, SignedDuration::unsigned_abs);
        Ok(Self {
            setup: own.setup.or(team.setup).filter(|setup| !setup.trim().is_empty()),
            setup_timeout: timeout.min(SETUP_TIMEOUT_MAX),
            copy: copy
                .iter()
                .map(|text| Pattern::new(text).map_err(|why| wrong("copy", &why)))
                .collect::<Result<_>>()?,
            share: share
                .into_iter()
                .map(|(text, mode)| {
                    let path = glob::inside(&text).map_err(|why| wrong("share", &why))?;
                    Ok((path, mode))
                })
                .collect::<Result<_>>()?,
            rescue,
            cleanup: Cleanup {
                policy: own.cleanup.or(team.cleanup).unwrap_or_default(),
                after_secs: after.unwrap_or(CLEANUP_AFTER).as_secs(),
            },
            ports: Range { first, last, count: own.ports.or(team.ports).unwrap_or(PORTS) },
            wanted,
        })
    }
}

/// Reads the committed section.
fn team(repo: &Repo, commit: Option<&str>) -> Result<Section> {
    match (&repo.main, commit) {
        (Some(main), _) => {
            let text = disk::read(&main.join(TEAM_FILE), FILE_MAX_BYTES)?;
            parse(&text.unwrap_or_default(), TEAM_FILE)
        }
        (None, Some(commit)) => {
            let object = format!("{commit}:{TEAM_FILE}");
            let text = repo.ask().args(["cat-file", "blob", &object]).maybe()?;
            parse(&text.unwrap_or_default(), TEAM_FILE)
        }
        (None, None) => Ok(Section::default()),
    }
}

fn parse(text: &str, name: &str) -> Result<Section> {
    toml::from_str::<File>(text).map(|file| file.worktree).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            text.get(..span.start).map_or(1, |before| before.matches('\n').count() + 1)
        });
        Error::refused(
            code::INVALID_CONFIG,
            format!("{name}, line {line}: {}", error.message().trim()),
            "docs/how-to/worktrees.md lists what can be under [worktree]",
        )
    })
}

/// Finds what runs or is copied because of the committed file, and not of this machine's own.
fn wanted(team: &Section, own: &Section) -> Option<Wanted> {
    let mut words = Vec::new();
    if let (Some(setup), None) = (&team.setup, &own.setup) {
        words.push(format!("run `{setup}`"));
    }
    if let (Some(copy), None) = (&team.copy, &own.copy)
        && !copy.is_empty()
    {
        words.push(format!("copy {}", copy.join(", ")));
    }
    let of_own = own.share.clone().unwrap_or_default();
    let shared: Vec<&str> = team.share.iter().flatten().map(|(path, _)| path.as_str()).collect();
    let shared: Vec<&str> = shared.into_iter().filter(|path| !of_own.contains_key(*path)).collect();
    if !shared.is_empty() {
        words.push(format!("share {}", shared.join(", ")));
    }
    if words.is_empty() {
        return None;
    }
    let bytes = serde_json::to_vec(team).unwrap_or_default();
    Some(Wanted { digest: hex(&Sha256::digest(&bytes)), words })
}

/// Writes bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn wrong(key: &str, why: &str) -> Error {
    Error::refused(
        code::INVALID_CONFIG,
        format!("`{key}` under [worktree]: {why}"),
        "correct it in godel.toml or .godel/config.toml",
    )
}

fn span(key: &str, text: &str) -> Result<SignedDuration> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => 0,
    };
    let number: Option<i64> = text[..text.len() - unit.len()].parse().ok();
    let total = number.and_then(|number| number.checked_mul(seconds)).filter(|_| seconds > 0);
    let total = total.filter(|total| *total <= 100 * 365 * 86_400);
    total.map(SignedDuration::from_secs).ok_or_else(|| {
        wrong(key, &format!("\"{text}\" is no span of time, such as 45s, 10m, 24h or 7d"))
    })
}

fn range_of(text: &str) -> Result<(u16, u16)> {
    let ends = text
        .split_once('-')
        .and_then(|(first, last)| Some((first.trim().parse().ok()?, last.trim().parse().ok()?)));
    let ends = ends.filter(|(first, last): &(u16, u16)| *first >= 1024 && first <= last);
    ends.ok_or_else(|| {
        wrong("port-range", &format!("\"{text}\" is no range above 1023, such as 20000-29999"))
    })
}

/// Makes a directory unless a symbolic link on the way leads out of another; tells whether it did.
pub(crate) fn make_inside(root: &Path, wanted: &Path) -> Result<bool> {
    let there = wanted.ancestors().find(|above| disk::exists(above)).unwrap_or(root);
    if !stays_inside(root, there)? {
        return Ok(false);
    }
    disk::dir(wanted)?;
    stays_inside(root, wanted)
}

/// Refuses a path of the configuration that leads out of a directory through symbolic links.
pub(crate) fn stays_inside(root: &Path, path: &Path) -> Result<bool> {
    match path.canonicalize() {
        Ok(real) => Ok(real.starts_with(root)),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(Error::file(path, "found", cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Section> {
        parse(text, TEAM_FILE)
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let error = read("[other]\nx = 1\n\n[worktree]\nsetup = 'x'\nsetpu = 'y'\n").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("godel.toml, line 6: unknown field `setpu`"), "{text}");
        let error = read("[worktree]\n\nports = 'many'\n").unwrap_err().to_string();
        assert!(error.starts_with("godel.toml, line 3: "), "{error}");
        let error = read("[worktree.share]\na = 'copy'\nb = 'link'\n").unwrap_err().to_string();
        assert!(error.starts_with("godel.toml, line 3: "), "{error}");
        assert!(read("[worktree\n").is_err());
    }

    #[test]
    fn this_machine_wins_and_what_it_decided_needs_no_trust() {
        let team = read(
            "[worktree]\nsetup = 'make'\ncopy = ['.env']\ncleanup = 'on-success'\n\
             share = { node_modules = 'copy', target = 'none' }\n",
        )
        .unwrap();
        let merged = Settings::merge(team.clone(), Section::default()).unwrap();
        assert_eq!(merged.wanted.unwrap().words.len(), 3);
        assert_eq!(merged.cleanup.policy, Policy::OnSuccess);
        let own = read(
            "[worktree]\nsetup = ''\ncopy = []\nports = 3\n\
             share = { node_modules = 'none', target = 'none' }\n",
        );
        let merged = Settings::merge(team, own.unwrap()).unwrap();
        assert_eq!((merged.wanted, merged.setup, merged.copy.len()), (None, None, 0));
        assert_eq!(merged.ports, Range { first: 20_000, last: 29_999, count: 3 });
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for text in [
            "copy = ['../x']",
            "copy = ['/etc/passwd']",
            "rescue = ['.git/x']",
            "share = { '../x' = 'copy' }",
            "setup-timeout = '10'",
            "setup-timeout = '-1s'",
            "setup-timeout = 'é'",
            "cleanup-after = '99999999999999999999d'",
            "port-range = '9000'",
            "port-range = '80-90'",
            "port-range = '9000-8000'",
        ] {
            let section = read(&format!("[worktree]\n{text}\n")).unwrap();
            assert!(Settings::merge(section, Section::default()).is_err(), "{text}");
        }
    }

    #[test]
    fn the_hash_follows_the_meaning_and_not_the_comments() {
        let digest = |text: &str| wanted(&read(text).unwrap(), &Section::default()).unwrap().digest;
        let one = digest("[worktree]\nsetup = 'make'\n");
        assert_eq!(one, digest("# hello\n[worktree]\n  setup = \"make\" # build\n"));
        assert_ne!(one, digest("[worktree]\nsetup = 'make all'\n"));
    }
}
