//! `godel view`, as people type it.

use clap::Subcommand;

/// What to do with views.
#[derive(Debug, Subcommand)]
pub enum View {
    /// List your views and those that are shared
    #[command(after_help = "Examples:
  godel view list
  godel view list --json")]
    List,
    /// Keep a query of beads under a name; the dashboard shows it in its list of views
    #[command(after_help = "Examples:
  godel view save \"Ready\" \"status:open agent:none blocked:no\"
  godel view save \"Forgotten\" \"-status:done updated:>1w\" --shared

A name that you used before gets the new query. `godel bead list --query` takes the same queries.")]
    Save {
        /// What it is called
        name: String,
        /// What it finds, as in the query box of the dashboard
        #[arg(allow_hyphen_values = true)]
        query: String,
        /// Let everybody have it
        #[arg(long)]
        shared: bool,
    },
    /// Forget a view
    #[command(after_help = "Examples:
  godel view delete \"Ready\"
  godel view delete 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d")]
    Delete {
        /// Its name or id
        name: String,
    },
}
