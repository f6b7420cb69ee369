//! Strategies of teams, done by workers: who gets what, after whom, and what comes of it.

use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Given, Say, workers};
use godel_app::teams::{self, Team};
use godel_app::{App, Call, Crew};
use godel_decide::team::{Role, Strategy, TeamSpec};
use godel_model::{Payload, TeamId, Worker};
use godel_testkit::worlds;
use serde_json::{Value, json};

use crate::stage::{app, call};

/// Long enough for what is to come.
const PATIENCE: Duration = Duration::from_secs(10);

fn role(name: &str) -> Role {
    Role { name: name.to_owned(), ..Role::default() }
}

async fn worker(app: &App, call: &Call) -> Worker {
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name: "w".to_owned(), pool, capabilities, capacity: 100 };
    workers::register(app, call, new).await.unwrap()
}

async fn started(app: &App, call: &Call, spec: TeamSpec) -> TeamId {
    let id = teams::create(app, call, spec).await.unwrap().record.id;
    Box::pin(teams::start(app, call, id)).await.unwrap();
    id
}

/// A piece of work that a worker has.
struct Piece {
    given: Given,
    told: Value,
}

impl Piece {
    fn role(&self) -> &str {
        self.told["role"].as_str().unwrap()
    }
}

/// Takes as much as there is, and waits for the first of it.
async fn take(app: &App, call: &Call, worker: &Worker, most: u32) -> Vec<Piece> {
    let given = workers::claim(app, call, worker.id, (most, PATIENCE)).await.unwrap();
    assert!(!given.is_empty(), "nothing was handed out");
    let piece = |given: Given| Piece { told: given.asked.payload.read().unwrap(), given };
    given.into_iter().map(piece).collect()
}

async fn done(app: &App, call: &Call, worker: &Worker, piece: &Piece, result: &Value) {
    let (spot, said) = (&piece.given.lease.spot, Say::Done(Some(Payload::of(result))));
    workers::say(app, call, (worker.id, spot.task, spot.attempt), said).await.unwrap();
}

/// Waits until a team has done its job.
async fn completed(app: &App, call: &Call, id: TeamId) -> Team {
    for _ in 0..400 {
        let team = teams::find(app, call, id).await.unwrap();
        if team.record.state == "completed" {
            return team;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("it is not completed: {:?}", teams::find(app, call, id).await.unwrap())
}

/// Adds up numbers.
fn sum(numbers: &Value) -> i64 {
    numbers.as_array().unwrap().iter().map(|one| one.as_i64().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_tree_one_leads_many_work_and_results_are_joined_level_by_level() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let mut spec = TeamSpec::new("sum", Strategy::Tree, role("adder"), 8);
        spec.items = (1..=5).map(|item| json!(item)).collect();
        (spec.lead, spec.merge, spec.fan_out) = (Some(role("planner")), Some(role("joiner")), 2);
        spec.goal = Some("add".to_owned());
        let team = started(&app, &call, spec).await;
        // The lead is alone, and sees everything.
        let lead = take(&app, &call, &worker, 100).await;
        assert_eq!(lead.len(), 1, "{}", world.engine);
        assert_eq!((lead[0].role(), &lead[0].told["goal"]), ("planner", &json!("add")));
        assert_eq!(lead[0].told["items"], json!([1, 2, 3, 4, 5]));
        done(&app, &call, &worker, &lead[0], &json!({ "plan": "one by one" })).await;
        // All the others work at once, and each knows the plan.
        let work = take(&app, &call, &worker, 100).await;
        let items: Vec<_> = work.iter().map(|piece| piece.told["item"].clone()).collect();
        assert_eq!(items, [1, 2, 3, 4, 5].map(|item| json!(item)));
        for piece in &work {
            assert_eq!(piece.role(), "adder");
            assert_eq!(piece.told["plan"], json!({ "plan": "one by one" }));
            done(&app, &call, &worker, piece, &piece.told["item"]).await;
        }
        // Two results at a time: 3 joined, then 2, then the last.
        let mut joined = Vec::new();
        while joined.last() != Some(&(3, true, 15)) {
            for piece in take(&app, &call, &worker, 100).await {
                assert_eq!(piece.role(), "joiner");
                let of = &piece.told["results"];
                assert!(of.as_array().unwrap().len() <= 2, "{of}");
                done(&app, &call, &worker, &piece, &json!(sum(of))).await;
                let level = piece.told["level"].as_i64().unwrap();
                joined.push((level, piece.told["last"] == json!(true), sum(of)));
            }
            assert!(joined.len() <= 6, "{joined:?}");
        }
        joined.sort_unstable();
        let levels = [(1, false, 3), (1, false, 5), (1, false, 7), (2, false, 5), (2, false, 10)];
        assert_eq!(joined, [&levels[..], &[(3, true, 15)]].concat());
        let found = completed(&app, &call, team).await;
        assert_eq!((found.doc.result, found.counts.succeeded), (Some(json!(15)), 12));
        assert_eq!(found.doc.fallbacks, [] as [String; 0]);
        assert!(crew.stop(PATIENCE).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_pipeline_each_item_goes_through_all_stages_and_waits_for_no_other() {
    for world in worlds().await {
        let (app, call, crew) = (app(&world).await, call(&world), Crew::default());
        godel_app::workflows::start(&app, &crew);
        let worker = worker(&app, &call).await;
        let mut spec = TeamSpec::new("book", Strategy::Pipeline, role("draft"), 3);
        spec.roles.extend([role("review"), role("print")]);
        spec.items = ["a", "b", "c"].map(|item| json!(item)).to_vec();
        let team = started(&app, &call, spec).await;
        let first = take(&app, &call, &worker, 100).await;
        let begun: Vec<_> = first.iter().map(|one| (one.role(), &one.told["item"])).collect();
        let drafts = [json!("a"), json!("b"), json!("c")];
        assert_eq!(begun, drafts.each_ref().map(|item| ("draft", item)), "{}", world.engine);
        // The last item overtakes the others: nobody waits for a whole stage.
        let mut order = Vec::new();
        for at in [2, 0, 1] {
            let mut piece = Piece { told: first[at].told.clone(), given: first[at].given.clone() };
            for stage in 0..3 {
                let own = piece.told["item"].as_str().unwrap().to_owned();
                assert_eq!(piece.told["stage"], json!(stage));
                let before = piece.told["input"].as_str().unwrap_or(&own).to_owned();
                let role = piece.role().to_owned();
                done(&app, &call, &worker, &piece, &json!(format!("{before} {role}"))).await;
                order.push(format!("{own} {role}"));
                if stage < 2 {
                    piece = take(&app, &call, &worker, 100).await.remove(0);
                    assert_eq!(piece.told["item"], json!(own), "the next stage of the same item");
                }
            }
        }
        assert_eq!(order[..3], ["c draft", "c review", "c print"]);
        let found = completed(&app, &call, team).await;
        // What comes of it is in the order of the items, whoever was first.
        let whole = ["a", "b", "c"].map(|item| json!(format!("{item} draft review print")));
        assert_eq!(found.doc.result, Some(json!(whole)));
        assert_eq!((found.counts.succeeded, found.doc.fallbacks.len()), (9, 0));
        assert!(crew.stop(PATIENCE).await);
    }
}
