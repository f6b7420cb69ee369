//! Projects and other rows of a tenant.

use godel_model::{Clock as _, Limits, Mint, Project, ProjectChange};
use godel_store::{Claim, Error, Scope};
use godel_testkit::{World, worlds};

fn project(world: &World, name: &str) -> Project {
    Project::new(
        Mint::system().id(),
        name.parse().unwrap(),
        String::new(),
        Limits::default(),
        world.clock.now(),
    )
    .unwrap()
}

#[tokio::test]
async fn a_name_is_taken_once_and_a_stale_version_is_refused() {
    for world in worlds().await {
        let first = project(&world, "payments");
        let twin = project(&world, "payments");
        let changed = first
            .changed(
                ProjectChange { description: Some("new".into()), ..Default::default() },
                world.clock.now(),
            )
            .unwrap();
        let found = world
            .store
            .write(Scope::Tenant(world.tenant), move |tx| {
                assert!(tx.projects().insert(&first)?);
                assert!(!tx.projects().insert(&twin)?);
                assert!(tx.projects().name_taken(&twin)?);
                assert!(tx.projects().update(&changed)?);
                assert!(!tx.projects().update(&changed)?, "the version is another one now");
                assert!(!tx.projects().delete(&first)?, "the version is another one now");
                tx.projects().by_id(first.id)
            })
            .await
            .map_err(|error: Error| error)
            .unwrap();
        let found = found.value.unwrap();
        assert_eq!((found.version, found.description.as_str()), (2, "new"), "{}", world.engine);
    }
}

#[tokio::test]
async fn projects_are_listed_by_age_in_both_directions() {
    for world in worlds().await {
        let projects: Vec<_> = (0..5).map(|n| project(&world, &format!("p{n}"))).collect();
        let ids: Vec<_> = projects.iter().map(|project| project.id).collect();
        world
            .store
            .write(Scope::Tenant(world.tenant), move |tx| {
                projects.iter().try_for_each(|project| tx.projects().insert(project).map(drop))
            })
            .await
            .map_err(|error: Error| error)
            .unwrap();
        let (third, tenant) = (ids[2], world.tenant);
        let (up, down) = world
            .store
            .read(Scope::Tenant(tenant), move |tx| {
                let up = tx.projects().page(false, Some(third), 10)?;
                Ok::<_, Error>((up, tx.projects().page(true, None, 2)?))
            })
            .await
            .unwrap();
        assert_eq!(up.iter().map(|p| p.id).collect::<Vec<_>>(), ids[3..], "{}", world.engine);
        assert_eq!(down.iter().map(|p| p.id).collect::<Vec<_>>(), [ids[4], ids[3]]);
    }
}

#[tokio::test]
async fn an_idempotency_key_remembers_its_request_and_result() {
    for world in worlds().await {
        let now = world.clock.now();
        let claims = world
            .store
            .write(Scope::Tenant(world.tenant), move |tx| {
                let fresh = tx.idempotency().claim("k", b"one")?;
                tx.idempotency().settle("k", b"one", "{\"id\":1}", now)?;
                Ok::<_, Error>((
                    fresh,
                    tx.idempotency().claim("k", b"one")?,
                    tx.idempotency().claim("k", b"two")?,
                ))
            })
            .await
            .unwrap()
            .value;
        assert_eq!(claims, (Claim::Fresh, Claim::Known("{\"id\":1}".into()), Claim::Reused));
    }
}
