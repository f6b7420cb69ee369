//! What is over for long: tasks, runs and teams that nothing depends on any more.

use std::collections::HashMap;

use godel_model::{RunId, TaskId, TaskState, TeamId, from_micros, micros};
use jiff::Timestamp;

use crate::statement::{Param, statements};
use crate::{Error, Result, Tx};

statements! {
    OLD_TASKS = "attic_tasks":
        "SELECT o.task, o.at, o.state, t.created_at, t.owner_kind, t.owner
         FROM outcome o JOIN task t ON t.tenant = o.tenant AND t.id = o.task
         WHERE o.tenant = $1 AND o.task > $2 AND t.id > $2 ORDER BY o.task LIMIT $3";
    OPEN_RUN = "attic_open_run":
        "SELECT 1 FROM run WHERE tenant = $1 AND id = $2
           AND state NOT IN ('completed', 'failed', 'cancelled')";
    NEEDED = "attic_needed":
        "SELECT 1 FROM dependency d WHERE d.tenant = $1 AND d.parent = $2
           AND NOT EXISTS (SELECT 1 FROM outcome o WHERE o.tenant = d.tenant AND o.task = d.child)
         LIMIT 1";
    DROP_OUTCOME = "attic_outcome": "DELETE FROM outcome WHERE tenant = $1 AND task = $2";
    DROP_ATTEMPTS = "attic_attempts": "DELETE FROM attempt WHERE tenant = $1 AND task = $2";
    DROP_PARENTS = "attic_parents": "DELETE FROM dependency WHERE tenant = $1 AND child = $2";
    DROP_CHILDREN = "attic_children": "DELETE FROM dependency WHERE tenant = $1 AND parent = $2";
    DROP_DEADLINE = "attic_deadline": "DELETE FROM task_deadline WHERE tenant = $1 AND task = $2";
    DROP_TASK = "attic_task": "DELETE FROM task WHERE tenant = $1 AND id = $2";
    OLD_RUNS = "attic_runs":
        "SELECT r.id, r.updated_at, r.created_at, r.state, p.id, t.id
         FROM run r
         LEFT JOIN run p ON p.tenant = r.tenant AND p.id = r.parent
             AND p.state NOT IN ('completed', 'failed', 'cancelled')
         LEFT JOIN team t ON t.tenant = r.tenant AND t.id = r.team
             AND t.state NOT IN ('completed', 'failed', 'cancelled')
         WHERE r.tenant = $1 AND r.id > $2 ORDER BY r.id LIMIT $3";
    OPEN_TASK = "attic_open_task":
        "SELECT 1 FROM task t WHERE t.tenant = $1 AND t.owner_kind = 'run' AND t.owner = $2
           AND NOT EXISTS (SELECT 1 FROM outcome o WHERE o.tenant = t.tenant AND o.task = t.id)
         LIMIT 1";
    OPEN_CHILD = "attic_open_child":
        "SELECT 1 FROM run WHERE tenant = $1 AND parent = $2
           AND state NOT IN ('completed', 'failed', 'cancelled') LIMIT 1";
    SOME_STEPS = "attic_steps":
        "DELETE FROM run_step WHERE tenant = $1 AND run = $2
           AND step IN (SELECT step FROM run_step WHERE tenant = $3 AND run = $4 LIMIT $5)";
    DROP_PLAN = "attic_plan": "DELETE FROM run_plan WHERE tenant = $1 AND run = $2";
    DROP_RUN = "attic_run": "DELETE FROM run WHERE tenant = $1 AND id = $2";
    DROP_ALARMS = "attic_alarms":
        "DELETE FROM alarm WHERE tenant = $1 AND owner_kind = $2 AND owner = $3";
    DROP_NEWS = "attic_news":
        "DELETE FROM task_news WHERE tenant = $1 AND owner_kind = $2 AND owner = $3";
    OLD_TEAMS = "attic_teams":
        "SELECT id FROM team WHERE tenant = $1 AND updated_at < $2
           AND state IN ('completed', 'failed', 'cancelled') LIMIT $3";
    DROP_TEAM = "attic_team": "DELETE FROM team WHERE tenant = $1 AND id = $2";
}

/// Until when things must have ended to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// Dead letters.
    pub dead: Timestamp,
    /// Everything else.
    pub others: Timestamp,
}

impl Before {
    fn latest(self) -> Timestamp {
        self.dead.max(self.others)
    }
}

/// How far a look at old things came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looked<I> {
    /// How many were removed.
    pub removed: u64,
    /// Where to go on; none if all that is old enough was looked at.
    pub next: Option<I>,
}

