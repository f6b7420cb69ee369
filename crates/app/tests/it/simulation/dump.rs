//! What the server ended with, read from its tables without any code of the product.

use std::collections::HashMap;

use godel_referee::{Depth, Dump, Event, Place, Recorder, StoredTask};
use rusqlite::{Connection, Row};
use serde_json::Value;
use uuid::Uuid;

/// What was asked for, as far as it is stored.
struct Asked {
    title: String,
    max_attempts: u32,
}

fn id(row: &Row<'_>, column: usize) -> String {
    let bytes: Vec<u8> = row.get(column).unwrap();
    Uuid::from_slice(&bytes).unwrap().to_string()
}

fn all<T>(db: &Connection, sql: &str, read: impl Fn(&Row<'_>) -> T) -> Vec<T> {
    let mut statement = db.prepare_cached(sql).unwrap();
    let rows = statement.query_map([], |row| Ok(read(row))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The tier by its name.
pub(super) fn tier(name: &str) -> u8 {
    let names = ["critical", "high", "medium", "low"];
    u8::try_from(names.iter().position(|other| *other == name).unwrap()).unwrap()
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

/// Writes the tables, the depth that was reported and the log to a history.
pub(super) fn write(db: &Connection, recorder: &Recorder, depth: &[godel_store::Depth]) {
    tasks(db, recorder);
    let mut sums: HashMap<(String, u8, Place), u64> = HashMap::new();
    for row in depth {
        let tier = tier(row.priority.as_str());
        let cell = (row.lane.pool().to_owned(), tier, place(row.state.as_str()));
        *sums.entry(cell).or_default() += row.count;
    }
    for ((pool, tier, place), count) in sums {
        recorder.dump(Dump::Depth(Depth { pool, tier, place, count }));
    }
    let heads = all(db, "SELECT tenant, seq FROM stream_head", |row| {
        (id(row, 0), row.get::<_, i64>(1).unwrap())
    });
    for (tenant, head) in heads {
        recorder.dump(Dump::Log { tenant, head: head.try_into().unwrap() });
    }
    events(db, recorder);
    recorder.dump_end();
}

fn tasks(db: &Connection, recorder: &Recorder) {
    let asked = all(db, "SELECT id, asked FROM task", |row| {
        let asked: Value = serde_json::from_str(&row.get::<_, String>(1).unwrap()).unwrap();
        let max_attempts = asked["retry"]["maxAttempts"].as_u64().unwrap().try_into().unwrap();
        (id(row, 0), Asked { title: asked["title"].as_str().unwrap().to_owned(), max_attempts })
    });
    let asked: HashMap<_, _> = asked.into_iter().collect();
    let mut parents: HashMap<String, Vec<String>> = HashMap::new();
    for (child, parent) in
        all(db, "SELECT child, parent FROM dependency", |row| (id(row, 0), id(row, 1)))
    {
        parents.entry(child).or_default().push(parent);
    }
    let places = "SELECT tenant, task, lane, tier, attempt, 'ready' FROM ready
        UNION ALL SELECT tenant, task, lane, tier, attempt, 'delayed' FROM delayed
        UNION ALL SELECT tenant, task, lane, tier, attempt, 'blocked' FROM blocked
        UNION ALL SELECT tenant, task, lane, tier, attempt, 'running' FROM lease
        UNION ALL SELECT tenant, task, lane, tier, attempt, state FROM outcome";
    for stored in all(db, places, |row| {
        let (task, lane) = (id(row, 1), row.get::<_, String>(2).unwrap());
        let about = asked.get(&task);
        StoredTask {
            key: about.map(|about| about.title.clone()),
            tenant: id(row, 0),
            pool: lane.split(' ').next().unwrap().to_owned(),
            tier: row.get(3).unwrap(),
            place: place(&row.get::<_, String>(5).unwrap()),
            attempt: row.get(4).unwrap(),
            epoch: None,
            parents: parents.get(&task).cloned().unwrap_or_default(),
            max_attempts: about.map(|about| about.max_attempts),
            task,
        }
    }) {
        recorder.dump(Dump::Task(stored));
    }
}

fn events(db: &Connection, recorder: &Recorder) {
    let sql = "SELECT tenant, seq, kind, at, payload FROM event ORDER BY tenant, seq";
    for event in all(db, sql, |row| {
        let payload: Value = serde_json::from_str(&row.get::<_, String>(4).unwrap()).unwrap();
        let text = |name: &str| payload[name].as_str().map(str::to_owned);
        let kind: String = row.get(2).unwrap();
        let of_task = kind.starts_with("task:");
        Event {
            tenant: id(row, 0),
            seq: row.get::<_, i64>(1).unwrap().try_into().unwrap(),
            at: row.get(3).unwrap(),
            task: text("task").filter(|_| of_task),
            attempt: payload["attempt"].as_u64().map(|attempt| attempt.try_into().unwrap()),
            tier: text("priority").map(|name| tier(&name)),
            pool: text("pool"),
            delay_us: payload["delayUs"].as_i64(),
            kind,
        }
    }) {
        recorder.dump(Dump::Event(event));
    }
}
