//! A fresh database for one test.

use std::time::Duration;

use godel_store::DatabaseUrl;
use tempfile::TempDir;

/// How long a writer of a SQLite file waits for another one.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the address of the PostgreSQL server that tests may use, if there is one.
///
/// # Panics
/// With `CI=true` and without a server: then nothing may be skipped.
pub fn postgres_url() -> Option<String> {
    let url = std::env::var("GODEL_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty());
    if url.is_none() && std::env::var("CI").is_ok_and(|ci| ci == "true") {
        panic!("GODEL_TEST_POSTGRES_URL is not set: run the tests with `cargo xtask test`");
    }
    url
}

/// A database that goes away with this value.
#[derive(Debug)]
pub enum Database {
    /// A SQLite file in a directory of its own.
    Sqlite(TempDir),
    /// A database of its own on the shared server.
    Postgres {
        /// The address of the server's first database.
        server: String,
        /// The name of this database.
        name: String,
    },
}

impl Database {
    /// Makes a SQLite database.
    pub fn sqlite() -> Self {
        Self::Sqlite(TempDir::with_prefix("godel-test-").unwrap())
    }

    /// Makes a PostgreSQL database on the given server.
    pub fn postgres(server: String) -> Self {
        let name = format!("test_{}", uuid_text());
        admin(&server, &format!("CREATE DATABASE {name}"));
        Self::Postgres { server, name }
    }

    /// Returns the address.
    pub fn url(&self) -> DatabaseUrl {
        match self {
            Self::Sqlite(dir) => DatabaseUrl::Sqlite(dir.path().join("godel.db")),
            Self::Postgres { server, name } => {
                let (base, _) = server.rsplit_once('/').unwrap();
                format!("{base}/{name}").parse().unwrap()
            }
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Self::Postgres { server, name } = self {
            let (server, drop) = (server.clone(), format!("DROP DATABASE {name} WITH (FORCE)"));
            // A client of its own runtime must not be used inside another one.
            std::thread::spawn(move || admin(&server, &drop)).join().ok();
        }
    }
}

/// Changes something behind the back of all servers.
pub fn change(database: &DatabaseUrl, statements: &str) {
    match database {
        DatabaseUrl::Sqlite(file) => {
            let db = rusqlite::Connection::open(file).unwrap();
            db.busy_timeout(PATIENCE).unwrap();
            db.execute_batch(statements).unwrap();
        }
        DatabaseUrl::Postgres(url) => admin(url, statements),
    }
}

fn admin(server: &str, statement: &str) {
    let (server, statement) = (server.to_owned(), statement.to_owned());
    let run = move || {
        let mut client = postgres::Client::connect(&server, postgres::NoTls).unwrap();
        client.batch_execute(&statement).unwrap();
    };
    std::thread::spawn(run).join().unwrap();
}

fn uuid_text() -> String {
    godel_model::Mint::system().id::<godel_model::EventId>().uuid().simple().to_string()
}
