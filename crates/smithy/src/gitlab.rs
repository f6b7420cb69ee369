//! How GitLab answers.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::description::Operation;
use crate::github::Answer;
use crate::world::{How, No, Pull, Standing, World};

/// Does what an operation asks for.
pub(crate) fn act(
    world: &mut World,
    at: &str,
    operation: &Operation,
    (query, body): (&[(String, String)], &Value),
) -> Answer {
    let values = &operation.values;
    if percent_decode_str(&values[0]).decode_utf8_lossy() != world.repo.as_str() {
        return (404, json!({ "message": "404 Project Not Found" }));
    }
    let number = values.get(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let tail = operation.path.trim_start_matches("/projects/{id}/merge_requests");
    match (operation.method.as_str(), tail) {
        ("get", "") => list(world, at, query),
        ("post", "") => open(world, at, body),
        _ if world.pull(number).is_none() => (404, json!({ "message": "404 Not found" })),
        ("get", "/{merge_request_iid}") => (200, one(world, at, number)),
        ("put", "/{merge_request_iid}") => edit(world, at, number, body),
        ("put", "/{merge_request_iid}/merge") => merge(world, at, number, body),
        ("get", "/{merge_request_iid}/approvals") => approvals(world, number),
        ("post", "/{merge_request_iid}/notes") => {
            let text = body["body"].as_str().unwrap_or_default().to_owned();
            if let Some(pull) = world.pull(number) {
                pull.comments.push(text.clone());
            }
            (201, json!({ "body": text }))
        }
        other => (500, json!({ "message": format!("{other:?} is not played") })),
    }
}

fn one(world: &World, at: &str, number: u64) -> Value {
    let found = world.pulls.iter().find(|one| one.number == number);
    found.map_or(Value::Null, |pull| shape(world, at, pull))
}

fn shape(world: &World, at: &str, pull: &Pull) -> Value {
    let (open, clean) = (pull.standing == Standing::Open, world.is_clean(pull));
    let of = |how: How| {
        let merged = pull.merged.as_ref().filter(|(_, done)| *done == how);
        merged.map_or(Value::Null, |(commit, _)| json!(commit))
    };
    let worst = ["failure", "pending", "success"]
        .into_iter()
        .find(|state| world.checks.iter().any(|(_, one)| one == state));
    let status = worst.map(|state| match state {
        "failure" => "failed",
        "pending" => "running",
        _ => "success",
    });
    let wants = pull.reviews.iter().any(|(_, word)| *word == "CHANGES_REQUESTED");
    let detailed = match (open, clean, status) {
        (false, ..) => "not_open",
        (true, false, _) => "conflict",
        (true, true, _) if wants => "requested_changes",
        (true, true, Some("running")) => "ci_still_running",
        (true, true, Some("failed")) => "ci_must_pass",
        (true, true, _) => "mergeable",
    };
    let head = world.head(pull);
    json!({
        "id": 1_000 + pull.number, "iid": pull.number, "project_id": 3,
        "title": pull.title, "description": pull.body,
        "web_url": format!("{at}/{}/-/merge_requests/{}", world.repo, pull.number),
        "state": match pull.standing {
            Standing::Open => "opened",
            Standing::Merged => "merged",
            Standing::Closed => "closed",
        },
        "merged_at": pull.merged.as_ref().map(|_| "2026-01-02T03:04:05.678Z"),
        "source_branch": pull.branch, "target_branch": pull.base, "sha": head, "draft": false,
        "merge_commit_sha": of(How::Merge), "squash_commit_sha": of(How::Squash),
        "has_conflicts": open && !clean, "detailed_merge_status": detailed,
        "head_pipeline": status.map(|status| json!({ "id": 31, "sha": head, "status": status })),
    })
}

fn list(world: &World, at: &str, query: &[(String, String)]) -> Answer {
    let asked =
        |name: &str| query.iter().find(|(one, _)| one == name).map(|(_, value)| value.clone());
    let fits = |pull: &&Pull| {
        let state = one(world, at, pull.number)["state"].clone();
        asked("source_branch").is_none_or(|wanted| wanted == pull.branch)
            && asked("target_branch").is_none_or(|wanted| wanted == pull.base)
            && asked("state").is_none_or(|wanted| wanted == "all" || json!(wanted) == state)
    };
    let short = |pull: &Pull| {
        let mut shown = shape(world, at, pull);
        // A list tells nothing of pipelines.
        shown.as_object_mut().map(|fields| fields.remove("head_pipeline"));
        shown
    };
    let found: Vec<Value> = world.pulls.iter().rev().filter(fits).map(short).collect();
    (200, Value::Array(found))
}

fn open(world: &mut World, at: &str, body: &Value) -> Answer {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let branches = (text("source_branch"), text("target_branch"));
    match world.open((&branches.0, &branches.1), &text("title"), &text("description")) {
        Ok(number) => (201, one(world, at, number)),
        Err(No::Twice) => {
            let open = world.pulls.iter().find(|one| one.branch == branches.0);
            let number = open.map_or(0, |pull| pull.number);
            let why = format!(
                "Another open merge request already exists for this source branch: !{number}"
            );
            (409, json!({ "message": [why] }))
        }
        Err(_) => (400, json!({ "message": { "source_branch": ["is invalid"] } })),
    }
}

fn edit(world: &mut World, at: &str, number: u64, body: &Value) -> Answer {
    if let Some(pull) = world.pull(number) {
        if let Some(title) = body["title"].as_str() {
            title.clone_into(&mut pull.title);
        }
        if let Some(text) = body["description"].as_str() {
            text.clone_into(&mut pull.body);
        }
    }
    if body["state_event"] == "close" {
        world.close(number);
    }
    (200, one(world, at, number))
}

fn merge(world: &mut World, at: &str, number: u64, body: &Value) -> Answer {
    let how = if body["squash"] == true { How::Squash } else { How::Merge };
    let word = if how == How::Squash { "squash_commit_message" } else { "merge_commit_message" };
    let words = body[word].as_str().unwrap_or("Merge").to_owned();
    match world.merge(number, (how, body["sha"].as_str()), &words) {
        Ok(_) => (200, one(world, at, number)),
        Err(No::HeadMoved) => {
            (409, json!({ "message": "SHA does not match HEAD of source branch" }))
        }
        Err(No::Unmergeable) => (422, json!({ "message": "Branch cannot be merged" })),
        Err(_) => (405, json!({ "message": "405 Method Not Allowed" })),
    }
}

fn approvals(world: &mut World, number: u64) -> Answer {
    let said = world.pull(number).map(|pull| pull.reviews.clone()).unwrap_or_default();
    let by: Vec<Value> = said
        .iter()
        .filter(|(_, word)| *word == "APPROVED")
        .map(
            |(who, _)| json!({ "user": { "id": who, "username": "somebody", "name": "Somebody" } }),
        )
        .collect();
    (
        200,
        json!({ "approved": !by.is_empty(), "approvals_required": 0, "approvals_left": 0, "approved_by": by }),
    )
}
