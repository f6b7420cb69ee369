//! What servers ended with, read from the tables without any code of the product.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use godel_referee::{Depth, Dump, Event, Place, Recorder, StoredTask};
use serde_json::Value;
use uuid::Uuid;

use super::load::tier;

/// There is one tenant in these tests.
pub(super) const TENANT: &str = "tenant";

/// Where the tables are.
#[derive(Debug, Clone)]
pub(super) enum Tables {
    Sqlite(PathBuf),
    Postgres(String),
}

type Texts = Vec<Option<String>>;

impl Tables {
    /// How the text of an id is asked for.
    fn id(&self, column: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("hex({column})"),
            Self::Postgres(_) => format!("{column}::text"),
        }
    }

    /// Reads rows whose columns are all texts.
    pub(super) fn rows(&self, sql: &str, columns: usize) -> Vec<Texts> {
        match self {
            Self::Sqlite(file) => {
                let db = rusqlite::Connection::open(file).unwrap();
                db.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
                let mut statement = db.prepare(sql).unwrap();
                let read = |row: &rusqlite::Row<'_>| (0..columns).map(|no| row.get(no)).collect();
                let rows = statement.query_map([], read).unwrap();
                rows.map(Result::unwrap).collect()
            }
            Self::Postgres(url) => {
                let (url, sql) = (url.clone(), sql.to_owned());
                // A client of its own runtime must not be used inside another one.
                let read = move || {
                    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
                    let rows = client.query(&sql, &[]).unwrap();
                    rows.iter().map(|row| (0..columns).map(|no| row.get(no)).collect()).collect()
                };
                std::thread::spawn(read).join().unwrap()
            }
        }
    }

    /// Changes something behind the back of the servers.
    pub(super) fn change(&self, sql: &str) {
        match self {
            Self::Sqlite(file) => {
                let db = rusqlite::Connection::open(file).unwrap();
                db.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
                db.execute_batch(sql).unwrap();
            }
            Self::Postgres(url) => {
                let (url, sql) = (url.clone(), sql.to_owned());
                let run = move || {
                    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
                    client.batch_execute(&sql).unwrap();
                };
                std::thread::spawn(run).join().unwrap();
            }
        }
    }

    /// Tries to change something in a PostgreSQL that may not be able to.
    pub(super) fn try_change(&self, sql: &str) {
        let Self::Postgres(url) = self else { return };
        let (url, sql) = (url.clone(), sql.to_owned());
        let run = move || {
            let client = postgres::Client::connect(&url, postgres::NoTls);
            client.and_then(|mut client| client.batch_execute(&sql)).ok();
        };
        std::thread::spawn(run).join().unwrap();
    }

    /// The text that a statement finds.
    pub(super) fn text(&self, sql: &str) -> String {
        text(&self.rows(sql, 1)[0], 0).to_owned()
    }

    /// The tasks that wait for others.
    pub(super) fn blocked(&self) -> Vec<String> {
        let sql = format!("SELECT {} FROM blocked", self.id("task"));
        self.rows(&sql, 1).iter().map(|row| id(row, 0)).collect()
    }

    /// Of each dead letter its key and the number of its last attempt.
    pub(super) fn dead(&self) -> Vec<(String, u32, u32)> {
        let sql = "SELECT t.asked, CAST(o.attempt AS TEXT) FROM outcome o
            JOIN task t ON t.tenant = o.tenant AND t.id = o.task WHERE o.state = 'dead'";
        let read = |row: &Texts| {
            let asked: Value = serde_json::from_str(text(row, 0)).unwrap();
            let most = asked["retry"]["maxAttempts"].as_u64().unwrap().try_into().unwrap();
            (asked["title"].as_str().unwrap().to_owned(), number(row, 1), most)
        };
        self.rows(sql, 2).iter().map(read).collect()
    }
}

