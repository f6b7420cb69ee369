//! The helper of sandboxes as a program of its own, for the tests of this crate; the product's one
//! binary does the same in a hidden subcommand.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match godel_runtime::enter(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            let _ = writeln!(std::io::stderr(), "godel: {stop}");
            ExitCode::from(stop.code)
        }
    }
}
