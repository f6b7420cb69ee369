//! `kill -9` at any point: what was answered is there, and the next one goes on.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use godel_beads::{Filter, Page, Shelf};

use crate::support::{Repo, create};

const STEPS: [&str; 11] = [
    "locked",
    "ref-staged",
    "pack-written",
    "index-written",
    "pack-synced",
    "pack-half-named",
    "pack-named",
    "ref-locked",
    "ref-moved",
    "ref-synced",
    "index-committed",
];

/// Makes beads until it is killed, and says each id once it is durable.
#[test]
fn writer() {
    let Ok(path) = std::env::var("GODEL_WRITE_AT") else { return };
    let most: usize = std::env::var("GODEL_WRITES").unwrap().parse().unwrap();
    for n in 0..most {
        let mut shelf = Shelf::open(Path::new(&path)).unwrap();
        let bead = create(&mut shelf, &format!("bead {n} of {}", std::process::id()));
        println!("made {}", bead.id);
        std::io::stdout().flush().unwrap();
        // The program does so too, and a kill may come in the middle of it.
        if shelf.upkeep_due() {
            shelf.maintain().unwrap();
        }
    }
}

fn spawn(repo: &Repo, writes: usize, fault: Option<&str>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "crashes::writer", "--nocapture"])
        .env("GODEL_WRITE_AT", &repo.path)
        .env("GODEL_WRITES", writes.to_string())
        .stdout(Stdio::piped());
    if let Some(fault) = fault {
        command.env("GODEL_FAULT", fault);
    }
    command.spawn().unwrap()
}

/// Returns the ids that a writer said.
fn said(child: &mut Child) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.map_while(Result::ok).collect();
    let ids = lines.iter().filter_map(|line| line.split("made ").nth(1));
    ids.map(|id| id.trim().to_owned()).collect()
}

/// Checks that everything said is there, that git agrees, and that one can go on.
fn check(repo: &Repo, said: &[String]) {
    let page = Page { limit: 100_000, ..Page::default() };
    let rows = repo.shelf().list(&Filter::everything(), &page).unwrap();
    let there: HashSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let lost: Vec<&String> = said.iter().filter(|id| !there.contains(id.as_str())).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    repo.git(&["fsck", "--strict", "--full"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let begun = Instant::now();
    let next = repo.create("afterwards");
    assert!(begun.elapsed() < Duration::from_secs(5), "a lock was left");
    assert!(repo.shelf().bead(&next.id).is_ok());
}

/// Makes of files that wait for their names what a kill in the middle of writing them would leave.
fn tear(repo: &Repo) {
    let folder = repo.path.join(".git/objects/pack");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("tmp_") {
            let file = std::fs::File::options().write(true).open(entry.path()).unwrap();
            file.set_len(10).unwrap();
        }
    }
}

#[test]
fn a_kill_at_each_step_loses_nothing_that_was_answered() {
    for step in STEPS {
        let repo = Repo::new();
        let before = repo.create("before");
        let mut child = spawn(&repo, 1, Some(step));
        let ids = said(&mut child);
        let status = child.wait().unwrap();
        assert!(!status.success(), "{step} was not reached");
        assert!(ids.is_empty(), "{step} came after the answer");
        tear(&repo);
        check(&repo, &[before.id]);
        // From the move of the branch on, the change is there although nobody was told.
        let count = repo.shelf().count(&Filter::everything()).unwrap();
        let late = ["ref-moved", "ref-synced", "index-committed"].contains(&step);
        assert_eq!(count, if late { 3 } else { 2 }, "{step}");
    }
}

#[test]
fn many_writers_that_are_killed_at_random_lose_nothing_that_was_answered() {
    let writers: usize =
        std::env::var("GODEL_WRITERS").map_or(50, |writers| writers.parse().unwrap());
    let repo = Repo::new();
    let mut children: Vec<Child> = (0..writers).map(|_| spawn(&repo, 6, None)).collect();
    // Nobody knows when; that is the point.
    let mut chance = u64::from(std::process::id());
    for child in children.iter_mut().step_by(2) {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_millis(chance >> 58));
        child.kill().unwrap();
    }
    let mut ids = Vec::new();
    for mut child in children {
        ids.extend(said(&mut child));
        child.wait().unwrap();
    }
    assert!(ids.len() >= writers * 2, "only {} beads were made", ids.len());
    check(&repo, &ids);
    // A shelf without an index says the same.
    std::fs::remove_dir_all(repo.path.join(".godel")).unwrap();
    std::fs::remove_file(repo.path.join(".git/godel/index.db")).unwrap();
    check(&repo, &ids);
}

#[test]
fn a_lock_that_git_left_is_healed_without_asking() {
    let repo = Repo::new();
    repo.create("before");
    let lock = repo.path.join(".git/refs/heads/godel/state.lock");
    std::fs::write(&lock, "").unwrap();
    let made = lock.metadata().unwrap().modified().unwrap();
    let old = made - Duration::from_secs(60);
    std::fs::File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
    let begun = Instant::now();
    repo.create("after");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(repo.shelf().ready(5).unwrap().len(), 2);
}
