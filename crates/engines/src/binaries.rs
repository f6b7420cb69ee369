//! Finding the installed engines.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// When set, only what was unpacked into the cache counts, as on a machine with nothing installed.
const IGNORE_INSTALLED: &str = "GODEL_DEV_IGNORE_INSTALLED";
/// Where packages put the server programs of PostgreSQL: `<root>/<anything>/bin`.
const POSTGRES_ROOTS: [&str; 3] = ["usr/lib/postgresql", "opt/homebrew/opt", "usr/local/opt"];

/// A version as its numbers, most significant first.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub Vec<u32>);

impl Version {
    /// Takes the first version out of a text such as `postgres (PostgreSQL) 15.4 (Debian 15.4-1)`.
    pub fn find(text: &str) -> Option<Self> {
        let word = text
            .split_whitespace()
            .map(|word| word.trim_start_matches("v=").trim_start_matches('v'))
            .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
        let numbers = word.split('.').map_while(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..end].parse().ok()
        });
        Some(Self(numbers.collect()))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<String> = self.0.iter().map(u32::to_string).collect();
        formatter.write_str(&words.join("."))
    }
}

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// The root of the file system, below which packages install; none to leave it out.
    pub system: Option<PathBuf>,
    /// The root below which packages were unpacked without being installed.
    pub unpacked: Option<PathBuf>,
}

impl Places {
    /// Reads `PATH` and the cache folder from the environment.
    ///
    /// `GODEL_DEV_IGNORE_INSTALLED=1` leaves only the cache.
    pub fn from_env() -> Self {
        let unpacked = cache_dir().map(|cache| cache.join("packages"));
        if ignores_installed() {
            return Self { unpacked, ..Self::default() };
        }
        let path = env::var_os("PATH").unwrap_or_default();
        Self { path: env::split_paths(&path).collect(), system: Some(PathBuf::from("/")), unpacked }
    }

    /// Finds a program in `PATH`, then among the unpacked packages.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let unpacked = self.unpacked.iter().map(|root| root.join("usr/bin"));
        self.path
            .iter()
            .cloned()
            .chain(unpacked)
            .map(|dir| dir.join(name))
            .find(|file| file.is_file())
    }
}

/// One engine's programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The folder that holds the programs.
    pub bin: PathBuf,
    /// The version of the server program.
    pub version: Version,
    /// Where its libraries are, if they are not installed.
    pub libraries: Vec<PathBuf>,
}

impl Installed {
    /// Looks at one folder; none unless `program` in it runs and tells its version.
    pub fn at(bin: &Path, program: &str, libraries: Vec<PathBuf>) -> Option<Self> {
        // Through links, to the folder that holds the sister programs as well.
        let file = fs::canonicalize(bin.join(program)).ok()?;
        let mut found =
            Self { bin: file.parent()?.to_owned(), version: Version::default(), libraries };
        let output = found.command(program).arg("--version").stderr(Stdio::null()).output().ok()?;
        found.version = Version::find(&String::from_utf8_lossy(&output.stdout))?;
        Some(found)
    }

    /// Prepares a call of one of the programs.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        if let Ok(libraries) = env::join_paths(&self.libraries)
            && !self.libraries.is_empty()
        {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }
}

/// The engines of this machine.
#[derive(Debug, Clone, Default)]
pub struct Binaries {
    /// The newest PostgreSQL.
    pub postgres: Option<Installed>,
    /// Redis.
    pub redis: Option<Installed>,
}

impl Binaries {
    /// Finds the engines: in `PATH` and where packages install them, else in the cache.
    pub fn find(places: &Places) -> Self {
        let installed = Self {
            postgres: newest_postgres(&places.path, places.system.as_deref(), &[]),
            redis: places.path.iter().find_map(|bin| redis_at(bin, &[])),
        };
        let Some(root) = &places.unpacked else {
            return installed;
        };
        let libraries = unpacked_libraries(root);
        Self {
            postgres: installed.postgres.or_else(|| newest_postgres(&[], Some(root), &libraries)),
            redis: installed.redis.or_else(|| redis_at(&root.join("usr/bin"), &libraries)),
        }
    }
}

