//! `godel onboard`: gets a repository ready.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;

use godel_beads::Filter;
use godel_console::output::{STRONG, styled};
use godel_console::{Error, Exit, Result, agents};
use serde_json::json;

use crate::desk::Desk;

/// Gets the repository ready for beads, and tells which agents there are.
pub(crate) fn run(desk: &Desk, yes: bool) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let place = shelf.place().clone();
    let root = place.main.clone().unwrap_or_else(|| place.common.clone());
    if !yes && !agreed(desk, &place.home)? {
        return Err(Error::usage("nothing was done", "add --yes, or answer with y"));
    }
    std::fs::create_dir_all(&place.home)
        .map_err(|cause| Error::file(&place.home.display(), "made", cause))?;
    // To open the index also keeps the folder out of `git status`.
    let beads = shelf.count(&Filter::everything())?;
    let agents = agents::find(&desk.environment);
    if desk.output.is_json() {
        desk.output.value(&json!({
            "repository": root, "folder": place.home, "beads": beads, "agents": agents,
        }))?;
        return Ok(Exit::Done);
    }
    let output = desk.output;
    output.line(format_args!("{} is ready", styled(STRONG, root.display())))?;
    let count = if beads == 0 { "none yet".to_owned() } else { beads.to_string() };
    let mut rows = vec![
        ["folder".to_owned(), format!("{} (git status does not show it)", place.home.display())],
        ["beads".to_owned(), format!("{count}, on the branch godel/state")],
    ];
    if agents.is_empty() {
        let none = format!("none on the PATH; looked for {}", agents::known());
        rows.push(["agents".to_owned(), none]);
    }
    for (at, agent) in agents.iter().enumerate() {
        let name = if at == 0 { "agents" } else { "" };
        rows.push([name.to_owned(), format!("{} ({})", agent.name, agent.path.display())]);
    }
    output.pairs(rows)?;
    output
        .line("\nNext: `godel bead create TITLE` plans work, `godel doctor` checks everything.")?;
    Ok(Exit::Done)
}

/// Asks a person at a terminal; without one there is nobody to ask.
fn agreed(desk: &Desk, folder: &Path) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    desk.output.ask(&format!("make {} and keep it out of git status? [y/N] ", folder.display()));
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|cause| Error::file("the answer", "read", cause))?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
