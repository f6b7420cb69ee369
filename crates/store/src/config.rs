//! Where the data is.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::{Error, Result};

/// The address of a database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server, as `postgres://..`; may hold a password, so it is never shown whole.
    Postgres(String),
}

impl FromStr for DatabaseUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(path) = text.strip_prefix("sqlite://") {
            if path.is_empty() {
                return Err(Error::BadUrl("a sqlite:// address needs a path".to_owned()));
            }
            return Ok(Self::Sqlite(path.into()));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            crate::postgres::Address::parse(text)?;
            return Ok(Self::Postgres(text.to_owned()));
        }
        Err(Error::BadUrl("it begins neither with sqlite:// nor with postgres://".to_owned()))
    }
}

impl DatabaseUrl {
    /// Returns the address without user and password, for people to read.
    pub fn shown(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite://{}", path.display()),
            Self::Postgres(url) => {
                let rest = url.split_once("://").map_or("", |(_, rest)| rest);
                // A password may hold any character, so the last `@` counts.
                let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
                let (place, _) = place.split_once('?').unwrap_or((place, ""));
                format!("postgres://{place}")
            }
        }
    }

    /// Returns `sqlite` or `postgres`.
    pub const fn engine(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

/// What a finished write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A power cut.
    #[default]
    Full,
    /// A crash of the process, but not a power cut. For tests and throw-away data only.
    Relaxed,
}

impl Durability {
    /// Returns what SQLite calls it.
    pub(crate) const fn synchronous(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Relaxed => "NORMAL",
        }
    }
}

/// How to open a store.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address.
    pub url: DatabaseUrl,
    /// What a finished write survives.
    pub durability: Durability,
    /// How many reads run at the same time.
    pub readers: usize,
    /// How many PostgreSQL transactions that write run at the same time, each for its own tenants.
    pub lanes: usize,
    /// How often a server on PostgreSQL looks by itself for what others committed, on average: a
    /// wake-up that was lost costs no more than this.
    pub look: Duration,
}

impl Config {
    /// How often a server looks by itself unless told otherwise.
    pub const LOOK: Duration = Duration::from_millis(200);

    /// Opens the given address with the defaults.
    pub fn new(url: DatabaseUrl) -> Self {
        Self { url, durability: Durability::Full, readers: 4, lanes: 2, look: Self::LOOK }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (given, shown) in [
            ("postgres://ann:s3cret@db:5432/godel?sslmode=disable", "postgres://db:5432/godel"),
            ("postgresql://db/godel", "postgres://db/godel"),
            ("postgres://ann:s3c?ret@h/db", "postgres://h/db"),
            ("sqlite:///var/lib/godel.db", "sqlite:///var/lib/godel.db"),
        ] {
            let url: DatabaseUrl = given.parse().unwrap();
            assert_eq!(format!("{url:?}"), shown);
        }
        for bad in
            ["", "mysql://x", "sqlite://", "postgres://[::bad", "postgres://db/x?sslmode=maybe"]
        {
            assert!(bad.parse::<DatabaseUrl>().is_err(), "{bad}");
        }
    }
}
