//! The words of `godel settings`.

use std::path::PathBuf;

use clap::Subcommand;

/// What to do with settings.
#[derive(Debug, Subcommand)]
pub enum Portable {
    /// Write the settings as one document, without secrets
    #[command(after_help = "Examples:
  godel settings export > settings.json

Projects with their limits, and budgets of the tenant, of projects and of people, by their names. Folders of
repositories, keys and people stay out.")]
    Export,
    /// Show what a document of settings would change, and with --yes change it
    #[command(after_help = "Examples:
  godel settings import settings.json
  godel settings import settings.json --yes

What the document does not name stays as it is. All of it is checked before the first change.")]
    Import {
        /// The document
        file: PathBuf,
        /// Make the changes
        #[arg(long)]
        yes: bool,
    },
}
