//! The signals that ask for an end.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{Error, Result};

/// The signals that ask for an end: Ctrl-C and SIGTERM.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Begins to listen; from now on they do not end the program by themselves.
    pub fn listen() -> Result<Self> {
        let fail = |cause| Error::file("the signals of this process", "heard", cause);
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(fail)?,
            terminate: signal(SignalKind::terminate()).map_err(fail)?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
