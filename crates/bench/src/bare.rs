//! The baseline of `rest`: one axum route that answers with bytes from memory.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use axum::Router;
use axum::routing::get;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use tokio::net::TcpListener;

use crate::error::{Error, Result, Told as _};
use crate::process::Process;

/// The path that is asked for, the same as on the real server.
pub(crate) const PATH: &str = "/api/v1/events";

/// Serves a file from memory until it is killed; prints where.
#[expect(
    clippy::disallowed_methods,
    reason = "the route that everything else is compared with is as bare as can be"
)]
pub(crate) async fn serve(file: &Path) -> Result<()> {
    let body = std::fs::read(file).told(format_args!("read {}", file.display()))?;
    let body = Bytes::from(body);
    let answer = move || {
        let body = body.clone();
        async move { ([("content-type", "application/json")], body) }
    };
    let router: Router = Router::new().route(PATH, get(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.told("listen")?;
    println!("{}", listener.local_addr().told("listen")?);
    std::io::stdout().flush().told("tell the address")?;
    // As the real server does it.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await.told("serve")
}

/// A bare route in a process of its own.
#[derive(Debug)]
pub(crate) struct BareRoute {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
}

impl BareRoute {
    /// Starts this same program as the bare route.
    pub(crate) fn start(file: &Path) -> Result<Self> {
        let own = std::env::current_exe().told("find this program")?;
        let mut command = Command::new(own);
        command.arg("bare-route").arg(file).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = Process::start(&mut command)?;
        let output = process.child.stdout.take();
        let output = output.ok_or_else(|| Error::new("the bare route has no output"))?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).told("hear from the bare route")?;
        let address = line.trim().parse().told("understand the bare route")?;
        Ok(Self { process, address })
    }
}
