//! The helper of sandboxes: this program started again, while it has one thread.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// Does one step of setting up a sandbox, or becomes the program that runs in it.
pub(crate) fn enter(arguments: &[OsString]) -> ExitCode {
    let words: Option<Vec<String>> =
        arguments.iter().map(|word| word.to_str().map(ToOwned::to_owned)).collect();
    match godel_runtime::enter(&words.unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            let _ = writeln!(std::io::stderr(), "godel: {stop}");
            ExitCode::from(stop.code)
        }
    }
}
