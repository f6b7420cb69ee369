//! The processes that descend from one process.

use std::collections::HashSet;
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How many processes are looked at; a sandbox has fewer.
const FAMILY_MAX: usize = 65_536;
/// How often one looks for processes that were made meanwhile.
const REAP_ROUNDS: usize = 50;
const REAP_WAIT: std::time::Duration = std::time::Duration::from_millis(10);
const PAGE_BYTES_MIN: u64 = 4_096;

/// Finds the descendants of a process, without itself. In a namespace of their own all who lost their
/// parent belong to its first process, so nobody is missed.
pub(super) fn descendants(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([of]);
    let mut open = vec![of];
    while let Some(parent) = open.pop() {
        for child in children(parent) {
            if seen.len() < FAMILY_MAX && seen.insert(child) {
                found.push(child);
                open.push(child);
            }
        }
    }
    found
}

fn children(parent: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let mut children = Vec::new();
    for list in lists {
        children.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    children
}

/// Adds up the memory that processes hold, and counts them with their threads.
pub(super) fn weigh(pids: &[u32]) -> (u64, u64) {
    let page = (rustix::param::page_size() as u64).max(PAGE_BYTES_MIN);
    let (mut bytes, mut tasks) = (0, 0);
    for pid in pids {
        let held = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let mut held = held.split_whitespace().skip(1).map(|part| part.parse().unwrap_or(0_u64));
        let (resident, shared) = (held.next().unwrap_or(0), held.next().unwrap_or(0));
        bytes += resident.saturating_sub(shared) * page;
        tasks += fs::read_dir(format!("/proc/{pid}/task")).map_or(0, |list| list.count() as u64);
    }
    (bytes, tasks)
}

/// Sends a signal to those that still descend from a process.
pub(super) fn signal(of: u32, pids: &[u32], signal: Signal) {
    for pid in pids {
        let Some(target) = i32::try_from(*pid).ok().and_then(Pid::from_raw) else { continue };
        // The handle is taken first: a number that was given to another since is noticed.
        let Ok(handle) = pidfd_open(target, PidfdFlags::empty()) else { continue };
        if descends(*pid, of) {
            let _ = pidfd_send_signal(handle, signal);
        }
    }
}

/// Ends the processes of a session and those that descend from its first one; for a container, whose
/// processes see each other.
pub(super) fn reap(first: u32) {
    for _ in 0..REAP_ROUNDS {
        let own = std::process::id();
        let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = listed.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let doomed: Vec<u32> = pids
            .filter(|pid| {
                *pid > 1
                    && *pid != own
                    && (*pid == first || session(*pid) == Some(first) || descends(*pid, first))
            })
            .filter(|pid| !is_over(*pid))
            .collect();
        if doomed.is_empty() {
            return;
        }
        for pid in doomed {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        std::thread::sleep(REAP_WAIT);
    }
}

fn session(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(3)?.parse().ok()
}

/// Tells whether a process has ended.
pub(super) fn is_over(pid: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = text.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

/// Tells whether a process is Godel's own helper inside of a sandbox.
pub(super) fn is_helper(pid: u32) -> bool {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).next() == Some(super::bwrap::inside::HELPER.as_bytes())
}

/// Tells whether a process was stopped, or has ended.
pub(super) fn is_stopped(pid: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    match text.rsplit_once(')') {
        Some((_, rest)) => matches!(rest.trim_start().chars().next(), Some('T' | 't' | 'Z' | 'X')),
        None => true,
    }
}

/// Tells whether a process is the first one of a namespace of its own.
pub(super) fn is_first(pid: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ids = text.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    ids.split_whitespace().count() > 1 && ids.split_whitespace().last() == Some("1")
}

fn descends(pid: u32, of: u32) -> bool {
    let mut at = pid;
    for _ in 0..FAMILY_MAX {
        match parent(at) {
            Some(parent) if parent == of => return true,
            Some(parent) if parent > 1 => at = parent,
            _ => return false,
        }
    }
    false
}

fn parent(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything.
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
