//! A backup on its way to a caller.

use std::io::{self, Write};
use std::time::Duration;

use godel_model::{AuditResult, Reach};
use godel_store::Tx;
use godel_store::backup::write_blocking;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tracing::instrument;

use crate::{App, Call, Error, Result};

/// How many chunks may wait for the caller.
const WAITING_CHUNKS: usize = 4;
/// How long the caller may leave a chunk waiting: until the end a transaction is open.
const STALL_MAX: Duration = Duration::from_secs(30);

/// A backup that is being made while it is read.
#[derive(Debug)]
pub struct Download {
    /// When it was begun.
    pub at: Timestamp,
    first: Option<Vec<u8>>,
    chunks: mpsc::Receiver<Result<Vec<u8>>>,
}

impl Download {
    /// Returns the next bytes; `None` at the end.
    ///
    /// # Errors
    /// If the database fails; what was read so far is then no backup.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>>> {
        match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => self.chunks.recv().await,
        }
    }
}

/// Begins a backup of the whole database; writers go on meanwhile.
///
/// # Errors
/// If the caller may not have it, or the database cannot be read.
#[instrument(level = "debug", name = "app.backup.stream", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn stream(app: &App, call: &Call) -> Result<Download> {
    call.may("backup", "create", Reach::All)?;
    let act = call.act(app, "backup:create", "server", AuditResult::Ok);
    let tenant = call.actor.tenant;
    let record = move |tx: &mut Tx<'_>| tx.record_act(tenant, act.clone());
    app.store.write(call.scope(), record).await.map_err(Error::Store)?;
    let place = app.backups.streams.clone().acquire_owned().await;
    let place = place.map_err(|_| Error::Store(godel_store::Error::Closed))?;
    let (url, at) = (app.store.url().clone(), app.clock.now());
    let (sender, mut chunks) = mpsc::channel(WAITING_CHUNKS);
    tracing::info!(actor = call.actor.name, "a backup is streamed");
    let work = move || {
        let runtime = Handle::current();
        let mut sink = Sink { chunks: sender.clone(), runtime: runtime.clone() };
        if let Err(error) = write_blocking(&url, at, &mut sink) {
            tracing::warn!(%error, "a streamed backup failed");
            // Nobody may be there to hear it.
            runtime.block_on(sender.send(Err(error.into()))).ok();
        }
        drop(place);
    };
    drop(tokio::task::spawn_blocking(work));
    // The first bytes tell whether the database can be read at all.
    match chunks.recv().await {
        Some(Ok(first)) => Ok(Download { at, first: Some(first), chunks }),
        Some(Err(error)) => Err(error),
        None => Err(Error::Store(godel_store::Error::Panicked)),
    }
}

/// Hands bytes over to the caller, and waits for a slow one, but not for ever.
struct Sink {
    chunks: mpsc::Sender<Result<Vec<u8>>>,
    runtime: Handle,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.chunks.send(Ok(bytes.to_vec()));
        match self.runtime.block_on(async { tokio::time::timeout(STALL_MAX, sent).await }) {
            Ok(Ok(())) => Ok(bytes.len()),
            Ok(Err(_)) => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the reader is gone")),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the reader is too slow")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
