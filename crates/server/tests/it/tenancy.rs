//! Two tenants on every route: no leak.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, servers};
use crate::ws::Socket;

/// A text that only the first tenant's data holds.
const MARK: &str = "zebra-crossing-7391";

/// What the first tenant has.
struct Mine {
    event: String,
    project: String,
    user: String,
    key: String,
    bead: String,
    convoy: String,
    agent: String,
    intent: String,
    session: String,
    view: String,
    _repository: tempfile::TempDir,
}

impl Mine {
    async fn make(server: &Running) -> Self {
        let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
        let repository = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.arg("-C").arg(repository.path()).args([
                "-c",
                "user.name=A",
                "-c",
                "user.email=a@b",
            ]);
            assert!(git.args(args).status().unwrap().success());
        };
        git(&["init", "-q"]);
        git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        let at = repository.path();
        let project = json!({ "name": MARK, "description": MARK, "repository": at });
        let project =
            data(server.post("/api/v1/projects", project).await, StatusCode::CREATED).await;
        let event = json!({ "type": "test:mine", "payload": { "mark": MARK } });
        let event = data(server.post("/api/v1/events", event).await, StatusCode::CREATED).await;
        let (user, _) = server.user(MARK, "developer").await;
        let key = server.post("/api/v1/keys", json!({ "name": MARK })).await;
        let key = data(key, StatusCode::CREATED).await;
        let secret = server.request(Method::PUT, &format!("/api/v1/secrets/{MARK}"));
        let secret = secret.json(&json!({ "value": MARK })).send().await.unwrap();
        data(secret, StatusCode::OK).await;
        let bead = json!({ "title": MARK, "description": MARK });
        let bead = data(server.post("/api/v1/beads", bead).await, StatusCode::CREATED).await;
        let convoy = json!({ "name": MARK, "beads": [bead["id"]] });
        let convoy = data(server.post("/api/v1/convoys", convoy).await, StatusCode::CREATED).await;
        // Nobody answers for this model, so the agent is soon at its end; what it was asked is there.
        let agent = json!({ "task": MARK, "model": "nobody-has-it" });
        let agent = data(server.post("/api/v1/agents", agent).await, StatusCode::CREATED).await;
        let letter = json!({ "to": agent["label"], "text": MARK });
        data(server.post("/api/v1/mail", letter).await, StatusCode::CREATED).await;
        let intent = json!({ "text": format!("Fix the typo in {MARK}"), "rules": true });
        let intent = data(server.post("/api/v1/intents", intent).await, StatusCode::CREATED).await;
        let view = json!({ "page": "beads", "name": MARK, "query": "", "shared": true });
        let view = data(server.post("/api/v1/views", view).await, StatusCode::CREATED).await;
        Self {
            view: id(&view),
            intent: id(&intent),
            agent: id(&agent),
            session: agent["sessionId"].as_str().unwrap().to_owned(),
            event: id(&event),
            project: id(&project),
            user,
            key: id(&key),
            bead: id(&bead),
            convoy: id(&convoy),
            _repository: repository,
        }
    }

    /// Fills in the path of an operation with ids of the first tenant.
    fn fill(&self, path: &str) -> String {
        let id = match path.split('/').nth(3) {
            Some("projects") => &self.project,
            Some("users") => &self.user,
            Some("keys") => &self.key,
            Some("beads" | "reviews") => &self.bead,
            Some("convoys") => &self.convoy,
            Some("agents") => &self.agent,
            Some("intents") => &self.intent,
            Some("sessions") => &self.session,
            Some("views") => &self.view,
            _ => &self.event,
        };
        let path = path.replace("{id}", id).replace("{name}", "ours");
        path.replace("{type}", "any").replace("{target}", &self.bead).replace("{number}", "1")
    }
}

