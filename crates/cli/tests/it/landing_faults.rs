//! The merge queue when things go wrong: kills, moving branches, checks that fail afterwards, remotes that are away.

use std::time::Duration;

use serde_json::json;

use crate::fleet::{PERSON, Yard};
use crate::landing::{is_green_everywhere, line, of, settled, work};
use crate::repo::git;

async fn yard(settings: &str) -> Yard {
    let yard = Yard::open(&format!("{settings}{PERSON}")).await;
    std::fs::write(yard.repo.path.join("check.sh"), "[ ! -e broken ]\n").unwrap();
    yard.repo.git(&["add", "-A"]);
    yard.repo.git(&["commit", "-q", "-m", "a check"]);
    yard
}

fn main_of(yard: &Yard) -> String {
    yard.repo.git(&["rev-parse", "main"]).trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_again_and_again_lands_each_bead_once() {
    let mut yard = yard("[gates]\ntest = \"sleep 0.2; sh check.sh\"\n[landing]\nbatch = 3\n").await;
    let base = main_of(&yard);
    let beads: Vec<String> = (0..10)
        .map(|at| work(&yard, &format!("Bead {at}"), &base, &[(&format!("own/{at}"), "x\n")]))
        .collect();
    for bead in &beads {
        yard.run(&["land", "add", bead, "--no-wait"]).expect(0);
    }
    for at in 0..6 {
        std::thread::sleep(Duration::from_millis(130 + 170 * at));
        yard.server.take().unwrap().kill();
        yard.up();
    }
    let all = settled(&yard);
    for (at, bead) in beads.iter().enumerate() {
        assert_eq!(of(&all, bead)["stage"], "landed", "{at}: {all:#?}");
        assert_eq!(yard.json(&["bead", "show", bead])["status"], "done");
        let trailer = format!("Bead: {bead}");
        let log = yard.repo.git(&["log", "--format=%s%n%b", &format!("{base}..main")]);
        let own = format!("Bead {at} ({bead})");
        assert_eq!(log.lines().filter(|one| **one == own).count(), 1, "{log}");
        assert!(log.contains(&trailer), "{log}");
    }
    let files = yard.repo.git(&["ls-tree", "--name-only", "main:own"]);
    assert_eq!(files.lines().count(), 10, "{files}");
    is_green_everywhere(&yard, &line(&yard, &base));
    assert_eq!(yard.repo.git(&["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_way_of_a_person_is_waited_for() {
    let yard = yard("").await;
    let bead = work(&yard, "New readme", "main", &[("README.md", "better\n")]);
    std::fs::write(yard.repo.path.join("README.md"), "mine, not committed\n").unwrap();
    let said = yard.run(&["land", &bead]).expect(0).stdout;
    assert!(said.contains("is in the merge queue") && said.contains("README.md"), "{said}");
    assert_eq!(
        std::fs::read_to_string(yard.repo.path.join("README.md")).unwrap(),
        "mine, not committed\n"
    );
    yard.repo.git(&["checkout", "-q", "README.md"]);
    let all = settled(&yard);
    assert_eq!(of(&all, &bead)["stage"], "landed");
    assert_eq!(yard.in_main("README.md"), "better");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_pushed_after_it_was_allowed_does_not_land() {
    let yard = yard("").await;
    let bead = work(&yard, "Fine", "main", &[("fine", "x\n")]);
    yard.run(&["land", "pause"]).expect(0);
    yard.run(&["land", &bead, "--no-wait"]).expect(0);
    let (before, branch) = (main_of(&yard), format!("bead/{bead}"));
    let tree = yard.repo.home.path().join("sneaky");
    yard.repo.git(&["worktree", "add", "-q", tree.to_str().unwrap(), &branch]);
    std::fs::write(tree.join("sneaky"), "x\n").unwrap();
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "more"]);
    yard.run(&["land", "resume"]).expect(0);
    let all = settled(&yard);
    assert_eq!(
        (&of(&all, &bead)["stage"], &of(&all, &bead)["trouble"]),
        (&json!("failed"), &json!("changed"))
    );
    assert_eq!(main_of(&yard), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_wants_changed_while_it_is_judged_does_not_land() {
    let yard = yard("[gates]\ntest = \"sleep 3; sh check.sh\"\n").await;
    let before = main_of(&yard);
    let bead = work(&yard, "Fine", "main", &[("fine", "x\n")]);
    yard.run(&["land", &bead, "--no-wait"]).expect(0);
    std::thread::sleep(Duration::from_millis(1_000));
    yard.run(&["review", "request-changes", &bead, "Not like this"]).expect(0);
    let all = settled(&yard);
    assert_ne!(of(&all, &bead)["stage"], "landed", "{all:#?}");
    assert_eq!(main_of(&yard), before);
    assert_eq!(yard.json(&["bead", "show", &bead])["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn unrelated_histories_are_refused_and_hold_nobody_up() {
    let yard = yard("[gates]\ntest = \"sh check.sh\"\n").await;
    let (fine, island) = (
        work(&yard, "Fine", "main", &[("fine", "x\n")]),
        work(&yard, "Island", "main", &[("island", "x\n")]),
    );
    let tree = yard.repo.git(&["rev-parse", &format!("bead/{island}^{{tree}}")]);
    let root = yard.repo.git(&["commit-tree", "-m", "from nowhere", tree.trim()]);
    yard.repo.git(&["update-ref", &format!("refs/heads/bead/{island}"), root.trim()]);
    yard.run(&["land", "pause"]).expect(0);
    for bead in [&island, &fine] {
        yard.run(&["land", bead, "--no-wait"]).expect(0);
    }
    yard.run(&["land", "resume"]).expect(0);
    let started = std::time::Instant::now();
    while yard.json(&["bead", "show", &fine])["status"] != "done" {
        assert!(started.elapsed() < crate::fleet::PATIENCE, "{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    let all = settled(&yard);
    let found = of(&all, &island);
    assert_eq!(
        (&found["stage"], &found["trouble"]),
        (&json!("failed"), &json!("git")),
        "{found:#}"
    );
    assert!(found["why"].as_str().unwrap().contains("unrelated histories"), "{found:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_after_it_landed_is_taken_back_and_the_others_land_without_it() {
    let yard = yard("[landing]\nafter = \"sh check.sh\"\n").await;
    let base = main_of(&yard);
    let beads = [
        work(&yard, "Good", &base, &[("good", "x\n")]),
        work(&yard, "Bad", &base, &[("broken", "x\n")]),
        work(&yard, "Fine", &base, &[("fine", "x\n")]),
    ];
    yard.run(&["land", "pause"]).expect(0);
    for bead in &beads {
        yard.run(&["land", bead, "--no-wait"]).expect(0);
    }
    yard.run(&["land", "resume"]).expect(0);
    let all = settled(&yard);
    let stages = beads.each_ref().map(|bead| of(&all, bead)["stage"].as_str().unwrap().to_owned());
    assert_eq!(stages, ["landed", "failed", "landed"], "{all:#?}");
    assert_eq!(of(&all, &beads[1])["trouble"], "after");
    let files = yard.repo.git(&["ls-tree", "--name-only", "main"]);
    assert!(
        files.contains("good") && files.contains("fine") && !files.contains("broken"),
        "{files}"
    );
    let shown = yard.json(&["bead", "show", &beads[1]]);
    assert_eq!(shown["status"], "open", "{shown:#}");
    assert!(shown["comments"].to_string().contains("git revert"), "{shown:#}");
    is_green_everywhere(&yard, &line(&yard, &base)[line(&yard, &base).len() - 1..]);
    // Git thinks that the branch has its commits; that does not make it landed.
    let force = ["--force", "--reason", "once more"];
    yard.run(&[&["bead", "status", &beads[1], "review"], &force[..]].concat()).expect(0);
    yard.run(&["land", &beads[1]]).expect(4);
    assert_ne!(yard.json(&["bead", "show", &beads[1]])["status"], "done");
    assert!(!yard.repo.git(&["ls-tree", "--name-only", "main"]).contains("broken"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_is_pushed_until_the_other_side_has_it() {
    let yard = yard("[landing]\npush = \"origin\"\n").await;
    let away = yard.repo.home.path().join("origin.git");
    yard.repo.git(&["remote", "add", "origin", away.to_str().unwrap()]);
    let bead = work(&yard, "Fine", "main", &[("fine", "x\n")]);
    let landing = yard.json(&["land", &bead]);
    assert_eq!(landing["landed"], true, "{landing:#}");
    assert_eq!(yard.json(&["bead", "show", &bead])["status"], "done");
    git(yard.repo.home.path(), &["init", "-q", "--bare", "origin.git"]);
    let all = settled(&yard);
    assert_eq!(of(&all, &bead)["stage"], "landed");
    assert_eq!(git(&away, &["rev-parse", "main"]).trim(), main_of(&yard));
}
