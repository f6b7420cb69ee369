//! One process of an agent program.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use godel_runtime::{
    Command, Control, Process, Reader, RuntimeProvider, SandboxId, SandboxPath, Writer,
};
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::event::clip;
use crate::launch::Launch;
use crate::parse::Exit;

/// How long a process may take to end when it is told to, or has said all.
const GRACE: Duration = Duration::from_secs(5);
/// How many lines wait to be written.
const LINES_MAX: usize = 64;
/// How much of the end of its complaints is kept.
const COMPLAINT_MAX_BYTES: usize = 8 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;

/// A process that runs.
pub(super) struct Running {
    stdout: Option<Reader>,
    /// What is to be written to its input; nothing if that is closed.
    input: Option<mpsc::Sender<Vec<u8>>>,
    control: Arc<dyn Control>,
    /// It ends when this is dropped.
    _process: Process,
    complaint: Arc<Mutex<Vec<u8>>>,
    buffer: Vec<u8>,
    /// Those that write its input and read its complaints.
    tasks: JoinSet<()>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("input", &self.input.is_some()).finish_non_exhaustive()
    }
}

/// Where processes are started, and with which token.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) runtime: Arc<dyn RuntimeProvider>,
    pub(super) sandbox: SandboxId,
    pub(super) token: SecretString,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}

impl Place {
    /// Writes the settings of a program into its home.
    pub(super) async fn furnish(&self, launch: &Launch) -> Result<(), String> {
        for (path, text) in &launch.files {
            let path = SandboxPath::new(path).map_err(|error| error.to_string())?;
            let bytes = Bytes::from(text.clone());
            let written = self.runtime.write_home(self.sandbox, &path, bytes).await;
            written.map_err(|error| told(&error))?;
        }
        Ok(())
    }

    /// Mends what a program cannot get over; if that fails, the program says why it cannot go on.
    pub(super) async fn mend(&self, launch: &Launch) -> Result<(), String> {
        let Some((program, args)) = launch.mend.split_first() else { return Ok(()) };
        let mut command = Command::new(program.as_str()).args(args.iter().cloned());
        command.env.clone_from(&launch.env);
        self.exec(command).await?.end(false).await;
        Ok(())
    }

    /// Starts a program.
    pub(super) async fn start(&self, launch: &Launch) -> Result<Running, String> {
        let mut command = Command::new(launch.program.as_str()).args(launch.args.iter().cloned());
        command.env.clone_from(&launch.env);
        for name in &launch.token_env {
            command.env.insert((*name).to_owned(), self.token.expose_secret().to_owned());
        }
        command.stdin = launch.input.as_ref().is_none_or(|input| !input.is_empty());
        let mut running = self.exec(command).await?;
        if let Some(input) = &launch.input {
            if !input.is_empty() {
                running.send(input.clone().into_bytes());
            }
            running.close();
        }
        Ok(running)
    }

    async fn exec(&self, command: Command) -> Result<Running, String> {
        let started = self.runtime.exec(self.sandbox, &command).await;
        let mut process = started.map_err(|error| told(&error))?;
        let mut tasks = JoinSet::new();
        let input = process.stdin.take().map(|stdin| {
            let (sender, lines) = mpsc::channel(LINES_MAX);
            tasks.spawn(write(stdin, lines));
            sender
        });
        let complaint = Arc::<Mutex<Vec<u8>>>::default();
        if let Some(stderr) = process.stderr.take() {
            tasks.spawn(listen(stderr, Arc::clone(&complaint)));
        }
        let (stdout, control) = (process.stdout.take(), Arc::clone(&process.control));
        let buffer = vec![0; CHUNK_BYTES];
        Ok(Running { stdout, input, control, _process: process, complaint, buffer, tasks })
    }
}

impl Running {
    /// Waits for more of what it says; nothing when it has said all. May be dropped at any point.
    pub(super) async fn hear(&mut self) -> Option<&[u8]> {
        let stdout = self.stdout.as_mut()?;
        match stdout.read(&mut self.buffer).await {
            Ok(count @ 1..) => Some(&self.buffer[..count]),
            // A pipe that cannot be read has ended.
            Ok(0) | Err(_) => None,
        }
    }

    /// Says something to it; whether it can be said.
    pub(super) fn send(&self, bytes: Vec<u8>) -> bool {
        self.input.as_ref().is_some_and(|input| input.try_send(bytes).is_ok())
    }

    /// Says that nothing more comes.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// Asks it to end.
    pub(super) async fn stop(&mut self) {
        // One that cannot be stopped ends when it is dropped.
        let _ = self.control.kill(GRACE).await;
    }

    /// Waits for its end, and ends it if that takes too long.
    pub(super) async fn end(mut self, cancelled: bool) -> Exit {
        self.input = None;
        let mut waited = tokio::time::timeout(GRACE, self.control.wait()).await;
        if waited.is_err() {
            self.stop().await;
            waited = tokio::time::timeout(GRACE, self.control.wait()).await;
        }
        // What it complained of last may still be on its way.
        let _ = tokio::time::timeout(GRACE / 10, self.tasks.join_all()).await;
        let code = match waited {
            Ok(Ok(godel_runtime::Exit::Code { code })) => Some(code),
            _ => None,
        };
        let complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        let complaint = clip(&String::from_utf8_lossy(&complaint), COMPLAINT_MAX_BYTES);
        Exit { code, complaint, cancelled }
    }
}

async fn write(mut stdin: Writer, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = lines.recv().await {
        // One that does not listen any more has ended, which is heard at its output.
        if stdin.write_all(&bytes).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
    let _ = stdin.shutdown().await;
}

async fn listen(mut stderr: Reader, complaint: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = complaint.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let over = kept.len().saturating_sub(COMPLAINT_MAX_BYTES);
        kept.drain(..over);
    }
}

fn told(error: &godel_runtime::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
