//! The chores of this workspace; `cargo xtask help` lists them.
//!
//! # Invariants
//! - What a chore starts, it ends: also when it fails, is interrupted or is killed.
//! - Nothing outside the workspace, the cache folder and the temporary folder is changed, except
//!   that root on Debian or Ubuntu gets missing packages installed by `test`.
//! - `xtask` itself builds in seconds: it knows the product only through its `godel` binary.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore runner talks to the terminal"
)]

mod chores;
mod counts;
mod demo;
mod engines;
mod failure;
mod godel;
mod nursery;
mod options;
mod provision;
mod report;
mod shop;
mod stage;
mod steps;
mod test;
mod tools;
mod torture;

use std::process::ExitCode;

use crate::failure::{Failure, Result};
use crate::options::Options;

const HELP: &str = "\
The chores of this workspace

Usage: cargo xtask <chore> [options]

Chores:
  test      Check everything: format, lints, tests on every database, dashboard, API fuzz, clients, browser
  demo      Show the main job: from a sentence to changes in the branch (`--crash`, `--live`, `--keep`);
            `demo --tour` shows the rest: a login, people, beads, models, agents, TLS
  bench     Measure; `cargo xtask bench server`, `backup`, `auth`, `beads`, `proxy`, `queue`, `agents`, `landing` or `web` (further arguments go to the benchmark)
  torture   Crash the server and its databases again and again; `torture beads`: race and kill writers;
            `torture queue`: simulate the task queue, and kill its servers under load;
            `torture agents`: kill the server and the agents of a convoy in the middle of their work
  codegen   Write the generated files: OpenAPI, API types, reference pages
  dev       Run the server and the dashboard together; the pages follow your edits
  help      Show this

Options:
  --only <step>   test: one step and what it needs (`--only list` names them)
  --clients all   test: run the agent programs too, not only the SDKs (2 GB to install)
  --rounds <n>    torture: how many crashes, races for a bead, or hundreds of simulated queues [default: 200]
  --verbose       Show the output of every command while it runs

Examples:
  cargo xtask test
  cargo xtask test --only fuzz
  cargo xtask torture --rounds 1000
  cargo xtask torture beads --rounds 1000
  cargo xtask torture queue --rounds 50
  cargo xtask torture agents --rounds 50

Environment:
  CI=true                       test: skip nothing, a part that is missing is a failure
  GODEL_TEST_CHROMIUM           test: the browser to use [default: what is installed]
  GODEL_DEV_IGNORE_INSTALLED=1  Use only what is in the cache, as if nothing were installed
  XDG_CACHE_HOME                Where the cache folder godel-dev is [default: ~/.cache]";

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(code) => code,
        Err(failure) => {
            for line in failure.lines() {
                eprintln!("{line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    let done = |()| ExitCode::SUCCESS;
    match options.chore.as_str() {
        "test" => test::run(options),
        "demo" => demo::run(options).map(done),
        "bench" => chores::bench(options).map(done),
        "torture" => torture::run(options).map(done),
        "codegen" => chores::codegen(options).map(done),
        "dev" => chores::dev(options).map(done),
        "" | "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(Failure::new(format!("there is no chore called {other}"))
            .hint("`cargo xtask help` lists them")),
    }
}
