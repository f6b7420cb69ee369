//! Worktrees over the API: work is saved before one goes, and none goes from under an agent.

use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::fleet::{PATIENCE, PERSON, Yard};

/// Asks the server, as its owner.
async fn ask(yard: &Yard, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
    let key = std::fs::read_to_string(yard.repo.home.data().join("owner.key")).unwrap();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("http://{}/api/v1{path}", yard.address);
    let mut request = http.request(method, url).bearer_auth(key.trim());
    if let Some(body) = body {
        request = request.json(&body);
    }
    let answer = request.send().await.unwrap();
    let status = answer.status();
    (status, answer.json().await.unwrap())
}

async fn remove(yard: &Yard, id: &str) -> (StatusCode, Value) {
    ask(yard, Method::DELETE, &format!("/worktrees/{id}"), None).await
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_goes_when_its_work_is_saved_and_not_from_under_an_agent() {
    let yard = Yard::open(PERSON).await;
    let name = yard.spawn("[[shell echo half > half.txt; sleep 600]]");
    let agent = yard.until(&name, "executing");
    let (bead, tree) = (agent["bead"].as_str().unwrap(), agent["worktree"].as_str().unwrap());
    let half = std::path::Path::new(tree).join("half.txt");
    yard.wait(&name, |_| half.exists());
    let (status, said) = remove(&yard, bead).await;
    assert_eq!((status, &said["error"]["code"]), (StatusCode::CONFLICT, &"worktree_busy".into()));
    assert!(said["error"]["hint"].as_str().unwrap().contains(&name), "{said:#}");
    // Nor from under one that only stands still; others look in it, but have one of their own.
    yard.run(&["agent", "pause", &name]).expect(0);
    yard.until(&name, "paused");
    let (status, said) = remove(&yard, bead).await;
    assert_eq!((status, &said["error"]["code"]), (StatusCode::CONFLICT, &"worktree_busy".into()));
    assert!(half.exists());

    yard.run(&["agent", "kill", &name]).expect(0);
    // Its processes need a moment to end.
    let started = Instant::now();
    let mut answer = remove(&yard, bead).await;
    while answer.0 == StatusCode::CONFLICT && started.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(100)).await;
        answer = remove(&yard, bead).await;
    }
    let (status, said) = answer;
    assert_eq!(status, StatusCode::OK, "{said:#}");
    let gone = &said["data"];
    assert_eq!((&gone["id"], &gone["projectId"]), (&agent["bead"], &agent["projectId"]));
    assert!(!half.exists());
    // What it had not committed comes back by the command that was told.
    let restore = gone["restore"][0].as_str().unwrap_or_else(|| panic!("{gone:#}"));
    let words: Vec<&str> = restore.split_whitespace().skip(1).collect();
    yard.repo.git(&words);
    let branch = words.iter().find(|word| word.starts_with("rescue")).unwrap_or(&words[1]);
    assert_eq!(yard.at(branch, "half.txt"), "half");

    let (status, said) = remove(&yard, bead).await;
    assert_eq!(
        (status, &said["error"]["code"]),
        (StatusCode::NOT_FOUND, &"worktree_not_found".into())
    );
    let (status, _) = remove(&yard, "..%2Fescape").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_attempt_keeps_the_worktree_that_it_works_in() {
    let yard = Yard::open(PERSON).await;
    let made = yard.json(&["bead", "create", "Two ways", "--description", "[[shell sleep 600]]"]);
    let bead = made["id"].as_str().unwrap();
    let models = ["claude-opus-4-8", "claude-sonnet-4-5"].join(",");
    let begun = yard.json(&["attempt", "start", bead, "--models", &models]);
    let first = begun["attempts"][0]["agent"].as_str().unwrap().to_owned();
    yard.until(&first, "executing");
    yard.run(&["agent", "pause", &first]).expect(0);
    yard.until(&first, "paused");
    let (status, said) = remove(&yard, &format!("attempt-{bead}-1")).await;
    assert_eq!((status, &said["error"]["code"]), (StatusCode::CONFLICT, &"worktree_busy".into()));
    assert!(said["error"]["message"].as_str().unwrap().starts_with(&first), "{said:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn those_whose_time_has_come_are_told_first_and_then_removed() {
    let yard = Yard::open(PERSON).await;
    let made = yard.json(&["bead", "create", "By hand"]);
    let bead = made["id"].as_str().unwrap();
    yard.run(&["worktree", "create", bead, "--cleanup", "on-success"]).expect(0);
    yard.run(&["worktree", "create", "godel-stays"]).expect(0);
    assert!(yard.json(&["bead", "show", bead])["worktree"].is_string());
    let tree = yard.repo.path.join(".godel/worktrees").join(bead);
    std::fs::write(tree.join("own.txt"), "own").unwrap();
    let git = |words: &[&str]| yard.repo.git(&[&["-C", tree.to_str().unwrap()], words].concat());
    git(&["add", "own.txt"]);
    git(&["commit", "-q", "-m", "by hand"]);
    yard.repo.git(&["merge", "-q", &format!("bead/{bead}")]);

    let clean = |dry_run: bool| {
        ask(&yard, Method::POST, "/worktrees/cleanup", Some(json!({ "dryRun": dry_run })))
    };
    let (status, said) = clean(true).await;
    assert_eq!(status, StatusCode::OK, "{said:#}");
    assert_eq!(names(&said["data"]["due"]), [bead], "{said:#}");
    assert_eq!(names(&said["data"]["kept"]), ["godel-stays"]);
    assert!(tree.exists(), "it was only a question");
    let (_, said) = clean(false).await;
    assert_eq!(names(&said["data"]["removed"]), [bead], "{said:#}");
    assert!(!tree.exists());
    assert!(yard.json(&["bead", "show", bead])["worktree"].is_null());
    let (_, said) = ask(&yard, Method::GET, "/worktrees", None).await;
    assert_eq!(names(&said["data"]["items"]), ["godel-stays"]);
}
