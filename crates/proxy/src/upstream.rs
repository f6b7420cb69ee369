//! Asking a provider.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use godel_llm::Dialect;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::Full;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use tower::ServiceExt as _;

use crate::config::{Auth, Provider};
use crate::keys::Key;
use crate::link::{Idle, Link, Reply};
use crate::route::Made;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// A client of providers.
#[derive(Debug, Default)]
pub(crate) struct Upstream {
    connector: OnceLock<HttpsConnector<HttpConnector>>,
    idle: Arc<Idle>,
}

/// A request, and the place to which it goes: scheme and authority of its address.
#[derive(Debug)]
pub(crate) struct Letter {
    place: Arc<str>,
    request: Request<Full<Bytes>>,
}

impl Letter {
    /// Takes a request with its whole address; nothing if that makes no sense.
    pub(crate) fn new(mut request: Request<Full<Bytes>>) -> Option<Self> {
        let uri = request.uri();
        let place: Arc<str> = format!("{}://{}", uri.scheme_str()?, uri.authority()?).into();
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).parse().ok()?;
        request.headers_mut().insert(header::HOST, host_of(&place)?);
        *request.uri_mut() = path;
        Some(Self { place, request })
    }
}

impl Upstream {
    /// Whom this machine trusts is read when a provider is asked for the first time: many servers
    /// never ask one.
    fn connector(&self) -> Result<&HttpsConnector<HttpConnector>, String> {
        if let Some(connector) = self.connector.get() {
            return Ok(connector);
        }
        let made = connector().map_err(|error| error.to_string())?;
        Ok(self.connector.get_or_init(|| made))
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// # Errors
    /// Why there is none, as a sentence.
    pub(crate) async fn ask(&self, letter: Letter) -> Result<Response<Reply>, String> {
        let Letter { place, mut request } = letter;
        loop {
            let (mut link, used) = match self.idle.take(&place) {
                Some(link) => (link, true),
                None => (Box::pin(self.connect(&place)).await?, false),
            };
            match link.send(request).await {
                Ok(response) => {
                    let reply = |body| Reply::new(body, link, &self.idle, &place);
                    return Ok(response.map(reply));
                }
                // A kept connection may be closed in the moment in which it is taken.
                Err((_, Some(unsent))) if used => request = unsent,
                Err((error, _)) => return Err(with_causes(&error)),
            }
        }
    }

    async fn connect(&self, place: &str) -> Result<Link, String> {
        let uri: Uri = place.parse().map_err(|_| "its address makes no sense".to_owned())?;
        let wire = self.connector()?.clone().oneshot(uri).await;
        let wire = wire.map_err(|error| with_causes(error.as_ref()))?;
        Link::open(wire).await.map_err(|error| with_causes(&error))
    }

    /// Closes connections that were not used for long.
    pub(crate) fn close_idle(&self) {
        self.idle.tidy();
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut why = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        why = format!("{why}: {deeper}");
        cause = deeper.source();
    }
    why
}

fn connector() -> Result<HttpsConnector<HttpConnector>, godel_tls::Error> {
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    http.enforce_http(false);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.set_keepalive(Some(Duration::from_secs(30)));
    let tls = godel_tls::client_config(&godel_tls::Trust::System)?;
    let connector = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    Ok(connector.enable_http1().wrap_connector(http))
}

/// Where a request goes: the place, its name, and the path there.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    place: Arc<str>,
    host: HeaderValue,
    uri: Uri,
}

/// What is asked of a provider.
pub(crate) struct Order<'a> {
    pub(crate) provider: &'a Provider,
    pub(crate) dialect: Dialect,
    pub(crate) model: &'a str,
    /// What was made for this route before.
    pub(crate) made: Option<&'a Made>,
    pub(crate) stream: bool,
    /// What follows the path of the dialect.
    pub(crate) rest: &'a str,
    /// The query of the client, where it means something to the provider.
    pub(crate) query: Option<&'a str>,
    pub(crate) key: Option<&'a Key>,
    /// The headers of the client.
    pub(crate) headers: &'a HeaderMap,
    /// Whether the client speaks the provider's dialect.
    pub(crate) same: bool,
    /// Whether the client's own login is passed on.
    pub(crate) own_login: bool,
}

