//! Checks of the database and Redis.

use std::time::Duration;

use godel_model::{Report as _, code};
use godel_server::RedisUrl;
use godel_store::hints::Hints;
use godel_store::{Config, DatabaseUrl, Store};

use super::Finding;
use crate::commands::db::{quick_check, verdict};
use crate::error::Error;

const UNREACHABLE: &str =
    "check that it is running; `godel config show --origin` tells where its address comes from";
/// How long a database may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks that the database answers, and what version of the schema it has.
pub(super) async fn schema(config: &Config) -> Finding {
    let shown = config.url.shown();
    let schema = match tokio::time::timeout(ANSWER_TIMEOUT, Store::schema(config)).await {
        Ok(Ok(schema)) => schema,
        Ok(Err(error)) => {
            let error = Error::from(error);
            let mut finding = Finding::failed("database", &error);
            finding.message = format!("{shown}: {}", finding.message);
            if error.code() == code::DATABASE_UNAVAILABLE {
                finding.hint = Some(UNREACHABLE.to_owned());
            }
            return finding;
        }
        Err(_) => {
            return Finding::fail("database", format!("{shown} does not answer"), UNREACHABLE);
        }
    };
    let message = format!("{shown}, schema {}: {}", schema.found, verdict(schema));
    if schema.found > schema.known {
        let hint =
            "use the newer godel, or let it go back first with `godel db migrate --to VERSION`";
        return Finding::fail("database", message, hint);
    }
    Finding::ok("database", message)
}

/// Lets SQLite check its file, if no server uses it.
pub(super) fn soundness(config: &Config, running: bool) -> Finding {
    let DatabaseUrl::Sqlite(path) = &config.url else {
        return Finding::skip("soundness", "PostgreSQL looks after its own files");
    };
    if running {
        return Finding::skip("soundness", "the server is using the database");
    }
    if !path.exists() {
        return Finding::skip("soundness", "there is no database yet");
    }
    match quick_check(path) {
        Ok(()) => Finding::ok("soundness", "the database file is not damaged"),
        Err(error) => Finding::failed("soundness", &error),
    }
}

/// Checks that Redis answers, if it is to be used.
pub(super) async fn redis(url: Option<&RedisUrl>) -> Option<Finding> {
    let url = url?;
    let hint = "start Redis, or remove `redis.url`: a single server does not need it";
    let connect = async { Hints::connect(&url.0).await?.probe().await };
    Some(match tokio::time::timeout(ANSWER_TIMEOUT, connect).await {
        Ok(Ok(took)) => {
            Finding::ok("redis", format!("answers within {:.1} ms", took.as_secs_f64() * 1_000.0))
        }
        Ok(Err(error)) => Finding::fail("redis", error.to_string(), hint),
        Err(_) => Finding::fail("redis", "it does not answer", hint),
    })
}
