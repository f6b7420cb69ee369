//! Workers that are killed at each point of a task, that sleep through their time, and that their tasks kill.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use godel_testkit::Preload;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::worker::{Working, create, file, show};

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn endings(task: &Value) -> Vec<&str> {
    let attempts = task["attempts"].as_array().unwrap();
    attempts.iter().map(|one| one["ending"].as_str().unwrap_or_default()).collect()
}

/// Where a worker dies: when it has a task, while the command runs, when that has ended, when the server
/// knows.
const POINTS: [&str; 4] = ["worker-claimed", "worker-began", "worker-ended", "worker-told"];

/// Notes that it ran, with its attempt.
const NOTE: &str = r#"echo "$GODEL_TASK_ATTEMPT" >> "ran-$GODEL_TASK_POOL"; echo '{"done":true}'"#;

fn killed_at_each_point(stage: &Stage) {
    if !cfg!(debug_assertions) {
        return;
    }
    let home = &stage.home;
    let _server = stage.up();
    let mut tasks = Vec::new();
    for point in POINTS {
        let fault = [("GODEL_FAULT", point)];
        let worker = Working::start_with(home, &["--name", point, "--pool", point], NOTE, &fault);
        tasks.push(create(home, &[point, "--pool", point]));
        assert_eq!(worker.ended().signal(), Some(9), "{point} was not reached");
    }
    for (point, task) in POINTS.into_iter().zip(tasks) {
        let _next = Working::start(home, &["--name", "next", "--pool", point], NOTE);
        let status = ["task", "show", &task, "--json"];
        let done = stage.silence_until(point, &status, |task| task["state"] == "succeeded");
        assert_eq!(done["result"], json!({ "done": true }), "{point}");
        let told = endings(&done);
        let ran = lines(&home.path().join(format!("ran-{point}")));
        match point {
            "worker-told" => assert_eq!((told, ran), (vec!["succeeded"], vec!["1".to_owned()])),
            _ => {
                assert_eq!(told, ["lost", "succeeded"], "{point}");
                assert!(ran.contains(&"2".to_owned()), "{point}: {ran:?}");
                let first = ran.contains(&"1".to_owned());
                // One that was killed with its command under way may have had it done.
                assert!(point == "worker-began" || first == (point == "worker-ended"), "{ran:?}");
            }
        }
    }
}

#[test]
fn a_worker_killed_at_each_point_loses_no_task_on_sqlite() {
    killed_at_each_point(&Stage::sqlite());
}

#[test]
fn a_worker_killed_at_each_point_loses_no_task_on_postgres() {
    let Some(stage) = Stage::postgres() else { return };
    killed_at_each_point(&stage);
}

/// The first attempt ends while its worker sleeps; the second waits until it may.
const SLEEPER: &str = r#"if [ "$GODEL_TASK_ATTEMPT" = 1 ]; then
  echo "$GODEL_WORKER_ID" > first; until test -f wake; do sleep 0.05; done
  echo '::progress {"by":"zombie"}'; echo '{"by":"zombie"}'; echo x > over
else echo x > second; until test -f go; do sleep 0.05; done; echo '{"by":"second"}'; fi"#;

