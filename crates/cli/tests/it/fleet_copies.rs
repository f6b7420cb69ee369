//! Copies of agents: files that git ignores, files that are in no commit, and the conversation go on
//! together, and by themselves.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fleet::{AUTO, Yard};

const TASK: &str = "[[shell mkdir cache; echo kept > cache/x; echo half > half.txt]] [[then]] [[call \
    ask {\"question\":\"Which?\",\"choices\":[\"a\",\"b\"]}]]";
const GOES_ON: &str = "You were interrupted and go on now";

/// Returns the bodies of the first requests of those who go on, once there are so many.
fn first_requests(yard: &Yard, count: usize) -> Vec<String> {
    let started = Instant::now();
    loop {
        let found: Vec<String> = yard
            .provider
            .recorded()
            .iter()
            .map(|request| String::from_utf8_lossy(&request.body).into_owned())
            .filter(|body| last_message(body).contains(GOES_ON))
            .collect();
        if found.len() >= count {
            return found;
        }
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "{} instead of {count}\n{:#}\n{}",
            found.len(),
            yard.json(&["agent", "list"]),
            yard.repo.home.log()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn last_message(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let last = body["messages"].as_array().and_then(|all| all.last().cloned());
    last.unwrap_or_default().to_string()
}

/// Waits until an agent is done; whatever it asks is left to itself.
fn completed(yard: &Yard, name: &str) -> Value {
    let started = Instant::now();
    loop {
        let agent = yard.agent(name);
        if agent["lifecycleState"] == "completed" {
            return agent;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "{agent:#}");
        for notice in yard.json(&["inbox"])["items"].as_array().unwrap() {
            if notice["agent"] == name && notice["kind"] == "question" {
                // It may be closed already, because its agent began anew.
                yard.run(&["inbox", "decline", notice["id"].as_str().unwrap()]);
            }
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_an_agent_go_on_with_its_files_and_its_conversation() {
    copies_go_on("worktree").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_an_agent_in_a_container_go_on_with_its_files_and_its_conversation() {
    copies_go_on("gvisor").await;
}

async fn copies_go_on(runtime: &str) {
    let yard = Yard::open(AUTO).await;
    std::fs::write(yard.repo.path.join(".gitignore"), "cache/\n").unwrap();
    yard.repo.git(&["add", ".gitignore"]);
    yard.repo.git(&["commit", "-q", "-m", "what git ignores"]);
    let asked = yard.json(&["agent", "spawn", TASK, "--runtime", runtime]);
    let name = asked["label"].as_str().unwrap().to_owned();
    assert_eq!(yard.until(&name, "waiting")["runtime"], runtime);
    let kept = yard.run(&["agent", "snapshot", &name]).expect(0).stdout.trim().to_owned();
    let forked = yard.json(&["agent", "fork", &name, "--copies", "2"]);
    let copies: Vec<String> = forked["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|copy| copy["label"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(copies.len(), 2, "{forked:#}");
    let asked = first_requests(&yard, 2);
    assert_eq!(asked[0], asked[1], "both are asked the very same");

    // The original goes on where they began: its next request has the same bytes, too.
    yard.run(&["agent", "pause", &name]).expect(0);
    yard.run(&["agent", "resume", &name]).expect(0);
    let asked = first_requests(&yard, 3);
    assert_eq!(asked[2], asked[0], "and so is the original");

    // One that is made of the snapshot later begins there, too.
    let late = yard.json(&["agent", "restore", &kept])["label"].as_str().unwrap().to_owned();
    let asked = first_requests(&yard, 4);
    assert_eq!(asked[3], asked[0], "and whoever is restored");

    for (at, one) in copies.iter().chain([&late, &name]).enumerate() {
        let file = format!("own-{at}.txt");
        yard.run(&["agent", "message", one, &format!("[[work {file} by copy {at}]]")]).expect(0);
        let agent = completed(&yard, one);
        let tree = PathBuf::from(agent["worktree"].as_str().unwrap());
        let read = |path: &str| std::fs::read_to_string(tree.join(path)).unwrap();
        assert_eq!((read("cache/x"), read("half.txt")), ("kept\n".to_owned(), "half\n".to_owned()));
        let branch = format!("bead/{}", agent["bead"].as_str().unwrap());
        assert_eq!(yard.at(&branch, &file), format!("by copy {at}"));
        let others = yard.repo.git(&["ls-tree", "-r", "--name-only", &branch]);
        assert_eq!(others.matches("own-").count(), 1, "nobody sees the work of another: {others}");
    }
}
