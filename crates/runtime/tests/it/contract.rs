//! What every provider promises, as one suite: it knows only the seam.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use godel_model::{Report as _, code};
use godel_runtime::{
    Command, Exit, Limit, Phase, Process, Profile, RuntimeProvider, SandboxId, SandboxPath,
    SnapshotId, SnapshotLevel, SpawnSpec,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::terminal;
use crate::world::World;

fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).unwrap()
}

async fn finish(mut process: Process) -> (Exit, String, String) {
    let (mut out, mut err) = (String::new(), String::new());
    let (mut stdout, mut stderr) = (process.stdout.take().unwrap(), process.stderr.take().unwrap());
    let (one, two) = tokio::join!(stdout.read_to_string(&mut out), stderr.read_to_string(&mut err));
    one.unwrap();
    two.unwrap();
    (process.wait().await.unwrap(), out, err)
}

async fn run(
    provider: &dyn RuntimeProvider,
    at: SandboxId,
    script: &str,
) -> (Exit, String, String) {
    finish(provider.exec(at, &Command::shell(script)).await.unwrap()).await
}

/// What every provider promises. Each spec is for an agent and a workspace of its own.
pub(crate) async fn keeps_its_promises(provider: &dyn RuntimeProvider, specs: [SpawnSpec; 3]) {
    let [mut spec, copy, other] = specs;
    spec.path = vec!["/opt/first".into()];
    let sandbox = provider.spawn(&spec).await.unwrap();
    let at = sandbox.id;
    assert_eq!(sandbox.profile, spec.profile);
    // Asked again, it is the same; asked otherwise, it is refused.
    assert_eq!(provider.spawn(&spec).await.unwrap(), sandbox);
    let moved = SpawnSpec { owner: "somebody else".to_owned(), ..spec.clone() };
    assert_eq!(provider.spawn(&moved).await.unwrap_err().code(), code::SANDBOX_STATE);
    // Godel itself may move.
    let mut elsewhere = spec.clone();
    elsewhere.egress.api = Some("http://127.0.0.1:7999".to_owned());
    let known = provider.spawn(&elsewhere).await.unwrap();
    assert_eq!((known.id, known.api.as_deref()), (at, Some("http://127.0.0.1:7999")));
    assert_eq!(provider.spawn(&spec).await.unwrap(), sandbox);
    let (_, searched, _) = run(provider, at, "echo $PATH").await;
    assert!(searched.starts_with("/opt/first:/"), "{searched}");
    processes(provider, at).await;
    files(provider, at, spec.profile).await;
    time_and_pause(provider, at).await;
    if provider.capabilities().pty {
        terminal::keeps_its_promises(provider, at).await;
    }
    snapshots(provider, at, [&copy, &other]).await;
    let ids: Vec<SandboxId> =
        provider.list().await.unwrap().iter().map(|status| status.sandbox.id).collect();
    assert!(ids.contains(&at));
    // The end: processes go, twice is once, and then there is nothing.
    let left = provider.exec(at, &Command::shell("sleep 1000")).await.unwrap();
    provider.terminate(at, Duration::ZERO).await.unwrap();
    assert!(!left.wait().await.unwrap().success());
    provider.terminate(at, Duration::ZERO).await.unwrap();
    let error = provider.exec(at, &Command::new("true")).await.unwrap_err();
    assert_eq!((error.code(), error.retryable()), (code::SANDBOX_NOT_FOUND, false));
}

