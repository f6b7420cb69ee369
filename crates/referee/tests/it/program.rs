//! The program and the recorder: what a test harness uses.

use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use godel_referee::{Answer, Ask, Claim, Lease, Record, Recorder, Rule, What, check};

use crate::driver::play;
use crate::mutant::Mutant;

fn run(files: &[&Path]) -> (Option<i32>, String, String) {
    let program = env!("CARGO_BIN_EXE_godel-referee");
    let Output { status, stdout, stderr } = Command::new(program).args(files).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn the_program_tells_clean_from_broken_from_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let [clean, broken, cut] = ["clean", "broken", "cut"].map(|name| folder.path().join(name));
    let (history, _) = play(1, None);
    std::fs::write(&clean, &history).unwrap();
    std::fs::write(&broken, play(1, Some(Mutant::DepthOff)).0).unwrap();
    std::fs::write(&cut, &history[..history.len() / 2]).unwrap();

    let (code, out, _) = run(&[&clean]);
    assert_eq!((code, out.lines().count()), (Some(0), 1), "{out}");
    assert!(out.contains("no promise broken") && out.contains("I12 "), "{out}");

    let (code, out, _) = run(&[&clean, &broken]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains(": I10 (") && out.contains("[line "), "{out}");

    let (code, _, error) = run(&[&broken, &cut]);
    assert_eq!(code, Some(2));
    let lines = history[..history.len() / 2].split(|byte| *byte == b'\n').count();
    assert!(error.contains(&format!("line {lines} is not a record")), "{error}");

    assert_eq!(run(&[]).0, Some(2));
    assert_eq!(run(&[&folder.path().join("nothing")]).0, Some(2));
}

#[test]
fn what_makes_no_sense_is_not_judged() {
    let answer = r#"{"t":"ok","op":1,"at":0}"#;
    let invoke = r#"{"t":"invoke","op":1,"client":"c","at":0,"what":{"heartbeat":{"node":"n"}}}"#;
    let log = r#"{"t":"dump","log":{"tenant":"red","head":0}}"#;
    let end = r#"{"t":"dump","end":{"tasks":0,"events":0}}"#;
    let short = r#"{"t":"dump","end":{"tasks":1,"events":0}}"#;
    let begin = r#"{"t":"begin"}"#;
    for (lines, wrong) in [
        (vec![answer], 1),
        (vec![invoke, invoke], 2),
        (vec![invoke, answer, answer], 3),
        (vec![invoke, begin], 2),
        (vec![log], 1),
        (vec![short], 1),
        (vec![end, log], 2),
        (vec![invoke, ""], 2),
    ] {
        let error = check((lines.join("\n") + "\n").as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("line {wrong} ")), "{lines:?}: {error}");
    }
}

fn plain(key: String) -> What {
    let (tenant, pool) = ("red".to_owned(), "p".to_owned());
    let parents = Vec::new();
    What::Enqueue(Ask {
        key,
        tenant,
        pool,
        tier: 0,
        parents,
        max_attempts: 1,
        delay: None,
        start_at: None,
        backoff: None,
    })
}

/// Eight threads enqueue and claim; gives how many records they wrote.
fn busy(recorder: &Recorder, lane: u32) -> u64 {
    thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for turn in 0..50 {
                    let name = format!("{lane}-{thread}-{turn}");
                    recorder.invoke("c", plain(name.clone())).ok(Answer::task(name.clone()));
                    let claim = What::Claim { pool: "p".to_owned(), limit: 1 };
                    let claims =
                        vec![Claim { task: name.clone(), attempt: 1, at: None, tier: None }];
                    recorder.invoke("c", claim).ok(Answer::claims(claims));
                    let lease = Lease { task: name, attempt: 1 };
                    recorder.invoke("c", What::Progress(lease)).fail("busy");
                }
            });
        }
    });
    8 * 50 * 6
}

#[test]
fn threads_and_processes_share_a_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared");
    let recorders = [1, 2].map(|lane| Recorder::append(&path, lane).unwrap());
    let mut written = 0;
    for (recorder, lane) in recorders.iter().zip(1..) {
        written += busy(recorder, lane);
    }
    let text = std::fs::read(&path).unwrap();
    let verdict = check(&text[..]).unwrap();
    assert_eq!((verdict.records, verdict.broken), (written, 0));
    assert_eq!(verdict.tasks, 800);

    let path = folder.path().join("own");
    let recorder = Recorder::create(&path).unwrap();
    let written = busy(&recorder, 0);
    assert!(recorder.finish().unwrap().is_empty());
    assert_eq!(check(&std::fs::read(&path).unwrap()[..]).unwrap().records, written);
}

#[test]
fn a_recorder_that_could_not_write_says_so() {
    let Ok(recorder) = Recorder::append(Path::new("/dev/full"), 0) else { return };
    recorder.cut();
    assert!(recorder.finish().is_err());
}

#[test]
fn more_broken_promises_than_are_kept_are_counted() {
    let recorder = Recorder::in_memory();
    for turn in 0..1_500 {
        recorder.invoke("c", plain("same".to_owned())).ok(Answer::task(format!("t{turn}")));
    }
    let verdict = check(&recorder.finish().unwrap()[..]).unwrap();
    assert_eq!((verdict.violations.len(), verdict.broken), (1_000, 1_499));
    assert!(verdict.breaks(Rule::I1));
}

/// The format is a promise to whoever writes it without the recorder.
#[test]
fn the_format_stays_as_it_is() {
    for line in include_str!("format.jsonl").lines() {
        let record: Record = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
    }
}
