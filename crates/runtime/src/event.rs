//! What happens in a sandbox that somebody should hear of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Limit, Profile, SandboxId};

/// Is told what happens in sandboxes; it must not block.
pub type Listener = Arc<dyn Fn(Event) + Send + Sync>;

/// Something that happened in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// In which.
    pub sandbox: SandboxId,
    /// What.
    pub what: Happening,
}

/// What may happen in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Happening {
    /// The sandbox is there.
    Spawned {
        /// The walls around it.
        profile: Profile,
    },
    /// A connection out of the sandbox was refused.
    EgressDenied {
        /// The host that was asked for, as far as it can be shown.
        host: String,
        /// The port.
        port: u16,
        /// Why it was refused.
        reason: String,
    },
    /// A call to the kernel was refused.
    CallDenied {
        /// Its name, such as `ptrace`.
        call: String,
    },
    /// A limit was reached, and the processes of the sandbox were ended or refused more.
    LimitReached {
        /// Which.
        limit: Limit,
        /// In words, with numbers.
        detail: String,
    },
    /// What was committed in the sandbox is on its branch.
    Collected {
        /// The commit.
        commit: String,
    },
    /// What was committed in the sandbox is not taken over.
    CommitRefused {
        /// Why.
        reason: String,
    },
    /// The sandbox is gone; its workspace stays.
    Terminated,
}
