//! Commands about projects.

use std::path::{Component, Path, PathBuf};

use clap::{Args, Subcommand};
use godel_api::ProjectLimits;

use crate::units::{self, Cap, Models};

/// What the work of a project may use, and where its beads are.
#[derive(Debug, Clone, Default, Args)]
pub struct LimitFlags {
    /// Spend at most this much, in dollars: 200/month, or none
    #[arg(long, value_name = "DOLLARS", value_parser = units::budget)]
    pub budget: Option<Cap<u64>>,
    /// Make at most so many model requests: 100/min, or none
    #[arg(long, value_name = "COUNT", value_parser = units::rate)]
    pub rate: Option<Cap<u32>>,
    /// Run at most so many agents at the same time, or none for no limit
    #[arg(long, value_name = "N", value_parser = units::count)]
    pub max_agents: Option<Cap<u32>>,
    /// Use at most so many processor cores: 8, 0.5, 500m, or none
    #[arg(long, value_name = "CORES", value_parser = units::cpu)]
    pub cpu: Option<Cap<u32>>,
    /// Use at most so much memory: 16Gi, 512Mi, or none
    #[arg(long, value_name = "SIZE", value_parser = units::memory)]
    pub memory: Option<Cap<u64>>,
    /// Keep its beads in this git repository of the server's machine, or none
    #[arg(long, value_name = "PATH")]
    pub repository: Option<String>,
    /// Use only these models: "claude-*,gpt-*", or all
    #[arg(long, value_name = "MODELS", value_parser = units::models)]
    pub models: Option<Models>,
}

impl LimitFlags {
    /// Returns the whole path of the repository that was given; `none` becomes an empty one.
    pub fn repository(&self) -> Option<String> {
        let given = self.repository.as_deref()?;
        if given == "none" {
            return Some(String::new());
        }
        Some(whole(given))
    }

    /// Returns limits after what was given; what was not given stays.
    pub fn over(&self, before: &ProjectLimits) -> ProjectLimits {
        let small = |given: Option<Cap<u32>>, before| given.map_or(before, Cap::value);
        let large = |given: Option<Cap<u64>>, before| given.map_or(before, Cap::value);
        ProjectLimits {
            max_agents: small(self.max_agents, before.max_agents),
            cpu_millis: small(self.cpu, before.cpu_millis),
            memory_bytes: large(self.memory, before.memory_bytes),
            requests_per_minute: small(self.rate, before.requests_per_minute),
            monthly_budget_micros: large(self.budget, before.monthly_budget_micros),
            models: self.models.as_ref().map_or_else(|| before.models.clone(), |m| m.0.clone()),
        }
    }
}

/// Where the repository of a new project comes from, if it is not there yet.
#[derive(Debug, Clone, Default, Args)]
pub struct OriginFlags {
    /// Clone this git repository to the server's machine, and keep its beads there
    #[arg(long, value_name = "URL", conflicts_with_all = ["new", "repository"])]
    pub clone: Option<String>,
    /// Clone into this folder, not into one in the home of the server's user
    #[arg(long, value_name = "DIR", requires = "clone", conflicts_with = "new")]
    pub folder: Option<String>,
    /// Begin a new git repository in this folder of the server's machine
    #[arg(long, value_name = "DIR", conflicts_with = "repository")]
    pub new: Option<String>,
}

impl OriginFlags {
    /// Returns what to clone and the folder to make, with whole paths; `None` if neither was asked for.
    pub fn wanted(&self) -> Option<(Option<String>, Option<String>)> {
        if self.clone.is_none() && self.new.is_none() {
            return None;
        }
        // What has a colon is an address; a path with one can be given as a whole one.
        let clone = self.clone.as_deref().map(|url| match url.contains(':') {
            true => url.to_owned(),
            false => plain(url),
        });
        Some((clone, self.new.as_deref().or(self.folder.as_deref()).map(plain)))
    }
}

/// Returns the whole path of a folder: the server knows nothing of where the command runs.
fn whole(given: &str) -> String {
    std::path::absolute(given).map_or_else(|_| given.to_owned(), |path| path.display().to_string())
}

/// Returns the whole path of a folder that need not be there, without steps up: the server takes none.
fn plain(given: &str) -> String {
    let mut path = PathBuf::new();
    for part in Path::new(&whole(given)).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path.display().to_string()
}

/// What to do with projects.
#[derive(Debug, Subcommand)]
pub enum Project {
    /// Make a project
    #[command(after_help = "Examples:
  godel project create web
  godel project create web --repository .
  godel project create web --clone https://github.com/owner/web.git
  godel project create web --clone git@github.com:owner/web.git --folder ~/work/web
  godel project create web --new ~/work/web
  godel project create web --budget 200/month --rate 100/min --max-agents 20
  godel project create web --cpu 8 --memory 16Gi --models \"claude-*,gpt-*\"

A clone goes on in the server if the command is ended with Ctrl-C; the folder can then be given by --repository.")]
    Create {
        /// The name, unique in the tenant
        name: String,
        /// What it is about
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        #[command(flatten)]
        origin: OriginFlags,
        #[command(flatten)]
        limits: LimitFlags,
    },
    /// List projects
    #[command(after_help = "Examples:
  godel project list
  godel project list --json")]
    List,
    /// Show a project
    #[command(after_help = "Examples:
  godel project show web")]
    Show {
        /// The name or id
        name: String,
    },
    /// Change a project; what is not given stays
    #[command(after_help = "Examples:
  godel project update web --budget 300/month
  godel project update web --rate none --models all
  godel project update web --name website --description 'the public site'")]
    Update {
        /// The name or id
        name: String,
        /// The new name
        #[arg(long = "name", value_name = "NAME")]
        new_name: Option<String>,
        /// What it is about
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        #[command(flatten)]
        limits: LimitFlags,
    },
    /// Delete a project
    #[command(after_help = "Examples:
  godel project delete web --yes")]
    Delete {
        /// The name or id
        name: String,
        /// Delete it without asking
        #[arg(long)]
        yes: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_are_taken_as_they_are() {
        assert_eq!(OriginFlags::default().wanted(), None);
        let wanted = |clone: &str, folder: &str| {
            let (clone, folder) = (Some(clone.to_owned()), Some(folder.to_owned()));
            OriginFlags { clone, folder, new: None }.wanted().unwrap()
        };
        let here = std::path::absolute("x").unwrap().display().to_string();
        assert_eq!(wanted("x", "./y/../x"), (Some(here.clone()), Some(here.clone())));
        let (clone, _) = wanted("git@host:x", "/x");
        assert_eq!(clone.as_deref(), Some("git@host:x"));
        let new = OriginFlags { new: Some("x".to_owned()), ..OriginFlags::default() };
        assert_eq!(new.wanted(), Some((None, Some(here))));
    }

    #[test]
    fn a_limit_stays_unless_it_is_given() {
        let before = ProjectLimits {
            max_agents: Some(3),
            cpu_millis: Some(500),
            models: vec!["a-*".to_owned()],
            ..ProjectLimits::default()
        };
        assert_eq!(LimitFlags::default().over(&before), before);
        let flags = LimitFlags {
            max_agents: Some(Cap::Off),
            rate: Some(Cap::At(7)),
            models: Some(Models(Vec::new())),
            ..LimitFlags::default()
        };
        let after = flags.over(&before);
        assert_eq!((after.max_agents, after.cpu_millis), (None, Some(500)));
        assert_eq!((after.requests_per_minute, after.models.len()), (Some(7), 0));
    }
}
