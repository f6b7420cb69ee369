//! Strategies of teams, done by programs that are workers: what each was told is in what came of it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::Home;
use crate::worker::Working;

/// Gives back what it was told, whatever that is.
const ECHO: &str = r#"printf '{"told":%s}\n' "$(cat)""#;

/// Makes a team, lets it begin, and waits until it has done its job.
fn done(home: &Home, spec: &Value) -> Value {
    std::fs::write(home.path().join("team.json"), spec.to_string()).unwrap();
    home.run(&["team", "create", "team.json", "--start"]).expect(0);
    let started = Instant::now();
    loop {
        let name = spec["name"].as_str().unwrap();
        let team = home.run(&["team", "show", name, "--json"]).expect(0).json();
        if team["state"] == "completed" {
            return team;
        }
        assert!(team["state"] == "running", "{team}");
        assert!(started.elapsed() < Duration::from_secs(60), "{team}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn programs_lead_work_and_join_as_a_tree() {
    let home = Home::new();
    let _server = home.up();
    let _workers =
        ["one", "two"].map(|name| Working::start(&home, &["--name", name, "--jobs", "2"], ECHO));
    let team = done(
        &home,
        &json!({ "name": "tree", "strategy": "tree", "goal": "read all", "items": ["a", "b", "c"],
            "lead": { "name": "planner" }, "roles": [{ "name": "reader" }],
            "merge": { "name": "joiner" }, "fanOut": 2, "size": 4 }),
    );
    assert_eq!(team["counts"]["succeeded"], 7, "1 leads, 3 read, 2 and 1 join: {team}");
    assert_eq!(team["fallbacks"], json!([]));
    // From the last one back to the first: each had what those before it gave.
    let last = &team["result"]["told"];
    assert_eq!((&last["role"], &last["last"]), (&json!("joiner"), &json!(true)));
    let firsts = last["results"].as_array().unwrap();
    let mut items = Vec::new();
    for first in firsts {
        assert_eq!((&first["told"]["level"], &first["told"]["last"]), (&json!(1), &json!(false)));
        for read in first["told"]["results"].as_array().unwrap() {
            let told = &read["told"];
            assert_eq!((&told["role"], &told["goal"]), (&json!("reader"), &json!("read all")));
            assert_eq!(told["plan"]["told"]["items"], json!(["a", "b", "c"]));
            items.push(told["item"].clone());
        }
    }
    assert_eq!((firsts.len(), items), (2, vec![json!("a"), json!("b"), json!("c")]));
}

#[test]
fn programs_hand_several_items_on_as_a_pipeline() {
    let home = Home::new();
    let _server = home.up();
    let _workers =
        ["one", "two"].map(|name| Working::start(&home, &["--name", name, "--jobs", "2"], ECHO));
    let team = done(
        &home,
        &json!({ "name": "line", "strategy": "pipeline", "items": ["a", "b", "c", "d"],
            "roles": [{ "name": "draft" }, { "name": "review" }, { "name": "print" }], "size": 3 }),
    );
    assert_eq!(team["counts"]["succeeded"], 12, "{team}");
    let results = team["result"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for (result, item) in results.iter().zip(["a", "b", "c", "d"]) {
        let print = &result["told"];
        let review = &print["input"]["told"];
        let draft = &review["input"]["told"];
        for (told, role) in [(print, "print"), (review, "review"), (draft, "draft")] {
            assert_eq!((&told["role"], &told["item"]), (&json!(role), &json!(item)), "{result}");
        }
        assert_eq!(draft["input"], Value::Null);
    }
}
