//! Commands about workflows and teams.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with work that belongs together.
#[derive(Debug, Subcommand)]
pub enum Joined {
    /// Check, store and run workflows: steps that depend on each other
    #[command(
        subcommand,
        after_help = "Examples:
  godel workflow validate release.yaml
  godel workflow run release.yaml --input branch=main
  godel workflow status 5a1b2c3d

Each step is a task of the queue, so any worker can do it, and no crash loses what is done."
    )]
    Workflow(Workflow),
    /// Let several workers do one job, by a strategy
    #[command(
        subcommand,
        after_help = "Examples:
  godel team create review.json --start
  godel team show review"
    )]
    Team(Team),
}

/// What to do with workflows.
#[derive(Debug, Subcommand)]
pub enum Workflow {
    /// Check a workflow; each mistake is told with its line and column
    #[command(after_help = "Examples:
  godel workflow validate release.yaml
  godel workflow validate - --json < release.yaml

It needs no server. Exit code 2 if something is wrong.")]
    Validate {
        /// The file, YAML or JSON, or - for stdin
        file: PathBuf,
    },
    /// Run a workflow: a file, or one that is stored
    #[command(after_help = "Examples:
  godel workflow run release.yaml --input branch=main
  godel workflow run release --input count:=3 --wait
  cat release.yaml | godel workflow run - --key release-417

The id of the run alone is on stdout. An input NAME=TEXT is text, NAME:=JSON is JSON. With --wait the
outputs are on stdout when they are there, and the exit code is 1 if the run did not complete.")]
    Run(RunWorkflow),
    /// Show how a run stands: its steps, what is ahead, and what to do next
    #[command(after_help = "Examples:
  godel workflow status 5a1b2c3d
  godel workflow status 5a1b2c3d --json

The beginning or the end of an id is enough, if it is that of one of the newest 1,000 runs.")]
    Status {
        /// The run
        run: String,
    },
    /// Show all that a step of a run has done: each time it was begun, with its attempts or the run it started
    #[command(after_help = "Examples:
  godel workflow step 5a1b2c3d build
  godel workflow step 5a1b2c3d build --json

With --json also what its tasks got and gave back.")]
    Step {
        /// The run
        run: String,
        /// The step
        step: String,
    },
    /// List runs, the newest first
    #[command(after_help = "Examples:
  godel workflow runs
  godel workflow runs --workflow release --limit 100")]
    Runs {
        /// Only those of this stored workflow
        #[arg(long, value_name = "NAME")]
        workflow: Option<String>,
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Let nothing new of a run begin; what has begun goes on
    #[command(after_help = "Examples:
  godel workflow pause 5a1b2c3d")]
    Pause {
        /// The run
        run: String,
    },
    /// Let a run go on
    #[command(after_help = "Examples:
  godel workflow resume 5a1b2c3d")]
    Resume {
        /// The run
        run: String,
    },
    /// End a run: its tasks are taken off the queue, and workers are asked to stop
    #[command(after_help = "Examples:
  godel workflow cancel 5a1b2c3d
  godel workflow cancel --all release")]
    Cancel {
        /// The run; with --all the name or id of a stored workflow
        #[arg(value_name = "RUN")]
        what: String,
        /// End all runs of a stored workflow
        #[arg(long)]
        all: bool,
    },
    /// Do again what failed or was cancelled, or a step that is named and all after it
    #[command(after_help = "Examples:
  godel workflow retry 5a1b2c3d
  godel workflow retry 5a1b2c3d --step test

A step that is named may have succeeded, too; what it depends on stays as it is.")]
    Retry {
        /// The run
        run: String,
        /// Begin with this step; may be given several times
        #[arg(long, value_name = "STEP", value_delimiter = ',')]
        step: Vec<String>,
    },
    /// Let a step that asks go on
    #[command(after_help = "Examples:
  godel workflow approve 5a1b2c3d agree --note 'looks good'")]
    Approve(Answered),
    /// Let a step that asks fail
    #[command(after_help = "Examples:
  godel workflow reject 5a1b2c3d agree --note 'not today'")]
    Reject(Answered),
    /// Draw a workflow or a run as text
    #[command(after_help = "Examples:
  godel workflow export release.yaml
  godel workflow export 5a1b2c3d --format dot | dot -Tsvg > run.svg

A file needs no server. A run is drawn with the states of its steps.")]
    Export {
        /// The file, the stored workflow or the run
        what: String,
        /// As what
        #[arg(long, value_name = "FORMAT", value_parser = ["mermaid", "dot"], default_value = "mermaid")]
        format: String,
    },
    /// Store a workflow under its name, or replace it
    #[command(after_help = "Examples:
  godel workflow save release.yaml

Runs that have begun go on with the text that they began with.")]
    Save {
        /// The file, YAML or JSON, or - for stdin
        file: PathBuf,
    },
    /// List the workflows that are stored
    #[command(after_help = "Examples:
  godel workflow list")]
    List,
    /// Print the text of a stored workflow
    #[command(after_help = "Examples:
  godel workflow show release > release.yaml")]
    Show {
        /// The name or id
        workflow: String,
    },
    /// Delete a stored workflow; its runs stay
    #[command(after_help = "Examples:
  godel workflow delete release")]
    Delete {
        /// The name or id
        workflow: String,
    },
}

/// What is to be run.
#[derive(Debug, Args)]
pub struct RunWorkflow {
    /// The file (- for stdin), or the name of a stored workflow
    pub what: String,
    /// What it is given: NAME=TEXT or NAME:=JSON; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub input: Vec<String>,
    /// Start it once, even if this command is repeated with the same key
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Wait until it is over, and print its outputs
    #[arg(long)]
    pub wait: bool,
}

/// The answer to a step that asks.
#[derive(Debug, Args)]
pub struct Answered {
    /// The run
    pub run: String,
    /// The step
    pub step: String,
    /// What is said about it
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

/// What to do with teams.
#[derive(Debug, Subcommand)]
pub enum Team {
    /// Make a team from a file that says what it is asked to do
    #[command(after_help = "Examples:
  godel team create review.json --start
  echo '{\"name\":\"r\",\"strategy\":\"parallel\",\"goal\":\"look\",\"roles\":[{\"name\":\"a\"}]}' | godel team create -")]
    Create {
        /// The file, JSON, or - for stdin
        file: PathBuf,
        /// Let it begin at once
        #[arg(long)]
        start: bool,
    },
    /// List teams, the newest first
    #[command(after_help = "Examples:
  godel team list")]
    List,
    /// Show how a team stands
    #[command(after_help = "Examples:
  godel team show review")]
    Show {
        /// The name or id
        team: String,
    },
    /// Change what a team is asked to do; once it has begun, only its budget and its deadline
    #[command(after_help = "Examples:
  echo '{\"budgetMicros\":5000000}' | godel team update review -")]
    Update {
        /// The name or id
        team: String,
        /// The file with the fields that change, JSON, or - for stdin
        file: PathBuf,
    },
    /// Show numbers about a team, or about all
    #[command(after_help = "Examples:
  godel team metrics
  godel team metrics review --json")]
    Metrics {
        /// The name or id
        team: Option<String>,
    },
    /// Let a team begin
    #[command(after_help = "Examples:
  godel team start review")]
    Start {
        /// The name or id
        team: String,
    },
    /// Let nothing new of a team begin
    #[command(after_help = "Examples:
  godel team pause review")]
    Pause {
        /// The name or id
        team: String,
    },
    /// Let a team go on
    #[command(after_help = "Examples:
  godel team resume review")]
    Resume {
        /// The name or id
        team: String,
    },
    /// Change how many of a team work at once
    #[command(after_help = "Examples:
  godel team scale review 5")]
    Scale {
        /// The name or id
        team: String,
        /// How many
        size: u32,
    },
    /// Say that the job of a team is done; what still runs is called off
    #[command(after_help = "Examples:
  godel team complete review")]
    Complete {
        /// The name or id
        team: String,
    },
    /// Call a team off
    #[command(after_help = "Examples:
  godel team cancel review")]
    Cancel {
        /// The name or id
        team: String,
    },
    /// Delete a team that does not work
    #[command(after_help = "Examples:
  godel team delete review")]
    Delete {
        /// The name or id
        team: String,
    },
}
