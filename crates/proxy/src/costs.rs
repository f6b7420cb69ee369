//! What a request costs at most, what it is likely to, and whether that is more than it may.

use std::sync::Arc;

use godel_llm::{Model, Price, Tier, Trouble, Usage};
use http::header::HeaderName;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::ask::{Asked, dollars, header};
use crate::board::Refusal;
use crate::route::Route;

const COST_LIMIT: HeaderName = HeaderName::from_static("x-godel-cost-limit");

/// How much a model is likely to answer if nothing else is known.
pub(crate) const LIKELY_OUTPUT: u64 = 1_000;
/// How much a model may answer at most if nothing else is known.
const WORST_OUTPUT: u64 = 8_192;
/// How much a model may read at most that is not in the request, if nobody knows how much it can.
const WORST_INPUT: u64 = 200_000;
/// How often a model is expected to use tools of its provider at most.
const WORST_TOOL_CALLS: u64 = 10;
/// As how many answers to one request are counted at most.
const CHOICES_MAX: u64 = 128;

/// How many tokens a request may have.
#[derive(Debug, Clone, Copy)]
struct Amount {
    /// Those that are likely to go in.
    input: u64,
    /// Those that go in at most: text of few letters can have a third more than the rule of thumb says, and of
    /// what lies elsewhere only the model's own limit is known.
    all: u64,
    /// Those that come out at most.
    most: u64,
    /// Whether some of them are to be remembered for an hour.
    long: bool,
    /// How often the provider may use tools of its own.
    tool_calls: u64,
}

impl Amount {
    fn at_most(&self, price: &Price) -> i64 {
        let Self { all, most, long, tool_calls, .. } = *self;
        // Any of it may be reasoning, where that is dearer.
        let reasoning = if price.dearest_output() > price.output { most } else { 0 };
        let server_tools = tool_calls;
        let out = Usage { output: most, reasoning, server_tools, ..Usage::default() };
        // What is to be remembered costs more than what is not.
        let kept = match (long, price.cache_write_1h) {
            (true, Some(_)) => Usage { cache_write_1h: all, ..out },
            _ => Usage { cache_write_5m: all, ..out },
        };
        price.cost(&Usage { input: all, ..out }).max(price.cost(&kept))
    }

    fn likely_output(&self) -> u64 {
        self.most.min(LIKELY_OUTPUT)
    }

    fn likely(&self, price: &Price) -> i64 {
        let output = self.likely_output();
        price.cost(&Usage { input: self.input, output, ..Usage::default() })
    }
}

