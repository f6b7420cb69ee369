//! A process that is measured: what it costs in processor time and memory.

use std::collections::HashMap;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

use crate::error::{Error, Result, Told as _};

/// A child that is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) child: Child,
}

/// How long each thread of a process has run.
#[derive(Debug, Default)]
pub(crate) struct CpuMark(HashMap<String, u64>);

impl CpuMark {
    /// Returns how much the threads have run since an earlier mark.
    ///
    /// What a thread did that ended in between is not known; the servers under test keep theirs.
    pub(crate) fn since(&self, earlier: &Self) -> Duration {
        let ran = self.0.iter().map(|(thread, now)| {
            let before = earlier.0.get(thread).copied().unwrap_or_default();
            now.saturating_sub(before)
        });
        Duration::from_nanos(ran.sum())
    }
}

impl Process {
    /// Starts a program.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().told(format_args!("start {program}"))?;
        Ok(Self { child })
    }

    /// Returns the id of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Fails if the process has ended.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.child.try_wait().told("look at a process")? {
            None => Ok(()),
            Some(status) => Err(Error::new(format!("the process ended: {status}"))),
        }
    }

    /// Reads how long its threads have run, to the nanosecond.
    pub(crate) fn cpu(&self) -> Result<CpuMark> {
        let folder = format!("/proc/{}/task", self.pid());
        let threads = std::fs::read_dir(&folder).told(format_args!("read {folder}"))?;
        let mut mark = CpuMark::default();
        for thread in threads.flatten() {
            // A thread may end between the two steps.
            let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            if let Some(nanos) = running_nanos(&text) {
                let name = thread.file_name().to_string_lossy().into_owned();
                mark.0.insert(name, nanos);
            }
        }
        if mark.0.is_empty() {
            return Err(Error::new(format!("{folder} tells no processor times"))
                .with_hint("the kernel needs CONFIG_SCHED_INFO"));
        }
        Ok(mark)
    }

    /// Reads how much memory it holds.
    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        self.status("VmRSS:")
    }

    /// Reads how much memory it has held at most.
    pub(crate) fn peak_bytes(&self) -> Result<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> Result<u64> {
        let path = format!("/proc/{}/status", self.pid());
        let text = std::fs::read_to_string(&path).told(format_args!("read {path}"))?;
        memory_bytes(&text, name).ok_or_else(|| Error::new(format!("{path} tells no {name}")))
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| Error::new("a process without an id"))?;
        kill_process(pid, Signal::TERM).told("signal a process")?;
        let status = self.child.wait().told("wait for a process")?;
        if status.success() {
            return Ok(());
        }
        Err(Error::new(format!("the process did not end well: {status}")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns how long this process itself has run.
pub(crate) fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Returns how much memory this process holds.
pub(crate) fn own_resident() -> Result<u64> {
    let path = "/proc/self/status";
    let text = std::fs::read_to_string(path).told(format_args!("read {path}"))?;
    memory_bytes(&text, "VmRSS:").ok_or_else(|| Error::new(format!("{path} tells no memory")))
}

/// Returns the process that started another one.
pub(crate) fn parent(pid: u32) -> Result<u32> {
    let stat = stat(pid).ok_or_else(|| Error::new(format!("there is no process {pid}")))?;
    Ok(stat.parent)
}

/// Returns how long a process and its children have run, those that have ended too.
pub(crate) fn family_cpu(pid: u32) -> Result<Duration> {
    let own = stat(pid).ok_or_else(|| Error::new(format!("there is no process {pid}")))?;
    let mut nanos = run_by(pid);
    for entry in std::fs::read_dir("/proc").told("read /proc")?.flatten() {
        let child = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(child) = child
            && stat(child).is_some_and(|stat| stat.parent == pid)
        {
            nanos += run_by(child);
        }
    }
    // The kernel counts those who have ended in hundredths of a second.
    Ok(Duration::from_nanos(nanos) + Duration::from_millis(own.ended_ticks * 10))
}

/// Returns how long all threads of a process and its children that have ended ran, to a hundredth of a
/// second.
pub(crate) fn whole_cpu(pid: u32) -> Result<Duration> {
    let stat = stat(pid).ok_or_else(|| Error::new(format!("there is no process {pid}")))?;
    Ok(Duration::from_millis((stat.own_ticks + stat.ended_ticks) * 10))
}

fn run_by(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    running_nanos(&text).unwrap_or_default()
}

/// What a `stat` file tells of a process.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// How long all its threads ran.
    own_ticks: u64,
    /// How long its children that have ended ran.
    ended_ticks: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    read_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn read_stat(text: &str) -> Option<Stat> {
    // The name may hold anything, also brackets and spaces.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let parent = u32::try_from(number(1)?).ok()?;
    let own_ticks = number(11)? + number(12)?;
    Some(Stat { parent, own_ticks, ended_ticks: number(13)? + number(14)? })
}

/// Reads the first number of a `schedstat` file: nanoseconds on a processor.
fn running_nanos(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

/// Reads a size such as `VmRSS:` of a `status` file.
fn memory_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_understood() {
        assert_eq!(running_nanos("258197164 941191 19\n"), Some(258_197_164));
        assert_eq!(running_nanos(""), None);
        let status = "Name:\tgodel\nVmHWM:\t  900 kB\nVmRSS:\t   512 kB\nThreads:\t4\n";
        assert_eq!(memory_bytes(status, "VmRSS:"), Some(512 * 1024));
        assert_eq!(memory_bytes(status, "VmHWM:"), Some(900 * 1024));
        assert_eq!(memory_bytes("Name:\tgodel\n", "VmRSS:"), None);
        let stat = "7 (a ) b) S 5 7 7 0 -1 4 9 8 0 0 11 12 13 14 20 0 1 0 99";
        assert_eq!(read_stat(stat), Some(Stat { parent: 5, own_ticks: 23, ended_ticks: 27 }));
    }

    #[test]
    fn a_new_thread_counts_from_its_beginning() {
        let mark = |threads: &[(&str, u64)]| {
            let threads = threads.iter().map(|(name, nanos)| ((*name).to_owned(), *nanos));
            CpuMark(threads.collect())
        };
        let earlier = mark(&[("1", 100), ("2", 50)]);
        let later = mark(&[("1", 130), ("3", 7)]);
        assert_eq!(later.since(&earlier), Duration::from_nanos(37));
    }
}
