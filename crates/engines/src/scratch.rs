//! A temporary folder, and processes in it, that go away with their owner however it ends.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::error::Error;
use crate::process::{Identity, Pid, children, kill_all};

/// Who made the folder: first line the process, second line its process namespace.
const OWNER_FILE: &str = "owner";
/// The server that runs in the folder, so that a sweep can end it.
const SERVER_FILE: &str = "server";
/// How long a sweep waits for what it killed.
const SWEEP_SECS: u64 = 5;

/// Reads the whole list of what to end from each line; when the pipe closes without the word
/// `done`, its owner died: ends what the last line named, then removes the folder.
const WATCHDOG: &str = r#"
targets=
while read -r line; do
    if [ "$line" = done ]; then exit 0; fi
    targets=$line
done
for target in $targets; do
    kill -s CONT -- "$target"
    kill -s "$2" -- "$target"
done
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    alive=
    for target in $targets; do
        if kill -s 0 -- "$target"; then alive=yes; fi
    done
    if [ -z "$alive" ]; then break; fi
    sleep 0.1
done
for target in $targets; do
    kill -s KILL -- "$target"
done
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
"#;

/// What a [`Scratch`] ends when its owner dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// One process.
    Process(Pid),
    /// Every process of a group.
    Group(Pid),
}

/// A temporary folder with a watchdog.
///
/// Dropping it removes the folder. If the owner is killed instead, a small shell that waits on a
/// pipe from the owner sees the pipe close, ends the [watched](Scratch::watch) processes and
/// removes the folder. [`sweep`] catches what is left when the watchdog was killed as well.
#[derive(Debug)]
pub struct Scratch {
    folder: Option<TempDir>,
    path: PathBuf,
    watchdog: Child,
    pipe: ChildStdin,
}

impl Scratch {
    /// Creates `<temp>/<prefix>-<pid>-<random>`, whose watchdog ends things with `polite` first.
    ///
    /// `polite` is the name of a signal, such as `TERM`. Other accounts may enter the folder, but
    /// not list it: what is private belongs in a folder of its own below.
    pub fn create(prefix: &str, polite: &str) -> Result<Self, Error> {
        let base = std::env::temp_dir();
        let folder = tempfile::Builder::new()
            .prefix(&format!("{prefix}-{}-", std::process::id()))
            .permissions(fs::Permissions::from_mode(0o711))
            .tempdir_in(&base)
            .map_err(Error::io("create a folder in", &base))?;
        // The process umask may have taken away what other accounts need to pass through.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711))
            .map_err(Error::io("open", folder.path()))?;
        let owner = folder.path().join(OWNER_FILE);
        fs::write(&owner, own_mark()).map_err(Error::io("write", &owner))?;
        let (watchdog, pipe) = start_watchdog(folder.path(), polite)?;
        let path = folder.path().to_owned();
        Ok(Self { folder: Some(folder), path, watchdog, pipe })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes and returns a folder below, as private as the umask says.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(Error::io("create", &path))?;
        Ok(path)
    }

    /// Says what the watchdog has to end; replaces what was said before.
    pub fn watch(&mut self, targets: &[Target]) {
        let words: Vec<String> = targets
            .iter()
            .map(|target| match target {
                Target::Process(pid) => pid.to_string(),
                Target::Group(group) => format!("-{group}"),
            })
            .collect();
        // A watchdog that is gone is no reason to fail: drop and sweep still clean up.
        let _ = writeln!(self.pipe, "{}", words.join(" "));
    }

    /// Notes the server that runs in this folder, for a later [`sweep`] to end.
    pub(crate) fn note_server(&self, pid: Pid) {
        if let Some(server) = Identity::of(pid) {
            // As above: without the note, the other two ways of cleaning up remain.
            let _ = fs::write(self.path.join(SERVER_FILE), server.to_line());
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take()
            && folder.close().is_err()
        {
            // A dying server may have written while the folder was removed: once more.
            let _ = fs::remove_dir_all(&self.path);
        }
        let _ = writeln!(self.pipe, "done");
        let _ = self.watchdog.wait();
    }
}

/// Removes the folders `<prefix>-*` whose owner is dead, and ends the servers in them.
///
/// Only folders of this account, made in this process namespace, are touched.
pub fn sweep(prefix: &str) {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else {
        return;
    };
    let start = format!("{prefix}-");
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(&start)) && is_stale(&entry.path()) {
            remove_stale(&entry.path());
        }
    }
}

