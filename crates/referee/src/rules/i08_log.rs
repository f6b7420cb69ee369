//! I8, the log: each tenant's events are 1, 2, 3 and so on in the order of what happened, folding
//! them gives the tables, and a subscriber sees each once and in order.

use std::collections::BTreeMap;

use crate::life::Step;
use crate::moment::Moment;
use crate::record::{Event, Place};
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{NameNo, TaskNo, World};

/// Where the log of each tenant is, and who reads it.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    tenants: BTreeMap<NameNo, Log>,
}

#[derive(Debug, Default)]
struct Log {
    seq: u64,
    at: Option<i64>,
    line: u64,
    head: Option<(u64, u64)>,
    readers: BTreeMap<String, Reader>,
}

/// What a subscriber got, and what it should have got between its first and its last event.
#[derive(Debug, Default)]
struct Reader {
    only: Option<String>,
    first: u64,
    last: u64,
    line: u64,
    got: Sum,
    due: Sum,
}

/// Two runs of rising numbers with the same sum and the same length, one of them all that there is,
/// are the same: enough to notice what is missing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Sum {
    count: u64,
    total: u128,
}

impl Sum {
    fn add(&mut self, seq: u64) {
        self.count += 1;
        self.total += u128::from(seq);
    }
}

/// What a subscriber got.
pub(crate) struct Seen<'a> {
    pub(crate) by: &'a str,
    pub(crate) tenant: NameNo,
    pub(crate) seqs: &'a [u64],
    pub(crate) only: Option<&'a str>,
    pub(crate) line: u64,
}

impl Logs {
    /// A subscriber never goes back.
    pub(crate) fn seen(&mut self, world: &World, verdict: &mut Verdict, seen: Seen<'_>) {
        let log = self.tenants.entry(seen.tenant).or_default();
        if !log.readers.contains_key(seen.by) {
            let only = seen.only.map(str::to_owned);
            log.readers.insert(seen.by.to_owned(), Reader { only, ..Reader::default() });
        }
        let Some(reader) = log.readers.get_mut(seen.by) else { return };
        for seq in seen.seqs {
            verdict.expect(Rule::I8, *seq > reader.last, || {
                let tenant = world.name(seen.tenant);
                let message = format!(
                    "subscriber {} of tenant {tenant} got event {seq} after event {}",
                    seen.by, reader.last
                );
                Finding::general(&[reader.line, seen.line], message)
            });
            if *seq > reader.last {
                reader.got.add(*seq);
                reader.last = *seq;
            }
            if reader.first == 0 {
                reader.first = *seq;
            }
            reader.line = seen.line;
        }
    }

    pub(crate) fn head(&mut self, tenant: NameNo, head: u64, line: u64) {
        self.tenants.entry(tenant).or_default().head = Some((head, line));
    }

    /// An event follows the one before it, in number and in time.
    pub(crate) fn position(
        &mut self,
        world: &World,
        verdict: &mut Verdict,
        (tenant, event): (NameNo, &Event),
        line: u64,
    ) {
        let log = self.tenants.entry(tenant).or_default();
        let (seq, last) = (event.seq, log.seq);
        verdict.expect(Rule::I8, seq == last + 1, || {
            let message = match seq {
                _ if seq == last => {
                    format!("event {seq} of tenant {} is there twice", event.tenant)
                }
                _ if seq < last => {
                    format!("event {seq} of tenant {} comes after event {last}", event.tenant)
                }
                _ => format!("tenant {} has no event between {last} and {seq}", event.tenant),
            };
            Finding::general(&[log.line, line], message)
        });
        let skewed = event.at.saturating_add(world.begin.skew);
        if let Some(at) = log.at.filter(|at| skewed < *at) {
            let message = format!(
                "event {seq} of tenant {} happened at {}, before the one before it at {at}",
                event.tenant, event.at
            );
            verdict.note(Rule::I8, Finding::general(&[log.line, line], message));
        }
        log.seq = seq.max(last);
        log.at = log.at.max(Some(event.at));
        log.line = line;
        for reader in log.readers.values_mut() {
            let wanted = reader.only.as_ref().is_none_or(|only| event.kind.starts_with(only));
            if wanted && (reader.first..=reader.last).contains(&seq) {
                reader.due.add(seq);
            }
        }
    }

