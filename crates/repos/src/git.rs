//! Runs the `git` program where nobody can be asked: for a limited time, until it is stopped, and with a limited
//! memory of what it says.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::source::Source;
use crate::words;

/// How much of what git says is kept: its end.
const KEPT_MAX_BYTES: usize = 16 * 1024;
/// How much of a line is read.
const LINE_MAX_BYTES: usize = 1_000;
const READ_BYTES: usize = 8 * 1024;
/// How long git has to clean up behind itself before it is killed.
const GRACE: Duration = Duration::from_secs(3);
/// How long the last words may take when git has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Transports that are used; `ext::`, which starts any program, is not among them.
const TRANSPORTS: &str = "file:git:http:https:ssh";
/// Nobody is there to be asked for a password, and nobody waits for ever.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=20";
/// Settings for every call: nothing of what a repository or a template brings along is run.
const SETTINGS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsync=all",
    "core.fsyncMethod=batch",
    "advice.detachedHead=false",
    "submodule.recurse=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
];
/// Variables of git that say how to reach another machine, not what to work on.
const HARMLESS: [&str; 8] = [
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_HTTP",
    "GIT_PROXY",
    "GIT_SSH",
    "GIT_SSL",
];

/// Why git did not do its work.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It could not be started.
    Missing(io::Error),
    /// It failed, and said this.
    Failed(String),
    /// It took longer than so many minutes.
    TooLong(u64),
    /// The server stops.
    Stopped,
    /// A file or folder could not be made; what was tried, and why it failed.
    File(String, io::Error),
}

/// How long git may work, and until when.
#[derive(Debug)]
pub(crate) struct Limits {
    /// For how long.
    pub(crate) time: Duration,
    /// Ends it at once.
    pub(crate) stop: CancellationToken,
}

/// Clones a repository into an empty folder; `heard` gets each line that git says.
pub(crate) async fn clone(
    source: &Source,
    folder: &Path,
    limits: &Limits,
    heard: impl FnMut(&str),
) -> Result<(), Trouble> {
    let mut command = git();
    if source.is_ssh() && !has_own_ssh().await {
        command.env("GIT_SSH_COMMAND", SSH);
    }
    // A copy that shares no file with what it was made of, also on the same disk.
    command.args(["clone", "--progress", "--no-local", "--no-recurse-submodules"]);
    command.args(["--origin", "origin", "--"]).arg(source.argument()).arg(folder);
    run(command, limits, heard).await
}

/// Begins a repository in an empty folder, with a first commit on the branch `main`.
pub(crate) async fn begin(folder: &Path, limits: &Limits) -> Result<(), Trouble> {
    let mut init = git();
    init.args(["init", "--quiet", "--initial-branch=main", "--"]).arg(folder);
    run(init, limits, |_| {}).await?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let (readme, text) = (folder.join("README.md"), format!("# {name}\n"));
    let written = tokio::task::spawn_blocking(move || std::fs::write(readme, text)).await;
    let written = written.unwrap_or_else(|cause| Err(io::Error::other(cause)));
    written.map_err(|cause| Trouble::File("README.md could not be written".to_owned(), cause))?;
    let mut add = git();
    add.arg("-C").arg(folder).args(["add", "--force", "--", "README.md"]);
    run(add, limits, |_| {}).await?;
    let mut commit = git();
    commit.arg("-C").arg(folder);
    for (setting, otherwise) in [("user.name", "Godel"), ("user.email", "godel@localhost")] {
        if asked(folder, setting).await.is_none() {
            commit.args(["-c", &format!("{setting}={otherwise}")]);
        }
    }
    commit.args(["commit", "--quiet", "--no-gpg-sign", "-m", "First commit"]);
    run(commit, limits, |_| {}).await
}

/// Tells whether somebody has set a command of their own, and so knows best how their key is reached.
async fn has_own_ssh() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    set("GIT_SSH_COMMAND")
        || set("GIT_SSH")
        || asked(Path::new("/"), "core.sshCommand").await.is_some()
}

