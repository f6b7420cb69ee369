//! `godel onboard`: gets a repository ready, and ends with its first bead done.
//!
//! Each step looks at what is there, so a run that was killed is finished by the next one.

mod file;
mod first;
mod machine;
mod trial;

use std::io::{self, BufRead as _, IsTerminal as _};

use godel_beads::{Filter, Shelf};
use godel_console::output::{STRONG, plain, styled};
use godel_console::{Error, Exit, Result};
use serde::Serialize;

use crate::desk::Desk;
use crate::own_git;
use first::First;
use machine::Machine;

/// What came of it.
#[derive(Debug, Serialize)]
struct Told {
    repository: String,
    folder: String,
    beads: u64,
    #[serde(flatten)]
    machine: Machine,
    /// The settings of the repository: `made`, `kept` or `none`.
    settings: file::State,
    /// What the tests said when they were tried.
    tests: Option<trial::Trial>,
    /// The bead that is done.
    first: Option<First>,
}

/// Gets the repository ready for beads and agents.
pub(crate) fn run(desk: &Desk, yes: bool) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let place = shelf.place().clone();
    let root = place.main.clone().unwrap_or_else(|| place.common.clone());
    if !yes && !agreed(desk, &root.display().to_string())? {
        return Err(Error::usage("nothing was done", "add --yes, or answer with y"));
    }
    std::fs::create_dir_all(&place.home)
        .map_err(|cause| Error::file(&place.home.display(), "made", cause))?;
    // To open the index also keeps the folder out of `git status`.
    shelf.count(&Filter::everything())?;
    let machine = machine::look(&desk.environment);
    let (settings, tests, first) = settle(desk, &mut shelf, &machine)?;
    let told = Told {
        repository: root.display().to_string(),
        folder: place.home.display().to_string(),
        beads: shelf.count(&Filter::everything())?,
        machine,
        settings,
        tests,
        first,
    };
    if desk.output.is_json() {
        desk.output.value(&told)?;
    } else {
        say(desk, &told)?;
    }
    Ok(Exit::Done)
}

/// Writes the settings of the repository if it has none, as the work of its first bead.
fn settle(
    desk: &Desk,
    shelf: &mut Shelf,
    machine: &Machine,
) -> Result<(file::State, Option<trial::Trial>, Option<First>)> {
    let Some(root) = shelf.place().main.clone() else {
        return Ok((file::State::None, None, None));
    };
    let begun = first::begun(shelf)?;
    let mut tests = None;
    let state = if file::is_there(&root)? {
        file::State::Kept
    } else {
        let (branch, usual) = (own_git::branch(&root)?, own_git::usual(&root)?);
        let text = |tests: Option<&trial::Trial>| file::text(machine, tests, &branch, usual);
        tests = trial::try_out(desk.output, &root, text)?;
        file::write(&root, &text(tests.as_ref()))?;
        file::State::Made
    };
    if state == file::State::Kept && begun.is_none() {
        // Somebody else's file is none of our commits.
        return Ok((state, tests, None));
    }
    let first = first::finish(desk, shelf, (&root, begun), tests.as_ref())?;
    Ok((state, tests, Some(first)))
}

fn say(desk: &Desk, told: &Told) -> Result<()> {
    let output = desk.output;
    output.line(format_args!("{} is ready", styled(STRONG, plain(&told.repository))))?;
    let mut rows = vec![[
        "folder".to_owned(),
        format!("{} (git status does not show it)", plain(&told.folder)),
    ]];
    rows.push(["settings".to_owned(), told.settings.words().to_owned()]);
    if let Some(tests) = &told.tests {
        rows.push(["tests".to_owned(), tests.words()]);
    }
    rows.extend(told.machine.rows());
    match &told.first {
        Some(first) => rows.push(["first bead".to_owned(), first.words()]),
        None => {
            rows.push(["beads".to_owned(), format!("{}, on the branch godel/state", told.beads)]);
        }
    }
    output.pairs(rows)?;
    let key = if told.machine.keys.is_empty() {
        "`godel secret set anthropic` or a key in the environment, then "
    } else {
        ""
    };
    output.line(format_args!(
        "\nNext: {key}`godel up` in another terminal, and `godel do \"what you want\"` here. \
         `godel bead create TITLE` plans work without a server, `godel doctor` checks everything."
    ))?;
    Ok(())
}

/// Asks a person at a terminal; without one there is nobody to ask.
fn agreed(desk: &Desk, root: &str) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    desk.output.ask(&format!(
        "Get {} ready? It makes the folder .godel, tries the tests once in a copy, and commits godel.toml to \
         the branch that is checked out. [y/N] ",
        plain(root)
    ));
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|cause| Error::file("the answer", "read", cause))?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
