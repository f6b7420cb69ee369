//! `cargo xtask torture`: the tests that kill and race, for as long as one likes.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::chores::engines;
use crate::failure::{Failure, Result};
use crate::options::Options;
use crate::shop::Shop;
use crate::steps::cargo;

/// Runs the crash tests for many rounds, or a campaign that is named.
pub(crate) fn run(options: &Options) -> Result<()> {
    match options.rest.first().map(String::as_str) {
        None => crashes(options),
        Some("beads") => beads(options),
        Some("queue") => queue(options),
        Some("agents") => agents(options),
        Some(other) => Err(Failure::new(format!("there is no campaign called {other}"))
            .hint("there are beads, queue and agents; without a name it is all crash tests")),
    }
}

fn crashes(options: &Options) -> Result<()> {
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
fn beads(options: &Options) -> Result<()> {
    /// One campaign of writers takes a few seconds; a race takes a part of one.
    const RACES_PER_CAMPAIGN: u32 = 20;
    let shop = Shop::open(options.verbose)?;
    let programs = Programs::build(&shop)?;
    let run = |test: &str, name: &str, value: String| {
        let mut command = programs.of("godel-beads")?;
        shop.shown(command.args(["--exact", test]).env(name, value))
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
fn queue(options: &Options) -> Result<()> {
    /// A simulated life takes a small part of what a kill does.
    const LIVES_PER_ROUND: u64 = 100;
    /// All faults of workers take as long as many kills.
    const ROUNDS_PER_SHIFT: u32 = 20;
    let shop = Shop::open(options.verbose)?;
    let programs = Programs::build(&shop)?;
    let engines = engines(&shop)?;
    let run = |package: &str, tests: &str, settings: &[(&str, String)]| {
        let mut command = programs.of(package)?;
        engines.tell(command.arg(tests), &shop.godel("debug"));
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
fn agents(options: &Options) -> Result<()> {
    let shop = Shop::open(options.verbose)?;
    let programs = Programs::build(&shop)?;
    let engines = engines(&shop)?;
    let mut command = programs.of("godel")?;
    engines.tell(command.arg("fleet_crash::"), &shop.godel("debug"));
    println!("{} convoys of 6 agents", options.rounds);
    shop.shown(command.env("GODEL_FLEET_ROUNDS", options.rounds.to_string()))
}

/// The test programs of all crates, built as `cargo xtask test` builds them.
///
/// `cargo test --package` would build one with other features, and all below it once more, for minutes.
struct Programs<'a> {
    shop: &'a Shop,
    /// What cargo said while it built them, a line of JSON for each thing.
    said: String,
}

impl<'a> Programs<'a> {
    fn build(shop: &'a Shop) -> Result<Self> {
        println!("building the tests");
        shop.captured("torture-build", &mut shop.cargo(&["build", "--bin", "godel"]))?;
        let arguments = ["test", "--workspace", "--tests", "--no-run", "--message-format=json"];
        let said = shop.captured("torture-build", &mut shop.cargo(&arguments))?;
        Ok(Self { shop, said })
    }

    /// Prepares a call of the tests of a package, which tell how far they are.
    fn of(&self, package: &str) -> Result<Command> {
        let (program, folder) = found(&self.said, package).ok_or_else(|| {
            Failure::new(format!("cargo built no test program of {package}"))
                .hint("see target/xtask/torture-build.log for what it built")
        })?;
        let mut command = Command::new(program);
        command.arg("--nocapture").current_dir(self.shop.root.join(folder));
        Ok(command)
    }
}

/// Finds the test program `it` of a package, and the folder of the package.
fn found(said: &str, package: &str) -> Option<(PathBuf, PathBuf)> {
    let built = said.lines().filter(|line| line.starts_with('{'));
    built.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|line| {
        let manifest = PathBuf::from(line["manifest_path"].as_str()?);
        let is_it = line["target"]["name"] == "it" && line["target"]["kind"][0] == "test";
        // `path+file:///home/me/godel/crates/cli#godel@0.1.0`, without the name if the folder is called so.
        let id = line["package_id"].as_str()?;
        let named = id.rsplit_once('#')?.1.split_once('@').map(|(name, _)| name);
        let name = named.or_else(|| id.rsplit_once('#')?.0.rsplit('/').next());
        (is_it && name == Some(package))
            .then(|| Some((line["executable"].as_str()?.into(), manifest.parent()?.to_owned())))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_a_package_are_found_in_what_cargo_says() {
        let said = r#"   Compiling godel v0.1.0
{"reason":"compiler-artifact","package_id":"path+file:///w/crates/cli#godel@0.1.0","manifest_path":"/w/crates/cli/Cargo.toml","target":{"kind":["bin"],"name":"godel"},"executable":"/t/godel"}
{"reason":"compiler-artifact","package_id":"path+file:///w/crates/server#godel-server@0.1.0","manifest_path":"/w/crates/server/Cargo.toml","target":{"kind":["test"],"name":"it"},"executable":"/t/it-1"}
{"reason":"compiler-artifact","package_id":"path+file:///w/crates/cli#godel@0.1.0","manifest_path":"/w/crates/cli/Cargo.toml","target":{"kind":["test"],"name":"it"},"executable":"/t/it-2"}
{"reason":"compiler-artifact","package_id":"path+file:///w/xtask#0.1.0","manifest_path":"/w/xtask/Cargo.toml","target":{"kind":["test"],"name":"it"},"executable":"/t/it-3"}
{"reason":"build-finished","success":true}"#;
        let at = |package| found(said, package).map(|(program, _)| program);
        assert_eq!(at("godel"), Some("/t/it-2".into()));
        assert_eq!(at("xtask"), Some("/t/it-3".into()));
        assert_eq!(at("godel-beads"), None);
        assert_eq!(found(said, "godel-server").unwrap().1, PathBuf::from("/w/crates/server"));
    }
}
