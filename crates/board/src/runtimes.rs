//! Places where agents work: which there are, and whether they work right now.

use std::time::Duration;

use godel_app::{Call, Error as AppError};
use godel_fleet::Fleet;
use godel_model::{Invalid, Need, RUNTIMES, Reach, code};
use godel_runtime::Capabilities;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::instrument;

use crate::Result;
use crate::doctor::{self, Finding};

/// What the runtimes are that Godel knows, in the order of their names.
const ABOUT: [&str; RUNTIMES.len()] = [
    "a git worktree behind walls of bubblewrap",
    "the same with a kernel of its own, by runsc of gVisor",
];
/// How long one check may take; less than a request may.
const CHECK_TIME: Duration = Duration::from_secs(20);
/// How many checks run at once on this server; each starts programs.
static CHECKS: Semaphore = Semaphore::const_new(6);

/// A place where agents can work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What it can do; nothing if this server does not offer it.
    pub offered: Option<Capabilities>,
    /// What an hour of an agent in it costs, in millionths of a dollar; nothing if no rate is set.
    pub hourly: Option<i64>,
}

/// What the runtimes are, and what their snapshots cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtimes {
    /// The runtimes.
    pub runtimes: Vec<Runtime>,
    /// What a gigabyte of snapshots costs in a month, in millionths of a dollar; nothing if no rate is set.
    pub storage: Option<i64>,
}

/// Lists the runtimes, and which of them this server offers.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "board.runtimes.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(fleet: &Fleet, call: &Call) -> Result<Runtimes> {
    call.may("agent", "read", Reach::Team)?;
    let (offered, config) = (fleet.runtimes(), fleet.app().switchboard.config());
    let told = RUNTIMES.into_iter().zip(ABOUT).map(|(name, about)| {
        let offered = offered.iter().find(|(known, _)| *known == name);
        let hourly = config.rates.runtime_hour.get(name).copied();
        Runtime { name, about, offered: offered.map(|(_, can)| *can), hourly }
    });
    Ok(Runtimes { runtimes: told.collect(), storage: config.rates.storage_gb_month })
}

/// Tries whether agents can work in a runtime right now: the checks of `godel doctor`, on the server.
///
/// # Errors
/// If the caller may not, or there is no such runtime.
#[instrument(level = "debug", name = "board.runtimes.test", skip_all, fields(tenant = %call.actor.tenant, name))]
pub async fn test(fleet: &Fleet, call: &Call, name: &str) -> Result<Vec<Finding>> {
    call.may("config", "read", Reach::Team)?;
    if !call.actor.home {
        let need = Need { resource: "config", action: "read", reach: Reach::All };
        return Err(AppError::Forbidden(need).into());
    }
    let Some(name) = RUNTIMES.into_iter().find(|known| *known == name) else {
        let why = Invalid::new(code::INVALID_FIELD, "there is no such runtime");
        return Err(why.with_hint(format!("runtimes are {}", RUNTIMES.join(" and "))).into());
    };
    let (settings, own_kernel) = (fleet.settings(), name == "gvisor");
    let bubblewrap = settings.bubblewrap.clone();
    let (git, walls, kernel, programs) = tokio::join!(
        trying("git", doctor::git),
        trying("walls", move || doctor::walls(bubblewrap.as_deref())),
        async { if own_kernel { Some(trying("gvisor", doctor::kernel).await) } else { None } },
        timeout(CHECK_TIME, doctor::harnesses(&settings.search)),
    );
    let mut findings = vec![git, walls];
    findings.extend(kernel);
    findings.push(offered(fleet, name));
    findings.push(programs.unwrap_or_else(|_| slow("harnesses")));
    Ok(findings)
}

/// What works now may not have worked when the server began, and is offered from its next start on.
fn offered(fleet: &Fleet, name: &str) -> Finding {
    if fleet.runtimes().iter().any(|(known, _)| *known == name) {
        return Finding::ok("offered", format!("agents can be spawned with --runtime {name}"));
    }
    let hint = "once the checks above pass, start the server again";
    Finding::fail("offered", "this server did not find it when it started", hint)
}

fn slow(name: &'static str) -> Finding {
    let hint = "try again; if it stays so, look at the load of this machine";
    Finding::warn(name, "the check took too long and was given up", hint)
}

/// Runs a check that starts programs. One that never ends keeps its place, so that they cannot pile up.
async fn trying(name: &'static str, check: impl FnOnce() -> Finding + Send + 'static) -> Finding {
    let checked = async {
        let place = CHECKS.acquire().await;
        let work = tokio::task::spawn_blocking(move || {
            let found = check();
            drop(place);
            found
        });
        work.await
    };
    match timeout(CHECK_TIME, checked).await {
        Ok(Ok(found)) => found,
        Ok(Err(_)) => Finding::fail(name, "the check broke off", "see the log of the server"),
        Err(_) => slow(name),
    }
}
