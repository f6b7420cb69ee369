//! Several attempts at one bead: how many, with which models, and which of them can be picked.

use godel_model::{Invalid, Life, code};

/// The fewest attempts that are worth comparing.
pub const ATTEMPTS_MIN: u32 = 2;
/// The most attempts at one bead.
pub const ATTEMPTS_MAX: u32 = 8;
/// How many attempts there are if nobody says.
pub const ATTEMPTS_USUAL: u32 = 3;
/// How long the name of a model may be.
const MODEL_MAX_BYTES: usize = 200;

/// How an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its agent is about to be asked for.
    Waiting,
    /// Its agent is at work.
    Working,
    /// Its agent stands still.
    Paused,
    /// Its agent is done, and git and the gates agree.
    Done,
    /// Its agent cannot go on.
    Failed,
    /// Its agent was ended before it was done.
    Stopped,
}

impl Standing {
    /// Tells how an attempt stands by the life of its agent; an agent may be gone that was there.
    pub const fn of(life: Option<Life>, begun: bool) -> Self {
        match life {
            None if begun => Self::Stopped,
            None => Self::Waiting,
            Some(Life::Completed) => Self::Done,
            Some(Life::Killed) => Self::Stopped,
            Some(Life::Failed) => Self::Failed,
            Some(Life::Paused) => Self::Paused,
            Some(_) => Self::Working,
        }
    }

    /// Tells whether nothing more happens by itself.
    pub const fn is_at_rest(self) -> bool {
        !matches!(self, Self::Waiting | Self::Working)
    }

    /// Returns it as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Working => "working",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// Gives each attempt its model, in turn; nothing where the project decides.
///
/// # Errors
/// If there are too few or too many, or a model would not be tried at all.
pub fn line_up(attempts: Option<u32>, models: &[String]) -> Result<Vec<Option<String>>, Invalid> {
    let named = u32::try_from(models.len()).unwrap_or(u32::MAX);
    let number = attempts.unwrap_or(if named >= ATTEMPTS_MIN { named } else { ATTEMPTS_USUAL });
    if !(ATTEMPTS_MIN..=ATTEMPTS_MAX).contains(&number) {
        return Err(Invalid::new(
            code::INVALID_FIELD,
            format!("a bead is tried {ATTEMPTS_MIN} to {ATTEMPTS_MAX} ways, not {number}"),
        )
        .with_hint("say --attempts 3; one alone is `godel agent spawn --bead BEAD`"));
    }
    let bad = |model: &String| model.trim().is_empty() || model.len() > MODEL_MAX_BYTES;
    if models.iter().any(bad) {
        return Err(Invalid::new(code::INVALID_FIELD, "a model has an empty or endless name")
            .with_hint("name them with commas between: --models a,b,c"));
    }
    if named > number {
        return Err(Invalid::new(
            code::INVALID_FIELD,
            format!("{named} models are named for {number} attempts"),
        )
        .with_hint("name at most one model for each attempt, or say more --attempts"));
    }
    let turn = (0..number as usize).map(|at| match models.len() {
        0 => None,
        count => Some(models[at % count].clone()),
    });
    Ok(turn.collect())
}

/// What is known of an attempt that is to be picked.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its number.
    pub number: u32,
    /// The name of its agent.
    pub agent: &'a str,
    /// How it stands.
    pub standing: Standing,
    /// Whether it has made a commit.
    pub has_work: bool,
    /// Whether its last commit is the one that was checked and passed.
    pub passed: bool,
}

/// Decides whether an attempt can be picked; by force, although nobody vouches for it.
///
/// # Errors
/// If it cannot; says why, and what to do.
pub fn may_pick(one: Candidate<'_>, force: bool) -> Result<(), Invalid> {
    let Candidate { number, agent, .. } = one;
    let refuse =
        |why: String, hint: String| Err(Invalid::new(code::ATTEMPT_REFUSED, why).with_hint(hint));
    if !one.standing.is_at_rest() {
        return refuse(
            format!("attempt {number} is still at work"),
            format!("wait for it, or end it and pick what there is: godel agent kill {agent}"),
        );
    }
    if !one.has_work {
        return refuse(
            format!("attempt {number} has made no commit, so there is nothing to pick"),
            "pick another one, or archive all of them: godel attempt drop BEAD".to_owned(),
        );
    }
    if !one.passed && !force {
        return refuse(
            format!("attempt {number} is not done: its gates did not pass, or were not run"),
            "pick it all the same with --force; the merge queue judges it before it lands"
                .to_owned(),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("model-{at}")).collect()
    }

    #[test]
    fn what_nobody_says_is_three_attempts_or_one_for_each_model() {
        assert_eq!(line_up(None, &[]).unwrap(), [None, None, None]);
        assert_eq!(line_up(None, &names(1)).unwrap().len(), 3);
        assert_eq!(line_up(None, &names(2)).unwrap().len(), 2);
        let five = line_up(Some(5), &names(2)).unwrap();
        let five: Vec<_> = five.iter().flatten().map(String::as_str).collect();
        assert_eq!(five, ["model-0", "model-1", "model-0", "model-1", "model-0"]);
    }

    #[test]
    fn one_attempt_nine_attempts_and_idle_models_are_refused() {
        for (attempts, models) in
            [(Some(1), 0), (Some(9), 0), (None, 9), (Some(2), 3), (Some(0), 1)]
        {
            assert!(line_up(attempts, &names(models)).is_err(), "{attempts:?} {models}");
        }
        assert!(line_up(Some(2), &[String::new()]).is_err());
    }

    #[test]
    fn one_is_picked_that_is_done_and_by_force_one_that_has_work() {
        let done = Candidate {
            number: 2,
            agent: "attempt-x-2",
            standing: Standing::Done,
            has_work: true,
            passed: true,
        };
        assert!(may_pick(done, false).is_ok());
        let failed = Candidate { standing: Standing::Failed, passed: false, ..done };
        assert!(may_pick(failed, false).unwrap_err().to_string().contains("gates"));
        assert!(may_pick(failed, true).is_ok());
        for force in [false, true] {
            let empty = Candidate { has_work: false, ..done };
            assert!(may_pick(empty, force).unwrap_err().to_string().contains("no commit"));
            let busy = Candidate { standing: Standing::Working, ..done };
            assert!(may_pick(busy, force).unwrap_err().to_string().contains("at work"));
        }
    }

    proptest! {
        #[test]
        fn every_model_is_tried_and_none_more_than_once_oftener_than_another(
            attempts in proptest::option::of(0_u32..12), models in 0_usize..12,
        ) {
            let models = names(models);
            if let Ok(line) = line_up(attempts, &models) {
                let number = line.len() as u32;
                prop_assert!((ATTEMPTS_MIN..=ATTEMPTS_MAX).contains(&number));
                prop_assert!(attempts.is_none_or(|wanted| wanted == number));
                let counts: Vec<usize> = models
                    .iter()
                    .map(|model| line.iter().filter(|one| one.as_ref() == Some(model)).count())
                    .collect();
                prop_assert!(counts.iter().all(|count| *count >= 1));
                let (least, most) = (counts.iter().min(), counts.iter().max());
                prop_assert!(least.zip(most).is_none_or(|(least, most)| most - least <= 1));
            }
        }
    }
}
