//! A login that the client brings: tokens and quotas are told, and no dollars are made up.

use godel_llm::Dialect;
use godel_scripted::{Fault, Scripted, Switch};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::world::{Asked, World, stage};
use crate::harness::data;

const ANN: &str = "sk-ant-oat01-leakcanary-ann";
const BEN: &str = "sk-ant-oat01-leakcanary-ben";

/// Names a provider that takes logins, in front of the stage.
async fn with_logins() -> (Scripted, String) {
    let provider = stage().await;
    provider.switch(Switch::keys([ANN, BEN]));
    let base = provider.base_url();
    let more = format!(
        "[providers.plan]\nanthropic = \"{base}\"\nresponses = \"{base}/v1\"\n\
         subscription = true\nprefixes = [\"s-\"]\n"
    );
    (provider, more)
}

async fn ask(world: &World, asked: &Asked<'_>, token: &str, login: &str) -> Response {
    let url = format!("{}{}", world.server.url, asked.path());
    let request = world.server.http.post(url).json(&asked.body());
    let request = request.header("x-godel-token", token).bearer_auth(login);
    request.header("anthropic-version", "2023-06-01").send().await.unwrap()
}

async fn quotas(world: &World) -> Vec<Value> {
    world.settled().await;
    let found = data(world.server.get("/proxy/v1/quotas").await, StatusCode::OK).await;
    found["items"].as_array().unwrap().clone()
}

