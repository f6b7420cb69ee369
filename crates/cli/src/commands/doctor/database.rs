//! Checks of the database and Redis.

use std::time::Duration;

use godel_app::queue::HELD_MAX_SECONDS;
use godel_console::Error;
use godel_console::measure::span;
use godel_console::output::plain;
use godel_hints::Hints;
use godel_model::{Report as _, code};
use godel_server::RedisUrl;
use godel_store::{Config, DatabaseUrl, Holder, Store};

use super::{Finding, failed};
use crate::commands::db::verdict;

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
            let mut finding = failed("database", &error);
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
    match godel_store::soundness(path, false) {
        Ok(()) => Finding::ok("soundness", "the database file is not damaged"),
        Err(error) => failed("soundness", &error.into()),
    }
}

/// Looks for somebody who keeps PostgreSQL from removing what is gone.
pub(super) async fn holders(config: &Config) -> Option<Finding> {
    let DatabaseUrl::Postgres(_) = &config.url else { return None };
    match tokio::time::timeout(ANSWER_TIMEOUT, Store::oldest_holder(&config.url)).await {
        Ok(Ok(found)) => Some(holding(found)),
        // What is wrong with it is told already.
        Ok(Err(_)) | Err(_) => None,
    }
}

fn holding(found: Option<Holder>) -> Finding {
    let Some(Holder { who, seconds }) = found.filter(|one| one.seconds >= HELD_MAX_SECONDS) else {
        return Finding::ok("vacuum", "nobody keeps PostgreSQL from removing what is gone");
    };
    let (who, time) = (plain(&who), span(seconds as f64));
    Finding::warn(
        "vacuum",
        format!("{who} has held on to an old state for {time}; what is gone stays on disk"),
        "end that transaction: `SELECT pg_terminate_backend(PID)`, or ROLLBACK PREPARED",
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Verdict;

    #[test]
    fn who_holds_an_old_state_for_long_is_named() {
        let holder = |seconds| Some(Holder { who: "process 7 (psql)".to_owned(), seconds });
        for fine in [None, holder(HELD_MAX_SECONDS - 1)] {
            assert_eq!(holding(fine).status, Verdict::Ok);
        }
        let found = holding(holder(HELD_MAX_SECONDS));
        assert_eq!(found.status, Verdict::Warn);
        assert!(found.message.contains("process 7 (psql)"), "{}", found.message);
    }
}
