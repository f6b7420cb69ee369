//! Listening: accepts connections, serves them, and lets them finish.

use std::future::Future;
use std::net::IpAddr;
use std::time::Duration;

use axum::Router;
use godel_app::Crew;
use http::Request;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt as _;

use crate::guard::Peer;

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// How large the head of a request may be.
const HEADERS_MAX_BYTES: usize = 64 * 1024;
const HEADERS_MAX: usize = 100;
/// How long to wait when the system has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Lets the HTTP library spawn its tasks as part of the crew.
#[derive(Debug, Clone)]
struct Crewed(Crew);

impl<F> hyper::rt::Executor<F> for Crewed
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, task: F) {
        self.0.spawn(async move { drop(task.await) });
    }
}

/// Accepts connections until the crew stops; each is a task of the crew.
pub(crate) async fn serve(listener: TcpListener, router: Router, crew: Crew) {
    let stopping = crew.stopping();
    let builder = builder(&crew);
    loop {
        let accepted = tokio::select! {
            () = stopping.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                connection((stream, peer.ip()), router.clone(), builder.clone(), &crew);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn builder(crew: &Crew) -> Builder<Crewed> {
    let mut builder = Builder::new(Crewed(crew.clone()));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEADERS_MAX_BYTES)
        .max_headers(HEADERS_MAX)
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEADERS_MAX_BYTES as u32)
        .max_concurrent_streams(200);
    builder
}

fn connection(
    (stream, peer): (TcpStream, IpAddr),
    router: Router,
    builder: Builder<Crewed>,
    crew: &Crew,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its delay");
    }
    let stopping = crew.stopping();
    crew.spawn(async move {
        // Which version of HTTP it is shows with the first byte; without one nobody is there.
        let mut first = [0];
        let spoke = tokio::time::timeout(HEADER_TIMEOUT, stream.peek(&mut first));
        tokio::select! {
            () = stopping.cancelled() => return,
            spoke = spoke => {
                if !matches!(spoke, Ok(Ok(1))) {
                    return;
                }
            }
        }
        let service =
            TowerToHyperService::new(router.map_request(move |mut request: Request<_>| {
                request.extensions_mut().insert(Peer(peer));
                request
            }));
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let mut finishing = false;
        loop {
            tokio::select! {
                ended = &mut connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended");
                    }
                    return;
                }
                () = stopping.cancelled(), if !finishing => {
                    // The request that is under way is answered, the next one is not taken.
                    connection.as_mut().graceful_shutdown();
                    finishing = true;
                }
            }
        }
    });
}
