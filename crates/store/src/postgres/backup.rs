//! Backup and restore of a PostgreSQL database.

use std::collections::HashSet;
use std::io::{Read, Write};

use jiff::Timestamp;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::ToSql;
use postgres::{GenericClient, IsolationLevel, Row, Transaction};
use uuid::Uuid;

use super::roles;
use super::schema::{self, Steps, refuse_running_servers};
use super::session::connect_first;
use crate::backup::format::{Column, Kind, Table, Writer};
use crate::backup::{self, Chunk, Contents, Loader, Reader, quoted};
use crate::statement::Param;
use crate::{DatabaseUrl, Error, Result, migrate};

/// The tables of Godel's schema, whether row-level security is on, and whether the role of the
/// system sees every row all the same.
const TABLES: &str = "
    SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL), c.relrowsecurity,
           EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid
                   AND to_regrole('godel_system')::oid = ANY (p.polroles)
                   AND pg_get_expr(p.polqual, p.polrelid) = 'true')
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition AND c.relname <> 'migration'
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    ORDER BY c.relname, a.attnum";

/// The references between tables: the table, the name, and how to make it.
const REFERENCES: &str = "
    SELECT c.relname::text, k.conname::text, pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.contype = 'f' AND k.conparentid = 0
      AND c.relnamespace = current_schema()::regnamespace
    ORDER BY k.oid";

fn fail(cause: postgres::Error) -> Error {
    Error::postgres("backup", cause)
}

/// Writes a backup from one read-only transaction that sees one moment.
pub(crate) fn backup(url: &str, at: Timestamp, sink: impl Write) -> Result<Contents> {
    let mut client = connect_first(url)?;
    let mut tx = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .map_err(fail)?;
    // It takes as long as it takes; limits of the database are for other work.
    tx.batch_execute(
        "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;",
    )
    .map_err(fail)?;
    let shown = || DatabaseUrl::Postgres(url.to_owned()).shown();
    let migrations = schema::applied(&mut tx)?.ok_or_else(|| Error::NoDatabase(shown()))?;
    let found = tables(&mut tx)?;
    let (tables, secured): (Vec<Table>, Vec<bool>) = found.into_iter().unzip();
    let header = backup::header("postgres", at, migrations, tables)?;
    let mut writer = Writer::begin(sink, &header)?;
    for (index, (table, secured)) in header.tables.iter().zip(secured).enumerate() {
        writer.table(index)?;
        enter_role(&mut tx, secured)?;
        let columns: Vec<String> =
            table.columns.iter().map(|column| read_as(&table.name, column)).collect();
        let text = format!("SELECT {} FROM {}", columns.join(", "), quoted(&table.name));
        let mut rows = tx.query_raw(&text, std::iter::empty::<i64>()).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            for (place, column) in table.columns.iter().enumerate() {
                writer.value(value(&row, place, column.kind).map_err(fail)?);
            }
            writer.end_row()?;
        }
    }
    backup::finish(writer, header)
}

/// Row-level security binds also the owner of a table, so such tables are used as the system.
fn enter_role(tx: &mut Transaction<'_>, secured: bool) -> Result<()> {
    let role = if secured { "godel_system" } else { "NONE" };
    tx.batch_execute(&format!("SET LOCAL ROLE {role}")).map_err(fail)
}

/// Where the newest position of a log is written; while there are events, the last of them has it.
const LOG_HEAD: (&str, &str) = ("stream_head", "seq");
const LOG_HEAD_TRUE: &str =
    "GREATEST(seq, (SELECT MAX(e.seq) FROM event e WHERE e.tenant = stream_head.tenant))";

fn read_as(table: &str, column: &Column) -> String {
    if (table, column.name.as_str()) == LOG_HEAD {
        return LOG_HEAD_TRUE.to_owned();
    }
    let name = quoted(&column.name);
    match column.kind {
        Kind::Int => format!("{name}::bigint"),
        Kind::Bool => format!("{name}::int::bigint"),
        Kind::Text => format!("{name}::text"),
        Kind::Bytes | Kind::Uuid => name,
    }
}

