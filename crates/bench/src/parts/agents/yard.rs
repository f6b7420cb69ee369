//! A server with agents, a provider that tells when it is asked, and a repository that is a project.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::repository;
use crate::error::{Error, Result, Told as _};
use crate::http::{self, Http};
use crate::parts::Bench;
use crate::parts::proxy::stage::LIMITS;
use crate::provider::{KEY, Provider};
use crate::server::Server;

const KEY_VARIABLE: &str = "BENCH_PROVIDER_KEY";
pub(in crate::parts) const MODEL: &str = "scripted-worker";
const PATIENCE: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(20);

/// A way to the provider on which every request is noted in the moment when it comes.
struct Door {
    address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    at: Mutex<Vec<Instant>>,
    more: Notify,
}

impl Door {
    fn open(provider: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).told("listen")?;
        let address = listener.local_addr().told("listen")?;
        let seen = Arc::new(Seen::default());
        let heard = Arc::clone(&seen);
        // These threads end with this program.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let heard = Arc::clone(&heard);
                // A connection that breaks is its client's matter.
                std::thread::spawn(move || pass(client, provider, &heard));
            }
        });
        Ok(Self { address, seen })
    }

    /// Waits for the first request after a moment, and returns when it came.
    async fn first_after(&self, start: Instant) -> Result<Instant> {
        let wait = async {
            loop {
                let more = self.seen.more.notified();
                if let Some(at) = self.seen.after(start) {
                    return at;
                }
                more.await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.told("wait for the agent's first request")
    }
}

impl Seen {
    fn note(&self) {
        self.at.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        self.more.notify_waiters();
    }

    fn after(&self, start: Instant) -> Option<Instant> {
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        at.iter().find(|at| **at >= start).copied()
    }
}

fn pass(mut client: TcpStream, provider: SocketAddr, seen: &Seen) -> std::io::Result<()> {
    let mut server = TcpStream::connect(provider)?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    let (mut answers, mut hears) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || std::io::copy(&mut answers, &mut hears));
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = client.read(&mut buffer)?;
        if read == 0 {
            return server.shutdown(std::net::Shutdown::Write);
        }
        seen.note();
        server.write_all(buffer.get(..read).unwrap_or_default())?;
    }
}

/// All that is needed to run agents.
pub(in crate::parts) struct Yard {
    bench: Bench,
    pub(in crate::parts) server: Server,
    provider: Provider,
    door: Door,
    project: String,
}

impl Yard {
    /// Starts a server whose one project has a repository with so many files.
    pub(in crate::parts) async fn open(files: usize) -> Result<Self> {
        let bench = Bench::prepare()?;
        let provider = Provider::start()?;
        let door = Door::open(provider.address)?;
        let data = bench.folder("agents");
        std::fs::create_dir_all(&data).told("make a directory")?;
        let models = data.join("models.toml");
        std::fs::write(
            &models,
            format!(
                "[[model]]\nname = \"{MODEL}\"\nprovider = \"bench\"\ncontext = 200000\n\
                 output = 8000\nprices = [{{ input = 1.0, output = 5.0 }}]\n"
            ),
        )
        .told("write the models")?;
        let settings = format!(
            "models = {models:?}\n[providers.bench]\nanthropic = \"http://{}\"\n\
             env = [\"{KEY_VARIABLE}\"]\n[limits.user]\n{LIMITS}[limits.project]\n{LIMITS}\
             [limits.agent]\n{LIMITS}",
            door.address
        );
        std::fs::write(data.join("proxy.toml"), settings).told("write the providers")?;
        let path = path_with_bubblewrap()?;
        let home = bench.folder("home");
        let variables = [
            (KEY_VARIABLE, KEY),
            ("GODEL_AGENTS_MAX", "1000"),
            ("PATH", &path),
            ("XDG_STATE_HOME", &home.to_string_lossy()),
        ];
        let server = Server::start_with(&bench.program, &data, &variables).await?;
        repository::make(&bench.folder("repo"), files)?;
        let mut yard = Self { bench, server, provider, door, project: String::new() };
        let repo = yard.repo();
        let project = json!({ "name": "bench", "repository": repo });
        let made = yard.ask("POST", "/api/v1/projects", &project).await?;
        yard.project = text(&made, "id")?;
        Ok(yard)
    }

