//! The queue in simulation: thousands of lives, each as its seed has it, each judged by the referee.
//!
//! `GODEL_SIMULATION_SEEDS` says how many seeds are lived through (2,000 unless given), and
//! `GODEL_SIMULATION_FROM` from which one on. `GODEL_SIMULATION_SEED` lives through that one alone:
//! ids and the pauses after lost attempts are left to real chance, all else is as it was.

mod broken;
mod clients;
mod dice;
mod dump;
mod found;
mod hands;
mod sim;
mod stage;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use godel_referee::{Rule, Verdict};
use tokio::runtime::Runtime;

use self::broken::Broken;
use self::sim::Life;
use self::stage::Stage;

const SEEDS: u64 = 2_000;
/// So many tests share the seeds, so that all cores have something to do.
const PARTS: u64 = 4;
const LIVES_PER_THEATRE: u64 = 250;

/// How often what happened, so that a simulation in which nothing does is noticed.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    restarts: u64,
    jumps: u64,
    /// Requests whose answer nobody got.
    gone: u64,
    buried: u64,
    /// What was refused because it came too late.
    fenced: u64,
    dead: u64,
    replays: u64,
    drained: u64,
    /// Tasks that were given to one worker alone.
    assigned: u64,
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// Where lives are lived one after the other, on a thread on which nothing else runs.
struct Theatre {
    runtime: Runtime,
    stage: Option<Stage>,
}

impl Theatre {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, stage: None }
    }

    fn live(&mut self, seed: u64, broken: Option<Broken>) -> Life {
        let stage = self.stage.take();
        let (life, stage) = self.runtime.block_on(async move {
            let stage = match stage {
                Some(mut stage) => {
                    stage.clear().await;
                    stage
                }
                None => Stage::set().await,
            };
            Box::pin(sim::live(seed, broken, stage)).await
        });
        self.stage = Some(stage);
        life
    }
}

impl Drop for Theatre {
    fn drop(&mut self) {
        if let Some(stage) = self.stage.take() {
            self.runtime.block_on(stage.app.store.close());
        }
    }
}

fn judge(theatre: &mut Theatre, seed: u64) -> (Verdict, Counts) {
    let lived = catch_unwind(AssertUnwindSafe(|| theatre.live(seed, None)));
    let again = format!("GODEL_SIMULATION_SEED={seed} lives through this one again");
    let Ok(Life { verdict, counts, history }) = lived else {
        panic!("seed {seed} failed; {again}")
    };
    if !verdict.is_clean() {
        let path = std::env::temp_dir().join(format!("godel-simulation-{seed}.jsonl"));
        std::fs::write(&path, history).unwrap();
        let said: Vec<_> = verdict.violations.iter().take(10).map(ToString::to_string).collect();
        panic!("seed {seed}: {}\n{again}; its history is {}", said.join("\n"), path.display());
    }
    (verdict, counts)
}

fn part(own: u64) {
    if let Some(seed) = number("GODEL_SIMULATION_SEED") {
        if seed % PARTS == own {
            judge(&mut Theatre::open(), seed);
        }
        return;
    }
    let seeds = number("GODEL_SIMULATION_SEEDS").unwrap_or(SEEDS);
    let from = number("GODEL_SIMULATION_FROM").unwrap_or(0);
    let (mut looked, mut all) = (BTreeMap::<Rule, u64>::new(), Counts::default());
    let own = (from..from + seeds).filter(|seed| seed % PARTS == own);
    let (mut lives, mut theatre) = (0_u64, Theatre::open());
    for seed in own {
        // A store remembers a little of each tenant.
        if lives % LIVES_PER_THEATRE == 0 {
            theatre = Theatre::open();
        }
        let (verdict, counts) = judge(&mut theatre, seed);
        lives += 1;
        for rule in Rule::ALL {
            *looked.entry(rule).or_default() += verdict.checked(rule);
        }
        all.restarts += counts.restarts;
        all.jumps += counts.jumps;
        all.gone += counts.gone;
        all.buried += counts.buried;
        all.fenced += counts.fenced;
        all.dead += counts.dead;
        all.replays += counts.replays;
        all.drained += counts.drained;
        all.assigned += counts.assigned;
    }
    println!("{lives} lives: {all:?}; looked at: {looked:?}");
    // So few might really see nothing of something.
    if lives >= 100 {
        let Counts { restarts, jumps, gone, buried, fenced, .. } = all;
        let Counts { dead, replays, drained, assigned, .. } = all;
        let happened = [restarts, jumps, gone, buried, fenced, dead, replays, drained, assigned];
        assert!(happened.iter().all(|often| *often > 0), "{all:?}");
        assert!(Rule::ALL.iter().all(|rule| looked[rule] > 0), "{looked:?}");
    }
}

#[test]
fn no_life_of_a_queue_breaks_a_promise_1() {
    part(0);
}

#[test]
fn no_life_of_a_queue_breaks_a_promise_2() {
    part(1);
}

#[test]
fn no_life_of_a_queue_breaks_a_promise_3() {
    part(2);
}

#[test]
fn no_life_of_a_queue_breaks_a_promise_4() {
    part(3);
}

/// Lives through seeds with a broken queue until the referee notices it.
fn is_noticed(broken: Broken, by: &[Rule]) {
    let noticed = (0..600).any(|seed| {
        // What is broken may also fail at once.
        let lived = catch_unwind(|| Theatre::open().live(seed, Some(broken)));
        lived.is_ok_and(|life| by.iter().any(|rule| life.verdict.breaks(*rule)))
    });
    assert!(noticed, "nobody noticed that the queue {broken:?}");
}

#[test]
fn a_queue_without_a_fence_is_noticed() {
    is_noticed(Broken::SkipsTheFence, &[Rule::I5]);
}

#[test]
fn a_queue_without_order_is_noticed() {
    is_noticed(Broken::TakesTheLast, &[Rule::I7]);
}

#[test]
fn a_queue_that_loses_or_doubles_a_task_is_noticed() {
    is_noticed(Broken::LosesATask, &[Rule::I1]);
    is_noticed(Broken::DoublesATask, &[Rule::I1]);
}

#[test]
fn a_queue_that_loses_an_event_or_a_commit_is_noticed() {
    is_noticed(Broken::LosesAnEvent, &[Rule::I8]);
    is_noticed(Broken::LosesACommit, &[Rule::I12]);
}

#[test]
fn a_queue_that_miscounts_or_hurries_is_noticed() {
    is_noticed(Broken::CountsNoAttempt, &[Rule::I3]);
    is_noticed(Broken::IsImpatient, &[Rule::I11]);
}
