//! The stopwatch: measures Godel against the bars it must meet.
//!
//! Each benchmark runs the release `godel` as a process of its own, loads it, and compares what it
//! costs with a baseline of the same run or with a number that was promised. What each number means
//! is told in `docs/benchmarks.md`.
//!
//! # Invariants
//! - The server under test is the program that users get, with its limits and its durability on.
//! - A ratio is taken between things that ran in turns, in the same run, on the same disk.
//! - A missed bar is an exit code of 1; a number without a bar never is.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool: results go to stdout, progress goes to stderr"
)]

mod bare;
mod error;
mod events;
mod http;
mod parts;
mod pass;
mod process;
mod provider;
mod server;
mod socket;
mod stats;
mod table;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Result;
use crate::parts::{Bench, HELPER, Part, agents, landing, proxy, queue};
use crate::table::Table;

/// Measure Godel
#[derive(Debug, Parser)]
#[command(name = "godel-bench")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the server against its bars
    #[command(after_help = "Examples:
  cargo xtask bench server
  cargo xtask bench server rest fanout
  cargo xtask bench server --json

Exit codes: 0 all bars are met, 1 a bar is missed, 2 it could not be measured")]
    Server {
        /// Measure only these parts
        parts: Vec<Part>,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure backup and restore
    #[command(after_help = "Examples:
  cargo xtask bench backup
  cargo xtask bench backup --json")]
    Backup {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what it costs to know the caller and to keep the record
    #[command(after_help = "Examples:
  cargo xtask bench auth
  cargo xtask bench auth --json")]
    Auth {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what work that lives in git costs
    #[command(after_help = "Examples:
  cargo xtask bench beads
  cargo xtask bench beads --json")]
    Beads {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what a task of the queue costs
    #[command(after_help = "Examples:
  cargo xtask bench queue
  cargo xtask bench queue sqlite steps
  cargo xtask bench queue --json

Exit codes: 0 all bars are met, 1 a bar is missed, 2 it could not be measured")]
    Queue {
        /// Measure only these parts
        parts: Vec<queue::Part>,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what the way of a request to a model costs
    #[command(after_help = "Examples:
  cargo xtask bench proxy
  cargo xtask bench proxy cost latency
  cargo xtask bench proxy growth ledger --long

Exit codes: 0 all bars are met, 1 a bar is missed, 2 it could not be measured")]
    Proxy {
        /// Measure only these parts
        parts: Vec<proxy::Part>,
        /// Take 1,000,000 requests for `growth` and 10,000,000 rows for `ledger`
        #[arg(long)]
        long: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what it costs to give an agent its place of work
    #[command(after_help = "Examples:
  cargo xtask bench agents
  cargo xtask bench agents spawn --json

Exit codes: 0 all bars are met, 1 a bar is missed, 2 it could not be measured")]
    Agents {
        /// Measure only these parts
        parts: Vec<agents::Part>,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what it costs to land finished work
    #[command(after_help = "Examples:
  cargo xtask bench landing
  cargo xtask bench landing --json

Exit codes: 0 all bars are met, 1 a bar is missed, 2 it could not be measured")]
    Landing {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Make beads from many callers, and tell the rate: a part of `beads`
    #[command(hide = true)]
    BeadWriters {
        /// The repository
        repository: PathBuf,
    },
    /// Serve a file from memory: what `rest` compares with
    #[command(hide = true)]
    BareRoute {
        /// The file
        file: PathBuf,
    },
    /// Pass requests on: what `proxy` compares with
    #[command(hide = true)]
    BareProxy {
        /// The server that answers them
        upstream: SocketAddr,
    },
}

/// The same allocator as the program under test, so that both sides of a ratio have it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Behind walls this program is its own helper; that needs a process with one thread.
    if let Some((HELPER, rest)) = arguments.split_first().map(|(word, rest)| (word.as_str(), rest))
    {
        return match godel_runtime::enter(rest) {
            Ok(()) => ExitCode::SUCCESS,
            Err(stop) => {
                eprintln!("error: {stop}");
                ExitCode::from(stop.code)
            }
        };
    }
    run()
}

fn run() -> ExitCode {
    let command = Cli::parse().command;
    // The bare proxy has one thread, as each worker of nginx has: more of them would take work from
    // one another, which costs more than it brings, and a dearer baseline would flatter the rest.
    let mut runtime = match command {
        Command::BareProxy { .. } => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    match runtime.enable_all().build() {
        Ok(runtime) => runtime.block_on(run_here(command)),
        Err(error) => {
            eprintln!("error: there is no runtime: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run_here(command: Command) -> ExitCode {
    let done = match command {
        Command::Server { parts, json } => Box::pin(measure(parts, json)).await,
        Command::Backup { json } => Box::pin(measure(vec![Part::Backup], json)).await,
        Command::Auth { json } => Box::pin(measure(vec![Part::Auth], json)).await,
        Command::Beads { json } => Box::pin(measure(vec![Part::Beads], json)).await,
        Command::Queue { parts, json } => {
            Box::pin(queue::measure(parts)).await.map(|table| tell(&table, json))
        }
        Command::Agents { parts, json } => {
            Box::pin(agents::measure(parts)).await.map(|table| tell(&table, json))
        }
        Command::Landing { json } => {
            Box::pin(landing::measure()).await.map(|table| tell(&table, json))
        }
        Command::Proxy { parts, long, json } => {
            Box::pin(proxy::measure(parts, long)).await.map(|table| tell(&table, json))
        }
        Command::BeadWriters { repository } => {
            parts::beads::writers::rate(&repository).map(|rate| {
                println!("{rate}");
                ExitCode::SUCCESS
            })
        }
        Command::BareRoute { file } => bare::serve(&file).await.map(|()| ExitCode::SUCCESS),
        Command::BareProxy { upstream } => pass::serve(upstream).await.map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        if let Some(hint) = error.hint() {
            eprintln!("  hint: {hint}");
        }
        ExitCode::from(2)
    })
}

async fn measure(parts: Vec<Part>, json: bool) -> Result<ExitCode> {
    let parts = if parts.is_empty() { Part::all().to_vec() } else { parts };
    let bench = Bench::prepare()?;
    let mut table = Table::default();
    for part in parts {
        eprintln!("{part}:");
        let rows = Box::pin(part.measure(&bench)).await?;
        for row in &rows {
            eprintln!("  {row}");
        }
        table.add(part.to_string(), rows);
    }
    Ok(tell(&table, json))
}

fn tell(table: &Table, json: bool) -> ExitCode {
    println!("{}", if json { table.json() } else { table.text() });
    if table.is_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
