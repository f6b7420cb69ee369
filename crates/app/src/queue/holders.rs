//! Tells people when somebody keeps PostgreSQL from removing what is gone, because everything becomes
//! slower then, and at last the disk is full.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use godel_model::{EventFilter, Seq};
use godel_store::{Direction, Holder, Scope, Store, Tx};
use metrics::{Unit, describe_gauge, gauge};
use serde::{Deserialize, Serialize};

use crate::tenants::system_event;
use crate::{App, Crew, Result};

/// For how long the oldest state of the database is held.
const HELD: &str = "godel_database_held_seconds";
/// How often it is looked.
const EVERY: Duration = Duration::from_secs(60);
/// From when on people are told, in seconds.
pub const HELD_MAX_SECONDS: u64 = 300;
/// The events that tell of it.
const HELD_EVENT: &str = "server:database:held";
const FREED_EVENT: &str = "server:database:freed";

/// When people are told that somebody holds on to an old state of PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldWatch {
    /// How often it is looked.
    pub every: Duration,
    /// For how many seconds a state may be held.
    pub longest_secs: u64,
}

impl Default for HoldWatch {
    fn default() -> Self {
        Self { every: EVERY, longest_secs: HELD_MAX_SECONDS }
    }
}

/// What people are to hear.
#[derive(Debug, Clone, PartialEq, Eq)]
enum News {
    Held(Holder),
    /// Who holds nothing any more.
    Freed(String),
}

#[derive(Debug, Serialize, Deserialize)]
struct Told {
    who: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds: Option<u64>,
}

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
        let (watch, mut known) = (app.config.hold, None);
        while tokio::time::timeout(watch.every, stopping.cancelled()).await.is_err() {
            match Store::oldest_holder(app.store.url()).await {
                Ok(found) => known = look(&app, found, known).await,
                Err(error) => tracing::debug!(%error, "who holds the database is not known"),
            }
        }
    });
}

/// Tells what is new; returns of whom people know now.
async fn look(app: &App, found: Option<Holder>, known: Option<String>) -> Option<String> {
    gauge!(HELD).set(found.as_ref().map_or(0.0, |holder| holder.seconds as f64));
    let Some(news) = news(found, known.as_deref(), app.config.hold.longest_secs) else {
        return known;
    };
    let now = match &news {
        News::Held(Holder { who, seconds }) => {
            tracing::warn!(
                %who, seconds,
                "a transaction keeps PostgreSQL from removing what is gone; end it, or everything slows down"
            );
            Some(who.clone())
        }
        News::Freed(who) => {
            tracing::info!(%who, "PostgreSQL can remove again what is gone");
            None
        }
    };
    let is_held = now.is_some();
    if let Err(error) = record(app, news).await {
        tracing::warn!(%error, "it was not recorded; it is tried again");
        return known;
    }
    app.held.store(is_held, Ordering::Relaxed);
    now
}

/// Decides what people are to hear: of each holder once, and when the last one lets go.
fn news(found: Option<Holder>, known: Option<&str>, longest_secs: u64) -> Option<News> {
    match found.filter(|holder| holder.seconds >= longest_secs) {
        Some(holder) => (known != Some(holder.who.as_str())).then_some(News::Held(holder)),
        None => known.map(|who| News::Freed(who.to_owned())),
    }
}

/// Writes it to the log of the tenant whose admins look after the server, unless another server has, or this
/// one before it was started again.
async fn record(app: &App, news: News) -> Result<()> {
    let Some(home) = app.home() else { return Ok(()) };
    let (kind, told) = match news {
        News::Held(Holder { who, seconds }) => (HELD_EVENT, Told { who, seconds: Some(seconds) }),
        News::Freed(who) => (FREED_EVENT, Told { who, seconds: None }),
    };
    let event = system_event(app, kind, &told);
    let both = [HELD_EVENT, FREED_EVENT].iter().filter_map(|kind| kind.parse().ok()).collect();
    let both = EventFilter::new(both, BTreeMap::new())?;
    let work = move |tx: &mut Tx<'_>| {
        tx.events().lock_bounds()?;
        let last = tx.events().page(&both, Direction::Backward, Seq(i64::MAX), 1)?.events;
        let said = |last: &godel_model::Event| {
            let about = last.payload.read::<Told>().is_ok_and(|before| before.who == told.who);
            about && last.kind == event.kind
        };
        if last.first().is_some_and(said) {
            return Ok(());
        }
        Ok(tx.record(event.clone())?)
    };
    app.store.write(Scope::Tenant(home), work).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_hear_of_who_holds_for_long_and_that_it_let_go() {
        const LONGEST: u64 = HELD_MAX_SECONDS;
        let holder = |who: &str, seconds| Holder { who: who.to_owned(), seconds };
        let news = |found: Option<Holder>, known| news(found, known, LONGEST);
        let (one, other) = (holder("a", LONGEST), holder("b", LONGEST));
        assert_eq!(news(Some(holder("a", LONGEST - 1)), None), None);
        assert_eq!(news(Some(one.clone()), None), Some(News::Held(one.clone())));
        assert_eq!(news(Some(one), Some("a")), None, "it is known");
        assert_eq!(news(Some(other.clone()), Some("a")), Some(News::Held(other)));
        assert_eq!(news(None, Some("a")), Some(News::Freed("a".to_owned())));
        assert_eq!(news(Some(holder("c", 1)), Some("a")), Some(News::Freed("a".to_owned())));
        assert_eq!(news(None, None), None);
    }
}
