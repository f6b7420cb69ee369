//! The socket to an agent, opened again when it breaks.

use std::collections::VecDeque;

use bytes::Bytes;
use godel_api::{
    ATTACH_PROTOCOL, AttachAsk, AttachTold, ClientError, Heard, Holder, Socket, read_terminal_frame,
};
use uuid::Uuid;

use crate::patience::Patience;

/// The reasons for which a server ends a connection and does not want it back.
const CLOSES_FOR_GOOD: [u16; 2] = [1000, 4401];

/// How somebody attaches to an agent.
#[derive(Debug, Clone, Copy)]
pub struct Attach {
    /// To the shell in the sandbox, instead of the log.
    pub terminal: bool,
    /// To look only.
    pub watch: bool,
    /// With control, whoever has it.
    pub take: bool,
}

/// What comes from an agent.
#[derive(Debug)]
pub enum Told {
    /// A frame.
    Frame(AttachTold),
    /// What its terminal has shown.
    Bytes(Bytes),
    /// The connection broke; the next word comes over a new one.
    Lost,
    /// Nothing more comes, and why.
    Over(String),
}

/// A socket to an agent that is opened again when it breaks, from where it was.
#[derive(Debug)]
pub struct Wire {
    server: Patience,
    agent: Uuid,
    how: Attach,
    /// What is read next.
    pub offset: u64,
    /// How large a terminal is that is opened, in columns and rows.
    pub size: Option<(u16, u16)>,
    terminal: Option<Uuid>,
    socket: Option<Socket>,
    seat: Option<Uuid>,
    may_control: bool,
    /// Who has control.
    pub holder: Option<Holder>,
    /// What is said as soon as the socket takes it.
    outbox: VecDeque<String>,
}

impl Wire {
    /// Takes a server that has answered; nothing is opened yet.
    pub fn new(server: Patience, agent: Uuid, how: Attach) -> Self {
        Self {
            server,
            agent,
            how,
            offset: 0,
            size: None,
            terminal: None,
            socket: None,
            seat: None,
            may_control: false,
            holder: None,
            outbox: VecDeque::new(),
        }
    }

    /// Tells whether this is who has control.
    pub fn has_control(&self) -> bool {
        let holder = self.holder.as_ref().map(|holder| holder.seat);
        self.socket.is_some() && holder.is_some() && holder == self.seat
    }

    /// Opens the socket, unless it is open; a server that is gone for a while is waited for.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn connect(&mut self) -> Result<(), ClientError> {
        if self.socket.is_some() {
            return Ok(());
        }
        let mut query = vec![("offset", self.offset.to_string())];
        if self.how.terminal {
            query.push(("terminal", "true".to_owned()));
            query.extend(self.terminal.map(|id| ("terminalId", id.to_string())));
            if let Some((columns, rows)) = self.size {
                query.extend([("columns", columns.to_string()), ("rows", rows.to_string())]);
            }
        }
        if self.how.watch {
            query.push(("watch", "true".to_owned()));
        }
        let path = format!("/api/v1/agents/{}/attach", self.agent);
        let client = &self.server.client;
        let open = || client.socket(&path, &query, ATTACH_PROTOCOL);
        self.socket = Some(self.server.until_answered(open).await?);
        Ok(())
    }

    /// Waits for what comes next; to give up waiting loses nothing.
    ///
    /// # Errors
    /// If the server refuses to open the socket again.
    pub async fn next(&mut self) -> Result<Told, ClientError> {
        loop {
            self.connect().await?;
            let Some(socket) = &mut self.socket else { continue };
            while let Some(text) = self.outbox.front() {
                // What breaks is noticed by reading.
                socket.text(text.clone()).await;
                self.outbox.pop_front();
            }
            match socket.next().await {
                Heard::Text(text) => {
                    // What a newer server tells is of no use here.
                    let Ok(told) = serde_json::from_str(&text) else { continue };
                    self.heed(&told);
                    return Ok(Told::Frame(told));
                }
                Heard::Bytes(frame) => {
                    let Some((at, bytes)) = read_terminal_frame(&frame) else { continue };
                    let known = self.offset.saturating_sub(at).min(bytes.len() as u64);
                    self.offset = self.offset.max(at + bytes.len() as u64);
                    let new = bytes.slice(usize::try_from(known).unwrap_or_default()..);
                    return Ok(Told::Bytes(new));
                }
                Heard::Closed { code, reason } if CLOSES_FOR_GOOD.contains(&code) => {
                    return Ok(Told::Over(reason));
                }
                Heard::Closed { .. } | Heard::Lost => {
                    self.socket = None;
                    self.outbox.clear();
                    return Ok(Told::Lost);
                }
            }
        }
    }

    /// Remembers what was told, and takes control when it is free.
    fn heed(&mut self, told: &AttachTold) {
        match told {
            AttachTold::Hello { seat, terminal, may_control, holder, .. } => {
                // The server may not know yet that the connection before is gone.
                let ghost = self.seat.is_some() && holder.as_ref().map(|one| one.seat) == self.seat;
                let force = ghost || (self.how.take && self.seat.is_none());
                self.seat = Some(*seat);
                self.terminal = *terminal;
                self.may_control = *may_control;
                self.holder.clone_from(holder);
                if force && !self.has_control() {
                    self.take(true);
                }
            }
            AttachTold::Control { holder } => {
                self.holder.clone_from(holder);
                if holder.is_none() {
                    self.take(false);
                }
            }
            AttachTold::Log { next, .. } => self.offset = self.offset.max(*next),
            AttachTold::Dropped { to, .. } => self.offset = self.offset.max(*to),
            _ => {}
        }
    }

    fn take(&mut self, force: bool) {
        if self.may_control && !self.how.watch {
            self.ask(&AttachAsk::Take { force });
        }
    }

    /// Asks for something, as soon as the next word is waited for.
    pub fn ask(&mut self, ask: &AttachAsk) {
        self.outbox.extend(serde_json::to_string(ask).ok());
    }

    /// Types into the terminal.
    pub async fn types(&mut self, bytes: Bytes) {
        if let Some(socket) = &mut self.socket {
            // What breaks is noticed by reading.
            socket.bytes(bytes).await;
        }
    }

    /// Leaves.
    pub async fn close(self) {
        if let Some(socket) = self.socket {
            socket.close().await;
        }
    }
}
