//! Commands about people, keys, tenants, secrets and the record of acts.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use crate::DatabaseFlag;
use crate::units::{self, When};

/// How to log in.
#[derive(Debug, Args)]
pub struct Login {
    /// The address of the server, such as http://127.0.0.1:7373
    pub url: String,
    /// What to call this login in the list of keys [default: godel on HOST]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Read an existing key from stdin instead of asking a person
    #[arg(long, conflicts_with = "name")]
    pub key_stdin: bool,
}

/// What to do with users.
#[derive(Debug, Subcommand)]
pub enum User {
    /// Invite somebody
    #[command(after_help = "Examples:
  godel user invite dev --role developer
  godel user invite dev --role developer --project web --project api

The link on stdout opens the account, once, within 72 hours. Hand it over in private: whoever opens
it first is in. `godel user link NAME` makes a new one.")]
    Invite {
        /// The name, unique in the tenant
        name: String,
        /// What the user may do
        #[arg(long, value_parser = ROLES)]
        role: String,
        /// Only this project, by name or id; may be repeated [default: all projects]
        #[arg(long = "project", value_name = "NAME")]
        projects: Vec<String>,
    },
    /// List users
    #[command(after_help = "Examples:
  godel user list
  godel user list --json")]
    List,
    /// Show a user
    #[command(after_help = "Examples:
  godel user show dev")]
    Show {
        /// The name or id
        name: String,
    },
    /// Give a user another role
    #[command(after_help = "Examples:
  godel user role dev operator")]
    Role {
        /// The name or id
        name: String,
        /// What the user may do from now on
        #[arg(value_parser = ROLES)]
        role: String,
    },
    /// Choose the projects a user works in
    #[command(after_help = "Examples:
  godel user project dev --set web,api
  godel user project dev --all")]
    Project {
        /// The name or id
        name: String,
        /// These projects and no others, by name or id
        #[arg(long, value_name = "NAME", value_delimiter = ',', required_unless_present = "all")]
        set: Vec<String>,
        /// All projects, also those to come
        #[arg(long, conflicts_with = "set")]
        all: bool,
    },
    /// Close an account
    #[command(after_help = "Examples:
  godel user disable dev

Its logins end at once and its keys do not work until `godel user enable NAME`.")]
    Disable {
        /// The name or id
        name: String,
    },
    /// Open a closed account again
    #[command(after_help = "Examples:
  godel user enable dev")]
    Enable {
        /// The name or id
        name: String,
    },
    /// Make a new login link
    #[command(after_help = "Examples:
  godel user link dev

Earlier links of the user work no more, and its password is gone. The new link is on stdout, and works
once, within 72 hours.")]
    Link {
        /// The name or id
        name: String,
    },
    /// Erase a person
    #[command(after_help = "Examples:
  godel user export dev > dev.json
  godel user erase dev --yes

What tells who it was goes, and so does every way in. What the person did stays on record under an
id that leads nowhere, and `godel audit verify` still holds.")]
    Erase {
        /// The name or id
        name: String,
        /// Erase without asking
        #[arg(long)]
        yes: bool,
    },
    /// Write all that the server knows of a person, as JSON
    #[command(after_help = "Examples:
  godel user export dev > dev.json")]
    Export {
        /// The name or id
        name: String,
    },
    /// Set your own password
    #[command(after_help = "Examples:
  godel user password
  godel user password --current-file OLD < NEW

At a terminal you are asked, and nothing is shown. All your other logins end; keys go on. Forgotten?
An admin runs `godel user link NAME`, which removes the password.")]
    Password {
        /// Read the current password from this file, where no terminal can ask for it
        #[arg(long, value_name = "FILE")]
        current_file: Option<PathBuf>,
    },
}

/// The four roles, from the most to the least.
const ROLES: [&str; 4] = ["admin", "operator", "developer", "viewer"];

