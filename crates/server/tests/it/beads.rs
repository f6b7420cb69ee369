//! Beads and convoys over HTTP, in real repositories.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use godel_beads::{Shelf, ops};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};

/// A repository that is known to a server as a project.
pub(crate) struct Known {
    _folder: tempfile::TempDir,
    path: PathBuf,
    pub(crate) project: String,
}

pub(crate) async fn known(server: &Running, name: &str) -> Known {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repo");
    let init = ["init", "-q", "-b", "main", path.to_str().unwrap()];
    assert!(Command::new("git").args(init).status().unwrap().success());
    let body = json!({ "name": name, "repository": path });
    let project = data(server.post("/api/v1/projects", body).await, StatusCode::CREATED).await;
    let project = project["id"].as_str().unwrap().to_owned();
    Known { _folder: folder, path, project }
}

async fn make(server: &Running, body: Value) -> Value {
    data(server.post("/api/v1/beads", body).await, StatusCode::CREATED).await
}

/// Waits until so many events of beads are told, and returns them, the oldest first.
async fn told(server: &Running, count: usize) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let path =
            r#"/api/v1/events?limit=100&sort=sequence&filter={"type":["bead:*","convoy:*"]}"#;
        let found = data(server.get(path).await, StatusCode::OK).await;
        let items = found["items"].as_array().unwrap().clone();
        if items.len() >= count || begun.elapsed() > Duration::from_secs(20) {
            // Whatever is told twice would come soon.
            tokio::time::sleep(Duration::from_millis(600)).await;
            let again = data(server.get(path).await, StatusCode::OK).await;
            return again["items"].as_array().unwrap().clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bead_is_made_found_changed_and_removed() {
    for server in servers().await {
        let repo = known(&server, "web").await;
        let new = json!({ "title": "Fix login", "type": "bug", "priority": "high" });
        let made = server.post("/api/v1/beads", new).await;
        let (etag, place) = (made.headers()["etag"].clone(), made.headers()["location"].clone());
        let bead = data(made, StatusCode::CREATED).await;
        let place = place.to_str().unwrap();
        assert_eq!(bead["projectId"], json!(repo.project));
        let short = &place[..place.len() - 1];
        let found = server.get(short).await;
        assert_eq!(found.headers()["etag"], etag, "the beginning of an id is enough");
        assert_eq!(data(found, StatusCode::OK).await["title"], "Fix login");
        let same = server.request(Method::GET, place).header("if-none-match", &etag);
        assert_eq!(same.send().await.unwrap().status(), 304);
        let patch = |body: Value| {
            server.request(Method::PATCH, place).header("if-match", &etag).json(&body).send()
        };
        let changed = data(patch(json!({ "title": "Mend login" })).await.unwrap(), StatusCode::OK);
        assert_eq!(changed.await["title"], "Mend login");
        let stale = patch(json!({ "title": "late" })).await.unwrap();
        failure(stale, 412, "version_mismatch").await;
        let after = data(server.get(place).await, StatusCode::OK).await;
        assert_eq!(after["title"], "Mend login", "a stale write changes nothing");
        let put = server.request(Method::PUT, place).json(&json!({ "description": "why" }));
        assert_eq!(data(put.send().await.unwrap(), StatusCode::OK).await["description"], "why");
        let said = server.post(&format!("{place}/comments"), json!({ "text": "seen" })).await;
        let said = data(said, StatusCode::CREATED).await;
        assert_eq!(said["comments"][0]["text"], "seen");
        let log = data(server.get(&format!("{place}/log")).await, StatusCode::OK).await;
        assert_eq!(log.as_array().unwrap().len(), 4);
        // It is in git, and a program beside the server sees it.
        let mut shelf = Shelf::open(&repo.path).unwrap();
        assert_eq!(shelf.ready(5).unwrap()[0].title, "Mend login");
        let gone = server.request(Method::DELETE, place).send().await.unwrap();
        assert_eq!(gone.status(), 204);
        failure(server.get(place).await, 404, "bead_not_found").await;
        failure(server.post("/api/v1/beads", json!({ "title": " " })).await, 400, "invalid_field")
            .await;
        let unknown = json!({ "title": "x", "type": "story" });
        failure(server.post("/api/v1/beads", unknown).await, 400, "invalid_field").await;
        failure(server.get("/api/v1/beads/..%2f..%2fetc").await, 404, "bead_not_found").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_told_once_whoever_made_it() {
    for server in servers().await {
        let repo = known(&server, "web").await;
        let bead = make(&server, json!({ "title": "from the api" })).await;
        let id = bead["id"].as_str().unwrap().to_owned();
        let mut shelf = Shelf::open(&repo.path).unwrap();
        let of = id.clone();
        shelf.write("ben", move |draft| ops::comment(draft, &of, "from beside")).unwrap();
        let events = told(&server, 2).await;
        let kinds: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["bead:created", "bead:commented"], "{}", server.engine);
        assert_eq!(events[1]["metadata"]["actor"], "ben");
        assert_eq!(events[1]["metadata"]["beadId"], json!(id));
        assert_eq!(events[0]["payload"]["bead"]["title"], "from the api");
        // What happens while no server runs is told by the next one.
        let night = move || {
            let of = id.clone();
            shelf.write("ben", move |draft| ops::comment(draft, &of, "in the night")).unwrap();
        };
        let server = server.again(night).await;
        let events = told(&server, 3).await;
        assert_eq!(events.len(), 3, "{}: {events:?}", server.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_claims_wins() {
    for server in servers().await {
        let _repo = known(&server, "web").await;
        let bead = make(&server, json!({ "title": "wanted" })).await;
        let path = format!("/api/v1/beads/{}/claim", bead["id"].as_str().unwrap());
        let claims = (0..24).map(|n| {
            let body = json!({ "agentId": format!("worker-{n}") });
            server.request(Method::POST, &path).json(&body).send()
        });
        let claims: Vec<_> = futures_util::future::join_all(claims).await;
        let statuses: Vec<u16> =
            claims.into_iter().map(|claim| claim.unwrap().status().as_u16()).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 23, "{statuses:?}");
        let next = server.post("/api/v1/beads/claim", json!({ "agentId": "late" })).await;
        failure(next, 409, "not_ready").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_makes_one_bead() {
    for server in servers().await {
        let _repo = known(&server, "web").await;
        let post = || {
            let request = server.request(Method::POST, "/api/v1/beads");
            request.header("idempotency-key", "k1").json(&json!({ "title": "once" })).send()
        };
        let one = data(post().await.unwrap(), StatusCode::CREATED).await;
        let two = data(post().await.unwrap(), StatusCode::CREATED).await;
        assert_eq!(one["id"], two["id"]);
        let all = data(server.get("/api/v1/beads").await, StatusCode::OK).await;
        assert_eq!(all["items"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn beads_of_all_projects_are_one_list_and_a_convoy_has_waves() {
    for server in servers().await {
        let (web, app) = (known(&server, "web").await, known(&server, "app").await);
        failure(server.post("/api/v1/beads", json!({ "title": "x" })).await, 400, "invalid_field")
            .await;
        let mut ids = Vec::new();
        for (n, project) in [&web, &app, &web, &app, &web].iter().enumerate() {
            let priority = ["low", "critical", "high", "medium", "critical"][n];
            let body = json!({ "title": format!("bead {n}"), "priority": priority,
                "projectId": project.project });
            ids.push(make(&server, body).await["id"].as_str().unwrap().to_owned());
        }
        let mut seen = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = server.get(&format!("/api/v1/beads?limit=2{cursor}")).await;
            let page = data(page, StatusCode::OK).await;
            seen.extend(page["items"].as_array().unwrap().iter().map(|b| b["title"].clone()));
            match page["pagination"]["cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, ["bead 1", "bead 4", "bead 2", "bead 3", "bead 0"].map(Value::from));
        let link = json!({ "type": "blocks", "target": ids[2] });
        let linked = server.post(&format!("/api/v1/beads/{}/links", ids[0]), link).await;
        data(linked, StatusCode::CREATED).await;
        let circle = json!({ "type": "blocks", "target": ids[0] });
        let circle = server.post(&format!("/api/v1/beads/{}/links", ids[2]), circle).await;
        failure(circle, 400, "link_cycle").await;
        let body = json!({ "name": "Sprint 1", "projectId": web.project,
            "beads": [ids[0], ids[2], ids[4]] });
        let convoy = data(server.post("/api/v1/convoys", body).await, StatusCode::CREATED).await;
        let path = format!("/api/v1/convoys/{}", convoy["id"].as_str().unwrap());
        let waves = data(server.get(&format!("{path}/waves")).await, StatusCode::OK).await;
        let sizes: Vec<usize> = waves["waves"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| w.as_array().unwrap().len())
            .collect();
        assert_eq!(sizes, [2, 1]);
        for id in [&ids[0], &ids[2], &ids[4]] {
            let close = json!({ "resolution": "done", "reason": "tried it" });
            let moved = server.post(&format!("/api/v1/beads/{id}/move"), close).await;
            data(moved, StatusCode::OK).await;
        }
        let convoy = data(server.get(&path).await, StatusCode::OK).await;
        assert_eq!(
            (&convoy["status"], &convoy["progress"]["percent"]),
            (&json!("completed"), &json!(100))
        );
        let ready =
            data(server.get("/api/v1/beads/ready?explain=true").await, StatusCode::OK).await;
        assert_eq!(ready["items"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_is_earned_and_others_things_are_left_alone() {
    for server in servers().await {
        let _repo = known(&server, "web").await;
        let dev = server.user("dev", "developer").await.1;
        let viewer = server.user("vera", "viewer").await.1;
        let other = server.other_tenant().await;
        let bead = make(&server, json!({ "title": "of the owner" })).await;
        let path = format!("/api/v1/beads/{}", bead["id"].as_str().unwrap());
        let moved = server.post(&format!("{path}/move"), json!({ "status": "review" })).await;
        let refused = failure(moved, 409, "status_not_earned").await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("no branch"), "{refused}");
        let as_ = |key: &str, method: Method, path: &str, body: Value| {
            let url = format!("{}{path}", server.url);
            server.http.request(method, url).bearer_auth(key).json(&body).send()
        };
        let patch = json!({ "title": "mine now" });
        let dev_patch = as_(&dev, Method::PATCH, &path, patch.clone()).await.unwrap();
        failure(dev_patch, 403, "forbidden").await;
        let own =
            as_(&dev, Method::POST, "/api/v1/beads", json!({ "title": "own" })).await.unwrap();
        let own = data(own, StatusCode::CREATED).await;
        let own = format!("/api/v1/beads/{}", own["id"].as_str().unwrap());
        data(as_(&dev, Method::PATCH, &own, patch.clone()).await.unwrap(), StatusCode::OK).await;
        let viewer_made =
            as_(&viewer, Method::POST, "/api/v1/beads", json!({ "title": "x" })).await;
        failure(viewer_made.unwrap(), 403, "forbidden").await;
        data(server.ask_as(&viewer, Method::GET, &path).await, StatusCode::OK).await;
        failure(server.ask_as(&other, Method::GET, &path).await, 404, "bead_not_found").await;
        let acts = server.get(r#"/api/v1/audit?filter={"action":"bead:create"}"#).await;
        assert_eq!(data(acts, StatusCode::OK).await["items"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bead_that_is_put_is_what_was_put_and_nothing_else() {
    for server in servers().await {
        let _repo = known(&server, "web").await;
        let new =
            json!({ "title": "a", "metadata": { "team": "web", "size": 3 }, "labels": ["x"] });
        let bead = make(&server, new).await;
        let path = format!("/api/v1/beads/{}", bead["id"].as_str().unwrap());
        let patched =
            server.request(Method::PATCH, &path).json(&json!({ "metadata": { "size": 4 } }));
        let patched = data(patched.send().await.unwrap(), StatusCode::OK).await;
        assert_eq!(patched["metadata"], json!({ "team": "web", "size": 4 }), "a patch adds");
        let put = json!({ "title": "b", "metadata": { "size": 5 } });
        let put = server.request(Method::PUT, &path).json(&put).send().await.unwrap();
        let put = data(put, StatusCode::OK).await;
        assert_eq!((&put["metadata"], &put["labels"]), (&json!({ "size": 5 }), &json!([])));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bead_that_is_put_off_is_not_ready_until_that_is_taken_back() {
    for server in servers().await {
        let repo = known(&server, "web").await;
        let bead = make(&server, json!({ "title": "later" })).await;
        let path = format!("/api/v1/beads/{}", bead["id"].as_str().unwrap());
        let patch = async |until: &str| {
            let sent = server.request(Method::PATCH, &path).json(&json!({ "defer": until }));
            sent.send().await.unwrap()
        };
        let ready = async || {
            let found = data(server.get("/api/v1/beads/ready").await, StatusCode::OK).await;
            found["items"].as_array().unwrap().len()
        };
        assert_eq!(ready().await, 1);
        for wrong in ["tomorrow", "2001-01-01T00:00:00Z"] {
            let refused = failure(patch(wrong).await, 400, "invalid_field").await;
            assert_eq!(refused["error"]["field"], "defer", "{wrong}");
        }
        let off = data(patch("2999-01-01T00:00:00Z").await, StatusCode::OK).await;
        assert_eq!(off["defer"], "2999-01-01T00:00:00Z");
        assert_eq!(ready().await, 0);
        // The command line beside the server reads the same.
        assert!(Shelf::open(&repo.path).unwrap().ready(5).unwrap().is_empty());
        let back = data(patch("").await, StatusCode::OK).await;
        assert_eq!((back.get("defer"), ready().await), (None, 1));
        // Whoever puts a bead back as it was read may hold a time that is over meanwhile.
        let read = json!({ "title": "later", "defer": "2001-01-01T00:00:00Z" });
        let put = server.request(Method::PUT, &path).json(&read).send().await.unwrap();
        assert_eq!(data(put, StatusCode::OK).await.get("defer"), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_remembered_is_in_the_repository_for_everybody() {
    for server in servers().await {
        let repo = known(&server, "web").await;
        let say = async |body: Value| server.post("/api/v1/memories", body).await;
        let first = json!({ "text": "Tests need Redis.", "name": "redis" });
        let first = data(say(first).await, StatusCode::CREATED).await;
        assert_eq!((&first["id"], &first["projectId"]), (&json!("redis"), &json!(repo.project)));
        let again = json!({ "text": "Tests need Redis 7.", "name": "redis" });
        data(say(again).await, StatusCode::CREATED).await;
        for wrong in [json!({ "text": " " }), json!({ "text": "x", "name": "No Name" })] {
            failure(say(wrong).await, 400, "invalid_field").await;
        }
        let list = async |query: &str| {
            let path = format!("/api/v1/memories{query}");
            data(server.get(&path).await, StatusCode::OK).await["items"].clone()
        };
        let all = list("").await;
        assert_eq!(
            (all.as_array().unwrap().len(), &all[0]["text"]),
            (1, &json!("Tests need Redis 7."))
        );
        assert_eq!(list(&format!("?projectId={}", repo.project)).await, all);
        assert_eq!(
            Shelf::open(&repo.path).unwrap().memories().unwrap()[0].text,
            "Tests need Redis 7."
        );
        let (_, viewer) = server.user("guest", "viewer").await;
        let denied = server.ask_as(&viewer, Method::DELETE, "/api/v1/memories/redis").await;
        failure(denied, 403, "forbidden").await;
        let gone = server.request(Method::DELETE, "/api/v1/memories/redis").send().await.unwrap();
        assert_eq!(gone.status(), 204);
        let twice = server.request(Method::DELETE, "/api/v1/memories/redis").send().await.unwrap();
        assert_eq!(twice.status(), 404);
        assert_eq!(list("").await, json!([]));
    }
}

/// Two projects that are clones of one repository have the same beads; each is listed once.
#[tokio::test(flavor = "multi_thread")]
async fn pages_show_everything_once_though_projects_are_clones_and_convoys_come_and_go() {
    for server in servers().await {
        let repo = known(&server, "web").await;
        for title in ["a", "b", "c"] {
            make(&server, json!({ "title": title, "projectId": repo.project })).await;
            let body = json!({ "name": title, "projectId": repo.project });
            data(server.post("/api/v1/convoys", body).await, StatusCode::CREATED).await;
        }
        let copy = repo.path.with_extension("copy");
        let clone =
            ["clone", "-q", "--mirror", repo.path.to_str().unwrap(), copy.to_str().unwrap()];
        assert!(Command::new("git").args(clone).status().unwrap().success());
        let body = json!({ "name": "copy", "repository": copy });
        data(server.post("/api/v1/projects", body).await, StatusCode::CREATED).await;
        for (list, name) in [("beads", "title"), ("convoys", "name")] {
            let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
            loop {
                let path = format!("/api/v1/{list}?limit=1{cursor}");
                let page = data(server.get(&path).await, StatusCode::OK).await;
                for item in page["items"].as_array().unwrap() {
                    seen.push((
                        item[name].as_str().unwrap().to_owned(),
                        item["projectId"].to_string(),
                    ));
                }
                pages += 1;
                if pages == 1 && list == "convoys" {
                    // One more on top must not move those that are to come.
                    let body = json!({ "name": "late", "projectId": repo.project });
                    data(server.post("/api/v1/convoys", body).await, StatusCode::CREATED).await;
                }
                match page["pagination"]["cursor"].as_str() {
                    Some(next) if pages < 20 => cursor = format!("&cursor={next}"),
                    _ => break,
                }
            }
            seen.sort();
            let before = seen.len();
            seen.dedup();
            assert_eq!((seen.len(), before), (6, 6), "{list}: {seen:?}");
        }
    }
}
