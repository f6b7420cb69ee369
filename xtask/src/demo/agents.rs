//! Agents: they work behind walls, survive the death of their server, and are believed when git agrees.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Stage;
use super::beads::git;
use crate::failure::{Failure, Result, Told};
use crate::provision;

const PATIENCE: Duration = Duration::from_secs(120);
const PROJECT: &str = "[project]\nreview = \"auto\"\n[agents]\nmodel = \"claude-sonnet-5\"\n\
    [gates]\nnot-empty = \"test -z \\\"$(find . -name '*.txt' -empty)\\\"\"\n";

/// Lets three agents do the beads of a convoy, and kills the server in the middle.
pub(super) fn play(stage: &mut Stage<'_>) -> Result<()> {
    let Some(walls) = provision::bubblewrap(stage.shop)? else {
        println!("  left out: agents work behind walls, and there is no bubblewrap for them here");
        return Ok(());
    };
    stage.godel.put_on_path(walls);
    stage.raise()?;
    let repository = stage.godel.data().with_file_name("shop");
    let at = repository.display().to_string();
    prepare(&repository)?;
    stage.show(&["-C", &at, "project", "create", "shop", "--repository", &at])?;
    println!("  three beads; what is in brackets tells the stand-in model what to do:");
    let mut beads = Vec::new();
    for (file, text) in [("menu.txt", "soup"), ("prices.txt", "3.50"), ("hours.txt", "9 to 5")] {
        let title = format!("Write {file} [[pace 60]] [[work {file} {text}]]");
        let made = stage.godel.call_json(&["-C", &at, "bead", "create", &title])?;
        beads.push(made["id"].as_str().unwrap_or_default().to_owned());
    }
    let names: Vec<&str> = beads.iter().map(String::as_str).collect();
    let create = [&["-C", &at, "convoy", "create", "Opening"], &names[..]].concat();
    let made = stage.godel.call_json(&create)?;
    let convoy = made["id"].as_str().unwrap_or_default().to_owned();
    stage.show(&["-C", &at, "convoy", "start", &convoy, "--agents", "3", "--budget", "5"])?;
    wait(stage, "an agent to be at work", |stage| {
        let agents = stage.godel.call_json(&["agent", "list"])?;
        Ok(items(&agents).iter().any(|agent| agent["lifecycleState"] == "executing"))
    })?;
    let server = stage.take_server()?;
    println!("  $ kill -9 {}", server.pid());
    server.kill()?;
    println!("  $ godel up");
    stage.raise()?;
    wait(stage, "the convoy to be done", |stage| {
        let status = stage.godel.call_json(&["-C", &at, "convoy", "status", &convoy])?;
        Ok(status["status"] == "completed")
    })?;
    stage.show(&["agent", "list"])?;
    println!("  each bead is in main, once, and the checkout of the person is clean:");
    for line in git(&repository, &["log", "--first-parent", "--format=%s", "-3", "main"])?.lines() {
        println!("    {}", line.split(" [[").next().unwrap_or_default());
    }
    verify(&repository, &beads)
}

fn prepare(repository: &Path) -> Result<()> {
    git(Path::new("/"), &["init", "-q", "-b", "main", &repository.display().to_string()])?;
    git(repository, &["config", "user.name", "Ann"])?;
    git(repository, &["config", "user.email", "ann@example.com"])?;
    fs::write(repository.join("godel.toml"), PROJECT).told("write godel.toml")?;
    git(repository, &["add", "godel.toml"])?;
    git(repository, &["commit", "-q", "-m", "how agents work here"]).map(drop)
}

fn items(page: &Value) -> Vec<Value> {
    page["items"].as_array().cloned().unwrap_or_default()
}

fn wait(stage: &Stage<'_>, what: &str, done: impl Fn(&Stage<'_>) -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !done(stage)? {
        if begun.elapsed() > PATIENCE {
            return Err(Failure::new(format!("waited too long for {what}")));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

fn verify(repository: &Path, beads: &[String]) -> Result<()> {
    let log = git(repository, &["log", "--first-parent", "--format=%s", "main"])?;
    for bead in beads {
        let landed = log.lines().filter(|line| line.ends_with(&format!("({bead})"))).count();
        if landed != 1 {
            return Err(Failure::new(format!("bead {bead} landed {landed} times")).output(log));
        }
    }
    if !git(repository, &["status", "--porcelain"])?.is_empty() {
        return Err(Failure::new("git status is not clean"));
    }
    Ok(())
}
