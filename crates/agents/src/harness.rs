//! The agents that Godel can lead.

use serde::{Deserialize, Serialize};

/// A kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Harness {
    /// The built-in one.
    Native,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Pi.
    Pi,
    /// Any agent that speaks the Agent Client Protocol.
    Acp,
    /// Any program.
    Command,
}

impl Harness {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Native,
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Pi,
        Self::Acp,
        Self::Command,
    ];

    /// Returns its name, as in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
            Self::Acp => "acp",
            Self::Command => "command",
        }
    }

    /// Reads a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|harness| harness.name() == name)
    }

    /// Tells whether it can go on with a session that was led in another folder, as after a fork. The
    /// others begin a new one there, and must be told what came before.
    pub const fn carries_copies(self) -> bool {
        matches!(self, Self::Native | Self::Claude | Self::Codex | Self::Pi)
    }

    /// Tells whether it is given Godel's verbs as tools; the others run `godel self`.
    pub const fn has_tools_of_godel(self) -> bool {
        !matches!(self, Self::Pi | Self::Command)
    }

    /// Tells whether one process lives through many turns.
    pub const fn is_long_lived(self) -> bool {
        matches!(self, Self::Pi | Self::Acp)
    }
}

impl std::fmt::Display for Harness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
