//! The shelves that are open: one writer each, and a few readers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use godel_beads::git::Place;
use godel_beads::{Draft, Options, Shelf, Writer};
use godel_model::Clock;
use tokio::sync::{Notify, oneshot};

use crate::{Error, Result};

/// How many readers of one shelf are kept open.
const READERS_MAX: usize = 4;

/// All shelves that are open.
#[derive(Debug, Default)]
pub(crate) struct Shelves {
    open: Mutex<HashMap<PathBuf, Arc<Opened>>>,
    /// Wakes whoever tells of changes.
    pub(crate) changed: Notify,
}

/// One open shelf.
#[derive(Debug)]
pub(crate) struct Opened {
    path: PathBuf,
    options: Options,
    writer: Writer,
    readers: Mutex<Vec<Shelf>>,
    place: Place,
}

impl Shelves {
    /// Returns the shelf of a repository.
    pub(crate) async fn at(&self, path: &str, clock: &Arc<dyn Clock>) -> Result<Arc<Opened>> {
        let path = PathBuf::from(path);
        if let Some(opened) = self.known(&path) {
            return Ok(opened);
        }
        let options = Options { clock: Arc::clone(clock), ..Options::default() };
        let fresh = tokio::task::spawn_blocking(move || Opened::open(&path, options)).await;
        let fresh = Arc::new(fresh.map_err(|_| Error::Store(godel_store::Error::Panicked))??);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Two may have opened it at the same moment; one writer is enough.
        let kept = open.entry(fresh.path.clone()).or_insert_with(|| Arc::clone(&fresh));
        Ok(Arc::clone(kept))
    }

    fn known(&self, path: &Path) -> Option<Arc<Opened>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}

impl Opened {
    fn open(path: &Path, options: Options) -> Result<Self> {
        let shelf = Shelf::open_with(path, options.clone()).map_err(Error::Beads)?;
        let place = shelf.place().clone();
        let writer = Writer::start(path, options.clone()).map_err(Error::Beads)?;
        let readers = Mutex::new(vec![shelf]);
        Ok(Self { path: path.to_owned(), options, writer, readers, place })
    }

    /// Returns where things are.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Looks something up.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Shelf) -> godel_beads::Result<T> + Send + 'static,
    ) -> Result<T> {
        let own = Arc::clone(self);
        let run = move || {
            let idle = own.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut shelf = match idle {
                Some(shelf) => shelf,
                None => Shelf::open_with(&own.path, own.options.clone())?,
            };
            let found = work(&mut shelf);
            let mut readers = own.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.len() < READERS_MAX {
                readers.push(shelf);
            }
            found
        };
        let found = tokio::task::spawn_blocking(run).await;
        found.map_err(|_| Error::Store(godel_store::Error::Panicked))?.map_err(Error::Beads)
    }

    /// Makes a change; it is durable when this returns.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        by: &str,
        work: impl Fn(&mut Draft<'_>) -> godel_beads::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (tell, told) = oneshot::channel();
        // A caller that went away needs no answer; the change is made all the same.
        self.writer.submit(by, work, move |result| drop(tell.send(result)));
        told.await.map_err(|_| Error::Store(godel_store::Error::Panicked))?.map_err(Error::Beads)
    }
}
