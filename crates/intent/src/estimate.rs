//! What a plan will cost and how long it will take, from what work has cost before.
//!
//! An estimate is an interval that a stated share of such work falls into. It is made of the runs that are
//! most alike (same size and model, else the same size, else all); while there are few of them, Godel's own
//! expectation counts beside them. [`coverage`] tells how often runs that were held out fell into it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Size};

/// The share of runs that an interval is to hold.
pub const STATED: f64 = 0.8;
/// From how many runs on they speak for themselves.
const ENOUGH: usize = 20;
/// How many runs our own expectation counts for while there are fewer.
const PRIOR: usize = 10;
/// How many times a plan is played through.
const DRAWS: usize = 400;
/// How many samples are looked at, the newest last.
const SAMPLES_MAX: usize = 2_000;
/// How many parts samples are held out in.
const FOLDS: usize = 5;
/// How far apart expected runs are: a tenth costs a third of the middle, a tenth three times as much.
const SPREAD: f64 = 3.2;

/// One run of an agent that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// How much work its bead was.
    pub size: Size,
    /// The model that cost most.
    pub model: Option<String>,
    /// What it cost, in micro-dollars.
    pub cost: u64,
    /// How long it took, in seconds.
    pub seconds: u64,
}

/// An interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// A tenth is below.
    pub low: u64,
    /// Half is below.
    pub middle: u64,
    /// A tenth is above.
    pub high: u64,
}

/// How sure an estimate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sureness {
    /// There is no history: it is what Godel expects.
    Guess,
    /// There is little.
    Rough,
    /// There is enough.
    Measured,
}

/// What a plan will cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// In micro-dollars.
    pub cost: Range,
    /// In seconds from the start to the end, with the agents of the plan.
    pub seconds: Range,
    /// The share of such plans that should fall into each interval.
    pub stated: f64,
    /// How many runs it is made from.
    pub runs: usize,
    /// How sure it is.
    pub sureness: Sureness,
    /// How often runs that were held out fell into the interval for them.
    pub held: Option<Coverage>,
    /// All of that as a sentence.
    pub words: String,
}

/// How often runs that were held out fell into the interval that the others made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// How many runs were held out, each once.
    pub of: usize,
    /// The share whose cost was in the interval.
    pub cost: f64,
    /// The share whose time was.
    pub seconds: f64,
}

/// Estimates a plan that so many agents work on.
pub fn estimate(plan: &Plan, model: Option<&str>, agents: u32, history: &[Sample]) -> Estimate {
    let history = latest(history);
    let pools: Vec<Pool> =
        plan.beads.iter().map(|bead| Pool::of(bead.size, model, history)).collect();
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let (mut costs, mut times) = (Vec::new(), Vec::new());
    for _ in 0..DRAWS {
        let mut spent = 0_u64;
        let mut taken = BTreeMap::new();
        for (bead, pool) in plan.beads.iter().zip(&pools) {
            let (cost, seconds) = pool.draw(&mut chance);
            spent = spent.saturating_add(cost);
            taken.insert(bead.key.as_str(), seconds);
        }
        costs.push(spent);
        times.push(makespan(plan, agents, &taken));
    }
    // One bead is what runs are compared with: its interval is theirs, and not that of draws.
    let (cost, seconds) = match pools.as_slice() {
        [one] => (one.cost(), one.seconds()),
        _ => (range(&mut costs), range(&mut times)),
    };
    let runs = history.len();
    let sureness = match runs {
        0 => Sureness::Guess,
        few if few < ENOUGH => Sureness::Rough,
        _ => Sureness::Measured,
    };
    let held = coverage(history);
    Estimate {
        cost,
        seconds,
        stated: STATED,
        runs,
        sureness,
        held,
        words: say(sureness, runs, held),
    }
}

/// Tells how often runs that are held out fall into the interval that the others make; nothing with too few.
pub fn coverage(samples: &[Sample]) -> Option<Coverage> {
    let samples = latest(samples);
    if samples.len() < ENOUGH {
        return None;
    }
    let (mut cost, mut seconds) = (0_usize, 0_usize);
    for fold in 0..FOLDS {
        let kept: Vec<Sample> = samples
            .iter()
            .enumerate()
            .filter(|(at, _)| at % FOLDS != fold)
            .map(|(_, sample)| sample.clone())
            .collect();
        let mut known: BTreeMap<(Size, Option<&str>), Pool> = BTreeMap::new();
        for (_, sample) in samples.iter().enumerate().filter(|(at, _)| at % FOLDS == fold) {
            let model = sample.model.as_deref();
            let pool = known
                .entry((sample.size, model))
                .or_insert_with(|| Pool::of(sample.size, model, &kept));
            let within = |range: Range, value: u64| (range.low..=range.high).contains(&value);
            cost += usize::from(within(pool.cost(), sample.cost));
            seconds += usize::from(within(pool.seconds(), sample.seconds));
        }
    }
    let share = |hits: usize| (hits as f64 / samples.len() as f64 * 1000.0).round() / 1000.0;
    Some(Coverage { of: samples.len(), cost: share(cost), seconds: share(seconds) })
}

