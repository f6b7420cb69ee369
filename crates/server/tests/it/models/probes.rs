//! Trying providers tells which work, and of the others what to do.

use godel_scripted::{Fault, Switch};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{World, stage};
use crate::harness::{data, failure};

async fn test(world: &World, name: Option<&str>) -> Vec<Value> {
    let wanted = name.map_or_else(|| json!({}), |name| json!({ "provider": name }));
    let told = world.server.post("/proxy/v1/providers/test", wanted).await;
    data(told, StatusCode::OK).await["items"].as_array().unwrap().clone()
}

fn of<'t>(told: &'t [Value], provider: &str) -> &'t Value {
    told.iter().find(|one| one["provider"] == provider).unwrap_or_else(|| panic!("{told:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_provider_is_really_asked_and_says_how_it_is() {
    let more = "[providers.gone]\nchat = \"http://127.0.0.1:9/v1\"\nauth = \"none\"\n\
                [providers.keyless]\nchat = \"http://127.0.0.1:9/v1\"\nenv = [\"NO_SUCH_KEY_HERE\"]\n";
    for world in World::all(more).await {
        let told = test(&world, None).await;
        for name in ["stage", "only-chat", "only-responses", "only-anthropic", "only-gemini"] {
            let one = of(&told, name);
            assert_eq!((&one["works"], &one["status"]), (&json!(true), &json!(200)), "{one}");
            assert!(one["models"].as_u64().unwrap() > 0 && one["problem"].is_null(), "{one}");
        }
        let gone = of(&told, "gone");
        assert_eq!(gone["works"], false);
        assert!(gone["problem"].as_str().unwrap().contains("cannot be reached"), "{gone}");
        assert!(gone["remedy"].as_str().unwrap().contains("[providers.gone]"), "{gone}");
        assert!(!told.iter().any(|one| one["provider"] == "keyless"), "{told:?}");
        let named = test(&world, Some("keyless")).await;
        assert_eq!((named.len(), &named[0]["works"]), (1, &json!(false)), "{named:?}");
        let remedy = named[0]["remedy"].as_str().unwrap();
        assert!(remedy.contains("godel secret set keyless") && remedy.contains("NO_SUCH_KEY_HERE"));
        let asked: Vec<_> = world.stage.recorded();
        assert!(asked.iter().all(|asked| asked.method == "GET"), "nothing was spent");
        assert_eq!(world.rows().await, Vec::<Value>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_key_a_busy_and_a_broken_provider_are_told_apart() {
    let other = stage().await;
    let base = other.base_url();
    let more = format!("[providers.other]\nchat = \"{base}/v1\"\n");
    let world = World::one(&more).await;
    let set = |name: &str, value: &str| {
        let set = world.server.request(Method::PUT, &format!("/api/v1/secrets/{name}"));
        set.json(&json!({ "value": value })).send()
    };
    let bad = "sk-bad-leakcanary-0001";
    assert_eq!(set("other", bad).await.unwrap().status(), 200);
    assert_eq!(set("other-2", other.key()).await.unwrap().status(), 200);
    let told = test(&world, Some("other")).await;
    assert_eq!(told.len(), 2, "each key is tried: {told:?}");
    let refused = told.iter().find(|one| one["works"] == false).unwrap();
    assert_eq!(refused["status"], 401);
    assert!(refused["problem"].as_str().unwrap().contains("does not take the key"), "{refused}");
    assert!(refused["remedy"].as_str().unwrap().contains("godel secret set other"), "{refused}");
    assert!(!refused.to_string().contains(bad), "{refused}");
    assert!(told.iter().any(|one| one["works"] == true));
    for (status, word) in [(429, "left alone"), (503, "it fails"), (404, "no list of models")] {
        other.switch(Switch::fault(Fault { status: Some(status), ..Fault::default() }));
        let told = test(&world, Some("other")).await;
        let said = told.iter().find(|one| one["status"] == status).unwrap();
        assert!(said["problem"].as_str().unwrap().contains(word), "{said}");
    }
    let wanted = json!({ "provider": "nobody" });
    let answer = world.server.post("/proxy/v1/providers/test", wanted).await;
    failure(answer, 404, "provider_not_found").await;
    let viewer = world.server.user("viewer", "viewer").await.1;
    let url = format!("{}/proxy/v1/providers/test", world.server.url);
    let answer = world.server.http.post(url).bearer_auth(viewer).json(&json!({})).send().await;
    assert_eq!(answer.unwrap().status(), 403);
}