impl Order<'_> {
    /// Returns where the request goes.
    fn address(&self) -> Option<Address> {
        let plain = self.rest.is_empty() && self.query.is_none() && self.dialect != Dialect::Gemini;
        match self.made.filter(|_| plain) {
            Some(made) => made.address.get_or_init(|| self.new_address()).clone(),
            None => self.new_address(),
        }
    }

    fn new_address(&self) -> Option<Address> {
        let base = self.provider.base(self.dialect)?.trim_end_matches('/');
        let host = base.find("://")? + 3;
        let end = base[host..].find('/').map_or(base.len(), |at| host + at);
        let (place, base) = base.split_at(end);
        let mut text = match self.dialect {
            Dialect::Chat => format!("{base}/chat/completions{}", self.rest),
            Dialect::Responses => format!("{base}/responses{}", self.rest),
            Dialect::Anthropic => format!("{base}/v1/messages{}", self.rest),
            Dialect::Gemini => {
                let operation = match (self.rest, self.stream) {
                    ("", true) => "streamGenerateContent",
                    ("", false) => "generateContent",
                    (rest, _) => rest,
                };
                let model = percent_encoding::utf8_percent_encode(self.model, PATH);
                format!("{base}/v1beta/models/{model}:{operation}")
            }
        };
        // Azure wants its `api-version` with each request.
        let mut pairs: Vec<&str> = self.provider.query(self.dialect).into_iter().collect();
        if self.same {
            let given = self.query.unwrap_or_default().split('&');
            pairs.extend(given.filter(|pair| !pair.is_empty() && !pair.starts_with("key=")));
        } else if self.dialect == Dialect::Gemini && self.stream {
            pairs.push("alt=sse");
        }
        for (place, pair) in pairs.iter().enumerate() {
            text.push(if place == 0 { '?' } else { '&' });
            text.push_str(pair);
        }
        Some(Address { place: place.into(), host: host_of(place)?, uri: Uri::try_from(text).ok()? })
    }

    /// Makes the request.
    pub(crate) fn letter(&self, body: Bytes) -> Option<Letter> {
        let Address { place, host, uri } = self.address()?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.reserve(self.headers.len() + 2);
        headers.insert(header::HOST, host);
        if self.same {
            pass_on(self.headers, headers, self.own_login);
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.dialect == Dialect::Anthropic && !headers.contains_key(&ANTHROPIC_VERSION) {
            headers.insert(ANTHROPIC_VERSION, HeaderValue::from_static("2023-06-01"));
        }
        for (name, value) in &self.provider.headers {
            headers.insert(name.parse::<HeaderName>().ok()?, value.parse().ok()?);
        }
        let key_header = || self.key.and_then(|key| key_header(self.provider, self.dialect, key));
        let key = match self.made {
            Some(made) => made.key.get_or_init(key_header).clone(),
            None => key_header(),
        };
        if let Some((name, value)) = key {
            headers.insert(name, value);
        }
        Some(Letter { place, request })
    }
}

/// Returns the header with a key.
pub(crate) fn key_header(
    provider: &Provider,
    dialect: Dialect,
    key: &Key,
) -> Option<(HeaderName, HeaderValue)> {
    Some(match provider.auth(dialect) {
        Auth::Bearer => (header::AUTHORIZATION, key.header("Bearer ")?),
        Auth::XApiKey => (HeaderName::from_static("x-api-key"), key.header("")?),
        Auth::XGoogApiKey => (HeaderName::from_static("x-goog-api-key"), key.header("")?),
        Auth::ApiKey => (HeaderName::from_static("api-key"), key.header("")?),
        Auth::None => return None,
    })
}

/// Returns the name of a place as its server wants to hear it: without what goes without saying.
fn host_of(place: &str) -> Option<HeaderValue> {
    let (scheme, authority) = place.split_once("://")?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let usual = if scheme == "https" { ":443" } else { ":80" };
    HeaderValue::from_str(host.strip_suffix(usual).unwrap_or(host)).ok()
}

const PATH: &percent_encoding::AsciiSet =
    &percent_encoding::CONTROLS.add(b' ').add(b'?').add(b'#').add(b'%').add(b'/');

