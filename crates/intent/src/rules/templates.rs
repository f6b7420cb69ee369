//! The beads that a piece of work consists of.

mod change;
mod feature;

use godel_model::{BeadKind, Priority};

use super::clauses::Clause;
use super::places::{self, Place};
use super::verbs::Work;
use super::{Brief, urgency};
use crate::plan::Size;
use crate::text::line;

/// How many parts get a bead of their own; the others share one.
const PARTS_MAX: usize = 6;
/// How much of what was asked for is repeated in a bead.
const ASKED_MAX_CHARS: usize = 1_500;
/// How long the subject of a title is.
const SUBJECT_MAX_CHARS: usize = 110;
/// From how many lines on work in a part is large.
const LARGE_LINES: u64 = 5_000;

/// A bead that is not numbered yet.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) kind: BeadKind,
    pub(crate) priority: Priority,
    pub(crate) role: &'static str,
    pub(crate) size: Size,
    pub(crate) files: Vec<String>,
    /// What must be done first, by places in the same group.
    pub(crate) needs: Vec<usize>,
    /// Whether it comes behind what is built: others that build on it do not wait for it.
    pub(crate) tail: bool,
}

/// Makes the beads of a piece of work.
pub(crate) fn beads(clause: &Clause, all: &[Clause], brief: &Brief<'_>) -> Vec<Draft> {
    let mut maker = Maker { clause, all, brief, drafts: Vec::new() };
    match clause.work {
        Work::Research => maker.one(
            BeadKind::Research,
            "Find out",
            "Write down what you found in `docs/notes`, with the places in the code that show it, and commit it.",
        ),
        Work::Design => maker.one(
            BeadKind::Decision,
            "Design",
            "Write down in `docs/notes` how it should be, what else was considered, and what follows for the code; commit it.",
        ),
        Work::Schema => maker.schema(),
        Work::Add | Work::Change => feature::beads(&mut maker),
        Work::Fix => maker.fix(),
        Work::Refactor => maker.refactor(),
        Work::Rename => maker.rename(),
        Work::Replace => maker.replace(),
        Work::Upgrade => maker.upgrade(),
        Work::Remove => maker.remove(),
        Work::Speed => maker.speed(),
        Work::Chore => maker.chore(),
        Work::Test => maker.tests(),
        Work::Review => maker.review(),
        Work::Docs => maker.docs(),
        Work::Release => maker.release(),
    }
    maker.drafts
}

/// Makes one bead of a piece of work.
pub(crate) fn whole(clause: &Clause, brief: &Brief<'_>) -> Draft {
    let mut maker = Maker { clause, all: &[], brief, drafts: Vec::new() };
    let title = sentence(&clause.text);
    maker.add(maker.kind(), &title, "Do it with its tests.", &[]);
    maker.drafts.swap_remove(0)
}

/// Collects the beads of one piece of work.
pub(crate) struct Maker<'a> {
    pub(crate) clause: &'a Clause,
    pub(crate) all: &'a [Clause],
    pub(crate) brief: &'a Brief<'a>,
    pub(crate) drafts: Vec<Draft>,
}

