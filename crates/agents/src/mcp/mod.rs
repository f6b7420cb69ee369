//! Godel's verbs for agents: as tools over the Model Context Protocol, and as functions.
//!
//! # Invariants
//! - Each request is answered once, unless it was called off; nothing else is.
//! - Whatever comes is read or refused; no line, batch or argument is too strange.
//! - A question to a person does not keep others waiting.

mod client;
mod rpc;
mod tools;
pub mod verbs;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

pub use client::{
    Agent, BASE_VARIABLE, Bead, Godel, GrantedTool, Mail, Myself, Question, QuestionState, Refusal,
    Verdict,
};

use crate::lines::{Line, Lines};
use rpc::{Message, wrong};
use tools::Call;
use verbs::Told;

/// The longest message.
pub const MESSAGE_MAX_BYTES: usize = 1024 * 1024;
/// The most calls at a time.
pub const CALLS_MAX: usize = 32;
/// The versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// How often a client is told that a call still goes on, if it wants to know.
const PROGRESS_EVERY: Duration = Duration::from_secs(20);
/// How long a list of tools waits for what the role gives.
const GRANTED_PATIENCE: Duration = Duration::from_secs(10);
/// How long calls may still go on when the client says nothing more.
const REST: Duration = Duration::from_secs(5);
const CHUNK_BYTES: usize = 16 * 1024;
const INSTRUCTIONS: &str = "Godel leads you as an agent. Call `bead` to see your work, keep `todo_write` \
    true, commit your work, and call `done` at the end: it tells you what is missing.";

/// Serves the tools until the client says nothing more.
///
/// # Errors
/// If the input or output breaks.
pub async fn serve<I, O>(mut input: I, output: O, godel: Godel) -> std::io::Result<()>
where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin,
{
    let mut desk = Desk {
        output,
        godel,
        calls: JoinSet::new(),
        open: HashMap::new(),
        next_progress: Instant::now() + PROGRESS_EVERY,
    };
    let mut lines = Lines::new(MESSAGE_MAX_BYTES);
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let mut heard = Vec::new();
        let each = |line: Line<'_>| match line {
            Line::Whole(line) => heard.extend(rpc::read(line)),
            Line::TooLong => heard.push(too_long()),
        };
        tokio::select! {
            count = input.read(&mut buffer) => match count? {
                0 => break,
                count => lines.feed(&buffer[..count], each),
            },
            Some(ended) = desk.calls.join_next(), if !desk.calls.is_empty() => {
                if let Ok((id, told)) = ended {
                    desk.answer(&id, told).await?;
                }
            }
            () = tokio::time::sleep_until(desk.next_progress) => desk.progress().await?,
        }
        for message in heard {
            desk.take(message).await?;
        }
    }
    let mut last = Vec::new();
    lines.finish(|line| {
        if let Line::Whole(line) = line {
            last.extend(rpc::read(line));
        }
    });
    for message in last {
        desk.take(message).await?;
    }
    desk.close().await
}

fn too_long() -> Message {
    let why = format!("a message has at most {MESSAGE_MAX_BYTES} bytes");
    Message::Bad(rpc::error(&Value::Null, wrong::REQUEST, &why))
}

/// A call that is under way.
struct Open {
    id: Value,
    abort: AbortHandle,
    progress: Option<Value>,
    told: u64,
}

/// The one that answers.
struct Desk<O> {
    output: O,
    godel: Godel,
    calls: JoinSet<(String, Told)>,
    /// By the id as text.
    open: HashMap<String, Open>,
    next_progress: Instant,
}

