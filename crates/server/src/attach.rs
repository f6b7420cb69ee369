//! One socket of somebody who is attached to an agent: shows what comes, and passes on what is typed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use bytes::Bytes;
use godel_api::{AttachAsk, AttachTold, CLOSE_REFUSED, CLOSE_TOO_SLOW, Holder, terminal_frame};
use godel_app::{SocketPlace, events};
use godel_fleet::attach::{Ended, Seat, Shell, TakeFrom};
use godel_model::{Seq, code};
use godel_runtime::{Attachment, Output, TerminalSize};
use godel_store::Tail;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::error::{ApiError, ApiResult};
use crate::extract::refuse_json;
use crate::guard::Caller;
use crate::routes::agents::attach::check_size;
use crate::routes::agents::shape;
use crate::state::Shared;

/// The largest frame that a client may send.
pub(crate) const FRAME_MAX_BYTES: usize = 64 * 1024;
/// How many lines of a log go into one frame.
const LINES_MAX: usize = 100;
/// How often a silent client is asked whether it is there.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How long a client may stay silent.
const SILENCE_MAX: Duration = Duration::from_secs(75);
/// How often it is looked whether the caller is still logged in, and the agent still there.
const LOOK: Duration = Duration::from_secs(5);
/// The same when the agent is about to end.
const LOOK_SOON: Duration = Duration::from_millis(200);
/// How long a client may take no bytes before it counts as gone.
const SEND_PATIENCE: Duration = Duration::from_secs(60);
/// A client that takes longer for one frame is slow: if the terminal went on without it, it is cut off.
/// One that is fast and yet misses something, because the terminal is faster than any network, is told.
const SEND_SLOW: Duration = Duration::from_secs(2);
/// How long what is typed may wait for the process to read it.
const TYPE_PATIENCE: Duration = Duration::from_secs(30);
/// How long the last lines of a log may take to be known here.
const LAST_PATIENCE: Duration = Duration::from_secs(5);
/// How long a client may take to read why it is refused.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(5);
/// How long a subscription waits before it asks a failed database again.
const RETRY: Duration = Duration::from_millis(500);
/// The longest reason that a frame can have.
const REASON_MAX_BYTES: usize = 120;
/// Tells a client that its login has ended.
const CLOSE_LOGGED_OUT: u16 = 4401;

/// What is looked at.
pub(crate) enum View {
    /// A shell.
    Terminal(Arc<Shell>, Attachment, watch::Receiver<TerminalSize>),
    /// The log.
    Log(Box<Tail>),
}

/// What there is to see.
enum Seen {
    /// What a terminal has shown; nothing if it has ended.
    Output(Option<Output>),
    /// A terminal has another size.
    Size(TerminalSize),
    /// There are new lines.
    Lines,
}

impl View {
    /// Looks at a terminal.
    pub(crate) fn terminal(shell: Arc<Shell>, reader: Attachment) -> Self {
        let size = shell.size();
        Self::Terminal(shell, reader, size)
    }

    /// Looks at a log.
    pub(crate) fn log(tail: Tail) -> Self {
        Self::Log(Box::new(tail))
    }

    /// Waits until there is something to see; safe to cancel.
    async fn next(&mut self) -> Seen {
        match self {
            Self::Terminal(_, reader, size) => tokio::select! {
                biased;
                // The shell is held here, so that who tells of its size is there as well.
                Ok(()) = size.changed() => Seen::Size(*size.borrow_and_update()),
                output = reader.next() => Seen::Output(output),
            },
            Self::Log(tail) => {
                tail.ready().await;
                Seen::Lines
            }
        }
    }
}

/// Tells a browser why it is refused: it cannot read the answer to a socket that never opened.
pub(crate) async fn refuse(mut socket: WebSocket, error: ApiError) {
    let told = AttachTold::Refused { error: error.into() };
    let AttachTold::Refused { error } = &told else { return };
    let reason = clip(&error.message).into();
    let Ok(text) = serde_json::to_string(&told) else { return };
    let close = Message::Close(Some(CloseFrame { code: CLOSE_REFUSED, reason }));
    let say = async {
        socket.send(Message::Text(text.into())).await?;
        socket.send(close).await?;
        // It is over when the client has closed its end.
        while socket.recv().await.is_some_and(|message| message.is_ok()) {}
        Ok::<_, axum::Error>(())
    };
    drop(tokio::time::timeout(REFUSAL_PATIENCE, say).await);
}

