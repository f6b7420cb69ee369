//! From a request to an answer.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;

use crate::ask::{Ask, Wire};
use crate::bench::{self, Ready};
use crate::control;
use crate::dialect::{Dialect, Refusal};
use crate::directive::Script;
use crate::fault::Fault;
use crate::models::{self, Shape};
use crate::perform::{Line, Play, acts};
use crate::record::{self, End, Ending, Recorded};
use crate::script;
use crate::stage::Stage;
use crate::work;

/// The largest request.
const BODY_MAX_BYTES: usize = 64 << 20;
/// Chooses the fast lane whatever the model is called.
const BENCH_HEADER: &str = "x-scripted-bench";
/// How many bytes a body lacks that lies about its length.
const LIE_BYTES: usize = 1000;

type Answer = Response<Either<Full<Bytes>, Play>>;

/// What a path asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Ask(Dialect, Option<(String, Wire)>),
    Count(Dialect),
    Models(Option<String>),
    /// A WebSocket, which is refused in the way that makes clients go on without.
    Socket,
    Probe,
    Nothing,
}

/// A request that was read, and the connection it came on.
struct Scene<'a> {
    stage: &'a Stage,
    line: Arc<Line>,
    ending: Arc<Ending>,
    body: Bytes,
}

/// Answers one request.
pub(crate) async fn answer(stage: &Stage, line: Arc<Line>, request: Request<Incoming>) -> Answer {
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, BODY_MAX_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return plain(413, "application/json", "{}".to_owned()),
    };
    let path = parts.uri.path();
    let query = parts.uri.query().unwrap_or_default();
    let target = target(&parts);
    if let Some(answer) = fast(stage, &line, &parts, &target, &body) {
        return answer;
    }
    if let Some((status, value)) = control::answer(stage, &parts.method, path, query, &body) {
        return plain(status, "application/json", value.to_string());
    }
    let recorded = Recorded {
        number: 0,
        at_ms: u64::try_from(stage.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        method: parts.method.to_string(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: record::headers(&parts.headers),
        body: body.clone(),
        status: 0,
        end: End::Open,
    };
    let (number, ending) = stage.book(|book| book.keep(recorded));
    let held = Held(Some(Arc::clone(&ending)));
    let scene = Scene { stage, line, ending, body };
    let mut answer = scene.play(&parts, target).await;
    held.hand_over();
    for (name, value) in stage.headers() {
        answer.headers_mut().insert(name, value);
    }
    let status = answer.status().as_u16();
    stage.book(|book| book.answered(number, status));
    stage.count(|stats| {
        stats.requests += 1;
        *stats.statuses.entry(status).or_default() += 1;
    });
    answer
}

/// A request without an answer; if it is dropped, its reader has left.
struct Held(Option<Arc<Ending>>);

impl Held {
    /// From now on the body knows how it ends.
    fn hand_over(mut self) {
        self.0 = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(ending) = &self.0 {
            ending.set(End::Dropped);
        }
    }
}

impl Scene<'_> {
    async fn play(&self, parts: &Parts, target: Target) -> Answer {
        let dialect = spoken(&target, parts);
        match &target {
            Target::Probe => return self.done(plain(200, "text/plain", String::new())),
            Target::Socket => return self.refuse(dialect, &Refusal::new(426, "use POST")),
            _ => {}
        }
        if !admitted(self.stage, parts, dialect) {
            self.stage.count(|stats| stats.strangers += 1);
            // Some providers quote the key that they do not like.
            let why = format!("this key is not one of mine: {}", shown(parts).join(" "));
            return self.refuse(dialect, &Refusal::new(401, why));
        }
        let fault = self.stage.server_fault();
        if let Some(answer) = self.fail(dialect, fault.as_ref()).await {
            return answer;
        }
        match target {
            Target::Ask(dialect, address) => {
                self.stage.count_dialect(dialect);
                self.converse(dialect, address, fault.unwrap_or_default()).await
            }
            Target::Count(dialect) => self.count(dialect),
            Target::Models(name) => self.models(parts, name),
            Target::Probe | Target::Socket | Target::Nothing => {
                self.refuse(dialect, &Refusal::new(404, "there is nothing here"))
            }
        }
    }

    /// Fails before the first byte, if the fault is of that kind.
    async fn fail(&self, dialect: Dialect, fault: Option<&Fault>) -> Option<Answer> {
        let fault = fault?;
        if let Some(delay) = fault.delay() {
            tokio::time::sleep(delay).await;
        }
        if fault.hang {
            std::future::pending::<()>().await;
        }
        if let Some(status) = fault.status {
            return Some(self.refuse_as(dialect, status, fault));
        }
        fault.empty.then(|| self.done(plain(200, "application/json", String::new())))
    }

    async fn converse(
        &self,
        dialect: Dialect,
        address: Option<(String, Wire)>,
        server_fault: Fault,
    ) -> Answer {
        let read = serde_json::from_slice::<Value>(&self.body)
            .map_err(|error| format!("the body is not JSON: {error}"));
        let address = address.as_ref().map(|(model, wire)| (model.as_str(), *wire));
        let ask = match read.and_then(|body| dialect.read(&body, address)) {
            Ok(ask) => ask,
            Err(message) => return self.refuse(dialect, &Refusal::new(400, message)),
        };
        let script = work::remembered(&ask, Script::parse(&ask.prompt));
        if let Err(refusal) = self.check(&ask, &script) {
            return self.refuse(dialect, &refusal);
        }
        let own = script::step_fault(&ask, &script)
            .filter(|fault| self.stage.happens(&ask.prompt, ask.round, fault));
        if let Some(answer) = self.fail(dialect, own).await {
            return answer;
        }
        let fault = own.cloned().unwrap_or(server_fault);
        let reply = script::reply(&ask, &script, &self.stage.mint, self.body.len(), &fault);
        self.stage.opaque(|opaque| opaque.issue(dialect, &reply));
        let frames = match ask.wire {
            Wire::Whole => vec![dialect.whole(&reply)],
            Wire::Sse | Wire::Array => dialect.frames(&reply, &ask),
        };
        self.send(&ask, frames, &fault, script.pace)
    }

    /// Makes the checks that a real provider makes.
    fn check(&self, ask: &Ask, script: &Script) -> Result<(), Refusal> {
        if ask.model.starts_with("missing-") {
            let message = format!("The model `{}` does not exist", ask.model);
            return Err(Refusal::new(404, message));
        }
        if let [first, ..] = script.errors.as_slice() {
            return Err(Refusal::new(400, format!("a directive cannot be read: {first}")));
        }
        ask.check_pairs().map_err(|message| Refusal::new(400, message))?;
        match self.stage.opaque(|opaque| opaque.check(ask)) {
            Ok(kept) => {
                self.stage.count(|stats| stats.seals_kept += kept);
                Ok(())
            }
            Err(message) => {
                self.stage.count(|stats| stats.seals_broken += 1);
                Err(Refusal::new(400, message))
            }
        }
    }

    fn send(
        &self,
        ask: &Ask,
        frames: Vec<String>,
        fault: &Fault,
        pace: Option<std::time::Duration>,
    ) -> Answer {
        let length: usize = frames.iter().map(String::len).sum();
        let failed = Refusal::new(500, "failed as the script says");
        let acts = acts(frames, fault, pace, || ask.dialect.error_frame(&failed, ask.wire));
        let play = Play::new(acts, Arc::clone(&self.line), Some(Arc::clone(&self.ending)));
        let mut answer = Response::new(Either::Right(play));
        let kind = if ask.wire == Wire::Sse { "text/event-stream" } else { "application/json" };
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let length = match (fault.lie_length, ask.wire) {
            (true, _) => Some(length + LIE_BYTES),
            (false, Wire::Whole) if !fault.malformed => Some(length),
            (false, _) => None,
        };
        if let Some(length) = length {
            answer.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        name(ask.dialect, answer.headers_mut());
        answer
    }

    fn count(&self, dialect: Dialect) -> Answer {
        let tokens = (self.body.len() / 4).max(1);
        let field = if dialect == Dialect::Gemini { "totalTokens" } else { "input_tokens" };
        self.done(plain(200, "application/json", format!("{{\"{field}\":{tokens}}}")))
    }

    fn models(&self, parts: &Parts, name: Option<String>) -> Answer {
        let shape = shape(parts);
        let text = match name {
            None => models::list(shape, &self.stage.models),
            Some(name) if self.stage.models.contains(&name) => models::entry(shape, &name),
            Some(name) => {
                let dialect = spoken(&Target::Models(None), parts);
                let message = format!("The model `{name}` does not exist");
                return self.refuse(dialect, &Refusal::new(404, message));
            }
        };
        self.done(plain(200, "application/json", text))
    }

    fn refuse(&self, dialect: Dialect, refusal: &Refusal) -> Answer {
        let mut answer = plain(refusal.status, "application/json", dialect.refusal(refusal));
        if let Some(seconds) = refusal.retry_after {
            answer.headers_mut().insert("retry-after", seconds.into());
        }
        name(dialect, answer.headers_mut());
        self.done(answer)
    }

    fn refuse_as(&self, dialect: Dialect, status: u16, fault: &Fault) -> Answer {
        let mut refusal = Refusal::new(status, format!("failed with {status} as the script says"));
        if fault.overflow {
            let (message, code) = dialect.overflow();
            refusal.message = message.to_owned();
            refusal.code = code.map(str::to_owned);
        }
        refusal.code = fault.code.clone().or(refusal.code);
        refusal.retry_after = fault.retry_after;
        let mut answer = self.refuse(dialect, &refusal);
        if let Some(retry) = fault.should_retry {
            let value = HeaderValue::from_static(if retry { "true" } else { "false" });
            answer.headers_mut().insert("x-should-retry", value);
        }
        answer
    }

    /// Notes that nothing more will come.
    fn done(&self, answer: Answer) -> Answer {
        self.ending.set(End::Whole);
        answer
    }
}

/// Answers from what was made before, if the request asks for that.
fn fast(
    stage: &Stage,
    line: &Arc<Line>,
    parts: &Parts,
    target: &Target,
    body: &[u8],
) -> Option<Answer> {
    let Target::Ask(dialect, address) = target else {
        return None;
    };
    let header = parts.headers.get(BENCH_HEADER).and_then(|value| value.to_str().ok());
    let in_path = address.as_ref().map(|(model, _)| model.as_str());
    let name = header.or(in_path.filter(|model| model.starts_with("bench-")));
    let ready = stage.lane.answer(*dialect, name.or_else(|| bench::named(body))?)?;
    if !admitted(stage, parts, *dialect) {
        return None;
    }
    stage.count_bench();
    let (kind, body) = match ready {
        Ready::Whole(body) => ("application/json", Either::Left(Full::new(body))),
        Ready::Burst(body) => ("text/event-stream", Either::Left(Full::new(body))),
        Ready::Paced(acts) => {
            let play = Play::new(acts.to_vec(), Arc::clone(line), None);
            ("text/event-stream", Either::Right(play))
        }
    };
    let mut answer = Response::new(body);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Some(answer)
}

fn target(parts: &Parts) -> Target {
    let path = parts.uri.path();
    let after = |mark: &str| path.find(mark).map(|at| &path[at + mark.len()..]);
    let (beta, rest) = match (after("/v1beta/"), after("/v1/")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) if parts.method == Method::HEAD || path == "/" => return Target::Probe,
        (None, None) => return Target::Nothing,
    };
    let posts = parts.method == Method::POST;
    match rest {
        "chat/completions" if posts && !beta => Target::Ask(Dialect::Chat, None),
        "responses" if posts && !beta => Target::Ask(Dialect::Responses, None),
        "responses" if !beta => Target::Socket,
        "messages" if posts && !beta => Target::Ask(Dialect::Anthropic, None),
        "messages/count_tokens" if posts && !beta => Target::Count(Dialect::Anthropic),
        "responses/input_tokens" if posts && !beta => Target::Count(Dialect::Responses),
        "models" => Target::Models(None),
        _ => match rest.strip_prefix("models/").map(|rest| rest.rsplit_once(':').ok_or(rest)) {
            Some(Ok((model, verb))) if posts => generate(parts, model, verb),
            Some(Err(model)) if !posts => Target::Models(Some(model.to_owned())),
            _ => Target::Nothing,
        },
    }
}

