//! Teams: what people say changes what is handed out, and budget and deadline hold.

use std::future::Future;
use std::task::Poll;
use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Given, Say, workers};
use godel_app::teams::{self, Team};
use godel_app::workflows::runs;
use godel_app::{App, Call, Crew};
use godel_decide::team::{Role, Strategy, TeamAction, TeamSpec};
use godel_model::{Clock as _, EventFilter, Payload, Seq, TeamId, Worker};
use godel_store::{Direction, Error as StoreError, Scope};
use godel_testkit::{World, worlds};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::stage::{app, call};

/// Long enough for what is to come.
const PATIENCE: Duration = Duration::from_secs(10);

async fn worker(app: &App, call: &Call) -> Worker {
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name: "w".to_owned(), pool, capabilities, capacity: 100 };
    workers::register(app, call, new).await.unwrap()
}

/// Takes what comes, and waits for the first.
async fn claim(app: &App, call: &Call, worker: &Worker) -> Vec<Given> {
    let given = workers::claim(app, call, worker.id, (100, PATIENCE)).await.unwrap();
    assert!(!given.is_empty(), "nothing was handed out");
    given
}

/// Takes what is there now.
async fn at_hand(app: &App, call: &Call, worker: &Worker) -> usize {
    workers::claim(app, call, worker.id, (100, Duration::ZERO)).await.unwrap().len()
}

async fn say(app: &App, call: &Call, worker: &Worker, given: &Given, what: Say) {
    let spot = &given.lease.spot;
    workers::say(app, call, (worker.id, spot.task, spot.attempt), what).await.unwrap();
}

fn costs(micros: i64) -> Say {
    Say::Done(Some(Payload::of(&json!({ "costMicros": micros }))))
}

fn role(name: &str) -> Role {
    Role { name: name.to_owned(), ..Role::default() }
}

fn spec(strategy: Strategy, items: usize, size: u32) -> TeamSpec {
    let mut spec = TeamSpec::new("sum", strategy, role("adder"), size);
    spec.items = (0..items).map(|item| json!(item)).collect();
    spec.retry.max_attempts = 1;
    spec
}

async fn started(app: &App, call: &Call, spec: TeamSpec) -> TeamId {
    let id = teams::create(app, call, spec).await.unwrap().record.id;
    Box::pin(teams::start(app, call, id)).await.unwrap();
    id
}

