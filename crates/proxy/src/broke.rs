//! Which agents were last refused because nothing may be spent: who leads an agent asks for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Of how many agents it is remembered.
const AGENTS_MAX: usize = 10_000;

/// Which agents were refused since somebody asked for it, and in which words.
#[derive(Debug, Default)]
pub(crate) struct Broke {
    agents: Mutex<HashMap<String, String>>,
}

impl Broke {
    /// Notes that an agent was refused.
    pub(crate) fn note(&self, agent: &str, why: &str) {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody asks for agents that are led elsewhere; they must not fill the memory.
        if agents.len() >= AGENTS_MAX && !agents.contains_key(agent) {
            agents.clear();
        }
        agents.insert(agent.to_owned(), why.to_owned());
    }

    /// Returns why an agent was refused last, and forgets it.
    pub(crate) fn take(&self, agent: &str) -> Option<String> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner).remove(agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_once_is_forgotten_and_memory_is_bounded() {
        let broke = Broke::default();
        broke.note("a", "spent");
        assert_eq!(broke.take("a").as_deref(), Some("spent"));
        assert_eq!(broke.take("a"), None);
        for at in 0..=AGENTS_MAX {
            broke.note(&at.to_string(), "spent");
        }
        assert!(broke.agents.lock().unwrap().len() <= AGENTS_MAX);
    }
}
