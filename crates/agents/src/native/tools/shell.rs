//! Commands and searches in the sandbox.

use std::time::Duration;

use godel_runtime::{Command, Exit, Limit};

use super::{Bench, RESULT_MAX_BYTES, Search, Shell, Upshot};
use crate::output::perform;

/// How long a command may take unless it says so, and at most.
const SECONDS: u64 = 300;
const SECONDS_MAX: u64 = 3600;
/// How long a search may take.
const SEARCH_SECONDS: u64 = 60;

/// Models write for bash, which not every system has.
const RUN: &str = "exec 2>&1
if command -v bash >/dev/null; then exec bash -c \"$1\"; else exec sh -c \"$1\"; fi";
const LOOK: &str = "if git rev-parse --is-inside-work-tree >/dev/null 2>&1
then exec git grep --untracked -n -I -E -e \"$1\" -- \"$2\"
else exec grep -rnIE -e \"$1\" -- \"$2\"; fi";

impl Bench {
    pub(super) async fn shell(&self, wish: &Shell) -> Result<Upshot, String> {
        let seconds = wish.seconds.unwrap_or(SECONDS).clamp(1, SECONDS_MAX);
        let command = Command::shell(RUN).arg("sh").arg(wish.command.as_str());
        let (said, exit) = self.perform(command.within(Duration::from_secs(seconds))).await?;
        let how = match exit {
            Exit::Code { code: 0 } if said.trim().is_empty() => "no output".to_owned(),
            Exit::Code { code: 0 } => return Ok(Upshot::well(said)),
            Exit::Code { code } => format!("exit code {code}"),
            Exit::Signal { signal } => format!("ended by signal {signal}"),
            Exit::Limit { limit: Limit::Time } => format!("ended after {seconds} seconds"),
            Exit::Limit { limit } => format!("ended by the limit of {limit:?}").to_lowercase(),
        };
        let text = if said.trim().is_empty() { how } else { format!("{said}\n{how}") };
        Ok(Upshot { text, failed: !exit.success(), file: None })
    }

    pub(super) async fn search(&self, wish: &Search) -> Result<Upshot, String> {
        let path = wish.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let command = Command::shell(LOOK).arg("sh").arg(wish.pattern.as_str()).arg(path);
        let (said, exit) =
            self.perform(command.within(Duration::from_secs(SEARCH_SECONDS))).await?;
        Ok(match exit {
            Exit::Code { code: 0 } => Upshot::well(said),
            Exit::Code { code: 1 } => Upshot::well("nothing found"),
            _ => Upshot::badly(format!("the search failed: {said}")),
        })
    }

    async fn perform(&self, command: Command) -> Result<(String, Exit), String> {
        let performed = perform(&*self.runtime, self.sandbox, &command, RESULT_MAX_BYTES).await;
        performed.map_err(|error| error.to_string())
    }
}
