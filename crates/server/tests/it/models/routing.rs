//! How requests find their way is told as the server does it, also after the file has changed.

use std::time::{Duration, Instant};

use godel_llm::Dialect;
use godel_scripted::{Fault, Switch};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::world::{Asked, World, providers, stage};
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

async fn asked_last(world: &World) -> Value {
    world.rows().await.pop().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_began_to_answer_sooner_lately_is_asked_first_if_that_is_wished() {
    let slow = stage().await;
    let (base, key) = (slow.base_url(), slow.key());
    let more = format!(
        "[providers.second]\nchat = \"{base}/v1\"\nauth = \"none\"\n\
         headers = {{ authorization = \"Bearer {key}\" }}\n"
    );
    let world = World::one(&more).await;
    slow.switch(Switch::fault(Fault { slow_first_byte: Some(300), ..Fault::default() }));
    let asked = Asked::new(Dialect::Chat, "[[say hi]]");
    assert_eq!(world.say(&asked).await.0, 200);
    assert_eq!(asked_last(&world).await["provider"], "second", "the order of the file");
    // Each has been asked once, so it is known how fast it is.
    assert_eq!(world.say(&asked.of("stage/m-1")).await.0, 200);
    for (wish, provider) in [("latency", "stage"), ("order", "second"), ("cost", "stage")] {
        let answer = world.ask(&asked).header("x-godel-prefer", wish).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(asked_last(&world).await["provider"], provider, "{wish}");
    }
    // It is what they did lately that counts.
    slow.switch(Switch::well());
    world.stage.switch(Switch::fault(Fault { slow_first_byte: Some(900), ..Fault::default() }));
    for _ in 0..6 {
        let one = if asked_last(&world).await["provider"] == "stage" { "second" } else { "stage" };
        let one = format!("{one}/m-1");
        assert_eq!(world.say(&asked.of(&one)).await.0, 200);
    }
    let answer = world.ask(&asked).header("x-godel-prefer", "latency").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(asked_last(&world).await["provider"], "second");
    let wrong = world.ask(&asked).header("x-godel-prefer", "beauty").send().await.unwrap();
    assert_eq!(wrong.status(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_can_do_what_is_needed_is_asked() {
    // The first has no eyes, the second reads no files, and the first takes little.
    let world = World::one("[aliases]\nany = [\"m-small\", \"m-eyes\"]").await;
    let asked = Asked::new(Dialect::Chat, "[[say hi]]").of("any");
    let chosen = async |body: &Value| {
        let answer = world.ask(&asked).json(body).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
        asked_last(&world).await["model"].as_str().unwrap().to_owned()
    };
    let plain = asked.body();
    assert_eq!(chosen(&plain).await, "m-small");
    let mut picture = plain.clone();
    let url = json!({ "url": format!("data:image/png;base64,{}", "A".repeat(20_000)) });
    picture["messages"][0]["content"] = json!([{ "type": "text", "text": "[[say hi]]" },
        { "type": "image_url", "image_url": url }]);
    assert_eq!(chosen(&picture).await, "m-eyes", "whatever its bytes are");
    let mut schema = plain.clone();
    schema["response_format"] = json!({ "type": "json_schema",
        "json_schema": { "name": "x", "schema": { "type": "object", "properties": {} } } });
    assert_eq!(chosen(&schema).await, "m-small");
    let mut long = plain.clone();
    long["messages"][0]["content"] = json!(format!("{} [[say hi]]", "word ".repeat(1_000)));
    assert_eq!(chosen(&long).await, "m-eyes", "it is too much for the first");
    long["messages"][0]["content"] = json!(format!("{} [[say hi]]", "word ".repeat(10_000)));
    assert_eq!(chosen(&long).await, "m-small", "it is too much for both, so it is tried");
    // Who asks for one by its name gets it.
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "hi").of("m-eyes")).await.0, 200);
}
