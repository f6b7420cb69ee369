//! The app that an agent works on, running: as it is being changed, and as it was committed.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fleet::{PATIENCE, PERSON, Yard};
use crate::people::developer;

/// Commits a page and says that it is done.
fn page(words: &str) -> String {
    format!(
        "[[shell echo '{words}' > index.html; git add -A; git commit -qm page]] [[then]] [[call done \
         {{\"summary\":\"a page\"}}]]"
    )
}

fn show(yard: &Yard, preview: &Value) -> Value {
    yard.json(&["preview", "show", preview["id"].as_str().unwrap()])
}

/// Waits until a preview is as it should be.
fn until(yard: &Yard, preview: &Value, state: &str) -> Value {
    let started = Instant::now();
    loop {
        let found = show(yard, preview);
        if found["state"] == state {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{found:#}\n{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Looks at the page of a preview as a browser would; nothing if nobody is there.
async fn look(preview: &Value, path: &str) -> Option<(u16, String)> {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}{path}", preview["url"].as_str().unwrap());
    let answer = http.get(url).send().await.ok()?;
    Some((answer.status().as_u16(), answer.text().await.ok()?))
}

/// Lists the worktrees that were made to be looked at.
fn made(yard: &Yard) -> Vec<String> {
    let trees = std::fs::read_dir(yard.repo.path.join(".godel/worktrees")).into_iter().flatten();
    let names = trees.map(|tree| tree.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("preview-")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_is_seen_as_its_agent_changes_it_and_ends_with_it() {
    let yard = Yard::open(PERSON).await;
    let name = yard.spawn("[[shell echo first > index.html; echo secret > .env; sleep 600]]");
    let agent = yard.until(&name, "executing");
    let tree = std::path::PathBuf::from(agent["worktree"].as_str().unwrap());
    yard.wait(&name, |_| tree.join(".env").exists());

    let preview = yard.json(&["preview", "start", &name]);
    assert_eq!((&preview["isLive"], &preview["agent"]), (&true.into(), &name.as_str().into()));
    let ready = until(&yard, &preview, "ready");
    assert_eq!(look(&ready, "").await.unwrap(), (200, "first\n".to_owned()));
    std::fs::write(tree.join("index.html"), "second").unwrap();
    assert_eq!(look(&ready, "index.html").await.unwrap(), (200, "second".to_owned()));
    // What is hidden is not shown to whoever finds the port.
    assert_eq!(look(&ready, ".env").await.unwrap().0, 404);
    // Asked for by its bead, it is the same.
    let bead = agent["bead"].as_str().unwrap();
    assert_eq!(yard.json(&["preview", "start", bead])["id"], preview["id"]);
    assert_eq!(yard.json(&["preview", "list", "--bead", bead])["items"][0]["id"], preview["id"]);

    yard.run(&["agent", "kill", &name]).expect(0);
    let ended = until(&yard, &preview, "ended");
    let why = ended["why"].as_str().unwrap();
    assert!(why.starts_with(&format!("{name} is not at work any more")), "{why}");
    assert_eq!(look(&ended, "").await, None, "nobody listens there any more");
    let told = yard.json(&["events", "list", "--type", "preview:*", "--limit", "10"]);
    let mut kinds: Vec<_> =
        told["items"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
    kinds.sort_by_key(ToString::to_string);
    assert_eq!(kinds, ["preview:ended", "preview:ready", "preview:started"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_committed_is_seen_in_walls_of_its_own_that_go_with_it() {
    let mut yard = Yard::open(PERSON).await;
    let name = yard.spawn(&page("of a commit"));
    let agent = yard.until(&name, "completed");
    let bead = agent["bead"].as_str().unwrap().to_owned();
    let preview = yard.json(&["preview", "start", &bead]);
    assert_eq!((&preview["isLive"], &preview["commit"]), (&false.into(), &agent["commit"]));
    let ready = until(&yard, &preview, "ready");
    assert_eq!(look(&ready, "").await.unwrap(), (200, "of a commit\n".to_owned()));
    assert_eq!(made(&yard).len(), 1);
    let stopped = yard.json(&["preview", "stop", preview["id"].as_str().unwrap()]);
    assert_eq!((&stopped["state"], &stopped["why"]), (&"ended".into(), &"owner stopped it".into()));
    assert_eq!(look(&ready, "").await, None);
    assert_eq!(made(&yard), [""; 0], "its worktree went");
    assert_eq!(yard.repo.git(&["branch", "--list", "bead/preview-*"]), "");

    // A server that is killed leaves it behind, and the next preview clears it away.
    let again = yard.json(&["preview", "start", &bead]);
    until(&yard, &again, "ready");
    let left = made(&yard);
    yard.server.take().unwrap().kill();
    yard.up();
    let gone = yard.run(&["preview", "show", again["id"].as_str().unwrap()]);
    assert!(gone.expect(3).stderr.contains("there is no preview"), "it was in memory");
    assert_eq!(look(&again, "").await, None, "it ended with its server");
    let last = yard.json(&["preview", "start", &bead]);
    until(&yard, &last, "ready");
    assert!(made(&yard).iter().all(|name| !left.contains(name)) && made(&yard).len() == 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_ones_own_is_run_and_what_goes_wrong_is_told() {
    let yard = Yard::open(PERSON).await;
    let name = yard.spawn("Say hello [[work notes/hello.txt hello]]");
    let bead = yard.until(&name, "completed")["bead"].as_str().unwrap().to_owned();
    // Nothing tells how it is started.
    let unknown = yard.run(&["preview", "start", &bead]).expect(2);
    assert!(unknown.stderr.contains("it is not known how the app of"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("godel.toml"), "{}", unknown.stderr);
    let own = ["preview", "start", &bead, "--json", "--", "echo no such thing; exit 3"];
    let failing = yard.run(&own).expect(0).json();
    let ended = until(&yard, &failing, "ended");
    assert_eq!((&ended["exitCode"], &ended["output"]), (&3.into(), &"no such thing\n".into()));
    assert_eq!(ended["why"], "its command ended with code 3");
    // What the project says counts, from the person's own checkout.
    let settings = format!("{PERSON}[project]\npreview = \"exec godel preview files notes\"\n");
    std::fs::write(yard.repo.path.join("godel.toml"), settings).unwrap();
    let own = until(&yard, &yard.json(&["preview", "start", &bead]), "ready");
    assert_eq!(look(&own, "hello.txt").await.unwrap(), (200, "hello\n".to_owned()));

    let idle = yard.json(&["bead", "create", "Nobody began"]);
    let nothing = yard.run(&["preview", "start", idle["id"].as_str().unwrap()]);
    assert!(
        nothing.stderr.contains("has made no commit that could be shown"),
        "{}",
        nothing.stderr
    );
    let server = yard.server.as_ref().unwrap();
    let viewer =
        tokio::task::block_in_place(|| developer(server, &yard.repo.home, "vera", "viewer", &[]));
    assert_eq!(
        viewer.run(&["preview", "list", "--json"]).expect(0).json()["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    for refused in
        [vec!["preview", "start", &bead], vec!["preview", "stop", own["id"].as_str().unwrap()]]
    {
        viewer.run(&refused).expect(5);
    }
}
