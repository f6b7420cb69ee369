//! Who could answer a request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use godel_decide::{Candidate, Prefer, order};
use godel_llm::{Ability, Dialect, Model};
use http::header::{HeaderName, HeaderValue};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::attempt::NAME_MAX_CHARS;
use crate::config::{Auth, Config};
use crate::health::Health;
use crate::keys::{Key, Keys};
use crate::metrics::Counted;
use crate::running::plain;
use crate::upstream::Address;

/// One that could answer: a provider, its name for the model, and a key.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) provider: Arc<str>,
    pub(crate) model: String,
    pub(crate) known: Option<Arc<Model>>,
    pub(crate) dialect: Dialect,
    pub(crate) key: Option<Arc<Key>>,
    /// Whether the client's own login of the provider is passed on, and pays.
    pub(crate) own_login: bool,
    /// That login, so that it can be taken out of what the provider says.
    pub(crate) shown: Option<Arc<Key>>,
    /// Tells the logins of users apart: one that has used its quota is not another's.
    pub(crate) login: u64,
    /// Which it is in the order of the settings, whoever fails now.
    pub(crate) place: usize,
    /// What is made when it is first needed.
    pub(crate) made: Made,
}

/// What is the same for each request on a route, so that it is made once.
#[derive(Debug, Default)]
pub(crate) struct Made {
    counted: OnceLock<Arc<Counted>>,
    /// The address without anything that depends on the request.
    pub(crate) address: OnceLock<Option<Address>>,
    /// The name of the model, as it is on record.
    name: OnceLock<Arc<str>>,
    /// The header with the key.
    pub(crate) key: OnceLock<Option<(HeaderName, HeaderValue)>>,
}

impl Route {
    /// Returns what a provider says without the key or login that it was shown: some quote the one
    /// that they do not like, and what they say is on record for others to read.
    pub(crate) fn without_key(&self, said: &Bytes) -> Bytes {
        let shown = self.key.as_ref().or(self.shown.as_ref());
        shown.map_or_else(|| said.clone(), |key| key.removed_from(said))
    }

    /// Returns what a model is called on record; most are asked for by the name that the provider has for them.
    pub(crate) fn called(&self, model: &str) -> Arc<str> {
        if model == self.model {
            return Arc::clone(self.made.name.get_or_init(|| plain(model, NAME_MAX_CHARS).into()));
        }
        plain(model, NAME_MAX_CHARS).into()
    }

    /// Returns the metrics of the model.
    pub(crate) fn counted(&self) -> &Counted {
        let find = || crate::metrics::of(&self.provider, &self.model, self.known.is_some());
        self.made.counted.get_or_init(find)
    }

    pub(crate) fn key_id(&self) -> u64 {
        let login = if self.own_login { self.login } else { 0 };
        self.key.as_ref().map_or(login, |key| key.id)
    }
}

/// Tells whether more than one provider could answer.
pub(crate) fn several(routes: &[Arc<Route>]) -> bool {
    routes.iter().any(|route| route.provider != routes[0].provider)
}

/// Of how many models it is remembered who could answer for them.
const KNOWN_MAX: usize = 1_000;

/// Who could answer for a model that was asked for before, with the same keys and settings.
#[derive(Debug, Default)]
pub(crate) struct KnownRoutes {
    known: Mutex<Option<OfConfig>>,
}

/// The settings, and what is known by models.
type OfConfig = (Arc<Config>, HashMap<String, Vec<Found>>);

/// A way to ask for a model, and who could answer.
#[derive(Debug)]
struct Found {
    dialect: Dialect,
    provider: Option<String>,
    routes: Vec<Arc<Route>>,
}

impl Found {
    fn fits(&self, question: &Question<'_>) -> bool {
        self.dialect == question.dialect && self.provider.as_deref() == question.provider
    }
}

