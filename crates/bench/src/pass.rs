//! The baseline of `proxy`: passes requests on to one server and does nothing else.
//!
//! Each connection of a client has one to the server, and one task drives both: there is nothing to look
//! up, to wait for or to hand over, which is as cheap as this library can be.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::error::{Error, Result, Told as _};
use crate::process::Process;

/// Passes requests on until it is killed; prints where it listens.
pub(crate) async fn serve(upstream: SocketAddr) -> Result<()> {
    let host = HeaderValue::try_from(upstream.to_string()).told("understand the address")?;
    let listener = TcpListener::bind("127.0.0.1:0").await.told("listen")?;
    println!("{}", listener.local_addr().told("listen")?);
    std::io::stdout().flush().told("tell the address")?;
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.told("accept a connection")?;
        let host = host.clone();
        connections.spawn(async move {
            if let Err(error) = talk(stream, upstream, host).await {
                eprintln!("the bare proxy lost a connection: {error}");
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Serves one client by a connection of its own to the server.
async fn talk(client: TcpStream, upstream: SocketAddr, host: HeaderValue) -> Result<()> {
    let tried = "pass requests on";
    let wire = TcpStream::connect(upstream).await.told("connect to the server")?;
    for stream in [&client, &wire] {
        stream.set_nodelay(true).told("set up a connection")?;
    }
    let (sender, link) = client::conn::http1::handshake(TokioIo::new(wire)).await.told(tried)?;
    let sender = Mutex::new(sender);
    let lock = || sender.lock().unwrap_or_else(PoisonError::into_inner);
    let service = service_fn(async |mut request: Request<Incoming>| {
        request.headers_mut().insert(HOST, host.clone());
        request.headers_mut().remove(CONNECTION);
        std::future::poll_fn(|cx| lock().poll_ready(cx)).await?;
        let sent = lock().send_request(request);
        let answer: hyper::Result<Response<Incoming>> = sent.await;
        answer
    });
    let served =
        server::conn::http1::Builder::new().serve_connection(TokioIo::new(client), service);
    let (mut served, mut link) = (pin!(served), pin!(link));
    tokio::select! {
        biased;
        linked = &mut link => linked.told(tried),
        served = &mut served => match served {
            Err(error) if !error.is_incomplete_message() => Err(error).told(tried),
            _ => Ok(()),
        },
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
