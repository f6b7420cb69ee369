//! Attempts to ask models, budgets and sums.

use godel_model::{
    Budget, BudgetId, BudgetScope, CallEnd, CallId, CallStart, Held, Mint, Outcome, PaidBy, Period,
    Purpose, Quota, QuotaWindow, TenantId, Usage, UserId,
};
use godel_store::{CallBody, Scope, Tx};
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
        purpose,
        dialect: "chat",
        asked: "m".to_owned(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
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
        let opened = call.clone();
        write(&world, move |tx| tx.calls().open(&opened, node)).await;
        let id = call.id;
        assert!(write(&world, move |tx| tx.calls().settle(tenant, id, &end(42))).await);
        assert!(!write(&world, move |tx| tx.calls().settle(tenant, id, &end(99))).await);
        let rows = world.store.read(Scope::Tenant(tenant), |tx| tx.calls().before(None, 10)).await;
        let rows = rows.unwrap();
        assert_eq!((rows.len(), &rows[0].start), (1, &call), "{}", world.engine);
        assert_eq!(rows[0].end, Some(end(42)));
        let found = write(&world, move |tx| tx.calls().by_id(tenant, id)).await;
        assert_eq!(found.as_ref(), Some(&rows[0]), "{}", world.engine);
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
            tx.calls().open(&first, dead)?;
            tx.calls().open(&second, alive)
        })
        .await;
        let found = |now| write(&world, move |tx| tx.calls().dead(at(now), 10));
        assert_eq!(found(5).await.len(), 0, "{}", world.engine);
        let after = found(50).await;
        assert_eq!((after.len(), after[0].start.id), (1, lost.id), "{}", world.engine);
        write(&world, move |tx| tx.calls().gone(alive)).await;
        assert_eq!(found(50).await.len(), 2, "who has said goodbye is not waited for");
        // What is open is never trimmed.
        let all = CallId::from_uuid(Uuid::max());
        assert_eq!(write(&world, move |tx| tx.calls().trim(tenant, all, 10)).await, 0);
        let id = lost.id;
        write(&world, move |tx| tx.calls().settle(tenant, id, &end(1))).await;
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
            cap: 100,
            warn_percent: 80,
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
        put(Budget { cap: 200, id: Mint::system().id(), ..budget.clone() }).await.unwrap();
        let now = write(&world, move |tx| tx.budgets().list(tenant)).await;
        let expected = Budget { cap: 200, spent: 40, held: 60, ..budget };
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
