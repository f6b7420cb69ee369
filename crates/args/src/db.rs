//! `godel db`, as people type it.

use clap::Subcommand;

use crate::DatabaseFlag;

/// What to do with the database.
#[derive(Debug, Subcommand)]
pub enum Db {
    /// Show the version of the schema
    #[command(after_help = "Examples:
  godel db status
  godel db status --database postgres://godel@db/godel")]
    Status(DatabaseFlag),
    /// Bring the schema to a version, forward or back
    #[command(after_help = "Examples:
  godel db migrate --to 2
  godel db migrate --to 1 --yes

`godel up` migrates forward by itself. Going back drops what the newer versions brought, with the
data in it, and so needs --yes. Every server on the database must be stopped.")]
    Migrate {
        /// The version to have afterwards; 0 is an empty database
        #[arg(long, value_name = "N")]
        to: i64,
        /// Drop data without asking
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        database: DatabaseFlag,
    },
    /// Check that the event log adds up to the tables
    #[command(after_help = "Examples:
  godel db check
  godel db check --database postgres://godel@db/godel

On SQLite the server must be stopped.")]
    Check(DatabaseFlag),
}
