//! The server, and what a test does with it.

use std::collections::hash_map::DefaultHasher;
use std::convert::Infallible;
use std::hash::{Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

use crate::description::Description;
use crate::git::Bare;
use crate::world::{How, Kind, Standing, World};
use crate::{github, gitlab};

/// The largest request that is read.
const REQUEST_MAX_BYTES: usize = 1 << 20;
/// How many requests are remembered.
const ASKED_MAX: usize = 10_000;

/// A request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The path below the API, with its query.
    pub path: String,
    /// The status that was answered; 0 if nothing was.
    pub status: u16,
}

/// How a request fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// With this status and these headers.
    Status(u16, Vec<(&'static str, String)>),
    /// It is kept waiting before anything is done.
    HoldBefore,
    /// It is done, and the answer is kept back.
    HoldAfter,
    /// It is done, and the connection breaks instead of an answer.
    BreakAfter,
    /// The answer has this many bytes.
    Huge(usize),
    /// The answer is this, whatever was asked.
    Text(&'static str),
}

/// A failure that is to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// To requests with this method.
    pub method: &'static str,
    /// Whose path ends so, without its query.
    pub end: &'static str,
    /// So many times.
    pub times: u32,
    /// How.
    pub what: What,
}

struct State {
    world: World,
    asked: Vec<Asked>,
    wrong: Vec<String>,
    faults: Vec<Fault>,
    held: usize,
    away: bool,
    token: String,
}

struct Shared {
    kind: Kind,
    at: String,
    description: Description,
    state: Mutex<State>,
    go: Notify,
}

/// A forge with one repository; ends when it is dropped.
pub struct Smithy {
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Smithy {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl Smithy {
    /// Opens a forge with a repository such as `acme/widgets`, empty and below a folder, for those who have the token.
    ///
    /// # Panics
    /// If git or the network of this machine does not work.
    pub fn open(kind: Kind, repo: &str, folder: &Path, token: &str) -> Self {
        let git = Bare::make(&folder.join("forge.git"));
        let world = World { git, repo: repo.to_owned(), pulls: Vec::new(), checks: Vec::new() };
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        listener.set_nonblocking(true).expect("a listener need not block");
        let address: SocketAddr = listener.local_addr().expect("it has an address");
        let state = State {
            world,
            asked: Vec::new(),
            wrong: Vec::new(),
            faults: Vec::new(),
            held: 0,
            away: false,
            token: token.to_owned(),
        };
        let shared = Arc::new(Shared {
            kind,
            at: format!("http://{address}"),
            description: Description::of(kind),
            state: Mutex::new(state),
            go: Notify::new(),
        });
        let (stop, stopped) = oneshot::channel();
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime can be made");
            runtime.block_on(serve(listener, own, stopped));
        });
        Self { shared, stop: Some(stop), thread: Some(thread) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared)
    }

    /// Returns where it is.
    pub fn url(&self) -> String {
        self.shared.at.clone()
    }

    /// Returns the address of the repository, as a remote has it.
    pub fn remote(&self) -> String {
        format!("{}/{}.git", self.shared.at, self.state().world.repo)
    }

    /// Returns the bare repository behind it.
    pub fn git(&self) -> PathBuf {
        self.state().world.git.0.clone()
    }

    /// Returns all requests, oldest first.
    pub fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    /// Returns all that did not fit the description of the forge.
    pub fn wrong(&self) -> Vec<String> {
        self.state().wrong.clone()
    }

    /// Lets a request fail.
    pub fn fail(&self, fault: Fault) {
        self.state().faults.push(fault);
    }

    /// Returns how many requests are kept waiting.
    pub fn held(&self) -> usize {
        self.state().held
    }

    /// Lets all requests go on that are kept waiting.
    pub fn let_go(&self) {
        self.shared.go.notify_waiters();
    }

    /// Lets the forge be away, or there again.
    pub fn set_away(&self, away: bool) {
        self.state().away = away;
    }

    /// Lets another token be the one that is known.
    pub fn set_token(&self, token: &str) {
        token.clone_into(&mut self.state().token);
    }

    /// Lists pull requests: number, branch, and what became of it.
    pub fn pulls(&self) -> Vec<(u64, String, Standing)> {
        let state = self.state();
        state.world.pulls.iter().map(|one| (one.number, one.branch.clone(), one.standing)).collect()
    }

    /// Returns title and text of a pull request.
    pub fn words(&self, number: u64) -> Option<(String, String)> {
        self.state().world.pull(number).map(|pull| (pull.title.clone(), pull.body.clone()))
    }

    /// Returns what was said under a pull request.
    pub fn comments(&self, number: u64) -> Vec<String> {
        self.state().world.pull(number).map(|pull| pull.comments.clone()).unwrap_or_default()
    }

    /// Merges a pull request, as a person does; returns what the branch is at then.
    pub fn merge(&self, number: u64, how: How) -> Option<String> {
        self.state().world.merge(number, (how, None), "Merged by a person").ok()
    }

    /// Closes a pull request, as a person does.
    pub fn close(&self, number: u64) {
        self.state().world.close(number);
    }

    /// Lets the checks of all commits be these: names with `pending`, `success` or `failure`.
    pub fn checks(&self, checks: &[(&str, &'static str)]) {
        self.state().world.checks =
            checks.iter().map(|(name, state)| ((*name).to_owned(), *state)).collect();
    }

    /// Lets somebody say something about a pull request: `APPROVED` or `CHANGES_REQUESTED`.
    pub fn review(&self, number: u64, who: u64, word: &'static str) {
        if let Some(pull) = self.state().world.pull(number) {
            pull.reviews.retain(|(one, _)| *one != who);
            pull.reviews.push((who, word));
        }
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(
    listener: std::net::TcpListener,
    shared: Arc<Shared>,
    mut stopped: oneshot::Receiver<()>,
) {
    let listener = TcpListener::from_std(listener).expect("the listener can be used");
    let mut connections: JoinSet<()> = JoinSet::new();
    loop {
        let (stream, _) = tokio::select! {
            _ = &mut stopped => return,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(_) => continue,
            },
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&shared), request));
            let io = TokioIo::new(stream);
            hyper::server::conn::http1::Builder::new().serve_connection(io, service).await.ok();
        });
    }
}

