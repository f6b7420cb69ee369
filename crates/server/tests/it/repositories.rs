//! Repositories that are cloned or begun over HTTP, by real git.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::emitted::CANARY;
use crate::harness::{Running, SOON, data, failure, servers};

const REPOSITORIES: &str = "/api/v1/repositories";

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["-c", "user.name=A", "-c", "user.email=a@b"]);
    let output = git.args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a bare repository with one commit, as a forge has it.
fn forge(root: &TempDir) -> PathBuf {
    let (work, bare) = (root.path().join("work"), root.path().join("an app.git"));
    std::fs::create_dir(&work).unwrap();
    git(&work, &["init", "-q", "-b", "main"]);
    git(&work, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(root.path(), &["clone", "-q", "--bare", "work", "an app.git"]);
    bare
}

async fn begin(server: &Running, body: Value) -> Value {
    let answer = server.post(REPOSITORIES, body).await;
    let place = answer.headers()["location"].to_str().unwrap().to_owned();
    let job = data(answer, StatusCode::ACCEPTED).await;
    assert_eq!(place, format!("{REPOSITORIES}/{}", job["id"].as_str().unwrap()));
    assert_eq!(job["state"], "working", "{job}");
    job
}

/// Waits until a job is over.
async fn ended(server: &Running, job: &Value) -> Value {
    let (path, started) =
        (format!("{REPOSITORIES}/{}", job["id"].as_str().unwrap()), Instant::now());
    loop {
        let job = data(server.get(&path).await, StatusCode::OK).await;
        if job["state"] != "working" {
            assert!(job["endedAt"].is_string(), "{job}");
            return job;
        }
        assert!(started.elapsed() < SOON, "{job}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits for the event of a job, and returns it.
async fn told(server: &Running, kind: &str, job: &Value) -> Value {
    let (path, started) = (format!(r#"/api/v1/events?filter={{"type":"{kind}"}}"#), Instant::now());
    loop {
        let log = data(server.get(&path).await, StatusCode::OK).await;
        let found = log["items"].as_array().unwrap().iter();
        if let Some(event) = found.clone().find(|event| event["payload"]["id"] == job["id"]) {
            return event.clone();
        }
        assert!(started.elapsed() < SOON, "no {kind} in {log}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_cloned_and_becomes_that_of_a_project() {
    for server in servers().await {
        let root = TempDir::new().unwrap();
        let bare = forge(&root);
        let url = format!("file://{}", bare.display().to_string().replace(' ', "%20"));
        for (name, from) in [("by-url", url), ("by-path", bare.display().to_string())] {
            let folder = root.path().join("new").join(name);
            let job = begin(&server, json!({ "clone": from, "folder": folder })).await;
            assert_eq!((&job["kind"], &job["url"]), (&json!("clone"), &json!(from)));
            let job = ended(&server, &job).await;
            assert_eq!((&job["state"], &job["why"]), (&json!("ready"), &Value::Null), "{job}");
            assert!(!job["progress"].as_str().unwrap().is_empty(), "{job}");
            assert_eq!(git(&folder, &["rev-parse", "HEAD"]), git(&bare, &["rev-parse", "main"]));
            let event = told(&server, "repository:ready", &job).await;
            assert_eq!(event["payload"]["folder"], job["folder"], "{event}");
            assert_eq!(
                (&event["payload"]["state"], &event["metadata"]["actor"]),
                (&json!("ready"), &json!("user:owner"))
            );
            let project = json!({ "name": name, "repository": job["folder"] });
            data(server.post("/api/v1/projects", project).await, StatusCode::CREATED).await;
            let acts = server.get(r#"/api/v1/audit?filter={"action":"repository:make"}"#).await;
            let acts = data(acts, StatusCode::OK).await;
            let resource = format!("repository/{}", job["id"].as_str().unwrap());
            let of_job = |act: &&Value| act["resource"] == resource.as_str();
            assert!(acts["items"].as_array().unwrap().iter().any(|act| of_job(&act)), "{acts}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_repository_has_a_first_commit_and_needs_no_more() {
    for server in servers().await {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("some/where/shop");
        let job = begin(&server, json!({ "folder": folder })).await;
        assert_eq!((&job["kind"], &job["url"]), (&json!("new"), &Value::Null));
        let job = ended(&server, &job).await;
        assert_eq!(job["state"], "ready", "{job}");
        assert_eq!(git(&folder, &["log", "--format=%s", "main"]), "First commit");
        assert_eq!(git(&folder, &["show", "main:README.md"]), "# shop");
        let project = json!({ "name": "shop", "repository": folder });
        data(server.post("/api/v1/projects", project).await, StatusCode::CREATED).await;
        let bead = json!({ "title": "the first" });
        data(server.post("/api/v1/beads", bead).await, StatusCode::CREATED).await;
        // An empty folder that is there will do; one with something in it is left alone.
        let empty = root.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        let job = begin(&server, json!({ "folder": empty })).await;
        assert_eq!(ended(&server, &job).await["state"], "ready");
        let taken = server.post(REPOSITORIES, json!({ "folder": empty })).await;
        let taken = failure(taken, 409, "file_exists").await;
        assert_eq!(taken["error"]["field"], "folder", "{taken}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_must_not_be_cloned_or_written_is_refused() {
    for server in servers().await {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("x");
        for clone in [
            format!("https://ann:{CANARY}@example.com/app.git"),
            format!("https://{CANARY}@example.com/app.git"),
            format!("https://example.com/app.git?token={CANARY}"),
            "ext::sh -c true".to_owned(),
            "--upload-pack=/bin/true".to_owned(),
            "ftp://example.com/app.git".to_owned(),
            "app".to_owned(),
            String::new(),
            root.path().join("none").display().to_string(),
        ] {
            let answer =
                server.post(REPOSITORIES, json!({ "clone": clone, "folder": folder })).await;
            let body = failure(answer, 400, "invalid_field").await;
            assert_eq!(body["error"]["field"], "clone", "{clone}: {body}");
            assert!(!body.to_string().contains(CANARY), "{body}");
        }
        let inside = server.data.path().join("x").display().to_string();
        let long = format!("/{}", "a".repeat(5_000));
        for folder in ["", "x", "~/x", "/", "/tmp/../x", "/a\u{0}b", &inside, &long] {
            let answer = server.post(REPOSITORIES, json!({ "folder": folder })).await;
            let body = failure(answer, 400, "invalid_field").await;
            assert_eq!(body["error"]["field"], "folder", "{folder}: {body}");
        }
        failure(server.post(REPOSITORIES, json!({})).await, 400, "invalid_field").await;
        let odd = json!({ "folder": folder, "depth": 1 });
        failure(server.post(REPOSITORIES, odd).await, 400, "invalid_field").await;
        assert!(!folder.exists() && !Path::new(&inside).exists());
        let none = format!("{REPOSITORIES}/01a1e032-219b-76dd-a51c-67e958f1e5a8");
        failure(server.get(&none).await, 404, "no_repository").await;
        failure(server.get(&format!("{REPOSITORIES}/x")).await, 400, "invalid_id").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_makes_projects_makes_repositories_and_only_in_its_own_tenant() {
    for server in servers().await {
        let root = TempDir::new().unwrap();
        let mine = root.path().join("mine");
        let job = begin(&server, json!({ "folder": mine })).await;
        ended(&server, &job).await;
        let project = json!({ "name": "mine", "repository": mine });
        data(server.post("/api/v1/projects", project).await, StatusCode::CREATED).await;
        let path = format!("{REPOSITORIES}/{}", job["id"].as_str().unwrap());
        let ask = |key: &str, body: Value| {
            let request = server.http.post(format!("{}{REPOSITORIES}", server.url));
            request.bearer_auth(key).json(&body).send()
        };
        for role in ["operator", "developer", "viewer"] {
            let (_, key) = server.user(role, role).await;
            let folder = root.path().join(role);
            failure(ask(&key, json!({ "folder": folder })).await.unwrap(), 403, "forbidden").await;
            let look = server.ask_as(&key, Method::GET, &path).await;
            failure(look, 403, "forbidden").await;
        }
        let other = server.other_tenant().await;
        failure(server.ask_as(&other, Method::GET, &path).await, 404, "no_repository").await;
        // The wall between tenants goes through the file system, too.
        let theirs = root.path().join("theirs");
        for body in [
            json!({ "clone": mine, "folder": theirs }),
            json!({ "clone": format!("file://{}", mine.display()), "folder": theirs }),
            json!({ "clone": mine.join(".git"), "folder": theirs }),
            json!({ "folder": mine.join("inside") }),
        ] {
            failure(ask(&other, body).await.unwrap(), 400, "invalid_field").await;
        }
        assert!(!theirs.exists() && !mine.join("inside").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clone_that_fails_says_why_and_leaves_nothing() {
    for server in servers().await {
        let root = TempDir::new().unwrap();
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/app.git", nobody.local_addr().unwrap());
        drop(nobody);
        let made = root.path().join("made/by/it");
        let job = begin(&server, json!({ "clone": url, "folder": made })).await;
        let job = ended(&server, &job).await;
        let why = job["why"].as_str().unwrap();
        assert!(why.contains("127.0.0.1 cannot be reached") && why.contains("try again"), "{job}");
        assert_eq!((&job["state"], root.path().join("made").exists()), (&json!("failed"), false));
        let event = told(&server, "repository:failed", &job).await;
        assert_eq!(event["payload"]["state"], "failed", "{event}");
        // A folder that was there stays, and can be used again.
        let own = root.path().join("own");
        std::fs::create_dir(&own).unwrap();
        let job = begin(&server, json!({ "clone": url, "folder": own })).await;
        assert_eq!(ended(&server, &job).await["state"], "failed");
        assert_eq!(std::fs::read_dir(&own).unwrap().count(), 0);
        let job = begin(&server, json!({ "folder": own })).await;
        assert_eq!(ended(&server, &job).await["state"], "ready");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clone_ends_with_the_server_and_the_next_one_waits_for_its_place() {
    for mut server in servers().await {
        let root = TempDir::new().unwrap();
        // It takes connections and never says a word.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("git://{}/app", silent.local_addr().unwrap());
        for n in 0..5 {
            let folder = root.path().join(format!("app-{n}"));
            begin(&server, json!({ "clone": url, "folder": folder })).await;
        }
        let started = Instant::now();
        let there = |n: &usize| root.path().join(format!("app-{n}")).exists();
        while (0..5).filter(there).count() < 4 {
            assert!(started.elapsed() < SOON, "four are cloned at once");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Who is first to come is not always first to begin.
        let (busy, waiting) = ((0..5).find(there).unwrap(), (0..5).find(|n| !there(n)));
        let waiting = waiting.expect("one of five waits");
        let taken =
            [format!("app-{busy}"), format!("app-{waiting}"), format!("app-{waiting}/inside")];
        for folder in taken {
            let body = json!({ "folder": root.path().join(folder) });
            failure(server.post(REPOSITORIES, body).await, 409, "file_exists").await;
        }
        let started = Instant::now();
        server.stop().await;
        assert!(started.elapsed() < Duration::from_secs(9), "{}", server.engine);
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0, "nothing is left");
    }
}