/// Waits until a team has come to a state.
async fn becomes(app: &App, call: &Call, id: TeamId, state: &str) -> Team {
    for _ in 0..400 {
        let team = teams::find(app, call, id).await.unwrap();
        if team.record.state == state {
            return team;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("it does not become {state}: {:?}", teams::find(app, call, id).await.unwrap())
}

/// What was told, as kind and payload.
async fn events(world: &World) -> Vec<(String, Value)> {
    let read = world.store.read(Scope::Tenant(world.tenant), |tx| {
        let all = EventFilter::all();
        Ok::<_, StoreError>(tx.events().page(&all, Direction::Forward, Seq(0), 1_000)?.events)
    });
    let told = read.await.unwrap().into_iter();
    told.map(|event| (event.kind.as_str().to_owned(), event.payload.read().unwrap())).collect()
}

/// Why something of a kind was told, each time.
async fn told(world: &World, kind: &str) -> Vec<String> {
    let of_kind = events(world).await.into_iter().filter(|(one, _)| one == kind);
    of_kind.map(|(_, payload)| payload["why"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn after_its_deadline_a_team_has_failed_and_people_know() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let mut spec = spec(Strategy::MapReduce, 2, 2);
        spec.deadline = Some(world.clock.now() + SignedDuration::from_secs(1));
        let team = started(&app, &call, spec).await;
        claim(&app, &call, &worker).await;
        world.clock.advance(SignedDuration::from_secs(2));
        let found = becomes(&app, &call, team, "failed").await;
        assert_eq!(found.doc.error.as_deref(), Some("the deadline has passed"));
        assert_eq!(found.doc.fallbacks.len(), 0, "{}: there is no time for it", world.engine);
        assert_eq!(told(&world, "team:failed").await, ["the deadline has passed"]);
        assert_eq!(told(&world, "team:alert").await, ["the deadline has passed"]);
        let beat = workers::beat(&app, &call, worker.id).await.unwrap();
        assert!(beat.held.iter().all(|held| held.cancel.is_some()), "its workers are to stop");
        assert!(crew.stop(PATIENCE).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_that_is_put_off_holds_from_then_on() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let mut spec = spec(Strategy::Pipeline, 1, 1);
        spec.deadline = Some(world.clock.now() + SignedDuration::from_secs(2));
        let team = started(&app, &call, spec.clone()).await;
        let given = claim(&app, &call, &worker).await;
        spec.deadline = Some(world.clock.now() + SignedDuration::from_hours(1));
        teams::update(&app, &call, team, spec).await.unwrap();
        world.clock.advance(SignedDuration::from_secs(3));
        // The first deadline has its time to ring, on the clock of the database too.
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(teams::find(&app, &call, team).await.unwrap().record.state, "running");
        say(&app, &call, &worker, &given[0], costs(1)).await;
        becomes(&app, &call, team, "completed").await;
        assert!(crew.stop(PATIENCE).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spent_budget_stops_a_team_until_it_is_raised() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let mut spec = spec(Strategy::Parallel, 2, 1);
        spec.budget_micros = Some(10);
        let team = started(&app, &call, spec.clone()).await;
        let given = claim(&app, &call, &worker).await;
        assert_eq!(given.len(), 1, "one works at once");
        say(&app, &call, &worker, &given[0], costs(10)).await;
        becomes(&app, &call, team, "paused").await;
        assert_eq!(told(&world, "team:alert").await, ["its budget is spent"]);
        let refused = teams::control(&app, &call, team, TeamAction::Resume).await;
        let why = refused.unwrap_err().to_string();
        assert!(why.contains("10 of 10") && why.contains("raise"), "{}: {why}", world.engine);
        let other = TeamSpec { goal: Some("another".to_owned()), ..spec.clone() };
        let refused = teams::update(&app, &call, team, other).await.unwrap_err().to_string();
        assert!(refused.contains("only the budget and the deadline"), "{refused}");
        assert_eq!(at_hand(&app, &call, &worker).await, 0);
        spec.budget_micros = Some(100);
        teams::update(&app, &call, team, spec.clone()).await.unwrap();
        teams::control(&app, &call, team, TeamAction::Resume).await.unwrap();
        let given = claim(&app, &call, &worker).await;
        say(&app, &call, &worker, &given[0], costs(7)).await;
        let found = becomes(&app, &call, team, "completed").await;
        assert_eq!((found.spent_micros, found.doc.alert), (17, None));
        let over = teams::update(&app, &call, team, spec).await.unwrap_err().to_string();
        assert!(over.contains("a team that is completed"), "{over}");
        assert!(crew.stop(PATIENCE).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_spent_is_remembered_when_a_simpler_way_is_taken() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let mut spec = spec(Strategy::Parallel, 4, 4);
        spec.budget_micros = Some(12);
        let team = started(&app, &call, spec.clone()).await;
        let given = claim(&app, &call, &worker).await;
        assert_eq!(given.len(), 4, "{}", world.engine);
        say(&app, &call, &worker, &given[0], costs(5)).await;
        say(&app, &call, &worker, &given[1], costs(5)).await;
        let failed = Say::Failed { error: "cannot".to_owned(), fatal: true };
        say(&app, &call, &worker, &given[2], failed).await;
        // One agent does what is left, one piece after the other.
        let given = claim(&app, &call, &worker).await;
        assert_eq!(given.len(), 1);
        let found = teams::find(&app, &call, team).await.unwrap();
        assert_eq!((found.spent_micros, found.doc.fallbacks.len()), (10, 1));
        say(&app, &call, &worker, &given[0], costs(5)).await;
        let found = becomes(&app, &call, team, "paused").await;
        assert_eq!(found.spent_micros, 15);
        assert_eq!(at_hand(&app, &call, &worker).await, 0, "nothing new begins");
        spec.budget_micros = Some(100);
        teams::update(&app, &call, team, spec).await.unwrap();
        teams::control(&app, &call, team, TeamAction::Resume).await.unwrap();
        let given = claim(&app, &call, &worker).await;
        say(&app, &call, &worker, &given[0], costs(5)).await;
        let found = becomes(&app, &call, team, "completed").await;
        assert_eq!(found.spent_micros, 20);
        assert!(crew.stop(PATIENCE).await);
    }
}

/// Drops work at the given await, as a crash does; tells whether it had come to its end.
async fn cut_off<T>(work: impl Future<Output = T>, mut awaits: usize) -> bool {
    let mut work = Box::pin(work);
    std::future::poll_fn(move |context| match work.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(true),
        Poll::Pending if awaits == 0 => Poll::Ready(false),
        Poll::Pending => {
            awaits -= 1;
            Poll::Pending
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_a_server_dies_the_run_does_as_its_team_says() {
    for world in worlds().await {
        let (call, mut cuts) = (call(&world), 0);
        for awaits in 0.. {
            let first = app(&world).await;
            let team = started(&first, &call, spec(Strategy::Parallel, 2, 1)).await;
            let asked = teams::control(&first, &call, team, TeamAction::Cancel);
            let over = cut_off(asked, awaits).await;
            drop(first);
            let (second, crew) = (app(&world).await, Crew::default());
            godel_app::workflows::start(&second, &crew);
            let found = teams::find(&second, &call, team).await.unwrap();
            if found.record.state == "cancelled" {
                cuts += u32::from(!over);
                let run = found.doc.run.unwrap();
                let mut looks = 0;
                while !runs::find(&second, &call, run).await.unwrap().row.state.is_final() {
                    looks += 1;
                    assert!(looks < 400, "{}: cut at {awaits}, its run works on", world.engine);
                    tokio::time::sleep(Duration::from_millis(25)).await;
                }
            }
            assert!(crew.stop(PATIENCE).await);
            if over {
                break;
            }
        }
        assert!(cuts > 0, "{}: no cut came after the commit", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_say_to_a_team_changes_what_is_handed_out() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let team = started(&app, &call, spec(Strategy::Parallel, 9, 1)).await;
        let given = claim(&app, &call, &worker).await;
        assert_eq!((given.len(), at_hand(&app, &call, &worker).await), (1, 0), "{}", world.engine);
        teams::control(&app, &call, team, TeamAction::Pause).await.unwrap();
        say(&app, &call, &worker, &given[0], costs(1)).await;
        while teams::find(&app, &call, team).await.unwrap().counts.succeeded == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(at_hand(&app, &call, &worker).await, 0, "it is paused");
        teams::control(&app, &call, team, TeamAction::Resume).await.unwrap();
        assert_eq!(at_hand(&app, &call, &worker).await, 1, "it goes on");
        teams::scale(&app, &call, team, 4).await.unwrap();
        assert_eq!(at_hand(&app, &call, &worker).await, 3, "four work at once");
        assert_eq!(teams::workers(&app, &call, team).await.unwrap(), [(worker.id, 4)]);
        let over = teams::control(&app, &call, team, TeamAction::Complete).await.unwrap();
        assert_eq!((over.record.state.as_str(), over.counts.cancelled), ("completed", 8));
        let held = workers::beat(&app, &call, worker.id).await.unwrap().held;
        assert!(held.len() == 4 && held.iter().all(|held| held.cancel.is_some()));
        let other = started(&app, &call, spec(Strategy::Parallel, 3, 2)).await;
        teams::control(&app, &call, other, TeamAction::Cancel).await.unwrap();
        assert_eq!(at_hand(&app, &call, &worker).await, 0, "what waited is called off");
        let all = events(&world).await;
        let of_team = |id: TeamId| {
            let about = move |payload: &Value| payload["team"] == json!(id);
            let kinds = all.iter().filter(move |(_, payload)| about(payload));
            kinds.map(|(kind, _)| kind.as_str()).collect::<Vec<_>>()
        };
        let said = ["created", "started", "paused", "resumed", "scaled", "completed"];
        assert_eq!(of_team(team), said.map(|one| format!("team:{one}")));
        assert_eq!(of_team(other), ["team:created", "team:started", "team:cancelled"]);
        assert!(crew.stop(PATIENCE).await);
    }
}
