//! Which models somebody may ask, told in three dialects.

use std::collections::BTreeSet;

use bytes::Bytes;
use godel_llm::{Dialect, Model, Trouble};
use http::Response;
use serde_json::{Value, json};

use crate::board::{Board, Refusal};
use crate::config::Auth;
use crate::relay::{self, ProxyBody};
use crate::who::Who;

impl Board {
    /// Lists the models that somebody may ask, or tells of one.
    pub(crate) fn models(
        &self,
        who: &Who,
        dialect: Dialect,
        one: Option<&str>,
    ) -> Result<Response<ProxyBody>, Refusal> {
        let config = self.config();
        let reachable = |provider: &str| {
            let known = config.providers.get(provider).filter(|provider| !provider.disabled);
            known.is_some_and(|known| {
                known.auth == Some(Auth::None) || !who.keys.of(provider).is_empty()
            })
        };
        let mut seen = BTreeSet::new();
        let mut listed: Vec<(String, Option<&Model>)> = Vec::new();
        for alias in config.aliases.keys() {
            seen.insert(alias.clone());
            listed.push((alias.clone(), None));
        }
        for model in config.registry().all() {
            if reachable(&model.provider)
                && who.may_ask(&model.name)
                && seen.insert(model.name.clone())
            {
                listed.push((model.name.clone(), Some(model)));
            }
        }
        listed.sort_by(|a, b| a.0.cmp(&b.0));
        let body = match one {
            None => list(dialect, &listed),
            Some(name) => {
                let name = name.strip_prefix("models/").unwrap_or(name);
                let found = listed.iter().find(|(known, _)| known == name);
                let found = found.ok_or_else(|| {
                    Refusal::new(
                        Trouble::NoModel,
                        format!("there is no model {name:?} for this token"),
                    )
                })?;
                told(dialect, &found.0, found.1)
            }
        };
        Ok(relay::json(Bytes::from(body.to_string())))
    }
}

fn list(dialect: Dialect, models: &[(String, Option<&Model>)]) -> Value {
    let all: Vec<Value> = models.iter().map(|(name, model)| told(dialect, name, *model)).collect();
    let (first, last) = (models.first().map(|(name, _)| name), models.last().map(|(name, _)| name));
    match dialect {
        Dialect::Anthropic => {
            json!({"data": all, "has_more": false, "first_id": first, "last_id": last})
        }
        Dialect::Gemini => json!({"models": all}),
        Dialect::Chat | Dialect::Responses => json!({"object": "list", "data": all}),
    }
}

fn told(dialect: Dialect, name: &str, model: Option<&Model>) -> Value {
    match dialect {
        Dialect::Anthropic => json!({
            "type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z",
        }),
        Dialect::Gemini => json!({
            "name": format!("models/{name}"),
            "displayName": name,
            "inputTokenLimit": model.and_then(|model| model.context),
            "outputTokenLimit": model.and_then(|model| model.output),
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }),
        Dialect::Chat | Dialect::Responses => json!({
            "id": name,
            "object": "model",
            "created": 1_735_689_600,
            "owned_by": model.map_or("godel", |model| model.provider.as_str()),
        }),
    }
}