fn text(row: &Texts, column: usize) -> &str {
    row[column].as_deref().unwrap()
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(row: &Texts, column: usize) -> T {
    text(row, column).parse().unwrap()
}

fn id(row: &Texts, column: usize) -> String {
    Uuid::parse_str(text(row, column)).unwrap().to_string()
}

fn place(state: &str) -> Place {
    match state {
        "ready" => Place::Ready,
        "delayed" => Place::Delayed,
        "blocked" => Place::Blocked,
        "running" => Place::Leased,
        "succeeded" => Place::Done,
        "dead" => Place::Dead,
        "cancelled" => Place::Cancelled,
        other => panic!("a task is {other}"),
    }
}

/// Reads the depth that a server told.
pub(super) fn reported(depth: &Value) -> Vec<Depth> {
    let mut reported = Vec::new();
    for row in depth["rows"].as_array().unwrap() {
        for state in ["ready", "delayed", "blocked", "running", "dead"] {
            reported.push(Depth {
                pool: row["pool"].as_str().unwrap().to_owned(),
                tier: tier(row["priority"].as_str().unwrap()),
                place: place(state),
                count: row[state].as_u64().unwrap(),
            });
        }
    }
    reported
}

/// The depth that a store has counted, its lines put together.
pub(super) fn counted(depth: &[godel_store::Depth]) -> Vec<Depth> {
    let mut pools: BTreeMap<(&str, u8, Place), u64> = BTreeMap::new();
    for depth in depth {
        let pool = depth.lane.as_str().split(' ').next().unwrap();
        let cell = (pool, tier(depth.priority.as_str()), place(depth.state.as_str()));
        *pools.entry(cell).or_default() += depth.count;
    }
    let depth = |((pool, tier, place), count): ((&str, u8, Place), u64)| Depth {
        pool: pool.to_owned(),
        tier,
        place,
        count,
    };
    pools.into_iter().map(depth).collect()
}

/// Writes the tables, the depth that was reported and the log to a history.
pub(super) fn write(tables: &Tables, recorder: &Recorder, depth: Vec<Depth>) {
    tasks(tables, recorder);
    depth.into_iter().for_each(|depth| recorder.dump(Dump::Depth(depth)));
    // One that was cut off at its start may have no log yet.
    let heads = "SELECT CAST(MAX(seq) AS TEXT)
        FROM (SELECT seq FROM stream_head UNION ALL SELECT seq FROM event) AS head HAVING COUNT(*) > 0";
    for head in tables.rows(heads, 1) {
        recorder.dump(Dump::Log { tenant: TENANT.to_owned(), head: number(&head, 0) });
    }
    events(tables, recorder);
    recorder.dump_end();
}

fn tasks(tables: &Tables, recorder: &Recorder) {
    let sql = format!("SELECT {}, asked FROM task", tables.id("id"));
    let asked: HashMap<String, Value> = tables
        .rows(&sql, 2)
        .iter()
        .map(|row| (id(row, 0), serde_json::from_str(text(row, 1)).unwrap()))
        .collect();
    let sql = format!("SELECT {}, {} FROM dependency", tables.id("child"), tables.id("parent"));
    let mut parents: HashMap<String, Vec<String>> = HashMap::new();
    for row in tables.rows(&sql, 2) {
        parents.entry(id(&row, 0)).or_default().push(id(&row, 1));
    }
    let task = tables.id("task");
    let one = |state: &str, table: &str| {
        format!(
            "SELECT {task}, lane, CAST(tier AS TEXT), CAST(attempt AS TEXT), {state} FROM {table}"
        )
    };
    let places = [
        one("'ready'", "ready"),
        one("'delayed'", "delayed"),
        one("'blocked'", "blocked"),
        one("'running'", "lease"),
        one("state", "outcome"),
    ];
    for row in tables.rows(&places.join(" UNION ALL "), 5) {
        let task = id(&row, 0);
        let about = &asked[&task];
        let most = about["retry"]["maxAttempts"].as_u64().unwrap();
        recorder.dump(Dump::Task(StoredTask {
            key: about["key"].as_str().map(str::to_owned),
            tenant: TENANT.to_owned(),
            pool: text(&row, 1).split(' ').next().unwrap().to_owned(),
            tier: number(&row, 2),
            place: place(text(&row, 4)),
            attempt: number(&row, 3),
            epoch: None,
            parents: parents.get(&task).cloned().unwrap_or_default(),
            max_attempts: Some(most.try_into().unwrap()),
            task,
        }));
    }
}

fn events(tables: &Tables, recorder: &Recorder) {
    let sql =
        "SELECT CAST(seq AS TEXT), kind, CAST(at AS TEXT), payload FROM event ORDER BY event.seq";
    for row in tables.rows(sql, 4) {
        let payload: Value = serde_json::from_str(text(&row, 3)).unwrap();
        let of_task = text(&row, 1).starts_with("task:");
        let word = |name: &str| payload[name].as_str().filter(|_| of_task).map(str::to_owned);
        recorder.dump(Dump::Event(Event {
            tenant: TENANT.to_owned(),
            seq: number(&row, 0),
            kind: text(&row, 1).to_owned(),
            at: number(&row, 2),
            task: word("task"),
            attempt: payload["attempt"].as_u64().map(|attempt| attempt.try_into().unwrap()),
            tier: word("priority").map(|name| tier(&name)),
            pool: word("pool"),
            delay_us: payload["delayUs"].as_i64(),
        }));
    }
}
