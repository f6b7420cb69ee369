//! Which forge a project is on, and the token for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use godel_app::{Call, secrets};
use godel_forge::{Forge, Place, Remote, Wish, connect};
use godel_model::{Actor, Permission, ProjectId, Report as _, Role, SecretName, TenantId, code};
use jiff::{SignedDuration, Timestamp};

use super::train::Ride;
use crate::fleet::lock;
use crate::{Error, Result};

/// How long a token is kept before the vault is asked again.
const KEPT: SignedDuration = SignedDuration::from_mins(15);
/// How many forges are kept.
const HELD_MAX: usize = 1_000;

/// Forges that are spoken to, for each project.
#[derive(Default)]
pub(crate) struct Forges(Mutex<HashMap<(TenantId, ProjectId), Held>>);

struct Held {
    place: Place,
    forge: Arc<dyn Forge>,
    until: Timestamp,
}

/// Returns the remote at which a project has its pull requests.
pub(super) fn remote(ride: &Ride) -> Result<String> {
    ride.wanted.landing.push.clone().ok_or_else(|| {
        let why = "pull requests need a remote";
        Error::refused(code::INVALID_CONFIG, why, "say `push = \"origin\"` in [landing]")
    })
}

/// Returns the forge of a project.
pub(super) async fn of(ride: &Ride) -> Result<Arc<dyn Forge>> {
    let place = place(ride).await?;
    let (own, now) = ((ride.tenant, ride.project), ride.now());
    let known = &ride.fleet.own.forges.0;
    if let Some(held) = lock(known).get(&own)
        && held.place == place
        && held.until > now
    {
        return Ok(Arc::clone(&held.forge));
    }
    let name: SecretName = place.secret.parse()?;
    let opened = secrets::reveal(ride.fleet.app(), &opener(ride)?, name).await;
    let token = opened.map_err(|error| match error.code() {
        code::SECRET_NOT_FOUND => Error::refused(
            code::FORGE_REFUSED,
            format!("there is no token for {}", place.host),
            format!("make one on the forge, then: godel secret set {}", place.secret),
        ),
        _ => Error::App(error),
    })?;
    let forge = connect(place.clone(), token.0.into())?;
    let held = Held { place, forge: Arc::clone(&forge), until: now + KEPT };
    let mut known = lock(known);
    if known.len() >= HELD_MAX {
        known.clear();
    }
    known.insert(own, held);
    Ok(forge)
}

/// Lets the vault be asked again the next time.
pub(super) fn forget(ride: &Ride) {
    lock(&ride.fleet.own.forges.0).remove(&(ride.tenant, ride.project));
}

async fn place(ride: &Ride) -> Result<Place> {
    let remote = remote(ride)?;
    let find = move |bench: &godel_git::Workbench| bench.remote_url(&remote);
    let url = ride.fleet.at_bench(ride.folder.clone(), find).await?;
    let remote: Remote =
        url.parse().map_err(|why| godel_forge::Error::Unclear(format!("{why}")))?;
    let pulls = ride.wanted.landing.pulls.clone().unwrap_or_default();
    let wish = Wish { kind: pulls.forge, url: pulls.url };
    Ok(Place::of(&remote, &wish)?)
}

/// Acts as the fleet itself, which may open secrets and nothing else. Each use is on record.
fn opener(ride: &Ride) -> Result<Call> {
    let call = ride.fleet.as_fleet(ride.tenant);
    let scope: Permission = "secret:execute:team".parse()?;
    let actor = Actor { role: Role::Admin, scopes: [scope].into(), ..(*call.actor).clone() };
    Ok(Call { actor: actor.into(), ..call })
}
