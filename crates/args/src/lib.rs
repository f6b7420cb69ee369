//! The commands and options, as people type them.
//!
//! They are apart from what is done about them, because what derives a parser from them takes long to
//! compile and they change seldom.
//!
//! # Invariants
//! - Nothing here does IO: a text from outside becomes a value, or a sentence that says what to write.
//! - Every command has a line that says what it does, and examples.
#![expect(missing_docs, reason = "parts that several commands share have no help of their own")]

pub mod access;
pub mod agent;
pub mod attempt;
pub mod bead;
pub mod convoy;
mod db;
mod flags;
pub mod intent;
mod kept;
pub mod land;
pub mod local;
pub mod models;
pub mod own;
pub mod portable;
pub mod preview;
pub mod project;
pub mod queue;
pub mod review;
mod talk;
pub mod units;
pub mod view;
pub mod workflow;
pub mod worktree;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub use self::db::Db;
pub use self::flags::{Backup, DatabaseFlag, Flag, SettingFlags};

/// Plan work in git, run a Godel server and talk to it
#[derive(Debug, Parser)]
#[command(
    name = "godel",
    version,
    max_term_width = 100,
    infer_long_args = false,
    after_help = "Examples:
  godel                        see what to do next
  godel up                     start a server on this machine
  godel status                 see how it is doing
  godel events tail 'agent:*'  watch what happens
  godel user list              see who has an account
  godel cost                   see what models cost
  godel do \"Add a login page\"  say what you want, and see the plan
  godel agent spawn TASK       let an agent do something
  godel inbox                  see what needs you
  godel worker run -- COMMAND  run a command for each task of the queue
  godel bead ready             see what can be done in this repository
  godel explain rate_limited   understand an error

Exit codes: 0 done, 1 failure, 2 wrong usage, 3 not found, 4 conflict, 5 denied, 6 unavailable"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Use this data directory [env: GODEL_DATA] [default: ~/.local/share/godel]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Talk to this server instead of that of the login or the data directory [env: GODEL_SERVER]
    #[arg(long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Trust the servers that this authority has signed for: a PEM file or a SHA-256 fingerprint
    /// [env: GODEL_CA]
    #[arg(long, global = true, value_name = "CA")]
    pub ca: Option<String>,
    /// Read settings from this file [env: GODEL_CONFIG] [default: godel.toml in the data directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Use no colours [env: NO_COLOR]
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Work as if started in this directory, as git does
    #[arg(short = 'C', global = true, value_name = "DIR", action = clap::ArgAction::Append)]
    pub directory: Vec<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a server on this machine
    #[command(after_help = "Examples:
  godel up
  godel up --data ./data --listen 127.0.0.1:8080
  godel up --listen 0.0.0.0:7373 --tls auto
  GODEL_DATABASE_URL=postgres://godel:secret@db/godel godel up

It runs until Ctrl-C or SIGTERM, then finishes the requests that are under way. A second signal
ends it at once. The login link works once, within an hour. `godel config show` lists all settings.")]
    Up(SettingFlags),
    /// Watch Godel at its main job, in a throw-away repository
    #[command(after_help = "Examples:
  godel demo
  godel demo --crash
  godel demo --live --keep

It needs no server, no key and no settings, and changes nothing of yours. A scripted provider plays the models and says
so; the server, the agents, their walls, git and the merge queue are real.")]
    Demo(local::Demo),
    /// Play the models of a show; only `godel demo` can run it
    #[command(hide = true, after_help = "Examples:\n  godel demo-provider")]
    DemoProvider,
    /// Show how the server is doing
    #[command(after_help = "Examples:
  godel status
  godel status --json
  godel status --server http://127.0.0.1:8080

Exit codes: 0 healthy or degraded, 1 unhealthy, 6 not running")]
    Status,
    /// Check what Godel needs on this machine
    #[command(after_help = "Examples:
  godel doctor
  godel doctor --data ./data --json

It needs no running server and changes nothing. Exit code 1 if a check fails; a warning is none.")]
    Doctor(SettingFlags),
    #[command(flatten)]
    Local(local::Local),
    /// Log in to a server
    #[command(after_help = "Examples:
  godel login http://127.0.0.1:7373
  godel login http://127.0.0.1:7373 --name 'build machine'
  godel login http://127.0.0.1:7373 --key-stdin < FILE

It shows a code; let it in on the page that is named, within ten minutes. From then on all commands
of this data directory use that server and a key of your own, which is kept in login.json and works
for 90 days. --server and GODEL_SERVER name another server, GODEL_KEY another key.")]
    Login(access::Login),
    /// Log out: end the key that the login made, and forget it
    #[command(after_help = "Examples:
  godel logout

