//! Asking one provider after the other until one answers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use godel_llm::translate::{self, Ask, Back, Place as Keeper, Thinks};
use godel_llm::{Dialect, Edit, Ending, StreamMeter, Trouble};
use godel_model::{CallStart, PaidBy};
use http::Response;
use http_body_util::{BodyExt as _, Limited};
use memchr::memmem;
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::answer::is_stream;
use crate::ask::{Asked, MaybePlace, refused};
use crate::board::Refusal;
use crate::broke::NoMoney;
use crate::capture::Capture;
use crate::failure::{FAILURE_MAX_BYTES, Failed, FailedKind};
use crate::hedge::{Beaten, Told};
use crate::ledger::Ended;
use crate::limits::Place;
use crate::relay::{ProxyBody, json};
use crate::route::{Route, several};
use crate::running::{Begin, Paid, Running};
use crate::upstream::Order;

/// How much of a name is kept.
pub(crate) const NAME_MAX_CHARS: usize = 200;

/// What an attempt came to.
pub(crate) enum Tried {
    Answered(Response<ProxyBody>),
    Failed(Box<Failed>, Option<Ended>, MaybePlace),
}

impl Asked<'_> {
    /// Asks one after the other until one answers.
    pub(crate) async fn try_all(
        &self,
        routes: Vec<Arc<Route>>,
        place: Place,
    ) -> Result<Response<ProxyBody>, Refusal> {
        let (mut place, mut closing, mut last) = (Some(place), None, None::<Box<Failed>>);
        let mut attempt = 0;
        let mut untold = None;
        let tries = routes.len().max(self.config.attempts as usize);
        if let Some(hedged) = self.first_two(&routes, &mut place).await? {
            attempt = hedged.asked;
            match hedged.tried {
                Tried::Answered(response) => return Ok(response),
                Tried::Failed(failed, ended, kept) => {
                    self.tell_if_shut(&failed, &routes);
                    (closing, place) = (ended, kept.or(place));
                    last = Some(failed);
                }
            }
        }
        for turn in attempt as usize..tries {
            if last.as_ref().is_some_and(|failed| failed.kind.is_final()) {
                break;
            }
            let route = &routes[turn % routes.len()];
            if attempt >= self.config.attempts {
                break;
            }
            if turn >= routes.len() && !self.may_retry(last.as_deref()).await {
                break;
            }
            // Somebody else may have the words that this one lacks.
            let told = match self.body_for(route) {
                Ok(told) => told,
                Err(refusal) => {
                    untold.get_or_insert(refusal);
                    continue;
                }
            };
            if !self.may_begin(route) {
                continue;
            }
            attempt += 1;
            let after = closing.take();
            let told = (told, None);
            match self.attempt((route, attempt), told, &mut place, after).await? {
                Tried::Answered(response) => {
                    self.note_session(&routes, route);
                    return Ok(response);
                }
                Tried::Failed(failed, ended, kept) => {
                    self.tell_if_shut(&failed, &routes);
                    (closing, place) = (ended, kept);
                    last = Some(failed);
                }
            }
        }
        drop(closing);
        match (last, untold) {
            (None, Some(refusal)) => Err(refusal),
            (last, _) => self.gave_up(last, &routes),
        }
    }

    /// Tells whether a provider may be asked; one that fails is left alone.
    pub(crate) fn may_begin(&self, route: &Route) -> bool {
        let now = self.board.clock.now();
        self.board.health.admits(route.at(), now)
    }

    /// Remembers who answers a session, if somebody else could.
    pub(crate) fn note_session(&self, routes: &[Arc<Route>], route: &Route) {
        if several(routes)
            && let Some(session) = self.session()
        {
            let tenant = self.who.purpose.tenant;
            self.board.sessions.put(tenant, &session, (&route.provider, route.key_id()));
        }
    }

    /// Tells whether the same providers may be asked once more, and waits a little if so.
    async fn may_retry(&self, last: Option<&Failed>) -> bool {
        let transient = last.is_some_and(|failed| failed.kind == FailedKind::Transient);
        if !transient || !self.board.health.may_retry() {
            return false;
        }
        let pause = rand::random_range(100..400);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        true
    }

    pub(crate) async fn attempt(
        &self,
        (route, attempt): (&Arc<Route>, u32),
        ((body, back), beaten): (Told, Option<Beaten>),
        place: &mut MaybePlace,
        after: Option<Ended>,
    ) -> Result<Tried, Refusal> {
        let costs = self.costs(route);
        let paid_by = if route.own_login { PaidBy::Login } else { PaidBy::Key };
        let start = CallStart {
            worst: costs.map(|(worst, _)| worst),
            ..self.start(route, attempt, paid_by)
        };
        let now = start.at;
        let span = tracing::debug_span!(
            "models.attempt",
            otel.kind = "client",
            otel.status_code = Empty,
            provider = %start.provider,
            model = %start.model,
            attempt,
            status = Empty,
            outcome = Empty,
            error = Empty,
        );
        let budgets = Arc::clone(&self.who.budgets);
        let opened = self.board.ledger.open(start, costs.unwrap_or((0, 0)), budgets, after).await;
        let begun = opened.map_err(|refusal| {
            self.board.health.untried(route.at());
            let short = refusal.short(now);
            let refusal = refused(refusal, now);
            // Beside one that may still answer, a second one is not what an agent wants for.
            let beside = beaten.is_some() && attempt > 1;
            if let (Trouble::Budget, Some(agent), false) =
                (refusal.trouble, &self.who.purpose.agent, beside)
            {
                let why = refusal.message.clone();
                self.board.broke.note(agent, NoMoney { why, short });
            }
            refusal
        })?;
        let capture = self.who.capture.map(|config| {
            let (asked, dialect) = (self.body.clone(), self.target.dialect);
            Box::new(Capture::new(asked, dialect, config, now))
        });
        let (input_estimate, tier) = (self.input_estimate(), self.tier(route));
        let likely_output = if self.stream { 0 } else { self.likely_output(route) };
        let route = Arc::clone(route);
        let (span_, instead_of) = (span.clone(), self.instead_of.clone());
        let begin = Begin {
            begun,
            route,
            instead_of,
            input_estimate,
            likely_output,
            tier,
            capture,
            beaten,
            span: span_,
        };
        let running = Running::new(Arc::clone(&self.board), begin, place.take());
        Ok(self.ask(running, body, back).instrument(span).await)
    }

    /// Returns what is known of an attempt before it is made.
    pub(crate) fn start(&self, route: &Route, attempt: u32, paid_by: PaidBy) -> CallStart {
        CallStart {
            id: if attempt == 1 { self.id } else { self.board.mint.id() },
            request: self.id,
            attempt,
            at: self.board.clock.now(),
            purpose: Arc::clone(&self.who.purpose),
            dialect: self.target.dialect.name(),
            asked: route.called(&self.model),
            provider: Arc::clone(&route.provider),
            model: route.called(&route.model),
            streamed: self.stream,
            paid_by,
            session: self.session(),
            worst: None,
            held: Vec::new(),
        }
    }

    /// Returns the request as the provider gets it, and how its reply is told to the client.
    pub(crate) fn body_for(&self, route: &Route) -> Result<(Bytes, Option<Back>), Refusal> {
        let dialect = self.target.dialect;
        if route.dialect == dialect {
            return Ok((self.passed_through(route), None));
        }
        if !self.target.rest.is_empty() {
            let why =
                format!("responses{} is known to providers of its dialect only", self.target.rest);
            return Err(Refusal::new(Trouble::Invalid, why));
        }
        let request_id = self.id.to_string();
        let query = self.parts.uri.query().unwrap_or_default();
        let now = self.board.clock.now().as_second();
        let ask = Ask {
            from: dialect,
            to: route.dialect,
            model: &route.model,
            client_model: &self.model,
            thinks: Thinks::guess(route.dialect, &route.model),
            stream: self.stream,
            array: dialect == Dialect::Gemini && self.stream && !query.contains("alt=sse"),
            max_output: route.known.as_ref().and_then(|known| known.output).unwrap_or(0),
            request_id: &request_id,
            now_seconds: now,
        };
        let scope = self.who.purpose.tenant.to_string();
        let recall = |call: &str| {
            let keeper = Keeper { scope: &scope, provider: &route.provider };
            self.keepsakes().get(keeper, call, now)
        };
        let told = translate::request(&ask, &self.body, &recall)
            .map_err(|error| Refusal::new(Trouble::Invalid, error.to_string()))?;
        Ok((told.body.into(), Some(told.back)))
    }

    /// Returns the request as it came, but for what only we and the client know of.
    fn passed_through(&self, route: &Route) -> Bytes {
        let dialect = self.target.dialect;
        let include_usage = dialect == Dialect::Chat && self.stream;
        let edit = Edit { model: Some(&route.model), include_usage };
        let edited = self.peek.edited(&self.body, &edit);
        let edited = edited.map_or_else(|| self.body.clone(), Bytes::from);
        translate::without_made_up(dialect, &edited).map_or(edited, Bytes::from)
    }

    fn keepsakes(&self) -> std::sync::MutexGuard<'_, translate::Keepsakes> {
        self.board.keepsakes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn order<'a>(&'a self, route: &'a Route) -> Order<'a> {
        Order {
            provider: &self.config.providers[&*route.provider],
            dialect: route.dialect,
            model: &route.model,
            stream: self.stream,
            rest: self.target.rest,
            query: self.parts.uri.query(),
            key: route.key.as_deref(),
            made: Some(&route.made),
            headers: &self.parts.headers,
            same: route.dialect == self.target.dialect,
            own_login: route.own_login,
        }
    }

    /// Asks for the number of tokens; nothing if the provider does not tell.
    pub(crate) async fn ask_for_count(&self, route: &Route) -> Option<Response<ProxyBody>> {
        let rest = if route.dialect == Dialect::Gemini { "countTokens" } else { "/count_tokens" };
        let order = Order { rest, stream: false, ..self.order(route) };
        let edit = Edit { model: Some(&route.model), include_usage: false };
        let body =
            self.peek.edited(&self.body, &edit).map_or_else(|| self.body.clone(), Bytes::from);
        let asked = self.board.upstream.ask(order.letter(body)?);
        let response = tokio::time::timeout(Duration::from_secs(20), asked).await.ok()?.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let body = Limited::new(response.into_body(), FAILURE_MAX_BYTES).collect().await.ok()?;
        Some(json(body.to_bytes()))
    }

    async fn ask(&self, mut running: Running, body: Bytes, back: Option<Back>) -> Tried {
        let route = Arc::clone(&running.route);
        let Some(letter) = self.order(&route).letter(body) else {
            let failed = self.failure(&route, FailedKind::Request, "its address makes no sense");
            return self.failed(running, failed);
        };
        let asked = tokio::time::timeout(self.config.first_byte, self.board.upstream.ask(letter));
        let mut response = match asked.await {
            Ok(Ok(response)) => response,
            Ok(Err(why)) => {
                let failed = self.failure(&route, FailedKind::Transient, &why);
                return self.failed(running, failed);
            }
            Err(_) => {
                let why = format!("no answer in {} s", self.config.first_byte.as_secs());
                let failed = self.failure(&route, FailedKind::Transient, &why).paid(Paid::Input);
                return self.failed(running, failed);
            }
        };
        running.status = Some(response.status().as_u16());
        self.note_quota(&route, response.headers());
        if !response.status().is_success() {
            let failed = self.read_failure(&route, response).await;
            return self.failed(running, failed);
        }
        // Until the first bytes are there, somebody else can still be asked.
        let frame = tokio::time::timeout(self.config.first_byte, response.body_mut().frame()).await;
        let first = match frame {
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(None) => {
                let failed = self.failure(&route, FailedKind::Transient, "its answer was empty");
                return self.failed(running, failed);
            }
            Ok(Some(Err(error))) => {
                let failed = self.failure(&route, FailedKind::Transient, &error.to_string());
                return self.failed(running, failed);
            }
            Err(_) => {
                let why = "no first byte in time";
                let failed = self.failure(&route, FailedKind::Transient, why).paid(Paid::Input);
                return self.failed(running, failed);
            }
        };
        if is_stream(response.headers())
            && let Some(why) = told_failure(&route, &first)
        {
            let failed = self.failure(&route, FailedKind::Transient, &why);
            return self.failed(running, failed);
        }
        running.first_byte();
        match back {
            Some(back) if !self.stream => self.tell_whole(running, response, first, &back).await,
            back => Tried::Answered(self.relay(running, response, first, back)),
        }
    }
}

/// Returns why a stream has failed whose first event says so: nothing went to the client yet.
fn told_failure(route: &Route, first: &Bytes) -> Option<String> {
    memmem::find(first, b"error")?;
    let mut meter = StreamMeter::new(route.dialect, false);
    meter.feed(first);
    if meter.ending() != Ending::Failed || meter.events() != 1 {
        return None;
    }
    let said = route.without_key(first);
    Some(format!("its stream began with a failure: {}", String::from_utf8_lossy(&said)))
}
