//! What the queue says of itself at the end.

use std::collections::BTreeMap;

use godel_referee::{Depth, Dump, Event, Place, StoredTask};

use crate::driver::Driver;
use crate::mutant::Mutant;
use crate::queue::name;

pub(crate) fn write(driver: &mut Driver) {
    write_tasks(driver);
    for (tenant, mut log) in std::mem::take(&mut driver.queue.disk.logs) {
        // Two commits in another order than their numbers.
        let swap = (1..log.len()).find(|at| log[*at].at > log[at - 1].at + 100);
        if let Some(at) = swap.filter(|_| driver.queue.teeth.bite(Mutant::EventOrder)) {
            log.swap(at, at - 1);
            let seq = log[at].seq;
            log[at].seq = log[at - 1].seq;
            log[at - 1].seq = seq;
        }
        let head = log.last().map_or(0, |event: &Event| event.seq);
        driver.recorder.dump(Dump::Log { tenant, head });
        for event in log {
            driver.recorder.dump(Dump::Event(event));
        }
    }
    driver.recorder.dump_end();
}

fn write_tasks(driver: &mut Driver) {
    let mut depths = BTreeMap::new();
    for no in 0..driver.queue.disk.tasks.len() {
        if driver.queue.is_gone(no) {
            continue;
        }
        let task = &driver.queue.disk.tasks[no];
        let mut row = StoredTask {
            task: name(no),
            key: Some(task.ask.key.clone()),
            tenant: task.ask.tenant.clone(),
            pool: task.ask.pool.clone(),
            tier: task.ask.tier,
            place: task.place,
            attempt: task.attempt,
            epoch: (no % 2 == 0).then_some(task.epoch),
            parents: task.parents.iter().map(|parent| name(*parent)).collect(),
            max_attempts: Some(task.ask.max_attempts),
        };
        if row.place == Place::Done && driver.queue.teeth.bite(Mutant::EventDisagrees) {
            row.place = Place::Dead;
        }
        *depths.entry((row.pool.clone(), row.tier, row.place)).or_insert(0) += 1;
        if no % 10 == 3 && driver.queue.teeth.bite(Mutant::TwoPlaces) {
            driver.recorder.dump(Dump::Task(row.clone()));
        }
        driver.recorder.dump(Dump::Task(row));
    }
    for ((pool, tier, place), count) in depths {
        let off = u64::from(driver.queue.teeth.bite(Mutant::DepthOff));
        driver.recorder.dump(Dump::Depth(Depth { pool, tier, place, count: count + off }));
    }
}
