//! How requests to models find their way, as the proxy does it right now.

use std::collections::HashMap;
use std::time::Duration;

use godel_app::{App, Call};
use godel_model::Reach;
use tracing::instrument;

use crate::Result;

/// How requests find their way; names are in their order.
#[derive(Debug, Clone)]
pub struct Routing {
    /// The providers in the order in which they are asked.
    pub order: Vec<String>,
    /// What counts in the choice.
    pub prefer: &'static str,
    /// How often a request is tried at most.
    pub attempts: u32,
    /// How long a provider may take for its first byte.
    pub first_byte: Duration,
    /// How long a stream may be silent.
    pub idle: Duration,
    /// Names that stand for models.
    pub aliases: Vec<(String, Vec<String>)>,
    /// Models that are tried after another.
    pub fallbacks: Vec<(String, Vec<String>)>,
    /// Models for which a second provider is asked too, after so long.
    pub hedges: Vec<(String, Duration)>,
    /// For how many seconds answers are kept; none if they are not.
    pub cache_seconds: Option<u64>,
}

/// Tells how requests to models find their way.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "board.routing.show", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn show(app: &App, call: &Call) -> Result<Routing> {
    call.may("cost", "read", Reach::Team)?;
    let config = app.switchboard.config();
    Ok(Routing {
        order: config.order.clone(),
        prefer: config.prefer.as_str(),
        attempts: config.attempts,
        first_byte: config.first_byte,
        idle: config.idle,
        aliases: sorted(&config.aliases),
        fallbacks: sorted(&config.fallbacks),
        hedges: sorted(&config.hedges),
        cache_seconds: config.cache.enabled.then_some(config.cache.seconds),
    })
}

fn sorted<T: Clone>(named: &HashMap<String, T>) -> Vec<(String, T)> {
    let mut all: Vec<_> = named.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}