async fn processes(provider: &dyn RuntimeProvider, at: SandboxId) {
    let (exit, out, err) = run(provider, at, "echo out; echo err >&2; exit 7").await;
    assert_eq!((exit, out.as_str(), err.as_str()), (Exit::Code { code: 7 }, "out\n", "err\n"));
    let (exit, ..) = run(provider, at, "kill -9 $$").await;
    assert_eq!(exit, Exit::Signal { signal: 9 });
    let (exit, _, err) =
        finish(provider.exec(at, &Command::new("no-such-program")).await.unwrap()).await;
    assert_eq!(exit, Exit::Code { code: 127 });
    assert!(err.contains("no-such-program"), "{err}");
    // What is written is read, and an end of input is an end.
    let mut process = provider.exec(at, &Command::new("cat").with_stdin()).await.unwrap();
    let mut stdin = process.stdin.take().unwrap();
    let big = vec![b'x'; 3 << 20];
    let mut out = Vec::new();
    let mut stdout = process.stdout.take().unwrap();
    let (written, read) = tokio::join!(
        async {
            stdin.write_all(&big).await.unwrap();
            stdin.shutdown().await
        },
        async {
            stdout.read_to_end(&mut out).await.unwrap();
        }
    );
    written.unwrap();
    let () = read;
    drop(process);
    assert!(out == big);
    // Only what was said is in the environment.
    let command = Command::new("env").env("SAID", "yes and no");
    let (_, out, _) = finish(provider.exec(at, &command).await.unwrap()).await;
    assert!(out.contains("\nSAID=yes and no\n") || out.starts_with("SAID=yes and no\n"), "{out}");
    assert!(!out.contains("CARGO"), "{out}");
    // One key, one run.
    let command = Command { idempotency_key: Some("once".to_owned()), ..Command::shell("exit 0") };
    assert!(finish(provider.exec(at, &command).await.unwrap()).await.0.success());
    let error = provider.exec(at, &command).await.unwrap_err();
    assert_eq!(error.code(), code::IDEMPOTENCY_KEY_REUSED);
    // Who lets go of a process ends it, together with its children.
    let mut process =
        provider.exec(at, &Command::shell("sleep 1000 & echo started; wait")).await.unwrap();
    let mut first = [0; 8];
    process.stdout.as_mut().unwrap().read_exact(&mut first).await.unwrap();
    let mut rest = Vec::new();
    let mut stdout = process.stdout.take().unwrap();
    drop(process);
    stdout.read_to_end(&mut rest).await.unwrap();
}

async fn files(provider: &dyn RuntimeProvider, at: SandboxId, profile: Profile) {
    provider.write(at, &path("new/file.txt"), Bytes::from("from outside")).await.unwrap();
    let (exit, out, err) = run(provider, at, "cat new/file.txt").await;
    assert_eq!((exit.success(), out.as_str()), (true, "from outside"), "{err}");
    if profile != Profile::ReadOnly {
        let (exit, _, err) = run(provider, at, "printf inside > new/file.txt").await;
        assert!(exit.success(), "{err}");
        assert_eq!(provider.read(at, &path("new/file.txt")).await.unwrap(), "inside");
    }
    assert!(provider.read(at, &path("no/such")).await.is_err());
    // The home is a place of its own, with every profile.
    provider.write_home(at, &path(".tool/settings"), Bytes::from("set")).await.unwrap();
    let (exit, out, err) =
        run(provider, at, "cat ~/.tool/settings; echo x >> ~/.tool/settings").await;
    assert_eq!((exit.success(), out.as_str()), (true, "set"), "{err}");
    assert_eq!(provider.read_home(at, &path(".tool/settings")).await.unwrap(), "setx\n");
    // Commands begin where they are told.
    let command = Command { cwd: Some(path("new")), ..Command::new("pwd") };
    let (_, out, _) = finish(provider.exec(at, &command).await.unwrap()).await;
    assert!(out.trim_end().ends_with("/new"), "{out}");
}

async fn time_and_pause(provider: &dyn RuntimeProvider, at: SandboxId) {
    let command = Command::shell("sleep 1000").within(Duration::from_millis(300));
    let (exit, ..) = finish(provider.exec(at, &command).await.unwrap()).await;
    assert_eq!(exit, Exit::Limit { limit: Limit::Time });
    // A program that is asked to end may say goodbye; one that will not is ended.
    let polite =
        Command::shell("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done");
    let stubborn = Command::shell("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    for (command, grace, end) in [
        (polite, Duration::from_secs(60), Exit::Code { code: 3 }),
        (stubborn, Duration::from_millis(200), Exit::Signal { signal: 9 }),
    ] {
        let mut process = provider.exec(at, &command).await.unwrap();
        let mut ready = [0; 6];
        process.stdout.as_mut().unwrap().read_exact(&mut ready).await.unwrap();
        process.kill(grace).await.unwrap();
        assert_eq!(process.wait().await.unwrap(), end);
    }
    // A paused sandbox does nothing, and takes nothing new.
    let mut process = provider
        .exec(at, &Command::shell("while :; do echo tick; sleep 0.02; done"))
        .await
        .unwrap();
    let mut stdout = process.stdout.take().unwrap();
    let mut byte = [0; 5];
    stdout.read_exact(&mut byte).await.unwrap();
    provider.pause(at).await.unwrap();
    let error = provider.exec(at, &Command::new("true")).await.unwrap_err();
    assert_eq!(error.code(), code::SANDBOX_STATE);
    let status = provider.list().await.unwrap();
    let status = status.iter().find(|status| status.sandbox.id == at).unwrap();
    assert_eq!(status.phase, Phase::Paused);
    let mut drained = vec![0; 65_536];
    while let Ok(read) =
        tokio::time::timeout(Duration::from_millis(500), stdout.read(&mut drained)).await
    {
        assert!(read.unwrap() > 0);
    }
    provider.resume(at).await.unwrap();
    stdout.read_exact(&mut byte).await.unwrap();
    process.kill(Duration::ZERO).await.unwrap();
}

