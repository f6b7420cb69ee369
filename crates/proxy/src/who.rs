//! Who asks, for what, and what is allowed to them.

use std::sync::Arc;

use godel_model::{BudgetId, Purpose};

use crate::config::CaptureConfig;
use crate::keys::Keys;
use crate::limits::Seats;
use crate::policy::matches;

/// Who asks, for what, and what is allowed to them.
#[derive(Debug, Clone)]
pub struct Who {
    /// On whose behalf and for what.
    pub purpose: Arc<Purpose>,
    /// Lists of models of which each must allow a model; patterns with `*`, and none allows all.
    pub models: Vec<Vec<String>>,
    /// How many requests the project may make in a minute.
    pub project_per_minute: Option<u32>,
    /// The keys of the tenant's providers.
    pub keys: Arc<Keys>,
    /// The budgets that count.
    pub budgets: Arc<[BudgetId]>,
    /// Whether what is asked and answered is kept.
    pub capture: Option<CaptureConfig>,
    /// Where they stand with their limits.
    pub seats: Seats,
}

impl Who {
    /// Returns somebody who may do nothing: for those who only ask whether anybody is here.
    pub fn nobody() -> Self {
        let nil = uuid::Uuid::nil();
        let purpose = Arc::new(Purpose {
            tenant: nil.into(),
            user: nil.into(),
            project: None,
            agent: None,
            bead: None,
            convoy: None,
            token: None,
        });
        Self {
            purpose,
            models: Vec::new(),
            project_per_minute: None,
            keys: Arc::default(),
            budgets: [].into(),
            capture: None,
            seats: Seats::default(),
        }
    }

    /// Returns what tells the logins of users apart.
    pub(crate) fn login(&self) -> u64 {
        let (high, low) = self.purpose.user.uuid().as_u64_pair();
        high ^ low
    }

    /// Tells whether a model may be asked.
    pub fn may_ask(&self, model: &str) -> bool {
        self.models
            .iter()
            .all(|list| list.is_empty() || list.iter().any(|pattern| matches(pattern, model)))
    }
}
