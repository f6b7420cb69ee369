//! `godel reference`: the reference of all commands and settings, for the documentation.

use std::path::Path;

use godel_console::{Context, Error, Exit, Result};

use crate::reference;

/// Prints the reference of all commands, or writes both references into a directory.
pub(crate) fn run(context: &Context, write: Option<&Path>) -> Result<Exit> {
    let Some(directory) = write else {
        context.output.text(reference::commands())?;
        return Ok(Exit::Done);
    };
    let fail = |cause| Error::file(&directory.display(), "written", cause);
    std::fs::create_dir_all(directory).map_err(fail)?;
    for (name, text) in [("cli.md", reference::commands()), ("config.md", reference::settings())] {
        std::fs::write(directory.join(name), text).map_err(fail)?;
        context.output.note(format_args!("wrote {}", directory.join(name).display()));
    }
    Ok(Exit::Done)
}
