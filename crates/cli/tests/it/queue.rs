//! Tasks, pools and schedules by the commands, and what is refused.

use serde_json::{Value, json};

use crate::home::Home;
use crate::people::piped;
use crate::worker::{Working, create, show};

#[test]
fn what_makes_no_sense_is_refused_before_a_server_is_asked() {
    let home = Home::new();
    let id = "019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d";
    for (arguments, parts) in [
        (&["task", "create"][..], &["TITLE"][..]),
        (&["task", "create", "x", "--payload", "{"], &["the payload is not JSON", "single quotes"]),
        (&["task", "create", "x", "--payload", "[1]"], &["must be a JSON object"]),
        (&["task", "create", "x", "--pool", "A B"], &["the name of a pool must be"]),
        (&["task", "create", "x", "--require", "a b"], &["a capability must be"]),
        (&["task", "create", "x", "--priority", "urgent"], &["critical", "--priority"]),
        (&["task", "create", "x", "--max-attempts", "0"], &["--max-attempts"]),
        (&["task", "create", "x", "--timeout", "0"], &["--timeout", "longer"]),
        (&["task", "create", "x", "--delay", "soon"], &["a number and a unit"]),
        (&["task", "create", "x", "--delay", "1h", "--start-at", "2h"], &["cannot be used with"]),
        (&["task", "list", "--state", "lost"], &["succeeded", "--state"]),
        (
            &["task", "fail", id, "--worker", "w", "--attempt", "1", "--error", "e"],
            &["server_unreachable"],
        ),
        (&["queue", "set", "ci"], &["--ageing SECONDS"]),
        (&["queue", "set", "ci", "--placement", "random"], &["round-robin"]),
        (&["queue", "set", "ci", "--ageing", "9", "--no-ageing"], &["cannot be used with"]),
        (&["dead", "replay"], &["--all"]),
        (&["dead", "replay", "--all", "--pool", "ci"], &["cannot be used with"]),
        (&["dead", "replay", id, "--pool", "ci"], &["tasks and a filter"]),
        (&["dead", "export", "--format", "xml"], &["jsonl"]),
        (&["schedule", "create", "nightly", "title"], &["--cron"]),
        (&["worker", "run"], &["COMMAND"]),
        (&["worker", "run", "--jobs", "0", "--", "true"], &["--jobs"]),
        (&["worker", "run", "--drain=-1", "--", "true"], &["--drain"]),
        (&["worker", "run", "--pool", "A", "--", "true"], &["the name of a pool must be"]),
        (&["worker", "run", "--", "./nothing"], &["there is no program \"./nothing\""]),
    ] {
        let exit = if arguments[1] == "fail" { 6 } else { 2 };
        home.run(arguments).refused(exit, parts);
    }
    home.run(&["task", "create", "x", "--payload", "@none.json"])
        .refused(1, &["none.json could not be read"]);
}

