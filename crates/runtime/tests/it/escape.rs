//! The escape suite: real attempts by real processes, in each profile.
//!
//! A script exits with 0 if its attempt succeeded. With walls each must fail; without walls (profile
//! `none`) the harmless ones must succeed, so that a script that is merely wrong is noticed.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Child, Command as Program, Stdio};
use std::time::Duration;

use godel_model::{Report as _, code};
use godel_runtime::{
    Command, Egress, Exit, Happening, Profile, RuntimeProvider as _, SandboxId, SandboxPath,
};

use crate::world::{WALLED, World};

/// Numbers of calls that differ between kinds of processors.
#[cfg(target_arch = "x86_64")]
const CALLS: [u32; 3] = [56, 250, 298];
#[cfg(not(target_arch = "x86_64"))]
const CALLS: [u32; 3] = [220, 219, 241];
const CLONE: u32 = CALLS[0];
const KEYCTL: u32 = CALLS[1];
const PERF: u32 = CALLS[2];

/// Things of the host that must stay out of reach.
struct Host {
    world: World,
    outside: PathBuf,
    loopback: TcpListener,
    sleeper: Child,
    name: String,
    _abstract: UnixListener,
}

impl Host {
    fn new() -> Self {
        Self::of(World::new())
    }

    fn of(world: World) -> Self {
        let outside = world.home.path().canonicalize().unwrap().join("outside");
        std::fs::create_dir_all(outside.join(".ssh")).unwrap();
        std::fs::write(outside.join(".ssh/id"), "secret").unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(&outside, all).unwrap();
        let name = format!("godel-test-{}", world.home.path().display());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let sleeper = Program::new("sleep").arg("987654").stdin(Stdio::null()).spawn().unwrap();
        Self {
            loopback: TcpListener::bind("127.0.0.1:0").unwrap(),
            _abstract: UnixListener::bind_addr(&address).unwrap(),
            world,
            outside,
            sleeper,
            name,
        }
    }

    /// The attempts: what, how, and whether it is harmless (and succeeds) without walls.
    fn attempts(&self) -> Vec<(&'static str, String, bool)> {
        let outside = self.outside.display();
        let port = self.loopback.local_addr().unwrap().port();
        let (pid, name) = (self.sleeper.id(), &self.name);
        let repo = self.world.repo();
        let repo = repo.display();
        vec![
            ("write outside", format!("echo x > '{outside}/written'"), true),
            ("read keys", format!("cat '{outside}/.ssh/id'"), true),
            ("list outside", format!("ls '{outside}/..' | grep -q data"), true),
            ("read the main work tree", format!("cat '{repo}/a.txt'"), true),
            ("write a real hook", format!("echo x > '{repo}/.git/hooks/x'"), true),
            ("write a system file", "echo x > /usr/godel-test && rm /usr/godel-test".into(), false),
            ("write at the top", "echo x > /godel-test && rm /godel-test".into(), false),
            ("read passwords", "cat /etc/shadow".into(), false),
            ("reach the host's loopback", connect(&format!("('127.0.0.1',{port})")), true),
            ("reach metadata", connect("('169.254.169.254',80)"), false),
            ("reach the internet", connect("('1.1.1.1',443)"), false),
            (
                "ask a name server",
                python(
                    "import socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n\
                 s.sendto(b'x'*30,('8.8.8.8',53))\ns.settimeout(3)\ns.recv(9)",
                ),
                false,
            ),
            (
                "look up a name",
                python("import socket\nsocket.getaddrinfo('secret.example.com',1)"),
                false,
            ),
            ("see processes", "grep -qs '98765[4]' /proc/*/cmdline".into(), true),
            ("signal a process", format!("kill -0 {pid}"), true),
            (
                "connect to an abstract socket",
                python(&format!(
                    "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0{name}')"
                )),
                true,
            ),
            (
                "trace a child",
                python(
                    "import os,time,ctypes\np=os.fork()\nif p==0: time.sleep(30)\n\
                 r=ctypes.CDLL(None).ptrace(16,p,0,0)\nos.kill(p,9)\nraise SystemExit(r!=0)",
                ),
                true,
            ),
            (
                "become root",
                python("import os\nos.setuid(0)\nos.setgid(0)\nopen('/etc/shadow')"),
                false,
            ),
            ("make a user namespace", "unshare --user --map-root-user true".into(), false),
            (
                "make a user namespace by clone",
                python(&format!(
                    "import ctypes,os\nl=ctypes.CDLL(None)\n\
                     r=l.syscall({CLONE},0x10000000|17,0,0,0,0)\n\
                     if r==0: os._exit(0)\nraise SystemExit(r<0)"
                )),
                false,
            ),
            ("make a mount", "mkdir -p /tmp/m && mount -t tmpfs x /tmp/m".into(), false),
            ("use io_uring", call(425, "8,ctypes.byref(b)"), true),
            ("use clone3", call(435, "0,0"), true),
            ("use keys of the kernel", call(KEYCTL, "0,-3,1"), true),
            ("watch the machine", call(PERF, "ctypes.byref(b),0,-1,-1,0"), false),
            ("reach a virtual machine's host", python("import socket\nsocket.socket(40,1)"), false),
            ("use packets", python("import socket\nsocket.socket(17,3)"), false),
            ("use the kernel's ciphers", python("import socket\nsocket.socket(38,5)"), false),
            ("use a raw socket", python("import socket\nsocket.socket(2,3,1)"), false),
            (
                "type into a terminal",
                python(
                    "import pty,fcntl,errno,os\na,b=pty.openpty()\n\
                 try: fcntl.ioctl(b,0x5412,b'x')\nexcept OSError as e: raise SystemExit(e.errno==errno.EPERM)",
                ),
                false,
            ),
            (
                "write another's memory",
                "sleep 9 & : > /proc/$!/mem || exit 1; kill $!".into(),
                false,
            ),
            ("load a device", "mknod /tmp/disk b 254 0 && head -c 1 /tmp/disk".into(), false),
            ("be heard by init", "kill -9 1 && test -d /proc/1".into(), false),
        ]
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.sleeper.kill();
        let _ = self.sleeper.wait();
    }
}

