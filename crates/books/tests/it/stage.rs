//! An application on a world, and a call of somebody who may do everything.

use std::sync::Arc;

use godel_app::vault::MasterKey;
use godel_app::{App, AppConfig, Call, Origin};
use godel_model::{Actor, Mint, Role};
use godel_testkit::World;

/// The master key of all tests.
pub(crate) const MASTER: [u8; 32] = [5; 32];

/// Puts an application on a world.
pub(crate) async fn app(world: &World) -> App {
    let clock = Arc::clone(&world.clock);
    let master = MasterKey::new(MASTER);
    App::open(world.store.clone(), None, clock, AppConfig::default(), &master).await.unwrap()
}

/// A call of an admin of the world's tenant.
pub(crate) fn call(world: &World) -> Call {
    let actor = Actor {
        tenant: world.tenant,
        home: true,
        user: Mint::system().id(),
        name: "user:test".to_owned(),
        role: Role::Admin,
        scopes: [].into(),
        projects: [].into(),
        key: Some(Mint::system().id()),
        session: None,
    };
    Call { actor: actor.into(), trace_id: None, once: None, origin: Origin::default() }
}