A key that you brought along with --key-stdin is forgotten here, and goes on working elsewhere.")]
    Logout,
    /// Show who you are to the server
    #[command(after_help = "Examples:
  godel whoami
  godel whoami --json")]
    Whoami,
    /// Invite, change and erase people
    #[command(
        subcommand,
        after_help = "Examples:
  godel user invite dev --role developer --project web
  godel user list

Roles: an admin may do everything in the tenant; an operator runs the tenant's work; a developer
makes and runs own work and sees the team's; a viewer sees it. Invite, change and erase need an admin."
    )]
    User(access::User),
    /// Make, list, rotate and revoke API keys
    #[command(
        subcommand,
        after_help = "Examples:
  godel key create ci --expires 90d
  godel key rotate ci --grace 1h"
    )]
    Key(access::Key),
    /// Make, list, change and delete projects
    #[command(
        subcommand,
        after_help = "Examples:
  godel project create web --budget 200/month
  godel project list"
    )]
    Project(project::Project),
    /// Make, list, close and open tenants
    #[command(
        subcommand,
        after_help = "Examples:
  godel tenant create acme
  godel tenant list

Only admins of the first tenant may do this. No tenant sees anything of another."
    )]
    Tenant(access::Tenant),
    /// Set, list and remove secrets
    #[command(
        subcommand,
        after_help = "Examples:
  godel secret set anthropic < FILE
  godel secret list"
    )]
    Secret(access::Secret),
    /// Ask who did what, and check that the record is whole
    #[command(
        subcommand,
        after_help = "Examples:
  godel audit query --since 1d --result denied
  godel audit verify"
    )]
    Audit(access::Audit),
    /// Keep queries under names: views, here and in the dashboard
    #[command(
        subcommand,
        after_help = "Examples:
  godel view list
  godel view save \"Ready\" \"status:open agent:none blocked:no\"
  godel view delete \"Ready\""
    )]
    View(view::View),
    /// Run the app that an agent works on, and look at it
    #[command(
        subcommand,
        after_help = "Examples:
  godel preview start 4k2hm
  godel preview list
  godel preview stop 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d"
    )]
    Preview(preview::Preview),
    /// Take settings from one server to another: projects with their limits, and budgets
    #[command(
        subcommand,
        after_help = "Examples:
  godel settings export > settings.json
  godel settings import settings.json"
    )]
    Settings(portable::Portable),
    #[command(flatten)]
    Intents(intent::Intents),
    #[command(flatten)]
    Agents(agent::Agents),
    #[command(flatten)]
    Own(own::Own),
    #[command(flatten)]
    Models(models::Models),
    #[command(flatten)]
    Queueing(queue::Queueing),
    #[command(flatten)]
    Joined(workflow::Joined),
    /// Make, list, and remove worktrees of a repository, without losing work
    #[command(
        subcommand,
        after_help = "Examples:
  godel worktree create godel-a1b2c
  godel worktree list
  godel worktree remove godel-a1b2c

It works in any git repository and needs no server."
    )]
    Worktree(worktree::Worktree),
    /// Follow, list and publish events
    #[command(
        subcommand,
        after_help = "Examples:
  godel events tail
  godel events publish deploy:finished --payload '{\"version\":\"1.4\"}'"
    )]
    Events(Events),
    /// Show the settings
    #[command(
        subcommand,
        after_help = "Examples:
  godel config show
  godel config show --origin"
    )]
    Config(Config),
    /// Look after the database
    #[command(
        subcommand,
        after_help = "Examples:
  godel db status
  godel db check"
    )]
    Db(Db),
    /// Write a backup of everything into a file, while the server runs
    #[command(after_help = "Examples:
  godel backup godel.backup
  godel backup --verify godel.backup
  godel backup - | ssh store 'cat > godel.backup'
  godel backup godel.backup --database postgres://godel@db/godel

It asks the running server, or reads the database itself if none runs. Nobody has to wait for it.
The file gets its name when it is whole and checked. It holds what the database holds: keep it
confidential. `backup.dir` and `backup.every` let the server make backups by itself.")]
    Backup(Backup),
    /// Restore a backup into an empty database
    #[command(after_help = "Examples:
  godel restore godel.backup
  godel restore godel.backup --data ./elsewhere
  godel restore godel.backup --database postgres://godel@db/empty