    pub(in crate::parts) fn repo(&self) -> PathBuf {
        self.bench.folder("repo")
    }

    pub(in crate::parts) fn folder(&self, name: &str) -> PathBuf {
        self.bench.folder(name)
    }

    /// The state directory of the server's user.
    pub(in crate::parts) fn state(&self) -> PathBuf {
        self.bench.folder("home").join("godel")
    }

    /// Says how many worktrees are to be kept ready.
    pub(in crate::parts) fn keep_ready(&self, count: usize) -> Result<()> {
        let wanted = format!("[agents]\nmodel = \"{MODEL}\"\nready = {count}\n");
        std::fs::write(self.repo().join("godel.toml"), wanted).told("write godel.toml")
    }

    /// Sends a request, and returns what is in the answer.
    pub(in crate::parts) async fn ask(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value> {
        let mut http = Http::connect(self.server.address).await?;
        let request = match method {
            "GET" => http::get(path, Some(&self.server.key)),
            _ => http::with_body(method, path, &self.server.key, &body.to_string()),
        };
        let answer = http.send(&request).await?;
        let told = String::from_utf8_lossy(answer.body).into_owned();
        if !(200..300).contains(&answer.status) {
            return Err(Error::new(format!("{method} {path}: {} {told}", answer.status)));
        }
        let mut told: Value = serde_json::from_str(&told).told("understand the server")?;
        Ok(told["data"].take())
    }

    /// Makes a bead.
    pub(in crate::parts) async fn bead(&self, title: &str) -> Result<String> {
        let asked = json!({ "title": title, "projectId": self.project });
        text(&self.ask("POST", "/api/v1/beads", &asked).await?, "id")
    }

    /// Returns the project that the repository is.
    pub(in crate::parts) fn project(&self) -> &str {
        &self.project
    }

    /// Starts an agent on a bead, and returns its id.
    pub(in crate::parts) async fn spawn(&self, bead: &str) -> Result<String> {
        let asked = json!({ "bead": bead, "projectId": self.project });
        text(&self.ask("POST", "/api/v1/agents", &asked).await?, "id")
    }

    /// Starts an agent, and returns how long it took to its first request, in milliseconds.
    pub(in crate::parts) async fn first_request(&self, bead: &str) -> Result<f64> {
        let start = Instant::now();
        let agent = self.spawn(bead).await?;
        let first = self.door.first_after(start).await?;
        self.completed(&agent).await?;
        Ok((first - start).as_secs_f64() * 1_000.0)
    }

    async fn completed(&self, agent: &str) -> Result<()> {
        let (start, path) = (Instant::now(), format!("/api/v1/agents/{agent}"));
        loop {
            let shown = self.ask("GET", &path, &Value::Null).await?;
            if shown["lifecycleState"] == "completed" {
                return Ok(());
            }
            if start.elapsed() > PATIENCE || shown["lifecycleState"] == "failed" {
                return Err(Error::new(format!("an agent did not do its work: {shown}")));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Counts how often the provider was asked.
    pub(in crate::parts) async fn asked(&self) -> Result<f64> {
        let mut http = Http::connect(self.provider.address).await?;
        let answer = http.expect(&http::get("/_stats", None), 200).await?;
        let told: Value = serde_json::from_slice(answer).told("understand the provider")?;
        told["requests"].as_f64().ok_or_else(|| Error::new("the provider counts nothing"))
    }
}

fn text(told: &Value, name: &str) -> Result<String> {
    let found = told[name].as_str().map(ToOwned::to_owned);
    found.ok_or_else(|| Error::new(format!("there is no {name} in {told}")))
}

fn path_with_bubblewrap() -> Result<String> {
    let known = std::env::var_os("PATH").unwrap_or_default();
    let bwrap = godel_engines::Places::from_env().program("bwrap");
    let bwrap = bwrap.ok_or_else(|| Error::new("agents need bubblewrap"))?;
    let first = bwrap.parent().unwrap_or(Path::new("/usr/bin")).to_owned();
    let all = std::iter::once(first).chain(std::env::split_paths(&known));
    let joined = std::env::join_paths(all).told("write a PATH")?;
    Ok(joined.to_string_lossy().into_owned())
}
