//! Whether an agent is stuck: nothing happens any more, or the same happens again and again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::{SignedDuration, Timestamp};

/// The most calls and questions that are open at a time; more are not told apart.
const OPEN_MAX: usize = 256;

/// When an agent counts as stuck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long nothing may happen.
    pub silence: SignedDuration,
    /// How long a call may take that does not say so itself.
    pub call: SignedDuration,
    /// How often the same call may fail in a row.
    pub failures: u32,
    /// How often the same few calls may come round while nothing changes.
    pub rounds: u32,
    /// How many calls such a round may have.
    pub round_calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            silence: SignedDuration::from_mins(10),
            call: SignedDuration::from_hours(1),
            failures: 5,
            rounds: 8,
            round_calls: 4,
        }
    }
}

/// What was seen of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<'a> {
    /// It said or thought something, or used tokens.
    Sign,
    /// It has begun to work on what it was told.
    TurnBegan,
    /// It waits to be told something.
    TurnEnded,
    /// It uses a tool.
    CallBegan {
        /// The id of the call.
        call: &'a str,
        /// The name of the tool.
        name: &'a str,
        /// What the tool was given.
        input: &'a str,
        /// How long the call may take, if it says so.
        within: Option<SignedDuration>,
    },
    /// A tool has given its result.
    CallEnded {
        /// The id of the call.
        call: &'a str,
        /// Whether it failed.
        failed: bool,
        /// What it said; an empty text if that shall not matter.
        said: &'a str,
    },
    /// Files, commits or todos are others than before.
    Changed,
    /// It asks a person.
    Asked {
        /// The id of the question.
        question: &'a str,
    },
    /// The question was answered, or will not be.
    Answered {
        /// The id of the question.
        question: &'a str,
    },
    /// It was told to stand still.
    Paused,
    /// It goes on.
    Resumed,
}

/// Why an agent counts as stuck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stuck {
    /// Nothing happens.
    Silent {
        /// Since when.
        since: Timestamp,
    },
    /// The same call fails again and again.
    Failing {
        /// The tool.
        name: String,
        /// How often.
        times: u32,
    },
    /// The same few calls come round, and nothing changes.
    Circling {
        /// The tools of one round.
        names: Vec<String>,
        /// How often.
        rounds: u32,
    },
}

impl Stuck {
    /// Says it in words.
    pub fn why(&self) -> String {
        match self {
            Self::Silent { since } => format!("nothing has happened since {since}"),
            Self::Failing { name, times } => {
                format!("the same call of {name} failed {times} times in a row")
            }
            Self::Circling { names, rounds } => {
                let names = names.join(", ");
                format!("the same calls ({names}) came round {rounds} times and changed nothing")
            }
        }
    }
}

/// A call that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    name: String,
    key: u64,
    until: Timestamp,
}

/// A call that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Past {
    name: String,
    /// The tool and what it was given.
    key: u64,
    /// And what came of it.
    whole: u64,
}

/// Watches one agent.
#[derive(Debug, Clone)]
pub struct Watch {
    limits: Limits,
    /// When something was last seen; nothing before the first.
    last: Option<Timestamp>,
    at_rest: bool,
    paused: bool,
    questions: BTreeSet<String>,
    calls: BTreeMap<String, Call>,
    /// How often the last call failed in a row.
    failures: u32,
    past: VecDeque<Past>,
}

