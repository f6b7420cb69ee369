//! Takes a text apart into pieces of work, and tells which order it asks for.

use godel_model::Survey;

use super::places::{self, Place};
use super::verbs::{self, Work};
use crate::text::{Word, is_empty_word, stem, words};

/// The most pieces that are told apart.
const CLAUSES_MAX: usize = 200;

/// How many words tell what a piece is about.
const ABOUT_MAX: usize = 40;

/// One piece of work.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    /// Its words, from its verb on.
    pub(crate) text: String,
    /// What belongs to it and is no work by itself.
    pub(crate) context: Vec<String>,
    /// What it is.
    pub(crate) work: Work,
    /// Its verb.
    pub(crate) verb: &'static str,
    /// Whether the text puts it behind what stands before it.
    pub(crate) after: bool,
    /// Where it is.
    pub(crate) places: Vec<Place>,
    /// What it is about, as stems.
    pub(crate) about: Vec<String>,
    /// Whether it speaks of what came before as `it` or `them`.
    pub(crate) refers: bool,
}

impl Clause {
    /// Returns its words in small letters.
    pub(crate) fn lows(&self) -> Vec<String> {
        words(&self.text).into_iter().map(|word| word.low).collect()
    }

    /// Returns what it is about, in the words of the text: all behind the verb.
    pub(crate) fn object(&self) -> &str {
        let found = words(&self.text);
        let skip = usize::from(found.first().is_some_and(|word| verbs::is_work_verb(&word.low)));
        // `set up`, `clean up`: the little word belongs to the verb.
        let small = |word: &&Word| matches!(word.low.as_str(), "up" | "out" | "down" | "off");
        let skip = skip + usize::from(skip == 1 && found.get(1).as_ref().is_some_and(small));
        let from = found.get(skip).map_or(0, |word| word.start);
        let text = self.text.get(from..).unwrap_or(&self.text);
        text.trim().trim_end_matches(['.', ',', ';', '!', '?', ':']).trim_end()
    }
}

/// A piece of text, and whether it comes after the one before.
struct Piece {
    text: String,
    after: bool,
}

/// Takes a text apart.
pub(crate) fn split(text: &str, survey: &Survey) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    for piece in pieces(text) {
        let piece_text = piece.text.trim().to_owned();
        if words(&piece_text).is_empty() {
            continue;
        }
        let verb = begins(&piece_text);
        if verb.is_none()
            && !complains(&piece_text)
            && let Some(last) = clauses.last_mut()
        {
            // What is no work by itself says more about the work before it.
            last.context.push(piece_text);
            continue;
        }
        if clauses.len() >= CLAUSES_MAX {
            break;
        }
        let mut next = clause(piece_text, verb, piece.after, survey);
        if let Some(last) = clauses.last().filter(|_| next.refers) {
            next.context.push(format!("This is about: {}", last.text));
        }
        clauses.push(next);
    }
    clauses
}

