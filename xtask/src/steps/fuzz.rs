//! Fuzzes the HTTP API of a running server, guided by its own OpenAPI document.

use crate::counts;
use crate::failure::{Failure, Result};
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
    let data = folder.join("data");
    // The fuzzer shows wrong credentials again and again, and must hear each time that they are.
    let settings = "[rate]\nfailures_per_minute = 1000000\n";
    std::fs::create_dir_all(&data)
        .and_then(|()| std::fs::write(data.join("godel.toml"), settings))
        .map_err(|cause| Failure::new(format!("cannot write the settings: {cause}")))?;
    let godel = Godel::new(shop, data);
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
