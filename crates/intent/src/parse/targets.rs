//! What a text is about among the things that run or wait.

use serde::{Deserialize, Serialize};

use super::{About, CHOICES_MAX, Choice, Kind, Question, Scene};
use crate::text::{Word, is_empty_word, line, number, same, words};

/// From which likeness something is meant.
const GOOD: f64 = 0.6;
/// How close others must be to be meant as well.
const CLOSE: f64 = 0.06;

/// Something that could be meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// What kind of thing it is.
    pub kind: CandidateKind,
    /// Its name or title.
    pub name: String,
    /// What it is about: the title of an agent's bead.
    pub about: String,
    /// How it is.
    pub state: String,
    /// What it is a part of, by id: the bead of an agent, the convoy of a bead.
    pub of: Option<String>,
}

/// What kind of thing can be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CandidateKind {
    /// An agent.
    Agent,
    /// A bead.
    Bead,
    /// A convoy.
    Convoy,
}

impl CandidateKind {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Bead => "bead",
            Self::Convoy => "convoy",
        }
    }

    /// Tells the kind that a word stands for.
    fn of(word: &str) -> Option<Self> {
        match word {
            "agent" | "agents" | "worker" | "workers" | "reviewer" => Some(Self::Agent),
            "bead" | "beads" | "task" | "tasks" | "ticket" => Some(Self::Bead),
            "convoy" | "convoys" | "sprint" | "team" | "batch" | "milestone" => Some(Self::Convoy),
            _ => None,
        }
    }
}

