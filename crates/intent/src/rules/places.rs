//! Which parts and files of a repository a text is about.

use godel_model::{Part, PartKind, Survey};

use super::verbs::is_everywhere;
use crate::text::{Word, same, stem, words};

/// How far a part is from the data: what is further out is built on what is further in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The shape of the data.
    Data,
    /// What others use.
    Core,
    /// What answers requests.
    Service,
    /// What people see.
    Face,
}

/// Parts with fewer lines hold nothing but names.
const LINES_MIN: u64 = 3;

/// How many words are looked for among the parts and files.
pub(crate) const WORDS_MAX: usize = 300;
/// How many of them may be looked for among the files.
const FILES_MAX: usize = 20;

/// A part that a text is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: String,
    /// How far it is from the data.
    pub depth: Depth,
    /// About how many lines it has.
    pub lines: u64,
    /// Whether the text names it, rather than something that is done there.
    pub named: bool,
}

/// Returns the parts that a word is the name of.
pub fn exact<'a>(survey: &'a Survey, word: &str) -> Vec<&'a Part> {
    let path = word.trim_end_matches('/');
    let by_path: Vec<&Part> =
        survey.parts.iter().filter(|part| part.path.to_lowercase() == path).collect();
    if !by_path.is_empty() {
        return by_path;
    }
    let named = survey.parts.iter().filter(|part| is_name(&part.name, word));
    named.collect()
}

fn is_name(name: &str, word: &str) -> bool {
    // Names that are also words of every sentence name nothing.
    const COMMON: [&str; 12] = [
        "main", "lib", "index", "test", "tests", "src", "docs", "doc", "app", "common", "utils",
        "tools",
    ];
    // Most words are told apart by their first letter.
    let first = |text: &str| text.chars().next().map(|c| c.to_ascii_lowercase());
    if first(name) != first(word) {
        return false;
    }
    let low = name.to_lowercase();
    if COMMON.contains(&low.as_str()) || low.chars().count() < 2 {
        return false;
    }
    low == word
        || stem(&low) == stem(word)
        || (low.chars().count() >= 4 && same(&low, word) && word.chars().count() >= 4)
}

/// Returns the path of a file that a word names.
pub fn file(survey: &Survey, word: &str) -> Option<String> {
    if !word.contains(['.', '/']) {
        return None;
    }
    let ends = |path: &&String| {
        let Some(from) = path.len().checked_sub(word.len()) else { return false };
        let (folder, name) = path.as_bytes().split_at(from);
        name.eq_ignore_ascii_case(word.as_bytes()) && (folder.is_empty() || folder.ends_with(b"/"))
    };
    survey.paths.iter().find(ends).cloned()
}

/// Finds the parts that a text is about: those that it names, else those that its words are at home in.
pub fn of(survey: &Survey, text: &str) -> Vec<Place> {
    let mut said = words(text);
    said.truncate(WORDS_MAX);
    let code: Vec<&Part> = survey.parts.iter().filter(|part| part.kind == PartKind::Code).collect();
    let mut found: Vec<Place> = Vec::new();
    let mut add = |part: &Part, named: bool| {
        if !found.iter().any(|place| place.path == part.path) {
            found.push(place(part, named));
        }
    };
    // Who gives a path has said which of several parts of one name is meant.
    let pathed = |part: &&Part| said.iter().any(|word| word.low == part.path.to_lowercase());
    let meant: Vec<&Part> = code.iter().copied().filter(pathed).collect();
    meant.iter().for_each(|part| add(part, true));
    let twin =
        |part: &&Part| meant.iter().any(|one| one.name == part.name && one.path != part.path);
    let mut looked = 0;
    for word in &said {
        exact(survey, &word.low)
            .into_iter()
            .filter(|part| part.kind == PartKind::Code && !twin(part))
            .for_each(|part| add(part, true));
        looked += usize::from(word.low.contains(['.', '/']));
        if looked <= FILES_MAX
            && let Some(path) = file(survey, &word.low)
        {
            let home = code
                .iter()
                .find(|part| path == part.path || path.starts_with(&format!("{}/", part.path)));
            home.into_iter().for_each(|part| add(part, true));
        }
    }
    if found.is_empty() {
        found = at_home(&said, &code);
    }
    // The folder of a part that is named does not count beside it.
    let paths: Vec<String> = found.iter().map(|place| place.path.clone()).collect();
    found.retain(|place| !paths.iter().any(|other| other.starts_with(&format!("{}/", place.path))));
    found
}

