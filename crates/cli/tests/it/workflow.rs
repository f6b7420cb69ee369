//! Workflows and teams by the commands, done by real workers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::Home;
use crate::people::piped;
use crate::worker::Working;

const RELEASE: &str = r#"name: release
inputs:
  branch: { type: string, default: main }
steps:
  - id: build
    with: { branch: "{{ inputs.branch }}" }
    retries: { maxAttempts: 1 }
  - id: agree
    dependsOn: [build]
    approval: { by: [role:admin], message: "Ship?" }
  - id: ship
    dependsOn: [agree]
    with: { version: "{{ steps.build.output.version }}" }
outputs:
  version: "{{ steps.build.output.version }}"
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

#[test]
fn a_workflow_is_checked_and_drawn_without_a_server() {
    let home = Home::new();
    std::fs::write(home.path().join("release.yaml"), RELEASE).unwrap();
    let told = home.run(&["workflow", "validate", "release.yaml"]).expect(0).stdout;
    assert_eq!(told, "workflow release is right: 3 steps in 3 waves\n");
    let bad = RELEASE.replace("dependsOn: [agree]", "dependsOn: [nobody]");
    std::fs::write(home.path().join("bad.yaml"), bad).unwrap();
    home.run(&["workflow", "validate", "bad.yaml"])
        .refused(2, &["bad.yaml has 2 mistakes", "12:17", "nobody", "13:22", "invalid_workflow"]);
    home.run(&["workflow", "run", "bad.yaml"]).refused(2, &["12:17"]);
    let broken = piped(&home, &["workflow", "validate", "-"], "name: [");
    broken.refused(2, &["invalid_workflow"]);
    home.run(&["workflow", "validate", "none.yaml"]).refused(1, &["none.yaml could not be read"]);
    let drawing = home.run(&["workflow", "export", "release.yaml"]).expect(0).stdout;
    assert!(drawing.contains("build") && drawing.contains("-->"), "{drawing}");
    let dot = ["workflow", "export", "release.yaml", "--format", "dot"];
    assert!(home.run(&dot).expect(0).stdout.starts_with("digraph"));
    home.run(&["workflow", "run", "release.yaml", "--input", "branch"])
        .refused(2, &["NAME=TEXT", "NAME:=JSON"]);
    home.run(&["workflow", "run", "release.yaml"]).refused(6, &["server_unreachable"]);
}

#[test]
fn a_workflow_runs_fails_is_tried_again_asks_and_completes() {
    let home = Home::new();
    let _server = home.up();
    std::fs::write(home.path().join("release.yaml"), RELEASE).unwrap();
    let script = r#"case "$GODEL_TASK_TITLE" in
*build*) test -f ok || { echo "no compiler" >&2; exit 1; }; printf '{"version":"1.4","got":%s}\n' "$(cat)";;
*) echo '{"shipped":true}';; esac"#;
    let _worker = Working::start(&home, &["--name", "w"], script);
    let start = ["workflow", "run", "release.yaml", "--input", "branch=next"];
    let run = home.run(&start).expect(0).stdout.trim().to_owned();
    let status = ["workflow", "status", &run[28..], "--json"];
    let failed = until(&home, &status, |run| run["state"] == "failed");
    assert_eq!(
        (&failed["counts"]["failed"], &failed["counts"]["cancelled"]),
        (&json!(1), &json!(2))
    );
    let shown = home.run(&["workflow", "status", &run]).expect(0).stdout;
    for part in ["release (failed)", "no compiler", "`godel workflow retry "] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    std::fs::write(home.path().join("ok"), "").unwrap();
    assert!(home.run(&["workflow", "retry", &run]).expect(0).stdout.contains("is running"));
    until(&home, &status, |run| run["counts"]["waiting"] == 1);
    looked_back(&home, &run);
    let shown = home.run(&["workflow", "status", &run]).expect(0).stdout;
    assert!(shown.contains(&format!("`godel workflow approve {run} agree`")), "{shown}");
    let drawing = home.run(&["workflow", "export", &run]).expect(0).stdout;
    assert!(drawing.contains("agree"), "{drawing}");
    home.run(&["workflow", "approve", &run, "nobody"]).refused(3, &["has no step `nobody`"]);
    home.run(&["workflow", "approve", &run, "agree", "--note", "go"]).expect(0);
    let done = until(&home, &status, |run| run["state"] == "completed");
    assert_eq!(done["outputs"], json!({ "version": "1.4" }));
    assert_eq!(done["steps"][2]["output"], json!({ "shipped": true }), "{done}");
    home.run(&["workflow", "pause", &run]).expect(4);
    home.run(&["workflow", "status", "ffffffff"]).refused(3, &["run_not_found"]);
    stored(&home);
}

