//! Programs as workers: what they get, what comes of what they say, and who goes on when they die.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::home::{Home, Server, lasting_address};

/// How long anything may take; a worker is believed to live for 30 seconds.
const PATIENCE: Duration = Duration::from_secs(90);

/// A worker process; it is killed with this value.
pub(crate) struct Working {
    child: Child,
    lines: Receiver<Value>,
}

impl Working {
    /// Starts a worker whose command is a script, and waits until it is registered.
    pub(crate) fn start(home: &Home, options: &[&str], script: &str) -> Self {
        Self::start_with(home, options, script, &[])
    }

    /// Starts a worker with variables of its own.
    pub(crate) fn start_with(
        home: &Home,
        options: &[&str],
        script: &str,
        env: &[(&str, &str)],
    ) -> Self {
        let arguments = [&["worker", "run", "--json"], options, &["--", "sh", "-c", script]];
        let log = home.path().join("worker.log");
        let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let mut command = home.command(&arguments.concat());
        command.envs(env.iter().copied()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                send.send(serde_json::from_str(&line).unwrap()).ok();
            }
        });
        let working = Self { child, lines };
        working.expect("registered");
        working
    }

    /// Waits for the next line that tells of this.
    pub(crate) fn expect(&self, event: &str) -> Value {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("the worker told nothing of {event}"));
            if line["event"] == event {
                return line;
            }
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until it has ended by itself.
    pub(crate) fn ended(mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "the worker does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        // Asked first, so that it ends its command too; it may have ended already.
        for signal in [Signal::TERM, Signal::TERM] {
            kill_process(self.pid(), signal).ok();
            std::thread::sleep(Duration::from_millis(100));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Waits until a file is there, and returns what is in it.
pub(crate) fn file(path: &PathBuf) -> String {
    let started = Instant::now();
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if !text.is_empty() => return text,
            _ => assert!(started.elapsed() < PATIENCE, "{} does not come", path.display()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Tells whether a process is gone, or at least dead.
pub(crate) fn is_gone(pid: &str) -> bool {
    let number = pid.trim().parse().unwrap();
    let state = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    let dead = state.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z'));
    dead || test_kill_process(Pid::from_raw(number).unwrap()).is_err()
}

pub(crate) fn create(home: &Home, arguments: &[&str]) -> String {
    let answer = home.run(&[&["task", "create"], arguments].concat()).expect(0);
    answer.stdout.trim().to_owned()
}

pub(crate) fn show(home: &Home, task: &str) -> Value {
    home.run(&["task", "show", task, "--json"]).expect(0).json()
}

fn owner_key(home: &Home) -> String {
    std::fs::read_to_string(home.data().join("owner.key")).unwrap().trim().to_owned()
}

/// Says what it got, and how far it is.
const MIRROR: &str = r#"payload=$(cat)
echo "reading the payload" >&2
echo '::progress {"percent":50}'
names=$(env | grep '^GODEL_' | cut -d= -f1 | sort | tr '\n' ' ')
echo '{"not":"the last one"}'
printf '{"payload":%s,"names":"%s","title":"%s","attempt":%s,"about":"%s %s"}\n' \
  "$payload" "$names" "$GODEL_TASK_TITLE" "$GODEL_TASK_ATTEMPT" "$GODEL_TASK_POOL" "$GODEL_TASK_PRIORITY"
echo done"#;

#[test]
fn a_task_goes_to_a_program_and_its_result_comes_back() {
    let home = Home::new();
    let _server = home.up();
    let key = owner_key(&home);
    let secrets = [("GODEL_KEY", key.as_str()), ("GODEL_TOKEN", "t"), ("GODEL_DATABASE_URL", "d")];
    let options = ["--pool", "ci", "--name", "mirror", "--capability", "rust,gpu", "--jobs", "2"];
    let worker = Working::start_with(&home, &options, MIRROR, &secrets);
    let new =
        ["task", "create", "say it", "--pool", "ci", "--require", "gpu", "--priority", "high"];
    let more = ["--payload", r#"{"n":[1,2]}"#, "--wait", "--json"];
    let done = home.run(&[&new[..], &more].concat()).expect(0).json();
    let names = "GODEL_TASK_ATTEMPT GODEL_TASK_ID GODEL_TASK_POOL GODEL_TASK_PRIORITY \
                 GODEL_TASK_TITLE GODEL_WORKER_ID ";
    assert_eq!(
        done["result"],
        json!({ "payload": { "n": [1, 2] }, "names": names, "title": "say it", "attempt": 1,
            "about": "ci high" })
    );
    assert_eq!(
        (&done["state"], &done["attempts"][0]["ending"]),
        (&json!("succeeded"), &json!("succeeded"))
    );
    let began = worker.expect("began");
    assert_eq!((&began["taskId"], &began["title"]), (&done["id"], &json!("say it")));
    let ended = worker.expect("ended");
    assert_eq!((&ended["outcome"], &ended["state"]), (&json!("succeeded"), &json!("succeeded")));
    let told = ["events", "list", "--type", "task:progress", "--json"];
    let told = home.run(&told).expect(0).json();
    assert_eq!(told["items"][0]["payload"]["progress"], json!({ "percent": 50 }), "{told}");
    let list = home.run(&["worker", "list", "--json"]).expect(0).json();
    let mirror = &list["items"][0];
    assert_eq!((&mirror["name"], &mirror["capacity"]), (&json!("mirror"), &json!(2)));
    assert_eq!((&mirror["status"], &mirror["pool"]), (&json!("idle"), &json!("ci")));
    let shown = home.run(&["worker", "show", "mirror"]).expect(0).stdout;
    assert!(shown.contains("can     gpu, rust") && shown.contains("0 of 2"), "{shown}");
    let id = done["id"].as_str().unwrap();
    let text = home.run(&["task", "show", &id[28..]]).expect(0).stdout;
    for part in ["say it (succeeded)", "1 of 3", "\nresult\n", "ATTEMPT", "mirror"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    home.run(&["worker", "pause", "mirror"]).expect(0);
    assert!(home.run(&["worker", "list"]).expect(0).stdout.contains("paused"));
    home.run(&["worker", "resume", "mirror"]).expect(0);
    let log = std::fs::read_to_string(home.path().join("worker.log")).unwrap();
    assert!(!log.contains(&key), "{log}");
}

#[test]
fn a_task_that_fails_is_tried_again_dies_and_can_be_replayed() {
    let home = Home::new();
    let _server = home.up();
    let script = r#"grep -q never && { echo "makes no sense" >&2; exit 65; }
test -f ok || { echo "not yet" >&2; exit 75; }; echo '{"ok":true}'"#;
    let worker = Working::start(&home, &["--name", "w"], script);
    let flaky = create(&home, &["flaky", "--max-attempts", "2"]);
    let first = worker.expect("ended");
    assert_eq!((&first["outcome"], &first["state"]), (&json!("failed"), &json!("delayed")));
    assert!(first["againAt"].is_string() && first["error"] == "not yet (exit code 75)", "{first}");
    assert_eq!(worker.expect("ended")["state"], "dead");
    let never = create(&home, &["never", "--payload", r#"{"why":"never"}"#]);
    let ended = worker.expect("ended");
    assert_eq!((&ended["attempt"], &ended["state"]), (&json!(1), &json!("dead")), "{ended}");
    let list = home.run(&["dead", "list", "--error", "not yet", "--json"]).expect(0).json();
    assert_eq!((&list["items"][0]["id"], &list["hasMore"]), (&json!(flaky), &json!(false)));
    let table = home.run(&["dead", "list"]).expect(0).stdout;
    assert!(table.contains("makes no sense (exit code 65)") && table.contains(&flaky), "{table}");
    let shown = home.run(&["task", "show", &flaky]).expect(0).stdout;
    assert!(shown.contains("flaky (dead)") && shown.contains("2 of 2"), "{shown}");
    assert!(shown.contains(&format!("`godel task retry {flaky}`")), "{shown}");
    exports(&home);
    home.run(&["dead", "replay", "--all"]).refused(2, &["replay 2 dead letters", "--yes"]);
    home.run(&["dead", "replay", &flaky, &never]).refused(2, &["--yes"]);
    std::fs::write(home.path().join("ok"), "").unwrap();
    let one = home.run(&["dead", "replay", "--error", "not yet", "--json"]).expect(0).json();
    assert_eq!(one, json!({ "replayed": 1 }));
    let ended = worker.expect("ended");
    assert_eq!((&ended["taskId"], &ended["state"]), (&json!(flaky), &json!("succeeded")));
    let attempts = show(&home, &flaky)["attempts"].clone();
    let endings: Vec<_> = attempts.as_array().unwrap().iter().map(|one| &one["ending"]).collect();
    assert_eq!(endings, [&json!("failed"), &json!("failed"), &json!("succeeded")]);
    home.run(&["dead", "replay", &flaky]).refused(2, &["is no dead letter: it is succeeded"]);
    assert!(home.run(&["dead", "replay", &never]).expect(0).stdout.starts_with("1 dead letter "));
    assert_eq!(worker.expect("ended")["state"], "dead");
    let all = home.run(&["dead", "replay", "--all", "--yes"]).expect(0).stdout;
    assert!(all.starts_with("1 dead letter "), "{all}");
}

fn exports(home: &Home) {
    let lines = home.run(&["dead", "export"]).expect(0).stdout;
    let titles: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["title"].clone())
        .collect();
    assert_eq!(titles, ["never", "flaky"]);
    let export = ["dead", "export", "--title", "flaky", "--format", "csv", "-o", "dead.csv"];
    assert_eq!(home.run(&export).expect(0).stdout, "exported 1 dead letters to dead.csv\n");
    let csv = std::fs::read_to_string(home.path().join("dead.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("id,title,pool,"), "{csv}");
    assert!(lines[1].contains(",flaky,default,medium,2,"), "{csv}");
    let nowhere = ["dead", "export", "-o", "nowhere/dead.csv"];
    home.run(&nowhere).refused(1, &["nowhere/dead.csv could not be written"]);
}

#[test]
fn a_task_of_a_killed_worker_goes_to_another_one() {
    let home = Home::new();
    let _server = home.up();
    let script = r#"if [ "$GODEL_TASK_ATTEMPT" = 1 ]; then echo $$ > pid; exec sleep 300; fi
echo '{"done":true}'"#;
    let first = Working::start(&home, &["--name", "first"], script);
    let task = create(&home, &["survive"]);
    let pid = file(&home.path().join("pid"));
    let second = Working::start(&home, &["--name", "second"], script);
    first.signal(Signal::KILL);
    let ended = second.expect("ended");
    assert_eq!((&ended["taskId"], &ended["attempt"]), (&json!(task), &json!(2)), "{ended}");
    let shown = show(&home, &task);
    assert_eq!(shown["result"], json!({ "done": true }));
    assert_eq!(shown["attempts"][0]["ending"], "lost", "{shown}");
    // Nobody could end what the first one left behind.
    kill_process(Pid::from_raw(pid.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_result_waits_for_a_server_that_is_down_and_no_attempt_is_lost() {
    let home = Home::new();
    let address = lasting_address();
    let up = || -> Server { home.up_with(&["--listen", &address]) };
    let server = up();
    let script = "echo x > began; until test -f go; do sleep 0.05; done; echo '{\"late\":true}'; echo x > over";
    let worker = Working::start(&home, &["--name", "patient"], script);
    let task = create(&home, &["outlive the server"]);
    file(&home.path().join("began"));
    server.kill();
    std::fs::write(home.path().join("go"), "").unwrap();
    file(&home.path().join("over"));
    // Long enough that the result was refused at least once.
    std::thread::sleep(Duration::from_secs(1));
    let _server = up();
    let ended = worker.expect("ended");
    assert_eq!((&ended["outcome"], &ended["attempt"]), (&json!("succeeded"), &json!(1)), "{ended}");
    let shown = show(&home, &task);
    assert_eq!((&shown["result"], &shown["attempt"]), (&json!({ "late": true }), &json!(1)));
    assert_eq!(shown["attempts"].as_array().unwrap().len(), 1, "{shown}");
    // And it goes on with the same registration.
    let next = create(&home, &["the next"]);
    assert_eq!(worker.expect("ended")["taskId"], json!(next));
    let list = home.run(&["worker", "list", "--all", "--json"]).expect(0).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    let log = std::fs::read_to_string(home.path().join("worker.log")).unwrap();
    assert!(log.contains("trying again") && log.contains("connected again"), "{log}");
}
