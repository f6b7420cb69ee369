//! Listening: accepts connections, serves them, and lets them finish.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use godel_app::Crew;
use godel_proxy::Lanes;
use godel_proxy::is_model_path;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::guard::Peer;
use crate::state::Shared;
use crate::switchboard;

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// How large the head of a request may be.
const HEADERS_MAX_BYTES: usize = 64 * 1024;
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

/// What plain HTTP hears on a port that speaks TLS; the body is one of the API's.
const PLAIN_REFUSED: &str = r#"{"success":false,"error":{"code":"tls_required","message":"this server speaks https, not http","hint":"use https:// in the address"}}"#;
/// What agents ask about themselves.
const OWN_PATH: &str = "/api/v1/self";
/// What everybody else hears at the door of agents; the body is one of the API's.
const NOT_FOR_AGENTS: &str = r#"{"success":false,"error":{"code":"not_found","message":"this door is for agents of this server","hint":"use the server's own address: godel status"}}"#;
/// As many bytes tell which path is asked for as the longest method and the path of models have.
const FIRST_BYTES: usize = 24;
/// The first byte of a TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;

/// Accepts connections until the crew stops; each is a task of the crew.
pub(crate) async fn serve(
    listener: TcpListener,
    rooms: Rooms,
    crew: Crew,
    tls: Option<TlsAcceptor>,
) {
    let stopping = crew.stopping();
    let builders = Builders::new(&crew);
    loop {
        let accepted = tokio::select! {
            () = stopping.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "a connection keeps its delay");
                }
                let (builders, stopping) = (builders.clone(), stopping.clone());
                let (rooms, crew) = (rooms.clone(), crew.clone());
                let door = Door { rooms, crew, peer: peer.ip(), builders, stopping };
                match &tls {
                    Some(tls) => door.crew.clone().spawn(door.encrypted(stream, tls.clone())),
                    None => door.crew.clone().spawn(door.plain(stream)),
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// How connections are served: those that begin as HTTP/1 need not be looked at again.
#[derive(Clone)]
struct Builders {
    first: http1::Builder,
    any: auto::Builder<Crewed>,
}

impl Builders {
    fn new(crew: &Crew) -> Self {
        let mut first = http1::Builder::new();
        first
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            // As many headers as the library takes by itself: for a number of ours it would ask for
            // memory twice for each request.
            .max_buf_size(HEADERS_MAX_BYTES);
        let mut any = auto::Builder::new(Crewed(crew.clone()));
        any.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(HEADERS_MAX_BYTES)
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(HEADERS_MAX_BYTES as u32)
            .max_concurrent_streams(200);
        Self { first, any }
    }
}

/// Tells by its first bytes whether a connection can only be HTTP/1: the greeting of HTTP/2 begins
/// with `PRI`.
fn is_http1(begin: &[u8]) -> bool {
    match begin {
        [] | [b'P'] => false,
        [first, rest @ ..] => *first != b'P' || rest[0] != b'R',
    }
}

/// Tells by its first bytes whether a connection begins with a request to a model; whoever does so
/// seldom asks for anything else.
fn is_to_a_model(begin: &[u8]) -> bool {
    let mut words = begin.split(|byte| *byte == b' ');
    let path = words.nth(1).and_then(|path| std::str::from_utf8(path).ok());
    path.is_some_and(is_model_path)
}

/// A connection that can be asked to take no more requests.
trait Finishing: Future<Output = Result<(), Self::Error>> {
    type Error: std::fmt::Display;

    fn finish(self: Pin<&mut Self>);
}

impl<I, S> Finishing for http1::UpgradeableConnection<I, S>
where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible>,
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    type Error = hyper::Error;

    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<I, S> Finishing for auto::UpgradeableConnection<'_, I, S, Crewed>
where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// What answers requests: the router, and the switchboard if there is one.
#[derive(Debug, Clone)]
pub(crate) struct Rooms {
    pub(crate) router: Router,
    pub(crate) models: Option<(Shared, Lanes)>,
    /// Whether only what agents ask is answered.
    pub(crate) agents_only: bool,
}

impl Rooms {
    /// Returns all that there are.
    pub(crate) fn new(router: Router, shared: &Shared, lanes: Lanes) -> Self {
        Self { router, models: Some((shared.clone(), lanes)), agents_only: false }
    }

    /// Returns those that agents may enter.
    pub(crate) fn for_agents(&self) -> Self {
        Self { agents_only: true, ..self.clone() }
    }

    async fn answer(
        self: Arc<Self>,
        (peer, on_lane): (Peer, bool),
        mut request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        match &self.models {
            Some((shared, _)) if switchboard::is_for_models(&request) => {
                Ok(switchboard::serve(shared, peer, request).await)
            }
            _ if self.agents_only && !is_own(request.uri().path()) => Ok(not_for_agents()),
            models => {
                request.extensions_mut().insert(peer);
                // Boxed: a connection to models would carry its weight for nothing.
                let answer = Box::pin(self.router.clone().oneshot(request));
                match models.as_ref().filter(|_| on_lane) {
                    Some((_, lanes)) => lanes.at_home(answer).await.unwrap_or_else(|| Ok(broken())),
                    None => answer.await,
                }
            }
        }
    }
}

/// What is left to say when a request has panicked outside of all nets.
fn broken() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
    response
}

/// Tells whether a path is one by which agents ask about themselves.
fn is_own(path: &str) -> bool {
    path.strip_prefix(OWN_PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn not_for_agents() -> Response<Body> {
    let mut response = Response::new(Body::from(NOT_FOR_AGENTS));
    *response.status_mut() = http::StatusCode::NOT_FOUND;
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}

/// What serves one connection.
struct Door {
    rooms: Rooms,
    crew: Crew,
    peer: IpAddr,
    builders: Builders,
    stopping: CancellationToken,
}

impl Door {
    async fn plain(self, stream: TcpStream) {
        // Which version of HTTP it is shows with the first bytes; without one nobody is there.
        let Some(first) = self.first_bytes(&stream).await else { return };
        let lane = self.rooms.models.as_ref().filter(|_| is_to_a_model(&first));
        match lane.map(|(_, lanes)| lanes.next().clone()) {
            Some(lane) => self.switch(stream, &lane),
            None => self.talk(stream, is_http1(&first), false).await,
        }
    }

    /// Lets a lane go on with a connection.
    fn switch(self, stream: TcpStream, lane: &Handle) {
        let stream = match stream.into_std() {
            Ok(stream) => stream,
            Err(error) => return tracing::warn!(%error, "a connection could not change its lane"),
        };
        let crew = self.crew.clone();
        crew.spawn_on(lane, async move {
            match TcpStream::from_std(stream) {
                Ok(stream) => self.talk(stream, true, true).await,
                Err(error) => tracing::warn!(%error, "a connection could not change its lane"),
            }
        });
    }

    async fn encrypted(self, stream: TcpStream, tls: TlsAcceptor) {
        match self.first_bytes(&stream).await.as_deref() {
            Some([TLS_HANDSHAKE, ..]) => {}
            Some(_) => return refuse_plain(stream).await,
            None => return,
        }
        let Some(Ok(mut stream)) = self.in_time(tls.accept(stream)).await else {
            tracing::debug!("a TLS handshake failed");
            return;
        };
        // A handshake is no request yet: somebody must say something.
        let spoke = self.in_time(stream.fill_buf()).await.and_then(Result::ok);
        let Some(http1) = spoke.filter(|bytes| !bytes.is_empty()).map(is_http1) else { return };
        // Where its bytes come in is known to the runtime that it began on.
        self.talk(stream, http1, false).await;
    }

    /// Waits as long as for the head of a request; `None` if it took longer, or if the server stops.
    async fn in_time<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            () = self.stopping.cancelled() => None,
            done = tokio::time::timeout(HEADER_TIMEOUT, work) => done.ok(),
        }
    }

    /// Returns the first bytes, one at least, and leaves them where they are.
    async fn first_bytes(&self, stream: &TcpStream) -> Option<Vec<u8>> {
        let mut first = [0; FIRST_BYTES];
        match self.in_time(stream.peek(&mut first)).await {
            Some(Ok(length @ 1..)) => Some(first[..length].to_vec()),
            _ => None,
        }
    }

    async fn talk(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        is_http1: bool,
        on_lane: bool,
    ) {
        let Self { rooms, peer, builders, stopping, .. } = self;
        let rooms = Arc::new(rooms);
        let service =
            service_fn(move |request| Arc::clone(&rooms).answer((Peer(peer), on_lane), request));
        let stream = TokioIo::new(stream);
        if is_http1 {
            let connection = builders.first.serve_connection(stream, service).with_upgrades();
            serve_until(pin!(connection), &stopping).await;
        } else {
            // Boxed: few speak HTTP/2, and all others would carry its weight.
            let connection = builders.any.serve_connection_with_upgrades(stream, service);
            serve_until(Box::pin(connection).as_mut(), &stopping).await;
        }
    }
}

/// Serves a connection; when the server stops, the request that is under way is answered, and the
/// next one is not taken.
async fn serve_until(mut connection: Pin<&mut impl Finishing>, stopping: &CancellationToken) {
    let ended = tokio::select! {
        biased;
        ended = &mut connection => ended,
        () = stopping.cancelled() => {
            connection.as_mut().finish();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Tells a client that speaks plain HTTP what to do instead.
async fn refuse_plain(mut stream: TcpStream) {
    let length = PLAIN_REFUSED.len();
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{PLAIN_REFUSED}"
    );
    // What it has sent is read first: closing on unread data would lose the answer.
    let mut sent = [0; 4_096];
    let tell = async {
        let _some = stream.read(&mut sent).await?;
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    if !matches!(tokio::time::timeout(HEADER_TIMEOUT, tell).await, Ok(Ok(()))) {
        tracing::debug!("a client that does not speak TLS was not told so");
    }
}

#[cfg(test)]
mod tests {
    use godel_model::{Clock as _, SystemClock};

    use super::*;
    use crate::tls::{Keeper, Tls};

    #[test]
    fn a_connection_to_models_is_known_by_its_first_bytes() {
        for (begin, model) in [
            ("POST /proxy/v1/chat/complet", true),
            ("GET /proxy/v1/models HTTP/1", true),
            ("HEAD /proxy HTTP/1.1", true),
            ("POST /api/v1/projects HTTP/", false),
            ("GET / HTTP/1.1", false),
            ("PRI * HTTP/2.0", false),
            ("POST", false),
            ("", false),
        ] {
            let begin = &begin.as_bytes()[..begin.len().min(FIRST_BYTES)];
            assert_eq!(is_to_a_model(begin), model, "{begin:?}");
        }
    }

    #[test]
    fn agents_ask_about_themselves_and_nothing_else() {
        for (path, own) in [
            ("/api/v1/self", true),
            ("/api/v1/self/done", true),
            ("/api/v1/selfish", false),
            ("/api/v1/agents", false),
            ("/", false),
        ] {
            assert_eq!(is_own(path), own, "{path}");
        }
        assert_eq!(not_for_agents().status(), http::StatusCode::NOT_FOUND);
    }

    /// Time stands still but for waiting, so a timeout is over at once.
    #[tokio::test(start_paused = true)]
    async fn a_handshake_that_does_not_go_on_ends_and_holds_up_nobody() {
        let (data, crew) = (tempfile::TempDir::new().unwrap(), Crew::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tls = Tls::Auto { names: vec![] };
        let keeper = Keeper::open(&tls, data.path(), address, SystemClock.now()).unwrap().unwrap();
        let acceptor = keeper.acceptor();
        let rooms = Rooms { router: Router::new(), models: None, agents_only: false };
        crew.spawn(serve(listener, rooms, crew.clone(), Some(acceptor)));
        // Nothing at all, half a record, and one that makes no sense.
        for said in [&b""[..], b"\x16\x03\x01\x02\x00", b"\x16\x00\x00\x00\x00\x00"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(said).await.unwrap();
            let mut answer = Vec::new();
            let before = tokio::time::Instant::now();
            // It may be reset, for the server has not read all.
            drop(stream.read_to_end(&mut answer).await);
            assert!(before.elapsed() <= HEADER_TIMEOUT + Duration::from_secs(1), "{said:?}");
        }
        let trust = godel_tls::Trust::Fingerprint(keeper.current().facts().fingerprint);
        let config = godel_tls::client_config(&trust).unwrap();
        let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::new(config));
        let name = "localhost".try_into().unwrap();
        let _stuck = TcpStream::connect(address).await.unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        let mut stream = connector.connect(name, stream).await.unwrap();
        // A client that has proven nothing but its patience is sent away too.
        let before = tokio::time::Instant::now();
        drop(stream.read_to_end(&mut Vec::new()).await);
        assert!(before.elapsed() <= HEADER_TIMEOUT + Duration::from_secs(1));
        assert!(crew.stop(Duration::from_secs(60)).await);
    }
}
