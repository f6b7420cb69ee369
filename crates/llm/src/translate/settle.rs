//! Puts a conversation in the order that all providers accept, and gives an upstream its own
//! thoughts back.

use std::collections::{HashMap, VecDeque};

use super::ir::{Item, Outcome, Part};
use super::json::{Json, lean};

/// What a call without a result is said to have given.
const UNANSWERED: &str = "The tool call was interrupted and gave no result.";

/// What is said before a result whose call is no longer known.
const ORPHAN: &str = "Result of an earlier tool call:";

/// Puts the results of calls right behind the calls, in the same order, each exactly once.
pub(crate) fn settle(items: Vec<Item>) -> Vec<Item> {
    let mut calls = HashMap::<String, usize>::new();
    let mut results = HashMap::<String, VecDeque<Outcome>>::new();
    for item in &items {
        match item {
            Item::Call(call) => *calls.entry(call.id.clone()).or_default() += 1,
            Item::Result(result) => {
                results.entry(result.call.clone()).or_default().push_back(result.clone());
            }
            _ => {}
        }
    }
    let mut settled = Vec::with_capacity(items.len());
    let mut open = Vec::new();
    for item in items {
        if matches!(&item, Item::User(parts) if parts.is_empty()) {
            continue;
        }
        if !item.is_models() {
            answer(&mut open, &mut results, &mut settled);
        }
        match item {
            Item::Call(call) => {
                open.push(call.id.clone());
                settled.push(Item::Call(call));
            }
            Item::Result(result) => match calls.get_mut(&result.call) {
                // It stands, or stood, behind its call.
                Some(left) if *left > 0 => *left -= 1,
                _ => settled.push(Item::User(orphan(result.parts))),
            },
            other => settled.push(other),
        }
    }
    answer(&mut open, &mut results, &mut settled);
    settled
}

fn answer(
    open: &mut Vec<String>,
    results: &mut HashMap<String, VecDeque<Outcome>>,
    settled: &mut Vec<Item>,
) {
    for call in open.drain(..) {
        let found = results.get_mut(&call).and_then(VecDeque::pop_front);
        let result = found.unwrap_or_else(|| Outcome {
            call,
            parts: vec![Part::Text(UNANSWERED.to_owned())],
            failed: true,
        });
        settled.push(Item::Result(result));
    }
}

fn orphan(parts: Vec<Part>) -> Vec<Part> {
    std::iter::once(Part::Text(ORPHAN.to_owned())).chain(parts).collect()
}

/// What is kept for one call.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Kept {
    /// Thoughts that came before any text.
    pub early: Vec<Json>,
    /// Thoughts right before the call.
    pub late: Vec<Json>,
    /// What the upstream attached to the call itself.
    pub call: Option<Json>,
}

impl Kept {
    /// Tells whether there is nothing to give back.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Writes it as text.
    pub(crate) fn to_text(&self) -> String {
        let list = |list: &[Json]| (!list.is_empty()).then(|| Json::List(list.to_vec()));
        let call = self.call.as_ref();
        lean! { "early" => list(&self.early), "late" => list(&self.late), "call" => call }
            .to_string()
    }

    fn of_text(text: &str) -> Option<Self> {
        let json = Json::parse(text.as_bytes()).ok()?;
        let list = |key| json.list(key).to_vec();
        Some(Self { early: list("early"), late: list("late"), call: json.get("call").cloned() })
    }
}

/// Puts back what was kept for each call; tells whether something that the current turn needs is
/// lost.
pub(crate) fn restore(
    items: Vec<Item>,
    recall: &dyn Fn(&str) -> Option<std::sync::Arc<str>>,
) -> (Vec<Item>, bool) {
    let mut whole = Vec::with_capacity(items.len());
    let mut lost = false;
    // Where thoughts belong that came before the text of a step, and whether it had a call.
    let (mut step, mut first) = (0, true);
    // Whether the user spoke last, and then with results.
    let mut answered = None;
    for item in items {
        if item.is_models() {
            // A new turn needs no thoughts of those before.
            lost &= answered.take() != Some(false);
        }
        match item {
            Item::Call(mut call) => {
                let kept = recall(&call.id).and_then(|text| Kept::of_text(&text));
                lost |= first && kept.is_none();
                if let Some(kept) = kept {
                    whole.splice(step..step, kept.early.into_iter().map(Item::Thought));
                    whole.extend(kept.late.into_iter().map(Item::Thought));
                    call.own = Some(kept.call.unwrap_or(Json::Map(Vec::new())));
                }
                whole.push(Item::Call(call));
                (step, first) = (whole.len(), false);
            }
            Item::Model(_) | Item::Thought(_) => whole.push(item),
            Item::User(_) | Item::System(_) | Item::Result(_) => {
                answered = Some(answered == Some(true) || matches!(item, Item::Result(_)));
                whole.push(item);
                (step, first) = (whole.len(), true);
            }
        }
    }
    (whole, lost && answered != Some(false))
}

#[cfg(test)]
mod tests {
    use super::super::ir::Call;
    use super::*;

    fn call(id: &str) -> Item {
        Item::Call(Call { id: id.to_owned(), ..Call::default() })
    }

    fn result(id: &str) -> Item {
        Item::Result(Outcome { call: id.to_owned(), ..Outcome::default() })
    }

    fn model(text: &str) -> Item {
        Item::Model(text.to_owned())
    }

    fn user() -> Item {
        Item::User(vec![Part::Text("hi".to_owned())])
    }

    #[test]
    fn results_follow_their_calls() {
        let mixed = vec![call("a"), call("b"), result("b"), user(), result("a"), model("x")];
        let sorted = vec![call("a"), call("b"), result("a"), result("b"), user(), model("x")];
        assert_eq!(settle(mixed), sorted);
    }

    #[test]
    fn an_id_may_come_again_in_a_later_turn() {
        let items = vec![call("a"), result("a"), call("a"), result("a")];
        assert_eq!(settle(items.clone()), items);
    }

    #[test]
    fn what_has_no_counterpart_is_made_good() {
        let settled = settle(vec![result("gone"), call("a"), user()]);
        assert!(matches!(&settled[0], Item::User(parts) if parts[0] == Part::Text(ORPHAN.into())));
        assert!(matches!(&settled[2], Item::Result(result) if result.failed));
        assert_eq!(settled.len(), 4);
    }

    #[test]
    fn thoughts_return_to_where_they_were() {
        let kept = Kept { early: vec!["e".into()], late: vec!["l".into()], call: None };
        let text: std::sync::Arc<str> = kept.to_text().into();
        let items = vec![user(), model("x"), call("a"), call("b"), result("a"), result("b")];
        let recall = |id: &str| (id == "a").then(|| text.clone());
        let (items, lost) = restore(items, &recall);
        assert!(!lost);
        assert_eq!(items[1], Item::Thought("e".into()));
        assert_eq!(items[3], Item::Thought("l".into()));
        assert_eq!(items.len(), 8);
    }

    #[test]
    fn only_the_current_turn_can_lose_its_thoughts() {
        let nothing = |_: &str| None;
        let old = vec![user(), call("a"), result("a"), user()];
        assert!(restore(old.clone(), &nothing).1);
        assert!(!restore([old, vec![model("x"), user()]].concat(), &nothing).1);
    }
}
