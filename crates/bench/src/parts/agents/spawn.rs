//! `spawn`: from a repository of 10,000 files to a sandbox that works, step by step.
//!
//! Each round measures every step once, so that all of them meet the same machine. Nothing is deleted
//! before the end: on ext4 that would make the rounds after it slow.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use godel_git::{Create, Host, Name, Workbench};
use godel_model::{AgentId, Mint, SystemClock};
use godel_runtime::{
    Command, Helper, Process, Profile, RuntimeProvider as _, SandboxId, Settings, Source,
    SpawnSpec, Worktrees,
};
use tempfile::TempDir;

use super::repository::{self, add};
use crate::error::{Error, Result, Told as _};
use crate::server;
use crate::stats::median;
use crate::table::{Bar, Row};

const ROUNDS: usize = 7;
/// What may be added to what git needs, where there is no ready-made worktree.
const COLD_MAX_MS: f64 = 80.0;
const WARM_MAX_MS: f64 = 60.0;
const WALLS_MAX_MS: f64 = 20.0;
/// How many worktrees are removed and made again.
const TURNS: usize = 12;
/// How much the last of them may cost more than the first.
const LATER_MAX: f64 = 1.5;

/// What one round took, in milliseconds.
#[derive(Debug, Default)]
struct Times {
    bare: Vec<f64>,
    create: Vec<f64>,
    spawn: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    without: Vec<f64>,
    claim: Vec<f64>,
    warm: Vec<f64>,
}

pub(super) async fn measure() -> Result<Vec<Row>> {
    let place = Place::make()?;
    let provider = place.provider()?;
    provider.can_give(Profile::Workspace).told("raise walls")?;
    let bench = place.workbench()?;
    let mut times = Times::default();
    for round in 0..ROUNDS {
        place.bare(round, &mut times)?;
        place.cold(round, &bench, &provider, &mut times).await?;
        place.warm(round, &bench, &provider, &mut times).await?;
    }
    let later = place.turns(&bench)?;
    let walls = median(times.second.clone()) - median(times.without.clone());
    let pairs = times.create.iter().zip(&times.spawn).zip(&times.bare);
    let added = median(pairs.map(|((create, spawn), bare)| create + spawn - bare));
    let pairs = times.claim.iter().zip(&times.warm);
    let warm = median(pairs.map(|(claim, spawn)| claim + spawn));
    let bare = median(times.bare);
    let of = |what: &str, values: Vec<f64>| Row::told(format!("{what}, p50"), median(values), "ms");
    Ok(vec![
        Row::told("`git worktree add` alone, p50", bare, "ms"),
        of("worktree of a bead", times.create),
        of("its sandbox", times.spawn),
        Row::told("both, beyond `git worktree add`, p50", added, "ms").bar(Bar::Below(COLD_MAX_MS)),
        of("first command, with what was put off", times.first),
        of("a command behind walls", times.second),
        of("a command without", times.without),
        Row::told("walls around a command", walls, "ms").bar(Bar::Below(WALLS_MAX_MS)),
        of("ready-made worktree", times.claim),
        of("its sandbox then", times.warm),
        Row::told("both, p50", warm, "ms").bar(Bar::Below(WARM_MAX_MS)),
        Row::told("ready-made, against `git worktree add`", warm / bare, "x"),
        Row::told("ready-made after 12 were removed, against before", later, "x")
            .bar(Bar::Below(LATER_MAX)),
    ])
}

/// A repository and a data directory.
struct Place {
    scratch: TempDir,
}

impl Place {
    fn make() -> Result<Self> {
        let own = server::own_path()?;
        let target = own.ancestors().nth(2).unwrap_or(Path::new("."));
        let scratch = TempDir::with_prefix_in("bench-spawn-", target).told("make a directory")?;
        let place = Self { scratch };
        let repo = place.repo();
        repository::make(&repo, 10_000)?;
        Ok(place)
    }

    fn repo(&self) -> PathBuf {
        self.scratch.path().join("repo")
    }

    fn workbench(&self) -> Result<Workbench> {
        let host = Host {
            clock: Arc::new(SystemClock),
            state: self.scratch.path().join("state"),
            stop: Arc::new(AtomicBool::new(false)),
            step: |_| {},
        };
        Workbench::open(&self.repo(), host).told("open the repository")
    }

