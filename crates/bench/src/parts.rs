//! The parts of the benchmark, and what they share.

pub(crate) mod agents;
mod append;
mod auth;
mod backup;
pub(crate) mod beads;
mod fanout;
mod history;
pub(crate) mod landing;
pub(crate) mod proxy;
pub(crate) mod queue;
mod rest;
mod sockets;
mod start;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use godel_engines::{Binaries, Places, Postgres};
use godel_testkit::Database;
use tempfile::TempDir;

use crate::error::{Error, Result, Told as _};
use crate::events::Log;
use crate::server::{self, Server};
use crate::table::Row;

/// The first argument with which this program is the helper of sandboxes.
pub(crate) const HELPER: &str = "sandbox-init";

/// One thing that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// What a request costs, compared with a bare route
    Rest,
    /// How fast durable events are written, compared with one transaction each
    Append,
    /// How long an event takes to its subscribers
    Fanout,
    /// What idle WebSocket clients cost
    Sockets,
    /// Whether a long log costs more than a short one
    History,
    /// How long a start takes, and how large it all is
    Start,
    /// How fast a backup is made and restored
    Backup,
    /// What it costs to know the caller and to keep the record
    Auth,
    /// What work that lives in git costs
    Beads,
}

impl Part {
    /// Returns all parts, in the order in which they are measured.
    pub(crate) fn all() -> &'static [Self] {
        Self::value_variants()
    }

    /// Measures this part.
    pub(crate) async fn measure(self, bench: &Bench) -> Result<Vec<Row>> {
        match self {
            Self::Rest => Box::pin(rest::measure(bench)).await,
            Self::Append => Box::pin(append::measure(bench)).await,
            Self::Fanout => Box::pin(fanout::measure(bench)).await,
            Self::Sockets => Box::pin(sockets::measure(bench)).await,
            Self::History => Box::pin(history::measure(bench)).await,
            Self::Start => Box::pin(start::measure(bench)).await,
            Self::Backup => Box::pin(backup::measure(bench)).await,
            Self::Auth => Box::pin(auth::measure(bench)).await,
            Self::Beads => Box::pin(beads::measure(bench)).await,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// What all parts need.
#[derive(Debug)]
pub(crate) struct Bench {
    /// The program under test.
    pub(crate) program: PathBuf,
    scratch: TempDir,
}

impl Bench {
    /// Finds the program, and makes a place for data on the disk that holds the target directory:
    /// a `/tmp` in memory would make durability free.
    pub(crate) fn prepare() -> Result<Self> {
        let own = server::own_path()?;
        let target = own.ancestors().nth(2).unwrap_or(Path::new("."));
        let scratch = TempDir::with_prefix_in("bench-", target).told("make a directory")?;
        Ok(Self { program: server::program()?, scratch })
    }

    /// Returns the path of a folder of its own.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Starts a server on an empty data directory.
    pub(crate) async fn fresh(&self, name: &str) -> Result<Server> {
        Server::start(&self.program, &self.folder(name)).await
    }

    /// Makes a data directory of a server whose log has this many events; returns its folder.
    pub(crate) async fn stocked(&self, name: &str, events: usize) -> Result<PathBuf> {
        let folder = self.folder(name);
        self.fresh(name).await?.stop().await?;
        let log = Log::open_file(&database(&folder)).await?;
        log.fill(events).await?;
        log.close().await;
        Ok(folder)
    }
}

/// Returns the database of a data directory.
fn database(folder: &Path) -> PathBuf {
    folder.join("godel.db")
}

/// An empty database in a PostgreSQL that is there or was started for it.
#[derive(Debug)]
struct Borrowed {
    database: Database,
    // Ends behind the database, which is dropped in it.
    _started: Option<Postgres>,
}

impl Borrowed {
    /// Makes one, if this machine has PostgreSQL.
    fn find() -> Result<Option<Self>> {
        let given = std::env::var("GODEL_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty());
        let started = match given {
            Some(_) => None,
            None => tokio::task::block_in_place(|| {
                let binaries = Binaries::find(&Places::from_env());
                let found = binaries.postgres.is_some();
                found.then(|| Postgres::start(&binaries)).transpose()
            })
            .told("start PostgreSQL")?,
        };
        let own = started.as_ref().map(|postgres| postgres.url("postgres"));
        let Some(server) = given.or(own) else {
            note("not measured on PostgreSQL: there is none on this machine");
            return Ok(None);
        };
        let database = tokio::task::block_in_place(|| Database::postgres(server));
        Ok(Some(Self { database, _started: started }))
    }
}

/// Shows progress.
#[expect(clippy::print_stderr, reason = "progress of a command line tool")]
fn note(text: &str) {
    eprintln!("  {text}");
}

/// Allows this process, and the servers it starts, enough open files.
fn allow_files(wanted: u64) -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    if limit.maximum.is_some_and(|most| most < wanted) {
        return Err(Error::new(format!("{wanted} open files are not allowed"))
            .with_hint("raise the hard limit: `ulimit -Hn`"));
    }
    let raised = Rlimit { current: Some(wanted), ..limit };
    setrlimit(Resource::Nofile, raised).told("allow more open files")
}
