//! The agent programs that Godel can lead, and their versions.

use std::ffi::OsString;

use godel_agents::Harness;
use godel_agents::discover::{Found, discover};
use godel_settings::Environment;
use tokio::task::JoinSet;

use super::Finding;

const NAME: &str = "harnesses";

/// Asks each agent program that Godel can lead for its version, all of them at once.
pub(super) async fn found(environment: &Environment) -> Finding {
    let search = OsString::from(environment.get("PATH").unwrap_or_default());
    let mut asked: JoinSet<(usize, Result<Option<Found>, String>)> = JoinSet::new();
    let led = Harness::ALL.into_iter().filter(|harness| harness.known().is_some());
    for (place, harness) in led.clone().enumerate() {
        let search = search.clone();
        asked.spawn(async move { (place, discover(harness, &search).await) });
    }
    let mut said = asked.join_all().await;
    said.sort_by_key(|(place, _)| *place);
    let (mut names, mut complaints, mut packages) = (Vec::new(), Vec::new(), Vec::new());
    for (_, said) in said {
        match said {
            Ok(None) => {}
            Ok(Some(found)) => {
                let Some(known) = found.harness.known() else { continue };
                match (found.complaint(), found.version) {
                    (None, Some(version)) => names.push(format!("{} {version}", known.program)),
                    (complaint, _) => {
                        complaints.extend(complaint);
                        packages.push(known.package);
                    }
                }
            }
            Err(complaint) => complaints.push(complaint),
        }
    }
    if !complaints.is_empty() {
        let hint = match packages.as_slice() {
            [] => "see above".to_owned(),
            packages => format!("npm install -g {}", packages.join(" ")),
        };
        names.extend(complaints);
        return Finding::warn(NAME, names.join("; "), hint);
    }
    if names.is_empty() {
        let known: Vec<&str> = led.filter_map(Harness::known).map(|known| known.program).collect();
        let message =
            format!("none of {} is on the PATH; Godel has its own agent", known.join(", "));
        return Finding::skip(NAME, message);
    }
    Finding::ok(NAME, names.join(", "))
}
