//! The inbox: approvals, budgets and dead letters wait there once, until they are no trouble any more.

use godel_llm::Dialect;
use godel_store::{Error as StoreError, INCIDENT, Paper, Scope, Tx};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};
use crate::models::world::{Asked, World};

const GATED: &str = "
name: release
steps:
  - { id: gate, approval: { by: [role:admin], message: 'Ship it?' } }
  - { id: rest, timer: 1ms, dependsOn: [gate] }
";

async fn inbox(server: &Running, query: &str) -> Vec<Value> {
    let found = data(server.get(&format!("/api/v1/inbox{query}")).await, StatusCode::OK).await;
    let items = found["items"].as_array().unwrap().clone();
    if query.is_empty() {
        let count = data(server.get("/api/v1/inbox/count").await, StatusCode::OK).await;
        assert_eq!(count["open"], items.len(), "{}", server.engine);
    }
    items
}

const ALL: &str = "?filter={\"state\":\"all\"}";

async fn start(server: &Running) -> String {
    let run = server.post("/api/v1/runs", json!({ "source": GATED })).await;
    data(run, StatusCode::CREATED).await["id"].as_str().unwrap().to_owned()
}

async fn answer(server: &Running, notice: &Value, said: Value) -> reqwest::Response {
    let path = format!("/api/v1/inbox/{}/answer", notice["id"].as_str().unwrap());
    server.post(&path, said).await
}

