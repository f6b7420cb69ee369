//! The diff of a large change, as a reviewer gets it.

use std::time::Instant;

use serde_json::{Value, json};

use super::super::agents::repository::git;
use super::super::agents::yard::Yard;
use crate::error::{Error, Result, Told as _};
use crate::stats::median;
use crate::table::{Bar, Row};

const ROUNDS: usize = 5;
const FILES: usize = 500;
const LINES_EACH: usize = 40;
/// What the whole diff may take.
const MAX_MS: f64 = 200.0;

/// Asks for the diff of changes that nobody has looked at yet, and by git alone.
pub(super) async fn measure(yard: &Yard) -> Result<Vec<Row>> {
    let (mut bare, mut first, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let bead = changed(yard, round).await?;
        bare.push(by_git(yard, &bead)?);
        first.push(served(yard, &bead).await?);
        again.push(served(yard, &bead).await?);
    }
    let bare = median(bare);
    let first = median(first);
    Ok(vec![
        Row::told("`git diff` of 500 files and 20,000 lines", bare, "ms"),
        Row::told("the same diff served, the first time", first, "ms").bar(Bar::Below(MAX_MS)),
        Row::told("the same diff served, once more", median(again), "ms"),
        Row::told("served, against `git diff`", first / bare, "x"),
    ])
}

fn by_git(yard: &Yard, bead: &str) -> Result<f64> {
    let start = Instant::now();
    git(&yard.repo(), &["diff", "-M", &format!("main...bead/{bead}")])?;
    Ok(start.elapsed().as_secs_f64() * 1_000.0)
}

async fn served(yard: &Yard, bead: &str) -> Result<f64> {
    let start = Instant::now();
    let shown =
        yard.ask("GET", &format!("/api/v1/reviews/{bead}/diff?limit=500"), &Value::Null).await?;
    let took = start.elapsed().as_secs_f64() * 1_000.0;
    let count = shown["files"].as_array().map_or(0, Vec::len);
    let lines: u64 = shown["files"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|file| file["added"].as_u64())
        .sum();
    if (count, lines) != (FILES, (FILES * LINES_EACH) as u64) {
        return Err(Error::new(format!("the diff has {count} files and {lines} new lines")));
    }
    Ok(took)
}

/// Makes a bead whose branch adds lines to many files, and lets it wait for a review.
async fn changed(yard: &Yard, round: usize) -> Result<String> {
    let (bead, repo) = (yard.bead(&format!("Change much, {round}")).await?, yard.repo());
    let tree = yard.folder(&format!("review-{round}"));
    let (at, branch) = (tree.to_string_lossy().into_owned(), format!("bead/{bead}"));
    git(&repo, &["worktree", "add", "-q", "-b", &branch, &at, "main"])?;
    let listed = git(&tree, &["ls-files", "--", "part*"])?;
    for path in listed.lines().skip(round * FILES).take(FILES) {
        let file = tree.join(path);
        let mut text = std::fs::read_to_string(&file).told("read a file")?;
        for line in 0..LINES_EACH {
            text.push_str(&format!("// round {round}, line {line} of {path}\n"));
        }
        std::fs::write(&file, text).told("write a file")?;
    }
    git(&tree, &["commit", "-qam", "much"])?;
    git(&repo, &["worktree", "remove", "--force", &at])?;
    let review = json!({ "status": "review" });
    yard.ask("POST", &format!("/api/v1/beads/{bead}/move"), &review).await?;
    Ok(bead)
}
