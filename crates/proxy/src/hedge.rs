//! Asking a second provider before the first has said anything: off unless the settings name a model.
//!
//! Both are written down and paid. Whoever speaks first answers, and the other is let go.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::{Either, select};
use godel_llm::translate::Back;

use crate::ask::{Asked, MaybePlace};
use crate::attempt::Tried;
use crate::board::Refusal;
use crate::failure::Failed;
use crate::route::Route;

/// A request as one provider gets it.
pub(crate) type Told = (bytes::Bytes, Option<Back>);

/// What came of asking one or two.
pub(crate) struct Hedged {
    pub(crate) tried: Tried,
    /// Which of the two it is about.
    second: bool,
    /// What the other one failed with.
    other: Option<Box<Failed>>,
    /// How many were asked.
    pub(crate) asked: u32,
}

/// Tells an attempt that is let go that another one answered.
pub(crate) type Beaten = Arc<AtomicBool>;

impl Asked<'_> {
    /// Asks the first two, if the settings want that for this model; nothing if they do not.
    pub(crate) async fn first_two(
        &self,
        routes: &[Arc<Route>],
        place: &mut MaybePlace,
    ) -> Result<Option<Hedged>, Refusal> {
        let (Some(delay), [first, second, ..]) = (self.hedge(routes), routes) else {
            return Ok(None);
        };
        let Ok(told) = self.body_for(first) else { return Ok(None) };
        if !self.may_begin(first) {
            return Ok(None);
        }
        // Boxed: it is seldom, and large.
        let hedged = Box::pin(self.ask_both((first, second), told, place, delay)).await?;
        if let Some(failed) = &hedged.other {
            self.tell_if_shut(failed, routes);
        }
        if matches!(hedged.tried, Tried::Answered(_)) {
            self.note_session(routes, if hedged.second { second } else { first });
        }
        Ok(Some(hedged))
    }

    /// Returns after how long a second provider is asked too; never for what only one understands,
    /// never with a login of the client, whose quota it would use twice, and not if both cost more than the
    /// request allows.
    fn hedge(&self, routes: &[Arc<Route>]) -> Option<std::time::Duration> {
        let delay = self.config.hedges.get(&self.model)?;
        let apart = self.config.attempts > 1;
        let own_login = routes.iter().take(2).any(|route| route.own_login);
        let [first, second, ..] = routes else { return None };
        let both = apart && !own_login && !self.has_state() && self.affords_both(first, second);
        both.then_some(*delay)
    }

    /// Asks the first, and the second too if the first has said nothing after a while.
    async fn ask_both(
        &self,
        (first, second): (&Arc<Route>, &Arc<Route>),
        told: Told,
        place: &mut MaybePlace,
        delay: std::time::Duration,
    ) -> Result<Hedged, Refusal> {
        let alone = |tried| Hedged { tried, second: false, other: None, asked: 1 };
        let (beaten, beaten_too) = (Beaten::default(), Beaten::default());
        let attempt = self.attempt((first, 1), (told, Some(Arc::clone(&beaten))), place, None);
        let mut attempt = pin!(attempt);
        if let Ok(early) = tokio::time::timeout(delay, attempt.as_mut()).await {
            return early.map(alone);
        }
        let Some((other_told, mut other_place)) = self.second(second).await else {
            return attempt.await.map(alone);
        };
        let other = (other_told, Some(Arc::clone(&beaten_too)));
        let other = self.attempt((second, 2), other, &mut other_place, None);
        let other = pin!(other);
        match select(attempt, other).await {
            Either::Left((Ok(Tried::Answered(response)), _)) => {
                beaten_too.store(true, Ordering::Relaxed);
                self.let_go(second);
                let tried = Tried::Answered(response);
                Ok(Hedged { tried, second: false, other: None, asked: 2 })
            }
            Either::Right((Ok(Tried::Answered(response)), _)) => {
                beaten.store(true, Ordering::Relaxed);
                self.let_go(first);
                let tried = Tried::Answered(response);
                Ok(Hedged { tried, second: true, other: None, asked: 2 })
            }
            Either::Left((failed, other)) => remaining(failed, other, true).await,
            Either::Right((failed, attempt)) => remaining(failed, attempt, false).await,
        }
    }

    /// Returns what the second provider is asked with; nothing if it cannot or may not be asked.
    async fn second(&self, route: &Route) -> Option<(Told, MaybePlace)> {
        let told = self.body_for(route).ok()?;
        let now = self.board.clock.now();
        // It is a request more, also for the limits.
        let tokens = (1, self.input_estimate());
        let place =
            self.board.gate.enter(&self.who, &self.config.limits, tokens, now).await.ok()?;
        let admitted = self.board.health.admits(route.at(), now);
        admitted.then_some((told, Some(place)))
    }

    fn let_go(&self, route: &Route) {
        self.board.health.untried(route.at());
    }
}

/// One of the two has failed: the other one is waited for. A refusal of one, by a budget that holds
/// only once, is no failure of the other.
async fn remaining(
    failed: Result<Tried, Refusal>,
    other: impl Future<Output = Result<Tried, Refusal>>,
    second: bool,
) -> Result<Hedged, Refusal> {
    match (other.await, failed) {
        (Ok(tried), failed) => {
            let other = match failed {
                Ok(Tried::Failed(failed, ..)) => Some(failed),
                Ok(Tried::Answered(_)) | Err(_) => None,
            };
            Ok(Hedged { tried, second, other, asked: 2 })
        }
        (Err(_), Ok(tried)) => Ok(Hedged { tried, second: !second, other: None, asked: 2 }),
        (Err(refusal), Err(_)) => Err(refusal),
    }
}
