//! Commands about workers.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::units;

/// What to do with workers.
#[derive(Debug, Subcommand)]
pub enum Worker {
    /// Run a command for each task
    #[command(after_help = "Examples:
  godel worker run -- ./handle.sh
  godel worker run --pool ci --capability rust,docker --jobs 4 -- python3 build.py --fast
  godel worker run --once --json -- ./handle.sh

The command is run without a shell. It gets the payload as JSON on stdin, and GODEL_TASK_ID,
GODEL_TASK_ATTEMPT, GODEL_TASK_TITLE, GODEL_TASK_POOL, GODEL_TASK_PRIORITY and GODEL_WORKER_ID in its
environment; all other GODEL_ variables are taken out. The last line of stdout that is a JSON object is
the result. A line `::progress {\"percent\":40}` tells how far it is. Exit code 0 is success, 65 a failure
that is not tried again, anything else one that is, told with the end of stderr.

A command that is to stop gets SIGTERM, and SIGKILL after 10 seconds, with all of its process group.
Ctrl-C and SIGTERM let the worker finish what runs; a second one ends it at once.")]
    Run(RunWorker),
    /// Register a worker that is a script of its own; its id is on stdout
    #[command(after_help = "Examples:
  godel worker register --pool ci --capability rust
  worker=$(godel worker register --pool ci)
  godel worker claim \"$worker\" --wait 30s --json

It is gone, and what it has is given to others, if nothing is heard of it for 30 seconds: every command
that names it counts, and `godel worker heartbeat` does nothing else. `godel worker run` does it for you.")]
    Register(RegisterWorker),
    /// Wait for tasks as a registered worker; each is a line of JSON on stdout
    #[command(after_help = "Examples:
  godel worker claim \"$worker\" --wait 30s
  godel worker claim \"$worker\" --free 4

Say what came of each with `godel task complete`, `fail` or `release`, with the worker and the attempt.
The exit code is 0 even if nothing came.")]
    Claim {
        /// The id
        worker: String,
        /// How many it can take now [default: as many as it has room for]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
        free: Option<u32>,
        /// How long to wait until something comes, 60 seconds at most
        #[arg(long, value_name = "SPAN", default_value = "0", value_parser = units::whole_seconds)]
        wait: u64,
    },
    /// Say that a registered worker lives, and see what it has
    #[command(after_help = "Examples:
  godel worker heartbeat \"$worker\"

A task that is to be stopped is told with the reason.")]
    Heartbeat {
        /// The id
        worker: String,
    },
    /// List workers, the newest first
    #[command(after_help = "Examples:
  godel worker list
  godel worker list --all --json")]
    List {
        /// Also those that are gone
        #[arg(long)]
        all: bool,
    },
    /// Show a worker and what it has
    #[command(after_help = "Examples:
  godel worker show builder-1")]
    Show {
        /// The name or id
        worker: String,
    },
    /// Give a worker no tasks for now; what it has goes on
    #[command(after_help = "Examples:
  godel worker pause builder-1")]
    Pause {
        /// The name or id
        worker: String,
    },
    /// Give a worker tasks again
    #[command(after_help = "Examples:
  godel worker resume builder-1")]
    Resume {
        /// The name or id
        worker: String,
    },
    /// Take a worker off the list; what it has is given to others
    #[command(after_help = "Examples:
  godel worker remove builder-1

One that still runs stops what it has, and comes back under a new id: end it with SIGTERM instead.")]
    Remove {
        /// The name or id
        worker: String,
    },
}

/// Who is to be registered.
#[derive(Debug, Args)]
pub struct RegisterWorker {
    /// Take tasks of this pool
    #[arg(long, value_name = "POOL", default_value = "default")]
    pub pool: String,
    /// What to call it [default: HOST-PID]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// What it can do; may be given several times
    #[arg(long, value_name = "CAP", value_delimiter = ',')]
    pub capability: Vec<String>,
    /// How many tasks it can have at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub capacity: u32,
}

/// How to work.
#[derive(Debug, Args)]
pub struct RunWorker {
    /// Take tasks of this pool
    #[arg(long, value_name = "POOL", default_value = "default")]
    pub pool: String,
    /// What to call it [default: HOST-PID]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// What it can do; may be given several times
    #[arg(long, value_name = "CAP", value_delimiter = ',')]
    pub capability: Vec<String>,
    /// Run this many at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub jobs: u32,
    /// Wait for one task, do it, and end
    #[arg(long)]
    pub once: bool,
    /// When asked to end, wait this many seconds for what runs, then give it back
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = units::whole_seconds)]
    pub drain: u64,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
