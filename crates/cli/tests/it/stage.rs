//! A home whose server is on one engine, for tests that look behind its back.

use std::time::{Duration, Instant};

use godel_store::DatabaseUrl;
use godel_testkit::{Database, change, postgres_url};
use serde_json::Value;

use crate::home::{Home, Server, lasting_address};

const PATIENCE: Duration = Duration::from_secs(90);

/// A home whose server is on one engine, and stays at its address when it is started again.
pub(crate) struct Stage {
    pub(crate) home: Home,
    address: String,
    /// The database of its own, unless it is the file in the home.
    database: Option<Database>,
}

impl Stage {
    /// On a SQLite file.
    pub(crate) fn sqlite() -> Self {
        Self { home: Home::new(), address: lasting_address(), database: None }
    }

    /// On a PostgreSQL database, if there is a server.
    pub(crate) fn postgres() -> Option<Self> {
        let database = Database::postgres(postgres_url()?);
        let DatabaseUrl::Postgres(url) = database.url() else { panic!("another engine") };
        let home = Home::new().with("GODEL_DATABASE_URL", &url);
        Some(Self { home, address: lasting_address(), database: Some(database) })
    }

    /// Starts the server, or starts it again.
    pub(crate) fn up(&self) -> Server {
        self.home.up_with(&["--listen", &self.address])
    }

    /// Lets a worker have been silent for too long; one that was heard of just now may be noted again,
    /// so this is said until it has come true.
    pub(crate) fn silence(&self, name: &str) {
        let url = match &self.database {
            Some(database) => database.url(),
            None => DatabaseUrl::Sqlite(self.home.data().join("godel.db")),
        };
        change(
            &url,
            &format!("UPDATE worker SET expires_at = 1 WHERE gone = 0 AND name = '{name}'"),
        );
    }

    /// Lets a worker be silent until something is so, and returns what was found.
    pub(crate) fn silence_until(
        &self,
        name: &str,
        arguments: &[&str],
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        self.until(arguments, || self.silence(name), is_so)
    }

    /// Asks until something is so, and returns what was found.
    pub(crate) fn until(
        &self,
        arguments: &[&str],
        before: impl Fn(),
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        let started = Instant::now();
        loop {
            before();
            let found = self.home.run(arguments).expect(0).json();
            if is_so(&found) {
                return found;
            }
            assert!(started.elapsed() < PATIENCE, "{found}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}
