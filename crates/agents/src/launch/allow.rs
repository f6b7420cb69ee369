//! Which tools a role lets an agent use, in the words of Godel and in those of each program.

use godel_model::Permission;

use crate::grant::{self, GRANTS};
use crate::harness::Harness;

/// What every agent may do, else it could never end.
const ALWAYS: &str = "done";
/// Godel's own names, which no program knows.
const OWN: [&str; 13] = [
    "read",
    "write",
    "edit",
    "search",
    "shell",
    "todo_write",
    "ask",
    "ask_human",
    "message",
    "mail_send",
    "mail_read",
    "bead",
    "done",
];
/// The tools of Godel that come over MCP.
const VERBS: [&str; 6] = ["bead", "todo_write", "mail_send", "mail_read", "ask_human", "done"];
/// What is called otherwise by the built-in agent than over MCP.
const SAME: [(&str, &str); 2] = [("ask", "ask_human"), ("message", "mail_send")];
/// What stands before the names of Godel's tools in other programs.
const BEFORE: [&str; 5] = ["mcp__godel__", "mcp_godel_", "godel__", "godel_", "godel."];

/// The words of Godel for what an agent does with files and commands, and those of a program.
pub(super) type Words = [(&'static str, &'static [&'static str])];

/// The tools that an agent may use; all if none is named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed(Vec<String>);

impl Allowed {
    /// Allows what is named; `*` at the end of a name stands for any ending.
    pub fn only(tools: &[String]) -> Self {
        Self(tools.to_vec())
    }

    /// Allows what permissions give, too.
    #[must_use]
    pub fn with_granted(mut self, permissions: &[Permission]) -> Self {
        if !self.is_all() {
            self.0.extend(grant::given(permissions).map(|grant| grant.tool.name.to_owned()));
        }
        self
    }

    /// Tells whether all tools may be used.
    pub fn is_all(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(|tool| tool == "*")
    }

    /// Tells whether a tool may be used, by Godel's name or with what programs put before it.
    pub fn allows(&self, tool: &str) -> bool {
        let own = BEFORE.iter().find_map(|before| tool.strip_prefix(before)).unwrap_or(tool);
        let same = |(one, other): &(&str, &str)| {
            (own == *one && self.names(other)) || (own == *other && self.names(one))
        };
        self.is_all()
            || own == ALWAYS
            || self.names(tool)
            || self.names(own)
            || SAME.iter().any(same)
    }

    fn names(&self, tool: &str) -> bool {
        self.0.iter().any(|allowed| match allowed.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => allowed == tool,
        })
    }

    /// Returns the tools of a program that may be used: those that do what Godel has a word for, and
    /// those that are named as the program names them.
    pub(super) fn of(&self, words: &Words) -> Vec<String> {
        let known = words.iter().filter(|(word, _)| self.allows(word)).flat_map(|(_, own)| *own);
        let mut all: Vec<String> = known.map(|name| (*name).to_owned()).collect();
        let named = |tool: &&String| {
            !tool.ends_with('*') && !OWN.contains(&&***tool) && grant::named(tool).is_none()
        };
        let own = self.0.iter().filter(named);
        all.extend(own.filter(|tool| plain(tool)).cloned());
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the tools of Godel that may be used.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &'static str> {
        let granted = GRANTS.iter().map(|grant| grant.tool.name);
        VERBS.into_iter().chain(granted).filter(|verb| self.allows(verb))
    }

    /// Tells why an agent cannot be held to these tools; nothing if it can. Behind walls that let
    /// nothing be changed it need not be kept from changing files.
    ///
    /// A program that cannot be told what it may use can run commands and change files, whatever else it
    /// does. One without tools of Godel says by a command that it is done.
    pub fn unheld(&self, harness: Harness, read_only: bool) -> Option<String> {
        if self.is_all() {
            return None;
        }
        let changes = read_only || (self.allows("write") && self.allows("edit"));
        match harness {
            Harness::Native | Harness::Claude | Harness::Gemini | Harness::Opencode => None,
            Harness::Pi if self.allows("shell") => None,
            Harness::Pi => {
                Some("pi says that it is done by a command, and may run none".to_owned())
            }
            Harness::Codex | Harness::Acp | Harness::Command => {
                let free = self.allows("shell") && changes;
                let why = "cannot be told which tools it may use";
                (!free).then(|| format!("an agent of the kind {harness} {why}"))
            }
        }
    }
}

/// Tells whether a name can stand in a list that is divided by commas.
fn plain(tool: &str) -> bool {
    !tool.is_empty() && tool.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(tools: &[&str]) -> Allowed {
        Allowed::only(&tools.iter().map(|tool| (*tool).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_list_allows_what_it_names_and_to_be_done() {
        let list = only(&["read", "mcp__*", "ask_human", "bead"]);
        for tool in ["read", "mcp__x", "ask", "ask_human", "done", "mcp_godel_done", "godel_bead"] {
            assert!(list.allows(tool), "{tool}");
        }
        for tool in ["write", "message", "mail_send", "reader", "godel_mail_read", ""] {
            assert!(!list.allows(tool), "{tool}");
        }
        assert!(only(&[]).allows("write") && only(&["*"]).allows("write"));
    }

    #[test]
    fn a_program_is_told_its_own_names() {
        let words: &Words =
            &[("read", &["Read"]), ("search", &["Grep", "Glob"]), ("shell", &["Bash"])];
        assert_eq!(only(&["read", "search"]).of(words), ["Glob", "Grep", "Read"]);
        assert_eq!(only(&["WebFetch", "s*"]).of(words), ["Bash", "Glob", "Grep", "WebFetch"]);
        assert_eq!(only(&["done", "mail_read", "x y"]).of(words), [""; 0]);
    }

    #[test]
    fn who_cannot_be_held_needs_walls_or_all_that_it_can_do() {
        let (looks, reviews) = (only(&["read", "search"]), only(&["read", "search", "shell"]));
        let works = only(&["shell", "write", "edit"]);
        for harness in Harness::ALL {
            assert_eq!(only(&[]).unheld(harness, false), None, "{harness}");
            assert_eq!(works.unheld(harness, false), None, "{harness}");
            assert_eq!(reviews.unheld(harness, true), None, "{harness}");
            let loose = matches!(harness, Harness::Codex | Harness::Acp | Harness::Command);
            assert_eq!(reviews.unheld(harness, false).is_some(), loose, "{harness}");
            let mute = loose || harness == Harness::Pi;
            assert_eq!(looks.unheld(harness, true).is_some(), mute, "{harness}");
        }
    }
}
