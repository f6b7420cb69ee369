//! A tail: a cursor in one tenant's log that waits at its end.

use std::sync::Arc;

use godel_model::{EventFilter, Seq, TenantId};
use tokio::sync::watch;

use crate::hub::{Group, Logged, Recent, Stream};
use crate::{Direction, Error, Result, Scope, Store};

/// How many bytes of payload one batch holds, about; it has at least one event.
const BATCH_MAX_BYTES: usize = 256 * 1024;

/// A run of the log that was trimmed before the cursor reached it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The first position that is gone.
    pub from: Seq,
    /// The last position that is gone.
    pub to: Seq,
}

/// What a tail returns: events in order, and what was trimmed in front of them.
#[derive(Debug, Default)]
pub struct Batch {
    /// What retention took away in front of the events.
    pub gap: Option<Gap>,
    /// The events, in order.
    pub events: Vec<Arc<Logged>>,
}

/// A cursor in one tenant's log. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Tail {
    store: Store,
    tenant: TenantId,
    stream: Arc<Stream>,
    group: Arc<Group>,
    newest: watch::Receiver<Seq>,
    cursor: Seq,
    /// The end of the log when the tail was opened.
    log_end: Seq,
}

impl Tail {
    pub(crate) async fn open(
        store: Store,
        tenant: TenantId,
        after: Option<Seq>,
        filter: EventFilter,
    ) -> Result<Self> {
        let stream = store.hub().stream(tenant);
        // Joined before the head is read: what commits in between is not missed.
        let (group, newest) = stream.join(filter);
        if stream.head().is_none() {
            let (head, _) = store.read(Scope::Tenant(tenant), |tx| tx.events().bounds()).await?;
            stream.start_at(head);
        }
        let mut log_end = stream.head().unwrap_or_default();
        let cursor = after.unwrap_or(log_end);
        if cursor > log_end {
            // Another server may have told the caller of events that are not known here yet.
            let (head, _) = store.read(Scope::Tenant(tenant), |tx| tx.events().bounds()).await?;
            log_end = log_end.max(head);
        }
        Ok(Self { store, tenant, stream, group, newest, cursor, log_end })
    }

    /// Returns the position up to which everything was returned.
    pub fn cursor(&self) -> Seq {
        self.cursor
    }

    /// Returns the newest position of the log, as far as known.
    pub fn log_end(&self) -> Seq {
        self.head().max(self.log_end)
    }

    /// Returns the newest position whose events can be returned.
    pub fn head(&self) -> Seq {
        self.stream.head().unwrap_or_default()
    }

    /// Moves the cursor forward without returning what lies between.
    pub fn skip_to(&mut self, seq: Seq) {
        self.cursor = self.cursor.max(seq);
    }

    /// Returns the positions of matching events behind the cursor that are in memory, or `None` if
    /// the cursor is older than what is in memory.
    pub fn backlog(&self) -> Option<Vec<Seq>> {
        match self.stream.after(self.cursor, &self.group.filter, (usize::MAX, usize::MAX)) {
            Recent::Events(events, _) => {
                Some(events.iter().map(|logged| logged.event.seq).collect())
            }
            Recent::Older(_) => None,
        }
    }

    /// Returns the position behind which all events are in memory.
    pub fn recent_from(&self) -> Seq {
        match self.stream.after(Seq::START, &self.group.filter, (1, usize::MAX)) {
            Recent::Older(begin) => begin,
            Recent::Events(..) => Seq::START,
        }
    }

    /// Waits until there is something behind the cursor; cheap, and safe to cancel.
    pub async fn ready(&mut self) {
        while self.head() <= self.cursor || *self.newest.borrow() <= self.cursor {
            if self.newest.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns up to `limit` events behind the cursor without waiting for new ones.
    ///
    /// # Errors
    /// If the database cannot be read; the cursor has not moved then, and the call can be repeated.
    pub async fn take(&mut self, limit: usize) -> Result<Batch> {
        while self.head() > self.cursor {
            let batch = self.look(limit).await?;
            if batch.gap.is_some() || !batch.events.is_empty() {
                return Ok(batch);
            }
        }
        Ok(Batch::default())
    }

    /// Waits for events behind the cursor and returns up to `limit` of them.
    ///
    /// Safe to cancel: an event that was not returned is returned by the next call.
    ///
    /// # Errors
    /// If the database cannot be read; the cursor has not moved then, and the call can be repeated.
    pub async fn next(&mut self, limit: usize) -> Result<Batch> {
        loop {
            self.ready().await;
            let batch = self.take(limit).await?;
            if batch.gap.is_some() || !batch.events.is_empty() {
                return Ok(batch);
            }
        }
    }

    /// Goes past what passed by while nothing wanted came, without looking at it.
    pub fn skip_unwanted(&mut self) {
        let head = self.head();
        match self.group.first_after(self.cursor) {
            Some(Some(first)) => self.cursor = Seq(first.0 - 1),
            Some(None) => self.cursor = self.cursor.max(head),
            None => {}
        }
    }

    async fn look(&mut self, limit: usize) -> Result<Batch> {
        self.skip_unwanted();
        match self.stream.after(self.cursor, &self.group.filter, (limit, BATCH_MAX_BYTES)) {
            Recent::Events(events, looked) => {
                self.cursor = looked;
                Ok(Batch { gap: None, events })
            }
            Recent::Older(_) => self.look_back(limit).await,
        }
    }

    /// Reads the next page of the log from the database.
    async fn look_back(&mut self, limit: usize) -> Result<Batch> {
        let (cursor, filter) = (self.cursor, self.group.filter.clone());
        let (trimmed, page) = self
            .store
            .read_long(Scope::Tenant(self.tenant), move |tx| {
                let (_, trimmed) = tx.events().bounds()?;
                let from = cursor.max(trimmed);
                Ok::<_, Error>((
                    trimmed,
                    tx.events().page(&filter, Direction::Forward, from, limit)?,
                ))
            })
            .await?;
        let gap = (trimmed > cursor).then_some(Gap { from: cursor.next(), to: trimmed });
        self.cursor = page.reached.max(cursor);
        Ok(Batch { gap, events: page.events.into_iter().map(Logged::new).collect() })
    }
}
