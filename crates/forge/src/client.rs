//! Requests to a forge: one host, one token, and limits on everything.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use godel_model::{Clock as _, SystemClock};
use godel_tls::Trust;
use reqwest::header::{ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, LOCATION};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::place::{Kind, Place};
use crate::{forge, wait};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a whole request may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The largest answer that is read.
const ANSWER_MAX_BYTES: usize = 4 << 20;
/// How often a question is asked again at once.
const RETRIES: u32 = 2;
/// The pause before the first of them; the next is twice as long.
const PAUSE: Duration = Duration::from_millis(250);
/// After this time nothing is asked again by itself; what takes longer is for the caller.
const WAIT_MAX: Duration = Duration::from_secs(3);
/// How many answers are remembered, to be asked for only if they changed.
const KNOWN_MAX: usize = 200;
/// How often a question follows the same forge to another address.
const STEPS_MAX: usize = 3;
/// How much of what a forge says is passed on.
const SAID_MAX_CHARS: usize = 500;

/// An answer that is remembered, and the mark by which the forge knows it again.
struct Known {
    mark: HeaderValue,
    body: Value,
}

/// Speaks to one repository on one forge.
pub(crate) struct Client {
    place: Place,
    token: SecretString,
    http: reqwest::Client,
    known: Mutex<HashMap<String, Known>>,
}

/// One request.
pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) body: Option<Value>,
    /// What it is about, for people.
    pub(crate) about: &'a str,
}

impl Client {
    pub(crate) fn new(place: Place, token: SecretString) -> Result<Self> {
        let cannot = |why: String| Error::Away { host: place.host.clone(), why, after: None };
        let encrypted = place.api.starts_with("https://");
        // Reading the authorities of a machine takes a while, so only those who need them do.
        let trust = if encrypted { Trust::System } else { Trust::Nobody };
        let tls = godel_tls::client_config(&trust).map_err(|error| cannot(error.to_string()))?;
        let builder = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .timeout(PATIENCE)
            .user_agent(concat!("godel/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .https_only(encrypted)
            .tls_backend_preconfigured(tls);
        let builder = if encrypted { builder } else { builder.no_proxy() };
        let http = builder.build().map_err(|error| cannot(error.to_string()))?;
        Ok(Self { place, token, http, known: Mutex::default() })
    }

    pub(crate) const fn place(&self) -> &Place {
        &self.place
    }

    /// Asks a question; what did not change is not sent again.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        (path, query): (String, &[(&str, &str)]),
        about: &str,
    ) -> Result<T> {
        let ask = Ask { method: Method::GET, path, query, body: None, about };
        self.read(self.answer(&ask).await?)
    }

    /// Wants something changed.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        (method, path): (Method, String),
        body: Value,
        about: &str,
    ) -> Result<T> {
        let ask = Ask { method, path, query: &[], body: Some(body), about };
        self.read(self.answer(&ask).await?)
    }

    fn read<T: DeserializeOwned>(&self, body: Value) -> Result<T> {
        serde_json::from_value(body).map_err(|error| self.garbled(error.to_string()))
    }

    pub(crate) fn garbled(&self, why: String) -> Error {
        Error::Garbled { host: self.place.host.clone(), why }
    }

    fn away(&self, why: String, after: Option<Duration>) -> Error {
        Error::Away { host: self.place.host.clone(), why, after }
    }

