//! Bringing a branch to another repository.

use godel_model::code;

use crate::bench::Workbench;
use crate::error::{Error, Result};

/// Nobody is there to be asked for a password, and nobody waits for ever.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=20";
const PATIENCE: [&str; 2] = ["http.lowSpeedLimit=1", "http.lowSpeedTime=60"];

impl Workbench {
    /// Pushes a branch to a remote, under the same name; never by force.
    ///
    /// # Errors
    /// If there is no such remote, or the other side refuses; says what it said.
    pub fn push(&self, remote: &str, branch: &str) -> Result<()> {
        let known = self.repo.ask().args(["config", "--get", &format!("remote.{remote}.url")]);
        if known.maybe()?.is_none() {
            return Err(Error::refused(
                code::INVALID_CONFIG,
                format!("the repository has no remote {remote:?}"),
                "`git remote -v` shows those that there are; `[landing] push` in godel.toml names one",
            ));
        }
        let reference = format!("refs/heads/{branch}:refs/heads/{branch}");
        let git =
            self.repo.git().env("GIT_SSH_COMMAND", SSH).settings(&PATIENCE.map(str::to_owned));
        git.args(["push", "--quiet", "--porcelain", "--", remote, &reference]).run()
    }
}