impl Watch {
    /// Begins to watch; nothing counts before something was seen.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            last: None,
            at_rest: false,
            paused: false,
            questions: BTreeSet::new(),
            calls: BTreeMap::new(),
            failures: 0,
            past: VecDeque::new(),
        }
    }

    /// Takes note of what was seen.
    pub fn saw(&mut self, seen: &Seen<'_>, now: Timestamp) {
        self.last = Some(self.last.map_or(now, |last| last.max(now)));
        match *seen {
            Seen::Sign => {}
            Seen::TurnBegan => self.at_rest = false,
            Seen::TurnEnded => {
                self.at_rest = true;
                self.calls.clear();
                self.questions.clear();
            }
            Seen::CallBegan { call, name, input, within } => {
                self.at_rest = false;
                let within = within.unwrap_or(self.limits.call);
                let until = now.checked_add(within).unwrap_or(Timestamp::MAX);
                let begun = Call { name: name.to_owned(), key: digest(&[name, input]), until };
                if self.calls.len() < OPEN_MAX || self.calls.contains_key(call) {
                    self.calls.insert(call.to_owned(), begun);
                }
            }
            Seen::CallEnded { call, failed, said } => {
                if let Some(call) = self.calls.remove(call) {
                    self.ended(call, failed, said);
                }
            }
            Seen::Changed => {
                self.past.clear();
                self.failures = 0;
            }
            Seen::Asked { question } => {
                if self.questions.len() < OPEN_MAX {
                    self.questions.insert(question.to_owned());
                }
            }
            Seen::Answered { question } => {
                self.questions.remove(question);
            }
            Seen::Paused => self.paused = true,
            Seen::Resumed => {
                // A call that was under way had no time meanwhile.
                if std::mem::take(&mut self.paused) {
                    let until = now.checked_add(self.limits.call).unwrap_or(Timestamp::MAX);
                    self.calls.values_mut().for_each(|call| call.until = call.until.max(until));
                }
            }
        }
    }

    /// Tells whether the agent is stuck.
    pub fn verdict(&self, now: Timestamp) -> Option<Stuck> {
        if self.is_excused() {
            return None;
        }
        if let Some(due) = self.due()
            && now >= due
        {
            return self.last.map(|since| Stuck::Silent { since });
        }
        self.failing().or_else(|| self.circling())
    }

    /// Returns when the agent counts as stuck if nothing happens until then.
    pub fn due(&self) -> Option<Timestamp> {
        if self.is_excused() {
            return None;
        }
        let busy = self.calls.values().map(|call| call.until).max();
        let from = self.last?.max(busy.unwrap_or(Timestamp::MIN));
        Some(from.checked_add(self.limits.silence).unwrap_or(Timestamp::MAX))
    }

    /// Whoever waits for a person, stands still or has nothing to do is not stuck.
    fn is_excused(&self) -> bool {
        self.paused || self.at_rest || !self.questions.is_empty()
    }

    fn ended(&mut self, call: Call, failed: bool, said: &str) {
        let again = self.past.back().is_some_and(|last| last.key == call.key);
        self.failures = match (failed, again) {
            (true, true) => self.failures + 1,
            (true, false) => 1,
            (false, _) => 0,
        };
        let whole = digest(&[&call.key.to_string(), &failed.to_string(), said]);
        self.past.push_back(Past { name: call.name, key: call.key, whole });
        let rounds = usize::try_from(self.limits.rounds).unwrap_or(usize::MAX);
        let most = rounds.saturating_mul(self.limits.round_calls).max(1);
        while self.past.len() > most {
            self.past.pop_front();
        }
    }

    fn failing(&self) -> Option<Stuck> {
        let last = self.past.back()?;
        let stuck = self.failures >= self.limits.failures.max(1);
        stuck.then(|| Stuck::Failing { name: last.name.clone(), times: self.failures })
    }

    fn circling(&self) -> Option<Stuck> {
        let rounds = usize::try_from(self.limits.rounds.max(2)).unwrap_or(usize::MAX);
        (1..=self.limits.round_calls).find_map(|calls| {
            let needed = calls.checked_mul(rounds)?;
            let from = self.past.len().checked_sub(needed)?;
            let all = || self.past.iter().skip(from).map(|past| past.whole);
            let same = all().zip(all().skip(calls)).all(|(one, next)| one == next);
            same.then(|| Stuck::Circling {
                names: self
                    .past
                    .iter()
                    .skip(from)
                    .take(calls)
                    .map(|past| past.name.clone())
                    .collect(),
                rounds: self.limits.rounds.max(2),
            })
        })
    }
}

