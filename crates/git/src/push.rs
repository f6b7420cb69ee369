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
        let mut git = self.repo.git().settings(&PATIENCE.map(str::to_owned));
        let own = self.repo.ask().args(["config", "--get", "core.sshCommand"]).maybe()?;
        if own.is_none_or(|command| command.trim().is_empty()) {
            // Whoever set a command of their own knows best how their key is reached.
            git = git.env("GIT_SSH_COMMAND", SSH);
        }
        git.args(["push", "--quiet", "--porcelain", "--", remote, &reference]).run()
    }
}
