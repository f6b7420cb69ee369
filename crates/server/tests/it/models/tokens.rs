//! Who may ask a model, with what, and whose keys are used for it.

use std::time::Duration;

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

#[tokio::test(flavor = "multi_thread")]
async fn a_token_works_in_every_way_in_which_clients_show_it_and_goes_no_further() {
    let world = World::one("").await;
    let url = format!("{}{}", world.server.url, hello().path());
    let ask = || world.server.http.post(&url).json(&hello().body());
    let token = &world.token;
    let ways = [
        ask().header("authorization", format!("Bearer {token}")),
        ask().header("x-api-key", token),
        ask().header("x-goog-api-key", token),
        ask().header("x-godel-token", token),
        world.server.http.post(format!("{url}?key={token}")).json(&hello().body()),
        ask().header("x-api-key", token).bearer_auth(token).header("cookie", "godel_session=x"),
    ];
    for way in ways {
        assert_eq!(way.send().await.unwrap().status(), 200);
    }
    assert_eq!(ask().send().await.unwrap().status(), 401);
    for asked in world.stage.recorded() {
        let all = format!("{} {:?}", asked.query, asked.headers);
        assert!(!all.contains("godel"), "{all}");
        assert_eq!(
            asked.header("authorization"),
            Some(format!("Bearer {}", world.stage.key()).as_str())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_has_ended_opens_nothing() {
    for world in World::all("").await {
        let soon = jiff_soon();
        let short = world.token(json!({ "name": "short", "expiresAt": soon })).await;
        assert_eq!(status(&world, &short).await, 200);
        let made = world.server.post("/api/v1/agent-tokens", json!({ "name": "gone" })).await;
        let made = data(made, StatusCode::CREATED).await;
        let (id, gone) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
        assert_eq!(status(&world, gone).await, 200);
        let revoked = world.server.request(Method::DELETE, &format!("/api/v1/agent-tokens/{id}"));
        assert_eq!(revoked.send().await.unwrap().status(), 204);
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        for token in [gone, &short, "godel_at_nonsense", "junk"] {
            for dialect in Dialect::ALL {
                let asked = Asked::new(dialect, "hi");
                let url = format!("{}{}", world.server.url, asked.path());
                let answer = world.server.http.post(url).bearer_auth(token).json(&asked.body());
                let answer = answer.send().await.unwrap();
                assert_eq!(answer.status(), 401, "{token}");
                assert_eq!(answer.headers()["x-should-retry"], "false");
                told(dialect, &answer.text().await.unwrap());
            }
        }
        assert_eq!(world.stage.recorded().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_left_behind_hears_that_the_agent_has_ended() {
    let world = World::one("").await;
    let agent = world.server.app.mint.id::<godel_model::AgentId>();
    let made =
        world.server.post("/api/v1/agent-tokens", json!({ "name": "a", "agent": agent })).await;
    let made = data(made, StatusCode::CREATED).await;
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    assert_eq!(status(&world, token).await, 200);
    let revoked = world.server.request(Method::DELETE, &format!("/api/v1/agent-tokens/{id}"));
    assert_eq!(revoked.send().await.unwrap().status(), 204);
    for dialect in Dialect::ALL {
        let asked = Asked::new(dialect, "hi");
        let url = format!("{}{}", world.server.url, asked.path());
        let answer = world.server.http.post(url).bearer_auth(token).json(&asked.body());
        let answer = answer.send().await.unwrap();
        assert_eq!(
            (answer.status(), &answer.headers()["x-should-retry"]),
            (StatusCode::FORBIDDEN, &"false".parse().unwrap())
        );
        let (_, message) = told(dialect, &answer.text().await.unwrap());
        assert!(message.contains("has ended"), "{message}");
    }
    assert_eq!(world.stage.recorded().len(), 1);
}

/// A second from now.
fn jiff_soon() -> String {
    let now = std::time::SystemTime::now() + Duration::from_secs(1);
    jiff::Timestamp::try_from(now).unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_asks_the_models_it_is_for() {
    let world = World::one("[aliases]\nfast = \"m-1\"").await;
    let token = world.token(json!({ "name": "narrow", "models": ["m-d*", "fast"] })).await;
    let world = World { token, ..world };
    for dialect in Dialect::ALL {
        let (status, text) = world.say(&Asked::new(dialect, "hi")).await;
        assert_eq!(status, 404, "{text}");
        assert!(told(dialect, &text).1.contains("\"m-1\""), "{text}");
        assert_eq!(world.say(&Asked::new(dialect, "hi").of("m-dear")).await.0, 200);
    }
    assert_eq!(world.say(&hello().of("fast")).await.0, 200, "it names the alias");
    let listed = world.server.http.get(format!("{}/proxy/v1/models", world.server.url));
    let listed: Value =
        listed.bearer_auth(&world.token).send().await.unwrap().json().await.unwrap();
    let names: Vec<&str> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["id"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["fast", "m-dear"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_asks_with_a_key_and_a_viewer_does_not() {
    let world = World::one("").await;
    assert_eq!(status(&world, &world.server.key).await, 200);
    let (user, developer) = world.server.user("dev", "developer").await;
    assert_eq!(status(&world, &developer).await, 200);
    let (_, viewer) = world.server.user("vera", "viewer").await;
    assert_eq!(status(&world, &viewer).await, 403);
    let session = world.server.login(json!({ "key": developer, "wants": "tokens" })).await;
    let access = session["tokens"]["accessToken"].as_str().unwrap();
    assert_eq!(status(&world, access).await, 200);
    let rows = world.rows().await;
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[1]["userId"], &rows[1]["agentId"]), (&json!(user), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_see_nothing_of_each_other() {
    for world in World::all("").await {
        world.budget("tenant", 1_000_000).await;
        assert_eq!(world.say(&hello()).await.0, 200);
        let other = world.server.other_tenant().await;
        // The server's own keys are its owner's.
        assert_eq!(status(&world, &other).await, 404);
        world.settled().await;
        let get = |path: &'static str| world.server.ask_as(&other, Method::GET, path);
        let audit = data(get("/proxy/v1/audit").await, StatusCode::OK).await;
        assert_eq!((&audit["logs"], &audit["total"]), (&json!([]), &json!(0)));
        let usage = data(get("/proxy/v1/usage").await, StatusCode::OK).await;
        assert_eq!(usage["total"]["requests"], 0);
        assert_eq!(data(get("/api/v1/budgets").await, StatusCode::OK).await["items"], json!([]));
        let tokens = data(get("/api/v1/agent-tokens").await, StatusCode::OK).await;
        assert_eq!(tokens["items"], json!([]));
        // A key of its own is its own.
        let url = format!("{}/api/v1/secrets/stage", world.server.url);
        let set = world.server.http.put(url).bearer_auth(&other);
        let set = set.json(&json!({ "value": world.stage.key() })).send().await.unwrap();
        data(set, StatusCode::OK).await;
        assert_eq!(status(&world, &other).await, 200);
        world.settled().await;
        assert_eq!(world.rows().await.len(), 1);
        assert_eq!(world.budgets().await[0]["spentMicros"], 20, "{}", world.server.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_works_in_some_projects_asks_for_one_of_them() {
    for world in World::all("").await {
        let server = &world.server;
        let mut projects = Vec::new();
        for name in ["lab", "pay", "other"] {
            let new = json!({ "name": name, "limits": { "models": ["m-1"] } });
            let made = data(server.post("/api/v1/projects", new).await, StatusCode::CREATED).await;
            projects.push(made["id"].as_str().unwrap().to_owned());
        }
        let (user, key) = server.user("dev", "developer").await;
        let limit = async |to: &[String]| {
            let change = server.request(Method::PATCH, &format!("/api/v1/users/{user}"));
            let change = change.json(&json!({ "projects": to })).send().await.unwrap();
            data(change, StatusCode::OK).await;
        };
        let url = format!("{}{}", server.url, hello().path());
        let ask = async |model: &str, project: Option<&str>| {
            let asked = server.http.post(&url).bearer_auth(&key).json(&hello().of(model).body());
            let asked = match project {
                Some(project) => asked.header("x-godel-project", project),
                None => asked,
            };
            let answer = asked.send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        let token = async |project: Option<&str>| {
            let new = json!({ "name": "own", "projectId": project });
            let made = server.http.post(format!("{}/api/v1/agent-tokens", server.url));
            made.bearer_auth(&key).json(&new).send().await.unwrap()
        };
        assert_eq!(ask("m-dear", None).await.0, 200, "nobody limits them");
        limit(&projects[..2]).await;
        let (status, text) = ask("m-1", None).await;
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("x-godel-project"), "{text}");
        for named in ["lab", projects[1].as_str()] {
            assert_eq!(ask("m-1", Some(named)).await.0, 200, "{named}");
            assert_eq!(ask("m-dear", Some(named)).await.0, 404, "the rules of {named} count");
        }
        let row = world.rows().await.pop().unwrap();
        assert_eq!(row["projectId"], projects[1], "{row}");
        for named in ["other", projects[2].as_str(), "nowhere"] {
            assert_eq!(ask("m-1", Some(named)).await.0, 400, "{named}");
        }
        assert_eq!(token(None).await.status(), 400, "for which of them?");
        assert_eq!(token(Some(&projects[2])).await.status(), 404);
        let made = data(token(Some(&projects[0])).await, StatusCode::CREATED).await;
        assert_eq!(made["projectId"], projects[0]);
        limit(&projects[..1]).await;
        assert_eq!(ask("m-dear", None).await.0, 404, "it can only be this one");
        let made = data(token(None).await, StatusCode::CREATED).await;
        assert_eq!(made["projectId"], projects[0], "{made}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_shared_only_if_the_settings_say_so() {
    let world = World::one("share_keys = true").await;
    let other = world.server.other_tenant().await;
    assert_eq!(status(&world, &other).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_of_the_client_does_not_pay_for_our_key() {
    let world = World::one("").await;
    world.budget("tenant", 1_000_000).await;
    let url = format!("{}{}", world.server.url, hello().path());
    let sneaky = world.server.http.post(url).json(&hello().body());
    let sneaky =
        sneaky.header("x-godel-token", &world.token).bearer_auth("my-own-leakcanary-login");
    assert_eq!(sneaky.send().await.unwrap().status(), 200);
    assert_eq!(world.rows().await[0]["costMicros"], 20, "it was our key, so it is charged");
    let asked = &world.stage.recorded()[0];
    assert!(!format!("{:?}", asked.headers).contains("my-own-leakcanary-login"));
}