impl Maker<'_> {
    /// Adds a bead, and returns its place.
    pub(crate) fn add(
        &mut self,
        kind: BeadKind,
        title: &str,
        what: &str,
        needs: &[usize],
    ) -> usize {
        let places = self.clause.places.clone();
        self.add_at(kind, title, what, (needs, &places))
    }

    /// Adds a bead for some places.
    pub(crate) fn add_at(
        &mut self,
        kind: BeadKind,
        title: &str,
        what: &str,
        (needs, places): (&[usize], &[Place]),
    ) -> usize {
        let lines: u64 = places.iter().map(|place| place.lines).sum();
        let files: Vec<String> = places.iter().map(|place| place.path.clone()).take(20).collect();
        self.drafts.push(Draft {
            title: sentence(title),
            description: self.describe(what, &files),
            kind,
            priority: urgency(&self.clause.text, self.kind()),
            role: "worker",
            size: if lines >= LARGE_LINES || self.brief.score >= 7.0 {
                Size::Large
            } else {
                Size::Medium
            },
            files,
            needs: needs.to_vec(),
            tail: false,
        });
        self.drafts.len() - 1
    }

    /// Changes how much work a bead is.
    pub(crate) fn sized(&mut self, at: usize, size: Size) {
        if let Some(draft) = self.drafts.get_mut(at) {
            draft.size = size;
        }
    }

    /// Says that others do not wait for a bead.
    pub(crate) fn tail(&mut self, at: usize) {
        if let Some(draft) = self.drafts.get_mut(at) {
            draft.tail = true;
        }
    }

    /// Tells whether another piece of the text is such work.
    pub(crate) fn others(&self, works: &[Work]) -> bool {
        let own = |other: &Clause| std::ptr::eq(other, self.clause);
        self.all.iter().any(|other| works.contains(&other.work) && !own(other))
    }

    fn played(&mut self, at: usize, role: &'static str) {
        if let Some(draft) = self.drafts.get_mut(at) {
            draft.role = role;
        }
    }

    fn describe(&self, what: &str, files: &[String]) -> String {
        let asked = line(&self.clause.text, ASKED_MAX_CHARS);
        let mut text = format!("{what}\n\nAsked for: {asked}");
        for more in self.clause.context.iter().take(10) {
            text.push_str("\nAlso said: ");
            text.push_str(&line(more, ASKED_MAX_CHARS / 2));
        }
        if !files.is_empty() {
            text.push_str("\nWhere: ");
            text.push_str(&files.iter().map(|path| line(path, 200)).collect::<Vec<_>>().join(", "));
        }
        if let Some(command) = &self.brief.survey.tests.command {
            text.push_str(&format!("\nTests are run by `{command}`; they must pass."));
        }
        text
    }

    /// What kind of bead the work is.
    pub(crate) fn kind(&self) -> BeadKind {
        match self.clause.work {
            Work::Research | Work::Review => BeadKind::Research,
            Work::Design => BeadKind::Decision,
            Work::Add => BeadKind::Feature,
            Work::Fix => BeadKind::Bug,
            Work::Refactor | Work::Rename | Work::Replace => BeadKind::Refactor,
            Work::Upgrade | Work::Chore | Work::Remove | Work::Release => BeadKind::Chore,
            Work::Schema | Work::Change | Work::Speed | Work::Test | Work::Docs => BeadKind::Task,
        }
    }

    /// What the work is about, short enough for a title.
    pub(crate) fn subject(&self) -> String {
        line(self.clause.object(), SUBJECT_MAX_CHARS)
    }

    fn one(&mut self, kind: BeadKind, verb: &str, what: &str) {
        let title = match self.clause.verb {
            "" | "find out" | "look into" => {
                format!("{verb}: {}", self.clause.text.trim_end_matches('?'))
            }
            _ => self.clause.text.clone(),
        };
        let at = self.add(kind, &line(&title, SUBJECT_MAX_CHARS), what, &[]);
        self.sized(at, Size::Small);
    }

    /// Says how tests are to be written here.
    pub(crate) fn with_tests(&self) -> &'static str {
        if self.brief.survey.tests.files > 0 {
            "Follow how the tests here are written."
        } else {
            "There are no tests yet: make the smallest setup that runs them with one command."
        }
    }

    fn schema(&mut self) {
        let title = self.clause.text.clone();
        let what = "Change the schema with a migration that can be applied to data that is there, and undone.";
        let mut last = self.add(BeadKind::Task, &title, what, &[]);
        self.sized(last, Size::Small);
        // Where the text says what uses it, that is the use.
        if !self.others(&[Work::Add, Work::Change]) {
            let title = format!("Use it in the code: {}", self.subject());
            last = self.add(
                BeadKind::Task,
                &title,
                "Let the code read and write what the migration made.",
                &[last],
            );
        }
        let what = format!("Show by tests that old and new data work. {}", self.with_tests());
        let test = format!("Test the migration: {}", self.subject());
        let test = self.add(BeadKind::Task, &test, &what, &[last]);
        self.sized(test, Size::Small);
        self.tail(test);
    }

    fn fix(&mut self) {
        let subject = match self.clause.verb {
            "" | "stop" | "prevent" => line(&self.clause.text, SUBJECT_MAX_CHARS),
            _ => self.subject(),
        };
        let what = format!(
            "Find out how to make it happen, and write a test that fails because of it. Change nothing else. {}",
            self.with_tests()
        );
        let test = self.add(
            BeadKind::Bug,
            &format!("Reproduce with a failing test: {subject}"),
            &what,
            &[],
        );
        self.sized(test, Size::Small);
        let fixed = match self.clause.verb {
            "" => format!("Fix: {subject}"),
            _ => self.clause.text.clone(),
        };
        self.add(BeadKind::Bug, &fixed, "Find the cause and fix it there. The failing test passes; no other test is changed to pass.", &[test]);
    }

    fn chore(&mut self) {
        let text = self.clause.text.clone();
        let at = self.add(
            BeadKind::Chore,
            &text,
            "Do just this, and check that everything still builds and passes.",
            &[],
        );
        self.sized(at, Size::Small);
    }

    fn tests(&mut self) {
        let mut places = self.clause.places.clone();
        let lows = self.clause.lows();
        let bare = lows.iter().all(|word| {
            super::stands_alone(word)
                || super::is_work_verb(word)
                || crate::text::is_empty_word(word)
        });
        if places.is_empty() {
            places = places::everywhere(self.brief.survey, &self.clause.text);
        }
        if places.is_empty() && bare {
            places = places::all(self.brief.survey);
        }
        // What only says how something looks has no tests of its own.
        let looks =
            |place: &Place| [".css", ".html", ".scss"].iter().any(|end| place.path.ends_with(end));
        places.retain(|place| !looks(place));
        let what = format!(
            "Test what it promises, at its edges too; a test must fail when the code is wrong. {}",
            self.with_tests()
        );
        if self.brief.survey.tests.files == 0
            && self.brief.survey.tests.command.is_none()
            && places.len() > 1
        {
            let set_up = self.add_at(
                BeadKind::Chore,
                "Set up how tests are run",
                "One command runs them; one small test shows it.",
                (&[], &[]),
            );
            self.sized(set_up, Size::Small);
            self.per_part(&self.clause.text.clone(), &what, &[set_up], &places);
        } else {
            self.per_part(&self.clause.text.clone(), &what, &[], &places);
        }
    }

    fn review(&mut self) {
        let mut places = self.clause.places.clone();
        if places.is_empty() {
            places = places::everywhere(self.brief.survey, &self.clause.text);
        }
        let text = self.clause.text.clone();
        let read = self.per_part(&text, "Read it, and write down in `docs/notes` what is wrong with file, line and how bad it is; commit that, and change nothing else.", &[], &places);
        read.iter().for_each(|at| self.played(*at, "reviewer"));
        if read.len() > 1 {
            let title = format!("Bring the findings together: {}", self.subject());
            let end = self.add_at(
                BeadKind::Research,
                &title,
                "One list in `docs/notes`, the worst first, without doubles, with what to do about each; commit it.",
                (&read, &places),
            );
            self.sized(end, Size::Small);
            self.played(end, "reviewer");
        }
    }

    fn docs(&mut self) {
        let text = self.clause.text.clone();
        let at = self.add(
            BeadKind::Task,
            &text,
            "Write it for who uses it: what it is for, how to begin, an example that works.",
            &[],
        );
        self.sized(at, Size::Small);
    }

    fn release(&mut self) {
        let object = self.subject();
        let notes = self.add(
            BeadKind::Chore,
            &format!("Write what changed for {object}"),
            "Collect what is new for users since the last release into the changelog.",
            &[],
        );
        self.sized(notes, Size::Small);
        let text = self.clause.text.clone();
        self.add(
            BeadKind::Chore,
            &text,
            "All tests pass; version and changelog fit each other.",
            &[notes],
        );
    }

    /// Adds a bead for each of several parts, all at the same time; one bead if there are no several.
    pub(crate) fn per_part(
        &mut self,
        title: &str,
        what: &str,
        needs: &[usize],
        places: &[Place],
    ) -> Vec<usize> {
        let kind = self.kind();
        if places.len() < 2 {
            return vec![self.add_at(kind, title, what, (needs, places))];
        }
        let short = line(title.trim_end_matches(['.', '!']), SUBJECT_MAX_CHARS);
        let (own, shared) =
            places.split_at(if places.len() > PARTS_MAX { PARTS_MAX - 1 } else { places.len() });
        let mut made = Vec::new();
        for place in own {
            let title = format!("{short} [{}]", line(&place.path, 60));
            made.push(self.add_at(kind, &title, what, (needs, std::slice::from_ref(place))));
        }
        if !shared.is_empty() {
            made.push(self.add_at(
                kind,
                &format!("{short} [the other parts]"),
                what,
                (needs, shared),
            ));
        }
        made
    }
}

/// Begins with a large letter and ends without a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim().trim_end_matches(['.', '!', ';', ',', ':', ' ']);
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "Do what was asked for".to_owned(),
    }
}