fn python(script: &str) -> String {
    format!("python3 -c \"{script}\"")
}

fn connect(to: &str) -> String {
    python(&format!("import socket\nsocket.create_connection({to},3)"))
}

/// Calls the kernel by number; it succeeded if it was not refused.
fn call(number: u32, arguments: &str) -> String {
    python(&format!(
        "import ctypes\nl=ctypes.CDLL(None,use_errno=True)\nb=(ctypes.c_char*256)()\n\
         r=l.syscall({number},{arguments})\nraise SystemExit(r<0 and ctypes.get_errno() in (1,38))"
    ))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_attempt_to_escape_fails_behind_walls_and_the_harmless_ones_succeed_without() {
    for world in World::each() {
        every_attempt_fails(Host::of(world)).await;
    }
}

async fn every_attempt_fails(mut host: Host) {
    for profile in Profile::ALL {
        if profile == Profile::None && host.world.is_contained() {
            continue;
        }
        let mut spec = host.world.spec(&profile.as_str().replace('+', "-"), profile);
        // Even a list that allows everything lets nobody near this machine or its neighbours.
        spec.egress = Egress { api: None, allow: vec!["*".to_owned(), "*:3128".to_owned()] };
        let at = host.world.runtime().spawn(&spec).await.unwrap().id;
        host.world.works(at, "python3 -c 'import ctypes' # the attempts need python3").await;
        for (what, script, harmless) in host.attempts() {
            if profile == Profile::None && !harmless {
                continue;
            }
            let done = host.world.run(at, &script).await;
            let escaped = profile == Profile::None;
            assert_eq!(done.exit.success(), escaped, "{profile}: {what}: {done:?}");
            assert!(host.sleeper.try_wait().unwrap().is_none(), "{profile}: {what}");
            if profile != Profile::None {
                assert!(!host.outside.join("written").exists(), "{profile}: {what}");
            }
        }
        if profile != Profile::None {
            denied_calls_are_told(&host.world).await;
            rights_are_gone(&host.world, at).await;
        }
    }
}

async fn denied_calls_are_told(world: &World) {
    world.hears(|what| matches!(what, Happening::CallDenied { .. })).await;
}

async fn rights_are_gone(world: &World, at: SandboxId) {
    let status = world.works(at, "cat /proc/self/status; id -u; id -G").await;
    let mut lines = vec!["CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "Seccomp:\t2"];
    if !world.is_contained() {
        // gVisor does not tell this one.
        lines.push("NoNewPrivs:\t1");
    }
    for line in lines {
        assert!(status.contains(line), "{line}: {status}");
    }
    assert!(!status.contains("\nUid:\t0\t") && !status.contains("\n0\n"), "{status}");
    let processes = world.works(at, "ls -d /proc/[0-9]* | wc -l").await;
    assert!(processes.parse::<u32>().unwrap() < 12, "{processes}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_connections_are_told_by_the_proxy() {
    for world in World::each() {
        refused_connections_are_told(&world).await;
    }
}

async fn refused_connections_are_told(world: &World) {
    for (profile, host) in [
        (Profile::ReadOnly, "read-only.example"),
        (Profile::Workspace, "workspace.example"),
        (Profile::WorkspaceNet, "169.254.169.254"),
        (Profile::WorkspaceNet, "127.0.0.1"),
        (Profile::WorkspaceNet, "elsewhere.example"),
    ] {
        let mut spec = world.spec(&host.replace('.', "-"), profile);
        spec.egress.allow = vec!["169.254.169.254".to_owned(), "127.0.0.1".to_owned()];
        let at = world.runtime().spawn(&spec).await.unwrap().id;
        let script = python(&format!(
            "import urllib.request as u\nu.build_opener(u.ProxyHandler({{'http':\
             'http://127.0.0.1:3128'}})).open('http://{host}/secret',timeout=20)"
        ));
        let done = world.run(at, &format!("no_proxy= NO_PROXY= {script}")).await;
        assert!(!done.exit.success() && done.err.contains("403"), "{host}: {done:?}");
        world
            .hears(|what| {
                matches!(what, Happening::EgressDenied { host: told, port: 80, .. } if told == host)
            })
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_lead_nowhere() {
    let host = Host::new();
    let world = &host.world;
    let outside = host.outside.display();
    for (bead, profile) in [("a", Profile::Workspace), ("b", Profile::None)] {
        let at = world.spawn(bead, profile).await.id;
        world
            .works(at, &format!("ln -s '{outside}/.ssh' keys && ln -s '{outside}/new' file"))
            .await;
        let inside = world.run(at, "cat keys/id").await;
        assert_eq!(inside.exit.success(), profile == Profile::None);
        for path in ["keys/id", "file"] {
            let path = SandboxPath::new(path).unwrap();
            let error = world.provider.read(at, &path).await.unwrap_err();
            assert_eq!(error.code(), code::PATH_REFUSED, "{error}");
        }
        let path = SandboxPath::new("keys/new").unwrap();
        let error = world.provider.write(at, &path, "x".into()).await.unwrap_err();
        assert_eq!(error.code(), code::PATH_REFUSED, "{error}");
        world.provider.write(at, &SandboxPath::new("file").unwrap(), "x".into()).await.unwrap();
        assert!(!host.outside.join("new").exists());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_git_would_run_can_be_left_behind() {
    let world = World::new();
    for profile in WALLED {
        let at = world.spawn(&profile.as_str().replace('+', "-"), profile).await.id;
        for attempt in [
            "echo x > .git",
            "rm -f .git && mkdir .git",
            "mv .git .old",
            "ln -sf /tmp/x .git",
            "echo x > \"$(git rev-parse --git-path hooks)/post-commit\"",
            "mv /run/godel/git/hooks /run/godel/git/hooks2",
            "echo x >> /run/godel/git/config",
            "git config core.fsmonitor /tmp/x",
            "mv /run/godel/git/config /tmp/",
            "echo /tmp >> /run/godel/git/objects/info/alternates",
            "echo x > /run/godel/objects/x",
            "rm -rf /run/godel/objects/pack",
            "git config --system core.hooksPath /tmp",
        ] {
            let done = world.run(at, attempt).await;
            assert!(!done.exit.success(), "{profile}: {attempt}: {done:?}");
        }
        let writes = world.run(at, "echo x > new && echo x >> a.txt").await.exit.success();
        assert_eq!(writes, profile != Profile::ReadOnly);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_another_user_gives_no_rights() {
    let mut world = World::new();
    if !crate::world::is_root() {
        // Only root can make such a file; the rest of this suite runs as both.
        return;
    }
    let tools = world.home.path().canonicalize().unwrap().join("tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::copy("/usr/bin/id", tools.join("id")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
    std::fs::set_permissions(tools.join("id"), mode).unwrap();
    let mut spec = world.spec("a", Profile::Workspace);
    spec.readable = vec![tools.clone()];
    let at = world.provider.spawn(&spec).await.unwrap().id;
    let who = world.works(at, &format!("'{}/id' -u", tools.display())).await;
    assert_ne!(who, "0");
    // After a restart of Godel it is the same sandbox, and the same user.
    world.reopen();
    assert_eq!(world.works(at, "id -u").await, who);
}

/// The process that dies in the test below; nothing unless it is told where to work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_godel_that_will_be_killed() {
    let Ok(profile) = std::env::var("GODEL_TEST_DIES") else { return };
    let contained = std::env::var("GODEL_TEST_CONTAINED").is_ok();
    let world = if contained { World::contained().unwrap() } else { World::new() };
    let at = world.spawn("a", profile.parse().unwrap()).await.id;
    let mark = std::env::var("GODEL_TEST_MARK").unwrap();
    let script = format!("setsid -f sleep {mark}; (trap '' HUP TERM; sleep {mark}) & sleep {mark}");
    let _process = world.runtime().exec(at, &Command::shell(script)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(300)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_outlives_a_godel_that_is_killed() {
    for (number, profile) in WALLED.iter().enumerate() {
        let mark = format!("7{}{number}", std::process::id());
        let place = tempfile::tempdir().unwrap();
        let mut dying = Program::new(std::env::current_exe().unwrap())
            .args(["--exact", "escape::a_godel_that_will_be_killed", "--nocapture"])
            .env("GODEL_TEST_DIES", profile.as_str())
            .env("GODEL_TEST_MARK", &mark)
            .env("TMPDIR", place.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(&mark, |count| count >= 3).await;
        dying.kill().unwrap();
        dying.wait().unwrap();
        wait_for(&mark, |count| count == 0).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_container_outlives_a_godel_that_is_killed() {
    if !crate::world::is_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let mut dying = Program::new(std::env::current_exe().unwrap())
        .args(["--exact", "escape::a_godel_that_will_be_killed", "--nocapture"])
        .env("GODEL_TEST_DIES", "workspace")
        .env("GODEL_TEST_CONTAINED", "yes")
        .env("GODEL_TEST_MARK", "1000")
        .env("TMPDIR", place.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // What runs a container names the directory that it is in: the kernel, the one who serves files.
    let of_it = || {
        let root = format!("--root={}", place.path().display());
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains(&root)).count()
    };
    let until = async |good: &dyn Fn(usize) -> bool| {
        for _ in 0..1_200 {
            if good(of_it()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{} processes of the container run", of_it());
    };
    until(&|count| count >= 3).await;
    dying.kill().unwrap();
    dying.wait().unwrap();
    until(&|count| count == 0).await;
}

async fn wait_for(mark: &str, good: impl Fn(usize) -> bool) {
    let mut count = 0;
    for _ in 0..600 {
        count = sleeping(mark);
        if good(count) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{count} processes sleep for {mark}");
}

fn sleeping(mark: &str) -> usize {
    let wanted = format!("sleep\0{mark}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line == wanted.as_bytes()).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_deadly_ends_the_process_as_such() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    let command =
        Command::new("python3").args(["-c", "import ctypes; ctypes.CDLL(None).ptrace(0,0,0,0)"]);
    assert_eq!(world.exec(at, &command).await.exit, Exit::Signal { signal: 31 });
}
