//! Who holds a bead.

use std::sync::Arc;

use godel_beads::ops::{self, NewBead};
use godel_beads::{Error, Options, Shelf};
use godel_model::{LinkKind, Priority, TestClock};
use jiff::{SignedDuration, Timestamp};

use crate::support::{Repo, create};

fn with_clock(repo: &Repo) -> (Shelf, Arc<TestClock>) {
    let clock = Arc::new(TestClock::at("2026-02-06T10:00:00Z".parse::<Timestamp>().unwrap()));
    let options = Options { clock: clock.clone(), ..Options::default() };
    (Shelf::open_with(&repo.path, options).unwrap(), clock)
}

fn claim(shelf: &mut Shelf, id: &str, agent: &str) -> Result<ops::Claim, Error> {
    let (id, agent) = (id.to_owned(), agent.to_owned());
    shelf.write(&agent.clone(), move |draft| ops::claim(draft, &id, &agent, 60))
}

#[test]
fn a_claim_is_for_one_until_it_ends_and_an_old_token_is_refused() {
    let repo = Repo::new();
    let (mut shelf, clock) = with_clock(&repo);
    let bead = create(&mut shelf, "one");
    let first = claim(&mut shelf, &bead.id, "worker-1").unwrap();
    let Err(Error::Held { holder, .. }) = claim(&mut shelf, &bead.id, "worker-2") else {
        panic!("two hold it")
    };
    assert_eq!(holder, "worker-1");
    assert!(shelf.ready(10).unwrap().is_empty());
    clock.advance(SignedDuration::from_secs(61));
    assert_eq!(shelf.ready(10).unwrap()[0].id, bead.id, "an ended claim is offered again");
    let second = claim(&mut shelf, &bead.id, "worker-2").unwrap();
    let (id, old, new) = (bead.id.clone(), first.token, second.token);
    let beat = |shelf: &mut Shelf, token: String| {
        let id = id.clone();
        shelf.write("worker", move |draft| ops::heartbeat(draft, &id, &token, 120))
    };
    assert!(matches!(beat(&mut shelf, old.clone()), Err(Error::LeaseLost { .. })));
    let kept = beat(&mut shelf, new.clone()).unwrap();
    assert_eq!(kept.lease.unwrap().until, shelf.now() + SignedDuration::from_secs(120));
    let release = |shelf: &mut Shelf, token: Option<String>, force| {
        let id = id.clone();
        shelf.write("worker", move |draft| ops::release(draft, &id, token.as_deref(), force))
    };
    assert!(matches!(release(&mut shelf, Some(old), false), Err(Error::LeaseLost { .. })));
    assert!(matches!(release(&mut shelf, None, false), Err(Error::Held { .. })));
    let free = release(&mut shelf, Some(new), false).unwrap();
    assert_eq!((free.agent, free.status.as_str()), (None, "open"));
    let bytes = String::from_utf8(shelf.bead(&bead.id).unwrap().to_bytes()).unwrap();
    assert!(!bytes.contains(&first.until.to_string()), "{bytes}");
}