    fn provider(&self) -> Result<Worktrees> {
        let settings = Settings {
            data: self.scratch.path().join("data"),
            helper: Helper {
                program: server::own_path()?,
                args: vec![super::super::HELPER.to_owned()],
            },
            bubblewrap: godel_engines::Places::from_env().program("bwrap"),
            ignored_max_bytes: 1 << 20,
            clock: Arc::new(SystemClock),
            listener: Arc::new(|_| {}),
        };
        Worktrees::open(settings).told("open the sandboxes")
    }

    /// Git alone.
    fn bare(&self, round: usize, times: &mut Times) -> Result<()> {
        let tree = self.scratch.path().join(format!("bare{round}"));
        let start = Instant::now();
        add(&self.repo(), &tree)?;
        times.bare.push(millis(start));
        Ok(())
    }

    /// Nothing is ready.
    async fn cold(
        &self,
        round: usize,
        bench: &Workbench,
        provider: &Worktrees,
        times: &mut Times,
    ) -> Result<()> {
        let name = format!("cold-{round}");
        let start = Instant::now();
        let spec = self.create(bench, &name)?;
        times.create.push(millis(start));
        let at = SandboxId::of(spec.agent);
        let start = Instant::now();
        provider.spawn(&spec).await.told("make a sandbox")?;
        times.spawn.push(millis(start));
        times.first.push(run(provider, at).await?);
        times.second.push(run(provider, at).await?);
        let folder = self.scratch.path().join(format!("folder{round}"));
        fs::create_dir(&folder).told("make a directory")?;
        let source = Source::Folder { path: folder };
        let mut spec = SpawnSpec::new(Mint::system().id::<AgentId>(), "bench", source);
        spec.profile = Profile::None;
        let at = SandboxId::of(spec.agent);
        provider.spawn(&spec).await.told("make a sandbox")?;
        run(provider, at).await?;
        times.without.push(run(provider, at).await?);
        Ok(())
    }

    /// A worktree is ready.
    async fn warm(
        &self,
        round: usize,
        bench: &Workbench,
        provider: &Worktrees,
        times: &mut Times,
    ) -> Result<()> {
        bench.stock(1, None).told("make a worktree ready")?;
        let name = format!("warm-{round}");
        let start = Instant::now();
        let spec = self.create(bench, &name)?;
        times.claim.push(millis(start));
        let at = SandboxId::of(spec.agent);
        let start = Instant::now();
        provider.spawn(&spec).await.told("make a sandbox")?;
        times.warm.push(millis(start));
        run(provider, at).await.map(drop)
    }

    fn create(&self, bench: &Workbench, name: &str) -> Result<SpawnSpec> {
        let name: Name = name.parse().told("name a worktree")?;
        let record = bench.create(&name, &Create::default()).told("make a worktree")?;
        let source = Source::Worktree {
            tree: bench.path(&name),
            common_dir: bench.common_dir().to_owned(),
            base: record.base.commit,
            bead: name.to_string(),
        };
        Ok(SpawnSpec::new(Mint::system().id::<AgentId>(), "bench", source))
    }

    /// How much longer it takes to get a worktree when many were removed before.
    fn turns(&self, bench: &Workbench) -> Result<f64> {
        let mut took = Vec::new();
        for turn in 0..TURNS {
            bench.stock(1, None).told("make a worktree ready")?;
            let name: Name = format!("turn-{turn}").parse().told("name a worktree")?;
            let start = Instant::now();
            bench.create(&name, &Create::default()).told("make a worktree")?;
            took.push(millis(start));
            bench.remove(&name, godel_git::Remove::default()).told("remove a worktree")?;
        }
        let (first, last) = took.split_at(TURNS / 2);
        Ok(median(last.to_vec()) / median(first.to_vec()))
    }
}

/// Runs a command that does nothing; returns how long that took.
async fn run(provider: &Worktrees, at: SandboxId) -> Result<f64> {
    let start = Instant::now();
    let process: Process = provider.exec(at, &Command::new("true")).await.told("run a command")?;
    let exit = process.wait().await.told("wait for a command")?;
    if !exit.success() {
        return Err(Error::new(format!("`true` ended as {exit:?}")));
    }
    Ok(millis(start))
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
