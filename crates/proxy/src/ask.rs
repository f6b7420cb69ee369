//! One request: what it asks for, who could answer, and whether it may.

use std::sync::Arc;

use bytes::Bytes;
use godel_decide::Prefer;
use godel_llm::{Dialect, Model, Peek, ReplyMeter, Trouble, translate};
use godel_model::{Budget, CallId, PaidBy};
use http::header::{AUTHORIZATION, HeaderName};
use http::request::Parts;
use http::{HeaderMap, Response};
use http_body::Body;
use jiff::tz::TimeZone;

use crate::board::{Board, Refusal};
use crate::cache::{CacheKey, key_of};
use crate::config::Config;
use crate::costs::LIKELY_OUTPUT;
use crate::intake::read_body;
use crate::keys::Key;
use crate::ledger;
use crate::limits::Place;
use crate::policy::rule;
use crate::rate::{self, Spent};
use crate::relay::{ProxyBody, json};
use crate::route::{Choice, NoRoute, Question, Route, find};
use crate::running::BYTES_PER_TOKEN;
use crate::target::{Target, Wish};
use crate::who::Who;

const OWN_TOKEN: HeaderName = HeaderName::from_static("x-godel-token");
const FALLBACK: HeaderName = HeaderName::from_static("x-godel-fallback");
const PREFER: HeaderName = HeaderName::from_static("x-godel-prefer");
const CACHE: HeaderName = HeaderName::from_static("x-godel-cache");

/// One request that may be served.
pub(crate) struct Asked<'p> {
    pub(crate) board: Arc<Board>,
    pub(crate) config: Arc<Config>,
    pub(crate) who: Arc<Who>,
    pub(crate) id: CallId,
    pub(crate) target: Target,
    pub(crate) parts: &'p Parts,
    pub(crate) body: Bytes,
    pub(crate) peek: Peek,
    pub(crate) model: String,
    pub(crate) stream: bool,
    /// The login of the provider that the client brings.
    pub(crate) own_login: Option<Arc<Key>>,
    pub(crate) cache: Option<CacheKey>,
    /// The model that would have been asked, had nobody looked at what it costs.
    pub(crate) instead_of: Option<Arc<Model>>,
}