#[test]
fn tasks_are_made_once_wait_for_each_other_and_can_be_changed() {
    let home = Home::new();
    let _server = home.up();
    std::fs::write(home.path().join("p.json"), "{\"from\":\"file\"}").unwrap();
    let first = create(&home, &["first", "--payload", "@p.json", "--key", "k", "--pool", "ci"]);
    let same = ["task", "create", "first", "--payload", "@p.json", "--key", "k", "--pool", "ci"];
    let same = home.run(&[&same[..], &["--json"]].concat()).expect(0).json();
    assert_eq!((&same["id"], &same["fresh"]), (&json!(first), &json!(false)));
    home.run(&["task", "create", "other", "--key", "k"]).refused(4, &["idempotency_key_reused"]);
    let from_stdin =
        piped(&home, &["task", "create", "s", "--payload", "-"], "{\"from\":\"stdin\"}");
    let second = from_stdin.expect(0).stdout.trim().to_owned();
    assert_eq!(show(&home, &second)["payload"], json!({ "from": "stdin" }));
    let child = create(&home, &["child", "--after", &first[28..], "--priority", "critical"]);
    let blocked = home.run(&["task", "show", &child]).expect(0).stdout;
    assert!(
        blocked.contains("child (blocked)") && blocked.contains("waits for 1 of 1"),
        "{blocked}"
    );
    assert!(blocked.contains(&first), "{blocked}");
    let raised = home.run(&["task", "show", &first]).expect(0).stdout;
    assert!(raised.contains("critical, asked for was medium"), "{raised}");
    assert!(raised.contains("`godel worker run --pool ci -- COMMAND` starts one"), "{raised}");
    home.run(&["queue", "pause", "ci"]).expect(0);
    let paused = home.run(&["task", "show", &first]).expect(0).stdout;
    assert!(paused.contains("`godel queue resume ci`"), "{paused}");
    home.run(&["task", "cancel", &first]).expect(0);
    let cancelled = home.run(&["task", "show", &child]).expect(0).stdout;
    assert!(cancelled.contains(&format!("`godel task retry {first}`")), "{cancelled}");
    home.run(&["task", "create", "late", "--after", &first]).refused(4, &["dependency_failed"]);
    let back = home.run(&["task", "retry", &first, "--json"]).expect(0).json();
    assert_eq!(back["state"], "ready");
    assert_eq!(show(&home, &child)["state"], "blocked");
    home.run(&["task", "retry", &first]).refused(4, &["only one that is dead"]);
    let later = create(&home, &["later", "--delay", "1h"]);
    assert!(home.run(&["task", "show", &later]).expect(0).stdout.contains("lets it come now"));
    assert_eq!(home.run(&["task", "retry", &later, "--json"]).expect(0).json()["state"], "ready");
    let list = home.run(&["task", "list", "--limit", "2", "--json"]).expect(0).json();
    assert_eq!((&list["items"][0]["id"], &list["hasMore"]), (&json!(later), &json!(true)));
    let ci = home.run(&["task", "list", "--pool", "ci", "--state", "ready", "--json"]);
    assert_eq!(ci.expect(0).json()["items"][0]["id"], json!(first));
    let table = home.run(&["task", "list", "--all"]).expect(0).stdout;
    assert!(table.starts_with("ID ") && table.lines().count() == 5, "{table}");
    home.run(&["task", "show", &child[..4]]).refused(2, &["stands for", "whole id"]);
    home.run(&["task", "show", "ffffffff"]).refused(3, &["task_not_found"]);
    home.run(&["task", "show", "first"]).refused(2, &["is not the id of a task"]);
    home.run(&["task", "assign", &second, "nobody"]).refused(3, &["worker_not_found"]);
    pools(&home);
}

fn pools(home: &Home) {
    let depth = home.run(&["queue", "depth", "--json"]).expect(0).json();
    assert_eq!((&depth["ready"], &depth["blocked"]), (&json!(3), &json!(1)), "{depth}");
    let table = home.run(&["queue", "depth"]).expect(0).stdout;
    assert!(table.starts_with("POOL ") && table.contains("\ntotal "), "{table}");
    let set = ["queue", "set", "ci", "--ageing", "10m", "--placement", "round-robin", "--json"];
    let ci = json!({
        "name": "ci", "paused": true, "ageingSeconds": 600, "placement": "round-robin",
        "deadAlert": 10, "alerted": false,
    });
    assert_eq!(home.run(&set).expect(0).json(), ci);
    let never = home.run(&["queue", "set", "ci", "--no-ageing"]).expect(0).stdout;
    assert_eq!(
        never,
        "pool ci is paused, placement round-robin, tasks rise: never, alert: at 10 dead\n"
    );
    let list = home.run(&["queue", "list", "--json"]).expect(0).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 2, "{list}");
    assert!(home.run(&["queue", "list"]).expect(0).stdout.contains("paused"));
    assert_eq!(home.run(&["queue", "resume", "ci"]).expect(0).stdout, "pool ci is open\n");
    let slip = home.run(&["queue", "pause", "cy"]).expect(0);
    assert!(slip.stderr.contains("pool cy had no task so far"), "{slip:?}");
}

