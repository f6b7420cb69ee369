//! Gets what the tests need beyond the basic tools: PostgreSQL, Redis, Python, bubblewrap, gVisor,
//! Chromium, and the clients that must work with the product.
//!
//! What is installed is used. What is missing is installed (as root, on Debian or Ubuntu) or
//! unpacked into the cache folder (as anyone else there). What cannot be had is named together
//! with the one command that gets it.

mod apt;
mod chromium;
mod node;
mod python;
mod unpack;

use std::fs::{self, File};
use std::path::PathBuf;

use godel_engines::{Binaries, Places, cache_dir};

use crate::failure::{Failure, Result, Told};
use crate::report::Done;
use crate::shop::Shop;
use crate::tools;

pub(crate) use chromium::browser;
pub(crate) use node::packages as node_packages;
pub(crate) use python::{FUZZER, SDKS, Tools, tools as python_tools};

/// One thing that may have to be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Postgres,
    Redis,
    Python,
    Bubblewrap,
    Gvisor,
    Chromium,
}

impl Part {
    /// What most tests share; the browser is fetched by the one step that uses it.
    const SERVICES: [Self; 5] =
        [Self::Postgres, Self::Redis, Self::Python, Self::Bubblewrap, Self::Gvisor];

    fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Redis => "Redis",
            Self::Python => "Python 3.10 with venv",
            Self::Bubblewrap => "bubblewrap",
            Self::Gvisor => "gVisor's runsc",
            Self::Chromium => "Chromium",
        }
    }

    /// The package to ask each package manager for: apt, dnf, pacman, brew.
    fn packages(self) -> [&'static str; 4] {
        match self {
            Self::Postgres => ["postgresql", "postgresql-server", "postgresql", "postgresql@17"],
            Self::Redis => ["redis-server", "redis", "redis", "redis"],
            Self::Python => ["python3-venv", "python3", "python", "python3"],
            // There is none for macOS, and nothing there asks for it.
            Self::Bubblewrap => ["bubblewrap"; 4],
            Self::Gvisor => ["runsc"; 4],
            Self::Chromium => ["chromium", "chromium", "chromium", "google-chrome"],
        }
    }

    fn is_there(self, shop: &Shop, places: &Places) -> bool {
        match self {
            Self::Postgres => Binaries::find(places).postgres.is_some(),
            Self::Redis => Binaries::find(places).redis.is_some(),
            Self::Python => python::is_there(shop, places),
            Self::Bubblewrap => cfg!(not(target_os = "linux")) || places.program("bwrap").is_some(),
            // Only root can use it, so nobody else has to get it.
            Self::Gvisor => {
                cfg!(not(target_os = "linux"))
                    || !unpack::is_root()
                    || places.program("runsc").is_some()
            }
            Self::Chromium => chromium::find(places).is_some(),
        }
    }

    /// Whether it is too large to be put into the cache of somebody who did not ask for it.
    fn is_heavy(self) -> bool {
        self == Self::Chromium
    }
}

/// Gets the servers and Python, and says what there is.
pub(crate) fn services(shop: &Shop) -> Result<(Binaries, Done)> {
    let places = Places::from_env();
    let skipped = provide(shop, &places, &Part::SERVICES)?;
    let binaries = Binaries::find(&places);
    let note = versions(&binaries);
    Ok((binaries, Done { note, skipped, ..Done::default() }))
}

/// Gets bubblewrap, and returns the folder that it is in; none where there is none.
pub(crate) fn bubblewrap(shop: &Shop) -> Result<Option<PathBuf>> {
    let places = Places::from_env();
    provide(shop, &places, &[Part::Bubblewrap])?;
    let found = places.program("bwrap");
    Ok(found.and_then(|program| program.parent().map(ToOwned::to_owned)))
}

