//! Steps of workflows and pieces of teams' work that agents do, over kills, pauses and changes of size.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fleet::{PATIENCE, PERSON, Yard};
use crate::home::Home;
use crate::worker::Working;

const SHIP: &str = r#"name: ship
inputs:
  text: { type: string, default: shipped }
steps:
  - id: make
    role: worker
    budget: 2.5
    task: "Write it [[pace 200]] [[work out/ship.txt {{ inputs.text }}]]"
  - id: check
    dependsOn: [make]
    with: { commit: "{{ steps.make.output.commit }}" }
outputs:
  bead: "{{ steps.make.output.bead }}"
  commit: "{{ steps.make.output.commit }}"
  seen: "{{ steps.check.output.commit }}"
"#;

fn until(yard: &Yard, what: &[&str], is_so: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let found = yard.json(what);
        if is_so(&found) {
            return found;
        }
        let late = started.elapsed() >= PATIENCE;
        assert!(!late, "{found:#}\n{:#?}\n{}", agents(yard, None), yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Starts a workflow and returns the id of its run.
fn begin(yard: &Yard, text: &str) -> String {
    std::fs::write(yard.repo.path.join("flow.yaml"), text).unwrap();
    let run = yard.json(&["workflow", "run", "flow.yaml"]);
    std::fs::remove_file(yard.repo.path.join("flow.yaml")).unwrap();
    run["id"].as_str().unwrap().to_owned()
}

/// Lists the agents in a state, or all of them, the oldest first.
fn agents(yard: &Yard, state: Option<&str>) -> Vec<Value> {
    let list = yard.json(&["agent", "list"]);
    let all = list["items"].as_array().unwrap().iter().rev().cloned();
    all.filter(|one| state.is_none_or(|state| one["lifecycleState"] == state)).collect()
}

/// Waits until so many agents are in a state, and returns their names.
fn so_many(yard: &Yard, state: &str, number: usize) -> Vec<String> {
    let started = Instant::now();
    loop {
        let found = agents(yard, Some(state));
        if found.len() == number {
            return found.iter().map(|one| one["label"].as_str().unwrap().to_owned()).collect();
        }
        let all = agents(yard, None);
        assert!(started.elapsed() < PATIENCE, "{state}: {all:#?}\n{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_done_by_one_agent_although_the_server_is_killed_and_the_next_uses_its_work() {
    let mut yard = Yard::open(PERSON).await;
    let _worker = Working::start(&yard.repo.home, &["--name", "w"], "cat");
    let run = begin(&yard, SHIP);
    // At once, around the moment when bead and agent are made, and while the agent works.
    for pause in [0, 900, 1_050, 1_200, 1_500] {
        std::thread::sleep(Duration::from_millis(pause));
        yard.server.take().unwrap().kill();
        yard.up();
    }
    so_many(&yard, "executing", 1);
    yard.server.take().unwrap().kill();
    yard.up();
    let done = until(&yard, &["workflow", "status", &run], |run| run["state"] == "completed");
    let outputs = &done["outputs"];
    assert_eq!(outputs["commit"], outputs["seen"], "{done:#}");
    let branch = format!("bead/{}", outputs["bead"].as_str().unwrap());
    assert_eq!(yard.repo.git(&["rev-parse", &branch]).trim(), outputs["commit"].as_str().unwrap());
    let commits = yard.repo.git(&["rev-list", "--count", &format!("main..{branch}")]);
    assert_eq!(commits.trim(), "1");
    assert_eq!(yard.at(&branch, "out/ship.txt"), "shipped");
    let all = agents(&yard, None);
    assert_eq!((all.len(), &all[0]["budgetMicros"]), (1, &json!(2_500_000)), "{all:#?}");
    let beads = yard.json(&["bead", "list", "--all"]);
    assert_eq!(beads["items"].as_array().map(Vec::len), Some(1), "{beads:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_a_step_can_rest_and_ends_when_its_run_is_cancelled() {
    let yard = Yard::open(PERSON).await;
    let flow = "name: long\nsteps:\n  - id: work\n    harness: native\n    task: \"[[shell echo half \
                > half.txt; sleep 600]]\"\n";
    let run = begin(&yard, flow);
    let name = so_many(&yard, "executing", 1).remove(0);
    // On a busy machine its state is there before its work is.
    let half = |agent: &Value| {
        let tree = agent["worktree"].as_str().map(PathBuf::from);
        tree.is_some_and(|tree| tree.join("half.txt").exists())
    };
    yard.wait(&name, half);
    yard.run(&["agent", "pause", &name]).expect(0);
    yard.until(&name, "paused");
    yard.run(&["agent", "resume", &name]).expect(0);
    let agent = yard.until(&name, "executing");
    let status = yard.json(&["workflow", "status", &run]);
    assert_eq!((&status["state"], &status["counts"]["running"]), (&json!("running"), &json!(1)));
    yard.run(&["workflow", "cancel", &run]).expect(0);
    yard.until(&name, "killed");
    until(&yard, &["workflow", "status", &run], |run| run["state"] == "cancelled");
    assert!(half(&agent), "its work is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_is_tried_again_goes_on_with_its_agent() {
    let yard = Yard::open(PERSON).await;
    let flow = "name: slow\nsteps:\n  - id: work\n    role: worker\n    timeout: 3s\n    task: \"[[shell \
                echo half > half.txt; sleep 600]]\"\n";
    let run = begin(&yard, flow);
    let failed = until(&yard, &["workflow", "status", &run], |run| run["state"] == "failed");
    let why = failed["steps"][0]["error"].to_string();
    assert!(why.contains("worker-1 cannot go on: its time of 3 s is up"), "{failed:#}");
    yard.run(&["agent", "message", "worker-1", "[[work rest.txt done]]"]).expect(0);
    yard.run(&["workflow", "retry", &run]).expect(0);
    let done = until(&yard, &["workflow", "status", &run], |run| run["state"] == "completed");
    let bead = done["steps"][0]["output"]["bead"].as_str().unwrap();
    assert_eq!(yard.at(&format!("bead/{bead}"), "half.txt"), "half");
    assert_eq!(agents(&yard, None).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_agents_of_a_team_work_as_it_is_large() {
    let yard = Yard::open(PERSON).await;
    let wait = |at: u32| format!("[[shell echo {at} > half-{at}.txt; sleep 600]]");
    let items = [wait(1), wait(2), wait(3), "[[work four.txt four]]".to_owned()];
    let spec = json!({ "name": "crew", "goal": "Do your part.", "items": items, "size": 1,
        "roles": [{ "name": "maker", "role": "worker" }], "project": "app" });
    std::fs::write(yard.repo.home.path().join("crew.json"), spec.to_string()).unwrap();
    yard.repo.home.run(&["team", "create", "crew.json"]).expect(0);
    yard.run(&["team", "start", "crew"]).expect(0);
    let first = so_many(&yard, "executing", 1);
    assert_eq!(agents(&yard, None).len(), 1, "the team has one");
    yard.run(&["team", "scale", "crew", "3"]).expect(0);
    so_many(&yard, "executing", 3);
    yard.run(&["team", "scale", "crew", "1"]).expect(0);
    let resting = so_many(&yard, "paused", 2);
    assert_eq!(so_many(&yard, "executing", 1), first, "the eldest works on");
    for name in &resting {
        assert!(yard.agent(name)["note"].as_str().unwrap().contains("its team has become smaller"));
        yard.run(&["agent", "message", name, "[[work rest.txt done]]"]).expect(0);
    }
    // As soon as the first is out of the way, one after the other gets on.
    yard.run(&["agent", "pause", &first[0]]).expect(0);
    so_many(&yard, "completed", 2);
    yard.run(&["agent", "message", &first[0], "[[work rest.txt done]]"]).expect(0);
    yard.run(&["agent", "resume", &first[0]]).expect(0);
    let team = until(&yard, &["team", "show", "crew"], |team| team["state"] == "completed");
    let results = team["result"].as_array().unwrap();
    assert_eq!(results.len(), 4, "{team:#}");
    for (at, result) in results.iter().enumerate() {
        let files =
            yard.repo.git(&["ls-tree", "-r", "--name-only", result["commit"].as_str().unwrap()]);
        let own = if at == 3 { "four.txt".to_owned() } else { format!("half-{}.txt", at + 1) };
        assert!(files.contains(&own), "{at}: {files}");
    }
    assert_eq!(agents(&yard, None).len(), 4);
    assert!(team["spentMicros"].as_i64().unwrap() > 0, "{team:#}");
    sums_by_team_and_runtime_agree_with_the_ledger(&yard, team["id"].as_str().unwrap());
}

fn sums_by_team_and_runtime_agree_with_the_ledger(yard: &Yard, team: &str) {
    yard.run(&["agent", "spawn", "[[work alone.txt alone]]", "--name", "loner"]).expect(0);
    until(yard, &["agent", "show", "loner"], |agent| agent["lifecycleState"] == "completed");
    let sum = |report: &Value| report["total"]["costMicros"].as_i64().unwrap();
    let all = sum(&yard.json(&["usage"]));
    let crew = sum(&yard.json(&["usage", "--team", team]));
    assert!(0 < crew && crew < all, "{crew} of {all}");
    let rows = yard.json(&["usage", "--by", "team"])["rows"].clone();
    let cost = |row: &Value| (row["group"]["team"].clone(), row["costMicros"].as_i64().unwrap());
    let told: Vec<_> = rows.as_array().unwrap().iter().map(cost).collect();
    assert_eq!(told, [(json!(""), all - crew), (json!(team), crew)]);
    assert_eq!(sum(&yard.json(&["usage", "--runtime", "worktree"])), all);
    assert_eq!(sum(&yard.json(&["usage", "--runtime", "gvisor"])), 0);
    let calls = yard.json(&["calls", "--team", team, "--limit", "1000"])["items"].clone();
    let single = calls.as_array().unwrap().iter().map(|call| call["costMicros"].as_i64().unwrap());
    assert_eq!(single.sum::<i64>(), crew);
    let shown = yard.run(&["cost", "--by", "team,runtime"]).expect(0).stdout;
    assert!(shown.contains("crew") && shown.contains("worktree"), "{shown}");
}

#[test]
fn a_step_that_no_agent_could_do_is_refused_with_its_place() {
    let home = Home::new();
    let _server = home.up();
    let check = |text: &str| {
        std::fs::write(home.path().join("flow.yaml"), text).unwrap();
        home.run(&["workflow", "run", "flow.yaml"])
    };
    let bad =
        "name: bad\nsteps:\n  - id: a\n    harness: claud\n    pool: mine\n    budget: lots\n";
    let wrong = ["4:14", "one of native", "5:5", "for workers", "6:13", "dollars", "nothing to do"];
    check(bad).refused(2, &wrong);
    let good = "name: good\nsteps:\n  - id: a\n    role: worker\n    task: hello\n";
    check(good).refused(2, &["no project has a repository yet"]);
    check(&good.replace("task:", "project: nowhere\n    task:"))
        .refused(2, &["there is no project \"nowhere\""]);
}
