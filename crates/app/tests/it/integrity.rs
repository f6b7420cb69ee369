//! A table that was changed behind the log's back is found.

use godel_app::{Error, integrity, projects};
use godel_model::{Clock as _, Limits, Mint, Project};
use godel_store::{Error as StoreError, Scope};
use godel_testkit::worlds;

use crate::stage::{app, call};

#[tokio::test]
async fn a_row_without_its_event_is_found() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        projects::create(&app, &call, projects::NewProject::named("told".parse().unwrap()))
            .await
            .unwrap();
        assert_eq!(integrity::check(&app.store, world.tenant).await.unwrap(), 1);
        let name = "untold".parse().unwrap();
        let secret = Project::new(
            Mint::system().id(),
            name,
            String::new(),
            Limits::default(),
            world.clock.now(),
        )
        .unwrap();
        let scope = Scope::Tenant(world.tenant);
        let write = world.store.write(scope, move |tx| tx.projects().insert(&secret)).await;
        write.map_err(|error: StoreError| error).unwrap();
        let found = integrity::check(&app.store, world.tenant).await;
        assert!(matches!(found, Err(Error::Disagreement { .. })), "{}: {found:?}", world.engine);
    }
}
