//! The anchor file: places in the record of acts that are kept outside of the database.
//!
//! Somebody who can write to the database can put an older copy of it back. The newest place that
//! this server saw then lies behind the end of the record, and a check tells so.

use std::path::{Path, PathBuf};
use std::time::Duration;

use godel_app::audit::{self, Anchors};
use godel_app::{App, Crew};
use godel_safe::write_private;

const FILE: &str = "audit.anchor";
/// How often the newest places are noted.
const PERIOD: Duration = Duration::from_secs(10);

/// Reads the anchors; none if there is no such file.
pub(crate) fn read(data_dir: &Path) -> Anchors {
    let text = std::fs::read_to_string(data_dir.join(FILE)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Notes the newest places now and then, until the crew stops.
pub(crate) fn keep(app: &App, crew: &Crew, data_dir: PathBuf) {
    let (app, stopping) = (app.clone(), crew.stopping());
    crew.spawn(async move {
        let mut last = read(&data_dir);
        while tokio::time::timeout(PERIOD, stopping.cancelled()).await.is_err() {
            note(&app, &data_dir, &mut last).await;
        }
        note(&app, &data_dir, &mut last).await;
    });
}

async fn note(app: &App, data_dir: &Path, last: &mut Anchors) {
    let Ok(mut newest) = audit::anchors(app).await else { return };
    // A record that got shorter must not take its anchor with it.
    for (tenant, anchor) in &last.0 {
        if newest.0.get(tenant).is_none_or(|found| found.seq < anchor.seq) {
            newest.0.insert(*tenant, anchor.clone());
        }
    }
    if newest == *last {
        return;
    }
    let text = serde_json::to_string(&newest).unwrap_or_default();
    match write_private(&data_dir.join(FILE), &text) {
        Ok(()) => *last = newest,
        Err(error) => tracing::warn!(%error, "the anchor of the record was not written"),
    }
}