/// Finds the parts where such words are at home: a page is in `web`, an endpoint in `api`.
fn at_home(said: &[Word], code: &[&Part]) -> Vec<Place> {
    let mut found = Vec::new();
    for (depth, hints) in HINTS {
        let hinted = said.iter().any(|word| hints.contains(&word.low.as_str()));
        let homes = code.iter().filter(|part| known(&part.name) == Some(depth));
        let homes: Vec<&&Part> = homes.filter(|_| hinted).collect();
        // Several homes are none: the words do not say which.
        if let [home] = homes.as_slice() {
            found.push(place(home, false));
        }
    }
    found
}

const HINTS: [(Depth, &[&str]); 3] = [
    (Depth::Data, &["table", "column", "schema", "migration", "database", "query"]),
    (
        Depth::Service,
        &[
            "endpoint",
            "endpoints",
            "rest",
            "route",
            "routes",
            "request",
            "requests",
            "backend",
            "server",
            "webhook",
            "api",
        ],
    ),
    (
        Depth::Face,
        &[
            "page",
            "pages",
            "button",
            "form",
            "screen",
            "dashboard",
            "dialog",
            "modal",
            "frontend",
            "ui",
            "css",
            "layout",
            "menu",
            "theme",
            "flag",
            "command",
        ],
    ),
];

fn place(part: &Part, named: bool) -> Place {
    let depth = known(&part.name).unwrap_or(Depth::Core);
    Place { name: part.name.clone(), path: part.path.clone(), depth, lines: part.lines, named }
}

/// Tells how far out a part of such a name is.
fn known(name: &str) -> Option<Depth> {
    let low = name.to_lowercase();
    match low.as_str() {
        "db" | "database" | "schema" | "models" | "migrations" | "storage" | "store" | "sql" => {
            Some(Depth::Data)
        }
        "core" | "shared" | "common" | "model" | "domain" | "types" | "lib" => Some(Depth::Core),
        "api" | "server" | "backend" | "service" | "routes" | "handlers" | "gateway" | "http" => {
            Some(Depth::Service)
        }
        "web" | "frontend" | "ui" | "client" | "cli" | "mobile" | "www" | "site" | "pages"
        | "app" | "dashboard" | "public" | "views" => Some(Depth::Face),
        _ => None,
    }
}

/// Returns all parts of the program, if a text speaks of the whole of it.
pub fn everywhere(survey: &Survey, text: &str) -> Vec<Place> {
    let said = words(text);
    let plural = |word: &Word| {
        matches!(
            word.low.as_str(),
            "modules"
                | "packages"
                | "services"
                | "crates"
                | "components"
                | "parts"
                | "files"
                | "apps"
        )
    };
    let wide = said.iter().any(|word| is_everywhere(&word.low)) || said.iter().any(plural);
    if !wide {
        return Vec::new();
    }
    all(survey)
}

/// Returns all parts of the program.
pub fn all(survey: &Survey) -> Vec<Place> {
    survey
        .parts
        .iter()
        .filter(|part| part.kind == PartKind::Code && part.lines >= LINES_MIN)
        .map(|part| place(part, false))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_which_of_two_parts_of_one_name_is_meant() {
        let part = |path: &str| Part {
            name: "mailer".to_owned(),
            path: path.to_owned(),
            lines: 40,
            ..Part::default()
        };
        let survey = Survey {
            parts: vec![part("cmd/mailer"), part("internal/mailer")],
            ..Survey::default()
        };
        let paths = |text: &str| -> Vec<String> {
            of(&survey, text).into_iter().map(|place| place.path).collect()
        };
        assert_eq!(paths("Fix the mailer"), ["cmd/mailer", "internal/mailer"]);
        assert_eq!(paths("Fix the mailer in internal/mailer"), ["internal/mailer"]);
    }
}
