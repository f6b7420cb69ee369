//! Who asks, for what, and what is allowed to them.

use std::sync::Arc;

use godel_model::{BudgetId, Purpose};

use crate::policy::matches;

/// Who asks, for what, and what is allowed to them.
#[derive(Debug, Clone)]
pub struct Who {
    /// On whose behalf and for what.
    pub purpose: Purpose,
    /// Whether the tenant is the one that looks after the server: the keys of the server's own
    /// environment and files are its keys.
    pub home: bool,
    /// Lists of models of which each must allow a model; patterns with `*`, and none allows all.
    pub models: Vec<Vec<String>>,
    /// How many requests the project may make in a minute.
    pub project_per_minute: Option<u32>,
    /// The budgets that count.
    pub budgets: Arc<[BudgetId]>,
}

impl Who {
    /// Tells whether a model may be asked.
    pub fn may_ask(&self, model: &str) -> bool {
        self.models.iter().all(|list| {
            list.is_empty() || list.iter().any(|pattern| matches(pattern, model))
        })
    }
}