/// Why a connection ends.
enum End {
    /// The client went away.
    Gone,
    /// For a reason that the client is told.
    Told(u16, String),
}

type Typing = Pin<Box<dyn Future<Output = ApiResult<()>> + Send>>;

/// One open socket.
pub(crate) struct Connection {
    shared: Shared,
    caller: Caller,
    seat: Seat,
    view: View,
    /// Free for somebody else when the connection ends.
    _place: SocketPlace,
    socket: WebSocket,
    /// What is on its way to the terminal; nothing more is read from the client meanwhile.
    typing: Option<Typing>,
    heard_at: Instant,
    pinged_at: Instant,
    /// When it is looked next whether all is as it was.
    look_at: Instant,
    /// Whether the last frame took long.
    slow: bool,
}

impl Connection {
    pub(crate) fn new(
        (shared, caller): (Shared, Caller),
        (seat, view): (Seat, View),
        place: SocketPlace,
        socket: WebSocket,
    ) -> Box<Self> {
        let now = Instant::now();
        Box::new(Self {
            shared,
            caller,
            seat,
            view,
            _place: place,
            socket,
            typing: None,
            heard_at: now,
            pinged_at: now,
            look_at: now,
            slow: false,
        })
    }

    pub(crate) async fn run(mut self: Box<Self>) {
        let stopping = self.shared.crew.stopping();
        let mut step = self.hello().await;
        while step.is_ok() {
            step = tokio::select! {
                () = stopping.cancelled() => Err(stopped()),
                message = self.socket.recv(), if self.typing.is_none() => self.receive(message).await,
                typed = typed(&mut self.typing) => {
                    self.typing = None;
                    self.answer(typed, None).await
                }
                () = self.seat.control_changed() => self.tell_control().await,
                seen = self.view.next() => self.show(seen).await,
                () = tokio::time::sleep_until(self.look_at) => self.look().await,
            };
        }
        let Err(End::Told(code, reason)) = step else { return };
        let reason = clip(&reason).into();
        let closing = self.socket.send(Message::Close(Some(CloseFrame { code, reason })));
        // A slow client must have the time to read as far as the reason.
        let patience = if code == CLOSE_TOO_SLOW { SEND_PATIENCE } else { Duration::from_secs(1) };
        tokio::select! {
            _ = tokio::time::timeout(patience, closing) => {}
            () = async {
                stopping.cancelled().await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            } => {}
        }
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        let (stopping, began) = (self.shared.crew.stopping(), Instant::now());
        tokio::select! {
            biased;
            sent = tokio::time::timeout(SEND_PATIENCE, self.socket.send(message)) => match sent {
                Ok(Ok(())) => {
                    self.slow = began.elapsed() > SEND_SLOW;
                    Ok(())
                }
                Ok(Err(_)) | Err(_) => Err(End::Gone),
            },
            () = stopping.cancelled() => Err(stopped()),
        }
    }

    async fn tell(&mut self, told: &AttachTold) -> Result<(), End> {
        let text = serde_json::to_string(told).map_err(|_| End::Gone)?;
        self.send(Message::Text(text.into())).await
    }

    async fn hello(&mut self) -> Result<(), End> {
        let (terminal, offset, size) = match &mut self.view {
            View::Terminal(shell, reader, size) => {
                (Some(shell.id()), reader.offset(), Some(*size.borrow_and_update()))
            }
            View::Log(tail) => (None, position(tail.cursor()), None),
        };
        let told = AttachTold::Hello {
            agent: self.seat.agent().uuid(),
            label: self.seat.label().to_owned(),
            seat: self.seat.id(),
            terminal,
            offset,
            columns: size.map(|size| size.columns),
            rows: size.map(|size| size.rows),
            may_control: self.seat.may_lead(),
            holder: holder(&mut self.seat),
        };
        self.tell(&told).await
    }

    async fn tell_control(&mut self) -> Result<(), End> {
        let holder = holder(&mut self.seat);
        self.tell(&AttachTold::Control { holder }).await
    }

