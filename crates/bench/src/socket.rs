//! A WebSocket client that follows events, and reads frames without building anything from them.

use std::net::SocketAddr;

use futures_util::{SinkExt as _, StreamExt as _};
use godel_api::EVENTS_PROTOCOL;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::error::{Error, Result, Told as _};

/// Small, since thousands of clients live in this process.
const BUFFER_BYTES: usize = 4 * 1024;

/// An open socket with one subscription.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
    /// The newest position when the subscription began.
    pub(crate) head: i64,
}

impl Socket {
    /// Connects and subscribes to a pattern, from now on.
    pub(crate) async fn open(address: SocketAddr, key: &str, pattern: &str) -> Result<Self> {
        let tried = "open a socket";
        let tcp = TcpStream::connect(address).await.told(tried)?;
        tcp.set_nodelay(true).told(tried)?;
        let url = format!("ws://{address}/events");
        let mut request = url.into_client_request().told(tried)?;
        let headers = request.headers_mut();
        let bearer = HeaderValue::try_from(format!("Bearer {key}")).told(tried)?;
        headers.insert("authorization", bearer);
        let protocol = HeaderValue::from_static(EVENTS_PROTOCOL);
        headers.insert("sec-websocket-protocol", protocol);
        let config = WebSocketConfig::default().read_buffer_size(BUFFER_BYTES).write_buffer_size(0);
        let opened = client_async_with_config(request, tcp, Some(config)).await;
        let (stream, _) = opened.told(tried)?;
        let mut socket = Self { stream, head: 0 };
        socket.subscribe(pattern).await?;
        Ok(socket)
    }

    async fn subscribe(&mut self, pattern: &str) -> Result<()> {
        let frame =
            format!(r#"{{"id":"1","type":"subscribe","payload":{{"patterns":["{pattern}"]}}}}"#);
        let sent = self.stream.send(Message::text(frame)).await;
        sent.told("subscribe")?;
        let answer = self.next().await?;
        if !answer.contains(r#""success":true"#) {
            return Err(Error::new(format!("subscribing failed: {answer}")));
        }
        self.head = number_behind(&answer, r#""head":"#)
            .ok_or_else(|| Error::new(format!("no head in {answer}")))?;
        Ok(())
    }

    /// Waits for the next text frame.
    pub(crate) async fn next(&mut self) -> Result<Utf8Bytes> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Close(frame))) => {
                    return Err(Error::new(format!("the server closed a socket: {frame:?}")));
                }
                // Answered by the library.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error).told("read a frame"),
                None => return Err(Error::new("a socket ended")),
            }
        }
    }
}

/// An event of this benchmark, as seen in a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The position in the log.
    pub(crate) sequence: i64,
    /// Which of the published events it is.
    pub(crate) number: i64,
    /// When the publisher sent it, in nanoseconds of this process.
    pub(crate) sent_at: i64,
}

/// Finds the events in a frame with one or several of them.
pub(crate) fn events_in(frame: &str) -> impl Iterator<Item = Seen> {
    let mut rest = frame;
    std::iter::from_fn(move || {
        let (at, mark) = (rest.find(r#""sequence":"#)?, r#""sequence":"#.len());
        rest = &rest[at + mark..];
        Some(Seen {
            sequence: digits(rest)?,
            number: number_behind(rest, r#""n":"#)?,
            sent_at: number_behind(rest, r#""sentAt":"#)?,
        })
    })
}

/// Reads the number behind the first occurrence of a mark.
fn number_behind(text: &str, mark: &str) -> Option<i64> {
    digits(&text[text.find(mark)? + mark.len()..])
}

fn digits(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(sequence: i64) -> String {
        format!(
            r#"{{"id":"x","sequence":{sequence},"type":"agent:output","source":{{"component":"api"}},"payload":{{"n":{},"sentAt":{},"note":".."}},"metadata":{{}}}}"#,
            sequence - 10,
            sequence * 1_000
        )
    }

    fn seen(sequence: i64) -> Seen {
        Seen { sequence, number: sequence - 10, sent_at: sequence * 1_000 }
    }

    #[test]
    fn single_and_coalesced_events_are_found() {
        let one = format!(r#"{{"id":"evt-11","type":"event","payload":{}}}"#, event(11));
        assert_eq!(events_in(&one).collect::<Vec<_>>(), [seen(11)]);
        let many = format!(
            r#"{{"id":"evt-12","type":"events","payload":{{"events":[{},{}]}}}}"#,
            event(11),
            event(12)
        );
        assert_eq!(events_in(&many).collect::<Vec<_>>(), [seen(11), seen(12)]);
    }

    #[test]
    fn other_frames_hold_no_events() {
        for frame in [
            r#"{"type":"lagged","payload":{"fromSequence":3,"toSequence":9}}"#,
            r#"{"type":"pong"}"#,
        ] {
            assert_eq!(events_in(frame).count(), 0, "{frame}");
        }
        assert_eq!(number_behind(r#"{"head":1204,"x":1}"#, r#""head":"#), Some(1_204));
    }
}