/// What is over of a tenant.
pub struct Attic<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Attic<'_, '_> {
    /// Removes tasks that are over for long, from behind an id on, and looks at no more than a
    /// limit.
    ///
    /// # Errors
    /// If the database fails.
    pub fn tasks(&mut self, before: Before, after: TaskId, limit: usize) -> Result<Looked<TaskId>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [own, Param::Uuid(after.uuid()), Param::Int(limit as i64)];
        let old = self.tx.conn.query(&OLD_TASKS, &params, |row| {
            let state = row.text(2)?.parse::<TaskState>().map_err(|cause| Error::Unreadable {
                what: "state of a task",
                cause: cause.into(),
            })?;
            let times = (from_micros(row.int(1)?), from_micros(row.int(3)?));
            let is_of_run = row.opt_text(4)?.as_deref() == Some("run");
            let run = row.opt_text(5)?.filter(|_| is_of_run).and_then(|run| run.parse().ok());
            Ok((TaskId::from_uuid(row.uuid(0)?), state, times, run))
        })?;
        // What was made later cannot have ended earlier.
        let more = old.len() == limit
            && old.last().is_some_and(|(_, _, (_, made), _)| *made < before.latest());
        let next = old.last().filter(|_| more).map(|(task, ..)| *task);
        let mut removed = 0;
        let mut open = HashMap::new();
        for (task, state, (ended, _), run) in old {
            let until = if state == TaskState::Dead { before.dead } else { before.others };
            let params = [own, Param::Uuid(task.uuid())];
            if ended >= until
                || self.tx.conn.first(&NEEDED, &params, |_| Ok(()))?.is_some()
                || self.is_open(run, &mut open)?
            {
                continue;
            }
            for statement in [
                &DROP_OUTCOME,
                &DROP_ATTEMPTS,
                &DROP_PARENTS,
                &DROP_CHILDREN,
                &DROP_DEADLINE,
                &DROP_TASK,
            ] {
                self.tx.conn.execute(statement, &params)?;
            }
            removed += 1;
        }
        Ok(Looked { removed, next })
    }

    /// Tells whether a run is not over: then it still shows its tasks, and may come back to them.
    fn is_open(&mut self, run: Option<RunId>, known: &mut HashMap<RunId, bool>) -> Result<bool> {
        let Some(run) = run else { return Ok(false) };
        if let Some(open) = known.get(&run) {
            return Ok(*open);
        }
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(run.uuid())];
        let open = self.tx.conn.first(&OPEN_RUN, &params, |_| Ok(()))?.is_some();
        known.insert(run, open);
        Ok(open)
    }

    /// Lists runs that are over for long and that nothing unfinished belongs to, from behind an id
    /// on; looks at no more than a limit.
    ///
    /// # Errors
    /// If the database fails.
    pub fn runs(
        &mut self,
        before: Timestamp,
        after: RunId,
        limit: usize,
    ) -> Result<(Vec<RunId>, Option<RunId>)> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [own, Param::Uuid(after.uuid()), Param::Int(limit as i64)];
        let found = self.tx.conn.query(&OLD_RUNS, &params, |row| {
            let over = matches!(row.text(3)?.as_str(), "completed" | "failed" | "cancelled");
            let free = row.opt_uuid(4)?.is_none() && row.opt_uuid(5)?.is_none();
            let times = (from_micros(row.int(1)?), from_micros(row.int(2)?));
            Ok((RunId::from_uuid(row.uuid(0)?), times, over && free))
        })?;
        let more = found.len() == limit && found.last().is_some_and(|(_, t, _)| t.1 < before);
        let next = found.last().filter(|_| more).map(|(run, ..)| *run);
        let mut old = Vec::new();
        for (run, (ended, _), free) in found {
            if free && ended < before && !self.is_needed(run)? {
                old.push(run);
            }
        }
        Ok((old, next))
    }

    fn is_needed(&mut self, run: RunId) -> Result<bool> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let (text, id) = (run.to_string(), Param::Uuid(run.uuid()));
        let conn = &mut self.tx.conn;
        Ok(conn.first(&OPEN_TASK, &[own, Param::Text(&text)], |_| Ok(()))?.is_some()
            || conn.first(&OPEN_CHILD, &[own, id], |_| Ok(()))?.is_some())
    }

    /// Removes a run, no more than a limit of its steps at a time; `false` if some are left.
    ///
    /// # Errors
    /// If the database fails.
    pub fn drop_run(&mut self, run: RunId, limit: usize) -> Result<bool> {
        let (own, id) = (Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(run.uuid()));
        let some = [own, id, own, id, Param::Int(limit as i64)];
        if self.tx.conn.execute(&SOME_STEPS, &some)? == limit as u64 {
            return Ok(false);
        }
        self.tx.conn.execute(&DROP_PLAN, &[own, id])?;
        self.tx.conn.execute(&DROP_RUN, &[own, id])?;
        let text = run.to_string();
        let owner = [own, Param::Text("run"), Param::Text(&text)];
        self.tx.conn.execute(&DROP_ALARMS, &owner)?;
        self.tx.conn.execute(&DROP_NEWS, &owner)?;
        Ok(true)
    }

    /// Removes teams that are over for long; returns how many, at most a limit.
    ///
    /// # Errors
    /// If the database fails.
    pub fn teams(&mut self, before: Timestamp, limit: usize) -> Result<u64> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [own, Param::Int(micros(before)), Param::Int(limit as i64)];
        let read = |row: &crate::statement::Row<'_>| Ok(TeamId::from_uuid(row.uuid(0)?));
        let old = self.tx.conn.query(&OLD_TEAMS, &params, read)?;
        for team in &old {
            let text = team.to_string();
            self.tx.conn.execute(&DROP_TEAM, &[own, Param::Uuid(team.uuid())])?;
            let owner = [own, Param::Text("team"), Param::Text(&text)];
            self.tx.conn.execute(&DROP_ALARMS, &owner)?;
        }
        Ok(old.len() as u64)
    }
}