type Answer = Result<Response<Full<Bytes>>, std::io::Error>;

fn broken() -> std::io::Error {
    std::io::Error::other("the connection breaks")
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Answer {
    if lock(&shared).away {
        return Err(broken());
    }
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, REQUEST_MAX_BYTES).collect().await;
    let body = body.map_or_else(|_| Bytes::new(), http_body_util::Collected::to_bytes);
    let root = match shared.kind {
        Kind::GitHub => "/api/v3",
        Kind::GitLab => "/api/v4",
    };
    let whole = parts.uri.path_and_query().map_or("", hyper::http::uri::PathAndQuery::as_str);
    let whole = whole.strip_prefix(root).unwrap_or(whole).to_owned();
    let method = parts.method.as_str().to_owned();
    let at = {
        let mut state = lock(&shared);
        if state.asked.len() < ASKED_MAX {
            let (method, path) = (method.clone(), whole.clone());
            state.asked.push(Asked { method, path, status: 0 });
        }
        state.asked.len() - 1
    };
    let fault = fault(&shared, &method, &whole);
    if fault == Some(What::HoldBefore) {
        hold(&shared).await;
    }
    let reply = match fault {
        Some(What::Status(status, headers)) => {
            let body = json!({ "message": format!("the test wants status {status}") });
            reply(status, &headers, body.to_string())
        }
        Some(What::Huge(size)) => reply(200, &[], format!("\"{}\"", "x".repeat(size))),
        Some(What::Text(text)) => reply(200, &[], text.to_owned()),
        _ => handle(&shared, &parts, (&method, &whole), &body),
    };
    if let Some(asked) = lock(&shared).asked.get_mut(at) {
        asked.status = reply.status().as_u16();
    }
    match fault_after(&shared, &method, &whole) {
        Some(What::BreakAfter) => return Err(broken()),
        Some(What::HoldAfter) => hold(&shared).await,
        _ => {}
    }
    Ok(reply)
}

