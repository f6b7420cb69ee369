//! Machines and storage in the sums: to the micro-dollar, and once, whoever is killed.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use crate::fleet::{PERSON, Yard, path};

/// A dollar for a second of work, so that a microsecond is a millionth of a dollar; and much for each byte.
const RATES: &str =
    "[rates]\nevery_seconds = 1\nstorage = 10000\n[rates.runtime]\nworktree = 3600\n";
const PATIENCE: Duration = Duration::from_secs(60);
/// In each quarter of an hour less than a millionth is rounded away; a run of a test is in two at most.
const ROUNDED: i64 = 2;

async fn yard(rates: &str) -> Yard {
    let say = |base: &str| format!("{rates}[providers.anthropic]\nanthropic = \"{base}\"\n");
    let path = path();
    Yard::staged(PERSON, &[("PATH", path.to_str().unwrap())], (&["anthropic"], say)).await
}

/// Tells what was spent on something.
fn spent(yard: &Yard, kind: &str) -> i64 {
    let report = yard.json(&["cost", "--by", "kind"]);
    let rows = report["rows"].as_array().unwrap().iter();
    let own = rows.filter(|row| row["group"]["kind"] == kind);
    own.map(|row| row["costMicros"].as_i64().unwrap()).sum()
}

fn until(yard: &Yard, what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(
            started.elapsed() < PATIENCE,
            "{what}\n{:#}\n{:#}\n{}",
            yard.json(&["cost", "--by", "kind"]),
            yard.json(&["agent", "list"]),
            yard.repo.home.log()
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Adds up for how many microseconds an agent was at work, by what it says of itself.
fn worked(agent: &Value) -> i64 {
    let steps = agent["history"].as_array().unwrap();
    let at =
        |step: &Value| step["at"].as_str().unwrap().parse::<Timestamp>().unwrap().as_microsecond();
    let pairs = steps.windows(2).filter(|pair| {
        let state = pair[0]["state"].as_str().unwrap();
        !["initializing", "paused", "completed", "failed", "killed"].contains(&state)
    });
    pairs.map(|pair| at(&pair[1]) - at(&pair[0])).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_moment_of_an_agent_is_paid_once_although_its_server_is_killed() {
    let mut yard = yard(RATES).await;
    let name = yard.spawn(
        "[[shell head -c 3000000 /dev/urandom > out.bin; git add -A; git commit -qm out; sleep 600]] [[then]] \
         [[call done {\"summary\":\"done\"}]]",
    );
    yard.until(&name, "executing");
    until(&yard, "nothing was paid", || spent(&yard, "runtime") > 0);
    let paused = yard.spawn("[[shell sleep 600]]");
    yard.until(&paused, "executing");
    yard.run(&["agent", "pause", &paused]).expect(0);
    yard.until(&paused, "paused");
    let out = yard.agent(&name)["worktree"].as_str().unwrap().to_owned();
    yard.wait(&name, |_| std::path::Path::new(&out).join("out.bin").exists());
    yard.run(&["agent", "snapshot", &name]).expect(0);
    yard.server.take().unwrap().kill();
    yard.up();
    let agent = yard.until(&name, "completed");
    yard.run(&["agent", "kill", &paused]).expect(0);
    let owed = worked(&agent) + worked(&yard.until(&paused, "killed"));
    let least = owed - 2 * ROUNDED;
    until(&yard, "not all was paid", || spent(&yard, "runtime") >= least);
    // Nothing more comes after their end.
    std::thread::sleep(Duration::from_secs(4));
    let paid = spent(&yard, "runtime");
    assert!((least..=owed).contains(&paid), "{paid} of {owed}: {agent:#}");
    // What the agent itself has spent is what its budget counts: models.
    let models = agent["spentMicros"].as_i64().unwrap()
        + yard.agent(&paused)["spentMicros"].as_i64().unwrap();
    assert_eq!(models, spent(&yard, "models"));
    yard.run(&["budget", "set", "tenant", "$1000/month"]).expect(0);
    let budgets = yard.json(&["budget", "list"]);
    assert_eq!(budgets["items"][0]["spentMicros"], models, "{budgets:#}");

    // Each report has it: of the runtime, the agent and its bead.
    let by = yard.json(&["cost", "--by", "runtime,agent,bead,provider,model"]);
    let row =
        by["rows"].as_array().unwrap().iter().find(|row| row["group"]["provider"] == "runtime");
    let group = &row.unwrap_or_else(|| panic!("{by:#}"))["group"];
    assert_eq!((&group["runtime"], &group["model"]), (&"worktree".into(), &"worktree".into()));
    assert_eq!((&group["agent"], &group["bead"]), (&agent["id"], &agent["bead"]));
    let told = yard.run(&["cost", "--by", "kind"]).expect(0).stdout;
    assert!(told.contains("runtime") && told.contains("models"), "{told}");

    // Its snapshot takes room since before the server began anew.
    yard.server.take().unwrap().kill();
    yard.up();
    until(&yard, "the room was not paid", || spent(&yard, "storage") > 0);
    let by = yard.json(&["cost", "--by", "provider,agent,project"]);
    let row =
        by["rows"].as_array().unwrap().iter().find(|row| row["group"]["provider"] == "storage");
    let group = &row.unwrap_or_else(|| panic!("{by:#}"))["group"];
    assert_eq!((&group["agent"], &group["project"]), (&"".into(), &agent["projectId"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_and_goes_between_two_looks_is_paid_for_too() {
    let yard = yard(&RATES.replace("every_seconds = 1", "every_seconds = 6")).await;
    let names = ["a", "b", "c"].map(|file| yard.spawn(&format!("[[work {file}.txt done]]")));
    let agents = names.map(|name| yard.until(&name, "completed"));
    let owed: i64 = agents.iter().map(worked).sum();
    let most = i64::try_from(agents.len()).unwrap() * ROUNDED;
    until(&yard, "not all was paid", || spent(&yard, "runtime") >= owed - most);
    assert!(spent(&yard, "runtime") <= owed);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_rate_costs_nothing_and_nothing_is_charged_for_the_time_before() {
    let yard = yard("").await;
    let name = yard.spawn("[[shell sleep 600]]");
    yard.until(&name, "executing");
    std::thread::sleep(Duration::from_secs(3));
    let file = yard.repo.home.path().join("proxy.toml");
    let without = std::fs::read_to_string(&file).unwrap();
    let before = Instant::now();
    std::fs::write(&file, format!("{RATES}{without}")).unwrap();
    until(&yard, "nothing was paid", || spent(&yard, "runtime") > 0);
    let paid = spent(&yard, "runtime");
    let since = i64::try_from(before.elapsed().as_micros()).unwrap();
    // It is paid up to two seconds ago; the time before the rates is longer than that.
    assert!(paid <= since, "{paid} in {since}");
    std::fs::write(&file, &without).unwrap();
    let mut last = -1;
    until(&yard, "it is still paid", || {
        let now = spent(&yard, "runtime");
        std::thread::sleep(Duration::from_secs(3));
        std::mem::replace(&mut last, now) == now
    });
}
