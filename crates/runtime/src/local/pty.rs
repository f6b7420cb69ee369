//! Terminals of processes on this machine.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rustix::fs::{Gid, OFlags, Uid, fchown, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use super::running::Running;
use crate::terminal::{Line, Screen, over};
use crate::{Error, Result, TERMINAL_KEPT_BYTES, Terminal, TerminalSize};

const READ_BYTES: usize = 16 << 10;
/// How long more is waited for once the process has ended, if somebody still has the terminal open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A terminal before its process is there.
pub(super) struct Pty {
    /// Godel's end.
    ours: OwnedFd,
    /// The end of the process.
    theirs: OwnedFd,
}

fn failed(cause: impl Into<io::Error>) -> Error {
    Error::Start { program: "a terminal".to_owned(), cause: cause.into() }
}

fn window(size: TerminalSize) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}

impl Pty {
    /// Opens a terminal for a user.
    pub(super) fn open(size: TerminalSize, user: Option<u32>) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).map_err(failed)?;
        grantpt(&ours).and_then(|()| unlockpt(&ours)).map_err(failed)?;
        let theirs = ioctl_tiocgptpeer(&ours, flags).map_err(failed)?;
        tcsetwinsize(&ours, window(size)).map_err(failed)?;
        if let Some(user) = user {
            // Programs open their terminal again by its name.
            fchown(&theirs, Some(Uid::from_raw(user)), Some(Gid::from_raw(user)))
                .map_err(failed)?;
        }
        let status = fcntl_getfl(&ours).map_err(failed)?;
        fcntl_setfl(&ours, status | OFlags::NONBLOCK).map_err(failed)?;
        Ok(Self { ours, theirs })
    }

    /// Returns the end of the process, as its input, output and complaints.
    pub(super) fn ends(&self) -> Result<[Stdio; 3]> {
        let end = || self.theirs.try_clone().map(Stdio::from).map_err(failed);
        Ok([end()?, end()?, end()?])
    }

    /// Keeps Godel's end only, now that the process has its own.
    pub(super) fn connect(self) -> Result<Connected> {
        // A terminal is read and written as a pipe is; only the names of the types say otherwise.
        let other = self.ours.try_clone().map_err(failed)?;
        let keys = pipe::Sender::from_file_unchecked(other.into()).map_err(failed)?;
        let shown = pipe::Receiver::from_file_unchecked(self.ours.into()).map_err(failed)?;
        let keyboard = Arc::new(Keyboard { keys, turn: tokio::sync::Mutex::new(()) });
        let screen = Arc::new(Screen::new(TERMINAL_KEPT_BYTES));
        Ok(Connected { shown, keyboard, screen })
    }
}

/// What is typed goes here.
struct Keyboard {
    keys: pipe::Sender,
    /// One types at a time.
    turn: tokio::sync::Mutex<()>,
}

/// A terminal whose process is there.
pub(super) struct Connected {
    shown: pipe::Receiver,
    keyboard: Arc<Keyboard>,
    screen: Arc<Screen>,
}

impl Connected {
    /// Returns what callers hold of it.
    pub(super) fn terminal(&self) -> Terminal {
        let line: Arc<Keyboard> = Arc::clone(&self.keyboard);
        Terminal::new(line, Arc::clone(&self.screen))
    }

    /// Shows what the process writes until it has ended; it never waits for a reader.
    pub(super) async fn show(mut self, running: Arc<Running>) {
        let mut buffer = vec![0; READ_BYTES];
        let mut ended = std::pin::pin!(running.wait());
        let mut live = true;
        while live {
            tokio::select! {
                read = self.shown.read(&mut buffer) => match read {
                    // The last who had it open is gone: there is no more.
                    Err(_) | Ok(0) => break,
                    Ok(count) => self.screen.show(&buffer[..count]),
                },
                _ = &mut ended => live = false,
            }
        }
        // Somebody who got away may still have it open; what was written until now is shown.
        while let Ok(Ok(count @ 1..)) =
            tokio::time::timeout(LAST_WORDS, self.shown.read(&mut buffer)).await
        {
            self.screen.show(&buffer[..count]);
        }
        // Who sees the end of the output may ask at once how the process ended.
        running.wait().await;
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        // Also if nobody watches any more: a reader must not wait for ever.
        self.screen.finish();
    }
}

#[async_trait]
impl Line for Keyboard {
    async fn write(&self, bytes: &[u8]) -> Result<()> {
        let _turn = self.turn.lock().await;
        let mut rest = bytes;
        while !rest.is_empty() {
            self.keys.writable().await.map_err(failed)?;
            match self.keys.try_write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(over()),
            }
        }
        Ok(())
    }

    fn resize(&self, size: TerminalSize) -> Result<()> {
        tcsetwinsize(&self.keys, window(size)).map_err(|_| over())
    }
}