    /// When the last event of a tenant happened.
    pub(crate) fn last(&self, tenant: NameNo) -> Option<i64> {
        self.tenants.get(&tenant)?.at
    }

    /// The log is as long as it is said to be, and nobody missed anything.
    pub(crate) fn at_end(&self, world: &World, verdict: &mut Verdict) {
        for (tenant, log) in &self.tenants {
            let tenant = world.name(*tenant);
            if let Some((head, line)) = log.head {
                verdict.expect(Rule::I8, head == log.seq, || {
                    let message =
                        format!("the log of tenant {tenant} ends at {}, not at {head}", log.seq);
                    Finding::general(&[line, log.line], message)
                });
            }
            for (by, reader) in &log.readers {
                verdict.expect(Rule::I8, reader.got == reader.due, || {
                    let message = format!(
                        "subscriber {by} of tenant {tenant} got {} of {} events from {} to {}, \
                         or others",
                        reader.got.count, reader.due.count, reader.first, reader.last
                    );
                    Finding::general(&[reader.line], message)
                });
            }
        }
    }
}

/// A step is one that can follow, in the log and the pool of its task.
pub(crate) fn at_event(moment: &Moment<'_>, verdict: &mut Verdict) {
    let (world, task, event) = (moment.world, moment.task(), moment.event);
    let place = task.life.place;
    let waits = matches!(place, Some(Place::Delayed | Place::Blocked));
    let follows = match moment.step {
        Step::Queued => place.is_none(),
        Step::Delayed => place == Some(Place::Blocked),
        // A child that never had to wait may be promoted at once; I9 counts.
        Step::Ready => waits || (place.is_some() && !task.parents.is_empty()),
        // That it waits for its parents is told by I9.
        Step::Started => !matches!(place, None | Some(Place::Delayed)),
        _ => place.is_some(),
    };
    let before = place.map_or("not there", Place::name);
    verdict.expect(Rule::I8, follows, || {
        moment.finding(format!("{} when it was {before}", event.kind))
    });
    let tenant = world.tenant_of(moment.no);
    if tenant.is_some_and(|tenant| world.name(tenant) != event.tenant) {
        let message = format!("is in the log of tenant {}, which is not its own", event.tenant);
        verdict.note(Rule::I8, moment.finding(message));
    }
    let pool = task.stored.map(|row| world.name(row.pool));
    if let Some((said, pool)) = event.pool.as_deref().zip(pool).filter(|(said, own)| said != own) {
        let message = format!("{} says pool {said}, the table says {pool}", event.kind);
        verdict.note(Rule::I8, moment.finding(message));
    }
}

/// What the log says has become of each task is what the tables say.
pub(crate) fn fold_is_table(world: &World, verdict: &mut Verdict) {
    for no in world.task_nos() {
        let task = &world[no];
        let (told, row) = (place(world, no), task.stored);
        if told.is_none() && row.is_none() {
            continue;
        }
        let at = row.map(|row| row.place);
        verdict.expect(Rule::I8, told == at, || {
            let (told, at) =
                (told.map_or("not there", Place::name), at.map_or("not there", Place::name));
            let message = format!("the log says that it is {told}, the tables say {at}");
            Finding::of(&task.id, &[task.life.line, row.map_or(0, |row| row.line)], message)
        });
        let Some(row) = row else { continue };
        let epoch = row.epoch.unwrap_or(task.life.epoch);
        let (told, stored) = ((task.life.attempt, task.life.epoch), (row.attempt, epoch));
        if told != stored {
            let message = format!(
                "the log counts {} attempts and {} replays, the tables {} and {}",
                told.0, told.1, stored.0, stored.1
            );
            let lines = [task.life.line, row.line];
            verdict.note(Rule::I8, Finding::of(&task.id, &lines, message));
        }
    }
}

/// Where the log says that a task is. One that waited for its parents and then for its time need not
/// have an event in between.
fn place(world: &World, no: TaskNo) -> Option<Place> {
    let life = &world[no].life;
    match life.place {
        Some(Place::Blocked) if life.due.is_some() && world.awaited(no).is_none() => {
            Some(Place::Delayed)
        }
        place => place,
    }
}