impl Asked<'_> {
    /// Returns how a request asks a provider to serve it; told in another dialect it says nothing of that.
    pub(crate) fn tier(&self, route: &Route) -> Tier {
        if route.dialect == self.target.dialect { self.peek.tier } else { Tier::Standard }
    }

    fn today(&self) -> Date {
        self.board.clock.now().to_zoned(TimeZone::UTC).date()
    }

    fn amount(&self, model: &Model) -> Amount {
        let (input, beyond) = (self.input_estimate(), self.peek.beyond);
        let all = input * 4 / 3;
        let all = if beyond.reads || self.peek.continues {
            all.max(model.context.unwrap_or(WORST_INPUT))
        } else {
            all
        };
        let tool_calls = if beyond.tools { WORST_TOOL_CALLS } else { 0 };
        Amount { input, all, most: self.most(Some(model)), long: beyond.for_an_hour, tool_calls }
    }

    /// Returns how much may come out at most.
    fn most(&self, model: Option<&Model>) -> u64 {
        let able = model.and_then(|model| model.output);
        let most = self.peek.max_output.or(able).unwrap_or(WORST_OUTPUT);
        let most = most.min(able.unwrap_or(u64::MAX));
        most.saturating_mul(self.peek.choices.clamp(1, CHOICES_MAX))
    }

    /// Returns how much is likely to come out.
    pub(crate) fn likely_output(&self, route: &Route) -> u64 {
        let most = self.most(route.known.as_deref());
        most.min(LIKELY_OUTPUT)
    }

    /// Returns what the request costs at most and what it is likely to cost, if that is known. A provider may
    /// serve it as usual although it asks for less or for more, so what it costs at most is not below the usual.
    pub(crate) fn costs(&self, route: &Route) -> Option<(i64, i64)> {
        let known = route.known.as_ref().filter(|_| !route.own_login)?;
        let (today, amount) = (self.today(), self.amount(known));
        let mut worst = amount.at_most(known.price(today, amount.all)?);
        let mut likely = amount.likely(known.price(today, amount.input)?);
        let tier = self.tier(route);
        let price = |input, tier| known.price_of(today, &Usage { input, tier, ..Usage::default() });
        // Left to itself a provider may serve it before others.
        let risen = self.peek.any_tier && route.dialect == self.target.dialect;
        for tier in [Some(tier), risen.then_some(Tier::Priority)].into_iter().flatten() {
            if tier != Tier::Standard
                && let Some(price) = price(amount.all, tier)
            {
                worst = worst.max(amount.at_most(&price));
            }
        }
        if tier != Tier::Standard
            && let Some(price) = price(amount.input, tier)
        {
            likely = amount.likely(&price);
        }
        Some((worst, likely))
    }

    /// Returns what a request is likely to cost, unless nobody knows, or not of how it wants to be served.
    fn likely(&self, route: &Route) -> Option<i64> {
        let (input, tier) = (self.input_estimate(), self.tier(route));
        let usage = Usage { input, tier, ..Usage::default() };
        route.known.as_ref()?.price_of(self.today(), &usage)?;
        self.costs(route).map(|(_, likely)| likely)
    }

    /// Returns what the request itself allows, in millionths of a dollar.
    fn cost_limit(&self) -> Result<Option<f64>, Refusal> {
        let header = match header(&self.parts.headers, &COST_LIMIT) {
            Some(text) => {
                let limit = text.trim().trim_start_matches('$').parse::<f64>().ok();
                Some(limit.filter(|limit| limit.is_finite()).ok_or_else(|| {
                    Refusal::new(Trouble::Invalid, "x-godel-cost-limit is not a number of dollars")
                })?)
            }
            None => None,
        };
        let limit = header.or(self.peek.routing.as_ref().and_then(|routing| routing.cost_limit));
        Ok(limit.map(|limit| limit * 1e6))
    }

    /// Leaves out who is likely to cost more than the request's own limit, and of whom nobody knows what it
    /// costs. A subscription is paid for already.
    pub(crate) fn within_cost(&self, routes: &mut Vec<Arc<Route>>) -> Result<(), Refusal> {
        let Some(limit) = self.cost_limit()? else { return Ok(()) };
        let (mut least, mut unknown) = (None::<i64>, None);
        routes.retain(|route| match self.likely(route) {
            _ if route.own_login => true,
            Some(likely) => {
                least = Some(least.map_or(likely, |least| least.min(likely)));
                likely as f64 <= limit
            }
            None => {
                unknown.get_or_insert_with(|| Arc::clone(route));
                false
            }
        });
        let limit = dollars(limit as i64);
        let why = match (routes.first(), least, unknown) {
            (Some(_), ..) => return Ok(()),
            (None, Some(least), _) => format!(
                "the request is likely to cost {}, which is more than its own limit of {limit}",
                dollars(least)
            ),
            (None, None, Some(route)) => {
                let served = match self.tier(&route) {
                    Tier::Standard => String::new(),
                    tier => format!(" served as {}", tier.as_str()),
                };
                format!(
                    "nobody knows what {:?}{served} costs at {}, so the request cannot be held to its own \
                     limit of {limit}; name its price in the list of models, or ask without a limit",
                    route.model, route.provider
                )
            }
            (None, None, None) => return Ok(()),
        };
        Err(Refusal::new(Trouble::Budget, why))
    }

    /// Tells whether the request's own limit has room for two providers that are asked at the same time.
    pub(crate) fn affords_both(&self, first: &Route, second: &Route) -> bool {
        let Ok(Some(limit)) = self.cost_limit() else { return true };
        let both = [first, second].into_iter().filter_map(|route| self.likely(route)).sum::<i64>();
        both as f64 <= limit
    }
}
