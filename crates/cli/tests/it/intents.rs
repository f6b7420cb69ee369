//! Sentences that become plans, and plans that become convoys which land.

use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fleet::{AUTO, PATIENCE, PERSON, Yard};
use crate::home::Answer;
use crate::wire::{gather, terminal, wait_for};

/// What a model answers: two beads, one after the other.
fn two_beads() -> String {
    let bead = |key: &str, needs: &[&str], file: &str| {
        json!({ "key": key, "title": format!("Write {file}"), "description": format!("[[work {file} by {key}]]"),
            "type": "task", "needs": needs, "role": "worker", "size": "small" })
    };
    let beads = [bead("first", &[], "one.txt"), bead("second", &["first"], "two.txt")];
    json!({ "title": "Two files", "beads": beads }).to_string()
}

fn count(yard: &Yard, words: &[&str]) -> usize {
    yard.json(words)["items"].as_array().unwrap().len()
}

/// Waits until a convoy is over.
fn until_done(yard: &Yard, convoy: &str) -> Value {
    let started = Instant::now();
    loop {
        let run = yard.json(&["convoy", "watch", convoy, "--once"]);
        if run["state"] != "running" {
            return run;
        }
        assert!(started.elapsed() < PATIENCE, "{run:#}\n{}", yard.repo.home.log());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// What the ledger says about the planner: how many requests, and what they cost.
fn planned(yard: &Yard) -> (u64, i64) {
    let usage = yard.json(&["usage", "--by", "agent"]);
    let rows = usage["rows"].as_array().unwrap();
    let own: Vec<&Value> =
        rows.iter().filter(|row| row["group"].to_string().contains("planner")).collect();
    let sum = |name: &str| own.iter().filter_map(|row| row[name].as_i64()).sum::<i64>();
    (u64::try_from(sum("requests")).unwrap(), sum("costMicros"))
}

/// Checks that a plan was shown and then not carried out.
fn only_shown(answer: Answer, parts: &[&str]) {
    let answer = answer.expect(4);
    for part in parts {
        assert!(answer.stderr.contains(part), "no {part:?} in {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_of_a_model_is_kept_over_a_kill_started_once_and_lands() {
    let mut yard = Yard::open(AUTO).await;
    let wish = format!("Build two files [[json {}]]", two_beads());
    let intent = yard.json(&["do", &wish, "--plan-only", "--budget", "5"]);
    let plan = &intent["plan"];
    assert_eq!(
        (&plan["by"], &plan["tries"], &plan["model"]),
        (&json!("model"), &json!(1), &json!("claude-opus-4-8")),
        "{intent:#}"
    );
    assert_eq!(plan["waves"], json!([["first"], ["second"]]));
    assert_eq!((&intent["state"], &intent["type"]), (&json!("planned"), &json!("custom")));
    assert_eq!(intent["estimate"]["sureness"], "guess");
    // The planning is on the ledger, and nothing else was done.
    let (requests, cost) = planned(&yard);
    assert_eq!(requests, 1);
    assert!(cost > 0);
    let nothing = |yard: &Yard| {
        let made = [
            count(yard, &["agent", "list"]),
            count(yard, &["bead", "list", "--all"]),
            count(yard, &["convoy", "list"]),
        ];
        assert_eq!(made, [0, 0, 0], "nothing runs before a yes");
    };
    nothing(&yard);
    let tokens = yard.json(&["token", "list"]);
    let live = tokens["items"].as_array().unwrap().iter().filter(|one| one["revokedAt"].is_null());
    assert_eq!(live.count(), 0, "{tokens:#}");

    yard.server.take().unwrap().kill();
    yard.up();
    nothing(&yard);
    let id = intent["id"].as_str().unwrap();
    let first = yard.json(&["do", "--start", id]);
    let again = yard.json(&["do", "--start", id]);
    assert_eq!(first["convoy"], again["convoy"]);
    assert_eq!(
        (count(&yard, &["bead", "list", "--all"]), count(&yard, &["convoy", "list"])),
        (2, 1)
    );
    let convoy = first["convoy"].as_str().unwrap();
    assert_eq!(until_done(&yard, convoy)["state"], "done");
    assert_eq!(
        (yard.in_main("one.txt"), yard.in_main("two.txt")),
        ("by first".into(), "by second".into())
    );
    for bead in plan["beads"].as_array().unwrap() {
        let found = yard.json(&["bead", "show", bead["bead"].as_str().unwrap()]);
        assert_eq!(found["status"], "done", "{found:#}");
    }
    // Planning and work together are what the convoy has cost.
    let usage = yard.json(&["usage"])["total"]["costMicros"].clone();
    let of_convoy = yard.json(&["usage", "--convoy", convoy])["total"]["costMicros"].clone();
    assert_eq!(of_convoy, usage);
    // What was learnt from it is used the next time.
    let next = yard.json(&["do", "Fix the typo in the readme", "--rules", "--plan-only"]);
    assert_eq!(
        (&next["estimate"]["runs"], &next["estimate"]["sureness"]),
        (&json!(2), &json!("rough")),
        "{next:#}"
    );
    yard.run(&["do", "--cancel", id]).refused(4, &["started", "godel convoy stop"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn beads_are_made_once_although_the_server_is_killed_while_they_are_made() {
    let mut yard = Yard::open(PERSON).await;
    let wish =
        "1. Add a page for prices [[say x]]\n2. Add a page for people\n3. Add a page for news";
    let intent = yard.json(&["do", wish, "--rules", "--plan-only"]);
    let (id, beads) =
        (intent["id"].as_str().unwrap(), intent["plan"]["beads"].as_array().unwrap().len());
    assert!(beads >= 6, "{intent:#}");
    for pause in [5, 30, 80] {
        std::thread::scope(|scope| {
            // Whatever it says: the server goes away meanwhile.
            scope.spawn(|| yard.run(&["do", "--start", id, "--json"]));
            std::thread::sleep(std::time::Duration::from_millis(pause));
            yard.server.as_ref().unwrap().signal(Signal::KILL);
        });
        yard.server.take();
        yard.up();
    }
    yard.run(&["do", "--start", id, "--json"]).expect(0);
    assert_eq!(count(&yard, &["bead", "list", "--all"]), beads);
    assert_eq!(count(&yard, &["convoy", "list"]), 1);
    yard.run(&["estop"]).expect(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_answers_no_plan_twice_is_replaced_by_the_rules() {
    let yard = Yard::open(AUTO).await;
    let intent = yard.json(&["do", "Add a page with prices to the site", "--plan-only"]);
    let plan = &intent["plan"];
    assert_eq!((&plan["by"], &plan["tries"]), (&json!("rules"), &json!(2)), "{intent:#}");
    assert!(plan["why"].as_str().unwrap().contains("could not be used"), "{plan:#}");
    assert_eq!(planned(&yard).0, 2);
    // An answer that asks for more than it may is no plan either.
    let greedy = two_beads().replace("\"size\":\"small\"", "\"size\":\"small\",\"tools\":[\"*\"]");
    let intent = yard.json(&["do", &format!("Build two files [[json {greedy}]]"), "--plan-only"]);
    let plan = &intent["plan"];
    assert_eq!((&plan["by"], &plan["tries"]), (&json!("rules"), &json!(2)), "{intent:#}");
    let told: Vec<String> = yard
        .provider
        .recorded()
        .iter()
        .map(|one| String::from_utf8_lossy(&one.body).into_owned())
        .collect();
    assert!(told.iter().any(|body| body.contains("unknown field `tools`")), "{told:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_without_a_yes_and_a_budget_that_cannot_last_is_refused() {
    let yard = Yard::open(AUTO).await;
    let wish = "Fix the typo in the readme [[work notes.txt fixed]]";
    only_shown(yard.run(&["do", wish, "--rules"]), &["nobody said yes", "godel do --start"]);
    let small = yard.json(&["do", wish, "--rules", "--plan-only", "--budget", "0.01"]);
    assert!(
        small["words"][0].as_str().unwrap().contains("less than the plan is likely to cost"),
        "{small:#}"
    );
    let id = small["id"].as_str().unwrap();
    yard.run(&["do", "--start", id]).refused(4, &["likely to cost", "--budget 5"]);
    for bad in ["", "   ", "?!"] {
        yard.run(&["do", bad, "--rules"]).refused(2, &["says nothing"]);
    }
    assert_eq!(
        (count(&yard, &["agent", "list"]), count(&yard, &["bead", "list", "--all"])),
        (0, 0)
    );
    assert_eq!(planned(&yard), (0, 0));
    // With a yes it is planned, started, watched and landed in one go.
    let done = yard.run(&["do", wish, "--rules", "--yes", "--watch"]).expect(0);
    assert_eq!(yard.in_main("notes.txt"), "fixed");
    assert!(
        done.stdout.contains("planned by rules") && done.stdout.contains("is done"),
        "{}",
        done.stdout
    );
    yard.run(&["do", "--cancel", id, "--json"]).expect(0);
    yard.run(&["do", "--start", id, "--budget", "5"]).refused(4, &["is cancelled"]);
    assert_eq!(count(&yard, &["do", "--list"]), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_about_agents_are_answered_and_what_is_meant_is_asked_back() {
    let yard = Yard::open(PERSON).await;
    let busy =
        |what: &str| yard.spawn(&format!("{what} [[shell echo half > half.txt; sleep 600]]"));
    let (auth, search) = (busy("Fix the authentication bug"), busy("Tidy the search page"));
    let third = busy("Speed up the search page");
    yard.until(&auth, "executing");
    let told = yard.run(&["do", "What is agent 2 doing?"]).expect(0).stdout;
    assert!(told.starts_with(&format!("{search} is ")), "{told}");
    // Two are about search: one question, and nothing is stopped.
    let asked = yard.run(&["do", "Stop the search work", "--yes", "--json"]).expect(4).json();
    assert_eq!(
        (&asked["state"], &asked["question"]["about"]),
        (&json!("asking"), &json!("target"))
    );
    let choices = asked["question"]["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 2, "{asked:#}");
    for name in [&auth, &search, &third] {
        assert_ne!(yard.agent(name)["lifecycleState"], "killed");
    }
    let id = asked["id"].as_str().unwrap();
    yard.run(&["do", "--answer", id, "something else"]).refused(2, &["no answer"]);
    let bead = yard.agent(&search)["bead"].as_str().unwrap().to_owned();
    yard.run(&["do", "--answer", id, &bead, "--yes"]).expect(0);
    yard.until(&search, "killed");
    assert_ne!(yard.agent(&third)["lifecycleState"], "killed");
    // One is about auth, and a yes is needed.
    only_shown(yard.run(&["do", "Stop the auth work"]), &["nobody said yes"]);
    assert_ne!(yard.agent(&auth)["lifecycleState"], "killed");
    yard.run(&["do", "Stop the auth work", "--yes"]).expect(0);
    yard.until(&auth, "killed");
    let vague = yard.run(&["do", "Fix it", "--rules", "--json"]).expect(4).json();
    assert_eq!(vague["question"]["about"], "object", "{vague:#}");
    yard.run(&["agent", "kill", &third]).expect(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_convoy_is_drawn_in_a_terminal_until_it_is_over() {
    let yard = Yard::open(AUTO).await;
    let wish = format!("Build two files [[json {}]]", two_beads());
    let intent = yard.json(&["do", &wish, "--yes"]);
    let convoy = intent["convoy"].as_str().unwrap();
    let (person, tty) = terminal((30, 100));
    let mut command = yard.repo.command_in(&yard.repo.path, &["watch", convoy]);
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    let sides = (tty.try_clone().unwrap(), tty.try_clone().unwrap());
    let mut child = command.stdin(sides.0).stdout(sides.1).stderr(tty).spawn().unwrap();
    drop(command);
    let shown = gather(person);
    wait_for(&[&shown], &format!("{convoy} is done\n"));
    assert!(child.wait().unwrap().success());
    let all = String::from_utf8(shown.lock().unwrap().clone()).unwrap();
    // Each picture goes over the one before: a head and a line for each bead.
    let pictures: Vec<&str> = all.split("\x1b[3A\r\x1b[J").collect();
    assert!(pictures.len() > 1, "{all:?}");
    let last = pictures.last().unwrap();
    assert!(last.contains("2 of 2 beads done"), "{last:?}");
    assert_eq!(last.matches(&"█".repeat(10)).count(), 2, "{last:?}");
    assert!(last.contains("Write one.txt") && last.contains("worker-"), "{last:?}");
    // Who does not look at a terminal gets lines.
    let lines = yard.run(&["watch", convoy]).expect(0).stdout;
    assert!(!lines.contains('\x1b') && lines.contains("Write two.txt"), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sentence_runs_a_workflow_once_and_gives_a_convoy_more_agents() {
    let yard = Yard::open(PERSON).await;
    let flow = yard.repo.home.path().join("ship.yaml");
    std::fs::write(&flow, "name: ship\nsteps:\n  - id: pack\n").unwrap();
    yard.run(&["workflow", "save", flow.to_str().unwrap()]).expect(0);
    let asked = yard.json(&["do", "run the ship workflow", "--plan-only"]);
    assert_eq!(asked["type"], "execute_workflow", "{asked:#}");
    let runs = |yard: &Yard| count(yard, &["workflow", "runs"]);
    assert_eq!(runs(&yard), 0, "nothing runs before a yes");
    let id = asked["id"].as_str().unwrap();
    yard.json(&["do", "--start", id]);
    yard.run(&["do", "--start", id]);
    assert_eq!(runs(&yard), 1);

    let wait = "[[shell sleep 600]]";
    let beads: Vec<String> = (0..3)
        .map(|number| yard.json(&["bead", "create", &format!("Part {number} {wait}")]))
        .map(|made| made["id"].as_str().unwrap().to_owned())
        .collect();
    let words = ["convoy", "create", "Auth", &beads[0], &beads[1], &beads[2]];
    let convoy = yard.json(&words)["id"].as_str().unwrap().to_owned();
    yard.run(&["convoy", "start", &convoy, "--agents", "1"]).expect(0);
    let asked = yard.json(&["do", "add 2 agents to the Auth convoy", "--yes"]);
    assert_eq!(asked["type"], "scale_team", "{asked:#}");
    let watch = ["convoy", "watch", &convoy, "--once"];
    yard.look_until(&watch, |run| run["agents"] == 3 && run["running"] == 3);
    let fewer = yard.json(&["do", "scale the Auth convoy to 2", "--plan-only"]);
    assert!(fewer["words"].to_string().contains("will have 2 agents at once"), "{fewer:#}");
    assert_eq!(yard.json(&watch)["agents"], 3, "a plan changes nothing");
}
