//! Walks through the dashboard in a real browser, against a real server.

use std::fs;

use crate::counts;
use crate::failure::{Result, Told};
use crate::godel::Godel;
use crate::provision;
use crate::report::Done;
use crate::shop::Shop;
use crate::steps::cargo::counted;

/// Which journeys are made, and with which program.
struct Walk {
    profile: &'static str,
    /// Those whose file has this in its name; all of them if it is empty.
    specs: &'static [&'static str],
    /// Whether each state of a page is kept dark and at the width of a telephone, too.
    all_looks: bool,
}

/// Starts a server on an empty folder and runs the journeys of `web/e2e` against it.
///
/// Pictures of what the browser saw are left in `target/xtask/pictures`.
pub(crate) fn journeys(shop: &Shop) -> Result<Done> {
    walk(shop, &Walk { profile: "debug", specs: &[], all_looks: false })
}

/// Keeps pictures of every page with data, empty, loading and failed: light and dark, wide and narrow.
pub(crate) fn looks(shop: &Shop) -> Result<Done> {
    walk(shop, &Walk { profile: "release", specs: &["states"], all_looks: true })
}

fn walk(shop: &Shop, walk: &Walk) -> Result<Done> {
    let (browser, done) = provision::browser(shop)?;
    let Some(browser) = browser else {
        return Ok(done);
    };
    let pictures = shop.target.join("xtask/pictures");
    fs::create_dir_all(&pictures).told(format!("create {}", pictures.display()))?;
    let folder = shop.nursery.folder("e2e")?;
    let godel = Godel::built(shop, walk.profile, folder.join("data"));
    let (server, link) = godel.up_with_link()?;
    let mut command = shop.npm(&["run", "e2e", "--"]);
    browser.tell(&mut command);
    command
        .args(walk.specs)
        .env("GODEL_TEST_URL", server.url())
        .env("GODEL_TEST_LOGIN_URL", link)
        .env("GODEL_TEST_KEY", godel.key()?)
        .env("GODEL_TEST_GODEL_BIN", shop.godel(walk.profile))
        .env("GODEL_TEST_SCREENSHOTS", &pictures)
        .env("GODEL_TEST_ALL_LOOKS", if walk.all_looks { "1" } else { "" })
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
