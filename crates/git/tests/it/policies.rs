//! Cleaning up: who may go when.

use godel_git::{Cleaning, Create, Outcome, Policy};
use jiff::SignedDuration;

use crate::world::{World, git, name, write};

fn world() -> World {
    let world = World::new();
    for (id, policy) in [
        ("immediate", Policy::Immediate),
        ("success", Policy::OnSuccess),
        ("delayed", Policy::Delayed),
        ("manual", Policy::Manual),
    ] {
        let request = Create { cleanup: Some(policy), ..Create::default() };
        world.bench().create(&name(id), &request).unwrap();
    }
    world
}

fn clean(world: &World, cleaning: &Cleaning) -> Vec<String> {
    let cleaned = world.bench().cleanup(cleaning).unwrap();
    assert!(cleaned.refused.is_empty(), "{cleaned:?}");
    cleaned.removed.iter().map(|removed| removed.id.to_string()).collect()
}

fn ended(outcome: Outcome) -> Cleaning {
    let names = ["immediate", "success", "delayed", "manual"];
    let ended = names.map(|id| (name(id), outcome)).to_vec();
    Cleaning { ended, ..Cleaning::default() }
}

#[test]
fn work_that_failed_stays_where_success_is_asked_for() {
    let world = world();
    assert!(clean(&world, &Cleaning::default()).is_empty(), "nothing has ended");
    let dry = Cleaning { dry_run: true, ..ended(Outcome::Failure) };
    let answer = world.bench().cleanup(&dry).unwrap();
    assert_eq!((answer.due.len(), answer.kept.len(), answer.removed.len()), (1, 3, 0));
    assert_eq!(world.bench().list().unwrap().len(), 4);
    assert!(clean(&world, &Cleaning::default()).is_empty(), "a question records nothing");
    assert_eq!(clean(&world, &ended(Outcome::Failure)), ["immediate"]);
    world.clock.advance(SignedDuration::from_hours(24 * 7 - 1));
    assert!(clean(&world, &Cleaning::default()).is_empty());
    world.clock.advance(SignedDuration::from_hours(1));
    assert_eq!(clean(&world, &Cleaning::default()), ["delayed"]);
    let all = Cleaning { all: true, ..Cleaning::default() };
    assert_eq!(clean(&world, &all), ["manual", "success"]);
}

#[test]
fn a_merged_branch_is_a_success_and_an_untouched_one_is_not() {
    let world = world();
    assert!(clean(&world, &Cleaning::default()).is_empty());
    let tree = world.bench().path(&name("success"));
    write(&tree.join("new.txt"), "work\n");
    git(&tree, &["add", "--all"]);
    git(&tree, &["commit", "-q", "-m", "work"]);
    assert!(clean(&world, &Cleaning::default()).is_empty(), "it is not merged");
    git(&world.repo(), &["merge", "-q", "--no-ff", "--no-edit", "bead/success"]);
    write(&tree.join("late.txt"), "late\n");
    let cleaned = world.bench().cleanup(&Cleaning::default()).unwrap();
    assert_eq!(cleaned.removed.len(), 1);
    let rescue = &cleaned.removed[0].rescued[0];
    assert_eq!(world.show(&rescue.commit, "late.txt"), "late");
    assert!(cleaned.removed[0].branch_deleted);
}

#[test]
fn what_was_deleted_by_hand_is_tidied_and_one_refusal_stops_nobody() {
    let world = world();
    std::fs::remove_dir_all(world.bench().path(&name("manual"))).unwrap();
    let nested = world.bench().path(&name("immediate")).join("nested");
    std::fs::create_dir(&nested).unwrap();
    git(&nested, &["init", "-q"]);
    let cleaned = world.bench().cleanup(&ended(Outcome::Success)).unwrap();
    let removed: Vec<_> = cleaned.removed.iter().map(|removed| removed.id.as_str()).collect();
    assert_eq!(removed, ["manual", "success"]);
    assert_eq!(cleaned.refused[0].code, "worktree_unsaved");
    assert_eq!(cleaned.refused[0].id, name("immediate"));
}