fn digest(parts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn limits() -> Limits {
        Limits {
            silence: SignedDuration::from_secs(60),
            call: SignedDuration::from_secs(600),
            failures: 3,
            rounds: 3,
            round_calls: 3,
        }
    }

    /// Lets an agent make a call that takes no time.
    fn call(watch: &mut Watch, now: i64, input: &str, failed: bool, said: &str) {
        watch.saw(&Seen::CallBegan { call: "c", name: "shell", input, within: None }, at(now));
        watch.saw(&Seen::CallEnded { call: "c", failed, said }, at(now));
    }

    fn is_silent(watch: &Watch, now: i64) -> bool {
        matches!(watch.verdict(at(now)), Some(Stuck::Silent { .. }))
    }

    #[test]
    fn silence_counts_only_while_the_agent_could_do_something() {
        let mut watch = Watch::new(limits());
        assert_eq!((watch.verdict(at(9_999)), watch.due()), (None, None), "nothing was seen yet");
        watch.saw(&Seen::TurnBegan, at(0));
        assert_eq!(watch.due(), Some(at(60)));
        assert!(!is_silent(&watch, 59) && is_silent(&watch, 60));
        watch.saw(&Seen::Sign, at(50));
        assert!(!is_silent(&watch, 109) && is_silent(&watch, 110));
        watch.saw(&Seen::Asked { question: "q" }, at(60));
        assert!(!is_silent(&watch, 100_000));
        watch.saw(&Seen::Answered { question: "q" }, at(1000));
        assert!(!is_silent(&watch, 1059) && is_silent(&watch, 1060));
        watch.saw(&Seen::Paused, at(1010));
        assert_eq!((watch.due(), is_silent(&watch, 100_000)), (None, false));
        watch.saw(&Seen::Resumed, at(2000));
        assert!(!is_silent(&watch, 2059) && is_silent(&watch, 2060));
        let within = Some(SignedDuration::from_secs(300));
        let long = Seen::CallBegan { call: "c", name: "shell", input: "make", within };
        watch.saw(&long, at(2010));
        assert!(!is_silent(&watch, 2369), "its own limit, and then the silence");
        assert!(is_silent(&watch, 2370));
        watch.saw(&Seen::CallEnded { call: "c", failed: false, said: "" }, at(2100));
        assert!(is_silent(&watch, 2160));
        watch.saw(&Seen::TurnEnded, at(2110));
        assert!(!is_silent(&watch, 100_000));
    }

    #[test]
    fn the_same_failing_call_is_a_loop_and_a_change_ends_it() {
        let mut watch = Watch::new(limits());
        for now in 0..2 {
            call(&mut watch, now, "make", true, &now.to_string());
        }
        call(&mut watch, 2, "ls", false, "");
        for now in 3..5 {
            call(&mut watch, now, "make", true, &now.to_string());
        }
        assert_eq!(watch.verdict(at(5)), None, "not in a row");
        call(&mut watch, 5, "make", true, "and again");
        let stuck = Stuck::Failing { name: "shell".to_owned(), times: 3 };
        assert_eq!(watch.verdict(at(5)), Some(stuck));
        watch.saw(&Seen::Changed, at(6));
        assert_eq!(watch.verdict(at(6)), None);
    }

    #[test]
    fn calls_that_come_round_are_a_loop_unless_something_comes_of_them() {
        let mut watch = Watch::new(limits());
        for now in 0..9 {
            call(
                &mut watch,
                now,
                ["a", "b", "c"][usize::try_from(now).unwrap() % 3],
                false,
                "same",
            );
        }
        let Some(Stuck::Circling { names, rounds }) = watch.verdict(at(9)) else {
            panic!("{:?}", watch.verdict(at(9)))
        };
        assert_eq!((names.len(), rounds), (3, 3));
        let mut watch = Watch::new(limits());
        for now in 0..40 {
            call(&mut watch, now, "tail log", false, &now.to_string());
        }
        assert_eq!(watch.verdict(at(40)), None, "it says something new each time");
    }

    fn seen() -> impl Strategy<Value = (u8, u8, bool)> {
        (0_u8..10, 0_u8..4, any::<bool>())
    }

    fn feed(watch: &mut Watch, (what, which, flag): (u8, u8, bool), now: Timestamp) {
        let id = which.to_string();
        let seen = match what {
            0 => Seen::Sign,
            1 => Seen::TurnBegan,
            2 => Seen::TurnEnded,
            3 | 4 => Seen::CallBegan { call: &id, name: "t", input: &id, within: None },
            5 => Seen::CallEnded { call: &id, failed: flag, said: "" },
            6 => Seen::Changed,
            7 => Seen::Asked { question: &id },
            8 => Seen::Answered { question: &id },
            _ if flag => Seen::Paused,
            _ => Seen::Resumed,
        };
        watch.saw(&seen, now);
    }

    proptest! {
        #[test]
        fn silence_is_told_exactly_from_its_time_on(
            events in proptest::collection::vec((seen(), 0_i64..30), 0..60), later in 0_i64..2_000,
        ) {
            let (mut watch, mut now) = (Watch::new(limits()), 0);
            for (event, pause) in events {
                now += pause;
                feed(&mut watch, event, at(now));
            }
            let then = at(now + later);
            let silent = matches!(watch.verdict(then), Some(Stuck::Silent { .. }));
            prop_assert_eq!(silent, watch.due().is_some_and(|due| then >= due));
            // Nothing that was just seen is silence.
            prop_assert!(watch.due().is_none_or(|due| due >= at(now + 60)));
        }

        #[test]
        fn whoever_changes_something_often_enough_never_circles(
            calls in proptest::collection::vec((0_u8..3, any::<bool>()), 0..100),
        ) {
            let mut watch = Watch::new(limits());
            for (at_call, (which, failed)) in calls.into_iter().enumerate() {
                let now = i64::try_from(at_call).unwrap();
                call(&mut watch, now, &which.to_string(), failed, "");
                if at_call % 2 == 1 {
                    watch.saw(&Seen::Changed, at(now));
                }
                prop_assert_eq!(watch.verdict(at(now)), None);
            }
        }

        #[test]
        fn a_round_that_comes_often_enough_is_always_found(
            round in proptest::collection::vec(0_u8..3, 1..=3),
            before in proptest::collection::vec((0_u8..3, any::<bool>()), 0..20),
        ) {
            let mut watch = Watch::new(limits());
            for (which, failed) in before {
                call(&mut watch, 0, &which.to_string(), failed, "x");
            }
            for which in round.iter().cycle().take(round.len() * 3) {
                call(&mut watch, 0, &which.to_string(), false, "");
            }
            let found = watch.verdict(at(0));
            prop_assert!(matches!(found, Some(Stuck::Circling { .. })), "{:?}", found);
        }
    }
}
