//! When a conversation is made shorter, where it is cut, and what stands for what is left out.

use godel_llm::translate::talk::Item;

use crate::event::clip;
use crate::tree::NodeNumber;

/// So many bytes are taken for a token, so that the estimate is rather too high.
const BYTES_PER_TOKEN: u64 = 3;
/// What each thing costs besides its text.
const ITEM_TOKENS: u64 = 8;
/// The part of the window that is kept word for word, in hundredths.
const KEEP_PERCENT: u64 = 25;
/// The part of the window that stays free besides the answer, in hundredths.
const SPARE_PERCENT: u64 = 10;
/// The most bytes of one thing when it is summed up.
const LINE_MAX_BYTES: usize = 2000;

/// What the model is told when it sums up.
pub(crate) const SUM_UP: &str = "You sum up the work of a coding agent so that it can go on without \
the conversation. Write down: what was asked, word for word where it matters; what was decided and why; \
which files were changed and how; which commands matter and what they showed; what failed; what is left \
to do. Be short and exact. Do not go on with the work itself.";

/// Estimates the tokens of a thing.
pub fn estimate(item: &Item) -> u64 {
    let bytes = match item {
        Item::User { text } | Item::Model { text } => text.len(),
        Item::Thought { text, own } => {
            own.as_ref().map_or(0, |own| own.state.len()).max(text.len())
        }
        Item::Call { id, name, input, own } => {
            let own = own.as_ref().map_or(0, |own| own.state.len());
            id.len() + name.len() + input.len() + own
        }
        Item::Result { call, text, .. } => call.len() + text.len(),
    };
    ITEM_TOKENS + bytes as u64 / BYTES_PER_TOKEN
}

/// Where a conversation is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How many things are left out.
    pub left_out: usize,
    /// The first thing that stays, if any does.
    pub keep_from: Option<NodeNumber>,
}

/// Decides whether and where a conversation is cut.
///
/// `window` is what the model can take, `answer` what is kept free for its answer, and `fixed` what the
/// request costs besides the conversation, all in tokens. With `now` it is cut even if it would fit.
pub fn plan(
    items: &[(NodeNumber, Item)],
    window: u64,
    answer: u64,
    fixed: u64,
    now: bool,
) -> Option<Cut> {
    let spare = answer + fixed + window / 100 * SPARE_PERCENT;
    let room = window.saturating_sub(spare);
    let costs: Vec<u64> = items.iter().map(|(_, item)| estimate(item)).collect();
    let all: u64 = costs.iter().sum();
    if items.len() < 2 || (all <= room && !now) {
        return None;
    }
    let keep = (window / 100 * KEEP_PERCENT).min(room / 2);
    let mut kept = 0;
    let mut best = items.len();
    for at in (1..items.len()).rev() {
        kept += costs[at];
        if kept > keep {
            break;
        }
        if is_seam(items, at) {
            best = at;
        }
    }
    let keep_from = items.get(best).map(|(number, _)| *number);
    Some(Cut { left_out: best, keep_from })
}

/// Tells whether a round begins here, so that no call is parted from its result or its thought.
fn is_seam(items: &[(NodeNumber, Item)], at: usize) -> bool {
    let models =
        |item: &Item| matches!(item, Item::Model { .. } | Item::Thought { .. } | Item::Call { .. });
    match &items[at].1 {
        Item::User { .. } => true,
        Item::Result { .. } => false,
        item => models(item) && !models(&items[at - 1].1),
    }
}

/// Writes a conversation as text to be summed up, no longer than allowed.
pub(crate) fn transcript(items: &[Item], max_bytes: usize) -> String {
    let line = |item: &Item| match item {
        Item::User { text } => format!("TOLD: {}", clip(text, 4 * LINE_MAX_BYTES)),
        Item::Model { text } => format!("AGENT: {}", clip(text, LINE_MAX_BYTES)),
        Item::Thought { .. } => String::new(),
        Item::Call { name, input, .. } => format!("CALL {name}: {}", clip(input, LINE_MAX_BYTES)),
        Item::Result { text, failed, .. } => {
            let how = if *failed { "FAILED" } else { "RESULT" };
            format!("{how}: {}", clip(text, LINE_MAX_BYTES))
        }
    };
    let lines: Vec<String> = items.iter().map(line).filter(|line| !line.is_empty()).collect();
    clip(&lines.join("\n"), max_bytes)
}

/// Sums up without a model: what was asked, what was done, and what was said last.
pub(crate) fn by_rule(items: &[Item]) -> String {
    let told = items.iter().filter_map(|item| match item {
        Item::User { text } => Some(clip(text, 4 * LINE_MAX_BYTES)),
        _ => None,
    });
    let said = items.iter().filter_map(|item| match item {
        Item::Model { text } => Some(clip(text, LINE_MAX_BYTES)),
        _ => None,
    });
    let calls = crate::tree::calls(items);
    format!(
        "What was asked:\n{}\n\nWhat was done:\n{}\n\nWhat was said last:\n{}",
        crate::tree::last(told.collect(), 5),
        crate::tree::last(calls, 40),
        crate::tree::last(said.collect(), 3),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rounds as they come: something told, something said, calls and their results.
    fn rounds() -> impl Strategy<Value = Vec<(NodeNumber, Item)>> {
        let size = 0_usize..3000;
        let round = (proptest::option::of(size.clone()), 0_usize..4, size);
        proptest::collection::vec(round, 1..30).prop_map(|rounds| {
            let mut items = vec![Item::User { text: "task".into() }];
            for (at, (told, calls, size)) in rounds.into_iter().enumerate() {
                items.extend(told.map(|size| Item::User { text: "u".repeat(size) }));
                items.push(Item::Model { text: "m".repeat(size / 10) });
                let id = |call: usize| format!("{at}-{call}");
                items.extend((0..calls).map(|call| Item::Call {
                    id: id(call),
                    name: "read".into(),
                    input: "{}".into(),
                    own: None,
                }));
                items.extend((0..calls).map(|call| Item::Result {
                    call: id(call),
                    text: "r".repeat(size),
                    failed: false,
                }));
            }
            (0..).map(NodeNumber).zip(items).collect()
        })
    }

    proptest! {
        #[test]
        fn a_cut_parts_no_call_from_its_result_and_makes_room(
            items in rounds(), window in 1000_u64..20_000, now in any::<bool>(),
        ) {
            let cut = plan(&items, window, window / 10, 100, now);
            let all: u64 = items.iter().map(|(_, item)| estimate(item)).sum();
            let room = window - window / 10 - 100 - window / 100 * 10;
            prop_assert_eq!(cut.is_some(), items.len() > 1 && (now || all > room));
            let Some(cut) = cut else { return Ok(()) };
            let kept = &items[cut.left_out..];
            prop_assert_eq!(cut.keep_from, kept.first().map(|(number, _)| *number));
            let tokens: u64 = kept.iter().map(|(_, item)| estimate(item)).sum();
            prop_assert!(tokens <= room / 2);
            for (_, item) in kept {
                if let Item::Result { call, .. } = item {
                    let called = |(_, item): &(NodeNumber, Item)| {
                        matches!(item, Item::Call { id, .. } if id == call)
                    };
                    prop_assert!(kept.iter().any(called));
                }
            }
        }

        #[test]
        fn a_summary_by_rule_has_a_limit(items in rounds()) {
            let items: Vec<Item> = items.into_iter().map(|(_, item)| item).collect();
            prop_assert!(by_rule(&items).len() < 100_000);
            prop_assert!(by_rule(&items).contains("task") || items.len() > 5);
            prop_assert!(transcript(&items, 5000).len() < 5100);
        }
    }
}
