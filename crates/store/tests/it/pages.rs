//! Reading the log page by page.

use std::collections::BTreeMap;

use godel_model::{EventFilter, Seq};
use godel_store::{Direction, Error, Page, SCAN_MAX_EVENTS, Scope};
use godel_testkit::{World, worlds};

async fn page(
    world: &World,
    filter: &EventFilter,
    direction: Direction,
    from: i64,
    limit: usize,
) -> Page {
    let filter = filter.clone();
    world
        .store
        .read(Scope::Tenant(world.tenant), move |tx| {
            tx.events().page(&filter, direction, Seq(from), limit)
        })
        .await
        .map_err(|error: Error| error)
        .unwrap()
}

fn seqs(page: &Page) -> Vec<i64> {
    page.events.iter().map(|event| event.seq.0).collect()
}

async fn fill(world: &World, count: usize) {
    let drafts: Vec<_> = (1..=count)
        .map(|n| world.draft(if n % 100 == 0 { "rare:thing" } else { "common:thing" }, "{}"))
        .collect();
    world
        .store
        .write(Scope::Tenant(world.tenant), move |tx| {
            drafts.iter().try_for_each(|draft| tx.record(draft.clone()))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn pages_join_without_overlap_in_both_directions() {
    for world in worlds().await {
        fill(&world, 7).await;
        let all = EventFilter::all();
        let first = page(&world, &all, Direction::Forward, 0, 3).await;
        assert_eq!((seqs(&first), first.more), (vec![1, 2, 3], true));
        let last = page(&world, &all, Direction::Forward, 3, 4).await;
        assert_eq!((seqs(&last), last.more), (vec![4, 5, 6, 7], false));
        let newest = page(&world, &all, Direction::Backward, i64::MAX, 3).await;
        assert_eq!((seqs(&newest), newest.more), (vec![7, 6, 5], true));
        let rest = page(&world, &all, Direction::Backward, newest.reached.0, 10).await;
        assert_eq!((seqs(&rest), rest.more), (vec![4, 3, 2, 1], false));
    }
}

#[tokio::test]
async fn a_rare_match_does_not_make_one_page_walk_the_whole_log() {
    for world in worlds().await {
        fill(&world, SCAN_MAX_EVENTS + 700).await;
        let rare = EventFilter::new(vec!["rare:*".parse().unwrap()], BTreeMap::new()).unwrap();
        let none = EventFilter::new(vec!["never:*".parse().unwrap()], BTreeMap::new()).unwrap();
        let few = page(&world, &rare, Direction::Forward, 0, 5).await;
        assert_eq!((seqs(&few), few.more), (vec![100, 200, 300, 400, 500], true));
        let empty = page(&world, &none, Direction::Forward, 0, 5).await;
        assert!(empty.events.is_empty() && empty.more);
        assert_eq!(empty.reached.0 as usize, SCAN_MAX_EVENTS, "{}", world.engine);
        let end = page(&world, &none, Direction::Forward, empty.reached.0, 5).await;
        assert!(end.events.is_empty() && !end.more);
    }
}
