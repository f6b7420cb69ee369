//! A repository is checked out, built, tested and packed by a worker, and the power goes in between.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use crate::stage::Stage;
use crate::worker::{Working, file};

const PATIENCE: Duration = Duration::from_secs(60);

/// A small project: a library, a program and a test.
const FILES: [(&str, &str); 5] = [
    ("sum.h", "int sum(int a, int b);\n"),
    ("sum.c", "#include \"sum.h\"\nint sum(int a, int b) { return a + b; }\n"),
    (
        "main.c",
        "#include <stdio.h>\n#include \"sum.h\"\nint main(void) { printf(\"%d\\n\", sum(40, 2)); return 0; }\n",
    ),
    ("check.c", "#include \"sum.h\"\nint main(void) { return sum(2, 3) == 5 ? 0 : 1; }\n"),
    ("README", "Adds numbers.\n"),
];

const WORKFLOW: &str = r#"name: ship
inputs:
  repository: { type: string, required: true }
retryPolicy: { maxAttempts: 3, backoff: { type: fixed, initial: 10ms, max: 10ms } }
steps:
  - id: checkout
    with: { repository: "{{ inputs.repository }}" }
  - id: build
    dependsOn: [checkout]
    with: { commit: "{{ steps.checkout.output.commit }}" }
  - id: test
    dependsOn: [build]
  - id: package
    dependsOn: [build, test]
    with: { commit: "{{ steps.checkout.output.commit }}" }
outputs:
  commit: "{{ steps.package.output.commit }}"
  prints: "{{ steps.test.output.prints }}"
"#;

/// Does one step. Each notes that it began and that it is done; the build and the test wait in the
/// middle of their first attempt, until they are killed or let go.
const SCRIPT: &str = r#"set -e
payload=$(cat)
step=${GODEL_TASK_TITLE##*[!a-z]}
field() { printf '%s' "$payload" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
wait_in() { if [ "$GODEL_TASK_ATTEMPT" = 1 ]; then echo $$ > "in-$1"; until [ -f "go-$1" ]; do sleep 0.05; done; fi; }
echo "$step $GODEL_TASK_ATTEMPT" >> began
case "$step" in
checkout)
  rm -rf src; git clone -q "$(field repository)" src
  printf '{"commit":"%s"}\n' "$(git -C src rev-parse HEAD)";;
build)
  test "$(git -C src rev-parse HEAD)" = "$(field commit)"
  cd src; cc -c sum.c -o sum.o; cd ..; wait_in build; cd src
  cc -c main.c -o main.o; cc sum.o main.o -o add; cc check.c sum.o -o check
  cd ..; echo '{"built":true}';;
test)
  wait_in test; ./src/check; printf '{"prints":"%s"}\n' "$(./src/add)";;
package)
  mkdir -p dist; cp src/add src/README dist; tar -cf add.tar dist
  printf '{"commit":"%s"}\n' "$(field commit)";;
*) echo "no such step: $GODEL_TASK_TITLE" >&2; exit 65;;
esac
echo "$step" >> done"#;

/// Makes the repository; returns its newest commit.
fn repository(path: &Path) -> String {
    std::fs::create_dir(path).unwrap();
    for (name, text) in FILES {
        std::fs::write(path.join(name), text).unwrap();
    }
    let git = |arguments: &[&str]| {
        let own = ["-c", "user.name=ann", "-c", "user.email=ann@example.com"];
        let output = Command::new("git").args(own).args(arguments).current_dir(path).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "It adds"]);
    git(&["rev-parse", "HEAD"])
}

fn wait_for(path: &Path, line: &str) {
    let started = Instant::now();
    while !std::fs::read_to_string(path).unwrap_or_default().lines().any(|one| one == line) {
        assert!(started.elapsed() < PATIENCE, "no {line} in {}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_built_and_tested_whatever_is_killed(stage: &Stage) {
    let home = &stage.home;
    let at = |name: &str| home.path().join(name);
    let commit = repository(&at("origin"));
    std::fs::write(at("ship.yaml"), WORKFLOW).unwrap();
    let server = stage.up();
    let worker = Working::start(home, &["--name", "first"], SCRIPT);
    let input = format!("repository={}", at("origin").display());
    let start = ["workflow", "run", "ship.yaml", "--input", &input];
    let run = home.run(&start).expect(0).stdout.trim().to_owned();
    // In the middle of the build all power goes: server, worker and what it runs.
    let building: i32 = file(&at("in-build")).trim().parse().unwrap();
    server.kill();
    worker.signal(Signal::KILL);
    kill_process_group(Pid::from_raw(building).unwrap(), Signal::KILL).unwrap();
    drop(worker);
    let server = stage.up();
    let worker = Working::start(home, &["--name", "second"], SCRIPT);
    let status = ["workflow", "status", &run, "--json"];
    let half = stage.silence_until("first", &status, |_| at("in-test").exists());
    let states: Vec<_> = half["steps"].as_array().unwrap().iter().map(|s| &s["state"]).collect();
    assert_eq!(states[..2], [&json!("succeeded"), &json!("succeeded")], "{half}");
    // In the middle of the test only the server goes, and the worker waits for it.
    server.kill();
    std::fs::write(at("go-test"), "").unwrap();
    wait_for(&at("done"), "test");
    let _server = stage.up();
    let done = stage.until(&status, || (), |run| run["state"] != "running");
    assert_eq!(done["state"], "completed", "{done}");
    assert_eq!(done["outputs"], json!({ "commit": commit, "prints": "42" }));
    drop(worker);
    // What was done was not done again.
    let count = |name: &str| {
        let mut count = BTreeMap::<String, u32>::new();
        let text = std::fs::read_to_string(at(name)).unwrap();
        text.lines().for_each(|line| *count.entry(line.to_owned()).or_default() += 1);
        count
    };
    let once = |lines: &[&str]| lines.iter().map(|line| ((*line).to_owned(), 1)).collect();
    assert_eq!(count("done"), once(&["checkout", "build", "test", "package"]));
    assert_eq!(count("began"), once(&["checkout 1", "build 1", "build 2", "test 1", "package 1"]));
    let list = Command::new("tar").arg("-tf").arg(at("add.tar")).output().unwrap();
    assert!(String::from_utf8(list.stdout).unwrap().contains("dist/add"));
}

#[test]
fn a_repository_is_built_and_tested_although_all_are_killed_half_way_on_sqlite() {
    is_built_and_tested_whatever_is_killed(&Stage::sqlite());
}

#[test]
fn a_repository_is_built_and_tested_although_all_are_killed_half_way_on_postgres() {
    let Some(stage) = Stage::postgres() else { return };
    is_built_and_tested_whatever_is_killed(&stage);
}
