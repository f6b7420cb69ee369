//! What a sandbox may use, and what happens when it wants more.

use std::time::Duration;

use godel_model::{Report as _, code};
use godel_runtime::{
    Command, Exit, Happening, Isolation, Limit, Limits, Profile, RuntimeProvider as _, SandboxId,
};

use crate::world::World;

async fn limited(world: &World, limits: Limits) -> SandboxId {
    let mut spec = world.spec("a", Profile::Workspace);
    spec.limits = limits;
    world.provider.spawn(&spec).await.unwrap().id
}

async fn hears_limit(world: &World, limit: Limit) {
    world
        .hears(|what| matches!(what, Happening::LimitReached { limit: told, .. } if *told == limit))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_bomb_stops_at_the_limit() {
    let world = World::new();
    let at = limited(&world, Limits { processes: 40, ..Limits::default() }).await;
    let bomb = "import os,time\nmade=0\n\
                try:\n while made<5000:\n  p=os.fork()\n  if p==0: time.sleep(60); os._exit(0)\n  made+=1\n\
                except OSError: pass\nprint(made,flush=True)\ntime.sleep(2)";
    let done = world.exec(at, &Command::new("python3").args(["-c", bomb])).await;
    let made: u32 = done.out.trim().parse().unwrap_or_else(|_| panic!("{done:?}"));
    assert!((10..40).contains(&made), "{made}");
    hears_limit(&world, Limit::Processes).await;
    // And afterwards there is room again.
    world.works(at, "echo fine").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_bomb_is_ended() {
    let world = World::new();
    let at = limited(&world, Limits { memory_bytes: 256 << 20, ..Limits::default() }).await;
    // Each is below the limit, all together are not.
    let bomb = "import os,time\n\
                for n in range(5):\n if os.fork()==0:\n  b=bytearray(120<<20)\n  b[::4096]=b'x'*len(b[::4096])\n  time.sleep(60); os._exit(0)\n\
                time.sleep(60)";
    let command = Command::new("python3").args(["-c", bomb]).within(Duration::from_secs(20));
    let process = world.provider.exec(at, &command).await.unwrap();
    hears_limit(&world, Limit::Memory).await;
    process.kill(Duration::ZERO).await.unwrap();
    let alone = "b=bytearray(900<<20)\nb[::4096]=b'x'*len(b[::4096])\nprint('had it')";
    let done = world.exec(at, &Command::new("python3").args(["-c", alone])).await;
    assert!(!done.exit.success() && !done.out.contains("had it"), "{done:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_filled_ends_the_processes_and_refuses_more() {
    let world = World::new();
    let at = limited(&world, Limits { disk_bytes: 24 << 20, ..Limits::default() }).await;
    let one = world.run(at, "head -c 100M /dev/zero > big").await;
    assert!(!one.exit.success(), "one file is no larger than the limit: {one:?}");
    // From outside: the warden may have found the disk full, and then nothing starts.
    std::fs::remove_file(world.tree("a").join("big")).unwrap();
    for place in [".", "/tmp", "$HOME", "/run/godel/git/objects"] {
        let script = format!(
            "cd {place} && for n in $(seq 400); do head -c 1M /dev/urandom > fill$n; sleep 0.02; done"
        );
        let done = world.run(at, &script).await;
        assert_eq!(done.exit, Exit::Limit { limit: Limit::Disk }, "{place}");
        hears_limit(&world, Limit::Disk).await;
        let error = world.provider.exec(at, &Command::new("true")).await.unwrap_err();
        assert_eq!(error.code(), code::SANDBOX_LIMIT, "{place}: {error}");
        // Somebody makes room, and it goes on.
        let data = world.home.path().join("data/sandboxes").join(at.to_string());
        for dir in [world.tree("a"), data.join("tmp"), data.join("home"), data.join("git/objects")]
        {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                if entry.file_name().to_string_lossy().starts_with("fill") {
                    std::fs::remove_file(entry.path()).unwrap();
                }
            }
        }
        world.works(at, "echo fine").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_that_looks_like_a_disk_is_limited_too() {
    let world = World::new();
    let at = limited(&world, Limits { memory_bytes: 256 << 20, ..Limits::default() }).await;
    let done = world.run(at, "head -c 2G /dev/zero > /dev/shm/x").await;
    assert!(!done.exit.success(), "{done:?}");
    for place in ["/dev/x", "/x", "/run/x", "/run/godel/x", "/etc/x", "/home/x", "/var/x"] {
        let done = world.run(at, &format!("echo x > {place}")).await;
        assert!(!done.exit.success(), "{place}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sandboxes_at_a_time_do_not_meet() {
    let world = World::new();
    let specs: Vec<_> = (0..12).map(|n| world.spec(&format!("b{n}"), Profile::Workspace)).collect();
    let mut tasks = tokio::task::JoinSet::new();
    for (number, spec) in specs.iter().enumerate() {
        for _ in 0..2 {
            let (provider, spec) = (world.provider.clone(), spec.clone());
            tasks.spawn(async move { (number, provider.spawn(&spec).await.unwrap()) });
        }
    }
    while let Some(done) = tasks.join_next().await {
        let (number, sandbox) = done.unwrap();
        assert_eq!(sandbox.id, SandboxId::of(specs[number].agent));
    }
    let work = specs.iter().enumerate().map(|(number, spec)| {
        let (world, at) = (&world, SandboxId::of(spec.agent));
        async move {
            let script = format!(
                "echo {number} > /tmp/x; echo {number} > ~/x; echo {number} > x; \
                                  git add x && git commit -qm {number}; sleep 0.3; cat /tmp/x ~/x x"
            );
            let said = world.works(at, &script).await;
            assert_eq!(said, format!("{number}\n{number}\n{number}"));
            assert_eq!(world.provider.collect(at).await.unwrap().commits, 1);
            world.provider.terminate(at, Duration::ZERO).await.unwrap();
        }
    });
    let mut work: Vec<_> = work.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        work.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if work.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    for number in 0..12 {
        let shown = crate::world::git(&world.repo(), &["show", &format!("bead/b{number}:x")]);
        assert_eq!(shown, number.to_string());
    }
    crate::world::git(&world.repo(), &["fsck", "--strict"]);
    assert!(world.provider.list().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn walls_that_cannot_be_raised_are_refused_and_never_lowered() {
    let mut world = World::new();
    world.reopen_with(Some("/nowhere/bwrap".into()));
    assert_eq!(world.provider.capabilities().isolation, Isolation::None);
    for profile in crate::world::WALLED {
        let spec = world.spec(&profile.as_str().replace('+', "-"), profile);
        let error = world.provider.spawn(&spec).await.unwrap_err();
        assert_eq!((error.code(), error.retryable()), (code::SANDBOX_UNAVAILABLE, false));
        assert!(error.hint().unwrap().contains("apt-get install bubblewrap"), "{error}");
    }
    assert!(world.provider.list().await.unwrap().is_empty());
    let sandbox = world.spawn("none", Profile::None).await;
    assert_eq!(sandbox.isolation, Isolation::None);
    world.works(sandbox.id, "echo there are no walls").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_ends_when_its_time_is_over() {
    let world = World::new();
    let mut spec = world.spec("a", Profile::Workspace);
    spec.ttl = Some(Duration::from_millis(700));
    let at = world.provider.spawn(&spec).await.unwrap().id;
    let process = world.provider.exec(at, &Command::shell("sleep 1000")).await.unwrap();
    assert!(!process.wait().await.unwrap().success());
    world.hears(|what| *what == Happening::Terminated).await;
    assert!(world.provider.list().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_open_too_much_is_refused() {
    let world = World::new();
    let home = std::env::var("HOME").unwrap();
    let places = ["/", "/etc", "/proc", &home, world.home.path().to_str().unwrap()];
    for (number, path) in places.into_iter().enumerate() {
        let mut spec = world.spec(&format!("x{number}"), Profile::Workspace);
        spec.readable = vec![path.into()];
        let error = world.provider.spawn(&spec).await.unwrap_err();
        assert_eq!(error.code(), code::PATH_REFUSED, "{path}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_that_makes_processes_all_the_time_can_be_paused() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    let busy = "while :; do /bin/true; sh -c 'echo x >> n'; done";
    let _process = world.provider.exec(at, &Command::shell(busy)).await.unwrap();
    let size = || std::fs::metadata(world.tree("a").join("n")).map_or(0, |found| found.len());
    for _ in 0..20 {
        let before = size();
        while size() <= before {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        world.provider.pause(at).await.unwrap();
        let still = size();
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert_eq!(size(), still);
        world.provider.resume(at).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_behind_does_not_hold_the_output_open() {
    let world = World::new();
    let spec = world.spec("a", Profile::None);
    let at = world.provider.spawn(&spec).await.unwrap().id;
    // Without walls nothing ends what a command has started in a session of its own.
    let done = tokio::time::timeout(
        Duration::from_secs(60),
        world.run(at, "setsid sleep 600 & echo $!; exit 3"),
    );
    let done = done.await.expect("the output comes to its end");
    assert_eq!(done.exit, Exit::Code { code: 3 });
    let left: i32 = done.out.trim().parse().unwrap();
    let left = rustix::process::Pid::from_raw(left).unwrap();
    // It may have ended by itself meanwhile.
    let _ = rustix::process::kill_process(left, rustix::process::Signal::KILL);
}
