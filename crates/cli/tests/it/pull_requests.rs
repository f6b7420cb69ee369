//! Work that lands by pull requests: a real server, real git, and a forge on this machine that is held to the published
//! descriptions of GitHub and GitLab.

use std::time::{Duration, Instant};

use godel_smithy::{Fault, How, Kind, Smithy, Standing, What};
use serde_json::{Value, json};

use crate::fleet::{AUTO, PATIENCE, PERSON, Yard};
use crate::landing::work;
use crate::people::piped;
use crate::repo::git;

const TOKEN: &str = "forge-token-leakcanary-0042";

/// A project whose remote is on a forge.
struct Place {
    yard: Yard,
    smithy: Smithy,
}

impl Place {
    async fn open(kind: Kind, landing: &str, more: &str) -> Self {
        let word = if kind == Kind::GitHub { "github" } else { "gitlab" };
        let settings = format!(
            "[gates]\ntest = \"[ ! -e broken ]\"\n[landing]\nvia = \"pull-request\"\npush = \"origin\"\n\
             forge = \"{word}\"\n{landing}{more}"
        );
        let yard = Yard::open(&settings).await;
        let smithy = Smithy::open(kind, "acme/widgets", yard.repo.home.path(), TOKEN);
        // The address is the forge's; git finds the repository behind it on this disk.
        let (remote, behind) = (smithy.remote(), smithy.git());
        yard.repo.git(&["remote", "add", "origin", &remote]);
        yard.repo.git(&["config", &format!("url.{}.insteadOf", behind.display()), &remote]);
        yard.repo.git(&["push", "-q", "origin", "main"]);
        piped(&yard.repo.home, &["secret", "set", "127.0.0.1"], TOKEN).expect(0);
        Self { yard, smithy }
    }

    fn landing(&self, bead: &str) -> Value {
        let lines = self.yard.json(&["land", "status", "--all"]);
        let all = lines["items"][0]["landings"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|one| one["bead"] == bead).unwrap_or_default()
    }

