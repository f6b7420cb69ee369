//! Asking one provider after the other until one answers.

use std::time::Duration;

use bytes::Bytes;
use godel_llm::translate::{self, Ask, Back, Place as Keeper, Thinks};
use godel_llm::{Dialect, Edit, ReplyMeter, StreamMeter, Trouble};
use godel_model::{CallStart, Outcome};
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Collected, Limited};
use hyper::body::Incoming;
use memchr::memmem;

use crate::ask::{Asked, MaybePlace, refused};
use crate::board::Refusal;
use crate::health::Failure;
use crate::ledger::Ended;
use crate::limits::Place;
use crate::relay::{ProxyBody, RelayBody, Told, Way};
use crate::route::Route;
use crate::running::{Begin, Running};
use crate::upstream::Order;

/// The largest reply that is told in another dialect as a whole.
const REPLY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// How much of a failure is read.
const FAILURE_MAX_BYTES: usize = 256 * 1024;
/// For how long a provider is left alone that does not take our key.
const BAD_KEY_SECONDS: u64 = 60;

/// Why an attempt failed.
#[derive(Debug)]
struct Failed {
    kind: FailedKind,
    status: u16,
    why: String,
    body: Bytes,
    content_type: Option<HeaderValue>,
    retry_after: Option<u64>,
    /// Whether the client speaks the provider's dialect.
    same: bool,
    provider: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailedKind {
    /// Another provider, or a later try, may do better.
    Transient,
    /// The provider does not take our key.
    Key,
    /// The provider wants to be left alone.
    Limited,
    /// The request itself is refused; nobody would do better.
    Request,
}

/// What an attempt came to.
enum Tried {
    Answered(Response<ProxyBody>),
    Failed(Box<Failed>, Option<Ended>, MaybePlace),
}

impl Asked<'_> {
    /// Asks one after the other until one answers.
    pub(crate) async fn try_all(
        &self,
        routes: Vec<Route>,
        place: Place,
    ) -> Result<Response<ProxyBody>, Refusal> {
        let (mut place, mut closing, mut last) = (Some(place), None, None::<Box<Failed>>);
        let mut attempt = 0;
        let mut first_provider: Option<String> = None;
        let tries = routes.len().max(self.config.attempts as usize);
        for turn in 0..tries {
            let route = &routes[turn % routes.len()];
            if attempt >= self.config.attempts {
                break;
            }
            if turn >= routes.len() && !self.may_retry(last.as_deref()).await {
                break;
            }
            // What one provider keeps to itself must not reach another.
            let pinned = first_provider.as_ref().is_some_and(|first| *first != route.provider);
            if pinned && self.has_state() {
                continue;
            }
            let now = self.board.clock.now();
            if !self.board.health.admits(&route.provider, route.key_id(), now) {
                continue;
            }
            attempt += 1;
            first_provider.get_or_insert_with(|| route.provider.clone());
            match self.attempt(route, attempt, &mut place, closing.take()).await? {
                Tried::Answered(response) => return Ok(response),
                Tried::Failed(failed, ended, kept) => {
                    (closing, place) = (ended, kept);
                    let over = failed.kind == FailedKind::Request;
                    last = Some(failed);
                    if over {
                        break;
                    }
                }
            }
        }
        drop(closing);
        self.gave_up(last, &routes)
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

    /// Tells whether the request carries what only one provider understands.
    fn has_state(&self) -> bool {
        let marks: &[&[u8]] = &[
            b"\"encrypted_content\"",
            b"\"signature\"",
            b"\"thoughtSignature\"",
            b"redacted_thinking",
        ];
        self.peek.continues || marks.iter().any(|mark| memmem::find(&self.body, mark).is_some())
    }

    async fn attempt(
        &self,
        route: &Route,
        attempt: u32,
        place: &mut MaybePlace,
        after: Option<Ended>,
    ) -> Result<Tried, Refusal> {
        let (body, back) = self.body_for(route)?;
        let costs = self.costs(route);
        let now = self.board.clock.now();
        let id = if attempt == 1 { self.id } else { self.board.mint.id() };
        let start = CallStart {
            id,
            request: self.id,
            attempt,
            at: now,
            purpose: self.who.purpose.clone(),
            dialect: self.target.dialect.name(),
            asked: clip(&self.model),
            provider: route.provider.clone(),
            model: clip(&route.model),
            streamed: self.stream,
            session: self.session(),
            worst: costs.map(|(worst, _)| worst),
            held: Vec::new(),
        };
        let budgets = std::sync::Arc::clone(&self.who.budgets);
        let opened = self.board.ledger.open(start, costs.unwrap_or((0, 0)), budgets, after).await;
        let start = opened.map_err(|refusal| refused(refusal, now))?;
        let begin = Begin {
            start,
            route: route.clone(),
            input_estimate: self.input_estimate(),
            own_login: self.own_login,
        };
        let running = Running::new(std::sync::Arc::clone(&self.board), begin, place.take());
        Ok(self.ask(running, body, back).await)
    }

    fn session(&self) -> Option<String> {
        let headers = &self.parts.headers;
        let names = ["x-claude-code-session-id", "session-id", "session_id", "x-session-id"];
        let named = names.iter().find_map(|name| crate::ask::header(headers, name));
        named.map(clip).or_else(|| self.peek.session.as_deref().map(clip))
    }

    /// Returns the request as the provider gets it, and how its reply is told to the client.
    fn body_for(&self, route: &Route) -> Result<(Bytes, Option<Back>), Refusal> {
        let dialect = self.target.dialect;
        if route.dialect == dialect {
            let include_usage = dialect == Dialect::Chat && self.stream;
            let edit = Edit { model: Some(&route.model), include_usage };
            let edited = self.peek.edited(&self.body, &edit);
            return Ok((edited.map_or_else(|| self.body.clone(), Bytes::from), None));
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

    fn keepsakes(&self) -> std::sync::MutexGuard<'_, translate::Keepsakes> {
        self.board.keepsakes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn order<'a>(&'a self, route: &'a Route) -> Order<'a> {
        Order {
            provider: &self.config.providers[&route.provider],
            dialect: route.dialect,
            model: &route.model,
            stream: self.stream,
            rest: self.target.rest,
            query: self.parts.uri.query(),
            key: route.key.as_deref(),
            headers: &self.parts.headers,
            same: route.dialect == self.target.dialect,
            own_login: self.own_login,
        }
    }

    /// Asks for the number of tokens; nothing if the provider does not tell.
    pub(crate) async fn ask_for_count(&self, route: &Route) -> Option<Response<ProxyBody>> {
        let rest = if route.dialect == Dialect::Gemini { "countTokens" } else { "/count_tokens" };
        let order = Order { rest, stream: false, ..self.order(route) };
        let edit = Edit { model: Some(&route.model), include_usage: false };
        let body =
            self.peek.edited(&self.body, &edit).map_or_else(|| self.body.clone(), Bytes::from);
        let asked = self.board.upstream.ask(order.request(body)?);
        let response = tokio::time::timeout(Duration::from_secs(20), asked).await.ok()?.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let body = Limited::new(response.into_body(), FAILURE_MAX_BYTES).collect().await.ok()?;
        let mut answer = Response::new(body.to_bytes().into());
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Some(answer)
    }

    async fn ask(&self, mut running: Running, body: Bytes, back: Option<Back>) -> Tried {
        let route = running.route.clone();
        let Some(request) = self.order(&route).request(body) else {
            let failed = self.failure(&route, FailedKind::Request, "its address makes no sense");
            return self.failed(running, failed);
        };
        let asked = tokio::time::timeout(self.config.first_byte, self.board.upstream.ask(request));
        let mut response = match asked.await {
            Ok(Ok(response)) => response,
            Ok(Err(why)) => {
                let failed = self.failure(&route, FailedKind::Transient, &why);
                return self.failed(running, failed);
            }
            Err(_) => {
                let why = format!("no answer in {} s", self.config.first_byte.as_secs());
                let failed = self.failure(&route, FailedKind::Transient, &why);
                return self.failed(running, failed);
            }
        };
        running.status = Some(response.status().as_u16());
        if !response.status().is_success() {
            let failed = self.read_failure(&route, response).await;
            return self.failed(running, failed);
        }
        // Until the first bytes are there, somebody else can still be asked.
        let frame = tokio::time::timeout(self.config.first_byte, response.body_mut().frame()).await;
        let first = match frame {
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(None) => Bytes::new(),
            Ok(Some(Err(error))) => {
                let failed = self.failure(&route, FailedKind::Transient, &error.to_string());
                return self.failed(running, failed);
            }
            Err(_) => {
                let failed = self.failure(&route, FailedKind::Transient, "no first byte in time");
                return self.failed(running, failed);
            }
        };
        running.first_byte();
        match back {
            Some(back) if !self.stream => self.tell_whole(running, response, first, &back).await,
            back => Tried::Answered(self.relay(running, response, first, back)),
        }
    }

    /// Lets a reply go on to the client while it comes.
    fn relay(
        &self,
        running: Running,
        response: Response<Incoming>,
        first: Bytes,
        back: Option<Back>,
    ) -> Response<ProxyBody> {
        let (head, upstream) = response.into_parts();
        let content_type = head.headers.get(CONTENT_TYPE).cloned();
        let is_stream = content_type
            .as_ref()
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let route = &running.route;
        let way = match back {
            Some(back) => {
                let keep = self.keep(route);
                Way::Told(Box::new(Told { translation: back.stream(), keep }))
            }
            None if is_stream => {
                Way::Stream(StreamMeter::new(route.dialect, !self.peek.include_usage))
            }
            None => Way::Whole(ReplyMeter::new(route.dialect)),
        };
        let kind = match &way {
            Way::Told(_) => Some(self.told_type()),
            _ => content_type,
        };
        let body = RelayBody {
            upstream,
            first: Some(first),
            way,
            running,
            client: self.target.dialect,
            request_id: self.id.to_string(),
            idle: self.config.idle,
            timer: Box::pin(tokio::time::sleep(self.config.idle)),
            done: false,
            remember: self.remember(),
        };
        let mut answer = Response::new(ProxyBody::from(body));
        *answer.status_mut() = head.status;
        if let Some(kind) = kind {
            answer.headers_mut().insert(CONTENT_TYPE, kind);
        }
        answer
    }

    /// Returns what keeps the reply to be given again, if it was asked for.
    fn remember(&self) -> Option<crate::relay::Remember> {
        let (key, board) = (self.cache?, std::sync::Arc::clone(&self.board));
        let config = self.config.cache;
        Some(Box::new(move |body| board.cache.put(key, body, config, board.clock.now())))
    }

    fn told_type(&self) -> HeaderValue {
        let array = self.target.dialect == Dialect::Gemini
            && !self.parts.uri.query().unwrap_or_default().contains("alt=sse");
        HeaderValue::from_static(if array { "application/json" } else { "text/event-stream" })
    }

    /// Returns what keeps what only the provider understands until the next turn.
    fn keep(&self, route: &Route) -> crate::relay::Keep {
        let (board, provider) = (std::sync::Arc::clone(&self.board), route.provider.clone());
        let scope = self.who.purpose.tenant.to_string();
        Box::new(move |keepsakes| {
            let now = board.clock.now().as_second();
            let mut all = board.keepsakes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            for keepsake in keepsakes {
                all.put(Keeper { scope: &scope, provider: &provider }, keepsake, now);
            }
        })
    }

    /// Tells a whole reply in the client's dialect.
    async fn tell_whole(
        &self,
        mut running: Running,
        response: Response<Incoming>,
        first: Bytes,
        back: &Back,
    ) -> Tried {
        let route = running.route.clone();
        let rest = Limited::new(response.into_body(), REPLY_MAX_BYTES).collect().await;
        let rest = match rest {
            Ok(rest) => rest.to_bytes(),
            Err(error) => {
                let failed = self.failure(&route, FailedKind::Transient, &error.to_string());
                return self.failed(running, failed);
            }
        };
        let whole = [first.as_ref(), rest.as_ref()].concat();
        match back.reply(&whole) {
            Ok(answer) => {
                (self.keep(&route))(answer.keepsakes);
                running.relayed = answer.body.len() as u64;
                running.finish(Outcome::Ok, answer.usage, None);
                let body = Bytes::from(answer.body);
                if let Some(remember) = self.remember() {
                    remember(body.clone());
                }
                let mut response = Response::new(ProxyBody::from(body));
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
                Tried::Answered(response)
            }
            Err(error) => {
                let failed = self.failure(&route, FailedKind::Transient, &error.to_string());
                self.failed(running, failed)
            }
        }
    }

    fn failure(&self, route: &Route, kind: FailedKind, why: &str) -> Failed {
        Failed {
            kind,
            status: 0,
            why: why.to_owned(),
            body: Bytes::new(),
            content_type: None,
            retry_after: None,
            same: route.dialect == self.target.dialect,
            provider: route.provider.clone(),
        }
    }

    /// Reads why a provider refused or failed.
    async fn read_failure(&self, route: &Route, response: Response<Incoming>) -> Failed {
        let (head, body) = response.into_parts();
        let body = Limited::new(body, FAILURE_MAX_BYTES).collect();
        let body = tokio::time::timeout(Duration::from_secs(10), body).await;
        let body = body.ok().and_then(Result::ok).map(Collected::to_bytes).unwrap_or_default();
        let status = head.status.as_u16();
        let kind = match status {
            401 | 403 if !self.own_login => FailedKind::Key,
            429 => FailedKind::Limited,
            408 | 500..=599 => FailedKind::Transient,
            _ => FailedKind::Request,
        };
        let hint = crate::ask::header(&head.headers, RETRY_AFTER.as_str());
        Failed {
            status,
            why: format!("{status} {}", message_of(&body)),
            retry_after: hint
                .and_then(|text| text.trim().parse::<f64>().ok())
                .map(|s| s.ceil() as u64),
            content_type: head.headers.get(CONTENT_TYPE).cloned(),
            body,
            ..self.failure(route, kind, "")
        }
    }

    fn failed(&self, mut running: Running, failed: Failed) -> Tried {
        let now = self.board.clock.now();
        let (provider, key) = (running.route.provider.clone(), running.route.key_id());
        let rest = match failed.kind {
            FailedKind::Key => Some(BAD_KEY_SECONDS),
            FailedKind::Limited => Some(failed.retry_after.unwrap_or(5)),
            FailedKind::Transient => failed.retry_after,
            FailedKind::Request => None,
        };
        if failed.kind != FailedKind::Request {
            let failure =
                Failure { why: failed.why.clone(), rest, shut: failed.kind == FailedKind::Key };
            if self.board.health.failed(&provider, key, &failure, now) {
                self.board.tell_down(self.who.purpose.tenant, &provider, &failed.why);
            }
        }
        let place = running.take_place();
        let ended = running.failed(&failed.why);
        Tried::Failed(Box::new(failed), ended, place)
    }

    /// Tells the client that nobody answered.
    fn gave_up(
        &self,
        last: Option<Box<Failed>>,
        routes: &[Route],
    ) -> Result<Response<ProxyBody>, Refusal> {
        let Some(failed) = last else {
            let now = self.board.clock.now();
            let wait = |route: &Route| {
                self.board.health.opens_in(&route.provider, route.key_id(), now).unwrap_or(1)
            };
            let seconds = routes.iter().map(wait).min().unwrap_or(5);
            let rests =
                |route: &Route| self.board.health.is_resting(&route.provider, route.key_id(), now);
            if routes.iter().all(rests) {
                let why =
                    format!("every provider of {:?} asked to be left alone for now", self.model);
                return Err(Refusal::new(Trouble::RateLimited(seconds), why));
            }
            let why =
                format!("every provider of {:?} is failing; it is tried again soon", self.model);
            return Err(Refusal::new(Trouble::Overloaded(seconds), why));
        };
        let Failed { kind, status, provider, .. } = &*failed;
        if *kind == FailedKind::Key {
            let why = format!(
                "the provider {provider} does not take this server's key; an admin sets another with \
                 `godel secret set {provider}`"
            );
            return Err(Refusal::new(Trouble::BadGateway, why));
        }
        if failed.same && *status != 0 && !failed.body.is_empty() {
            return Ok(passed_on(*failed));
        }
        let why = format!("the provider {provider} failed: {}", failed.why);
        let trouble = match (kind, status) {
            (FailedKind::Limited, _) => Trouble::RateLimited(failed.retry_after.unwrap_or(5)),
            (FailedKind::Request, 402) => Trouble::Budget,
            (FailedKind::Request, 404) => Trouble::NoModel,
            (FailedKind::Request, 413) => Trouble::TooLarge,
            (FailedKind::Request, _) => Trouble::Invalid,
            (_, 504) => Trouble::Timeout,
            _ => Trouble::Overloaded(failed.retry_after.unwrap_or(5)),
        };
        // Clients look for these very words to make their context smaller.
        let message = if *kind == FailedKind::Request { message_of(&failed.body) } else { why };
        Err(Refusal::new(trouble, message))
    }
}

/// Passes a refusal on as the provider wrote it, with the hint that clients wait for.
fn passed_on(failed: Failed) -> Response<ProxyBody> {
    let mut response = Response::new(ProxyBody::from(failed.body));
    *response.status_mut() = StatusCode::from_u16(failed.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(CONTENT_TYPE, failed.content_type.unwrap_or(json));
    let wait = match failed.kind {
        FailedKind::Limited => Some(failed.retry_after.unwrap_or(5)),
        _ => failed.retry_after,
    };
    if let Some(seconds) = wait {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Returns what an error of any dialect says.
fn message_of(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let value = if value.is_array() { value[0].clone() } else { value };
    let message = value["error"]["message"].as_str().or(value["message"].as_str());
    let text =
        message.map_or_else(|| String::from_utf8_lossy(body).into_owned(), ToOwned::to_owned);
    text.chars().take(1_000).collect()
}

fn clip(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