impl<'p> Asked<'p> {
    /// Serves a request.
    pub(crate) async fn serve<B>(
        board: Arc<Board>,
        (who, id, target): (Arc<Who>, CallId, Target),
        parts: &'p Parts,
        body: B,
    ) -> Result<Response<ProxyBody>, Refusal>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let config = board.config();
        let body = read_body(body, &parts.headers, config.body_max_bytes).await?;
        let dialect = target.dialect;
        let peek = peek(dialect, &body)?;
        let model = target.model.clone().or_else(|| peek.model.clone()).unwrap_or_default();
        if model.is_empty() {
            return Err(Refusal::new(Trouble::Invalid, "the request names no `model`"));
        }
        let stream = target.stream.unwrap_or(peek.stream);
        let own_login = own_login(&parts.headers);
        let asked = Self {
            board,
            config,
            who,
            id,
            target,
            parts,
            body,
            peek,
            model,
            stream,
            own_login,
            cache: None,
            instead_of: None,
        };
        asked.admit().await
    }

    async fn admit(mut self) -> Result<Response<ProxyBody>, Refusal> {
        let span = tracing::Span::current();
        span.record("dialect", self.target.dialect.name());
        span.record("model", self.model.as_str());
        let weight = self.rule()?;
        if !self.who.may_ask(&self.model) {
            let why = format!("the model {:?} is not allowed for this token", self.model);
            return Err(Refusal::new(Trouble::NoModel, why));
        }
        let mut routes = self.routes()?;
        let counts = self.target.wish == Wish::Count;
        let now = self.board.clock.now();
        if !counts {
            self.within_cost(&mut routes)?;
        }
        // To count tokens uses none, but is a request like any other.
        let tokens = if counts { 0 } else { self.input_estimate() };
        let entered =
            self.board.gate.enter(&self.who, &self.config.limits, (weight, tokens), now).await;
        let place = entered.map_err(|refused| {
            let seconds = refused.retry_after;
            let spent = refused.of.map(|(limit, what)| Spent { limit, what, seconds, now });
            Refusal { spent, ..Refusal::new(Trouble::RateLimited(seconds), refused.why) }
        })?;
        if counts {
            return self.count(&routes[0]).await;
        }
        if let Some(answer) = self.remembered(&routes[0]) {
            return Ok(answer);
        }
        self.board.health.asked();
        let left = place.left;
        let mut answered = self.try_all(routes, place).await?;
        if let Some(left) = left {
            rate::tell(left, now, answered.headers_mut());
        }
        Ok(answered)
    }

    /// Asks the policies; returns as how many requests this one counts.
    fn rule(&mut self) -> Result<u32, Refusal> {
        if self.config.policies.is_empty() {
            return Ok(1);
        }
        let ruling = rule(&self.config.policies, &self.model, &self.body);
        if let Some(policy) = ruling.blocked {
            let why = format!("the policy {policy:?} of this server refuses what the request says");
            return Err(Refusal::new(Trouble::Forbidden, why));
        }
        if let Some(body) = ruling.body {
            // Places have moved, so what was found is found again.
            self.peek = peek(self.target.dialect, &body)?;
            self.body = body.into();
        }
        Ok(ruling.weight)
    }

    /// About how many tokens go in.
    pub(crate) fn input_estimate(&self) -> u64 {
        self.body.len() as u64 / BYTES_PER_TOKEN + 1
    }

    fn routes(&mut self) -> Result<Vec<Arc<Route>>, Refusal> {
        let headers = &self.parts.headers;
        let routing = self.peek.routing.as_ref();
        let fallback = match header(headers, &FALLBACK) {
            Some(text) => text != "false",
            None => routing.and_then(|routing| routing.fallback_allowed).unwrap_or(true),
        };
        let mut models = vec![self.model.clone()];
        if fallback {
            let wished = routing.and_then(|routing| routing.fallbacks.as_ref());
            let more = wished.or_else(|| self.config.fallbacks.get(&self.model));
            let more = more.into_iter().flatten().filter(|model| self.who.may_ask(model));
            models.extend(more.take(10).cloned());
        }
        let wished = routing.and_then(|routing| routing.prefer.as_deref());
        let prefer = match header(headers, &PREFER).or(wished) {
            Some("cost") => Prefer::Cost,
            Some("latency") => Prefer::Latency,
            Some("order") => Prefer::Order,
            Some(_) => {
                let why = "the wish must be order, cost or latency";
                return Err(Refusal::new(Trouble::Invalid, why));
            }
            None => self.config.prefer,
        };
        let question = Question {
            models,
            provider: self.target.provider.as_deref(),
            dialect: self.target.dialect,
            body: &self.body,
            prefer,
            tokens: (self.input_estimate(), LIKELY_OUTPUT),
            tier: self.peek.tier,
            own_login: self.own_login.clone(),
            login: self.who.login(),
        };
        let now = self.board.clock.now();
        let found = find(&self.config, &self.who.keys, &self.board.health, &question, now);
        let Choice { mut routes, instead_of } = found.map_err(|why| self.no_route(&why))?;
        if !fallback {
            let first = Arc::clone(&routes[0]);
            routes
                .retain(|route| (&route.provider, &route.model) == (&first.provider, &first.model));
        }
        self.instead_of = instead_of;
        self.pin(&mut routes);
        if routes.is_empty() { Err(self.no_route(&NoRoute::Unknown)) } else { Ok(routes) }
    }

    fn no_route(&self, why: &NoRoute) -> Refusal {
        let model = &self.model;
        match why {
            NoRoute::Unknown => Refusal::new(
                Trouble::NoModel,
                format!(
                    "no provider of this server knows the model {model:?}; GET /proxy/v1/models lists \
                     those that can be asked"
                ),
            ),
            NoRoute::NoProvider => {
                let name = self.target.provider.as_deref().unwrap_or_default();
                Refusal::new(Trouble::NoModel, format!("this server has no provider {name:?}"))
            }
            NoRoute::NoKey(provider) => Refusal::new(
                Trouble::NoModel,
                format!(
                    "this server has no key for {provider}, which answers for {model:?}; an admin sets \
                     one with `godel secret set {provider}`"
                ),
            ),
        }
    }

    /// Looks for an answer that was given before; it costs nothing of what it would have cost.
    fn remembered(&mut self, route: &Route) -> Option<Response<ProxyBody>> {
        let enabled = self.config.cache.enabled && !self.stream;
        if !enabled || header(&self.parts.headers, &CACHE) != Some("true") {
            return None;
        }
        let whose = (self.who.purpose.tenant, self.who.purpose.project);
        let headers = ["anthropic-version", "anthropic-beta", "openai-beta", "x-godel-prefer"];
        let header = |name: &str| {
            self.parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
        };
        let mut way = vec![self.target.provider.as_deref().unwrap_or_default(), self.target.rest];
        way.extend(headers.map(header));
        let way = [way.join("\n"), self.model.clone()].join("\n");
        let key = key_of(whose, self.target.dialect, &way, &self.body);
        self.cache = Some(key);
        let body = self.board.cache.get(&key, self.board.clock.now())?;
        let mut meter = ReplyMeter::new(self.target.dialect);
        meter.take(&body);
        let today = self.board.clock.now().to_zoned(TimeZone::UTC).date();
        let saved = meter.usage().zip(route.known.as_ref()).and_then(|(usage, known)| {
            known.price(today, usage.input_all()).map(|price| price.cost(&usage))
        });
        let start = self.start(route, 1, PaidBy::Cache);
        self.board.ledger.given_again(start, saved.unwrap_or(0));
        let mut response = json(body);
        let hit = http::HeaderValue::from_static("hit");
        response.headers_mut().insert(CACHE, hit);
        Some(response)
    }

    /// Tells how many tokens a request has: by the provider if it speaks the dialect, else by rule.
    async fn count(&self, route: &Route) -> Result<Response<ProxyBody>, Refusal> {
        let dialect = self.target.dialect;
        if route.dialect == dialect
            && let Some(answer) = self.ask_for_count(route).await
        {
            return Ok(answer);
        }
        let tokens = translate::count_tokens_estimate(dialect, &self.body);
        let body = match dialect {
            Dialect::Gemini => serde_json::json!({"totalTokens": tokens}),
            _ => serde_json::json!({"input_tokens": tokens}),
        };
        Ok(json(Bytes::from(body.to_string())))
    }
}

