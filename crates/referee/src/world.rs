//! All that the referee remembers: a little for each task, nothing for each record.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use crate::life::Life;
use crate::record::{Ask, Backoff, Begin, Place};

/// A task that was named anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TaskNo(u32);

/// A tenant's key that was named anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AskNo(u32);

/// A tenant or a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NameNo(u32);

/// What is known of one task.
#[derive(Debug, Default)]
pub(crate) struct Task {
    pub(crate) id: Arc<str>,
    /// The key it was asked for with.
    pub(crate) asked: Option<AskNo>,
    /// Its row in the tables.
    pub(crate) stored: Option<Stored>,
    /// What the log says.
    pub(crate) life: Life,
    pub(crate) parents: Box<[TaskNo]>,
    /// What was answered and not yet found in the log.
    pub(crate) facts: Vec<Fact>,
    /// The newest attempt that a client got, the line that says so, and the database's time.
    pub(crate) newest: (u32, u64, Option<i64>),
    /// How many clients said that it succeeded, without being refused.
    pub(crate) completes: u32,
    /// How many asked to stop it, without being refused.
    pub(crate) cancels: u32,
    /// How many asked to replay it, without being refused.
    pub(crate) replays: u32,
}

/// A row in the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored {
    pub(crate) place: Place,
    pub(crate) attempt: u32,
    pub(crate) epoch: Option<u32>,
    pub(crate) tenant: NameNo,
    pub(crate) pool: NameNo,
    pub(crate) max_attempts: Option<u32>,
    /// Whether the server may have asked for it itself.
    pub(crate) by_engine: bool,
    pub(crate) line: u64,
}

/// A thing that the server has said to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fact {
    pub(crate) done: Done,
    pub(crate) attempt: u32,
    pub(crate) line: u64,
    pub(crate) at: Option<i64>,
    pub(crate) delay: Option<i64>,
}

/// What can be done to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    Claimed,
    Completed,
    Failed,
    Progressed,
    Released,
    Cancelled,
    Replayed,
    Expired,
}

impl Done {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claimed => "claim",
            Self::Completed => "completion",
            Self::Failed => "failure",
            Self::Progressed => "progress",
            Self::Released => "release",
            Self::Cancelled => "cancellation",
            Self::Replayed => "replay",
            Self::Expired => "expiry",
        }
    }
}

/// What is known of one idempotency key.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) key: Arc<str>,
    pub(crate) tenant: NameNo,
    pub(crate) pool: NameNo,
    pub(crate) tier: u8,
    pub(crate) max_attempts: u32,
    pub(crate) delay: Option<i64>,
    pub(crate) start_at: Option<i64>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) parents: Box<[AskNo]>,
    /// The task that it became, by an answer or by the tables.
    pub(crate) task: Option<TaskNo>,
    /// The line of the first yes, or 0.
    pub(crate) accepted: u64,
    /// The line that asked, or 0 if it is only named as a parent.
    pub(crate) line: u64,
    /// How many asked without being refused.
    pub(crate) asks: u32,
    /// The leases in whose name it was asked for.
    pub(crate) holders: Vec<(TaskNo, u32)>,
    /// Whether it was asked for without a lease too.
    pub(crate) freely: bool,
}

/// Everything that is remembered.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) begin: Begin,
    pub(crate) tasks: Vec<Task>,
    pub(crate) asked: Vec<Asked>,
    /// The last line at which the power was cut, or 0.
    pub(crate) cut: u64,
    /// The line at which the queue was said to be dry, or 0.
    pub(crate) drained: u64,
    /// Who waits for whom, from above.
    pub(crate) children: HashMap<TaskNo, Vec<TaskNo>>,
    /// Whether somebody replayed by a filter.
    pub(crate) replay_any: bool,
    ids: HashMap<Arc<str>, TaskNo>,
    keys: HashMap<(NameNo, Arc<str>), AskNo>,
    names: HashMap<Arc<str>, NameNo>,
    texts: Vec<Arc<str>>,
}

impl World {
    pub(crate) fn name_no(&mut self, text: &str) -> NameNo {
        if let Some(no) = self.names.get(text) {
            return *no;
        }
        let (text, no) = (Arc::<str>::from(text), NameNo(number(self.texts.len())));
        self.texts.push(Arc::clone(&text));
        self.names.insert(text, no);
        no
    }

