//! What people arrange for themselves: views, and beads that come and go as lines.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::beads::known;
use crate::harness::{Running, data, failure, servers};

async fn send(
    server: &Running,
    key: &str,
    method: Method,
    path: &str,
    body: Value,
) -> reqwest::Response {
    let request = server.http.request(method, format!("{}{path}", server.url));
    request.bearer_auth(key).json(&body).send().await.unwrap()
}

fn view(name: &str, shared: bool) -> Value {
    json!({ "page": "beads", "name": name, "query": "q=status%3Aopen&sort=updated", "shared": shared })
}

async fn names(server: &Running, key: &str) -> Vec<(String, bool)> {
    let found = data(server.ask_as(key, Method::GET, "/api/v1/views").await, StatusCode::OK).await;
    let items = found["items"].as_array().unwrap();
    let each = |view: &Value| {
        (view["name"].as_str().unwrap().to_owned(), view["isOwn"].as_bool().unwrap())
    };
    items.iter().map(each).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_is_kept_shared_changed_and_forgotten() {
    for server in servers().await {
        let (_, ann) = server.user("ann", "developer").await;
        let (_, bob) = server.user("bob", "developer").await;
        let (_, eve) = server.user("eve", "viewer").await;
        let keep = async |key: &str, body: Value| {
            send(&server, key, Method::POST, "/api/v1/views", body).await
        };
        let made = data(keep(&ann, view(" Mine ", false)).await, StatusCode::CREATED).await;
        assert_eq!((&made["name"], &made["isOwn"]), (&json!("Mine"), &json!(true)));
        let shared = data(keep(&ann, view("All of us", true)).await, StatusCode::CREATED).await;
        data(keep(&eve, view("mine", false)).await, StatusCode::CREATED).await;
        let own = |name: &str, own: bool| (name.to_owned(), own);
        assert_eq!(names(&server, &ann).await, [own("All of us", true), own("Mine", true)]);
        assert_eq!(names(&server, &bob).await, [own("All of us", false)]);
        assert_eq!(names(&server, &eve).await, [own("All of us", false), own("mine", true)]);
        // What is refused changes nothing.
        let said = failure(keep(&ann, view("mine", false)).await, 400, "invalid_field").await;
        assert!(said["error"]["message"].as_str().unwrap().contains("have a view"), "{said}");
        failure(keep(&eve, view("Look here", true)).await, 403, "forbidden").await;
        for bad in [
            json!({ "page": "Beads", "name": "x", "query": "" }),
            json!({ "page": "beads", "name": " ", "query": "" }),
            json!({ "page": "beads", "name": "x", "query": "a b" }),
            json!({ "page": "beads", "name": "x", "query": "a#b" }),
            json!({ "page": "beads", "name": "x", "query": "a".repeat(4_001) }),
        ] {
            failure(keep(&ann, bad).await, 400, "invalid_field").await;
        }
        let (mine, theirs) = (
            format!("/api/v1/views/{}", made["id"].as_str().unwrap()),
            shared["id"].as_str().unwrap(),
        );
        let theirs = format!("/api/v1/views/{theirs}");
        // Only who keeps a view can change it; an admin can forget what everybody has, and nothing else.
        failure(
            send(&server, &bob, Method::PUT, &theirs, view("Ours", true)).await,
            404,
            "view_not_found",
        )
        .await;
        failure(server.ask_as(&bob, Method::DELETE, &theirs).await, 404, "view_not_found").await;
        failure(server.ask_as(&server.key, Method::DELETE, &mine).await, 404, "view_not_found")
            .await;
        failure(
            send(&server, &ann, Method::PUT, &mine, view("all OF us", false)).await,
            400,
            "invalid_field",
        )
        .await;
        let changed = send(&server, &ann, Method::PUT, &mine, view("Still mine", false)).await;
        assert_eq!(data(changed, StatusCode::OK).await["name"], "Still mine");
        assert_eq!(server.ask_as(&server.key, Method::DELETE, &theirs).await.status(), 204);
        assert_eq!(server.ask_as(&ann, Method::DELETE, &mine).await.status(), 204);
        assert_eq!(names(&server, &ann).await, []);
        let path = r#"/api/v1/events?filter={"type":"view:*"}"#;
        let told = data(server.get(path).await, StatusCode::OK).await;
        assert_eq!(told["items"].as_array().unwrap().len(), 6, "{told}");
        assert!(!told.to_string().contains("All of us"), "{told}");
    }
}

const LINES: &str = concat!(
    r#"{"id":"bd-1","title":"first","status":"open","priority":1,"issue_type":"bug","created_at":"2026-01-01T00:00:00Z","flavour":1.10}"#,
    "\n",
    r#"{"id":"bd-2","title":"second","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-01T00:00:00Z"}"#,
    "\n",
);

async fn import(server: &Running, key: &str, query: &str, lines: &str) -> reqwest::Response {
    let request = server.http.post(format!("{}/api/v1/beads/import{query}", server.url));
    let request =
        request.bearer_auth(key).header("content-type", "application/x-ndjson; charset=utf-8");
    request.body(lines.to_owned()).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn beads_come_and_go_as_lines() {
    for server in servers().await {
        let repo = known(&server, "web").await;
        let key = server.key.clone();
        let planned =
            data(import(&server, &key, "?dryRun=true", LINES).await, StatusCode::OK).await;
        assert_eq!((&planned["created"], &planned["dryRun"]), (&json!(2), &json!(true)));
        assert_eq!(planned["changes"][0]["isNew"], true);
        let listed = data(server.get("/api/v1/beads").await, StatusCode::OK).await;
        assert_eq!(listed["items"], json!([]), "a dry run changes nothing");
        let done = data(import(&server, &key, "", LINES).await, StatusCode::OK).await;
        assert_eq!((&done["created"], &done["projectId"]), (&json!(2), &json!(repo.project)));
        let out = server.get("/api/v1/beads/export").await;
        assert_eq!(out.headers()["content-type"], "application/x-ndjson");
        assert_eq!(out.text().await.unwrap(), LINES, "what came in goes out byte for byte");
        // What would change is told by field.
        let changed = LINES.replace("second", "second one");
        let planned =
            data(import(&server, &key, "?dryRun=true", &changed).await, StatusCode::OK).await;
        assert_eq!((&planned["updated"], &planned["unchanged"]), (&json!(1), &json!(1)));
        assert_eq!(
            planned["changes"][0]["fields"],
            json!([
                { "name": "title", "before": "second", "after": "second one" }
            ])
        );
        assert_eq!(planned["changes"][0]["title"], "second one");
        // One bad line, and nothing is taken.
        let bad = format!("{changed}{{\"id\":\"bd-3\"}}\n");
        let said = failure(import(&server, &key, "", &bad).await, 400, "invalid_json").await;
        assert!(said["error"]["message"].as_str().unwrap().contains("line 3"), "{said}");
        assert_eq!(server.get("/api/v1/beads/export").await.text().await.unwrap(), LINES);
        let json = server.post("/api/v1/beads/import", json!({})).await;
        failure(json, 415, "unsupported_media_type").await;
        let (_, eve) = server.user("eve", "viewer").await;
        failure(import(&server, &eve, "", LINES).await, 403, "forbidden").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn beads_are_found_by_a_query() {
    for server in servers().await {
        let _repo = known(&server, "web").await;
        for (title, kind) in [("Fix the login", "bug"), ("Write the guide", "task")] {
            let new = json!({ "title": title, "type": kind });
            data(server.post("/api/v1/beads", new).await, StatusCode::CREATED).await;
        }
        let find = async |query: &str| {
            let filter = json!({ "query": query }).to_string();
            server
                .request(Method::GET, "/api/v1/beads")
                .query(&[("filter", filter)])
                .send()
                .await
                .unwrap()
        };
        let found = data(find("agent:none updated:<1d -type:task log").await, StatusCode::OK).await;
        assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found["items"][0]["title"], "Fix the login");
        let said = failure(find("status:opne").await, 400, "invalid_query").await;
        assert!(
            said["error"]["message"].as_str().unwrap().contains("did you mean open?"),
            "{said}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_is_tried_by_admins_and_says_what_is_wrong() {
    let server = servers().await.remove(0);
    let listed = data(server.get("/api/v1/runtimes").await, StatusCode::OK).await;
    let items = listed["items"].as_array().unwrap();
    let listed: Vec<_> = items.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(listed, ["worktree", "gvisor"]);
    for one in items {
        let is_offered = one["offered"] == json!(true);
        assert_eq!(one["isolation"].is_string(), is_offered, "{one}");
    }
    let test = async |key: &str, name: &str| {
        let path = format!("/api/v1/runtimes/{name}/test");
        server.ask_as(key, Method::POST, &path).await
    };
    let found = data(test(&server.key, "worktree").await, StatusCode::OK).await;
    let checks = found["checks"].as_array().unwrap();
    let names: Vec<_> = checks.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["git", "walls", "offered", "harnesses"]);
    let broken = checks.iter().filter(|one| one["status"] == "fail");
    assert_eq!(found["ok"], json!(broken.clone().count() == 0));
    // What is wrong comes with what to do about it.
    assert!(broken.clone().all(|one| one["hint"].is_string()), "{found}");
    let found = data(test(&server.key, "gvisor").await, StatusCode::OK).await;
    assert!(found["checks"].as_array().unwrap().iter().any(|one| one["name"] == "gvisor"));
    let said = failure(test(&server.key, "cloud").await, 400, "invalid_field").await;
    assert!(said.to_string().contains("worktree and gvisor"), "{said}");
    let (_, operator) = server.user("olga", "operator").await;
    failure(test(&operator, "worktree").await, 403, "forbidden").await;
}
