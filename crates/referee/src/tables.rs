//! The server's side of a history: its tables, its depth and its log at the end.

use crate::error::{Error, story};
use crate::life::{Step, Waits};
use crate::moment::Moment;
use crate::record::{Dump, Event, StoredTask};
use crate::rules::{
    i01_loss, i02_ghost, i03_attempts, i04_lease, i05_fence, i06_final, i08_log, i09_dag,
    i10_conservation, i11_backoff, i12_durable,
};
use crate::verdict::Verdict;
use crate::world::{Stored, TaskNo, World};

/// What the dump has told so far.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    tasks: u64,
    events: u64,
    begun: bool,
    ended: bool,
    logs: i08_log::Logs,
    depths: i10_conservation::Depths,
}

impl Tables {
    pub(crate) fn seen(&mut self, world: &mut World, verdict: &mut Verdict, seen: i08_log::Seen) {
        self.logs.seen(world, verdict, seen);
    }

    pub(crate) fn hear(
        &mut self,
        world: &mut World,
        verdict: &mut Verdict,
        (line, dump): (u64, &Dump),
    ) -> Result<(), Error> {
        self.begun = true;
        if self.ended {
            return Err(story(line, "the dump goes on after its end"));
        }
        match dump {
            Dump::Task(task) => {
                if self.events > 0 {
                    return Err(story(line, "a task of the dump comes after an event"));
                }
                self.tasks += 1;
                self.store(world, verdict, (line, task));
            }
            Dump::Depth(depth) => self.depths.reported(world, line, depth),
            Dump::Log { tenant, head } => {
                let tenant = world.name_no(tenant);
                self.logs.head(tenant, *head, line);
            }
            Dump::Event(event) => {
                if self.events == 0 {
                    i09_dag::join(world, verdict);
                }
                self.events += 1;
                self.happen(world, verdict, (line, event));
            }
            Dump::End { tasks, events } => {
                if (*tasks, *events) != (self.tasks, self.events) {
                    let message = format!(
                        "the dump holds {} tasks and {} events, not {tasks} and {events}",
                        self.tasks, self.events
                    );
                    return Err(story(line, message));
                }
                if self.events == 0 {
                    i09_dag::join(world, verdict);
                }
                self.ended = true;
            }
        }
        Ok(())
    }

    /// Looks at the whole; a history without a dump is judged by its answers only.
    pub(crate) fn finish(
        &mut self,
        world: &World,
        verdict: &mut Verdict,
        line: u64,
    ) -> Result<(), Error> {
        if !self.begun {
            return Ok(());
        }
        if !self.ended {
            return Err(story(line, "the dump has no end"));
        }
        i01_loss::at_end(world, verdict);
        i02_ghost::at_end(world, verdict);
        i06_final::at_end(world, verdict);
        self.logs.at_end(world, verdict);
        i08_log::fold_is_table(world, verdict);
        i09_dag::at_end(world, verdict);
        self.depths.at_end(world, verdict);
        i11_backoff::at_end(world, verdict, |tenant| self.logs.last(tenant));
        i12_durable::at_end(world, verdict);
        Ok(())
    }

    fn store(&mut self, world: &mut World, verdict: &mut Verdict, (line, row): (u64, &StoredTask)) {
        let (tenant, pool) = (world.name_no(&row.tenant), world.name_no(&row.pool));
        let no = world.task_no(&row.task);
        let key = row.key.as_deref();
        let ask = key.map(|key| world.ask_no(tenant, key));
        let by_engine = key.is_some_and(|key| world.is_engine_key(key));
        i01_loss::stored(world, verdict, (no, ask), line);
        let known = world[no].asked;
        if let Some(ask) = ask {
            world[ask].task.get_or_insert(no);
            world[no].asked.get_or_insert(ask);
        }
        let parents = row.parents.iter().map(|parent| world.task_no(parent)).collect();
        let (place, attempt, epoch) = (row.place, row.attempt, row.epoch);
        let max_attempts = row.max_attempts;
        let stored = Stored { place, attempt, epoch, tenant, pool, max_attempts, by_engine, line };
        let task = &mut world[no];
        task.stored = Some(stored);
        task.parents = parents;
        i02_ghost::stored(world, verdict, (no, known, ask), row.tier);
        self.depths.counted((pool, row.tier, place));
    }

    fn happen(&mut self, world: &mut World, verdict: &mut Verdict, (line, event): (u64, &Event)) {
        let tenant = world.name_no(&event.tenant);
        self.logs.position(world, verdict, (tenant, event), line);
        let (Some(step), Some(id)) = (Step::of(&event.kind), event.task.as_deref()) else { return };
        let no = world.task_no(id);
        let moment = Moment { world, no, step, event, line };
        i03_attempts::at_event(&moment, verdict);
        i04_lease::at_event(&moment, verdict);
        i05_fence::at_event(&moment, verdict);
        i06_final::at_event(&moment, verdict);
        i08_log::at_event(&moment, verdict);
        i09_dag::at_event(&moment, verdict);
        i11_backoff::at_event(&moment, verdict);
        i12_durable::at_event(&moment, verdict);
        i12_durable::forget(world, no, step, event);
        let waits = waits(world, no, step, event);
        world[no].life.follow(step, event, line, waits);
    }
}

/// What a task waits for after a step.
fn waits(world: &World, no: TaskNo, step: Step, event: &Event) -> Waits {
    let after = |delay: i64| event.at.saturating_add(delay);
    let told = event.delay_us.map(after);
    let asked = world.ask_of(no).filter(|asked| asked.asks > 0);
    let start_at = asked.and_then(|asked| asked.start_at);
    let parents = world.awaited(no).is_some();
    match step {
        Step::Queued => {
            let delay = asked.and_then(|asked| asked.delay).map(after);
            Waits { parents, due: start_at.or(delay).or(told) }
        }
        Step::Replayed => Waits { parents, due: start_at.or(told) },
        _ => Waits { parents: false, due: told },
    }
}
