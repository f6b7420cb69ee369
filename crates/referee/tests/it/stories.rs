//! Short histories, each with one thing wrong, and the rule and the lines that must be named.

use godel_referee::{Rule, check};

/// A task `a` of key `k`, asked for and accepted, on lines 1 and 2.
const ACCEPTED: &str = r#"{"t":"invoke","op":1,"client":"c","at":0,"what":{"enqueue":{"key":"k","tenant":"red","pool":"p","tier":1,"max_attempts":2}}}
{"t":"ok","op":1,"at":1,"answer":{"task":"a"}}
"#;

fn claim(op: u64, task: &str, attempt: u32, at: i64) -> String {
    format!(
        r#"{{"t":"invoke","op":{op},"client":"w","at":0,"what":{{"claim":{{"pool":"p","limit":1}}}}}}
{{"t":"ok","op":{op},"at":0,"answer":{{"claims":[{{"task":"{task}","attempt":{attempt},"at":{at}}}]}}}}
"#
    )
}

fn ask(op: u64, what: &str) -> String {
    format!("{{\"t\":\"invoke\",\"op\":{op},\"client\":\"w\",\"at\":0,\"what\":{what}}}\n")
}

fn yes(op: u64, answer: &str) -> String {
    format!("{{\"t\":\"ok\",\"op\":{op},\"at\":0,\"answer\":{answer}}}\n")
}

fn stored(place: &str, attempt: u32) -> String {
    format!(
        r#"{{"t":"dump","task":{{"task":"a","key":"k","tenant":"red","pool":"p","tier":1,"place":"{place}","attempt":{attempt}}}}}
"#
    )
}

fn event(seq: u64, kind: &str, attempt: u32, at: i64) -> String {
    format!(
        r#"{{"t":"dump","event":{{"tenant":"red","seq":{seq},"kind":"task:{kind}","at":{at},"task":"a","attempt":{attempt},"tier":1,"pool":"p"}}}}
"#
    )
}

fn end(tasks: u64, events: u64) -> String {
    format!("{{\"t\":\"dump\",\"end\":{{\"tasks\":{tasks},\"events\":{events}}}}}\n")
}

/// The first violation of a history: its rule and its lines.
#[track_caller]
fn blamed(parts: &[&str]) -> (Rule, Vec<u64>) {
    let verdict = check(parts.concat().as_bytes()).unwrap();
    let first = verdict.violations.first().expect("nothing was blamed");
    (first.rule, first.lines.clone())
}

#[track_caller]
fn clean(parts: &[&str]) {
    let verdict = check(parts.concat().as_bytes()).unwrap();
    assert_eq!(verdict.violations, vec![]);
}

fn whole(place: &str, attempt: u32, events: &[String]) -> String {
    let mut text = stored(place, attempt);
    if !["done", "dead", "cancelled"].contains(&place) {
        text += &format!(
            r#"{{"t":"dump","depth":{{"pool":"p","tier":1,"place":"{place}","count":1}}}}
"#
        );
    }
    text += &events.concat();
    text + &end(1, events.len() as u64)
}

