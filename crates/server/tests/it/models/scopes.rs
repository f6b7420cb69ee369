//! What is set for a project, a user, an agent, a bead, a convoy, a token or the tenant counts for it, and only
//! for it.

use godel_llm::Dialect;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{Asked, World, told};
use crate::harness::data;

fn hello() -> Asked<'static> {
    Asked::new(Dialect::Chat, "[[usage input=10 output=5]]")
}

async fn status(world: &World, token: &str) -> u16 {
    let url = format!("{}{}", world.server.url, hello().path());
    let asked = world.server.http.post(url).bearer_auth(token).json(&hello().body());
    asked.send().await.unwrap().status().as_u16()
}

async fn project(world: &World, name: &str, limits: Value) -> String {
    let new = json!({ "name": name, "limits": limits });
    let made = data(world.server.post("/api/v1/projects", new).await, StatusCode::CREATED).await;
    made["id"].as_str().unwrap().to_owned()
}

async fn set(world: &World, scope: &str, period: &str, cap: i64) {
    let body = json!({ "scope": scope, "period": period, "capMicros": cap });
    let sent = world.server.request(Method::PUT, "/api/v1/budgets").json(&body);
    data(sent.send().await.unwrap(), StatusCode::OK).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_of_each_scope_and_period_refuses_and_says_which_it_is() {
    for world in World::all("limits.agent = {}").await {
        let project = project(&world, "pay", json!({})).await;
        let new = json!({ "name": "all", "projectId": project, "agent": "builder", "bead": "g-1",
            "convoy": "launch" });
        let token = world.token(new).await;
        let other = world.token(json!({ "name": "other", "agent": "somebody" })).await;
        let world = World { token, ..world };
        assert_eq!(world.say(&hello()).await.0, 200);
        let row = world.rows().await.pop().unwrap();
        let id = |name: &str| row[name].as_str().unwrap().to_owned();
        let mut asked = 1;
        for (scope, alone) in [
            (format!("token:{}", id("tokenId")), true),
            ("bead:g-1".to_owned(), true),
            ("convoy:launch".to_owned(), true),
            ("agent:builder".to_owned(), true),
            (format!("project:{project}"), true),
            (format!("user:{}", id("userId")), false),
            ("tenant".to_owned(), false),
        ] {
            for (period, name) in
                [("daily", "daily budget"), ("monthly", "monthly budget"), ("total", "budget")]
            {
                set(&world, &scope, period, 1).await;
                let (status_, text) = world.say(&hello()).await;
                let engine = world.server.engine;
                assert_eq!(status_, 402, "{engine} {scope} {period}: {text}");
                let why = told(Dialect::Chat, &text).1;
                assert!(why.contains(&format!("the {name} of {scope} is")), "{why}");
                let again = why.contains("it begins anew on ");
                assert_eq!(again, period != "total", "{why}");
                assert_eq!(status(&world, &other).await == 200, alone, "{scope} {period}");
                asked += usize::from(alone);
                // What is refused has spent nothing, and goes on when there is room again.
                set(&world, &scope, period, 1_000_000).await;
                assert_eq!(world.say(&hello()).await.0, 200, "{scope} {period}");
                asked += 1;
            }
        }
        assert_eq!(world.stage.recorded().len(), asked, "who is refused costs nothing");
        let budgets = world.budgets().await;
        assert_eq!(budgets.len(), 21);
        assert!(budgets.iter().all(|budget| budget["heldMicros"] == 0), "{budgets:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limits_of_projects_count_and_a_project_may_have_a_rate_of_its_own() {
    let world = World::one("limits.project = { per_minute = 4, per_hour = 100 }").await;
    let usual = project(&world, "usual", json!({})).await;
    let own = project(&world, "own", json!({ "requestsPerMinute": 2 })).await;
    for (project, most) in [(&usual, 4), (&own, 2)] {
        // Two agents of a project share what it may.
        let mut tokens = Vec::new();
        for agent in ["one", "two"] {
            let new = json!({ "name": agent, "agent": agent, "projectId": project });
            tokens.push(world.token(new).await);
        }
        for at in 0..most {
            assert_eq!(status(&world, &tokens[at % 2]).await, 200, "{project} {at}");
        }
        let (last, tokens) = tokens.split_last().unwrap();
        assert_eq!(status(&world, &tokens[0]).await, 429);
        let url = format!("{}{}", world.server.url, hello().path());
        let asked = world.server.http.post(url).bearer_auth(last).json(&hello().body());
        let answer = asked.send().await.unwrap();
        assert_eq!(answer.status(), 429);
        assert_eq!(answer.headers()["x-ratelimit-limit-requests"], most.to_string().as_str());
        let why = told(Dialect::Chat, &answer.text().await.unwrap()).1;
        let expected = format!("project {project} has used its {most} requests of this minute");
        assert!(why.contains(&expected), "{why}");
    }
    assert_eq!(status(&world, &world.token).await, 200, "who works in no project is not concerned");
    assert_eq!(world.stage.recorded().len(), 7);
}