fn generate(parts: &Parts, model: &str, verb: &str) -> Target {
    let sse = parts.uri.query().unwrap_or_default().split('&').any(|pair| pair == "alt=sse");
    let wire = match (verb, sse) {
        ("generateContent", _) => Wire::Whole,
        ("streamGenerateContent", true) => Wire::Sse,
        ("streamGenerateContent", false) => Wire::Array,
        ("countTokens", _) => return Target::Count(Dialect::Gemini),
        _ => return Target::Nothing,
    };
    Target::Ask(Dialect::Gemini, Some((model.to_owned(), wire)))
}

/// The dialect in which a refusal is understood.
fn spoken(target: &Target, parts: &Parts) -> Dialect {
    match target {
        Target::Ask(dialect, _) | Target::Count(dialect) => *dialect,
        Target::Models(_) | Target::Socket | Target::Probe | Target::Nothing => {
            match shape(parts) {
                Shape::OpenAi => Dialect::Chat,
                Shape::Anthropic => Dialect::Anthropic,
                Shape::Gemini => Dialect::Gemini,
            }
        }
    }
}

fn shape(parts: &Parts) -> Shape {
    let has = |name: &str| parts.headers.contains_key(name);
    if has("x-goog-api-key") || query_key(parts).is_some() || parts.uri.path().contains("/v1beta/")
    {
        Shape::Gemini
    } else if has("anthropic-version") {
        Shape::Anthropic
    } else {
        Shape::OpenAi
    }
}

