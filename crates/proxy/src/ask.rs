//! One request: what it asks for, who could answer, and whether it may.

use std::sync::Arc;

use bytes::Bytes;
use godel_decide::Prefer;
use godel_llm::{Ability, Dialect, Model, Peek, ReplyMeter, Trouble, Usage, translate};
use godel_model::{Budget, CallId, PaidBy};
use http::header::{AUTHORIZATION, HeaderName};
use http::request::Parts;
use http::{HeaderMap, Response};
use http_body::Body;
use jiff::tz::TimeZone;
use memchr::memmem;

use crate::board::{Board, Refusal};
use crate::cache::{CacheKey, key_of};
use crate::config::Config;
use crate::intake::read_body;
use crate::keys::Key;
use crate::ledger;
use crate::limits::Place;
use crate::policy::rule;
use crate::relay::{ProxyBody, json};
use crate::route::{Choice, NoRoute, Question, Route, find};
use crate::running::BYTES_PER_TOKEN;
use crate::target::{Target, Wish};
use crate::who::Who;

const OWN_TOKEN: HeaderName = HeaderName::from_static("x-godel-token");
const FALLBACK: HeaderName = HeaderName::from_static("x-godel-fallback");
const PREFER: HeaderName = HeaderName::from_static("x-godel-prefer");
const COST_LIMIT: HeaderName = HeaderName::from_static("x-godel-cost-limit");
const CACHE: HeaderName = HeaderName::from_static("x-godel-cache");
const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// How much a model is likely to answer if nothing else is known.
const LIKELY_OUTPUT: u64 = 1_000;
/// How much a model may answer at most if nothing else is known.
const WORST_OUTPUT: u64 = 8_192;
/// As how many answers to one request are counted at most.
const CHOICES_MAX: u64 = 128;

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
        let routes = self.routes()?;
        let counts = self.target.wish == Wish::Count;
        let now = self.board.clock.now();
        if !counts {
            self.within_cost(&routes[0])?;
        }
        // To count tokens uses none, but is a request like any other.
        let tokens = if counts { 0 } else { self.input_estimate() };
        let entered =
            self.board.gate.enter(&self.who, &self.config.limits, (weight, tokens), now).await;
        let place = entered.map_err(|refused| {
            Refusal::new(Trouble::RateLimited(refused.retry_after), refused.why)
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
            let headers = answered.headers_mut();
            headers.insert(RATE_LIMIT, left.limit.into());
            headers.insert(RATE_REMAINING, left.remaining.into());
            let reset = now.as_second().saturating_add_unsigned(left.reset_ms.div_ceil(1_000));
            headers.insert(RATE_RESET, reset.into());
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

    /// Returns what the request costs at most and what it is likely to cost, if that is known.
    pub(crate) fn costs(&self, route: &Route) -> Option<(i64, i64)> {
        if route.own_login {
            return None;
        }
        let known = route.known.as_ref()?;
        let able = known.output.unwrap_or(u64::MAX);
        let most = self.peek.max_output.or(known.output).unwrap_or(WORST_OUTPUT).min(able);
        let most = most.saturating_mul(self.peek.choices.clamp(1, CHOICES_MAX));
        let today = self.board.clock.now().to_zoned(TimeZone::UTC).date();
        let input = self.input_estimate();
        let price = known.price(today, input)?;
        let cost = |input, output| price.cost(&Usage { input, output, ..Usage::default() });
        // Text of few letters can have a third more tokens than the rule of thumb says, and what is
        // to be remembered costs more than what is not.
        let all = input * 4 / 3;
        let kept = Usage { cache_write_5m: all, output: most, ..Usage::default() };
        let longer = Usage { cache_write_1h: all, output: most, ..Usage::default() };
        let long = price.cache_write_1h.is_some() && memmem::find(&self.body, b"\"1h\"").is_some();
        let remembered = if long { longer } else { kept };
        let worst = cost(all, most).max(price.cost(&remembered));
        Some((worst, cost(input, most.min(LIKELY_OUTPUT))))
    }

    /// Refuses what is likely to cost more than its own limit.
    fn within_cost(&self, route: &Route) -> Result<(), Refusal> {
        let header = header(&self.parts.headers, &COST_LIMIT);
        let header = match header {
            Some(text) => {
                let limit = text.trim().trim_start_matches('$').parse::<f64>().ok();
                Some(limit.filter(|limit| limit.is_finite()).ok_or_else(|| {
                    Refusal::new(Trouble::Invalid, "x-godel-cost-limit is not a number of dollars")
                })?)
            }
            None => None,
        };
        let limit = header.or(self.peek.routing.as_ref().and_then(|routing| routing.cost_limit));
        let Some(limit) = limit else { return Ok(()) };
        let Some((_, likely)) = self.costs(route) else { return Ok(()) };
        if likely as f64 <= limit * 1e6 {
            return Ok(());
        }
        let why = format!(
            "the request is likely to cost {}, which is more than its own limit of {}",
            dollars(likely),
            dollars((limit * 1e6) as i64)
        );
        Err(Refusal::new(Trouble::Budget, why))
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
        let choice = models.len() > 1 || self.config.aliases.contains_key(&self.model);
        let question = Question {
            models,
            provider: self.target.provider.as_deref(),
            dialect: self.target.dialect,
            needs: if choice { needs(&self.body) } else { Vec::new() },
            prefer,
            tokens: (self.input_estimate(), LIKELY_OUTPUT),
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

fn dollars(micros: i64) -> String {
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

/// What a model must be able to do, as far as a look at the bytes tells.
fn needs(body: &[u8]) -> Vec<Ability> {
    let has = |mark: &[u8]| memmem::find(body, mark).is_some();
    let mut needs = Vec::new();
    if has(b"\"tools\"") || has(b"functionDeclarations") {
        needs.push(Ability::Tools);
    }
    if has(b"\"image_url\"") || has(b"\"input_image\"") || has(b"\"image\"") || has(b"inlineData") {
        needs.push(Ability::Vision);
    }
    needs
}

/// Keeps a place until it is needed.
pub(crate) type MaybePlace = Option<Place>;
