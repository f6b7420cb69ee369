//! A server as a process of its own, to be killed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use godel_app::vault::MasterKey;
use godel_decide::Limit;
use godel_store::{DatabaseUrl, Durability};
use tempfile::TempDir;

use crate::emitted;

const HOME: &str = "GODEL_TEST_QUEUE_HOME";
const DATABASE: &str = "GODEL_TEST_QUEUE_DATABASE";
/// Set for a server that answers before its words are on the disk.
pub(super) const RELAXED: &str = "GODEL_TEST_QUEUE_RELAXED";
/// The address of Redis, for a server that has one.
pub(super) const REDIS: &str = "GODEL_TEST_QUEUE_REDIS";
/// How often a server looks by itself for what others did, in seconds.
pub(super) const LOOK: &str = "GODEL_TEST_QUEUE_LOOK_SECS";
/// The file in its home that asks a server to stop.
const STOP: &str = "stop";
const PATIENCE: Duration = Duration::from_secs(60);

/// No test: the server that the others start as a process of its own, to kill it.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_to_be_killed() {
    let Ok(home) = std::env::var(HOME) else { return };
    let home = PathBuf::from(home);
    let mut config = godel_server::Config::new(home.join("data"), "127.0.0.1:0".parse().unwrap());
    config.database = std::env::var(DATABASE).ok().map(|url| url.parse().unwrap());
    config.redis = std::env::var(REDIS).ok().map(godel_server::RedisUrl);
    config.app.rates.limit = Limit { per_minute: 100_000_000, burst: 1_000_000, sockets: None };
    if std::env::var_os(RELAXED).is_some() {
        config.durability = Durability::Relaxed;
    }
    if let Ok(seconds) = std::env::var(LOOK) {
        config.app.look = Duration::from_secs(seconds.parse().unwrap());
    }
    config.master_key = Some(MasterKey::new([7; 32]));
    if emitted::directory().is_some() {
        emitted::Logs::capture();
    }
    let server = godel_server::Server::start(config).await.unwrap();
    // It is whole when it has its name.
    std::fs::write(home.join("url.new"), server.url()).unwrap();
    std::fs::rename(home.join("url.new"), home.join("url")).unwrap();
    let asked = async {
        while !home.join(STOP).exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    server.run_until(asked).await.unwrap();
}

/// A server as a process of its own; it is killed when this goes away.
pub(super) struct Process {
    child: Child,
    home: TempDir,
    database: Option<String>,
    pub(super) url: String,
}

impl Process {
    /// Starts one with a home of its own.
    pub(super) async fn start(database: &DatabaseUrl) -> Self {
        Self::start_with(database, &[]).await
    }

    /// Starts one with a home and variables of its own.
    pub(super) async fn start_with(database: &DatabaseUrl, env: &[(&str, &str)]) -> Self {
        let home = TempDir::with_prefix("godel-test-").unwrap();
        let database = match database {
            DatabaseUrl::Postgres(url) => Some(url.clone()),
            DatabaseUrl::Sqlite(_) => None,
        };
        let (child, url) = spawn(home.path(), database.as_deref(), env).await.unwrap();
        Self { child, home, database, url }
    }

    /// The owner's key.
    pub(super) fn key(&self) -> String {
        let key = std::fs::read_to_string(self.home.path().join("data/owner.key")).unwrap();
        key.trim().to_owned()
    }

    /// Where a server on SQLite has its data.
    pub(super) fn file(&self) -> PathBuf {
        self.home.path().join("data/godel.db")
    }

    /// Kills it in the middle of whatever it does.
    pub(super) fn kill(&mut self) {
        drop(self.child.kill());
        self.child.wait().unwrap();
    }

    /// Where SQLite has the log of that.
    pub(super) fn log(&self) -> PathBuf {
        self.home.path().join("data/godel.db-wal")
    }

    /// Asks it to stop, and waits until it has.
    pub(super) async fn stop(&mut self) -> ExitStatus {
        let stop = self.home.path().join(STOP);
        std::fs::write(&stop, "").unwrap();
        let start = Instant::now();
        let ended = loop {
            if let Some(ended) = self.ended() {
                break ended;
            }
            assert!(start.elapsed() < PATIENCE, "the server does not stop");
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        std::fs::remove_file(stop).unwrap();
        ended
    }

    /// How it ended by itself, if it has.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its home.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Starts it again on what it left.
    pub(super) async fn again(&mut self) {
        self.again_with(&[]).await;
    }

    /// Starts it again on what it left, with some variables set.
    pub(super) async fn again_with(&mut self, env: &[(&str, &str)]) {
        assert_eq!(self.again_or_ended(env).await, None, "the server ended at its start");
    }

    /// Starts it again on what it left; tells how it ended if it did so before anybody could reach it.
    pub(super) async fn again_or_ended(&mut self, env: &[(&str, &str)]) -> Option<ExitStatus> {
        match spawn(self.home.path(), self.database.as_deref(), env).await {
            Ok(started) => {
                (self.child, self.url) = started;
                None
            }
            Err(ended) => Some(ended),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn spawn(
    home: &Path,
    database: Option<&str>,
    env: &[(&str, &str)],
) -> Result<(Child, String), ExitStatus> {
    let name = home.join("url");
    drop(std::fs::remove_file(&name));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["queue::process::a_server_to_be_killed", "--exact", "--nocapture"]);
    command.env(HOME, home).envs(env.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(url) = database {
        command.env(DATABASE, url);
    }
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    loop {
        if let Ok(url) = std::fs::read_to_string(&name) {
            return Ok((child, url));
        }
        if let Some(ended) = child.try_wait().unwrap() {
            return Err(ended);
        }
        assert!(start.elapsed() < PATIENCE, "the server does not start");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
