//! The helper of sandboxes and the tools of agents as a program of its own, for the tests of this crate;
//! the product's one binary does the same in hidden subcommands.

use std::io::Write as _;
use std::process::ExitCode;

use godel_agents::mcp::{Godel, serve};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["mcp"] {
        return tools();
    }
    match godel_runtime::enter(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            complain(&stop);
            ExitCode::from(stop.code)
        }
    }
}

/// Serves the tools of an agent over input and output.
fn tools() -> ExitCode {
    godel_tls::install();
    let served = || -> Result<(), Box<dyn std::error::Error>> {
        let godel = Godel::from_env(reqwest::Client::builder().build()?)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(serve(tokio::io::stdin(), tokio::io::stdout(), godel));
        // Input is read by a thread that cannot be stopped.
        runtime.shutdown_background();
        Ok(served?)
    };
    match served() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn complain(what: &dyn std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "godel: {what}");
}