/// What to do with API keys.
#[derive(Debug, Subcommand)]
pub enum Key {
    /// Make a key
    #[command(after_help = "Examples:
  godel key create ci --expires 90d
  godel key create reader --scope event:read:team --scope project:read:team
  godel key create ci --user dev > ci.key

The key alone is on stdout. It is shown now and never again; the server keeps only a hash.")]
    Create {
        /// The name, by which you find it again
        name: String,
        /// Whose key it is, by name or id; that of another user needs an admin [default: your own]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// Narrow it to this permission, such as event:read:team; may be repeated
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
        /// Let it end after this time, such as 30d or 12h [default: never]
        #[arg(long, value_name = "SPAN", value_parser = units::lifetime)]
        expires: Option<SignedDuration>,
    },
    /// List keys: your own, unless told otherwise
    #[command(after_help = "Examples:
  godel key list
  godel key list --user dev
  godel key list --all")]
    List {
        /// Those of this user, by name or id
        #[arg(long, value_name = "NAME", conflicts_with = "all")]
        user: Option<String>,
        /// Those of everybody, for admins
        #[arg(long)]
        all: bool,
    },
    /// Make a new key take over from an old one
    #[command(after_help = "Examples:
  godel key rotate ci
  godel key rotate godel_sk_Ab3x --grace 1h

The new key is on stdout. The old one goes on for a day, or for --grace.")]
    Rotate {
        /// The id, the beginning or the name of the old key
        key: String,
        /// How long the old key goes on, at most 30d; 0s ends it at once
        #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = units::span)]
        grace: SignedDuration,
    },
    /// End a key at once
    #[command(after_help = "Examples:
  godel key revoke ci
  godel key revoke godel_sk_Ab3x")]
    Revoke {
        /// The id, the beginning or the name of the key
        key: String,
    },
}

/// What to do with tenants.
#[derive(Debug, Subcommand)]
pub enum Tenant {
    /// Make a tenant, and a login link for its owner
    #[command(after_help = "Examples:
  godel tenant create acme

The link on stdout opens the owner's account, once, within 72 hours.")]
    Create {
        /// The name, unique on the server
        name: String,
    },
    /// List tenants
    #[command(after_help = "Examples:
  godel tenant list")]
    List,
    /// Close a tenant for all its users; its data stays
    #[command(after_help = "Examples:
  godel tenant disable acme")]
    Disable {
        /// The name or id
        name: String,
    },
    /// Open a closed tenant again
    #[command(after_help = "Examples:
  godel tenant enable acme")]
    Enable {
        /// The name or id
        name: String,
    },
}

/// What to do with secrets.
#[derive(Debug, Subcommand)]
pub enum Secret {
    /// Set a secret; its value comes from stdin
    #[command(after_help = "Examples:
  godel secret set anthropic
  godel secret set anthropic < FILE

At a terminal you are asked for the value, and nothing is shown. Nobody gets to see it again.")]
    Set {
        /// The name
        name: String,
    },
    /// List secrets, without their values
    #[command(after_help = "Examples:
  godel secret list
  godel secret list --json")]
    List,
    /// Remove a secret
    #[command(after_help = "Examples:
  godel secret remove anthropic --yes")]
    Remove {
        /// The name
        name: String,
        /// Remove it without asking
        #[arg(long)]
        yes: bool,
    },
    /// Let a new master key wrap the keys in the database
    #[command(after_help = "Examples:
  godel secret rotate-master
  godel secret rotate-master --data /srv/godel

The server must be stopped. A crash at any moment leaves a database that the next start opens. The
old key stays in master.key.old: backups from before need it. Other servers on the same PostgreSQL
database need a copy of the new master.key before their next start.")]
    RotateMaster(DatabaseFlag),
    /// Give up a lost master key: all secrets go, everything else stays
    #[command(after_help = "Examples:
  godel secret reset-master --yes

The server must be stopped. Only for a master key that is really lost: secrets cannot be read again
and are removed, tokens of programs end, and acts on record so far can be read but not checked any
more. It refuses while the master key that is there opens the database.")]
    ResetMaster {
        /// Yes, the secrets may go
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        database: DatabaseFlag,
    },
}

/// Which acts are meant.
#[derive(Debug, Clone, Args)]
pub struct Acts {
    /// Only those of this user, by name or id
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Only this action, such as project:create; with * at the end, all that begin so
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// Only those with this result
    #[arg(long, value_parser = ["ok", "denied"])]
    pub result: Option<String>,
    /// Only since then: a span such as 1d, a date, or a time
    #[arg(long, value_name = "TIME", value_parser = units::when)]
    pub since: Option<When>,
    /// Only before then: a span such as 1d, a date, or a time
    #[arg(long, value_name = "TIME", value_parser = units::when)]
    pub until: Option<When>,
}

/// What to do with the record of acts.
#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Ask who did what, newest first
    #[command(after_help = "Examples:
  godel audit query --since 1d
  godel audit query --user dev --result denied
  godel audit query --action 'project:*' --since 2026-06-01 --until 2026-07-01 --json")]
    Query {
        #[command(flatten)]
        acts: Acts,
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Check that nothing in the record was altered
    #[command(after_help = "Examples:
  godel audit verify

Exit code 1 if something was; the row is named.")]
    Verify,
    /// Write the record as JSON lines, newest first
    #[command(after_help = "Examples:
  godel audit export > acts.jsonl
  godel audit export --since 30d > acts.jsonl")]
    Export {
        #[command(flatten)]
        acts: Acts,
    },
}