/// Returns what a setting is in a folder, if somebody has set it.
async fn asked(folder: &Path, setting: &str) -> Option<String> {
    let mut command = git();
    command
        .arg("-C")
        .arg(folder)
        .args(["config", "--get", setting])
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = timeout(GRACE, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Returns git where it can neither ask, nor run hooks, nor be led astray by the environment.
fn git() -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| leads_astray(name)) {
        command.env_remove(name);
    }
    // Whatever repository the server was started in has no say.
    command.current_dir("/").arg("--no-pager");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
    command.env("GIT_ALLOW_PROTOCOL", TRANSPORTS);
    if std::env::var_os("GIT_ASKPASS").is_none() {
        // Else a window may open that nobody sees.
        command.env("GIT_ASKPASS", "");
    }
    command
}

/// Tells whether a variable would let git work on something else, or is a key of Godel's.
fn leads_astray(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let of_git = name.starts_with("GIT_") && !HARMLESS.iter().any(|one| name.starts_with(one));
    of_git || name.starts_with("GODEL_")
}

/// Runs git to its end, or to a limit.
async fn run(
    mut command: Command,
    limits: &Limits,
    mut heard: impl FnMut(&str),
) -> Result<(), Trouble> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // It and its helpers can be ended together.
    command.process_group(0).kill_on_drop(true);
    let mut child = command.spawn().map_err(Trouble::Missing)?;
    let mut said = Said::default();
    let followed = tokio::select! {
        ended = follow(&mut child, &mut said, &mut heard) => ended.map_err(Trouble::Missing),
        () = limits.stop.cancelled() => Err(Trouble::Stopped),
        () = sleep(limits.time) => Err(Trouble::TooLong(limits.time.as_secs() / 60)),
    };
    match followed {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Trouble::Failed(said.kept)),
        Err(trouble) => {
            end(&mut child).await;
            Err(trouble)
        }
    }
}

/// Reads what git says until it has ended.
async fn follow(
    child: &mut Child,
    said: &mut Said,
    heard: &mut impl FnMut(&str),
) -> io::Result<ExitStatus> {
    let mut pipe: Option<ChildStderr> = child.stderr.take();
    let mut buffer = vec![0; READ_BYTES];
    let status = loop {
        let Some(open) = &mut pipe else { break child.wait().await? };
        tokio::select! {
            read = open.read(&mut buffer) => match read? {
                0 => pipe = None,
                count => said.hear(&buffer[..count], heard),
            },
            status = child.wait() => break status?,
        }
    };
    // A helper that git leaves behind may keep the pipe open, so its end is not waited for.
    if let Some(open) = &mut pipe {
        while let Ok(Ok(count @ 1..)) = timeout(LAST_WORDS, open.read(&mut buffer)).await {
            said.hear(&buffer[..count], heard);
        }
    }
    said.turn(true, heard);
    Ok(status)
}

/// Asks git to end, which lets it remove what it has begun, and kills what is left of it and its helpers.
async fn end(child: &mut Child) {
    let group = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    let signal = |signal| {
        if let Some(group) = group {
            // It may have ended already.
            kill_process_group(group, signal).ok();
        }
    };
    signal(Signal::TERM);
    let ended = timeout(GRACE, child.wait()).await;
    signal(Signal::KILL);
    if ended.is_err() {
        // It is dead; what is waited for is that the system says so.
        child.wait().await.ok();
    }
}

/// What git says: a line on its way, and the end of all.
#[derive(Debug, Default)]
struct Said {
    line: Vec<u8>,
    kept: String,
}

impl Said {
    fn hear(&mut self, bytes: &[u8], heard: &mut impl FnMut(&str)) {
        for byte in bytes {
            match byte {
                b'\n' => self.turn(true, heard),
                // What is written over tells how far it is, and is not needed later.
                b'\r' => self.turn(false, heard),
                _ if self.line.len() < LINE_MAX_BYTES => self.line.push(*byte),
                _ => {}
            }
        }
    }

