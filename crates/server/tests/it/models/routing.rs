//! How requests find their way is told as the server does it, also after the file has changed.

use std::time::{Duration, Instant};

use godel_llm::Dialect;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::world::{Asked, World, providers};
use crate::harness::data;

async fn told(world: &World) -> Value {
    data(world.server.get("/proxy/v1/routing").await, StatusCode::OK).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_of_requests_is_told_and_follows_the_file() {
    let more = "prefer = \"cost\"\nattempts = 2\nfirst_byte_seconds = 30\nhedges = { m-1 = 50 }\n\
                aliases = { quick = \"m-1\", best = [\"m-2\", \"m-1\"] }\n\
                fallbacks = { m-2 = [\"m-1\"] }\ncache = { enabled = true, seconds = 7 }\n";
    let world = World::one(more).await;
    let first = told(&world).await;
    for (field, value) in [
        ("prefer", json!("cost")),
        ("attempts", json!(2)),
        ("firstByteSeconds", json!(30)),
        ("idleSeconds", json!(300)),
        ("cacheSeconds", json!(7)),
        ("hedges", json!([{ "model": "m-1", "afterMs": 50 }])),
        ("fallbacks", json!([{ "name": "m-2", "models": ["m-1"] }])),
    ] {
        assert_eq!(first[field], value, "{field}");
    }
    let aliases = first["aliases"].as_array().unwrap();
    let at = |name: &str| aliases.iter().position(|one| one["name"] == name).unwrap();
    assert!(at("best") < at("quick"), "they are in order: {aliases:?}");
    assert_eq!(aliases[at("best")]["models"], json!(["m-2", "m-1"]));
    assert_eq!(first["order"][0], "stage", "{first}");

    providers(&world.files, &world.stage, "attempts = 4\n");
    let started = Instant::now();
    while told(&world).await["attempts"] != 4 {
        assert!(started.elapsed() < Duration::from_secs(60), "the file is read again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let now = told(&world).await;
    assert_eq!((&now["prefer"], &now["cacheSeconds"]), (&json!("order"), &Value::Null));
    assert_eq!(now["hedges"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_tells_its_price_and_what_caches_and_routing_saved() {
    let more = "prefer = \"cost\"\naliases = { pick = [\"m-dear\", \"m-1\"] }";
    for world in World::all(more).await {
        let prompt = "[[usage input=10 cache_read=200 output=90]]";
        for model in ["pick", "m-1"] {
            assert_eq!(world.say(&Asked::new(Dialect::Anthropic, prompt).of(model)).await.0, 200);
        }
        let rows = world.rows().await;
        let usage = world.usage().await;
        // m-1 costs 1 for input, 0.5 from the cache and 2 for output; m-dear 1 and 1,000.
        let cost = 10 + 100 + 180;
        for (row, routed) in rows.iter().zip([90_210 - cost, 0]) {
            assert_eq!(row["costMicros"], cost, "{row}");
            assert_eq!((&row["model"], &row["price"]), (&json!("m-1"), &json!("$1/$2")), "{row}");
            assert_eq!(row["savedByCacheMicros"], 100, "{row}");
            assert_eq!(row["savedByRoutingMicros"], routed, "{row}");
        }
        assert_eq!(usage["savedByCacheMicros"], 200, "{}: {usage}", world.server.engine);
        assert_eq!(usage["savedByRoutingMicros"], 90_210 - cost, "{usage}");
    }
}
