//! The walls between tenants.

use godel_model::{Clock as _, Limits, Mint, Project};
use godel_store::{DatabaseUrl, Error, Scope};
use godel_testkit::{Database, World, postgres_url, worlds};
use postgres::{Client, NoTls};

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_never_meets_rows_of_another_even_when_work_is_aborted_at_random() {
    const TENANTS: usize = 20;
    for world in worlds().await {
        let mut tenants = Vec::new();
        for number in 0..TENANTS {
            tenants.push(world.new_tenant(&format!("t{number}")).await);
        }
        let mut work = tokio::task::JoinSet::new();
        for round in 0..TENANTS * 10 {
            let (store, tenant) = (world.store.clone(), tenants[round % TENANTS]);
            let (draft, now) =
                (world.draft("test:write", &format!("{{\"of\":\"{tenant}\"}}")), world.clock.now());
            work.spawn(async move {
                let outcome = store
                    .write(Scope::Tenant(tenant), move |tx| {
                        let name = format!("{tenant} {round}").parse().unwrap();
                        let own = Project::new(
                            Mint::system().id(),
                            name,
                            tenant.to_string(),
                            Limits::default(),
                            now,
                        )
                        .unwrap();
                        tx.projects().insert(&own)?;
                        tx.record(draft.clone())?;
                        match (round / TENANTS) % 5 {
                            0 => Err(Error::ReadOnly),
                            1 => panic!("on purpose"),
                            _ => Ok(()),
                        }
                    })
                    .await;
                drop(outcome);
            });
        }
        work.join_all().await;
        for tenant in tenants {
            let found = world
                .store
                .read(Scope::Tenant(tenant), |tx| tx.projects().page(false, None, 100))
                .await
                .map_err(|error: Error| error)
                .unwrap();
            assert!(!found.is_empty());
            assert!(found.iter().all(|project| project.description == tenant.to_string()));
            let log = world.log(tenant).await;
            assert_eq!(log.len(), found.len(), "{}", world.engine);
            assert!(log.iter().all(|event| event.payload.as_str().contains(&tenant.to_string())));
        }
    }
}

#[tokio::test]
async fn tenant_rows_need_a_tenant_and_system_rows_need_the_system() {
    for world in worlds().await {
        let outside =
            world.store.read(Scope::System, |tx| tx.projects().page(false, None, 1)).await;
        assert!(matches!(outside, Err(Error::NoTenant)), "{}", world.engine);
        let inside = world.store.read(Scope::Tenant(world.tenant), |tx| tx.tenants().list()).await;
        assert!(matches!(inside, Err(Error::NoTenant)), "{}", world.engine);
    }
}

/// The second belt, looked at from below: plain SQL under the role of the application.
#[tokio::test]
async fn postgresql_itself_hides_other_tenants_and_fails_closed() {
    let Some(server) = postgres_url() else { return };
    let world = World::on(Database::postgres(server)).await;
    let other = world.new_tenant("other").await;
    world.append(world.tenant, "test:mine").await;
    world.append(other, "test:theirs").await;
    let DatabaseUrl::Postgres(url) = world.config.url.clone() else { panic!("not PostgreSQL") };
    let tenant = world.tenant;
    let checks = move || {
        let mut client = Client::connect(&url, NoTls).unwrap();
        let open: i64 = client
            .query_one(
                "SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                 WHERE a.attname = 'tenant' AND c.relkind = 'r'
                   AND c.relnamespace = 'public'::regnamespace
                   AND NOT (c.relrowsecurity AND c.relforcerowsecurity)",
                &[],
            )
            .unwrap()
            .get(0);
        assert_eq!(open, 0, "a table with a tenant column is not secured");
        client.batch_execute("SET ROLE godel_app").unwrap();
        assert!(
            client.query("SELECT * FROM event", &[]).is_err(),
            "an unset tenant must be an error"
        );
        let mut tx = client.transaction().unwrap();
        tx.execute("SELECT set_config('app.tenant', $1, true)", &[&tenant.to_string()]).unwrap();
        assert_eq!(tx.query("SELECT * FROM event", &[]).unwrap().len(), 1);
        assert_eq!(tx.query("SELECT * FROM tenant", &[]).unwrap().len(), 1);
        let forged = tx.execute(
            "INSERT INTO stream_head (tenant, seq, trimmed) VALUES ($1, 0, 0)",
            &[&other.uuid()],
        );
        assert!(forged.is_err(), "a row of another tenant must not be written");
        drop(tx);
        assert!(
            client.query("SELECT * FROM event", &[]).is_err(),
            "the setting ends with its transaction"
        );
    };
    tokio::task::spawn_blocking(checks).await.unwrap();
}