/// Whether the request shows a key of this server where its dialect has it, and no other anywhere.
fn admitted(stage: &Stage, parts: &Parts, dialect: Dialect) -> bool {
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = header("authorization").map(|text| text.strip_prefix("Bearer ").unwrap_or(text));
    let azure = header("api-key");
    let shown = [bearer, header("x-api-key"), header("x-goog-api-key"), query_key(parts), azure];
    let [bearer, api, google, query, azure] = shown;
    let proper = match dialect {
        Dialect::Chat | Dialect::Responses => bearer.or(azure),
        Dialect::Anthropic => api.or(bearer),
        Dialect::Gemini => google.or(query),
    };
    proper.is_some() && shown.into_iter().flatten().all(|key| stage.knows(key))
}

/// Every key that a request shows.
fn shown(parts: &Parts) -> Vec<&str> {
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = header("authorization").map(|text| text.strip_prefix("Bearer ").unwrap_or(text));
    [bearer, header("x-api-key"), header("x-goog-api-key"), query_key(parts)]
        .into_iter()
        .flatten()
        .collect()
}

fn query_key(parts: &Parts) -> Option<&str> {
    parts.uri.query()?.split('&').find_map(|pair| pair.strip_prefix("key="))
}

/// Names the request as the dialect does.
fn name(dialect: Dialect, headers: &mut HeaderMap) {
    let name = match dialect {
        Dialect::Anthropic => "request-id",
        Dialect::Chat | Dialect::Responses | Dialect::Gemini => "x-request-id",
    };
    headers.insert(name, HeaderValue::from_static("req_scripted"));
}

fn plain(status: u16, kind: &'static str, text: String) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(text.into())));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