#[test]
fn schedules_come_and_go() {
    let home = Home::new();
    let _server = home.up();
    let create = ["schedule", "create", "nightly", "build all", "--cron", "0 3 * * *"];
    let more = ["--timezone", "UTC", "--pool", "ci", "--priority", "low", "--json"];
    let made = home.run(&[&create[..], &more].concat()).expect(0).json();
    assert_eq!((&made["name"], &made["title"]), (&json!("nightly"), &json!("build all")));
    assert_eq!((&made["pool"], &made["priority"]), (&json!("ci"), &json!("low")));
    assert!(made["nextAt"].as_str().unwrap().contains("T03:00:00"), "{made}");
    home.run(&create).refused(4, &["another schedule is called \"nightly\""]);
    home.run(&["schedule", "create", "x", "y", "--cron", "at noon"]).expect(2);
    home.run(&["schedule", "create", "x", "y", "--cron", "@daily", "--timezone", "Mars/Base"])
        .refused(2, &["there is no time zone"]);
    let list = home.run(&["schedule", "list"]).expect(0).stdout;
    assert!(list.contains("nightly") && list.contains("0 3 * * *"), "{list}");
    assert_eq!(
        home.run(&["schedule", "pause", "nightly"]).expect(0).stdout,
        "schedule nightly is paused\n"
    );
    assert!(home.run(&["schedule", "show", "nightly"]).expect(0).stdout.contains("paused"));
    assert!(
        home.run(&["schedule", "resume", "nightly"]).expect(0).stdout.contains("comes next at")
    );
    home.run(&["schedule", "delete", "nightly"]).expect(0);
    home.run(&["schedule", "show", "nightly"]).refused(3, &["schedule_not_found"]);
    assert_eq!(home.run(&["schedule", "list", "--json"]).expect(0).json(), json!({ "items": [] }));
}

#[test]
fn a_script_can_speak_for_itself_and_a_task_can_be_meant_for_one() {
    let home = Home::new();
    let _server = home.up();
    let godel = env!("CARGO_BIN_EXE_godel");
    let about =
        "\"$GODEL_TASK_ID\" --worker \"$GODEL_WORKER_ID\" --attempt \"$GODEL_TASK_ATTEMPT\"";
    let script = format!(
        "if grep -q fail; then {godel} task fail {about} --error 'by hand' --fatal; \
         else {godel} task complete {about} --result '{{\"by\":\"hand\"}}'; fi"
    );
    let one = Working::start(&home, &["--name", "one"], &script);
    let done = create(&home, &["by hand"]);
    assert_eq!(one.expect("ended")["outcome"], "lost", "it was told already");
    assert_eq!(show(&home, &done)["result"], json!({ "by": "hand" }));
    let failed = create(&home, &["by hand", "--payload", "{\"do\":\"fail\"}"]);
    one.expect("ended");
    let shown = show(&home, &failed);
    assert_eq!((&shown["state"], &shown["error"]), (&json!("dead"), &json!("by hand")));
    let again = ["task", "complete", &done, "--attempt", "1", "--worker"];
    let worker = shown["workerId"].as_str().unwrap();
    home.run(&[&again[..], &[worker]].concat()).refused(4, &["task_lease_lost"]);
    // Meant for one worker, it does not go to another one of the same pool.
    home.run(&["queue", "pause", "default"]).expect(0);
    let meant = create(&home, &["for two"]);
    let two = Working::start(&home, &["--name", "two"], "echo '{\"by\":\"two\"}'");
    home.run(&["task", "assign", &meant, "two"]).expect(0);
    home.run(&["queue", "resume", "default"]).expect(0);
    assert_eq!(two.expect("ended")["taskId"], json!(meant));
    assert_eq!(show(&home, &meant)["result"], json!({ "by": "two" }));
}

