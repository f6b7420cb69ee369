//! What a person types to find beads, by the examples that the dashboard is held to as well.

use godel_beads::ops::{self, Close, NewBead, NewConvoy};
use godel_beads::{Asker, Evidence, Filter, Page, Query, Shelf};
use godel_model::{Clock as _, Resolution, SystemClock};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::Repo;

fn examples() -> Value {
    serde_json::from_str(include_str!("../queries.json")).unwrap()
}

fn texts(value: &Value) -> Vec<String> {
    let each = value.as_array().into_iter().flatten();
    each.map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn put(shelf: &mut Shelf, bead: &Value) {
    let id = text(&bead["id"]).unwrap();
    let new = NewBead {
        title: text(&bead["title"]).unwrap(),
        id: Some(id.clone()),
        kind: text(&bead["type"]).map(|kind| kind.parse().unwrap()),
        priority: text(&bead["priority"]).map(|priority| priority.parse().unwrap()),
        description: text(&bead["description"]),
        labels: texts(&bead["labels"]),
        blocked_by: texts(&bead["blockedBy"]),
        parent: text(&bead["parent"]),
        ..NewBead::default()
    };
    let (agent, said) = (text(&bead["agent"]), texts(&bead["comments"]));
    let done = bead["isDone"] == true;
    let work = move |draft: &mut godel_beads::Draft<'_>| {
        ops::create(draft, &new)?;
        if let Some(agent) = &agent {
            ops::assign(draft, &id, agent, false)?;
        }
        for said in &said {
            ops::comment(draft, &id, said)?;
        }
        if done {
            let reason = Some("nobody needs it".to_owned());
            let (resolution, evidence) = (Resolution::WontDo, Evidence::default());
            let wanted = Close { resolution, reason, token: None, force: true, evidence };
            ops::close(draft, &id, &wanted)?;
        }
        Ok(())
    };
    shelf.write("ann", work).unwrap();
}

fn shelf_of(repo: &Repo, examples: &Value) -> Shelf {
    let mut shelf = repo.shelf();
    // A bead that others name comes first.
    let mut beads: Vec<&Value> = examples["beads"].as_array().unwrap().iter().collect();
    beads.sort_by_key(|bead| !bead["parent"].is_null() || !bead["blockedBy"].is_null());
    for bead in beads {
        put(&mut shelf, bead);
    }
    for convoy in examples["convoys"].as_array().unwrap() {
        let new = NewConvoy {
            name: text(&convoy["name"]).unwrap(),
            beads: texts(&convoy["beads"]),
            ..NewConvoy::default()
        };
        shelf.write("ann", move |draft| ops::create_convoy(draft, &new)).unwrap();
    }
    shelf
}

fn find(shelf: &mut Shelf, query: &str, me: &str) -> Vec<String> {
    let query = Query::read(query, Asker { name: me, now: SystemClock.now() }).unwrap();
    let filter = Filter { query: Some(query), ..Filter::everything() };
    let page = Page { limit: 100, ..Page::default() };
    let rows = shelf.list(&filter, &page).unwrap();
    assert_eq!(shelf.count(&filter).unwrap(), rows.len() as u64);
    let mut ids: Vec<String> = rows.into_iter().map(|row| row.id).collect();
    ids.sort();
    ids
}

#[test]
fn queries_find_what_they_ask_for() {
    let (repo, examples) = (Repo::new(), examples());
    let mut shelf = shelf_of(&repo, &examples);
    let me = examples["me"].as_str().unwrap();
    for example in examples["finds"].as_array().unwrap() {
        let query = example["query"].as_str().unwrap();
        let mut wanted = texts(&example["ids"]);
        wanted.sort();
        assert_eq!(find(&mut shelf, query, me), wanted, "{query}");
    }
    // Ages are counted from the time of asking.
    let later = SystemClock.now() + jiff::SignedDuration::from_hours(24 * 30);
    let query = Query::read("created:>4w", Asker { name: me, now: later }).unwrap();
    let filter = Filter { query: Some(query), ..Filter::everything() };
    assert_eq!(shelf.count(&filter).unwrap(), 6);
    // Without a word about the status, done ones are left out as in every list.
    let read = |text| Query::read(text, Asker { name: me, now: later }).unwrap();
    let count = |shelf: &mut Shelf, text| {
        shelf.count(&Filter { query: Some(read(text)), ..Filter::default() }).unwrap()
    };
    assert_eq!((count(&mut shelf, "type:chore"), count(&mut shelf, "status:done")), (0, 1));
}

#[test]
fn a_word_that_means_nothing_is_named() {
    let asker = Asker { name: "ann", now: SystemClock.now() };
    for example in examples()["refuses"].as_array().unwrap() {
        let query = example["query"].as_str().unwrap();
        let said = Query::read(query, asker).unwrap_err().to_string();
        assert!(said.contains(example["says"].as_str().unwrap()), "{said}");
        let meant = example["meant"].as_str().map(|word| format!("did you mean {word}?"));
        assert_eq!(said.contains("did you mean"), meant.is_some(), "{said}");
        assert!(meant.is_none_or(|meant| said.contains(&meant)), "{said}");
    }
    assert!(Query::read(&"x".repeat(2_001), asker).is_err());
    assert!(Query::read(&format!("label:{}", "x,".repeat(101)), asker).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is typed is read or refused, the database takes it, and one more word never finds more.
    #[test]
    fn any_query_is_answered(words in prop::collection::vec(
        prop::sample::select(vec![
            "status:", "open", ",", "\"", " ", "-", ":", "<2d", "updated:", "x y", "agent:none", "ü", "'",
            "*", "NEAR(", ")", "AND", "label:\"a b\"", "convoy:none", "(", "^", "\u{0}", "blocked:no",
        ]), 0..9)
    ) {
        let repo = Repo::new();
        let mut shelf = repo.shelf();
        for title in ["x y", "open", "near and"] {
            crate::support::create(&mut shelf, title);
        }
        let asked = words.concat();
        let asker = Asker { name: "ann", now: SystemClock.now() };
        let Ok(wide) = Query::read(&asked, asker) else { return Ok(()) };
        let count = |shelf: &mut Shelf, query| {
            shelf.count(&Filter { query: Some(query), ..Filter::everything() }).unwrap()
        };
        let wide = count(&mut shelf, wide);
        // An open quote would hold the word, too.
        if asked.matches('"').count() % 2 == 0 {
            let narrow = Query::read(&format!("{asked} status:open"), asker).unwrap();
            prop_assert!(count(&mut shelf, narrow) <= wide, "{asked}");
        }
    }
}
