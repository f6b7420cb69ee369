//! Connections to providers, each driven by whoever uses it.
//!
//! A connection in a task of its own would cost two hand-overs for each part of a reply. Here the
//! task that serves the client also drives the connection to the provider: what has arrived is read
//! in one go, and what comes later wakes that one task.

use std::collections::HashMap;
use std::future::Future as _;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// How many idle connections to one provider are kept.
const IDLE_MAX: usize = 2_000;
/// For how long an idle connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

type Wire = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Wakes the task that uses a connection now, unless that is at work on it anyway.
#[derive(Default)]
struct Bell {
    task: Mutex<Option<Waker>>,
    rung: AtomicBool,
    at_work: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        if !self.at_work.load(Ordering::SeqCst)
            && let Some(task) = self.task().as_ref()
        {
            task.wake_by_ref();
        }
    }
}

impl Bell {
    fn task(&self) -> MutexGuard<'_, Option<Waker>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on somebody is at work, who looks whether it rang.
    fn begin(&self, cx: &Context<'_>) {
        self.at_work.store(true, Ordering::SeqCst);
        let mut task = self.task();
        match task.as_mut() {
            Some(known) => known.clone_from(cx.waker()),
            None => *task = Some(cx.waker().clone()),
        }
    }

    /// Forgets that it rang.
    fn silence(&self) {
        self.rung.store(false, Ordering::SeqCst);
    }

    /// Stops the work; `false` if it rang meanwhile, so that there is more of it.
    fn end(&self) -> bool {
        self.at_work.store(false, Ordering::SeqCst);
        !self.rung.load(Ordering::SeqCst)
    }
}

/// A connection to a provider.
pub(crate) struct Link {
    sender: SendRequest<Full<Bytes>>,
    connection: Pin<Box<Connection<Wire, Full<Bytes>>>>,
    ended: bool,
    bell: Arc<Bell>,
    waker: Waker,
}

impl Link {
    /// Begins to speak HTTP.
    pub(crate) async fn open(wire: Wire) -> hyper::Result<Self> {
        let (sender, connection) = handshake(wire).await?;
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        Ok(Self { sender, connection: Box::pin(connection), ended: false, bell, waker })
    }

    /// Drives the connection as long as there is something to do, until `look` has what it looks for.
    fn poll_until<T>(
        &mut self,
        cx: &Context<'_>,
        mut look: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        loop {
            self.bell.begin(cx);
            if let Poll::Ready(found) = look(&mut Context::from_waker(&self.waker)) {
                self.bell.end();
                return Poll::Ready(found);
            }
            // Whatever rang before this, the connection looks at it now.
            self.bell.silence();
            self.drive();
            if self.bell.end() {
                return Poll::Pending;
            }
        }
    }

    /// Lets the connection do what it can do now.
    fn drive(&mut self) {
        if !self.ended {
            let polled = self.connection.as_mut().poll(&mut Context::from_waker(&self.waker));
            // Whoever waits for something hears of a failure by that.
            self.ended = polled.is_ready();
        }
    }

    /// Tells whether another request can be sent; nobody is woken by it until then.
    fn rest(&mut self) -> bool {
        *self.bell.task() = None;
        self.drive();
        !self.ended && self.sender.is_ready()
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// # Errors
    /// If the connection fails; with the request, if nothing of it was sent.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, (hyper::Error, Option<Request<Full<Bytes>>>)> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let sent = std::future::poll_fn(|cx| self.poll_until(cx, |cx| answer.as_mut().poll(cx)));
        sent.await.map_err(|mut failed| {
            let request = failed.take_message();
            (failed.into_error(), request)
        })
    }
}

/// Connections that nobody uses now, by the place they lead to; the newest is last.
#[derive(Default)]
pub(crate) struct Idle {
    links: Mutex<HashMap<String, Vec<(Link, Instant)>>>,
}

impl std::fmt::Debug for Idle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Idle")
    }
}

impl Idle {
    fn links(&self) -> MutexGuard<'_, HashMap<String, Vec<(Link, Instant)>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a connection to a place that was not closed meanwhile.
    pub(crate) fn take(&self, place: &str) -> Option<Link> {
        loop {
            let (mut link, since) = self.links().get_mut(place)?.pop()?;
            if since.elapsed() < IDLE_TIMEOUT && link.rest() {
                return Some(link);
            }
        }
    }

