//! A load generator that costs little: hand-made HTTP/1.1 requests on kept connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::error::{Error, Result, Told as _};

/// One kept connection.
#[derive(Debug)]
pub(crate) struct Http {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// The first part of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    bytes: usize,
    body_bytes: usize,
}

/// An answer; the body is in the buffer of its connection.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl Http {
    /// Connects to a server.
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream =
            TcpStream::connect(address).await.told(format_args!("connect to {address}"))?;
        stream.set_nodelay(true).told("set up a connection")?;
        Ok(Self { stream, buffer: Vec::with_capacity(32 * 1024) })
    }

    /// Sends a request and waits for all of its answer.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        let tried = "talk to the server";
        self.stream.write_all(request).await.told(tried)?;
        self.buffer.clear();
        let mut head = None;
        loop {
            if head.is_none() {
                head = read_head(&self.buffer)?;
            }
            if let Some(Head { status, bytes, body_bytes }) = head
                && self.buffer.len() >= bytes + body_bytes
            {
                let body = &self.buffer[bytes..bytes + body_bytes];
                return Ok(Answer { status, body });
            }
            if self.stream.read_buf(&mut self.buffer).await.told(tried)? == 0 {
                return Err(Error::new("the server closed the connection"));
            }
        }
    }

    /// Sends a request whose answer must have the given status; returns the body.
    pub(crate) async fn expect(&mut self, request: &[u8], status: u16) -> Result<&[u8]> {
        let answer = self.send(request).await?;
        if answer.status == status {
            return Ok(answer.body);
        }
        Err(Error::new(format!(
            "the server answered {} instead of {status}: {}",
            answer.status,
            String::from_utf8_lossy(answer.body)
        )))
    }
}

/// Reads the head of an answer; `None` if it has not arrived whole.
fn read_head(bytes: &[u8]) -> Result<Option<Head>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&bytes[..end]).told("read the head of an answer")?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    // An answer without a body need not tell its length.
    let length = length.or((status == Some(204)).then_some(0));
    match (status, length) {
        (Some(status), Some(body_bytes)) => Ok(Some(Head { status, bytes: end + 4, body_bytes })),
        _ => Err(Error::new(format!("an answer without status or length: {first}"))),
    }
}

/// Writes a request without a body.
pub(crate) fn get(path: &str, key: Option<&str>) -> Vec<u8> {
    let key = key.map(|key| format!("authorization: Bearer {key}\r\n"));
    let key = key.unwrap_or_default();
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{key}\r\n").into_bytes()
}

/// Writes a request with a JSON body.
pub(crate) fn post(path: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Several kept connections to one server, over which the same request is repeated.
#[derive(Debug)]
pub(crate) struct Load {
    connections: Vec<Http>,
    request: Arc<[u8]>,
}

impl Load {
    /// Opens the connections.
    pub(crate) async fn open(
        address: SocketAddr,
        request: Vec<u8>,
        connections: usize,
    ) -> Result<Self> {
        let mut open = Vec::with_capacity(connections);
        for _ in 0..connections {
            open.push(Http::connect(address).await?);
        }
        Ok(Self { connections: open, request: request.into() })
    }

    /// Repeats the request, each connection for its share; returns how long it took.
    pub(crate) async fn run(&mut self, requests: usize) -> Result<Duration> {
        let share = requests / self.connections.len().max(1);
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for mut connection in self.connections.drain(..) {
            let request = Arc::clone(&self.request);
            tasks.spawn(async move {
                for _ in 0..share {
                    connection.expect(&request, 200).await?;
                }
                Ok::<_, Error>(connection)
            });
        }
        while let Some(done) = tasks.join_next().await {
            self.connections.push(done.told("finish a load task")??);
        }
        Ok(start.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_it_is_whole() {
        let whole = b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\nx: y\r\n\r\n{\"a\":";
        for cut in 0..whole.len() - 5 {
            assert_eq!(read_head(&whole[..cut]).unwrap(), None, "{cut}");
        }
        let head = Head { status: 201, bytes: whole.len() - 5, body_bytes: 12 };
        assert_eq!(read_head(whole).unwrap(), Some(head));
        assert!(read_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