impl KnownRoutes {
    fn get(&self, config: &Arc<Config>, question: &Question<'_>) -> Option<Vec<Arc<Route>>> {
        let model = question.usual()?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, models) = known.as_ref().filter(|(of, _)| Arc::ptr_eq(of, config))?;
        let found = models.get(model)?.iter().find(|found| found.fits(question))?;
        Some(found.routes.clone())
    }

    fn put(&self, config: &Arc<Config>, question: &Question<'_>, routes: &[Arc<Route>]) {
        let Some(model) = question.usual() else { return };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = known
            .as_ref()
            .is_none_or(|(of, models)| !Arc::ptr_eq(of, config) || models.len() >= KNOWN_MAX);
        if stale {
            *known = Some((Arc::clone(config), HashMap::new()));
        }
        let found = Found {
            dialect: question.dialect,
            provider: question.provider.map(ToOwned::to_owned),
            routes: routes.to_vec(),
        };
        if let Some((_, models)) = known.as_mut() {
            models.entry(model.clone()).or_default().push(found);
        }
    }
}

/// What decides over routes.
#[derive(Debug, Clone)]
pub(crate) struct Question<'a> {
    /// The model that was asked for, and those that may answer instead.
    pub(crate) models: Vec<String>,
    pub(crate) provider: Option<&'a str>,
    pub(crate) dialect: Dialect,
    /// What the model must be able to do.
    pub(crate) needs: Vec<Ability>,
    pub(crate) prefer: Prefer,
    /// About how many tokens go in and come out.
    pub(crate) tokens: (u64, u64),
    /// The login of the provider that the client brings.
    pub(crate) own_login: Option<Arc<Key>>,
    /// Tells the logins of users apart.
    pub(crate) login: u64,
}

impl Question<'_> {
    /// Returns the model if it is all that is asked for: with a login of its own, or with models that
    /// may answer instead, each request is another one.
    fn usual(&self) -> Option<&String> {
        match self.models.as_slice() {
            [model] if self.own_login.is_none() => Some(model),
            _ => None,
        }
    }
}

/// Why nobody can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// No provider knows the model.
    Unknown,
    /// The provider of that name is not there.
    NoProvider,
    /// There is no key for this provider.
    NoKey(String),
}

/// Who could answer.
#[derive(Debug)]
pub(crate) struct Choice {
    /// In the order in which they are asked.
    pub(crate) routes: Vec<Arc<Route>>,
    /// The model that would have been asked first, had nobody looked at what it costs.
    pub(crate) instead_of: Option<Arc<Model>>,
}

/// Finds who could answer, in the order in which they are asked.
pub(crate) fn find(
    config: &Arc<Config>,
    keys: &Keys,
    health: &Health,
    question: &Question<'_>,
    now: Timestamp,
) -> Result<Choice, NoRoute> {
    if question.provider.is_some_and(|name| !config.order.iter().any(|known| known == name)) {
        return Err(NoRoute::NoProvider);
    }
    let routes = match keys.routes.get(config, question) {
        Some(known) => known,
        None => {
            let found = look(config, keys, question)?;
            keys.routes.put(config, question, &found);
            found
        }
    };
    if routes.len() == 1 {
        return Ok(Choice { routes, instead_of: None });
    }
    let today = now.to_zoned(TimeZone::UTC).date();
    let (input, output) = question.tokens;
    let candidates: Vec<Candidate> = routes
        .iter()
        .map(|route| {
            let (healthy, latency) = health.look(&route.provider, route.key_id(), now);
            let known = route.known.as_ref();
            let usage = godel_llm::Usage { input, output, ..Default::default() };
            let price = known.and_then(|model| model.price(today, input));
            Candidate {
                // What is not known is believed to be able.
                capable: known.is_none_or(|model| model.can_all(&question.needs)),
                healthy,
                cost: price.map(|price| price.cost(&usage)),
                latency,
            }
        })
        .collect();
    let places = order(&candidates, question.prefer);
    let instead_of = match question.prefer {
        Prefer::Cost => {
            let usual = order(&candidates, Prefer::Order).into_iter().next();
            let usual = usual.filter(|usual| places.first() != Some(usual));
            usual.and_then(|usual| routes[usual].known.clone())
        }
        Prefer::Order | Prefer::Latency => None,
    };
    let routes = places.into_iter().map(|place| Arc::clone(&routes[place])).collect();
    Ok(Choice { routes, instead_of })
}

