//! The hub: wakes those who wait for events, and keeps the newest ones in memory for them.
//!
//! Subscribers with the same filter share a group, so an event is matched once per filter and wakes
//! only those who want it. The log itself stays the truth: whoever is further behind than the ring
//! reads the database.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use godel_model::{Event, EventFilter, Seq, TenantId};
use tokio::sync::watch;

/// How many of a tenant's newest events are kept in memory.
const RING_MAX_EVENTS: usize = 4_096;
/// How many bytes of payload the ring of a tenant may hold.
const RING_MAX_BYTES: usize = 8 * 1024 * 1024;

/// How many matches a group remembers for subscribers that are behind.
const MATCHES_MAX: usize = 1_024;
/// How many tenants' newest events are kept in memory although nobody listens.
const KEPT_STREAMS: usize = 64;

/// A committed event, with room for its rendered form so that it is rendered once for all readers.
#[derive(Debug)]
pub struct Logged {
    /// The event.
    pub event: Event,
    rendered: OnceLock<Box<str>>,
}

impl Logged {
    pub(crate) fn new(event: Event) -> Arc<Self> {
        Arc::new(Self { event, rendered: OnceLock::new() })
    }

    /// Returns the rendered form, made by `render` at the first call.
    pub fn rendered(&self, render: impl FnOnce(&Event) -> String) -> &str {
        self.rendered.get_or_init(|| render(&self.event).into_boxed_str())
    }
}

/// All streams of this process.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    streams: Mutex<HashMap<TenantId, Arc<Stream>>>,
}

/// The live end of one tenant's log.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    live: Mutex<Live>,
}

#[derive(Debug, Default)]
struct Live {
    /// The newest position up to which all is known; `None` until it was read from the database.
    head: Option<Seq>,
    ring: VecDeque<Arc<Logged>>,
    ring_bytes: usize,
    /// Events that arrived before the ones in front of them.
    early: BTreeMap<Seq, Arc<Logged>>,
    groups: HashMap<EventFilter, Weak<Group>>,
}

/// Those who wait for the same events.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) filter: EventFilter,
    /// The newest position at which something for this group may be found.
    newest: watch::Sender<Seq>,
    matches: Mutex<Matches>,
}

/// The positions of the newest matches of a group.
#[derive(Debug)]
struct Matches {
    /// All matches behind this position are in the list.
    since: Seq,
    list: VecDeque<Seq>,
}

/// What the ring holds behind a cursor.
pub(crate) enum Recent {
    /// All matching events behind the cursor, and the position up to which was looked.
    Events(Vec<Arc<Logged>>, Seq),
    /// The cursor is older than the ring, which begins behind this position.
    Older(Seq),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data is valid after each single step, so a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    /// Returns the stream of a tenant, made new if nobody listened before.
    pub(crate) fn stream(&self, tenant: TenantId) -> Arc<Stream> {
        Arc::clone(lock(&self.streams).entry(tenant).or_default())
    }

    /// Tells the tenants to which somebody listens, with the newest known position.
    pub(crate) fn listening(&self) -> Vec<(TenantId, Seq)> {
        let streams: Vec<_> = lock(&self.streams)
            .iter()
            .map(|(tenant, stream)| (*tenant, Arc::clone(stream)))
            .collect();
        streams
            .into_iter()
            .filter_map(|(tenant, stream)| lock(&stream.live).head.map(|head| (tenant, head)))
            .collect()
    }

    /// Hands committed events of one tenant, in order, to those who listen.
    pub(crate) fn publish(&self, tenant: TenantId, events: &[Arc<Logged>]) {
        let Some(stream) = lock(&self.streams).get(&tenant).map(Arc::clone) else {
            return;
        };
        if !stream.push(events) {
            let mut streams = lock(&self.streams);
            // A few are kept although nobody listens: their newest events are asked for again.
            if streams.len() <= KEPT_STREAMS {
                return;
            }
            // Nobody else may have come in between: two owners are this function and the map.
            if streams
                .get(&tenant)
                .is_some_and(|known| Arc::ptr_eq(known, &stream) && Arc::strong_count(known) == 2)
            {
                streams.remove(&tenant);
            }
        }
    }
}

