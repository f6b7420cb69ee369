//! Who stands behind a credential, found in one read.

use godel_model::{
    Clock as _, KeyHash, Limits, Mint, Project, ProjectId, Role, SessionId, TenantId, User, UserId,
    UserStatus,
};
use godel_store::{CallerRecord, Error, KeyRecord, Scope, SessionRecord, Tx};
use godel_testkit::{World, worlds};
use jiff::{SignedDuration, Timestamp};

const HASH: KeyHash = KeyHash([7; 32]);

/// A user with projects, a key and a login that the key opened.
struct Person {
    user: UserId,
    key: KeyRecord,
    session: SessionId,
    projects: Vec<ProjectId>,
}

async fn person(world: &World, projects: usize) -> Person {
    let (tenant, now, mint) = (world.tenant, world.clock.now(), Mint::system());
    let mut ids = Vec::new();
    for number in 0..projects {
        let name = format!("project {number}").parse().unwrap();
        let made = Project::new(mint.id(), name, String::new(), Limits::default(), now).unwrap();
        ids.push(made.id);
        let insert = move |tx: &mut Tx<'_>| tx.projects().insert(&made).map(drop);
        world.store.write::<_, Error, _>(Scope::Tenant(tenant), insert).await.unwrap();
    }
    ids.sort_unstable();
    let user = User {
        id: mint.id(),
        name: "ann".parse().unwrap(),
        role: Role::Developer,
        status: UserStatus::Active,
        projects: ids.iter().rev().copied().collect(),
        created_at: now,
        seen_at: None,
    };
    let key = KeyRecord {
        tenant,
        id: mint.id(),
        user: user.id,
        name: "ci".parse().unwrap(),
        prefix: "godel_sk_abcd".to_owned(),
        scopes: vec!["task:read:own".parse().unwrap()],
        created_at: now,
        expires_at: Some(now + SignedDuration::from_hours(1)),
        revoked_at: None,
        used_at: None,
    };
    let session = SessionRecord {
        tenant,
        id: mint.id(),
        user: user.id,
        key: Some(key.id),
        created_at: now,
        expires_at: now + SignedDuration::from_hours(2),
        ended_at: None,
    };
    let made = Person { user: user.id, key: key.clone(), session: session.id, projects: ids };
    let work = move |tx: &mut Tx<'_>| {
        tx.users().insert(tenant, &user)?;
        tx.keys().insert(&key, HASH)?;
        tx.sessions().insert(&session)
    };
    world.store.write::<_, Error, _>(Scope::System, work).await.unwrap();
    made
}

/// Finds the caller in all three ways, and checks that they agree about who it is.
async fn found(world: &World, person: &Person) -> [CallerRecord; 3] {
    let (tenant, key, session) = (world.tenant, person.key.id, person.session);
    let work = move |tx: &mut Tx<'_>| {
        Ok::<_, Error>([
            tx.callers().by_key_hash(HASH)?.unwrap(),
            tx.callers().by_key(tenant, key)?.unwrap(),
            tx.callers().by_session(session)?.unwrap(),
        ])
    };
    world.store.read(Scope::System, work).await.unwrap()
}

fn live(found: &[CallerRecord; 3], now: Timestamp) -> [bool; 3] {
    [&found[0], &found[1], &found[2]].map(|caller| caller.is_live(now))
}

async fn change(
    world: &World,
    work: impl Fn(&mut Tx<'_>, TenantId) -> Result<(), Error> + Send + 'static,
) {
    let tenant = world.tenant;
    world.store.write(Scope::System, move |tx| work(tx, tenant)).await.unwrap();
}

#[tokio::test]
async fn a_caller_is_found_with_its_projects_whichever_way_it_comes() {
    for projects in [0, 1, 3] {
        for world in worlds().await {
            let person = person(&world, projects).await;
            let [by_hash, by_key, by_session] = found(&world, &person).await;
            assert_eq!(by_hash, by_key, "{}", world.engine);
            assert_eq!(by_hash.key, by_session.key);
            for caller in [&by_hash, &by_session] {
                assert_eq!((caller.user, caller.tenant), (person.user, world.tenant));
                assert_eq!((caller.name.as_str(), caller.role), ("ann", Role::Developer));
                assert_eq!(caller.projects, person.projects, "{} {projects}", world.engine);
            }
            let key = by_hash.key.as_ref().unwrap();
            assert_eq!((key.id, &key.scopes), (person.key.id, &person.key.scopes));
            assert_eq!(by_hash.expires_at(), person.key.expires_at);
            assert_eq!(by_session.session.as_ref().unwrap().id, person.session);
        }
    }
}

#[tokio::test]
async fn a_caller_ends_with_its_key_its_login_its_account_or_its_tenant() {
    for world in worlds().await {
        let (now, engine) = (world.clock.now(), world.engine);
        let ann = person(&world, 0).await;
        let all = found(&world, &ann).await;
        assert_eq!(live(&all, now), [true; 3], "{engine}");
        let late = now + SignedDuration::from_mins(90);
        assert_eq!(live(&all, late), [false; 3], "{engine}: the key expired, and so did its login");
        let (session, user, key) = (ann.session, ann.user, ann.key.id);
        change(&world, move |tx, tenant| tx.tenants().disable(tenant, Some(now)).map(drop)).await;
        assert_eq!(live(&found(&world, &ann).await, now), [false; 3], "{engine}: tenant closed");
        change(&world, |tx, tenant| tx.tenants().disable(tenant, None).map(drop)).await;
        let status = |status| {
            change(&world, move |tx, tenant| {
                let user = tx.users().by_id(tenant, user)?.unwrap();
                tx.users().update(tenant, &User { status, ..user }).map(drop)
            })
        };
        for shut in [UserStatus::Invited, UserStatus::Disabled, UserStatus::Erased] {
            status(shut).await;
            assert_eq!(live(&found(&world, &ann).await, now), [false; 3], "{engine}: {shut:?}");
        }
        status(UserStatus::Active).await;
        assert_eq!(live(&found(&world, &ann).await, now), [true; 3], "{engine}");
        change(&world, move |tx, tenant| tx.sessions().end(tenant, session, now).map(drop)).await;
        assert_eq!(live(&found(&world, &ann).await, now), [true, true, false], "{engine}");
        change(&world, move |tx, tenant| tx.keys().revoke(tenant, key, now).map(drop)).await;
        assert_eq!(live(&found(&world, &ann).await, now), [false; 3], "{engine}");
    }
}

#[tokio::test]
async fn nobody_is_found_behind_what_is_not_there() {
    for world in worlds().await {
        let ann = person(&world, 1).await;
        let (elsewhere, key) = (world.new_tenant("other").await, ann.key.id);
        let work = move |tx: &mut Tx<'_>| {
            assert_eq!(tx.callers().by_key_hash(KeyHash([8; 32]))?, None);
            assert_eq!(tx.callers().by_key(elsewhere, key)?, None);
            assert_eq!(tx.callers().by_session(Mint::system().id())?, None);
            Ok::<_, Error>(())
        };
        world.store.read(Scope::System, work).await.unwrap();
        let inside = move |tx: &mut Tx<'_>| tx.callers().by_key_hash(HASH);
        let inside = world.store.read(Scope::Tenant(elsewhere), inside).await;
        assert!(matches!(inside, Err(Error::NoTenant)), "{}", world.engine);
    }
}
