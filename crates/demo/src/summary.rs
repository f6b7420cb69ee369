//! What came of the show, looked up and checked: beads, commits, what happened on the way, and what it cost.

use std::time::{Duration, Instant};

use godel_console::measure::money;
use godel_console::output::{Output, plain};
use godel_console::{Error, Exit, Result};
use serde_json::{Value, json};

use crate::child::{Godel, broke};
use crate::repository::git;

/// How long the last landing may take to be written down.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);

/// Tells what came of a convoy.
pub(crate) fn tell(
    output: Output,
    godel: &Godel,
    (convoy, live): (&str, bool),
    took: Duration,
) -> Result<Exit> {
    let repository = godel.repository();
    let status = godel.json(&["convoy", "status", convoy])?;
    let landings = landings(godel)?;
    let agents = list(&godel.json(&["agent", "list", "--limit", "100"])?["items"]);
    let refused = agents.iter().filter(|agent| caught(agent)).count();
    let repaired = agents.iter().filter(|agent| agent["role"] == "refinery").count();
    let cost = godel.json(&["usage"])?["total"]["costMicros"].as_i64().unwrap_or(0);
    let log = git(&repository, &["log", "--first-parent", "--oneline", "main"])?;
    judge_each(godel)?;
    if output.is_json() {
        output.value(&json!({
            "convoy": convoy, "landings": landings, "repaired": repaired, "gateCaught": refused,
            "costMicros": cost, "scripted": !live, "seconds": took.as_secs(),
            "commits": log.lines().collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::Done);
    }
    output.line("")?;
    let rows: Vec<[String; 4]> = landings
        .iter()
        .map(|one| {
            let text = |name: &str| plain(one[name].as_str().unwrap_or_default());
            let commit = text("commit").chars().take(10).collect();
            [text("bead"), text("stage"), commit, text("title")]
        })
        .collect();
    output.table(["BEAD", "STAGE", "COMMIT", "TITLE"], rows)?;
    output.line("")?;
    for line in log.lines() {
        output.line(format_args!("  {}", plain(line)))?;
    }
    let (done, total) = (&status["progress"]["done"], &status["progress"]["total"]);
    let whose = if live { "" } else { " (scripted: nobody pays it)" };
    output.line("")?;
    output.line(format_args!(
        "{done} of {total} beads landed in {} s, by {} agents. The gate caught {refused}; conflicts repaired: {repaired}. \
         Every commit of main passes its tests. Cost {}{whose}.",
        took.as_secs(),
        agents.len(),
        money(cost),
    ))?;
    Ok(Exit::Done)
}

/// Lists how each bead landed; that of the last one is written down a moment after the bead is done.
fn landings(godel: &Godel) -> Result<Vec<Value>> {
    let until = Instant::now() + PATIENCE;
    loop {
        let told = godel.json(&["land", "status", "--all"])?;
        let all = list(&told["items"][0]["landings"]);
        if all.iter().all(|one| one["stage"] == "landed") || Instant::now() >= until {
            return Ok(all);
        }
        std::thread::sleep(POLL);
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Tells whether an agent said that it was done, and a gate disagreed.
///
/// It may also hear that it is not done because of a file that it has not committed: no gate caught that.
fn caught(agent: &Value) -> bool {
    let whys = list(&agent["history"]);
    whys.iter()
        .any(|step| step["why"].as_str().is_some_and(|why| why.starts_with("not done: gate ")))
}

/// Runs the tests on each commit of main, as somebody does who does not believe it.
fn judge_each(godel: &Godel) -> Result<()> {
    let repository = godel.repository();
    let commits = git(&repository, &["rev-list", "--first-parent", "main"])?;
    let tree = godel.folder.join("judge");
    let path = tree.to_string_lossy().into_owned();
    for commit in commits.lines() {
        git(&repository, &["worktree", "add", "-q", "--detach", &path, commit])?;
        let judged = std::process::Command::new("sh").arg("test.sh").current_dir(&tree).output();
        git(&repository, &["worktree", "remove", "--force", &path])?;
        let passed = judged.map_err(|cause| Error::file("test.sh", "run", cause))?.status.success();
        if !passed {
            let what = format!("the tests fail on {commit} of main");
            return Err(broke(what, "report this, with the folder that is left of the show"));
        }
    }
    Ok(())
}
