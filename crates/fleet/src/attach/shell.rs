//! A shell in the sandbox of an agent, and how large its terminal is.

use godel_runtime::{Exit, Process, Terminal, TerminalSize};
use tokio::sync::watch;
use uuid::Uuid;

use crate::Result;

/// A shell in the sandbox of an agent.
pub struct Shell {
    process: Process,
    terminal: Terminal,
    size: watch::Sender<TerminalSize>,
}

impl std::fmt::Debug for Shell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl Shell {
    pub(super) fn new(process: Process, terminal: Terminal, size: TerminalSize) -> Self {
        Self { process, terminal, size: watch::Sender::new(size) }
    }

    /// Returns its id; one that is begun anew has another.
    pub fn id(&self) -> Uuid {
        self.process.id.0
    }

    /// Returns its terminal.
    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// Returns how large its terminal is, and how to learn when that changes.
    pub fn size(&self) -> watch::Receiver<TerminalSize> {
        self.size.subscribe()
    }

    /// Changes how large its terminal is; the process and all who look are told.
    ///
    /// # Errors
    /// If it has ended.
    pub fn resize(&self, size: TerminalSize) -> Result<()> {
        self.terminal.resize(size)?;
        self.size.send_if_modified(|known| std::mem::replace(known, size) != size);
        Ok(())
    }

    /// Waits until it has ended, and returns its code if it ended by itself.
    pub async fn ended(&self) -> Option<i32> {
        match self.process.wait().await {
            Ok(Exit::Code { code }) => Some(code),
            _ => None,
        }
    }
}
