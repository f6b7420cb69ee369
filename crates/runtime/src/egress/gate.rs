//! Serves the sockets that lead out of one sandbox.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::address::is_public;
use super::head::{self, Asked, HEAD_MAX_BYTES};
use super::rules::{Endpoint, Rules};

const CONNECTIONS_MAX: usize = 256;
const HEAD_TIME: Duration = Duration::from_secs(30);
const CONNECT_TIME: Duration = Duration::from_secs(15);

/// A connection that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denial {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) reason: String,
}

type Addresses = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Decides what goes out of one sandbox, and carries it.
pub(crate) struct Gate {
    rules: Rules,
    api: Option<Endpoint>,
    denied: Box<dyn Fn(Denial) + Send + Sync>,
    resolve: fn(Endpoint) -> Addresses,
    admits: fn(IpAddr) -> bool,
}

impl Gate {
    /// Lets what is on the list and on the internet through, and Godel itself.
    pub(crate) fn new(
        rules: Rules,
        api: Option<Endpoint>,
        denied: impl Fn(Denial) + Send + Sync + 'static,
    ) -> Self {
        Self { rules, api, denied: Box::new(denied), resolve: look_up, admits: is_public }
    }

    /// Serves the proxy until the task is ended.
    pub(crate) async fn serve_proxy(self: Arc<Self>, listener: UnixListener) {
        let gate = &self;
        accept(listener, |stream| {
            let gate = Arc::clone(gate);
            async move { gate.proxy(stream).await }
        })
        .await;
    }

    /// Serves the straight way to Godel until the task is ended.
    pub(crate) async fn serve_api(self: Arc<Self>, listener: UnixListener) {
        let gate = &self;
        accept(listener, |stream| {
            let gate = Arc::clone(gate);
            async move { gate.straight(stream).await }
        })
        .await;
    }

    async fn straight(&self, mut inside: UnixStream) {
        let Some(api) = &self.api else { return };
        if let Ok(mut outside) = self.dial(api, true).await {
            let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
        }
    }

