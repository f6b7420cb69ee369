//! Who could answer a request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use godel_decide::{Candidate, Prefer, order};
use godel_llm::{Dialect, Model, Tier, Usage};
use http::header::{HeaderName, HeaderValue};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::attempt::NAME_MAX_CHARS;
use crate::config::{Auth, Config};
use crate::health::{At, Health};
use crate::keys::{Key, Keys};
use crate::metrics::Counted;
use crate::needs::{TOLD, has_media, needs};
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

    /// Returns under which name its health is kept.
    pub(crate) fn at(&self) -> At<'_> {
        At { provider: &self.provider, key: self.key_id(), model: &self.model }
    }

    pub(crate) fn key_id(&self) -> u64 {
        let login = if self.own_login { self.login } else { 0 };
        self.key.as_ref().map_or(login, |key| key.id)
    }
}

/// Tells whether more than one provider could answer, or one with several keys.
pub(crate) fn several(routes: &[Arc<Route>]) -> bool {
    let home = |route: &Arc<Route>| (Arc::clone(&route.provider), route.key_id());
    routes.iter().skip(1).any(|route| home(route) != home(&routes[0]))
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
    /// What is asked, which tells what the model must be able to do.
    pub(crate) body: &'a [u8],
    pub(crate) prefer: Prefer,
    /// About how many tokens go in and come out.
    pub(crate) tokens: (u64, u64),
    /// How it wants to be served.
    pub(crate) tier: Tier,
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
    let able = able(&routes, question);
    let candidates: Vec<Candidate> = routes
        .iter()
        .map(|route| {
            let (healthy, latency) = health.look(route.at(), now);
            let known = route.known.as_ref();
            let same = route.dialect == question.dialect;
            let tier = if same { question.tier } else { Tier::Standard };
            let usage = Usage { input, output, tier, ..Usage::default() };
            let price = known.and_then(|model| model.price_of(today, &usage));
            Candidate {
                capable: able(route),
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

/// Tells of each route whether its model can do what the request needs and takes so much; what is not known is
/// believed to be able. The bytes are looked at only if somebody might not be.
fn able(routes: &[Arc<Route>], question: &Question<'_>) -> impl Fn(&Route) -> bool + use<> {
    let input = question.tokens.0;
    let small = move |model: &Model| model.context.is_some_and(|context| input > context);
    let some = |lacks: &dyn Fn(&Model) -> bool| {
        routes.iter().filter_map(|route| route.known.as_deref()).any(lacks)
    };
    let same = |pair: &[Arc<Route>]| match (&pair[0].known, &pair[1].known) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    let differ = !routes.windows(2).all(same);
    let tight = differ && some(&small);
    let needs = match tight || (differ && some(&|model| !model.can_all(&TOLD))) {
        true => needs(question.body),
        false => Vec::new(),
    };
    // Of pictures and files nobody can tell by their bytes how many tokens they have.
    let tight = tight && !has_media(&needs);
    move |route| {
        let able = |model: &Arc<Model>| model.can_all(&needs) && !(tight && small(model));
        route.known.as_ref().is_none_or(able)
    }
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
pub(crate) fn ways<'c>(
    config: &'c Config,
    asked: &'c str,
) -> impl Iterator<Item = (&'c str, &'c str)> {
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
mod tests;
