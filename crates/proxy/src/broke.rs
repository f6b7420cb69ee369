//! Which agents were last refused because nothing may be spent: who leads an agent asks for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use godel_model::{BudgetScope, Short};
use jiff::Timestamp;

use crate::ledger::Refusal;

/// Of how many agents it is remembered.
const AGENTS_MAX: usize = 10_000;

/// In which words an agent was refused, and by which budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMoney {
    /// The words.
    pub why: String,
    /// The budget, if it lasts longer than the token with which was asked.
    pub short: Option<Short>,
}

impl Refusal {
    /// Returns the budget that was too small, and what was left in it; one of a token ends with the token.
    pub(crate) fn short(&self, now: Timestamp) -> Option<Short> {
        let Self::Exhausted(budget) = self else { return None };
        let lasts = !matches!(budget.scope, BudgetScope::Token(_));
        let left = budget.left(now).filter(|_| lasts)?;
        Some(Short { budget: budget.id, left })
    }
}

/// Which agents were refused since somebody asked for it.
#[derive(Debug, Default)]
pub(crate) struct Broke {
    agents: Mutex<HashMap<String, NoMoney>>,
}

impl Broke {
    /// Notes that an agent was refused.
    pub(crate) fn note(&self, agent: &str, refused: NoMoney) {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody asks for agents that are led elsewhere; they must not fill the memory.
        if agents.len() >= AGENTS_MAX && !agents.contains_key(agent) {
            agents.clear();
        }
        agents.insert(agent.to_owned(), refused);
    }

    /// Returns why an agent was refused last, and forgets it.
    pub(crate) fn take(&self, agent: &str) -> Option<NoMoney> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner).remove(agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_once_is_forgotten_and_memory_is_bounded() {
        let broke = Broke::default();
        let refused = NoMoney { why: "spent".to_owned(), short: None };
        broke.note("a", refused.clone());
        assert_eq!(broke.take("a"), Some(refused.clone()));
        assert_eq!(broke.take("a"), None);
        for at in 0..=AGENTS_MAX {
            broke.note(&at.to_string(), refused.clone());
        }
        assert!(broke.agents.lock().unwrap().len() <= AGENTS_MAX);
    }
}
