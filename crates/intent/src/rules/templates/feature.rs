//! Something new: decide, prepare the data, build from the inside out, test it, describe it.

use godel_model::{BeadKind, PartKind};

use super::super::places::{self, Depth, Place};
use super::super::verbs::Work;
use super::{Maker, SUBJECT_MAX_CHARS};
use crate::plan::Size;
use crate::text::{is_empty_word, line, words};

/// From which score on a feature is designed first.
const DESIGN_SCORE: f64 = 5.5;
/// How many components are beads of their own.
const COMPONENTS_MAX: usize = 4;

/// Things that are done in one go.
const LITTLE: [&str; 24] = [
    "flag",
    "option",
    "link",
    "color",
    "colour",
    "label",
    "constant",
    "comment",
    "message",
    "text",
    "version",
    "icon",
    "tooltip",
    "placeholder",
    "favicon",
    "title",
    "badge",
    "alias",
    "typo",
    "timeout",
    "default",
    "spacing",
    "font",
    "header",
];
/// Things that need a decision first.
const LARGE: [&str; 26] = [
    "architecture",
    "protocol",
    "engine",
    "framework",
    "multi-tenant",
    "plugin",
    "plugins",
    "oauth",
    "sso",
    "payments",
    "billing",
    "permissions",
    "rbac",
    "sync",
    "offline",
    "real-time",
    "realtime",
    "subscription",
    "subscriptions",
    "authentication",
    "encryption",
    "distributed",
    "system",
    "marketplace",
    "federation",
    "collaboration",
];
/// Words that say that something is kept.
const KEPT: [&str; 16] = [
    "table",
    "column",
    "database",
    "persist",
    "persisted",
    "store",
    "stored",
    "stores",
    "save",
    "saved",
    "saves",
    "migration",
    "schema",
    "remember",
    "records",
    "waitlist",
];

/// What is said about a feature.
struct Wish {
    main: String,
    components: Vec<String>,
    tests: bool,
    docs: bool,
}

/// Makes the beads of something new or of a change.
pub(super) fn beads(maker: &mut Maker<'_>) {
    let wish = wish(maker);
    let lows = maker.clause.lows();
    let has = |some: &[&str]| lows.iter().any(|word| some.contains(&word.as_str()));
    let places = spots(maker, &lows);
    let little = has(&LITTLE) && !has(&LARGE) && !is_kept(&lows) && wish.components.is_empty();
    if little && places.len() < 2 && !wish.tests && !wish.docs && lows.len() <= 14 {
        let text = maker.clause.text.clone();
        let at = maker.add(maker.kind(), &text, "Do it with a test that fails without it.", &[]);
        maker.sized(at, Size::Small);
        return;
    }
    let mut base = Vec::new();
    let decided = maker.others(&[Work::Design]);
    if !decided && (has(&LARGE) || maker.brief.score >= DESIGN_SCORE) {
        let what = "Write down in `docs/notes` how it should work, its edges and what it touches, before code is written, and what is left out; commit it.";
        let at = maker.add(BeadKind::Decision, &format!("Design: {}", wish.main), what, &[]);
        maker.sized(at, Size::Small);
        base = vec![at];
    }
    if is_kept(&lows) && maker.clause.work == Work::Add && keeps_data(maker) {
        let what = "Add what is needed to keep the data, with a migration that can be applied to data that is there.";
        let at =
            maker.add(BeadKind::Task, &format!("Prepare the data: {}", wish.main), what, &base);
        maker.sized(at, Size::Small);
        base = vec![at];
    }
    let mut built = build(maker, &wish, &places, &base);
    let main = built.clone();
    for component in wish.components.iter().take(COMPONENTS_MAX) {
        let title = format!("Add {component} to {}", wish.main);
        built.push(maker.add(
            BeadKind::Feature,
            &title,
            "It belongs to what was built before it, with its own tests.",
            &main,
        ));
    }
    finish(maker, &wish, &built);
}

/// Builds from the inside out: parts of the same depth at the same time.
fn build(maker: &mut Maker<'_>, wish: &Wish, places: &[Place], base: &[usize]) -> Vec<usize> {
    let verb = if maker.clause.work == Work::Add { "Build" } else { "Change" };
    let text = match (maker.clause.work, wish.components.is_empty()) {
        (Work::Add, true) | (Work::Change, _) => maker.clause.text.clone(),
        _ => format!("{verb} {}", wish.main),
    };
    let what = "Build it with tests for its edges.";
    if places.len() < 2 {
        return vec![maker.add_at(maker.kind(), &without_extras(&text), what, (base, places))];
    }
    let mut depths: Vec<Depth> = places.iter().map(|place| place.depth).collect();
    depths.sort();
    depths.dedup();
    let (mut all, mut needs) = (Vec::new(), base.to_vec());
    for depth in depths {
        let here: Vec<Place> =
            places.iter().filter(|place| place.depth == depth).cloned().collect();
        let made = match here.as_slice() {
            [one] => {
                let title = format!(
                    "{} [{}]",
                    without_extras(&line(&text, SUBJECT_MAX_CHARS)),
                    line(&one.path, 60)
                );
                vec![maker.add_at(maker.kind(), &title, what, (&needs, &here))]
            }
            _ => maker.per_part(&without_extras(&text), what, &needs, &here),
        };
        all.extend(&made);
        needs = made;
    }
    all
}

