//! Watching an agent and talking to it.

use std::collections::VecDeque;
use std::io::{self, BufRead as _};

use godel_api::{AgentLine, AttachAsk, AttachTold, ClientError};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, Signals, locate, lookup};
use tokio::sync::mpsc;

use super::log::{Tail, print};
use super::terminal;
use crate::commands::worker::notes;
use godel_worker::{Attach, Patience, Told, Wire};

/// How many entries of what was before are shown.
const BEFORE: usize = 20;
/// How many lines may be typed ahead.
const AHEAD: usize = 16;

/// Watches an agent, and tells it each line that is typed; or works in its terminal.
pub(super) async fn run(context: &Context, given: &str, how: Attach, full: bool) -> Result<Exit> {
    let output = context.output;
    let found = locate::server(context).await?;
    let agent = lookup::agent(&found.client, given).await?;
    let server = Patience::new(found.client, notes(output));
    let label = plain(&agent.label);
    if how.terminal {
        return terminal::run(context, label, Wire::new(server, agent.id, how), how).await;
    }
    let mut signals = Signals::listen()?;
    let mut tail = Tail { server: server.clone(), agent: agent.id, after: 0 };
    let before = tokio::select! {
        before = before(&mut tail) => before?,
        () = signals.next() => return Ok(Exit::Done),
    };
    before.iter().try_for_each(|line| print(output, line, full))?;
    let mut wire = Wire::new(server, agent.id, how);
    wire.offset = u64::try_from(tail.after).unwrap_or_default();
    let mut talk = Talk { context, label, how, full, wire, typed: typed(how.watch), waits: None };
    talk.welcome();
    tokio::select! {
        talked = talk.go_on() => talked?,
        () = signals.next() => talk.farewell(),
    }
    talk.wire.close().await;
    Ok(Exit::Done)
}

/// Somebody who watches an agent and talks to it.
struct Talk<'c> {
    context: &'c Context,
    label: String,
    how: Attach,
    /// Prints texts whole.
    full: bool,
    wire: Wire,
    /// The lines that are typed.
    typed: mpsc::Receiver<String>,
    /// What was said and is not yet confirmed; the next line waits for it.
    waits: Option<String>,
}

impl Talk<'_> {
    fn welcome(&self) {
        let label = &self.label;
        self.context.output.remark(if self.how.watch {
            format!("watching {label}; Ctrl-C detaches")
        } else {
            format!("attached to {label}: what you type is told to it; Ctrl-C or Ctrl-D detaches")
        });
    }

    fn farewell(&self) {
        self.context.output.note(format_args!("detached from {}; it goes on", self.label));
    }

    /// Shows what the agent says, and tells it what is typed, until one of them leaves.
    async fn go_on(&mut self) -> Result<()> {
        // Until the server has said hello, a line could be refused for no reason.
        let mut greeted = false;
        loop {
            let may_type = greeted && !self.how.watch && self.waits.is_none();
            tokio::select! {
                told = self.wire.next() => match told? {
                    Told::Frame(told) => {
                        greeted = true;
                        self.hear(told)?;
                    }
                    Told::Bytes(_) => {}
                    Told::Lost => {
                        greeted = false;
                        self.lost();
                    }
                    Told::Over(why) => {
                        self.context.output.note(plain(&why));
                        return Ok(());
                    }
                },
                line = self.typed.recv(), if may_type => match line {
                    Some(line) if line.trim().is_empty() => {}
                    Some(text) => {
                        self.waits = Some(text.clone());
                        self.wire.ask(&AttachAsk::Message { text });
                    }
                    None => {
                        self.farewell();
                        return Ok(());
                    }
                },
            }
        }
    }

    fn hear(&mut self, told: AttachTold) -> Result<()> {
        let output = self.context.output;
        match told {
            AttachTold::Log { items, .. } => {
                items.iter().try_for_each(|line| print(output, line, self.full))?;
            }
            AttachTold::Sent {} => self.waits = None,
            AttachTold::Refused { error } => {
                self.waits = None;
                output.failure(&Error::from(ClientError::from(error)));
            }
            AttachTold::Dropped { .. } => output.note("some of the log was removed by retention"),
            AttachTold::Hello { .. } | AttachTold::Control { .. } => {
                if !self.wire.has_control() && !self.how.watch {
                    let who = self.wire.holder.as_ref().map(|one| plain(&one.name));
                    output
                        .remark(format_args!("{} has control", who.as_deref().unwrap_or("nobody")));
                }
            }
            AttachTold::Exit { .. } | AttachTold::Size { .. } | AttachTold::Pong {} => {}
        }
        Ok(())
    }

    fn lost(&mut self) {
        if let Some(text) = self.waits.take() {
            self.context.output.note(format_args!(
                "the connection broke before {} confirmed it; say it again if the log does not show \
                 it: {}",
                self.label,
                plain(&text)
            ));
        }
    }
}

/// Reads the log to its end, and returns the last of it.
async fn before(tail: &mut Tail) -> Result<VecDeque<AgentLine>> {
    let mut last = VecDeque::new();
    loop {
        let log = tail.look(false).await?;
        let end = tail.pass(&log);
        last.extend(log.items);
        let old = last.len().saturating_sub(BEFORE);
        last.drain(..old);
        if end {
            return Ok(last);
        }
    }
}

/// Reads lines as they are typed, on a thread that may wait.
fn typed(watch: bool) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel(AHEAD);
    if !watch {
        tokio::task::spawn_blocking(move || {
            // A terminal that has gone is an end like any other.
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
    }
    receive
}
