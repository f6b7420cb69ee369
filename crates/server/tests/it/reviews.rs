//! Reviews over REST: pages, both layouts, decisions that are out of date, and who may what.

use godel_beads::ops::{self, Advance, NewBead};
use godel_beads::{Evidence, Shelf};
use godel_model::BeadStatus;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};

/// A bead in review, whose branch changes two files.
struct Work {
    id: String,
    folder: tempfile::TempDir,
}

impl Work {
    async fn make(server: &Running) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = Self { id: String::new(), folder };
        let text: String = (1..=40).map(|at| format!("line {at}\n")).collect();
        work.git(&["init", "-q", "-b", "main"]);
        work.commit(&[("a.txt", &text), ("b.txt", "one\n")], "first");
        let project = json!({ "name": "app", "repository": work.folder.path() });
        data(server.post("/api/v1/projects", project).await, StatusCode::CREATED).await;
        let bead = server.post("/api/v1/beads", json!({ "title": "Change it" })).await;
        let bead = data(bead, StatusCode::CREATED).await;
        let id = bead["id"].as_str().unwrap().to_owned();
        work.git(&["switch", "-q", "-c", &format!("bead/{id}")]);
        let changed = text.replace("line 5\n", "five\n").replace("line 30\n", "thirty\nmore\n");
        work.commit(&[("a.txt", &changed), ("b.txt", "two\n")], "work");
        work.git(&["switch", "-q", "main"]);
        let review = json!({ "status": "review", "force": true });
        let moved = server.post(&format!("/api/v1/beads/{id}/move"), review).await;
        data(moved, StatusCode::OK).await;
        Self { id, ..work }
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(self.folder.path());
        git.args(["-c", "user.name=A", "-c", "user.email=a@b"]).args(arguments);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, files: &[(&str, &str)], message: &str) {
        for (path, text) in files {
            std::fs::write(self.folder.path().join(path), text).unwrap();
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/v1/reviews/{}{rest}", self.id)
    }
}

