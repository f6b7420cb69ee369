//! One provider: where it is, how it wants its key, and which models are its own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use godel_llm::Dialect;
use godel_model::SpendKind;
use serde::Deserialize;

use super::BadConfig;

/// How a provider wants to see its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// `Authorization: Bearer`.
    Bearer,
    /// `x-api-key`.
    XApiKey,
    /// `x-goog-api-key`.
    XGoogApiKey,
    /// `api-key`, as Azure has it.
    ApiKey,
    /// It wants none.
    None,
}

/// A provider.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Where it speaks Chat Completions; the address in front of `/chat/completions`. A query goes with
    /// each request.
    pub chat: Option<String>,
    /// Where it speaks Responses; the address in front of `/responses`.
    pub responses: Option<String>,
    /// Where it speaks Messages; the address in front of `/v1/messages`.
    pub anthropic: Option<String>,
    /// Where it speaks generateContent; the address in front of `/v1beta/models`.
    pub gemini: Option<String>,
    /// How it wants to see its key; by its first dialect if it does not say.
    pub auth: Option<Auth>,
    /// Environment variables of the server that may hold its key.
    #[serde(default)]
    pub env: Vec<String>,
    /// Files that hold a key.
    #[serde(default)]
    pub key_files: Vec<PathBuf>,
    /// Headers that go with each request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Its names for models: ours on the left, its own on the right.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
    /// Models whose names begin like this are its own, known or not.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// Whether it is left out.
    #[serde(default)]
    pub disabled: bool,
    /// Whether logins of its own agent program are passed on where there is no key.
    #[serde(default)]
    pub subscription: bool,
}

impl Provider {
    fn address(&self, dialect: Dialect) -> Option<&str> {
        let address = match dialect {
            Dialect::Chat => &self.chat,
            Dialect::Responses => &self.responses,
            Dialect::Anthropic => &self.anthropic,
            Dialect::Gemini => &self.gemini,
        };
        address.as_deref()
    }

    /// Returns where it speaks a dialect, without a query.
    pub fn base(&self, dialect: Dialect) -> Option<&str> {
        self.address(dialect).and_then(|address| address.split('?').next())
    }

    /// Returns the query that goes with each request in a dialect, such as `api-version=2024-10-21`.
    pub fn query(&self, dialect: Dialect) -> Option<&str> {
        let (_, query) = self.address(dialect)?.split_once('?')?;
        Some(query).filter(|query| !query.is_empty())
    }

    /// Returns the dialect in which it is asked for a client of another: its own if it can.
    pub fn speaks(&self, client: Dialect) -> Option<Dialect> {
        let order = match client {
            Dialect::Chat => {
                [Dialect::Chat, Dialect::Anthropic, Dialect::Responses, Dialect::Gemini]
            }
            Dialect::Responses => {
                [Dialect::Responses, Dialect::Chat, Dialect::Anthropic, Dialect::Gemini]
            }
            Dialect::Anthropic => {
                [Dialect::Anthropic, Dialect::Chat, Dialect::Responses, Dialect::Gemini]
            }
            Dialect::Gemini => {
                [Dialect::Gemini, Dialect::Anthropic, Dialect::Chat, Dialect::Responses]
            }
        };
        order.into_iter().find(|dialect| self.base(*dialect).is_some())
    }

    /// Returns how it wants to see its key when it is asked in a dialect.
    pub fn auth(&self, dialect: Dialect) -> Auth {
        self.auth.unwrap_or(match dialect {
            Dialect::Anthropic => Auth::XApiKey,
            Dialect::Gemini => Auth::XGoogApiKey,
            Dialect::Chat | Dialect::Responses => Auth::Bearer,
        })
    }
}

/// Refuses a provider that cannot work.
pub(super) fn checked(name: &str, provider: Provider) -> Result<Provider, BadConfig> {
    let refuse = |why: &str| Err(BadConfig(format!("provider {name}: {why}")));
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    // Paths begin with these, so a provider must not.
    if name.is_empty() || !name.chars().all(fits) || matches!(name, "v1" | "v1beta") {
        return refuse("a name has small letters, digits, - and _, and is not v1 or v1beta");
    }
    if SpendKind::of(name) != SpendKind::Models {
        return refuse("the sums have this name for what is no provider; give it another one");
    }
    let bases: Vec<&str> =
        Dialect::ALL.iter().filter_map(|dialect| provider.address(*dialect)).collect();
    if bases.is_empty() {
        return refuse("it needs an address: chat, responses, anthropic or gemini");
    }
    for base in bases {
        let uri = base.parse::<http::Uri>().ok();
        let whole = uri.filter(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
        });
        if whole.is_none() {
            return refuse("an address must be like https://host/path");
        }
    }
    for (header, value) in &provider.headers {
        if header.parse::<http::HeaderName>().is_err()
            || value.parse::<http::HeaderValue>().is_err()
        {
            return refuse("a header cannot be sent like this");
        }
    }
    Ok(provider)
}