#[test]
fn a_task_that_was_done_once_is_fine() {
    let complete = ask(3, r#"{"complete":{"task":"a","attempt":1}}"#) + &yes(3, r#"{"at":30}"#);
    let events = [event(1, "queued", 0, 10), event(2, "started", 1, 20)];
    let events = [&events[..], &[event(3, "succeeded", 1, 30)]].concat();
    clean(&[ACCEPTED, &claim(2, "a", 1, 20), &complete, &whole("done", 1, &events)]);
}

#[test]
fn one_key_with_two_answers_is_two_tasks() {
    let again = ACCEPTED.replace("\"op\":1", "\"op\":2").replace("\"a\"", "\"b\"");
    assert_eq!(blamed(&[ACCEPTED, &again]), (Rule::I1, vec![1, 2, 4]));
}

#[test]
fn an_accepted_task_that_is_nowhere_is_lost() {
    assert_eq!(blamed(&[ACCEPTED, &end(0, 0)]), (Rule::I1, vec![1, 2]));
}

#[test]
fn an_unanswered_task_may_be_there_or_not() {
    let asked = ACCEPTED.lines().next().unwrap().to_owned() + "\n";
    clean(&[&asked, &end(0, 0)]);
    clean(&[&asked, &whole("ready", 0, &[event(1, "queued", 0, 10)])]);
}

#[test]
fn a_refused_task_must_not_be_there() {
    let asked = ACCEPTED.lines().next().unwrap().to_owned() + "\n";
    let refused = "{\"t\":\"fail\",\"op\":1,\"at\":0,\"error\":\"full\"}\n";
    let queued = [event(1, "queued", 0, 10)];
    assert_eq!(blamed(&[&asked, refused, &whole("ready", 0, &queued)]), (Rule::I2, vec![3]));
}

#[test]
fn an_attempt_in_two_hands_is_noticed_without_the_log() {
    let twice = claim(2, "a", 1, 20) + &claim(3, "a", 1, 30);
    assert_eq!(blamed(&[ACCEPTED, &twice]), (Rule::I3, vec![4, 6]));
}

#[test]
fn a_late_ack_is_noticed_without_the_log() {
    let claims = claim(2, "a", 1, 20) + &claim(3, "a", 2, 30);
    let late = ask(4, r#"{"complete":{"task":"a","attempt":1}}"#) + &yes(4, "{}");
    assert_eq!(blamed(&[ACCEPTED, &claims, &late]), (Rule::I5, vec![6, 8]));
}

#[test]
fn a_late_ack_that_was_asked_in_time_is_noticed_by_the_clock_of_the_database() {
    let asked = claim(2, "a", 1, 20) + &ask(4, r#"{"complete":{"task":"a","attempt":1}}"#);
    let (before, after) = (yes(4, r#"{"at":25}"#), yes(4, r#"{"at":35}"#));
    clean(&[ACCEPTED, &asked, &claim(3, "a", 2, 30), &before]);
    let heard_last = [ACCEPTED, &asked, &claim(3, "a", 2, 30), &after];
    assert_eq!(blamed(&heard_last), (Rule::I5, vec![7, 8]));
    let heard_first = [ACCEPTED, &asked, &after, &claim(3, "a", 2, 30)];
    assert_eq!(blamed(&heard_first).0, Rule::I5);
}

#[test]
fn a_claim_after_the_end_is_noticed_without_the_log() {
    let done =
        claim(2, "a", 1, 20) + &ask(3, r#"{"complete":{"task":"a","attempt":1}}"#) + &yes(3, "{}");
    assert_eq!(blamed(&[ACCEPTED, &done, &claim(4, "a", 2, 30)]), (Rule::I6, vec![6, 7, 8]));
}

#[test]
fn leases_that_overlap_in_time_are_noticed_though_in_order() {
    let claims = claim(2, "a", 1, 20) + &claim(3, "a", 2, 25);
    let events = [
        event(1, "queued", 0, 10),
        event(2, "started", 1, 20),
        event(3, "lost", 1, 30),
        event(4, "started", 2, 25),
    ];
    let history = [ACCEPTED, &claims, &whole("leased", 2, &events)];
    let verdict = check(history.concat().as_bytes()).unwrap();
    assert!(verdict.breaks(Rule::I4), "{:?}", verdict.violations);
    let lenient = "{\"t\":\"begin\",\"skew\":5}\n";
    clean(&[&[lenient], &history[..]].concat());
}

#[test]
fn an_answer_that_the_log_does_not_know_is_not_durable() {
    let queued = [event(1, "queued", 0, 10)];
    let history = [ACCEPTED, &claim(2, "a", 1, 20), &whole("ready", 0, &queued)];
    assert_eq!(blamed(&history), (Rule::I12, vec![4]));
}

#[test]
fn a_child_in_hands_before_its_parent_is_noticed_without_the_log() {
    let child = ACCEPTED
        .replace("\"op\":1", "\"op\":2")
        .replace("\"k\"", "\"child\"")
        .replace("\"a\"", "\"b\"")
        .replace("\"tier\":1", "\"tier\":1,\"parents\":[\"k\"]");
    assert_eq!(blamed(&[ACCEPTED, &child, &claim(3, "b", 1, 20)]), (Rule::I9, vec![3, 6]));
}

#[test]
fn a_backlog_is_drained_by_tier_whoever_is_faster() {
    let low = ACCEPTED
        .replace("\"op\":1", "\"op\":2")
        .replace("\"k\"", "\"low\"")
        .replace("\"a\"", "\"b\"")
        .replace("\"tier\":1", "\"tier\":3");
    let quiet = "{\"t\":\"quiesced\",\"at\":0,\"pool\":\"p\"}\n";
    let (high, low_first) = (claim(3, "a", 1, 20), claim(4, "b", 1, 20));
    clean(&[ACCEPTED, &low, quiet, &high, &low_first]);
    let wrong = [ACCEPTED, &low, quiet, &low_first, &high];
    assert_eq!(blamed(&wrong), (Rule::I7, vec![7, 9]));
    // Both were on their way, so either may have been first.
    let (asked, answered) = high.split_once('\n').unwrap();
    clean(&[ACCEPTED, &low, quiet, asked, "\n", &low_first, answered]);
}

#[test]
fn a_wait_that_was_answered_is_the_wait_of_the_log() {
    let fail = ask(3, r#"{"fail":{"task":"a","attempt":1}}"#) + &yes(3, r#"{"at":30,"delay":5}"#);
    let failed = event(3, "failed", 1, 30).replace("}}", ",\"delay_us\":9}}");
    let events = [event(1, "queued", 0, 10), event(2, "started", 1, 20), failed];
    let history = [ACCEPTED, &claim(2, "a", 1, 20), &fail, &whole("delayed", 1, &events)];
    assert_eq!(blamed(&history), (Rule::I12, vec![6, 11]));
}

#[test]
fn what_the_server_asks_for_itself_is_no_ghost() {
    let begin = "{\"t\":\"begin\",\"engine_keys\":[\"k\"],\"unseen_workers\":true}\n";
    let events = [event(1, "queued", 0, 10), event(2, "started", 1, 15)];
    let events = [&events[..], &[event(3, "succeeded", 1, 20)]].concat();
    assert_eq!(blamed(&[&whole("done", 1, &events)]).0, Rule::I2);
    clean(&[begin, &whole("done", 1, &events)]);
}

/// Events of one task in their order, a second apart.
fn log(steps: &[(&str, u32)]) -> Vec<String> {
    let numbered = steps.iter().zip(1..);
    let at = |seq: u64| i64::try_from(seq).unwrap() * 1_000_000;
    numbered.map(|((kind, attempt), seq)| event(seq, kind, *attempt, at(seq))).collect()
}

const UNSEEN: &str = "{\"t\":\"begin\",\"unseen_workers\":true}\n";

#[test]
fn an_attempt_that_was_released_does_not_count() {
    let begun = [("queued", 0), ("started", 1)];
    let rest = [("started", 2), ("lost", 2), ("started", 3)];
    let with = |end| [&begun[..], &[(end, 1)], &rest[..]].concat();
    clean(&[UNSEEN, ACCEPTED, &whole("leased", 3, &log(&with("released")))]);
    let third = [UNSEEN, ACCEPTED, &whole("leased", 3, &log(&with("lost")))];
    assert_eq!(blamed(&third), (Rule::I3, vec![10, 11]));
}

#[test]
fn a_worker_that_was_asked_to_stop_may_still_succeed() {
    let steps = [("queued", 0), ("started", 1), ("stopping", 1), ("succeeded", 1)];
    let dump = whole("done", 1, &log(&steps));
    let cancel = ask(2, r#"{"cancel":{"task":"a"}}"#);
    let stopping = [UNSEEN, ACCEPTED, &cancel, &yes(2, r#"{"stopping":true}"#), &dump];
    clean(&stopping);
    let cancelled = [UNSEEN, ACCEPTED, &cancel, &yes(2, "{}"), &dump];
    assert_eq!(blamed(&cancelled), (Rule::I12, vec![5]));
}

#[test]
fn what_did_not_succeed_may_be_replayed_if_somebody_asks() {
    let replay = ask(2, r#"{"replay":{"task":"a"}}"#) + &yes(2, "{}");
    for (end, place, lawful) in
        [("dead", "ready", true), ("cancelled", "ready", true), ("succeeded", "ready", false)]
    {
        let steps = [("queued", 0), ("started", 1), (end, 1), ("replayed", 1)];
        let dump = whole(place, 1, &log(&steps));
        let rules = |parts: &[&str]| {
            let verdict = check(parts.concat().as_bytes()).unwrap();
            verdict.violations.iter().map(|violation| violation.rule).collect::<Vec<_>>()
        };
        let asked = rules(&[UNSEEN, ACCEPTED, &replay, &dump]);
        assert_eq!(asked, if lawful { vec![] } else { vec![Rule::I6] }, "{end}");
        assert!(rules(&[UNSEEN, ACCEPTED, &dump]).contains(&Rule::I6), "{end}");
    }
}

#[test]
fn a_task_waits_for_the_time_it_was_asked_to_start_at() {
    let accepted = ACCEPTED.replace("\"tier\":1", "\"tier\":1,\"start_at\":2500000");
    let early = whole("ready", 0, &log(&[("queued", 0), ("ready", 0)]));
    assert_eq!(blamed(&[&accepted, &early]), (Rule::I11, vec![5, 6]));
    let hurry = ask(2, r#"{"replay":{"task":"a"}}"#) + &yes(2, "{}");
    clean(&[&accepted, &hurry, &early]);
    let late = accepted.replace("2500000", "1500000");
    clean(&[&late, &early]);
    let strict = "{\"t\":\"begin\",\"slack\":100000}\n";
    assert_eq!(blamed(&[strict, &late, &early]), (Rule::I11, vec![6, 7]));
}