/// The folder for what `xtask` downloads: `$XDG_CACHE_HOME/godel-dev` or `~/.cache/godel-dev`.
pub fn cache_dir() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(base.join("godel-dev"))
}

/// The library folders below a root of unpacked packages.
pub fn unpacked_libraries(root: &Path) -> Vec<PathBuf> {
    let bases = [root.join("usr/lib"), root.join("lib")];
    let per_machine = bases.iter().flat_map(|base| folders(base)).filter(|dir| {
        dir.file_name().is_some_and(|name| name.to_string_lossy().contains("-linux-"))
    });
    per_machine.chain(bases.iter().filter(|base| base.is_dir()).cloned()).collect()
}

fn ignores_installed() -> bool {
    env::var_os(IGNORE_INSTALLED).is_some_and(|value| !value.is_empty() && value != "0")
}

fn newest_postgres(
    path: &[PathBuf],
    system: Option<&Path>,
    libraries: &[PathBuf],
) -> Option<Installed> {
    let packaged = system.into_iter().flat_map(|root| {
        POSTGRES_ROOTS
            .iter()
            .flat_map(|under| folders(&root.join(under)))
            .map(|dir| dir.join("bin"))
    });
    let real: BTreeSet<PathBuf> = path
        .iter()
        .cloned()
        .chain(packaged)
        .filter_map(|bin| Some(fs::canonicalize(bin.join("postgres")).ok()?.parent()?.to_owned()))
        .filter(|bin| bin.join("initdb").is_file())
        .collect();
    real.iter()
        .filter_map(|bin| Installed::at(bin, "postgres", libraries.to_vec()))
        .max_by(|one, other| one.version.cmp(&other.version))
}

fn redis_at(bin: &Path, libraries: &[PathBuf]) -> Option<Installed> {
    Installed::at(bin, "redis-server", libraries.to_vec())
}

fn folders(base: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn versions_are_read_from_what_the_programs_say() {
        let find = |text| Version::find(text).unwrap().0;
        assert_eq!(find("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), [15, 18]);
        assert_eq!(find("postgres (PostgreSQL) 19beta1"), [19]);
        assert_eq!(find("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc"), [7, 0, 15]);
        assert_eq!(find("v20.20.2"), [20, 20, 2]);
        assert_eq!(Version::find("no number here"), None);
        assert!(Version(vec![9, 6]) < Version(vec![15, 1]));
    }

    fn pretend(root: &Path, version: &str) {
        let bin = root.join("usr/lib/postgresql").join(version).join("bin");
        fs::create_dir_all(&bin).unwrap();
        for program in ["postgres", "initdb"] {
            let file = bin.join(program);
            fs::write(&file, format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}.1'\n"))
                .unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    #[test]
    fn the_newest_server_wins_by_number_and_not_by_letter() {
        let root = tempfile::tempdir().unwrap();
        for version in ["9", "17", "15"] {
            pretend(root.path(), version);
        }
        let places = Places { system: Some(root.path().to_owned()), ..Places::default() };
        let found = Binaries::find(&places).postgres.unwrap();
        assert_eq!(found.version.to_string(), "17.1");
    }

    #[test]
    fn what_is_installed_goes_before_what_is_unpacked() {
        let (system, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        pretend(system.path(), "14");
        pretend(cache.path(), "16");
        let library = cache.path().join("usr/lib/x86_64-linux-gnu");
        fs::create_dir(&library).unwrap();
        let mut places = Places {
            path: Vec::new(),
            system: Some(system.path().to_owned()),
            unpacked: Some(cache.path().to_owned()),
        };
        let installed = Binaries::find(&places).postgres.unwrap();
        assert_eq!(
            (installed.version.to_string().as_str(), installed.libraries.len()),
            ("14.1", 0)
        );
        places.system = None;
        let unpacked = Binaries::find(&places).postgres.unwrap();
        assert_eq!(unpacked.version.to_string(), "16.1");
        assert!(unpacked.libraries.contains(&library));
    }

    #[test]
    fn an_empty_machine_has_nothing() {
        let root = tempfile::tempdir().unwrap();
        let places = Places { system: Some(root.path().to_owned()), ..Places::default() };
        let found = Binaries::find(&places);
        assert!(found.postgres.is_none() && found.redis.is_none());
    }
}
