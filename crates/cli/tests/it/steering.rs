//! Runs and teams are steered by the commands: paused, resumed, rejected, completed and cancelled.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::Home;
use crate::worker::Working;

const GATED: &str = r#"name: gated
steps:
  - id: build
  - id: agree
    dependsOn: [build]
    approval: { message: "Ship?" }
  - id: ship
    dependsOn: [agree]
"#;

/// Ways of different length; who waits needs no worker.
const WAYS: &str = r#"name: ways
steps:
  - { id: short, timer: 1h }
  - { id: long, timer: 3h }
  - { id: last, dependsOn: [short, long], timer: 30m }
"#;

fn until(home: &Home, arguments: &[&str], is_so: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let found = home.run(arguments).expect(0).json();
        if is_so(&found) {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{found}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Starts a run of a workflow in a file.
fn run(home: &Home, source: &str) -> String {
    std::fs::write(home.path().join("flow.yaml"), source).unwrap();
    home.run(&["workflow", "run", "flow.yaml"]).expect(0).stdout.trim().to_owned()
}

#[test]
fn a_paused_run_goes_on_when_it_is_resumed_and_fails_when_its_gate_is_rejected() {
    let home = Home::new();
    let _server = home.up();
    let run = run(&home, GATED);
    let paused = home.run(&["workflow", "pause", &run]).expect(0).stdout;
    assert!(paused.starts_with(&format!("run {run} of gated is paused: ")), "{paused}");
    home.run(&["workflow", "pause", &run]).refused(4, &["run_state", "cannot be paused"]);
    // What has begun goes on, and nothing new begins.
    let worker = Working::start(&home, &["--name", "w"], "echo '{\"done\":true}'");
    let status = ["workflow", "status", &run, "--json"];
    let stands = until(&home, &status, |run| run["counts"]["succeeded"] == 1);
    assert_eq!(
        (&stands["state"], &stands["steps"][1]["state"], &stands["counts"]["waiting"]),
        (&json!("paused"), &json!("ready"), &json!(0)),
        "nobody is asked yet: {stands}"
    );
    let shown = home.run(&["workflow", "status", &run]).expect(0).stdout;
    assert!(shown.contains(&format!("`godel workflow resume {run}` lets it go on")), "{shown}");
    home.run(&["workflow", "reject", &run, "agree"]).refused(4, &["waits for no answer"]);
    let resumed = home.run(&["workflow", "resume", &run[28..], "--json"]).expect(0).json();
    assert_eq!((&resumed["id"], &resumed["state"]), (&json!(run), &json!("running")));
    until(&home, &status, |run| run["counts"]["waiting"] == 1);
    home.run(&["workflow", "resume", &run]).refused(4, &["run_state", "cannot be resumed"]);
    home.run(&["workflow", "reject", &run, "build"]).refused(4, &["is no approval"]);
    home.run(&["workflow", "reject", &run, "agree", "--note", "not today"]).expect(0);
    let failed = until(&home, &status, |run| run["state"] == "failed");
    let [build, agree, ship] = failed["steps"].as_array().unwrap().as_slice() else {
        panic!("{failed}")
    };
    assert_eq!(
        (&build["state"], &agree["state"], &ship["state"]),
        (&json!("succeeded"), &json!("failed"), &json!("cancelled"))
    );
    assert_eq!(agree["error"], "user:owner said no: not today");
    let shown = home.run(&["workflow", "status", &run]).expect(0).stdout;
    assert!(shown.contains("said no: not today"), "{shown}");
    home.run(&["workflow", "reject", &run, "agree"]).refused(4, &["run_state"]);
    home.run(&["workflow", "resume", &run]).refused(4, &["a run that is failed"]);
    // Who is asked again may say yes.
    home.run(&["workflow", "retry", &run]).expect(0);
    until(&home, &status, |run| run["counts"]["waiting"] == 1);
    home.run(&["workflow", "approve", &run, "agree"]).expect(0);
    let done = until(&home, &status, |run| run["state"] == "completed");
    assert_eq!(done["counts"]["succeeded"], 3);
    drop(worker);
}

#[test]
fn the_longest_way_ahead_is_shown_and_how_long_it_takes() {
    let home = Home::new();
    let _server = home.up();
    let run = run(&home, WAYS);
    let stands = home.run(&["workflow", "status", &run, "--json"]).expect(0).json();
    assert_eq!(stands["criticalPath"], json!(["long", "last"]), "{stands}");
    // Two timers one after the other; a generous minute of them has passed.
    let seconds = stands["remainingSeconds"].as_u64().unwrap();
    assert!((12_540..=12_600).contains(&seconds), "{seconds}");
    let shown = home.run(&["workflow", "status", &run]).expect(0).stdout;
    let ahead = shown.lines().find(|line| line.trim_start().starts_with("ahead"));
    let ahead = ahead.unwrap_or_else(|| panic!("{shown}"));
    assert!(ahead.contains("long -> last, likely 3 h "), "{shown}");
    home.run(&["workflow", "cancel", &run]).expect(0);
    let over =
        until(&home, &["workflow", "status", &run, "--json"], |run| run["state"] == "cancelled");
    assert_eq!((&over["criticalPath"], &over["remainingSeconds"]), (&json!([]), &json!(0)));
    let shown = home.run(&["workflow", "status", &run]).expect(0).stdout;
    assert!(!shown.contains("ahead"), "{shown}");
}

/// Makes a team with four pieces of work, one at a time, and lets it begin.
fn team(home: &Home, name: &str) {
    let spec = json!({ "name": name, "roles": [{ "name": "adder" }], "size": 1,
        "items": [1, 2, 3, 4] });
    std::fs::write(home.path().join("team.json"), spec.to_string()).unwrap();
    let begun = home.run(&["team", "create", "team.json", "--start"]).expect(0).stdout;
    assert!(begun.starts_with(&format!("team {name} is running, 1 at once; id ")), "{begun}");
    let show = ["team", "show", name, "--json"];
    until(home, &show, |team| team["counts"]["running"] == 1);
}

#[test]
fn a_paused_team_begins_nothing_new_until_it_is_resumed() {
    let home = Home::new();
    let _server = home.up();
    team(&home, "sum");
    let paused = home.run(&["team", "pause", "sum"]).expect(0).stdout;
    assert!(paused.starts_with("team sum is paused, 1 at once; id "), "{paused}");
    home.run(&["team", "pause", "sum"]).refused(4, &["run_state", "cannot be paused"]);
    let _worker = Working::start(&home, &["--jobs", "4"], "echo '{\"sum\":1}'");
    let show = ["team", "show", "sum", "--json"];
    let stands = until(&home, &show, |team| team["counts"]["succeeded"] == 1);
    assert_eq!((&stands["state"], &stands["counts"]["running"]), (&json!("paused"), &json!(0)));
    let resumed = home.run(&["team", "resume", "sum", "--json"]).expect(0).json();
    assert_eq!(resumed["state"], "running");
    let done = until(&home, &show, |team| team["state"] == "completed");
    assert_eq!(done["result"], json!([{ "sum": 1 }, { "sum": 1 }, { "sum": 1 }, { "sum": 1 }]));
    for verb in ["pause", "resume", "complete", "cancel"] {
        home.run(&["team", verb, "sum"]).refused(4, &["run_state", "a team that is completed"]);
    }
    home.run(&["team", "pause", "nobody"]).refused(3, &["team_not_found"]);
}

#[test]
fn a_team_is_said_to_be_done_or_cancelled_and_what_waits_is_called_off() {
    let home = Home::new();
    let _server = home.up();
    for (verb, state) in [("complete", "completed"), ("cancel", "cancelled")] {
        team(&home, verb);
        let over = home.run(&["team", verb, verb, "--json"]).expect(0).json();
        assert_eq!((&over["state"], &over["name"]), (&json!(state), &json!(verb)));
        let show = ["team", "show", verb, "--json"];
        let over = until(&home, &show, |team| team["counts"]["cancelled"] == 4);
        assert_eq!(over["state"], state);
        let run = over["runId"].as_str().unwrap();
        until(&home, &["workflow", "status", run, "--json"], |run| run["state"] == "cancelled");
        home.run(&["team", "resume", verb]).refused(4, &[&format!("a team that is {state}")]);
    }
    let depth = home.run(&["queue", "depth", "--json"]).expect(0).json();
    assert_eq!((&depth["ready"], &depth["running"]), (&json!(0), &json!(0)), "{depth}");
}