fn latest(samples: &[Sample]) -> &[Sample] {
    samples.get(samples.len().saturating_sub(SAMPLES_MAX)..).unwrap_or_default()
}

fn say(sureness: Sureness, runs: usize, held: Option<Coverage>) -> String {
    match (sureness, held) {
        (Sureness::Guess, _) => {
            "a guess: no agent has worked here before, so this is what Godel expects of such work"
                .to_owned()
        }
        (_, None) => format!("rough: from {runs} run(s) and what Godel expects of such work"),
        (_, Some(held)) => format!(
            "from {runs} runs; of runs that were held out, {:.0} % fell into the interval for cost and {:.0} % into that for time ({:.0} % stated)",
            held.cost * 100.0,
            held.seconds * 100.0,
            STATED * 100.0
        ),
    }
}

/// What runs like a bead have cost and taken; a cost and its time stay together.
#[derive(Debug)]
struct Pool {
    runs: Vec<(u64, u64)>,
    costs: Vec<u64>,
    times: Vec<u64>,
}

impl Pool {
    fn of(size: Size, model: Option<&str>, history: &[Sample]) -> Self {
        let like = |same_size: bool, same_model: bool| -> Vec<(u64, u64)> {
            let fits = |sample: &&Sample| {
                (!same_size || sample.size == size)
                    && (!same_model || sample.model.as_deref() == model)
            };
            history.iter().filter(fits).map(|sample| (sample.cost, sample.seconds)).collect()
        };
        let mut runs = like(true, true);
        if runs.len() < ENOUGH {
            runs = like(true, false);
        }
        if runs.len() < ENOUGH {
            runs.extend(expected(size));
        }
        let mut costs: Vec<u64> = runs.iter().map(|(cost, _)| *cost).collect();
        let mut times: Vec<u64> = runs.iter().map(|(_, seconds)| *seconds).collect();
        costs.sort_unstable();
        times.sort_unstable();
        Self { runs, costs, times }
    }

    fn draw(&self, chance: &mut Chance) -> (u64, u64) {
        self.runs.get(chance.below(self.runs.len())).copied().unwrap_or_default()
    }

    fn cost(&self) -> Range {
        sorted_range(&self.costs)
    }

    fn seconds(&self) -> Range {
        sorted_range(&self.times)
    }
}

/// What Godel expects of work of a size, spread as such things are: many a little off, few far off.
fn expected(size: Size) -> impl Iterator<Item = (u64, u64)> {
    let (cost, seconds) = match size {
        Size::Small => (120_000.0, 150.0),
        Size::Medium => (500_000.0, 480.0),
        Size::Large => (1_800_000.0, 1_500.0),
    };
    (0..PRIOR).map(move |at| {
        let place = (at as f64 + 0.5) / PRIOR as f64 * 2.0 - 1.0;
        // Evenly spread logarithms, a little wider at the ends.
        let times = SPREAD.powf(place * (0.8 + 0.4 * place * place));
        ((cost * times) as u64, (seconds * times) as u64)
    })
}

fn range(values: &mut [u64]) -> Range {
    values.sort_unstable();
    sorted_range(values)
}

/// Takes the interval out of sorted values, so that one more value like them falls into it with the stated
/// share: ranks of n + 1, rounded outwards.
fn sorted_range(values: &[u64]) -> Range {
    let n = values.len() as f64 + 1.0;
    let tail = (1.0 - STATED) / 2.0;
    let at = |rank: f64| {
        values
            .get((rank.max(1.0) as usize - 1).min(values.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0)
    };
    Range {
        low: at((n * tail).floor()),
        middle: at((n * 0.5).round()),
        high: at((n * (1.0 - tail)).ceil()),
    }
}

/// How long a plan takes if each bead begins when what it needs is done and an agent is free.
fn makespan(plan: &Plan, agents: u32, taken: &BTreeMap<&str, u64>) -> u64 {
    let mut free =
        vec![0_u64; usize::try_from(agents.max(1)).unwrap_or(1).min(plan.beads.len().max(1))];
    let mut done: BTreeMap<&str, u64> = BTreeMap::new();
    for wave in plan.waves() {
        for key in &wave {
            let Some(bead) = plan.bead(key) else { continue };
            let ready = bead
                .needs
                .iter()
                .filter_map(|need| done.get(need.as_str()))
                .max()
                .copied()
                .unwrap_or(0);
            let Some(agent) = free.iter_mut().min() else { continue };
            let end =
                ready.max(*agent).saturating_add(taken.get(key.as_str()).copied().unwrap_or(0));
            *agent = end;
            done.insert(bead.key.as_str(), end);
        }
    }
    done.values().max().copied().unwrap_or(0)
}

/// Chance that is always the same, so that the same question has the same answer.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
