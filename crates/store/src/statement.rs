//! Statements, parameters and rows that are the same on both engines.

use bytes::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use crate::error::Cause;
use crate::postgres::session::Session;
use crate::{Error, Result};

/// One SQL statement with a name; the only way to reach a table.
#[derive(Debug)]
pub(crate) struct Statement {
    /// The name, for logs and errors.
    pub(crate) name: &'static str,
    /// The text for SQLite.
    pub(crate) sqlite: &'static str,
    /// The text for PostgreSQL.
    pub(crate) postgres: &'static str,
}

/// Declares statements and the list `ALL` of them, which a test prepares on both engines.
///
/// Parameters are `$1`, `$2`, .. and must first appear in this order (SQLite numbers them so).
macro_rules! statements {
    ($($constant:ident = $name:literal: $sql:expr;)+) => {
        $(pub(super) static $constant: crate::statement::Statement =
            crate::statement::Statement { name: $name, sqlite: $sql, postgres: $sql };)+
        pub(crate) static ALL: &[&crate::statement::Statement] = &[$(&$constant),+];
    };
}
pub(crate) use statements;

/// A parameter of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Param<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Uuid(Uuid),
}

impl<'a> From<Option<&'a str>> for Param<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

impl From<Option<Uuid>> for Param<'_> {
    fn from(uuid: Option<Uuid>) -> Self {
        uuid.map_or(Self::Null, Self::Uuid)
    }
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, ValueRef};
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(*int),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Uuid(uuid) => ValueRef::Blob(uuid.as_bytes()),
        }))
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Cause> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(int) => int.to_sql_checked(ty, out),
            Self::Text(text) => text.to_sql_checked(ty, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(ty, out),
            Self::Uuid(uuid) => uuid.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row of a result; columns are counted from 0.
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a postgres::Row),
}

macro_rules! getter {
    ($($name:ident -> $type:ty;)+) => {$(
        pub(crate) fn $name(&self, column: usize) -> Result<$type> {
            match self {
                Self::Sqlite(row) => row.get(column).map_err(|cause| unreadable(cause.into())),
                Self::Postgres(row) => row.try_get(column).map_err(|cause| unreadable(cause.into())),
            }
        }
    )+};
}

impl Row<'_> {
    getter! {
        int -> i64;
        opt_int -> Option<i64>;
        text -> String;
        opt_text -> Option<String>;
        bytes -> Vec<u8>;
    }

    pub(crate) fn uuid(&self, column: usize) -> Result<Uuid> {
        self.opt_uuid(column)?.ok_or_else(|| unreadable("an id is missing".into()))
    }

    pub(crate) fn opt_uuid(&self, column: usize) -> Result<Option<Uuid>> {
        match self {
            Self::Sqlite(row) => {
                let value = row.get_ref(column).map_err(|cause| unreadable(cause.into()))?;
                let bytes = value.as_blob_or_null().map_err(|cause| unreadable(cause.into()))?;
                bytes.map(Uuid::from_slice).transpose().map_err(|cause| unreadable(cause.into()))
            }
            Self::Postgres(row) => row.try_get(column).map_err(|cause| unreadable(cause.into())),
        }
    }
}

fn unreadable(cause: Cause) -> Error {
    Error::Unreadable { what: "column", cause }
}

/// A connection inside a transaction.
pub(crate) enum Conn<'c> {
    Sqlite(Lite<'c>),
    Postgres(&'c mut Session),
}

/// The connection to SQLite, with the statements that this transaction used so far: to find one by
/// its text costs as much as some of them take.
pub(crate) struct Lite<'c> {
    conn: &'c rusqlite::Connection,
    /// Whether anything was written through it.
    pub(crate) wrote: bool,
    prepared: Vec<(&'static Statement, rusqlite::CachedStatement<'c>)>,
}

impl<'c> Lite<'c> {
    fn prepared(
        &mut self,
        statement: &'static Statement,
    ) -> Result<&mut rusqlite::CachedStatement<'c>> {
        let known = self.prepared.iter().position(|(one, _)| std::ptr::eq(*one, statement));
        let place = match known {
            Some(place) => place,
            None => {
                let fresh = self.conn.prepare_cached(statement.sqlite);
                let fresh = fresh.map_err(|cause| Error::sqlite(statement.name, cause))?;
                self.prepared.push((statement, fresh));
                self.prepared.len() - 1
            }
        };
        Ok(&mut self.prepared[place].1)
    }
}

impl<'c> Conn<'c> {
    /// Takes a connection to SQLite through which nothing was written yet.
    pub(crate) fn sqlite(conn: &'c rusqlite::Connection) -> Self {
        Self::Sqlite(Lite { conn, wrote: false, prepared: Vec::new() })
    }

    /// Tells whether anything was written on SQLite.
    pub(crate) fn wrote(&self) -> bool {
        matches!(self, Self::Sqlite(Lite { wrote: true, .. }))
    }

    /// Runs a query and maps each row.
    pub(crate) fn query<T>(
        &mut self,
        statement: &'static Statement,
        params: &[Param<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        match self {
            Self::Sqlite(lite) => {
                let fail = |cause| Error::sqlite(statement.name, cause);
                let prepared = lite.prepared(statement)?;
                let mut rows = prepared.query(rusqlite::params_from_iter(params)).map_err(fail)?;
                let mut found = Vec::new();
                while let Some(row) = rows.next().map_err(fail)? {
                    found.push(map(&Row::Sqlite(row))?);
                }
                Ok(found)
            }
            Self::Postgres(session) => session
                .query(statement, params)?
                .iter()
                .map(|row| map(&Row::Postgres(row)))
                .collect(),
        }
    }

    /// Runs a statement that changes rows, and maps each one that it returns.
    pub(crate) fn change<T>(
        &mut self,
        statement: &'static Statement,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        if let Self::Sqlite(lite) = self {
            lite.wrote = true;
        }
        self.query(statement, params, map)
    }

    /// Runs a query that finds one row at most.
    pub(crate) fn first<T>(
        &mut self,
        statement: &'static Statement,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.query(statement, params, map)?.into_iter().next())
    }

    /// Runs a statement and returns how many rows it touched.
    pub(crate) fn execute(
        &mut self,
        statement: &'static Statement,
        params: &[Param<'_>],
    ) -> Result<u64> {
        match self {
            Self::Sqlite(lite) => {
                lite.wrote = true;
                let prepared = lite.prepared(statement)?;
                let touched = prepared.execute(rusqlite::params_from_iter(params));
                touched
                    .map(|rows| rows as u64)
                    .map_err(|cause| Error::sqlite(statement.name, cause))
            }
            Self::Postgres(session) => session.execute(statement, params),
        }
    }
}