async fn hold(shared: &Shared) {
    let go = shared.go.notified();
    lock(shared).held += 1;
    go.await;
    lock(shared).held -= 1;
}

/// Takes the failure of a request that is to happen before it is done.
fn fault(shared: &Shared, method: &str, whole: &str) -> Option<What> {
    take(shared, (method, whole), |what| !matches!(what, What::HoldAfter | What::BreakAfter))
}

fn fault_after(shared: &Shared, method: &str, whole: &str) -> Option<What> {
    take(shared, (method, whole), |what| matches!(what, What::HoldAfter | What::BreakAfter))
}

fn take(
    shared: &Shared,
    (method, whole): (&str, &str),
    when: impl Fn(&What) -> bool,
) -> Option<What> {
    let path = whole.split('?').next().unwrap_or_default();
    let mut state = lock(shared);
    let fits = |one: &&mut Fault| {
        one.times > 0 && one.method == method && path.ends_with(one.end) && when(&one.what)
    };
    let found = state.faults.iter_mut().find(fits)?;
    found.times -= 1;
    Some(found.what.clone())
}

fn reply(status: u16, headers: &[(&'static str, String)], body: String) -> Response<Full<Bytes>> {
    let mut made = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        made = made.header(*name, value.as_str());
    }
    let made: Result<_, Infallible> = Ok(made.body(Full::new(Bytes::from(body))));
    let Ok(made) = made;
    made.unwrap_or_default()
}

fn handle(
    shared: &Shared,
    parts: &hyper::http::request::Parts,
    (method, whole): (&str, &str),
    body: &Bytes,
) -> Response<Full<Bytes>> {
    let mut state = lock(shared);
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let known = match shared.kind {
        Kind::GitHub => header("authorization") == Some(&format!("Bearer {}", state.token)),
        Kind::GitLab => header("private-token") == Some(state.token.as_str()),
    };
    if whole.contains(&state.token) {
        state.wrong.push(format!("the token is in an address: {method} {whole}"));
    }
    if !known {
        return reply(401, &[], json!({ "message": "401 Unauthorized" }).to_string());
    }
    let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
    let Some(operation) = shared.description.operation(method, path) else {
        state.wrong.push(format!("{method} {path}: the description does not know it"));
        return reply(404, &[], json!({ "message": "404 Not Found" }).to_string());
    };
    let query = pairs(query);
    let sent: Option<Value> = (!body.is_empty())
        .then(|| serde_json::from_slice(body).unwrap_or_else(|_| json!("this is no JSON")));
    let wrong = shared.description.judge(&operation, &query, sent.as_ref());
    state.wrong.extend(wrong.into_iter().map(|why| format!("{method} {path} {why}")));
    let asked = (query.as_slice(), sent.as_ref().unwrap_or(&Value::Null));
    let (status, given) = match shared.kind {
        Kind::GitHub => github::act(&mut state.world, &shared.at, &operation, asked),
        Kind::GitLab => gitlab::act(&mut state.world, &shared.at, &operation, asked),
    };
    let given =
        if status < 300 { shared.description.fill(&operation, status, given) } else { given };
    let wrong = shared.description.judge_answer(&operation, status, &given);
    state.wrong.extend(wrong.into_iter().map(|why| format!("answer to {method} {path} {why}")));
    let text = given.to_string();
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let mark = format!("W/\"{:016x}\"", hasher.finish());
    if method == "GET" && header("if-none-match") == Some(mark.as_str()) {
        return reply(304, &[("etag", mark)], String::new());
    }
    reply(status, &[("etag", mark)], text)
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let read =
        |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (read(name), read(value)))
        .collect()
}
