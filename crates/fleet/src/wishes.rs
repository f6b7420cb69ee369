//! What a project wants of agents: `godel.toml` in its main work tree.

use std::path::PathBuf;

use godel_agents::gates::{Anew, FILE_MAX_BYTES, FileCache, GateResult, Gates};
use godel_model::code;

use crate::place::Place;
use crate::{Error, Fleet, Result};

/// How many results of gates are remembered.
const RESULTS_MAX: usize = 10_000;

/// Reads what a project wants; a project that says nothing wants the defaults.
///
/// The file of the person's own work tree counts: what an agent writes into its branch does not.
///
/// # Errors
/// If its file cannot be read.
pub async fn read(fleet: &Fleet, folder: PathBuf) -> Result<Gates> {
    let found = fleet.at_bench(folder.clone(), |bench| match bench.main() {
        Some(main) => Ok((Some(main.join("godel.toml")), None)),
        // A bare repository has no files of its own.
        None => Ok((None, bench.file_at("HEAD", "godel.toml")?)),
    });
    let (path, text) = found.await?;
    let Some(path) = path else {
        let Some(text) = text else { return Ok(Gates::default()) };
        return Ok(Gates::read(&text)?);
    };
    let text = match tokio::fs::read(&path).await {
        Ok(text) if text.len() <= FILE_MAX_BYTES => text,
        Ok(_) => return Err(unreadable(&path, "it is too large")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Gates::default()),
        Err(error) => return Err(unreadable(&path, &error.to_string())),
    };
    let text = String::from_utf8(text).map_err(|_| unreadable(&path, "it is not UTF-8"))?;
    Ok(Gates::read(&text)?)
}

/// Finds the branch that work begins from and lands in; none if nobody says and there is no usual one.
///
/// # Errors
/// If git fails.
pub async fn target(fleet: &Fleet, folder: PathBuf, wanted: &Gates) -> Result<Option<String>> {
    if let Some(target) = &wanted.target {
        return Ok(Some(target.clone()));
    }
    let find = |bench: &godel_git::Workbench| {
        for name in ["main", "master"] {
            if bench.head_of(name)?.is_some() {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    };
    fleet.at_bench(folder, find).await
}

fn unreadable(path: &std::path::Path, why: &str) -> Error {
    Error::refused(
        code::INVALID_CONFIG,
        format!("{} cannot be read: {why}", path.display()),
        "correct it, or remove it",
    )
}

/// Runs the gates in a sandbox whose files are those of a tree.
pub(crate) async fn run(
    fleet: &Fleet,
    place: &Place,
    gates: &Gates,
    tree: &str,
) -> Result<Vec<GateResult>> {
    if gates.gates.is_empty() {
        return Ok(Vec::new());
    }
    let cache = cache(fleet)?;
    Ok(gates.run(place.runtime.as_ref(), place.sandbox, &cache, tree).await)
}

/// The same, although it may be known that they failed.
pub(crate) async fn run_anew(
    fleet: &Fleet,
    place: &Place,
    gates: &Gates,
    tree: &str,
) -> Result<Vec<GateResult>> {
    let cache = cache(fleet)?;
    Ok(gates.run(place.runtime.as_ref(), place.sandbox, &Anew(&cache), tree).await)
}

/// Opens the memory of what gates said.
pub(crate) fn cache(fleet: &Fleet) -> Result<FileCache> {
    let folder = fleet.own.settings.data.join("gates");
    FileCache::open(&folder, RESULTS_MAX).map_err(|error| unreadable(&folder, &error.to_string()))
}