impl<O: AsyncWrite + Unpin> Desk<O> {
    async fn take(&mut self, message: Message) -> std::io::Result<()> {
        match message {
            Message::Bad(answer) => self.write(&answer).await,
            Message::Notice { method, params } => {
                if method == "notifications/cancelled" {
                    let gone = self.open.remove(&params["requestId"].to_string());
                    gone.iter().for_each(|call| call.abort.abort());
                }
                Ok(())
            }
            Message::Request { id, method, params } => match method.as_str() {
                "initialize" => self.write(&rpc::result(&id, welcome(&params))).await,
                "ping" => self.write(&rpc::result(&id, json!({}))).await,
                "tools/list" => {
                    let list = tools::list(&self.granted().await);
                    self.write(&rpc::result(&id, list)).await
                }
                "tools/call" => self.call(id, &params).await,
                _ => {
                    let why = format!("there is no method {method:?}");
                    self.write(&rpc::error(&id, wrong::METHOD, &why)).await
                }
            },
        }
    }

    /// Asks what the role gives; an agent whose server is away begins without it.
    async fn granted(&self) -> Vec<GrantedTool> {
        let asked = tokio::time::timeout(GRANTED_PATIENCE, self.godel.tools()).await;
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }

    async fn call(&mut self, id: Value, params: &Value) -> std::io::Result<()> {
        let name = params["name"].as_str().unwrap_or_default();
        let key = id.to_string();
        let refusal = if self.open.contains_key(&key) {
            Some((wrong::REQUEST, "this id is in use".to_owned()))
        } else if self.open.len() >= CALLS_MAX {
            Some((wrong::BUSY, format!("more than {CALLS_MAX} calls at a time")))
        } else {
            None
        };
        if let Some((code, why)) = refusal {
            return self.write(&rpc::error(&id, code, &why)).await;
        }
        let call = match Call::read(name, &params["arguments"]) {
            Some(Ok(call)) => call,
            // The model reads this and can do better.
            Some(Err(text)) => return self.tell(&id, &Told { text, failed: true }).await,
            None => {
                let why = format!("there is no tool {name:?}");
                return self.write(&rpc::error(&id, wrong::PARAMS, &why)).await;
            }
        };
        let (godel, named) = (self.godel.clone(), key.clone());
        let abort = self.calls.spawn(async move { (named, call.perform(&godel).await) });
        let token = &params["_meta"]["progressToken"];
        let progress = (token.is_string() || token.is_number()).then(|| token.clone());
        self.open.insert(key, Open { id, abort, progress, told: 0 });
        Ok(())
    }

    async fn answer(&mut self, key: &str, told: Told) -> std::io::Result<()> {
        match self.open.remove(key) {
            Some(call) => self.tell(&call.id, &told).await,
            // It was called off while its answer was on the way.
            None => Ok(()),
        }
    }

    async fn tell(&mut self, id: &Value, told: &Told) -> std::io::Result<()> {
        let content = json!([{ "type": "text", "text": told.text }]);
        let result = json!({ "content": content, "isError": told.failed });
        self.write(&rpc::result(id, result)).await
    }

    /// Says that calls go on, so that no client gives up while a person thinks.
    async fn progress(&mut self) -> std::io::Result<()> {
        self.next_progress = Instant::now() + PROGRESS_EVERY;
        let mut notices = Vec::new();
        for call in self.open.values_mut() {
            if let Some(token) = &call.progress {
                call.told += 1;
                let params = json!({ "progressToken": token, "progress": call.told });
                notices.push(
                    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }),
                );
            }
        }
        for notice in notices {
            self.write(&notice).await?;
        }
        Ok(())
    }

    async fn write(&mut self, message: &Value) -> std::io::Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        self.output.write_all(line.as_bytes()).await?;
        self.output.flush().await
    }

    /// Answers what can still be answered soon; who has left does not wait for a person.
    async fn close(mut self) -> std::io::Result<()> {
        let end = Instant::now() + REST;
        while let Ok(Some(ended)) = tokio::time::timeout_at(end, self.calls.join_next()).await {
            if let Ok((id, told)) = ended {
                self.answer(&id, told).await?;
            }
        }
        Ok(())
    }
}

fn welcome(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str();
    let known = VERSIONS.into_iter().find(|version| Some(*version) == asked);
    json!({
        "protocolVersion": known.unwrap_or(VERSIONS[0]),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "godel", "title": "Godel", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}