    /// Keeps a connection for the next one.
    fn put(&self, place: &str, link: Link) {
        let now = Instant::now();
        let mut links = self.links();
        if !links.contains_key(place) {
            links.insert(place.to_owned(), Vec::new());
        }
        if let Some(kept) = links.get_mut(place).filter(|kept| kept.len() < IDLE_MAX) {
            kept.push((link, now));
        }
    }

    /// Closes what was not used for long, or was closed by the other side.
    pub(crate) fn tidy(&self) {
        let fresh =
            |(link, since): &mut (Link, Instant)| since.elapsed() < IDLE_TIMEOUT && link.rest();
        for kept in self.links().values_mut() {
            kept.retain_mut(fresh);
        }
    }
}

/// The body of a provider's answer, with the connection on which it comes.
pub(crate) struct Reply {
    body: Incoming,
    link: Option<Link>,
    idle: Arc<Idle>,
    place: Arc<str>,
}

impl Reply {
    pub(crate) fn new(body: Incoming, link: Link, idle: &Arc<Idle>, place: &Arc<str>) -> Self {
        let mut reply =
            Self { body, link: Some(link), idle: Arc::clone(idle), place: Arc::clone(place) };
        if reply.body.is_end_stream() {
            reply.let_go();
        }
        reply
    }

    /// Keeps the connection for the next request, if it can be used again.
    fn let_go(&mut self) {
        if let Some(mut link) = self.link.take()
            && link.rest()
        {
            self.idle.put(&self.place, link);
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let Some(link) = &mut this.link else { return Pin::new(&mut this.body).poll_frame(cx) };
        let body = &mut this.body;
        let polled = link.poll_until(cx, |cx| Pin::new(&mut *body).poll_frame(cx));
        let is_over = match &polled {
            Poll::Ready(None) => true,
            // Whoever knows that this was all may not ask again.
            Poll::Ready(Some(Ok(_))) => this.body.is_end_stream(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => false,
        };
        if is_over {
            this.let_go();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use http_body_util::BodyExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use super::*;
    use crate::upstream::{Letter, Upstream};

    const REPLIES: [&[u8]; 3] = [
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    ];

    /// Answers in each of these ways, and hangs up after so many answers.
    async fn serve(listener: TcpListener, opened: Arc<AtomicUsize>, most: usize) {
        while let Ok((mut stream, _)) = listener.accept().await {
            opened.fetch_add(1, Ordering::SeqCst);
            let mut said = [0; 4_096];
            for reply in REPLIES.iter().cycle().take(most) {
                if stream.read(&mut said).await.unwrap_or(0) == 0 {
                    break;
                }
                stream.write_all(reply).await.unwrap();
            }
        }
    }

    async fn asked(requests: usize, most: usize) -> usize {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = format!("http://{}", listener.local_addr().unwrap());
        let opened = Arc::new(AtomicUsize::new(0));
        let mut server = JoinSet::new();
        server.spawn(serve(listener, Arc::clone(&opened), most));
        let upstream = Upstream::default();
        for number in 0..requests {
            let request = Request::post(&place).body(Full::new(Bytes::from_static(b"x"))).unwrap();
            let answer = upstream.ask(Letter::new(request).unwrap()).await.unwrap();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, if number % most % 3 == 2 { "" } else { "hello" });
            // What the other side does comes after what we do.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        opened.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn a_connection_is_used_again_and_one_that_was_closed_is_not() {
        godel_tls::install();
        assert_eq!(asked(12, 100).await, 1);
        assert_eq!(asked(12, 4).await, 3);
    }

    #[tokio::test]
    async fn a_reply_that_is_left_half_read_closes_its_connection() {
        godel_tls::install();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = format!("http://{}", listener.local_addr().unwrap());
        let mut server = JoinSet::new();
        server.spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut said = [0; 4_096];
            assert!(stream.read(&mut said).await.unwrap() > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel").await.unwrap();
            // Nothing more comes, and the other side hangs up.
            stream.read(&mut said).await.unwrap_or(0)
        });
        let upstream = Upstream::default();
        let request = Request::post(&place).body(Full::new(Bytes::from_static(b"x"))).unwrap();
        let mut answer = upstream.ask(Letter::new(request).unwrap()).await.unwrap();
        let first = answer.body_mut().frame().await.unwrap().unwrap();
        assert_eq!(first.into_data().unwrap(), "hel");
        drop(answer);
        assert_eq!(server.join_next().await.unwrap().unwrap(), 0);
    }
}