fn clause(
    text: String,
    verb: Option<(usize, Work, &'static str)>,
    after: bool,
    survey: &Survey,
) -> Clause {
    let text = match verb {
        Some((from, _, base)) => in_base_form(text.get(from..).unwrap_or(&text), base),
        None => text,
    };
    let found = words(&text);
    let lows: Vec<&str> = found.iter().map(|word| word.low.as_str()).collect();
    let work = match verb {
        None if complains(&text) => Work::Fix,
        None if text.trim_end().ends_with('?') => Work::Research,
        None => Work::Add,
        Some((_, work, base)) => verbs::judge(Some((work, base)), &lows),
    };
    let refers = lows
        .iter()
        .skip(1)
        .any(|word| matches!(*word, "it" | "them" | "its" | "those" | "these" | "both"));
    let about = lows.iter().filter(|word| {
        !is_empty_word(word) && !verbs::is_work_verb(word) && word.chars().count() > 2
    });
    Clause {
        places: places::of(survey, &text),
        about: about.take(ABOUT_MAX).map(|word| stem(word)).collect(),
        context: Vec::new(),
        verb: verb.map_or("", |(_, _, base)| base),
        text,
        work,
        after,
        refers,
    }
}

/// `adding roles` is to `add roles`.
fn in_base_form(text: &str, base: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let known = verbs::of(&first.to_lowercase()).is_some_and(|(_, known)| known == base);
    match text.get(first.len()..) {
        Some(rest) if known && !first.eq_ignore_ascii_case(base) => format!("{base}{rest}"),
        _ => text.to_owned(),
    }
}

/// Tells whether a text says that something is wrong.
pub(crate) fn complains(text: &str) -> bool {
    const WRONG: [&str; 19] = [
        "crash",
        "crashes",
        "broken",
        "fails",
        "failing",
        "bug",
        "doesn't",
        "does not",
        "cannot",
        "can't",
        "wrong",
        "error when",
        "hangs",
        "leak",
        "leaks",
        "incorrect",
        "not working",
        "regression",
        "panics",
    ];
    let low = format!(" {} ", text.to_lowercase());
    WRONG.iter().any(|word| {
        low.match_indices(word).any(|(at, found)| {
            let before = low.get(..at).and_then(|text| text.chars().last());
            let after = low.get(at + found.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
        })
    })
}

/// Finds the verb that a piece begins with: where, what work, and its base form.
fn begins(text: &str) -> Option<(usize, Work, &'static str)> {
    const BEFORE: [&str; 24] = [
        "please",
        "can",
        "could",
        "you",
        "we",
        "i",
        "want",
        "need",
        "to",
        "should",
        "must",
        "let",
        "and",
        "also",
        "then",
        "first",
        "next",
        "finally",
        "lastly",
        "now",
        "would",
        "like",
        "i'd",
        "carefully",
    ];
    let found = words(text);
    let at = found.iter().position(|word| !BEFORE.contains(&word.low.as_str()))?;
    let word = found.get(at)?;
    let next = found.get(at + 1).map_or("", |word| word.low.as_str());
    let two = match (word.low.as_str(), next) {
        ("look", "into") | ("find", "out") | ("figure", "out") => {
            Some((Work::Research, "look into"))
        }
        ("get", "rid") => Some((Work::Remove, "remove")),
        ("go", "through") => Some((Work::Review, "review")),
        ("roll", "out") => Some((Work::Release, "release")),
        ("why" | "how", "is" | "does" | "do" | "are" | "did") => Some((Work::Research, "find out")),
        _ => None,
    };
    // `test coverage is low` and `release notes` begin with a noun.
    let noun = matches!(next, "is" | "are" | "was" | "has" | "notes" | "coverage");
    let known = two.or_else(|| verbs::of(&word.low).filter(|_| !noun));
    known.map(|(work, base)| (word.start, work, base))
}

/// Takes a text apart at its lists, sentences and joining words.
fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for (line, numbered, listed) in lines(text) {
        let mut first = true;
        for sentence in sentences(&line) {
            for mut piece in joined(sentence) {
                piece.after |= first && numbered && !found.is_empty();
                // An item of a list without a verb is still something to do.
                if first && listed && begins(&piece.text).is_none() && !complains(&piece.text) {
                    piece.text = format!("add {}", piece.text.trim());
                }
                first = false;
                found.push(piece);
            }
        }
    }
    found
}

/// Returns lines, whether each is numbered, and whether it is an item of a list.
fn lines(text: &str) -> Vec<(String, bool, bool)> {
    let spread = inline_numbers(text);
    let mut found = Vec::new();
    for line in spread.lines() {
        let line = line.trim();
        let digits = line.chars().take_while(char::is_ascii_digit).count();
        let rest = line.get(digits..).unwrap_or_default();
        let mark = rest.strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' '));
        let bullet =
            ["- ", "* ", "\u{2022} ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
        let bullet = bullet.map(|rest| rest.trim_start_matches("[ ] "));
        match (mark.filter(|_| (1..=2).contains(&digits)), bullet) {
            (Some(rest), _) => found.push((rest.trim().to_owned(), true, true)),
            (None, Some(rest)) => found.push((rest.trim().to_owned(), false, true)),
            (None, None) => found.push((line.to_owned(), false, false)),
        }
    }
    let listed = found.iter().filter(|(.., listed)| *listed).count();
    if listed >= 2 {
        // The words over a list say what the list is; they are no work of their own.
        found.retain(|(line, _, listed)| *listed || !line.trim_end().ends_with(':'));
    }
    found
}

/// Puts `1) a 2) b` of one line onto lines.
fn inline_numbers(text: &str) -> String {
    let marks: Vec<usize> = (1..=9)
        .map_while(|number| {
            [format!("{number}) "), format!("{number}. ")].iter().find_map(|mark| {
                text.match_indices(mark.as_str()).map(|(at, _)| at).find(|at| {
                    text.get(..*at)
                        .is_some_and(|before| before.is_empty() || before.ends_with([' ', '\n']))
                })
            })
        })
        .collect();
    let mut spread = text.to_owned();
    if marks.len() >= 2 && marks.is_sorted() {
        for at in marks.iter().rev() {
            spread.insert(*at, '\n');
        }
    }
    spread
}

fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, c) in line.char_indices() {
        let next = line.get(at + c.len_utf8()..).unwrap_or_default();
        let ends = matches!(c, '.' | '!' | '?') && (next.starts_with(' ') || next.is_empty());
        if ends || c == ';' {
            found.push(line.get(from..at + c.len_utf8()).unwrap_or_default());
            from = at + c.len_utf8();
        }
    }
    found.push(line.get(from..).unwrap_or_default());
    found
}

