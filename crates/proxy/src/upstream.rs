//! Asking a provider.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use godel_llm::Dialect;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::config::{Auth, Provider};
use crate::keys::Key;

/// How many idle connections to one provider are kept.
const IDLE_MAX: usize = 2_000;
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client of providers; cheap to clone.
#[derive(Debug, Default)]
pub(crate) struct Upstream {
    client: OnceLock<Connections>,
}

type Connections = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

impl Upstream {
    /// Whom this machine trusts is read when a provider is asked for the first time: many servers
    /// never ask one.
    fn client(&self) -> Result<&Connections, String> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = connections().map_err(|error| error.to_string())?;
        Ok(self.client.get_or_init(|| made))
    }

    pub(crate) async fn ask(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, String> {
        self.client()?.request(request).await.map_err(|error| {
            let mut why = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(deeper) = cause {
                why = format!("{why}: {deeper}");
                cause = deeper.source();
            }
            why
        })
    }
}

fn connections() -> Result<Connections, godel_tls::Error> {
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    http.enforce_http(false);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.set_keepalive(Some(Duration::from_secs(30)));
    let tls = godel_tls::client_config(&godel_tls::Trust::System)?;
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(IDLE_MAX)
        .pool_timer(TokioTimer::new())
        .build(connector))
}

/// What is asked of a provider.
pub(crate) struct Order<'a> {
    pub(crate) provider: &'a Provider,
    pub(crate) dialect: Dialect,
    pub(crate) model: &'a str,
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
    fn uri(&self) -> Option<Uri> {
        let base = self.provider.base(self.dialect)?.trim_end_matches('/');
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
        let mut pairs: Vec<&str> = Vec::new();
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
        text.parse().ok()
    }

    /// Makes the request.
    pub(crate) fn request(&self, body: Bytes) -> Option<Request<Full<Bytes>>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri()?;
        let headers = request.headers_mut();
        if self.same {
            pass_on(self.headers, headers, self.own_login);
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.dialect == Dialect::Anthropic && !headers.contains_key("anthropic-version") {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        for (name, value) in &self.provider.headers {
            headers.insert(name.parse::<HeaderName>().ok()?, value.parse().ok()?);
        }
        if let Some(key) = self.key {
            let (name, value) = match self.provider.auth(self.dialect) {
                Auth::Bearer => (header::AUTHORIZATION, key.header("Bearer ")?),
                Auth::XApiKey => (HeaderName::from_static("x-api-key"), key.header("")?),
                Auth::XGoogApiKey => (HeaderName::from_static("x-goog-api-key"), key.header("")?),
                Auth::ApiKey => (HeaderName::from_static("api-key"), key.header("")?),
                Auth::None => return Some(request),
            };
            headers.insert(name, value);
        }
        Some(request)
    }
}

const PATH: &percent_encoding::AsciiSet =
    &percent_encoding::CONTROLS.add(b' ').add(b'?').add(b'#').add(b'%').add(b'/');

/// Copies what the provider may see: not who the client is to us, and nothing about this connection.
fn pass_on(from: &HeaderMap, to: &mut HeaderMap, own_login: bool) {
    for (name, value) in from {
        let text = name.as_str();
        let secret = matches!(text, "authorization" | "x-api-key" | "x-goog-api-key" | "api-key");
        let ours = matches!(
            text,
            "host"
                | "content-length"
                | "content-encoding"
                | "content-type"
                | "cookie"
                | "accept-encoding"
                | "connection"
                | "keep-alive"
                | "proxy-authorization"
                | "proxy-connection"
                | "te"
                | "trailer"
                | "transfer-encoding"
                | "upgrade"
                | "expect"
                | "forwarded"
                | "via"
                | "traceparent"
                | "tracestate"
        ) || text.starts_with("x-godel-")
            || text.starts_with("x-forwarded-");
        if !ours && (!secret || (own_login && text == "authorization")) {
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
        let request = order.request(Bytes::new()).unwrap();
        assert_eq!(request.uri(), "https://api.anthropic.com/v1/messages?beta=true");
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
        let request = own.request(Bytes::new()).unwrap();
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
            order.request(Bytes::new()).unwrap().uri().to_string()
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
