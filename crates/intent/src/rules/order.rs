//! Which pieces of work wait for which.

use super::clauses::Clause;
use super::places::Depth;
use super::templates::Draft;
use super::verbs::Work;

/// Joins the groups of beads, and returns for each bead what it needs, by places among all.
pub(super) fn join(clauses: &[Clause], groups: &[Vec<Draft>]) -> Vec<Vec<usize>> {
    let mut starts = Vec::new();
    let mut total = 0;
    for group in groups {
        starts.push(total);
        total += group.len();
    }
    let earlier = earlier(clauses);
    let mut needs: Vec<Vec<usize>> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let start = starts.get(at).copied().unwrap_or(0);
        for draft in group {
            let mut own: Vec<usize> = draft.needs.iter().map(|need| start + need).collect();
            if draft.needs.is_empty() {
                for (before, whole) in earlier.get(at).into_iter().flatten() {
                    own.extend(last(groups, &starts, *before, *whole));
                }
            }
            own.sort_unstable();
            own.dedup();
            needs.push(own);
        }
    }
    needs
}

/// Returns the beads of a group that nothing in it waits for; of the whole group, or of what is built.
fn last(groups: &[Vec<Draft>], starts: &[usize], at: usize, whole: bool) -> Vec<usize> {
    let (Some(group), Some(start)) = (groups.get(at), starts.get(at)) else { return Vec::new() };
    let counts = |draft: &Draft| whole || !draft.tail;
    let awaited =
        |place: usize| group.iter().any(|draft| counts(draft) && draft.needs.contains(&place));
    let ends = group.iter().enumerate().filter(|(place, draft)| counts(draft) && !awaited(*place));
    ends.map(|(place, _)| start + place).collect()
}

/// Decides which pieces each piece waits for, and whether for their tests and docs too.
///
/// What the text puts in order stays in that order. Otherwise pieces are ordered by what they are, so the
/// order that results never has a circle: each piece has a rank, and waits for lower ranks only.
fn earlier(clauses: &[Clause]) -> Vec<Vec<(usize, bool)>> {
    // Where the text says `then`, a new stretch begins, which waits for all before it.
    let mut stretch = 0;
    let stretches: Vec<usize> = clauses
        .iter()
        .map(|clause| {
            stretch += usize::from(clause.after);
            stretch
        })
        .collect();
    let rank = |at: usize| {
        let clause = clauses.get(at);
        let place = stretches.get(at).copied().unwrap_or(0);
        (place, clause.map_or(0, phase), clause.map_or(Depth::Core, depth), at)
    };
    (0..clauses.len())
        .map(|at| {
            let lower = (0..clauses.len()).filter(|other| *other != at && rank(*other) < rank(at));
            let waits = |other: usize| {
                let (first, second) = (clauses.get(other)?, clauses.get(at)?);
                // What the text puts later waits for all of it; what only builds on it does not wait for docs.
                let told = stretches.get(other) < stretches.get(at);
                let waits = told || depends(first, second, clauses);
                waits.then_some((other, told || phase(second) > 3))
            };
            lower.filter_map(waits).collect()
        })
        .collect()
}

/// When in a project such work is done.
fn phase(clause: &Clause) -> u8 {
    match clause.work {
        Work::Research => 0,
        Work::Design => 1,
        Work::Schema => 2,
        Work::Test => 4,
        Work::Review => 5,
        Work::Docs => 6,
        Work::Release => 7,
        _ => 3,
    }
}

/// How far from the data a piece of work is.
fn depth(clause: &Clause) -> Depth {
    clause.places.iter().map(|place| place.depth).min().unwrap_or(Depth::Core)
}

/// Decides whether the second waits for the first, of two that the text leaves unordered.
fn depends(first: &Clause, second: &Clause, all: &[Clause]) -> bool {
    let (early, late) = (phase(first), phase(second));
    if second.work == Work::Release || second.refers {
        return true;
    }
    if late >= 4 {
        // Tests, reviews and docs come behind what they are about; without a subject of their own, behind all.
        let own = all.iter().any(|other| phase(other) < 4 && related(other, second));
        return early < late
            && (related(first, second) || (!own && second.places.is_empty() && early < 4));
    }
    // Code that uses a table waits for it, however plain the word for it is.
    let named =
        first.work == Work::Schema && first.about.iter().any(|word| second.about.contains(word));
    named || related(first, second)
}

/// Tells whether two pieces of work are about the same thing or place.
fn related(a: &Clause, b: &Clause) -> bool {
    let named = |clause: &Clause, path: &str| {
        clause.places.iter().any(|place| place.named && place.path == path)
    };
    let place = a.places.iter().any(|place| place.named && named(b, &place.path));
    let word = a.about.iter().any(|word| b.about.contains(word) && !general(word));
    place || word
}

/// Words that say nothing about what a piece of work is about.
fn general(word: &str) -> bool {
    const WORDS: [&str; 24] = [
        "test", "doc", "page", "code", "user", "api", "endpoint", "function", "module", "file",
        "bug", "crash", "error", "feature", "support", "service", "app", "table", "button", "form",
        "unit", "readme", "command", "option",
    ];
    WORDS.contains(&word)
}
