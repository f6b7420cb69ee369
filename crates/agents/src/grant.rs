//! Tools that the permissions of a role give to an agent: with them it asks Godel for more than its own
//! work, in its own project.

use godel_llm::translate::talk::Tool;
use godel_model::{Need, Permission, Reach};

/// The longest input of such a tool.
pub const INPUT_MAX_BYTES: usize = 64 * 1024;

/// A tool, and what a role must permit for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// What an agent is shown.
    pub tool: Tool,
    /// What must be permitted.
    pub need: Need,
}

const fn need(resource: &'static str, action: &'static str) -> Need {
    Need { resource, action, reach: Reach::Team }
}

/// All of them, in an order that never changes.
pub static GRANTS: [Grant; 8] = [
    Grant {
        need: need("bead", "read"),
        tool: Tool {
            name: "bead_list",
            description: "List beads of the project: id, status, priority, title. Those that are done are \
                shown only if you name that status.",
            schema: r#"{"type":"object","properties":{"status":{"type":"array","items":{"type":"string"}},"words":{"type":"string","description":"words that must be in it"},"limit":{"type":"integer","minimum":1,"maximum":200}}}"#,
        },
    },
    Grant {
        need: need("bead", "read"),
        tool: Tool {
            name: "bead_show",
            description: "Show a bead: what is to be done, what it waits for, what was said about it.",
            schema: r#"{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}"#,
        },
    },
    Grant {
        need: need("bead", "create"),
        tool: Tool {
            name: "bead_create",
            description: "Make a bead: a piece of work that one agent can finish alone. Say what is to be \
                done, how one sees that it is done, and which beads must be done first.",
            schema: r#"{"type":"object","properties":{"title":{"type":"string"},"description":{"type":"string"},"acceptance":{"type":"string","description":"how one sees that it is done"},"type":{"type":"string","description":"task, bug, feature, refactor, chore, research, decision or epic"},"priority":{"type":"string","enum":["critical","high","medium","low"]},"after":{"type":"array","items":{"type":"string"},"description":"ids of beads that must be done first"},"parent":{"type":"string","description":"id of the bead that it is a part of"},"labels":{"type":"array","items":{"type":"string"}}},"required":["title","description"]}"#,
        },
    },
    Grant {
        need: need("bead", "update"),
        tool: Tool {
            name: "bead_update",
            description: "Change a bead: only what you name changes. Beads under after are added to those \
                that must be done first.",
            schema: r#"{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},"acceptance":{"type":"string"},"priority":{"type":"string","enum":["critical","high","medium","low"]},"after":{"type":"array","items":{"type":"string"}}},"required":["id"]}"#,
        },
    },
    Grant {
        need: need("convoy", "read"),
        tool: Tool {
            name: "convoy_show",
            description: "Show a convoy, which is a set of beads that are worked on together: how far each \
                of them is. Without an id all convoys of the project are listed.",
            schema: r#"{"type":"object","properties":{"id":{"type":"string"}}}"#,
        },
    },
    Grant {
        need: need("convoy", "create"),
        tool: Tool {
            name: "convoy_create",
            description: "Put beads into a new convoy, so that a person can start agents on all of them.",
            schema: r#"{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"beads":{"type":"array","items":{"type":"string"},"description":"ids"}},"required":["name","beads"]}"#,
        },
    },
    Grant {
        need: need("agent", "read"),
        tool: Tool {
            name: "agent_list",
            description: "List the agents of the project that have not ended: name, role, state, bead, and \
                what they do.",
            schema: r#"{"type":"object","properties":{}}"#,
        },
    },
    Grant {
        need: need("event", "read"),
        tool: Tool {
            name: "event_list",
            description: "List what happened in the project lately, the newest last.",
            schema: r#"{"type":"object","properties":{"types":{"type":"array","items":{"type":"string"},"description":"such as agent:* or bead:updated"},"limit":{"type":"integer","minimum":1,"maximum":200}}}"#,
        },
    },
];

/// Returns what permissions give.
pub fn given(permissions: &[Permission]) -> impl Iterator<Item = &'static Grant> {
    GRANTS.iter().filter(|grant| permissions.iter().any(|one| one.covers(&grant.need)))
}

/// Finds one by its name.
pub fn named(name: &str) -> Option<&'static Grant> {
    GRANTS.iter().find(|grant| grant.tool.name == name)
}
