//! The baseline of `proxy`: passes requests on to one server and does nothing else.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::http::uri::{Authority, Scheme};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::error::{Error, Result, Told as _};
use crate::process::Process;

/// As many idle connections as the real proxy keeps.
const IDLE_MAX: usize = 2_000;

type Connections = Client<HttpConnector, Incoming>;

/// Passes requests on until it is killed; prints where it listens.
pub(crate) async fn serve(upstream: SocketAddr) -> Result<()> {
    let authority: Authority = upstream.to_string().parse().told("understand the address")?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_max_idle_per_host(IDLE_MAX).set_host(false).retry_canceled_requests(false);
    let client: Connections = builder.build(connector);
    let host = HeaderValue::try_from(authority.as_str()).told("understand the address")?;
    let place = Arc::new(Place { client, authority, host });
    let listener = TcpListener::bind("127.0.0.1:0").await.told("listen")?;
    println!("{}", listener.local_addr().told("listen")?);
    std::io::stdout().flush().told("tell the address")?;
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.told("accept a connection")?;
        stream.set_nodelay(true).told("set up a connection")?;
        connections.spawn(talk(stream, Arc::clone(&place)));
        while connections.try_join_next().is_some() {}
    }
}

async fn talk(stream: TcpStream, place: Arc<Place>) {
    let service = service_fn(move |request| place.pass(request));
    if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await
        && !error.is_incomplete_message()
    {
        eprintln!("the bare proxy lost a connection: {error:?}");
    }
}

/// Where requests go.
#[derive(Debug)]
struct Place {
    client: Connections,
    authority: Authority,
    host: HeaderValue,
}

impl Place {
    fn pass(
        &self,
        mut request: Request<Incoming>,
    ) -> impl Future<Output = std::result::Result<Response<Incoming>, ClientError>> + use<> {
        let mut parts = std::mem::take(request.uri_mut()).into_parts();
        (parts.scheme, parts.authority) = (Some(Scheme::HTTP), Some(self.authority.clone()));
        *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
        request.headers_mut().insert(HOST, self.host.clone());
        request.headers_mut().remove(CONNECTION);
        self.client.request(request)
    }
}

/// A bare proxy in a process of its own.
#[derive(Debug)]
pub(crate) struct BareProxy {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
}

impl BareProxy {
    /// Starts this same program as the bare proxy of a server.
    pub(crate) fn start(upstream: SocketAddr) -> Result<Self> {
        let own = std::env::current_exe().told("find this program")?;
        let mut command = Command::new(own);
        command.arg("bare-proxy").arg(upstream.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = Process::start(&mut command)?;
        let line = first_line(&mut process)?;
        let address = line.trim().parse().told("understand the bare proxy")?;
        Ok(Self { process, address })
    }
}

/// Reads what a program says first.
pub(crate) fn first_line(process: &mut Process) -> Result<String> {
    let output = process.child.stdout.take();
    let output = output.ok_or_else(|| Error::new("a program has no output"))?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).told("hear from a program")?;
    Ok(line)
}
