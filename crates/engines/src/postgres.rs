//! A private PostgreSQL cluster.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Certificate;
use crate::binaries::{Binaries, Installed};
use crate::error::{Engine, Error};
use crate::port;
use crate::process::{Pid, Signal};
use crate::server::Server;

/// How often a start is tried when somebody else took the port first.
const PORT_TRIES: usize = 5;
/// How long a restart waits for what a killed cluster left behind.
const RESTART_SECS: u64 = 20;
const MAX_CONNECTIONS: u16 = 200;

/// A running PostgreSQL cluster of our own; dropping it stops it and removes its data.
///
/// It listens on loopback only and trusts whoever connects, as user `postgres`: it is for tests,
/// on a machine whose other users may see test data.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    installed: Installed,
    data: PathBuf,
    socket: PathBuf,
    port: u16,
}

impl Postgres {
    /// Creates a new cluster and starts it.
    pub fn start(binaries: &Binaries) -> Result<Self, Error> {
        Self::start_with(binaries, None)
    }

    /// Creates a new cluster that also speaks TLS, and starts it.
    pub fn start_with_tls(binaries: &Binaries, own: &Certificate) -> Result<Self, Error> {
        Self::start_with(binaries, Some(own))
    }

    fn start_with(binaries: &Binaries, tls: Option<&Certificate>) -> Result<Self, Error> {
        let engine = Engine::Postgres;
        let installed = binaries.postgres.clone().ok_or(Error::NotFound { engine })?;
        let server = Server::prepare(engine)?;
        let data = server.folder("data")?;
        let socket = server.folder("socket")?;
        let mut postgres = Self { server, installed, data, socket, port: 0 };
        postgres.create_cluster()?;
        if let Some(own) = tls {
            postgres.server.private_file(&postgres.data.join("server.crt"), &own.certificate)?;
            postgres.server.private_file(&postgres.data.join("server.key"), &own.key)?;
            postgres.configure("ssl = on\n")?;
        }
        postgres.start_on_a_free_port()?;
        Ok(postgres)
    }

    /// The address of a database, for any client: `postgres://postgres@127.0.0.1:<port>/<database>`.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The loopback port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of the Unix socket; only root and the server's own account may enter it.
    pub fn socket_dir(&self) -> &Path {
        &self.socket
    }

    /// The data folder of the cluster.
    pub fn data_dir(&self) -> &Path {
        &self.data
    }

    /// The log of the current or last run.
    pub fn log_path(&self) -> PathBuf {
        self.server.log_path()
    }

    /// The programs that this cluster runs with.
    pub fn installed(&self) -> &Installed {
        &self.installed
    }

    /// The postmaster, if it runs.
    pub fn pid(&self) -> Option<Pid> {
        self.server.pid().ok()
    }

    /// Kills the postmaster with SIGKILL, as a crash does; [`Postgres::restart`] recovers.
    pub fn kill_postmaster(&mut self) -> Result<(), Error> {
        self.server.kill()
    }

    /// Starts the cluster again on the same data and port; one that still runs is stopped first.
    pub fn restart(&mut self) -> Result<(), Error> {
        self.server.stop(Signal::INT);
        let deadline = Instant::now() + Duration::from_secs(RESTART_SECS);
        loop {
            match self.launch() {
                // A connection or a helper of the killed cluster may linger for a moment.
                Err(Error::Ended { log, .. }) if is_passing(&log) && Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(100));
                }
                other => return other,
            }
        }
    }

    /// Freezes every process of the cluster: it holds its connections and answers nothing.
    pub fn pause(&mut self) -> Result<(), Error> {
        self.server.pause()
    }

    /// Lets a frozen cluster go on.
    pub fn resume(&mut self) -> Result<(), Error> {
        self.server.resume()
    }

    fn create_cluster(&self) -> Result<(), Error> {
        let mut command = self.installed.command("initdb");
        // What initdb writes need not outlive a power cut; what the server writes is synced.
        command
            .args(["--auth=trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&self.data);
        self.server.run(&mut command)?;
        let settings = format!(
            "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\n\
             max_connections = {MAX_CONNECTIONS}\nfsync = on\nlogging_collector = off\n\
             log_line_prefix = '%m [%p] '\n",
            self.socket.display()
        );
        self.configure(&settings)
    }

    fn configure(&self, settings: &str) -> Result<(), Error> {
        let path = self.data.join("postgresql.conf");
        OpenOptions::new()
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(settings.as_bytes()))
            .map_err(Error::io("write", &path))
    }

    fn start_on_a_free_port(&mut self) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            self.port = port::free().map_err(Error::io("find a port for", &self.data))?;
            match self.launch() {
                Err(Error::Ended { log, .. }) if is_taken(&log) && tries < PORT_TRIES => {}
                other => return other,
            }
        }
    }

    fn launch(&mut self) -> Result<(), Error> {
        let mut command = self.installed.command("postgres");
        command.arg("-D").arg(&self.data).arg("-p").arg(self.port.to_string());
        let lock = self.data.join("postmaster.pid");
        self.server.start(&mut command, |pid| says_ready(&lock, pid))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.server.stop(Signal::QUIT);
        // A postmaster that was killed could not give its System V segment back.
        let lock = fs::read_to_string(self.data.join("postmaster.pid")).unwrap_or_default();
        let segment = lock.lines().nth(6).and_then(|line| line.split_whitespace().nth(1));
        if let Some(segment) = segment {
            let _ = Command::new("ipcrm")
                .args(["-m", segment])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// The postmaster writes its state to the eighth line of its lock file.
fn says_ready(lock: &Path, pid: Pid) -> bool {
    let text = fs::read_to_string(lock).unwrap_or_default();
    let mut lines = text.lines();
    lines.next() == Some(pid.to_string().as_str())
        && lines.nth(6).is_some_and(|state| state.trim() == "ready")
}

fn is_taken(log: &str) -> bool {
    log.contains("Address already in use")
}

fn is_passing(log: &str) -> bool {
    is_taken(log) || log.contains("shared memory block") || log.contains("already exists")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_postmaster_that_is_ready_counts() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("postmaster.pid");
        assert!(!says_ready(&lock, 7));
        let text = |pid, state| format!("{pid}\n/data\n1\n5432\n/s\n127.0.0.1\n 1 2\n{state}\n");
        fs::write(&lock, text(7, "starting")).unwrap();
        assert!(!says_ready(&lock, 7));
        fs::write(&lock, text(8, "ready   ")).unwrap();
        assert!(!says_ready(&lock, 7));
        fs::write(&lock, text(7, "ready   ")).unwrap();
        assert!(says_ready(&lock, 7));
    }
}