fn unified() -> Switch {
    Switch::headers([
        ("anthropic-ratelimit-unified-status", "allowed"),
        ("anthropic-ratelimit-unified-5h-utilization", "0.42"),
        ("anthropic-ratelimit-unified-5h-reset", "4102444800"),
        ("anthropic-ratelimit-unified-5h-status", "allowed"),
        ("anthropic-ratelimit-unified-7d-utilization", "1.0"),
        ("anthropic-ratelimit-unified-7d-reset", "1000"),
        ("x-organization-id", "not-for-clients"),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_shows_tokens_and_quotas_instead_of_dollars() {
    let (provider, more) = with_logins().await;
    provider.switch(unified());
    for world in World::all(&more).await {
        let engine = world.server.engine;
        world.budget("tenant", 1_000_000).await;
        for stream in [false, true] {
            let asked = Asked::new(Dialect::Anthropic, "[[usage input=30 output=7]]").of("s-1");
            let answer = ask(&world, &Asked { stream, ..asked }, &world.token, ANN).await;
            assert_eq!(answer.status(), 200);
            let headers = answer.headers().clone();
            assert_eq!(headers["anthropic-ratelimit-unified-5h-utilization"], "0.42");
            assert!(!headers.contains_key("x-organization-id"));
            answer.text().await.unwrap();
        }
        let rows = world.rows().await;
        assert_eq!((&rows[0]["paidBy"], &rows[0]["costMicros"]), (&json!("login"), &Value::Null));
        assert_eq!((&rows[1]["inputTokens"], &rows[1]["outputTokens"]), (&json!(30), &json!(7)));
        let usage = world.usage().await;
        let told = ["requests", "byLogin", "unpriced", "costMicros", "inputTokens"];
        let told = told.map(|name| usage[name].as_i64().unwrap());
        assert_eq!(told, [2, 2, 0, 0, 60], "{engine}: {usage}");
        assert_eq!(world.budgets().await[0]["spentMicros"], 0);
        let found = quotas(&world).await;
        assert_eq!(found.len(), 2, "{engine}: {found:?}");
        let of = |name: &str| found.iter().find(|quota| quota["window"] == name).unwrap();
        let (short, long) = (of("5h"), of("7d"));
        assert_eq!(short["provider"], "plan");
        assert_eq!((&short["usedPercent"], &short["state"]), (&json!(42.0), &json!("allowed")));
        assert_eq!(
            (&short["windowMinutes"], &short["resetsAt"]),
            (&json!(300), &json!("2100-01-01T00:00:00Z"))
        );
        assert_eq!(long["usedPercent"], Value::Null, "it has begun anew since");
        let providers = data(world.server.get("/proxy/v1/providers").await, StatusCode::OK).await;
        let providers = providers["items"].as_array().unwrap();
        let plan = providers.iter().find(|one| one["provider"] == "plan").unwrap();
        assert_eq!(plan["quotas"], json!(found));
        let other = world.server.other_tenant().await;
        let theirs = world.server.ask_as(&other, Method::GET, "/proxy/v1/quotas").await;
        assert_eq!(data(theirs, StatusCode::OK).await["items"], json!([]), "{engine}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_last_counts_and_the_other_way_of_saying_it_is_known_too() {
    let (provider, more) = with_logins().await;
    let world = World::one(&more).await;
    for used in ["10", "55.5"] {
        provider.switch(Switch::headers([
            ("x-codex-primary-used-percent", used),
            ("x-codex-primary-window-minutes", "300"),
            ("x-codex-primary-reset-after-seconds", "3600"),
        ]));
        let asked = Asked::new(Dialect::Responses, "[[say hi]]").of("s-1").streamed();
        let answer = ask(&world, &asked, &world.token, ANN).await;
        assert_eq!(answer.headers()["x-codex-primary-used-percent"], used);
        answer.text().await.unwrap();
    }
    let found = quotas(&world).await;
    assert_eq!((found.len(), &found[0]["usedPercent"]), (1, &json!(55.5)), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_has_used_its_quota_is_not_anothers() {
    let (provider, more) = with_logins().await;
    let world = World::one(&more).await;
    let (_, key) = world.server.user("ben", "developer").await;
    let url = format!("{}/api/v1/agent-tokens", world.server.url);
    let made =
        world.server.http.post(url).bearer_auth(&key).json(&json!({ "name": "b", "agent": "b" }));
    let made = data(made.send().await.unwrap(), StatusCode::CREATED).await;
    let ben = made["token"].as_str().unwrap();
    let asked = Asked::new(Dialect::Anthropic, "[[say hi]]").of("s-1");
    provider.switch(unified());
    let fault = Fault { status: Some(429), retry_after: Some(600), ..Fault::default() };
    provider.switch(Switch::fault(fault));
    let refused = ask(&world, &asked, &world.token, ANN).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["anthropic-ratelimit-unified-5h-utilization"], "0.42");
    provider.switch(Switch::well());
    let before = provider.recorded().len();
    assert_eq!(ask(&world, &asked, &world.token, ANN).await.status(), 429);
    assert_eq!(provider.recorded().len(), before, "who is to wait is not asked for");
    assert_eq!(ask(&world, &asked, ben, BEN).await.status(), 200);
    assert_eq!(quotas(&world).await.len(), 4, "each has a quota of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quota_of_a_key_is_not_the_clients_business() {
    let world = World::one("").await;
    world.stage.switch(unified());
    let answer = world.ask(&Asked::new(Dialect::Anthropic, "[[say hi]]")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(!format!("{:?}", answer.headers()).contains("unified"));
    assert_eq!(quotas(&world).await, Vec::<Value>::new());
    assert_eq!(world.rows().await[0]["paidBy"], "key");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_is_quoted_by_its_provider_is_on_no_record() {
    let (provider, more) = with_logins().await;
    let world = World::one(&more).await;
    provider.switch(Switch::keys([BEN]));
    let asked = Asked::new(Dialect::Anthropic, "[[say hi]]").of("s-1");
    let refused = ask(&world, &asked, &world.token, ANN).await;
    assert_eq!(refused.status(), 401);
    let text = refused.text().await.unwrap();
    assert!(text.contains("not one of mine: [removed]") && !text.contains(ANN), "{text}");
    let rows = world.rows().await;
    let error = rows[0]["error"].as_str().unwrap();
    assert!(error.contains("[removed]") && !error.contains(ANN), "{error}");
}
