//! Walks through the dashboard in a real browser, against a real server.

use std::fs;

use crate::counts;
use crate::failure::{Result, Told};
use crate::godel::Godel;
use crate::provision;
use crate::report::Done;
use crate::shop::Shop;
use crate::steps::cargo::counted;

/// Starts a server on an empty folder and runs the journeys of `web/e2e` against it.
///
/// Pictures of what the browser saw are left in `target/xtask/pictures`.
pub(crate) fn journeys(shop: &Shop) -> Result<Done> {
    let (browser, done) = provision::browser(shop)?;
    let Some(browser) = browser else {
        return Ok(done);
    };
    let pictures = shop.target.join("xtask/pictures");
    fs::create_dir_all(&pictures).told(format!("create {}", pictures.display()))?;
    let folder = shop.nursery.folder("e2e")?;
    let godel = Godel::new(shop, folder.join("data"));
    let (server, link) = godel.up_with_link()?;
    let mut command = shop.npm(&["run", "e2e"]);
    browser.tell(&mut command);
    command
        .env("GODEL_TEST_URL", server.url())
        .env("GODEL_TEST_LOGIN_URL", link)
        .env("GODEL_TEST_KEY", godel.key()?)
        .env("GODEL_TEST_GODEL_BIN", shop.godel("debug"))
        .env("GODEL_TEST_SCREENSHOTS", &pictures)
        // What the browser and the tests leave behind goes away with the folder.
        .env("TMPDIR", &folder);
    let output = shop.captured("e2e", &mut command).map_err(|failure| {
        let said = server.log_end();
        failure.hint(format!("see {}; what the server said: {said}", pictures.display()))
    })?;
    server.stop()?;
    let done = counted(counts::of_vitest(&output))?;
    Ok(Done { note: browser.title(), ..done })
}
