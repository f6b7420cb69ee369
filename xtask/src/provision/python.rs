//! Python packages: virtual environments in the cache folder, each with a pinned set.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use godel_engines::{Places, unpacked_libraries};

use crate::failure::{Failure, Result, Told};
use crate::report::Done;
use crate::shop::Shop;

/// Written last: the pinned set that the environment holds.
const STAMP: &str = "godel-requirements.txt";
/// Fails on a Python that is too old; the tools need 3.10.
const NEW_ENOUGH: &str = "import sys, venv; assert sys.version_info >= (3, 10)";

/// A pinned set of packages, and where it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Set {
    /// What people call it.
    name: &'static str,
    /// The folder in the cache.
    folder: &'static str,
    /// The list in the workspace.
    list: &'static str,
    /// A call that only works if all is well.
    proof: [&'static str; 2],
}

/// What fuzzes the API.
pub(crate) const FUZZER: Set = Set {
    name: "Python tools",
    folder: "python",
    list: "xtask/python-requirements.txt",
    proof: ["schemathesis", "--version"],
};

/// The SDKs that must work with the product.
pub(crate) const SDKS: Set = Set {
    name: "Python SDKs",
    folder: "clients-python",
    list: "clients/python/requirements.txt",
    proof: ["python3", "--version"],
};

/// The environment with the tools in it.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    folder: PathBuf,
    libraries: Vec<PathBuf>,
}

/// A Python that can make an environment.
struct Python {
    program: PathBuf,
    libraries: Vec<PathBuf>,
    /// A pip to run from a file, where the Python brings none.
    pip: Option<PathBuf>,
}

impl Tools {
    /// Prepares a call of one of the tools.
    pub(crate) fn command(&self, tool: &str) -> Command {
        with_libraries(Command::new(self.folder.join("bin").join(tool)), &self.libraries)
    }
}

/// Whether the tools are there, or a Python to make them with.
pub(super) fn is_there(shop: &Shop, places: &Places) -> bool {
    ready(shop, places, &FUZZER).is_some() || find(places).is_some()
}

/// Makes the environment, or takes the one that is there; none if that may be left out.
pub(crate) fn tools(shop: &Shop, set: &Set) -> Result<(Option<Tools>, Done)> {
    let _turn = super::take_turn()?;
    let places = Places::from_env();
    if let Some(tools) = ready(shop, &places, set) {
        return Ok((Some(tools), Done::noted("unchanged")));
    }
    let made = find(&places)
        .ok_or_else(|| Failure::new("there is no Python to make them with"))
        .and_then(|python| make(shop, &python, set));
    match made {
        Ok(tools) => Ok((Some(tools), Done::noted("made anew"))),
        Err(failure) if shop.ci => Err(failure),
        Err(failure) => Ok((None, Done::skipped(format!("{} ({})", set.name, failure.brief())))),
    }
}

/// The environment, if it holds the pinned set and works.
fn ready(shop: &Shop, places: &Places, set: &Set) -> Option<Tools> {
    let folder = folder(set).ok()?;
    let held = fs::read_to_string(folder.join(STAMP)).ok()?;
    let pinned = fs::read_to_string(shop.root.join(set.list)).ok()?;
    let libraries = places.unpacked.as_deref().map(unpacked_libraries).unwrap_or_default();
    let tools = (held == pinned).then_some(Tools { folder, libraries })?;
    let [tool, argument] = set.proof;
    succeeds(tools.command(tool).arg(argument)).then_some(tools)
}

fn find(places: &Places) -> Option<Python> {
    let root = places.unpacked.as_deref();
    let wheel = root.and_then(pip_wheel);
    let installed = places.path.iter().map(|bin| (bin.join("python3"), None));
    let unpacked = root.map(|root| (root.join("usr/bin/python3"), Some(root)));
    // Hiding what is installed is about servers and pip: without any Python there is no way on.
    let last = (PathBuf::from("/usr/bin/python3"), None);
    installed.chain(unpacked).chain([last]).find_map(|(program, root)| {
        let libraries = root.map(unpacked_libraries).unwrap_or_default();
        let call =
            |code| succeeds(with_libraries(Command::new(&program), &libraries).args(["-c", code]));
        if !program.is_file() || !call(NEW_ENOUGH) {
            return None;
        }
        // An unpacked Python looks for its pip where it would be if it were installed.
        let brings_pip = root.is_none() && places.system.is_some() && call("import ensurepip");
        let pip = if brings_pip { None } else { Some(wheel.clone()?) };
        Some(Python { program: program.clone(), libraries, pip })
    })
}

/// The pip among the unpacked packages; a wheel can be run as it is.
fn pip_wheel(root: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(root.join("usr/share/python-wheels")).ok()?;
    let mut files = entries.flatten().map(|entry| entry.path());
    let is_pip = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("pip-") && name.ends_with(".whl")
    };
    files.find(is_pip).map(|wheel| wheel.join("pip"))
}

fn make(shop: &Shop, python: &Python, set: &Set) -> Result<Tools> {
    let folder = folder(set)?;
    if folder.exists() {
        fs::remove_dir_all(&folder).told(format!("remove {}", folder.display()))?;
    }
    let mut venv = with_libraries(Command::new(&python.program), &python.libraries);
    venv.args(["-m", "venv"]);
    if python.pip.is_some() {
        venv.arg("--without-pip");
    }
    shop.captured("python-venv", venv.arg(&folder))?;
    let mut install = with_libraries(Command::new(folder.join("bin/python3")), &python.libraries);
    match &python.pip {
        Some(pip) => install.arg(pip),
        None => install.args(["-m", "pip"]),
    };
    let list = shop.root.join(set.list);
    install.args(["install", "--disable-pip-version-check", "--no-input", "--requirement"]);
    shop.captured("python-install", install.arg(&list))?;
    fs::copy(&list, folder.join(STAMP)).told(format!("write {}", folder.join(STAMP).display()))?;
    Ok(Tools { folder, libraries: python.libraries.clone() })
}

fn folder(set: &Set) -> Result<PathBuf> {
    Ok(super::cache()?.join(set.folder))
}

fn with_libraries(mut command: Command, libraries: &[PathBuf]) -> Command {
    if let Ok(joined) = std::env::join_paths(libraries)
        && !libraries.is_empty()
    {
        command.env("LD_LIBRARY_PATH", joined);
    }
    command
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
