//! Dead letters that are removed by the command: named, by a filter, and never by mistake.

use serde_json::{Value, json};

use crate::home::Home;
use crate::worker::Working;

/// Lets tasks with these titles die; returns their ids.
fn let_die(home: &Home, worker: &Working, titles: &[&str]) -> Vec<String> {
    let die = |title: &&str| {
        let create = ["task", "create", title, "--max-attempts", "1"];
        let id = home.run(&create).expect(0).stdout.trim().to_owned();
        assert_eq!(worker.expect("ended")["taskId"], json!(id));
        id
    };
    titles.iter().map(die).collect()
}

fn titles(home: &Home) -> Vec<String> {
    let found = home.run(&["dead", "list", "--json"]).expect(0).json();
    let title = |task: &Value| task["title"].as_str().unwrap().to_owned();
    found["items"].as_array().unwrap().iter().map(title).collect()
}

#[test]
fn what_is_meant_must_be_said_before_anything_is_removed() {
    let home = Home::new();
    let id = "019f0000-0000-7000-8000-000000000000";
    home.run(&["dead", "delete"]).refused(2, &["--all"]);
    home.run(&["dead", "delete", "--all", "--pool", "ci"]).refused(2, &["cannot be used with"]);
    home.run(&["dead", "delete", id, "--pool", "ci"]).refused(2, &["tasks and a filter"]);
    home.run(&["dead", "delete", "--pool", "A"]).refused(2, &["the name of a pool must be"]);
    home.run(&["dead", "delete", id]).refused(6, &["server_unreachable"]);
}

#[test]
fn dead_letters_are_removed_one_by_one_or_all_that_match() {
    let home = Home::new();
    let _server = home.up();
    let script =
        "case \"$GODEL_TASK_TITLE\" in slow*) echo timeout >&2;; *) echo broken >&2;; esac; exit 1";
    let worker = Working::start(&home, &["--name", "w"], script);
    let ids = let_die(&home, &worker, &["slow 1", "bad 1", "slow 2", "bad 2", "bad 3"]);
    let one = home.run(&["dead", "delete", &ids[1]]).expect(0).stdout;
    assert_eq!(one, "1 dead letter is removed\n");
    home.run(&["dead", "delete", &ids[1]]).refused(3, &["task_not_found"]);
    home.run(&["task", "show", &ids[1]]).refused(3, &["task_not_found"]);
    assert_eq!(titles(&home), ["bad 3", "bad 2", "slow 2", "slow 1"]);
    // Without a terminal nobody can be asked.
    home.run(&["dead", "delete", "--error", "timeout"])
        .refused(2, &["this would remove 2 dead letters", "--yes"]);
    home.run(&["dead", "delete", &ids[0], &ids[2]]).refused(2, &["remove 2 dead letters"]);
    assert_eq!(titles(&home).len(), 4);
    let slow = ["dead", "delete", "--error", "timeout", "--yes", "--json"];
    assert_eq!(home.run(&slow).expect(0).json(), json!({ "deleted": 2, "kept": 0 }));
    assert_eq!(titles(&home), ["bad 3", "bad 2"]);
    let done = home.run(&["dead", "delete", &ids[3], &ids[4], "--yes"]).expect(0).stdout;
    assert_eq!(done, "2 dead letters are removed\n");
    let none = home.run(&["dead", "delete", "--all"]).expect(0).stdout;
    assert_eq!(none, "there was nothing to remove\n");
    let waits = home.run(&["task", "create", "waits", "--pool", "other"]).expect(0).stdout;
    home.run(&["dead", "delete", waits.trim()]).refused(2, &["is no dead letter: it is ready"]);
}

#[test]
fn those_of_a_run_that_is_not_over_stay() {
    let home = Home::new();
    let _server = home.up();
    let worker = Working::start(&home, &["--name", "w"], "exit 1");
    let source = "name: x\nsteps:\n  - { id: one, retries: { maxAttempts: 1 }, onError: continue }\n  - \
                  { id: gate, approval: {} }\n";
    std::fs::write(home.path().join("x.yaml"), source).unwrap();
    let run = home.run(&["workflow", "run", "x.yaml"]).expect(0).stdout.trim().to_owned();
    let kept = worker.expect("ended")["taskId"].as_str().unwrap().to_owned();
    let_die(&home, &worker, &["alone"]);
    let all = home.run(&["dead", "delete", "--all", "--yes"]).expect(0);
    assert_eq!(all.stdout, "1 dead letter is removed\n");
    assert!(all.stderr.contains("1 stay: their runs are not over"), "{all:?}");
    home.run(&["dead", "delete", &kept]).refused(4, &["task_state", "is still needed"]);
    home.run(&["workflow", "cancel", &run]).expect(0);
    home.run(&["dead", "delete", &kept]).expect(0);
    assert_eq!(titles(&home), [] as [&str; 0]);
}