/// A body that each changing path takes.
fn body(path: &str) -> Value {
    match path.rsplit('/').next().unwrap_or_default() {
        "rotate" => json!({}),
        "decisions" => json!({ "verdict": "rejected", "all": true }),
        "edits" => json!({ "part": { "path": "theirs", "hunk": 1 }, "text": "theirs" }),
        "apply" | "approve" | "request-changes" | "attempts" | "pick" => json!({}),
        _ if path.contains("/self") => own(path),
        _ if LED.iter().any(|room| path.contains(room)) => led(path),
        "ours" => json!({ "value": "ours" }),
        "password" => json!({ "password": "a long enough one" }),
        "device" => json!({ "name": "tool" }),
        _ if WORK.iter().any(|room| path.contains(room)) => work(path),
        "assign" | "claim" => json!({ "agentId": "theirs" }),
        "heartbeat" => json!({ "token": "x" }),
        "release" => json!({ "force": true }),
        "move" => json!({ "status": "done", "force": true }),
        "comments" => json!({ "text": "theirs" }),
        "links" => json!({ "type": "related", "target": "godel-aaaaa" }),
        "intents" => json!({ "text": "Fix the typo", "rules": true }),
        "answer" if path.contains("/intents/") => json!({ "answer": "theirs" }),
        "start" | "stop" => json!({}),
        "import" if path.contains("/settings/") => {
            json!({ "settings": { "format": "godel-settings/1" }, "dryRun": true })
        }
        "trial" => json!({ "scope": "tenant", "period": "total", "capMicros": 1 }),
        "repositories" => json!({ "folder": "theirs" }),
        _ if path.contains("/views") => json!({ "page": "beads", "name": "theirs", "query": "" }),
        _ if path.contains("/convoys/") && path.ends_with("/beads") => json!({}),
        _ if path.contains("/beads") => json!({ "title": "theirs" }),
        _ if path.contains("/convoys") => json!({ "name": "theirs" }),
        "token" => json!({ "deviceCode": "x" }),
        "decision" => json!({ "userCode": "BCDF-GHJK" }),
        _ if path.contains("/users/") => json!({ "role": "viewer" }),
        _ if path.contains("/users") => json!({ "name": "theirs", "role": "viewer" }),
        _ if path.contains("/tenants/") => json!({ "disabled": true }),
        _ if path.contains("/projects") || path.contains("/keys") || path.contains("/tenants") => {
            json!({ "name": "theirs" })
        }
        _ => json!({ "type": "test:theirs" }),
    }
}

/// The rooms of agents.
const LED: [&str; 7] = ["/agents", "/sessions", "/mail", "/inbox", "/estop", "/snapshots", "/land"];

/// A body that each changing path of agents takes.
fn led(path: &str) -> Value {
    match path.rsplit('/').next().unwrap_or_default() {
        "agents" => json!({ "task": "theirs", "model": "theirs" }),
        "message" => json!({ "text": "theirs" }),
        "mail" => json!({ "to": "worker-1", "text": "theirs" }),
        "fork" if path.contains("/agents/") => json!({ "copies": 1 }),
        _ if path.contains("/sessions/") => json!({ "name": "theirs" }),
        _ => json!({}),
    }
}

/// A body that each changing path of an agent itself takes.
fn own(path: &str) -> Value {
    match path.rsplit('/').next().unwrap_or_default() {
        "todos" => json!({ "todos": [] }),
        "mail" => json!({ "to": "worker-1", "text": "theirs" }),
        "done" => json!({ "summary": "theirs" }),
        _ => json!({ "text": "theirs" }),
    }
}

/// The rooms of the queue, of workflows and of teams.
const WORK: [&str; 8] = [
    "/tasks",
    "/workers",
    "/queue",
    "/dead-letters",
    "/schedules",
    "/workflows",
    "/runs",
    "/teams",
];