    async fn receive(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        let message = message.and_then(Result::ok).ok_or(End::Gone)?;
        self.heard_at = Instant::now();
        match message {
            Message::Text(text) => match serde_json::from_str(text.as_str()) {
                Ok(ask) => {
                    let (done, told) = self.act(ask).await;
                    self.answer(done, told).await
                }
                Err(error) => self.answer(Err(refuse_json(&error)), None).await,
            },
            Message::Binary(bytes) => match self.typed(bytes) {
                Ok(typing) => {
                    self.typing = Some(typing);
                    Ok(())
                }
                Err(error) => self.answer(Err(error), None).await,
            },
            Message::Close(_) => Err(End::Gone),
            // Answered by the library.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
        }
    }

    /// Does what was asked for, and says what the client is told then.
    async fn act(&mut self, ask: AttachAsk) -> (ApiResult<()>, Option<AttachTold>) {
        match ask {
            AttachAsk::Take { force } => {
                let from = if force { TakeFrom::Anybody } else { TakeFrom::Nobody };
                (self.seat.take_control(from).map_err(Into::into), None)
            }
            AttachAsk::Release {} => {
                self.seat.release_control();
                (Ok(()), None)
            }
            AttachAsk::Resize { columns, rows } => {
                (self.resize(TerminalSize { columns, rows }), None)
            }
            AttachAsk::Message { text } => {
                let said = match &self.view {
                    View::Log(_) => self.seat.say(text).await.map_err(Into::into),
                    View::Terminal(..) => Err(no_talk()),
                };
                (said, Some(AttachTold::Sent {}))
            }
            AttachAsk::Ping {} => (Ok(()), Some(AttachTold::Pong {})),
        }
    }

