//! A private Redis server.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::Certificate;
use crate::binaries::{Binaries, Installed};
use crate::error::{Engine, Error};
use crate::port;
use crate::process::{Pid, Signal};
use crate::server::Server;

const PORT_TRIES: usize = 5;
const RESTART_SECS: u64 = 20;
const PING_TIMEOUT: Duration = Duration::from_secs(1);

/// A running Redis server of our own that keeps nothing on disk; dropping it stops it.
#[derive(Debug)]
pub struct Redis {
    server: Server,
    installed: Installed,
    folder: PathBuf,
    port: u16,
    tls: bool,
}

impl Redis {
    /// Starts a new, empty server.
    pub fn start(binaries: &Binaries) -> Result<Self, Error> {
        Self::start_with(binaries, None)
    }

    /// Starts a new, empty server that speaks TLS only.
    pub fn start_with_tls(binaries: &Binaries, own: &Certificate) -> Result<Self, Error> {
        Self::start_with(binaries, Some(own))
    }

    fn start_with(binaries: &Binaries, tls: Option<&Certificate>) -> Result<Self, Error> {
        let engine = Engine::Redis;
        let installed = binaries.redis.clone().ok_or(Error::NotFound { engine })?;
        let server = Server::prepare(engine)?;
        let folder = server.folder("data")?;
        if let Some(own) = tls {
            server.private_file(&folder.join("server.crt"), &own.certificate)?;
            server.private_file(&folder.join("server.key"), &own.key)?;
        }
        let mut redis = Self { server, installed, folder, port: 0, tls: tls.is_some() };
        redis.start_on_a_free_port()?;
        Ok(redis)
    }

    /// The address for any client: `redis://127.0.0.1:<port>`, with TLS `rediss://..`.
    pub fn url(&self) -> String {
        let scheme = if self.tls { "rediss" } else { "redis" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// The loopback port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The log of the current or last run.
    pub fn log_path(&self) -> PathBuf {
        self.server.log_path()
    }

    /// The server process, if it runs.
    pub fn pid(&self) -> Option<Pid> {
        self.server.pid().ok()
    }

    /// Kills the server with SIGKILL, as a crash does; what it held is lost.
    pub fn kill(&mut self) -> Result<(), Error> {
        self.server.kill()
    }

    /// Starts the server again, empty, on the same port; one that still runs is stopped first.
    pub fn restart(&mut self) -> Result<(), Error> {
        self.server.stop(Signal::TERM);
        let deadline = Instant::now() + Duration::from_secs(RESTART_SECS);
        loop {
            match self.launch() {
                Err(Error::Ended { log, .. }) if is_taken(&log) && Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(100));
                }
                other => return other,
            }
        }
    }

    /// Freezes the server: it holds its connections and answers nothing.
    pub fn pause(&mut self) -> Result<(), Error> {
        self.server.pause()
    }

    /// Lets a frozen server go on.
    pub fn resume(&mut self) -> Result<(), Error> {
        self.server.resume()
    }

    fn start_on_a_free_port(&mut self) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            self.port = port::free().map_err(Error::io("find a port for", &self.folder))?;
            match self.launch() {
                Err(Error::Ended { log, .. }) if is_taken(&log) && tries < PORT_TRIES => {}
                other => return other,
            }
        }
    }

    fn launch(&mut self) -> Result<(), Error> {
        let socket = self.folder.join("socket");
        let mut command = self.installed.command("redis-server");
        command
            .args(["--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
            .arg("--unixsocket")
            .arg(&socket)
            .arg("--dir")
            .arg(&self.folder);
        let port = self.port.to_string();
        if self.tls {
            command.args(["--port", "0", "--tls-port", &port, "--tls-auth-clients", "no"]).args([
                "--tls-cert-file",
                "server.crt",
                "--tls-key-file",
                "server.key",
            ]);
        } else {
            command.args(["--port", &port]);
        }
        self.server.start(&mut command, |_| answers(&socket))
    }
}

/// Asks over the socket in the own folder: on the port, somebody else's server might answer.
fn answers(socket: &Path) -> bool {
    let ping = || -> std::io::Result<bool> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PING_TIMEOUT))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; 5];
        stream.read_exact(&mut answer)?;
        Ok(&answer == b"+PONG")
    };
    ping().unwrap_or(false)
}

fn is_taken(log: &str) -> bool {
    log.contains("Address already in use") || log.contains("Failed listening on port")
}