    /// Asks until there is an answer; only a question is asked twice.
    async fn answer(&self, ask: &Ask<'_>) -> Result<Value> {
        let mut tries = 0;
        let begun = tokio::time::Instant::now();
        loop {
            let error = match self.once(ask).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            // A limit is a refusal before anything was done, so that even a wish may be said again.
            let again = match &error {
                Error::Limited { after, .. } => after.is_some(),
                Error::Away { .. } => ask.method == Method::GET,
                _ => false,
            };
            let pause = error.after().unwrap_or(PAUSE * 2_u32.pow(tries));
            // One that is slow is not asked again while others wait.
            let slow = begun.elapsed() + pause > WAIT_MAX;
            if !again || tries >= RETRIES || slow {
                return Err(error);
            }
            tries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    async fn once(&self, ask: &Ask<'_>) -> Result<Value> {
        let text = format!("{}{}", self.place.api, ask.path);
        let parsed = Url::parse_with_params(&text, ask.query);
        let mut url = parsed.map_err(|_| self.garbled(format!("{text} is no address")))?;
        if ask.query.is_empty() {
            url.set_query(None);
        }
        let home = url.origin();
        for _ in 0..STEPS_MAX {
            let response =
                self.signed(ask, &url).send().await.map_err(|error| self.lost(&error))?;
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED
            {
                return self.judge(ask, &url, response).await;
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let next = to.and_then(|to| url.join(to).ok());
            match next {
                // A wish would become a question on the way.
                Some(next) if ask.method == Method::GET && next.origin() == home => url = next,
                next => return Err(self.moved(next.as_ref())),
            }
        }
        Err(self.away("it leads in circles".to_owned(), None))
    }

    fn moved(&self, to: Option<&Url>) -> Error {
        let Place { host, repo, .. } = &self.place;
        let to = to.and_then(Url::host_str).unwrap_or("another address").to_owned();
        Error::Moved { host: host.clone(), what: repo.clone(), to }
    }

    fn signed(&self, ask: &Ask<'_>, url: &Url) -> RequestBuilder {
        let token = self.token.expose_secret().trim();
        let request = self.http.request(ask.method.clone(), url.clone());
        let mut request = match self.place.kind {
            Kind::GitHub => request
                .header("accept", "application/vnd.github+json")
                .header("x-github-api-version", "2022-11-28")
                .header("authorization", secret(&format!("Bearer {token}"))),
            Kind::GitLab => {
                request.header("accept", "application/json").header("private-token", secret(token))
            }
        };
        if let Some(body) = &ask.body {
            request = request.json(body);
        } else if let Some(known) = self.known().get(url.as_str()) {
            request = request.header(IF_NONE_MATCH, known.mark.clone());
        }
        request
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says why there is no answer, without the address: it may say more than people should see.
    fn lost(&self, error: &reqwest::Error) -> Error {
        let refusal = error.source().and_then(godel_tls::refusal);
        let why = match (refusal, error.is_timeout()) {
            (Some(why), _) => why,
            (None, true) => format!("it took more than {} seconds", PATIENCE.as_secs()),
            (None, false) => deepest(error),
        };
        self.away(why, None)
    }

    async fn judge(&self, ask: &Ask<'_>, url: &Url, response: Response) -> Result<Value> {
        let (status, headers) = (response.status(), response.headers().clone());
        if status == StatusCode::NOT_MODIFIED {
            let known = self.known().get(url.as_str()).map(|known| known.body.clone());
            return known.ok_or_else(|| self.garbled("nothing has changed since never".to_owned()));
        }
        let bytes = self.bytes(response).await?;
        let body = serde_json::from_slice::<Value>(&bytes);
        if status.is_success() {
            let body = body.map_err(|error| self.garbled(error.to_string()))?;
            if let (true, Some(mark)) = (ask.method == Method::GET, headers.get(ETAG)) {
                self.remember(url, Known { mark: mark.clone(), body: body.clone() });
            }
            return Ok(body);
        }
        let said = body.ok().and_then(|body| said(&body));
        Err(self.refusal(status, &headers, said.unwrap_or_default(), ask.about))
    }

    fn remember(&self, url: &Url, answer: Known) {
        let mut known = self.known();
        if known.len() >= KNOWN_MAX && !known.contains_key(url.as_str()) {
            // Whatever is asked for again is remembered again.
            known.clear();
        }
        known.insert(url.to_string(), answer);
    }

    async fn bytes(&self, mut response: Response) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if bytes.len() + chunk.len() <= ANSWER_MAX_BYTES => {
                    bytes.extend_from_slice(&chunk);
                }
                Ok(Some(_)) => {
                    let most = ANSWER_MAX_BYTES >> 20;
                    return Err(self.garbled(format!("it has more than {most} MiB")));
                }
                Ok(None) => return Ok(bytes),
                Err(error) => return Err(self.lost(&error)),
            }
        }
    }

    fn refusal(&self, status: StatusCode, headers: &HeaderMap, said: String, about: &str) -> Error {
        let Place { host, repo, secret, .. } = &self.place;
        let (host, secret) = (host.clone(), secret.clone());
        let after = wait::told(headers, SystemClock.now());
        let shown = if said.is_empty() { format!("status {}", status.as_u16()) } else { said };
        let limited = after.is_some() || shown.to_ascii_lowercase().contains("rate limit");
        match status.as_u16() {
            429 => Error::Limited { host, after },
            403 if limited => Error::Limited { host, after },
            401 => Error::Unauthorized { host, secret },
            403 => Error::Forbidden { host, secret, said: shown },
            404 | 410 => Error::Missing { host, what: format!("{about} of {repo}"), secret },
            408 | 425 | 500.. => Error::Away { host, why: shown, after },
            _ => Error::Refused { host, said: shown },
        }
    }
}

/// A value that is shown nowhere.
fn secret(text: &str) -> HeaderValue {
    let value = HeaderValue::from_str(text);
    // What cannot be part of a request is no token; the forge says so.
    let mut value = value.unwrap_or_else(|_| HeaderValue::from_static("unusable"));
    value.set_sensitive(true);
    value
}

fn deepest(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text = if error.source().is_none() {
        "the connection broke".to_owned()
    } else {
        cause.to_string()
    };
    forge::cut(&text, SAID_MAX_CHARS).to_owned()
}

/// Takes out of a refusal what is for people: both forges have several shapes for it.
fn said(body: &Value) -> Option<String> {
    let mut parts = Vec::new();
    for name in ["message", "error", "errors", "error_description"] {
        gather(&body[name], name, &mut parts);
    }
    let text = parts.join("; ");
    let text: String = text.chars().filter(|c| !c.is_control()).take(SAID_MAX_CHARS).collect();
    (!text.is_empty()).then_some(text)
}

fn gather(value: &Value, name: &str, parts: &mut Vec<String>) {
    if parts.len() > 20 {
        return;
    }
    match value {
        Value::String(text) => parts.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| gather(one, name, parts)),
        Value::Object(fields) => match fields.get("message").or_else(|| fields.get("code")) {
            Some(text) => {
                let field = fields.get("field").and_then(Value::as_str).unwrap_or(name);
                if let Some(text) = text.as_str() {
                    parts.push(format!("{field}: {text}"));
                }
            }
            None => fields.iter().for_each(|(name, value)| gather(value, name, parts)),
        },
        _ => {}
    }
}
