//! `first`: from `POST /agents` to the first request that reaches the provider, through the product.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use godel_git::{Host, Workbench};
use godel_model::SystemClock;

use super::repository::add;
use super::yard::Yard;
use crate::error::{Result, Told as _};
use crate::stats::median;
use crate::table::{Bar, Row};

const ROUNDS: usize = 9;
/// Without a worktree that is ready; files are laid out meanwhile.
const COLD_MAX_MS: f64 = 150.0;
const WARM_MAX_MS: f64 = 60.0;

pub(super) async fn measure() -> Result<Vec<Row>> {
    let yard = Yard::open(10_000).await?;
    let host = Host {
        clock: Arc::new(SystemClock),
        state: yard.state(),
        stop: Arc::new(AtomicBool::new(false)),
        step: |_| {},
    };
    let bench = Workbench::open(&yard.repo(), host).told("open the repository")?;
    let (mut bare, mut cold, mut warm) = (Vec::new(), Vec::new(), Vec::new());
    yard.keep_ready(0)?;
    // The first agent of a server pays for what all share.
    let early = yard.first_request(&yard.bead("Warm up [[work warm.txt up]]").await?).await?;
    // Nothing is deleted meanwhile: that would make new files slow, on both sides.
    for round in 0..ROUNDS {
        let tree = yard.folder(&format!("bare{round}"));
        let start = Instant::now();
        add(&yard.repo(), &tree)?;
        bare.push(start.elapsed().as_secs_f64() * 1_000.0);
        let bead = yard.bead(&format!("Round {round} [[work cold-{round}.txt cold]]")).await?;
        cold.push(yard.first_request(&bead).await?);
    }
    yard.keep_ready(1)?;
    for round in 0..ROUNDS {
        bench.stock(1, Some("main")).told("make a worktree ready")?;
        let bead = yard.bead(&format!("Round {round} [[work warm-{round}.txt warm]]")).await?;
        warm.push(yard.first_request(&bead).await?);
    }
    let (bare, cold, warm) = (median(bare), median(cold), median(warm));
    Ok(vec![
        Row::told("`git worktree add` alone, 10,000 files, p50", bare, "ms"),
        Row::told("spawn to first request, the very first", early, "ms"),
        Row::told("spawn to first request, nothing ready, p50", cold, "ms")
            .bar(Bar::Below(COLD_MAX_MS)),
        Row::told("spawn to first request, worktree ready, p50", warm, "ms")
            .bar(Bar::Below(WARM_MAX_MS)),
        Row::told("worktree ready, against `git worktree add`", warm / bare, "x"),
    ])
}