async fn snapshots(provider: &dyn RuntimeProvider, at: SandboxId, copies: [&SpawnSpec; 2]) {
    if provider.capabilities().snapshot == SnapshotLevel::None {
        return;
    }
    provider.write(at, &path("kept/x"), Bytes::from("before")).await.unwrap();
    let snapshot = provider.snapshot(at).await.unwrap();
    assert_eq!(provider.snapshot(at).await.unwrap(), snapshot, "the same files, the same name");
    provider.write(at, &path("kept/x"), Bytes::from("after")).await.unwrap();
    let restored = provider.restore(&snapshot, copies[0]).await.unwrap();
    assert_eq!(provider.read(restored.id, &path("kept/x")).await.unwrap(), "before");
    assert_eq!(provider.read(at, &path("kept/x")).await.unwrap(), "after");
    let forks = provider.fork(at, std::slice::from_ref(copies[1])).await.unwrap();
    let fork = forks.into_iter().next().unwrap().unwrap();
    assert_eq!(provider.read(fork.id, &path("kept/x")).await.unwrap(), "after");
    let (exit, out, err) = run(provider, fork.id, "cat kept/x").await;
    assert_eq!((exit.success(), out.as_str()), (true, "after"), "{err}");
    // What is forgotten is gone, and the rest is not.
    let known = provider.snapshots().await.unwrap();
    assert!(known.contains(&snapshot) && known.is_sorted());
    let later = provider.snapshot(at).await.unwrap();
    let carried = carried(provider, &snapshot).await;
    for _ in 0..2 {
        provider.forget(&snapshot).await.unwrap();
        provider.sweep().await.unwrap();
    }
    assert!(!provider.snapshots().await.unwrap().contains(&snapshot));
    provider.terminate(restored.id, Duration::ZERO).await.unwrap();
    let error = provider.restore(&snapshot, copies[0]).await.unwrap_err();
    assert_eq!(error.code(), code::SNAPSHOT_NOT_FOUND);
    let restored = provider.restore(&later, copies[0]).await.unwrap();
    assert_eq!(provider.read(restored.id, &path("kept/x")).await.unwrap(), "after");
    // What was carried away before comes back under the same name.
    let pieces = Box::new(carried.into_iter().map(Ok));
    assert_eq!(provider.import(pieces).await.unwrap(), snapshot);
    provider.terminate(restored.id, Duration::ZERO).await.unwrap();
    let restored = provider.restore(&snapshot, copies[0]).await.unwrap();
    assert_eq!(provider.read(restored.id, &path("kept/x")).await.unwrap(), "before");
    let nothing = provider.import(Box::new(std::iter::empty())).await.unwrap_err();
    assert_eq!(nothing.code(), code::SNAPSHOT_FILE_INVALID);
    let unknown = "0".repeat(64).parse().unwrap();
    let error = provider.restore(&unknown, copies[0]).await.unwrap_err();
    assert!(matches!(error.code(), code::SNAPSHOT_NOT_FOUND | code::SANDBOX_STATE), "{error}");
}

/// Exports a snapshot.
pub(crate) async fn carried(provider: &dyn RuntimeProvider, snapshot: &SnapshotId) -> Vec<Vec<u8>> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&told);
    let sink = move |piece| {
        to.lock().unwrap().push(piece);
        Ok(())
    };
    provider.export(snapshot, Box::new(sink)).await.unwrap();
    let told = told.lock().unwrap();
    told.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worktree_provider_keeps_its_promises_in_every_profile() {
    for profile in Profile::ALL {
        let world = World::new();
        let specs = ["one", "two", "three"].map(|bead| world.spec(bead, profile));
        keeps_its_promises(&world.provider, specs).await;
    }
}
