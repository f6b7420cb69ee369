//! Which models somebody may ask, told in three dialects.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use godel_llm::{Dialect, Model, Trouble};
use http::Response;
use serde_json::{Value, json};

use crate::board::{Board, Refusal};
use crate::config::{Auth, Config};
use crate::relay::{self, ProxyBody};
use crate::route::ways;
use crate::target::Target;
use crate::who::Who;

/// The models by name, and what is known of each.
type Listed<'c> = BTreeMap<&'c str, Option<&'c Arc<Model>>>;

impl Board {
    /// Lists the models that somebody may ask, of all providers or of the one that the path names, or tells
    /// of one model.
    pub(crate) fn models(
        &self,
        who: &Who,
        target: &Target,
        one: Option<&str>,
    ) -> Result<Response<ProxyBody>, Refusal> {
        let config = self.config();
        let only = target.provider.as_deref();
        if let Some(name) = only.filter(|name| !config.order.iter().any(|known| known == name)) {
            let why = format!("this server has no provider {name:?}");
            return Err(Refusal::new(Trouble::NoModel, why));
        }
        let listed = listed(&config, who, only);
        let body = match one {
            None => list(target.dialect, &listed),
            Some(name) => {
                let name = name.strip_prefix("models/").unwrap_or(name);
                let found = listed.get_key_value(name).ok_or_else(|| {
                    let why = format!("there is no model {name:?} for this token");
                    Refusal::new(Trouble::NoModel, why)
                })?;
                told(target.dialect, found.0, *found.1)
            }
        };
        Ok(relay::json(Bytes::from(body.to_string())))
    }
}

/// Finds what somebody may ask: what the list of models knows of the providers that can be reached, the names
/// that these have in the settings, and the other names for any of it.
fn listed<'c>(config: &'c Config, who: &Who, only: Option<&str>) -> Listed<'c> {
    let reachable = |name: &str| {
        only.is_none_or(|only| only == name)
            && config.providers.get(name).is_some_and(|provider| {
                !provider.disabled
                    && (provider.auth == Some(Auth::None) || !who.keys.of(name).is_empty())
            })
    };
    let registry = config.registry();
    let mut listed = Listed::new();
    for name in config.order.iter().filter(|name| reachable(name)) {
        let own = config.providers[name].models.iter();
        for (ours, theirs) in own.filter(|(ours, _)| who.may_ask(ours)) {
            listed.entry(ours).or_insert_with(|| registry.of(name, theirs));
        }
    }
    for model in registry.all() {
        if reachable(&model.provider) && who.may_ask(&model.name) {
            listed.entry(&model.name).or_insert(Some(model));
        }
    }
    for alias in config.aliases.keys().filter(|alias| who.may_ask(alias)) {
        if ways(config, alias).any(|(provider, _)| reachable(provider)) {
            listed.insert(alias, None);
        }
    }
    listed
}

fn list(dialect: Dialect, models: &Listed<'_>) -> Value {
    let all: Vec<Value> = models.iter().map(|(name, model)| told(dialect, name, *model)).collect();
    let (first, last) = (models.keys().next(), models.keys().next_back());
    match dialect {
        Dialect::Anthropic => {
            json!({"data": all, "has_more": false, "first_id": first, "last_id": last})
        }
        Dialect::Gemini => json!({"models": all}),
        Dialect::Chat | Dialect::Responses => json!({"object": "list", "data": all}),
    }
}

fn told(dialect: Dialect, name: &str, model: Option<&Arc<Model>>) -> Value {
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

#[cfg(test)]
mod tests {
    use godel_model::{Mint, Purpose};

    use super::*;
    use crate::keys::{Key, Keys};
    use crate::limits::Seats;

    fn who(models: &[&str], providers: &[&str]) -> Who {
        let mint = Mint::system();
        let purpose = Purpose {
            tenant: mint.id(),
            user: mint.id(),
            project: None,
            agent: None,
            bead: None,
            convoy: None,
            token: None,
        };
        let mut keys = Keys::default();
        for provider in providers {
            keys.add(provider, Key::new("sk-x").unwrap());
        }
        Who {
            purpose: Arc::new(purpose),
            models: vec![models.iter().map(|model| (*model).to_owned()).collect()],
            project_per_minute: None,
            keys: Arc::new(keys),
            budgets: [].into(),
            capture: None,
            seats: Seats::default(),
        }
    }

    #[test]
    fn who_asks_sees_what_a_request_could_ask_and_nothing_else() {
        let config = Config::read(
            r#"
            [providers.azure]
            chat = "http://azure/v1"
            models = { "gpt-at-work" = "deployment-7" }
            [providers.gone]
            chat = "http://gone/v1"
            models = { "gone-1" = "x" }
            [aliases]
            fast = "gpt-5-nano"
            lost = "gone-1"
            work = ["gone-1", "gpt-at-work"]
            "#,
        )
        .unwrap();
        let names = |who: &Who, only| -> Vec<String> {
            listed(&config, who, only).into_keys().map(ToOwned::to_owned).collect()
        };
        let all = names(&who(&[], &["azure", "openai"]), None);
        for name in ["fast", "gpt-5", "gpt-at-work", "work"] {
            assert!(all.iter().any(|known| known == name), "{name}: {all:?}");
        }
        for name in ["gone-1", "lost", "claude-sonnet-5"] {
            assert!(!all.iter().any(|known| known == name), "{name}: {all:?}");
        }
        let narrow = who(&["gpt-5", "work"], &["azure", "openai"]);
        assert_eq!(names(&narrow, None), ["gpt-5", "work"]);
        let azure = names(&who(&[], &["azure", "openai"]), Some("azure"));
        assert_eq!(azure, ["gpt-at-work", "work"]);
    }
}
