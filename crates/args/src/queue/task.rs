//! Commands about tasks.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use crate::units::{self, When};

/// The states of a task.
const STATES: [&str; 7] =
    ["ready", "delayed", "blocked", "running", "succeeded", "dead", "cancelled"];

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Put a task into the queue
    #[command(after_help = "Examples:
  godel task create 'build web' --pool ci --payload '{\"branch\":\"main\"}'
  godel task create 'run tests' --after 019a87f2 --require rust --max-attempts 5 --timeout 10m
  godel task create 'call the bank' --max-attempts 8 --retry-delay 10s --retry-max-delay 30m
  godel task create 'send report' --delay 2h --priority low --key report-2026-11-15
  godel task create 'resize' --payload @image.json --wait

The id alone is on stdout. With a key the command can be repeated: the task is made once. With --wait
the result is on stdout when it is there, and the exit code is 1 if the task failed.")]
    Create(Box<NewTask>),
    /// List tasks, the newest first
    #[command(after_help = "Examples:
  godel task list
  godel task list --state dead --pool ci
  godel task list --all --json")]
    List {
        /// Only those in this state
        #[arg(long, value_name = "STATE", value_parser = STATES)]
        state: Option<String>,
        /// Only those of this pool
        #[arg(long, value_name = "POOL")]
        pool: Option<String>,
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        /// List as many as there are, up to 10,000
        #[arg(long, conflicts_with = "limit")]
        all: bool,
    },
    /// Show a task: where it is, its attempts, and what to do next
    #[command(after_help = "Examples:
  godel task show 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d
  godel task show 5a1b2c3d

The beginning or the end of an id is enough, if it is that of one of the newest 1,000 tasks.")]
    Show {
        /// The task
        task: String,
    },
    /// Cancel a task, and all that waits for it
    #[command(after_help = "Examples:
  godel task cancel 019a87f2 --reason 'the branch is gone'

