//! The writer on a disk that is full, and beside somebody who reads for long.

use std::collections::VecDeque;

use godel_model::{Clock as _, Mint, NewEvent, Payload, Source, SystemClock, Tenant};

use super::*;
use crate::job::{Answer, job};
use crate::{Durability, Scope};

fn event(bytes: usize) -> NewEvent {
    NewEvent {
        id: Mint::system().id(),
        kind: "test:fill".parse().unwrap(),
        at: SystemClock.now(),
        source: Source::component("test"),
        payload: Payload::of(&"x".repeat(bytes)),
        metadata: godel_model::Metadata::default(),
    }
}

fn append(tenant: TenantId, bytes: usize) -> (Box<dyn Job>, Answer<(), Error>) {
    let event = event(bytes);
    job(Scope::Tenant(tenant), move |tx| tx.record(event.clone()))
}

/// Opens a writer on a file with one tenant.
fn open(name: &str) -> (tempfile::TempDir, Writer, TenantId) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    let conn = crate::sqlite::schema::open_migrated(&path, Durability::Full).unwrap();
    let mover = Mover::start(&path, Durability::Full).unwrap();
    let (hub, seal) = (Arc::new(Hub::default()), Arc::new(Seal::default()));
    let mut writer = Writer::new(conn, mover, (hub, seal, Damage::default()));
    let tenant = TenantId::from_uuid(Mint::system().id::<godel_model::EventId>().uuid());
    let first = Tenant {
        id: tenant,
        name: "t".parse().unwrap(),
        created_at: SystemClock.now(),
        disabled_at: None,
    };
    let (job, _made) = job::<_, Error, _>(Scope::System, move |tx| tx.tenants().insert(&first));
    writer.commit(std::iter::once(job));
    (dir, writer, tenant)
}

fn positions(writer: &Writer) -> (Vec<i64>, i64) {
    let mut list = writer.conn.prepare("SELECT seq FROM event ORDER BY seq").unwrap();
    let seqs = list.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let head = writer.conn.query_row("SELECT seq FROM stream_head", [], |row| row.get(0));
    (seqs, head.unwrap())
}

#[test]
fn people_are_told_of_who_reads_for_so_long_that_the_log_grows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("held.db");
    let conn = crate::sqlite::schema::open_migrated(&path, Durability::Full).unwrap();
    let mover = Mover::start(&path, Durability::Full).unwrap();
    let (hub, seal) = (Arc::new(Hub::default()), Arc::new(Seal::default()));
    let mut writer = Writer::new(conn, mover, (hub, seal, Damage::default()));
    let reader = crate::sqlite::open_reader(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT COUNT(*) FROM tenant").unwrap();
    writer.conn.execute_batch("CREATE TABLE filled (bytes BLOB)").unwrap();
    let fill = |writer: &Writer| {
        writer.conn.execute("INSERT INTO filled VALUES (zeroblob(35000000))", []).unwrap();
    };
    fill(&writer);
    writer.move_if_large();
    assert!(!writer.held, "a log may be so large for a while");
    fill(&writer);
    writer.move_if_large();
    assert!(writer.held);
    reader.execute_batch("COMMIT").unwrap();
    writer.move_if_large();
    assert!(!writer.held);
}

#[test]
fn a_name_that_is_taken_out_of_the_log_does_not_come_back_by_what_was_on_its_way() {
    let (_dir, mut writer, tenant) = open("names.db");
    let said_by = |name: &str| {
        let mut event = event(10);
        event.metadata.actor = Some(name.to_owned());
        job::<_, Error, _>(Scope::Tenant(tenant), move |tx| tx.record(event.clone()))
    };
    let erase = |tx: &mut Tx<'_>| tx.events().rename_actor((0, i64::MAX), "ann", "erased");
    let (erase, _erased) = job::<_, Error, _>(Scope::Tenant(tenant), erase);
    // Before it in the same batch, and behind it.
    let (jobs, _answers): (Vec<_>, Vec<_>) = ["ann", "bob", "ann"].map(said_by).into_iter().unzip();
    let mut jobs = VecDeque::from(jobs);
    let last = jobs.pop_back();
    writer.commit(jobs.into_iter().chain([erase]).chain(last));
    let mut list = writer.conn.prepare("SELECT actor FROM event ORDER BY seq").unwrap();
    let names: Vec<String> =
        list.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(names, ["erased", "bob", "erased"]);
    drop(list);
    // It is over with that batch: whoever has the name later keeps it.
    let (later, _answer) = said_by("ann");
    writer.commit(std::iter::once(later));
    let last = "SELECT actor FROM event ORDER BY seq DESC LIMIT 1";
    let last: String = writer.conn.query_row(last, [], |row| row.get(0)).unwrap();
    assert_eq!(last, "ann");
}

#[test]
fn a_full_disk_commits_nothing_and_leaves_no_gap_behind() {
    let (_dir, mut writer, tenant) = open("full.db");
    for (large, small) in [(40, 30), (0, 1)] {
        let pages: i64 = writer.conn.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        let limit = format!("PRAGMA max_page_count = {}", pages + 60);
        writer.conn.query_row(&limit, [], |_| Ok(())).unwrap();
        let sizes = std::iter::repeat_n(60_000, large).chain(std::iter::repeat_n(10, small));
        let (jobs, answers): (Vec<_>, Vec<_>) = sizes.map(|bytes| append(tenant, bytes)).unzip();
        let total = jobs.len();
        writer.commit(jobs.into_iter());
        let refused = answers.into_iter().map(|mut answer| answer.try_recv().unwrap());
        let refused = refused.filter(|answer| matches!(answer, Err(Error::DiskFull))).count();
        assert_eq!(refused, if large > 0 { total } else { 0 }, "a batch shares its fate");
        let (seqs, head) = positions(&writer);
        assert_eq!(seqs, (1..=head).collect::<Vec<_>>(), "no gap, and the head is true");
    }
    assert_eq!(positions(&writer).1, 1, "what was refused is not there");
}
