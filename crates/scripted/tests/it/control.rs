//! Watching and steering the whole server.

use std::time::Duration;

use godel_scripted::{End, Fault, Switch};
use serde_json::{Value, json};

use crate::{KEY, Stage};

const CHAT: &str = "/v1/chat/completions";

fn chat(prompt: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": prompt}]})
}

#[tokio::test]
async fn requests_are_recorded_as_they_came() {
    let stage = Stage::open().await;
    let raw = "{ \"model\":\"m\",  \"messages\":[] }";
    let request = stage.client.post(stage.url(&format!("{CHAT}?a=b"))).bearer_auth(KEY);
    request.header("X-Odd", "1").body(raw).send().await.unwrap();
    stage.json(CHAT, &chat("second")).await;
    let recorded = stage.scripted.recorded();
    assert_eq!(recorded[0].body, raw);
    assert_eq!((recorded[0].path.as_str(), recorded[0].query.as_str()), (CHAT, "a=b"));
    assert_eq!((recorded[0].header("x-odd"), recorded[0].status), (Some("1"), 200));
    let shown = stage.client.get(stage.url("/_recorded?after=1")).send().await.unwrap();
    let shown: Vec<Value> = shown.json().await.unwrap();
    assert_eq!(shown.len(), 1);
    let body: Value = serde_json::from_str(shown[0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["messages"][0]["content"], "second");
}

#[tokio::test]
async fn a_fault_of_the_whole_server_is_switched_on_and_off() {
    let stage = Stage::open().await;
    let switch = |body: Value| {
        let request = stage.client.post(stage.url("/_switch")).json(&body);
        async move { request.send().await.unwrap().status().as_u16() }
    };
    let status = || async { stage.post(CHAT, &chat("hi")).await.status().as_u16() };
    assert_eq!(switch(json!({"fault": {"status": 529}, "times": 2})).await, 200);
    assert_eq!([status().await, status().await, status().await], [529, 529, 200]);
    stage.scripted.switch(Switch::fault(Fault { status: Some(503), ..Fault::default() }));
    assert_eq!([status().await, status().await], [503, 503]);
    assert_eq!(switch(json!({"fault": null})).await, 200);
    assert_eq!(status().await, 200);
    assert_eq!(switch(json!({"keys": ["other"]})).await, 200);
    assert_eq!(status().await, 401);
    stage.scripted.switch(Switch::keys([KEY]));
    assert_eq!(status().await, 200);
    assert_eq!(switch(json!({"mistake": 1})).await, 400);
    let stats = stage.scripted.stats();
    assert_eq!((stats.statuses[&529], stats.statuses[&200], stats.strangers), (2, 3, 1));
}

#[tokio::test]
async fn a_reader_that_leaves_is_noticed() {
    let stage = Stage::open().await;
    let mut body = chat("[[words 1000]] [[pace 20]]");
    body["stream"] = true.into();
    let mut response = stage.post(CHAT, &body).await;
    response.chunk().await.unwrap();
    assert_eq!(stage.scripted.recorded()[0].end, End::Open);
    drop(response);
    let short = Duration::from_millis(200);
    stage.request(CHAT, &chat("[[hang]]")).timeout(short).send().await.unwrap_err();
    for _ in 0..500 {
        if stage.scripted.recorded().iter().all(|request| request.end == End::Dropped) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody noticed");
}

#[tokio::test]
async fn probes_unknown_paths_and_missing_models() {
    let stage = Stage::open().await;
    let probe = stage.client.head(stage.scripted.base_url()).send().await.unwrap();
    assert_eq!(probe.status().as_u16(), 200);
    assert_eq!(stage.refused("/v1/nothing", &json!({})).await.0, 404);
    let mut body = chat("hi");
    body["model"] = "missing-model".into();
    let (status, refusal) = stage.refused(CHAT, &body).await;
    assert_eq!((status, refusal["error"]["code"].as_str()), (404, Some("model_not_found")));
    assert_eq!(stage.refused(CHAT, &chat("[[call]]")).await.0, 400);
}

#[tokio::test]
async fn http_2_works_as_well() {
    let stage = Stage::open().await;
    let client = reqwest::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
    let request = client.post(stage.url(CHAT)).bearer_auth(KEY).json(&chat("[[words 9]]"));
    let response = request.send().await.unwrap();
    assert_eq!(response.version(), reqwest::Version::HTTP_2);
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
}
