//! Commands about snapshots of agents.

use std::path::PathBuf;

use clap::Subcommand;

/// What to do with snapshots of agents.
#[derive(Debug, Subcommand)]
pub enum Kept {
    /// Keep the files and the conversation of an agent as they are now
    #[command(after_help = "Examples:
  godel agent snapshot worker-1

The id of the snapshot alone is on stdout; `godel agent restore` goes on from it.")]
    Snapshot {
        /// Its name or id
        agent: String,
    },
    /// List snapshots, the newest first
    #[command(after_help = "Examples:
  godel agent snapshots
  godel agent snapshots --json")]
    Snapshots {
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Make an agent that goes on from a snapshot, with a bead and a worktree of its own
    #[command(after_help = "Examples:
  godel agent restore 01a1e2de-a80e-76aa-8694-f10e77a1bb67
  godel agent restore $(godel agent snapshot worker-1)")]
    Restore {
        /// The id of the snapshot
        snapshot: String,
    },
    /// Write a snapshot into a file, to go on from it on another server
    #[command(after_help = "Examples:
  godel agent export 01a1e2de-a80e-76aa-8694-f10e77a1bb67 worker-1.godel
  godel agent export $(godel agent snapshot worker-1) worker-1.godel
  godel agent export 01a1e2de-a80e-76aa-8694-f10e77a1bb67 - | ssh other godel agent import -

The file holds every file of the agent, also those that git ignores, all that was said, and the commits
that the target branch has not: treat it as confidential.")]
    Export {
        /// The id of the snapshot
        snapshot: String,
        /// The file to write; `-` is stdout
        file: PathBuf,
        /// Write over a file that is there already
        #[arg(long)]
        force: bool,
    },
    /// Take in a snapshot that another server has exported
    #[command(after_help = "Examples:
  godel agent import worker-1.godel
  godel agent import worker-1.godel --project app
  godel agent restore $(godel agent import worker-1.godel)

The id of the snapshot alone is on stdout. A file brings no rights: an agent that worked without walls
has walls here, and hosts that it could reach have to be allowed again.")]
    Import {
        /// The file; `-` is stdin
        file: PathBuf,
        /// The project whose repository it belongs to
        #[arg(long, value_name = "NAME")]
        project: Option<String>,
    },
    /// Forget a snapshot, and free the room that it takes
    #[command(after_help = "Examples:
  godel agent forget 01a1e2de-a80e-76aa-8694-f10e77a1bb67

Agents that went on from it stay.")]
    Forget {
        /// The id of the snapshot
        snapshot: String,
    },
}
