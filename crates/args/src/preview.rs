//! `godel preview`, as people type it.

use std::path::PathBuf;

use clap::Subcommand;

/// What to do with previews.
#[derive(Debug, Subcommand)]
pub enum Preview {
    /// Run the app that an agent works on, at a port of its own
    #[command(after_help = "Examples:
  godel preview start worker-3
  godel preview start 4k2hm
  godel preview start 4k2hm -- npm run dev -- --port '$PORT'

The command is told its port as $PORT. Without one that of the project counts (preview under [project] in
godel.toml), or it is guessed: the script dev, start or serve of package.json, or pages that are served as they are.
While an agent works you see its files as it changes them; else those of its last commit.")]
    Start {
        /// The agent, or the bead
        what: String,
        /// The project of the bead, if it is not that of this folder
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// The command for the shell
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// List previews that run, and those that ended in the last hour
    #[command(after_help = "Examples:
  godel preview list
  godel preview list --json")]
    List {
        /// Of the work on this bead only
        #[arg(long, value_name = "BEAD")]
        bead: Option<String>,
        /// Of the work of this agent only
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
    /// Show a preview, and what its command wrote last
    #[command(after_help = "Examples:
  godel preview show 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d")]
    Show {
        /// Its id
        id: String,
    },
    /// Stop a preview
    #[command(after_help = "Examples:
  godel preview stop 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d")]
    Stop {
        /// Its id
        id: String,
    },
    /// Serve the files of a folder on the port $PORT
    #[command(
        hide = true,
        after_help = "Examples:
  PORT=8000 godel preview files public"
    )]
    Files {
        /// The folder
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// The port
        #[arg(long, env = "PORT")]
        port: u16,
    },
}
