//! One socket: reads frames, sends events, notices when the other side is gone.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use futures_util::future::select_all;
use godel_api::{ClientFrame, Command, FrameKind, Lagged, Subscribe, Unsubscribe};
use godel_app::{SocketPlace, events};
use godel_model::code;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::frames;
use super::subscription::Subscription;
use crate::error::{ApiError, ApiResult};
use crate::extract::refuse_json;
use crate::guard::Caller;
use crate::metrics;
use crate::state::Shared;

/// How many subscriptions one socket may have.
const SUBSCRIPTIONS_MAX: usize = 32;
/// How often a silent client is asked whether it is there.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How long a client may stay silent.
const SILENCE_MAX: Duration = Duration::from_secs(75);
/// How often it is looked whether the caller is still logged in.
const LOOK: Duration = Duration::from_secs(10);
/// Tells a client that its login has ended.
const CLOSE_LOGGED_OUT: u16 = 4401;
/// How long a client may take no bytes before it counts as gone; it can come back and resume.
const SEND_PATIENCE: Duration = Duration::from_secs(60);
/// The shortest time between two frames of events on one socket: what comes meanwhile goes
/// together. Short enough not to be noticed, long enough to bound the work of a busy log.
const COALESCE: Duration = Duration::from_millis(4);
/// The same when very many sockets are open.
const COALESCE_CROWDED: Duration = Duration::from_millis(20);
const CROWDED_SOCKETS: u64 = 500;
/// How long a subscription waits before it asks a failed database again.
const RETRY: Duration = Duration::from_millis(500);

/// One open socket.
pub(super) struct Connection {
    shared: Shared,
    caller: Caller,
    /// Free for somebody else when the connection ends.
    _place: SocketPlace,
    socket: WebSocket,
    subscriptions: Vec<Subscription>,
    named: u64,
    heard_at: Instant,
    pinged_at: Instant,
    sent_at: Instant,
}

/// Why a connection ends.
enum End {
    /// The client went away.
    Gone,
    /// The server is stopping.
    Stopping,
    /// The caller is not known any more.
    LoggedOut,
}

impl Connection {
    pub(super) fn new(
        shared: Shared,
        caller: Caller,
        place: SocketPlace,
        socket: WebSocket,
    ) -> Box<Self> {
        let now = Instant::now();
        // Boxed: a future keeps room for each place that its parts are moved through.
        Box::new(Self {
            shared,
            caller,
            _place: place,
            socket,
            subscriptions: Vec::new(),
            named: 0,
            heard_at: now,
            pinged_at: now,
            sent_at: now.checked_sub(COALESCE_CROWDED).unwrap_or(now),
        })
    }

