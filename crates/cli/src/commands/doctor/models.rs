//! Checks of the providers of models.

use std::collections::BTreeMap;
use std::path::Path;

use godel_api::SecretList;
use godel_app::spend;
use godel_console::lookup::NOTHING;
use godel_console::{Context, locate};
use godel_proxy::provider_of;
use godel_settings::Environment;
use reqwest::Method;

use super::Finding;

const NAME: &str = "models";

/// Checks that the file of providers is understood, and for which of them there are keys. No key is
/// shown.
pub(super) async fn providers(context: &Context, file: &Path, running: bool) -> Finding {
    let config = match spend::load(file) {
        Ok(config) => config,
        Err(error) => {
            let (told, place) = (error.to_string().replace('\n', " "), file.display().to_string());
            let message = if told.contains(&place) { told } else { format!("{place}: {told}") };
            return Finding::fail(
                NAME,
                message,
                "docs/reference/proxy-toml.md describes the file; a running server goes on with what \
                 it had",
            );
        }
    };
    let mut keys = in_environment(&config, &context.environment);
    for (name, provider) in &config.providers {
        for path in &provider.key_files {
            match std::fs::File::open(path) {
                Ok(_) => note(&mut keys, name, path.display().to_string()),
                Err(cause) => {
                    let message = format!("the key of {name} in {}: {cause}", path.display());
                    return Finding::warn(
                        NAME,
                        message,
                        "check `key_files` in the file of providers",
                    );
                }
            }
        }
    }
    let secrets = if running { secrets(context).await } else { None };
    for secret in secrets.iter().flatten() {
        if let Some(provider) = provider_of(&config, secret) {
            note(&mut keys, provider, format!("secret {secret}"));
        }
    }
    let file = match file.exists() {
        true => format!("{} is understood", file.display()),
        false => "the well-known providers; there is no proxy.toml".to_owned(),
    };
    if !keys.is_empty() {
        let keys = keys.into_iter().map(|(name, from)| format!("{name} ({})", from.join(", ")));
        let keys = keys.collect::<Vec<_>>().join(", ");
        return Finding::ok(NAME, format!("{file}; keys: {keys}"));
    }
    let found = match secrets {
        Some(_) => "no key of a provider yet: `godel secret set anthropic` sets one",
        None => "no key in this environment; secrets are looked at while the server runs",
    };
    Finding::skip(NAME, format!("{file}; {found}"))
}

type Keys = BTreeMap<String, Vec<String>>;

fn note(keys: &mut Keys, provider: &str, from: String) {
    keys.entry(provider.to_owned()).or_default().push(from);
}

/// Returns the providers whose keys are in the environment, each with the names of its variables.
fn in_environment(config: &godel_proxy::Config, environment: &Environment) -> Keys {
    let mut keys = Keys::new();
    for (name, provider) in &config.providers {
        for variable in &provider.env {
            if environment.get(variable).is_some() {
                note(&mut keys, name, variable.clone());
            }
        }
    }
    keys
}

/// Returns the names of the secrets on the server of the data directory, if the caller may see them.
async fn secrets(context: &Context) -> Option<Vec<String>> {
    if locate::named(context).ok()?.is_some() {
        return None;
    }
    let found = locate::server(context).await.ok()?;
    let call = found.client.call(Method::GET, "/api/v1/secrets", NOTHING).await;
    let list: SecretList = call.ok()?;
    Some(list.items.into_iter().map(|secret| secret.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_and_never_shown() {
        let config = godel_proxy::Config::read("").unwrap();
        let environment =
            Environment::from([("OPENAI_API_KEY", "sk-1"), ("GEMINI_API_KEY", ""), ("X", "y")]);
        let keys = in_environment(&config, &environment);
        assert_eq!(format!("{keys:?}"), r#"{"openai": ["OPENAI_API_KEY"]}"#);
    }
}