    pub(crate) fn name(&self, no: NameNo) -> &str {
        &self.texts[no.0 as usize]
    }

    pub(crate) fn task_no(&mut self, id: &str) -> TaskNo {
        if let Some(no) = self.ids.get(id) {
            return *no;
        }
        let (id, no) = (Arc::<str>::from(id), TaskNo(number(self.tasks.len())));
        self.tasks.push(Task { id: Arc::clone(&id), ..Task::default() });
        self.ids.insert(id, no);
        no
    }

    pub(crate) fn find_task(&self, id: &str) -> Option<TaskNo> {
        self.ids.get(id).copied()
    }

    pub(crate) fn task_nos(&self) -> impl Iterator<Item = TaskNo> + use<> {
        (0..number(self.tasks.len())).map(TaskNo)
    }

    /// The key of a tenant; one that is only named has no line.
    pub(crate) fn ask_no(&mut self, tenant: NameNo, key: &str) -> AskNo {
        let key = Arc::<str>::from(key);
        if let Some(no) = self.keys.get(&(tenant, Arc::clone(&key))) {
            return *no;
        }
        let no = AskNo(number(self.asked.len()));
        self.keys.insert((tenant, Arc::clone(&key)), no);
        self.asked.push(Asked {
            key,
            tenant,
            pool: tenant,
            tier: 0,
            max_attempts: 0,
            delay: None,
            start_at: None,
            backoff: None,
            parents: Box::default(),
            task: None,
            accepted: 0,
            line: 0,
            asks: 0,
            holders: Vec::new(),
            freely: false,
        });
        no
    }

    /// Notes that a task is asked for; a repeated ask is the same one.
    pub(crate) fn ask(&mut self, ask: &Ask, line: u64) -> AskNo {
        let (tenant, pool) = (self.name_no(&ask.tenant), self.name_no(&ask.pool));
        let no = self.ask_no(tenant, &ask.key);
        let parents = ask.parents.iter().map(|key| self.ask_no(tenant, key)).collect();
        let asked = &mut self[no];
        // One that was refused may be asked for in another way.
        if asked.asks == 0 {
            asked.pool = pool;
            asked.tier = ask.tier;
            asked.max_attempts = ask.max_attempts;
            asked.delay = ask.delay;
            asked.start_at = ask.start_at;
            asked.backoff = ask.backoff;
            asked.parents = parents;
            asked.line = line;
        }
        asked.asks += 1;
        no
    }

    pub(crate) fn ask_of(&self, task: TaskNo) -> Option<&Asked> {
        self[task].asked.map(|no| &self[no])
    }

    pub(crate) fn tenant_of(&self, task: TaskNo) -> Option<NameNo> {
        let stored = self[task].stored.map(|stored| stored.tenant);
        stored.or_else(|| self.ask_of(task).map(|asked| asked.tenant))
    }

    /// Whether a parent was replayed, so that this one may have been replayed with it.
    pub(crate) fn replayed_with_parent(&self, task: TaskNo) -> bool {
        self[task].parents.iter().any(|parent| self[*parent].life.epoch > 0)
    }

    /// Whether the server may ask for such a key itself.
    pub(crate) fn is_engine_key(&self, key: &str) -> bool {
        self.begin.engine_keys.iter().any(|own| key.starts_with(own))
    }

    /// The first parent that the log has not seen succeed.
    pub(crate) fn awaited(&self, task: TaskNo) -> Option<TaskNo> {
        let done = |parent: &TaskNo| self[*parent].life.place == Some(Place::Done);
        self[task].parents.iter().copied().find(|parent| !done(parent))
    }
}

impl Index<TaskNo> for World {
    type Output = Task;

    fn index(&self, no: TaskNo) -> &Task {
        &self.tasks[no.0 as usize]
    }
}

impl IndexMut<TaskNo> for World {
    fn index_mut(&mut self, no: TaskNo) -> &mut Task {
        &mut self.tasks[no.0 as usize]
    }
}

impl Index<AskNo> for World {
    type Output = Asked;

    fn index(&self, no: AskNo) -> &Asked {
        &self.asked[no.0 as usize]
    }
}

impl IndexMut<AskNo> for World {
    fn index_mut(&mut self, no: AskNo) -> &mut Asked {
        &mut self.asked[no.0 as usize]
    }
}

/// Four thousand million tasks do not fit in memory anyway.
fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
