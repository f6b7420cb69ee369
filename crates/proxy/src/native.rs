//! Which dialect a model speaks at home.

use godel_llm::Dialect;

use crate::Config;

/// Dialects in the order in which they tell the most about a turn.
const BEST: [Dialect; 4] = [Dialect::Anthropic, Dialect::Responses, Dialect::Gemini, Dialect::Chat];

impl Config {
    /// Returns the dialect in which the provider of a model is asked without translation.
    pub fn own_dialect(&self, model: &str) -> Dialect {
        let known = self.registry().named(model).first();
        let named = known.and_then(|model| self.providers.get(&model.provider));
        let provider = named.or_else(|| {
            self.order.iter().filter_map(|name| self.providers.get(name)).find(|provider| {
                provider.models.contains_key(model)
                    || provider.prefixes.iter().any(|prefix| model.starts_with(prefix.as_str()))
            })
        });
        let speaks = provider.and_then(|provider| {
            BEST.into_iter().find(|dialect| provider.base(*dialect).is_some())
        });
        speaks.unwrap_or(Dialect::Chat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_asked_in_its_own_dialect() {
        let config = Config::default();
        assert_eq!(config.own_dialect("claude-opus-4-8"), Dialect::Anthropic);
        assert_eq!(config.own_dialect("gemini-2.5-pro"), Dialect::Gemini);
        assert_eq!(config.own_dialect("gpt-5"), Dialect::Responses);
        assert_eq!(config.own_dialect("nobody-knows-it"), Dialect::Chat);
    }
}
