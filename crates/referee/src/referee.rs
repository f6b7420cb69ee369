//! Hears a history record by record, and says what it thinks of it.

use std::io::BufRead;

use crate::clients::{self, Clients, Said};
use crate::error::{Error, story};
use crate::record::{Lease, Record};
use crate::rules::i08_log::Seen;
use crate::tables::Tables;
use crate::verdict::Verdict;
use crate::world::World;

/// Hears records in their order; needs memory for tasks, not for records.
#[derive(Debug, Default)]
pub struct Referee {
    world: World,
    clients: Clients,
    tables: Tables,
    verdict: Verdict,
}

impl Referee {
    /// Hears the next record, the first being line 1.
    pub fn hear(&mut self, record: &Record) -> Result<(), Error> {
        self.verdict.records += 1;
        let line = self.verdict.records;
        let Self { world, clients, tables, verdict } = self;
        match record {
            Record::Begin(begin) if line == 1 => world.begin = begin.clone(),
            Record::Begin(_) => return Err(story(line, "a history begins with its first line")),
            Record::Invoke { op, what, .. } => clients.invoke(world, line, *op, what)?,
            Record::Ok { op, answer, .. } => {
                clients.ok(world, verdict, Said { line, op: *op, answer })?;
            }
            Record::Fail { op, .. } => clients.fail(world, line, *op)?,
            Record::Unknown { op, .. } => clients.unknown(line, *op)?,
            Record::Expire { task, attempt, at } => {
                let lease = Lease { task: task.clone(), attempt: *attempt };
                clients::expire(world, line, &lease, *at);
            }
            Record::Seen { by, tenant, seqs, only } => {
                let tenant = world.name_no(tenant);
                let seen = Seen { by, tenant, seqs, only: only.as_deref(), line };
                tables.seen(world, verdict, seen);
            }
            Record::Cut { .. } => world.cut = line,
            Record::Quiesced { pool, .. } => clients.quiesce(world, pool.as_deref(), line),
            Record::Drained { .. } => world.drained = line,
            Record::Dump(dump) => tables.hear(world, verdict, (line, dump))?,
        }
        Ok(())
    }

    /// Says what it thinks of all that it heard.
    pub fn judge(mut self) -> Result<Verdict, Error> {
        let line = self.verdict.records;
        self.tables.finish(&self.world, &mut self.verdict, line)?;
        self.verdict.tasks = self.world.tasks.len() as u64;
        Ok(self.verdict)
    }
}

/// Reads a history and judges it.
pub fn check(mut history: impl BufRead) -> Result<Verdict, Error> {
    let mut referee = Referee::default();
    let (mut text, mut line) = (Vec::new(), 0);
    loop {
        line += 1;
        text.clear();
        let read = history.read_until(b'\n', &mut text);
        if read.map_err(|source| Error::Read { line, source })? == 0 {
            return referee.judge();
        }
        let record = serde_json::from_slice(&text)
            .map_err(|error| Error::Format { line, message: error.to_string() })?;
        referee.hear(&record)?;
    }
}
