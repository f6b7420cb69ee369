//! The private servers that tests share, and how the tests are told about them.

use std::path::Path;
use std::process::Command;

use godel_engines::{Binaries, Postgres, Redis};

use crate::failure::Result;

/// The running servers; dropping them stops them.
#[derive(Debug, Default)]
pub(crate) struct Engines {
    postgres: Option<Postgres>,
    redis: Option<Redis>,
}

impl Engines {
    /// Starts what is installed.
    pub(crate) fn start(binaries: &Binaries) -> Result<Self> {
        let postgres =
            binaries.postgres.is_some().then(|| Postgres::start(binaries)).transpose()?;
        let redis = binaries.redis.is_some().then(|| Redis::start(binaries)).transpose()?;
        Ok(Self { postgres, redis })
    }

    /// Tells a test command where the servers and the built `godel` program are.
    pub(crate) fn tell(&self, command: &mut Command, godel: &Path) {
        command.env("GODEL_TEST_GODEL_BIN", godel);
        if let Some(postgres) = &self.postgres {
            command.env("GODEL_TEST_POSTGRES_URL", postgres.url("postgres"));
            command.env("GODEL_TEST_POSTGRES_BIN", &postgres.installed().bin);
        }
        if let Some(redis) = &self.redis {
            command.env("GODEL_TEST_REDIS_URL", redis.url());
        }
    }
}