/// Waits until a run has come to a state.
async fn becomes(server: &Running, run: &str, state: &str) {
    for _ in 0..400 {
        let found = data(server.get(&format!("/api/v1/runs/{run}")).await, StatusCode::OK).await;
        if found["state"] == state {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("{}: the run does not become {state}", server.engine)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_is_answered_from_the_inbox() {
    for server in servers().await {
        let run = start(&server).await;
        let waiting = inbox(&server, "").await;
        let [notice] = waiting.as_slice() else { panic!("{waiting:?}") };
        assert_eq!((&notice["kind"], &notice["runId"]), (&json!("approval"), &json!(run)));
        assert_eq!(notice["text"], "Ship it?\nAsked: role:admin");
        assert_eq!(notice["choices"], json!(["Approve", "Reject"]));
        assert_eq!((&notice["workflow"], &notice["step"]), (&json!("release"), &json!("gate")));
        for unclear in [json!({}), json!({ "answer": "no problem" })] {
            failure(answer(&server, notice, unclear).await, 400, "invalid_field").await;
        }
        // Whom the gate does not ask can read it, and not answer.
        let (_, dev) = server.user("dev", "developer").await;
        let path = format!("/api/v1/inbox/{}/answer", notice["id"].as_str().unwrap());
        let sent = server.http.post(format!("{}{path}", server.url)).bearer_auth(&dev);
        let refused = sent.json(&json!({ "answer": "Approve" })).send().await.unwrap();
        assert!(refused.status().is_client_error());
        assert_eq!(inbox(&server, "").await.len(), 1);
        let done = answer(&server, notice, json!({ "answer": "approve: well done" })).await;
        let done = data(done, StatusCode::OK).await;
        assert_eq!((&done["state"], &done["id"]), (&json!("closed"), &notice["id"]));
        assert_eq!(done["answer"], "approved by user:owner");
        becomes(&server, &run, "completed").await;
        assert_eq!(inbox(&server, "").await, [] as [Value; 0]);
        assert_eq!(inbox(&server, ALL).await, [done]);
        let again = answer(&server, notice, json!({ "answer": "Reject" })).await;
        let again = failure(again, 409, "run_state").await;
        let why = "step `gate` of release asks nobody any more: approved by user:owner";
        assert_eq!(again["error"]["message"], why);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_those_who_answer_a_gate_at_the_same_moment_one_is_heard_and_the_others_are_told() {
    const ROUNDS: usize = 8;
    const ANSWERS: usize = 4;
    for server in servers().await {
        for round in 0..ROUNDS {
            let run = start(&server).await;
            let waiting = inbox(&server, "").await;
            let [notice] = waiting.as_slice() else { panic!("{waiting:?}") };
            let say = |number: usize| {
                let word = if (round + number).is_multiple_of(2) { "Approve" } else { "Reject" };
                answer(&server, notice, json!({ "answer": word }))
            };
            let answers = futures_util::future::join_all((0..ANSWERS).map(say)).await;
            let (mut heard, mut told) = (Vec::new(), Vec::new());
            for answer in answers {
                if answer.status() == StatusCode::OK {
                    let done = data(answer, StatusCode::OK).await;
                    heard.push(done["answer"].as_str().unwrap().to_owned());
                } else {
                    let refused = failure(answer, 409, "run_state").await;
                    told.push(refused["error"]["message"].as_str().unwrap().to_owned());
                }
            }
            assert_eq!((heard.len(), told.len()), (1, ANSWERS - 1), "{}", server.engine);
            let why = format!("step `gate` of release asks nobody any more: {}", heard[0]);
            assert!(told.iter().all(|told| *told == why), "{heard:?} {told:?}");
            let state = if heard[0] == "approved by user:owner" { "completed" } else { "failed" };
            becomes(&server, &run, state).await;
        }
        assert_eq!(inbox(&server, "").await, [] as [Value; 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_whose_run_has_ended_says_that_it_asks_nobody() {
    for server in servers().await {
        let run = start(&server).await;
        let notice = inbox(&server, "").await.remove(0);
        let path = format!("/api/v1/runs/{run}/cancel");
        data(server.post(&path, json!({})).await, StatusCode::OK).await;
        let late = answer(&server, &notice, json!({ "answer": "Approve" })).await;
        let late = failure(late, 409, "run_state").await;
        let why = "step `gate` of release asks nobody any more: the run was cancelled before the step ended";
        assert_eq!(late["error"]["message"], why, "{}", server.engine);
        let hint = late["error"]["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(&run), "{late}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_goes_when_its_gate_is_answered_elsewhere_or_its_run_ends() {
    for server in servers().await {
        let (one, other, kept) = (start(&server).await, start(&server).await, start(&server).await);
        assert_eq!(inbox(&server, "").await.len(), 3);
        let said = json!({ "step": "gate", "approve": false, "note": "not today" });
        let path = format!("/api/v1/runs/{one}/answer");
        data(server.post(&path, said).await, StatusCode::OK).await;
        let path = format!("/api/v1/runs/{other}/cancel");
        data(server.post(&path, json!({})).await, StatusCode::OK).await;
        let waiting = inbox(&server, "").await;
        assert_eq!(waiting.len(), 1, "{}: {waiting:?}", server.engine);
        assert_eq!(waiting[0]["runId"], kept);
        let over = inbox(&server, ALL).await;
        let answers: Vec<&Value> = over.iter().map(|notice| &notice["answer"]).collect();
        assert_eq!(answers[2], "user:owner said no: not today", "{over:?}");
        // What waits is there after the server was gone, once; what is over is not.
        let server = server.again(|| {}).await;
        let waiting = inbox(&server, "").await;
        assert_eq!(waiting.len(), 1);
        assert_eq!(waiting[0]["runId"], kept);
        let done = answer(&server, &waiting[0], json!({ "answer": "Approve" })).await;
        data(done, StatusCode::OK).await;
        becomes(&server, &kept, "completed").await;
        assert_eq!(inbox(&server, "").await.len(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_that_asks_nobody_any_more_goes_when_it_is_answered() {
    for server in servers().await {
        let run = start(&server).await;
        let waiting = inbox(&server, "").await;
        data(answer(&server, &waiting[0], json!({ "answer": "Approve" })).await, StatusCode::OK)
            .await;
        becomes(&server, &run, "completed").await;
        // As a server leaves it that answers gates and knows of no incidents.
        let id: uuid::Uuid = waiting[0]["id"].as_str().unwrap().parse().unwrap();
        let tenant = Scope::Tenant(godel_app::tenants::ensure_first(&server.app).await.unwrap().id);
        let reopen = move |tx: &mut Tx<'_>| {
            let paper = tx.papers(INCIDENT).by_id(id)?.unwrap();
            tx.papers(INCIDENT).update(&Paper { state: "open".to_owned(), ..paper })
        };
        let reopened = server.app.store.write::<_, StoreError, _>(tenant, reopen).await.unwrap();
        assert!(reopened.value);
        assert_eq!(inbox(&server, "").await.len(), 1);
        let late = answer(&server, &waiting[0], json!({ "answer": "Reject" })).await;
        assert_eq!(late.status(), StatusCode::CONFLICT);
        assert_eq!(inbox(&server, "").await.len(), 0, "{}", server.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_runs_out_waits_once_until_it_is_raised_or_put_aside() {
    for world in World::all("").await {
        let server = &world.server;
        let dear = Asked::new(Dialect::Chat, "[[usage input=10 output=90]]").of("m-dear");
        world.budget("tenant", 100_200).await;
        // An agent asks by itself.
        world.budget("agent:worker", 100_000_000).await;
        assert_eq!(inbox(server, "").await.len(), 0);
        assert_eq!(world.say(&dear).await.0, 200);
        let budgets = world.budgets().await;
        let waiting = inbox(server, "").await;
        let [warned] = waiting.as_slice() else { panic!("{}: {waiting:?}", server.engine) };
        assert_eq!((&warned["kind"], &warned["scope"]), (&json!("budget"), &json!("tenant")));
        let text = warned["text"].as_str().unwrap();
        assert!(text.ends_with("89% used: $0.09001 of $0.1002 is spent."), "{text}");
        let own = budgets.iter().find(|budget| budget["scope"] == "tenant").unwrap();
        assert_eq!(warned["budgetId"], own["id"]);
        // It is put aside for everybody, so not by anybody.
        let (_, dev) = server.user("dev", "developer").await;
        let path = format!("/api/v1/inbox/{}/answer", warned["id"].as_str().unwrap());
        let sent = server.http.post(format!("{}{path}", server.url)).bearer_auth(&dev);
        failure(sent.json(&json!({})).send().await.unwrap(), 403, "forbidden").await;
        data(answer(server, warned, json!({})).await, StatusCode::OK).await;
        assert_eq!(inbox(server, "").await.len(), 0);
        // That it is used up is news to who put aside that it was nearly so; every other refusal is not.
        for _ in 0..3 {
            assert_eq!(world.say(&dear).await.0, 402);
        }
        assert_eq!(world.events("budget:exceeded").await.len(), 1);
        let waiting = inbox(server, "").await;
        let [used_up] = waiting.as_slice() else { panic!("{}: {waiting:?}", server.engine) };
        let text = used_up["text"].as_str().unwrap();
        assert!(text.ends_with("leaves too little: $0.09001 of $0.1002 is spent."), "{text}");
        world.budget("tenant", 1_000_000).await;
        assert_eq!(inbox(server, "").await.len(), 0, "{}: it was raised", server.engine);
        // A limit below what is spent is passed at once; what was put aside stays there.
        world.budget("tenant", 90_000).await;
        let waiting = inbox(server, "").await;
        let [spent] = waiting.as_slice() else { panic!("{}: {waiting:?}", server.engine) };
        assert!(spent["text"].as_str().unwrap().contains("is used up: $0.09001 of $0.09 is"));
        let done = data(answer(server, spent, json!({})).await, StatusCode::OK).await;
        assert_eq!(done["state"], "closed");
        world.budget("tenant", 90_000).await;
        assert_eq!(inbox(server, "").await.len(), 0);
        let told = world.events("notice:closed").await;
        assert_eq!(told.len(), 2);
        let states: Vec<Value> =
            inbox(server, ALL).await.into_iter().map(|notice| notice["state"].clone()).collect();
        assert_eq!(states, ["closed", "closed", "closed"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_told_to_those_who_are_named_and_to_all_when_none_of_them_is_here() {
    for world in World::all("").await {
        let server = &world.server;
        let (ada, key) = server.user("ada", "admin").await;
        let told = async |tell: Value| {
            let body =
                json!({ "scope": "tenant", "period": "total", "capMicros": 100_200, "tell": tell });
            let set = server.request(Method::PUT, "/api/v1/budgets").json(&body);
            data(set.send().await.unwrap(), StatusCode::OK).await
        };
        assert_eq!(told(json!([ada])).await["tell"], json!([ada]));
        let dear = Asked::new(Dialect::Chat, "[[usage input=10 output=90]]").of("m-dear");
        assert_eq!(world.say(&dear).await.0, 200);
        world.settled().await;
        assert_eq!(inbox(server, "").await.len(), 0, "{}", server.engine);
        let url = format!("{}/api/v1/inbox", server.url);
        let hers = server.http.get(&url).bearer_auth(&key).send().await.unwrap();
        let hers = data(hers, StatusCode::OK).await;
        assert_eq!(hers["items"].as_array().unwrap().len(), 1, "{hers}");
        assert_eq!(told(json!([])).await["tell"], json!([]));
        assert_eq!(inbox(server, "").await.len(), 1);
        told(json!([ada])).await;
        assert_eq!(inbox(server, "").await.len(), 0);
        let gone = server.request(Method::DELETE, &format!("/api/v1/users/{ada}"));
        assert!(gone.send().await.unwrap().status().is_success());
        assert_eq!(inbox(server, "").await.len(), 1, "{}: nobody else would hear", server.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_that_pile_up_wait_once_until_they_are_few() {
    for server in servers().await {
        let post = async |path: &str, body: Value, status: StatusCode| {
            data(server.post(&format!("/api/v1{path}"), body).await, status).await
        };
        let patch = server.request(Method::PATCH, "/api/v1/queue/pools/default");
        data(patch.json(&json!({ "deadAlert": 1 })).send().await.unwrap(), StatusCode::OK).await;
        let worker = post("/workers", json!({ "name": "w" }), StatusCode::CREATED).await;
        let worker = worker["id"].as_str().unwrap();
        for _ in 0..2 {
            let task = json!({ "title": "fails", "retry": { "maxAttempts": 1 } });
            post("/tasks", task, StatusCode::CREATED).await;
            let ask = json!({ "free": 1, "waitMs": 20_000 });
            let given = post(&format!("/workers/{worker}/claim"), ask, StatusCode::OK).await;
            let given = &given["tasks"][0];
            let said = json!({ "workerId": worker, "attempt": given["attempt"], "error": "no" });
            let path = format!("/tasks/{}/fail", given["id"].as_str().unwrap());
            post(&path, said, StatusCode::OK).await;
        }
        let waits = async |count: usize| {
            for _ in 0..400 {
                // It comes and goes by itself, maybe between a list and its count.
                if inbox(&server, "?limit=50").await.len() == count {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(25)).await;
            }
            panic!("{}: {:?}", server.engine, inbox(&server, "").await)
        };
        waits(1).await;
        let [notice] = &inbox(&server, "").await[..] else { panic!("one") };
        assert_eq!((&notice["kind"], &notice["pool"]), (&json!("dead_letters"), &json!("default")));
        post("/dead-letters/replay", json!({}), StatusCode::OK).await;
        waits(0).await;
        assert_eq!(inbox(&server, ALL).await.len(), 1);
    }
}