#[test]
fn ready_is_what_nothing_holds_up_by_priority_then_age() {
    let repo = Repo::new();
    let (mut shelf, clock) = with_clock(&repo);
    let mut make = |title: &str, priority, parent: Option<&str>| {
        clock.advance(SignedDuration::from_secs(1));
        let new = NewBead {
            title: title.to_owned(),
            priority: Some(priority),
            parent: parent.map(str::to_owned),
            ..NewBead::default()
        };
        shelf.write("ann", move |draft| ops::create(draft, &new)).unwrap().id
    };
    let low = make("low", Priority::Low, None);
    let old = make("old", Priority::Medium, None);
    let new = make("new", Priority::Medium, None);
    let urgent = make("urgent", Priority::Critical, None);
    let epic = make("epic", Priority::High, None);
    let part = make("part of the epic", Priority::High, Some(&epic));
    let link = |shelf: &mut Shelf, from: &str, kind, to: &str| {
        let (from, to) = (from.to_owned(), to.to_owned());
        shelf.write("ann", move |draft| ops::link(draft, &from, kind, &to))
    };
    link(&mut shelf, &urgent, LinkKind::Blocks, &low).unwrap();
    link(&mut shelf, &epic, LinkKind::Blocks, &low).unwrap();
    link(&mut shelf, &new, LinkKind::Related, &low).unwrap();
    let ids = |shelf: &mut Shelf| -> Vec<String> {
        shelf.ready(10).unwrap().into_iter().map(|row| row.id).collect()
    };
    assert_eq!(ids(&mut shelf), [&old, &new, &low].map(String::clone));
    let Err(Error::Cycle { path }) = link(&mut shelf, &low, LinkKind::Blocks, &part) else {
        panic!("a circle was made")
    };
    assert_eq!(path, [&low, &part, &epic, &low].map(String::clone));
    let waiting = shelf.waiting(10).unwrap();
    let waiting: Vec<&str> = waiting.iter().map(|waiting| waiting.row.id.as_str()).collect();
    assert_eq!(waiting, [&urgent, &epic, &part].map(String::as_str));
    let closed = ops::Close {
        resolution: godel_model::Resolution::Done,
        reason: Some("it is so".to_owned()),
        token: None,
        force: false,
        evidence: godel_beads::Evidence::default(),
    };
    let id = low.clone();
    shelf.write("ann", move |draft| ops::close(draft, &id, &closed)).unwrap();
    assert_eq!(ids(&mut shelf), [&urgent, &epic, &part, &old, &new].map(String::clone));
    // Thrown away and built anew, the index says the same.
    std::fs::remove_file(repo.path.join(".git/godel/index.db")).unwrap();
    let (mut again, _) = with_clock(&repo);
    assert_eq!(ids(&mut again), ids(&mut shelf));
}

/// After how many races of a long run somebody wants to know how far it is.
const TOLD_EVERY: usize = 50;

/// Acts as one of many processes that race; run by [`one_of_many_processes_wins`].
#[test]
fn racer() {
    let Ok(path) = std::env::var("GODEL_RACE_AT") else { return };
    let (id, me) = (std::env::var("GODEL_RACE_FOR").unwrap(), std::process::id().to_string());
    let mut shelf = Shelf::open(std::path::Path::new(&path)).unwrap();
    match claim(&mut shelf, &id, &me) {
        Ok(_) => println!("won"),
        Err(Error::Held { .. }) => println!("lost"),
        Err(error) => println!("failed: {error}"),
    }
    // As the program does it: whoever finds many packs puts them together, beside the others.
    if shelf.upkeep_due()
        && let Err(error) = shelf.maintain()
    {
        println!("failed: {error}");
    }
}

#[test]
fn one_of_many_processes_wins() {
    let repo = Repo::new();
    let count = |name: &str, usual: usize| {
        std::env::var(name).map_or(usual, |count| count.parse().unwrap())
    };
    let (rounds, racers) = (count("GODEL_RACE_ROUNDS", 20), count("GODEL_RACERS", 64));
    for round in 0..rounds {
        let bead = repo.create(&format!("round {round}"));
        let children: Vec<_> = (0..racers)
            .map(|_| {
                std::process::Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "claims::racer", "--nocapture"])
                    .env("GODEL_RACE_AT", &repo.path)
                    .env("GODEL_RACE_FOR", &bead.id)
                    .stdout(std::process::Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let said: Vec<String> = children
            .into_iter()
            .map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
            .collect();
        let count = |word: &str| said.iter().filter(|said| said.contains(word)).count();
        let counts = (count("won"), count("lost"), count("failed:"));
        assert_eq!(counts, (1, racers - 1, 0), "{said:?}");
        let done = round + 1;
        if rounds > TOLD_EVERY && (done % TOLD_EVERY == 0 || done == rounds) {
            println!("{done} of {rounds} races, one winner each");
        }
    }
    repo.git(&["fsck", "--strict"]);
}
