//! The application on a store of its own.

use std::sync::{Arc, OnceLock};

use godel_app::auth::{self, Credential};
use godel_app::vault::MasterKey;
use godel_app::{App, AppConfig, Call, Crew, Origin, keys, tenants};
use godel_model::{Mint, SystemClock};
use godel_store::{Config, DatabaseUrl, Store};

use crate::error::{Result, Told as _};

/// Whoever opens the same store again needs the same key.
fn master() -> &'static MasterKey {
    static MASTER: OnceLock<MasterKey> = OnceLock::new();
    MASTER.get_or_init(|| MasterKey::random(Mint::system()))
}

/// The application on a store, with what keeps the queue going.
pub(super) struct Stage {
    pub(super) app: App,
    pub(super) call: Call,
    crew: Crew,
}

impl Stage {
    pub(super) async fn open(url: DatabaseUrl) -> Result<Self> {
        let tried = "set the application up";
        let store = Store::open(&Config::new(url)).await.told(tried)?;
        let clock = Arc::new(SystemClock);
        let app =
            App::open(store, None, clock, AppConfig::default(), master()).await.told(tried)?;
        let tenant = tenants::ensure_first(&app).await.told(tried)?.id;
        let owner = tenants::owner_of(tenant);
        let key = keys::create_owners(&app, tenant, owner, keys::Older::Stay).await.told(tried)?;
        let known = auth::identify(&app, &Credential::Key(key)).await.told(tried)?;
        let origin = Origin { address: None, agent: None };
        let call = Call { actor: known.actor, trace_id: None, once: None, origin };
        let crew = Crew::default();
        godel_app::queue::start(&app, &crew).await.told(tried)?;
        godel_app::workflows::start(&app, &crew);
        Ok(Self { app, call, crew })
    }

    pub(super) async fn close(self) {
        self.crew.stop(std::time::Duration::from_secs(5)).await;
        self.app.store.close().await;
    }
}
