//! What was said is kept only where the settings say so, without secrets, and for its time.

use godel_llm::Dialect;
use godel_scripted::Switch;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{Asked, World, providers};
use crate::harness::{data, failure};

const ON: &str = "[capture]\nenabled = true\nmax_kb = 4\nkeep_days = 2\n";

async fn body(world: &World, row: &Value) -> Value {
    let path = format!("/proxy/v1/audit/{}/body", row["id"].as_str().unwrap());
    data(world.server.get(&path).await, StatusCode::OK).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_kept_unless_somebody_says_so() {
    for world in World::all("").await {
        assert_eq!(world.say(&Asked::new(Dialect::Chat, "[[say private]]")).await.0, 200);
        let rows = world.rows().await;
        let path = format!("/proxy/v1/audit/{}", rows[0]["id"].as_str().unwrap());
        let call = data(world.server.get(&path).await, StatusCode::OK).await;
        assert_eq!(call, rows[0], "one is told as in the list");
        let answer = world.server.get(&format!("{path}/body")).await;
        failure(answer, 404, "body_not_kept").await;
        let nobody = "/proxy/v1/audit/019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d/body";
        failure(world.server.get(nobody).await, 404, "call_not_found").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_kept_without_secrets_whole_or_streamed() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    for world in World::all(ON).await {
        for dialect in Dialect::ALL {
            for stream in [false, true] {
                // The words of a stream come one by one, so a secret is cut in pieces.
                let prompt = format!("[[say write to ann@mail.example with {key} soon]]");
                let asked = Asked { stream, ..Asked::new(dialect, &prompt) };
                let (status, text) = world.say(&asked).await;
                assert_eq!(status, 200, "{dialect} {text}");
                let rows = world.rows().await;
                let kept = body(&world, rows.last().unwrap()).await;
                let (request, reply) =
                    (kept["request"].as_str().unwrap(), kept["reply"].as_str().unwrap());
                for said in [request, reply] {
                    assert!(said.contains("write to"), "{dialect} {stream}: {kept}");
                    assert!(said.contains("[secret removed]"), "{dialect} {stream}: {kept}");
                    assert!(said.contains("[personal data removed]"), "{dialect} {stream}: {kept}");
                    assert!(!said.contains(&key[..8]) && !said.contains("ann@"), "{kept}");
                }
                serde_json::from_str::<Value>(request).unwrap();
                assert_eq!(kept["replyBytes"], text.len(), "{dialect} {stream}");
            }
        }
        let shown = world.server.user("viewer", "viewer").await.1;
        let rows = world.rows().await;
        let path = format!("/proxy/v1/audit/{}/body", rows[0]["id"].as_str().unwrap());
        let answer = world.server.ask_as(&shown, Method::GET, &path).await;
        assert_eq!(answer.status(), 403, "what was said is for admins");
        let other = world.server.other_tenant().await;
        let answer = world.server.ask_as(&other, Method::GET, &path).await;
        failure(answer, 404, "call_not_found").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_repeats_its_key_gets_it_into_no_body() {
    let world = World::one(ON).await;
    // The client says it itself here and hears it, so it is none that must not be seen on the way.
    let key = "sk-said-aloud-0123456789";
    world.stage.switch(Switch::keys([key]));
    let set = world.server.request(Method::PUT, "/api/v1/secrets/stage");
    let set = set.json(&json!({ "value": key })).send().await.unwrap();
    data(set, StatusCode::OK).await;
    let said = format!("[[say the key is {key} ok]]");
    for stream in [false, true] {
        let asked = Asked { stream, ..Asked::new(Dialect::Chat, &said) };
        let (status, text) = world.say(&asked).await;
        assert_eq!(status, 200, "{text}");
        let rows = world.rows().await;
        let kept = body(&world, rows.last().unwrap()).await.to_string();
        assert!(kept.contains("the key is") && !kept.contains(key), "{stream}: {kept}");
        assert!(!kept.contains("0123456789"), "{stream}: {kept}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_those_who_are_named_are_kept_and_only_so_much() {
    let world = World::one("[capture]\nenabled = true\nprojects = [\"web\"]\nmax_kb = 1\n").await;
    let made = world.server.post("/api/v1/projects", json!({ "name": "web" })).await;
    let project = data(made, StatusCode::CREATED).await;
    let long = format!("[[say ok]] {}", "word ".repeat(2_000));
    let asked = Asked::new(Dialect::Chat, &long);
    assert_eq!(world.say(&asked).await.0, 200);
    let rows = world.rows().await;
    let path = format!("/proxy/v1/audit/{}/body", rows[0]["id"].as_str().unwrap());
    failure(world.server.get(&path).await, 404, "body_not_kept").await;
    let new = json!({ "name": "web", "agent": "worker", "projectId": project["id"] });
    let token = world.token(new).await;
    let world = World { token, ..world };
    assert_eq!(world.say(&asked).await.0, 200);
    let rows = world.rows().await;
    let kept = body(&world, &rows[1]).await;
    assert_eq!(kept["request"].as_str().unwrap().len(), 1_024);
    assert!(kept["requestBytes"].as_u64().unwrap() > 10_000, "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_goes_when_its_time_is_over() {
    for world in World::all(ON).await {
        assert_eq!(world.say(&Asked::new(Dialect::Chat, "[[say hi]]")).await.0, 200);
        let rows = world.rows().await;
        let kept = body(&world, &rows[0]).await;
        let until: jiff::Timestamp = kept["keepUntil"].as_str().unwrap().parse().unwrap();
        let days = until.duration_since(jiff::Timestamp::now()).as_hours();
        assert!((46..=48).contains(&days), "{kept}");
        let tenant = world.server.app.home().unwrap();
        let later = until.checked_add(jiff::SignedDuration::from_secs(1)).unwrap();
        let trim = move |tx: &mut godel_store::Tx<'_>| tx.bodies().trim(tenant, later, 10);
        let gone = world.server.app.store.write(godel_store::Scope::System, trim).await.unwrap();
        assert_eq!(gone.value, 1);
        let path = format!("/proxy/v1/audit/{}/body", rows[0]["id"].as_str().unwrap());
        failure(world.server.get(&path).await, 404, "body_not_kept").await;
        assert_eq!(world.rows().await.len(), 1, "the attempt itself stays");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_turned_on_and_off_while_the_server_runs() {
    let world = World::one("").await;
    let asked = Asked::new(Dialect::Chat, "[[say hi]]");
    for on in [true, false] {
        providers(&world.files, &world.stage, if on { ON } else { "" });
        let start = std::time::Instant::now();
        loop {
            assert_eq!(world.say(&asked).await.0, 200);
            let rows = world.rows().await;
            let id = rows.last().unwrap()["id"].as_str().unwrap().to_owned();
            let kept = world.server.get(&format!("/proxy/v1/audit/{id}/body")).await.status();
            if (kept == 200) == on {
                break;
            }
            assert!(start.elapsed() < std::time::Duration::from_secs(20));
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    }
}
