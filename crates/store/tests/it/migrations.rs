//! The schema goes forward and back.

use godel_store::{Config, DatabaseUrl, Error, Store, known_migrations};
use godel_testkit::{Database, postgres_url};

fn databases() -> Vec<Database> {
    let mut databases = vec![Database::sqlite()];
    databases.extend(postgres_url().map(Database::postgres));
    databases
}

/// Returns the whole schema as text, to be compared.
async fn dump(url: &DatabaseUrl) -> Vec<String> {
    let url = url.clone();
    tokio::task::spawn_blocking(move || match url {
        DatabaseUrl::Sqlite(path) => {
            let conn = rusqlite::Connection::open(path).unwrap();
            let mut query = conn
                .prepare("SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1")
                .unwrap();
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        }
        DatabaseUrl::Postgres(url) => {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            let query = "SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
                         FROM information_schema.columns WHERE table_schema = 'public'
                         UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
                         UNION ALL SELECT tablename || ' ' || policyname || ' ' || coalesce(qual, '')
                         FROM pg_policies ORDER BY 1";
            client.query(query, &[]).unwrap().iter().map(|row| row.get(0)).collect()
        }
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn each_step_back_and_forward_again_gives_the_same_schema() {
    for database in databases() {
        let config = Config::new(database.url());
        let newest = known_migrations().last().unwrap().version;
        let mut dumps = Vec::new();
        for version in 0..=newest {
            assert_eq!(Store::migrate(&config, version).await.unwrap().found, version);
            dumps.push(dump(&config.url).await);
        }
        for version in (0..=newest).rev() {
            Store::migrate(&config, version).await.unwrap();
            assert_eq!(
                dump(&config.url).await,
                dumps[version as usize],
                "back at version {version}"
            );
            assert_eq!(Store::schema(&config).await.unwrap().found, version);
        }
        Store::migrate(&config, newest).await.unwrap();
        assert_eq!(dump(&config.url).await, dumps[newest as usize]);
    }
}

#[tokio::test]
async fn a_schema_of_a_newer_godel_is_refused() {
    for database in databases() {
        let config = Config::new(database.url());
        Store::open(&config).await.unwrap().close().await;
        let note = "INSERT INTO migration (version, name, checksum) VALUES (9999, 'later', 'x')";
        let url = config.url.clone();
        tokio::task::spawn_blocking(move || match url {
            DatabaseUrl::Sqlite(path) => {
                rusqlite::Connection::open(path).unwrap().execute_batch(note).unwrap();
            }
            DatabaseUrl::Postgres(url) => {
                postgres::Client::connect(&url, postgres::NoTls)
                    .unwrap()
                    .batch_execute(note)
                    .unwrap();
            }
        })
        .await
        .unwrap();
        let opened = Store::open(&config).await;
        assert!(matches!(opened, Err(Error::SchemaNewer { found: 9999, .. })), "{opened:?}");
    }
}

#[tokio::test]
async fn the_schema_does_not_go_back_under_a_running_server() {
    for database in databases() {
        let config = Config::new(database.url());
        let store = Store::open(&config).await.unwrap();
        // The lock of a server on PostgreSQL is taken a moment after it started.
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let refused = Store::migrate(&config, 0).await;
        assert!(matches!(refused, Err(Error::InUse | Error::Locked { .. })), "{refused:?}");
        store.close().await;
        Store::migrate(&config, 0).await.unwrap();
    }
}

#[tokio::test]
async fn a_database_that_is_not_there_is_a_wrong_setting() {
    let Some(server) = postgres_url() else { return };
    let (base, _) = server.rsplit_once('/').unwrap();
    let url = format!("{base}/no_such_database").parse().unwrap();
    let opened = Store::open(&Config::new(url)).await;
    let Err(Error::Refused(why)) = opened else { panic!("{opened:?}") };
    assert!(why.contains("no_such_database"), "{why}");
}
