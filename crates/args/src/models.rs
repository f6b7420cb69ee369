//! Commands about models: who may ask them, what that costs, and how much of it is allowed.

use clap::{Args, Subcommand};
use jiff::SignedDuration;
use jiff::civil::Date;

use crate::units::{self, Allowance, Models as ModelList, When};

/// What to do with models.
#[derive(Debug, Subcommand)]
pub enum Models {
    /// Make, list and revoke the tokens by which agents ask models
    #[command(
        subcommand,
        after_help = "Examples:
  godel token create ci --budget 5 --expires 8h
  godel token list

Agents and SDKs use a token as their API key, with /proxy of the server as their base URL. The keys of
the providers stay on the server: `godel secret set anthropic`."
    )]
    Token(Token),
    /// Set, list and delete limits of what may be spent
    #[command(
        subcommand,
        after_help = "Examples:
  godel budget set tenant 200/month
  godel budget set project:web 50/month --warn 75
  godel budget list

A request that a budget does not allow is refused before it is made."
    )]
    Budget(Budget),
    /// Show what models were used for, in requests and tokens
    #[command(after_help = "Examples:
  godel usage
  godel usage --since 7d --by day,model
  godel usage --project web --by agent --csv > usage.csv

A report is about whole days, in UTC unless --time-zone says where, and about the last 30 unless told
otherwise. Each attempt to get an answer counts as a request. --json has ids where the table and --csv have names.")]
    Usage(Report),
    /// Show what models cost
    #[command(after_help = "Examples:
  godel cost
  godel cost --convoy launch --by bead
  godel cost --by kind                 models, runtime and storage
  godel cost --since 7d --by day --time-zone Europe/Berlin
  godel cost --from 2026-11-01 --to 2026-11-30 --by project,user --csv > november.csv

Sums are exact to a millionth of a dollar. What has no known price is counted and not added up.")]
    Cost(Report),
    /// List requests to models one by one, the newest first
    #[command(after_help = "Examples:
  godel calls
  godel calls --agent builder-1 --since 1h
  godel calls --outcome failed --since 7d --until 1d
  godel calls --session 8f1c2a90-5d0b-4a4e-9a43-8a5c4a1d6f10
  godel calls --limit 10000 --csv > calls.csv
  godel calls show 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d --body

Each attempt to get an answer from a provider has a line of its own. Its outcome is ok, failed,
cancelled (the client went away), lost (the server died; charged at its worst) or open (under way).")]
    #[command(args_conflicts_with_subcommands = true)]
    Calls {
        #[command(subcommand)]
        one: Option<OneCall>,
        #[command(flatten)]
        narrow: Narrow,
        /// Only since then: a span such as 1h, a date, or a time
        #[arg(long, value_name = "TIME", value_parser = units::when)]
        since: Option<When>,
        /// Only before then: a span such as 1h, a date, or a time
        #[arg(long, value_name = "TIME", value_parser = units::when)]
        until: Option<When>,
        /// Only those that ended like this
        #[arg(long, value_name = "HOW", value_parser = ["ok", "failed", "cancelled", "lost", "open"])]
        outcome: Option<String>,
        /// Only those of the session that its program calls like this
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,
        /// Write comma-separated values
        #[arg(long, conflicts_with = "json")]
        csv: bool,
    },
    /// See how the providers of models are doing
    #[command(
        subcommand,
        after_help = "Examples:
  godel provider list
  godel provider test anthropic"
    )]
    Provider(Provider),
}

/// What to do with one request to a model.
#[derive(Debug, Subcommand)]
pub enum OneCall {
    /// Show one request to a model
    #[command(after_help = "Examples:
  godel calls show 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d
  godel calls show 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d --body

The id is that of the list with --json or --csv. What was said is there only if `[capture]` in
proxy.toml lets it be kept, without secrets and personal data, and only admins see it.")]
    Show {
        /// The id of the attempt
        id: String,
        /// Also what was asked and answered
        #[arg(long)]
        body: bool,
    },
}

