//! What agent programs do when they are refused for good: they ask once, and show why.

use std::path::Path;
use std::process::Command;

use super::{AGENTS, CLAUDE, Cast, GEMINI, GPT, line};
use crate::failure::Result;

/// What the server says of a budget that does not hold a request.
const RAISE_IT: &str = "godel budget set";
/// What it says of a token that has ended.
const REVOKED: &str = "was revoked";

/// Of how many requests a round of a program is made at most: this one asks for a title beside what was asked.
const ASKS_FOR_A_TITLE: (&str, u64) = ("opencode", 2);

/// Each program, how it talks, with which model, and what it must show of a budget that is used up. Codex has
/// words of its own for that.
const BROKE: [(&str, &str, &str, &str); 7] = [
    ("claude", "", CLAUDE, RAISE_IT),
    ("codex", "own", GPT, "Quota exceeded"),
    ("gemini", "", GEMINI, RAISE_IT),
    ("opencode", "anthropic", CLAUDE, RAISE_IT),
    ("opencode", "chat", GPT, RAISE_IT),
    ("pi", "anthropic", CLAUDE, RAISE_IT),
    ("pi", "chat", GPT, RAISE_IT),
];

impl Cast<'_> {
    /// Lets programs run into a budget that is used up, and one into a token that was revoked: each request
    /// is made once, and it shows why.
    pub(super) fn refused(&mut self, modules: &Path, work: &Path) -> Result<()> {
        for (at, (cli, how, model, shown)) in BROKE.into_iter().enumerate() {
            let name = format!("broke-{cli}-{how}");
            let token = self.through.poor(&name)?;
            let rooms = work.join(format!("broke-{at}"));
            let command = self.program((cli, how), modules, &rooms, shown);
            let (wordy, most) = ASKS_FOR_A_TITLE;
            let most = if cli == wordy { most } else { 1 };
            self.once(command, (&name, model, &token), ("budget", most))?;
        }
        let token = self.through.ended()?;
        let command = self.program(("claude", ""), modules, &work.join("ended"), REVOKED);
        self.once(command, ("ended-claude", CLAUDE, &token), ("unauthenticated", 1))
    }

    fn program(
        &self,
        (cli, how): (&str, &str),
        modules: &Path,
        rooms: &Path,
        shown: &str,
    ) -> Command {
        debug_assert!(AGENTS.iter().any(|(known, ..)| *known == cli));
        let mut command = Command::new("node");
        command.arg(self.shop.root.join("clients/cli/run.js"));
        command.args(["--cli", cli, "--as", how, "--expect", "failure", "--message", shown]);
        command.arg("--modules").arg(modules).arg("--work").arg(rooms);
        command
    }

    /// Runs a program, and counts how often the server refused it.
    fn once(
        &mut self,
        mut command: Command,
        (name, model, token): (&str, &str, &str),
        (reason, most): (&str, u64),
    ) -> Result<()> {
        let before = self.through.refused(reason)?;
        self.perform_as(&mut command, token, model, name);
        let times = self.through.refused(reason)? - before;
        let detail = format!("{times} requests");
        self.lines.push(line(
            &format!("{name}: it asked once"),
            (1..=most).contains(&times),
            &detail,
        ));
        Ok(())
    }
}