/// A body that each changing path of work takes.
fn work(path: &str) -> Value {
    let worker = "01a1e032-219b-76dd-a51c-67e958f1e5a8";
    let team = json!({ "name": "theirs", "roles": [{ "name": "one" }], "size": 1 });
    let source = json!({ "source": "name: theirs\nsteps: [{ id: one }]" });
    match path.rsplit('/').next().unwrap_or_default() {
        "assign" => json!({ "workerId": worker }),
        "complete" if path.contains("/tasks/") => json!({ "workerId": worker, "attempt": 1 }),
        "release" => json!({ "workerId": worker, "attempt": 1 }),
        "fail" => json!({ "workerId": worker, "attempt": 1, "error": "theirs" }),
        "progress" => json!({ "workerId": worker, "attempt": 1, "progress": {} }),
        "spawn" => json!({ "workerId": worker, "attempt": 1, "task": { "title": "theirs" } }),
        "batch" => json!({ "tasks": [{ "title": "theirs" }] }),
        "tasks" => json!({ "title": "theirs" }),
        "workers" => json!({ "name": "theirs" }),
        "answer" => json!({ "step": "one", "approve": true }),
        "scale" => json!({ "size": 2 }),
        "runs" => json!({ "workflow": "none" }),
        "teams" => team,
        "workflows" | "validate" => source,
        "schedules" => {
            json!({ "name": "theirs", "cron": "@daily", "task": { "title": "theirs" } })
        }
        "start" | "cancel" | "retry" | "claim" | "replay" | "heartbeat" => json!({}),
        _ if path.contains("/queue/pools/") => json!({ "paused": false }),
        _ if path.contains("/workers/") => json!({ "state": "paused" }),
        _ if path.contains("/schedules/") => json!({ "paused": true }),
        _ if path.contains("/workflows/") => source,
        _ if path.contains("/teams/") => team,
        _ => json!({}),
    }
}

