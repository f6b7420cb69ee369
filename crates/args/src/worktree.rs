//! Commands about worktrees.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use godel_git::{Name, Outcome, Policy};

/// Which repository is meant.
#[derive(Debug, Clone, Default, Args)]
pub struct RepoFlag {
    /// Work in the repository of this directory instead of the current one
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
}

/// What to do with worktrees.
#[derive(Debug, Subcommand)]
pub enum Worktree {
    /// Make a worktree with a branch of its own
    #[command(after_help = "Examples:
  godel worktree create godel-a1b2c
  godel worktree create godel-a1b2c --base origin/main
  godel worktree create godel-a1b2c --cleanup on-success --json

The branch is bead/ID, the directory .godel/worktrees/ID. Files to copy, directories to share and a
setup script come from [worktree] in godel.toml and .godel/config.toml. After a failed setup or an
interruption the same command goes on.")]
    Create {
        /// The bead that it is for
        id: String,
        /// Begin from this branch, tag or commit [default: HEAD of the main work tree]
        #[arg(long, value_name = "REV")]
        base: Option<String>,
        /// Copy, share and run nothing
        #[arg(long)]
        no_setup: bool,
        /// Leave read-only directories to the sandbox that will run the worktree
        #[arg(long)]
        sandboxed: bool,
        /// When it may go: immediate, on-success, delayed or manual [default: as configured]
        #[arg(long, value_name = "POLICY", value_parser = policy)]
        cleanup: Option<Policy>,
        #[command(flatten)]
        repo: RepoFlag,
    },
    /// List worktrees, or the work that was rescued from removed ones
    #[command(after_help = "Examples:
  godel worktree list
  godel worktree list --json
  godel worktree list --rescued

States: ready, creating, setup-failed, removing (each as far as it got), missing (the directory is
gone), orphaned (git forgot it), unrecorded or unreadable (its record is gone or broken).")]
    List {
        /// List what was rescued, with the command that brings it back
        #[arg(long)]
        rescued: bool,
        #[command(flatten)]
        repo: RepoFlag,
    },
    /// Show a worktree
    #[command(after_help = "Examples:
  godel worktree info godel-a1b2c
  cd \"$(godel worktree info godel-a1b2c --path)\"")]
    Info {
        /// The bead that it is for
        id: String,
        /// Print only where it is
        #[arg(long)]
        path: bool,
        #[command(flatten)]
        repo: RepoFlag,
    },
    /// Save all work in a worktree, then remove it
    #[command(after_help = "Examples:
  godel worktree remove godel-a1b2c
  godel worktree remove godel-a1b2c --delete-branch
  godel worktree remove godel-a1b2c --force

What is not committed, and commits that nobody else has, are kept under refs/godel/rescue/; the
answer says how to get them back. The branch goes if other branches or remotes have all of it.")]
    Remove {
        /// The bead that it is for
        id: String,
        /// Remove it although it is locked or in use; work is saved all the same
        #[arg(long)]
        force: bool,
        /// Delete the branch too; commits that nobody else has are rescued
        #[arg(long, conflicts_with = "keep_branch")]
        delete_branch: bool,
        /// Keep the branch in any case
        #[arg(long)]
        keep_branch: bool,
        #[command(flatten)]
        repo: RepoFlag,
    },
    /// Remove the worktrees whose policy says that their time has come
    #[command(after_help = "Examples:
  godel worktree cleanup --dry-run
  godel worktree cleanup --ended godel-a1b2c=success
  godel worktree cleanup --all

Work has ended when --ended says so, or when the base has got all commits of the branch. Work is saved
as with `godel worktree remove`. Exit code 4 if one that is due cannot be removed.")]
    Cleanup {
        /// Remember how the work in a worktree ended: success or failure; may be given several times
        #[arg(long, value_name = "ID=OUTCOME", value_parser = ended)]
        ended: Vec<(Name, Outcome)>,
        /// Remove all of them, whatever their policy says
        #[arg(long)]
        all: bool,
        /// Only tell what would be removed
        #[arg(long)]
        dry_run: bool,
        /// Also those that are locked or in use; work is saved all the same
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        repo: RepoFlag,
    },
    /// Agree to what godel.toml of this repository wants to run, copy and share
    #[command(after_help = "Examples:
  godel worktree trust

It counts for you on this machine, for this clone, until [worktree] in godel.toml changes.")]
    Trust {
        #[command(flatten)]
        repo: RepoFlag,
    },
}

fn policy(text: &str) -> Result<Policy, String> {
    match text {
        "immediate" => Ok(Policy::Immediate),
        "on-success" => Ok(Policy::OnSuccess),
        "delayed" => Ok(Policy::Delayed),
        "manual" => Ok(Policy::Manual),
        _ => Err("write immediate, on-success, delayed or manual".to_owned()),
    }
}

fn ended(text: &str) -> Result<(Name, Outcome), String> {
    let (name, outcome) = text.split_once('=').ok_or("write ID=success or ID=failure")?;
    let outcome = match outcome {
        "success" => Outcome::Success,
        "failure" => Outcome::Failure,
        _ => return Err("write ID=success or ID=failure".to_owned()),
    };
    Ok((name.parse().map_err(|error: godel_model::Invalid| error.to_string())?, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_name_and_an_outcome() {
        assert_eq!(ended("a=success"), Ok(("a".parse().unwrap(), Outcome::Success)));
        for bad in ["a", "a=", "a=ok", "=success", "../a=success"] {
            assert!(ended(bad).is_err(), "{bad}");
        }
    }
}
