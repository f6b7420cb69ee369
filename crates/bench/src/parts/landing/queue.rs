//! What the merge queue adds to the gates of a project.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::agents::repository::git;
use super::super::agents::yard::Yard;
use crate::error::{Error, Result, Told as _};
use crate::stats::median;
use crate::table::{Bar, Row};

const BEADS: usize = 20;
const ROUNDS: usize = 3;
/// What the queue may add for each bead.
const EACH_MAX_MS: f64 = 150.0;
const PATIENCE: Duration = Duration::from_secs(120);

/// Lands beads one after the other in a large repository, by the queue and by git alone.
pub(super) async fn measure(yard: &Yard) -> Result<Vec<Row>> {
    let repo = yard.repo();
    let (mut bare, mut queued) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        bare.push(by_git(&repo, round)?);
        queued.push(by_queue(yard, round).await?);
    }
    let (bare, queued) = (median(bare), median(queued));
    Ok(vec![
        Row::told("`git merge --no-ff` in a checkout of 10,000 files, each", bare, "ms"),
        Row::told("the merge queue, 10,000 files, no gates, each bead", queued, "ms")
            .bar(Bar::Below(EACH_MAX_MS)),
        Row::told("the merge queue, against `git merge`", queued / bare, "x"),
    ])
}

/// Merges branches one after the other in the checkout, as a person would.
fn by_git(repo: &Path, round: usize) -> Result<f64> {
    let mut names = Vec::new();
    for at in 0..BEADS {
        let name = format!("bare-{round}-{at}");
        branch(repo, &name, &format!("bare/{round}/{at}.txt"))?;
        names.push(name);
    }
    let start = Instant::now();
    for name in &names {
        git(repo, &["merge", "-q", "--no-ff", "-m", name, name])?;
    }
    Ok(each(start))
}

async fn by_queue(yard: &Yard, round: usize) -> Result<f64> {
    let mut beads = Vec::new();
    for at in 0..BEADS {
        let bead = yard.bead(&format!("Round {round}, bead {at}")).await?;
        branch(&yard.repo(), &format!("bead/{bead}"), &format!("own/{round}/{at}.txt"))?;
        let review = json!({ "status": "review" });
        yard.ask("POST", &format!("/api/v1/beads/{bead}/move"), &review).await?;
        beads.push(bead);
    }
    let line = json!({ "projectId": yard.project() });
    yard.ask("POST", "/api/v1/landings/pause", &line).await?;
    for bead in &beads {
        let path = format!("/api/v1/beads/{bead}/land?waitSeconds=0");
        yard.ask("POST", &path, &json!({})).await?;
    }
    let start = Instant::now();
    yard.ask("POST", "/api/v1/landings/resume", &line).await?;
    let last = beads.last().ok_or_else(|| Error::new("there are no beads"))?;
    loop {
        let path = format!("/api/v1/landings/{last}?waitSeconds=10");
        let shown = yard.ask("GET", &path, &Value::Null).await?;
        if shown["landed"] == true {
            return Ok(each(start));
        }
        if start.elapsed() > PATIENCE || shown["stage"] == "failed" {
            return Err(Error::new(format!("a bead did not land: {shown}")));
        }
    }
}

fn each(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1_000.0 / BEADS as f64
}

/// Makes a branch with one new file, without a checkout.
fn branch(repo: &Path, name: &str, file: &str) -> Result<()> {
    let index = repo.join(".git").join("bench-index");
    std::fs::copy(repo.join(".git/index"), &index).told("copy the index")?;
    let text = repo.join(".git").join("bench-text");
    std::fs::write(&text, format!("{file}\n")).told("write a file")?;
    let blob = git(repo, &["hash-object", "-w", &text.to_string_lossy()])?;
    let entry = format!("100644,{blob},{file}");
    let info = index.to_string_lossy().into_owned();
    let tree = with_index(repo, &info, &entry)?;
    let commit = git(repo, &["commit-tree", "-p", "main", "-m", name, &tree])?;
    git(repo, &["update-ref", &format!("refs/heads/{name}"), &commit]).map(drop)
}

fn with_index(repo: &Path, index: &str, entry: &str) -> Result<String> {
    let run = |arguments: &[&str]| -> Result<String> {
        let mut command = std::process::Command::new("git");
        command.current_dir(repo).env("GIT_INDEX_FILE", index).args(arguments);
        let output = command.output().told("run git")?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(Error::new(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    };
    run(&["read-tree", "main"])?;
    run(&["update-index", "--add", "--cacheinfo", entry])?;
    run(&["write-tree"])
}