fn is_stale(folder: &Path) -> bool {
    let ours = fs::symlink_metadata(folder)
        .is_ok_and(|data| data.is_dir() && data.uid() == rustix::process::geteuid().as_raw());
    if !ours {
        return false;
    }
    let Ok(mark) = fs::read_to_string(folder.join(OWNER_FILE)) else {
        return false;
    };
    let mut lines = mark.lines();
    let owner = lines.next().and_then(Identity::from_line);
    let same_world = lines.next() == Some(namespace().as_str());
    same_world && owner.is_some_and(|owner| !owner.is_alive())
}

fn remove_stale(folder: &Path) {
    let server = fs::read_to_string(folder.join(SERVER_FILE))
        .ok()
        .and_then(|line| Identity::from_line(&line))
        .filter(Identity::is_alive);
    if let Some(server) = server {
        let mut processes = children(server.pid);
        processes.push(server);
        kill_all(&processes, Duration::from_secs(SWEEP_SECS));
    }
    // Someone else may sweep at the same moment; what stays is taken by the next sweep.
    let _ = fs::remove_dir_all(folder);
}

fn own_mark() -> String {
    let me = Identity::of(std::process::id()).map(|me| me.to_line()).unwrap_or_default();
    format!("{me}\n{}\n", namespace())
}

/// Names the process namespace: a number means nothing in the container next door.
fn namespace() -> String {
    fs::read_link("/proc/self/ns/pid")
        .map_or_else(|_| "the only one".to_owned(), |link| link.to_string_lossy().into_owned())
}

fn start_watchdog(folder: &Path, polite: &str) -> Result<(Child, ChildStdin), Error> {
    let shell = Path::new("/bin/sh");
    let mut child = Command::new(shell)
        .args(["-c", WATCHDOG, "godel-watchdog"])
        .arg(folder)
        .arg(polite)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A group of its own: Ctrl-C in the terminal must not end it together with its owner.
        .process_group(0)
        .spawn()
        .map_err(|source| Error::Run { program: shell.to_owned(), source })?;
    let pipe = child.stdin.take().expect("stdin was asked for as a pipe");
    Ok((child, pipe))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("600").process_group(0).spawn().unwrap()
    }

    /// Leaves a folder behind as an owner does that was killed together with its watchdog.
    fn abandon(prefix: &str, mark: &str) -> PathBuf {
        let folder = tempfile::Builder::new().prefix(&format!("{prefix}-")).tempdir().unwrap();
        let path = folder.keep();
        fs::write(path.join(OWNER_FILE), mark).unwrap();
        path
    }

    #[test]
    fn a_dropped_scratch_leaves_nothing() {
        let scratch = Scratch::create("godel-scratch-drop", "TERM").unwrap();
        let path = scratch.path().to_owned();
        fs::write(scratch.folder("inner").unwrap().join("file"), "text").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn the_watchdog_ends_groups_and_removes_the_folder_when_the_pipe_breaks() {
        let mut scratch = Scratch::create("godel-scratch-dog", "TERM").unwrap();
        let path = scratch.path().to_owned();
        let (mut one, mut other) = (sleeper(), sleeper());
        scratch.watch(&[Target::Process(one.id()), Target::Group(other.id())]);
        // What the system does when the owner is killed: the pipe closes without a word.
        let mut idle = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        drop(std::mem::replace(&mut scratch.pipe, idle.stdin.take().unwrap()));
        // Reaped while the watchdog looks: a zombie still counts as alive for `kill -s 0`.
        assert!(!one.wait().unwrap().success() && !other.wait().unwrap().success());
        scratch.watchdog.wait().unwrap();
        assert!(!path.exists());
        idle.wait().unwrap();
    }

    #[test]
    fn a_sweep_removes_what_a_dead_owner_left_and_ends_its_server() {
        let mut server = sleeper();
        let mut owner = sleeper();
        let mark = format!("{}\n{}\n", Identity::of(owner.id()).unwrap().to_line(), namespace());
        let path = abandon("godel-scratch-dead", &mark);
        let line = Identity::of(server.id()).unwrap().to_line();
        fs::write(path.join(SERVER_FILE), line).unwrap();
        sweep("godel-scratch-dead");
        assert!(path.exists(), "the owner lives: its folder stays");
        owner.kill().unwrap();
        owner.wait().unwrap();
        sweep("godel-scratch-dead");
        assert!(!path.exists());
        assert!(!server.wait().unwrap().success());
    }

    #[test]
    fn a_sweep_leaves_folders_of_another_process_namespace_alone() {
        let path = abandon("godel-scratch-next-door", "999999999 1\npid:[1]\n");
        sweep("godel-scratch-next-door");
        assert!(path.exists());
        fs::remove_dir_all(path).unwrap();
    }
}