async fn get(server: &Running, path: &str) -> Value {
    data(server.get(path).await, StatusCode::OK).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_read_page_by_page_and_side_by_side() {
    for server in servers().await {
        let work = Work::make(&server).await;
        let list = get(&server, "/api/v1/reviews").await;
        let row = &list["items"][0];
        assert_eq!(
            (&row["bead"], &row["files"]),
            (&json!(work.id), &json!(2)),
            "{}",
            server.engine
        );
        assert_eq!((&row["added"], &row["removed"]), (&json!(4), &json!(3)));
        let first = get(&server, &work.path("/diff?limit=1&view=split")).await;
        assert_eq!((&first["total"], &first["next"]), (&json!(2), &json!(1)));
        let file = &first["files"][0];
        assert_eq!((&file["path"], &file["hunks"][1]["number"]), (&json!("a.txt"), &json!(2)));
        let rows = file["hunks"][1]["rows"].as_array().unwrap();
        assert_eq!(rows[3], json!({ "old": 3, "new": 4 }), "what went stands beside what came");
        assert_eq!(rows[4], json!({ "new": 5 }));
        let second = get(&server, &work.path("/diff?limit=1&from=1")).await;
        assert_eq!((&second["files"][0]["path"], &second["next"]), (&json!("b.txt"), &Value::Null));
        assert!(second["files"][0]["hunks"][0].get("rows").is_none());
        let one = get(&server, &work.path("/diff?path=b.txt")).await;
        assert_eq!(one["files"].as_array().unwrap().len(), 1);
        failure(server.get(&work.path("/diff?path=c.txt")).await, 409, "review_refused").await;
        failure(server.get(&work.path("/diff?limit=0")).await, 400, "invalid_field").await;
        failure(server.get(&work.path("/diff?view=sideways")).await, 400, "invalid_field").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_about_another_commit_is_refused_and_one_can_be_taken_back() {
    for server in servers().await {
        let work = Work::make(&server).await;
        let decisions = work.path("/decisions");
        let seen = work.git(&["rev-parse", &format!("bead/{}", work.id)]);
        let part = json!([{ "path": "a.txt", "hunk": 2, "lines": { "from": 3, "to": 3 } }]);
        let wanted = json!({ "verdict": "rejected", "parts": part, "commit": seen });
        let review = data(server.post(&decisions, wanted.clone()).await, StatusCode::OK).await;
        assert_eq!(review["tally"], json!({ "accepted": 0, "rejected": 1, "undecided": 2 }));
        let diff = get(&server, &work.path("/diff?path=a.txt")).await;
        assert_eq!(diff["files"][0]["hunks"][1]["standing"], "mixed");
        // The patch has all but the line that was rejected.
        let patch = server.get(&work.path("/patch?undecided=keep")).await;
        assert_eq!(patch.headers()["content-type"], "application/octet-stream");
        let patch = patch.text().await.unwrap();
        assert!(patch.contains("+thirty\n") && !patch.contains("+more\n"), "{patch}");
        let both = json!({ "verdict": "rejected", "all": true, "parts": part });
        failure(server.post(&decisions, both).await, 400, "invalid_field").await;
        let neither = json!({ "verdict": "maybe", "all": true });
        failure(server.post(&decisions, neither).await, 400, "invalid_field").await;
        // The agent pushes: what was looked at is not what is there.
        work.git(&["switch", "-q", &format!("bead/{}", work.id)]);
        work.commit(&[("b.txt", "three\n")], "again");
        work.git(&["switch", "-q", "main"]);
        failure(server.post(&decisions, wanted).await, 409, "review_refused").await;
        let review = get(&server, &work.path("")).await;
        assert_eq!(review["decisions"][0]["bound"], "bound", "{}", server.engine);
        let undo = server.request(Method::DELETE, &decisions).send().await.unwrap();
        let review = data(undo, StatusCode::OK).await;
        assert_eq!(review["decisions"], json!([]));
        let undo = server.request(Method::DELETE, &decisions).send().await.unwrap();
        failure(undo, 409, "review_refused").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_outside_of_hunks_are_read_of_files_of_the_change_only() {
    for server in servers().await {
        let work = Work::make(&server).await;
        let found = get(&server, &work.path("/lines?path=a.txt&from=15&to=16")).await;
        assert_eq!(found["lines"][1], json!({ "number": 16, "text": "line 16" }));
        assert_eq!((&found["total"], &found["next"]), (&json!(41), &Value::Null));
        let old = get(&server, &work.path("/lines?path=a.txt&side=old&from=30&to=90")).await;
        assert_eq!((&old["total"], &old["lines"][0]["text"]), (&json!(40), &json!("line 30")));
        let head = work.git(&["rev-parse", &format!("bead/{}", work.id)]);
        get(&server, &work.path(&format!("/lines?path=b.txt&commit={head}"))).await;
        let moved = "/lines?path=b.txt&commit=0000000000000000000000000000000000000000";
        failure(server.get(&work.path(moved)).await, 409, "review_refused").await;
        for other in ["c.txt", ".git/config", "../a.txt", "/etc/passwd"] {
            let path = work.path(&format!("/lines?path={other}"));
            failure(server.get(&path).await, 409, "review_refused").await;
        }
        for bad in ["from=0", "from=2&to=1", "from=1&to=1001", "side=left", "from=x"] {
            let path = work.path(&format!("/lines?path=a.txt&{bad}"));
            assert_eq!(server.get(&path).await.status(), 400, "{bad}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_applied_is_taken_back_and_a_conflict_shows_both_sides() {
    for server in servers().await {
        let work = Work::make(&server).await;
        let branch = format!("bead/{}", work.id);
        let before = work.git(&["rev-parse", &branch]);
        let remove = |path: &str| server.request(Method::DELETE, &work.path(path)).send();
        failure(remove("/apply").await.unwrap(), 409, "review_refused").await;
        let part = json!([{ "path": "b.txt", "hunk": 1 }]);
        let wanted = json!({ "verdict": "rejected", "parts": part });
        data(server.post(&work.path("/decisions"), wanted).await, StatusCode::OK).await;
        let keep = json!({ "undecided": "keep" });
        let done = server.post(&work.path("/apply"), keep.clone()).await;
        let commit = data(done, StatusCode::OK).await["commit"].clone();
        let shown = get(&server, &work.path("")).await["applied"].clone();
        assert_eq!((&shown["commit"], &shown["before"]), (&commit, &json!(before)));
        let undone = data(remove("/apply").await.unwrap(), StatusCode::OK).await;
        let now = work.git(&["rev-parse", &branch]);
        assert_eq!((&undone["commit"], undone["commit"] != commit), (&json!(now), true));
        assert_eq!(work.git(&["diff", "--stat", &before, &now]), "", "the files are as before");
        let review = get(&server, &work.path("")).await;
        assert!(review.get("applied").is_none(), "{review}");
        assert_eq!(review["decisions"][0]["bound"], "bound");
        // What comes after an apply is never taken back with it.
        data(server.post(&work.path("/apply"), keep).await, StatusCode::OK).await;
        work.git(&["switch", "-q", &branch]);
        work.commit(&[("b.txt", "three\n")], "again");
        work.git(&["switch", "-q", "main"]);
        failure(remove("/apply").await.unwrap(), 409, "review_refused").await;
        assert_eq!(get(&server, &work.path("/conflicts")).await["files"], json!([]));
        work.commit(&[("b.txt", "another\n")], "drift");
        let found = get(&server, &work.path("/conflicts")).await;
        let spot = &found["files"][0]["spots"][0];
        assert_eq!((&spot["target"], &spot["work"]), (&json!(["another"]), &json!(["three"])));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_only_looks_decides_nothing() {
    for server in servers().await {
        let work = Work::make(&server).await;
        let (_, key) = server.user("looks", "viewer").await;
        for path in ["", "/diff", "/patch", "/lines?path=a.txt", "/conflicts"] {
            let answer = server.ask_as(&key, Method::GET, &work.path(path)).await;
            assert_eq!(answer.status(), 200, "{path}");
        }
        let bodies = [
            ("/comments", json!({ "text": "mine" })),
            ("/decisions", json!({ "verdict": "accepted", "all": true })),
            ("/edits", json!({ "part": { "path": "a.txt", "hunk": 1 }, "text": "mine" })),
            ("/apply", json!({})),
            ("/approve", json!({})),
            ("/request-changes", json!({ "text": "mine" })),
        ];
        for (path, body) in bodies {
            let url = format!("{}{}", server.url, work.path(path));
            let answer = server.http.post(url).bearer_auth(&key).json(&body).send().await.unwrap();
            assert_eq!(answer.status(), 403, "{path}");
        }
        let review = get(&server, &work.path("")).await;
        assert_eq!((&review["decisions"], &review["comments"]), (&json!([]), &json!([])));
    }
}

/// The smallest picture there is: one dot, in a given colour of grey.
fn dot(grey: u8) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n".as_slice(), &[0, 0, 0, 13, b'I', b'H', b'D', b'R', grey]].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_shown_as_it_was_and_as_it_is_and_nothing_else_is() {
    for server in servers().await {
        let work = Work::make(&server).await;
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(work.folder.path().join(name), bytes).unwrap();
        };
        write("logo.png", &dot(1));
        work.commit(&[], "a picture");
        work.git(&["switch", "-q", &format!("bead/{}", work.id)]);
        work.git(&["rebase", "-q", "main"]);
        write("logo.png", &dot(2));
        write("fresh.gif", b"GIF89a..");
        write("lies.png", b"<html><script>alert(1)</script>");
        write("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>");
        write("huge.png", &[dot(3), vec![0; 5 << 20]].concat());
        work.commit(&[], "pictures");
        work.git(&["switch", "-q", "main"]);
        let see = async |query: &str| server.get(&work.path(&format!("/file?{query}"))).await;
        for (query, bytes, kind) in [
            ("path=logo.png&side=base", dot(1), "image/png"),
            ("path=logo.png&side=head", dot(2), "image/png"),
            ("path=logo.png", dot(2), "image/png"),
            ("path=fresh.gif", b"GIF89a..".to_vec(), "image/gif"),
        ] {
            let answer = see(query).await;
            assert_eq!(answer.status(), 200, "{}: {query}", server.engine);
            let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
            assert_eq!(header("content-type"), kind);
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
            assert_eq!(answer.bytes().await.unwrap(), bytes, "{query}");
        }
        for query in [
            "path=lies.png",
            "path=drawing.svg",
            "path=huge.png",
            "path=fresh.gif&side=base",
            "path=a.txt",
            "path=README.md",
            "path=../secret.png",
            "path=logo.png&content=0123456789012345678901234567890123456789",
        ] {
            let refused = failure(see(query).await, 409, "review_refused").await;
            assert!(refused["error"]["hint"].is_string(), "{query}: {refused}");
        }
        failure(see("path=logo.png&side=old").await, 400, "invalid_field").await;
        let other = server.other_tenant().await;
        let theirs = server.ask_as(&other, Method::GET, &work.path("/file?path=logo.png")).await;
        failure(theirs, 404, "bead_not_found").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_waited_longest_is_first_of_more_than_anybody_looks_at_once() {
    const NEWER: usize = 1_005;
    for server in servers().await {
        let work = Work::make(&server).await;
        let mut shelf = Shelf::open(work.folder.path()).unwrap();
        shelf
            .write("kim", |draft| {
                for number in 0..NEWER {
                    let title = format!("newer {number}");
                    let bead = ops::create(draft, &NewBead { title, ..NewBead::default() })?;
                    let wanted = Advance {
                        to: BeadStatus::Review,
                        token: None,
                        force: Some("to have many".to_owned()),
                        evidence: Evidence::default(),
                    };
                    ops::advance(draft, &bead.id, &wanted)?;
                }
                Ok(())
            })
            .unwrap();
        drop(shelf);
        let first = get(&server, "/api/v1/reviews?limit=1").await;
        assert_eq!(first["items"][0]["bead"], work.id, "{}", server.engine);
        let cursor = first["pagination"]["cursor"].as_str().unwrap();
        let mut seen = std::collections::BTreeSet::from([work.id.clone()]);
        let mut next = Some(cursor.to_owned());
        for _ in 0..3 {
            let path = format!("/api/v1/reviews?limit=2&cursor={}", next.unwrap());
            let page = get(&server, &path).await;
            let items = page["items"].as_array().unwrap();
            assert_eq!(items.len(), 2);
            let fresh =
                items.iter().all(|row| seen.insert(row["bead"].as_str().unwrap().to_owned()));
            assert!(fresh, "a page begins behind the one before: {page}");
            next = page["pagination"]["cursor"].as_str().map(str::to_owned);
        }
        let other = server.get(&format!("/api/v1/reviews?cursor={}x", next.unwrap())).await;
        failure(other, 400, "invalid_cursor").await;
        assert_eq!(get(&server, "/api/v1/reviews?limit=100").await["pagination"]["hasMore"], true);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_was_there_before_tells_what_was_pushed_since() {
    for server in servers().await {
        let work = Work::make(&server).await;
        let sizes = async |path: &str| -> Vec<Value> {
            let list = get(&server, path).await;
            let size = |row: &Value| json!([row["files"], row["added"], row["removed"]]);
            list["items"].as_array().unwrap().iter().map(size).collect()
        };
        let waiting = "/api/v1/reviews";
        assert_eq!(sizes(waiting).await, [json!([2, 4, 3])], "{}", server.engine);
        work.git(&["switch", "-q", &format!("bead/{}", work.id)]);
        work.commit(&[("c.txt", "new\nlines\n")], "more work");
        assert_eq!(sizes(waiting).await, [json!([3, 6, 3])]);
        // What comes to the branch that it is for is no part of it; what is taken over from there is none any more.
        work.git(&["switch", "-q", "main"]);
        work.commit(&[("c.txt", "new\nlines\n"), ("d.txt", "d\n")], "others had it first");
        assert_eq!(sizes(waiting).await, [json!([3, 6, 3])]);
        work.git(&["switch", "-q", &format!("bead/{}", work.id)]);
        work.git(&["merge", "-q", "-m", "both", "main"]);
        assert_eq!(sizes(waiting).await, [json!([2, 4, 3])]);
        // The same is told of work that is still done.
        let doing = "/api/v1/reviews?status=in-progress";
        assert_eq!(sizes(doing).await, Vec::<Value>::new());
        let back = json!({ "status": "in-progress", "force": true, "reason": "more to do" });
        let moved = server.post(&format!("/api/v1/beads/{}/move", work.id), back).await;
        data(moved, StatusCode::OK).await;
        assert_eq!(sizes(doing).await, [json!([2, 4, 3])]);
        assert_eq!(sizes(waiting).await, Vec::<Value>::new());
        let other = server.get("/api/v1/reviews?status=done").await;
        failure(other, 400, "invalid_field").await;
    }
}