The whole backup is restored, or nothing of it. A backup of SQLite can be restored into PostgreSQL
and the other way round, and one of an older Godel is brought up to date. No server may run on the
database.")]
    Restore {
        /// The backup
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Restore although there is data: the SQLite file that is there is moved aside
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        database: DatabaseFlag,
    },
    /// Print a script that completes commands in a shell
    #[command(after_help = "Examples:
  godel completions bash > ~/.local/share/bash-completion/completions/godel
  godel completions zsh > ~/.zfunc/_godel
  godel completions fish > ~/.config/fish/completions/godel.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Explain an error code
    #[command(after_help = "Examples:
  godel explain                  list all codes
  godel explain data_dir_locked  what happened, why, and what to do")]
    Explain {
        /// The code, as in `more: godel explain CODE`
        code: Option<String>,
    },
    /// Remove Godel from this machine; repositories stay as they are
    #[command(after_help = "Examples:
  godel uninstall
  godel uninstall --yes
  godel uninstall --yes --data-too

Without --yes it only says what it would remove. The program goes if it is in ~/.local/bin or
~/.cargo/bin; else it is named. Beads stay in their repositories.")]
    Uninstall {
        /// Remove without asking
        #[arg(long)]
        yes: bool,
        /// Remove the data of the server as well: it cannot be brought back
        #[arg(long)]
        data_too: bool,
    },
    /// Show the version
    #[command(after_help = "Examples:
  godel version
  godel version --json")]
    Version,
    /// Print the reference of all commands as Markdown
    #[command(
        hide = true,
        after_help = "Examples:
  godel reference
  godel reference --write docs/reference"
    )]
    Reference {
        /// Write cli.md and config.md into this directory instead
        #[arg(long, value_name = "DIR")]
        write: Option<PathBuf>,
    },
}

/// What to do with events.
#[derive(Debug, Subcommand)]
pub enum Events {
    /// Follow events as they happen
    #[command(after_help = "Examples:
  godel events tail
  godel events tail 'agent:*' 'workflow:step:*'
  godel events tail --after 0 --limit 100 --json

A lost connection heals by itself: no event is lost and none comes twice. Ctrl-C ends it.
With --json each event is one line.")]
    Tail {
        /// Only events of these types; `*` stands for one word, at the end for one or more
        patterns: Vec<String>,
        /// Begin behind this position; 0 is the beginning of the log, the default is from now on
        #[arg(long, value_name = "SEQ")]
        after: Option<i64>,
        /// End after this many events
        #[arg(long, value_name = "N")]
        limit: Option<u64>,
    },
    /// Record an event
    #[command(after_help = "Examples:
  godel events publish deploy:finished
  godel events publish deploy:finished --payload '{\"version\":\"1.4\"}'
  git log -1 --format='{\"commit\":\"%H\"}' | godel events publish build:started --payload -
  godel events publish deploy:finished --idempotency-key deploy-417

With an idempotency key the command can be repeated: the event is recorded once.")]
    Publish {
        /// The type: 2 to 5 lower case words joined by colons, such as deploy:finished
        #[arg(value_name = "TYPE")]
        kind: String,
        /// What happened in detail: a JSON object, or - to read it from stdin
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
        /// Record it once, even if this command is repeated with the same key
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
        /// Join it with other events of the same piece of work
        #[arg(long, value_name = "ID")]
        correlation: Option<String>,
    },
    /// List the newest events
    #[command(after_help = "Examples:
  godel events list
  godel events list --limit 5 --type 'deploy:*'
  godel events list --json")]
    List {
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        /// Only events of this type, such as deploy:*
        #[arg(long = "type", value_name = "PATTERN")]
        kind: Option<String>,
        /// Go on where an earlier list ended
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    },
}

/// What to do with the settings.
#[derive(Debug, Subcommand)]
pub enum Config {
    /// Show every setting as it is in effect
    #[command(after_help = "Examples:
  godel config show
  godel config show --origin
  GODEL_LOG_LEVEL=debug godel config show --origin --json

Passwords are never shown.")]
    Show {
        /// Tell where each value comes from: default, file, environment or flag
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        flags: SettingFlags,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }

    fn each(command: &clap::Command, path: &str, visit: &mut impl FnMut(&str, &clap::Command)) {
        visit(path, command);
        for sub in command.get_subcommands() {
            each(sub, &format!("{path} {}", sub.get_name()), visit);
        }
    }

    #[test]
    fn every_command_says_what_it_does_and_shows_examples() {
        each(&Cli::command(), "godel", &mut |path, command| {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(about.starts_with(|first: char| first.is_ascii_uppercase()), "{path}: {about}");
            assert!(!about.ends_with('.'), "{path}: {about}");
            let more = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(more.starts_with("Examples:\n  "), "{path} has no examples");
            assert!(
                more.contains(&format!("  {path}")) || more.contains(&format!(" {path}")),
                "{path}"
            );
        });
    }

    #[test]
    fn global_options_may_come_last() {
        let cli =
            Cli::try_parse_from(["godel", "events", "list", "--json", "--data", "/x"]).unwrap();
        assert!(cli.global.json);
        assert_eq!(cli.global.data, Some("/x".into()));
    }
}
