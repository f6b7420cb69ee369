//! Something that is there should be otherwise: first a net, then the change, then what is left over.

use godel_model::BeadKind;

use super::super::places;
use super::{Maker, SUBJECT_MAX_CHARS};
use crate::plan::Size;
use crate::text::line;

impl Maker<'_> {
    pub(super) fn refactor(&mut self) {
        let spread = places::everywhere(self.brief.survey, &self.clause.text);
        let places =
            if self.clause.places.is_empty() { spread } else { self.clause.places.clone() };
        let what = format!(
            "Pin down with tests what the code does today, so that a change of behaviour is noticed. {}",
            self.with_tests()
        );
        let net = self.add_at(
            BeadKind::Task,
            &format!("Cover with tests first: {}", line(&self.clause.text, SUBJECT_MAX_CHARS)),
            &what,
            (&[], &places),
        );
        let text = self.clause.text.clone();
        let moved = self.per_part(
            &text,
            "Change the structure and not the behaviour: the tests of before pass unchanged.",
            &[net],
            &places,
        );
        if moved.len() > 1 {
            let title = format!(
                "Put the parts together again: {}",
                line(&self.clause.text, SUBJECT_MAX_CHARS)
            );
            let end = self.add_at(
                BeadKind::Refactor,
                &title,
                "Remove what is not used any more, and check that the parts fit.",
                (&moved, &places),
            );
            self.sized(end, Size::Small);
        }
    }

    pub(super) fn rename(&mut self) {
        let object = self.subject();
        let mut places = self.clause.places.clone();
        if places.len() < 2 {
            let spread = places::everywhere(self.brief.survey, &self.clause.text);
            places = if spread.is_empty() { places } else { spread };
        }
        if places.len() < 2 {
            let at = self.add_at(
                BeadKind::Refactor,
                &format!("Rename {object}"),
                "Rename it in code, tests and docs, and change nothing else.",
                (&[], &places),
            );
            self.sized(at, Size::Small);
            return;
        }
        let first = self.add_at(
            BeadKind::Refactor,
            &format!("Make the new name work beside the old: {object}"),
            "Both names work, so that each part can change by itself.",
            (&[], &places),
        );
        self.sized(first, Size::Small);
        let moved = self.per_part(
            &format!("Rename {object}"),
            "Use the new name everywhere in this part, and change nothing else.",
            &[first],
            &places,
        );
        moved.iter().for_each(|at| self.sized(*at, Size::Small));
        let last = self.add_at(
            BeadKind::Refactor,
            &format!("Remove the old name: {object}"),
            "Search the whole repository for the old name; none is left.",
            (&moved, &places),
        );
        self.sized(last, Size::Small);
    }

    pub(super) fn replace(&mut self) {
        let object = line(&self.clause.text, SUBJECT_MAX_CHARS);
        let what = format!("Pin down with tests what the code does today. {}", self.with_tests());
        let net =
            self.add(BeadKind::Task, &format!("Cover with tests first: {object}"), &what, &[]);
        let first = self.add(
            BeadKind::Task,
            &format!("Bring in the new beside the old: {object}"),
            "The new is there and tried out in one place; the old still works.",
            &[net],
        );
        let mut places = self.clause.places.clone();
        if places.len() < 2 {
            let spread = places::everywhere(self.brief.survey, &self.clause.text);
            places = if spread.is_empty() { places } else { spread };
        }
        let moved = self.per_part(
            &format!("Move over: {object}"),
            "Use the new in the place of the old, with the same behaviour.",
            &[first],
            &places,
        );
        let last = self.add(
            BeadKind::Chore,
            &format!("Remove the old: {object}"),
            "Nothing uses the old any more; remove it with its settings and dependencies.",
            &moved,
        );
        self.sized(last, Size::Small);
    }

    pub(super) fn upgrade(&mut self) {
        let object = line(&self.clause.text, SUBJECT_MAX_CHARS);
        let read = self.add(
            BeadKind::Research,
            &format!("Read what changes: {object}"),
            "Read the notes of all versions in between, and list in `docs/notes` what breaks here; commit it.",
            &[],
        );
        self.sized(read, Size::Small);
        let text = self.clause.text.clone();
        let bump = self.add(
            BeadKind::Chore,
            &text,
            "Raise the version, and change the code as far as it needs it to build and to pass.",
            &[read],
        );
        let check = self.add(BeadKind::Task, &format!("Check the whole after the upgrade: {object}"), "Run all tests and the program itself; look for warnings and for what behaves otherwise. Mend it, or write down in `docs/notes` that there is nothing; commit it.", &[bump]);
        self.sized(check, Size::Small);
    }

    pub(super) fn remove(&mut self) {
        let object = self.subject();
        let find = self.add(BeadKind::Research, &format!("Find all uses of {object}"), "List in `docs/notes` who uses it: code, tests, settings, docs, other programs; and what each should use instead. Commit it.", &[]);
        self.sized(find, Size::Small);
        let spread = places::everywhere(self.brief.survey, &self.clause.text);
        let places =
            if self.clause.places.is_empty() { spread } else { self.clause.places.clone() };
        let text = self.clause.text.clone();
        self.per_part(
            &text,
            "Remove it with its tests, settings and words in the docs.",
            &[find],
            &places,
        );
    }

    pub(super) fn speed(&mut self) {
        let object = line(&self.clause.text, SUBJECT_MAX_CHARS);
        let before = self.add(BeadKind::Task, &format!("Measure first: {object}"), "Write a benchmark that can be run again, note its numbers in `docs/notes`, and find where the time or memory goes; commit both.", &[]);
        self.sized(before, Size::Small);
        let text = self.clause.text.clone();
        let change = self.add(
            BeadKind::Task,
            &text,
            "Change what the measurement points at; the behaviour stays.",
            &[before],
        );
        let after = self.add(
            BeadKind::Task,
            &format!("Measure again: {object}"),
            "Run the same benchmark, and write both numbers into `docs/notes`; commit it.",
            &[change],
        );
        self.sized(after, Size::Small);
    }
}
