//! Attempts to ask models, budgets and sums.

use std::sync::Arc;

use godel_model::{
    Allowance, Budget, BudgetId, BudgetScope, CallEnd, CallId, CallStart, Held, Mint, Outcome,
    PaidBy, Period, Purpose, QUARTERS_PER_DAY, Quota, QuotaWindow, Saved, TenantId, Usage,
    UsageKey, UsageSum, UserId,
};
use godel_store::{CallBody, CallRecord, Scope, Store, Tx};
use godel_testkit::{World, worlds};
use jiff::Timestamp;
use uuid::Uuid;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn start(tenant: TenantId, held: Vec<Held>) -> CallStart {
    let id: CallId = Mint::system().id();
    let purpose = Purpose {
        tenant,
        user: UserId::from_uuid(Uuid::nil()),
        project: None,
        agent: Some("worker".to_owned()),
        bead: None,
        convoy: None,
        token: None,
    };
    CallStart {
        id,
        request: id,
        attempt: 1,
        at: at(0),
        purpose: Arc::new(purpose),
        dialect: "chat",
        asked: "m".into(),
        provider: "p".into(),
        model: "m".into(),
        streamed: true,
        paid_by: PaidBy::Login,
        session: Some("s".to_owned()),
        worst: Some(500),
        held,
    }
}

fn end(cost: i64) -> CallEnd {
    CallEnd {
        at: at(1),
        outcome: Outcome::Ok,
        status: Some(200),
        usage: Usage { input: 10, output: 5, ..Usage::default() },
        cost: Some(cost),
        price: None,
        saved: Saved::default(),
        estimated: false,
        first_byte_micros: Some(7),
        error: None,
    }
}