/// What is about this connection, or about us and the client.
const OURS: [HeaderName; 16] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::COOKIE,
    header::EXPECT,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::VIA,
    header::FORWARDED,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
];

/// Copies what the provider may see: not who the client is to us, and nothing about this connection.
fn pass_on(from: &HeaderMap, to: &mut HeaderMap, own_login: bool) {
    for (name, value) in from {
        let secret = *name == header::AUTHORIZATION;
        if OURS.contains(name) || (secret && !own_login) {
            continue;
        }
        let text = name.as_str();
        let ours = matches!(text, "proxy-connection" | "traceparent" | "tracestate")
            || matches!(text, "x-api-key" | "x-goog-api-key" | "api-key")
            || text.starts_with("x-godel-")
            || text.starts_with("x-forwarded-");
        if !ours {
            to.append(name.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn order<'a>(provider: &'a Provider, headers: &'a HeaderMap, key: &'a Key) -> Order<'a> {
        Order {
            provider,
            dialect: Dialect::Anthropic,
            model: "m",
            stream: true,
            rest: "",
            query: Some("beta=true&key=godel_at_secret"),
            key: Some(key),
            made: None,
            headers,
            same: true,
            own_login: false,
        }
    }

    fn client_headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer godel_at_1"),
            ("x-api-key", "godel_at_1"),
            ("x-goog-api-key", "godel_at_1"),
            ("cookie", "godel_session=1"),
            ("host", "localhost"),
            ("x-godel-project", "p"),
            ("anthropic-version", "2026-10-21"),
            ("anthropic-beta", "a,b"),
            ("user-agent", "claude-cli"),
            ("connection", "keep-alive"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn the_clients_credentials_stay_here_and_the_rest_goes_on() {
        let config = Config::read("").unwrap();
        let (headers, key) = (client_headers(), Key::new("sk-real").unwrap());
        let order = order(&config.providers["anthropic"], &headers, &key);
        let Letter { place, request } = order.letter(Bytes::new()).unwrap();
        assert_eq!(&*place, "https://api.anthropic.com");
        assert_eq!(request.uri(), "/v1/messages?beta=true");
        assert_eq!(request.headers()["host"], "api.anthropic.com");
        let sent: Vec<String> = request
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        assert!(!sent.iter().any(|line| line.contains("godel")), "{sent:?}");
        for line in [
            "x-api-key: sk-real",
            "anthropic-version: 2026-10-21",
            "anthropic-beta: a,b",
            "user-agent: claude-cli",
        ] {
            assert!(sent.contains(&line.to_owned()), "{line} in {sent:?}");
        }
    }

    #[test]
    fn a_login_of_the_client_goes_on_only_where_it_is_meant_to() {
        let config = Config::read("").unwrap();
        let mut headers = client_headers();
        headers.insert("authorization", HeaderValue::from_static("Bearer sk-ant-oat01-x"));
        let key = Key::new("unused").unwrap();
        let own = Order {
            own_login: true,
            key: None,
            ..order(&config.providers["anthropic"], &headers, &key)
        };
        let request = own.letter(Bytes::new()).unwrap().request;
        assert_eq!(request.headers()["authorization"], "Bearer sk-ant-oat01-x");
        assert!(!request.headers().contains_key("x-api-key"));
    }

    #[test]
    fn each_dialect_has_its_path() {
        let config = Config::read("").unwrap();
        let (headers, key) = (HeaderMap::new(), Key::new("k").unwrap());
        let uri = |provider: &str, dialect, stream, same| {
            let base = order(&config.providers[provider], &headers, &key);
            let order = Order { dialect, stream, same, query: None, model: "a/b c", ..base };
            let letter = order.letter(Bytes::new()).unwrap();
            format!("{}{}", letter.place, letter.request.uri())
        };
        assert_eq!(
            uri("openai", Dialect::Chat, false, true),
            "https://api.openai.com/v1/chat/completions"
        );
        assert_eq!(
            uri("openai", Dialect::Responses, true, true),
            "https://api.openai.com/v1/responses"
        );
        assert_eq!(
            uri("google", Dialect::Gemini, true, false),
            "https://generativelanguage.googleapis.com/v1beta/models/a%2Fb%20c:streamGenerateContent?alt=sse"
        );
    }
}
