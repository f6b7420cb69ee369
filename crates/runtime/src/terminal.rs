//! The terminal of a process: who wants to can look, at any time and from any place in its output.
//!
//! What was shown is kept up to a bound, with the place of each byte. The process never waits for a
//! reader, and no reader disturbs the process or another reader.

mod ring;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use godel_model::code;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::{Error, Result};
use ring::Ring;

/// How much of a terminal's output is kept.
pub const TERMINAL_KEPT_BYTES: usize = 1 << 20;
/// How much is handed out at a time.
const PIECE_BYTES: usize = 64 << 10;
/// How much can be typed at a time.
const TYPED_MAX_BYTES: usize = 1 << 20;

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Characters in a line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

/// What a reader of a terminal is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// What was shown.
    Bytes {
        /// The place of the first byte in all that was ever shown.
        offset: u64,
        /// The bytes, never none.
        bytes: Bytes,
    },
    /// What is no longer kept, because the reader came too late or was too slow.
    Dropped {
        /// The place of the first byte that is gone.
        from: u64,
        /// The place of the first byte that is there.
        to: u64,
    },
}

/// What a provider does to the other end of a terminal.
#[async_trait]
pub(crate) trait Line: Send + Sync {
    /// Types; waits while the process does not read.
    async fn write(&self, bytes: &[u8]) -> Result<()>;

    /// Changes the size; the process is told.
    fn resize(&self, size: TerminalSize) -> Result<()>;
}

/// The terminal of a process; clones are the same one. To hold it does not keep the process alive, and
/// to drop it does not end the process.
#[derive(Clone)]
pub struct Terminal {
    line: Arc<dyn Line>,
    screen: Arc<Screen>,
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("end", &self.end()).finish_non_exhaustive()
    }
}

impl Terminal {
    pub(crate) fn new(line: Arc<dyn Line>, screen: Arc<Screen>) -> Self {
        Self { line, screen }
    }

    /// Reads from a place in the output on, and follows it live until the process has ended. To drop
    /// the attachment is to detach.
    ///
    /// # Errors
    /// If the place is beyond what was shown.
    pub fn attach(&self, from: u64) -> Result<Attachment> {
        let end = self.end();
        if from > end {
            return Err(Error::refused(
                code::INVALID_FIELD,
                format!("the terminal has shown {end} bytes, so nothing begins at {from}"),
                "attach from 0, or from where you have read to",
            ));
        }
        let (screen, news) = (Arc::clone(&self.screen), self.screen.news.subscribe());
        Ok(Attachment { screen, news, at: from })
    }

    /// Returns how many bytes were shown until now.
    pub fn end(&self) -> u64 {
        self.screen.ring().end()
    }

    /// Types into the terminal, whole and not mixed with what others type; it waits while the process
    /// does not read.
    ///
    /// # Errors
    /// If it is too much, or the process has ended.
    pub async fn write(&self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > TYPED_MAX_BYTES {
            return Err(Error::refused(
                code::INVALID_FIELD,
                format!("{} bytes are too much to be typed at once", bytes.len()),
                format!("type at most {TYPED_MAX_BYTES} bytes at a time"),
            ));
        }
        if self.is_over() {
            return Err(over());
        }
        self.line.write(bytes).await
    }

    /// Changes its size; the process is told.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn resize(&self, size: TerminalSize) -> Result<()> {
        if self.is_over() {
            return Err(over());
        }
        self.line.resize(size)
    }

    /// Tells whether all was shown that ever will be.
    pub fn is_over(&self) -> bool {
        self.screen.news.borrow().over
    }
}

/// Why nothing can be typed or resized any more.
pub(crate) fn over() -> Error {
    Error::refused(
        code::SANDBOX_STATE,
        "the process of this terminal has ended",
        "what it has shown can still be read; start another command",
    )
}

/// What is known about an output without looking at it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct News {
    end: u64,
    over: bool,
}

/// What a terminal has shown.
#[derive(Debug)]
pub(crate) struct Screen {
    ring: Mutex<Ring>,
    news: watch::Sender<News>,
}

impl Screen {
    /// Returns a screen that keeps so many bytes.
    pub(crate) fn new(kept_bytes: usize) -> Self {
        let (news, _) = watch::channel(News::default());
        Self { ring: Mutex::new(Ring::new(kept_bytes)), news }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows bytes.
    pub(crate) fn show(&self, bytes: &[u8]) {
        let end = {
            let mut ring = self.ring();
            ring.push(bytes);
            ring.end()
        };
        self.news.send_modify(|news| news.end = end);
    }

    /// Says that nothing more comes.
    pub(crate) fn finish(&self) {
        self.news.send_modify(|news| news.over = true);
    }
}

/// Somebody who reads a terminal.
pub struct Attachment {
    screen: Arc<Screen>,
    news: watch::Receiver<News>,
    at: u64,
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Attachment {
    /// Returns the place that is read next; attach there to go on later.
    pub const fn offset(&self) -> u64 {
        self.at
    }

    /// Waits for what comes next; nothing when the process has ended and all was read. To give up
    /// waiting loses nothing.
    pub async fn next(&mut self) -> Option<Output> {
        loop {
            // First the news, then the bytes: what comes between the two is seen next time.
            let over = self.news.borrow_and_update().over;
            let output = self.screen.ring().read(self.at, PIECE_BYTES);
            match &output {
                Some(Output::Bytes { offset, bytes }) => self.at = offset + bytes.len() as u64,
                Some(Output::Dropped { to, .. }) => self.at = *to,
                None if over => return None,
                None => {
                    // The screen holds the sender, so this cannot fail while we hold the screen.
                    let _ = self.news.changed().await;
                    continue;
                }
            }
            return output;
        }
    }
}
