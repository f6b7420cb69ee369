//! The provider `gvisor`: the same promises and the same attempts to escape, and memory that is kept.

use std::path::Path;
use std::time::Duration;

use godel_model::{Report as _, code};
use godel_runtime::{
    Command, Gvisor, Happening, Isolation, Limit, Limits, Profile, RuntimeProvider, Sandbox,
    SandboxId, SnapshotLevel,
};
use tokio::io::AsyncReadExt as _;

use crate::world::{WALLED, World};

async fn run(provider: &dyn RuntimeProvider, at: SandboxId, script: &str) -> (bool, String) {
    let mut process = provider.exec(at, &Command::shell(script)).await.unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    let (mut stdout, mut stderr) = (process.stdout.take().unwrap(), process.stderr.take().unwrap());
    let (one, two) = tokio::join!(stdout.read_to_string(&mut out), stderr.read_to_string(&mut err));
    one.unwrap();
    two.unwrap();
    (process.wait().await.unwrap().success(), out + &err)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_gvisor_provider_keeps_its_promises() {
    for profile in WALLED {
        let Some(world) = World::contained() else { return };
        let specs = ["one", "two", "three"].map(|bead| world.spec(bead, profile));
        crate::contract::keeps_its_promises(world.runtime(), specs).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_have_gvisor_is_told_what_to_do() {
    let world = World::new();
    let missing = Gvisor::open(world.settings(), Some(Path::new("/nowhere/runsc")));
    let Err(error) = missing else { panic!("there is no such program") };
    assert_eq!(error.code(), code::SANDBOX_UNAVAILABLE);
    assert!(error.hint().unwrap().contains("runsc"), "{error}");
    let Some(world) = World::contained() else { return };
    let spec = world.spec("a", Profile::None);
    let error = world.runtime().spawn(&spec).await.unwrap_err();
    assert_eq!(error.code(), code::INVALID_FIELD);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_in_a_container_moves_the_branch() {
    let Some(world) = World::contained() else { return };
    let provider = world.runtime();
    let at = provider.spawn(&world.spec("a", Profile::Workspace)).await.unwrap().id;
    let (good, said) = run(provider, at, "echo x > x && git add x && git commit -qm x").await;
    assert!(good, "{said}");
    assert_eq!(provider.collect(at).await.unwrap().commits, 1);
    assert_eq!(crate::world::git(&world.repo(), &["show", "bead/a:x"]), "x");
}

/// Counts for ever, in memory and in a file that stays open.
const COUNTER: &str = "setsid -f sh -c 'exec 3>>log; i=0; while :; do i=$((i+1)); echo $i >&3; \
                       echo $i > count.new; mv count.new count; sleep 0.05; done' \
                       </dev/null >/dev/null 2>&1";

fn count(tree: &Path) -> u64 {
    let text = std::fs::read_to_string(tree.join("count")).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

async fn counts_beyond(tree: &Path, from: u64) {
    for _ in 0..2_400 {
        if count(tree) > from {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{} does not count beyond {from}, but is at {}", tree.display(), count(tree));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_agent_is_forked_twice_and_all_go_on_by_themselves() {
    let Some(world) = World::contained() else { return };
    let provider = world.runtime();
    assert_eq!(provider.capabilities().snapshot, SnapshotLevel::Memory);
    let at = provider.spawn(&world.spec("a", Profile::Workspace)).await.unwrap().id;
    let (good, said) = run(provider, at, COUNTER).await;
    assert!(good, "{said}");
    let [one, two] = ["b", "c"].map(|bead| world.spec(bead, Profile::Workspace));
    let trees = ["a", "b", "c"].map(|bead| world.tree(bead));
    counts_beyond(&trees[0], 5).await;
    let forks = provider.fork(at, &[one, two]).await.unwrap();
    let forks: Vec<Sandbox> = forks.into_iter().map(Result::unwrap).collect();
    assert!(forks.iter().all(|fork| fork.isolation == Isolation::UserspaceKernel));
    // Each began where the agent was, not anew: its log goes on without a gap.
    for tree in &trees {
        let now = count(tree);
        assert!(now >= 5, "{}", tree.display());
        counts_beyond(tree, now + 5).await;
    }
    // What one does the others do not see.
    let (good, said) = run(provider, forks[0].id, "echo mine > mark; cat count").await;
    assert!(good, "{said}");
    assert!(trees[1].join("mark").exists() && !trees[2].join("mark").exists());
    provider.terminate(at, Duration::ZERO).await.unwrap();
    provider.terminate(forks[0].id, Duration::ZERO).await.unwrap();
    let [still, other] = [count(&trees[0]), count(&trees[1])];
    counts_beyond(&trees[2], count(&trees[2]) + 5).await;
    assert_eq!([count(&trees[0]), count(&trees[1])], [still, other]);
    for tree in &trees {
        let log = std::fs::read_to_string(tree.join("log")).unwrap();
        let numbers: Vec<u64> = log.lines().filter_map(|line| line.parse().ok()).collect();
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{}", tree.display());
    }
    provider.terminate(forks[1].id, Duration::ZERO).await.unwrap();
    assert!(provider.list().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_goes_on_on_another_server() {
    let (Some(here), Some(there)) = (World::contained(), World::contained()) else { return };
    let at = here.runtime().spawn(&here.spec("a", Profile::Workspace)).await.unwrap().id;
    let (good, said) = run(here.runtime(), at, COUNTER).await;
    assert!(good, "{said}");
    counts_beyond(&here.tree("a"), 5).await;
    let snapshot = here.runtime().snapshot(at).await.unwrap();
    let pieces = crate::contract::carried(here.runtime(), &snapshot).await;
    here.runtime().terminate(at, Duration::ZERO).await.unwrap();
    let pieces = Box::new(pieces.into_iter().map(Ok));
    assert_eq!(there.runtime().import(pieces).await.unwrap(), snapshot);
    let spec = there.spec("b", Profile::Workspace);
    let copy = there.runtime().restore(&snapshot, &spec).await.unwrap();
    let tree = there.tree("b");
    let began = count(&tree);
    assert!(began >= 5, "{began}");
    counts_beyond(&tree, began + 5).await;
    there.runtime().terminate(copy.id, Duration::ZERO).await.unwrap();
    let log = std::fs::read_to_string(tree.join("log")).unwrap();
    let numbers: Vec<u64> = log.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "without a gap: {log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs_in_a_container_end_at_the_limit_and_are_told() {
    let Some(world) = World::contained() else { return };
    let mut spec = world.spec("a", Profile::Workspace);
    spec.limits = Limits { processes: 40, memory_bytes: 256 << 20, ..Limits::default() };
    let at = world.runtime().spawn(&spec).await.unwrap().id;
    for (bomb, limit) in [
        (
            "i=0; while [ $i -lt 400 ]; do sleep 60 & i=$((i+1)); done; echo had them",
            Limit::Processes,
        ),
        (
            "python3 -c 'b=bytearray(900<<20); b[::4096]=b\"x\"*len(b[::4096])'; echo had it",
            Limit::Memory,
        ),
    ] {
        let command = Command::shell(bomb).within(Duration::from_secs(60));
        let done = world.exec(at, &command).await;
        assert!(!done.out.contains("had"), "{done:?}");
        world
            .hears(|what| matches!(what, Happening::LimitReached { limit: told, .. } if *told == limit))
            .await;
        // The container may be gone; the next command has another.
        assert_eq!(world.works(at, "echo fine").await, "fine");
    }
}