impl Stream {
    /// Joins the group of a filter.
    pub(crate) fn join(&self, filter: EventFilter) -> (Arc<Group>, watch::Receiver<Seq>) {
        let mut live = lock(&self.live);
        let known = live.groups.get(&filter).and_then(Weak::upgrade);
        let group = known.unwrap_or_else(|| {
            let group = Arc::new(Group::new(filter.clone(), live.head));
            live.groups.insert(filter, Arc::downgrade(&group));
            group
        });
        let receiver = group.newest.subscribe();
        (group, receiver)
    }

    /// Returns the newest position, if it is known.
    pub(crate) fn head(&self) -> Option<Seq> {
        lock(&self.live).head
    }

    /// Tells the newest position that was read from the database.
    pub(crate) fn start_at(&self, head: Seq) {
        let mut live = lock(&self.live);
        if live.head.is_none() {
            live.head = Some(head);
            live.early.retain(|seq, _| *seq > head);
            live.groups.values().filter_map(Weak::upgrade).for_each(|group| group.begin(head));
            let mut fresh = Vec::new();
            live.drain_early(&mut fresh);
            live.tell_groups(&fresh);
        }
    }

    /// Returns the newest events, newest first, if more than `limit` are in memory.
    pub(crate) fn newest(&self, limit: usize) -> Option<Vec<Arc<Logged>>> {
        let live = lock(&self.live);
        (live.ring.len() > limit).then(|| live.ring.iter().rev().take(limit).cloned().collect())
    }

    /// Puts older events, in order, in front of those that are in memory, as far as they join.
    pub(crate) fn warm(&self, older: &[Arc<Logged>]) {
        let mut live = lock(&self.live);
        let Some(head) = live.head else { return };
        for logged in older.iter().rev() {
            let begin = live.ring.front().map_or(head, |first| Seq(first.event.seq.0 - 1));
            let bytes = live.ring_bytes + logged.event.payload.as_str().len();
            let fits = live.ring.len() < RING_MAX_EVENTS && bytes <= RING_MAX_BYTES;
            if logged.event.seq == begin && fits {
                live.ring_bytes += logged.event.payload.as_str().len();
                live.ring.push_front(Arc::clone(logged));
            }
        }
    }

    /// Forgets events that retention removed.
    pub(crate) fn forget(&self, upto: Seq) {
        let mut live = lock(&self.live);
        while live.ring.front().is_some_and(|first| first.event.seq <= upto) {
            live.evict();
        }
    }

    /// Begins anew behind a position: what lies before it is not to be had any more.
    pub(crate) fn restart_at(&self, head: Seq) {
        let mut live = lock(&self.live);
        if live.head.is_some_and(|known| known < head) {
            live.ring.clear();
            live.ring_bytes = 0;
            live.head = Some(head);
            live.early.retain(|seq, _| *seq > head);
            live.groups.values().filter_map(Weak::upgrade).for_each(|group| group.begin(head));
            let mut fresh = Vec::new();
            live.drain_early(&mut fresh);
            live.tell_groups(&fresh);
        }
    }

    /// Takes events in; `false` if nobody listens any more.
    fn push(&self, events: &[Arc<Logged>]) -> bool {
        let mut live = lock(&self.live);
        if live.head.is_none() {
            events.iter().for_each(|logged| live.stash(logged));
            return true;
        }
        let mut fresh = Vec::with_capacity(events.len());
        for logged in events {
            live.take(logged, &mut fresh);
        }
        live.drain_early(&mut fresh);
        live.tell_groups(&fresh);
        !live.groups.is_empty()
    }