fn peek(dialect: Dialect, body: &[u8]) -> Result<Peek, Refusal> {
    Peek::of(dialect, body).map_err(|error| Refusal::new(Trouble::Invalid, error.to_string()))
}

/// Tells why the ledger did not let a request through.
pub(crate) fn refused(refusal: ledger::Refusal, now: jiff::Timestamp) -> Refusal {
    match refusal {
        ledger::Refusal::Exhausted(budget) => {
            let again = budget.period.ends(now).map_or_else(String::new, |ends| {
                format!("; it begins anew on {}", ends.to_zoned(TimeZone::UTC).date())
            });
            let what = if budget.is_low() { "is used up" } else { "is too small for this request" };
            let why = format!(
                "the {} of {} {what}: {} of {} are spent{again}; an admin raises it with `godel \
                 budget set`",
                budget_name(&budget),
                budget.scope,
                dollars(budget.spent),
                dollars(budget.allows.limit().unwrap_or(budget.allows.cap))
            );
            Refusal::new(Trouble::Budget, why)
        }
        ledger::Refusal::Busy(budget) => {
            let why = format!(
                "requests under way may use up what is left of the {} of {}; try again when they have \
                 ended",
                budget_name(&budget),
                budget.scope
            );
            Refusal::new(Trouble::RateLimited(2), why)
        }
        ledger::Refusal::Broken(why) => {
            tracing::error!(why, "a request was refused because it could not be recorded");
            let why = "the server cannot record what is spent, so nothing is; its log says why";
            Refusal::new(Trouble::Overloaded(5), why)
        }
    }
}

fn budget_name(budget: &Budget) -> &'static str {
    match budget.period {
        godel_model::Period::Total => "budget",
        godel_model::Period::Daily => "daily budget",
        godel_model::Period::Monthly => "monthly budget",
    }
}

pub(crate) fn dollars(micros: i64) -> String {
    format!("${:.4}", micros as f64 / 1e6)
}

pub(crate) fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// A client that shows who it is to us in a header of ours may bring a login of the provider in the
/// usual one.
fn own_login(headers: &HeaderMap) -> Option<Arc<Key>> {
    if !headers.contains_key(&OWN_TOKEN) {
        return None;
    }
    let bearer = header(headers, &AUTHORIZATION)?.strip_prefix("Bearer ")?;
    Key::new(bearer).filter(|_| !bearer.starts_with("godel_")).map(Arc::new)
}

/// Keeps a place until it is needed.
pub(crate) type MaybePlace = Option<Place>;