#[test]
fn a_script_can_be_a_worker_by_itself() {
    let home = Home::new();
    let _server = home.up();
    let task = create(&home, &["first", "--priority", "high"]);
    let worker = home.run(&["worker", "register", "--name", "script", "--capacity", "2"]);
    let worker = worker.expect(0).stdout.trim().to_owned();
    let claim = |wait: &str| {
        let given = home.run(&["worker", "claim", &worker, "--wait", wait]).expect(0).stdout;
        given.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let given = claim("30s");
    assert_eq!((&given[0]["id"], &given[0]["attempt"]), (&json!(task), &json!(1)), "{given:?}");
    let mine = |verb: &str, rest: &[&str], attempt: &str| {
        let held = ["task", verb, &task, "--worker", &worker, "--attempt", attempt];
        home.run(&[&held[..], rest, &["--json"]].concat())
    };
    mine("progress", &["{\"percent\":40}"], "1").expect(0);
    assert_eq!(show(&home, &task)["progress"], json!({"percent": 40}));
    let beat = home.run(&["worker", "heartbeat", &worker, "--json"]).expect(0).json();
    assert_eq!(beat["tasks"][0]["taskId"], json!(task));
    let child = mine("spawn", &["second", "--pool", "other"], "1").expect(0).json();
    let child = show(&home, child["id"].as_str().unwrap());
    assert_eq!((&child["priority"], &child["pool"]), (&json!("high"), &json!("other")));
    mine("release", &[], "1").expect(0);
    assert!(!claim("30s").is_empty());
    mine("progress", &["{}"], "1").refused(4, &["task_lease_lost"]);
    home.run(&["task", "cancel", &task, "--reason", "no use"]).expect(0);
    let told = mine("progress", &["{}"], "2").expect(1).json();
    assert_eq!(told["stop"], json!("no use"));
    assert_eq!(mine("fail", &["--error", "stopped"], "2").expect(0).json()["state"], "cancelled");
    assert!(claim("0").is_empty());
}

#[test]
fn many_tasks_come_from_one_file_and_each_is_answered() {
    let home = Home::new();
    let _server = home.up();
    let lines = "{\"title\":\"a\",\"key\":\"a\"}\n\n{\"title\":\"b\",\"pool\":\"A B\"}\n";
    std::fs::write(home.path().join("bad.jsonl"), lines).unwrap();
    home.run(&["task", "batch", "bad.jsonl"]).refused(2, &["the name of a pool must be"]);
    let lines: String =
        (0..250).map(|n| format!("{{\"title\":\"{n}\",\"key\":\"k{n}\"}}\n")).collect();
    std::fs::write(home.path().join("good.jsonl"), &lines).unwrap();
    let first = home.run(&["task", "batch", "good.jsonl"]).expect(0).stdout;
    assert_eq!(first.lines().count(), 250);
    // Keys make it safe to repeat.
    let again = piped(&home, &["task", "batch", "-"], &lines).expect(0).stdout;
    assert_eq!(again, first);
    std::fs::write(home.path().join("none.jsonl"), "{\"title\":\"a\"}\nnothing\n").unwrap();
    home.run(&["task", "batch", "none.jsonl"]).refused(2, &["line 2 is no task"]);
}

#[test]
fn the_pauses_between_attempts_can_be_chosen() {
    let home = Home::new();
    let _server = home.up();
    let options = ["--max-attempts", "8", "--retry-delay", "10s", "--retry-max-delay", "30m"];
    let task = create(&home, &[&["call"][..], &options].concat());
    let retry = &show(&home, &task)["retry"];
    assert_eq!((&retry["delayMs"], &retry["maxDelayMs"]), (&json!(10_000), &json!(1_800_000)));
    let slow = create(&home, &["slow", "--retry-delay", "2m"]);
    assert_eq!(show(&home, &slow)["retry"]["maxDelayMs"], json!(120_000));
    let schedule = ["schedule", "create", "s", "--cron", "0 3 * * *", "title"];
    home.run(&[&schedule[..], &options].concat()).expect(0);
    home.run(&["task", "create", "x", "--retry-delay", "soon"]).refused(2, &["--retry-delay"]);
}