/// Takes a sentence apart at `then`, `and`, `before`, `after` where another piece of work begins.
fn joined(sentence: &str) -> Vec<Piece> {
    let found = words(sentence);
    let low = |at: usize| found.get(at).map_or("", |word| word.low.as_str());
    let verb = |at: usize| verbs::is_work_verb(low(at));
    // `Before adding X, fix Y` and `After fixing Y, add X`: the comma is where the main clause begins.
    if matches!(low(0), "before" | "after" | "once")
        && verb(1)
        && let Some((first, second)) = sentence.split_once(',')
    {
        let inner = first.get(found.first().map_or(0, |word| word.end)..).unwrap_or_default();
        let (mut now, mut later) = (joined(second), joined(inner));
        if low(0) != "before" {
            std::mem::swap(&mut now, &mut later);
        }
        if let Some(piece) = later.first_mut() {
            piece.after = true;
        }
        now.append(&mut later);
        return now;
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut from, mut after, mut swap) = (0, false, false);
    let mut at = 1;
    let mut subordinate = is_aside(low(0));
    while at < found.len() {
        let Some(cut) = boundary(sentence, &found, at, subordinate) else {
            subordinate |= is_aside(low(at));
            at += 1;
            continue;
        };
        subordinate = false;
        let end = found.get(at).map_or(sentence.len(), |word| word.start);
        let text = sentence.get(from..end).unwrap_or_default().trim_end_matches([',', ' ']);
        push(&mut pieces, text, after, swap);
        (after, swap) = (cut.after, cut.swap);
        at += cut.words;
        from = found.get(at).map_or(sentence.len(), |word| word.start);
        at += 1;
    }
    push(&mut pieces, sentence.get(from..).unwrap_or_default(), after, swap);
    pieces
}

/// Adds a piece; one that was joined by `after` goes before the one that it follows.
fn push(pieces: &mut Vec<Piece>, text: &str, after: bool, swap: bool) {
    let piece = Piece { text: text.to_owned(), after };
    match pieces.pop() {
        Some(main) if swap => {
            let first = main.after;
            pieces.push(Piece { after: first, ..piece });
            pieces.push(Piece { after: true, ..main });
        }
        main => {
            pieces.extend(main);
            pieces.push(piece);
        }
    }
}

/// What is behind `so that users can` is what they do, not what is to be done.
fn is_aside(word: &str) -> bool {
    matches!(
        word,
        "can"
            | "able"
            | "who"
            | "when"
            | "where"
            | "users"
            | "we"
            | "they"
            | "allow"
            | "allows"
            | "lets"
            | "let"
            | "enable"
    )
}

/// How a piece is joined to the one before.
struct Cut {
    /// How many words join them.
    words: usize,
    after: bool,
    swap: bool,
}

fn boundary(sentence: &str, found: &[Word], at: usize, subordinate: bool) -> Option<Cut> {
    let low = |at: usize| found.get(at).map_or("", |word| word.low.as_str());
    let verb = |at: usize| verbs::is_work_verb(low(at));
    let order = |words| Some(Cut { words, after: true, swap: false });
    let before = found.get(at - 1)?;
    let comma = sentence.get(before.end..found.get(at)?.start).is_some_and(|gap| gap.contains(','));
    match (low(at), low(at + 1), low(at + 2)) {
        ("and", "then" | "finally" | "afterwards", _) => order(2),
        ("after", "that", _) | ("followed", "by", _) => order(2),
        ("then" | "afterwards" | "finally" | "lastly" | "next", _, _) if verb(at + 1) || comma => {
            order(1)
        }
        ("before", _, _) if verb(at + 1) && low(at + 1).ends_with("ing") => order(1),
        ("before", "you" | "we", _) if verb(at + 2) => order(2),
        ("after" | "once", _, _) if verb(at + 1) && low(at + 1).ends_with("ing") => {
            Some(Cut { words: 1, after: false, swap: true })
        }
        ("and", "also", _) if verb(at + 2) && !subordinate => {
            Some(Cut { words: 2, after: false, swap: false })
        }
        ("and" | "plus" | "also", next, third)
            if verb(at + 1) && !subordinate && apart(next, third) =>
        {
            Some(Cut { words: 1, after: false, swap: false })
        }
        (word, next, _)
            if comma
                && verbs::of(word).is_some_and(|(_, base)| base == word)
                && !subordinate
                && apart(word, next)
                && !(aside(word) && matches!(next, "it" | "them")) =>
        {
            Some(Cut { words: 0, after: false, swap: false })
        }
        _ => None,
    }
}

/// Verbs that say more about what was just named: `add a list, store it in the database`.
fn aside(verb: &str) -> bool {
    matches!(
        verb,
        "store"
            | "save"
            | "show"
            | "send"
            | "print"
            | "log"
            | "render"
            | "display"
            | "cache"
            | "use"
            | "put"
    )
}

/// Tells whether a word that could be a verb is one: `tests and docs`, `build and test times` have none.
fn apart(word: &str, next: &str) -> bool {
    let object = !matches!(
        next,
        "" | "and"
            | "or"
            | "is"
            | "are"
            | "for"
            | "in"
            | "of"
            | "on"
            | "time"
            | "times"
            | "button"
            | "page"
            | "pages"
    );
    object || matches!(word, "deploy" | "release" | "publish" | "ship")
}