/// Returns what is meant most likely, and how likely.
pub(super) fn best<'a>(
    said: &[Word],
    scene: &Scene<'a>,
    only: Option<CandidateKind>,
) -> Option<(&'a Candidate, f64)> {
    let of_kind = scene.candidates.iter().filter(|one| only.is_none_or(|kind| one.kind == kind));
    let scored = of_kind.map(|one| (one, likeness(said, one)));
    scored.filter(|(_, score)| *score >= GOOD).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Finds what is meant, or asks.
pub(super) fn resolve(
    kind: Kind,
    said: &[Word],
    scene: &Scene<'_>,
) -> (Option<Question>, Vec<Candidate>) {
    if let Some(answer) = scene.answer.filter(|answer| answer.about == About::Target) {
        let known =
            scene.candidates.iter().find(|one| one.id == answer.value || one.name == answer.value);
        if let Some(known) = known {
            return (None, vec![known.clone()]);
        }
    }
    // A scale is of convoys; agents in the text are how many.
    let only = if kind == Kind::ScaleTeam { Some(CandidateKind::Convoy) } else { None };
    let mut meant: Vec<&Candidate> = match best(said, scene, only) {
        Some((_, score)) => {
            let of_kind =
                scene.candidates.iter().filter(|one| only.is_none_or(|kind| one.kind == kind));
            of_kind.filter(|one| likeness(said, one) >= score - CLOSE).collect()
        }
        None => Vec::new(),
    };
    // A convoy stands for its beads, and a bead for its agent.
    let ids: Vec<String> = meant.iter().map(|one| one.id.clone()).collect();
    meant.retain(|one| one.of.as_ref().is_none_or(|of| !ids.contains(of)));
    match (meant.as_slice(), kind) {
        ([one], _) => (None, vec![(*one).clone()]),
        ([], Kind::QueryStatus) if !names_one(said) => (None, Vec::new()),
        // "all" alone is everything; "all work on the login" that is not there is nothing.
        ([], _) if everything(said) => (None, Vec::new()),
        ([], _) => unnamed(kind, said, scene, only),
        (many, _) => (Some(ask(kind, many)), Vec::new()),
    }
}

/// Nothing fits what was said: the only thing there is, or a question.
fn unnamed(
    kind: Kind,
    said: &[Word],
    scene: &Scene<'_>,
    only: Option<CandidateKind>,
) -> (Option<Question>, Vec<Candidate>) {
    let wanted = only.or_else(|| said.iter().find_map(|word| CandidateKind::of(&word.low)));
    let there: Vec<&Candidate> =
        scene.candidates.iter().filter(|one| wanted.is_none_or(|kind| one.kind == kind)).collect();
    let specific = said.iter().any(|word| significant(word) || number(&word.low).is_some());
    match there.as_slice() {
        [] => (None, Vec::new()),
        [one] if wanted.is_some() && (!specific || kind == Kind::ScaleTeam) => {
            (None, vec![(*one).clone()])
        }
        many => (Some(ask(kind, many)), Vec::new()),
    }
}

fn ask(kind: Kind, many: &[&Candidate]) -> Question {
    let ask = match kind {
        Kind::StopTask => "Which one should stop?",
        Kind::ScaleTeam => "Which one should get another number of agents?",
        _ => "Which one do you mean?",
    };
    let choice = |one: &&Candidate| Choice {
        value: one.id.clone(),
        label: match one.about.is_empty() {
            true => line(&format!("{} {} ({})", one.kind.as_str(), one.name, one.state), 160),
            false => line(
                &format!("{} {}: {} ({})", one.kind.as_str(), one.name, one.about, one.state),
                160,
            ),
        },
    };
    let choices = many.iter().take(CHOICES_MAX).map(choice).collect();
    Question { about: About::Target, ask: ask.to_owned(), choices, free: many.len() > CHOICES_MAX }
}

fn all(said: &[Word]) -> bool {
    said.iter().any(|word| matches!(word.low.as_str(), "all" | "everything" | "everyone" | "every"))
}

/// Tells whether all there is is meant, and not all of something.
fn everything(said: &[Word]) -> bool {
    let alone = |word: &Word| all(std::slice::from_ref(word));
    all(said) && !said.iter().any(|word| significant(word) && !alone(word))
}

fn names_one(said: &[Word]) -> bool {
    !all(said)
        && said
            .iter()
            .any(|word| CandidateKind::of(&word.low).is_some() && !word.low.ends_with('s'))
}

/// Tells whether a word could be of a title.
fn significant(word: &Word) -> bool {
    const OTHER: [&str; 44] = [
        "stop",
        "kill",
        "cancel",
        "abort",
        "halt",
        "pause",
        "terminate",
        "end",
        "work",
        "works",
        "doing",
        "done",
        "far",
        "going",
        "status",
        "progress",
        "show",
        "tell",
        "scale",
        "put",
        "give",
        "add",
        "agent",
        "agents",
        "worker",
        "workers",
        "bead",
        "beads",
        "task",
        "tasks",
        "convoy",
        "sprint",
        "team",
        "run",
        "running",
        "finished",
        "stuck",
        "left",
        "cost",
        "spent",
        "one",
        "down",
        "working",
        "happening",
    ];
    !is_empty_word(&word.low) && !OTHER.contains(&word.low.as_str()) && number(&word.low).is_none()
}

/// Tells how much a candidate is like what was said, from 0 to 1.
fn likeness(said: &[Word], one: &Candidate) -> f64 {
    let name = one.name.to_lowercase();
    if said.iter().any(|word| word.low == name || word.low == one.id.to_lowercase()) {
        return 1.0;
    }
    if numbered(said, one, &name) {
        return 0.95;
    }
    let title: Vec<Word> =
        words(&name).into_iter().chain(words(&one.about.to_lowercase())).collect();
    let wanted: Vec<&Word> = said.iter().filter(|word| significant(word)).collect();
    if wanted.is_empty() {
        // `the sprint` is a convoy with that word in its title, if there is one.
        let noun = said.iter().filter(|word| CandidateKind::of(&word.low) == Some(one.kind));
        let mut noun = noun.filter(|word| title.iter().any(|other| other.low == word.low));
        return if noun.next().is_some() { 0.75 } else { 0.0 };
    }
    let hit = |word: &&&Word| title.iter().any(|other| same(&word.low, &other.low));
    let found = wanted.iter().filter(hit).count();
    let share = found as f64 / wanted.len() as f64;
    // The kind that was said counts for a little: `the auth agent` is rather an agent.
    let kinds: Vec<CandidateKind> =
        said.iter().filter_map(|word| CandidateKind::of(&word.low)).collect();
    let bonus = if kinds.contains(&one.kind) { 0.1 } else { 0.0 };
    if found == 0 { 0.0 } else { 0.35 + share * 0.5 + bonus }
}

/// `agent 3` is `worker-3`, and `sprint 1` is a convoy of that title.
fn numbered(said: &[Word], one: &Candidate, name: &str) -> bool {
    said.windows(2).any(|pair| {
        let [noun, digits] = pair else { return false };
        let Some(number) = number(&digits.low) else { return false };
        if CandidateKind::of(&noun.low) != Some(one.kind) {
            return false;
        }
        match one.kind {
            CandidateKind::Agent => {
                name.rsplit(['-', ' ', '#']).next() == Some(&number.to_string())
            }
            _ => words(name)
                .windows(2)
                .any(|pair| pair[0].low == noun.low && pair[1].low == number.to_string()),
        }
    })
}
