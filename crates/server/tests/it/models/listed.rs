//! Which models are listed to whom, and which attempts.

use std::time::Duration;

use godel_llm::Dialect;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::world::{Asked, World, told};
use crate::harness::{data, failure};

async fn get(world: &World, dialect: Dialect, path: &str) -> (u16, String) {
    let request = world.server.http.get(format!("{}{path}", world.server.url));
    let request = match dialect {
        Dialect::Anthropic => {
            request.header("x-api-key", &world.token).header("anthropic-version", "2023-06-01")
        }
        Dialect::Gemini => request.header("x-goog-api-key", &world.token),
        Dialect::Chat | Dialect::Responses => request.bearer_auth(&world.token),
    };
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

fn names(dialect: Dialect, text: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(text).unwrap();
    let (list, name) = match dialect {
        Dialect::Gemini => (&value["models"], "name"),
        _ => (&value["data"], "id"),
    };
    let all = list.as_array().unwrap().iter().map(|model| model[name].as_str().unwrap());
    all.map(|name| name.trim_start_matches("models/").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_in_the_path_lists_its_own_and_one_that_is_not_there_is_an_error() {
    let more = "[providers.azure]\nchat = \"http://127.0.0.1:9/v1\"\nauth = \"none\"\n\
                models = { m-azure = \"deployment-1\" }\n[providers.keyless]\n\
                chat = \"http://127.0.0.1:9/v1\"\nmodels = { keyless-1 = \"x\" }\n\
                [aliases]\nwork = \"m-azure\"\nlost = \"keyless-1\"";
    let world = World::one(more).await;
    for dialect in Dialect::ALL {
        let version = if dialect == Dialect::Gemini { "v1beta" } else { "v1" };
        let (status, text) = get(&world, dialect, &format!("/proxy/{version}/models")).await;
        assert_eq!(status, 200);
        let all = names(dialect, &text);
        for name in ["m-1", "m-azure", "work"] {
            assert!(all.iter().any(|known| known == name), "{name}: {all:?}");
        }
        for name in ["keyless-1", "lost"] {
            assert!(!all.iter().any(|known| known == name), "{name}: {all:?}");
        }
        let (status, text) = get(&world, dialect, &format!("/proxy/azure/{version}/models")).await;
        assert_eq!((status, names(dialect, &text)), (200, vec!["m-azure".into(), "work".into()]));
        let one = format!("/proxy/azure/{version}/models/m-azure");
        assert_eq!(get(&world, dialect, &one).await.0, 200);
        for nowhere in ["nowhere", "azure"] {
            let path = match nowhere {
                "azure" => format!("/proxy/azure/{version}/models/m-1"),
                _ => format!("/proxy/nowhere/{version}/models"),
            };
            let (status, text) = get(&world, dialect, &path).await;
            assert_eq!(status, 404, "{text}");
            let (kind, why) = told(dialect, &text);
            let kinds = ["model_not_found", "not_found_error", "NOT_FOUND"];
            assert!(kinds.contains(&kind.as_str()) && !why.is_empty(), "{text}");
        }
    }
    // Who may ask some models only is not told of others, not even by another name.
    let token = world.token(json!({ "name": "narrow", "models": ["m-azure"] })).await;
    let world = World { token, ..world };
    let (_, text) = get(&world, Dialect::Chat, "/proxy/v1/models").await;
    assert_eq!(names(Dialect::Chat, &text), ["m-azure"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_are_listed_by_their_time_and_by_how_they_ended() {
    for world in World::all("attempts = 1").await {
        let engine = world.server.engine;
        assert_eq!(world.say(&Asked::new(Dialect::Chat, "one")).await.0, 200);
        assert_eq!(world.say(&Asked::new(Dialect::Chat, "[[fault 400]]")).await.0, 400);
        world.settled().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        let middle = world.server.app.clock.now().to_string();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(world.say(&Asked::new(Dialect::Chat, "two")).await.0, 200);
        let early = world.ask(&Asked::new(Dialect::Chat, "[[slow-first-byte=5000]]"));
        early.timeout(Duration::from_millis(200)).send().await.unwrap_err();
        world.settled().await;
        let listed = async |query: &str| -> Vec<String> {
            let found = world.server.get(&format!("/proxy/v1/audit?{query}")).await;
            let found = data(found, StatusCode::OK).await;
            assert_eq!(found["total"], 4, "{engine}: {found}");
            let logs = found["logs"].as_array().unwrap().iter();
            logs.map(|log| log["outcome"].as_str().unwrap().to_owned()).collect()
        };
        let day = &middle[..10];
        for (query, outcomes) in [
            (String::new(), &["cancelled", "ok", "failed", "ok"][..]),
            (format!("from={middle}"), &["cancelled", "ok"]),
            (format!("to={middle}"), &["failed", "ok"]),
            (format!("to={middle}&outcome=ok"), &["ok"]),
            ("outcome=ok".to_owned(), &["ok", "ok"]),
            ("outcome=lost".to_owned(), &[]),
            (format!("from={day}"), &["cancelled", "ok", "failed", "ok"]),
            ("to=2020-01-01".to_owned(), &[]),
            ("from=2100-01-01T00:00:00Z".to_owned(), &[]),
        ] {
            assert_eq!(listed(&query).await, outcomes, "{engine}: {query}");
        }
        // A page goes on where the one before ended.
        let first = world.server.get("/proxy/v1/audit?outcome=ok&limit=1").await;
        let first = data(first, StatusCode::OK).await;
        let next = first["next"].as_str().unwrap();
        let rest = world.server.get(&format!("/proxy/v1/audit?outcome=ok&before={next}")).await;
        let rest = data(rest, StatusCode::OK).await;
        assert_eq!(rest["logs"].as_array().unwrap().len(), 1);
        assert_ne!(rest["logs"][0]["id"], first["logs"][0]["id"]);
        for (query, code) in [
            ("from=yesterday", "invalid_query"),
            ("to=2026-13-01", "invalid_query"),
            ("outcome=well", "invalid_field"),
        ] {
            let answer = world.server.get(&format!("/proxy/v1/audit?{query}")).await;
            failure(answer, 400, code).await;
        }
    }
}
