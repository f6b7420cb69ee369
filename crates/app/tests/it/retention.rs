//! Old events go; what they added up to stays.

use std::sync::Arc;

use godel_app::vault::MasterKey;
use godel_app::{App, AppConfig, integrity, projects, retention};
use godel_decide::Retention;
use godel_model::{ProjectChange, Seq};
use godel_store::Error as StoreError;
use godel_testkit::{World, worlds};
use jiff::SignedDuration;

use crate::stage::{MASTER, app, call};

#[tokio::test]
async fn the_state_is_the_snapshot_plus_the_rest_of_the_log_after_any_trim() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let mut kept = Vec::new();
        for number in 0..40 {
            let name = format!("p{number}").parse().unwrap();
            let project =
                projects::create(&app, &call, projects::NewProject::named(name)).await.unwrap();
            match number % 4 {
                0 => projects::delete(&app, &call, project.id, None).await.unwrap(),
                1 => {
                    let change =
                        ProjectChange { description: Some("new".into()), ..Default::default() };
                    kept.push(
                        projects::update(&app, &call, project.id, Some(vec![1]), change)
                            .await
                            .unwrap(),
                    );
                }
                _ => kept.push(project),
            }
            world.clock.advance(SignedDuration::from_hours(1));
        }
        let head = world.log(world.tenant).await.last().unwrap().seq;
        for max_events in [50, 49, 17, 1, 0] {
            let policy = Retention { max_age: SignedDuration::from_hours(10_000), max_events };
            retention::trim(&app, world.tenant, policy).await.unwrap();
            let log = world.log(world.tenant).await;
            assert_eq!(log.len() as u64, max_events, "{}", world.engine);
            let folded = integrity::check(&app.store, world.tenant).await.unwrap();
            assert_eq!(folded, max_events);
        }
        let listed = projects::list(&app, &call, false, None, 100).await.unwrap();
        assert_eq!(listed, kept, "{}", world.engine);
        let next = world.append(world.tenant, "test:next").await;
        assert_eq!(next.seq, Seq(head.0 + 1), "counting goes on after everything was trimmed");
        integrity::check(&app.store, world.tenant).await.unwrap();
    }
}

#[tokio::test]
async fn events_go_by_age_in_chunks() {
    for world in worlds().await {
        let app = app(&world).await;
        let drafts: Vec<_> = (0..1_300).map(|_| world.draft("test:old", "{}")).collect();
        let scope = godel_store::Scope::Tenant(world.tenant);
        let work = world
            .store
            .write(scope, move |tx| drafts.iter().try_for_each(|draft| tx.record(draft.clone())));
        work.await.map_err(|error: StoreError| error).unwrap();
        world.clock.advance(SignedDuration::from_hours(31 * 24));
        world.append(world.tenant, "test:young").await;
        let removed = retention::sweep(&app).await.unwrap();
        assert_eq!(removed, 1_300, "{}", world.engine);
        assert_eq!(world.log(world.tenant).await.len(), 1);
        integrity::check(&app.store, world.tenant).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_that_trim_one_log_take_turns() {
    let Some(server) = godel_testkit::postgres_url() else { return };
    let world = World::on(godel_testkit::Database::postgres(server)).await;
    let there = godel_store::Store::open(&world.config).await.unwrap();
    let clock = Arc::clone(&world.clock);
    let master = MasterKey::new(MASTER);
    let two = App::open(there.clone(), None, clock, AppConfig::default(), &master).await.unwrap();
    let one = app(&world).await;
    for round in 1..=20 {
        let drafts: Vec<_> = (0..60).map(|_| world.draft("test:old", "{}")).collect();
        let scope = godel_store::Scope::Tenant(world.tenant);
        let work = world
            .store
            .write(scope, move |tx| drafts.iter().try_for_each(|draft| tx.record(draft.clone())));
        work.await.map_err(|error: StoreError| error).unwrap();
        let keep = |max_events| Retention { max_age: SignedDuration::from_hours(99), max_events };
        let (less, more) = tokio::join!(
            retention::trim(&one, world.tenant, keep(20)),
            retention::trim(&two, world.tenant, keep(5 + round % 3)),
        );
        less.unwrap();
        more.unwrap();
        integrity::check(&one.store, world.tenant).await.unwrap();
    }
    there.close().await;
}
