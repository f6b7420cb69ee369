//! What both engines share: a server process in a [`Scratch`] folder.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::error::{Engine, Error};
use crate::process::{Identity, Pid, Signal, children, kill_all, signal_process, wait_gone};
use crate::scratch::{Scratch, Target, sweep};

/// The prefix of every engine's temporary folder.
const PREFIX: &str = "godel-engines";
/// How long a server may take to become ready, on a slow and busy machine.
const START_SECS: u64 = 60;
/// How long a server may take to stop before it is killed.
const STOP_SECS: u64 = 10;
/// How much of a log an error shows.
const LOG_LINES: usize = 20;
const POLL: Duration = Duration::from_millis(10);

/// One server process with its folder; the engines add what is theirs.
#[derive(Debug)]
pub(crate) struct Server {
    engine: Engine,
    account: Option<Account>,
    /// How it is told to stop at once, without a thought for its data.
    abort: Signal,
    running: Option<Child>,
    paused: Vec<Identity>,
    scratch: Scratch,
}

impl Server {
    /// Prepares the folder for a server that is not started yet.
    pub(crate) fn prepare(engine: Engine) -> Result<Self, Error> {
        sweep(PREFIX);
        let (abort, polite) = match engine {
            Engine::Postgres => (Signal::QUIT, "QUIT"),
            Engine::Redis => (Signal::KILL, "KILL"),
        };
        Ok(Self {
            engine,
            account: Account::choose(engine)?,
            abort,
            running: None,
            paused: Vec::new(),
            scratch: Scratch::create(PREFIX, polite)?,
        })
    }

    /// Makes a folder that belongs to the server's account alone.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.scratch.folder(name)?;
        if let Some(account) = self.account {
            account.own(&path)?;
        }
        Ok(path)
    }

    /// Writes a file that belongs to the server's account alone.
    pub(crate) fn private_file(&self, path: &Path, text: &str) -> Result<(), Error> {
        fs::write(path, text).map_err(Error::io("write", path))?;
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(path, mode).map_err(Error::io("protect", path))?;
        self.account.map_or(Ok(()), |account| account.own(path))
    }

    /// Where the server's output goes.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.scratch.path().join("server.log")
    }

    /// Runs a helper program to its end, as the server's account.
    pub(crate) fn run(&self, command: &mut Command) -> Result<(), Error> {
        self.set_up(command);
        let program = PathBuf::from(command.get_program());
        let output = command
            .stdin(Stdio::null())
            .output()
            .map_err(|source| Error::Run { program: program.clone(), source })?;
        if output.status.success() {
            return Ok(());
        }
        let text = [output.stdout, output.stderr].concat();
        let output_text = last_lines(&String::from_utf8_lossy(&text));
        Err(Error::Failed { program, status: output.status, output: output_text })
    }

    /// Starts the server and waits until `ready` says so.
    pub(crate) fn start(
        &mut self,
        command: &mut Command,
        ready: impl Fn(Pid) -> bool,
    ) -> Result<(), Error> {
        self.set_up(command);
        let log_path = self.log_path();
        let log = File::create(&log_path).map_err(Error::io("create", &log_path))?;
        let errors = log.try_clone().map_err(Error::io("open", &log_path))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .map_err(|source| Error::Run { program: command.get_program().into(), source })?;
        let pid = child.id();
        self.running = Some(child);
        self.scratch.watch(&[Target::Process(pid)]);
        self.scratch.note_server(pid);
        self.wait_ready(pid, ready)
    }

    fn wait_ready(&mut self, pid: Pid, ready: impl Fn(Pid) -> bool) -> Result<(), Error> {
        let deadline = Instant::now() + Duration::from_secs(START_SECS);
        loop {
            if ready(pid) {
                return Ok(());
            }
            let ended = match &mut self.running {
                Some(child) => child.try_wait().map_err(Error::io("wait for", Path::new("it")))?,
                None => {
                    return Err(Error::NotRunning { engine: self.engine });
                }
            };
            let log = || last_lines(&fs::read_to_string(self.log_path()).unwrap_or_default());
            if let Some(status) = ended {
                let log = log();
                self.forget();
                return Err(Error::Ended { engine: self.engine, status, log });
            }
            if Instant::now() >= deadline {
                let log = log();
                self.abort();
                return Err(Error::TooSlow { engine: self.engine, seconds: START_SECS, log });
            }
            thread::sleep(POLL);
        }
    }

    /// The main process of the server, if it runs.
    pub(crate) fn pid(&self) -> Result<Pid, Error> {
        self.running.as_ref().map(Child::id).ok_or(Error::NotRunning { engine: self.engine })
    }

    /// Kills the main process as a crash would, and waits until what it left behind is gone.
    pub(crate) fn kill(&mut self) -> Result<(), Error> {
        let pid = self.pid()?;
        let left = children(pid);
        signal_process(pid, Signal::KILL);
        self.reap();
        self.thaw();
        // The helpers notice by themselves that their parent died; a stuck one is helped along.
        if !wait_gone(&left, Duration::from_secs(STOP_SECS)) {
            kill_all(&left, Duration::from_secs(STOP_SECS));
        }
        self.forget();
        Ok(())
    }

    /// Freezes all processes of the server, the main one first so that it starts no new one.
    pub(crate) fn pause(&mut self) -> Result<(), Error> {
        let pid = self.pid()?;
        signal_process(pid, Signal::STOP);
        let mut frozen = children(pid);
        for child in &frozen {
            signal_process(child.pid, Signal::STOP);
        }
        frozen.extend(Identity::of(pid));
        let targets: Vec<Target> = frozen.iter().map(|one| Target::Process(one.pid)).collect();
        self.scratch.watch(&targets);
        self.paused = frozen;
        Ok(())
    }

    /// Lets the processes go on that [`Server::pause`] froze.
    pub(crate) fn resume(&mut self) -> Result<(), Error> {
        let pid = self.pid()?;
        self.thaw();
        self.scratch.watch(&[Target::Process(pid)]);
        Ok(())
    }

    /// Stops the server with `signal`, and kills it if that takes too long.
    pub(crate) fn stop(&mut self, signal: Signal) {
        let Ok(pid) = self.pid() else { return };
        // Only fails when it does not run, which the line above has ruled out.
        let _ = self.resume();
        signal_process(pid, signal);
        if let Some(main) = Identity::of(pid)
            && !wait_gone(&[main], Duration::from_secs(STOP_SECS))
        {
            // Same reason as above.
            let _ = self.kill();
            return;
        }
        self.reap();
        self.forget();
    }

    fn thaw(&mut self) {
        for process in std::mem::take(&mut self.paused).iter().filter(|one| one.is_alive()) {
            signal_process(process.pid, Signal::CONT);
        }
    }

    fn abort(&mut self) {
        self.stop(self.abort);
    }

    fn reap(&mut self) {
        if let Some(child) = &mut self.running {
            let _ = child.wait();
        }
    }

    fn forget(&mut self) {
        self.running = None;
        self.paused.clear();
        self.scratch.watch(&[]);
    }

    fn set_up(&self, command: &mut Command) {
        // The account may not be allowed into the folder that this process works in.
        command.current_dir(self.scratch.path());
        if let Some(account) = self.account {
            account.run(command);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.abort();
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}
