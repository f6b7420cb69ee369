//! Asking a provider whether it works: a real request for its list of models, which costs nothing.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use godel_llm::Dialect;
use http::header::{HeaderName, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Collected, Full, Limited};
use serde_json::Value;

use crate::board::Switchboard;
use crate::config::{Auth, Provider};
use crate::failure::{FAILURE_MAX_BYTES, message_of};
use crate::keys::{Key, Keys};
use crate::upstream::{Letter, key_header};

/// How long a provider may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest list of models that is read.
const LIST_MAX_BYTES: usize = 16 * 1024 * 1024;

/// How a provider did when it was tried with one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// The provider.
    pub provider: String,
    /// Which of its keys, counted from 1; 0 for none.
    pub key: u32,
    /// The address that was asked.
    pub asked: Option<String>,
    /// The status of its answer.
    pub status: Option<u16>,
    /// How many models it knows.
    pub models: Option<u64>,
    /// How long it took.
    pub took: Option<Duration>,
    /// What is wrong, and what to do about it; none if it works.
    pub trouble: Option<(String, String)>,
}

impl Switchboard {
    /// Tries providers at the same time, each with all of its keys.
    pub async fn probe(&self, names: &[String], keys: &Keys) -> Vec<Probe> {
        let probes = names.iter().map(|name| self.probe_one(name, keys));
        join_all(probes).await.into_iter().flatten().collect()
    }

    /// Tries a provider with each of its keys; one that has none, and needs one, cannot be tried.
    async fn probe_one(&self, name: &str, keys: &Keys) -> Vec<Probe> {
        let config = self.config();
        let Some(provider) = config.providers.get(name) else { return Vec::new() };
        let Some((dialect, address)) = list_address(provider) else { return Vec::new() };
        if provider.auth(dialect) == Auth::None {
            return vec![self.probe_with((name, provider), (dialect, &address), (0, None)).await];
        }
        let keys = keys.of(name);
        if keys.is_empty() {
            return vec![without_key(name, provider)];
        }
        let mut probes = Vec::with_capacity(keys.len());
        for (number, key) in (1..).zip(keys) {
            let key = (number, Some(&**key));
            probes.push(self.probe_with((name, provider), (dialect, &address), key).await);
        }
        probes
    }

    async fn probe_with(
        &self,
        (name, provider): (&str, &Provider),
        (dialect, address): (Dialect, &str),
        (number, key): (u32, Option<&Key>),
    ) -> Probe {
        let mut probe = Probe {
            provider: name.to_owned(),
            key: number,
            asked: Some(address.to_owned()),
            status: None,
            models: None,
            took: None,
            trouble: None,
        };
        let Some(letter) = letter(provider, dialect, address, key) else {
            let why = "its address or its headers make no sense".to_owned();
            probe.trouble = Some((why, format!("look at [providers.{name}] in proxy.toml")));
            return probe;
        };
        let began = Instant::now();
        let asked = tokio::time::timeout(PATIENCE, self.board.upstream.ask(letter)).await;
        let response = match asked {
            Ok(Ok(response)) => response,
            Ok(Err(why)) => {
                probe.trouble =
                    Some((format!("it cannot be reached: {why}"), reach(name, address)));
                return probe;
            }
            Err(_) => {
                let why = format!("it did not answer in {} s", PATIENCE.as_secs());
                probe.trouble = Some((why, reach(name, address)));
                return probe;
            }
        };
        let status = response.status();
        probe.status = Some(status.as_u16());
        let most = if status.is_success() { LIST_MAX_BYTES } else { FAILURE_MAX_BYTES };
        let body = Limited::new(response.into_body(), most).collect();
        let body = tokio::time::timeout(PATIENCE, body).await.ok().and_then(Result::ok);
        let body = body.map(Collected::to_bytes).unwrap_or_default();
        probe.took = Some(began.elapsed());
        let said = key.map_or_else(|| body.clone(), |key| key.removed_from(&body));
        if status.is_success() {
            probe.models = count(&said);
            if probe.models.is_none() {
                let why = "its answer is no list of models".to_owned();
                probe.trouble = Some((why, reach(name, address)));
            }
        } else {
            probe.trouble = Some(refused(name, status, &message_of(&said)));
        }
        probe
    }
}