/// Looks who could answer, in the order of the settings.
fn look(config: &Config, keys: &Keys, question: &Question<'_>) -> Result<Vec<Arc<Route>>, NoRoute> {
    let mut routes = Vec::new();
    let mut keyless = None;
    for asked in &question.models {
        let names = config.aliases.get(asked).map_or(std::slice::from_ref(asked), Vec::as_slice);
        for name in names {
            for (provider, model) in homes(config, name, question.provider) {
                let found = with_keys(config, keys, question, (provider, model));
                if found.is_empty() {
                    keyless.get_or_insert(provider.to_owned());
                }
                routes.extend(found);
            }
        }
    }
    if routes.is_empty() {
        return Err(keyless.map_or(NoRoute::Unknown, NoRoute::NoKey));
    }
    for (place, route) in routes.iter_mut().enumerate() {
        route.place = place;
    }
    Ok(routes.into_iter().map(Arc::new).collect())
}

/// Returns who could be asked for a model, or for those that an alias stands for, in the order of the settings.
fn ways<'c>(config: &'c Config, asked: &'c str) -> impl Iterator<Item = (&'c str, &'c str)> {
    let names = config.aliases.get(asked);
    let own = names.is_none().then_some(asked);
    let names = names.into_iter().flatten().map(String::as_str).chain(own);
    names.flat_map(|name| homes(config, name, None))
}

/// Tells whether any provider knows a model, or one of those that an alias stands for.
pub(crate) fn knows(config: &Config, asked: &str) -> bool {
    ways(config, asked).next().is_some()
}

impl Config {
    /// Returns what the list of models says of the one that is asked first under this name, which may be an alias.
    pub fn known_model(&self, asked: &str) -> Option<&Arc<Model>> {
        let listed = |(provider, model)| self.registry().of(provider, model);
        ways(self, asked).find_map(listed).or_else(|| self.registry().named(asked).first())
    }
}

/// Returns the providers that know a model, each with its own name for it.
fn homes<'c>(config: &'c Config, name: &'c str, only: Option<&str>) -> Vec<(&'c str, &'c str)> {
    let named =
        name.split_once('/').filter(|(provider, _)| config.order.iter().any(|p| p == provider));
    let known = config.registry().named(name);
    let mut found = Vec::new();
    for provider_name in &config.order {
        let provider = &config.providers[provider_name];
        let own = provider.models.get(name);
        let fits = match only {
            Some(only) => provider_name == only,
            None => {
                own.is_some()
                    || known.iter().any(|model| model.provider == *provider_name)
                    || provider.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
                    || named.is_some_and(|(first, _)| first == provider_name)
            }
        };
        if fits {
            let rest = named.filter(|(first, _)| first == provider_name).map(|(_, rest)| rest);
            let model = own.map_or(rest.unwrap_or(name), String::as_str);
            found.push((provider_name.as_str(), model));
        }
    }
    found
}