    pub(super) async fn run(mut self: Box<Self>) {
        let stopping = self.shared.crew.stopping();
        let mut heartbeat = Box::pin(tokio::time::sleep(LOOK));
        let end = loop {
            let step = tokio::select! {
                () = stopping.cancelled() => break End::Stopping,
                message = self.socket.recv() => self.receive(message).await,
                index = any_ready(&mut self.subscriptions) => self.deliver(index).await,
                () = &mut heartbeat => {
                    heartbeat.as_mut().reset(Instant::now() + LOOK);
                    self.beat().await
                }
            };
            if let Err(end) = step {
                break end;
            }
        };
        let (code, reason) = match end {
            End::Gone => return,
            End::Stopping => (close_code::AWAY, "the server is stopping; reconnect and resume"),
            End::LoggedOut => (CLOSE_LOGGED_OUT, "the login has ended"),
        };
        let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        // The client may be gone already, and the server is on its way.
        let closing = self.socket.send(Message::Close(Some(close)));
        drop(tokio::time::timeout(Duration::from_secs(1), closing).await);
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        let stopping = self.shared.crew.stopping();
        tokio::select! {
            biased;
            sent = tokio::time::timeout(SEND_PATIENCE, self.socket.send(message)) => match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) | Err(_) => Err(End::Gone),
            },
            () = stopping.cancelled() => Err(End::Gone),
        }
    }

    async fn text(&mut self, text: String) -> Result<(), End> {
        self.send(Message::Text(text.into())).await
    }

    /// Asks a silent client for a sign of life; one that stayed silent since the last time is gone.
    async fn beat(&mut self) -> Result<(), End> {
        if self.heard_at.elapsed() > SILENCE_MAX {
            return Err(End::Gone);
        }
        if self.caller.is_gone(&self.shared).await {
            return Err(End::LoggedOut);
        }
        if self.pinged_at.elapsed() < HEARTBEAT {
            return Ok(());
        }
        self.pinged_at = Instant::now();
        self.send(Message::Ping(bytes::Bytes::new())).await
    }

    async fn receive(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        let message = message.and_then(Result::ok).ok_or(End::Gone)?;
        self.heard_at = Instant::now();
        match message {
            // Boxed: clients say little, and an idle socket must not keep room for it.
            Message::Text(text) => Box::pin(self.frame(text.as_str())).await,
            Message::Close(_) => Err(End::Gone),
            // Answered by the library.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Binary(_) => {
                let error = ApiError::new(code::INVALID_REQUEST, "frames are text");
                let now = self.shared.app.clock.now();
                self.text(frames::error(None, error, now)).await
            }
        }
    }

    async fn frame(&mut self, text: &str) -> Result<(), End> {
        let now = self.shared.app.clock.now();
        let frame: ClientFrame = match serde_json::from_str(text) {
            Ok(frame) => frame,
            Err(error) => {
                return self.text(frames::error(None, refuse_json(&error), now)).await;
            }
        };
        let id = frame.id.as_deref();
        let answer = match frame.kind {
            FrameKind::Ping => {
                let sent = self.subscriptions.iter().filter_map(|one| one.sent).max();
                frames::pong(id, sent, now)
            }
            FrameKind::Pong => return Ok(()),
            FrameKind::Subscribe => frames::response(id, self.subscribe(&frame).await, now),
            FrameKind::Unsubscribe => frames::response(id, self.unsubscribe(&frame), now),
            FrameKind::Command => frames::response(id, self.command(&frame).await, now),
            FrameKind::Response
            | FrameKind::Event
            | FrameKind::Events
            | FrameKind::Lagged
            | FrameKind::Error => {
                let error =
                    ApiError::new(code::INVALID_REQUEST, "only the server sends such frames");
                frames::error(id, error, now)
            }
        };
        self.text(answer).await
    }

    async fn subscribe(&mut self, frame: &ClientFrame) -> ApiResult<Value> {
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX {
            return Err(ApiError::new(
                code::INVALID_REQUEST,
                format!("a socket may have at most {SUBSCRIPTIONS_MAX} subscriptions"),
            ));
        }
        let request: Subscribe = payload(frame)?;
        self.named += 1;
        let id = format!("sub-{}", self.named);
        let opened = Subscription::open(&self.shared.app, &self.caller.call, id, request).await?;
        let answer = json!({
            "subscriptionId": opened.id,
            "head": opened.tail.log_end(),
            "cursor": opened.tail.cursor(),
        });
        self.subscriptions.push(opened);
        Ok(answer)
    }

    fn unsubscribe(&mut self, frame: &ClientFrame) -> ApiResult<Value> {
        let request: Unsubscribe = payload(frame)?;
        let before = self.subscriptions.len();
        self.subscriptions.retain(|known| known.id != request.subscription_id);
        if self.subscriptions.len() == before {
            return Err(ApiError::new(code::INVALID_FIELD, "this socket has no such subscription"));
        }
        Ok(json!({ "subscriptionId": request.subscription_id }))
    }

    async fn command(&mut self, frame: &ClientFrame) -> ApiResult<Value> {
        let command: Command = payload(frame)?;
        match command.command.as_str() {
            "events:head" => {
                let (head, trimmed) = events::bounds(&self.shared.app, &self.caller.call).await?;
                Ok(json!({ "head": head, "trimmed": trimmed }))
            }
            other => Err(ApiError::new(
                code::INVALID_FIELD,
                format!("there is no command `{}`", other.chars().take(50).collect::<String>()),
            )
            .with_hint("this version knows `events:head`")),
        }
    }

    /// Sends what waits for one subscription.
    async fn deliver(&mut self, index: usize) -> Result<(), End> {
        self.coalesce().await;
        let Some(subscription) = self.subscriptions.get_mut(index) else {
            return Ok(());
        };
        let delivery = match subscription.take().await {
            Ok(delivery) => delivery,
            Err(godel_store::Error::Closed) => return Err(End::Stopping),
            Err(error) => {
                tracing::warn!(%error, "a subscription waits for the database");
                tokio::time::sleep(RETRY).await;
                return Ok(());
            }
        };
        let last = delivery.events.last().map(|last| last.event.seq.0);
        subscription.sent = subscription.sent.max(last);
        let (id, now) = (subscription.id.clone(), self.shared.app.clock.now());
        // The next look begins behind it, so that a busy one does not starve the others.
        self.subscriptions.rotate_left(index + 1);
        let first = delivery.events.first().map_or(i64::MAX, |first| first.event.seq.0);
        let (before, after): (Vec<Lagged>, Vec<Lagged>) =
            delivery.lagged.into_iter().partition(|lagged| lagged.to_sequence < first);
        for notice in before {
            self.text(frames::lagged(&id, &notice, now)).await?;
        }
        if !delivery.events.is_empty() {
            metrics::events_sent(self.caller.call.actor.tenant, delivery.events.len() as u64);
            self.text(frames::events(&id, &delivery.events, now)).await?;
            self.sent_at = Instant::now();
        }
        for notice in after {
            self.text(frames::lagged(&id, &notice, now)).await?;
        }
        Ok(())
    }

    /// Waits until the next frame of events is due.
    async fn coalesce(&mut self) {
        let crowded = self.shared.app.rates.open_sockets() > CROWDED_SOCKETS;
        let pause = if crowded { COALESCE_CROWDED } else { COALESCE };
        let due = self.sent_at + pause;
        if due > Instant::now() {
            tokio::time::sleep_until(due).await;
        }
    }
}

/// Waits until one of the subscriptions has something, and returns which.
async fn any_ready(subscriptions: &mut [Subscription]) -> usize {
    match subscriptions {
        [] => std::future::pending().await,
        [one] => {
            one.tail.ready().await;
            0
        }
        many => {
            let waiting = many.iter_mut().map(|one| Box::pin(one.tail.ready()));
            let (_, index, _) = select_all(waiting).await;
            index
        }
    }
}

fn payload<T: DeserializeOwned>(frame: &ClientFrame) -> ApiResult<T> {
    let text = frame.payload.as_ref().map_or("{}", |payload| payload.get());
    serde_json::from_str(text).map_err(|error| refuse_json(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the size of what a function returns, without calling it.
    fn size_of_result<A, F>(_: impl Fn(A) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn an_idle_socket_is_small() {
        const SOCKET_MAX_BYTES: usize = 2_048;
        let task = size_of_result(|connection: Box<Connection>| connection.run());
        let size = task + size_of::<Connection>();
        assert!(size <= SOCKET_MAX_BYTES, "{size} bytes for each of ten thousand idle sockets");
    }
}
