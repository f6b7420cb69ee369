//! What is tried when an agent did not manage: again, with a stronger model, to find the cause, or a person.

use serde::{Deserialize, Serialize};

/// How far one goes before a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// How often each model is tried.
    pub tries: u32,
    /// How often in all, also if each attempt came a little further.
    pub tries_in_all: u32,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { tries: 2, tries_in_all: 12 }
    }
}

/// Why an attempt ended without its work being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The program of the agent ended in the middle of its work.
    Crashed,
    /// It did not come any further.
    Stuck,
    /// It gave up, or its turn failed.
    Failed,
    /// The server that led it went away.
    ServerLost,
    /// A person started it anew.
    Restarted,
}

impl Ended {
    /// Tells whether the agent is to blame.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Crashed | Self::Stuck | Self::Failed)
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Crashed => "its program crashed",
            Self::Stuck => "it was stuck",
            Self::Failed => "it failed",
            Self::ServerLost => "the server was lost",
            Self::Restarted => "it was started anew",
        }
    }
}

/// One attempt at a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The model that was used.
    pub model: String,
    /// Why it ended.
    pub ended: Ended,
    /// Whether it left commits that were not there before.
    pub progressed: bool,
    /// Whether it was told to find out why the others before it failed.
    #[serde(default)]
    pub debugging: bool,
}

/// What is tried next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Next {
    /// The same model.
    Again {
        /// Which.
        model: String,
        /// Whether a fresh session gets a note of the one before; else that one is resumed.
        handoff: bool,
    },
    /// A stronger model.
    Stronger {
        /// Which.
        model: String,
        /// Whether a fresh session gets a note of the one before.
        handoff: bool,
    },
    /// A fresh session that first finds out why all others failed.
    Debug {
        /// By which model.
        model: String,
    },
    /// Nothing more: a person must look.
    NeedsPerson {
        /// Why, in words.
        why: String,
    },
}

impl Ladder {
    /// Decides from the attempts so far, oldest first, and the models, weakest first.
    pub fn next(&self, history: &[Attempt], models: &[String]) -> Next {
        let Some(last) = history.last() else {
            return match models.first() {
                Some(model) => Next::Again { model: model.clone(), handoff: false },
                None => Next::NeedsPerson { why: "no model is set for it".to_owned() },
            };
        };
        let again = |handoff| Next::Again { model: last.model.clone(), handoff };
        match last.ended {
            // The session is there, up to its last turn.
            Ended::ServerLost => return again(false),
            Ended::Restarted => return again(true),
            Ended::Crashed | Ended::Stuck | Ended::Failed => {}
        }
        // A person who started it anew has given it a new chance.
        let anew = history.iter().rposition(|attempt| attempt.ended == Ended::Restarted);
        let chance = history.get(anew.map_or(0, |at| at + 1)..).unwrap_or_default();
        let counted: Vec<&Attempt> = chance.iter().filter(|one| one.ended.counts()).collect();
        if counted.len() >= usize::try_from(self.tries_in_all.max(1)).unwrap_or(usize::MAX) {
            return self.give_up(&counted, last);
        }
        let in_vain = counted
            .iter()
            .rev()
            .take_while(|one| one.model == last.model && !one.progressed)
            .count();
        if in_vain < usize::try_from(self.tries.max(1)).unwrap_or(usize::MAX) {
            // A process that ended has not spoiled the conversation; a second time it may have.
            return again(last.ended != Ended::Crashed || in_vain > 1);
        }
        let at = models.iter().position(|model| *model == last.model);
        // A model that a person chose is on no list; whatever is stronger than the usual one follows.
        let rest = models.get(at.unwrap_or(0) + 1..).unwrap_or_default();
        let tried = |model: &String| counted.iter().any(|one| one.model == *model);
        match rest.iter().find(|model| !tried(model)) {
            Some(model) => Next::Stronger { model: model.clone(), handoff: true },
            // One that has seen every failure may see what they have in common.
            None if !counted.iter().any(|one| one.debugging) => {
                let strongest = models.last().filter(|_| at.is_some()).unwrap_or(&last.model);
                Next::Debug { model: strongest.clone() }
            }
            None => self.give_up(&counted, last),
        }
    }

