//! Histories of a right queue are clean; those of its mutants are not.

use godel_referee::{Rule, Verdict, check};
use proptest::prelude::*;

use crate::driver::play;
use crate::mutant::Mutant;

const SEEDS: u64 = 30;

fn judge(history: &[u8]) -> Verdict {
    check(history).unwrap()
}

fn complaints(verdict: &Verdict) -> Vec<String> {
    verdict.violations.iter().map(ToString::to_string).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_right_queue_is_never_blamed(seed in any::<u64>()) {
        let (history, _) = play(seed, None);
        prop_assert_eq!(complaints(&judge(&history)), Vec::<String>::new());
    }
}

#[test]
fn a_child_that_was_replayed_with_its_parent_may_be_hurried_by_name() {
    // Once blamed for it; few seeds come that far.
    let (history, _) = play(11_793_453_109_119_827_821, None);
    assert_eq!(complaints(&judge(&history)), Vec::<String>::new());
}

#[test]
fn histories_of_the_model_let_every_rule_be_looked_at() {
    let verdicts: Vec<Verdict> = (0..SEEDS).map(|seed| judge(&play(seed, None).0)).collect();
    for rule in Rule::ALL {
        let looked = verdicts.iter().filter(|verdict| verdict.checked(rule) > 0).count();
        assert!(looked * 10 >= verdicts.len() * 9, "{rule} was looked at in {looked} only");
    }
}

#[test]
fn every_mutant_is_caught_by_its_rule() {
    let mut report = Vec::new();
    for (mutant, rule) in Mutant::ALL {
        let (mut bitten, mut caught, mut blamed) = (0, 0, 0);
        for seed in 0..SEEDS {
            let (history, bites) = play(seed, Some(mutant));
            let verdict = judge(&history);
            bitten += u64::from(bites > 0);
            caught += u64::from(bites > 0 && verdict.breaks(rule));
            blamed += u64::from(bites == 0 && !verdict.is_clean());
        }
        let enough = bitten * 2 >= SEEDS && caught * 4 >= bitten * 3 && blamed == 0;
        if !enough {
            report.push(format!(
                "{mutant:?} by {rule}: did wrong in {bitten} of {SEEDS}, caught in {caught}, \
                 blamed for nothing in {blamed}"
            ));
        }
    }
    assert_eq!(report, Vec::<String>::new());
}
