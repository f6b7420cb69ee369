//! The `godel` program: runs the server and talks to it.
//!
//! # Invariants
//! - What a person or program asked for goes to stdout; everything else goes to stderr.
//! - A failure leaves stdout without a half answer and ends with the exit code of its kind.
//! - No secret is ever printed, but for one that was just made for the caller: a login link, or an
//!   API key.

mod commands;
mod pages;
mod reference;
mod sandbox;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;
use godel_args::preview::Preview;
use godel_args::{Cli, Command};
use godel_console::output::Output;
use godel_console::{Context, Error, Exit, Result};
use godel_desk::Desk;
use godel_settings::Environment;

/// About a sixth of a request's time went into malloc and free; this allocator is cheaper.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|word| word == godel_server::SANDBOX_HELPER) {
        return sandbox::enter(&arguments[2..]);
    }
    let given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let output = Output::new(given("--json"), given("--no-color"));
    let exit = match Cli::try_parse_from(&arguments) {
        Ok(cli) => {
            // A title may read `--json`; only the parsed arguments know.
            let output = Output::new(cli.global.json, cli.global.no_color);
            run(cli, output).unwrap_or_else(|error| output.failure(&error))
        }
        Err(usage) => output.usage(&usage),
    };
    exit.into()
}

fn run(cli: Cli, output: Output) -> Result<Exit> {
    let environment = Environment::of_process();
    for directory in &cli.global.directory {
        std::env::set_current_dir(directory)
            .map_err(|cause| Error::file(&directory.display(), "entered", cause))?;
    }
    let command = match cli.command {
        // Settings, threads and TLS would take longer to start than the work itself.
        Some(Command::Local(asked)) if !asked.needs_server() => {
            return godel_desk::run(Desk::new(environment, output)?, asked);
        }
        Some(Command::Own(asked)) => {
            // An agent has neither settings nor a data directory.
            return bare_runtime()?.block_on(Box::pin(commands::own::run(output, asked)));
        }
        Some(Command::Preview(Preview::Files { folder, port })) => {
            // In the sandbox of an agent there are neither.
            return bare_runtime()?.block_on(commands::preview::files(&folder, port));
        }
        command => command,
    };
    let context = Context::new(&cli.global, environment, output)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|cause| Error::file("the async runtime", "started", cause))?;
    let exit = runtime.block_on(Box::pin(commands::run(&context, command)));
    // Work that hangs (a database that does not answer) must not keep the program alive.
    runtime.shutdown_background();
    exit
}

/// What is enough for a command that does one thing.
fn bare_runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|cause| Error::file("the async runtime", "started", cause))
}