async fn write<T: Send + 'static>(
    world: &World,
    work: impl Fn(&mut Tx<'_>) -> godel_store::Result<T> + Send + Sync + 'static,
) -> T {
    world.store.write(Scope::System, work).await.unwrap().value
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_is_settled_once_and_reads_as_it_was_written() {
    for world in worlds().await {
        let (tenant, node) = (world.tenant, Uuid::from_u128(7));
        let held = vec![Held { budget: BudgetId::from_uuid(Uuid::from_u128(9)), amount: 500 }];
        let call = start(tenant, held);
        let later = CallId::from_uuid(Uuid::from_u128(call.id.uuid().as_u128() + 1));
        let again = CallStart { id: later, attempt: 2, ..call.clone() };
        let place = (tenant, node, 3);
        let both = [call.clone(), again.clone()];
        write(&world, move |tx| tx.calls().open(place, &both)).await;
        let page = || async {
            let find = |tx: &mut Tx<'_>| tx.calls().before(None, 10);
            world.store.read(Scope::Tenant(tenant), find).await.unwrap()
        };
        let open = |start: &CallStart| CallRecord { start: start.clone(), end: None };
        assert_eq!(page().await, [open(&again), open(&call)], "{}", world.engine);
        let ended = call.clone();
        let settle = |cost| {
            let ended = ended.clone();
            write(&world, move |tx| Ok(tx.calls().settle(&[(&ended, &end(cost))])?[0]))
        };
        assert!(settle(42).await);
        assert!(!settle(99).await);
        // What was held back is over.
        let start = CallStart { held: Vec::new(), ..call.clone() };
        let settled = CallRecord { start, end: Some(end(42)) };
        assert_eq!(page().await, [open(&again), settled.clone()], "{}", world.engine);
        let opened = write(&world, move |tx| tx.calls().opened(place)).await.unwrap();
        assert_eq!((opened.batch, opened.calls), (3, vec![call.clone(), again]));
        write(&world, move |tx| tx.calls().close(place)).await;
        assert_eq!(write(&world, move |tx| tx.calls().opened(place)).await, None);
        assert_eq!(page().await, [settled], "{}", world.engine);
        let other = world.new_tenant("other").await;
        let rows = world.store.read(Scope::Tenant(other), |tx| tx.calls().before(None, 10)).await;
        assert_eq!(rows.unwrap().len(), 0, "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_server_left_open_is_found_and_what_a_live_one_has_is_not() {
    for world in worlds().await {
        let tenant = world.tenant;
        let (dead, alive) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let (lost, going_on) = (start(tenant, vec![]), start(tenant, vec![]));
        let (first, second) = (lost.clone(), going_on.clone());
        write(&world, move |tx| {
            tx.calls().alive(dead, at(10))?;
            tx.calls().alive(alive, at(100))?;
            tx.calls().open((tenant, dead, 0), [&first])?;
            tx.calls().open((tenant, alive, 0), [&second])
        })
        .await;
        let found = |now| write(&world, move |tx| tx.calls().dead(at(now), 10));
        assert_eq!(found(5).await.len(), 0, "{}", world.engine);
        let after = found(50).await;
        assert_eq!((after.len(), &after[0].calls), (1, &vec![lost.clone()]), "{}", world.engine);
        write(&world, move |tx| tx.calls().gone(alive)).await;
        assert_eq!(found(50).await.len(), 2, "who has said goodbye is not waited for");
        // What is open is never trimmed.
        let all = CallId::from_uuid(Uuid::max());
        assert_eq!(write(&world, move |tx| tx.calls().trim(tenant, all, 10)).await, 0);
        write(&world, move |tx| tx.calls().settle(&[(&lost, &end(1))])).await;
        assert_eq!(write(&world, move |tx| tx.calls().trim(tenant, all, 10)).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_set_again_keeps_what_was_spent() {
    for world in worlds().await {
        let tenant = world.tenant;
        let budget = Budget {
            id: Mint::system().id(),
            scope: BudgetScope::Agent("worker".to_owned()),
            period: Period::Daily,
            allows: Allowance::of(100),
            starts: at(0),
            spent: 0,
            held: 0,
            created_at: at(0),
        };
        let first = budget.clone();
        let put = |budget: Budget| {
            let scope = Scope::Tenant(tenant);
            world.store.write(scope, move |tx| tx.budgets().put(&budget))
        };
        put(first).await.unwrap();
        let id = budget.id;
        write(&world, move |tx| {
            let mut budget = tx.budgets().lock(tenant, id)?.expect("it is there");
            (budget.spent, budget.held) = (40, 60);
            tx.budgets().store(tenant, &budget)
        })
        .await;
        // Whoever raises it has read it before it moved.
        let tell = vec![UserId::from_uuid(Uuid::from_u128(5)), UserId::from_uuid(Uuid::max())];
        let allows = Allowance { stops: false, grace_percent: 15, tell, ..Allowance::of(200) };
        let raised = Budget { allows: allows.clone(), id: Mint::system().id(), ..budget.clone() };
        put(raised).await.unwrap();
        let now = write(&world, move |tx| tx.budgets().list(tenant)).await;
        let expected = Budget { allows, spent: 40, held: 60, ..budget };
        assert_eq!(now, [expected], "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_is_what_was_said_last_and_its_tenants_own() {
    for world in worlds().await {
        let tenant = world.tenant;
        let quota = |used_ppm, second| Quota {
            user: UserId::from_uuid(Uuid::from_u128(1)),
            provider: "p".to_owned(),
            window: QuotaWindow {
                name: "5h".to_owned(),
                used_ppm,
                minutes: Some(300),
                resets_at: Some(at(900)),
                state: Some("allowed".to_owned()),
            },
            seen_at: at(second),
        };
        for told in [quota(10, 1), quota(30, 3), quota(20, 2)] {
            write(&world, move |tx| tx.quotas().put(tenant, &told)).await;
        }
        let list = |tenant| world.store.read(Scope::Tenant(tenant), |tx| tx.quotas().list());
        assert_eq!(list(tenant).await.unwrap(), [quota(30, 3)], "{}", world.engine);
        let other = world.new_tenant("other").await;
        assert_eq!(list(other).await.unwrap(), [], "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_kept_for_its_time_and_its_tenants_own() {
    for world in worlds().await {
        let (tenant, id) = (world.tenant, Mint::system().id::<CallId>());
        let body = CallBody {
            asked: b"{}".to_vec(),
            asked_bytes: 5,
            told: vec![0, 255],
            told_bytes: 2,
            keep_until: at(100),
        };
        let kept = body.clone();
        write(&world, move |tx| tx.bodies().put(tenant, id, &kept)).await;
        let find = |whose| write(&world, move |tx| tx.bodies().by_id(whose, id));
        assert_eq!(find(tenant).await, Some(body), "{}", world.engine);
        let other = world.new_tenant("other").await;
        assert_eq!(find(other).await, None, "{}", world.engine);
        let own = move |tx: &mut Tx<'_>| tx.bodies().by_id(tenant, id);
        assert!(world.store.read(Scope::Tenant(other), own).await.is_err(), "{}", world.engine);
        let trim = |now| write(&world, move |tx| tx.bodies().trim(tenant, at(now), 10));
        assert_eq!((trim(100).await, trim(101).await), (0, 1), "{}", world.engine);
        assert_eq!(find(tenant).await, None, "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_attempts_tells_of_each_once_and_in_order() {
    for world in worlds().await {
        let (tenant, node) = (world.tenant, Uuid::from_u128(7));
        let mut starts: Vec<CallStart> = (0..20).map(|_| start(tenant, vec![])).collect();
        starts.sort_unstable_by_key(|start| start.id);
        let all = starts.clone();
        // Every third has ended; the rest is under way.
        write(&world, move |tx| {
            tx.calls().open((tenant, node, 0), &all[..10])?;
            tx.calls().open((tenant, node, 1), &all[10..])?;
            for ended in all.iter().step_by(3) {
                tx.calls().settle(&[(ended, &end(1))])?;
            }
            Ok(())
        })
        .await;
        for limit in [1, 3, 7, 20, 50] {
            let (mut seen, mut before) = (Vec::new(), None);
            loop {
                let find = move |tx: &mut Tx<'_>| tx.calls().before(before, limit);
                let page = world.store.read(Scope::Tenant(tenant), find).await.unwrap();
                before = page.last().map(|record| record.start.id);
                let full = page.len() == limit;
                seen.extend(page);
                if !full {
                    break;
                }
            }
            let ids: Vec<CallId> = seen.iter().map(|record| record.start.id).collect();
            let expected: Vec<CallId> = starts.iter().rev().map(|start| start.id).collect();
            assert_eq!(ids, expected, "{} pages of {limit}", world.engine);
            let ended = seen.iter().filter(|record| record.end.is_some()).count();
            assert_eq!(ended, 7, "{}", world.engine);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_open_is_charged_at_its_worst_when_the_schema_goes_back_and_forward() {
    for world in worlds().await {
        let (tenant, node) = (world.tenant, Uuid::from_u128(7));
        let budget = Budget {
            id: Mint::system().id(),
            scope: BudgetScope::Agent("worker".to_owned()),
            period: Period::Total,
            allows: Allowance::of(10_000),
            starts: at(0),
            spent: 30,
            held: 900,
            created_at: at(0),
        };
        let other = BudgetId::from_uuid(Uuid::from_u128(9));
        let held = vec![Held { budget: budget.id, amount: 900 }, Held { budget: other, amount: 1 }];
        let ended = start(tenant, vec![]);
        let mut open = start(tenant, held);
        let purpose = Arc::make_mut(&mut open.purpose);
        purpose.project = Some(Mint::system().id());
        purpose.token = Some(Mint::system().id());
        (open.request, open.attempt, open.worst) = (ended.id, 2, Some(900));
        open.model = "the model \"it\" was".into();
        let calls = [ended.clone(), open.clone()];
        write(&world, move |tx| {
            tx.calls().open((tenant, node, 3), &calls)?;
            tx.calls().settle(&[(&calls[0], &end(42))]).map(drop)
        })
        .await;
        let scope = Scope::Tenant(tenant);
        let first = budget.clone();
        world.store.write(scope, move |tx| tx.budgets().put(&first)).await.unwrap();
        let moved = budget.clone();
        write(&world, move |tx| tx.budgets().store(tenant, &moved)).await;
        world.store.close().await;
        Store::migrate(&world.config, 7).await.unwrap();
        let store = Store::open(&world.config).await.unwrap();
        let page = store.read(scope, |tx| tx.calls().before(None, 10)).await.unwrap();
        let lost = page.iter().find(|record| record.start.id == open.id).unwrap();
        // What is settled holds nothing any more.
        let settled = CallStart { held: Vec::new(), ..open.clone() };
        assert_eq!((page.len(), &lost.start), (2, &settled), "{}", world.engine);
        let end = lost.end.as_ref().unwrap();
        assert_eq!((end.outcome, end.cost, end.estimated), (Outcome::Lost, Some(900), true));
        let sums = store.read(scope, |tx| tx.usage().between(0, i64::MAX)).await.unwrap();
        let day = UsageKey { quarter: open.key().day() * QUARTERS_PER_DAY, ..open.key() };
        assert_eq!(sums, [(day, end.sum(open.paid_by))], "{}", world.engine);
        let agent = open.key().agent;
        let spent = store.read(scope, move |tx| tx.usage().of_agent(&agent)).await.unwrap();
        assert_eq!(spent, (900, 0), "{}", world.engine);
        let nobody = store.read(scope, |tx| tx.usage().of_agent("nobody")).await.unwrap();
        assert_eq!(nobody, (0, 0), "{}", world.engine);
        let budgets = store.write(Scope::System, move |tx| tx.budgets().list(tenant)).await;
        let expected = Budget { spent: 930, held: 0, ..budget };
        assert_eq!(budgets.unwrap().value, [expected], "{}", world.engine);
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_by_quarter_are_made_of_what_is_in_the_ledger_and_lose_nothing_of_what_is_not() {
    for world in worlds().await {
        let tenant = world.tenant;
        let mut calls = Vec::new();
        for number in 0..40_i64 {
            let mut call = start(tenant, vec![]);
            call.at = at(number * 1_234);
            Arc::make_mut(&mut call.purpose).project =
                (number % 3 == 0).then(|| Mint::system().id());
            call.paid_by = [PaidBy::Key, PaidBy::Login, PaidBy::Cache][number as usize % 3];
            let cost = (number % 4 != 0).then_some(number);
            let outcome = if number % 5 == 0 { Outcome::Failed } else { Outcome::Ok };
            calls.push((call, CallEnd { cost, outcome, estimated: number % 7 == 0, ..end(0) }));
        }
        // The ledger has forgotten some of them; the sums have not.
        let kept = calls.split_off(10);
        let written = (calls.clone(), kept.clone());
        write(&world, move |tx| {
            for (call, end) in written.0.iter().chain(&written.1) {
                tx.usage().add(tenant, &call.key(), &end.sum(call.paid_by))?;
            }
            for (call, end) in &written.1 {
                tx.calls().settle(&[(call, end)])?;
            }
            Ok(())
        })
        .await;
        world.store.close().await;
        Store::migrate(&world.config, 12).await.unwrap();
        let store = Store::open(&world.config).await.unwrap();
        let scope = Scope::Tenant(tenant);
        let found = store.read(scope, |tx| tx.usage().quarters(0, i64::MAX)).await.unwrap();
        let mut expected: std::collections::BTreeMap<UsageKey, UsageSum> = Default::default();
        let noon = |key: UsageKey| UsageKey { quarter: key.day() * QUARTERS_PER_DAY + 48, ..key };
        for (call, end) in &calls {
            expected.entry(noon(call.key())).or_default().add(&end.sum(call.paid_by));
        }
        for (call, end) in &kept {
            expected.entry(call.key()).or_default().add(&end.sum(call.paid_by));
        }
        let found: std::collections::BTreeMap<_, _> = found.into_iter().collect();
        assert_eq!(found, expected, "{}", world.engine);
        store.close().await;
    }
}
