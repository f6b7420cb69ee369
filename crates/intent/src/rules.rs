//! A plan without a model: the text is taken apart into pieces of work, each becomes the beads that such
//! work consists of, and what depends on what follows from the words and the parts of the repository.

mod clauses;
mod order;
pub mod places;
mod templates;
mod verbs;

use godel_model::{BeadKind, Priority, Survey};

pub(crate) use clauses::complains;
pub(crate) use verbs::{is_everywhere, is_work_verb, stands_alone};

use crate::plan::{BEADS_MAX, DESCRIPTION_MAX_CHARS, Plan, PlannedBead, TITLE_MAX_CHARS};
use crate::text::{line, visible};
use clauses::Clause;
use templates::Draft;

/// With more beads than this, each piece of work is one bead.
const FULL_MAX: usize = 14;
/// The longest title of a plan.
const NAME_MAX_CHARS: usize = 100;

/// What a plan is made from.
#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// The work, in the words of whoever wants it.
    pub text: &'a str,
    /// What the repository looks like.
    pub survey: &'a Survey,
    /// How hard it is, from 1 to 10.
    pub score: f64,
    /// The roles that there are.
    pub roles: &'a [String],
}

/// Makes a plan.
pub fn plan(brief: &Brief<'_>) -> Plan {
    let clauses = clauses::split(brief.text, brief.survey);
    let full: Vec<Vec<Draft>> =
        clauses.iter().map(|clause| templates::beads(clause, &clauses, brief)).collect();
    let total: usize = full.iter().map(Vec::len).sum();
    let groups = if total <= FULL_MAX { full } else { compact(&clauses, brief) };
    let mut plan = Plan { title: line(&visible(brief.text), NAME_MAX_CHARS), beads: Vec::new() };
    let places = order::join(&clauses, &groups);
    let role = |wanted: &str| {
        let first = || brief.roles.first().cloned();
        let named = |name: &str| brief.roles.iter().find(|role| role.as_str() == name).cloned();
        named(wanted)
            .or_else(|| named("worker"))
            .or_else(first)
            .unwrap_or_else(|| "worker".to_owned())
    };
    for (draft, needs) in groups.iter().flatten().zip(places) {
        let number = plan.beads.len() + 1;
        let title = unique(&plan, &line(&visible(&draft.title), TITLE_MAX_CHARS), number);
        let text: String =
            visible(&draft.description).chars().take(DESCRIPTION_MAX_CHARS).collect();
        plan.beads.push(PlannedBead {
            key: format!("b{number}"),
            title,
            description: text,
            kind: draft.kind,
            priority: draft.priority,
            needs: needs.into_iter().map(|at| format!("b{}", at + 1)).collect(),
            role: role(draft.role),
            size: draft.size,
            files: draft.files.clone(),
        });
    }
    plan.reduce();
    plan
}

/// One bead for each piece of work; pieces of a very long list are put together.
fn compact(clauses: &[Clause], brief: &Brief<'_>) -> Vec<Vec<Draft>> {
    let mut groups: Vec<Vec<Draft>> =
        clauses.iter().map(|clause| vec![templates::whole(clause, brief)]).collect();
    let rest = groups.split_off(groups.len().min(BEADS_MAX));
    if let (Some(last), false) =
        (groups.last_mut().and_then(|group| group.last_mut()), rest.is_empty())
    {
        let titles: Vec<&str> = rest.iter().flatten().map(|draft| draft.title.as_str()).collect();
        last.description = format!("{}\n\nAnd also:\n- {}", last.description, titles.join("\n- "));
        last.title =
            format!("{} (and {} more)", line(&last.title, TITLE_MAX_CHARS - 20), titles.len());
    }
    // Groups that are left out keep their place, so that clauses and groups fit each other.
    groups.extend(rest.iter().map(|_| Vec::new()));
    groups
}

fn unique(plan: &Plan, title: &str, number: usize) -> String {
    let taken = |title: &str| {
        plan.beads.iter().any(|bead| bead.title.to_lowercase() == title.to_lowercase())
    };
    if taken(title) {
        format!("{} ({number})", line(title, TITLE_MAX_CHARS - 10))
    } else {
        title.to_owned()
    }
}

/// What kind of bead and how urgent a text sounds.
fn urgency(text: &str, kind: BeadKind) -> Priority {
    let low = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
    if has(&[
        "urgent",
        "critical",
        "outage",
        "security hole",
        "vulnerab",
        "data loss",
        "production is down",
    ]) {
        Priority::Critical
    } else if kind == BeadKind::Bug || has(&["asap", "important", "security"]) {
        Priority::High
    } else {
        Priority::Medium
    }
}