/// Gets the parts that are missing and returns a line for each that cannot be had; on CI that is
/// a failure.
fn provide(shop: &Shop, places: &Places, parts: &[Part]) -> Result<Vec<String>> {
    let _turn = take_turn()?;
    let is_missing = |part: &Part| !part.is_there(shop, places);
    let wanted: Vec<Part> = parts.iter().copied().filter(is_missing).collect();
    let reasons = if wanted.is_empty() { Vec::new() } else { fetch_all(shop, &wanted) };
    let left: Vec<Part> = wanted.into_iter().filter(is_missing).collect();
    let why = |part: &Part| {
        let reason = reasons.iter().find(|(of, _)| of == part);
        reason.map_or("it does not run here", |(_, reason)| reason.as_str())
    };
    if shop.ci && !left.is_empty() {
        let said: Vec<String> =
            left.iter().map(|part| format!("{}: {}", part.name(), why(part))).collect();
        return Err(Failure::new("a part that the tests need could not be had")
            .output(said.join("\n"))
            .hint(format!("run `{}`; with CI=true nothing is skipped", advice(&left))));
    }
    let skipped = left
        .iter()
        .map(|part| format!("{} ({}); to have it: {}", part.name(), why(part), advice(&[*part])))
        .collect();
    Ok(skipped)
}

/// Fetches the parts together, or, so that one bad apple spoils nothing, one by one; returns why
/// a part could not be fetched.
fn fetch_all(shop: &Shop, wanted: &[Part]) -> Vec<(Part, String)> {
    if fetch(shop, wanted, true).is_ok() {
        return Vec::new();
    }
    // The package lists were renewed just now, if that could be done at all.
    let alone = |part: &Part| Some((*part, fetch(shop, &[*part], false).err()?.brief().to_owned()));
    wanted.iter().filter_map(alone).collect()
}

fn fetch(shop: &Shop, wanted: &[Part], renew: bool) -> Result<()> {
    if !tools::has("apt-get") {
        return Err(Failure::new("there is no apt-get to fetch it with"));
    }
    let packages: Vec<&str> = wanted.iter().map(|part| part.packages()[0]).collect();
    let ignores = Places::from_env().system.is_none();
    let installs = unpack::is_root() && !ignores;
    if !installs && !shop.ci && wanted.iter().any(|part| part.is_heavy()) {
        return Err(Failure::new("it is large, so only root and CI get it by themselves"));
    }
    println!("    getting {}", packages.join(", "));
    if installs {
        apt::install(shop, &packages, renew)
    } else {
        unpack::fetch(shop, &packages, renew, ignores)
    }
}

/// The one command that gets the parts on this kind of machine.
fn advice(parts: &[Part]) -> String {
    let managers = [
        ("apt-get", "sudo apt-get install"),
        ("dnf", "sudo dnf install"),
        ("pacman", "sudo pacman -S"),
        ("brew", "brew install"),
    ];
    let known = managers.iter().enumerate().find(|(_, (program, _))| tools::has(program));
    let (column, start) =
        known.map_or((0, "sudo apt-get install"), |(at, (_, start))| (at, *start));
    let packages: Vec<&str> = parts.iter().map(|part| part.packages()[column]).collect();
    format!("{start} {}", packages.join(" "))
}

fn versions(binaries: &Binaries) -> String {
    let postgres = binaries.postgres.as_ref().map(|one| format!("PostgreSQL {}", one.version));
    let redis = binaries.redis.as_ref().map(|one| format!("Redis {}", one.version));
    postgres.into_iter().chain(redis).collect::<Vec<_>>().join(", ")
}

/// The cache folder, made if it is not there.
fn cache() -> Result<PathBuf> {
    let path = cache_dir().ok_or_else(|| {
        Failure::new("no cache folder is known").hint("set HOME or XDG_CACHE_HOME")
    })?;
    fs::create_dir_all(&path).told(format!("create {}", path.display()))?;
    Ok(path)
}

/// Lets one run at a time change the cache; the turn ends with the file.
fn take_turn() -> Result<File> {
    let path = cache()?.join("lock");
    let file = File::create(&path).told(format!("create {}", path.display()))?;
    file.lock().told(format!("lock {}", path.display()))?;
    Ok(file)
}