    fn give_up(&self, counted: &[&Attempt], last: &Attempt) -> Next {
        let times = counted.len();
        let why = format!(
            "{times} attempts did not manage; the last one, with {}, ended because {}",
            last.model,
            last.ended.words()
        );
        Next::NeedsPerson { why }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn models(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn attempt(model: &str, ended: Ended) -> Attempt {
        Attempt { model: model.to_owned(), ended, progressed: false, debugging: false }
    }

    fn again(model: &str, handoff: bool) -> Next {
        Next::Again { model: model.to_owned(), handoff }
    }

    #[test]
    fn one_step_after_the_other_up_to_a_person() {
        let (ladder, models) = (Ladder::default(), models(&["small", "large"]));
        let mut history = Vec::new();
        let mut told = Vec::new();
        for ended in [Ended::Crashed, Ended::Stuck, Ended::Failed, Ended::Crashed] {
            let next = ladder.next(&history, &models);
            let (Next::Again { model, .. } | Next::Stronger { model, .. }) = &next else {
                panic!("{next:?}")
            };
            history.push(attempt(model, ended));
            told.push(next);
        }
        let stronger = Next::Stronger { model: "large".to_owned(), handoff: true };
        assert_eq!(
            told,
            [again("small", false), again("small", false), stronger, again("large", true)]
        );
        assert_eq!(ladder.next(&history, &models), Next::Debug { model: "large".to_owned() });
        history.push(Attempt { debugging: true, ..attempt("large", Ended::Crashed) });
        let Next::NeedsPerson { why } = ladder.next(&history, &models) else { panic!("no person") };
        assert!(
            why.contains("5 attempts") && why.contains("large") && why.contains("crashed"),
            "{why}"
        );
        history.push(attempt("large", Ended::Restarted));
        assert_eq!(ladder.next(&history, &models), again("large", true));
        history.push(attempt("large", Ended::Stuck));
        assert_eq!(ladder.next(&history, &models), again("large", true), "a new chance");
        history.push(attempt("large", Ended::ServerLost));
        assert_eq!(ladder.next(&history, &models), again("large", false));
    }

    #[test]
    fn a_model_that_is_on_no_list_is_followed_by_the_stronger_ones() {
        let (ladder, models) = (Ladder::default(), models(&["small", "large"]));
        let history = [attempt("own", Ended::Stuck), attempt("own", Ended::Stuck)];
        let stronger = Next::Stronger { model: "large".to_owned(), handoff: true };
        assert_eq!(ladder.next(&history, &models), stronger);
        assert!(matches!(ladder.next(&[], &[]), Next::NeedsPerson { .. }));
        assert_eq!(ladder.next(&history, &[]), Next::Debug { model: "own".to_owned() });
    }

    fn ended() -> impl Strategy<Value = (Ended, bool)> {
        let ended = prop_oneof![
            Just(Ended::Crashed),
            Just(Ended::Stuck),
            Just(Ended::Failed),
            Just(Ended::ServerLost),
        ];
        (ended, any::<bool>())
    }

    proptest! {
        #[test]
        fn it_ends_with_a_person_and_lost_servers_do_not_bring_that_nearer(
            ends in proptest::collection::vec(ended(), 200), count in 1_usize..5,
        ) {
            let ladder = Ladder::default();
            let models: Vec<String> = (0..count).map(|at| format!("m{at}")).collect();
            let (mut history, mut blameless, mut at) = (Vec::new(), Vec::new(), 0);
            let mut debugging = false;
            for (ended, progressed) in ends {
                let model = match ladder.next(&history, &models) {
                    Next::Again { model, handoff } => {
                        // What was cut off goes on as what it was.
                        debugging &= !handoff;
                        model
                    }
                    Next::Debug { model } => {
                        prop_assert!(!history.iter().any(|one: &Attempt| one.debugging && one.ended.counts()), "once");
                        debugging = true;
                        model
                    }
                    Next::Stronger { model, handoff } => {
                        prop_assert!(handoff);
                        debugging = false;
                        let now = models.iter().position(|one| *one == model).unwrap();
                        prop_assert!(now > at, "never weaker");
                        at = now;
                        model
                    }
                    Next::NeedsPerson { .. } => break,
                };
                let one = Attempt { model, ended, progressed, debugging };
                if ended.counts() {
                    blameless.push(one.clone());
                }
                history.push(one);
                if ended.counts() {
                    // What is decided does not depend on how often the server was lost.
                    prop_assert_eq!(ladder.next(&history, &models), ladder.next(&blameless, &models));
                }
            }
            prop_assert!(blameless.len() <= 12);
            let wasted = blameless.iter().rev().take_while(|one| !one.progressed).count();
            prop_assert!(wasted <= count * 2 + 1);
        }
    }
}
