//! What a sandbox may use, and what happens when it wants more.

use std::time::Duration;

use godel_model::{Report as _, code};
use godel_runtime::{
    Command, Exit, Happening, Limit, Limits, Profile, RuntimeProvider as _, SandboxId,
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
    world.works(at, "rm -f big").await;
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