async fn ask(server: &Running, method: &Method, path: &str, key: &str) -> (StatusCode, String) {
    let mut request = server
        .http
        .request(method.clone(), format!("{}{path}", server.url))
        .header("x-api-key", key)
        .timeout(std::time::Duration::from_secs(2));
    if [Method::POST, Method::PATCH, Method::PUT].contains(method) {
        request = request.json(&body(path));
    }
    match request.send().await {
        Ok(mut answer) => {
            let status = answer.status();
            let mut text = String::new();
            // A stream does not end: what comes within the time is looked at.
            while let Ok(Some(chunk)) = answer.chunk().await {
                text.push_str(&String::from_utf8_lossy(&chunk));
            }
            (status, text)
        }
        Err(error) => panic!("{method} {path}: {error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_shows_one_tenant_what_another_one_has() {
    for server in servers().await {
        let other = server.other_tenant().await;
        let mine = Mine::make(&server).await;
        let document: Value = serde_json::from_str(&godel_server::openapi_json()).unwrap();
        let mut walked = 0;
        for (template, item) in document["paths"].as_object().unwrap() {
            for (verb, operation) in item.as_object().unwrap() {
                let method: Method = verb.to_uppercase().parse().unwrap();
                let mut path = mine.fill(template);
                if template.ends_with("/stream") {
                    path.push_str("?after=0");
                } else if template.ends_with("/lines") {
                    path.push_str("?path=a.txt");
                } else if template.ends_with("/file") {
                    path.push_str("?path=a.png&side=head");
                } else if template.ends_with("/compare") {
                    path.push_str("?left=0&right=0");
                }
                let (status, text) = ask(&server, &method, &path, &other).await;
                assert!(!text.contains(MARK), "{}: {method} {path} leaks: {text}", server.engine);
                if template.contains("/tenants") {
                    assert_eq!(status, 403, "{}: {method} {path}: {text}", server.engine);
                } else if template.contains("/self") {
                    // A person's key is no agent's token.
                    assert_eq!(status, 401, "{}: {method} {path}: {text}", server.engine);
                } else if template.contains("{id}") {
                    assert_eq!(status, 404, "{}: {method} {path}: {text}", server.engine);
                }
                let public = operation["security"] == json!([{}]);
                let (nobody, _) = ask(&server, &method, &path, "godel_sk_nobody").await;
                // A stranger who tries too often is told to wait.
                let refused = nobody == 401 || nobody == 429;
                assert_eq!(
                    refused,
                    !public || template.ends_with("/token"),
                    "{method} {path} for a stranger: {nobody}"
                );
                walked += 1;
            }
        }
        assert!(walked >= 50, "only {walked} operations were walked");
        // And the first tenant's data is still as it was.
        let still =
            data(server.get(&format!("/api/v1/projects/{}", mine.project)).await, StatusCode::OK)
                .await;
        assert_eq!((still["name"].as_str(), still["version"].as_i64()), (Some(MARK), Some(1)));
        let user = format!("/api/v1/users/{}", mine.user);
        let user = data(server.get(&user).await, StatusCode::OK).await;
        assert_eq!((&user["role"], &user["status"]), (&json!("developer"), &json!("active")));
        let secrets = data(server.get("/api/v1/secrets").await, StatusCode::OK).await;
        assert_eq!(secrets["items"][0]["version"], 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_carries_the_events_of_its_own_tenant_only() {
    for server in servers().await {
        let other = server.other_tenant().await;
        let publish = async |key: &str, kind: &str, mark: &str| {
            let body = json!({ "type": kind, "payload": { "mark": mark } });
            let request =
                server.http.post(format!("{}/api/v1/events", server.url)).bearer_auth(key);
            data(request.json(&body).send().await.unwrap(), StatusCode::CREATED).await
        };
        publish(&server.key, "test:old", MARK).await;
        let mut theirs = Socket::open_as(&server, &other).await;
        let mut mine = Socket::open(&server).await;
        for socket in [&mut theirs, &mut mine] {
            socket.subscribe(json!({ "patterns": ["test:*"], "after": 0 })).await;
        }
        // In turns, so that a mix-up would show in either socket.
        let (mut for_me, mut for_them) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            for_me.push(publish(&server.key, "test:new", MARK).await);
            for_them.push(publish(&other, "test:new", "theirs").await);
        }
        let (seen, _) = theirs.events(5).await;
        assert_eq!(seen, for_them, "{}", server.engine);
        let (seen, _) = mine.events(6).await;
        assert_eq!(seen[1..], for_me, "{}", server.engine);
        theirs.send(json!({ "id": "p", "type": "ping" })).await;
        assert_eq!(theirs.next().await["type"], "pong", "nothing else is on its way");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_idempotency_key_of_two_tenants_is_two_keys() {
    for server in servers().await {
        let other = server.other_tenant().await;
        let send = |key: &str, path: &str, body: &Value| {
            let request = server.http.post(format!("{}{path}", server.url)).bearer_auth(key);
            request.header("idempotency-key", "the same text").json(body).send()
        };
        // The same request to the letter: only the tenant tells them apart.
        let body = json!({ "type": "test:once", "payload": { "n": 1 } });
        let mine =
            data(send(&server.key, "/api/v1/events", &body).await.unwrap(), StatusCode::CREATED);
        let mine = mine.await;
        let theirs =
            data(send(&other, "/api/v1/events", &body).await.unwrap(), StatusCode::CREATED);
        let theirs = theirs.await;
        assert_ne!(mine["id"], theirs["id"], "{}", server.engine);
        assert_eq!(theirs["metadata"]["actor"], "user:owner");
        for (key, first) in [(&server.key, &mine), (&other, &theirs)] {
            let again = send(key, "/api/v1/events", &body).await.unwrap();
            assert_eq!(&data(again, StatusCode::CREATED).await, first, "{}", server.engine);
        }
        // Another request under the same text is a reuse for the one, and news for a third.
        let third = server.tenant("third").await;
        let body = json!({ "type": "test:once", "payload": { "mark": MARK } });
        for (key, status) in [(&server.key, 409), (&other, 409), (&third, 201), (&third, 201)] {
            let answer = send(key, "/api/v1/events", &body).await.unwrap();
            assert_eq!(answer.status(), status, "{}", server.engine);
        }
    }
}
