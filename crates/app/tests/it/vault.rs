//! The master key: what opens with it, and what does not without it.

use std::sync::Arc;

use godel_app::secrets::{self, SecretValue};
use godel_app::vault::{self, MasterKey};
use godel_app::{App, AppConfig, Error};
use godel_model::Mint;
use godel_testkit::{World, worlds};

use crate::stage::{MASTER, app, call};

async fn open(world: &World, key: [u8; 32]) -> Result<App, Error> {
    let clock = Arc::clone(&world.clock);
    let master = MasterKey::new(key);
    App::open(world.store.clone(), None, clock, AppConfig::default(), &master).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_read_with_the_master_key_only() {
    for world in worlds().await {
        let (one, call) = (app(&world).await, call(&world));
        let name = || "anthropic".parse().unwrap();
        let value = "sk-ant-abcdefghijklmnop-1234";
        let set = secrets::set(&one, &call, name(), SecretValue(value.to_owned())).await.unwrap();
        assert_eq!((set.version, set.last4.as_str()), (1, "1234"));
        assert!(!set.cipher.windows(6).any(|part| value.as_bytes().windows(6).any(|v| v == part)));
        let other = open(&world, [6; 32]).await;
        assert!(matches!(other, Err(Error::MasterKey { .. })), "{other:?}");
        let again = open(&world, MASTER).await.unwrap();
        assert_eq!(secrets::reveal(&again, &call, name()).await.unwrap().0, value);
        let listed = secrets::list(&again, &call).await.unwrap();
        assert!(listed[0].used_at.is_some());
        // A cipher that was moved to another name does not open there.
        let moved = godel_store::SecretRecord { name: "openai".parse().unwrap(), ..set };
        let write = world.store.write(call.scope(), move |tx| tx.secrets().put(&moved)).await;
        write.map_err(|error: godel_store::Error| error).unwrap();
        let opened = secrets::reveal(&again, &call, "openai".parse().unwrap()).await;
        assert!(matches!(opened, Err(Error::Undecipherable(_))), "{opened:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_master_key_takes_over() {
    for world in worlds().await {
        let (one, call) = (app(&world).await, call(&world));
        let name = || "openai".parse().unwrap();
        secrets::set(&one, &call, name(), SecretValue("short".into())).await.unwrap();
        let (old, new) = (MasterKey::new(MASTER), MasterKey::new([9; 32]));
        let wrong = vault::rotate_master(&world.store, &new, &old, Mint::system()).await;
        assert!(matches!(wrong, Err(Error::MasterKey { .. })), "{wrong:?}");
        let keys = vault::rotate_master(&world.store, &old, &new, Mint::system()).await.unwrap();
        assert_eq!(keys, 3);
        assert!(open(&world, MASTER).await.is_err());
        let two = open(&world, [9; 32]).await.unwrap();
        let value = secrets::reveal(&two, &call, name()).await.unwrap();
        assert_eq!(value.0, "short");
        let listed = secrets::list(&two, &call).await.unwrap();
        assert_eq!(listed[0].last4, "", "a short secret shows nothing of itself");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_master_key_costs_the_secrets_and_nothing_else() {
    use godel_app::audit::{self, Anchors};
    use godel_app::projects;
    use godel_model::Clock as _;
    for world in worlds().await {
        let (one, call) = (app(&world).await, call(&world));
        let name = || "openai".parse().unwrap();
        secrets::set(&one, &call, name(), SecretValue("gone with the key".into())).await.unwrap();
        let new = MasterKey::new([9; 32]);
        let now = world.clock.now();
        let gone = vault::reset_master(&world.store, &new, Mint::system(), now).await.unwrap();
        assert_eq!(gone, 1, "{}", world.engine);
        // As after a restart: this store still holds the lost key.
        let mut world = world;
        world.restart().await;
        let two = open(&world, [9; 32]).await.unwrap();
        assert!(secrets::list(&two, &call).await.unwrap().is_empty());
        let verdict = audit::verify(&two, &call, &Anchors::default()).await.unwrap();
        assert_eq!((verdict.broken, verdict.rows), (None, 0), "{}", world.engine);
        let made =
            projects::create(&two, &call, projects::NewProject::named("after".parse().unwrap()));
        made.await.unwrap();
        let verdict = audit::verify(&two, &call, &Anchors::default()).await.unwrap();
        assert_eq!((verdict.broken, verdict.rows), (None, 1), "{}", world.engine);
        let all = audit::query(&two, &call, audit::Query { limit: 10, ..Default::default() });
        assert_eq!(all.await.unwrap().rows.len(), 2, "older acts can still be read");
    }
}
