//! Rows that are there before: many tasks, put in by the database itself.

use godel_model::{Clock as _, Lane, PoolName, SystemClock, TenantId, micros};
use godel_store::DatabaseUrl;

use super::flow;
use crate::error::{Error, Result, Told as _};

/// The line in which they stand, if it is not there.
const LINE: &str =
    "INSERT INTO lane (tenant, pool, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

/// Where tasks stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Ready,
    Delayed,
    Finished,
}

impl Place {
    fn insert(self, number: &str) -> String {
        // All of them are of the lowest tier; delayed ones are due in the year 2100.
        match self {
            Self::Ready => format!(
                "INSERT INTO ready (tenant, lane, tier, at, task, attempt, last)
                 SELECT $1, $2, 3, {number}, {{id}}, 0, 3"
            ),
            Self::Delayed => "INSERT INTO delayed (tenant, task, due_at, lane, tier, attempt, last)
                 SELECT $1, {id}, 4102444800000000, $2, 3, 0, 3"
                .to_owned(),
            Self::Finished => format!(
                "INSERT INTO outcome (tenant, task, state, lane, tier, attempt, worker, started_at, at)
                 SELECT $1, {{id}}, 'succeeded', $2, 3, 1, $1, {number}, {number}"
            ),
        }
    }

    /// Ids of different places differ.
    fn mark(self) -> u8 {
        match self {
            Self::Ready => 1,
            Self::Delayed => 2,
            Self::Finished => 3,
        }
    }
}

/// Puts tasks of a tenant into a database that nobody has open.
pub(super) fn fill(url: &DatabaseUrl, tenant: TenantId, place: Place, count: usize) -> Result<()> {
    let asked = serde_json::to_string(&flow::asked(0)?).told("write a task")?;
    let lane = Lane::new(&PoolName::default(), &Default::default()).told("name a line")?;
    let count = i64::try_from(count).told("count")?;
    // A day ago: not so old that it would be removed meanwhile.
    let number = format!("({} + n)", micros(SystemClock.now()) - 86_400_000_000);
    match url {
        DatabaseUrl::Sqlite(path) => {
            let conn = rusqlite::Connection::open(path).told("open the database")?;
            let id = format!("unhex(printf('000000000000700080{:02x}%012x', n))", place.mark());
            let numbers =
                "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $4)";
            let task = format!(
                "{numbers} INSERT INTO task (tenant, id, lane, tier, asked, created_at)
                 SELECT $1, {id}, $2, 3, $3, {number} FROM c"
            );
            let row = place.insert(&number).replace("{id}", &id);
            let row = format!("{numbers} {row} FROM c WHERE $3 <> ''");
            conn.execute_batch("PRAGMA synchronous = OFF; BEGIN").told("fill")?;
            let own = tenant.uuid();
            let line = rusqlite::params![own.as_bytes(), lane.pool(), lane.as_str()];
            conn.execute(&LINE.replace('$', "?"), line).told("fill the database")?;
            for text in [task, row] {
                let tenant = tenant.uuid();
                let values = rusqlite::params![tenant.as_bytes(), lane.as_str(), asked, count];
                // A number after a question mark counts for SQLite, one after a dollar does not.
                conn.execute(&text.replace('$', "?"), values).told("fill the database")?;
            }
            conn.execute_batch("COMMIT").told("fill")
        }
        DatabaseUrl::Postgres(address) => {
            let id = format!(
                "('00000000-0000-7000-80{:02x}-' || lpad(to_hex(n), 12, '0'))::uuid",
                place.mark()
            );
            let numbers = "FROM generate_series(1::bigint, $4) AS c (n)";
            let task = format!(
                "INSERT INTO task (tenant, id, lane, tier, asked, created_at)
                 SELECT $1, {id}, $2, 3, $3, {number} {numbers}"
            );
            let row = place.insert(&number).replace("{id}", &id);
            let row = format!("{row} {numbers} WHERE $3::text <> ''");
            let (address, tenant, pool) = (address.clone(), tenant.uuid(), lane.pool().to_owned());
            let lane = lane.as_str().to_owned();
            // A client of its own runtime must not be used inside another one.
            let work = move || -> Result<()> {
                let mut client =
                    ::postgres::Client::connect(&address, ::postgres::NoTls).told("connect")?;
                client.execute(LINE, &[&tenant, &pool, &lane]).told("fill")?;
                for text in [task, row] {
                    client.execute(&text, &[&tenant, &lane, &asked, &count]).told("fill")?;
                }
                client.batch_execute("VACUUM ANALYZE").told("tidy up")
            };
            std::thread::spawn(work).join().map_err(|_| Error::new("filling panicked"))?
        }
    }
}
