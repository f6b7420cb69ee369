//! Commands about the queue: tasks, pools, dead letters, schedules and workers.

mod task;
mod worker;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub use self::task::{Held, NewTask, SpawnTask, Task, TaskOptions};
pub use self::worker::{RegisterWorker, RunWorker, Worker};
use crate::units;

/// What to do with the queue.
#[derive(Debug, Subcommand)]
pub enum Queueing {
    /// Make, follow and change tasks
    #[command(
        subcommand,
        after_help = "Examples:
  godel task create 'build web' --pool ci --payload '{\"branch\":\"main\"}'
  godel task list --state dead
  godel task show 019a87f2

A task is on disk when `create` answers. Workers take it: `godel worker run -- COMMAND`."
    )]
    Task(Task),
    /// See how much waits, and how each pool works
    #[command(
        subcommand,
        after_help = "Examples:
  godel queue depth
  godel queue pause ci"
    )]
    Queue(Queue),
    /// List, replay and export dead letters: tasks that were tried as often as allowed
    #[command(
        subcommand,
        after_help = "Examples:
  godel dead list --error timeout
  godel dead replay --pool ci"
    )]
    Dead(Dead),
    /// Make tasks again and again, by the clock
    #[command(
        subcommand,
        after_help = "Examples:
  godel schedule create nightly --cron '0 3 * * *' 'build everything' --pool ci
  godel schedule list"
    )]
    Schedule(Schedule),
    /// Turn a program into a worker, and see who works
    #[command(
        subcommand,
        after_help = "Examples:
  godel worker run --pool ci -- ./build.sh
  godel worker list"
    )]
    Worker(Worker),
}

/// What to do with pools.
#[derive(Debug, Subcommand)]
pub enum Queue {
    /// Show how many tasks wait, run and are dead, by pool and priority
    #[command(after_help = "Examples:
  godel queue depth
  godel queue depth --json

It is counted from what is there. OLDEST is how long the first one that is ready has waited.")]
    Depth,
    /// List the pools, and how they work
    #[command(after_help = "Examples:
  godel queue list
  godel queue list --json")]
    List,
    /// Hand nothing of a pool out for now; what runs goes on
    #[command(after_help = "Examples:
  godel queue pause ci")]
    Pause {
        /// The pool
        pool: String,
    },
    /// Hand tasks of a pool out again
    #[command(after_help = "Examples:
  godel queue resume ci")]
    Resume {
        /// The pool
        pool: String,
    },
    /// Set how a pool works
    #[command(after_help = "Examples:
  godel queue set ci --ageing 600
  godel queue set ci --no-ageing --placement round-robin
  godel queue set ci --alert 50

With ageing a task that has waited that long rises by one priority, and again after the same time.
Placement says which of several workers gets a task: the one with the most room (least-loaded), the one
that has waited longest (round-robin), or the one that had the last task of its session (affinity).
When the pool has as many dead letters as --alert says (10 unless set), there is one event
`pool:alert`, and no other before less than half of them were left (`pool:calm`).")]
    Set {
        /// The pool
        pool: String,
        /// Let a task rise by one priority after this many seconds
        #[arg(long, value_name = "SECONDS", value_parser = units::seconds, conflicts_with = "no_ageing")]
        ageing: Option<u64>,
        /// Let no task rise
        #[arg(long)]
        no_ageing: bool,
        /// Who gets a task
        #[arg(long, value_name = "HOW", value_parser = ["least-loaded", "round-robin", "affinity"])]
        placement: Option<String>,
        /// Tell people from this many dead letters on
        #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "no_alert")]
        alert: Option<u32>,
        /// Tell nobody of dead letters
        #[arg(long)]
        no_alert: bool,
    },
}

/// Which dead letters are meant.
#[derive(Debug, Clone, Default, Args)]
pub struct DeadFilter {
    /// Only those of this pool
    #[arg(long, value_name = "POOL")]
    pub pool: Option<String>,
    /// Only those whose last error has this in it
    #[arg(long, value_name = "TEXT")]
    pub error: Option<String>,
    /// Only those with this in the title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

/// As what dead letters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A JSON object on each line
    Jsonl,
    /// Comma-separated values
    Csv,
}

