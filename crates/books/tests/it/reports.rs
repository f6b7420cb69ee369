//! What reports say is what the attempts say, wherever days begin.

use std::collections::BTreeMap;
use std::sync::Arc;

use godel_books::reports::{self, Days, GroupBy, Narrow};
use godel_model::{
    CallEnd, CallId, CallStart, Mint, Outcome, PaidBy, Purpose, Saved, Usage, UserId,
};
use godel_store::Scope;
use godel_testkit::{World, worlds};
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use uuid::Uuid;

use crate::stage::{app, call};

/// Whole, half and quarter hours from UTC; clocks that go back by an hour and by half of one; both ends of the world.
const ZONES: [&str; 7] = [
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
];
const FIRST: Date = date(2026, 10, 20);
const DAYS: i64 = 20;

fn begun(world: &World, second: i64, agent: u8) -> CallStart {
    let id: CallId = Mint::system().id();
    let first = FIRST.to_zoned(TimeZone::UTC).unwrap().timestamp();
    CallStart {
        id,
        request: id,
        attempt: 1,
        at: first + SignedDuration::from_secs(second),
        purpose: Arc::new(Purpose {
            tenant: world.tenant,
            user: UserId::from_uuid(Uuid::nil()),
            project: None,
            agent: Some(format!("agent-{agent}")),
            bead: None,
            convoy: None,
            token: None,
        }),
        dialect: "chat",
        asked: "m".into(),
        provider: "p".into(),
        model: "m".into(),
        streamed: false,
        paid_by: PaidBy::Key,
        session: None,
        worst: None,
        held: Vec::new(),
    }
}

fn ended(start: &CallStart, cost: i64) -> CallEnd {
    CallEnd {
        at: start.at,
        outcome: Outcome::Ok,
        status: Some(200),
        usage: Usage { input: 3, ..Usage::default() },
        cost: Some(cost),
        price: None,
        saved: Saved::default(),
        estimated: false,
        first_byte_micros: None,
        error: None,
    }
}

/// Writes attempts and their sums as the ledger does.
async fn spend(world: &World, calls: Vec<(CallStart, CallEnd)>) {
    let work = move |tx: &mut godel_store::Tx<'_>| {
        for (start, end) in &calls {
            assert_eq!(tx.calls().settle(&[(start, end)])?, [true]);
            tx.usage().add(start.purpose.tenant, &start.key(), &end.sum(start.paid_by))?;
        }
        Ok::<_, godel_store::Error>(())
    };
    world.store.write(Scope::System, work).await.unwrap();
}

/// What attempts cost by a name of their time.
fn by(
    calls: &[(Timestamp, i64)],
    name: impl Fn(Timestamp) -> Option<String>,
) -> Vec<(String, i64)> {
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for (at, cost) in calls {
        if let Some(name) = name(*at) {
            *sums.entry(name).or_default() += cost;
        }
    }
    sums.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_by_day_and_hour_of_any_zone_are_those_of_the_attempts() {
    let mut chance = TestRunner::deterministic();
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let mut all: Vec<(Timestamp, i64)> = Vec::new();
        for round in 0..8 {
            let some = vec((0..DAYS * 86_400, 0..5_u8, 0..2_000_000_i64), 1..60);
            let made: Vec<_> = some.new_tree(&mut chance).unwrap().current();
            let made = made.into_iter().map(|(second, agent, cost)| {
                let start = begun(&world, second, agent);
                let end = ended(&start, cost);
                (start, end)
            });
            let made: Vec<_> = made.collect();
            all.extend(made.iter().map(|(start, end)| (start.at, end.cost.unwrap())));
            spend(&world, made).await;
            for name in ZONES.into_iter().chain(["UTC"]) {
                let zone = TimeZone::get(name).unwrap();
                let span = (0..DAYS, 0..4_i64).new_tree(&mut chance).unwrap().current();
                let from = FIRST.checked_add(span.0.days()).unwrap();
                let to = from.checked_add(span.1.days()).unwrap();
                for (kind, form) in [(GroupBy::Day, "%Y-%m-%d"), (GroupBy::Hour, "%Y-%m-%dT%H")] {
                    let days = Days { from: Some(from), to: Some(to), zone: zone.clone() };
                    let report =
                        reports::usage(&app, &call, days, vec![kind], Narrow::default()).await;
                    let report = report.unwrap();
                    let told: Vec<_> = report
                        .rows
                        .iter()
                        .map(|(group, sum)| (group[0].clone(), sum.cost_micros))
                        .collect();
                    let expected = by(&all, |at| {
                        let here = at.to_zoned(zone.clone());
                        let within = (from..=to).contains(&here.date());
                        within.then(|| here.strftime(form).to_string())
                    });
                    assert_eq!(told, expected, "{} {round} {name} {kind:?}", world.engine);
                    let sum: i64 = told.iter().map(|(_, cost)| cost).sum();
                    assert_eq!(report.total.cost_micros, sum);
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fine_report_is_about_400_days_at_most() {
    let world = worlds().await.remove(0);
    let (app, call) = (app(&world).await, call(&world));
    let of = async |days: i32, zone: &str, by: GroupBy| {
        let zone = TimeZone::get(zone).unwrap();
        let from = Some(FIRST.saturating_sub(days.days()));
        let days = Days { from, to: Some(FIRST), zone };
        reports::usage(&app, &call, days, vec![by], Narrow::default()).await.is_ok()
    };
    assert!(of(3_000, "UTC", GroupBy::Day).await);
    assert!(!of(401, "UTC", GroupBy::Hour).await);
    assert!(!of(401, "Europe/Berlin", GroupBy::Day).await);
    assert!(of(400, "Europe/Berlin", GroupBy::Day).await);
}