/// What to do with the tokens of agents.
#[derive(Debug, Subcommand)]
pub enum Token {
    /// Make a token
    #[command(after_help = "Examples:
  godel token create ci --budget 5 --expires 8h
  godel token create builder --project web --agent builder-1 --bead godel-a1b2c
  godel token create cheap --models \"claude-haiku-*,gpt-5-nano\"
  export GODEL_TOKEN=$(godel token create laptop)

The token alone is on stdout. It is shown now and never again; the server keeps only a hash.")]
    Create(NewToken),
    /// List the tokens that work: your own, and those of all for admins and operators
    #[command(after_help = "Examples:
  godel token list
  godel token list --all --json")]
    List {
        /// Also those that have ended
        #[arg(long)]
        all: bool,
    },
    /// End a token at once
    #[command(after_help = "Examples:
  godel token revoke ci
  godel token revoke godel_at_Ab3x

Other servers on the same database notice within five seconds.")]
    Revoke {
        /// The id, the beginning or the name of the token
        token: String,
    },
}

/// What a new token is to be.
#[derive(Debug, Args)]
pub struct NewToken {
    /// The name, by which you find it again
    pub name: String,
    /// Work for this project, by name or id: its limits and budgets count
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Work as this agent: its limits and budgets count
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Work on this bead
    #[arg(long, value_name = "ID")]
    pub bead: Option<String>,
    /// Work on this convoy
    #[arg(long, value_name = "ID")]
    pub convoy: Option<String>,
    /// Ask only these models: "claude-*,gpt-*" [default: all]
    #[arg(long, value_name = "MODELS", value_parser = units::models)]
    pub models: Option<ModelList>,
    /// Spend at most this much in all, in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = units::money)]
    pub budget: Option<i64>,
    /// Let it end after this time, such as 8h or 30d [default: never]
    #[arg(long, value_name = "SPAN", value_parser = units::lifetime)]
    pub expires: Option<SignedDuration>,
}

/// What may be spent, and what happens then.
#[derive(Debug, Args)]
pub struct SetBudget {
    /// Whose spending: tenant, or project:, user:, agent:, bead:, convoy: or token: and a name
    pub scope: String,
    /// Dollars: 200/month, 5/day, or 0.50 in all
    #[arg(value_name = "AMOUNT", value_parser = units::allowance)]
    pub amount: Allowance,
    /// Warn from this percentage on [default: 80, or what it was]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub warn: Option<u32>,
    /// Let it be passed by this percentage before requests are refused [default: 0, or what it was]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub grace: Option<u32>,
    /// Refuse nothing when it is used up, only tell
    #[arg(long, conflicts_with_all = ["grace", "hard_stop"])]
    pub alert_only: bool,
    /// Refuse requests when it is used up, which is usual
    #[arg(long)]
    pub hard_stop: bool,
    /// Tell this person, by name or id, and nobody else; can be repeated
    #[arg(long, value_name = "USER", conflicts_with = "tell_all")]
    pub tell: Vec<String>,
    /// Tell everybody who may know of it, which is usual
    #[arg(long)]
    pub tell_all: bool,
}