/// Adds a task in the name of an attempt; tells the status and the code of the answer.
fn spawn(stage: &Stage, url: &str, (task, worker, attempt): (&str, &str, u32)) -> (u16, String) {
    let key = std::fs::read_to_string(stage.home.data().join("owner.key")).unwrap();
    let body = json!({ "workerId": worker, "attempt": attempt, "task": { "title": "child" } });
    let ask = async {
        let request = reqwest::Client::new()
            .post(format!("{url}/api/v1/tasks/{task}/spawn"))
            .bearer_auth(key.trim())
            .header("content-type", "application/json")
            .body(body.to_string());
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let body: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        (status, body["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    godel_tls::install();
    tokio::runtime::Runtime::new().unwrap().block_on(ask)
}

fn a_sleeper_is_not_heard(stage: &Stage) {
    let home = &stage.home;
    let at = |name: &str| home.path().join(name);
    let server = stage.up();
    let first = Working::start(home, &["--name", "first"], SLEEPER);
    let task = create(home, &["sleep"]);
    let zombie = file(&at("first")).trim().to_owned();
    first.signal(Signal::STOP);
    let second = Working::start(home, &["--name", "second"], SLEEPER);
    let status = ["task", "show", &task, "--json"];
    stage.silence_until("first", &status, |_| at("second").exists());
    // What its command did is done, and it does not know yet that nobody wants to hear of it.
    std::fs::write(at("wake"), "").unwrap();
    file(&at("over"));
    let refused = spawn(stage, server.url(), (&task, &zombie, 1));
    assert!([404, 409].contains(&refused.0), "{refused:?}");
    assert!(["task_lease_lost", "worker_not_found"].contains(&refused.1.as_str()), "{refused:?}");
    first.signal(Signal::CONT);
    let ended = first.expect("ended");
    assert_eq!((&ended["attempt"], &ended["outcome"]), (&json!(1), &json!("lost")), "{ended}");
    let still = show(home, &task);
    assert_eq!((&still["state"], &still["attempt"]), (&json!("running"), &json!(2)), "{still}");
    let told = ["events", "list", "--type", "task:progress", "--json"];
    assert_eq!(home.run(&told).expect(0).json()["items"], json!([]), "its progress was heard");
    // It is let in again as somebody new, and works on.
    assert_ne!(first.expect("registered")["workerId"], json!(zombie));
    std::fs::write(at("go"), "").unwrap();
    assert_eq!(second.expect("ended")["outcome"], "succeeded");
    let done = show(home, &task);
    assert_eq!(done["result"], json!({ "by": "second" }), "{done}");
    assert_eq!(endings(&done), ["lost", "succeeded"]);
}

#[test]
fn a_worker_that_sleeps_through_its_time_is_not_heard_on_sqlite() {
    a_sleeper_is_not_heard(&Stage::sqlite());
}

#[test]
fn a_worker_that_sleeps_through_its_time_is_not_heard_on_postgres() {
    let Some(stage) = Stage::postgres() else { return };
    a_sleeper_is_not_heard(&stage);
}

/// Kills its own worker if the task says so.
const POISON: &str = r#"echo "$GODEL_TASK_TITLE $GODEL_TASK_ATTEMPT" >> ran
case "$GODEL_TASK_TITLE" in poison) kill -9 $PPID;; esac; echo '{"done":true}'"#;

fn poison_ends_in_the_dead_letters(stage: &Stage) {
    let home = &stage.home;
    let _server = stage.up();
    let poison = create(home, &["poison", "--priority", "critical", "--max-attempts", "3"]);
    let neighbours = ["one", "two", "three"].map(|title| create(home, &[title]));
    let status = ["task", "show", &poison, "--json"];
    for attempt in 1..=3 {
        let name = format!("victim {attempt}");
        let worker = Working::start(home, &["--name", &name], POISON);
        assert_eq!(worker.ended().signal(), Some(9), "attempt {attempt}");
        stage.silence_until(&name, &status, |task| task["state"] != "running");
        // Until it comes again, others may go first; nobody is there to take them.
        let wanted = if attempt < 3 { "ready" } else { "dead" };
        stage.until(&status, || (), |task| task["state"] == wanted);
    }
    let worker = Working::start(home, &["--name", "survivor"], POISON);
    for task in &neighbours {
        assert_eq!(worker.expect("ended")["outcome"], "succeeded");
        let status = ["task", "show", task, "--json"];
        let done = stage.until(&status, || (), |task| task["state"] == "succeeded");
        assert_eq!(endings(&done), ["succeeded"], "{done}");
    }
    let dead = show(home, &poison);
    assert_eq!((&dead["state"], &dead["attempt"]), (&json!("dead"), &json!(3)), "{dead}");
    assert_eq!(endings(&dead), ["lost", "lost", "lost"]);
    let list = home.run(&["dead", "list", "--json"]).expect(0).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    let mut ran = lines(&home.path().join("ran"));
    ran.sort();
    assert_eq!(ran, ["one 1", "poison 1", "poison 2", "poison 3", "three 1", "two 1"]);
}

#[test]
fn a_task_that_kills_its_worker_is_a_dead_letter_after_all_its_attempts_on_sqlite() {
    poison_ends_in_the_dead_letters(&Stage::sqlite());
}

#[test]
fn a_task_that_kills_its_worker_is_a_dead_letter_after_all_its_attempts_on_postgres() {
    let Some(stage) = Stage::postgres() else { return };
    poison_ends_in_the_dead_letters(&stage);
}

/// Takes a moment, or for ever.
const PATIENT: &str = r#"case "$GODEL_TASK_TITLE" in endless) exec sleep 300;; esac
sleep 1; echo '{"done":true}'"#;

#[test]
fn a_worker_whose_clock_is_wrong_by_an_hour_works_like_any_other() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let (stage, clock) = (Stage::sqlite(), Preload::clock());
    let _server = stage.up();
    let hands = clock.folder().join("clock");
    let env = [("LD_PRELOAD", clock.path()), ("GODEL_TEST_CLOCK", hands.to_str().unwrap())];
    for seconds in ["3600", "-3600"] {
        std::fs::write(&hands, seconds).unwrap();
        let worker = Working::start_with(&stage.home, &["--name", "w"], PATIENT, &env);
        create(&stage.home, &["a moment", "--timeout", "60s"]);
        let done = worker.expect("ended");
        assert_eq!(
            (&done["outcome"], &done["attempt"]),
            (&json!("succeeded"), &json!(1)),
            "{done}"
        );
        let task = create(&stage.home, &["endless", "--timeout", "1s", "--max-attempts", "1"]);
        assert_eq!(worker.expect("ended")["taskId"], json!(task));
        let status = ["task", "show", &task, "--json"];
        stage.until(&status, || (), |task| task["state"] == "dead");
    }
}
