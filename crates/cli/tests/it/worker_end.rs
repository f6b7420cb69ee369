//! How workers and what they run are brought to an end.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::home::Home;
use crate::worker::{Working, create, file, is_gone, show};

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_cancelled_task_is_stopped_with_all_that_it_started() {
    let home = Home::new();
    let _server = home.up();
    // The shell ends on TERM; what it started in the background does not.
    let script = r#"sh -c "trap '' TERM; echo \$\$ > deaf; sleep 300" &
trap 'echo x > stopped; exit 0' TERM; echo $$ > leader; wait"#;
    let worker = Working::start(&home, &["--name", "w"], script);
    let task = create(&home, &["endless"]);
    let (leader, deaf) = (file(&home.path().join("leader")), file(&home.path().join("deaf")));
    let cancel = ["task", "cancel", &task, "--reason", "not needed any more"];
    let told = home.run(&cancel).expect(0).stdout;
    assert!(told.contains("is being stopped: not needed any more"), "{told}");
    let ended = worker.expect("ended");
    assert_eq!((&ended["outcome"], &ended["state"]), (&json!("cancelled"), &json!("cancelled")));
    file(&home.path().join("stopped"));
    assert!(is_gone(&leader) && is_gone(&deaf), "something goes on");
    let shown = show(&home, &task);
    assert_eq!(
        (&shown["state"], &shown["error"]),
        (&json!("cancelled"), &json!("not needed any more"))
    );
    home.run(&["task", "cancel", &task]).refused(4, &["is over", "godel task retry"]);
}

#[test]
fn a_task_that_takes_too_long_is_stopped() {
    let home = Home::new();
    let _server = home.up();
    let worker = Working::start(&home, &[], "echo $$ > pid; exec sleep 300");
    let slow = ["task", "create", "slow", "--timeout", "1", "--max-attempts", "1", "--wait"];
    home.run(&slow).refused(1, &["is dead", "godel task show"]);
    let pid = file(&home.path().join("pid"));
    worker.expect("ended");
    assert!(is_gone(&pid));
    // A free hand again.
    create(&home, &["the next"]);
    worker.expect("began");
}

#[test]
fn a_worker_that_ends_gives_back_what_it_cannot_finish() {
    let home = Home::new();
    let _server = home.up();
    let script = r#"if [ "$GODEL_TASK_ATTEMPT" = 1 ]; then echo $$ > pid; exec sleep 300; fi
echo $$ > waiting; until test -f go; do sleep 0.05; done; echo '{"done":true}'"#;
    let hasty = Working::start(&home, &["--name", "hasty", "--drain", "0"], script);
    let task = create(&home, &["hand over", "--max-attempts", "1"]);
    let pid = file(&home.path().join("pid"));
    hasty.signal(Signal::TERM);
    assert_eq!(hasty.expect("ended")["outcome"], "released");
    hasty.expect("left");
    assert_eq!(hasty.ended().code(), Some(0));
    assert!(is_gone(&pid));
    assert_eq!(show(&home, &task)["attempts"][0]["ending"], "released");
    let list = home.run(&["worker", "list", "--json"]).expect(0).json();
    assert_eq!(list["items"], json!([]));
    // The next one is asked to end too, but has the time to finish.
    let patient = Working::start(&home, &["--name", "patient"], script);
    file(&home.path().join("waiting"));
    patient.signal(Signal::INT);
    std::fs::write(home.path().join("go"), "").unwrap();
    assert_eq!(patient.expect("ended")["outcome"], "succeeded");
    patient.expect("left");
    assert_eq!(patient.ended().code(), Some(0));
    let shown = show(&home, &task);
    assert_eq!(
        (&shown["state"], &shown["result"]),
        (&json!("succeeded"), &json!({ "done": true }))
    );
}

#[test]
fn a_second_signal_ends_a_worker_at_once_and_its_command_too() {
    let home = Home::new();
    let _server = home.up();
    let script = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done";
    let worker = Working::start(&home, &["--once"], script);
    create(&home, &["stubborn"]);
    let pid = file(&home.path().join("pid"));
    worker.signal(Signal::TERM);
    let log = home.path().join("worker.log");
    wait_until("it does not drain", || {
        std::fs::read_to_string(&log).unwrap().contains("waiting 30 s for 1 task to end")
    });
    worker.signal(Signal::TERM);
    assert_eq!(worker.ended().code(), Some(1));
    wait_until("the command goes on", || is_gone(&pid));
}

#[test]
fn a_worker_that_was_removed_stops_and_comes_back() {
    let home = Home::new();
    let _server = home.up();
    let script = r#"if [ "$GODEL_TASK_ATTEMPT" = 1 ]; then echo $$ > pid; exec sleep 300; fi
echo '{"by":"the second"}'"#;
    let worker = Working::start(&home, &["--name", "w"], script);
    let task = create(&home, &["again"]);
    let pid = file(&home.path().join("pid"));
    home.run(&["worker", "remove", "w"]).expect(0);
    assert_eq!(worker.expect("ended")["outcome"], "lost");
    assert!(is_gone(&pid), "the first attempt goes on");
    let ended = worker.expect("ended");
    assert_eq!((&ended["taskId"], &ended["outcome"]), (&json!(task), &json!("succeeded")));
    assert_eq!(show(&home, &task)["attempts"][0]["ending"], "released");
    let list = home.run(&["worker", "list", "--all", "--json"]).expect(0).json();
    let (new, old) = (&list["items"][0], &list["items"][1]);
    assert_eq!((&new["name"], &new["status"]), (&json!("w"), &json!("idle")), "{list}");
    assert_eq!((&old["name"], &old["status"]), (&json!("w"), &json!("offline")), "{list}");
}

#[test]
fn one_task_and_no_more() {
    let home = Home::new();
    let _server = home.up();
    let (first, second) = (create(&home, &["first"]), create(&home, &["second"]));
    let worker = Working::start(&home, &["--once", "--jobs", "4"], "echo hello");
    let ended = worker.expect("ended");
    assert_eq!(ended["taskId"], json!(first));
    worker.expect("left");
    assert_eq!(worker.ended().code(), Some(0));
    assert_eq!(show(&home, &first)["result"], json!({ "output": "hello" }));
    assert_eq!(show(&home, &second)["state"], "ready");
    let text =
        home.command(&["worker", "run", "--once", "--", "sh", "-c", "echo oops >&2; exit 3"]);
    let text = crate::home::answer(&mut { text }).expect(0).stdout;
    for part in ["takes tasks of pool default", "began ", "second", "oops (exit code 3); again at"]
    {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    home.run(&["worker", "run", "--", "no-such-program"]).refused(2, &["there is no program"]);
}