    async fn proxy(&self, mut inside: UnixStream) {
        let Ok(Some((asked, rest))) = timeout(HEAD_TIME, read_head(&mut inside)).await else {
            let _ =
                refuse(&mut inside, 400, "this is a proxy: CONNECT host:port, or http://").await;
            return;
        };
        let (Asked::Tunnel(endpoint) | Asked::Plain(endpoint, _)) = &asked;
        let own = self.api.as_ref() == Some(endpoint);
        // A name that is not on the list is not even looked up: questions carry data too.
        if !own && !self.rules.allow(endpoint) {
            self.deny(&mut inside, endpoint, "it is not on the list of this sandbox").await;
            return;
        }
        let mut outside = match self.dial(endpoint, own).await {
            Ok(outside) => outside,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.deny(&mut inside, endpoint, "its address is not of the internet").await;
                return;
            }
            Err(error) => {
                let _ = refuse(&mut inside, 502, &format!("{endpoint}: {error}")).await;
                return;
            }
        };
        let started = match &asked {
            Asked::Tunnel(_) => inside.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await,
            Asked::Plain(_, head) => outside.write_all(head).await,
        };
        if started.is_ok() && outside.write_all(&rest).await.is_ok() {
            let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
        }
    }

    /// Connects to the very addresses that were looked at, so that a second answer changes nothing.
    async fn dial(&self, endpoint: &Endpoint, own: bool) -> io::Result<TcpStream> {
        let addresses = timeout(CONNECT_TIME, (self.resolve)(endpoint.clone())).await??;
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in addresses {
            if !own && !(self.admits)(address.ip()) {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            match timeout(CONNECT_TIME, TcpStream::connect(address)).await? {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn deny(&self, inside: &mut UnixStream, endpoint: &Endpoint, reason: &str) {
        let Endpoint { host, port } = endpoint.clone();
        (self.denied)(Denial { host, port, reason: reason.to_owned() });
        let text = format!(
            "godel: {endpoint} cannot be reached: {reason}. Ask a person to allow it if it is needed."
        );
        let _ = refuse(inside, 403, &text).await;
    }
}

fn look_up(endpoint: Endpoint) -> Addresses {
    Box::pin(async move {
        let found = tokio::net::lookup_host((endpoint.host, endpoint.port)).await?;
        Ok(found.take(16).collect())
    })
}

async fn accept<F>(listener: UnixListener, serve: impl Fn(UnixStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors for a moment; nobody is served faster by a busy loop.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let served = serve(stream);
        connections.spawn(async move {
            served.await;
            drop(place);
        });
    }
}

/// Reads a head and what came with it.
async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<(Asked, Vec<u8>)> {
    let mut bytes = Vec::with_capacity(1_024);
    loop {
        if let Some(end) = head::end(&bytes) {
            let rest = bytes.split_off(end);
            return head::read(&bytes).map(|asked| (asked, rest));
        }
        if bytes.len() >= HEAD_MAX_BYTES || stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

async fn refuse(stream: &mut (impl AsyncWrite + Unpin), code: u16, text: &str) -> io::Result<()> {
    let reason = match code {
        400 => "Bad Request",
        403 => "Forbidden",
        _ => "Bad Gateway",
    };
    let answer = format!(
        "HTTP/1.1 {code} {reason}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{text}\n",
        text.len() + 1
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::net::TcpListener;

    use super::*;

    type Denials = Arc<Mutex<Vec<Denial>>>;

    /// Names that end in `.test` are on this machine, and being asked for another is a failure.
    fn only_test(endpoint: Endpoint) -> Addresses {
        assert!(endpoint.host.ends_with(".test"), "{endpoint} was looked up");
        Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], endpoint.port))]) })
    }

    async fn ask(gate: Gate, request: String) -> String {
        let (near, far) = UnixStream::pair().unwrap();
        let (mut reader, mut writer) = near.into_split();
        writer.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let served = gate.proxy(far);
        let (_, read) = tokio::join!(served, async {
            let read = reader.read_to_string(&mut answer).await;
            drop(writer);
            read
        });
        read.unwrap();
        answer
    }

    async fn echo_server() -> (u16, JoinSet<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 1_024];
            let count = stream.read(&mut bytes).await.unwrap();
            stream.write_all(&bytes[..count]).await.unwrap();
        });
        (port, tasks)
    }

    fn gate(rules: &[String], admits: fn(IpAddr) -> bool) -> (Gate, Denials) {
        let denials = Denials::default();
        let told = Arc::clone(&denials);
        let rules = Rules::parse(rules).unwrap();
        let mut gate = Gate::new(rules, None, move |denial| told.lock().unwrap().push(denial));
        gate.resolve = only_test;
        gate.admits = admits;
        (gate, denials)
    }

    #[tokio::test]
    async fn a_host_on_the_list_is_reached_in_both_ways() {
        for tunnel in [true, false] {
            let (port, _server) = echo_server().await;
            let (gate, denials) = gate(&[format!("a.test:{port}")], |_| true);
            let request = match tunnel {
                true => format!("CONNECT a.test:{port} HTTP/1.1\r\n\r\nhello"),
                false => format!("GET http://a.test:{port}/x HTTP/1.1\r\nHost: b\r\n\r\n"),
            };
            let answer = ask(gate, request).await;
            let expected = match tunnel {
                true => "HTTP/1.1 200 OK\r\n\r\nhello".to_owned(),
                false => {
                    format!("GET /x HTTP/1.1\r\nhost: a.test:{port}\r\nconnection: close\r\n\r\n")
                }
            };
            assert_eq!(answer, expected);
            assert!(denials.lock().unwrap().is_empty());
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_refused_although_it_is_on_the_list() {
        let (port, _server) = echo_server().await;
        let (gate, denials) = gate(&[format!("a.test:{port}")], is_public);
        let answer = ask(gate, format!("CONNECT a.test:{port} HTTP/1.1\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert_eq!(denials.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_name_that_is_not_on_the_list_is_not_looked_up() {
        let (gate, denials) = gate(&["a.test".to_owned()], |_| true);
        let answer = ask(gate, "CONNECT c2VjcmV0.evil.example:443 HTTP/1.1\r\n\r\n".into()).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        let denials = denials.lock().unwrap();
        assert_eq!((denials[0].host.as_str(), denials[0].port), ("c2vjcmv0.evil.example", 443));
    }
}
