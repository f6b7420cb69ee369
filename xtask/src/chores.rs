//! The smaller chores: bench, codegen, dev.

use std::process::Command;
use std::time::Duration;

use crate::engines::Engines;
use crate::failure::{Failure, Result, Told};
use crate::options::Options;
use crate::provision;
use crate::shop::Shop;
use crate::steps::{e2e, web};

/// The part of `bench web` that measures nothing: what the pages look like.
const LOOKS: &str = "looks";
const POLL: Duration = Duration::from_millis(100);

/// Builds everything for release and runs a benchmark with the remaining arguments.
pub(crate) fn bench(options: &Options) -> Result<()> {
    if options.rest.is_empty() {
        return Err(Failure::new("which benchmark?").hint("for example `cargo xtask bench server`"));
    }
    let shop = Shop::open(false)?;
    println!("building the dashboard");
    web::install(&shop)?;
    web::build(&shop)?;
    // All at once: what is built by itself is built with other features, and all below it once more.
    let programs = ["--bin", "godel", "--bin", "godel-scripted", "--bin", "godel-bench"];
    shop.shown(shop.cargo(&["build", "--release"]).args(programs))?;
    if let Some((first, rest)) = options.rest.split_first()
        && first == "web"
    {
        let (looks, parts): (Vec<_>, Vec<_>) = rest.iter().partition(|part| *part == LOOKS);
        if rest.is_empty() || !looks.is_empty() {
            println!("keeping pictures of every state of every page");
            e2e::looks(&shop)?;
        }
        return if rest.is_empty() || !parts.is_empty() {
            bench_web(&shop, &parts)
        } else {
            Ok(())
        };
    }
    let engines = engines(&shop)?;
    let mut command = Command::new(shop.target.join("release/godel-bench"));
    engines.tell(&mut command, &shop.godel("release"));
    shop.shown(command.args(&options.rest))
}

/// Measures the dashboard in a real browser, with a full store and many events.
fn bench_web(shop: &Shop, parts: &[&String]) -> Result<()> {
    let (browser, _) = provision::browser(shop)?;
    let Some(browser) = browser else {
        return Err(Failure::new("there is no browser to measure with")
            .hint("install chromium, or set GODEL_TEST_CHROMIUM"));
    };
    let pictures = shop.target.join("xtask/pictures");
    std::fs::create_dir_all(&pictures).told(format!("create {}", pictures.display()))?;
    let folder = shop.nursery.folder("bench-web")?;
    let mut command = shop.npm(&["run", "bench", "--"]);
    browser.tell(&mut command);
    command
        .args(parts)
        .env("GODEL_TEST_GODEL_BIN", shop.godel("release"))
        .env("GODEL_TEST_SCREENSHOTS", &pictures)
        .env("TMPDIR", &folder);
    shop.shown(&mut command)
}

/// Writes the generated files.
pub(crate) fn codegen(options: &Options) -> Result<()> {
    let shop = Shop::open(options.verbose)?;
    // Both at once, and no package by itself: that would be built with other features, and all below it once more.
    shop.shown(&mut shop.cargo(&["build", "--bin", "godel-codegen", "--bin", "godel"]))?;
    let run = |program: &str, rest: &[&str]| {
        let mut command = Command::new(shop.target.join("debug").join(program));
        shop.shown(command.args(rest).current_dir(&shop.root))
    };
    run("godel-codegen", &[])?;
    run("godel", &["reference", "--write", "docs/reference"])?;
    web::install(&shop)?;
    shop.shown(&mut shop.npm(&["run", "codegen"]))
}

/// Runs the server and the dashboard's own server until one of them ends or Ctrl-C is pressed.
pub(crate) fn dev(options: &Options) -> Result<()> {
    let shop = Shop::open(options.verbose)?;
    web::install(&shop)?;
    shop.shown(&mut shop.cargo(&["build", "--bin", "godel"]))?;
    let data = shop.target.join("xtask/dev-data");
    std::fs::create_dir_all(&data).told(format!("create {}", data.display()))?;
    let mut up = std::process::Command::new(shop.godel("debug"));
    let mut server = shop.nursery.spawn(up.arg("up").arg("--data").arg(&data))?;
    let mut pages = shop.nursery.spawn(&mut shop.npm(&["run", "dev"]))?;
    println!("Ctrl-C ends both; the data stays in {}", data.display());
    loop {
        if let Some(status) = server.wait(POLL)? {
            return Err(Failure::new(format!("godel up ended with {status}")));
        }
        if let Some(status) = pages.wait(POLL)? {
            return Err(Failure::new(format!("npm run dev ended with {status}")));
        }
    }
}

/// Gets and starts the servers, and says which are left out.
pub(crate) fn engines(shop: &Shop) -> Result<Engines> {
    let (binaries, done) = provision::services(shop)?;
    for line in done.skipped {
        println!("skipped: {line}");
    }
    Engines::start(&binaries)
}