/// Returns where a provider lists its models, and in which dialect.
fn list_address(provider: &Provider) -> Option<(Dialect, String)> {
    let all = [Dialect::Chat, Dialect::Responses, Dialect::Anthropic, Dialect::Gemini];
    let dialect = all.into_iter().find(|dialect| provider.base(*dialect).is_some())?;
    let base = provider.base(dialect)?.trim_end_matches('/');
    let path = match dialect {
        Dialect::Chat | Dialect::Responses => "/models",
        Dialect::Anthropic => "/v1/models",
        Dialect::Gemini => "/v1beta/models",
    };
    let query = provider.query(dialect).map(|query| format!("?{query}")).unwrap_or_default();
    Some((dialect, format!("{base}{path}{query}")))
}

fn letter(
    provider: &Provider,
    dialect: Dialect,
    address: &str,
    key: Option<&Key>,
) -> Option<Letter> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = address.parse().ok()?;
    let headers = request.headers_mut();
    if dialect == Dialect::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    for (name, value) in &provider.headers {
        headers.insert(name.parse::<HeaderName>().ok()?, value.parse().ok()?);
    }
    if let Some((name, value)) = key.and_then(|key| key_header(provider, dialect, key)) {
        headers.insert(name, value);
    }
    Letter::new(request)
}

/// Counts the models of a list; nothing if it is none.
fn count(body: &[u8]) -> Option<u64> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = value["data"].as_array().or_else(|| value["models"].as_array());
    list.or_else(|| value.as_array()).map(|list| list.len() as u64)
}

fn without_key(name: &str, provider: &Provider) -> Probe {
    let env = match provider.env.first() {
        Some(variable) => format!(", or set {variable} for the server"),
        None => String::new(),
    };
    let why = "there is no key for it".to_owned();
    Probe {
        provider: name.to_owned(),
        key: 0,
        asked: None,
        status: None,
        models: None,
        took: None,
        trouble: Some((why, format!("set one with `godel secret set {name}`{env}"))),
    }
}

fn reach(name: &str, address: &str) -> String {
    format!(
        "look whether {address} is right ([providers.{name}] in proxy.toml) and this machine can reach it"
    )
}

fn refused(name: &str, status: StatusCode, said: &str) -> (String, String) {
    let told = |what: &str| match said {
        "" => format!("{what} ({status})"),
        said => format!("{what} ({status}): {said}"),
    };
    match status.as_u16() {
        401 | 403 => (
            told("it does not take the key"),
            format!("set a good one with `godel secret set {name}`; it counts at once"),
        ),
        402 => (told("it wants to be paid"), "look at your account there".to_owned()),
        404 | 405 | 501 => (
            told("it has no list of models here"),
            format!(
                "look at the address of [providers.{name}] in proxy.toml; if it is right, ask a model to be sure"
            ),
        ),
        429 => (
            told("it wants to be left alone"),
            "try again later, or look at the limits of your account there".to_owned(),
        ),
        500..=599 => (told("it fails"), "try again later; its status page may say more".to_owned()),
        _ => (told("it refuses to answer"), reach(name, "its address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_counted_in_each_dialect_and_nothing_else_is() {
        assert_eq!(count(br#"{"object":"list","data":[{},{}]}"#), Some(2));
        assert_eq!(count(br#"{"models":[{}]}"#), Some(1));
        assert_eq!(count(b"[]"), Some(0));
        assert_eq!(count(b"<html>"), None);
        assert_eq!(count(b"{}"), None);
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        let remedy = |status| refused("house", StatusCode::from_u16(status).unwrap(), "no").1;
        assert!(remedy(401).contains("godel secret set house"));
        assert!(remedy(404).contains("[providers.house]"));
        assert!(remedy(429).contains("later") && remedy(503).contains("later"));
    }
}
