//! The power is cut at any step of a server on SQLite: whatever of the unsynced writes reached the disk,
//! the database opens by itself, and everything that was answered is there.
//!
//! The writes of a real server under load are recorded below SQLite. Clients note how long the record
//! was when they asked and when they were answered, so that the referee can be told for each cut what was
//! known by then.

mod replay;

use std::collections::BTreeMap;
use std::path::PathBuf;

use godel_referee::{Begin, Record, Recorder, Rule, Verdict, check};
use godel_store::{Config, DatabaseUrl, Scope, Store};
use godel_testkit::Preload;

use self::replay::{Disk, LEFT, Left, Step};
use super::dump::{self, Tables};
use super::load::Chance;
use super::process::{Process, RELAXED};
use super::scene::{SKEW_US, Scene, rounds};

/// How many states are looked at; `cargo xtask torture queue` asks for more.
fn states_max() -> usize {
    const PER_ROUND: usize = 40;
    usize::try_from(rounds()).unwrap() * PER_ROUND
}

/// A server that was recorded, and what its clients knew when.
struct Recorded {
    steps: Vec<(u64, Step)>,
    history: Vec<Record>,
}

/// Lets a server work, stop, start and work again, and records it from its first byte.
async fn record(more: &[(&str, &str)]) -> Recorded {
    let library = Preload::trace();
    let trace = library.folder().join("trace");
    let mut env =
        vec![("LD_PRELOAD", library.path()), ("GODEL_TEST_TRACE", trace.to_str().unwrap())];
    env.extend_from_slice(more);
    let any = DatabaseUrl::Sqlite(PathBuf::new());
    let server = Process::start_with(&any, &env).await;
    let seen = trace.clone();
    let length = move || std::fs::metadata(&seen).unwrap().len().try_into().unwrap();
    let recorder = Recorder::in_memory().with_clock(length);
    recorder.begin(Begin { skew: SKEW_US, ..Begin::default() });
    let mut scene = Scene::with(vec![server], recorder.clone(), &any);
    scene.wait(600, 900).await;
    assert!(scene.servers[0].stop().await.success());
    scene.servers[0].again_with(&env).await;
    scene.find_servers();
    scene.wait(400, 600).await;
    scene.servers[0].kill();
    drop(scene);
    let history = recorder.finish().unwrap();
    let history = history.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Recorded {
        steps: replay::read(&std::fs::read(&trace).unwrap()),
        history: history.map(|line| serde_json::from_slice(line).unwrap()).collect(),
    }
}

/// What clients knew when the record was this long.
fn known(history: &[Record], length: u64) -> Recorder {
    let recorder = Recorder::in_memory();
    let is_past = |record: &&Record| match record {
        Record::Invoke { at, .. }
        | Record::Ok { at, .. }
        | Record::Fail { at, .. }
        | Record::Unknown { at, .. } => u64::try_from(*at).unwrap() <= length,
        _ => true,
    };
    history.iter().filter(is_past).for_each(|record| recorder.write(record));
    recorder.cut();
    recorder
}

/// Opens what is left, and judges it by what was known.
async fn judged(files: &BTreeMap<String, Vec<u8>>, recorder: &Recorder, what: &str) -> Verdict {
    // In memory if possible: what is safe was decided already.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let file = folder.path().join("godel.db");
    let store = Store::open(&Config::new(DatabaseUrl::Sqlite(file.clone()))).await;
    let store = store.unwrap_or_else(|error| panic!("{what}: {error}"));
    let tenants = store.read(Scope::System, |tx| tx.tenants().list()).await.unwrap();
    if let Some(tenant) = tenants.first() {
        let depth = store.read(Scope::Tenant(tenant.id), |tx| tx.tasks().depth()).await.unwrap();
        store.close().await;
        let tables = Tables::Sqlite(file);
        assert_eq!(tables.text("PRAGMA integrity_check"), "ok", "{what}");
        dump::write(&tables, recorder, dump::counted(&depth));
    } else {
        store.close().await;
        recorder.dump_end();
    }
    check(&recorder.finish().unwrap()[..]).unwrap()
}

/// Cuts the power at many places; returns the verdicts that are not clean.
async fn cut_everywhere(recorded: &Recorded, most: usize) -> Vec<String> {
    let Recorded { steps, history } = recorded;
    let mut chance = Chance::of(u64::from(std::process::id()));
    let (mut disk, mut broken) = (Disk::default(), Vec::new());
    let (mut states, mut durable) = (0, 0);
    for (number, (length, step)) in steps.iter().enumerate() {
        // Just before a sync most is at stake.
        let is_edge = matches!(steps.get(number + 1), Some((_, Step::Sync(_) | Step::SyncNames)));
        disk.take(step);
        let often = 100 * most / steps.len().max(1) / if is_edge { 1 } else { 3 };
        if !chance.percent(often.clamp(1, 100)) {
            continue;
        }
        for left in LEFT.into_iter().take(if disk.loose() == 0 { 1 } else { LEFT.len() }) {
            let what = format!("cut after step {number} of {}, {left:?} is left", steps.len());
            let files = disk.cut(left, &mut chance);
            let verdict = judged(&files, &known(history, *length), &what).await;
            states += 1;
            durable += verdict.checked(Rule::I12);
            if let Some(first) = verdict.violations.first() {
                broken.push(format!("{what}: {first}"));
            }
        }
    }
    println!("{states} states of {} steps, {durable} answers found again", steps.len());
    assert!(states > 20 && durable > 100, "{states} states, {durable} answers");
    broken
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_reached_the_disk_every_answer_of_the_queue_is_there() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let broken = cut_everywhere(&record(&[]).await, states_max()).await;
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The same would be noticed of a server that answers before its words are safe.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_too_early_is_caught_by_a_power_cut() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let recorded = record(&[(RELAXED, "1")]).await;
    let (mut disk, mut chance) = (Disk::default(), Chance::of(1));
    // The clean stop in the middle makes everything safe, so the cut comes late.
    recorded.steps.iter().for_each(|(_, step)| disk.take(step));
    let length = recorded.steps.last().unwrap().0;
    let files = disk.cut(Left::Nothing, &mut chance);
    let verdict = judged(&files, &known(&recorded.history, length), "relaxed").await;
    assert!(verdict.violations.iter().any(|found| found.rule == Rule::I12), "nothing was missed");
}
