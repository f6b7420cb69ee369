//! What this machine has: bubblewrap, and the directories of the system.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use godel_model::code;

use crate::{Error, Result};

/// Directories of programs and libraries.
const PROGRAMS: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];
/// What programs need of the system's settings; nothing that holds secrets.
const SETTINGS: [&str; 22] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/perl",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/python3",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/etc/inputrc",
];
/// Prefixes of directories with settings of one version of a language.
const VERSIONED: [&str; 3] = ["java-", "openjdk-", "python3."];
/// The first bubblewrap that can forbid further user namespaces.
const SEALS_SINCE: (u32, u32) = (0, 8);

/// What this machine has.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// Whether Godel is root here.
    pub(crate) root: bool,
    /// What of the system can be read.
    pub(crate) system: Vec<PathBuf>,
    /// Links at the top of the file system: target, link.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    bubblewrap: Option<Bubblewrap>,
    why_not: String,
}

/// A bubblewrap that works here.
#[derive(Debug, Clone)]
pub(crate) struct Bubblewrap {
    pub(crate) program: PathBuf,
    pub(crate) seals: bool,
}

impl Machine {
    /// Looks at this machine, and tries whether bubblewrap works.
    pub(crate) fn look(wanted: Option<&Path>) -> Self {
        let root = rustix::process::geteuid().is_root();
        let found = wanted.map(Path::to_owned).or_else(|| on_path("bwrap"));
        let (bubblewrap, why_not) = match found {
            None => (None, "bubblewrap is not installed".to_owned()),
            Some(program) => match try_out(&program, root) {
                Ok(bubblewrap) => (Some(bubblewrap), String::new()),
                Err(why) => (None, why),
            },
        };
        let (system, links) = system();
        Self { root, system, links, bubblewrap, why_not }
    }

    /// Returns the bubblewrap of this machine.
    pub(crate) fn bubblewrap(&self) -> Result<&Bubblewrap> {
        self.bubblewrap.as_ref().ok_or_else(|| {
            Error::refused(
                code::SANDBOX_UNAVAILABLE,
                format!("a sandbox cannot be given on this machine: {}", self.why_not),
                "install bubblewrap (`apt-get install bubblewrap`, `dnf install bubblewrap`, \
                 `pacman -S bubblewrap`) and let users make user namespaces; or say `--sandbox none` \
                 to do without any isolation",
            )
        })
    }
}

/// Sees whether this machine can put walls around an agent, by trying it.
///
/// # Errors
/// If it cannot; the error says what to install.
pub fn can_wall(bubblewrap: Option<&Path>) -> Result<()> {
    Machine::look(bubblewrap).bubblewrap().map(drop)
}

pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// That a program is there is no proof: user namespaces may be forbidden.
fn try_out(program: &Path, root: bool) -> std::result::Result<Bubblewrap, String> {
    let output = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).env("LC_ALL", "C");
        command.output().map_err(|error| format!("{} cannot be run: {error}", program.display()))
    };
    let version = output(&["--version"])?;
    let seals = version_of(&String::from_utf8_lossy(&version.stdout)) >= Some(SEALS_SINCE);
    let mut trial = vec!["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc"];
    if !root {
        trial.extend(["--unshare-user", "--uid", "1000", "--gid", "1000"]);
        if seals {
            trial.push("--disable-userns");
        }
    }
    trial.extend(["--", "/bin/sh", "-c", "exit 0"]);
    let tried = output(&trial)?;
    if tried.status.success() {
        return Ok(Bubblewrap { program: program.to_owned(), seals });
    }
    let said = String::from_utf8_lossy(&tried.stderr);
    let said: String = said.trim().chars().take(300).collect();
    Err(format!("bubblewrap does not work here ({said})"))
}

/// Reads `bubblewrap 0.8.0`.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().rsplit(' ').next()?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

type System = (Vec<PathBuf>, Vec<(PathBuf, PathBuf)>);

fn system() -> System {
    let (mut directories, mut links) = (Vec::new(), Vec::new());
    for path in PROGRAMS {
        match std::fs::read_link(path) {
            Ok(target) => links.push((target, PathBuf::from(path))),
            Err(_) if Path::new(path).is_dir() => directories.push(PathBuf::from(path)),
            Err(_) => {}
        }
    }
    let there = SETTINGS.iter().map(PathBuf::from).filter(|path| path.exists());
    directories.extend(there);
    let versioned = std::fs::read_dir("/etc").into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name();
        VERSIONED.iter().any(|start| name.to_string_lossy().starts_with(start))
    });
    directories.extend(versioned.map(|entry| entry.path()));
    (directories, links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_and_a_missing_program_is_named() {
        assert_eq!(version_of("bubblewrap 0.8.0\n"), Some((0, 8)));
        assert_eq!(version_of("bubblewrap 0.11.0"), Some((0, 11)));
        assert_eq!(version_of(""), None);
        let machine = Machine::look(Some(Path::new("/nowhere/bwrap")));
        let error = machine.bubblewrap().unwrap_err();
        assert!(!error.retryable());
        assert!(error.to_string().contains("/nowhere/bwrap cannot be run"), "{error}");
    }
}