/// What to do with budgets.
#[derive(Debug, Subcommand)]
pub enum Budget {
    /// Set what may be spent
    #[command(after_help = "Examples:
  godel budget set tenant 200/month
  godel budget set project:web 50/month --warn 75
  godel budget set user:dev 5/day
  godel budget set agent:builder-1 0.50/day
  godel budget set bead:godel-a1b2c 3
  godel budget set convoy:launch '$100'
  godel budget set token:ci 10
  godel budget set tenant 300/month --grace 10 --tell ada --tell grace
  godel budget set project:lab 40/month --alert-only

A scope is one word: what it is, a colon, and its name or id. It can have a budget for each day, one
for each month (in UTC), and one in all; setting one again changes its limit. What was spent before
counts, but for a token. All budgets that concern a request must allow it.")]
    Set(SetBudget),
    /// Try a budget on what was spent in the past days: what it would have stopped; nothing is set
    #[command(after_help = "Examples:
  godel budget try tenant 20/day
  godel budget try project:web 100/month --days 31
  godel budget try agent:builder-1 0.50/day --json

Requests count as they cost in the end. A request that begins below the limit is let in, as it would be.")]
    Try {
        /// Whose spending: tenant, or project:, user:, agent:, bead:, convoy: or token: and a name
        scope: String,
        /// Dollars: 200/month, 5/day, or 0.50 in all
        #[arg(value_name = "AMOUNT", value_parser = units::allowance)]
        amount: Allowance,
        /// How many days to look at
        #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=31))]
        days: u32,
    },
    /// List budgets, and what is left of them
    #[command(after_help = "Examples:
  godel budget list
  godel budget list --json

HELD is set aside for requests under way, at what they cost at most; what they do not use comes back.")]
    List,
    /// Delete a budget: its scope may then spend without it
    #[command(after_help = "Examples:
  godel budget delete project:web
  godel budget delete 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d

A scope with several budgets needs the id, as `godel budget list` shows it.")]
    Delete {
        /// The id, or the scope as in the list
        #[arg(value_name = "ID")]
        budget: String,
    },
}

/// Which requests are meant.
#[derive(Debug, Clone, Default, Args)]
pub struct Narrow {
    /// Only for this project, by name or id
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Only for this user, by name or id
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Only by this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Only for this bead
    #[arg(long, value_name = "ID")]
    pub bead: Option<String>,
    /// Only for this convoy
    #[arg(long, value_name = "ID")]
    pub convoy: Option<String>,
    /// Only by agents of this team, by id
    #[arg(long, value_name = "ID")]
    pub team: Option<String>,
    /// Only by agents in this runtime
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
    /// Only to this provider
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Only to this model, as its provider calls it
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
}

/// By what a report can be split.
pub const KINDS: [&str; 12] = [
    "day", "hour", "provider", "model", "project", "user", "agent", "bead", "convoy", "team",
    "runtime", "kind",
];

/// What a report is about.
#[derive(Debug, Args)]
pub struct Report {
    /// The first day, such as 2026-11-01
    #[arg(long, value_name = "DAY", value_parser = units::day)]
    pub from: Option<Date>,
    /// The last day [default: today]
    #[arg(long, value_name = "DAY", value_parser = units::day)]
    pub to: Option<Date>,
    /// Since then: a span such as 7d, or a date
    #[arg(long, value_name = "TIME", value_parser = units::when, conflicts_with = "from")]
    pub since: Option<When>,
    /// Where days begin at midnight, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// Split by these, with commas between [default: model]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = KINDS)]
    pub by: Vec<String>,
    #[command(flatten)]
    pub narrow: Narrow,
    /// Write comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// What to do with providers.
#[derive(Debug, Subcommand)]
pub enum Provider {
    /// List the providers in the order in which they are asked
    #[command(after_help = "Examples:
  godel provider list
  godel provider list --json

A provider is up, unused since the server started, down (it failed too often and is left alone for a
while) or on trial (one request is let through to see). The counts are of this server.")]
    List,
    /// Show how requests to models find their way: order, aliases, fallbacks
    #[command(after_help = "Examples:
  godel provider routing
  godel provider routing --json

It is said in proxy.toml on the server, which is read again when it changes.")]
    Routing,
    /// Ask providers whether they work: each of their keys is shown to them
    #[command(after_help = "Examples:
  godel provider test
  godel provider test anthropic

The server asks each provider for its list of models, which costs nothing. Those without a key are left
out unless they are named, and so are those that need none and that proxy.toml does not mention. Exit
code 1 if one does not work.")]
    Test {
        /// Only this one
        name: Option<String>,
    },
}