fn value(row: &Row, place: usize, kind: Kind) -> Result<Param<'_>, postgres::Error> {
    Ok(match kind {
        Kind::Int | Kind::Bool => row.try_get::<_, Option<i64>>(place)?.map(Param::Int),
        Kind::Text => row.try_get::<_, Option<&str>>(place)?.map(Param::Text),
        Kind::Bytes => row.try_get::<_, Option<&[u8]>>(place)?.map(Param::Bytes),
        Kind::Uuid => row.try_get::<_, Option<Uuid>>(place)?.map(Param::Uuid),
    }
    .unwrap_or(Param::Null))
}

/// Asks the database for its tables; each with whether row-level security is on.
fn tables(client: &mut impl GenericClient) -> Result<Vec<(Table, bool)>> {
    let rows = client.query(TABLES, &[]).map_err(fail)?;
    let mut secured = HashSet::new();
    for row in &rows {
        let (table, on, seen): (String, bool, bool) = (row.get(0), row.get(3), row.get(4));
        if on && !seen {
            let cause = format!("{table} hides rows from godel_system").into();
            return Err(Error::Unreadable { what: "table for the backup", cause });
        }
        if on {
            secured.insert(table);
        }
    }
    let columns = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let with_security = |table: Table| {
        let secured = secured.contains(&table.name);
        (table, secured)
    };
    Ok(backup::grouped(columns)?.into_iter().map(with_security).collect())
}

/// Loads a backup into an empty database, in one transaction.
pub(crate) fn restore<R: Read>(url: &str, reader: &mut Reader<R>) -> Result<()> {
    let mut client = connect_first(url)?;
    roles::ensure(&mut client)?;
    schema::lock(&mut client)?;
    refuse_running_servers(&mut client)?;
    let mut tx = client.transaction().map_err(fail)?;
    refuse_data(&mut tx, url)?;
    migrate::migrate(&mut Steps(&mut tx), 0)?;
    migrate::migrate(&mut Steps(&mut tx), reader.header.schema)?;
    // Without the references rows may come in any order, and are compared once instead of one by
    // one.
    let references = tx.query(REFERENCES, &[]).map_err(fail)?;
    for row in &references {
        let (table, name): (&str, &str) = (row.get(0), row.get(1));
        let text = format!("ALTER TABLE {} DROP CONSTRAINT {}", quoted(table), quoted(name));
        tx.batch_execute(&text).map_err(fail)?;
    }
    backup::fill(reader, &mut Load { tx: &mut tx, secured: HashSet::new() })?;
    enter_role(&mut tx, false)?;
    for row in &references {
        let (table, name, how): (&str, &str, &str) = (row.get(0), row.get(1), row.get(2));
        let text = format!("ALTER TABLE {} ADD CONSTRAINT {} {how}", quoted(table), quoted(name));
        tx.batch_execute(&text).map_err(fail)?;
    }
    migrate::migrate(&mut Steps(&mut tx), migrate::newest())?;
    tx.commit().map_err(fail)
}

/// Refuses a database that has any row of Godel.
fn refuse_data(tx: &mut Transaction<'_>, url: &str) -> Result<()> {
    for (table, secured) in tables(tx)? {
        enter_role(tx, secured)?;
        let text = format!("SELECT EXISTS (SELECT FROM {})", quoted(&table.name));
        if tx.query_one(&text, &[]).map_err(fail)?.get(0) {
            let database = DatabaseUrl::Postgres(url.to_owned()).shown();
            let remedy = "make a new database with `createdb NAME` and name it with --database; \
                          the old one stays as it is until you drop it";
            return Err(Error::NotEmpty { database, remedy: remedy.to_owned() });
        }
    }
    enter_role(tx, false)
}

struct Load<'t, 'c> {
    tx: &'t mut Transaction<'c>,
    /// The tables that row-level security binds.
    secured: HashSet<String>,
}