/// Adds what comes behind: a test of the whole, and words about it.
fn finish(maker: &mut Maker<'_>, wish: &Wish, built: &[usize]) {
    let change = maker.clause.work == Work::Change;
    let several = built.len() > 1;
    let asked = |works: &[Work]| maker.others(works);
    let (tested, told) = (asked(&[Work::Test]), asked(&[Work::Docs]));
    if !tested && (wish.tests || several || !change) {
        let what = format!("Test it as its users use it, from end to end. {}", maker.with_tests());
        let at = maker.add(BeadKind::Task, &format!("Test: {}", wish.main), &what, built);
        maker.tail(at);
    }
    let has_docs = maker.brief.survey.parts.iter().any(|part| part.kind == PartKind::Docs);
    if !told && (wish.docs || (has_docs && !change)) {
        let what = "Say what it is for and how to use it, with an example that works.";
        let at = maker.add(BeadKind::Task, &format!("Document: {}", wish.main), what, built);
        maker.sized(at, Size::Small);
        maker.tail(at);
    }
}

/// Finds where it is built: what is named; else a page and what answers it, if both are spoken of.
fn spots(maker: &Maker<'_>, lows: &[String]) -> Vec<Place> {
    let spread = places::everywhere(maker.brief.survey, &maker.clause.text);
    let wide = lows.iter().any(|word| matches!(word.as_str(), "every" | "each" | "all" | "across"));
    if wide && !spread.is_empty() && !maker.clause.places.iter().any(|place| place.named) {
        return spread;
    }
    maker.clause.places.clone()
}

/// Tells whether the repository has something that keeps data, or the text says what it should be.
fn keeps_data(maker: &Maker<'_>) -> bool {
    let parts = &maker.brief.survey.parts;
    let by_kind = parts.iter().any(|part| part.kind == PartKind::Schema);
    let by_name = parts.iter().any(|part| {
        matches!(
            part.name.to_lowercase().as_str(),
            "db" | "database" | "models" | "store" | "storage" | "server" | "api" | "backend"
        )
    });
    let lows = maker.clause.lows();
    by_kind
        || by_name
        || lows.iter().any(|word| {
            matches!(word.as_str(), "database" | "table" | "column" | "migration" | "schema")
        })
}

/// Tells whether something is kept; `the store` is a place and says nothing of that.
fn is_kept(lows: &[String]) -> bool {
    let place = |at: usize| {
        at.checked_sub(1)
            .and_then(|at| lows.get(at))
            .is_some_and(|word| word == "the" || word == "a")
    };
    let mut words = lows.iter().enumerate();
    words.any(|(at, word)| KEPT.contains(&word.as_str()) && !(word == "store" && place(at)))
}

/// Takes `a landing page with a waitlist form and tests` apart.
fn wish(maker: &Maker<'_>) -> Wish {
    let object = maker.clause.object();
    let lows = maker.clause.lows();
    let tests = lows.iter().any(|word| matches!(word.as_str(), "tests" | "tested"));
    let docs = lows
        .iter()
        .any(|word| matches!(word.as_str(), "docs" | "documentation" | "readme" | "documented"));
    let cut = [" with ", " including ", " plus "]
        .iter()
        .find_map(|mark| object.find(mark).map(|at| (at, at + mark.len())));
    let Some((at, from)) = cut.filter(|_| maker.clause.work == Work::Add) else {
        return Wish { main: title_of(object), components: Vec::new(), tests, docs };
    };
    let tail = object.get(from..).unwrap_or_default();
    let pieces = tail.replace(", and ", ", ").replace(" and ", ", ");
    let kept = |piece: &&str| {
        let said = words(piece);
        let extra = said.iter().any(|word| {
            matches!(word.low.as_str(), "tests" | "test" | "docs" | "documentation" | "readme")
        });
        !extra && said.iter().any(|word| !is_empty_word(&word.low))
    };
    let pieces: Vec<&str> = pieces.split(',').map(str::trim).filter(kept).collect();
    // `with a` and `an`, `a` or several: things. `with exponential backoff` is how, and no thing.
    let things = pieces.len() > 1
        || words(tail).first().is_some_and(|word| matches!(word.low.as_str(), "a" | "an"));
    let components =
        if things { pieces.into_iter().map(|piece| line(piece, 80)).collect() } else { Vec::new() };
    let main = if components.is_empty() { object } else { object.get(..at).unwrap_or(object) };
    Wish { main: title_of(main), components, tests, docs }
}

/// Leaves `with tests and docs` to the beads for them.
fn without_extras(text: &str) -> String {
    let low = text.to_lowercase();
    let marks = [
        " with tests",
        " including tests",
        " plus tests",
        " and tests",
        " with docs",
        " and docs",
        " with documentation",
    ];
    let cut = marks.iter().filter_map(|mark| low.find(mark)).min();
    // Small letters can be longer than large ones in other scripts; then the text stays whole.
    let kept = cut.and_then(|at| text.get(..at)).filter(|_| low.len() == text.len());
    kept.unwrap_or(text).to_owned()
}

fn title_of(text: &str) -> String {
    line(&without_extras(text), SUBJECT_MAX_CHARS)
}
