//! Snapshots of agents that are carried to another server, with an empty data directory and a clone of the
//! repository from before: files, commits and the conversation go on there as they were.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fleet::{AUTO, PATIENCE, Yard};
use crate::people::developer;

const GOES_ON: &str = "You were interrupted and go on now";
/// Tracked and committed, tracked and changed, untracked, ignored; modes, links, and a name that is no text.
const TASK: &str = "[[shell mkdir -p cache src && head -c 3000000 /dev/urandom > cache/big.bin && \
    echo secret > cache/x && echo one > src/a.txt && chmod 755 src/a.txt && git add src && \
    git commit -qm 'a commit of the agent' && echo two >> src/a.txt && echo half > half.txt && \
    chmod 640 half.txt && ln -s src/a.txt link && printf odd > \"$(printf 'no\\377text')\"]] [[then]] \
    [[call ask {\"question\":\"Which?\",\"choices\":[\"a\",\"b\"]}]]";

/// What a worktree holds, ignored files included: modes and contents by path.
type Picture = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn picture(tree: &Path) -> Picture {
    use std::os::unix::ffi::OsStrExt as _;
    let mut all = BTreeMap::new();
    let mut open = vec![tree.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (path, found) = (entry.path(), entry.path().symlink_metadata().unwrap());
            let short = path.strip_prefix(tree).unwrap().to_owned();
            // It leads to the repository, which is another one.
            if short == Path::new(".git") {
                continue;
            }
            let content = if found.is_symlink() {
                std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if found.is_dir() {
                open.push(path);
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            all.insert(short, (found.mode(), content));
        }
    }
    all
}

fn tree_of(agent: &Value) -> PathBuf {
    PathBuf::from(agent["worktree"].as_str().unwrap())
}

/// Returns the bodies of the first requests of those who go on, once there are so many.
fn first_requests(yard: &Yard, count: usize) -> Vec<String> {
    let started = Instant::now();
    loop {
        let recorded = yard.provider.recorded();
        let bodies = recorded.iter().map(|one| String::from_utf8_lossy(&one.body).into_owned());
        let goes_on = |body: &String| {
            let body: Value = serde_json::from_str(body).unwrap_or_default();
            let last = body["messages"].as_array().and_then(|all| all.last().cloned());
            last.unwrap_or_default().to_string().contains(GOES_ON)
        };
        let found: Vec<String> = bodies.filter(goes_on).collect();
        if found.len() >= count {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{}\n{}", found.len(), yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn restore(yard: &Yard, snapshot: &str) -> String {
    yard.json(&["agent", "restore", snapshot])["label"].as_str().unwrap().to_owned()
}

/// A yard in whose repository git ignores something.
async fn yard() -> Yard {
    let yard = Yard::open(AUTO).await;
    std::fs::write(yard.repo.path.join(".gitignore"), "cache/\n").unwrap();
    yard.repo.git(&["add", ".gitignore"]);
    yard.repo.git(&["commit", "-q", "-m", "what git ignores"]);
    yard
}

/// A server with nothing on it, beside a clone of another's repository as it is now.
async fn elsewhere(from: &Yard) -> Yard {
    let there = Yard::open(AUTO).await;
    let folder = from.repo.path.to_str().unwrap();
    there.repo.git(&["fetch", "-q", folder, "main"]);
    there.repo.git(&["reset", "-q", "--hard", "FETCH_HEAD"]);
    there
}

/// An agent that waits, with a snapshot of it in a file; returns its name, the snapshot and the file.
fn waiting(yard: &Yard) -> (String, String, String) {
    let name = yard.spawn(TASK);
    yard.until(&name, "waiting");
    let kept = yard.run(&["agent", "snapshot", &name]).expect(0).stdout.trim().to_owned();
    let file = yard.repo.home.path().join("carried.godel").to_str().unwrap().to_owned();
    yard.run(&["agent", "export", &kept, &file]).expect(0);
    (name, kept, file)
}

/// Lets git throw away what nothing leads to; it cannot while the server lays out a worktree beside it.
fn clean_up(yard: &Yard) {
    let started = Instant::now();
    let gc = ["gc", "-q", "--prune=now"];
    let done = || Command::new("git").args(gc).current_dir(&yard.repo.path).status().unwrap();
    while !done().success() {
        assert!(started.elapsed() < PATIENCE, "{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// The conversations that are put away.
fn archived(yard: &Yard) -> Vec<String> {
    let all = yard.json(&["session", "list"])["items"].clone();
    let all = all.as_array().unwrap().iter().filter(|one| one["status"] == "archived");
    all.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

fn references(yard: &Yard) -> usize {
    yard.repo.git(&["for-each-ref", "refs/godel/snapshots"]).lines().count()
}

/// How many bytes all snapshots of a server take.
fn room(yard: &Yard) -> u64 {
    let packs = yard.repo.home.data().join("snapshots/packs");
    let files = std::fs::read_dir(packs).unwrap().flatten();
    files.map(|file| file.metadata().unwrap().len()).sum()
}

fn until_room(yard: &Yard, fits: impl Fn(u64) -> bool) {
    let started = Instant::now();
    while !fits(room(yard)) {
        assert!(started.elapsed() < PATIENCE, "{}\n{}", room(yard), yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_goes_on_from_its_snapshot_on_another_server_with_the_same_bytes() {
    let mut here = yard().await;
    let there = elsewhere(&here).await;
    let (name, kept, _) = waiting(&here);
    let original = picture(&tree_of(&here.agent(&name)));
    for path in ["src/a.txt", "half.txt", "link", "cache/x", "cache/big.bin", "README.md"] {
        assert!(original.contains_key(Path::new(path)), "{path}: {:?}", original.keys());
    }
    // A copy here is what the one there is held against.
    restore(&here, &kept);
    let asked = first_requests(&here, 1).remove(0);
    // The agent goes away, its branch too, and git cleans up: the snapshot needs none of them.
    let bead = here.agent(&name)["bead"].as_str().unwrap().to_owned();
    here.run(&["agent", "kill", &name]).expect(0);
    here.run(&["agent", "delete", &name]).expect(0);
    let again = here.repo.home.path().join("again.godel").to_str().unwrap().to_owned();
    let tree = here.repo.path.join(".godel/worktrees").join(&bead);
    here.repo.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    here.repo.git(&["branch", "-q", "-D", &format!("bead/{bead}")]);
    here.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    clean_up(&here);
    here.run(&["agent", "export", &kept, &again]).expect(0);
    restore(&here, &kept);
    assert_eq!(first_requests(&here, 2)[1], asked, "although the agent is gone");
    // Its conversation stays as the snapshot needs it, and cannot be changed any more.
    let orphan = &archived(&here)[0];
    here.run(&["session", "compact", orphan]).refused(4, &["belongs to a snapshot"]);
    here.server.take().unwrap().stop();

    let imported = there.json(&["agent", "import", &again]);
    assert_eq!(imported["changed"], serde_json::json!([]));
    let id = imported["snapshot"]["id"].as_str().unwrap();
    assert_ne!(id, kept);
    assert_eq!(imported["snapshot"]["imported"], true);
    let copy = restore(&there, id);
    assert_eq!(first_requests(&there, 1)[0], asked, "the next request has the same bytes there");
    let agent = there.agent(&copy);
    assert!(picture(&tree_of(&agent)) == original, "and every file is the same");
    // It goes on: its commit is on the branch, together with what came along.
    there.run(&["agent", "message", &copy, "[[work own.txt from there]]"]).expect(0);
    let started = Instant::now();
    while there.agent(&copy)["lifecycleState"] != "completed" {
        assert!(started.elapsed() < PATIENCE, "{:#}", there.agent(&copy));
        std::thread::sleep(Duration::from_millis(200));
    }
    let branch = format!("bead/{}", agent["bead"].as_str().unwrap());
    assert_eq!(there.at(&branch, "own.txt"), "from there");
    assert_eq!(there.at(&branch, "half.txt"), "half");
    assert!(there.repo.git(&["log", "--format=%s", &branch]).contains("a commit of the agent"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_frees_its_room_unless_another_snapshot_needs_it() {
    let yard = yard().await;
    let (name, kept, file) = waiting(&yard);
    let before = room(&yard);
    assert!(before > 3_000_000, "{before}");
    // The same files under another id, twice.
    let import = || yard.run(&["agent", "import", &file]).expect(0).stdout.trim().to_owned();
    let (one, two) = (import(), import());
    assert_eq!((room(&yard), references(&yard)), (before, 3), "each content is there once");
    assert_eq!(archived(&yard).len(), 2, "each has its own conversation");
    let piped = yard.repo.command_in(&yard.repo.path, &["agent", "export", &one, "-"]).output();
    let piped = piped.unwrap().stdout;
    assert!(piped.starts_with(b"godel snapshot 1\n"), "an imported one can be carried on");
    assert_eq!(piped.len() as u64, std::fs::metadata(&file).unwrap().len());
    for gone in [&kept, &one] {
        yard.run(&["agent", "forget", gone]).expect(0);
        yard.run(&["agent", "forget", gone]).refused(3, &["there is no snapshot"]);
    }
    assert_eq!(references(&yard), 1);
    let copy = restore(&yard, &two);
    first_requests(&yard, 1);
    assert_eq!(
        picture(&tree_of(&yard.agent(&copy)))[Path::new("half.txt")],
        picture(&tree_of(&yard.agent(&name)))[Path::new("half.txt")]
    );
    let listed = yard.json(&["agent", "snapshots"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed:#}");
    assert_eq!(room(&yard), before, "somebody needs it");
    yard.run(&["agent", "forget", &two]).expect(0);
    until_room(&yard, |bytes| bytes == 0);
    assert_eq!(references(&yard), 0);
    let manifests = yard.repo.home.data().join("snapshots/manifests");
    assert_eq!(std::fs::read_dir(manifests).unwrap().count(), 0);
    assert_eq!(archived(&yard).len(), 0, "the conversations that came along went, too");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_whole_leaves_nothing_and_nobody_takes_what_is_not_theirs() {
    let here = yard().await;
    let stranger = Yard::open(AUTO).await;
    let (_, kept, file) = waiting(&here);
    here.run(&["agent", "export", &kept, &file]).refused(4, &["is there already", "--force"]);
    here.run(&["agent", "export", &kept, &file, "--force"]).expect(0);
    let mode = std::fs::metadata(&file).unwrap().mode() & 0o777;
    assert_eq!(mode, 0o600, "what it holds is confidential");
    let good = std::fs::read(&file).unwrap();
    let before = (room(&here), references(&here));
    let mut bad: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("no snapshot", b"# v2 git bundle\n".to_vec()),
        ("cut", good[..good.len() - 1].to_vec()),
        ("cut early", good[..2_000_000].to_vec()),
        ("longer", [&good[..], b"x"].concat()),
    ];
    for at in [3, 40, 5_000, good.len() / 2, good.len() - 5] {
        let mut changed = good.clone();
        changed[at] ^= 1;
        bad.push(("changed", changed));
    }
    let path = here.repo.home.path().join("bad.godel").to_str().unwrap().to_owned();
    for (why, bytes) in bad {
        std::fs::write(&path, bytes).unwrap();
        let answer = here.run(&["agent", "import", &path, "--json"]).expect(2);
        let said: Value = serde_json::from_str(&answer.stderr).unwrap();
        assert_eq!(said["error"]["code"], "snapshot_file_invalid", "{why}: {said:#}");
    }
    assert_eq!(here.json(&["agent", "snapshots"])["items"].as_array().unwrap().len(), 1);
    until_room(&here, |bytes| bytes == before.0);
    assert_eq!(references(&here), before.1);
    let scratch = std::fs::read_dir(here.repo.home.data().join("carry")).unwrap();
    assert_eq!(scratch.count(), 0, "no half of a file stays");

    // A repository that lacks what the commits build on is told which.
    let base = here.repo.git(&["rev-parse", "main"]);
    stranger.run(&["agent", "import", &file]).refused(3, &[base.trim(), "git fetch"]);
    assert_eq!((room(&stranger), references(&stranger)), (0, 0));

    // Whoever may not lead the agent neither carries it away nor forgets it.
    let server = here.server.as_ref().unwrap();
    let dora = || developer(server, &here.repo.home, "dora", "developer", &["--project", "app"]);
    let dora = tokio::task::block_in_place(dora);
    dora.run(&["agent", "export", &kept, "mine.godel"]).refused(5, &["ask an admin"]);
    assert!(
        !dora.path().join("mine.godel").exists() && !dora.path().join("mine.godel.part").exists()
    );
    dora.run(&["agent", "forget", &kept]).refused(5, &["ask an admin"]);
    // What she brings herself is hers.
    let own = dora.run(&["agent", "import", &file, "--project", "app"]).expect(0).stdout;
    dora.run(&["agent", "export", own.trim(), "mine.godel"]).expect(0);
    dora.run(&["agent", "forget", own.trim()]).expect(0);
    let val = || developer(server, &here.repo.home, "val", "viewer", &["--project", "app"]);
    let val = tokio::task::block_in_place(val);
    val.run(&["agent", "import", &file, "--project", "app"]).refused(5, &[]);
    let acts = here.json(&["audit", "query", "--action", "agent:*", "--since", "1h"]);
    let acts: Vec<&str> =
        acts["items"].as_array().unwrap().iter().filter_map(|act| act["action"].as_str()).collect();
    for act in ["agent:snapshot", "agent:export", "agent:import", "agent:forget"] {
        assert!(acts.contains(&act), "{act}: {acts:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_while_a_file_comes_in_keeps_nothing_of_it() {
    let mut yard = yard().await;
    let (_, _, file) = waiting(&yard);
    let good = std::fs::read(&file).unwrap();
    let before = (room(&yard), references(&yard));
    let mut command = yard.repo.command_in(&yard.repo.path, &["agent", "import", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&good[..good.len() / 2]).unwrap();
    let scratch = yard.repo.home.data().join("carry");
    let came = || {
        let files = std::fs::read_dir(&scratch).into_iter().flatten().flatten();
        files.map(|file| file.metadata().map_or(0, |found| found.len())).sum::<u64>()
    };
    let started = Instant::now();
    while came() < 1_000_000 {
        assert!(started.elapsed() < PATIENCE, "{}", came());
        std::thread::sleep(Duration::from_millis(50));
    }
    yard.server.take().unwrap().kill();
    drop(stdin);
    assert!(!child.wait().unwrap().success());
    assert!(came() > 0, "half of it was left behind");
    yard.up();
    assert_eq!((came(), room(&yard), references(&yard)), (0, before.0, before.1));
    assert_eq!(yard.json(&["agent", "snapshots"])["items"].as_array().unwrap().len(), 1);
    // And the whole file is taken.
    yard.run(&["agent", "import", &file]).expect(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_brings_no_rights() {
    let yard = yard().await;
    let spawn = ["agent", "spawn", TASK, "--no-walls"];
    let name = yard.json(&spawn)["label"].as_str().unwrap().to_owned();
    yard.until(&name, "waiting");
    let kept = yard.run(&["agent", "snapshot", &name]).expect(0).stdout.trim().to_owned();
    yard.run(&["agent", "export", &kept, "free.godel"]).expect(0);
    let answer = yard.run(&["agent", "import", "free.godel"]).expect(0);
    assert!(answer.stderr.contains("worked without walls"), "{answer:?}");
    let copy = restore(&yard, answer.stdout.trim());
    assert_eq!(yard.agent(&copy)["sandbox"], "workspace");
    assert_eq!(
        yard.agent(&restore(&yard, &kept))["sandbox"],
        "none",
        "what stays here is as it was"
    );
}