/// The values of one column, as PostgreSQL takes many at once.
enum Array<'a> {
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<&'a str>>),
    Bytes(Vec<Option<&'a [u8]>>),
    Uuids(Vec<Option<Uuid>>),
}

impl<'a> Array<'a> {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Int | Kind::Bool => Self::Ints(Vec::new()),
            Kind::Text => Self::Texts(Vec::new()),
            Kind::Bytes => Self::Bytes(Vec::new()),
            Kind::Uuid => Self::Uuids(Vec::new()),
        }
    }

    fn push(&mut self, value: Param<'a>) {
        match (self, value) {
            (Self::Ints(all), Param::Int(one)) => all.push(Some(one)),
            (Self::Texts(all), Param::Text(one)) => all.push(Some(one)),
            (Self::Bytes(all), Param::Bytes(one)) => all.push(Some(one)),
            (Self::Uuids(all), Param::Uuid(one)) => all.push(Some(one)),
            // The reader lets only fitting values through, so the others are absent ones.
            (Self::Ints(all), _) => all.push(None),
            (Self::Texts(all), _) => all.push(None),
            (Self::Bytes(all), _) => all.push(None),
            (Self::Uuids(all), _) => all.push(None),
        }
    }

    fn param(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Ints(all) => all,
            Self::Texts(all) => all,
            Self::Bytes(all) => all,
            Self::Uuids(all) => all,
        }
    }
}

/// Writes the statement that adds many rows; it obeys row-level security, which `COPY` does not.
fn insert(table: &Table) -> String {
    let (mut names, mut values, mut arrays, mut aliases) = (vec![], vec![], vec![], vec![]);
    for (place, column) in table.columns.iter().enumerate() {
        let (array, value) = match column.kind {
            Kind::Int => ("bigint", format!("v{place}")),
            Kind::Bool => ("bigint", format!("v{place} <> 0")),
            Kind::Text => ("text", format!("v{place}")),
            Kind::Bytes => ("bytea", format!("v{place}")),
            Kind::Uuid => ("uuid", format!("v{place}")),
        };
        names.push(quoted(&column.name));
        values.push(value);
        arrays.push(format!("${}::{array}[]", place + 1));
        aliases.push(format!("v{place}"));
    }
    format!(
        "INSERT INTO {} ({}) SELECT {} FROM unnest({}) AS given ({})",
        quoted(&table.name),
        names.join(", "),
        values.join(", "),
        arrays.join(", "),
        aliases.join(", ")
    )
}

impl Load<'_, '_> {
    /// Enters the role that sees a table.
    fn enter(&mut self, table: &Table) -> Result<()> {
        enter_role(self.tx, self.secured.contains(&table.name))
    }
}

impl Loader for Load<'_, '_> {
    fn tables(&mut self) -> Result<Vec<Table>> {
        let found = tables(self.tx)?;
        let secured = found.iter().filter(|(_, secured)| *secured);
        self.secured = secured.map(|(table, _)| table.name.clone()).collect();
        Ok(found.into_iter().map(|(table, _)| table).collect())
    }

    fn load(&mut self, table: &Table, chunk: &Chunk<'_>) -> Result<()> {
        self.enter(table)?;
        let mut arrays: Vec<Array<'_>> =
            table.columns.iter().map(|column| Array::of(column.kind)).collect();
        chunk.each(&table.columns, |values| {
            arrays.iter_mut().zip(values).for_each(|(array, value)| array.push(*value));
            Ok(())
        })?;
        let params: Vec<&(dyn ToSql + Sync)> = arrays.iter().map(Array::param).collect();
        self.tx.execute(&insert(table), &params).map_err(fail)?;
        Ok(())
    }

    fn count(&mut self, table: &Table) -> Result<u64> {
        self.enter(table)?;
        let text = format!("SELECT COUNT(*) FROM {}", quoted(&table.name));
        let count: i64 = self.tx.query_one(&text, &[]).map_err(fail)?.get(0);
        Ok(count.unsigned_abs())
    }
}
