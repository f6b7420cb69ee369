//! Tells people when somebody keeps PostgreSQL from removing what is gone, because everything becomes
//! slower then, and at last the disk is full.

use std::time::Duration;

use godel_store::{Holder, Store};
use metrics::{Unit, describe_gauge, gauge};

use crate::{App, Crew};

/// For how long the oldest state of the database is held.
const HELD: &str = "godel_database_held_seconds";
/// How often it is looked.
const EVERY: Duration = Duration::from_secs(60);
/// From when on people are told, in seconds.
pub const HELD_MAX_SECONDS: u64 = 300;

/// Looks from time to time; there is nothing to see on SQLite.
pub(super) fn start(app: &App, crew: &Crew) {
    if matches!(app.store.url(), godel_store::DatabaseUrl::Sqlite(_)) {
        return;
    }
    describe_gauge!(
        HELD,
        Unit::Seconds,
        "age of the oldest state that somebody holds in PostgreSQL"
    );
    let (app, stopping) = (app.clone(), crew.stopping());
    crew.spawn(async move {
        let mut told = None;
        while tokio::time::timeout(EVERY, stopping.cancelled()).await.is_err() {
            match Store::oldest_holder(app.store.url()).await {
                Ok(found) => told = tell(found, told),
                Err(error) => tracing::debug!(%error, "who holds the database is not known"),
            }
        }
    });
}

/// Tells of a holder once; returns of whom people know now.
fn tell(found: Option<Holder>, told: Option<String>) -> Option<String> {
    gauge!(HELD).set(found.as_ref().map_or(0.0, |holder| holder.seconds as f64));
    let Some(Holder { who, seconds }) = found.filter(|one| one.seconds >= HELD_MAX_SECONDS) else {
        if let Some(who) = told {
            tracing::info!(%who, "PostgreSQL can remove again what is gone");
        }
        return None;
    };
    if told.as_ref() != Some(&who) {
        tracing::warn!(
            %who, seconds,
            "a transaction keeps PostgreSQL from removing what is gone; end it, or everything slows down"
        );
    }
    Some(who)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_know_of_who_holds_for_long_until_it_lets_go() {
        let holder = |who: &str, seconds| Some(Holder { who: who.to_owned(), seconds });
        assert_eq!(tell(holder("a", HELD_MAX_SECONDS - 1), None), None);
        let told = tell(holder("a", HELD_MAX_SECONDS), None);
        assert_eq!(told.as_deref(), Some("a"));
        assert_eq!(tell(holder("b", HELD_MAX_SECONDS), told.clone()).as_deref(), Some("b"));
        assert_eq!(tell(None, told), None);
    }
}