    async fn answer(&mut self, done: ApiResult<()>, told: Option<AttachTold>) -> Result<(), End> {
        match (done, told) {
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(told)) => self.tell(&told).await,
            (Err(error), _) => self.tell(&AttachTold::Refused { error: error.into() }).await,
        }
    }

    fn resize(&self, size: TerminalSize) -> ApiResult<()> {
        self.seat.refuse_without_control()?;
        check_size(size)?;
        match &self.view {
            View::Terminal(shell, ..) => Ok(shell.resize(size)?),
            View::Log(_) => Err(no_terminal()),
        }
    }

    /// Begins to type; it is waited for elsewhere, since a process may not read.
    fn typed(&self, bytes: Bytes) -> ApiResult<Typing> {
        self.seat.refuse_without_control()?;
        let View::Terminal(shell, ..) = &self.view else { return Err(no_terminal()) };
        let terminal = shell.terminal().clone();
        Ok(Box::pin(async move {
            match tokio::time::timeout(TYPE_PATIENCE, terminal.write(&bytes)).await {
                Ok(written) => Ok(written.map_err(godel_fleet::Error::from)?),
                Err(_) => Err(ApiError::new(
                    code::SANDBOX_STATE,
                    "nothing in the terminal reads what you type; the rest of it was dropped",
                )
                .with_hint("type again when the command that runs has ended")),
            }
        }))
    }

    async fn show(&mut self, seen: Seen) -> Result<(), End> {
        match seen {
            Seen::Output(Some(Output::Bytes { offset, bytes })) => {
                self.send(Message::Binary(terminal_frame(offset, &bytes))).await
            }
            Seen::Output(Some(Output::Dropped { from, to })) => {
                if self.slow {
                    let gone = to - from;
                    let why = format!(
                        "too slow: {gone} bytes were gone before you read them; come back from {from}"
                    );
                    return Err(End::Told(CLOSE_TOO_SLOW, why));
                }
                self.tell(&AttachTold::Dropped { from, to }).await
            }
            Seen::Output(None) => self.terminal_over().await,
            Seen::Size(TerminalSize { columns, rows }) => {
                self.tell(&AttachTold::Size { columns, rows }).await
            }
            Seen::Lines => self.lines().await.map(drop),
        }
    }

    async fn terminal_over(&mut self) -> Result<(), End> {
        let code = match &self.view {
            View::Terminal(shell, ..) => shell.ended().await,
            View::Log(_) => None,
        };
        if self.shared.crew.stopping().is_cancelled() {
            return Err(stopped());
        }
        self.tell(&AttachTold::Exit { code }).await?;
        Err(End::Told(close_code::NORMAL, self.seat.why_over(code).await))
    }

    /// Sends lines of the log that are there; tells whether there were any.
    async fn lines(&mut self) -> Result<bool, End> {
        let View::Log(tail) = &mut self.view else { return Ok(false) };
        let batch = match tail.take(LINES_MAX).await {
            Ok(batch) => batch,
            Err(godel_store::Error::Closed) => return Err(stopped()),
            Err(error) => {
                tracing::warn!(%error, "a log waits for the database");
                tokio::time::sleep(RETRY).await;
                return Ok(false);
            }
        };
        let next = position(tail.cursor());
        if let Some(gap) = batch.gap {
            let (from, to) = (position(gap.from), position(gap.to) + 1);
            self.tell(&AttachTold::Dropped { from, to }).await?;
        }
        if batch.events.is_empty() {
            return Ok(false);
        }
        let items: Vec<_> = batch.events.iter().map(|one| shape::line(&one.event)).collect();
        // Whatever is no text and no tool may be its end.
        if items.iter().any(|line| ENDS.contains(&line.kind.as_str())) {
            self.look_at = Instant::now();
        }
        self.tell(&AttachTold::Log { items, next }).await?;
        Ok(true)
    }

    /// Looks whether all is as it was: the client, its login and the agent.
    async fn look(&mut self) -> Result<(), End> {
        self.look_at = Instant::now() + LOOK;
        if self.heard_at.elapsed() > SILENCE_MAX {
            return Err(End::Gone);
        }
        if self.caller.is_gone(&self.shared).await {
            return Err(End::Told(CLOSE_LOGGED_OUT, "the login has ended".to_owned()));
        }
        if self.pinged_at.elapsed() >= HEARTBEAT {
            self.pinged_at = Instant::now();
            self.send(Message::Ping(Bytes::new())).await?;
        }
        if matches!(self.view, View::Terminal(..)) {
            return Ok(());
        }
        match self.seat.ended().await {
            Ok(Some(Ended::Now(why))) => self.last_lines(why).await,
            Ok(Some(Ended::Soon)) => {
                self.look_at = Instant::now() + LOOK_SOON;
                Ok(())
            }
            // A database that does not answer is asked again.
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Sends what the agent said last, and ends.
    async fn last_lines(&mut self, why: String) -> Result<(), End> {
        let (app, call) = (&self.shared.app, &self.caller.call);
        let end = events::bounds(app, call).await.map_or(Seq::START, |(end, _)| end);
        let until = Instant::now() + LAST_PATIENCE;
        loop {
            let more = self.lines().await?;
            let View::Log(tail) = &self.view else { break };
            // Another server may have said more than is known here.
            if !more && (tail.head() >= end || Instant::now() > until) {
                break;
            }
        }
        Err(End::Told(close_code::NORMAL, why))
    }
}

/// After such lines an agent may have ended.
const ENDS: [&str; 6] = [
    "agent:state",
    "agent:kill",
    "agent:complete",
    "agent:delete",
    "agent:sandbox:end",
    "agent:restart",
];

async fn typed(typing: &mut Option<Typing>) -> ApiResult<()> {
    match typing {
        Some(typing) => typing.await,
        None => std::future::pending().await,
    }
}

fn position(seq: Seq) -> u64 {
    u64::try_from(seq.0).unwrap_or_default()
}

fn holder(seat: &mut Seat) -> Option<Holder> {
    seat.holder().map(|one| Holder { seat: one.seat, name: one.name })
}

fn stopped() -> End {
    End::Told(close_code::AWAY, "the server is stopping; reconnect and resume".to_owned())
}

fn no_terminal() -> ApiError {
    ApiError::new(code::INVALID_REQUEST, "this is the log of the agent, not a terminal")
        .with_hint("attach with terminal=true to type into a shell; here, send a `message`")
}

fn no_talk() -> ApiError {
    ApiError::new(code::INVALID_REQUEST, "this is a terminal, not the conversation of the agent")
        .with_hint("attach without terminal=true to talk to the agent; here, send binary frames")
}

/// Cuts a reason to what a frame can have.
fn clip(reason: &str) -> String {
    let mut end = reason.len().min(REASON_MAX_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason[..end].to_owned()
}