    fn turn(&mut self, keep: bool, heard: &mut impl FnMut(&str)) {
        let line = words::clean(&String::from_utf8_lossy(&self.line));
        self.line.clear();
        if line.is_empty() {
            return;
        }
        heard(&line);
        if keep {
            self.kept.push_str(&line);
            self.kept.push('\n');
            let surplus = self.kept.len().saturating_sub(KEPT_MAX_BYTES);
            self.kept.drain(..self.kept.ceil_char_boundary(surplus));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn limits(time: Duration) -> Limits {
        Limits { time, stop: CancellationToken::new() }
    }

    const LONG: Duration = Duration::from_secs(60);

    fn asked_of(folder: &Path, arguments: &[&str]) -> String {
        let output =
            std::process::Command::new("git").arg("-C").arg(folder).args(arguments).output();
        String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
    }

    #[tokio::test]
    async fn a_repository_is_begun_and_cloned() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (root.path().join("first one"), root.path().join("second"));
        begin(&first, &limits(LONG)).await.unwrap();
        assert_eq!(asked_of(&first, &["log", "--format=%s", "main"]), "First commit");
        assert_eq!(asked_of(&first, &["show", "HEAD:README.md"]), "# first one");
        assert_eq!(asked_of(&first, &["status", "--porcelain"]), "");
        let mut lines = Vec::new();
        let source = Source::parse(first.to_str().unwrap()).unwrap();
        clone(&source, &second, &limits(LONG), |line| lines.push(line.to_owned())).await.unwrap();
        assert_eq!(
            asked_of(&second, &["rev-parse", "HEAD"]),
            asked_of(&first, &["rev-parse", "HEAD"])
        );
        assert!(lines.iter().any(|line| line.contains("100%")), "{lines:?}");
    }

    #[tokio::test]
    async fn what_takes_too_long_or_is_stopped_ends_and_leaves_nothing() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("git://{}/app", silent.local_addr().unwrap());
        let source = Source::parse(&url).unwrap();
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("app");
        let short = limits(Duration::from_millis(300));
        let ended = clone(&source, &folder, &short, |_| {}).await;
        assert!(matches!(ended, Err(Trouble::TooLong(0))), "{ended:?}");
        let stopped = limits(LONG);
        let stop = stopped.stop.clone();
        let stopping = async {
            sleep(Duration::from_millis(300)).await;
            stop.cancel();
        };
        let (ended, ()) = tokio::join!(clone(&source, &folder, &stopped, |_| {}), stopping);
        assert!(matches!(ended, Err(Trouble::Stopped)), "{ended:?}");
        assert!(!folder.exists(), "git removes what it began");
    }

    #[tokio::test]
    async fn git_says_why_it_failed() {
        let root = tempfile::tempdir().unwrap();
        let source = Source::parse(root.path().join("none").to_str().unwrap()).unwrap();
        let failed = clone(&source, &root.path().join("x"), &limits(LONG), |_| {}).await;
        let Err(Trouble::Failed(said)) = failed else { panic!("{failed:?}") };
        assert!(said.contains("does not exist"), "{said}");
    }

    #[test]
    fn only_the_end_of_many_words_is_kept() {
        let (mut said, mut count) = (Said::default(), 0);
        let text = format!("{}\rhalf\r\nsecret https://t@h/x\n", "ä\n".repeat(20_000));
        for bytes in text.as_bytes().chunks(7) {
            said.hear(bytes, &mut |_| count += 1);
        }
        said.hear(&[b'x'; 10_000], &mut |_| count += 1);
        assert_eq!((count, said.line.len()), (20_002, LINE_MAX_BYTES));
        assert!(said.kept.len() <= KEPT_MAX_BYTES && said.kept.ends_with("secret https://h/x\n"));
        assert!(!said.kept.contains("half"));
    }

    #[test]
    fn only_what_says_how_to_reach_another_machine_is_kept() {
        for (name, astray) in [
            ("GIT_DIR", true),
            ("GIT_CONFIG_COUNT", true),
            ("GODEL_KEY", true),
            ("GIT_SSH", false),
            ("HOME", false),
        ] {
            assert_eq!(leads_astray(&OsString::from(name)), astray, "{name}");
        }
    }
}
