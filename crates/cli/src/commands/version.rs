//! `godel version`: what this program is.

use godel_console::{Context, Exit, Result};
use serde_json::json;

/// Prints the version.
pub(crate) fn run(context: &Context) -> Result<Exit> {
    let version = env!("CARGO_PKG_VERSION");
    if context.output.is_json() {
        let schema = godel_store::known_migrations().last().map_or(0, |newest| newest.version);
        context.output.value(&json!({
            "name": "godel",
            "version": version,
            "schemaVersion": schema,
            "dashboard": godel_server::has_dashboard(),
            "system": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
        }))?;
    } else {
        context.output.line(format_args!("godel {version}"))?;
    }
    Ok(Exit::Done)
}