/// A step tells each time that it was begun, and why it failed before.
fn looked_back(home: &Home, run: &str) {
    let step = home.run(&["workflow", "step", run, "build", "--json"]).expect(0).json();
    let rounds = step["rounds"].as_array().unwrap();
    assert_eq!((&step["state"], rounds.len()), (&json!("succeeded"), 2), "{step}");
    let (last, first) = (&rounds[0]["task"], &rounds[1]["task"]);
    assert_eq!((&last["state"], &first["state"]), (&json!("succeeded"), &json!("dead")));
    assert!(first["attempts"][0]["error"].as_str().unwrap().contains("no compiler"), "{first}");
    assert!(last["result"]["version"] == "1.4" && last["payload"].is_object(), "{last}");
    let shown = home.run(&["workflow", "step", run, "build"]).expect(0).stdout;
    assert!(shown.contains("build (succeeded)") && shown.contains("no compiler"), "{shown}");
    home.run(&["workflow", "step", run, "nobody"]).refused(3, &["run_not_found"]);
}

fn stored(home: &Home) {
    let save = ["workflow", "save", "release.yaml"];
    assert_eq!(home.run(&save).expect(0).stdout, "workflow release is stored, version 1\n");
    assert!(home.run(&save).expect(0).stdout.starts_with("workflow release is replaced"));
    assert_eq!(home.run(&["workflow", "show", "release"]).expect(0).stdout, RELEASE);
    assert!(home.run(&["workflow", "list"]).expect(0).stdout.contains("release"));
    let small =
        "name: small\nsteps:\n  - id: one\noutputs:\n  done: \"{{ steps.one.output.shipped }}\"\n";
    piped(home, &["workflow", "save", "-"], small).expect(0);
    let out = home.run(&["workflow", "run", "small", "--wait"]).expect(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), json!({ "done": true }));
    let again = ["workflow", "run", "small", "--key", "once", "--json"];
    let first = home.run(&again).expect(0).json();
    assert_eq!(home.run(&again).expect(0).json()["id"], first["id"]);
    let runs = ["workflow", "runs", "--workflow", "small", "--json"];
    let runs = home.run(&runs).expect(0).json();
    assert_eq!(runs["items"].as_array().unwrap().len(), 2, "{runs}");
    let held = home.run(&["workflow", "run", "release"]).expect(0).stdout.trim().to_owned();
    home.run(&["workflow", "cancel", "--all", "nothing"]).refused(3, &["workflow_not_found"]);
    assert_eq!(
        home.run(&["workflow", "cancel", "--all", "release"]).expect(0).stdout,
        "1 run is cancelled\n"
    );
    let status = ["workflow", "status", &held, "--json"];
    until(home, &status, |run| run["state"] == "cancelled");
    home.run(&["workflow", "delete", "release"]).expect(0);
    home.run(&["workflow", "run", "release"]).refused(3, &["workflow_not_found"]);
}

#[test]
fn a_team_does_its_job() {
    let home = Home::new();
    let _server = home.up();
    let spec = json!({ "name": "review", "strategy": "parallel", "goal": "find what is wrong",
        "items": ["a.rs", "b.rs"], "roles": [{ "name": "reviewer" }], "size": 2 });
    std::fs::write(home.path().join("review.json"), spec.to_string()).unwrap();
    let made = home.run(&["team", "create", "review.json", "--json"]).expect(0).json();
    assert_eq!((&made["state"], &made["strategy"]), (&json!("created"), &json!("parallel")));
    home.run(&["team", "scale", "review", "3"]).expect(0);
    std::fs::write(home.path().join("more.json"), "{\"budgetMicros\":5000000}").unwrap();
    let richer = home.run(&["team", "update", "review", "more.json", "--json"]).expect(0).json();
    assert_eq!((&richer["budgetMicros"], &richer["size"]), (&json!(5_000_000), &json!(3)));
    let shown = home.run(&["team", "show", "review"]).expect(0).stdout;
    assert!(shown.contains("review (created)") && shown.contains("`godel team start "), "{shown}");
    let _worker = Working::start(&home, &["--jobs", "2"], "echo '{\"found\":1}'");
    assert!(home.run(&["team", "start", "review"]).expect(0).stdout.contains("is running"));
    let status = ["team", "show", "review", "--json"];
    let done = until(&home, &status, |team| team["state"] == "completed");
    assert!(!done["result"].is_null(), "{done}");
    let shown = home.run(&["team", "show", "review"]).expect(0).stdout;
    assert!(shown.contains("100%") && shown.contains("`godel workflow status "), "{shown}");
    assert!(home.run(&["team", "list"]).expect(0).stdout.contains("parallel"));
    let all = home.run(&["team", "metrics", "--json"]).expect(0).json();
    let own = home.run(&["team", "metrics", "review", "--json"]).expect(0).json();
    assert_eq!(
        (&own["items"][0]["name"], &own["items"][0]["progress"]),
        (&json!("review"), &json!(1.0))
    );
    assert_eq!(all["items"][0]["teamId"], own["items"][0]["teamId"]);
    assert!(home.run(&["team", "metrics"]).expect(0).stdout.contains("100%"));
    home.run(&["team", "delete", "review"]).expect(0);
    home.run(&["team", "show", "review"]).refused(3, &["team_not_found"]);
    std::fs::write(home.path().join("bad.json"), "{").unwrap();
    home.run(&["team", "create", "bad.json"]).refused(2, &["bad.json is not JSON"]);
}