/// What to do with dead letters.
#[derive(Debug, Subcommand)]
pub enum Dead {
    /// List dead letters, the newest first
    #[command(after_help = "Examples:
  godel dead list
  godel dead list --pool ci --error 'exit code 137'")]
    List {
        #[command(flatten)]
        filter: DeadFilter,
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Put dead letters back into the queue, each with as many attempts as at first
    #[command(after_help = "Examples:
  godel dead replay 019a87f2
  godel dead replay --pool ci --error timeout
  godel dead replay --all --yes

It asks before it replays more than one. Without a terminal it needs --yes for that.")]
    Replay {
        /// The tasks
        #[arg(value_name = "TASK")]
        tasks: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with_all = ["tasks", "pool", "error", "title"])]
        all: bool,
        #[command(flatten)]
        filter: DeadFilter,
        /// Replay without asking
        #[arg(long)]
        yes: bool,
    },
    /// Remove dead letters for good, with their attempts
    #[command(after_help = "Examples:
  godel dead delete 019a87f2
  godel dead delete --pool ci --error timeout
  godel dead delete --all --yes

It asks before it removes more than one. Without a terminal it needs --yes for that. Those of runs that are
not over stay. By itself Godel removes them 30 days after they died, and never before 7 days.")]
    Delete {
        /// The tasks
        #[arg(value_name = "TASK")]
        tasks: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with_all = ["tasks", "pool", "error", "title"])]
        all: bool,
        #[command(flatten)]
        filter: DeadFilter,
        /// Remove without asking
        #[arg(long)]
        yes: bool,
    },
    /// Write dead letters to a file, with payload and error
    #[command(after_help = "Examples:
  godel dead export > dead.jsonl
  godel dead export --pool ci --format csv -o dead.csv")]
    Export {
        #[command(flatten)]
        filter: DeadFilter,
        /// As what
        #[arg(long, value_name = "FORMAT", value_enum, default_value = "jsonl")]
        format: ExportFormat,
        /// Into this file instead of stdout
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// What to do with schedules.
#[derive(Debug, Subcommand)]
pub enum Schedule {
    /// Make a schedule
    #[command(after_help = "Examples:
  godel schedule create nightly --cron '0 3 * * *' 'build everything' --pool ci
  godel schedule create standup --cron '0 9 * * mon-fri' --timezone Europe/Berlin 'write the report'
  godel schedule create tidy --cron @daily 'remove old branches' --priority low

Cron has five fields: minute, hour, day, month and weekday; or write @hourly, @daily, @weekly, @monthly.
Times that passed while no server ran are made up for by one task.")]
    Create(Box<NewSchedule>),
    /// List schedules
    #[command(after_help = "Examples:
  godel schedule list
  godel schedule list --json")]
    List,
    /// Show a schedule
    #[command(after_help = "Examples:
  godel schedule show nightly")]
    Show {
        /// The name or id
        schedule: String,
    },
    /// Let a schedule make nothing for now
    #[command(after_help = "Examples:
  godel schedule pause nightly

What would have come while it is paused does not come later.")]
    Pause {
        /// The name or id
        schedule: String,
    },
    /// Let a schedule go on from now
    #[command(after_help = "Examples:
  godel schedule resume nightly")]
    Resume {
        /// The name or id
        schedule: String,
    },
    /// Delete a schedule; the tasks that it made stay
    #[command(after_help = "Examples:
  godel schedule delete nightly")]
    Delete {
        /// The name or id
        schedule: String,
    },
}

/// What a new schedule is to be.
#[derive(Debug, Args)]
pub struct NewSchedule {
    /// The name
    pub name: String,
    /// What is to be done each time, in a line
    pub title: String,
    /// When: '0 9 * * mon-fri', or @daily and the like
    #[arg(long, value_name = "CRON")]
    pub cron: String,
    /// In which time zone, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub timezone: Option<String>,
    #[command(flatten)]
    pub options: TaskOptions,
}
