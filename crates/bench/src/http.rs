//! A load generator that costs little: hand-made HTTP/1.1 requests on kept connections.
//!
//! It is made for servers that it knows: of chunks it sees only the last one.

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
    body: Extent,
}

/// How far a body goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Bytes(usize),
    Chunks,
}

/// The end of a body in chunks; the JSON inside of them has no such line.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

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
            if let Some(Head { status, bytes, body }) = head {
                let end = match body {
                    Extent::Bytes(length) => bytes + length,
                    Extent::Chunks if self.buffer.ends_with(LAST_CHUNK) => self.buffer.len(),
                    Extent::Chunks => usize::MAX,
                };
                if self.buffer.len() >= end {
                    let body = &self.buffer[bytes..end];
                    return Ok(Answer { status, body });
                }
            }
            self.read_more(tried).await?;
        }
    }

    /// Sends a request and listens to its answer, whose status must be 200; bytes of the body are
    /// handed over as they come, with the marks of chunks among them.
    pub(crate) async fn listen(
        &mut self,
        request: &[u8],
        mut heard: impl FnMut(&[u8]),
    ) -> Result<()> {
        let tried = "listen to the server";
        self.stream.write_all(request).await.told(tried)?;
        self.buffer.clear();
        let head = loop {
            self.read_more(tried).await?;
            if let Some(head) = read_head(&self.buffer)? {
                break head;
            }
        };
        if head.status != 200 {
            let text = String::from_utf8_lossy(&self.buffer).into_owned();
            return Err(Error::new(format!("the server answered {}: {text}", head.status)));
        }
        let (mut from, mut all) = (head.bytes, 0);
        loop {
            if self.buffer.len() > from {
                heard(&self.buffer[from..]);
            }
            all += self.buffer.len() - from;
            let ended = match head.body {
                Extent::Bytes(length) => all >= length,
                Extent::Chunks => self.buffer.ends_with(LAST_CHUNK),
            };
            if ended {
                return Ok(());
            }
            // The mark of the end may come in two parts.
            let kept = self.buffer.len().saturating_sub(LAST_CHUNK.len());
            self.buffer.drain(..kept);
            from = self.buffer.len();
            self.read_more(tried).await?;
        }
    }

    async fn read_more(&mut self, tried: &str) -> Result<()> {
        match self.stream.read_buf(&mut self.buffer).await.told(tried)? {
            0 => Err(Error::new("the server closed the connection")),
            _ => Ok(()),
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
    let extent = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => value.trim().parse().ok().map(Extent::Bytes),
            "transfer-encoding" => Some(Extent::Chunks),
            _ => None,
        }
    });
    // An answer without a body need not tell its length.
    let extent = extent.or((status == Some(204)).then_some(Extent::Bytes(0)));
    match (status, extent) {
        (Some(status), Some(body)) => Ok(Some(Head { status, bytes: end + 4, body })),
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
    with_body("POST", path, key, body)
}

/// Writes a request with a JSON body and a method.
pub(crate) fn with_body(method: &str, path: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n\
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
        let head = Head { status: 201, bytes: whole.len() - 5, body: Extent::Bytes(12) };
        assert_eq!(read_head(whole).unwrap(), Some(head));
        let chunks = read_head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        assert_eq!(chunks.unwrap().body, Extent::Chunks);
        assert!(read_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
