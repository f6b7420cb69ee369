//! Beads: work that lives in git, claimed by one, and told as it happens.

use std::path::Path;
use std::process::Command;

use super::Stage;
use crate::failure::{Failure, Result};

/// How many claim the same bead at the same moment.
const CLAIMERS: usize = 8;

/// Plans work in a repository, lets several claim it at once, and looks at what the server saw.
pub(super) fn play(stage: &mut Stage) -> Result<()> {
    let repository = stage.godel.data().with_file_name("app");
    let at = repository.display().to_string();
    git(Path::new("/"), &["init", "-q", "-b", "main", &at])?;
    git(&repository, &["config", "user.name", "Ann"])?;
    git(&repository, &["config", "user.email", "ann@example.com"])?;
    git(&repository, &["commit", "-q", "--allow-empty", "-m", "first"])?;
    println!("  a repository in {at}, known to the server as a project:");
    stage.show(&["project", "create", "app", "--repository", &at])?;
    println!("  beads are made in the repository itself, without the server:");
    let login =
        made(stage, &at, &["Fix authentication bug", "--type", "bug", "--priority", "high"])?;
    let guide = made(stage, &at, &["Write the guide", "--blocked-by", &login])?;
    stage.show(&["-C", &at, "bead", "ready", "--explain"])?;
    let won = race(stage, &at)?;
    println!("  {CLAIMERS} agents ask for the next bead at the same moment: {won} gets it");
    if won != 1 {
        return Err(Failure::new(format!("{won} agents hold one bead")));
    }
    stage.show(&["-C", &at, "bead", "close", &login, "--reason", "tried it", "--force"])?;
    stage.show(&["-C", &at, "bead", "ready"])?;
    stage.show(&["-C", &at, "convoy", "create", "Sprint 1", &login, &guide])?;
    println!("  git tells the story, and its status is clean:");
    for line in git(&repository, &["log", "--format=%an: %s", "-3", "godel/state"])?.lines() {
        println!("    {line}");
    }
    if !git(&repository, &["status", "--porcelain"])?.is_empty() {
        return Err(Failure::new("git status is not clean"));
    }
    told(stage, 4)
}

/// Makes a bead and returns its id.
fn made(stage: &Stage, at: &str, arguments: &[&str]) -> Result<String> {
    let mut all = vec!["-C", at, "bead", "create"];
    all.extend(arguments);
    let said = stage.godel.call(&all)?;
    println!("  $ godel bead create {:?} ..", arguments[0]);
    println!("    {}", said.trim());
    let id = said.trim().strip_prefix("Created bead ").map(str::to_owned);
    id.ok_or_else(|| Failure::new(format!("no bead was made: {said}")))
}

/// Lets several claim at once; returns how many succeeded.
fn race(stage: &Stage, at: &str) -> Result<usize> {
    let names: Vec<String> = (1..=CLAIMERS).map(|n| format!("worker-{n}")).collect();
    let won = std::thread::scope(|scope| {
        let claims: Vec<_> = names
            .iter()
            .map(|name| {
                let arguments = ["-C", at, "bead", "ready", "--claim", "--agent", name];
                scope.spawn(move || stage.godel.call(&arguments).is_ok())
            })
            .collect();
        claims.into_iter().filter_map(|claim| claim.join().ok()).filter(|won| *won).count()
    });
    Ok(won)
}

/// Waits until the server has told so many events of beads, and shows them.
fn told(stage: &Stage, count: usize) -> Result<()> {
    let arguments = ["events", "list", "--type", "bead:*", "--limit", "20", "--json"];
    for _ in 0..100 {
        let said = stage.godel.call(&arguments)?;
        let found = said.matches("\"bead:").count();
        if found >= count {
            println!("  the server noticed all of it and told {found} events of beads");
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Err(Failure::new("the server did not tell of the beads within ten seconds"))
}

pub(super) fn git(at: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").arg("-C").arg(at).args(arguments).output();
    let output = output.map_err(|cause| Failure::new(format!("git cannot be run: {cause}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Failure::new(format!("git failed: {}", String::from_utf8_lossy(&output.stderr))))
}
