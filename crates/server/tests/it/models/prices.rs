//! What is served in another way costs what that costs, and what nobody has a price for is not made up.

use godel_llm::Dialect;
use godel_scripted::Switch;
use serde_json::{Value, json};

use super::world::{Asked, Logs, World, is_whole, told};

/// 100 at one millionth of a dollar and 50 at two.
const USED: &str = "[[usage input=100 output=50]]";

#[tokio::test(flavor = "multi_thread")]
async fn a_request_costs_what_the_tier_costs_in_which_the_provider_says_that_it_served_it() {
    let world = World::one("").await;
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let prompt = format!("{USED} [[tier flex]]");
            let asked = Asked { stream, ..Asked::new(dialect, &prompt) };
            let (status, text) = world.say(&asked).await;
            assert_eq!(status, 200, "{dialect}: {text}");
            assert!(!stream || is_whole(dialect, &text), "{text}");
        }
    }
    let fast = format!("{USED} [[tier fast]]");
    assert_eq!(world.say(&Asked::new(Dialect::Anthropic, &fast).streamed()).await.0, 200);
    let rows = world.rows().await;
    let (fast, flex) = rows.split_last().unwrap();
    assert_eq!(flex.len(), 8);
    for row in flex {
        assert_eq!(
            (&row["costMicros"], &row["price"]),
            (&json!(100), &json!("$0.5/$1 flex")),
            "{row}"
        );
    }
    assert_eq!((&fast["costMicros"], &fast["price"]), (&json!(1_200), &json!("$6/$12 fast")));
    let sum: i64 = rows.iter().map(|row| row["costMicros"].as_i64().unwrap()).sum();
    assert_eq!(world.usage().await["costMicros"], sum);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_google_says_of_the_tier_in_its_head_counts() {
    let world = World::one("").await;
    world.stage.switch(Switch::headers([("x-gemini-service-tier", "flex")]));
    for stream in [false, true] {
        let asked = Asked { stream, ..Asked::new(Dialect::Gemini, USED) };
        assert_eq!(world.say(&asked).await.0, 200);
    }
    assert!(world.rows().await.iter().all(|row| row["costMicros"] == 100));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tier_without_a_price_has_none_and_the_log_names_it_once() {
    let logs = Logs::capture();
    let world = World::one("").await;
    for tier in ["priority", "priority", "bargain"] {
        let prompt = format!("{USED} [[tier {tier}]]");
        assert_eq!(world.say(&Asked::new(Dialect::Chat, &prompt)).await.0, 200);
    }
    assert_eq!(world.say(&Asked::new(Dialect::Chat, USED)).await.0, 200);
    let rows = world.rows().await;
    assert!(rows[..3].iter().all(|row| row["costMicros"].is_null()), "{rows:?}");
    assert_eq!(
        (&rows[3]["costMicros"], &world.usage().await["unpriced"]),
        (&json!(200), &json!(3))
    );
    let text = logs.text();
    assert_eq!(text.matches("the price of a model is not known").count(), 2, "{text}");
    assert!(text.contains("m-1 (priority)") && text.contains("m-1 (other)"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_are_paid_for_and_pages_that_are_fetched_are_not() {
    let world = World::one("").await;
    let prompt = format!("{USED} [[searches 2]]");
    for stream in [false, true] {
        let asked = Asked { stream, ..Asked::new(Dialect::Anthropic, &prompt) };
        assert_eq!(world.say(&asked).await.0, 200);
    }
    assert!(world.rows().await.iter().all(|row| row["costMicros"] == 200 + 20_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_to_be_served_before_others_needs_a_budget_for_that() {
    let world = World::one("limits.agent = {}").await;
    // As usual 100 tokens of output at a thousand millionths each, before others twice as much.
    world.budget("agent:worker", 150_000).await;
    let asked = Asked::new(Dialect::Chat, "[[usage input=10 output=1]]").of("m-dear");
    let served = async |tier: Value| {
        let mut body = asked.body();
        body["service_tier"] = tier;
        let answer = world.ask(&asked).json(&body).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.text().await.unwrap())
    };
    let (status, text) = served(json!("priority")).await;
    assert_eq!(status, 402, "{text}");
    assert!(told(Dialect::Chat, &text).1.contains("is too small for this request"), "{text}");
    // Left to the provider it may be served before others, so it goes alone; and as usual it fits.
    for tier in [json!("auto"), json!("default"), json!(null), json!("flex"), json!("bargain")] {
        let (status, text) = served(tier.clone()).await;
        assert_eq!(status, 200, "{tier}: {text}");
    }
    let held = world.budgets().await[0]["heldMicros"].clone();
    assert_eq!((held, world.stage.recorded().len()), (json!(0), 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dearer_fallback_is_not_asked_if_the_request_has_a_limit() {
    let more = "[fallbacks]\nm-1 = [\"m-dear\"]\nm-dear = [\"m-1\"]";
    let world = World::one(more).await;
    let failing = |number: usize| format!("[[fault 400 times=1]] try {number}");
    let first = |rows: &[Value]| -> Vec<String> {
        rows.iter().map(|row| row["model"].as_str().unwrap().to_owned()).collect()
    };
    // What is refused would be refused by others, so a failure of the provider is needed.
    let prompt = failing(1).replace("400", "503");
    assert_eq!(world.say(&Asked::new(Dialect::Chat, &prompt)).await.0, 200);
    assert_eq!(first(&world.rows().await), ["m-1", "m-dear"], "without a limit it is asked");
    let prompt = failing(2).replace("400", "503");
    let asked = Asked::new(Dialect::Chat, &prompt);
    let answer = world.ask(&asked).header("x-godel-cost-limit", "0.01").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(first(&world.rows().await[2..]), ["m-1", "m-1"], "with one it is not");
    let dear = Asked::new(Dialect::Chat, "hi").of("m-dear");
    let answer = world.ask(&dear).header("x-godel-cost-limit", "0.01").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(first(&world.rows().await[4..]), ["m-1"], "who stays below it answers");
    let answer = world.ask(&dear).header("x-godel-cost-limit", "0.00001").send().await.unwrap();
    assert_eq!(answer.status(), 402);
    let (_, why) = told(Dialect::Chat, &answer.text().await.unwrap());
    assert!(why.contains("likely to cost $0.0002") && why.contains("limit of $0.0000"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_a_price_cannot_be_held_to_a_limit() {
    let world = World::one("").await;
    for dialect in Dialect::ALL {
        let asked = Asked::new(dialect, "hi").of("m-new");
        let answer = world.ask(&asked).header("x-godel-cost-limit", "5").send().await.unwrap();
        assert_eq!(answer.status(), 402, "{dialect}");
        assert_eq!(answer.headers()["x-should-retry"], "false");
        let (_, why) = told(dialect, &answer.text().await.unwrap());
        assert!(why.contains("nobody knows what \"m-new\" costs at stage"), "{why}");
    }
    let asked = Asked::new(Dialect::Chat, "hi");
    let mut body = asked.body();
    body["service_tier"] = json!("priority");
    let answer = world.ask(&asked).json(&body).header("x-godel-cost-limit", "5").send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 402);
    assert!(answer.text().await.unwrap().contains("served as priority"));
    assert!(world.stage.recorded().is_empty());
    assert_eq!(
        world.say(&Asked::new(Dialect::Chat, "hi").of("m-new")).await.0,
        200,
        "else it is asked"
    );
}