    /// Returns what lies behind the cursor, or that the ring does not reach back so far.
    pub(crate) fn after(
        &self,
        cursor: Seq,
        filter: &EventFilter,
        (limit, max_bytes): (usize, usize),
    ) -> Recent {
        let live = lock(&self.live);
        let head = live.head.unwrap_or_default();
        let begin = live.ring.front().map_or(head, |first| Seq(first.event.seq.0 - 1));
        if cursor < begin {
            return Recent::Older(begin);
        }
        let skip = usize::try_from(cursor.0 - begin.0).unwrap_or(usize::MAX);
        let (mut found, mut bytes) = (Vec::new(), 0);
        for logged in live.ring.iter().skip(skip) {
            if filter.matches(&logged.event) {
                found.push(Arc::clone(logged));
                bytes += logged.event.payload.as_str().len();
                if found.len() >= limit || bytes > max_bytes {
                    return Recent::Events(found, logged.event.seq);
                }
            }
        }
        Recent::Events(found, head.max(cursor))
    }
}

impl Live {
    /// Takes the next event in, and notes it as fresh; one that comes early waits.
    fn take(&mut self, logged: &Arc<Logged>, fresh: &mut Vec<Arc<Logged>>) {
        let seq = logged.event.seq;
        match self.head {
            Some(head) if seq == head.next() => {
                self.head = Some(seq);
                self.ring_bytes += logged.event.payload.as_str().len();
                self.ring.push_back(Arc::clone(logged));
                fresh.push(Arc::clone(logged));
                while self.ring.len() > RING_MAX_EVENTS || self.ring_bytes > RING_MAX_BYTES {
                    self.evict();
                }
            }
            Some(head) if seq <= head => {}
            Some(_) | None => self.stash(logged),
        }
    }

    fn evict(&mut self) {
        if let Some(old) = self.ring.pop_front() {
            self.ring_bytes -= old.event.payload.as_str().len();
        }
    }

    /// Keeps an event for later; the oldest give way, since the database has them.
    fn stash(&mut self, logged: &Arc<Logged>) {
        self.early.insert(logged.event.seq, Arc::clone(logged));
        if self.early.len() > RING_MAX_EVENTS {
            self.early.pop_first();
        }
    }

    fn drain_early(&mut self, fresh: &mut Vec<Arc<Logged>>) {
        while let (Some(head), Some(first)) = (self.head, self.early.first_entry()) {
            match first.key().cmp(&head.next()) {
                std::cmp::Ordering::Greater => break,
                std::cmp::Ordering::Less => drop(first.remove()),
                std::cmp::Ordering::Equal => {
                    let logged = first.remove();
                    self.take(&logged, fresh);
                }
            }
        }
    }

    /// Wakes the groups that want some of the fresh events; forgets groups that are gone.
    fn tell_groups(&mut self, fresh: &[Arc<Logged>]) {
        self.groups.retain(|_, group| match group.upgrade() {
            None => false,
            Some(group) => {
                let wanted = fresh.iter().filter(|logged| group.filter.matches(&logged.event));
                group.wake(wanted.map(|logged| logged.event.seq));
                true
            }
        });
    }
}

impl Group {
    fn new(filter: EventFilter, head: Option<Seq>) -> Self {
        // Without a known head the group is told of matches from `begin` on only.
        let since = head.unwrap_or(Seq(i64::MAX));
        let matches = Mutex::new(Matches { since, list: VecDeque::new() });
        Self { filter, newest: watch::Sender::new(head.unwrap_or_default()), matches }
    }

    /// Notes the position from which on this group is told of every match.
    fn begin(&self, head: Seq) {
        *lock(&self.matches) = Matches { since: head, list: VecDeque::new() };
        self.newest.send_replace(head);
    }

    fn wake(&self, wanted: impl Iterator<Item = Seq>) {
        let mut matches = lock(&self.matches);
        let mut newest = None;
        for seq in wanted {
            newest = Some(seq);
            matches.list.push_back(seq);
            if matches.list.len() > MATCHES_MAX {
                matches.since = matches.list.pop_front().unwrap_or(matches.since);
            }
        }
        drop(matches);
        if let Some(newest) = newest {
            self.newest.send_replace(newest);
        }
    }

    /// Returns the first match behind a position, if this group can know; `Some(None)` if there is
    /// none. A subscriber that waited long can go there at once, past what it does not want.
    pub(crate) fn first_after(&self, cursor: Seq) -> Option<Option<Seq>> {
        let matches = lock(&self.matches);
        (cursor >= matches.since).then(|| matches.list.iter().find(|seq| **seq > cursor).copied())
    }
}
