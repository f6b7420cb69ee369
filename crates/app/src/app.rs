//! The application: what every use case needs.

use std::sync::Arc;

use godel_decide::{Limit, Retention, Tier};
use godel_model::{Clock, Mint};
use godel_store::Store;
use godel_store::hints::Hints;

use crate::auth::Callers;
use crate::backup::Backups;
use crate::rates::Rates;

/// How many requests callers may make.
#[derive(Debug, Clone, Copy)]
pub struct RateConfig {
    /// What each caller may use.
    pub limit: Limit,
}

impl Default for RateConfig {
    /// A self-hosted server serves its owner: the Enterprise tier.
    fn default() -> Self {
        Self { limit: Tier::Enterprise.limit() }
    }
}

/// How the application behaves.
#[derive(Debug, Clone, Copy, Default)]
pub struct AppConfig {
    /// How many requests callers may make.
    pub rates: RateConfig,
    /// How much of the event log is kept.
    pub retention: Retention,
}

/// What every use case needs; cheap to clone.
#[derive(Clone)]
pub struct App {
    /// The store.
    pub store: Store,
    /// Redis, if configured.
    pub hints: Option<Hints>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids and secrets.
    pub mint: Mint,
    /// How it behaves.
    pub config: AppConfig,
    /// Who may make how many requests.
    pub rates: Arc<Rates>,
    /// How backups are doing.
    pub backups: Arc<Backups>,
    pub(crate) callers: Arc<Callers>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("store", &self.store).finish_non_exhaustive()
    }
}

impl App {
    /// Puts the parts together.
    pub fn new(
        store: Store,
        hints: Option<Hints>,
        clock: Arc<dyn Clock>,
        config: AppConfig,
    ) -> Self {
        let rates = Arc::new(Rates::new(config.rates.limit, hints.clone()));
        Self {
            store,
            hints,
            clock,
            mint: Mint::system(),
            config,
            rates,
            backups: Arc::new(Backups::default()),
            callers: Arc::new(Callers::default()),
        }
    }
}
