//! Nothing runs for a server that has died, whichever moment of a start it died in.

use std::path::Path;
use std::process::{Command, Output};

use crate::world::helper;

/// The exit code of a helper that could not raise a wall.
const NO_WALL: i32 = 126;

fn step(step: &str, plan: &serde_json::Value, trace: &Path) -> Output {
    let mut command = Command::new(helper());
    command.args([step, &plan.to_string(), "/usr/bin/touch"]).arg(trace);
    command.output().unwrap()
}

#[track_caller]
fn refused(output: &Output, trace: &Path) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(NO_WALL), "{said}");
    assert!(said.contains("the owner of the sandbox is gone"), "{said}");
    assert!(!trace.exists(), "the program has run");
}

#[test]
fn a_program_is_not_started_for_an_owner_that_died_before_it_could_be_watched() {
    let home = tempfile::tempdir().unwrap();
    let trace = home.path().join("trace");
    let plan = |owner: u32| serde_json::json!({ "owner": owner, "groups": [], "ceilings": null });

    // Any process but the one that is its parent.
    refused(&step("outer", &plan(u32::MAX), &trace), &trace);

    let output = step("outer", &plan(std::process::id()), &trace);
    assert!(output.status.success() && trace.exists(), "{output:?}");
}

#[test]
fn a_program_is_not_started_behind_walls_for_an_owner_that_died_while_they_were_raised() {
    let home = tempfile::tempdir().unwrap();
    let trace = home.path().join("trace");
    let lock = home.path().join("owner.lock");
    let plan = serde_json::json!({
        "owner": lock,
        "user": null,
        "writable": [home.path()],
        "relays": [],
        "ceilings": {},
    });
    let held = std::fs::File::create(&lock).unwrap();

    refused(&step("inner", &plan, &trace), &trace);

    held.lock().unwrap();
    let output = step("inner", &plan, &trace);
    assert!(output.status.success() && trace.exists(), "{output:?}");
}