A worker that has it is asked to stop, and loses it after 30 seconds.")]
    Cancel {
        /// The task
        task: String,
        /// Why, in a line
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Try a task again: one that is dead or cancelled, or at once one that waits for its next attempt
    #[command(after_help = "Examples:
  godel task retry 019a87f2

What was cancelled because of it waits for it again.")]
    Retry {
        /// The task
        task: String,
    },
    /// Let one worker alone do a task that waits
    #[command(after_help = "Examples:
  godel task assign 019a87f2 builder-1")]
    Assign {
        /// The task
        task: String,
        /// The name or id of the worker
        worker: String,
    },
    /// Say, as the worker that has it, that a task is done
    #[command(after_help = "Examples:
  godel task complete 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d --worker ID --attempt 1 --result '{\"built\":3}'

For scripts that are workers by themselves; `godel worker run` does it for you.")]
    Complete {
        #[command(flatten)]
        held: Held,
        /// What came of it: a JSON object, @FILE, or - for stdin
        #[arg(long, value_name = "JSON")]
        result: Option<String>,
    },
    /// Say, as the worker that has it, that a task failed
    #[command(after_help = "Examples:
  godel task fail 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d --worker ID --attempt 1 --error 'no such branch'

It is tried again after a pause, unless that was the last attempt or --fatal is given.")]
    Fail {
        #[command(flatten)]
        held: Held,
        /// Why
        #[arg(long, value_name = "TEXT")]
        error: String,
        /// Another attempt makes no sense
        #[arg(long)]
        fatal: bool,
    },
    /// Say, as the worker that has it, how far a task is
    #[command(after_help = "Examples:
  godel task progress 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d '{\"percent\":40}' --worker ID --attempt 1

If the task is to be stopped, the answer says why, and the exit code is 1.")]
    Progress {
        #[command(flatten)]
        held: Held,
        /// How far it is: a JSON object, @FILE, or - for stdin
        #[arg(value_name = "JSON")]
        progress: String,
    },
    /// Give a task back, as the worker that has it; the attempt does not count
    #[command(after_help = "Examples:
  godel task release 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d --worker ID --attempt 1")]
    Release {
        #[command(flatten)]
        held: Held,
    },
    /// Make another task, as the worker that has one
    #[command(after_help = "Examples:
  godel task spawn 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d 'test the part' --worker ID --attempt 1

It is as urgent as the task that it comes from, unless it says otherwise. Who has lost that one makes
nothing.")]
    Spawn(Box<SpawnTask>),
    /// Put many tasks into the queue at once
    #[command(after_help = "Examples:
  godel task batch tasks.jsonl
  jq -c '.[]' tasks.json | godel task batch -

Each line is a task as JSON, such as {\"title\":\"build\",\"pool\":\"ci\",\"key\":\"build-7\"}; 1,000 of them are
made together. The ids are on stdout, in the order of the lines. The exit code is 1 if one was refused;
with keys the command can be repeated.")]
    Batch {
        /// The file, or - for stdin
        file: PathBuf,
    },
}

/// A task that is made under another one.
#[derive(Debug, Args)]
pub struct SpawnTask {
    #[command(flatten)]
    pub held: Held,
    /// What is to be done, in a line
    pub title: String,
    #[command(flatten)]
    pub options: TaskOptions,
    /// Make it once, even if this command is repeated with the same key
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}

/// An attempt that a worker has.
#[derive(Debug, Args)]
pub struct Held {
    /// The task
    pub task: String,
    /// The id of the worker that has it
    #[arg(long, value_name = "ID")]
    pub worker: String,
    /// The attempt
    #[arg(long, value_name = "N")]
    pub attempt: u32,
}

/// What a new task is to be.
#[derive(Debug, Args)]
pub struct NewTask {
    /// What is to be done, in a line
    pub title: String,
    #[command(flatten)]
    pub options: TaskOptions,
    /// Not before this time: a time, a date, or a span from now
    #[arg(long, value_name = "TIME", value_parser = units::when)]
    pub start_at: Option<When>,
    /// Not before this much time has passed, such as 90s or 2h
    #[arg(long, value_name = "SPAN", value_parser = units::span, conflicts_with = "start_at")]
    pub delay: Option<SignedDuration>,
    /// Of no use after this time: a time, a date, or a span from now
    #[arg(long, value_name = "TIME", value_parser = units::when)]
    pub deadline: Option<When>,
    /// Wait until these have succeeded
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    pub after: Vec<String>,
    /// Make it once, even if this command is repeated with the same key
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Wait until it is over, and print the result
    #[arg(long)]
    pub wait: bool,
}

/// What tasks and those of schedules have in common.
#[derive(Debug, Clone, Default, Args)]
pub struct TaskOptions {
    /// What the worker gets: a JSON object, @FILE, or - for stdin
    #[arg(long, value_name = "JSON")]
    pub payload: Option<String>,
    /// Where it waits [default: default]
    #[arg(long, value_name = "POOL")]
    pub pool: Option<String>,
    /// How urgent it is [default: medium]
    #[arg(long, value_name = "TIER", value_parser = ["critical", "high", "medium", "low"])]
    pub priority: Option<String>,
    /// What its worker must be able to do; may be given several times
    #[arg(long, value_name = "CAP", value_delimiter = ',')]
    pub require: Vec<String>,
    /// How often it is tried in all [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub max_attempts: Option<u32>,
    /// How long to wait after the first failure, and twice as long after each further one [default: 1s]
    #[arg(long, value_name = "SPAN", value_parser = units::whole_seconds)]
    pub retry_delay: Option<u64>,
    /// How long to wait at most before the next attempt [default: 30s]
    #[arg(long, value_name = "SPAN", value_parser = units::whole_seconds)]
    pub retry_max_delay: Option<u64>,
    /// Let another worker try it after a failure, where one is able
    #[arg(long)]
    pub elsewhere: bool,
    /// How long one attempt may take, such as 90s or 10m
    #[arg(long, value_name = "SPAN", value_parser = units::seconds)]
    pub timeout: Option<u64>,
    /// Tasks of one session prefer one worker, in pools with affinity
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
}
