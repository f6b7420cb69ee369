//! The pages that explain error codes, embedded from `docs/errors`.

use godel_model::{Code, Kind, code};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../docs/errors"]
struct Pages;

/// Returns the page of a code.
pub(crate) fn page(code: Code) -> Option<String> {
    let file = Pages::get(&format!("{code}.md"))?;
    String::from_utf8(file.data.into_owned()).ok()
}

/// Returns the title of a page: what stands behind `# code:`.
pub(crate) fn title(page: &str) -> &str {
    let first = page.lines().next().unwrap_or_default();
    first.split_once(": ").map_or(first, |(_, title)| title)
}

/// Finds a code by its name.
pub(crate) fn code_named(name: &str) -> Option<Code> {
    code::ALL.iter().find(|code| code.name() == name).copied()
}

/// Returns the name of a kind, as the API has it.
pub(crate) fn kind_name(kind: Kind) -> String {
    let name = serde_json::to_value(kind).ok();
    name.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let codes: BTreeSet<String> = code::ALL.iter().map(|code| format!("{code}.md")).collect();
        let pages: BTreeSet<String> = Pages::iter().map(|name| name.to_string()).collect();
        let missing: Vec<_> = codes.difference(&pages).collect();
        let orphans: Vec<_> = pages.difference(&codes).collect();
        assert!(missing.is_empty(), "write docs/errors/ pages for {missing:?}");
        assert!(orphans.is_empty(), "no code has the pages {orphans:?}");
    }

    #[test]
    fn every_page_has_the_same_parts_and_is_short() {
        for code in code::ALL {
            let page = page(*code).unwrap();
            let start = format!("# {code}: ");
            assert!(page.starts_with(&start), "{code} does not begin with `{start}`");
            assert!(!title(&page).ends_with('.'), "{code}");
            let parts = ["\n## What happened\n", "\n## Why\n", "\n## What to do\n"];
            let places: Vec<_> = parts.iter().map(|part| page.find(part)).collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{code}: {places:?}");
            let lines = page.lines().count();
            assert!((10..=25).contains(&lines), "{code} has {lines} lines");
        }
    }
}
