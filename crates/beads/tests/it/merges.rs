//! Merging: the order, the place and the number of times do not matter.

use godel_beads::doc::{Class, Document};
use godel_model::{BeadStatus, NodeId};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

/// One thing that somebody does to its copy.
#[derive(Debug, Clone)]
enum Deed {
    Title(u8),
    Clear,
    Label(u8),
    Unlabel(u8),
    Link(u8),
    Meta(u8, u8),
    Comment(u8),
    Move(u8),
    Take(u8),
    Keep,
    Delete,
    Unknown(u8),
    /// Takes over what another clone has.
    Pull(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        (0_u8..4).prop_map(Deed::Title),
        Just(Deed::Clear),
        (0_u8..3).prop_map(Deed::Label),
        (0_u8..3).prop_map(Deed::Unlabel),
        (0_u8..3).prop_map(Deed::Link),
        (0_u8..2, 0_u8..3).prop_map(|(key, value)| Deed::Meta(key, value)),
        (0_u8..9).prop_map(Deed::Comment),
        (0_u8..4).prop_map(Deed::Move),
        (0_u8..3).prop_map(Deed::Take),
        Just(Deed::Keep),
        Just(Deed::Delete),
        (0_u8..3).prop_map(Deed::Unknown),
        (0_u8..5).prop_map(Deed::Pull),
    ]
}

fn node(clone: usize) -> NodeId {
    format!("00000{clone}").parse().unwrap()
}

fn apply(document: &mut Document, deed: &Deed, at: Timestamp, clone: usize) {
    let mut edit = document.edit(at, node(clone));
    match deed {
        Deed::Title(n) => edit.set("title", format!("title {n}").into()),
        Deed::Clear => edit.clear("description"),
        Deed::Label(n) => edit.add("labels", &format!("l{n}"), format!("l{n}").into()),
        Deed::Unlabel(n) => drop(edit.remove("labels", &format!("l{n}"))),
        Deed::Link(n) => {
            let target = format!("godel-aaaa{n}");
            let link = json!({ "type": "blocks", "target": target });
            edit.add("links", &format!("blocks {target}"), link);
        }
        Deed::Meta(key, value) => edit.add("metadata", &format!("k{key}"), (*value).into()),
        Deed::Comment(n) => drop(edit.comment("ann", &format!("said {n}"))),
        Deed::Move(n) => edit.progress(BeadStatus::ALL[usize::from(*n)], None),
        Deed::Take(n) => edit.take(Some(format!("worker-{n}")), Some(json!({ "key": n }))),
        Deed::Keep => edit.keep(None, None),
        Deed::Delete => edit.delete("ann"),
        Deed::Unknown(n) => edit.set("fromTomorrow", json!({ "n": n })),
        Deed::Pull(_) => {}
    }
}

/// Lets five clones live their lives and returns what each has in the end.
fn live(deeds: &[(usize, i64, Deed)]) -> Vec<Document> {
    let start = Timestamp::from_second(1_770_000_000).unwrap();
    let mut born = Document::new(Class::Bead, "godel-abc12", "b1", start, node(0));
    let mut edit = born.complete();
    edit.set("title", "first".into());
    edit.set("description", "long".into());
    let mut clones = vec![born; 5];
    for (clone, second, deed) in deeds {
        let at = Timestamp::from_second(1_770_000_000 + second).unwrap();
        if let Deed::Pull(from) = deed {
            let other = clones[usize::from(*from)].clone();
            clones[*clone] = clones[*clone].clone().merged(other);
        } else {
            apply(&mut clones[*clone], deed, at, *clone);
        }
    }
    clones
}

fn all(order: &[usize], clones: &[Document]) -> Document {
    let mut order = order.iter().map(|at| clones[*at].clone());
    let first = order.next().unwrap();
    order.fold(first, Document::merged)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn five_clones_merged_in_any_order_have_the_same_bytes(
        deeds in proptest::collection::vec((0_usize..5, -3_i64..40, deed()), 0..40),
        order in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle(),
        other in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle(),
    ) {
        let clones = live(&deeds);
        let one = all(&order, &clones);
        let two = all(&other, &clones);
        prop_assert_eq!(
            String::from_utf8(one.to_bytes()).unwrap(),
            String::from_utf8(two.to_bytes()).unwrap()
        );
        // Grouped otherwise: (a b) (c d) e.
        let left = clones[0].clone().merged(clones[1].clone());
        let right = clones[2].clone().merged(clones[3].clone());
        let grouped = left.merged(right).merged(clones[4].clone());
        prop_assert_eq!(grouped.to_bytes(), one.to_bytes());
        prop_assert_eq!(one.clone().merged(one.clone()).to_bytes(), one.to_bytes());
        // What is written is what is read, and no clone has anything to add any more.
        let read = Document::parse(Class::Bead, &one.to_bytes()).unwrap();
        prop_assert_eq!(read.to_bytes(), one.to_bytes());
        for clone in clones {
            prop_assert_eq!(read.clone().merged(clone).to_bytes(), one.to_bytes());
        }
    }

    #[test]
    fn a_document_survives_being_written_and_read(
        deeds in proptest::collection::vec((0_usize..5, -3_i64..40, deed()), 0..20),
    ) {
        for clone in live(&deeds) {
            let read = Document::parse(Class::Bead, &clone.to_bytes()).unwrap();
            prop_assert_eq!(&read, &clone);
        }
    }
}

fn moved(from: &Document, second: i64, clone: usize, status: BeadStatus) -> Document {
    let mut document = from.clone();
    let at = Timestamp::from_second(1_770_000_000 + second).unwrap();
    document.edit(at, node(clone)).progress(status, None);
    document
}

fn status(document: &Document) -> BeadStatus {
    godel_beads::Bead::of(document).status
}

#[test]
fn a_late_open_does_not_undo_a_done_but_a_reopening_does() {
    let start = live(&[]).remove(0);
    let begun = moved(&start, 1, 0, BeadStatus::InProgress);
    let done = moved(&begun, 2, 0, BeadStatus::Done);
    let released = moved(&begun, 9, 1, BeadStatus::Open);
    assert_eq!(status(&released.clone().merged(done.clone())), BeadStatus::Done);
    assert_eq!(status(&released.merged(begun)), BeadStatus::Open);
    let reopened = moved(&done, 3, 0, BeadStatus::Open);
    let done_elsewhere = moved(&start, 50, 2, BeadStatus::Done);
    assert_eq!(status(&reopened.merged(done_elsewhere)), BeadStatus::Open);
}

#[test]
fn an_edit_after_a_deletion_brings_the_bead_back_and_says_so() {
    let start = live(&[]).remove(0);
    let mut deleted = start.clone();
    apply(&mut deleted, &Deed::Delete, Timestamp::from_second(1_770_000_005).unwrap(), 1);
    let mut edited = start.clone();
    apply(&mut edited, &Deed::Title(2), Timestamp::from_second(1_770_000_009).unwrap(), 2);
    let merged = deleted.clone().merged(edited);
    let bead = godel_beads::Bead::of(&merged);
    assert_eq!((bead.deleted_at, bead.title.as_str()), (None, "title 2"));
    assert!(bead.comments[0]["text"].as_str().unwrap().contains("deleted this"));
    let mut earlier = start;
    apply(&mut earlier, &Deed::Title(1), Timestamp::from_second(1_770_000_002).unwrap(), 2);
    assert!(godel_beads::Bead::of(&deleted.merged(earlier)).deleted_at.is_some());
}
