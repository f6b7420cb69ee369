//! Input, output and complaints of a command, before its process is there.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use godel_model::code;

use super::pty::Pty;
use super::room::Room;
use crate::{Command, Error, Inlet, Profile, Result};

/// The ends of a command.
pub(super) struct Ends {
    /// Its terminal, if it has one.
    pub(super) pty: Option<Pty>,
    /// The way in to what it serves, if it serves something.
    pub(super) inlet: Option<Inlet>,
    /// What its helper listens on.
    door: Option<UnixListener>,
}

impl Ends {
    /// Opens what a command needs.
    pub(super) fn open(command: &Command, room: &Room) -> Result<Self> {
        let pty = command.terminal.map(|size| Pty::open(size, room.user)).transpose()?;
        let Some(port) = command.serves else { return Ok(Self { pty, inlet: None, door: None }) };
        if pty.is_some() || command.stdin || port == 0 {
            return Err(Error::refused(
                code::INVALID_FIELD,
                "a command that serves a port has no input",
                "give it neither a terminal nor an input, and a port above 0",
            ));
        }
        if room.record().spec.profile == Profile::None {
            return Ok(Self { pty, inlet: Some(Inlet::to_port(port)), door: None });
        }
        let failed = |cause| Error::Start { program: "the way in".to_owned(), cause };
        let (inlet, door) = Inlet::open().map_err(failed)?;
        Ok(Self { pty, inlet: Some(inlet), door: Some(door) })
    }

    /// Returns input, output and complaints.
    pub(super) fn stdio(&self, command: &Command) -> Result<[Stdio; 3]> {
        if let Some(pty) = &self.pty {
            return pty.ends();
        }
        let stdin = match &self.door {
            Some(door) => {
                let failed = |cause| Error::Start { program: "the way in".to_owned(), cause };
                Stdio::from(OwnedFd::from(door.try_clone().map_err(failed)?))
            }
            None if command.stdin => Stdio::piped(),
            None => Stdio::null(),
        };
        Ok([stdin, Stdio::piped(), Stdio::piped()])
    }
}
