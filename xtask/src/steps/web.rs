//! Steps of the dashboard in `web/`.

use std::fs;

use crate::counts;
use crate::failure::{Failure, Result, Told};
use crate::report::Done;
use crate::shop::Shop;
use crate::steps::cargo::counted;

/// Kept in `node_modules`: the lock file that it was installed from.
const STAMP: &str = "node_modules/.godel-package-lock.json";

/// Installs the packages, unless the lock file is the one they were installed from.
pub(crate) fn install(shop: &Shop) -> Result<Done> {
    let web = shop.web();
    let lock = web.join("package-lock.json");
    let wanted = fs::read(&lock)
        .map_err(|error| Failure::new(format!("could not read {}: {error}", lock.display())))?;
    let stamp = web.join(STAMP);
    if fs::read(&stamp).is_ok_and(|held| held == wanted) {
        return Ok(Done::noted("unchanged"));
    }
    shop.captured("web-install", &mut shop.npm(&["ci", "--no-audit", "--no-fund"]))?;
    // Without any package npm makes no folder.
    fs::create_dir_all(web.join("node_modules")).told("create node_modules")?;
    fs::write(&stamp, wanted).told(format!("write {}", stamp.display()))?;
    Ok(Done::noted("installed"))
}

/// Checks types and lints.
pub(crate) fn check(shop: &Shop) -> Result<Done> {
    shop.captured("web-check", &mut shop.npm(&["run", "check"]))?;
    Ok(Done::default())
}

/// Runs the dashboard's own tests.
pub(crate) fn test(shop: &Shop) -> Result<Done> {
    let output = shop.captured("web-test", &mut shop.npm(&["test"]))?;
    counted(counts::of_vitest(&output))
}

/// Builds what the server embeds.
pub(crate) fn build(shop: &Shop) -> Result<Done> {
    shop.captured("web-build", &mut shop.npm(&["run", "build"]))?;
    Ok(Done::default())
}
