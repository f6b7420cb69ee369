//! Watching an agent and talking to it.

use std::collections::VecDeque;
use std::io::{self, BufRead as _};

use godel_api::{Agent, AgentLine, AgentLog};
use tokio::sync::mpsc;

use super::log::{Tail, print};
use super::{find, is_over, tell};
use crate::commands::inbox;
use crate::commands::worker::notes;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::locate;
use crate::output::plain;
use crate::signals::Signals;
use godel_worker::Patience;

/// How many entries of what was before are shown.
const BEFORE: usize = 20;
/// How many lines may be typed ahead.
const AHEAD: usize = 16;

/// Watches an agent, and tells it each line that is typed.
pub(super) async fn run(context: &Context, given: &str, full: bool) -> Result<Exit> {
    let output = context.output;
    let found = locate::server(context).await?;
    let agent = find(&found.client, given).await?;
    let server = Patience::new(found.client, notes(output));
    let mut tail = Tail { server, agent: agent.id, after: 0 };
    let label = plain(&agent.label);
    let mut person = Person { typed: typed(), signals: Signals::listen()? };
    let before = tokio::select! {
        before = before(&mut tail) => before?,
        () = person.signals.next() => return Ok(Exit::Done),
    };
    before.iter().try_for_each(|line| print(output, line, full))?;
    output.remark(format_args!(
        "attached to {label}: what you type is told to it; Ctrl-C or Ctrl-D detaches"
    ));
    let mut over = is_over(&agent);
    loop {
        let Some(log) = person.with(context, &tail, !over).await? else {
            let goes_on = if over { "it has ended" } else { "it goes on" };
            output.note(format_args!("detached from {label}; {goes_on}"));
            return Ok(Exit::Done);
        };
        log.items.iter().try_for_each(|line| print(output, line, full))?;
        if !tail.pass(&log) {
            continue;
        }
        if over {
            let state = tail.state().await?.lifecycle_state;
            output.note(format_args!("{label} has ended: it is {state}"));
            return Ok(Exit::Done);
        }
        over = is_over(&tail.state().await?);
    }
}

/// Whoever watches.
struct Person {
    /// The lines that are typed.
    typed: mpsc::Receiver<String>,
    signals: Signals,
}

impl Person {
    /// Waits for more of the log and tells the agent what is typed meanwhile; nothing if the person
    /// leaves.
    async fn with(
        &mut self,
        context: &Context,
        tail: &Tail,
        wait: bool,
    ) -> Result<Option<AgentLog>> {
        let look = tail.look(wait);
        tokio::pin!(look);
        loop {
            tokio::select! {
                log = &mut look => return log.map(Some),
                line = self.typed.recv() => match line {
                    // A server that is gone is waited for, and must not keep the person.
                    Some(line) => tokio::select! {
                        () = say(context, tail, line) => {}
                        () = self.signals.next() => return Ok(None),
                    },
                    None => return Ok(None),
                },
                () = self.signals.next() => return Ok(None),
            }
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
fn typed() -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || {
        // A terminal that has gone is an end like any other.
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if send.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receive
}

/// Tells the agent a line: as an answer if it asks. What is refused is no reason to stop watching.
async fn say(context: &Context, tail: &Tail, line: String) {
    if line.trim().is_empty() {
        return;
    }
    if let Err(error) = told(tail, line).await {
        context.output.failure(&error);
    }
}

async fn told(tail: &Tail, line: String) -> Result<()> {
    let agent: Agent = tail.state().await?;
    let client = &tail.server.client;
    let asks = match agent.lifecycle_state.as_str() {
        "waiting" => inbox::question_of(client, agent.id).await?,
        _ => None,
    };
    match asks {
        Some(notice) => inbox::answer(client, &notice, Some(line)).await.map(drop),
        None => tell(client, agent.id, line).await.map(drop),
    }
}
