//! I10, conservation: as many tasks are stored as were accepted, and the depth that the server
//! reports is the depth that is there.

use std::collections::BTreeMap;

use crate::record::{Depth, Place};
use crate::verdict::{Finding, Rule, Verdict};
use crate::world::{NameNo, World};

/// A pool, a tier and a place.
type Cell = (NameNo, u8, Place);

/// What is there, and what the server says.
#[derive(Debug, Default)]
pub(crate) struct Depths {
    counted: BTreeMap<Cell, u64>,
    reported: BTreeMap<Cell, (u64, u64)>,
}

impl Depths {
    pub(crate) fn counted(&mut self, cell: Cell) {
        *self.counted.entry(cell).or_default() += 1;
    }

    pub(crate) fn reported(&mut self, world: &mut World, line: u64, depth: &Depth) {
        let cell = (world.name_no(&depth.pool), depth.tier, depth.place);
        self.reported.insert(cell, (depth.count, line));
    }

    pub(crate) fn at_end(&self, world: &World, verdict: &mut Verdict) {
        let stored = world.tasks.iter().filter(|task| task.stored.is_some()).count();
        let queued = world.tasks.iter().filter(|task| task.life.place.is_some()).count();
        verdict.expect(Rule::I10, stored == queued, || {
            Finding::general(&[], format!("{stored} tasks are stored, {queued} were queued"))
        });
        for ((pool, tier, place), (reported, line)) in &self.reported {
            let counted = self.counted.get(&(*pool, *tier, *place)).copied().unwrap_or_default();
            verdict.expect(Rule::I10, counted == *reported, || {
                let (pool, place) = (world.name(*pool), place.name());
                let message = format!(
                    "pool {pool} tier {tier} has {counted} {place}, {reported} are reported"
                );
                Finding::general(&[*line], message)
            });
        }
        let unsaid = |cell: &&Cell| !cell.2.is_terminal() && !self.reported.contains_key(cell);
        for cell @ (pool, tier, place) in self.counted.keys().filter(unsaid) {
            let (pool, place, counted) = (world.name(*pool), place.name(), self.counted[cell]);
            let message =
                format!("pool {pool} tier {tier} has {counted} {place}, none is reported");
            verdict.note(Rule::I10, Finding::general(&[], message));
        }
    }
}
