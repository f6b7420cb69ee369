//! Trying providers: do they answer, and do they take our keys?

use godel_model::Reach;
use godel_proxy::Probe;
use godel_store::Tx;
use tracing::instrument;

use super::who::keys_of;
use crate::{App, Call, Error, Result};

/// Tries the providers of which there is a key, or one by its name, with each of the tenant's keys.
///
/// # Errors
/// If the caller may not, or there is no such provider.
#[instrument(level = "debug", name = "app.providers.test", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn test(app: &App, call: &Call, name: Option<String>) -> Result<Vec<Probe>> {
    call.may("secret", "read", Reach::Team)?;
    let config = app.switchboard.config();
    let versions = |tx: &mut Tx<'_>| {
        let secrets = tx.secrets().list()?.into_iter();
        Ok(secrets.map(|one| (one.name.as_str().to_owned(), one.version)).collect())
    };
    let versions: Vec<(String, i64)> =
        app.store.read(call.scope(), versions).await.map_err(Error::Store)?;
    let actor = &call.actor;
    let whose = (actor.tenant, actor.user);
    let keys = keys_of(app, whose, actor.home, versions, app.clock.now()).await?;
    let names = match &name {
        Some(name) if !config.order.contains(name) => {
            return Err(Error::NoProvider(name.clone()));
        }
        Some(name) => vec![name.clone()],
        // Of all the providers that are known, most are not meant.
        None => {
            let meant = |name: &&String| config.own.contains(name) || !keys.of(name).is_empty();
            config.order.iter().filter(meant).cloned().collect()
        }
    };
    let mut probes = app.switchboard.probe(&names, &keys).await;
    probes.retain(|probe| name.is_some() || probe.asked.is_some());
    Ok(probes)
}
