//! The server under test: the release `godel` in a process of its own.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use godel_api::{Discovery, OWNER_KEY_FILE};

use crate::error::{Error, Result, Told as _};
use crate::http::{self, Http};
use crate::process::Process;

/// The limiter does its work, but nobody reaches the limit.
const SETTINGS: &str = "[rate]\nper_minute = 100000000\nburst = 10000000\n";
const START_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(1);
const LOG: &str = "bench.log";

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    /// The owner's key.
    pub(crate) key: String,
    /// How long it took from the start of the process to the first answer that it is ready.
    pub(crate) took: Duration,
}

/// Returns the program under test.
pub(crate) fn program() -> Result<PathBuf> {
    beside("godel", "GODEL_BENCH_BIN")
}

/// Returns the scripted provider.
pub(crate) fn provider() -> Result<PathBuf> {
    beside("godel-scripted", "GODEL_BENCH_PROVIDER")
}

fn beside(name: &str, variable: &str) -> Result<PathBuf> {
    let path = match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => own_path()?.with_file_name(name),
    };
    if path.is_file() {
        return Ok(path);
    }
    Err(Error::new(format!("there is no program {}", path.display())).with_hint(format!(
        "run `cargo xtask bench ..`, which builds it, or set {variable} to its path"
    )))
}

/// Returns the path of this program.
pub(crate) fn own_path() -> Result<PathBuf> {
    std::env::current_exe().told("find this program")
}

impl Server {
    /// Starts a server on a data directory and waits until it is ready.
    pub(crate) async fn start(program: &Path, data: &Path) -> Result<Self> {
        Self::start_with(program, data, &[]).await
    }

    /// Starts a server with some variables in its environment.
    pub(crate) async fn start_with(
        program: &Path,
        data: &Path,
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        std::fs::create_dir_all(data).told(format_args!("make {}", data.display()))?;
        std::fs::write(data.join("godel.toml"), SETTINGS).told("write the settings")?;
        let log = File::create(data.join(LOG)).told("make a log file")?;
        let mut command = Command::new(program);
        // Nothing of this shell's settings may change what is measured.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GODEL_") {
                command.env_remove(name);
            }
        }
        command
            .envs(variables.iter().copied())
            .args(["up", "--listen", "127.0.0.1:0", "--log-level", "warn"])
            .arg("--json")
            .arg("--data")
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let start = Instant::now();
        let mut process = Process::start(&mut command)?;
        let address = announced(&mut process, data, start).await?;
        let mut http = Http::connect(address).await?;
        http.expect(&http::get("/health/ready", None), 200).await?;
        let took = start.elapsed();
        let path = data.join(OWNER_KEY_FILE);
        let key = std::fs::read_to_string(path).told("read the owner's key")?;
        Ok(Self { process, address, key: key.trim().to_owned(), took })
    }

    /// Ends it as a person would; the data directory is whole afterwards.
    pub(crate) async fn stop(self) -> Result<()> {
        let stopped = tokio::task::spawn_blocking(move || self.process.stop());
        stopped.await.told("stop the server")?
    }
}

/// Waits until the server has written where it listens.
async fn announced(process: &mut Process, data: &Path, start: Instant) -> Result<SocketAddr> {
    loop {
        // One that was killed may have left the file of an earlier run.
        if let Ok(Some(found)) = Discovery::read(data)
            && found.pid == process.pid()
        {
            let place = found.url.trim_start_matches("http://");
            return place.parse().told(format_args!("understand {place}"));
        }
        if let Err(error) = process.check() {
            let log = std::fs::read_to_string(data.join(LOG)).unwrap_or_default();
            return Err(Error::new(format!("godel up: {error}: {}", log.trim())));
        }
        if start.elapsed() > START_MAX {
            return Err(Error::new("godel up was not ready in time"));
        }
        tokio::time::sleep(POLL).await;
    }
}
