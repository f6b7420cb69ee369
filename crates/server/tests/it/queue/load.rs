//! Clients that add tasks, cancel and replay some, and never know for sure what a dead server did.

use std::sync::atomic::Ordering;
use std::time::Duration;

use godel_referee::{Answer, Ask, Backoff, What};
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};

use super::http::Heard;
use super::worker::{Shop, made};

pub(super) const POOLS: [&str; 2] = ["a", "b"];
const TIERS: [&str; 4] = ["critical", "high", "medium", "low"];
/// How the key of a task begins that nobody can do.
pub(super) const POISON: &str = "poison";
const PAUSE: Duration = Duration::from_millis(20);

/// Chance from a seed; what servers and the machine do is chance enough besides.
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    pub(super) fn percent(&mut self, often: usize) -> bool {
        self.below(100) < often
    }
}

pub(super) fn tier(name: &str) -> u8 {
    u8::try_from(TIERS.iter().position(|other| *other == name).unwrap()).unwrap()
}

/// A task that was accepted: its key and its id.
pub(super) type Known = (String, String);

/// Thinks of a task: as the referee hears of it, and as the server does.
pub(super) fn ask_for(
    chance: &mut Chance,
    (tenant, key): (&str, String),
    after: &[Known],
) -> (Ask, Value) {
    let (pool, priority) = (POOLS[chance.below(2)], TIERS[chance.below(4)]);
    let max_attempts = u32::try_from(2 + chance.below(3)).unwrap();
    let start_at = chance.percent(10).then(|| {
        let by = SignedDuration::from_millis(i64::try_from(chance.below(1_500)).unwrap());
        godel_model::Clock::now(&godel_model::SystemClock).checked_add(by).unwrap()
    });
    let requires: &[&str] = if chance.percent(10) { &["gpu"] } else { &[] };
    let after_ids: Vec<&str> = after.iter().map(|known| known.1.as_str()).collect();
    let mut new = json!({
        "title": key, "key": key, "pool": pool, "priority": priority, "requires": requires,
        "retry": { "maxAttempts": max_attempts, "delayMs": 40, "maxDelayMs": 200 },
        "after": after_ids,
    });
    if let Some(at) = start_at {
        new["startAt"] = json!(at);
    }
    let ask = Ask {
        key,
        tenant: tenant.to_owned(),
        pool: pool.to_owned(),
        tier: tier(priority),
        parents: after.iter().map(|known| known.0.clone()).collect(),
        max_attempts,
        delay: None,
        start_at: start_at.map(godel_model::micros),
        backoff: Some(Backoff { first: 40_000, most: 200_000, random: 0.5 }),
    };
    (ask, new)
}

/// Adds tasks until the shop drains; returns how many were accepted.
pub(super) async fn add(shop: Shop, number: usize) -> u64 {
    let mut chance = Chance::of(number as u64);
    let (name, mut known) = (format!("client {number}"), Vec::<Known>::new());
    let mut accepted = 0;
    for count in 0.. {
        if shop.drains.load(Ordering::Relaxed) {
            break;
        }
        let mut after = Vec::new();
        if !known.is_empty() && chance.percent(25) {
            after.push(known[chance.below(known.len())].clone());
        }
        let poison = if chance.percent(3) { POISON } else { "task" };
        let key = format!("{poison} {number} {count}");
        let (ask, new) = ask_for(&mut chance, (&shop.tenant, key.clone()), &after);
        loop {
            let op = shop.recorder.invoke(&name, What::Enqueue(ask.clone()));
            let heard = shop.way.post("/tasks", &new).await;
            let unknown = matches!(heard, Heard::Nobody);
            if let Heard::No(status, code) = &heard {
                assert_eq!(code, "dependency_failed", "{status} to {new}");
            }
            if let Some(id) = made(op, heard) {
                known.push((key, id));
                accepted += 1;
                break;
            }
            // Asking again with the same key is safe, so it is done until somebody answers.
            if !unknown || shop.drains.load(Ordering::Relaxed) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        if !known.is_empty() && chance.percent(8) {
            let (_, id) = known[chance.below(known.len())].clone();
            change_fate(&shop, &name, &id, chance.percent(50)).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
    accepted
}

/// Cancels a task or tries it again.
pub(super) async fn change_fate(shop: &Shop, name: &str, id: &str, cancels: bool) {
    let task = id.to_owned();
    let (what, path) = if cancels {
        (What::Cancel { task }, format!("/tasks/{id}/cancel"))
    } else {
        (What::Replay { task: Some(task) }, format!("/tasks/{id}/retry"))
    };
    // One that waits for its next attempt has it at once, which its time may do as well: then nobody
    // can tell from the log which of the two it was.
    let Heard::Yes(before) = shop.way.get(&format!("/tasks/{id}")).await else { return };
    let op = shop.recorder.invoke(name, what);
    match shop.way.ask(Method::POST, &path, Some(&json!({}))).await {
        Heard::Yes(_) if !cancels && before["endedAt"].is_null() => op.unknown(),
        Heard::Yes(found) => {
            let stopping = cancels && found["state"] == "running";
            op.ok(Answer { stopping, ..Answer::default() });
        }
        Heard::No(status, code) => {
            assert_eq!(code, "task_state", "{status}");
            op.fail(&code);
        }
        Heard::Nobody => op.unknown(),
    }
}