    /// Waits until the landing of a bead is as it should be, and returns it.
    fn until(&self, bead: &str, done: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let landing = self.landing(bead);
            if done(&landing) {
                return landing;
            }
            let (log, asked) = (self.yard.repo.home.log(), self.smithy.asked());
            assert!(started.elapsed() < PATIENCE, "{landing:#}\n{asked:#?}\n{log}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn until_stage(&self, bead: &str, stage: &str) -> Value {
        self.until(bead, |landing| landing["stage"] == stage)
    }

    fn until_proposed(&self, bead: &str) -> Value {
        self.until(bead, |landing| {
            landing["stage"] == "proposed" && !landing["pullRequest"]["url"].is_null()
        })
    }

    /// Waits until a request is kept waiting by the forge.
    fn until_held(&self) {
        let started = Instant::now();
        while self.smithy.held() == 0 {
            assert!(started.elapsed() < PATIENCE, "{}", self.yard.repo.home.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the server, and starts it again.
    fn kill(&mut self) {
        self.yard.server.take().unwrap().kill();
        self.smithy.let_go();
        self.yard.up();
    }

    fn on_forge(&self, branch: &str) -> String {
        git(&self.smithy.git(), &["rev-parse", branch]).trim().to_owned()
    }

    fn numbers(&self) -> Vec<u64> {
        self.smithy.pulls().iter().map(|(number, ..)| *number).collect()
    }

    /// The bead is done, with all that belongs to its record, and its forge saw nothing that it does not know.
    fn is_done(&self, bead: &str, source: &str) {
        let shown = self.yard.json(&["bead", "show", bead]);
        assert_eq!(shown["status"], "done", "{shown:#}");
        let landed = &shown["landed"];
        assert_eq!((&landed["branch"], &landed["source"]), (&json!("main"), &json!(source)));
        assert_eq!(landed["target"], json!(self.on_forge("main")));
        assert_eq!(landed["gates"], json!([{ "gate": "test", "passed": true }]), "{shown:#}");
        let landing = self.landing(bead);
        assert_eq!(
            (&landing["landed"], &landing["pullRequest"]["state"]),
            (&json!(true), &json!("merged"))
        );
        assert_eq!(self.smithy.wrong(), Vec::<String>::new());
        let log = self.yard.repo.home.log();
        assert!(!log.contains(TOKEN), "the token is in the log");
    }

    fn head(&self, bead: &str) -> String {
        self.yard.repo.git(&["rev-parse", &format!("bead/{bead}")]).trim().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_work_of_an_agent_is_proposed_and_done_when_a_person_merges_it() {
    for kind in [Kind::GitHub, Kind::GitLab] {
        let place = Place::open(kind, "", PERSON).await;
        let name = place.yard.spawn("Say hello [[work notes/hello.txt hello from an agent]]");
        let bead = place.yard.until(&name, "completed")["bead"].as_str().unwrap().to_owned();
        let source = place.head(&bead);
        let before = place.on_forge("main");
        let said = place.yard.run(&["land", &bead]).expect(0).stdout;
        let url = place.landing(&bead)["pullRequest"]["url"].as_str().unwrap().to_owned();
        assert!(said.contains("waits for its pull request") && said.contains(&url), "{said}");
        let status = place.yard.run(&["land", "status"]).expect(0).stdout;
        assert!(status.contains("proposed") && status.contains(&url), "{status}");
        // Nothing has landed, here or there; the work is on the forge under its own name.
        assert_eq!(place.on_forge("main"), before);
        assert_eq!(place.on_forge(&format!("bead/{bead}")), source);
        assert_eq!(place.yard.json(&["bead", "show", &bead])["status"], "review");
        let (title, body) = place.smithy.words(place.numbers()[0]).unwrap();
        assert!(title.starts_with("Say hello") && title.contains(&bead), "{title}");
        assert!(
            body.contains("- test: passed") && body.contains(&format!("Bead: {bead}")),
            "{body}"
        );

        let how = if kind == Kind::GitHub { How::Squash } else { How::Merge };
        let merged = place.smithy.merge(place.numbers()[0], how).unwrap();
        let landing = place.until_stage(&bead, "landed");
        assert_eq!(landing["commit"], json!(merged), "{landing:#}");
        place.is_done(&bead, &source);
        // The branch of this repository follows, with the files of its checkout.
        assert_eq!(place.yard.in_main("notes/hello.txt"), "hello from an agent");
        assert!(place.yard.repo.path.join("notes/hello.txt").exists());
        assert_eq!(place.yard.repo.git(&["status", "--porcelain"]), "");
        place.yard.run(&["land", "revert", &bead]).refused(4, &["pull request", &url]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_that_somebody_closes_sends_the_bead_back_with_the_reason() {
    let place = Place::open(Kind::GitHub, "", PERSON).await;
    let bead = work(&place.yard, "Fine", "main", &[("fine", "x\n")]);
    place.yard.run(&["land", &bead]).expect(0);
    let url = place.until_proposed(&bead)["pullRequest"]["url"].as_str().unwrap().to_owned();
    place.smithy.close(place.numbers()[0]);
    let landing = place.until_stage(&bead, "failed");
    assert_eq!((&landing["trouble"], &landing["landed"]), (&json!("closed"), &json!(false)));
    let shown = place.yard.json(&["bead", "show", &bead]);
    assert_eq!(shown["status"], "open", "{shown:#}");
    assert!(shown["comments"].to_string().contains(&url), "{shown:#}");
    // Work that was made better is proposed anew; what was closed stays closed.
    let tree = place.yard.repo.home.path().join("again");
    place.yard.repo.git(&[
        "worktree",
        "add",
        "-q",
        tree.to_str().unwrap(),
        &format!("bead/{bead}"),
    ]);
    std::fs::write(tree.join("fine"), "better\n").unwrap();
    git(&tree, &["commit", "-q", "-a", "-m", "better"]);
    place.yard.repo.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    place.yard.run(&["bead", "status", &bead, "review"]).expect(0);
    place.yard.run(&["land", &bead]).expect(0);
    place.until_proposed(&bead);
    let standings: Vec<Standing> = place.smithy.pulls().iter().map(|(.., one)| *one).collect();
    assert_eq!(standings, [Standing::Closed, Standing::Open]);
    let source = place.head(&bead);
    place.smithy.merge(place.numbers()[1], How::Merge).unwrap();
    place.until_stage(&bead, "landed");
    place.is_done(&bead, &source);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_at_any_step_opens_one_pull_request_and_ends_the_bead_once() {
    for kind in [Kind::GitHub, Kind::GitLab] {
        let mut place = Place::open(kind, "", PERSON).await;
        let end = if kind == Kind::GitHub { "/pulls" } else { "/merge_requests" };
        let bead = work(&place.yard, "Fine", "main", &[("fine", "x\n")]);
        let source = place.head(&bead);
        // Killed between the push and the opening; then when it was opened, and nobody heard of it.
        place.smithy.fail(Fault { method: "POST", end, times: 1, what: What::HoldBefore });
        place.yard.run(&["land", "add", &bead, "--no-wait"]).expect(0);
        place.until_held();
        assert_eq!(place.on_forge(&format!("bead/{bead}")), source, "it was pushed");
        place.smithy.fail(Fault { method: "POST", end, times: 1, what: What::HoldAfter });
        place.kill();
        place.until_held();
        place.kill();
        place.until_proposed(&bead);
        assert_eq!(place.numbers(), [7], "one pull request, whatever happened");
        // Killed when it was told that it is merged, before that was written down.
        let look = if kind == Kind::GitHub { "/pulls/7" } else { "/merge_requests/7" };
        let merged = place.smithy.merge(7, How::Merge).unwrap();
        place.smithy.fail(Fault { method: "GET", end: look, times: 1, what: What::HoldAfter });
        place.until_held();
        place.kill();
        let landing = place.until_stage(&bead, "landed");
        assert_eq!(landing["commit"], json!(merged));
        place.is_done(&bead, &source);
        assert_eq!(place.numbers(), [7]);
        let log = git(&place.smithy.git(), &["log", "--format=%s", "main"]);
        assert_eq!(log.lines().filter(|line| *line == "Merged by a person").count(), 1, "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forge_that_is_away_is_asked_again_and_holds_nobody_up() {
    let place = Place::open(Kind::GitLab, "", PERSON).await;
    place.smithy.set_away(true);
    let bead = work(&place.yard, "Fine", "main", &[("fine", "x\n")]);
    let said = place.yard.run(&["land", &bead]).expect(0).stdout;
    assert!(said.contains("127.0.0.1 does not answer"), "{said}");
    // Others of the line go on: their work is judged and pushed.
    let broken = work(&place.yard, "Broken", "main", &[("broken", "x\n")]);
    place.yard.run(&["land", &broken]).expect(4);
    assert_eq!(place.landing(&broken)["trouble"], "gate");
    let landing = place.landing(&bead);
    assert_eq!(landing["stage"], "proposed", "{landing:#}");
    place.smithy.set_away(false);
    let landing = place.until_proposed(&bead);
    assert_eq!(landing["why"], Value::Null, "{landing:#}");
    // A token that is not known any more is said, and the next one is taken without a restart.
    place.smithy.set_token("another-forge-token-0043");
    let lost = place
        .until(&bead, |landing| landing["why"].to_string().contains("godel secret set 127.0.0.1"));
    assert_eq!(lost["stage"], "proposed", "{lost:#}");
    piped(&place.yard.repo.home, &["secret", "set", "127.0.0.1"], "another-forge-token-0043")
        .expect(0);
    place.yard.run(&["land", "retry", &bead, "--no-wait"]).expect(0);
    place.until(&bead, |landing| landing["why"].is_null());
    let source = place.head(&bead);
    place.smithy.merge(7, How::Squash).unwrap();
    place.until_stage(&bead, "landed");
    place.is_done(&bead, &source);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_commits_are_pushed_to_the_same_pull_request_even_if_they_were_laid_anew() {
    let place = Place::open(Kind::GitHub, "", PERSON).await;
    let bead = work(&place.yard, "Fine", "main", &[("fine", "x\n")]);
    place.yard.run(&["land", &bead]).expect(0);
    let first = place.until_proposed(&bead);
    let tree = place.yard.repo.home.path().join("more");
    let (path, branch) = (tree.to_str().unwrap().to_owned(), format!("bead/{bead}"));
    place.yard.repo.git(&["worktree", "add", "-q", &path, &branch]);
    std::fs::write(tree.join("more"), "x\n").unwrap();
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "--amend", "-m", "laid anew, with more"]);
    let source = place.head(&bead);
    place.yard.run(&["land", &bead]).expect(0);
    place.until(&bead, |landing| landing["stage"] == "proposed" && landing["source"] == *source);
    let started = Instant::now();
    while place.on_forge(&branch) != source {
        assert!(started.elapsed() < PATIENCE, "{}", place.yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    let again = place.until_proposed(&bead);
    assert_eq!(again["pullRequest"]["url"], first["pullRequest"]["url"]);
    assert_eq!(place.numbers(), [7]);
    place.smithy.merge(7, How::Merge).unwrap();
    place.until_stage(&bead, "landed");
    place.is_done(&bead, &source);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_on_the_forge_is_repaired_by_an_agent_and_pushed_to_the_same_pull_request() {
    let place = Place::open(Kind::GitHub, "", PERSON).await;
    let done = json!({ "summary": "both are there" });
    let title = format!(
        "New readme [[shell git merge -q main; printf both > README.md; git add -A; git commit -qm both]] \
         [[then]] [[call done {done}]]"
    );
    let bead = work(&place.yard, &title, "main", &[("README.md", "mine\n")]);
    place.yard.run(&["land", &bead]).expect(0);
    place.until_proposed(&bead);
    // Somebody else changes the same on the forge.
    let (clone, behind) = (place.yard.repo.home.path().join("clone"), place.smithy.git());
    place.yard.repo.git(&["clone", "-q", behind.to_str().unwrap(), clone.to_str().unwrap()]);
    std::fs::write(clone.join("README.md"), "theirs\n").unwrap();
    let who = ["-c", "user.name=Bob", "-c", "user.email=bob@example.com"];
    git(&clone, &[&who[..], &["commit", "-q", "-a", "-m", "theirs"]].concat());
    git(&clone, &["push", "-q", "origin", "main"]);
    place.until_stage(&bead, "mending");
    let source = place.head(&bead);
    let repaired = |landing: &Value| landing["stage"] == "proposed" && landing["source"] != *source;
    place.until(&bead, repaired);
    let head = place.head(&bead);
    place.until(&bead, |_| place.on_forge(&format!("bead/{bead}")) == head);
    place.until_proposed(&bead);
    assert_eq!(place.numbers(), [7]);
    place.smithy.merge(7, How::Merge).unwrap();
    place.until_stage(&bead, "landed");
    place.is_done(&bead, &head);
    assert_eq!(place.yard.in_main("README.md"), "both");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_pull_request_is_asked_for_news_only() {
    let place = Place::open(Kind::GitHub, "", PERSON).await;
    let bead = work(&place.yard, "Fine", "main", &[("fine", "x\n")]);
    // Without a token nothing goes to the forge, and it is said which one is missing.
    place.yard.run(&["secret", "remove", "127.0.0.1", "--yes"]).expect(0);
    let said = place.yard.run(&["land", &bead]).expect(0).stdout;
    assert!(said.contains("no token for 127.0.0.1") && said.contains("godel secret set"), "{said}");
    assert_eq!(place.smithy.asked(), []);
    piped(&place.yard.repo.home, &["secret", "set", "127.0.0.1"], TOKEN).expect(0);
    place.yard.run(&["land", "retry", &bead]).expect(0);
    place.until_proposed(&bead);
    let looks = || {
        let all = place.smithy.asked();
        // One that is under way has no status yet.
        let looks = all.iter().filter(|one| one.path.ends_with("/pulls/7") && one.status != 0);
        looks.map(|one| one.status).collect::<Vec<u16>>()
    };
    place.until(&bead, |_| looks().len() >= 3);
    let all: Vec<u16> = looks();
    assert!(all[0] == 200 && all[1..].iter().all(|status| *status == 304), "{all:?}");
    let writes = place.smithy.asked().iter().filter(|one| one.method != "GET").count();
    assert_eq!(writes, 1, "it was opened, and nothing else was changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_convoy_lands_by_pull_requests_and_work_whose_checks_fail_goes_back() {
    let place = Place::open(Kind::GitHub, "merge = true\n", AUTO).await;
    place.smithy.checks(&[("build", "failure")]);
    let bead = place.yard.repo.create("First [[work one.txt one]]");
    let made = place.yard.json(&["convoy", "create", "Sprint", &bead]);
    let convoy = made["id"].as_str().unwrap().to_owned();
    place.yard.run(&["convoy", "start", &convoy, "--agents", "1"]).expect(0);
    place.until(&bead, |landing| landing["trouble"] == "gate");
    let shown = place.yard.json(&["bead", "show", &bead]);
    assert!(shown["comments"].to_string().contains("the forge's checks fail: build"), "{shown:#}");
    assert_ne!(shown["status"], "done");
    place.smithy.checks(&[("build", "success")]);
    let other = place.yard.repo.create("Second [[work two.txt two]]");
    let made = place.yard.json(&["convoy", "create", "Another sprint", &other]);
    let convoy = made["id"].as_str().unwrap().to_owned();
    place.yard.run(&["convoy", "start", &convoy, "--agents", "1"]).expect(0);
    place.until_stage(&other, "landed");
    place.until(&other, |_| {
        place.yard.json(&["convoy", "status", &convoy])["status"] == "completed"
    });
    let shown = place.yard.json(&["bead", "show", &other]);
    assert_eq!(shown["landed"]["target"], json!(place.on_forge("main")), "{shown:#}");
    assert_eq!(place.smithy.wrong(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bead_that_is_taken_out_has_its_pull_request_closed() {
    let place = Place::open(Kind::GitLab, "", PERSON).await;
    let bead = work(&place.yard, "Fine", "main", &[("fine", "x\n")]);
    place.yard.run(&["land", &bead]).expect(0);
    place.until_proposed(&bead);
    place.yard.run(&["land", "remove", &bead]).expect(0);
    let started = Instant::now();
    while place.smithy.pulls()[0].2 != Standing::Closed {
        assert!(started.elapsed() < PATIENCE, "{}", place.yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(place.landing(&bead)["stage"], "removed");
    assert!(place.smithy.comments(7)[0].contains("took it out"));
    assert_eq!(place.yard.json(&["bead", "show", &bead])["status"], "review");
    assert_eq!(place.smithy.wrong(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn green_pull_requests_are_merged_without_a_person_if_the_project_says_so() {
    for (kind, how, parents) in [(Kind::GitHub, "squash", 1), (Kind::GitLab, "merge", 2)] {
        let landing = format!("merge = true\nhow = \"{how}\"\n");
        let place = Place::open(kind, &landing, AUTO).await;
        place.smithy.checks(&[("build", "pending")]);
        let beads = [
            work(&place.yard, "One", "main", &[("one", "x\n")]),
            work(&place.yard, "Two", "main", &[("two", "x\n")]),
        ];
        let sources = beads.each_ref().map(|bead| place.head(bead));
        for bead in &beads {
            place.yard.run(&["land", "add", bead, "--no-wait"]).expect(0);
        }
        let pending = |landing: &Value| landing["pullRequest"]["checks"] == "pending";
        for bead in &beads {
            let landing = place.until(bead, pending);
            assert_eq!((&landing["stage"], &landing["why"]), (&json!("proposed"), &Value::Null));
        }
        place.smithy.checks(&[("build", "success")]);
        for (bead, source) in beads.iter().zip(&sources) {
            place.until_stage(bead, "landed");
            let shown = place.yard.json(&["bead", "show", bead]);
            assert_eq!(
                (&shown["status"], &shown["landed"]["source"]),
                (&json!("done"), &json!(source))
            );
            let commit = shown["landed"]["target"].as_str().unwrap();
            let words = git(&place.smithy.git(), &["log", "-1", "--format=%P%n%B", commit]);
            assert_eq!(words.lines().next().unwrap().split(' ').count(), parents, "{words}");
            assert!(words.contains(&format!("Bead: {bead}")), "{words}");
        }
        assert_eq!(place.smithy.wrong(), Vec::<String>::new());
        // The second was judged together with the first before it was merged.
        let files = git(&place.smithy.git(), &["ls-tree", "--name-only", "main"]);
        assert!(files.contains("one") && files.contains("two"), "{files}");
        assert_eq!(place.yard.repo.git(&["rev-parse", "main"]).trim(), place.on_forge("main"));
    }
}
