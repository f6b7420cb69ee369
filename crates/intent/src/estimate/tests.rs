use godel_model::{BeadKind, Priority};

use super::*;
use crate::plan::PlannedBead;

fn plan(needs: &[&[&str]]) -> Plan {
    let bead = |(at, needs): (usize, &&[&str])| PlannedBead {
        key: format!("b{}", at + 1),
        title: format!("Do {at}"),
        description: String::new(),
        kind: BeadKind::Task,
        priority: Priority::Medium,
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        role: "worker".to_owned(),
        size: Size::Medium,
        files: Vec::new(),
    };
    Plan { title: String::new(), beads: needs.iter().enumerate().map(bead).collect() }
}

/// A logarithm from about -3 to 3 that most often is near 0.
fn bell(chance: &mut Chance) -> f64 {
    let sum: f64 = (0..12).map(|_| chance.below(1_000_000) as f64 / 1e6).sum();
    sum - 6.0
}

/// Runs whose costs are spread by a logarithm, around a middle that size and model decide.
fn made(number: usize, sigma: f64, seed: u64) -> Vec<Sample> {
    let mut chance = Chance(seed);
    (0..number)
        .map(|_| {
            let size = Size::ALL[chance.below(3)];
            let model = ["cheap", "strong"][chance.below(2)];
            let middle = [100_000.0, 400_000.0, 1_500_000.0][size as usize]
                * if model == "strong" { 4.0 } else { 1.0 };
            let times = (bell(&mut chance) * sigma).exp();
            let pace = (bell(&mut chance) * sigma).exp();
            Sample {
                size,
                model: Some(model.to_owned()),
                cost: (middle * times) as u64,
                seconds: (300.0 * pace) as u64,
            }
        })
        .collect()
}

#[test]
fn about_as_many_held_out_runs_fall_into_the_interval_as_is_stated() {
    for (sigma, seed) in [(0.3, 7), (0.8, 11), (1.4, 13)] {
        let held = coverage(&made(600, sigma, seed)).unwrap();
        assert_eq!(held.of, 600);
        for share in [held.cost, held.seconds] {
            assert!((0.75..=0.90).contains(&share), "sigma {sigma}: {held:?}");
        }
    }
}

#[test]
fn an_interval_that_is_too_narrow_would_be_noticed() {
    // The middle half is not what is stated: the measurement is no formality.
    let mut values: Vec<u64> = made(600, 0.8, 5).iter().map(|sample| sample.cost).collect();
    let wide = range(&mut values);
    let inner = (values[values.len() / 4], values[values.len() * 3 / 4]);
    let share = |low: u64, high: u64| {
        values.iter().filter(|value| (low..=high).contains(*value)).count() as f64 / 600.0
    };
    assert!(share(wide.low, wide.high) >= 0.79);
    assert!(share(inner.0, inner.1) < 0.55);
}

#[test]
fn without_history_it_says_that_it_guesses_and_with_some_it_moves_towards_it() {
    let one = plan(&[&[]]);
    let guess = estimate(&one, None, 1, &[]);
    assert_eq!((guess.sureness, guess.runs, guess.held), (Sureness::Guess, 0, None));
    assert!(guess.words.starts_with("a guess"), "{}", guess.words);
    let cheap = |number| {
        vec![Sample { size: Size::Medium, model: None, cost: 10_000, seconds: 20 }; number]
    };
    let few = estimate(&one, None, 1, &cheap(5));
    assert_eq!(few.sureness, Sureness::Rough);
    assert!(few.cost.middle < guess.cost.middle && few.cost.high > 10_000, "{few:?}");
    let many = estimate(&one, None, 1, &cheap(40));
    assert_eq!(
        (many.sureness, many.cost),
        (Sureness::Measured, Range { low: 10_000, middle: 10_000, high: 10_000 })
    );
    assert_eq!(many.held.unwrap().cost, 1.0);
}

#[test]
fn more_beads_cost_more_and_more_agents_take_less_time() {
    let history = made(300, 0.5, 3);
    let cost = |beads: usize| {
        estimate(&plan(&vec![&[] as &[&str]; beads]), Some("cheap"), 1, &history).cost.middle
    };
    assert!(cost(1) < cost(2) && cost(2) < cost(6));
    let wide = plan(&[&[], &[], &[], &[]]);
    let time = |agents| estimate(&wide, Some("cheap"), agents, &history).seconds.middle;
    assert!(time(4) < time(2) && time(2) < time(1));
    // What waits for something else does not get faster by more agents.
    let chain = plan(&[&[], &["b1"], &["b2"]]);
    let chained = |agents| estimate(&chain, Some("cheap"), agents, &history).seconds;
    assert_eq!(chained(1), chained(3));
    assert_eq!(estimate(&wide, None, 2, &history), estimate(&wide, None, 2, &history));
}
