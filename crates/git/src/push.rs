//! Bringing branches to another repository, and from there.

use godel_model::code;

use crate::bench::Workbench;
use crate::error::{Error, Result};
use crate::git::Git;

/// Nobody is there to be asked for a password, and nobody waits for ever.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=20";
const PATIENCE: [&str; 2] = ["http.lowSpeedLimit=1", "http.lowSpeedTime=60"];

impl Workbench {
    /// Pushes a branch to a remote, under the same name; never by force.
    ///
    /// # Errors
    /// If there is no such remote, or the other side refuses; says what it said.
    pub fn push(&self, remote: &str, branch: &str) -> Result<()> {
        self.remote_url(remote)?;
        let reference = format!("refs/heads/{branch}:refs/heads/{branch}");
        self.far()?.args(["push", "--quiet", "--porcelain", "--", remote, &reference]).run()
    }

    /// Pushes a commit to a branch of a remote. What is there is overwritten only if it is what was pushed last.
    ///
    /// # Errors
    /// If there is no such remote or commit, or the other side refuses; says what it said.
    pub fn push_commit(
        &self,
        remote: &str,
        (commit, branch): (&str, &str),
        last: Option<&str>,
    ) -> Result<()> {
        self.remote_url(remote)?;
        let commit = self.repo.known(commit)?;
        let reference = format!("{commit}:refs/heads/{branch}");
        let over = last.map(|last| format!("--force-with-lease=refs/heads/{branch}:{last}"));
        let git = self.far()?.args(["push", "--quiet", "--porcelain"]).args(over);
        git.args(["--", remote, &reference]).run()
    }

    /// Fetches a branch of a remote, and returns the commit that it is at. No branch of this repository moves.
    ///
    /// # Errors
    /// If there is no such remote or branch, or the other side refuses; says what it said.
    pub fn fetch(&self, remote: &str, branch: &str) -> Result<String> {
        self.remote_url(remote)?;
        let kept = format!("refs/godel/upstream/{branch}");
        let reference = format!("+refs/heads/{branch}:{kept}");
        let asked = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let git =
            self.far()?.args(asked).args(["--no-recurse-submodules", "--no-auto-maintenance"]);
        git.args(["--", remote, &reference]).run()?;
        self.repo.known(&kept)
    }

    /// Returns the address of a remote.
    ///
    /// # Errors
    /// If there is no such remote.
    pub fn remote_url(&self, remote: &str) -> Result<String> {
        let known = self.repo.ask().args(["config", "--get", &format!("remote.{remote}.url")]);
        known.maybe()?.ok_or_else(|| {
            Error::refused(
                code::INVALID_CONFIG,
                format!("the repository has no remote {remote:?}"),
                "`git remote -v` shows those that there are; `[landing] push` in godel.toml names one",
            )
        })
    }

    /// Begins a call of git that speaks to another machine.
    fn far(&self) -> Result<Git<'_>> {
        let git = self.repo.git().settings(&PATIENCE.map(str::to_owned));
        let own = self.repo.ask().args(["config", "--get", "core.sshCommand"]).maybe()?;
        if own.is_none_or(|command| command.trim().is_empty()) {
            // Whoever set a command of their own knows best how their key is reached.
            return Ok(git.env("GIT_SSH_COMMAND", SSH));
        }
        Ok(git)
    }
}
