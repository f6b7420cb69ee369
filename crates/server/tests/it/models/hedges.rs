//! A second provider is asked before the first has spoken, if the settings want that.

use godel_llm::Dialect;
use godel_scripted::{End, Fault, Scripted, Switch};
use serde_json::{Value, json};

use super::world::{Asked, World, stage};

/// Names a provider in front of the stage, and lets both be asked after a moment.
async fn slow_first(hedge: &str) -> (Scripted, World) {
    let first = stage().await;
    let (base, key) = (first.base_url(), first.key());
    let more = format!(
        "{hedge}\n[providers.second]\nchat = \"{base}/v1\"\nanthropic = \"{base}\"\nauth = \"none\"\n\
         headers = {{ authorization = \"Bearer {key}\", x-api-key = \"{key}\" }}\n"
    );
    let world = World::one(&more).await;
    let fault = Fault { slow_first_byte: Some(3_000), ..Fault::default() };
    first.switch(Switch::fault(fault));
    (first, world)
}

fn of<'r>(rows: &'r [Value], provider: &str) -> &'r Value {
    rows.iter().find(|row| row["provider"] == provider).unwrap_or_else(|| panic!("{rows:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_answers_and_both_are_on_record() {
    let (first, world) = slow_first("hedges = { m-1 = 50 }").await;
    world.budget("tenant", 10_000_000).await;
    for stream in [false, true] {
        let asked = Asked::new(Dialect::Chat, "[[say hi]] [[usage input=9 output=4]]");
        let (status, text) = world.say(&Asked { stream, ..asked }).await;
        assert_eq!(status, 200, "{text}");
        assert!(text.contains("hi"), "{text}");
    }
    let rows = world.rows().await;
    assert_eq!(rows.len(), 4, "{rows:?}");
    for pair in [&rows[..2], &rows[2..]] {
        assert_eq!(pair[0]["requestId"], pair[1]["requestId"]);
        let (lost, won) = (of(pair, "second"), of(pair, "stage"));
        assert_eq!((&lost["outcome"], &lost["estimated"]), (&json!("cancelled"), &json!(true)));
        assert_eq!(lost["error"], "another provider answered first");
        assert!(lost["costMicros"].as_i64().unwrap() > 0, "it was asked, so it may have cost");
        assert_eq!((&won["outcome"], &won["costMicros"]), (&json!("ok"), &json!(9 + 8)));
    }
    let usage = world.usage().await;
    let sum: i64 = rows.iter().map(|row| row["costMicros"].as_i64().unwrap()).sum();
    assert_eq!(usage["costMicros"], sum);
    let budget = &world.budgets().await[0];
    assert_eq!((&budget["spentMicros"], &budget["heldMicros"]), (&json!(sum), &json!(0)));
    // The one that was let go hears it at once, not when it would have answered.
    let ends: Vec<End> = first.recorded().iter().map(|asked| asked.end).collect();
    assert_eq!(ends, [End::Dropped, End::Dropped]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_answers_in_time_is_asked_alone_and_without_the_setting_everybody_is() {
    let (first, world) = slow_first("hedges = { m-1 = 5000 }").await;
    first.switch(Switch::well());
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "[[say hi]]")).await.0, 200);
    let rows = world.rows().await;
    assert_eq!((rows.len(), &rows[0]["provider"]), (1, &json!("second")));
    let (first, world) = slow_first("").await;
    first.switch(Switch::fault(Fault { slow_first_byte: Some(400), ..Fault::default() }));
    assert_eq!(world.say(&Asked::new(Dialect::Chat, "[[say hi]]")).await.0, 200);
    assert_eq!(world.rows().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_that_fails_late_is_made_good_by_the_second() {
    let (first, world) = slow_first("hedges = { m-1 = 50 }").await;
    let late = Fault { status: Some(503), slow_first_byte: Some(300), ..Fault::default() };
    first.switch(Switch::fault(late));
    world.stage.switch(Switch::fault(Fault { slow_first_byte: Some(800), ..Fault::default() }));
    let (status, text) = world.say(&Asked::new(Dialect::Chat, "[[say hi]]")).await;
    assert_eq!(status, 200, "{text}");
    let rows = world.rows().await;
    assert_eq!((rows.len(), &of(&rows, "second")["outcome"]), (2, &json!("failed")));
    assert_eq!(of(&rows, "stage")["outcome"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_refused_is_told_although_the_second_answers() {
    let (first, world) = slow_first("hedges = { m-1 = 50 }").await;
    let late = Fault { status: Some(401), slow_first_byte: Some(300), ..Fault::default() };
    first.switch(Switch::fault(late));
    world.stage.switch(Switch::fault(Fault { slow_first_byte: Some(800), ..Fault::default() }));
    let (status, text) = world.say(&Asked::new(Dialect::Chat, "[[say hi]]")).await;
    assert_eq!(status, 200, "{text}");
    let down = world.events("provider:down").await;
    assert_eq!(down.len(), 1, "{down:?}");
    assert_eq!(down[0]["payload"]["provider"], "second");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_twice_for_what_one_understands_or_a_budget_holds_once() {
    let (first, world) = slow_first("hedges = { m-1 = 50 }").await;
    first.switch(Switch::fault(Fault { slow_first_byte: Some(400), ..Fault::default() }));
    let asked = Asked::new(Dialect::Anthropic, "[[say hi]]");
    let mut body = asked.body();
    body["messages"] = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "opaque" },
            { "type": "text", "text": "ok" }] },
        { "role": "user", "content": "[[say hi]]" },
    ]);
    let answer = world.ask(&asked).json(&body).send().await.unwrap();
    drop(answer.text().await);
    let rows = world.rows().await;
    assert!(rows.iter().all(|row| row["provider"] == "second"), "{rows:?}");
    // The dear one of the two costs 20 a token: what is left holds it once, and nothing beside it.
    let before = world.rows().await.len();
    world.budget("tenant", 2_500).await;
    let asked = Asked::new(Dialect::Chat, "[[say hi]] [[usage input=1 output=1]]");
    let (status, text) = world.say(&asked).await;
    assert_eq!(status, 200, "{text}");
    let rows = world.rows().await;
    assert_eq!(rows.len(), before + 1, "{rows:?}");
    // It was answered, so it must not stop for want of money.
    assert!(world.server.app.switchboard.take_budget_refusal("worker").is_none());
}
