//! Fuzzes the HTTP API of a running server, guided by its own OpenAPI document.

use crate::counts;
use crate::failure::Result;
use crate::godel::Godel;
use crate::provision::Tools;
use crate::report::Done;
use crate::shop::Shop;
use crate::steps::cargo::counted;

/// Starts a server on an empty folder and runs Schemathesis against it.
///
/// What is asked and checked stands in `xtask/schemathesis.toml`.
pub(crate) fn api(shop: &Shop, tools: Option<&Tools>) -> Result<Done> {
    let Some(tools) = tools else {
        return Ok(Done::skipped("the API fuzz (it needs the Python tools)"));
    };
    let folder = shop.nursery.folder("fuzz")?;
    let godel = Godel::new(shop, folder.join("data"));
    let server = godel.up()?;
    let mut command = tools.command("schemathesis");
    command
        .args(["--no-color", "--config-file"])
        .arg(shop.root.join("xtask/schemathesis.toml"))
        .arg("run")
        .arg(format!("{}/api/v1/openapi.json", server.url()))
        .env("GODEL_FUZZ_KEY", godel.key()?)
        // It leaves notes where it works, and its boxes are as wide as the terminal it sees.
        .current_dir(&folder)
        .env("COLUMNS", "100");
    let output = shop
        .captured("fuzz", &mut command)
        .map_err(|failure| failure.hint(format!("what the server said: {}", server.log_end())))?;
    server.stop()?;
    counted(counts::of_schemathesis(&output))
}
