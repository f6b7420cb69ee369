//! How GitHub answers.

use serde_json::{Value, json};

use crate::description::Operation;
use crate::world::{How, No, Pull, Standing, World};

/// What is to be answered.
pub(crate) type Answer = (u16, Value);

/// Does what an operation asks for.
pub(crate) fn act(
    world: &mut World,
    at: &str,
    operation: &Operation,
    (query, body): (&[(String, String)], &Value),
) -> Answer {
    let values = &operation.values;
    if format!("{}/{}", values[0], values[1]) != world.repo {
        return (404, json!({ "message": "Not Found", "status": "404" }));
    }
    let tail = operation.path.trim_start_matches("/repos/{owner}/{repo}");
    let number = || values.get(2).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    match (operation.method.as_str(), tail) {
        ("get", "/pulls") => list(world, at, query),
        ("post", "/pulls") => open(world, at, body),
        ("get", "/commits/{ref}/check-runs") => runs(world),
        ("get", "/commits/{ref}/status") => (200, json!({ "state": "pending", "statuses": [] })),
        _ if world.pull(number()).is_none() => (404, json!({ "message": "Not Found" })),
        ("get", "/pulls/{pull_number}") => one(world, at, number()),
        ("patch", "/pulls/{pull_number}") => edit(world, at, number(), body),
        ("put", "/pulls/{pull_number}/merge") => merge(world, number(), body),
        ("get", "/pulls/{pull_number}/reviews") => reviews(world, number()),
        ("post", "/issues/{issue_number}/comments") => {
            let text = body["body"].as_str().unwrap_or_default().to_owned();
            if let Some(pull) = world.pull(number()) {
                pull.comments.push(text.clone());
            }
            (201, json!({ "body": text }))
        }
        other => (500, json!({ "message": format!("{other:?} is not played") })),
    }
}

fn shape(world: &World, at: &str, pull: &Pull) -> Value {
    let owner = world.repo.split('/').next().unwrap_or_default();
    let merged = pull.merged.as_ref().map(|(commit, _)| commit.clone());
    json!({
        "number": pull.number, "title": pull.title, "body": pull.body,
        "html_url": format!("{at}/{}/pull/{}", world.repo, pull.number),
        "state": if pull.standing == Standing::Open { "open" } else { "closed" },
        "merged_at": merged.as_ref().map(|_| "2026-01-02T03:04:05Z"),
        "merge_commit_sha": merged, "draft": false,
        "head": { "ref": pull.branch, "sha": world.head(pull), "label": format!("{owner}:{}", pull.branch) },
        "base": { "ref": pull.base, "label": format!("{owner}:{}", pull.base) },
    })
}

fn one(world: &World, at: &str, number: u64) -> Answer {
    let Some(pull) = world.pulls.iter().find(|one| one.number == number) else {
        return (404, json!({ "message": "Not Found" }));
    };
    let mut shown = shape(world, at, pull);
    let clean = world.is_clean(pull);
    shown["merged"] = json!(pull.standing == Standing::Merged);
    let open = pull.standing == Standing::Open;
    shown["mergeable"] = if open { json!(clean) } else { Value::Null };
    let failing = world.checks.iter().any(|(_, state)| *state != "success");
    shown["mergeable_state"] = json!(match (open, clean, failing) {
        (false, ..) => "unknown",
        (true, false, _) => "dirty",
        (true, true, true) => "unstable",
        (true, true, false) => "clean",
    });
    (200, shown)
}

fn list(world: &World, at: &str, query: &[(String, String)]) -> Answer {
    let asked =
        |name: &str| query.iter().find(|(one, _)| one == name).map(|(_, value)| value.clone());
    let owner = world.repo.split('/').next().unwrap_or_default();
    let state = asked("state").unwrap_or_else(|| "open".to_owned());
    let fits = |pull: &&Pull| {
        let head = format!("{owner}:{}", pull.branch);
        let open = pull.standing == Standing::Open;
        asked("head").is_none_or(|wanted| wanted == head)
            && asked("base").is_none_or(|wanted| wanted == pull.base)
            && (state == "all" || (state == "open") == open)
    };
    // The newest first, as GitHub has it unless it is told otherwise.
    let found: Vec<Value> =
        world.pulls.iter().rev().filter(fits).map(|pull| shape(world, at, pull)).collect();
    (200, Value::Array(found))
}

fn open(world: &mut World, at: &str, body: &Value) -> Answer {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let (head, base) = (text("head"), text("base"));
    match world.open((&head, &base), &text("title"), &text("body")) {
        Ok(number) => (201, one(world, at, number).1),
        Err(no) => {
            let owner = world.repo.split('/').next().unwrap_or_default();
            let why = match no {
                No::Twice => format!("A pull request already exists for {owner}:{head}."),
                No::Nothing => format!("No commits between {base} and {head}"),
                _ => "head is not a branch".to_owned(),
            };
            let error = json!({ "resource": "PullRequest", "code": "custom", "message": why });
            (
                422,
                json!({ "message": "Validation Failed", "errors": [error], "documentation_url": "https://docs.forge.invalid" }),
            )
        }
    }
}

fn edit(world: &mut World, at: &str, number: u64, body: &Value) -> Answer {
    if let Some(pull) = world.pull(number) {
        if let Some(title) = body["title"].as_str() {
            title.clone_into(&mut pull.title);
        }
        if let Some(text) = body["body"].as_str() {
            text.clone_into(&mut pull.body);
        }
    }
    if body["state"] == "closed" {
        world.close(number);
    }
    one(world, at, number)
}

fn merge(world: &mut World, number: u64, body: &Value) -> Answer {
    let how = match body["merge_method"].as_str() {
        Some("squash") => How::Squash,
        Some("rebase") => How::Rebase,
        _ => How::Merge,
    };
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let words = format!("{}\n\n{}", text("commit_title"), text("commit_message"));
    match world.merge(number, (how, body["sha"].as_str()), &words) {
        Ok(sha) => (
            200,
            json!({ "sha": sha, "merged": true, "message": "Pull Request successfully merged" }),
        ),
        Err(No::HeadMoved) => {
            (409, json!({ "message": "Head branch was modified. Review and try the merge again." }))
        }
        Err(_) => (405, json!({ "message": "Pull Request is not mergeable" })),
    }
}

fn runs(world: &World) -> Answer {
    let run = |(name, state): &(String, &'static str)| {
        let (status, conclusion) = match *state {
            "pending" => ("in_progress", Value::Null),
            state => ("completed", json!(state)),
        };
        json!({ "name": name, "status": status, "conclusion": conclusion })
    };
    let all: Vec<Value> = world.checks.iter().map(run).collect();
    (200, json!({ "total_count": all.len(), "check_runs": all }))
}

fn reviews(world: &mut World, number: u64) -> Answer {
    let said = world.pull(number).map(|pull| pull.reviews.clone()).unwrap_or_default();
    let shape = |(who, word): &(u64, &str)| json!({ "user": { "id": who }, "state": word });
    (200, said.iter().map(shape).collect())
}