fn with_keys(
    config: &Config,
    keys: &Keys,
    question: &Question<'_>,
    (name, model): (&str, &str),
) -> Vec<Route> {
    let provider = &config.providers[name];
    let Some(dialect) = provider.speaks(question.dialect) else { return Vec::new() };
    let route = |key, own_login| Route {
        provider: name.into(),
        model: model.to_owned(),
        known: config.registry().of(name, model).cloned(),
        dialect,
        key,
        own_login,
        shown: question.own_login.clone().filter(|_| own_login),
        login: question.login,
        place: 0,
        made: Made::default(),
    };
    if question.own_login.is_some() && provider.subscription && dialect == question.dialect {
        return vec![route(None, true)];
    }
    if provider.auth(dialect) == Auth::None {
        return vec![route(None, false)];
    }
    keys.of(name).iter().map(|key| route(Some(Arc::clone(key)), false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::read(
            r#"
            [providers.aaa]
            chat = "http://aaa/v1"
            models = { "claude-sonnet-5" = "sonnet-at-aaa" }
            [providers.local]
            chat = "http://local/v1"
            auth = "none"
            prefixes = ["llama"]
            [aliases]
            fast = ["gpt-5-nano", "claude-haiku-5-5"]
            slow = ["claude-haiku-5-5", "gpt-5-nano"]
            "#,
        )
        .unwrap()
    }

    fn keys(providers: &[&str]) -> Keys {
        let mut keys = Keys::default();
        for provider in providers {
            keys.add(provider, Key::new(&format!("sk-{provider}")).unwrap());
        }
        keys
    }

    fn question(model: &str) -> Question<'static> {
        Question {
            models: vec![model.to_owned()],
            provider: None,
            dialect: Dialect::Chat,
            needs: vec![],
            prefer: Prefer::Order,
            tokens: (1_000, 100),
            own_login: None,
            login: 0,
        }
    }

    fn found(keys: &Keys, question: &Question<'_>) -> Result<Vec<(String, String)>, NoRoute> {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let found = find(&Arc::new(config()), keys, &Health::default(), question, now)?;
        Ok(found
            .routes
            .into_iter()
            .map(|route| (route.provider.to_string(), route.model.clone()))
            .collect())
    }

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
        pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec()
    }

    #[test]
    fn the_users_own_provider_is_asked_before_the_known_one() {
        let all = keys(&["aaa", "anthropic", "openai"]);
        let expected = pairs([("aaa", "sonnet-at-aaa"), ("anthropic", "claude-sonnet-5")]);
        assert_eq!(found(&all, &question("claude-sonnet-5")).unwrap(), expected);
        let expected = pairs([("anthropic", "claude-sonnet-5")]);
        assert_eq!(found(&keys(&["anthropic"]), &question("claude-sonnet-5")).unwrap(), expected);
    }

    #[test]
    fn an_alias_a_prefix_a_path_and_a_wish_each_find_their_way() {
        let all = keys(&["anthropic", "openai", "openrouter"]);
        let fast = pairs([("openai", "gpt-5-nano"), ("anthropic", "claude-haiku-5-5")]);
        assert_eq!(found(&all, &question("fast")).unwrap(), fast);
        let cheap = Question { prefer: Prefer::Cost, ..question("fast") };
        assert_eq!(found(&all, &cheap).unwrap()[0].0, "openai");
        let instead_of = |prefer, model: &str| {
            let question = Question { prefer, ..question(model) };
            let now = Timestamp::from_second(1_800_000_000).unwrap();
            let choice = find(&Arc::new(config()), &all, &Health::default(), &question, now);
            choice.unwrap().instead_of.map(|model| model.name.clone())
        };
        assert_eq!(instead_of(Prefer::Cost, "fast"), None, "the first is the cheapest");
        assert_eq!(instead_of(Prefer::Cost, "slow").as_deref(), Some("claude-haiku-5-5"));
        assert_eq!(instead_of(Prefer::Order, "slow"), None);
        let unknown = pairs([("anthropic", "claude-next-99")]);
        assert_eq!(found(&all, &question("claude-next-99")).unwrap(), unknown);
        assert_eq!(found(&all, &question("llama-9")).unwrap(), pairs([("local", "llama-9")]));
        let named = pairs([("openrouter", "qwen/qwen-9")]);
        assert_eq!(found(&all, &question("openrouter/qwen/qwen-9")).unwrap(), named);
        let forced = Question { provider: Some("openrouter"), ..question("anything") };
        assert_eq!(found(&all, &forced).unwrap(), pairs([("openrouter", "anything")]));
    }

    #[test]
    fn it_is_told_why_nobody_can_answer() {
        let none = keys(&[]);
        assert_eq!(found(&none, &question("gpt-5")), Err(NoRoute::NoKey("openai".to_owned())));
        assert_eq!(found(&none, &question("nonsense")), Err(NoRoute::Unknown));
        let forced = Question { provider: Some("moon"), ..question("gpt-5") };
        assert_eq!(found(&none, &forced), Err(NoRoute::NoProvider));
    }

    #[test]
    fn every_key_of_a_provider_is_a_way() {
        let mut two = keys(&["openai"]);
        two.add("openai", Key::new("sk-second").unwrap());
        assert_eq!(found(&two, &question("gpt-5")).unwrap().len(), 2);
    }
}
