//! The model of an agent is asked while its files are laid out: what it wants done waits for them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fleet::{PATIENCE, PERSON, Yard};

/// A setup that takes until somebody makes a file beside the repository.
struct Gate(PathBuf);

impl Gate {
    fn before(setup_ends: &str) -> (Self, String) {
        let name = format!("godel-gate-{}-{}", std::process::id(), setup_ends.len());
        let file = std::env::temp_dir().join(name);
        let gate = file.display();
        let setup = format!("until [ -e {gate} ]; do sleep 0.05; done; {setup_ends}");
        let settings = format!("{PERSON}ready = 0\n[worktree]\nsetup = '{setup}'\n");
        (Self(file), settings)
    }

    fn open(&self) {
        std::fs::write(&self.0, "").unwrap();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// Waits until the provider was asked.
fn asked(yard: &Yard) -> usize {
    let started = Instant::now();
    loop {
        let count = yard.provider.recorded().len();
        if count > 0 {
            return count;
        }
        assert!(started.elapsed() < PATIENCE, "nobody asks\n{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_asked_while_the_files_are_laid_out_and_its_first_wish_waits() {
    let (gate, settings) = Gate::before("echo furnished > .made");
    let yard = Yard::open(&settings).await;
    yard.run(&["worktree", "trust"]).expect(0);
    let name = yard.spawn("Look [[shell cat .made]]");
    assert_eq!(asked(&yard), 1);
    let agent = yard.until(&name, "executing");
    let steps = agent["history"].as_array().unwrap();
    let why = |step: &Value| step["why"].as_str().unwrap().to_owned();
    assert!(steps.iter().any(|step| why(step) == "its worktree is being made"), "{steps:#?}");
    // It has wanted something for long, and nothing was done where nothing is.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(yard.provider.recorded().len(), 1);
    gate.open();
    yard.wait(&name, |_| yard.provider.recorded().len() > 1);
    let second = String::from_utf8_lossy(&yard.provider.recorded()[1].body).into_owned();
    assert!(second.contains("furnished"), "its setup was over: {second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_is_refused_costs_nothing_and_keeps_no_bead() {
    let (_gate, settings) = Gate::before("nobody agreed to this");
    let yard = Yard::open(&settings).await;
    let name = yard.spawn("Work [[work a.txt b]]");
    let agent = yard.until(&name, "failed");
    let error = agent["lastError"].as_str().unwrap();
    assert!(error.contains("wants to run"), "{agent:#}");
    assert_eq!(yard.provider.recorded().len(), 0, "nobody pays for what is refused");
    let bead = yard.json(&["bead", "show", agent["bead"].as_str().unwrap()]);
    assert_eq!((&bead["status"], &bead["agent"]), (&"open".into(), &Value::Null), "{bead:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_cannot_be_made_is_paid_for_once_and_says_why() {
    let (gate, settings) = Gate::before("echo no such toolchain >&2; exit 3");
    let yard = Yard::open(&settings).await;
    yard.run(&["worktree", "trust"]).expect(0);
    let task = "Work [[call message {\"to\":\"owner\",\"text\":\"I begin\"}]] [[work a.txt b]]";
    let name = yard.spawn(task);
    let bare = yard.json(&["agent", "spawn", "Work [[work c.txt d]]", "--no-walls"]);
    let bare = bare["label"].as_str().unwrap();
    yard.wait(&name, |_| yard.provider.recorded().len() == 2);
    gate.open();
    for name in [&name, bare] {
        let agent = yard.until(name, "failed");
        let error = agent["lastError"].as_str().unwrap();
        assert!(error.contains("no such toolchain"), "{agent:#}");
    }
    assert_eq!(yard.provider.recorded().len(), 2, "the tries after the first are free");
    assert_eq!(yard.json(&["mail", "list"])["items"], serde_json::json!([]), "nothing was done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_while_files_are_laid_out_goes_on_with_the_same_agent() {
    let (gate, settings) = Gate::before("true");
    let mut yard = Yard::open(&settings).await;
    yard.run(&["worktree", "trust"]).expect(0);
    let name = yard.spawn("Write it [[work notes/a.txt after all]]");
    asked(&yard);
    yard.server.take().unwrap().kill();
    gate.open();
    yard.up();
    let agent = yard.until(&name, "completed");
    let bead = agent["bead"].as_str().unwrap();
    assert_eq!(yard.at(&format!("bead/{bead}"), "notes/a.txt"), "after all");
    let total = yard.json(&["usage"])["total"]["costMicros"].clone();
    assert_eq!(yard.agent(&name)["spentMicros"], total, "what was asked in vain is paid, too");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_killed_before_the_files_are_there_leaves_no_sandbox() {
    let (gate, settings) = Gate::before("exit 0");
    let yard = Yard::open(&settings).await;
    yard.run(&["worktree", "trust"]).expect(0);
    let name = yard.spawn("Work [[work a.txt b]]");
    asked(&yard);
    yard.run(&["agent", "kill", &name]).expect(0);
    gate.open();
    let agent = yard.until(&name, "killed");
    let (id, task) = (agent["id"].as_str().unwrap(), agent["taskId"].as_str().unwrap());
    let over = |task: &Value| task["state"].as_str().unwrap() != "running";
    yard.wait(&name, |_| over(&yard.json(&["task", "show", task])));
    assert!(!yard.repo.home.data().join("sandboxes").join(id).exists());
}
