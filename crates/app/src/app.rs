//! The application: what every use case needs.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use godel_decide::{DiskMarks, Limit, Retention, Tier};
use godel_hints::Hints;
use godel_model::{Clock, Mint, TenantId};
use godel_proxy::Switchboard;
use godel_store::Store;
use jiff::SignedDuration;

use crate::auth::Callers;
use crate::auth::password::Passwords;
use crate::auth::throttle::{FAILURES_PER_MINUTE, Throttle};
use crate::backup::Backups;
use crate::beads::Shelves;
use crate::queue::attic::Keep;
use crate::queue::lanes::Lanes;
use crate::queue::{Desks, HoldWatch};
use crate::rates::Rates;
use crate::rooms::Rooms;
use crate::spend::Askers;
use crate::vault::{MasterKey, Vault};
use crate::workflows::Engine;
use crate::{Crew, Result};

/// For how many days the record of acts is kept unless a setting says otherwise.
const AUDIT_KEEP_DAYS: i64 = 365;

/// How many requests callers may make.
#[derive(Debug, Clone, Copy)]
pub struct RateConfig {
    /// What each caller may use.
    pub limit: Limit,
    /// How often one address may show wrong credentials in a minute.
    pub failures_per_minute: u32,
}

impl Default for RateConfig {
    /// A self-hosted server serves its owner: the Enterprise tier.
    fn default() -> Self {
        Self { limit: Tier::Enterprise.limit(), failures_per_minute: FAILURES_PER_MINUTE }
    }
}

/// How the application behaves.
#[derive(Debug, Clone, Copy)]
pub struct AppConfig {
    /// How many requests callers may make.
    pub rates: RateConfig,
    /// How much of the event log is kept.
    pub retention: Retention,
    /// From where on the disk counts as low.
    pub disk: DiskMarks,
    /// For how long the record of acts is kept.
    pub audit_keep: SignedDuration,
    /// For how long tasks, runs and teams that are over are kept.
    pub keep: Keep,
    /// How often a server that shares its database looks by itself for what others did, on average.
    pub look: Duration,
    /// When people are told that somebody holds on to an old state of PostgreSQL.
    pub hold: HoldWatch,
}

impl Default for AppConfig {
    fn default() -> Self {
        Self {
            rates: RateConfig::default(),
            retention: Retention::default(),
            disk: DiskMarks::default(),
            audit_keep: SignedDuration::from_hours(24 * AUDIT_KEEP_DAYS),
            keep: Keep::default(),
            look: godel_store::Config::LOOK,
            hold: HoldWatch::default(),
        }
    }
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
    /// The opened keys.
    pub vault: Vault,
    /// How backups are doing.
    pub backups: Arc<Backups>,
    /// Where requests to models are connected.
    pub switchboard: Switchboard,
    /// How many agents may be at work in each project.
    pub rooms: Rooms,
    /// Where tasks are added, handed out and reported.
    pub desks: Arc<Desks>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) lanes: Arc<Lanes>,
    /// Whether people know that somebody holds on to an old state of PostgreSQL.
    pub(crate) held: Arc<AtomicBool>,
    pub(crate) shelves: Arc<Shelves>,
    pub(crate) askers: Arc<Askers>,
    /// What writes to the end, when all others have stopped.
    pub(crate) last: Crew,
    pub(crate) callers: Arc<Callers>,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) passwords: Arc<Passwords>,
    home: Arc<OnceLock<TenantId>>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("store", &self.store).finish_non_exhaustive()
    }
}

impl App {
    /// Opens the keys with the master key, and puts the parts together.
    ///
    /// # Errors
    /// If the master key is not the one that wraps the keys in the database.
    pub async fn open(
        store: Store,
        hints: Option<Hints>,
        clock: Arc<dyn Clock>,
        config: AppConfig,
        master: &MasterKey,
    ) -> Result<Self> {
        let mint = Mint::system();
        let vault = Vault::open(&store, master, mint, clock.as_ref()).await?;
        let rates = Arc::new(Rates::new(config.rates.limit, hints.clone()));
        let switchboard = Switchboard::new(store.clone(), hints.clone(), Arc::clone(&clock), mint);
        let last = Crew::default();
        let desks = Desks::new(store.clone(), Arc::clone(&clock), mint, last.clone());
        Ok(Self {
            switchboard,
            rooms: Rooms::default(),
            desks: Arc::new(desks),
            engine: Arc::default(),
            lanes: Arc::default(),
            held: Arc::default(),
            askers: Arc::default(),
            last,
            store,
            hints,
            clock,
            mint,
            config,
            rates,
            vault,
            backups: Arc::default(),
            shelves: Arc::default(),
            callers: Arc::default(),
            throttle: Arc::new(Throttle::new(config.rates.failures_per_minute)),
            passwords: Arc::default(),
            home: Arc::default(),
        })
    }

    /// Returns the tenant whose admins look after the whole server, once it is known.
    pub fn home(&self) -> Option<TenantId> {
        self.home.get().copied()
    }

    /// Forgets who was known a moment ago: who may call, or ask models, has changed.
    pub(crate) fn forget_callers(&self) {
        self.callers.forget_all();
        self.askers.forget_all();
    }

    pub(crate) fn set_home(&self, tenant: TenantId) {
        // The first tenant never changes, so a second call finds it set already.
        self.home.get_or_init(|| tenant);
    }
}
