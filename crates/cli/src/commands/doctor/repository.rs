//! Checks of the repository that the command was started in.

use godel_beads::{Error as Beads, Filter, Shelf};
use godel_console::agents;
use godel_console::output::plain;
use godel_settings::Environment;

use super::{Finding, failed};

/// Checks that the beads of the repository can be read.
pub(super) fn beads() -> Finding {
    let from = std::env::current_dir().unwrap_or_default();
    let mut shelf = match Shelf::open(&from) {
        Ok(shelf) => shelf,
        Err(Beads::NoRepository { .. }) => {
            return Finding::skip("beads", "not inside a git repository");
        }
        Err(error) => return failed("beads", &error.into()),
    };
    let looked = shelf.commit().and_then(|tip| match tip {
        // To look must not make a folder in a repository that has no beads.
        None => Ok(None),
        Some(_) => Ok(Some((shelf.count(&Filter::everything())?, shelf.damaged()?))),
    });
    match looked {
        Ok(None) => Finding::ok("beads", "none yet in this repository"),
        Ok(Some((count, damaged))) => match damaged.first() {
            None => Finding::ok("beads", format!("{count} in this repository, all readable")),
            Some((path, why)) => Finding::fail(
                "beads",
                plain(&format!("{} documents are damaged, such as {path}: {why}", damaged.len())),
                "`godel bead fsck --repair` takes the last good versions from the history",
            ),
        },
        Err(error) => failed("beads", &error.into()),
    }
}

/// Tells which agent programs there are; nothing needs them yet.
pub(super) fn agents(environment: &Environment) -> Finding {
    let found = agents::find(environment);
    if found.is_empty() {
        return Finding::skip("agents", format!("none on the PATH; known: {}", agents::known()));
    }
    let names: Vec<&str> = found.iter().map(|agent| agent.name).collect();
    Finding::ok("agents", format!("{} on the PATH", names.join(", ")))
}
