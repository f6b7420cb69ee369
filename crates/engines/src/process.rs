//! Looking at processes and signalling them.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid as RawPid, kill_process, kill_process_group, test_kill_process};

pub use rustix::process::Signal;

/// The number of a process, as [`std::process::Child::id`] gives it.
pub type Pid = u32;

const POLL: Duration = Duration::from_millis(10);

/// A process that cannot be mistaken for a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) pid: Pid,
    started: String,
}

impl Identity {
    /// Identifies the process `pid`, if there is one.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        Some(Self { pid, started: started(pid)? })
    }

    /// Reads what [`Identity::to_line`] wrote.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let (pid, started) = line.trim().split_once(' ')?;
        Some(Self { pid: pid.parse().ok()?, started: started.to_owned() })
    }

    /// Writes the identity as one line of text.
    pub(crate) fn to_line(&self) -> String {
        format!("{} {}", self.pid, self.started)
    }

    /// Whether this very process still runs.
    pub(crate) fn is_alive(&self) -> bool {
        started(self.pid).as_ref() == Some(&self.started)
    }
}

/// Sends `signal` to one process; false if it is gone or not ours.
pub fn signal_process(pid: Pid, signal: Signal) -> bool {
    raw(pid).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Sends `signal` to every process of a group; false if the group is gone or not ours.
pub fn signal_group(group: Pid, signal: Signal) -> bool {
    raw(group).is_some_and(|group| kill_process_group(group, signal).is_ok())
}

/// Kills the given processes and waits until they are gone, at most `patience`.
pub(crate) fn kill_all(processes: &[Identity], patience: Duration) {
    for process in processes.iter().filter(|process| process.is_alive()) {
        signal_process(process.pid, Signal::KILL);
    }
    wait_gone(processes, patience);
}

/// Waits until the given processes are gone, at most `patience`; whether they are.
pub(crate) fn wait_gone(processes: &[Identity], patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    while processes.iter().any(Identity::is_alive) {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(POLL);
    }
    true
}

/// The direct children of a process.
pub(crate) fn children(parent: Pid) -> Vec<Identity> {
    table()
        .into_iter()
        .filter(|(_, of)| *of == parent)
        .filter_map(|(pid, _)| Identity::of(pid))
        .collect()
}

fn raw(pid: Pid) -> Option<RawPid> {
    // 0 and 1 would mean "my own group" and init: never what a caller here wants.
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(RawPid::from_raw)
}

/// When a process started, in the system's own words; none if it is gone or a zombie.
fn started(pid: Pid) -> Option<String> {
    if let Some(stat) = Stat::read(pid) {
        return (stat.state != "Z").then_some(stat.started);
    }
    if cfg!(target_os = "linux") || raw(pid).is_none_or(|pid| test_kill_process(pid).is_err()) {
        return None;
    }
    let line = ps(&["-o", "lstart=", "-p", &pid.to_string()])?;
    (!line.trim().is_empty()).then(|| line.trim().to_owned())
}

/// Every process with its parent.
fn table() -> Vec<(Pid, Pid)> {
    if let Ok(entries) = fs::read_dir("/proc") {
        return entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|pid| Some((pid, Stat::read(pid)?.parent)))
            .collect();
    }
    ps(&["-A", "-o", "pid=,ppid="])
        .unwrap_or_default()
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
        })
        .collect()
}

fn ps(arguments: &[&str]) -> Option<String> {
    let output = Command::new("ps").args(arguments).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

/// The few fields of `/proc/<pid>/stat` that matter here.
struct Stat {
    state: String,
    parent: Pid,
    started: String,
}

impl Stat {
    fn read(pid: Pid) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        // The second field is the name in brackets and may itself hold brackets and spaces.
        let mut fields = text.get(text.rfind(')')? + 1..)?.split_whitespace();
        let state = fields.next()?.to_owned();
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.to_owned();
        Some(Self { state, parent, started })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse_the_reader() {
        let text = "42 (a) b (c)) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 9 9";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.state.as_str(), stat.parent, stat.started.as_str()), ("S", 7, "98765"));
    }

    #[test]
    fn this_process_is_alive_and_a_child_of_its_parent() {
        let me = Identity::of(std::process::id()).unwrap();
        assert!(me.is_alive());
        assert_eq!(Identity::from_line(&me.to_line()), Some(me.clone()));
        assert!(children(std::os::unix::process::parent_id()).contains(&me));
    }

    #[test]
    fn the_same_number_with_another_start_is_another_process() {
        let me = Identity::of(std::process::id()).unwrap();
        let earlier = Identity { started: "an earlier life".to_owned(), ..me };
        assert!(!earlier.is_alive());
    }

    #[test]
    fn own_group_and_init_are_never_signalled() {
        assert!(!signal_group(0, Signal::CONT));
        assert!(!signal_process(1, Signal::CONT));
    }
}
