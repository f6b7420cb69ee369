//! The doctor: is what agents need on this machine there, and does it work?

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use godel_agents::Harness;
use godel_agents::discover::{Found, discover};
use godel_model::Report as _;
use serde::Serialize;
use tokio::task::JoinSet;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All is well.
    Ok,
    /// There was nothing to check.
    Skip,
    /// It works, but somebody should look at it.
    Warn,
    /// It does not work.
    Fail,
}

impl Verdict {
    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skip => "skip",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was checked.
    pub name: &'static str,
    /// How that ended.
    pub status: Verdict,
    /// What was found.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    /// Says that all is well.
    pub fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: Verdict::Ok, message: message.into(), hint: None }
    }

    /// Says that there was nothing to check.
    pub fn skip(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: Verdict::Skip, message: message.into(), hint: None }
    }

    /// Says what somebody should look at.
    pub fn warn(name: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, status: Verdict::Warn, message: message.into(), hint: Some(hint.into()) }
    }

    /// Says what does not work.
    pub fn fail(name: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, status: Verdict::Fail, message: message.into(), hint: Some(hint.into()) }
    }

    /// Takes what does not work as something to look at: Godel works without it.
    #[must_use]
    pub fn mild(mut self) -> Self {
        if self.status == Verdict::Fail {
            self.status = Verdict::Warn;
        }
        self
    }
}

/// Checks that git is there: agents work in git worktrees.
pub fn git() -> Finding {
    let hint = "install git from your system's packages or https://git-scm.com";
    match Command::new("git").arg("--version").output() {
        Ok(output) if output.status.success() => {
            Finding::ok("git", String::from_utf8_lossy(&output.stdout).trim())
        }
        Ok(output) => {
            Finding::fail("git", format!("`git --version` fails ({})", output.status), hint)
        }
        Err(_) => Finding::fail("git", "it is not on the PATH", hint),
    }
}

/// Checks that agents can be walled off, by trying it; the bubblewrap on the PATH unless one is named.
pub fn walls(bubblewrap: Option<&Path>) -> Finding {
    match godel_runtime::can_wall(bubblewrap) {
        Ok(()) => Finding::ok("walls", "agents are walled off with bubblewrap"),
        Err(error) => Finding::fail("walls", error.to_string(), error.hint().unwrap_or_default()),
    }
}

/// Checks that agents can have a kernel of their own, by running something on one.
pub fn kernel() -> Finding {
    match godel_runtime::can_guest(None) {
        Ok(()) => Finding::ok("gvisor", "a program ran on a kernel of its own"),
        Err(error) => Finding::fail("gvisor", error.to_string(), error.hint().unwrap_or_default()),
    }
}

const HARNESSES: &str = "harnesses";

/// Asks each agent program that Godel can lead for its version, all of them at once.
pub async fn harnesses(search: &OsStr) -> Finding {
    let mut asked: JoinSet<(usize, Result<Option<Found>, String>)> = JoinSet::new();
    let led = Harness::ALL.into_iter().filter(|harness| harness.known().is_some());
    for (place, harness) in led.clone().enumerate() {
        let search = OsString::from(search);
        asked.spawn(async move { (place, discover(harness, &search).await) });
    }
    let mut said = asked.join_all().await;
    said.sort_by_key(|(place, _)| *place);
    let (mut names, mut complaints, mut packages) = (Vec::new(), Vec::new(), Vec::new());
    for (_, said) in said {
        match said {
            Ok(None) => {}
            Ok(Some(found)) => {
                let Some(known) = found.harness.known() else { continue };
                match (found.complaint(), found.version) {
                    (None, Some(version)) => names.push(format!("{} {version}", known.program)),
                    (complaint, _) => {
                        complaints.extend(complaint);
                        packages.push(known.package);
                    }
                }
            }
            Err(complaint) => complaints.push(complaint),
        }
    }
    if !complaints.is_empty() {
        let hint = match packages.as_slice() {
            [] => "see above".to_owned(),
            packages => format!("npm install -g {}", packages.join(" ")),
        };
        names.extend(complaints);
        return Finding::warn(HARNESSES, names.join("; "), hint);
    }
    if names.is_empty() {
        let known: Vec<&str> = led.filter_map(Harness::known).map(|known| known.program).collect();
        let message =
            format!("none of {} is on the PATH; Godel has its own agent", known.join(", "));
        return Finding::skip(HARNESSES, message);
    }
    Finding::ok(HARNESSES, names.join(", "))
}
