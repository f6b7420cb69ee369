//! One connection to PostgreSQL with its prepared statements.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use godel_model::from_micros;
use jiff::Timestamp;
use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, NoTls, Row};

use super::address::{Address, Encryption};
use super::floors::Floors;
use super::schema::SERVER_LOCK;
use super::tls::{Connector, is_tls, tls_failure};
use crate::error::{Error, Result, is_shutdown};
use crate::statement::{Param, Statement};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long data may wait for the other side's kernel before the connection counts as broken.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(20);

/// How long plans of statements are kept.
const PLANS_LAST: Duration = Duration::from_secs(5);

/// The time at which a statement runs, not the one at which its transaction began.
pub(super) const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// A connection that works under the role of the application.
pub(crate) struct Session {
    client: Client,
    prepared: HashMap<&'static str, postgres::Statement>,
    /// Whether a statement failed in a way that makes the whole transaction worth another try.
    pub(crate) retry: bool,
    /// Whether a statement failed, after which nothing of the transaction can be kept.
    pub(crate) broken: bool,
    /// Since when what workers have can have begun.
    pub(crate) floors: Floors,
    /// When its plans were made, at the earliest.
    planned: Instant,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

/// Connects as the user of the address, with all timeouts set.
pub(super) fn connect(url: &str) -> Result<Client> {
    let Address { mut config, encryption, root } = Address::parse(url)?;
    config
        .application_name("godel")
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_user_timeout(TCP_USER_TIMEOUT)
        .keepalives_idle(Duration::from_secs(15));
    let connected = match encryption {
        Encryption::Disable => config.connect(NoTls),
        Encryption::Prefer => {
            config.connect(Connector::new(encryption, root.as_deref())?).or_else(|error| {
                if !is_tls(&error) {
                    return Err(error);
                }
                tracing::debug!(%error, "PostgreSQL is spoken to without TLS");
                config.ssl_mode(SslMode::Disable).connect(NoTls)
            })
        }
        _ => config.connect(Connector::new(encryption, root.as_deref())?),
    };
    connected.map_err(|cause| Error::postgres("connect", cause))
}

/// Connects for the first time: a refusal is a wrong setting, not a passing trouble.
pub(super) fn connect_first(url: &str) -> Result<Client> {
    connect(url).map_err(|error| match error {
        Error::Failed { cause, .. } => {
            let said =
                cause.downcast_ref::<postgres::Error>().and_then(postgres::Error::as_db_error);
            Error::Refused(said.map_or_else(|| cause.to_string(), |said| said.message().to_owned()))
        }
        Error::Unavailable(Some(cause)) => match tls_failure(cause.as_ref()) {
            Some(why) => Error::Tls { who: "PostgreSQL", why },
            None => Error::Unavailable(Some(cause)),
        },
        other => other,
    })
}

impl Session {
    /// Connects and takes the role that row-level security binds.
    pub(crate) fn open(url: &str) -> Result<Self> {
        let mut client = connect(url)?;
        client
            .batch_execute(&format!(
                "SET SESSION synchronous_commit = on;
                 SET SESSION idle_in_transaction_session_timeout = '30s';
                 SET SESSION statement_timeout = '60s';
                 SET SESSION lock_timeout = '20s';
                 SET SESSION enable_seqscan = off;
                 SET SESSION jit = off;
                 SELECT pg_advisory_lock_shared({SERVER_LOCK});
                 SET SESSION ROLE godel_app;",
            ))
            .map_err(|cause| Error::postgres("session_start", cause))?;
        let (prepared, floors) = (HashMap::new(), Floors::default());
        Ok(Self { client, prepared, retry: false, broken: false, floors, planned: Instant::now() })
    }

    /// Returns what has to be said before a transaction so that plans fit tables which are empty in
    /// one second and full in the next: a plan that was made for a small table reads all of it, with
    /// every version that somebody who holds on to an old state keeps there.
    pub(super) fn replan(&mut self) -> &'static str {
        if self.planned.elapsed() < PLANS_LAST {
            return "";
        }
        self.planned = Instant::now();
        "DISCARD PLANS;"
    }

    /// Tells whether the connection is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs plain text, in one round trip.
    pub(super) fn batch(&mut self, name: &'static str, text: &str) -> Result<()> {
        let result = self.client.batch_execute(text);
        result.map_err(|cause| self.failed(name, cause))
    }

    pub(crate) fn query(
        &mut self,
        statement: &'static Statement,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>> {
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| p as _).collect();
        self.query_raw(statement.name, statement.postgres, &params)
    }

    pub(crate) fn query_raw(
        &mut self,
        name: &'static str,
        text: &'static str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        let prepared = self.prepare(name, text)?;
        let result = self.client.query(&prepared, params);
        result.map_err(|cause| self.failed(name, cause))
    }

    pub(crate) fn execute(
        &mut self,
        statement: &'static Statement,
        params: &[Param<'_>],
    ) -> Result<u64> {
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| p as _).collect();
        let prepared = self.prepare(statement.name, statement.postgres)?;
        let result = self.client.execute(&prepared, &params);
        result.map_err(|cause| self.failed(statement.name, cause))
    }

    /// Returns the time of the database, in microseconds.
    pub(crate) fn clock(&mut self) -> Result<Timestamp> {
        let rows = self.query_raw("clock", CLOCK, &[])?;
        let found = rows.first().map(|row| row.try_get::<_, i64>(0));
        let micros = found.transpose().map_err(|cause| self.failed("clock", cause))?;
        Ok(from_micros(micros.unwrap_or_default()))
    }

    /// Lets the server check a statement.
    pub(super) fn check(&mut self, name: &'static str, text: &'static str) -> Result<()> {
        self.prepare(name, text).map(drop)
    }

    fn prepare(&mut self, name: &'static str, text: &'static str) -> Result<postgres::Statement> {
        if let Some(known) = self.prepared.get(text) {
            return Ok(known.clone());
        }
        let result = self.client.prepare(text);
        let prepared = result.map_err(|cause| self.failed(name, cause))?;
        self.prepared.insert(text, prepared.clone());
        Ok(prepared)
    }

    /// Notes whether another try is worth it, and wraps the error.
    fn failed(&mut self, name: &'static str, cause: postgres::Error) -> Error {
        let again = cause.code().is_none_or(|state| {
            is_shutdown(state)
                || *state == SqlState::T_R_DEADLOCK_DETECTED
                || *state == SqlState::T_R_SERIALIZATION_FAILURE
                || *state == SqlState::LOCK_NOT_AVAILABLE
        });
        self.retry |= again;
        self.broken = true;
        Error::postgres(name, cause)
    }
}
