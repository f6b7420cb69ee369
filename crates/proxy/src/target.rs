//! What a path asks for.

use godel_llm::Dialect;
use http::HeaderMap;
use percent_encoding::percent_decode_str;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    /// An answer of a model.
    Answer,
    /// How many tokens a request has.
    Count,
    /// Which models there are, or one of them.
    Models(Option<String>),
    /// A WebSocket, which is not spoken here.
    Socket,
    /// Whether anybody is here.
    Probe,
}

/// What a path asks for, and in which dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) dialect: Dialect,
    pub(crate) wish: Wish,
    /// The provider that is named in the path.
    pub(crate) provider: Option<String>,
    /// The model that is named in the path.
    pub(crate) model: Option<String>,
    /// Whether the path asks for a stream.
    pub(crate) stream: Option<bool>,
    /// What follows the dialect's own path, for operations that are passed on as they are.
    pub(crate) rest: &'static str,
}

/// What is part of the other API.
const REPORTS: [&str; 5] = ["/v1/usage", "/v1/audit", "/v1/providers", "/v1/quotas", "/v1/routing"];

/// Tells whether a path is one of the switchboard.
pub fn is_model_path(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/proxy") else { return false };
    (rest.is_empty() || rest.starts_with('/'))
        && !REPORTS.contains(&rest)
        && !rest.starts_with("/v1/audit/")
        && !rest.starts_with("/v1/providers/")
}

impl Target {
    /// Reads a path behind `/proxy`; nothing if there is nothing at it.
    pub(crate) fn of(
        path: &str,
        method: &http::Method,
        headers: &HeaderMap,
        query: Option<&str>,
    ) -> Option<Self> {
        let rest = path.strip_prefix("/proxy")?.trim_end_matches('/');
        let mut target = Self {
            dialect: dialect_of(headers, query),
            wish: Wish::Probe,
            provider: None,
            model: None,
            stream: None,
            rest: "",
        };
        if rest.is_empty() {
            return Some(target);
        }
        let mut parts = rest.strip_prefix('/')?.splitn(2, '/');
        let first = parts.next()?;
        let inner = match first {
            "v1" | "v1beta" => rest.strip_prefix('/')?,
            provider => {
                target.provider = Some(provider.to_owned());
                parts.next().unwrap_or_default()
            }
        };
        let inner =
            inner.strip_prefix("v1beta/").or_else(|| inner.strip_prefix("v1/")).unwrap_or(inner);
        target.read(inner, method)
    }

    fn read(mut self, path: &str, method: &http::Method) -> Option<Self> {
        let (dialect, wish) = match path {
            "" => (self.dialect, Wish::Probe),
            "messages" => (Dialect::Anthropic, Wish::Answer),
            "messages/count_tokens" => (Dialect::Anthropic, Wish::Count),
            "chat/completions" => (Dialect::Chat, Wish::Answer),
            "responses" if method == http::Method::GET => (Dialect::Responses, Wish::Socket),
            "responses" => (Dialect::Responses, Wish::Answer),
            "responses/compact" => {
                self.rest = "/compact";
                (Dialect::Responses, Wish::Answer)
            }
            "models" => (self.dialect, Wish::Models(None)),
            _ => return self.model(path.strip_prefix("models/")?),
        };
        (self.dialect, self.wish) = (dialect, wish);
        Some(self)
    }

    /// Reads what follows `models/`: a name, or in Gemini's way a name and what to do.
    fn model(mut self, text: &str) -> Option<Self> {
        let decode = |text: &str| {
            percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
        };
        let (name, operation) = match text.rsplit_once(':') {
            Some((name, operation)) if !operation.contains('/') => (name, operation),
            _ => (text, ""),
        };
        (self.wish, self.stream) = match operation {
            "generateContent" => (Wish::Answer, Some(false)),
            "streamGenerateContent" => (Wish::Answer, Some(true)),
            "countTokens" => (Wish::Count, None),
            _ => {
                self.wish = Wish::Models(Some(decode(text)?));
                return Some(self);
            }
        };
        self.dialect = Dialect::Gemini;
        self.model = Some(decode(name)?);
        Some(self)
    }
}

/// The models are asked for in three dialects on one path; headers tell them apart.
fn dialect_of(headers: &HeaderMap, query: Option<&str>) -> Dialect {
    let key = query.is_some_and(|query| query.split('&').any(|pair| pair.starts_with("key=")));
    if headers.contains_key("anthropic-version") {
        Dialect::Anthropic
    } else if key || headers.contains_key("x-goog-api-key") {
        Dialect::Gemini
    } else {
        Dialect::Chat
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    fn target(path: &str) -> Option<Target> {
        Target::of(path, &Method::POST, &HeaderMap::new(), None)
    }

    #[test]
    fn every_path_of_the_four_dialects_is_known() {
        for (path, dialect, wish) in [
            ("/proxy/v1/messages", Dialect::Anthropic, Wish::Answer),
            ("/proxy/v1/messages/count_tokens", Dialect::Anthropic, Wish::Count),
            ("/proxy/v1/chat/completions", Dialect::Chat, Wish::Answer),
            ("/proxy/v1/responses", Dialect::Responses, Wish::Answer),
            ("/proxy/v1beta/models/gemini-3-pro:generateContent", Dialect::Gemini, Wish::Answer),
            ("/proxy/v1/models/gemini-3-pro:countTokens", Dialect::Gemini, Wish::Count),
            ("/proxy/v1/models", Dialect::Chat, Wish::Models(None)),
            ("/proxy/v1/models/a%2Fb", Dialect::Chat, Wish::Models(Some("a/b".to_owned()))),
            ("/proxy", Dialect::Chat, Wish::Probe),
            ("/proxy/", Dialect::Chat, Wish::Probe),
        ] {
            let found = target(path).unwrap();
            assert_eq!(
                (found.dialect, found.wish, found.provider),
                (dialect, wish, None),
                "{path}"
            );
        }
        let gemini = target("/proxy/v1beta/models/gemini-3:streamGenerateContent").unwrap();
        assert_eq!((gemini.model.as_deref(), gemini.stream), (Some("gemini-3"), Some(true)));
        for nowhere in
            ["/proxy/v1/embeddings", "/proxy/v1/messages/x", "/proxyx", "/proxy/v1/files"]
        {
            assert_eq!(target(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn a_provider_can_be_named_in_the_path() {
        for path in ["/proxy/groq/v1/chat/completions", "/proxy/groq/chat/completions"] {
            let found = target(path).unwrap();
            assert_eq!((found.provider.as_deref(), found.dialect), (Some("groq"), Dialect::Chat));
        }
    }

    #[test]
    fn a_socket_is_told_apart_from_a_request() {
        let found =
            Target::of("/proxy/v1/responses", &Method::GET, &HeaderMap::new(), None).unwrap();
        assert_eq!(found.wish, Wish::Socket);
    }

    #[test]
    fn reports_are_not_for_models() {
        assert!(is_model_path("/proxy") && is_model_path("/proxy/v1/messages"));
        for other in [
            "/proxy/v1/usage",
            "/proxy/v1/audit",
            "/proxy/v1/audit/1/body",
            "/proxy/v1/quotas",
            "/proxy/v1/routing",
            "/api/v1/events",
            "/proxyx/v1",
        ] {
            assert!(!is_model_path(other), "{other}");
        }
    }
}
