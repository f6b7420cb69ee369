//! A convoy of agents whose server and whose own processes are killed at random moments: every bead lands
//! exactly once, and what it cost is in the ledger.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fleet::{AUTO, Yard};

const BEADS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(240);

/// How many convoys are run; `cargo xtask torture agents` asks for more.
fn rounds() -> u64 {
    let rounds = std::env::var("GODEL_FLEET_ROUNDS").ok().and_then(|text| text.parse().ok());
    rounds.unwrap_or(3)
}

/// Numbers that follow from a seed, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Lists the processes in the sandboxes of a server: all that it has started, but for what it asks git.
fn in_sandboxes(of: u32) -> Vec<u32> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((named, rest)) = stat.rsplit_once(')') else { continue };
        let own = rest.split_whitespace().nth(1).is_some_and(|parent| parent == of.to_string());
        if own && named.ends_with("(git") {
            continue;
        }
        let parent = rest.split_whitespace().nth(1).and_then(|text| text.parse().ok());
        all.extend(parent.map(|parent| (pid, parent)));
    }
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let children: Vec<u32> =
            all.iter().filter(|(_, parent)| *parent == found[at]).map(|(pid, _)| *pid).collect();
        found.extend(children);
        at += 1;
    }
    found.split_off(1)
}

/// Kills one process of an agent, if there is one.
fn kill_an_agent(yard: &Yard, dice: &mut Dice) {
    let pid = yard.server.as_ref().unwrap().pid();
    let family = in_sandboxes(pid);
    if !family.is_empty() {
        let one = family[usize::try_from(dice.below(family.len() as u64)).unwrap()];
        // It may have ended by itself meanwhile.
        let _ = kill_process(Pid::from_raw(i32::try_from(one).unwrap()).unwrap(), Signal::KILL);
    }
}

fn kill_the_server(yard: &mut Yard) {
    yard.server.take().unwrap().kill();
    yard.up();
}

/// Runs a convoy to its end under kills.
fn march(yard: &mut Yard, round: u64) {
    let mut dice = Dice(round.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    let mut beads: Vec<String> = Vec::new();
    for at in 0..BEADS {
        let (file, pace) =
            (format!("round-{round}/{}/{at}.txt", dice.below(1_000)), dice.below(40));
        let title =
            format!("Write {file} [[pace {pace}]] [[work {file} text {}]]", dice.below(1_000_000));
        let bead = yard.json(&["bead", "create", &title])["id"].as_str().unwrap().to_owned();
        if at >= 6 {
            // The last ones wait for the first.
            yard.run(&["bead", "dep", "add", &bead, &beads[at - 6]]).expect(0);
        }
        beads.push(bead);
    }
    let names: Vec<&str> = beads.iter().map(String::as_str).collect();
    let made = yard.json(&[&["convoy", "create", &format!("Round {round}")], &names[..]].concat());
    let convoy = made["id"].as_str().unwrap().to_owned();
    // A call that was cut off by a kill counts with the most that it can have cost, so this is ample.
    yard.run(&["convoy", "start", &convoy, "--agents", "6", "--budget", "500"]).expect(0);
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(150 + dice.below(1_500)));
        match dice.below(3) {
            0 => kill_the_server(yard),
            1 => kill_an_agent(yard, &mut dice),
            _ => {
                kill_an_agent(yard, &mut dice);
                kill_the_server(yard);
            }
        }
    }
    let started = Instant::now();
    while yard.json(&["convoy", "status", &convoy])["status"] != "completed" {
        assert!(
            started.elapsed() < PATIENCE,
            "round {round}: {:#}\n{:#}\n{:#}\n{}",
            yard.json(&["convoy", "status", &convoy]),
            yard.json(&["agent", "list"]),
            yard.json(&["inbox"]),
            yard.repo.home.log()
        );
        std::thread::sleep(Duration::from_millis(250));
    }
    check(yard, &beads);
}

fn check(yard: &Yard, beads: &[String]) {
    let log = yard.repo.git(&["log", "--merges", "--format=%s", "main"]);
    for bead in beads {
        let landed = log.lines().filter(|line| line.ends_with(&format!("({bead})"))).count();
        assert_eq!(landed, 1, "{bead} in\n{log}");
        let shown = yard.json(&["bead", "show", bead]);
        assert_eq!(shown["status"], "done", "{shown:#}");
        let title = shown["title"].as_str().unwrap();
        let work = title.split("[[work ").nth(1).unwrap().trim_end_matches("]]");
        let (file, text) = work.split_once(' ').unwrap();
        assert_eq!(yard.in_main(file), text);
        // Nobody else did it too.
        let agents = yard.json(&["agent", "list", "--bead", bead]);
        let done = agents["items"].as_array().unwrap().iter();
        assert_eq!(
            done.filter(|one| one["lifecycleState"] == "completed").count(),
            1,
            "{agents:#}"
        );
    }
    assert_eq!(yard.repo.git(&["status", "--porcelain"]), "", "the person's checkout is clean");
    let spent: i64 = yard.json(&["agent", "list", "--limit", "100"])["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["spentMicros"].as_i64().unwrap())
        .sum();
    let ledger = total(&yard.json(&["usage"]));
    assert_eq!(spent, ledger, "what agents spent is what the ledger says");
}

fn total(usage: &Value) -> i64 {
    usage["total"]["costMicros"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_bead_of_a_convoy_lands_once_whatever_is_killed() {
    for round in 0..rounds() {
        if rounds() > 3 {
            eprintln!("convoy {} of {}", round + 1, rounds());
        }
        let mut yard = Yard::open(AUTO).await;
        tokio::task::spawn_blocking(move || march(&mut yard, round)).await.unwrap();
    }
}
