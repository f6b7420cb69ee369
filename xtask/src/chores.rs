//! The smaller chores: bench, torture, codegen, dev.

use std::process::Command;
use std::time::Duration;

use crate::engines::Engines;
use crate::failure::{Failure, Result, Told};
use crate::options::Options;
use crate::provision;
use crate::shop::Shop;
use crate::steps::{cargo, web};

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
    if options.rest.first().is_some_and(|part| part == "web") {
        return bench_web(&shop, &options.rest[1..]);
    }
    let engines = engines(&shop)?;
    let mut command = Command::new(shop.target.join("release/godel-bench"));
    engines.tell(&mut command, &shop.godel("release"));
    shop.shown(command.args(&options.rest))
}

/// Measures the dashboard in a real browser, with a full store and many events.
fn bench_web(shop: &Shop, rest: &[String]) -> Result<()> {
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
        .args(rest)
        .env("GODEL_TEST_GODEL_BIN", shop.godel("release"))
        .env("GODEL_TEST_SCREENSHOTS", &pictures)
        .env("TMPDIR", &folder);
    shop.shown(&mut command)
}

/// Runs the crash tests for many rounds.
pub(crate) fn torture(options: &Options) -> Result<()> {
    match options.rest.first().map(String::as_str) {
        Some("beads") => return torture_beads(options),
        Some("queue") => return torture_queue(options),
        Some("agents") => return torture_agents(options),
        _ => {}
    }
    let shop = Shop::open(options.verbose)?;
    shop.shown(&mut shop.cargo(&["build", "--bin", "godel"]))?;
    let engines = engines(&shop)?;
    // Whatever crate they are in: a crash test is one in the module `crash` of a test program.
    let start: &[&str] = if cargo::has_nextest() { &["nextest", "run"] } else { &["test"] };
    let rest = ["--workspace", "--test", "it", "--no-fail-fast", "crash"];
    let mut command = shop.cargo(&[start, &rest].concat());
    engines.tell(&mut command, &shop.godel("debug"));
    println!("{} rounds", options.rounds);
    shop.shown(command.env("GODEL_TORTURE_ROUNDS", options.rounds.to_string()))
}

/// Lets processes race for beads and kills writers, again and again.
fn torture_beads(options: &Options) -> Result<()> {
    /// One campaign of writers takes a few seconds; a race takes a part of one.
    const RACES_PER_CAMPAIGN: u32 = 20;
    let shop = Shop::open(options.verbose)?;
    let run = |test: &str, name: &str, value: String| {
        let start = ["test", "--quiet", "--package", "godel-beads", "--test", "it"];
        // They tell how far they are.
        let rest = ["--", "--exact", "--nocapture", test];
        shop.shown(shop.cargo(&[&start[..], &rest].concat()).env(name, value))
    };
    println!("{} races of 64 processes for one bead", options.rounds);
    let race = "claims::one_of_many_processes_wins";
    run(race, "GODEL_RACE_ROUNDS", options.rounds.to_string())?;
    let campaigns = options.rounds.div_ceil(RACES_PER_CAMPAIGN);
    for campaign in 1..=campaigns {
        println!("50 writers that are killed at random, {campaign} of {campaigns}");
        let kill = "crashes::many_writers_that_are_killed_at_random_lose_nothing_that_was_answered";
        run(kill, "GODEL_WRITERS", "50".to_owned())?;
    }
    println!("{} races, each with one winner", options.rounds);
    println!("{campaigns} times 50 writers, and nothing that was answered is lost");
    Ok(())
}

/// Lives through many seeds of the task queue, and brings every fault on its servers and workers.
fn torture_queue(options: &Options) -> Result<()> {
    /// A simulated life takes a small part of what a kill does.
    const LIVES_PER_ROUND: u64 = 100;
    /// All faults of workers take as long as many kills.
    const ROUNDS_PER_SHIFT: u32 = 20;
    let shop = Shop::open(options.verbose)?;
    let engines = engines(&shop)?;
    let run = |package: &str, tests: &str, settings: &[(&str, String)]| {
        let start = ["test", "--quiet", "--package", package, "--test", "it"];
        // They tell how far they are.
        let mut command = shop.cargo(&[&start[..], &["--", "--nocapture", tests]].concat());
        engines.tell(&mut command, &shop.godel("debug"));
        shop.shown(command.envs(settings.iter().map(|(name, value)| (*name, value.as_str()))))
    };
    // Other seeds each time; those of `test` are at the beginning.
    let (lives, from) =
        (u64::from(options.rounds) * LIVES_PER_ROUND, u64::from(std::process::id()) * 1_000_000);
    println!("{lives} simulated lives of a queue, from seed {from} on");
    let settings = [
        ("GODEL_SIMULATION_SEEDS", lives.to_string()),
        ("GODEL_SIMULATION_FROM", from.to_string()),
    ];
    run("godel-app", "simulation::no_life", &settings)?;
    println!("{} kills of each kind of server, cuts of its power, stampedes", options.rounds);
    let rounds = [("GODEL_TORTURE_ROUNDS", options.rounds.to_string())];
    run("godel-server", "queue::", &rounds)?;
    let shifts = options.rounds.div_ceil(ROUNDS_PER_SHIFT);
    for shift in 1..=shifts {
        println!("workers that are killed at each point, {shift} of {shifts}");
        run("godel", "worker_faults::", &[])?;
        run("godel", "repository::", &[])?;
    }
    println!("no promise was broken in {lives} lives and under {} kills", options.rounds);
    Ok(())
}

/// Runs convoys of agents, and kills the server and the agents at random moments.
fn torture_agents(options: &Options) -> Result<()> {
    let shop = Shop::open(options.verbose)?;
    shop.shown(&mut shop.cargo(&["build", "--bin", "godel"]))?;
    let engines = engines(&shop)?;
    // Each prints how far it is.
    let start = ["test", "--quiet", "--package", "godel", "--test", "it"];
    let mut command = shop.cargo(&[&start[..], &["--", "--nocapture", "fleet_crash::"]].concat());
    engines.tell(&mut command, &shop.godel("debug"));
    println!("{} convoys of 6 agents", options.rounds);
    shop.shown(command.env("GODEL_FLEET_ROUNDS", options.rounds.to_string()))
}

/// Writes the generated files.
pub(crate) fn codegen(options: &Options) -> Result<()> {
    let shop = Shop::open(options.verbose)?;
    let run = |package, binary, rest: &[&str]| {
        let start = ["run", "--quiet", "--package", package, "--bin", binary];
        shop.shown(&mut shop.cargo(&[&start, rest].concat()))
    };
    run("godel-server", "godel-codegen", &[])?;
    run("godel", "godel", &["--", "reference", "--write", "docs/reference"])?;
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
fn engines(shop: &Shop) -> Result<Engines> {
    let (binaries, done) = provision::services(shop)?;
    for line in done.skipped {
        println!("skipped: {line}");
    }
    Engines::start(&binaries)
}
